"""Are the numbers in the sentences and tables of a paper's page those of its results, and does the wording follow them?

No sentence is quoted: a case gives rows of tables, and the numbers that the prose, a table or the description of a
figure must have then. Values that a case does not need are 1 (see ``page_of_paper.build``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from page_of_paper import Tables, build, cells, figures, prose

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
    """What a page must say (``said``), must not say, draw in words, and show in columns of its tables."""

    paper: str
    tables: Tables
    said: Sequence[str] = ()
    part: str = ""
    refuted: str = ""
    unsaid: Sequence[str] = ()
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
OWN: Row = {"dataset": "MQ2008", "model": "listnet", "fold": 1, "measure": "map", "published": 0.4502}
OWN |= {"measured": 0.448, "delta": -0.0022, "source": "LETOR 4.0 baselines (fold 1)"}
PRINTED: Row = {"dataset": "MQ2008", "method": "ListNet", "measure": "MAP", "published": 0.45, "best": 0.5}
PRINTED |= {"other_dataset": 0.4}
CONE: Row = {"d": 3, "of_order": True, "independent": True, "pointed": True, "proper": False}


def boosting() -> list[Row]:
    stops = {"validation": 0.44, "training": 0.43, "no gain": 0.42, "last": 0.41, "best on test": 0.46}
    known = {"dataset": "MQ2008", "fold": 1, "measure": "map", "rounds": 9, "features": 2}
    known |= {"map_low": 0.4, "map_high": 0.45, "ndcg_low": 0.4, "ndcg_high": 0.5}
    return [
        {**known, "repeats": repeats, "stop": stop, "map": value, "ndcg": value}
        for repeats in (None, 1)
        for stop, value in stops.items()
    ]


def methods(exact: float) -> Tables:
    kinds = [("eg", 2.0, 0.4), ("exact", 1.0, exact)]
    known = {"dataset": "sim", "part": "method", "level": None, "K": 2, "start": 0, "validation": 0.1}
    found = [
        {**known, "method": method, "objective": objective, "fold_in": fold_in, "map": value, "ndcg": value}
        for method, objective, value in kinds
        for fold_in in ("gradient", "least-squares")
    ]
    return {"cone-bases": found}


def projections(left: float) -> Tables:
    names = ("largest_difference_inside", "largest_norm_on_the_negative", "largest_difference_to_nnls")
    found = [
        {"claim": "cone-project", "case": f"{kind}: {name}", "d": 3, "K": 2}
        | {"value": left if (kind, name) == ("any", names[1]) else 0.0}
        for kind in ("acute", "any")
        for name in names
    ]
    return {"cone-identities": found}


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


def stability(high: float) -> Tables:
    found = [
        {"P": P, "method": "eg", "s_max": 1.0 / P, "largest_ratio": 0.5, "bound_by_theorem_2": 5.0}
        | {"largest_possible_risk": 4.0}
        for P in (10, 20, 40)
    ]
    fit = {"method": "eg", "statistic": "s_max", "slope": -1.0, "low": -1.1, "high": high}
    return {"cone-stability": found, "cone-stability-exponents": [fit]}


LEFT: Row = {"population": "line", "method": "exact", "beta": 0.4, "beta_worst": 0.45, "beta_bound": 0.5, "gamma": 4.0}
LEFT |= {"risk": 0.1, "empirical_risk": 0.1, "largest_possible_loss": 4.0}
FIT: Row = {"population": "line", "statistic": "s_max", "method": "exact", "slope": -1.02, "low": -1.1, "high": -0.9}
BASE: Row = {"dataset": "sim", "level": None, "method": None, "K": None, "start": None, "fold_in": None}
BASE |= {"objective": None, "passes": None, "validation": None, "ndcg": 0.5}
RAY: Row = {**BASE, "part": "basis", "method": "sg", "fold_in": "gradient"}


def practice(mean: float) -> Tables:
    families = {"published": 0.5, "mean difference": mean, "RankSVM": 0.6}
    found = [
        {"dataset": "sim", "family": family, "folds": 5, "mean_size": None if family == "RankSVM" else 1.0}
        | {**ends("map", value), **ends("ndcg", value), **ends("more_ndcg", value - 0.5)}
        for family, value in families.items()
    ]
    shares = rows({"what": ("risk and ndcg", "K and ndcg"), "share": (0.9, 0.3)}, dataset="sim", folds=5)
    return {"cone-practice": found, "cone-shares": shares}


STEPS = {
    ("cone-check", "eg", "proper"): 0.0,
    ("cone-check", "eg", "pointed"): 1.0,
    ("cone-inequality", "proper", "additive"): 0.0,
    ("cone-unique", "K <= N", "difference"): 0.125,
    ("cone-eg-sum", "random", "sum_error"): 0.0625,
    ("cone-eg-rate", "random", "exponent"): 2.0,
}

CASES = [
    Case(
        "cone",
        {"cone-table1": [CELL], "published": [OWN]},
        said=["1 of 1", "0.4502"],
        cells={
            ("cone-table1-mq2008", 0, None): [
                ["ListNet", "MAP", "0.450", "0.4480", "0.4750", "0.0500", "−0.0020", "verified"]
            ]
        },
    ),
    Case("cone", {"cone-published": [PRINTED], "cone-table1": [CELL]}, drawn={"cone-table1-mq2008": ["0.45", "0.448"]}),
    Case(
        "cone",
        {"cone-published": [{**PRINTED, "method": "ConeRank-SG", "measure": "NDCG"}]},
        part="cone-table1-part",
        said=["10.0 %", "5.0"],
    ),
    Case(
        "cone",
        {"cone-table1": [{**CELL, "method": "AdaRank-MAP", "status": "deviates"}], "cone-adarank": boosting()},
        said=["1 of 1", "0.410 to 0.440", "0.460"],
    ),
    Case("cone", projections(0.7), said=["70 %"]),
    Case("cone", projections(0.0), unsaid=["70 %", "0 %"]),
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
    Case("cone", stability(-0.9), said=["50 %", "3"]),
    Case(
        "cone",
        {
            "cone-leave-out": [{**LEFT, "P": P, "s_max": 2.0 / P} for P in (10, 100, 1000)],
            "cone-leave-out-exponents": [FIT, {**FIT, "method": "constant-step", "slope": -0.03}],
        },
        said=["−1.02", "−0.03"],
        cells={("cone-leave-out", 1, 3): [["1", "10"], ["1", "100"], ["1", "1,000"]]},
    ),
    Case(
        "cone",
        {
            "cone-proper": [
                {**CONE, "case": "random", "solid": False},
                {**CONE, "K": 3, "solid": True, "proper": True},
            ],
            "cone-halfspace": [{"to_hinge": 1.2, "to_best_hinge": 0.07, "to_unsquared": 0.2, "to_squared": 0.0}],
            "cone-halfspace-solutions": rows({"sample": (0, 1), "to_ranksvm": (0.5, 20.0)}, to_squared=0.0),
        },
        said=["0.070", "1 of 2", "20"],
    ),
    Case(
        "cone",
        {
            "cone-bases": [
                {**BASE, "part": "ranksvm", "map": 0.5},
                {**RAY, "K": 1, "map": 0.52},
                {**RAY, "K": 2, "map": 0.9},
            ],
            "cone-figure3": [
                {"dataset": "sim", "fold_in": "gradient", "measure": measure, "K": K, "low": None, "high": None}
                for measure in ("map", "ndcg")
                for K in (1, 2)
            ],
        },
        said=["+0.020"],
    ),
    Case("cone", practice(0.7), said=["0.700", "0.500", "90 %", "30 %"]),
    Case(
        "cone",
        practice(0.4),
        said=["0.600", "0.500"],
        cells={("cone-practice-sim", 2, 3): [["0.5000"], ["0.4000"], ["0.6000"]]},
    ),
    Case(
        "cone",
        {
            "cone-ties": rows({"P": (20, 200)}, K=2, s_max=1.0, least_s_max=0.7071, beta=0.55),
            "cone-leave-out": [
                {**LEFT, "P": 20, "s_max": 0.09, "change": 0.09, "growth": 2.0, "change_by_growth": 0.1}
            ],
            "cone-plane": [{"case": "published", "narrowest": 50.0, "widest": 120.0, "spread": 60.0}],
            "cone-nested": [{"d": 3, "K": 2, "outwards": 0.0, "scaled": 0.25, "added": 0.0}],
        },
        said=["90 %", "120", "0.25"],
        cells={("cone-ties", 3, 4): [["20"], ["200"]]},
    ),
    Case(
        "cone",
        {"cone-surface": rows({"noisy": (0.5, 0.7), "to_the_cone": (0.002, 0.001)}, to_the_ray=0.06, to_the_start=0.3)},
        refuted="cone-fig1",
        part="cone-figure1-part",
        said=["0.002", "0.5"],
    ),
    Case(
        "cone",
        {
            "cone-steps": [
                {"claim": claim, "case": case, "name": name, "d": 3, "K": 2, "value": value}
                for (claim, case, name), value in STEPS.items()
            ],
            "cone-proper": [{**CONE, "case": "random", "solid": False}],
        },
        said=["0 %", "100 %", "0.125", "0.0625", "2.00"],
    ),
    Case(
        "cone",
        {
            "cone-twins": [
                {"kinds": 2, "P": 2, "c": 2.0, "epsilon": 0.4, "largest_beta": 1.5, "failure_with_own_beta": 0.5}
                | {"failure_with_largest_beta": 0.0}
            ],
            "cone-leave-out": [{**LEFT, "P": 10, "s_max": 0.1}],
            "cone-leave-out-exponents": [FIT],
            "cone-lowered": [{"d": 2, "K": 2, "share": 1.0, "share_below": 0.0003}],
            "cone-tradeoff": [{"P": 2, "beta": 0.75, "next_beta": 0.0}],
        },
        said=["0.500", "0.40", "100 %", "0.03 %", "90 %"],
    ),
]

# --- slam ---------------------------------------------------------------------------------------------------------

RUN: Row = {"stream": "noisy", "measure": "ndcg", "T": 100, "cumulative_loss": 5.0, "mistakes": 9, "bound": 17.0}
RUN |= {"comparator_loss": 8.0, "gap": 0.0, "largest_loss": 50.0}
VARIANTS = {"eta": ("theory", "1", "theory"), "active": ("margin", "margin", "misordered")}
STEP: Row = {"stream": "noisy", "measure": "ndcg", "eta": "0.1", "step": 0.1, "rounds": 100}
RISK: Row = {"surrogate": "listnet", "radius": 1.0, "norm": 0.5}
LEAD: Row = {"dataset": "d", "model": "a", "title": "A", "value": 0.6, "other": "b", "other_title": "B"}
LEAD |= {"other_value": 0.5, "difference": 0.1, "low": 0.05, "high": 0.2, "p_holm": 0.01, "question": "practice"}
SLACK: Row = {"claim": "slam-thm2", "kind": "map", "m": 5, "y_max": 1, "d": None, "statistic": "smallest_slack"}
FINITE: Row = {"population": "two points", "surrogate": "listnet", "radius": 0.5, "signal": 1.5, "relative": True}
FINITE |= {"zero_excess": 0.3, "reversed_excess": 0.6, "fixed_excess": 0.2}
PHASE: Row = {"source": "d", "kind": "ndcg", "lead": 1.0, "spread": 2.0, "l2": 0.1, "certified": True}
RECORD: Row = {"dataset": "d", "model": "slam-ndcg", "algorithm": "erm", "surrogate": "slam-ndcg"}
SHORT: Row = {"dataset": "d", "weights": "tight", "lists": "short", "ndcg": 0.5, "over_printed": 0.02}
SHORT |= {"over_whole": 0.1, "file_order": 0.4}
RELEVANCE: Row = {"dataset": "d", "learner": "minimiser", "relevant_from": 2, "measure": "map", "counted_from": 2}
RELEVANCE |= {"value": 0.5, "over_first": 0.1, "over_first_high": 0.2, "file_order": 0.3}


def runs(**changes: Any) -> list[Row]:
    return rows(VARIANTS, **{**RUN, "gamma": None, "margin_bound": None, **changes})


def rounds(moved: int) -> Tables:
    return {"slam-eta": rows({"active": ("margin", "misordered"), "rounds_that_differ": (7, moved)}, **STEP)}


def risks(excess: float, low: float = -0.1, certified: bool = True) -> Tables:
    found = [
        {**RISK, "regularisation": kind, "n": n, "excess_risk": excess, "low": 0.0, "high": 9.0, "certified": certified}
        for kind in ("theorem", "none")
        for n in (10, 1000)
    ]
    axes = {"surrogate": "listnet", "radius": 1.0}
    rates = [{**axes, "regularisation": "theorem", "exponent": low, "low": low, "high": 0.0}]
    rates.append({**axes, "regularisation": "none", "exponent": -0.5, "low": -0.6, "high": -0.4})
    return {"slam-risk": found, "slam-rates": rates}


def minimisers(*norms: float) -> Tables:
    others = [{**RECORD, "model": "x", "surrogate": "listnet", "norm": 0.0}, {**RECORD, "model": "y", "norm": None}]
    return {"slam-practice": [LEAD], "training": [*({**RECORD, "norm": norm} for norm in norms), *others]}


def finite(excess: float) -> Tables:
    each = {"n": (100, 1000), "bound": (0.4, 0.2)}
    return {**risks(0.5), "slam-finite-risk": rows(each, **FINITE, excess_risk=excess, low=0.1, high=0.1)}


def phases(norm: float) -> Tables:
    return {"slam-phases": rows({"ratio": (0.5, 2.0), "norm": (0.0, norm)}, **PHASE)}


def lengths(misordered: float) -> Tables:
    each = {"active": ("margin", "misordered"), "margin_bound": (30.0, 3.0), "cumulative_loss": (2.0, misordered)}
    known = {"stream": "orthogonal", "measure": "map", "m": 5, "T": 9, "largest_loss": 9.0, "gap": 0.0, "bound": 3.0}
    return {"slam-lengths": rows({**each, "share_of_printed": (0.1, 1.0)}, **known)}


def separable() -> list[Row]:
    known = {"stream": "separable", "gamma": 0.5, "margin_bound": 40.0}
    found = runs(**known, T=50, cumulative_loss=4.0) + runs(**known, cumulative_loss=5.0)
    return found + runs(**known, measure="map", cumulative_loss=10.0)


SENTENCES = {
    "slam-sentences": [
        {"claim": claim, "kind": "ndcg", "m": 3, "n": 10, "statistic": statistic, "value": value}
        for claim, statistic, value in (
            ("slam-mistakes", "smallest_lead", 0.0),
            ("slam-prediction", "as_printed", 29.0),
            ("slam-prediction", "with_own_documents", 0.0),
            ("slam-thm3-exchanges", "excess_over_exchanges", 0.33),
            ("slam-thm3-exchanges", "excess_over_weights", 0.0),
        )
    ]
}
DIMENSIONS = rows(
    {"statistic": ("dimension", "dimension_to_a_number", "features"), "value": (4.0, 2.0, 2.0)},
    claim="slam-thm10",
    kind=None,
    m=3,
    y_max=None,
    d=2,
)
CONSTANTS: Tables = {
    "slam-constants": [
        {"surrogate": "ranksvm", "m": m, "y_max": 1, "exact": m**2 / 2, "searched": m**2 / 2, "published": "O(m)"}
        for m in (10, 100)
    ],
    "slam-growth": [{"surrogate": "ranksvm", "exponent": 2.0, "searched_exponent": 2.0}],
    "slam-losses": rows(
        {"statistic": ("smallest_slack", "slack_of_divided_loss", "largest_norm"), "value": (0.0, -0.8, 1.0)},
        claim="slam-normalisation",
        kind="ndcg",
        m=3,
        y_max=1,
    ),
}

CASES += [
    Case("slam", {"slam-losses": [{**SLACK, "value": 0.25}]}, said=["0.25"]),
    Case(
        "slam",
        {"slam-losses": [{**SLACK, "value": -0.25}]},
        refuted="slam-thm2",
        said=["−0.25"],
        cells={("slam-slacks", 0, None): [["MAP", "1", "−0.25", "–"]]},
    ),
    Case("slam", {"slam-perceptron": runs(cumulative_loss=18.0)}, refuted="slam-thm5", said=["1 of 1"]),
    # A bound of 17 says something where reversed orders lose 20, and nothing where they lose 16.
    Case("slam", {"slam-perceptron": runs(largest_loss=20.0)}, said=["29 %"], drawn={"slam-shares": []}),
    Case("slam", {"slam-perceptron": runs(largest_loss=16.0)}, unsaid=["29 %"]),
    Case("slam", {"slam-perceptron": separable()}, part="slam-separable-part", said=["20.0 %", "25.0 %", "12.5 %"]),
    Case(
        "slam",
        {
            "slam-perceptron": runs(T=50, constant=0.0)
            + runs(constant=2.0)
            + [row for T in (50, 100) for row in runs(stream="adversary", T=T, constant=0.0)]
        },
        said=["3 of 4"],
    ),
    Case(
        "slam", rounds(3), refuted="slam-eta-free-corrected", said=["3"], cells={("slam-steps", 2, 4): [["7.0", "3.0"]]}
    ),
    Case("slam", rounds(0), refuted="slam-eta-free", said=["7 %"]),
    Case("slam", risks(0.5), said=["2 of 2", "50.00 %"]),
    Case("slam", risks(2.0), refuted="slam-thm8", said=["0 of 2"]),
    Case("slam", risks(0.5, certified=False), said=["4 of 4"]),
    Case("slam", {"slam-practice": [LEAD]}, said=["0.100"]),
    Case("slam", minimisers(0.0, 0.0), said=["2 of 2"]),
    Case("slam", minimisers(0.0, 3.0), said=["1 of 2"]),
    Case("slam", minimisers(2.0, 3.0), unsaid=["0 of 2", "1 of 2", "2 of 2"]),
    Case(
        "slam",
        {
            "slam-perceptron": runs(),
            "slam-players": rows(
                {"player": ("perceptron", "never"), "cumulative_loss": (2.0, 4.5)},
                stream="pairs",
                measure="map",
                active="margin",
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
    Case(
        "slam",
        {
            "slam-perceptron": [
                {**row, "cumulative_loss": 40.0 if row["eta"] == "1" else 5.0}
                for row in runs(stream="stalled", measure="map")
            ],
            **rounds(0),
        },
        refuted="slam-thm5-eta1",
        said=["40.0"],
    ),
    Case("slam", finite(0.1), said=["1 of 2", "1,000"]),
    Case("slam", finite(0.3), refuted="slam-thm8", said=["1"]),
    Case("slam", phases(1.0), said=["2"], unsaid=["1 of 2"]),
    Case("slam", phases(0.0), refuted="slam-zero-minimiser", said=["1 of 2"]),
    Case("slam", {"slam-short-lists": [{**SHORT, "over_printed_low": 0.01, "over_printed_high": 0.03}]}, ["0.0200"]),
    Case("slam", {"slam-relevance": [{**RELEVANCE, "over_first_low": 0.05}]}, ["0.100"]),
    Case("slam", lengths(3.5), said=["1 of 1"]),
    Case("slam", SENTENCES, refuted="slam-prediction", said=["29"]),
    Case("slam", SENTENCES, refuted="slam-thm3-exchanges", said=["0.33"]),
    Case("slam", {"slam-losses": DIMENSIONS}, refuted="slam-thm10-scores", said=["1 of 1"]),
    Case(
        "slam",
        {"slam-valid-weights": [{"kind": "map", "m": 3, "relevant": 2, "printed_sum": 0.5, "largest_excess": 0.08}]},
        refuted="slam-eq8",
        said=["0.080"],
    ),
    Case(
        "slam",
        {"slam-cutoffs": rows({"k": (3, 7), "v_max": (6.0, 9.0), "v_max_limit": (6.0, 9.0)}, added_by_doubling=3.0)},
        refuted="slam-variance-k",
        said=["3"],
    ),
    Case("slam", CONSTANTS, refuted="slam-ranksvm", said=["2.00", "5,000", "−0.80"]),
    Case("slam", CONSTANTS, said=["−0.80"], unsaid=["5,000"]),
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


def more_labels() -> Tables:
    lists = {"m": 3, "grades": 2}
    laws = rows({"k": (1, 2, 3), "largest_gap": (0.4, 0.0, 0.0), "exponent": (1.0, 2 / 3, 0.5)}, **lists)
    found = [("pair", "unbiased", 1, 0.9), ("pair", "unbiased", 2, 0.6), ("near tie", "all labels", 3, 0.47)]
    found += [("independent labels", "independent", 1, 0.55), ("pair", "independent", 1, 0.97)]
    names = [{**lists, "law": law, "learner": learner, "k": k, "learnable": k > 1} for law, learner, k, _ in found]
    regrets = [
        {**name, "T": T, "regret": 0.02 * T, "low": 0.01 * T, "high": 0.03 * T, "linear_limit": 0.01 * T}
        for name in names
        for T in (100, 1000)
    ]
    return {
        "topk-label-laws": [{**law, "learnable": law["k"] > 1} for law in laws],
        "topk-label-exponents": [
            {**name, "slope": x, "low": x - 0.1, "high": x + 0.1} for name, (*_, x) in zip(names, found, strict=True)
        ],
        "topk-label-regret": regrets,
    }


def curves(kl: float) -> Tables:
    last = {"ranksvm": 0.75, "kl": kl, "squared": 0.65, "smooth-dcg": 0.1, "smooth-dcg-ascent": 0.7}
    places = [("", "listnet", 0.8), ("", "random", 0.3), ("all-labels-same-step", "kl", 0.79)]
    places += [(panel, name, x) for panel in ("as-printed", "correct", "repaired") for name, x in last.items()]
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
        refuted="topk-estimators",
        part="topk-estimators-part",
        said=["0.25"],
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
        said=["0.50"],
        drawn={"topk-probabilities": ["0.625", "0.125"]},
    ),
    Case("topk", game(9.0, 9.5), cells={("topk-game", 1, 3): [["45", "1.00"]]}),
    Case(
        "topk",
        {"topk-regret": [REGRET], "topk-exponents": [SLOPE]},
        said=["75 % to 75 %"],
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
        said=["10"],
        cells={("topk-exponents", 1, 2): [["0.700"], ["0.970"]], ("topk-exponents", 6, 7): [["−0.020"], ["−0.020"]]},
    ),
    Case(
        "topk",
        {
            "topk-decompositions": [
                {"surrogate": name, "scores": "spread", "m": 2, "labels": k, "joint": 0.5, "beyond": 0.0}
                for name in ("ranksvm", "listnet")
                for k in (1, 2)
            ],
            "topk-estimable": rows(
                {"k": (1, 2), "error": (0.25, 1e-15), "beyond": (1.0, 0.0)},
                surrogate="ranksvm",
                exploration="algorithm 1",
                m=2,
            ),
        },
        part="topk-information-part",
        said=["0.250", "1e−15"],
    ),
    Case(
        "topk",
        {
            "topk-regret": [REGRET],
            "topk-exponents": [SLOPE],
            "topk-bandit": [{"surrogate": "kl", "T": 100, "regret": 10.0, "slope": 0.75}],
        },
        part="topk-bandit-part",
        said=["2.0 to 2.0"],
    ),
    Case(
        "topk",
        {
            "topk-calibration": rows(
                {"surrogate": ("kl", "squared-ndcg"), "largest_regret": (0.3, 0.0)}, laws="worst", m=3, grades=2
            )
        },
        part="topk-calibration-part",
        said=["0.30"],
    ),
    Case(
        "topk",
        more_labels(),
        part="topk-labels-part",
        said=["0.4", "3", "0.90 to 0.90", "0.60", "2.00 to 2.00", "0.47", "0.55", "0.97"],
    ),
    Case(
        "topk",
        curves(0.7),
        part="topk-figure-part",
        said=["3", "+0.050"],
        cells={("topk-gaps-made", 2, None): [["+0.050", "−0.050"]]},
    ),
    Case("topk", curves(0.7), part="topk-explanations-part", said=["0.546", "0.546 to 0.546"]),
    Case(
        "topk",
        {
            "topk-variance-quotients": [
                {"probabilities": "correct", "m": 5, "above": above, "below": "kl, k = 1", "same_loss": same}
                | {"quotient": quotient, "low": 1.4, "high": 2.1}
                for above, same, quotient in (("ranksvm, k = 2", False, 1.75), ("kl, k = 2", True, 0.5))
            ],
            "topk-sums": rows({"surrogate": ("kl", "listnet"), "value": (0.0, 0.25)}, statistic="joint"),
        },
        part="topk-explanations-part",
        said=["1.75 to 1.75", "0.50 to 0.50", "0.25"],
    ),
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


def limits(low: float) -> Tables:
    each = {"growing": ("queries", "documents"), "fixed": (2, 10)}
    found = rows(each, loss="hinge", limit=0.2, limit_low=low, limit_high=0.3)
    return {"twolayer-gaps": gaps(1.0), "twolayer-limits": found}


def older(gap: float) -> Tables:
    """A gap and a bound for documents that are halved, one that stays, and one that falls by a fifth."""
    found = [
        {"loss": "hinge", "queries": 10, "documents": m, "query_level": 3.0, **ends("gap", gap / m)}
        | {"document_level": 4.0 / m, "two_layer": 6.0 - m / 2.0, "two_layer_pooled": 5.0}
        for m in (2, 4)
    ]
    return {"twolayer-older-bounds": found}


def budgets(shift: float, depth: float | None) -> Tables:
    """Best splits with n = C/4 and curves on a population, and on a data set, of which no best ranker is known."""
    sides = {f"error_{end}{side}": 0.5 for end in ("deepest", "shallowest") for side in ("", "_low", "_high")}
    best = [
        {"dataset": "population", "budget": c, "best_queries": c / 4.0, "best_queries_low": c / 4.0 + shift}
        | {"best_queries_high": c / 4.0, "predicted_queries": c**0.5, "error_inner": 0.4, **sides}
        | {"variance_documents": depth, "variance_documents_low": 3.5, "variance_documents_high": 4.6}
        for c in (100, 10_000)
    ]
    point = {"error": 0.5, "low": 0.4, "high": 0.6}
    curve = [
        {**point, **ends("excess", 0.2, 0.1), "dataset": "population", "budget": c, "queries": n, "documents": c // n}
        for c in (100, 10_000)
        for n in (2, c // 4, c // 2)
    ]
    made = [{**row, "dataset": "made", "excess": None, "excess_low": None, "excess_high": None} for row in curve[:3]]
    best.append({**best[0], "dataset": "made", "variance_documents": None})
    return {"twolayer-best-splits": best, "twolayer-tradeoff": curve + made}


def samplings() -> list[Row]:
    return [
        {"queries": n, "documents": 4, "what": what, "value": value, "low": value - 0.1, "high": value + 0.1}
        for n, effect in ((10, 0.3), (40, 0.05))
        for what, value in (("lengths", effect), ("dependence", -effect))
    ]


def plans() -> list[Row]:
    return [
        {"budget": 100, "vc_dimension": v, "delta": delta, "c1": c1, "queries": 50.0 - v - 10 * delta}
        | {"informative_from": 12 + v, "informative_from_sauer": 3456}
        for v in (2, 5)
        for delta in (0.2, 0.1)
        for c1 in (0.5, 1.0)
    ]


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


def worst() -> list[Row]:
    losses = {"hinge": 0.02, "logistic": 0.04, "exponential": -0.01}
    known = {"queries": 40, "documents": 8, "worst_largest": 0.1, "bound": 8.0, **ends("worst", 0.06)}
    return [{**known, "loss": loss, **ends("gap", gap)} for loss, gap in losses.items()]


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
        said=["10 of 15", "3 of 5", "4 of 4"],
        cells={
            ("twolayer-terms", 0, 3): [[10, 2, 0.05], [10, 4, 0.025], [160, 2, 1 / 320]],
            ("twolayer-layers", 0, 2): [[10, 2], [10, 4], [40, 2], [40, 4]],
        },
    ),
    Case("twolayer", {"twolayer-gaps": gaps(41.0)}, refuted="twolayer-thm1", said=["1 of 5", "0.05."]),
    Case("twolayer", {"twolayer-gaps": gaps(1.0, rising=True)}, said=["0 of 4"]),
    Case("twolayer", limits(0.1), said=["1 of 1"], cells={("twolayer-limits", 1, 4): [[0.2, "0.1 0.3", None]] * 2}),
    Case("twolayer", limits(-0.1), said=["0 of 1"]),
    Case("twolayer", older(1.0), cells={("twolayer-older-bounds", 0, None): [["hinge", 0.5, 1.0, 0.5, 0.8, 1.0]]}),
    Case("twolayer", older(0.0), cells={("twolayer-older-bounds", 1, 2): [[None]]}),
    Case(
        "twolayer",
        budgets(0.0, 4.0),
        said=["3 of 3", "1.00", "0.50"],
        cells={("twolayer-best-splits", 4, 5): [[25.0], [2500.0], [None]]},
    ),
    Case("twolayer", budgets(0.0, None), cells={("twolayer-best-splits", 4, 5): [[None]] * 3}),
    Case(
        "twolayer",
        {"twolayer-samplings": samplings()},
        said=["0 of 2", "1 of 2"],
        cells={("twolayer-samplings", 0, None): [[10, 4, 0.3, -0.3], [40, 4, 0.05, -0.05]]},
    ),
    Case(
        "twolayer",
        {"twolayer-plans": plans()},
        said=["17"],
        cells={("twolayer-informative", 0, None): [[2, 14, 14, 3456], [5, 17, 17, 3456]]},
    ),
    Case(
        "twolayer",
        {"twolayer-identities": identities(2.04)},
        said=["2.1", "2e−15"],
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
        said=["0.888", "1.250", "1.050"],  # of the bounds below 1: 0.8 / 0.9
        cells={("twolayer-extremes", 2, 3): [[0.4], [0.2]]},
    ),
    Case(
        "twolayer",
        {"twolayer-gaps": gaps(1.0), "twolayer-worst-gaps": worst()},
        said=["1.5 to 3.0"],
        cells={("twolayer-worst-gaps", 2, 4): [[0.02, 0.06], [0.04, 0.06], [-0.01, 0.06]]},
    ),
    Case("twolayer", {"twolayer-gaps": gaps(1.0), "twolayer-worst-gaps": worst()[2:]}, unsaid=["1.5 to 3.0"]),
    Case(
        "twolayer",
        {
            "twolayer-plans": plans(),
            "twolayer-capacities": [
                {"budget": 100, "capacity": v, "planned_for": planned, "queries": n, "gap": v / n}
                | {"gap_low": 0.0, "gap_high": 1.0, "bound": 1.0}
                for v in (1, 5)
                for planned, n in ((1, 20), (5, 10), (None, 50))
            ],
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
            "twolayer-loss-averages": [
                {"loss": "hinge", "case": "3 queries", "score_bound": b, "average": b, "contracted": 2 * b}
                for b in (0.1, 0.5, 1.0)
            ],
        },
        said=["50.0 %"],
        cells={
            ("twolayer-remarks", 4, 5): [[pytest.approx(20.0)], [pytest.approx(2.0)]],
            ("twolayer-loss-averages", 1, None): [[0.1, 0.1, 0.2], [1.0, 1.0, 2.0]],
        },
    ),
    Case(
        "twolayer",
        rates(),
        said=["4.0 to 4.0", "25 %"],
        drawn={"twolayer-rates": [], "twolayer-rate-plans": []},
        cells={
            ("twolayer-rate-exponents", -3, None): [["-0.5 -0.5", -0.5, -0.1]],
            ("twolayer-rate-plans", 3, 4): [[10]],
            ("twolayer-rate-plans", 5, 6): [[40]],
            ("twolayer-rate-plans", -1, None): [[1 / 50]],
        },
    ),
    Case(
        "twolayer",
        {
            "twolayer-short-lists": [
                {"queries": n, "which": which, "bound": bound}
                for n in (100, 10_000)
                for which, bound in (("one query", 30.0 / n), ("half of the queries", 0.5))
            ]
        },
        refuted="twolayer-some-query",
        said=["0.003", "10,000", "0.5"],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.paper}: {', '.join(case.tables)}; {case.refuted}")
def test_numbers_are_those_of_the_tables(tmp_path: Path, case: Case) -> None:
    section = build(tmp_path, case.paper, case.tables, {case.refuted: "refuted"})
    said = numbers(prose(section, case.part))
    assert {number.rstrip(".") for number in case.said} <= said
    assert not {*case.unsaid} & said
    drawn = {figure.name: numbers(figure.description) for figure in figures(section)}
    for name, shown in case.drawn.items():
        assert {*shown} <= drawn[name]
    for (name, first, last), expected in case.cells.items():
        texts = all(isinstance(value, str) for row in expected for value in row)
        found = [[cell.text if texts else cell.raw for cell in row][first:last] for row in cells(section, name)]
        assert found[: len(expected)] == expected


DIFFERENT: list[tuple[str, Tables, Tables]] = [
    (
        "cone",
        {"cone-table1": [CELL], "published": [OWN]},
        {"cone-table1": [CELL], "published": [{**OWN, "published": 0.4512}]},
    ),
    ("cone", methods(0.3), methods(0.5)),
    ("cone", descent("d", ("eg", "query", 10, [3.0, 2.0, 1.5])), descent("d", ("eg", "query", 10, [3.0, 2.0, 2.5]))),
    ("cone", stability(-0.9), stability(-0.4)),
    ("cone", practice(0.7), practice(0.4)),
    ("slam", {"slam-perceptron": runs()}, {"slam-perceptron": runs(certified=False)}),
    ("slam", risks(0.5, low=-0.1), risks(0.5, low=-0.45)),
    ("slam", {"slam-practice": [LEAD]}, {"slam-practice": [{**LEAD, "low": -0.1}]}),
    ("slam", {"slam-practice": [LEAD]}, {"slam-practice": [{**LEAD, "p_holm": 0.2}]}),
    ("slam", {"slam-practice": [LEAD]}, {"slam-practice": [{**LEAD, "difference": -0.1, "low": -0.2, "high": -0.05}]}),
    *(
        (
            "slam",
            {"slam-short-lists": [{**SHORT, "over_printed_low": 0.01, "over_printed_high": 0.03}]},
            {"slam-short-lists": [{**SHORT, "over_printed_low": low, "over_printed_high": high}]},
        )
        for low, high in ((-0.03, -0.01), (-0.01, 0.03))
    ),
    (
        "slam",
        {"slam-relevance": [{**RELEVANCE, "over_first_low": 0.05}]},
        {"slam-relevance": [{**RELEVANCE, "over_first_low": -0.01}]},
    ),
    ("slam", lengths(2.0), lengths(3.5)),
    ("topk", game(9.0, 9.5), game(1.9, 2.1)),
    ("topk", game(1.9, 2.1), game(0.1, 0.15)),
    ("topk", curves(0.7), curves(0.4)),
    ("twolayer", budgets(0.0, 4.0), budgets(-2450.0, 4.0)),
    ("twolayer", budgets(0.0, 4.0), budgets(0.0, 2.0)),
]


@pytest.mark.parametrize(("paper", "one", "other"), DIFFERENT)
def test_the_wording_follows_the_numbers(tmp_path: Path, paper: str, one: Tables, other: Tables) -> None:
    first, second = (NUMBER.sub("", prose(build(tmp_path, paper, tables))) for tables in (one, other))
    assert first != second


@pytest.mark.parametrize("gap", [0.0, -1.0])
def test_a_page_without_gaps_is_drawn(tmp_path: Path, gap: float) -> None:
    tables = {**limits(0.1), "twolayer-gaps": gaps(gap), **older(gap), **budgets(0.0, 4.0)}
    for figure in figures(build(tmp_path, "twolayer", tables)):
        assert "<svg" in save(figure, tmp_path / "figures")


def test_heights_between_points() -> None:
    points = [(1.0, 4.0), (10.0, 2.0), (100.0, 6.0)]
    heights = [between(points, x) for x in (0.5, 1.0, 10**0.5, 10.0, 10**1.5, 1000.0)]
    assert heights == pytest.approx([4.0, 4.0, 3.0, 2.0, 4.0, 6.0])
