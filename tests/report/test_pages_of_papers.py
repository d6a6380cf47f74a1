"""Are the numbers in the tables and figures of a paper's page those of its results?

A case gives rows of tables, and the numbers that a table of the page or the description of a figure must have then.
Values that a case does not need are 1 (see ``page_of_paper.build``).
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from page_of_paper import Tables, build, cells, figures

from pipeline_lib.papers.cone.cones.experiment import Trace, summary
from pipeline_lib.papers.twolayer.page import between
from pipeline_lib.report.figures import save

Row = dict[str, Any]
ONE = r"[+−]?\d[\d,]*(?:\.\d+)?(?:e−?\d+)?(?: %)?"
NUMBER = re.compile(rf"{ONE}(?: (?:of|to) {ONE})?")
"""A number, or two of which one is a share of the other, or between which something lies."""


def numbers(text: str) -> set[str]:
    return {found.rstrip(",") for found in NUMBER.findall(re.sub(r"<[^>]+>", " ", text))}


class Case(NamedTuple):
    """What a page must draw, in words, and show in columns of its tables."""

    paper: str
    tables: Tables
    drawn: Mapping[str, Sequence[str]] = {}
    cells: Mapping[tuple[str, int, int | None], Sequence[Sequence[Any]]] = {}


def rows(axes: Mapping[str, Sequence[Any]], **common: Any) -> list[Row]:
    """A row for every place of the columns ``axes``, with some values in common."""
    return [{**common, **dict(zip(axes, values, strict=True))} for values in zip(*axes.values(), strict=True)]


def ends(name: str, value: float, below: float = 0.0) -> Row:
    return {name: value, f"{name}_low": value - below, f"{name}_high": value + below}


# --- cone ---------------------------------------------------------------------------------------------------------

CELL: Row = {"dataset": "MQ2008", "method": "ListNet", "model": "listnet", "measure": "MAP", "published": 0.450}
CELL |= {"fold1": 0.448, "five_fold_mean": 0.475, "five_fold_sd": 0.05, "delta": -0.002, "status": "verified"}
OWN: Row = {"dataset": "MQ2008", "model": "listnet", "folds": "1", "measure": "map", "published": 0.4502}
OWN |= {"measured": 0.448, "delta": -0.0022, "source": "LETOR 4.0 baselines (fold 1)"}
PRINTED: Row = {"dataset": "MQ2008", "method": "ListNet", "measure": "MAP", "published": 0.45, "best": 0.5}
PRINTED |= {"other_dataset": 0.4}


def descent(dataset: str, *runs: tuple[str, str, int | None, list[float]]) -> Tables:
    """Traces whose coefficients miss the best objective by a tenth."""
    traces = [
        [
            Trace(
                dataset=dataset,
                method=method,
                updates=updates,
                fold_steps=fold_steps,
                step=0.02,
                pass_=t,
                objective=value,
                met=None if t == 0 else 1.1 * values[t - 1],
                gap=0.25 if t == len(values) - 1 else None,
            )
            for t, value in enumerate(values)
        ]
        for method, updates, fold_steps, values in runs
    ]
    return {
        "cone-descent": [row.plain() for one in traces for row in one],
        "cone-descent-summary": [summary(one).plain() for one in traces],
    }


LEFT: Row = {"population": "line", "method": "exact", "beta": 0.4, "beta_worst": 0.45, "beta_bound": 0.5, "gamma": 4.0}
LEFT |= {"risk": 0.1, "empirical_risk": 0.1, "largest_possible_loss": 4.0}
FIT: Row = {"population": "line", "method": "exact", "slope": -1.02, "low": -1.1, "high": -0.9}


def practice(mean: float) -> Tables:
    families = {"published": 0.5, "mean difference": mean, "principal components": 0.6}
    found = [
        {"dataset": "sim", "family": family, "folds": 5, "mean_size": 1.0}
        | {**ends("map", value), **ends("ndcg", value), **ends("more_ndcg", value - 0.5)}
        for family, value in families.items()
    ]
    shares = rows({"what": ("risk and ndcg", "signs, gradient"), "share": (0.9, 0.3)}, dataset="sim", folds=5)
    return {"cone-practice": found, "cone-shares": shares}


CASES = [
    Case(
        "cone",
        {"cone-table1": [CELL], "published": [OWN]},
        cells={
            ("cone-table1-mq2008", 0, None): [
                ["ListNet", "listnet", "MAP", "0.450", "0.4480", "0.4750", "0.0500", "−0.0020", "verified"]
            ]
        },
    ),
    Case("cone", {"cone-published": [PRINTED], "cone-table1": [CELL]}, drawn={"cone-table1-mq2008": ["0.45", "0.448"]}),
    # A method that the study does not train is shown with what is published of it.
    Case(
        "cone",
        {"cone-published": [PRINTED, {**PRINTED, "method": "AdaRank", "published": 0.41}], "cone-table1": [CELL]},
        drawn={"cone-table1-mq2008": ["0.45", "0.448", "0.41"]},
    ),
    Case(
        "cone",
        descent(
            "small sample",
            ("eg", "whole", 10, [3.0, 2.0, 2.2, 1.0]),
            ("eg", "whole", 20_000, [3.0, 2.0, 1.0]),
            ("exact", "whole", None, [3.0, 2.0, 1.0]),
        ),
        cells={("cone-descent-small-table", 7, 8): [["1"], ["0"], ["0"]]},
    ),
    Case(
        "cone",
        {
            "cone-leave-out": [{**LEFT, "P": P, "s_max": 2.0 / P} for P in (10, 100, 1000)],
            "cone-leave-out-exponents": [FIT, {**FIT, "method": "constant-step", "slope": -0.03}],
        },
        cells={("cone-leave-out", 1, 3): [["1", "10"], ["1", "100"], ["1", "1,000"]]},
    ),
    Case("cone", practice(0.4), cells={("cone-practice-sim", 2, 3): [["0.5000"], ["0.4000"], ["0.6000"]]}),
    Case(
        "cone",
        {
            "cone-ties": rows({"P": (20, 200)}, K=2, s_max=1.0, least_s_max=0.7071, beta=0.55),
            "cone-leave-out": [
                {**LEFT, "P": 20, "s_max": 0.09, "change": 0.09, "growth": 2.0, "change_by_growth": 0.1}
            ],
            "cone-plane": [{"case": "published", "narrowest": 50.0, "widest": 120.0, "spread": 60.0}],
            "cone-nested": [{"d": 3, "K": 2, "added": 0.0}],
        },
        cells={("cone-ties", 3, 4): [["20"], ["200"]]},
    ),
]

# --- slam ---------------------------------------------------------------------------------------------------------

RUN: Row = {"stream": "noisy", "measure": "ndcg", "T": 100, "cumulative_loss": 5.0, "mistakes": 9, "bound": 17.0}
RUN |= {"comparator_loss": 8.0, "gap": 0.0, "largest_loss": 50.0}
STEP: Row = {"stream": "noisy", "measure": "ndcg", "eta": "0.1", "step": 0.1, "rounds": 100}
SLACK: Row = {"claim": "slam-thm2", "kind": "map", "m": 5, "y_max": 1, "d": None, "statistic": "smallest_slack"}


def runs(**changes: Any) -> list[Row]:
    return rows({"eta": ("theory", "1")}, **{**RUN, "gamma": None, "margin_bound": None, **changes})


def rounds(moved: int) -> Tables:
    return {"slam-eta": rows({"active": ("margin", "misordered"), "rounds_that_differ": (7, moved)}, **STEP)}


def lengths(misordered: float) -> Tables:
    each = {"active": ("margin", "misordered"), "margin_bound": (30.0, 3.0), "cumulative_loss": (2.0, misordered)}
    known = {"stream": "orthogonal", "measure": "map", "m": 5, "T": 9, "largest_loss": 9.0, "gap": 0.0, "bound": 3.0}
    return {"slam-lengths": rows({**each, "share_of_printed": (0.1, 1.0)}, **known)}


CASES += [
    Case(
        "slam",
        {"slam-losses": [{**SLACK, "value": -0.25}]},
        cells={("slam-slacks", 0, None): [["MAP", "1", "−0.25", "–"]]},
    ),
    # A bound of 17 says something where reversed orders lose 20, and nothing where they lose 16.
    Case("slam", {"slam-perceptron": runs(largest_loss=20.0)}, drawn={"slam-shares": []}),
    Case("slam", rounds(3), cells={("slam-steps", 2, 4): [["7.0", "3.0"]]}),
    Case(
        "slam",
        {
            "slam-perceptron": runs(),
            "slam-players": rows(
                {"player": ("perceptron", "never"), "cumulative_loss": (2.0, 4.5)},
                stream="pairs",
                measure="map",
                statement="as-printed",
                T=9,
                largest_loss=8.0,
                gap=0.0,
                bound=4.0,
                margin_bound=5.0,
            ),
        },
        cells={("slam-players", 1, 5): [["1", "0", "1", "0"], ["1", "1", "1", "0"]]},
    ),
]

# --- topk ---------------------------------------------------------------------------------------------------------

AXES: Row = {"data": "population", "player": "algorithm 1", "surrogate": "kl"}
REGRET: Row = {**AXES, "T": 100, "regret": 5.0, "low": 4.0, "high": 6.0, "expected_loss": 8.0}
REGRET |= {"loss_minus_bound": -2.0, "loss_minus_bound_low": -3.0, "loss_minus_bound_high": -1.0}
REGRET |= {"distance_term": 3.0, "noise_term": 5.0}
SLOPE: Row = {**AXES, "slope": 0.7, "low": 0.6, "high": 0.8}
BIAS: Row = {"claim": "topk-estimators", "surrogate": "kl", "k": 1, "gamma": 0.1}


def game(regret: float, high: float) -> Tables:
    cell = {"adversary": "p", "quantity": "E[y]", "measured": 0.45, "published": 0.45}
    found = [
        {"linear_limit": 2.0, "low": regret, "high": high, "learner": learner, "T": T, "regret": regret * T / 100.0}
        for learner in ("kl", "constant")
        for T in (100, 1000)
    ]
    return {"topk-table1": rows({"document": (1, 2, 3)}, **cell), "topk-adversary": found}


def curves(kl: float) -> Tables:
    last = {"ranksvm": 0.75, "kl": kl, "squared": 0.65, "smooth-dcg": 0.1, "smooth-dcg-ascent": 0.7}
    places = [("", "listnet", 0.8), ("", "random", 0.3), ("all-labels", "kl", 0.79)]
    places += [(panel, name, x) for panel in ("as-printed", "correct") for name, x in last.items()]
    places = [(p, name, 0.546 if (p, name) == ("correct", "smooth-dcg-ascent") else x) for p, name, x in places]
    curve = [
        {"dataset": "made", "seeds": 2, "panel": panel, "learner": name, "round": t, "ndcg": x, "low": x, "high": x}
        for panel, name, x in places
        for t in (10, 100)
    ]
    gaps = [
        {"dataset": "made", "panel": panel, "greater": "kl", "lesser": "squared", "gap": gap, "low": gap, "high": gap}
        for panel, gap in (("as-printed", 0.05), ("correct", -0.05))
    ]
    return {"topk-curves": curve, "topk-gaps": gaps}


CASES += [
    Case(
        "topk",
        {
            "topk-biases": rows(
                {"probabilities": ("correct", "correct", "as-printed"), "largest_relative_bias": (0.0, 0.25, 0.5)},
                **BIAS,
            )
        },
        cells={("topk-biases", 0, None): [["KL", "1", "2", "0.25", "0.5"]]},
    ),
    Case(
        "topk",
        {
            "topk-probabilities": [
                {"documents": 1, "in_order": True, "exploited": False, "m": 4, "shown": "rank 4", "gamma": 0.5}
                | {"probability": 0.125}
            ]
        },
        drawn={"topk-probabilities": ["0.625", "0.125"]},
    ),
    Case("topk", game(9.0, 9.5), cells={("topk-game", 1, 3): [["45", "1.00"]]}),
    Case(
        "topk",
        {"topk-regret": [REGRET], "topk-exponents": [SLOPE]},
        cells={("topk-exponents", 1, 6): [["0.700", "[0.600, 0.800]", "100", "5", "20 %"]]},
    ),
    Case(
        "topk",
        {
            "topk-regret": [{**REGRET, **other} for other in ({}, {"player": "idle"}, {"data": "two documents"})],
            "topk-exponents": [
                {**SLOPE, **other}
                for other in ({}, {"player": "idle", "slope": 0.97}, {"data": "two documents", "slope": 0.66})
            ],
        },
        cells={("topk-exponents", 1, 2): [["0.700"], ["0.970"]], ("topk-exponents", 6, 7): [["−0.020"], ["−0.020"]]},
    ),
    Case(
        "topk",
        {"topk-regret": [{**REGRET, "T": T, "regret": T / 20} for T in (100, 200, 10)], "topk-exponents": [SLOPE]},
        cells={("topk-exponents", 3, 6): [["200", "10", "10 %"]]},
    ),
    # What is compared with a bound is the largest of all lists.
    Case(
        "topk",
        {
            "topk-moments": rows(
                {"m": (2, 5, 9), "second_moment": (1.0, 3.0, 1.25)},
                surrogate="kl",
                where="worst case",
                radius=0.125,
                printed=1.0,
                valid=2.0,
            )
        },
        drawn={"topk-moments": ["3", "1.5"]},
    ),
    Case("topk", curves(0.7), cells={("topk-gaps-made", 2, None): [["+0.050", "−0.050"]]}),
]

# --- twolayer -----------------------------------------------------------------------------------------------------

TERMS = ("query_complexity", "query_concentration", "document_complexity", "document_concentration")
AVERAGES: Row = {"two_layer": 1.0, "ordinary": 1.2}


def gaps(gap: float, rising: bool = False) -> list[Row]:
    """Gaps of ``gap`` / (n m) on a grid of four cells, and in one further cell."""
    parts = ("gap", "query_error", "document_error", "centred_gap")
    found = [
        {"loss": "hinge", "queries": n, "documents": m, "repetitions": 3, "certified": 2, "bound": 2.0}
        | {f"{part}{end}": gap / (n * m) for part in parts for end in ("", "_low", "_high")}
        | {f"{part}_largest": gap / (n * m) for part in parts[:3]}
        | {"largest_loss": n / 10.0, **dict.fromkeys(TERMS, 0.5)}
        for n, m in ((10, 2), (10, 4), (40, 2), (40, 4), (160, 2))
    ]
    return [{**row, "centred_gap": row["queries"] * row["documents"]} for row in found] if rising else found


def older(gap: float) -> Tables:
    """A gap and a bound for documents that are halved, one that stays, and one that falls by a fifth."""
    found = [
        {"loss": "hinge", "queries": 10, "documents": m, "query_level": 3.0, **ends("gap", gap / m)}
        | {"document_level": 4.0 / m, "two_layer": 6.0 - m / 2.0, "two_layer_pooled": 5.0}
        for m in (2, 4)
    ]
    return {"twolayer-older-bounds": found}


def budgets(shift: float) -> Tables:
    """Best splits with n = C/4 and curves on a population, and on a data set, of which no best ranker is known."""
    sides = {f"error_{end}{side}": 0.5 for end in ("deepest", "shallowest") for side in ("", "_low", "_high")}
    best = [
        {"dataset": "population", "budget": c, "best_queries": c / 4.0, "best_queries_low": c / 4.0 + shift}
        | {"best_queries_high": c / 4.0, "predicted_queries": c**0.5, "error_inner": 0.4, **sides}
        for c in (100, 10_000)
    ]
    point = {"error": 0.5, "low": 0.4, "high": 0.6}
    curve = [
        {**point, **ends("excess", 0.2, 0.1), "dataset": "population", "budget": c, "queries": n, "documents": c // n}
        for c in (100, 10_000)
        for n in (2, c // 4, c // 2)
    ]
    made = [{**row, "dataset": "made", "excess": None, "excess_low": None, "excess_high": None} for row in curve[:3]]
    best.append({**best[0], "dataset": "made"})
    return {"twolayer-best-splits": best, "twolayer-tradeoff": curve + made}


def identities(difference: float) -> list[Row]:
    first = {"statement": "definition 3", "case": "tiny", **AVERAGES, "difference": difference}
    return [first, {"statement": "equation 6", "case": "20", "m": 5, "difference": 2e-15}]


def extreme(population: str, query: float, document: float, **row: Any) -> Row:
    errors = {"query_error": query, "document_error": document, "gap": query + document}
    bounds = {"query_bound": 0.5, "document_bound": 0.25, "bound": 0.8, "document_failure": 0.01}
    return (
        {"population": population, "queries": 100, "documents": 50, "longest": 50, "delta": 0.05}
        | errors
        | bounds
        | row
    )


def rates() -> Tables:
    case = {"queries_are": "differ", "turned_share": 0.25, "capacity": 4}
    growing = {**case, "growing": "queries"}
    return {
        "twolayer-rates": [
            {**growing, "queries": n, "documents": 2, **ends("exceeded", 0.1), "bound": 2 / n, "printed": 3.0}
            for n in (10, 40, 160)
        ],
        "twolayer-rate-exponents": [{**growing, **ends("exponent", -0.5), "of_deviation": -0.5, "of_printed": -0.1}],
        "twolayer-rate-plans": [
            {"budget": 100, "turned_share": 0.25, "capacity": 4, "plan": plan, "queries": n, **ends("gap", 1 / n)}
            for plan, n in (("printed", 10), ("corrected", 40), ("2 documents", 50))
        ],
    }


CASES += [
    Case(
        "twolayer",
        {"twolayer-gaps": gaps(1.0)},
        cells={
            ("twolayer-terms", 0, 3): [[10, 2, 0.05], [10, 4, 0.025], [160, 2, 1 / 320]],
            ("twolayer-layers", 0, 2): [[10, 2], [10, 4], [40, 2], [40, 4]],
        },
    ),
    Case("twolayer", older(1.0), cells={("twolayer-older-bounds", 0, None): [["hinge", 0.5, 1.0, 0.5, 0.8, 1.0]]}),
    Case("twolayer", older(0.0), cells={("twolayer-older-bounds", 1, 2): [[None]]}),
    Case("twolayer", budgets(0.0), cells={("twolayer-best-splits", 3, 4): [[10.0], [100.0], [10.0]]}),
    Case(
        "twolayer",
        {"twolayer-identities": identities(2.04)},
        cells={("twolayer-averages", 0, None): [["tiny", 1.0, 1.2, 2.04]]},
    ),
    Case(
        "twolayer",
        {
            "twolayer-extremes": [
                extreme("coins of queries", 0.4, 0.0),
                extreme("memory of documents", 0.0, 0.2),
                extreme("memory of documents", 0.0, 0.2, document_bound=0.21, delta=1e-9),
                extreme("memory of documents", 0.0, 0.9, longest=80, document_bound=1.5),
            ]
        },
        cells={("twolayer-extremes", 2, 3): [[0.4], [0.2]]},
    ),
    Case(
        "twolayer",
        {
            "twolayer-capacities": [
                {"budget": 100, "capacity": v, "planned_for": planned, "queries": n, "gap": v / n}
                | {"gap_low": 0.0, "gap_high": 1.0, "bound": 1.0}
                for v in (1, 5)
                for planned, n in ((1, 20), (5, 10), (None, 50))
            ]
        },
        cells={("twolayer-capacities", 0, None): [[1, 20, 0.05, 50, 0.02], [5, 10, 0.5, 50, 0.1]]},
    ),
    Case(
        "twolayer",
        {
            "twolayer-identities": identities(2.0),
            "twolayer-remarks": [
                {"loss": "hinge", "case": case, "score_bound": b, "average": 0.5, "contracted": 0.6, "printed": b / 4}
                for case in ("10 equal pairs", "one pair")
                for b in (1.0, 0.1)
            ],
        },
        cells={("twolayer-remarks", 4, 5): [[pytest.approx(20.0)], [pytest.approx(2.0)]]},
    ),
    Case(
        "twolayer",
        rates(),
        drawn={"twolayer-rates": [], "twolayer-rate-plans": []},
        cells={
            ("twolayer-rate-exponents", -3, None): [["-0.5 -0.5", -0.5, -0.1]],
            ("twolayer-rate-plans", 3, 4): [[10]],
            ("twolayer-rate-plans", 5, 6): [[40]],
            ("twolayer-rate-plans", -1, None): [[1 / 50]],
        },
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.paper}: {', '.join(case.tables)}")
def test_numbers_are_those_of_the_tables(tmp_path: Path, case: Case) -> None:
    section = build(tmp_path, case.paper, case.tables)
    drawn = {figure.name: numbers(figure.description) for figure in figures(section)}
    for name, shown in case.drawn.items():
        assert {*shown} <= drawn[name]
    for (name, first, last), expected in case.cells.items():
        texts = all(isinstance(value, str) for row in expected for value in row)
        found = [[cell.text if texts else cell.raw for cell in row][first:last] for row in cells(section, name)]
        assert found[: len(expected)] == expected


@pytest.mark.parametrize("gap", [0.0, -1.0])
def test_a_page_without_gaps_is_drawn(tmp_path: Path, gap: float) -> None:
    tables = {"twolayer-gaps": gaps(gap), **older(gap), **budgets(0.0)}
    for figure in figures(build(tmp_path, "twolayer", tables)):
        assert "<svg" in save(figure, tmp_path / "figures")


def test_heights_between_points() -> None:
    points = [(1.0, 4.0), (10.0, 2.0), (100.0, 6.0)]
    heights = [between(points, x) for x in (0.5, 1.0, 10**0.5, 10.0, 10**1.5, 1000.0)]
    assert heights == pytest.approx([4.0, 4.0, 3.0, 2.0, 4.0, 6.0])
