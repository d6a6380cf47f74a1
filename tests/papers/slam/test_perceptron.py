"""The experiment on SLAM's perceptron says what its runs hold."""

import math
from typing import Any

import numpy as np
import pytest

from pipeline_lib.claims.trials import Trial
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Row
from pipeline_lib.learners import perceptron as learner
from pipeline_lib.papers.slam import streams
from pipeline_lib.papers.slam.perceptron import experiment as perceptron
from pipeline_lib.papers.slam.perceptron import worst_rounds
from pipeline_lib.surrogates.slam import v_max_supremum
from tests import readings
from tests.papers.jobs import Given, of, tables
from tests.samples import unrelated
from tests.small_settings import small

ONLINE: dict[str, Any] = {"rounds": 400, "queries": 20, "documents": [3, 6], "margin": 0.05, "repetitions": 2}
ONLINE |= {"etas": [0.01, 30.0], "short_rounds": 300, "orthogonal_queries": 8, "v_max_lengths": [3, 8]}


@pytest.fixture(scope="module")
def online() -> list[Row]:
    rng = np.random.default_rng(1)
    X = 5.0 * rng.standard_normal((30, 2)) + 3.0
    own = RankingData.from_arrays(X, rng.integers(0, 3, 30), np.repeat(np.arange(6), 5))
    return list(perceptron.measure(Given(small("slam", "perceptron", **ONLINE), 7, data={"own": own})))


def trials(online: list[Row], claim: str) -> list[Trial]:
    return readings.trials(claim, tables(online))


def test_every_claim_on_the_perceptron_gets_evidence(online):
    claims = ("slam-cor6", "slam-cor7", "slam-eta-free", "slam-prop4", "slam-thm5", "slam-vmax")
    claims += ("slam-thm5-eta1", "slam-listnet-eta", "slam-vmax-k", "slam-variance-k")
    found = {claim: trials(online, claim) for claim in claims}
    assert all(found.values())
    assert {trial.setting["stream"] for trial in found["slam-thm5"]} > {"noisy", "separable", "adversary", "own"}
    assert {trial.setting["measure"] for trial in found["slam-thm5"]} == {"ndcg", "map"}
    assert {trial.setting["measure"] for trial in found["slam-cor7"]} == {"ndcg@1", "ndcg@2"}
    for claim in ("slam-thm5", "slam-cor7", "slam-cor6"):
        assert all(trial.values["cumulative_loss"] <= trial.values["bound"] + 1e-6 for trial in found[claim])
    assert all(0.0 < trial.values["largest_ratio"] <= 1.0 + 1e-6 for trial in found["slam-prop4"])


def test_the_share_of_the_second_half_is_that_of_the_same_run(online):
    losses = {
        (row.measure, row.repetition, row.T): row.cumulative_loss
        for row in of(perceptron.Bounded, online)
        if (row.stream, row.eta) == ("separable", "theory")
    }
    separable = [trial for trial in trials(online, "slam-cor6") if trial.setting["stream"] == "separable"]
    shares = {
        (trial.setting["measure"], trial.setting["repetition"]): trial.values["share_of_loss_in_last_half"]
        for trial in separable
        if trial.setting["T"] == 400
    }
    assert len(shares) == 2 * 2
    assert any(share > 0.0 for share in shares.values())
    for run, share in shares.items():
        assert share == pytest.approx(1.0 - losses[(*run, 200)] / losses[(*run, 400)])
    assert all("share_of_loss_in_last_half" not in trial.values for trial in separable if trial.setting["T"] < 400)


def test_both_active_sets_of_a_step_are_read_together(online):
    differ = {
        tuple(getattr(row, key) for key in ("stream", "measure", "repetition", "eta", "active")): row.rounds_that_differ
        for row in of(perceptron.Influence, online)
    }
    for trial in trials(online, "slam-eta-free"):
        run = tuple(trial.setting.values())
        assert trial.values["rounds_that_differ"] == differ[(*run, "margin")]
        assert trial.values["rounds_that_differ_misordered"] == differ[(*run, "misordered")]


def test_the_influence_of_eta_is_counted():
    data = unrelated(8, 5)
    order = np.random.default_rng(3).integers(0, 8, 300)
    stream, etas = streams.Stream("own", 0, data, order), (2.0**-6, 1.0)
    rows = [row for active in streams.ACTIVE for row in perceptron.influence_of_eta(stream, "ndcg", etas, active)]
    by = {(row.active, row.eta): row.rounds_that_differ for row in rows}
    one = learner.run(data, order, "ndcg", 1.0).mistakes
    small = learner.run(data, order, "ndcg", 2.0**-6).mistakes
    assert by["margin", str(2.0**-6)] == (one != small).sum() > 0
    assert by["misordered", str(2.0**-6)] == 0
    assert by["margin", "1.0"] == 0


@pytest.mark.parametrize("measure", ["ndcg", "map", "ndcg@2"])
def test_the_adversary_shows_the_query_that_is_ranked_worst(measure):
    data = unrelated(8, 5, 2, levels=2)
    order = streams.adversarial_order(data, 60, measure)
    assert order[:8].tolist() == list(range(8))
    step = learner.theory_step(data, measure=measure)
    # The loss of every query for this w: that of a first round with a step too small to matter.
    losses = [learner.run(data, np.r_[order[:30], q], measure, step).losses[-1] for q in range(8)]
    assert losses[order[30]] == pytest.approx(max(losses))


