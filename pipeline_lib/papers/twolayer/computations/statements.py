"""Do the paper's definitions and formulas agree with plain computations of the same numbers?

`twolayer`: Definition 3 and its two reductions, equation (6), and the formula for n* of discussion 3 with its
statements on capacity and confidence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
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

IDENTITIES = "tables/twolayer-identities.parquet"
PLANS = "tables/twolayer-plans.parquet"

LENGTHS_OF_EQUATION_6 = (2, 3, 4, 5, 6)
# Cases of Definition 3: documents of every query. The reduced ones come first.
REDUCED = {"document layer reduced, 200 queries": (2,) * 200, "query layer reduced, 101 documents": (101,)}
TINY = {"3 queries": (2, 5, 4), "1 query": (9,), "6 queries": (2,) * 6, "4 queries": (4, 7, 2, 10)}


@dataclass(frozen=True)
class Results:
    """Rows of the two tables, and the evidence."""

    identities: list[dict[str, Any]]
    plans: list[dict[str, Any]]
    evidence: list[Evidence]


def run(settings: StatementsSettings, seed: int) -> Results:
    """Compute everything."""
    averages, equation = _averages(settings, seed), _equation_6(settings, seed)
    plans = _plans(settings)
    evidence = [
        Evidence("two-def3", tuple(map(_average_trial, averages)), NOTES["two-def3"]),
        Evidence(
            "two-eq6",
            tuple(Trial({"m": row["m"]}, {"largest_difference": row["difference"]}, IDENTITIES) for row in equation),
            NOTES["two-eq6"],
        ),
        Evidence("two-budget", tuple(_budget_trials(settings, seed, plans)), NOTES["two-budget"]),
        Evidence("two-capacity", tuple(_capacity_trials(settings, plans)), NOTES["two-capacity"]),
    ]
    return Results([*averages, *equation], plans, evidence)


NOTES = {
    "two-def3": "Linear rankers on samples of the population, by Monte Carlo. The reduced cases are compared with the "
    "ordinary average of as many pairs under other random signs, the tiny ones with the mean over all signs.",
    "two-eq6": "Matrices of losses without any symmetry: the equation holds for every one of them, not only in "
    "distribution.",
    "two-budget": "Theorem 1 for D(k) = c1 sqrt(V/k) over all n and C/n; and over all ways to spread C over n* "
    "queries, where equal numbers of documents are best. The programme printed in discussion 3 lacks terms; the "
    "printed n* belongs to Theorem 1 (errata, letter Z).",
    "two-capacity": "Higher confidence is a smaller δ: n* falls with δ itself (errata, letter Z).",
}


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


def _average_trial(row: Mapping[str, Any]) -> Trial:
    values = {"standard_errors_apart": row["difference"], "two_layer": row["two_layer"], "ordinary": row["ordinary"]}
    return Trial({"case": row["case"]}, values, IDENTITIES)


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


def _budget_trials(settings: StatementsSettings, seed: int, plans: list[dict[str, Any]]) -> list[Trial]:
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
    return trials


def _capacity_trials(settings: StatementsSettings, plans: list[dict[str, Any]]) -> list[Trial]:
    queries = {(row["budget"], row["vc_dimension"], row["delta"], row["c1"]): row["queries"] for row in plans}
    trials = []
    for documents in settings.budgets:
        for c1 in settings.c1:
            setting = {"C": documents, "c1": c1}
            for small, large in zip(settings.vc_dimensions[:-1], settings.vc_dimensions[1:], strict=True):
                for low, high in zip(settings.deltas[:-1], settings.deltas[1:], strict=True):
                    values = {
                        "queries_at_smaller_capacity": queries[documents, small, high, c1],
                        "queries_at_larger_capacity": queries[documents, large, high, c1],
                        "queries_at_higher_confidence": queries[documents, small, high, c1],
                        "queries_at_lower_confidence": queries[documents, small, low, c1],
                    }
                    trials.append(
                        Trial({**setting, "V": f"{small}, {large}", "delta": f"{high:g}, {low:g}"}, values, PLANS)
                    )
    return trials
