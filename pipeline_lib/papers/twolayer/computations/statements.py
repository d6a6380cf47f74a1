"""Do the paper's definitions and formulas agree with plain computations of the same numbers?

`twolayer`: Definition 3 and its two reductions, equation (6), and the formula for n* of discussion 3 with its
statements on capacity and confidence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib.claims.evidence import Evidence, Trial
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import disjoint_pairs, two_layer
from pipeline_lib.theory import two_layer_rademacher as rademacher

if TYPE_CHECKING:
    from pipeline_lib.papers.twolayer.experiments.statements import StatementsSettings

PLANS = "tables/twolayer-plans.parquet"

LENGTHS_OF_EQUATION_6 = (2, 3, 4, 5, 6)
# Cases of Definition 3: documents of every query. The reduced ones come first.
REDUCED = {"document layer reduced, 200 queries": (2,) * 200, "query layer reduced, 101 documents": (101,)}
TINY = {"3 queries": (2, 5, 4), "1 query": (9,), "6 queries": (2,) * 6, "4 queries": (4, 7, 2, 10)}


@dataclass(frozen=True)
class Results:
    """Rows of the two tables, and the evidence for the formula for n*, a part of which is in no table."""

    identities: list[dict[str, Any]]
    plans: list[dict[str, Any]]
    evidence: list[Evidence]


def run(settings: StatementsSettings, seed: int) -> Results:
    """Compute everything."""
    averages, equation = _averages(settings, seed), _equation_6(settings, seed)
    plans = _plans(settings)
    return Results([*averages, *equation], plans, [_budget(settings, seed, plans)])


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
        rows.append(
            {
                "statement": "definition 3",
                "case": case,
                "m": None,
                "two_layer": estimate.estimate,
                "two_layer_error": estimate.standard_error,
                "ordinary": other.estimate,
                "ordinary_error": other.standard_error,
                "difference": abs(estimate.estimate - other.estimate) / error,
            }
        )
    return rows


def _equation_6(settings: StatementsSettings, seed: int) -> list[dict[str, Any]]:
    rows = []
    for m in LENGTHS_OF_EQUATION_6:
        rng = generator(seed, "twolayer-statements", "equation 6", m)
        largest = 0.0
        for _ in range(settings.matrices):
            losses = rng.exponential(size=(m, m))
            gap = abs(disjoint_pairs.over_permutations(losses) - disjoint_pairs.over_pairs(losses))
            largest = max(largest, gap)
        rows.append(
            {
                "statement": "equation 6",
                "case": f"{settings.matrices} matrices",
                "m": m,
                "two_layer": None,
                "two_layer_error": None,
                "ordinary": None,
                "ordinary_error": None,
                "difference": largest,
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


def _budget(settings: StatementsSettings, seed: int, plans: list[dict[str, Any]]) -> Evidence:
    trials = []
    for row in plans:
        setting = {"C": row["budget"], "V": row["vc_dimension"], "delta": row["delta"], "c1": row["c1"]}
        difference = abs(row["queries_by_search"] / row["queries"] - 1.0)
        trials.append(Trial(setting, {"relative_difference": difference}, PLANS))
    # Uneven plans, for a class of every capacity: where does the search end from a random start?
    n, delta, c1 = min(12, settings.budgets[-1] // 2), settings.deltas[-1], settings.c1[0]
    for v in settings.vc_dimensions:
        rng = generator(seed, "twolayer-statements", "uneven", v)
        lengths = two_layer.allocation_by_search(n, settings.budgets[-1], v, delta, rng.uniform(0.2, 1.0, n), c1)
        largest = float(np.abs(lengths / (settings.budgets[-1] / n) - 1.0).max())
        setting = {"search": "over unequal m", "n": n, "C": settings.budgets[-1], "V": v}
        trials.append(Trial(setting, {"relative_difference": largest}, PLANS))
    notes = (
        "Theorem 1 for D(k) = c1 sqrt(V/k) over all n and C/n; and over all ways to spread C over n* queries, where "
        "equal numbers of documents are best. The programme printed in discussion 3 lacks terms; the printed n* "
        "belongs to Theorem 1 (errata, letter Z)."
    )
    return Evidence("two-budget", tuple(trials), notes)
