"""Do ConeRank's experiments measure what their claims speak of?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml

from pipeline_lib import RankingData
from pipeline_lib.claims.evidence import Interval
from pipeline_lib.errors import ConfigurationError
from pipeline_lib.papers.cone.computations import adarank, bases, cones, descent, stability, table1
from pipeline_lib.papers.cone.experiments.bases import BasesSettings
from pipeline_lib.papers.cone.experiments.cones import ConesSettings, SmallSettings
from pipeline_lib.papers.cone.experiments.stability import StabilitySettings
from pipeline_lib.papers.cone.experiments.table1 import STUDIES
from pipeline_lib.sources.population import Population, PopulationSettings
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


def test_cones_hand_in_four_claims_and_only_obtuse_cones_break_the_projection() -> None:
    found = cones.run(ConesSettings.parse(CONES), {"sim": sample(20, 0)}, 1)
    claims = {one.claim: one for one in found.evidence}
    assert set(claims) == {"cone-project", "cone-norm", "cone-descent", "cone-fig4"}
    for trial in claims["cone-project"].trials:
        assert trial.values["largest_difference_to_nnls"] < 1e-9
        if trial.setting["cone"] == "acute":
            assert trial.values["largest_norm_on_the_negative"] < 1e-9
    [norm] = claims["cone-norm"].trials
    assert 0 < norm.values["largest_norm"] < norm.values["rho"]
    by_sample = [trial.setting["dataset"] for trial in claims["cone-descent"].trials]
    # four updates and exact blocks: one basis step a query and folding-in cut short are not what the paper says
    assert (by_sample.count("sim"), by_sample.count(descent.SMALL)) == (5, 5)
    judged = {(trial.setting["updates"], trial.setting.get("fold_steps")) for trial in claims["cone-descent"].trials}
    assert judged == {("whole", CONES["fold_steps"]), ("whole", SMALL["fold_steps"][-1]), ("whole", None)}
    shares = [row["cumulative"] for row in found.spectrum]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def test_without_data_the_reason_is_said() -> None:
    found = cones.run(ConesSettings.parse(CONES), {}, 1)
    assert [one.claim for one in found.evidence if one.not_run] == ["cone-norm", "cone-fig4"]


def test_solved_folding_in_never_raises_the_objective_and_what_is_cut_short_does() -> None:
    small = SmallSettings.parse(SMALL)
    sample = descent.drawn(small, 1)
    trials, rows = {}, {}
    for run in descent.runs(small.fold_steps, small.step):
        if run.method in ("sg", "eg", "exact"):
            key = (run.method, run.updates, run.fold_steps)
            rows[key] = descent.trace(descent.SMALL, sample, small.basis, run, small.passes, 1)
            trials[key] = descent.trial(descent.summary(rows[key]))
    for key in (("sg", "whole", 5000), ("eg", "whole", 5000), ("exact", "whole", None)):
        assert trials[key].values["increases"] == 0, key
        assert trials[key].values["largest_fold_excess"] < 1e-6, key
    for method in ("sg", "eg"):
        cut = trials[method, "whole", 5].values
        assert cut["increases"] > 0
        assert cut["largest_fold_excess"] > 1e-3
    met = np.array([row["met"] for row in rows["sg", "whole", 5][1:]])
    assert trials["sg", "whole", 5].values["largest_relative_increase"] == pytest.approx(np.max(met[1:] / met[:-1] - 1))
    notes = descent.notes(small, list(trials.values()))
    assert "at most 5,000 fold steps: no pass rises" in notes
    assert "at most 5 fold steps: passes rise with sg (by at most" in notes


def test_an_objective_that_reached_zero_does_not_rise_by_rounding() -> None:
    found = descent._judged(np.array([1.0, 0.0, 1e-30, 0.0]))
    assert found == {"largest_relative_increase": pytest.approx(1e-18), "increases": 0.0, "steps": 3.0}


def test_some_queries_reach_the_number_of_pairs() -> None:
    data = sample(20, 0)
    chosen = descent.some_queries(data, 40, np.random.default_rng(1))
    pairs = descent.cones.pairs_of(chosen)
    assert 40 <= pairs.sum() < 40 + pairs.max()
    assert descent.some_queries(data, 10**9, np.random.default_rng(1)).n_queries == 20


def test_the_largest_norm_is_that_of_the_largest_difference() -> None:
    data = RankingData.from_arrays([[0.0], [3.0], [1.0]], [0, 1, 0], [1, 1, 1])
    assert cones.largest_norm(data, 1.0, 2.0) == pytest.approx(2 * 3 / 4)


def test_a_fold_of_bases() -> None:
    asked = BasesSettings.parse(BASES)
    rows, ballots = bases.run_fold(asked, "sim", 1, [sample(12, k) for k in range(3)], 5)
    parts = {row["part"] for row in rows}
    assert parts == {"ranksvm", "basis", "method", "alpha", "c", "weights", "form-9"}
    assert len(rows) == 1 + 2 * (2 + 2 + 1 + 1 + 1 + 1)
    assert sum(row["in_another_order"] for row in ballots) == 0
    claims = {one.claim: one for one in bases.evidence(rows, ballots)}
    assert claims["cone-fig3"].not_run
    [halfspace] = claims["cone-k1"].trials
    one = [row["map"] for row in rows if row["part"] == "basis" and row["K"] == 1 and row["fold_in"] == "gradient"]
    assert halfspace.values["map_with_one_basis_vector"] == pytest.approx(np.mean(one))


def test_one_basis_vector_is_set_beside_ranksvm_fold_by_fold() -> None:
    svm, one = {1: 0.30, 2: 0.60, 3: 0.45}, {1: (0.31, 0.33), 2: (0.62,), 3: (0.46,)}
    rows = [{"part": "ranksvm", "K": None, "fold": fold, "map": value} for fold, value in svm.items()]
    assert bases.beside_ranksvm(rows) is None
    rows += [
        {"part": "basis", "K": K, "fold": fold, "map": value + (K - 1)}
        for K in (1, 2)
        for fold, values in one.items()
        for value in values
    ]
    found = bases.beside_ranksvm(rows)
    assert found is not None
    assert found["map_with_one_basis_vector"] == pytest.approx((0.32 + 0.62 + 0.46) / 3)
    assert found["map_of_ranksvm"] == pytest.approx(0.45)
    # The folds lie .3 apart, the differences .01: t of two degrees of freedom is 4.303.
    difference = found["map_minus_ranksvm"]
    assert isinstance(difference, Interval)
    sd = np.std([0.02, 0.02, 0.01], ddof=1)
    assert difference.value == pytest.approx(0.05 / 3)
    assert difference.high - difference.value == pytest.approx(4.303 * sd / np.sqrt(3), rel=1e-3)
    single = bases.beside_ranksvm([row for row in rows if row["fold"] == 2])
    assert single is not None
    assert "map_minus_ranksvm" not in single


def test_figure_3_compares_the_best_of_each_group_fold_by_fold() -> None:
    values = {2: (0.30, 0.60), 5: (0.40, 0.72), 10: (0.44, 0.76), 46: (0.35, 0.66)}
    rows = [
        {"part": "basis", "K": K, "fold": fold, "ndcg": value}
        for K, pair in values.items()
        for fold, value in enumerate(pair, 1)
    ]
    found = bases.figure_3(rows, "ndcg")
    assert found is not None
    assert [found[name] for name in ("fewer", "near_ten", "more")] == pytest.approx([0.45, 0.60, 0.505])
    fewer, more = found["near_ten_minus_fewer"], found["near_ten_minus_more"]
    assert isinstance(fewer, Interval)
    assert isinstance(more, Interval)
    assert (fewer.value, more.value) == pytest.approx((0.15, 0.095))
    # The folds lie .3 apart, the differences of one K from another .01 to .02.
    assert more.low > 0.0
    assert more.high - more.low == pytest.approx(2 * 12.706 * 0.005, rel=1e-3)
    assert found["best_k"] == 10.0
    assert bases.figure_3([row for row in rows if row["K"] != 46], "ndcg") is None


def test_stability_measures_what_leaving_out_changes() -> None:
    asked = StabilitySettings.parse(STABILITY)
    rows = [row for P in asked.queries for row in stability.run_slice(asked, P, 3)]
    assert len(rows) == 6
    for row in rows:
        assert 0 < row["s_mean"] <= row["s_max"]
        assert 0 < row["beta"] <= row["beta_bound"]
        assert row["largest_ratio"] <= 1
        assert row["empirical_risk"] < row["bound"] <= row["bound_by_theorem_2"]
    exponents, evidence = stability.summary(rows)
    assert {one.claim for one in evidence} == {"cone-thm1", "cone-thm2", "cone-smax"}
    slope = next(row for row in exponents if row["statistic"] == "s_max")
    grid = np.log(asked.queries)
    means = np.log([np.mean([row["s_max"] for row in rows if row["P"] == P]) for P in asked.queries])
    assert slope["slope"] == pytest.approx(np.polyfit(grid, means, 1)[0])


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
    printed = [{"dataset": "MQ2008", "row": method} for method in ("ListNet", "RankBoost", "RankBoost")]
    here, missing = table1.evidence([row], printed, {"MQ2008": "", "MQ2007": "put it there"})
    assert len(here.trials) == 1
    assert here.notes.endswith("Not trained in this study, and not judged: RankBoost.")
    assert "Not trained" not in table1.evidence([row], printed[:1], {"MQ2008": "", "MQ2007": "how"})[0].notes
    assert missing.not_run == "put it there"


def test_five_stops_of_adarank() -> None:
    rows = adarank.run_fold("sim", 1, [sample(12, k) for k in range(3)], 1, 200)
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


def test_rounds_are_chosen_anew_as_often_as_the_validation_queries_favour_them() -> None:
    # The second round is better by .95 on one of ten queries, worse by .1 on the others: best where that one is drawn.
    held = np.array([[0.1] * 9 + [0.0], [0.0] * 9 + [0.95]])
    drawn = adarank.chosen_anew(held, 20_000, np.random.default_rng(0))
    assert drawn.mean() == pytest.approx(1 - 0.9**10, abs=0.02)


def test_the_studies_named_for_table_1_train_all_of_its_rows() -> None:
    root = Path(__file__).parents[2] / "workflow"
    printed = pl.read_csv(root / "published/cone-table1.csv", comment_prefix="#")
    for dataset, name in STUDIES.items():
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
        (StabilitySettings, {**STABILITY, "queries": [4, 6]}),
        (StabilitySettings, {**STABILITY, "epsilon": 1.0}),
        (StabilitySettings, {**STABILITY, "methods": []}),
    ],
)
def test_wrong_settings_are_refused(settings: type, wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        settings.parse(wrong)
