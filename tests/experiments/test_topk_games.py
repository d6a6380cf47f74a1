"""The games of topk: regret, the two adversaries and Figure 1."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from pipeline_lib import surrogates
from pipeline_lib.claims import ledger, rules
from pipeline_lib.claims.evidence import Interval
from pipeline_lib.errors import ConfigurationError, DataError
from pipeline_lib.learners import top_k_feedback, top_k_moments
from pipeline_lib.papers.topk.computations import adversary, figure, regret
from pipeline_lib.papers.topk.experiments.adversary import AdversarySettings
from pipeline_lib.papers.topk.experiments.figure import FigureSettings
from pipeline_lib.papers.topk.experiments.regret import RegretSettings
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from tests import readings
from tests.small_settings import SETTINGS

REGRET: dict[str, Any] = {**SETTINGS["topk"]["regret"], "seeds": 2, "slices": 2}
GAME: dict[str, Any] = {**SETTINGS["topk"]["adversary"], "rounds": [300, 1000, 3000]}
FIGURE: dict[str, Any] = {**SETTINGS["topk"]["figure"], "rounds": 1000, "points": 3, "repair_radii": [1.0, 10.0]}


def data(n: int = 25) -> RankingData:
    return Population(PopulationSettings(features=4, documents=(4, 12))).draw(n, generator(1, "figure"))


def regret_of(asked: RegretSettings, seed: int) -> regret.Results:
    rows = [row for part in range(asked.slices) for row in regret.measure(asked, seed, part)]
    return regret.join(asked, rows, seed)


def test_regret_is_that_of_the_definition():
    asked = RegretSettings.parse(REGRET)
    found = regret_of(asked, 5)
    population = Population(PopulationSettings.from_mapping(REGRET["population"]))
    drawn = population.draw(20, generator(5, "topk-regret", "queries"))
    order = generator(5, "topk-regret", "rounds").integers(0, 20, size=800)[:400]
    for name, k in regret.LEARNERS.items():
        eta, gamma = top_k_feedback.theorem_parameters(400)
        totals = []
        for number in range(2):
            axes = (5, "topk-regret", name, number, 400)
            game = top_k_feedback.run(drawn, name, k, 400, eta, gamma, 2.0, axes, order=order)
            totals.append(game.losses[-1] * 400)
        # the best fixed w over the rounds one after the other, by a crude search from many sides
        rounds, loss = drawn.take(order), surrogates.create(name)
        directions = np.random.default_rng(0).normal(size=(400, 3))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        searched = min(
            loss.value(rounds.X64 @ (size * w), rounds.y, rounds.offsets).sum()
            for w in directions
            for size in np.linspace(0.0, 2.0, 9)
        )
        [row] = [row for row in found.regret if (row["surrogate"], row["T"]) == (name, 400)]
        assert row["best_fixed_loss"] * 400 <= searched * (1 + 1e-6)
        assert row["best_fixed_loss"] * 400 >= 0.9 * searched
        assert row["regret"] == pytest.approx(np.mean(totals) - 400 * row["best_fixed_loss"])


def test_equation_4_holds_and_every_exponent_has_an_interval():
    asked = RegretSettings.parse(REGRET)
    found = regret_of(asked, 6)
    assert len(found.evidence.trials) == 9
    for trial in found.evidence.trials:
        assert trial.values["expected_loss"].value <= trial.values["bound"]
        difference = trial.values["expected_loss"].value - trial.values["bound"]
        assert trial.values["loss_minus_bound"].value == pytest.approx(difference)
    rates = readings.trials("topk-thm41", {"topk-exponents": found.exponents}, asked.plain())
    assert {trial.setting["surrogate"]: trial.setting["k"] for trial in rates} == regret.LEARNERS
    assert {trial.setting["T"] for trial in rates} == {asked.rounds[-1]}
    assert [trial.values["regret_exponent"].low < 1.0 for trial in rates] == [True] * 3


@pytest.mark.parametrize(
    ("over", "status"), [((0.1, 0.1), "refuted"), ((-0.1, -0.1), "verified"), ((0.3, -0.1), "deviates")]
)
def test_equation_4_is_judged_by_paired_differences(monkeypatch, over, status):
    # The sums of ||z||^2 of the two seeds lie far apart, and so do their losses. That decides nothing: what counts is
    # by how much each loss exceeds its own bound, T times ``over``. The best fixed loss is 0.
    asked = RegretSettings.parse(REGRET)
    monkeypatch.setattr(regret, "best_fixed", lambda *_: 0.0)
    rows = []
    for number, name, T in itertools.product(range(2), regret.LEARNERS, asked.rounds):
        eta, squared_norm = T ** (-2 / 3), 1e4 * (1 + number)
        bound = asked.radius**2 / (2 * eta * T) + eta * squared_norm / 2
        row = {"seed": number, "surrogate": name, "T": T, "loss": 2.0, "own_loss": bound + over[number]}
        rows.append({**row, "squared_norm": squared_norm})
    found = regret.join(asked, rows, 1)
    for trial in found.evidence.trials:
        assert trial.values["loss_minus_bound"].value == pytest.approx(np.mean(over) * trial.setting["T"])
    [claim] = [one for one in ledger.load() if one.id == "topk-eq4"]
    assert rules.judge(claim.checks, found.evidence.trials, claim.displayed).status == status


@pytest.mark.parametrize("slices", [1, 3, 5])
def test_slices_change_nothing(slices):
    asked = {**REGRET, "rounds": [100, 200, 300], "seeds": 3}
    whole, parts = (regret_of(RegretSettings.parse({**asked, "slices": number}), 2) for number in (1, slices))
    assert (whole.regret, whole.exponents, whole.evidence) == (parts.regret, parts.exponents, parts.evidence)


def test_a_missing_slice_is_an_error():
    asked = RegretSettings.parse(REGRET)
    with pytest.raises(DataError, match=r"expected the games of 18 combinations .* found 9 of them and 0 others"):
        regret.join(asked, regret.measure(asked, 5, 0), 5)


def test_table_1_is_as_published():
    rows = adversary.table_1()
    assert len(rows) == 12
    assert all(abs(row["measured"] - row["published"]) < 5e-5 for row in rows)


def test_the_linear_limit_is_the_best_constant_guess():
    a, b = (p @ adversary.gains() for p in adversary.ADVERSARIES.values())
    rng = np.random.default_rng(0)
    for s in [(a + b) / 2, *((a + b) / 2 + 0.1 * rng.normal(size=(100, 3)))]:
        lost = (np.sum((s - a) ** 2) + np.sum((s - b) ** 2)) / 2
        assert lost >= adversary.linear_limit() * (1 - 1e-12)


def test_labels_of_one_document_do_not_tell_the_adversaries_apart():
    p, other = adversary.ADVERSARIES.values()
    np.testing.assert_allclose(p @ adversary.LABELS, other @ adversary.LABELS, atol=1e-12)


def test_excess_over_the_goal_is_the_expected_regret():
    # Three rounds of a fixed sequence of scores, all 8^3 label sequences.
    p = adversary.ADVERSARIES["p"]
    goal, scores, gains = p @ adversary.gains(), np.array([[0.1, 0.5, 0.2], [0.4, 0.0, 0.3], [1.0, 1.0, 1.0]]), None
    gains = adversary.gains()
    expected = 0.0
    for outcome in itertools.product(range(8), repeat=3):
        seen = gains[list(outcome)]
        best = np.sum((seen - seen.mean(axis=0)) ** 2)
        expected += math.prod(p[i] for i in outcome) * (np.sum((scores - seen) ** 2) - best)
    covariance = p @ np.sum((gains - goal) ** 2, axis=1)
    assert np.sum((scores - goal) ** 2) + covariance == pytest.approx(expected)


@pytest.fixture(scope="module")
def game() -> adversary.Results:
    return adversary.run(AdversarySettings.parse(GAME), 4)


def test_nobody_who_sees_one_label_beats_the_limit(game):
    for row in game.game:
        if row["learner"] != adversary.FULL_INFORMATION:
            assert row["regret"] >= row["linear_limit"]
    [constant] = [row for row in game.game if (row["learner"], row["T"]) == ("constant", 3000)]
    assert constant["regret"] == pytest.approx(constant["linear_limit"], rel=0.1)


def test_the_leader_uses_only_labels_it_has_seen():
    order = np.random.default_rng(1).integers(0, 8, 50)
    goal = np.array([0.3, 0.3, 0.4])
    changed = order.copy()
    changed[-1] = (changed[-1] + 3) % 8
    # The last label comes after the last scores.
    assert adversary._leader(order, goal) == adversary._leader(changed, goal)


def test_evidence_of_the_game_speaks_of_every_learner(game):
    evidence = game.evidence
    learners = {trial.setting["learner"] for trial in evidence.trials if "regret" in trial.values}
    assert learners == {"squared", "kl", "smooth-dcg", "leader", "constant"}
    [full] = [trial for trial in evidence.trials if "full_information_exponent" in trial.values]
    assert full.values["full_information_exponent"].value < 0.9
    measured = {trial.setting["learner"] for trial in evidence.trials if "algorithm_1_exponent" in trial.values}
    assert measured == set(adversary.FEEDBACK_LEARNERS)


@pytest.fixture(scope="module")
def drawn_figure():
    asked = FigureSettings.parse(FIGURE)
    repair = figure.choose(asked, "made", data(), 3)
    return asked, repair, figure.curves(asked, "made", data(), repair, 3)


def test_curves_of_every_learner_and_panel(drawn_figure):
    _, _, rows = drawn_figure
    found = {(row["panel"], row["learner"]) for row in rows}
    assert found == {
        *(("", name) for name in ("listnet", "random", "ideal")),
        *((panel, name) for panel in ("as-printed", "correct", *figure.FULL_INFORMATION) for name in figure.SHOWN),
        *(("repaired", name) for name in figure.REPAIRED),
    }
    assert len(rows) == 3 * len(found)
    assert all(0.0 <= row["low"] <= row["ndcg"] <= row["high"] <= 1.0 for row in rows)
    final = {row["learner"]: row["ndcg"] for row in rows if row["panel"] == "" and row["round"] == 1000}
    assert final["listnet"] > final["random"] + 0.1


def test_descent_with_all_labels_is_that_of_its_step(drawn_figure):
    asked, _, rows = drawn_figure
    played = figure.playable(data(), "made")
    for told, eta in (("all-labels", 1000**-0.5), ("all-labels-same-step", 1000 ** (-2 / 3))):
        for name in figure.REPAIRED:
            ends = []
            for number in range(asked.seeds):
                order = generator(3, "topk-figure", "made", number, "rounds").integers(0, played.n_queries, size=1000)
                game = top_k_feedback.with_all_labels(played, name, 1000, eta, asked.radius, order=order)
                ends.append(game.ndcg[-1])
            [row] = [row for row in rows if (row["panel"], row["learner"], row["round"]) == (told, name, 1000)]
            assert row["ndcg"] == pytest.approx(np.mean(ends), rel=1e-12)


def test_an_ideal_order_is_as_good_as_can_be(drawn_figure):
    _, _, rows = drawn_figure
    assert [row["ndcg"] for row in rows if row["learner"] == "ideal"] == [1.0, 1.0, 1.0]
    worst_first = RankingData.from_arrays([[0.0], [1.0], [1.0]], [0, 2, 0], [1, 1, 2])
    found = figure.in_ideal_order(worst_first, np.array([1, 0, 1]), np.array([1, 2, 3]))
    np.testing.assert_array_equal(found, [math.nan, 1.0, 1.0])


def test_one_choice_for_every_loss_and_the_best(drawn_figure):
    _, repair, _ = drawn_figure
    for name in figure.REPAIRED:
        mine = [row for row in repair if row["surrogate"] == name]
        assert len(mine) == 2
        [chosen] = [row for row in mine if row["chosen"]]
        assert chosen["ndcg"] == max(row["ndcg"] for row in mine)


def test_the_step_of_the_repair_minimises_the_bound():
    C, gamma, T, U = top_k_moments.start_constant("kl", 5, 2), 0.1, 1000, 3.0

    def bound(eta):
        return U**2 / (2 * eta) + eta * T * C / (2 * gamma)

    eta = U * math.sqrt(gamma / (C * T))
    assert bound(eta) < min(bound(0.99 * eta), bound(1.01 * eta))


def test_scaled_documents_have_norm_at_most_one():
    norms = np.linalg.norm(figure.scaled(data()).X64, axis=1)
    assert norms.max() == pytest.approx(1.0, abs=1e-5)
    assert norms.max() <= 1.0


def test_short_queries_are_left_out_and_nothing_left_is_an_error():
    short = RankingData.from_arrays([[0.0], [1.0], [2.0]], [1, 0, 1], [1, 2, 2])
    assert figure.playable(short, "made").n_queries == 1
    with pytest.raises(DataError, match="made: expected queries with at least two documents"):
        figure.playable(short.take([0]), "made")
    with pytest.raises(DataError, match="a relevant one"):
        figure.playable(RankingData.from_arrays([[0.0], [1.0]], [0, 0], [1, 1]), "made")


def test_evidence_of_the_figure_is_read_at_the_end(drawn_figure):
    _, _, rows = drawn_figure
    order, bias, sign = (
        readings.trials(f"topk-{claim}", {"topk-curves": rows}) for claim in ("fig1", "fig1-bias", "smoothdcg-sign")
    )
    final = {(row["panel"], row["learner"]): row["ndcg"] for row in rows if row["round"] == 1000}
    [trial] = order
    assert trial.setting == {"dataset": "made", "T": 1000}
    kl = trial.values["kl"]
    assert isinstance(kl, Interval)
    assert kl.value == final["as-printed", "kl"]
    for name in figure.REPAIRED:
        assert bias[0].values[f"{name}_correct"].value == final["correct", name]
    for trial in sign:
        panel = trial.setting["probabilities"]
        assert trial.values["ascent"].value == final[panel, "smooth-dcg-ascent"]
        assert trial.values["descent"].value == final[panel, "smooth-dcg"]
        assert trial.values["random"].value == final["", "random"]
    assert [trial.setting["probabilities"] for trial in sign] == list(figure.PANELS)


@pytest.mark.parametrize(
    ("kind", "good", "wrong"),
    [
        (RegretSettings, REGRET, {"rounds": [100, 200]}),
        (RegretSettings, REGRET, {"seeds": 1}),
        (RegretSettings, REGRET, {"slices": 0}),
        (AdversarySettings, GAME, {"rounds": [1000]}),
        (AdversarySettings, GAME, {"radius": 0.0}),
        (FigureSettings, FIGURE, {"rounds": 10}),
        (FigureSettings, FIGURE, {"repair_factors": []}),
    ],
)
def test_settings_out_of_range_are_refused(kind, good, wrong):
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        kind.parse({**good, **wrong})
