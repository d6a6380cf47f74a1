"""Does the page of cone show the numbers of its tables, and does its prose follow the evidence?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from page_of_paper import Tables, build, figures, prose, shown

from pipeline_lib.papers.cone.computations import bases
from pipeline_lib.papers.cone.computations.descent import summary

CELL: dict[str, Any] = {"dataset": "MQ2008", "method": "ListNet", "model": "listnet", "measure": "MAP"}
CELL |= {"published": 0.450, "fold1": 0.448, "fold1_low": 0.40, "fold1_high": 0.50, "five_fold_mean": 0.475}
CELL |= {"five_fold_sd": 0.05, "delta": -0.002, "status": "verified"}
OWN: dict[str, Any] = {"dataset": "MQ2008", "model": "listnet", "fold": 1, "measure": "map", "published": 0.4502}
OWN |= {"measured": 0.448, "delta": -0.0022, "source": "LETOR 4.0 baselines (fold 1)"}


def text(folder: Path, tables: Tables, part: str = "") -> str:
    return " ".join(prose(build(folder, "cone", tables), part).split())


def test_no_tables_no_page(tmp_path: Path) -> None:
    assert build(tmp_path, "cone", {}) is None


def test_table_1_shows_its_cells_and_counts_them(tmp_path: Path) -> None:
    section = build(tmp_path, "cone", {"cone-table1": [CELL], "published": [OWN]})
    assert shown(section, "cone-table1-mq2008") == [
        ["ListNet", "MAP", "0.450", "0.4480", "0.4750", "0.0500", "−0.0020", "verified"]
    ]
    words = " ".join(prose(section).split())
    assert "1 of 1 numbers" in words
    assert "1 of its numbers of fold 1 that are transcribed here (0.4502)" in words.replace("1 of 1 of", "1 of")
    other = text(tmp_path, {"cone-table1": [CELL], "published": [{**OWN, "published": 0.4512}]})
    assert "Table 1 shows fold 1." in words
    assert "Table 1 shows fold 1." not in other


def test_published_numbers_are_drawn_with_ours_where_there_are_any(tmp_path: Path) -> None:
    printed = {"dataset": "MQ2008", "method": "ListNet", "measure": "MAP", "published": 0.45, "best": 0.467}
    tables: Tables = {"cone-published": [{**printed, "other_dataset": 0.488}]}
    alone, beside = (build(tmp_path, "cone", made) for made in (tables, {**tables, "cone-table1": [CELL]}))
    descriptions = [
        [one.description for one in figures(section) if one.name == "cone-table1-mq2008"] for section in (alone, beside)
    ]
    assert "0.45 published, 0.448 measured" in descriptions[1][0]
    assert "measured" not in descriptions[0][0]


def test_margins_are_given_in_per_cent_and_in_points(tmp_path: Path) -> None:
    printed = {"dataset": "MQ2008", "method": "ConeRank-SG", "measure": "NDCG", "published": 0.45, "best": 0.5}
    tables: Tables = {"cone-published": [{**printed, "other_dataset": 0.4}]}
    assert "10.0 % below the best, which is 5.0 points" in text(tmp_path, tables, "cone-table1-part")


def test_what_adarank_depends_on_is_computed(tmp_path: Path) -> None:
    stops = {"validation": 0.44, "training": 0.43, "no gain": 0.42, "last": 0.41, "best on test": 0.46}
    boosting = [
        {"dataset": "MQ2008", "fold": 1, "measure": "map", "repeats": repeats, "stop": stop, "rounds": 9}
        | {
            "features": 2,
            "map": value,
            "map_low": 0.4,
            "map_high": 0.45,
            "ndcg": value,
            "ndcg_low": 0.4,
            "ndcg_high": 0.5,
        }
        for repeats in (None, 1)
        for stop, value in stops.items()
    ]
    cell = {**CELL, "method": "AdaRank-MAP", "published": 0.463, "status": "deviates"}
    words = text(tmp_path, {"cone-table1": [cell], "cone-adarank": boosting})
    assert "1 of 1 of AdaRank's numbers deviate" in words
    assert "0.410 to 0.440 over the rules that do not know the test part, and 0.460" in words


@pytest.mark.parametrize(("exact", "best"), [(0.3, "EG"), (0.5, "exact blocks")])
def test_the_method_that_ranks_best_is_named(tmp_path: Path, exact: float, best: str) -> None:
    rows = [
        {"dataset": "sim", "fold": 1, "part": "method", "level": None, "method": method, "K": 2, "start": 0}
        | {"fold_in": fold_in, "objective": objective, "passes": 1, "validation": 0.1, "map": value, "ndcg": value}
        for method, objective, value in (("eg", 2.0, 0.4), ("exact", 1.0, exact))
        for fold_in in ("gradient", "least-squares")
    ]
    assert f"MAP is best with {best}" in text(tmp_path, {"cone-bases": rows})
    # One method alone is not the best of several.
    assert "is best" not in text(tmp_path, {"cone-bases": rows[2:]})


def test_figure_3_averages_starts_and_then_folds() -> None:
    row = {"dataset": "sim", "part": "basis", "K": 2, "fold_in": "gradient", "ndcg": 0.0}
    rows = [{**row, "fold": fold, "map": value} for fold, value in ((1, 0.1), (1, 0.3), (2, 0.6))]
    by = {(point["measure"], point["folds"]): point for point in bases.figure_3_means(rows)}
    assert by["map", 2]["mean"] == pytest.approx(0.4)
    assert by["map", 2]["low"] < 0.4 < by["map", 2]["high"]
    [point] = bases.figure_3_means([{**rows[0]}])[:1]
    assert (point["mean"], point["low"], point["high"]) == (pytest.approx(0.1), None, None)


def test_a_projection_that_is_not_zero_changes_the_words(tmp_path: Path) -> None:
    names = ("largest_difference_inside", "largest_norm_on_the_negative", "largest_difference_to_nnls")

    def rows(left: float) -> list[dict[str, Any]]:
        return [
            {"claim": "cone-project", "case": f"{kind}: {name}", "d": 3, "K": 2, "value": value}
            for kind in ("acute", "any")
            for name in names
            for value in [left if (kind, name) == ("any", names[1]) else 0.0]
        ]

    assert "70 %" in text(tmp_path, {"cone-identities": rows(0.7)})
    assert "%" not in text(tmp_path, {"cone-identities": rows(0.0)})


def trace(dataset: str, method: str, updates: str, fold_steps: int | None, values: list[float]) -> list[dict[str, Any]]:
    """Rows of a trace whose coefficients miss the best objective by a tenth."""
    last = len(values) - 1
    return [
        {"dataset": dataset, "method": method, "updates": updates, "fold_steps": fold_steps, "pass": t}
        | {"step": 0.02, "objective": value, "met": None if t == 0 else 1.1 * values[t - 1]}
        | {"gap": 0.25 if t == last else None}
        for t, value in enumerate(values)
    ]


def descent(*traces: list[dict[str, Any]]) -> Tables:
    return {
        "cone-descent": [row for one in traces for row in one],
        "cone-descent-summary": [dict(summary(one)) for one in traces],
    }


def test_a_method_that_rises_is_named(tmp_path: Path) -> None:
    falls, rises = (text(tmp_path, descent(trace("sim", "eg", "query", 10, [3.0, 2.0, last]))) for last in (1.5, 2.5))
    assert falls.count("EG (one per query)") + 1 == rises.count("EG (one per query)")


def test_every_group_of_the_small_sample_is_judged_by_itself(tmp_path: Path) -> None:
    runs = [
        trace("small sample", "eg", "whole", 10, [3.0, 2.0, 2.2, 1.0]),
        trace("small sample", "eg", "whole", 20_000, [3.0, 2.0, 1.0]),
        trace("small sample", "exact", "whole", None, [3.0, 2.0, 1.0]),
    ]
    section = build(tmp_path, "cone", descent(*runs))
    words = " ".join(prose(section).split())
    assert words.count("passes rise with EG (by at most 0.1),") == 1
    assert words.count("no pass rises,") == 2
    assert [row[7] for row in shown(section, "cone-descent-small-table")] == ["1", "0", "0"]


@pytest.mark.parametrize(("high", "informed"), [(-0.9, True), (-0.4, False)])
def test_theorem_1_is_informative_only_below_minus_a_half(tmp_path: Path, high: float, informed: bool) -> None:
    values = dict.fromkeys(("s_mean", "beta", "beta_bound", "gamma", "empirical_risk", "test_risk", "bound"), 1.0)
    rows = [
        {"P": P, "method": "eg", "repetition": 0, "s_max": 1.0 / P, "largest_ratio": 0.5, **values}
        | {"bound_by_theorem_2": 5.0, "largest_possible_risk": 4.0}
        for P in (10, 20, 40)
    ]
    fit = {"method": "eg", "statistic": "s_max", "slope": -1.0, "low": -1.1, "high": high}
    words = text(tmp_path, {"cone-stability": rows, "cone-stability-exponents": [fit]})
    assert ("certain for EG." in words) == informed
    assert "at most 50 %" in words
    assert "in 3 of them" in words


def test_converged_cones_are_shown_with_the_bounds(tmp_path: Path) -> None:
    axes = {"population": "line", "K": 1, "method": "exact", "repetition": 0, "d": 1, "passes": 2}
    values = {"rho": 1.0, "c": 1.0, "beta": 0.4, "beta_worst": 0.45, "beta_bound": 0.5, "gamma": 4.0, "risk": 0.1}
    rows = [
        {**axes, **values, "P": P, "s_max": 2.0 / P, "empirical_risk": 0.1, "bound": 1.0, "largest_possible_loss": 4.0}
        for P in (10, 100, 1000)
    ]
    fit = {"population": "line", "K": 1, "statistic": "s_max", "low": -1.1, "high": -0.9}
    fits = [{**fit, "method": "exact", "slope": -1.02}, {**fit, "method": "constant-step", "slope": -0.03}]
    tables = {"cone-leave-out": rows, "cone-leave-out-exponents": fits}
    section = build(tmp_path, "cone", tables)
    words = " ".join(prose(section).split())
    assert "−1.02 (two kinds on a line, " in words
    assert "−0.03" in words
    assert [row[1:3] for row in shown(section, "cone-leave-out")] == [["1", "10"], ["1", "100"], ["1", "1,000"]]


def test_cones_and_halfspaces_are_counted(tmp_path: Path) -> None:
    cone = {"case": "random", "d": 3, "K": 2, "of_order": True, "independent": True, "pointed": True, "proper": False}
    distances = {"d": 2, "points": 5, "to_hinge": 1.2, "to_best_hinge": 0.07, "to_squared": 0.0}
    tables: Tables = {
        "cone-proper": [{**cone, "solid": False}, {**cone, "K": 3, "solid": True, "proper": True}],
        "cone-halfspace": [{**distances, "to_unsquared": 0.2, "to_two_sided": 1.0}],
        "cone-halfspace-solutions": [
            {"sample": k, "differences": 5, "to_ranksvm": angle, "to_squared": 0.0}
            for k, angle in enumerate((0.5, 20.0))
        ],
    }
    words = text(tmp_path, tables)
    assert "Of 2 such cones, 1 is not solid" in words
    assert "0.070" in words
    assert "1 of 2 samples" in words
    assert "up to 20 degrees" in words


def test_one_ray_is_compared_with_ranksvm(tmp_path: Path) -> None:
    row: dict[str, Any] = {"dataset": "sim", "fold": 1, "level": None, "method": None, "K": None, "start": None}
    row |= {"fold_in": None, "objective": None, "passes": None, "validation": None, "ndcg": 0.5}
    rows = [
        {**row, "part": "ranksvm", "map": 0.5},
        {**row, "part": "basis", "K": 1, "method": "sg", "fold_in": "gradient", "map": 0.52},
        {**row, "part": "basis", "K": 2, "method": "sg", "fold_in": "gradient", "map": 0.9},
    ]
    curve = [
        {"dataset": "sim", "fold_in": "gradient", "measure": measure, "K": K, "folds": 1, "mean": 0.5, "low": None}
        | {"high": None}
        for measure in ("map", "ndcg")
        for K in (1, 2)
    ]
    assert "a difference of +0.020" in text(tmp_path, {"cone-bases": rows, "cone-figure3": curve})


def ranker(family: str, ndcg: float, **values: Any) -> dict[str, Any]:
    ends = {f"{name}_{end}": value for name, value in (("map", ndcg), ("ndcg", ndcg)) for end in ("low", "high")}
    more = dict.fromkeys(("more_ndcg", "more_ndcg_low", "more_ndcg_high"), ndcg - 0.5)
    row = {"dataset": "sim", "family": family, "size": None, "folds": 5, "mean_size": 1.0, "map": ndcg, "ndcg": ndcg}
    return {**row, **ends, **more, **values}


@pytest.mark.parametrize(
    ("mean", "best"),
    [(0.7, "has the highest NDCG on the test part, 0.700"), (0.4, "NDCG on the test part is that of RankSVM, 0.600")],
)
def test_the_ranker_with_the_highest_ndcg_is_named(tmp_path: Path, mean: float, best: str) -> None:
    rows = [ranker("published", 0.5), ranker("mean difference", mean), ranker("RankSVM", 0.6, mean_size=None)]
    shares = [
        {"dataset": "sim", "what": what, "folds": 5, "share": share}
        for what, share in (("risk and ndcg", 0.9), ("K and ndcg", 0.3))
    ]
    tables: Tables = {"cone-practice": rows, "cone-shares": shares}
    section = build(tmp_path, "cone", tables)
    words = " ".join(prose(section).split())
    assert f"{best}; the published settings reach 0.500" in words
    assert "in 90 % of all pairs" in words
    assert "in 30 %." in words
    # Differences have a sign, and RankSVM has no number of vectors.
    assert [row[1:3] for row in shown(section, "cone-practice-sim")][2] == ["–", "0.6000"]


def test_the_answer_on_stability_follows_the_evidence(tmp_path: Path) -> None:
    row = {"lambda_u": 1.0, "next_lambda_u": 2.0, "P": 2, "beta": 0.75, "next_beta": 0.0}
    row |= dict.fromkeys(("mean_empirical_risk", "next_mean_empirical_risk", "mean_risk", "next_mean_risk"), 0.1)
    tables: Tables = {"cone-tradeoff": [row]}
    refuted, verified = (
        " ".join(prose(build(tmp_path, "cone", tables, {"cone-tradeoff": status})).split())
        for status in ("refuted", "verified")
    )
    assert "gets worse too" in refuted
    assert "gets worse too" not in verified


def test_ties_and_sizes_are_shown(tmp_path: Path) -> None:
    tie = {"case": "axes", "K": 2, "P": 20, "largest_sum": 1.0, "s_max": 1.0, "least_s_max": 0.7071, "beta": 0.55}
    left = {"population": "line", "K": 1, "P": 20, "method": "exact", "rho": 1.0, "s_max": 0.09, "with_pairs": 20}
    left |= {"change": 0.09, "growth": 2.0, "change_by_growth": 0.1}
    plane = {
        "sample": 0,
        "case": "published",
        "c": 2.0,
        "risk": 0.01,
        "narrowest": 50.0,
        "widest": 120.0,
        "spread": 60.0,
    }
    nested = {"d": 3, "K": 2, "largest_sum": 1.0, "outwards": 0.0, "scaled": 0.25, "added": 0.0}
    tables: Tables = {
        "cone-ties": [tie, {**tie, "P": 200}],
        "cone-leave-out": [left],
        "cone-plane": [plane],
        "cone-nested": [nested],
    }
    section = build(tmp_path, "cone", tables)
    words = " ".join(prose(section).split())
    assert "reach 90 % of this bound" in words
    assert "by 120 degrees or more" in words
    assert "raised some by 0.25" in words
    assert [row[3] for row in shown(section, "cone-ties")] == ["20", "200"]


def both(folder: Path, tables: Tables, claim: str, part: str) -> str:
    """The words of one part if a claim is refuted, which differ from those if it is verified."""
    first, second = (prose(build(folder, "cone", tables, {claim: one}), part) for one in ("refuted", "verified"))
    assert first != second
    return first


def test_the_cone_captures_the_plane_and_not_the_noise(tmp_path: Path) -> None:
    row = {"noisy": 0.5, "to_the_cone": 0.002, "to_the_ray": 0.06, "to_the_start": 0.3}
    tables: Tables = {"cone-surface": [{**row, "sample": 0}, {**row, "sample": 1, "noisy": 0.7, "to_the_cone": 0.001}]}
    words = both(tmp_path, tables, "cone-fig1", "cone-figure1-part")
    assert "at most 0.002" in words
    assert "at least 0.5" in words


def test_learned_cones_and_steps_are_described_by_their_numbers(tmp_path: Path) -> None:
    values = {
        ("cone-check", "eg", "proper"): 0.0,
        ("cone-check", "eg", "pointed"): 1.0,
        ("cone-inequality", "proper", "additive"): 0.0,
        ("cone-unique", "K <= N", "difference"): 0.125,
        ("cone-eg-sum", "random", "sum_error"): 0.0625,
        ("cone-eg-rate", "random", "exponent"): 2.0,
    }
    steps = [
        {"claim": claim, "case": case, "name": name, "d": 3, "K": 2, "value": value, "low": value, "high": value}
        for (claim, case, name), value in values.items()
    ]
    cone = {"case": "random", "d": 3, "K": 2, "of_order": True, "independent": True, "pointed": True, "proper": False}
    words = text(tmp_path, {"cone-steps": steps, "cone-proper": [{**cone, "solid": False}]})
    for number in ("passed by 0 %", "100 % of all learned cones", "up to 0.125", "here up to 0.0625", "power 2.00"):
        assert number in words


def test_the_bounds_of_the_sample_at_hand_and_of_lowered_sums(tmp_path: Path) -> None:
    twin = {"kinds": 2, "P": 2, "c": 2.0, "epsilon": 0.4, "largest_beta": 1.5, "failure_with_own_beta": 0.5}
    axes = {"population": "line", "K": 1, "method": "exact", "repetition": 0, "d": 1, "passes": 2, "P": 10}
    left = {**axes, "rho": 1.0, "beta_worst": 0.45, "beta_bound": 0.5, "gamma": 4.0, "risk": 0.1, "bound": 1.0}
    fit = {
        "population": "line",
        "K": 1,
        "method": "exact",
        "statistic": "s_max",
        "slope": -1.0,
        "low": -1.1,
        "high": -0.9,
    }
    traded = {"lambda_u": 1.0, "next_lambda_u": 2.0, "P": 2, "beta": 0.75, "next_beta": 0.0}
    tables: Tables = {
        "cone-twins": [{**twin, "failure_with_largest_beta": 0.0}],
        "cone-leave-out": [{**left, "s_max": 0.1}],
        "cone-leave-out-exponents": [fit],
        "cone-lowered": [{"d": 2, "K": 2, "share": 1.0, "share_below": 0.0003}],
        "cone-tradeoff": [{**traded, "mean_empirical_risk": 0.1}],
    }
    words = text(tmp_path, tables)
    assert "probability of 0.500 where 0.40 is allowed" in words
    assert "at least 100 % of it remains" in words
    assert "0.03 % at most" in words
    assert "up to 90 % of what Theorem 2 allows" in words
