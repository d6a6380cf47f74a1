"""Do the paper's definitions and formulas agree with plain computations of the same numbers?

`twolayer`: Definition 3 and its two reductions, equation (6), and the formula for n* of discussion 3 with its
statements on capacity and confidence. Wrong readings of a definition are computed as well: the checks of the claims
have to tell them from the right one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.papers.twolayer.computations import remarks
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import disjoint_pairs, two_layer
from pipeline_lib.theory import two_layer_rademacher as rademacher

if TYPE_CHECKING:
    from pipeline_lib.papers.twolayer.experiments.statements import StatementsSettings

LENGTHS_OF_EQUATION_6 = (2, 3, 4, 5, 6)
# Numbers of queries for the bound with short lists.
LIST_SIZES = (100, 10_000, 1_000_000)
# Cases of Definition 3: documents of every query. The reduced ones come first.
REDUCED = {"document layer reduced, 200 queries": (2,) * 200, "query layer reduced, 101 documents": (101,)}
TINY = {"3 queries": (2, 5, 4), "1 query": (9,), "6 queries": (2,) * 6, "4 queries": (4, 7, 2, 10)}


@dataclass(frozen=True)
class Results:
    """Rows of the five tables."""

    identities: list[dict[str, Any]]
    plans: list[dict[str, Any]]
    uneven: list[dict[str, Any]]
    remarks: list[dict[str, Any]]
    short_lists: list[dict[str, Any]]


def run(settings: StatementsSettings, seed: int) -> Results:
    """Compute everything."""
    averages, equation = _averages(settings, seed), _equation_6(settings, seed)
    plans, uneven, of_losses = _plans(settings), _uneven(settings, seed), remarks.rows(settings, seed)
    return Results([*averages, *equation], plans, uneven, of_losses, _short_lists(settings))


def _averages(settings: StatementsSettings, seed: int) -> list[dict[str, Any]]:
    population = Population(PopulationSettings())
    rows = []
    for case, lengths in {**REDUCED, **TINY}.items():
        rng = generator(seed, "twolayer-statements", "average", case)
        data = population.draw(len(lengths), rng, np.array(lengths))
        # Labels may agree; the averages are compared on differences of features alone.
        order = np.arange(data.n_documents, dtype=np.int32)
        pairs = rademacher.disjoint_pairs(data.X64, order, data.offsets)
        estimate = rademacher.two_layer(pairs, settings.radius, settings.draws, rng)
        if case in REDUCED:
            other = rademacher.ordinary(pairs.differences, settings.radius, settings.draws, rng)
        else:
            other = rademacher.Estimate(rademacher.exactly(pairs.differences, pairs.weights, settings.radius), 0.0)
        error = math.hypot(estimate.standard_error, other.standard_error)
        wrong = {
            name: rademacher.ordinary(d, settings.radius, settings.draws, rng) for name, d in _misread(pairs).items()
        }
        rows.append(
            {
                "statement": "definition 3",
                "case": case,
                "two_layer": estimate.estimate,
                "two_layer_error": estimate.standard_error,
                "ordinary": other.estimate,
                "ordinary_error": other.standard_error,
                "difference": abs(estimate.estimate - other.estimate) / error,
                **{name: one.estimate for name, one in wrong.items()},
            }
        )
    return rows


def _misread(pairs: rademacher.Pairs) -> dict[str, Floats]:
    """Vectors whose ordinary average is Definition 3 with one sign per query, or with one weight for all pairs."""
    queries = int(pairs.owner[-1]) + 1
    sums = np.zeros((queries, pairs.differences.shape[1]))
    np.add.at(sums, pairs.owner, pairs.differences * pairs.weights[:, None])
    return {"signs_of_queries": sums * queries / 2.0, "equal_weights": pairs.differences}


def _equation_6(settings: StatementsSettings, seed: int) -> list[dict[str, Any]]:
    rows = []
    for m in LENGTHS_OF_EQUATION_6:
        rng = generator(seed, "twolayer-statements", "equation 6", m)
        sides = []
        for _ in range(settings.matrices):
            losses = rng.exponential(size=(m, m))
            sides.append((disjoint_pairs.over_pairs(losses), disjoint_pairs.over_permutations(losses)))
        pairs, permutations = max(sides, key=lambda both: abs(both[1] - both[0]))
        rows.append(
            {
                "statement": "equation 6",
                "case": f"{settings.matrices} matrices",
                "m": m,
                "over_pairs": pairs,
                "over_permutations": permutations,
                "difference": abs(permutations - pairs),
            }
        )
    return rows


def _plans(settings: StatementsSettings) -> list[dict[str, Any]]:
    rows = []
    for documents in settings.budgets:
        for v in settings.vc_dimensions:
            for delta in settings.deltas:
                for c1 in settings.c1:
                    plan = two_layer.budget(documents, v, delta, c1)
                    searched = two_layer.budget_by_search(documents, v, delta, c1)
                    lengths, whole = two_layer.whole_budget(documents, v, delta, c1)
                    rows.append(
                        {
                            "budget": documents,
                            "vc_dimension": v,
                            "delta": delta,
                            "c1": c1,
                            "queries": plan.queries,
                            "documents_per_query": plan.documents_per_query,
                            "queries_by_search": searched.queries,
                            "queries_of_programme": _by_programme(documents, v, delta, c1),
                            "whole_queries": len(lengths),
                            "bound": two_layer.even_bound(plan.queries, documents, v, delta, c1).total,
                            "whole_bound": whole.total,
                            "informative_from": two_layer.informative_from(two_layer.vc(v, c1), 1.0, delta),
                            "informative_from_sauer": two_layer.informative_from(
                                two_layer.sauer_massart(v), 1.0, delta
                            ),
                        }
                    )
    return rows


def _by_programme(documents: int, v: int, delta: float, c1: float) -> float:
    """The n that minimises the programme as discussion 3 prints it, with m = C/n for every query:

    D(n) + sqrt(sum_i 2 log(2/delta) / (m n^2)) + sum_i D(m/2).
    """
    from scipy.optimize import minimize_scalar

    def printed(log_n: float) -> float:
        n = math.exp(log_n)
        concentration = math.sqrt(2.0 * math.log(2.0 / delta) / documents)
        return c1 * math.sqrt(v / n) + concentration + n * c1 * math.sqrt(2.0 * v * n / documents)

    ends = (0.0, math.log(documents / 2.0))
    return math.exp(minimize_scalar(printed, bounds=ends, method="bounded", options={"xatol": 1e-10}).x)


def _uneven(settings: StatementsSettings, seed: int) -> list[dict[str, Any]]:
    """For a class of every capacity: where does the search over unequal m_i end from a random start?"""
    n, delta, c1 = min(12, settings.budgets[-1] // 2), settings.deltas[-1], settings.c1[0]
    rows = []
    for v in settings.vc_dimensions:
        rng = generator(seed, "twolayer-statements", "uneven", v)
        start = rng.uniform(0.2, 1.0, n)
        lengths = two_layer.allocation_by_search(n, settings.budgets[-1], v, delta, start, c1)
        even = settings.budgets[-1] / n
        rows.append(
            {
                "queries": n,
                "budget": settings.budgets[-1],
                "vc_dimension": v,
                "delta": delta,
                "c1": c1,
                "difference": float(np.abs(lengths / even - 1.0).max()),
                "difference_of_start": float(np.abs(start / start.mean() - 1.0).max()),
            }
        )
    return rows


def _short_lists(settings: StatementsSettings) -> list[dict[str, Any]]:
    """Theorem 1 for n queries with n documents each, of which one, half or all have two documents only."""
    v, delta, c1 = settings.vc_dimensions[0], settings.deltas[-1], settings.c1[0]
    rows = []
    for n in LIST_SIZES:
        for which, short in (("one query", 1), ("half of the queries", n // 2), ("all queries", n)):
            lengths = np.repeat([2, n], [short, n - short])
            bound = two_layer.bound(lengths, two_layer.vc(v, c1), 1.0, delta)
            rows.append({"queries": n, "which": which, "short": short, "vc_dimension": v, "delta": delta, "c1": c1})
            rows[-1]["bound"] = bound.total
    return rows
