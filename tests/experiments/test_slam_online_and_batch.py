"""The experiments on SLAM's perceptron, on its excess risk and on practice say what their runs hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pipeline_lib.claims.evidence import Interval, Trial
from pipeline_lib.errors import ConfigurationError, DataError
from pipeline_lib.learners import perceptron as learner
from pipeline_lib.papers.slam.computations import perceptron, practice, risk
from pipeline_lib.papers.slam.experiments.perceptron import PerceptronSettings
from pipeline_lib.papers.slam.experiments.risk import RiskSettings
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.surrogates.slam import v_max_supremum
from tests import readings
from tests.small_settings import SETTINGS

ONLINE: dict[str, Any] = {
    **SETTINGS["slam"]["perceptron"],
    "rounds": 400,
    "queries": 20,
    "documents": [3, 6],
    "margin": 0.05,
    "repetitions": 2,
    "etas": [0.01, 30.0],
    "checkpoints": 3,
    "v_max_lengths": [3, 8],
}
BATCH: dict[str, Any] = {**SETTINGS["slam"]["risk"], "radii": [2.0], "repetitions": 4, "parts": 2, "truth": 400}


@pytest.fixture(scope="module")
def online() -> perceptron.Results:
    rng = np.random.default_rng(1)
    X = 5.0 * rng.standard_normal((30, 2)) + 3.0
    own = RankingData.from_arrays(X, rng.integers(0, 3, 30), np.repeat(np.arange(6), 5))
    return perceptron.run(PerceptronSettings.parse(ONLINE), {"own": own}, 7)


def trials(online: perceptron.Results, claim: str) -> list[Trial]:
    return readings.trials(claim, {"slam-perceptron": online.runs, "slam-eta": online.etas, "slam-vmax": online.v_max})


def test_every_claim_on_the_perceptron_gets_evidence(online):
    claims = ("slam-cor6", "slam-cor7", "slam-eta-free", "slam-prop4", "slam-thm5", "slam-vmax")
    found = {claim: trials(online, claim) for claim in claims}
    assert all(found.values())
    assert {trial.setting["stream"] for trial in found["slam-thm5"]} == {"noisy", "separable", "adversary", "own"}
    assert {trial.setting["measure"] for trial in found["slam-thm5"]} == {"ndcg", "map", "ndcg@2"}
    assert {trial.setting["measure"] for trial in found["slam-cor7"]} == {"ndcg@2"}
    for claim in ("slam-thm5", "slam-cor7", "slam-cor6"):
        assert all(trial.values["cumulative_loss"] <= trial.values["bound"] + 1e-9 for trial in found[claim])
    assert all(0.0 < trial.values["largest_ratio"] <= 1.0 for trial in found["slam-prop4"])


def test_the_share_of_the_second_half_is_that_of_the_same_run(online):
    losses = {
        (row["measure"], row["repetition"], row["T"]): row["cumulative_loss"]
        for row in online.runs
        if (row["stream"], row["eta"], row["active"]) == ("separable", "theory", "margin")
    }
    shares = {
        (trial.setting["measure"], trial.setting["repetition"]): trial.values["share_of_loss_in_last_half"]
        for trial in trials(online, "slam-cor6")
        if trial.setting["T"] == 400
    }
    assert len(shares) == 2 * 3
    assert any(share > 0.0 for share in shares.values())
    for run, share in shares.items():
        assert share == pytest.approx(1.0 - losses[(*run, 200)] / losses[(*run, 400)])
    assert all(
        "share_of_loss_in_last_half" not in trial.values
        for trial in trials(online, "slam-cor6")
        if trial.setting["T"] < 400
    )


def test_both_active_sets_of_a_step_are_read_together(online):
    differ = {
        tuple(row[key] for key in ("stream", "measure", "repetition", "eta", "active")): row["rounds_that_differ"]
        for row in online.etas
    }
    for trial in trials(online, "slam-eta-free"):
        run = tuple(trial.setting.values())
        assert trial.values["rounds_that_differ"] == differ[(*run, "margin")]
        assert trial.values["rounds_that_differ_misordered"] == differ[(*run, "misordered")]


def test_runs_that_break_the_inequality_are_counted_in_the_notes(online):
    last = [row for row in online.runs if (row["eta"], row["T"]) == ("1", 400)]
    broken = [{**row, "cumulative_loss": 2.0 * row["bound"] + 1.0} if row in last else row for row in online.runs]
    before, after = (readings.notes("slam-thm5", {"slam-perceptron": rows}) for rows in (online.runs, broken))
    assert f" {len(last)} " not in before
    assert after.count(f" {len(last)} ") == 1


def test_rows_are_those_of_a_run_of_their_own():
    rng = np.random.default_rng(2)
    data = RankingData.from_arrays(rng.standard_normal((24, 2)), rng.integers(0, 3, 24), np.repeat(np.arange(6), 4))
    order = rng.integers(0, 6, 200)
    rows = perceptron.bounds_of(data, order, "ndcg", 3, {})
    half = next(row for row in rows if row["T"] == 100 and (row["eta"], row["active"]) == ("theory", "margin"))
    result = learner.run(data, order, "ndcg", "theory")
    assert half["cumulative_loss"] == pytest.approx(result.losses[:100].sum(), rel=1e-12)
    assert half["mistakes"] == result.mistakes[:100].sum()
    assert half["bound"] == pytest.approx(2 * half["comparator_loss"] + half["constant"], rel=1e-9)
    assert half["margin_bound"] is None


def test_the_influence_of_eta_is_counted():
    rng = np.random.default_rng(3)
    data = RankingData.from_arrays(rng.standard_normal((40, 3)), rng.integers(0, 3, 40), np.repeat(np.arange(8), 5))
    order = rng.integers(0, 8, 300)
    rows = perceptron.influence_of_eta(data, order, "ndcg", (2.0**-6, 1.0), {})
    by = {(row["active"], row["eta"]): row["rounds_that_differ"] for row in rows}
    one = learner.run(data, order, "ndcg", 1.0).mistakes
    small = learner.run(data, order, "ndcg", 2.0**-6).mistakes
    assert by["margin", str(2.0**-6)] == (one != small).sum() > 0
    assert by["misordered", str(2.0**-6)] == 0
    assert by["margin", "1.0"] == 0


@pytest.mark.parametrize("measure", ["ndcg", "map", "ndcg@2"])
def test_the_adversary_shows_the_query_that_is_ranked_worst(measure):
    rng = np.random.default_rng(4)
    data = RankingData.from_arrays(rng.standard_normal((40, 2)), rng.integers(0, 2, 40), np.repeat(np.arange(8), 5))
    order = perceptron.adversarial_order(data, 60, measure)
    assert order[:8].tolist() == list(range(8))
    step = learner.theory_step(data, measure=measure)
    w = learner.run(data, order[:30], measure, step).w
    # The loss of every query for this w: that of a first round with a step too small to matter.
    losses = [learner.run(data, np.r_[order[:30], q], measure, step).losses[-1] for q in range(8)]
    assert losses[order[30]] == pytest.approx(max(losses))
    assert np.isfinite(w).all()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rounds": 10}, "rounds: expected a number >= 200, found 10"),
        ({"measures": ["map", "ndcg@3"]}, "expected ndcg among them"),
        ({"measures": ["map", "ndcg"]}, "expected ndcg@K among them"),
        ({"etas": [0.0]}, r"etas\[0\]: expected a number > 0"),
        ({"margin": 0.0}, "margin"),
    ],
)
def test_wrong_settings_of_the_perceptron_are_refused(change, said):
    with pytest.raises(ConfigurationError, match=said):
        PerceptronSettings.parse({**ONLINE, **change})


def test_the_regularisation_and_the_bound_are_those_of_theorem_8(risks):
    L, B = risks[0]["lipschitz"], 2.0
    for row in risks:
        n = row["n"]
        assert row["bound"] == pytest.approx(2 * L * B * (8 / n + math.sqrt(2 / n)))
        if row["regularisation"] == "theorem":
            assert row["l2"] ** 2 == pytest.approx(4 * L**2 / n / (B**2 / 2 + 4 * B**2 / n))
            # The lambda balances the two terms of the proof, whose sum the bound is.
            l2, smaller = row["l2"], 0.99 * row["l2"]
            cost = [4 * L**2 / (one * n) + one * (B**2 / 2 + 4 * B**2 / n) for one in (l2, smaller, l2 / 0.99)]
            assert cost[0] <= min(cost[1:])
            assert cost[0] <= row["bound"]


@pytest.fixture(scope="module")
def risks() -> list[dict]:
    asked = RiskSettings.parse(BATCH)
    return [row for part in (0, 1) for row in risk.measure(asked, "listnet", part, 7)]


def test_parts_share_the_repetitions_and_change_nothing(risks):
    whole = risk.measure(RiskSettings.parse({**BATCH, "parts": 1}), "listnet", 0, 7)
    key = lambda row: (row["repetition"], row["n"], row["regularisation"])  # noqa: E731
    assert sorted(risks, key=key) == sorted(whole, key=key)
    assert len(whole) == 4 * 3 * 2
    with pytest.raises(DataError, match="part: expected 0 to 1, found 2"):
        risk.measure(RiskSettings.parse(BATCH), "listnet", 2, 7)


def test_excess_risks_are_certified_positive_and_fall(risks):
    assert all(row["certified"] for row in risks)
    assert all(row["excess"] >= 0.0 for row in risks)
    found = risk.summarise(risks, 0.95)
    free = {row["n"]: row for row in found.means if row["regularisation"] == "none"}
    assert free[90]["excess_risk"] < free[10]["excess_risk"]
    assert free[90]["low"] <= free[90]["excess_risk"] <= free[90]["high"]
    tables = {"slam-risk": found.means}
    trials = readings.trials("slam-thm8", tables, {"repetitions": 4})
    assert len(trials) == 3
    changed = {"slam-risk": risk.summarise([{**row, "certified": row["n"] > 10} for row in risks], 0.95).means}
    certified, in_part = (readings.notes("slam-thm8", rows, {"repetitions": 4}) for rows in (tables, changed))
    assert certified != in_part
    assert "2 of 6 means" in in_part
    for trial in trials:
        assert isinstance(trial.values["excess_risk"], Interval)
        assert trial.values["excess_risk"].value <= trial.values["bound"]
    assert {row["regularisation"] for row in found.exponents} == {"theorem", "none"}


def test_the_excess_of_slam_map_counts_labels_as_relevant_or_not():
    asked = RiskSettings.parse({**BATCH, "sizes": [20], "repetitions": 2, "parts": 1})
    rows = risk.measure(asked, "slam-map", 0, 7)
    assert all(row["certified"] and row["excess"] >= 0.0 for row in rows)
    assert risk.summarise(rows, 0.95).exponents == []


def entry(name, algorithm="erm", surrogate=None, control=False, features="standardised"):
    settings = {"features": features}
    return {"model": name, "title": name.upper(), "algorithm": algorithm, "surrogate": surrogate} | {
        "control": control,
        "settings": settings,
    }


MODELS = [
    practice.Model.from_entry(found)
    for found in (
        entry("random", "random", control=True),
        entry("listnet", surrogate="listnet"),
        entry("squared", surrogate="squared"),
        entry("slam", surrogate="slam-ndcg"),
        entry("linear", "perceptron"),
        entry("kernel", "perceptron", features={"kernel": "gaussian"}),
    )
]


def test_families_follow_from_the_entries():
    assert [model.family for model in MODELS] == ["control", "baseline", "baseline", "slam", "slam", "slam"]
    assert [model.kernel for model in MODELS] == [False, False, False, False, False, True]


def test_the_best_of_each_side_are_compared_query_by_query():
    rng = np.random.default_rng(5)
    base = rng.random(200)
    shifts = {"random": 1.0, "listnet": 0.02, "squared": 0.01, "slam": 0.05, "linear": 0.0, "kernel": 0.03}
    values = {"d": {name: base + shift + 0.01 * rng.standard_normal(200) for name, shift in shifts.items()}}
    rows = practice.run(MODELS, values, 0.95, 500, 1)
    [best] = readings.trials("slam-practice", {"slam-practice": rows})
    assert dict(best.setting) == {"dataset": "d", "model": "SLAM", "other": "LISTNET"}
    difference = best.values["difference_to_best_baseline"]
    assert difference.value == pytest.approx((values["d"]["slam"] - values["d"]["listnet"]).mean())
    assert difference.low < 0.03 < difference.high
    assert best.values["p_holm"] < 0.05
    [kernel] = readings.trials("slam-kernel", {"slam-practice": rows})
    assert kernel.values["difference_to_linear"].value == pytest.approx(0.03, abs=0.005)
    # Two baselines and one linear perceptron; the control is compared with none.
    assert [row["other"] for row in rows if row["question"] != "family"] == ["listnet", "squared", "linear"]
    # And the best baseline with the other SLAM learners: four tests of one family with those above.
    family = [row for row in rows if row["question"] == "family"]
    assert [(row["model"], row["other"]) for row in family] == [("listnet", "kernel"), ("listnet", "linear")]
    assert family[1]["difference"] == pytest.approx((values["d"]["listnet"] - values["d"]["linear"]).mean())
    # No sign flip of 500 comes near: p = 1/501 before Holm's correction, and four times that after.
    assert {row["p_holm"] for row in rows if row["question"] != "kernel"} == {4 / 501}
    assert {row["p_holm"] for row in rows if row["question"] == "kernel"} == {1 / 501}


def test_without_rivals_there_is_nothing_to_read():
    rows = practice.run(MODELS, {"d": {"slam": np.ones(3)}}, 0.95, 100, 1)
    assert rows == []
    for claim in ("slam-practice", "slam-kernel"):
        assert readings.trials(claim, {"slam-practice": rows}) == []


def test_a_loss_is_judged_by_the_least_that_the_right_side_can_be(online):
    axes = ("stream", "measure", "repetition", "T")
    rows = {
        tuple(row[axis] for axis in axes): row
        for row in online.runs
        if (row["eta"], row["active"]) == ("theory", "margin")
    }
    for claim in ("slam-thm5", "slam-cor7"):
        for trial in trials(online, claim):
            row = rows[tuple(trial.setting[axis] for axis in axes)]
            assert trial.values["bound"] == pytest.approx(row["bound"] - row["gap"])
    assert any(row["gap"] > 0.0 for row in rows.values())


@pytest.mark.parametrize("kind", ["map", "ndcg", "ndcg@1", "ndcg@4", "ndcg@10"])
@pytest.mark.parametrize("y_max", [1, 2, 4])
def test_the_lists_of_the_table_of_v_max_attain_its_supremum(kind, y_max):
    for m in (2, 3, 5, 12, 40):
        assert perceptron.largest_v_max(m, y_max, kind) == pytest.approx(v_max_supremum(m, y_max, kind), rel=1e-9)


def test_v_max_is_that_of_the_weights(monkeypatch):
    monkeypatch.setattr(perceptron, "v_max_of_all", lambda y, offsets, kind: np.full(len(offsets) - 1, 7.0))
    assert perceptron.largest_v_max(4, 1, "map") == 7.0


def test_v_max_is_that_of_the_paper(online):
    row = online.v_max[-1]
    assert row["v_max_map"] == 4.0
    assert row["v_max_ndcg"] <= row["v_max_ndcg_limit"] == pytest.approx(math.log(2) * 3 * 9 * math.log2(9) ** 2)