@pytest.mark.parametrize("measure", perceptron.SHORT_MEASURES)
def test_every_orthogonal_query_is_ranked_wrongly_once(measure):
    data = streams.orthogonal(7, 4, 3.0)
    order = np.arange(70) % 7
    result = learner.run(data, order, measure, "theory")
    assert np.flatnonzero(result.mistakes).tolist() == list(range(7))
    loss = {"ndcg": 1 - 1 / math.log2(5), "map": 3 / 4, "ndcg@1": 1.0}[measure]
    assert result.losses.sum() == pytest.approx(7 * loss)
    margin = streams.Stream("own", 0, data, order, True).gamma(measure)
    assert margin <= 2 * 3.0 / math.sqrt(7) + 1e-9


def test_corollary_7_is_attained_on_the_orthogonal_stream(online):
    [row] = [
        row
        for row in of(perceptron.Play, online)
        if (row.stream, row.measure, row.player, row.statement)
        == ("orthogonal-2", "ndcg@1", "perceptron", "as-printed")
    ]
    sides = (row.cumulative_loss, row.bound, row.margin_bound)
    assert sides == pytest.approx((ONLINE["orthogonal_queries"],) * 3)


def test_short_streams_of_populations_have_two_features_and_a_margin():
    settings = small("slam", "perceptron", **ONLINE)
    found = {stream.name: stream for stream in perceptron.short(settings, 0)}
    lengths = {name: set(found[name].data.documents_per_query.tolist()) for name in ("pairs", "short")}
    assert lengths == {"pairs": {2}, "short": {2, 3, 4}}
    for name in lengths:
        data = found[name].data
        assert (data.n_features, data.n_queries) == (2, settings.queries)
        assert found[name].gamma("ndcg") > 0.0  # some direction of the plane ranks every query without a mistake


def test_the_zigzag_makes_half_a_mistake_per_squared_margin():
    settings = small("slam", "perceptron", **{**ONLINE, "short_rounds": 1000})
    [zigzag] = [stream for stream in perceptron.short(settings, 0) if stream.name == "zigzag"]
    mistakes = learner.run(zigzag.data, zigzag.order, "ndcg@1", "theory").mistakes
    assert mistakes.sum() == pytest.approx(1 / (2 * perceptron.NARROW**2), rel=0.02)
    assert not mistakes[300:].any()
    x = zigzag.data.X64[1::2] - zigzag.data.X64[::2]
    assert (x @ [1.0, 0.0]).min() == pytest.approx(perceptron.NARROW)


def test_a_step_of_1_breaks_theorem_5_on_the_stalled_stream():
    stalled = streams.stalled(5000)
    assert stalled.gamma("map") == pytest.approx(streams.Stream("s", 0, stalled.data, stalled.order, True).gamma("map"))
    bound = learner.norm_factor(stalled.data, measure="map") / stalled.gamma("map") ** 2
    for eta, broken in ((1.0, True), ("theory", False)):
        assert bool(learner.run(stalled.data, stalled.order, "map", eta).losses.sum() > bound) is broken


def test_players_are_judged_by_their_own_mistakes():
    data = streams.of_points([(1.0, 0.0), (1.0, 0.5)])
    stream = streams.Stream("own", 0, data, np.arange(40) % 2, True)
    rows = {(row.player, row.statement): row for row in perceptron.played(stream, "map")}
    assert rows["reversed", "as-printed"].cumulative_loss == 20.0 == rows["reversed", "as-printed"].largest_loss
    assert rows["never", "as-printed"].mistakes == 40
    assert rows["perceptron", "as-printed"].mistakes == 1
    for name, factor in (("half-constant", 0.5), ("norm-not-squared", 1 / math.sqrt(1.25 / 4))):
        printed = rows["perceptron", "as-printed"].margin_bound
        assert rows["perceptron", name].margin_bound == pytest.approx(factor * printed)
    once, half = rows["perceptron", "loss-once"], rows["perceptron", "half-constant"]
    assert once.bound < rows["perceptron", "as-printed"].bound
    assert once.bound == pytest.approx(once.comparator_loss + once.constant)
    assert half.bound == pytest.approx(2 * half.comparator_loss + half.constant)


def test_constructed_rounds_reach_the_ratio_of_their_weights():
    row = worst_rounds.worst_round(np.array([1, 1, 0], np.int32), "map")
    assert row["ratio"] == pytest.approx((5 / 12) ** 2 / (3 * 1 / 4), rel=1e-6)


def test_cutoffs_add_the_same_at_every_doubling(online):
    assert {round(row.added_by_doubling, 9) for row in of(perceptron.AtCutoff, online)} == {3.0}


def test_a_loss_is_judged_by_the_least_that_the_right_side_can_be(online):
    axes = ("stream", "measure", "repetition", "T")
    rows = {
        tuple(getattr(row, axis) for axis in axes): row for row in of(perceptron.Bounded, online) if row.eta == "theory"
    }
    for claim in ("slam-thm5", "slam-cor7"):
        for trial in trials(online, claim):
            row = rows[tuple(trial.setting[axis] for axis in axes)]
            assert trial.values["bound"] == pytest.approx(row.bound - row.gap)
    assert any(row.gap > 0.0 for row in rows.values())


@pytest.mark.parametrize("kind", ["map", "ndcg", "ndcg@1", "ndcg@4", "ndcg@10"])
@pytest.mark.parametrize("y_max", [1, 2, 4])
def test_the_lists_of_the_table_of_v_max_attain_its_supremum(kind, y_max):
    for m in (2, 3, 5, 12, 40):
        assert perceptron.largest_v_max(m, y_max, kind) == pytest.approx(v_max_supremum(m, y_max, kind), rel=1e-9)
