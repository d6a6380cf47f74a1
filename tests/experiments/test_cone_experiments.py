"""Do ConeRank's experiments measure what their claims speak of?"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml

from pipeline_lib import RankingData
from pipeline_lib.claims import rules
from pipeline_lib.claims.evidence import Interval, Trial
from pipeline_lib.errors import ConfigurationError
from pipeline_lib.learners import cone
from pipeline_lib.papers.cone.computations import (
    adarank,
    bases,
    cones,
    descent,
    geometry,
    leave_out,
    practice,
    stability,
    table1,
    theorem_1,
)
from pipeline_lib.papers.cone.computations.printed_votes import printed_votes
from pipeline_lib.papers.cone.experiments.bases import BasesSettings
from pipeline_lib.papers.cone.experiments.cones import ConesSettings, SmallSettings
from pipeline_lib.papers.cone.experiments.geometry import GeometrySettings
from pipeline_lib.papers.cone.experiments.leave_out import LeaveOutSettings
from pipeline_lib.papers.cone.experiments.stability import StabilitySettings
from pipeline_lib.papers.cone.experiments.table1 import DATASETS
from pipeline_lib.ranking_data import Standardisation
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import stability as stability_bounds
from tests import readings
from tests.small_settings import SETTINGS

SMALL: dict[str, Any] = {**SETTINGS["cone"]["cones"]["small"], "step": 0.02, "passes": 300, "fold_steps": [5, 5000]}
CONES: dict[str, Any] = {
    **SETTINGS["cone"]["cones"],
    "cones": 3,
    "bases": [1, 2],
    "pairs": 40,
    "fold_steps": 500,
    "small": SMALL,
}
BASES: dict[str, Any] = {
    **SETTINGS["cone"]["bases"],
    "methods": ["sg", "eg"],
    "alphas": [0.1],
    "cs": [1.0],
    "largest_sums": [2.0],
}
STABILITY: dict[str, Any] = {**SETTINGS["cone"]["stability"], "test_queries": 50, "compared_queries": 5}


def sample(n: int, seed: int) -> RankingData:
    return Population(PopulationSettings(features=4, documents=6)).draw(n, np.random.default_rng(seed))


def fold() -> list[RankingData]:
    queries = np.arange(36).reshape(3, 12)
    return list(sample(36, 0).divided(train=queries[0], validation=queries[1], test=queries[2]).values())


def trials(results: cones.Results, claim: str) -> list[Trial]:
    return readings.trials(
        claim,
        {
            "cone-identities": results.identities,
            "cone-norms": results.norms,
            "cone-spectrum": results.spectrum,
            "cone-descent-summary": results.descent_summary,
        },
    )


def test_four_claims_on_cones_are_read_and_only_obtuse_cones_break_the_projection() -> None:
    results = cones.run(ConesSettings.parse(CONES), {"sim": sample(20, 0)}, 1)
    projections = trials(results, "cone-project")
    assert {trial.setting["cone"] for trial in projections} == {"acute", "any"}
    for trial in projections:
        assert trial.values["largest_difference_to_nnls"] < 1e-9
        if trial.setting["cone"] == "acute":
            assert trial.values["largest_norm_on_the_negative"] < 1e-9
    for norm in trials(results, "cone-norm"):
        assert 0 < norm.values["largest_norm"] < norm.values["rho"] == 2.0
        assert norm.values["largest_with_root"] > norm.values["largest_norm"]
    descents = trials(results, "cone-descent-corrected")
    by_sample = [trial.setting["dataset"] for trial in descents]
    # Three updates and exact blocks: neither one basis step per query nor folding-in that is cut short.
    assert (by_sample.count("sim"), by_sample.count(descent.SMALL)) == (4, 4)
    judged = {(trial.setting["updates"], trial.setting.get("fold_steps")) for trial in descents}
    assert judged == {("whole", CONES["fold_steps"]), ("whole", SMALL["fold_steps"][-1]), ("whole", None)}
    assert {trial.setting["method"] for trial in trials(results, "cone-descent")} == {"sg-printed", "eg", "eg-linear"}
    shares = [row["cumulative"] for row in results.spectrum]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def test_the_energy_of_the_spectrum_is_that_of_its_first_ten_eigenvalues() -> None:
    shares = [0.5, 0.6, 0.7, 0.8, 0.81, 0.82, 0.83, 0.84, 0.85, 0.86, 0.9, 1.0]
    rows = [
        {"dataset": name, "index": i, "cumulative": s} for name in ("MQ2007", "sim") for i, s in enumerate(shares, 1)
    ]
    [trial] = readings.trials("cone-fig4", {"cone-spectrum": rows})
    assert trial.setting == {"dataset": "MQ2007", "features": 12}
    # The ten smallest of twelve eigenvalues hold what the two largest leave.
    assert trial.values == {
        "energy_of_ten": 0.86,
        "energy_of_three": 0.7,
        "energy_of_the_smallest": pytest.approx(0.4),
        "equal_shares": pytest.approx(10 / 12),
        "eigenvalues_for_nine_tenths": 11,
    }


def test_without_data_two_claims_have_no_trials() -> None:
    results = cones.run(ConesSettings.parse(CONES), {}, 1)
    claims = ("cone-project", "cone-norm", "cone-descent", "cone-fig4")
    assert [claim for claim in claims if not trials(results, claim)] == ["cone-norm", "cone-fig4"]


def test_solved_folding_in_never_raises_the_objective_and_what_is_cut_short_does() -> None:
    small = SmallSettings.parse(SMALL)
    sample = descent.drawn(small, 1)
    summaries, rows = {}, {}
    for run in descent.runs(small.fold_steps, small.step):
        if run.method in ("sg", "eg", "exact"):
            key = (run.method, run.updates, run.fold_steps)
            rows[key] = descent.trace(descent.SMALL, sample, small.basis, run, small.passes, 1)
            summaries[key] = descent.summary(rows[key])
    for key in (("sg", "whole", 5000), ("eg", "whole", 5000), ("exact", "whole", None)):
        assert summaries[key]["increases"] == 0, key
        assert summaries[key]["largest_fold_excess"] < 1e-6, key
    for method in ("sg", "eg"):
        cut = summaries[method, "whole", 5]
        assert cut["increases"] > 0
        assert cut["largest_fold_excess"] > 1e-3
    met = np.array([row["met"] for row in rows["sg", "whole", 5][1:]])
    assert summaries["sg", "whole", 5]["largest_relative_increase"] == pytest.approx(np.max(met[1:] / met[:-1] - 1))


def test_an_objective_that_reached_zero_does_not_rise_by_rounding() -> None:
    increases = descent._increases(np.array([1.0, 0.0, 1e-30, 0.0]))
    assert increases == {"largest_relative_increase": pytest.approx(1e-18), "increases": 0.0, "steps": 3.0}


def test_some_queries_reach_the_number_of_pairs() -> None:
    data = sample(20, 0)
    chosen = descent.some_queries(data, 40, np.random.default_rng(1))
    pairs = descent.cones.pairs_of(chosen)
    assert 40 <= pairs.sum() < 40 + pairs.max()
    assert descent.some_queries(data, 10**9, np.random.default_rng(1)).n_queries == 20


def test_the_largest_norm_is_that_of_the_largest_difference() -> None:
    data = RankingData.from_arrays([[0.0], [3.0], [1.0]], [0, 1, 0], [1, 1, 1])
    row = cones.norms_of("sim", data, 1.0, 1.0)
    assert row["largest_norm"] == pytest.approx(3 / 4)
    assert row["largest_with_difference"] == pytest.approx(2 / 1)
    assert row["largest_with_root"] == pytest.approx(3 / (1 + np.sqrt(3)))
    assert cones.norms_of("sim", data, 10.0, 1.0)["largest_norm"] == pytest.approx(30 / 31)


def test_a_step_that_is_too_long_does_not_descend() -> None:
    small = SmallSettings.parse({})
    rows = descent.trace(descent.SMALL, descent.drawn(small, 1), small.basis, descent.TOO_LONG, descent.LONG_PASSES, 1)
    assert descent.summary(rows)["increases"] > 0


def test_constants_are_varied_for_the_first_method() -> None:
    found = list(bases.variants(BasesSettings.parse(BASES), 4))
    assert {one.method for one in found if one.part != "method"} == {"sg"}
    assert [one.method for one in found if one.part == "method"] == ["sg", "eg"]


def test_a_fold_of_bases() -> None:
    rows, predictions, compared, shares = bases.run_fold(BasesSettings.parse(BASES), "sim", 1, fold(), 5)
    assert {row["family"] for row in compared if row["chosen"]} >= {"published", "converged", "RankSVM"}
    assert {row["what"] for row in shares} > {"risk and map", "signs, gradient"}
    parts = {row["part"] for row in rows}
    assert parts == {"ranksvm", "basis", "method", "alpha", "c", "weights", "form-9"}
    assert len(rows) == 1 + 2 * (2 + 2 + 1 + 1 + 1 + 1)
    votes = readings.trials("cone-alg2-linear-corrected", {"cone-votes": predictions})
    assert [trial.setting["fold_in"] for trial in votes] == ["gradient", "least-squares"]
    # Twelve queries for each of two methods; other votes give other orders on almost all of them.
    for trial in votes:
        assert (trial.values["queries_in_another_order"], trial.values["queries"]) == (0, 24)
        assert min(float(trial.values[name]) for name in ("as_printed", "reversed")) > 12
    [figure] = bases.evidence(rows)
    assert figure.claim == "cone-fig3"
    assert figure.not_run


def test_the_pass_that_is_best_on_the_validation_part_is_chosen() -> None:
    settings = BasesSettings.parse({**SETTINGS["cone"]["bases"], "methods": ["exact"], "passes": 3})
    rows = bases.run_fold(settings, "sim", 1, fold(), 5)[0]
    standard = Standardisation.of(fold()[0])
    train, validation, test = (standard.apply(part) for part in fold())
    chosen = set()
    for row in (row for row in rows if (row["part"], row["fold_in"]) == ("basis", "gradient")):
        seed = (5, "cone-bases", "sim", 1, row["K"], 0)
        path = cone.fit(train, row["K"], method="exact", passes=3, traced=False, seed=seed).path
        values = [practice.means(U.sum(axis=1), validation)[1] for U in path]
        best = values.index(max(values))
        assert (row["passes"], row["validation"]) == (best, pytest.approx(max(values)))
        assert (row["map"], row["ndcg"]) == pytest.approx(practice.means(path[best].sum(axis=1), test))
        chosen.add(best)
    assert chosen == {1}  # neither the first nor the last


def test_figure_3_is_read_by_data_set() -> None:
    rows = [
        {"part": "basis", "fold_in": "gradient", "dataset": name, "K": K, "fold": fold}
        | {"map": value + K / 1000, "ndcg": value, "validation": 0.5}
        for name, value in (("MQ2007", 0.3), ("MQ2008", 0.4), ("sim", 0.9))
        for K in (2, 10, 30)
        for fold in (1, 2)
    ]
    [figure] = bases.evidence(rows)
    found = {(one.setting["dataset"], one.setting["measure"]): one.values["near_ten"] for one in figure.trials}
    expected = {("MQ2007", "MAP"): 0.31, ("MQ2007", "NDCG"): 0.3, ("MQ2008", "MAP"): 0.41, ("MQ2008", "NDCG"): 0.4}
    assert found == pytest.approx(expected)


def test_printed_votes_depend_on_which_document_is_first() -> None:
    rng = np.random.default_rng(0)
    X, U = rng.standard_normal((6, 3)), rng.standard_normal((3, 2))
    points = printed_votes(X, U, step=0.001, alpha=1.0, rho=1.0, rng=rng)
    # The coefficients keep their sign, so that the first document of every pair wins.
    assert points.tolist() == [5, 4, 3, 2, 1, 0]
    longer = printed_votes(X, U, step=1.0, alpha=1.0, rho=1.0, rng=rng)
    assert longer.sum() == 15


def test_figure_3_chooses_on_the_validation_part_and_compares_fold_by_fold() -> None:
    test = {2: (0.30, 0.60), 3: (0.50, 0.80), 5: (0.40, 0.72), 10: (0.44, 0.76), 46: (0.35, 0.66)}
    # On the validation part, 3 is worse than 2 in the second fold; 5 and 46 have no second K to match 3 and 2.
    held = {2: (0.3, 0.9), 3: (0.4, 0.8), 5: (0.9, 0.9), 10: (0.5, 0.95), 46: (0.35, 0.66)}
    rows = [
        {"part": "basis", "K": K, "fold": fold, "ndcg": test[K][fold - 1], "validation": held[K][fold - 1]}
        for K in test
        for fold in (1, 2)
    ]
    found = bases.figure_3(rows, "ndcg")
    assert found is not None
    # Of each group the K nearest to ten is taken, because one group has no other: 3, 10 and 46.
    assert [found[name] for name in ("fewer", "near_ten", "more")] == pytest.approx([0.65, 0.60, 0.505])
    more = found["near_ten_minus_more"]
    assert isinstance(more, Interval)
    assert more.value == pytest.approx(0.095)
    # The folds lie .3 apart, the differences of one K from another .01 to .02.
    assert more.low > 0.0
    assert more.high - more.low == pytest.approx(2 * 12.706 * 0.005, rel=1e-3)
    assert found["best_k"] == 5.0
    assert bases.figure_3([row for row in rows if row["K"] != 46], "ndcg") is None
    rows += [{**row, "K": 30} for row in rows if row["K"] == 46]
    several = bases.figure_3(rows, "ndcg")
    assert several is not None
    # Now each group has two; the validation part prefers 3 in the first fold, and 2 in the second; 5 and then 10.
    assert [several["fewer"], several["near_ten"]] == pytest.approx([(0.50 + 0.60) / 2, (0.40 + 0.76) / 2])


def test_stability_measures_what_leaving_out_changes() -> None:
    settings = StabilitySettings.parse(STABILITY)
    rows = [row for P in settings.queries for row in stability.run_slice(settings, P, 3)]
    assert len(rows) == 6
    for row in rows:
        assert 0 < row["s_mean"] <= row["s_max"]
        assert 0 < row["beta"] <= row["beta_bound"]
        assert row["largest_ratio"] <= 1
        assert row["empirical_risk"] < row["bound"] <= row["bound_by_theorem_2"]
    exponents = stability.exponents(rows)
    slope = next(row for row in exponents if row["statistic"] == "s_max")
    grid = np.log(settings.queries)
    means = np.log([np.mean([row["s_max"] for row in rows if row["P"] == P]) for P in settings.queries])
    assert slope["slope"] == pytest.approx(np.polyfit(grid, means, 1)[0])


def test_converged_cones_fall_as_one_over_p_and_theorem_2_is_nearly_sharp_on_the_line() -> None:
    settings = LeaveOutSettings.parse({**SETTINGS["cone"]["leave_out"], "queries": [100, 300, 1000]})
    rows = leave_out.run(settings, 3)
    for row in rows:
        assert row["beta"] <= row["beta_worst"] <= row["beta_bound"] * (1 + 1e-12)
        assert row["risk"] <= row["gamma"]
    ratios = {row["population"]: row["beta_worst"] / row["beta_bound"] for row in rows if row["method"] == "exact"}
    assert ratios["line"] > 0.97 > ratios["random"]
    slopes = {
        (row["population"], row["method"]): row["slope"]
        for row in leave_out.exponents(rows)
        if row["statistic"] == "s_max"
    }
    assert slopes["line", "exact"] == pytest.approx(-1.0, abs=0.02)
    assert slopes["random", "exact"] == pytest.approx(-1.0, abs=0.2)
    assert slopes["random", "constant-step"] > slopes["random", "exact"] + 0.2
    tables = {
        "cone-leave-out": rows,
        "cone-leave-out-exponents": leave_out.exponents(rows),
        "cone-tails": theorem_1.tails(settings),
        "cone-twins": theorem_1.twins(theorem_1.TWINS[:4]),
        "cone-stability": [],
    }
    # Two populations, three P and two repetitions; one cell of tails, one case with small c, and the largest gap.
    counts = [len(readings.trials(claim, tables)) for claim in ("cone-thm1", "cone-thm2", "cone-smax")]
    assert counts == [12 + 1 + 1 + 1, 12, 2]


def test_the_worst_change_of_one_basis_vector_has_a_closed_form() -> None:
    # | ||u||^2 - ||v||^2 | + 2 rho ||u - v||, at z = -+ rho (u - v) / ||u - v||.
    u, v = np.array([[0.6], [0.2]]), np.array([[0.5], [0.4]])
    change = abs(0.40 - 0.41) + 2 * 0.8 * np.sqrt(0.01 + 0.04)
    assert leave_out.worst_change(u, v, 0.8, (1,)) == pytest.approx(change)


def test_theorem_1_fails_with_the_beta_of_the_sample_on_twins() -> None:
    [row] = theorem_1.twins([theorem_1.Twins(2, 2, 2.0, 0.4)])
    # Both queries are of one kind with probability 1/2; the risk is then gamma/2 > gamma sqrt(ln(2.5)/4).
    assert row["failure_with_own_beta"] == pytest.approx(0.5)
    assert row["failure_with_largest_beta"] == 0.0
    assert theorem_1.twins([theorem_1.Twins(2, 2, 2.0, 0.36)])[0]["failure_with_own_beta"] == 0.0


def _without_beta(empirical_risk: float, beta: float, gamma: float, P: int, epsilon: float) -> float:
    return empirical_risk + gamma * math.sqrt(-math.log(epsilon) / (2.0 * P))


def _mean_change(data: RankingData, whole: Any, others: Any, problem: cone.Problem) -> float:
    pairs = zip(whole, others, strict=True)
    found = [np.abs(cone.pair_losses(data, a, problem) - cone.pair_losses(data, b, problem)).mean() for a, b in pairs]
    return float(np.mean(found))


@pytest.mark.parametrize(
    ("module", "name", "error"),
    [(stability_bounds, "risk_bound", _without_beta), (leave_out, "largest_change", _mean_change), (None, "", None)],
)
def test_theorem_1_is_refuted_without_beta_and_with_its_mean(
    module: Any, name: str, error: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if error is not None:
        monkeypatch.setattr(module, name, error)
    settings = LeaveOutSettings.parse({**SETTINGS["cone"]["leave_out"], "queries": [30, 100, 300]})
    tables = {
        "cone-leave-out": leave_out.run(settings, 3),
        "cone-tails": theorem_1.tails(settings),
        "cone-twins": theorem_1.twins(theorem_1.TWINS[3:5]),
        "cone-stability": [],
    }
    [claim] = [one for one in readings.ledger_of_claims() if one.id == "cone-thm1"]
    verdict = rules.judge(claim.checks, readings.trials("cone-thm1", tables), claim.displayed)
    assert verdict.status == ("verified" if error is None else "refuted")
    if error is None:
        judgement = readings.judged("cone-thm1", tables, SETTINGS["cone"]["leave_out"], tmp_path)
        assert judgement.severity is not None
        caught = {plant.name for plant in judgement.severity.planted if plant.caught}
        assert caught >= {"no-beta", "no-twice-beta", "mean-beta"}


def test_tails_shrink_with_the_margin() -> None:
    assert theorem_1.failure(100, 0.0) > theorem_1.failure(100, 0.02) > theorem_1.failure(100, 0.05)


def test_cones_that_are_proper() -> None:
    angles = np.radians([0.0, 120.0, 240.0])
    star = np.vstack([np.cos(angles), np.sin(angles)])
    assert (geometry.of_order(star), geometry.is_solid(star), geometry.is_pointed(star)) == (True, True, False)
    flat = np.eye(3)[:, :2]
    assert (geometry.of_order(flat), geometry.is_solid(flat), geometry.is_pointed(flat)) == (True, False, True)
    assert not geometry.of_order(np.array([[1.0, 2.0], [0.0, 0.0]]))


def test_a_halfspace_is_no_hinge() -> None:
    settings = GeometrySettings.parse(SETTINGS["cone"]["geometry"])
    for row in geometry.distances(settings, 1):
        assert row["to_squared"] < 1e-12 < row["to_best_hinge"] < row["to_hinge"]
    [row] = geometry.solutions(settings, 1)
    assert row["to_squared"] <= 0.5 + 1e-9
    for row in geometry.lowered(settings):
        assert (row["share"], row["share_below"] < 0.01) == (1.0, True)


def test_a_cell_of_table_1() -> None:
    rng = np.random.default_rng(0)
    values = {fold: rng.random(40) for fold in (1, 2, 3)}
    first = float(values[1].mean())
    row = table1.cell("MQ2008", "ListNet", "listnet", "map", first + 0.0149, values, seed=1, resamples=200)
    assert row["status"] == "verified"
    assert row["fold1"] == pytest.approx(first)
    assert row["five_fold_mean"] == pytest.approx(np.mean([one.mean() for one in values.values()]))
    assert row["five_fold_sd"] == pytest.approx(np.std([one.mean() for one in values.values()], ddof=1))
    assert row["fold1_low"] < first < row["fold1_high"]
    far = table1.cell("MQ2008", "ListNet", "listnet", "map", first - 0.02, values, seed=1, resamples=200)
    assert far["status"] == "deviates"
    single = table1.cell("MQ2008", "RankBoost", "rb", "map", 0.5, {1: values[1]}, seed=1, resamples=200)
    cells = {"cone-table1": [row, single]}
    both, none = (readings.trials(claim, cells) for claim in ("cone-table1-mq2008", "cone-table1-mq2007"))
    assert [set(trial.values) for trial in both] == [{"measured", "published", "five_folds"}, {"measured", "published"}]
    assert [set(trial.setting) for trial in both] == [{"dataset", "method", "measure"}] * 2
    assert none == []
    # Two models may reproduce the same row.
    cells = {"cone-table1": [row, {**row, "model": "other"}]}
    assert [trial.setting["model"] for trial in readings.trials("cone-table1-mq2008", cells)] == ["listnet", "other"]


def test_five_stops_of_adarank() -> None:
    rows = adarank.run_fold("sim", 1, fold(), 1, 200)
    assert len(rows) == 2 * 2 * 5
    for measure in adarank.MEASURES:
        for repeats in adarank.REPEATS:
            found = {row["stop"]: row for row in rows if (row["measure"], row["repeats"]) == (measure, repeats)}
            assert found["best on test"]["map"] == max(row["map"] for row in found.values())
            assert found["last"]["rounds"] == (adarank.ROUNDS if repeats is None else 4)
            assert all(row["features"] <= row["rounds"] for row in found.values())
            assert found["no gain"]["rounds"] <= found["training"]["rounds"]
            held = found["validation"]
            assert held["map_low"] <= held["map_high"] <= found["best on test"]["map"]
            assert all(row["ndcg_low"] is None for stop, row in found.items() if stop != "validation")


def test_rounds_are_best_on_as_many_resamples_as_the_validation_queries_favour_them() -> None:
    # The second round is better by .95 on one of ten queries, worse by .1 on the others: best where that one is drawn.
    held = np.array([[0.1] * 9 + [0.0], [0.0] * 9 + [0.95]])
    drawn = adarank.best_on_resamples(held, 20_000, np.random.default_rng(0))
    assert drawn.mean() == pytest.approx(1 - 0.9**10, abs=0.02)


def test_the_studies_named_for_table_1_train_all_of_its_rows() -> None:
    root = Path(__file__).parents[2] / "workflow"
    printed = pl.read_csv(root / "published/cone-table1.csv", comment_prefix="#")
    for dataset in DATASETS:
        [claim] = [claim for claim in readings.ledger_of_claims() if claim.id == f"cone-table1-{dataset.lower()}"]
        [name] = re.findall(r"workflow/studies/(\S+\.yaml)", claim.otherwise)
        study = yaml.safe_load((root / "studies" / name).read_text())
        trained = {
            model.get("published") for model in study["models"] if dataset in model.get("datasets", study["datasets"])
        }
        assert set(printed.filter(pl.col("dataset") == dataset)["row"]) <= trained, name


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        (ConesSettings, {**CONES, "cones": 0}),
        (ConesSettings, {**CONES, "passes": 1}),
        (ConesSettings, {**CONES, "bases": [2, 1]}),
        (ConesSettings, {**CONES, "small": 3}),
        (ConesSettings, {**CONES, "small": {**SMALL, "passes": 1}}),
        (ConesSettings, {**CONES, "small": {**SMALL, "step": 0.0}}),
        (ConesSettings, {**CONES, "small": {**SMALL, "fold_steps": 200}}),
        (BasesSettings, {**BASES, "methods": ["newton"]}),
        (BasesSettings, {**BASES, "alphas": [-1.0]}),
        (GeometrySettings, {"differences": 2}),
        (LeaveOutSettings, {"queries": [10, 20]}),
        (LeaveOutSettings, {"tail_epsilons": [1.0]}),
        (StabilitySettings, {**STABILITY, "queries": [4, 6]}),
        (StabilitySettings, {**STABILITY, "epsilon": 1.0}),
        (StabilitySettings, {**STABILITY, "methods": []}),
    ],
)
def test_wrong_settings_are_refused(settings: type, wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        settings.parse(wrong)
