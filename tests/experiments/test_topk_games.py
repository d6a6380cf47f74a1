"""The games of topk: regret, the two adversaries and Figure 1."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from pipeline_lib import surrogates
from pipeline_lib.claims import rules
from pipeline_lib.errors import ConfigurationError, DataError
from pipeline_lib.learners import top_k_feedback, top_k_moments
from pipeline_lib.papers.topk.computations import adversary, bandit, figure, regret
from pipeline_lib.papers.topk.experiments.adversary import AdversarySettings
from pipeline_lib.papers.topk.experiments.figure import FigureSettings
from pipeline_lib.papers.topk.experiments.regret import RegretSettings
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from tests import readings
from tests.small_settings import SETTINGS

REGRET: dict[str, Any] = {**SETTINGS["topk"]["regret"], "seeds": 2, "slices": 2}  # four seeds for T = 200
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
        [row] = [row for row in played(found, regret.LEARNER, name) if row["T"] == 400]
        assert row["best_fixed_loss"] * 400 <= searched * (1 + 1e-6)
        assert row["best_fixed_loss"] * 400 >= 0.9 * searched
        assert row["regret"] == pytest.approx(np.mean(totals) - 400 * row["best_fixed_loss"])


def test_every_game_has_its_bound_and_every_exponent_its_interval():
    asked = RegretSettings.parse(REGRET)
    found = regret_of(asked, 6)
    assert {row["data"] for row in found.regret} == set(regret.GAMES)
    for row in found.regret:
        T = row["T"]
        bound = T * row["best_fixed_loss"] + row["distance_term"] + row["noise_term"]
        assert row["expected_loss"] - bound == pytest.approx(row["loss_minus_bound"], abs=1e-9)
        assert row["loss_minus_bound_low"] <= row["loss_minus_bound"] <= row["loss_minus_bound_high"]
        assert row["expected_loss"] <= row["largest_loss"]
        assert row["seeds"] == (4 if (row["player"], row["data"], T) == (regret.LEARNER, "population", 200) else 2)
    rates = readings.trials("topk-thm41", {"topk-exponents": found.exponents}, asked.plain())
    assert {(trial.setting["data"], trial.setting["surrogate"]) for trial in rates} == {
        (source, name) for source, names in regret.GAMES.items() for name in names
    }
    assert {trial.setting["T"] for trial in rates} == {asked.rounds[-1]}


def played(found: regret.Results, player: str, name: str, source: str = "population") -> list[dict[str, Any]]:
    wanted = source, player, name
    return [row for row in found.regret if (row["data"], row["player"], row["surrogate"]) == wanted]


def test_on_two_documents_equation_4_is_nearly_an_equality():
    asked = RegretSettings.parse({**REGRET, "rounds": [1000, 3000, 10000]})
    found = regret_of(asked, 3)
    for row in played(found, regret.LEARNER, "ranksvm", regret.TWO_DOCUMENTS):
        # 1/(eta ||2x||^2) steps to the boundary, and a last one that is cut short
        steps = row["T"] ** (2 / 3) / (2 * regret.FEATURE) ** 2
        assert row["expected_loss"] == pytest.approx((steps + 1) / 2, rel=1e-3)
        assert -0.01 < row["loss_minus_bound"] < 1e-9
    for row in played(found, regret.IDLE, "ranksvm", regret.TWO_DOCUMENTS):
        assert row["expected_loss"] == row["T"]
        assert row["loss_minus_bound"] > 0.0


def test_whoever_never_learns_has_the_loss_of_zero_scores():
    asked = RegretSettings.parse(REGRET)
    found = regret_of(asked, 5)
    drawn = Population(PopulationSettings.from_mapping(REGRET["population"])).draw(
        20, generator(5, "topk-regret", "queries")
    )
    order = generator(5, "topk-regret", "rounds").integers(0, 20, size=800)[:400]
    for name in regret.LEARNERS:
        [row] = [row for row in played(found, regret.IDLE, name) if row["T"] == 400]
        losses = surrogates.create(name).value(np.zeros(drawn.n_documents), drawn.y, drawn.offsets)[order]
        assert row["expected_loss"] == pytest.approx(losses.sum())


def test_wrong_players_have_an_exponent_even_if_all_games_are_long(monkeypatch):
    monkeypatch.setattr(regret, "WRONG_ROUNDS", 100)
    found = regret_of(RegretSettings.parse(REGRET), 5)
    players = {(row["data"], row["player"]) for row in found.exponents}
    assert players >= {("population", player) for player in regret.PLAYERS}


@pytest.mark.parametrize("name", ["squared", "kl", "ranksvm"])
def test_no_weights_in_the_ball_exceed_the_largest_loss(name):
    drawn, rng, loss = data(6), np.random.default_rng(1), surrogates.create(name)
    largest = regret.largest_loss(drawn, name, np.arange(6), 2.0)
    for _ in range(50):
        w = rng.normal(size=drawn.n_features)
        w *= 2.0 / np.linalg.norm(w)
        assert loss.value(drawn.X64 @ w, drawn.y, drawn.offsets).mean() <= largest


@pytest.mark.parametrize(
    ("over", "status"), [((0.1, 0.1), "refuted"), ((-0.1, -0.1), "verified"), ((0.3, -0.1), "consistent")]
)
def test_equation_4_is_judged_by_paired_differences(monkeypatch, over, status):
    # The sums of ||z||^2 of the two seeds lie far apart, and so do their losses. That decides nothing: what counts is
    # by how much each loss exceeds its own bound, T times ``over``. The best fixed loss is 0.
    asked = RegretSettings.parse({**REGRET, "short_rounds": 1, "short_seeds": 2})
    monkeypatch.setattr(regret, "best_fixed", lambda *_: 0.0)
    monkeypatch.setattr(regret, "largest_loss", lambda *_: 1e9)
    rows = []
    for game in regret.games_of(asked, 1):
        for number, T in itertools.product(range(2), asked.rounds):
            eta, squared_norm = T ** (-2 / 3), 1e4 * (1 + number)
            bound = game.radius**2 / (2 * eta * T) + eta * squared_norm / 2
            row = {"data": game.source, "player": game.player, "surrogate": game.surrogate, "seed": number, "T": T}
            rows.append({**row, "loss": 2.0, "own_loss": bound + over[number], "squared_norm": squared_norm})
    found = regret.join(asked, rows, 1)
    trials = readings.trials("topk-eq4", {"topk-regret": found.regret}, asked.plain())
    for trial in trials:
        excess = trial.values["regret"].value - trial.values["bound"]
        assert excess == pytest.approx(np.mean(over) * trial.setting["T"])
    [claim] = [one for one in readings.ledger_of_claims() if one.id == "topk-eq4"]
    assert rules.judge(claim.checks, trials, claim.displayed).status == status


@pytest.mark.parametrize(("most", "rounds"), [(400, [100, 200, 300, 400]), (200, [100, 200, 300])])
def test_bandits_play_as_long_as_asked_and_three_games_at_least(most, rounds):
    asked = RegretSettings.parse(
        {**REGRET, "rounds": [100, 200, 300, 400], "bandit_rounds": most, "bandit_factors": [1.0]}
    )
    axes = {"player": regret.LEARNER, "data": regret.POPULATION}
    known = {"best_fixed_loss": 1.0, "regret": 50.0, "low": 40.0, "high": 70.0}
    measured = [{**axes, **known, "surrogate": name, "T": T} for name in regret.LEARNERS for T in asked.rounds]
    rows = bandit.rows(asked, measured, 1)
    assert [row["T"] for row in rows] == rounds * len(regret.LEARNERS)
    for row in rows:
        assert row["lead"] == pytest.approx(row["regret"] - 50.0)
        assert (row["lead_low"], row["lead_high"]) == pytest.approx((row["low"] - 70.0, row["high"] - 40.0))


@pytest.mark.parametrize("slices", [1, 3, 5])
def test_slices_change_nothing(slices):
    asked = {**REGRET, "rounds": [100, 200, 300], "seeds": 3}
    whole, parts = (regret_of(RegretSettings.parse({**asked, "slices": number}), 2) for number in (1, slices))
    assert whole == parts


def test_a_missing_slice_is_an_error():
    asked = RegretSettings.parse(REGRET)
    with pytest.raises(DataError, match=r"expected the games of 72 combinations .* found 36 of them and 0 others"):
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


def test_learners_of_the_game_use_only_labels_they_have_seen():
    order = np.random.default_rng(1).integers(0, 8, 50)
    changed = order.copy()
    changed[-1] = (changed[-1] + 3) % 8
    # The last label comes after the last scores, and the label of a document that is not on top comes never.
    hidden = order.copy()
    top = np.arange(50) % 3
    for t in range(50):
        same = np.flatnonzero(adversary.LABELS[:, top[t]] == adversary.LABELS[order[t], top[t]])
        hidden[t] = same[-1]
    for learner, scores in adversary.on_the_game(order).items():
        np.testing.assert_array_equal(scores, adversary.on_the_game(changed)[learner])
        np.testing.assert_array_equal(scores, adversary.on_the_game(hidden)[learner])
        np.testing.assert_array_equal(scores.max(axis=1), scores[np.arange(50), top])


def test_the_gradient_learner_takes_its_steps():
    goals = np.random.default_rng(2).random((30, 3))
    s = np.zeros(3)
    for found, goal in zip(adversary._followed(goals, 0.1), goals, strict=True):
        np.testing.assert_allclose(found, s, atol=1e-12)
        s = s - 0.1 * 2.0 * (s - goal)


def test_labels_apart_have_the_mean_gains_of_such_labels():
    # sum of means 1.3: two relevant documents with chance .3, each pair equally often
    means = np.array([[0.45, 0.45, 0.4]])
    pair = 1.0 / (1.0 + 1.0 / np.log2(3.0))
    expected = [0.2 * pair + mean - 0.2 for mean in means[0]]
    np.testing.assert_allclose(adversary._apart(means)[0], expected)


def test_what_is_said_of_the_game_is_decided(tmp_path):
    # The proof lets a learner play a or b alone: whoever plays their midpoint has half of its limit.
    asked = AdversarySettings.parse({**GAME, "rounds": [10000, 30000, 100000], "seeds": 6})
    found = adversary.run(asked, 4)
    tables = {"topk-table1": found.table_1, "topk-adversary": found.game}
    for claim, status in (("table1", "verified"), ("thm52", "verified"), ("thm52-constant", "refuted")):
        judgement = readings.judged(f"topk-{claim}", tables, asked.plain(), tmp_path)
        assert (judgement.status, [plant.name for plant in judgement.severity.missed]) == (status, [])


@pytest.fixture(scope="module")
def drawn_figure():
    asked = FigureSettings.parse(FIGURE)
    repair = figure.choose(asked, "made", data(), 3)
    return asked, repair, figure.measure(asked, "made", data(), repair, 3)


def test_curves_of_every_learner_and_panel(drawn_figure):
    rows = drawn_figure[2].curves
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
    asked, rows = drawn_figure[0], drawn_figure[2].curves
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
    rows = drawn_figure[2].curves
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


def test_gaps_are_differences_seed_by_seed(drawn_figure):
    found = drawn_figure[2]
    final = {(row["panel"], row["learner"]): row["ndcg"] for row in found.curves if row["round"] == 1000}
    for row in found.gaps:
        panel, greater, lesser = row["panel"], row["greater"], row["lesser"]
        if greater.endswith("from random"):
            name = greater.removesuffix(" from random")
            expected = 2 * final[panel, name] - final["", "random"] - final["", "listnet"]
        else:
            one, other = (final["" if name in figure.WITHOUT_PANEL else panel, name] for name in (greater, lesser))
            expected = one - other
        assert row["gap"] == pytest.approx(expected)
        assert row["low"] <= row["gap"] <= row["high"]


def test_evidence_of_the_figure_is_read_by_data_set(drawn_figure):
    rows, curves = drawn_figure[2].gaps, drawn_figure[2].curves
    gap = {(row["panel"], row["greater"], row["lesser"]): row["gap"] for row in rows}
    [order] = readings.trials("topk-fig1-order", {"topk-gaps": rows})
    assert order.setting == {"dataset": "made"}
    assert order.values["ranksvm_over_kl"].value == gap["as-printed", "ranksvm", "kl"]
    [bias] = readings.trials("topk-fig1-bias", {"topk-gaps": rows})
    assert bias.values["kl_over_squared_correct"].value == gap["correct", "kl", "squared"]
    final = {(row["panel"], row["learner"]): row["ndcg"] for row in curves if row["round"] == 1000}
    unbiased, informed = readings.trials("topk-smoothdcg-sign", {"topk-gaps": rows, "topk-curves": curves})
    for name, learner in (("ascent_over_random", "smooth-dcg-ascent"), ("descent_over_random", "smooth-dcg")):
        assert unbiased.values[name].value == gap["correct", learner, "random"]
        assert informed.values[name].value == final["all-labels", learner] - final["", "random"]
    assert not readings.trials("topk-fig1", {"topk-gaps": rows})


ENDS = {"listnet": 0.75, "ranksvm": 0.74, "kl": 0.73, "squared": 0.7, "random": 0.5, "smooth-dcg": 0.5}


@pytest.mark.parametrize(("ascent", "status"), [(0.72, "answered"), (0.52, "answered"), (None, "consistent")])
def test_the_biased_learner_does_not_answer_for_smooth_dcg(tmp_path, ascent, status):
    """With the printed probabilities ascent is far above random order, which alone decides nothing."""
    rows = [
        {
            "dataset": "made",
            "panel": panel,
            "greater": learner,
            "lesser": "random",
            "gap": gap,
            "low": low,
            "high": high,
        }
        for panel, learner, gap, low, high in (
            ("as-printed", "smooth-dcg-ascent", 0.4, 0.4, 0.4),
            ("as-printed", "smooth-dcg", -0.3, -0.3, -0.3),
            ("correct", "smooth-dcg-ascent", 0.2, 0.0, 0.4),
            ("correct", "smooth-dcg", -0.3, -0.3, -0.3),
        )
    ]
    ends = {} if ascent is None else {"random": 0.5, "smooth-dcg": 0.1, "smooth-dcg-ascent": ascent}
    curves = [
        {
            "dataset": "made",
            "panel": "" if learner == "random" else "all-labels",
            "learner": learner,
            "round": 9,
            **dict.fromkeys(("ndcg", "low", "high"), end),
        }
        for learner, end in ends.items()
    ]
    found = readings.judged("topk-smoothdcg-sign", {"topk-gaps": rows, "topk-curves": curves}, {}, tmp_path)
    assert found.status == status
    assert ("direction of the step" in found.explanation) == (ascent == 0.72)


@pytest.mark.parametrize(
    ("dataset", "ends", "found"),
    [
        ("Yahoo-set1", {}, ("verified", "not-run")),
        ("Yahoo-set1", {"kl": 0.76}, ("refuted", "not-run")),
        ("Yahoo-set1", {"squared": 0.6}, ("refuted", "not-run")),  # closer to random order than to ListNet
        ("MQ2008", {}, ("not-run", "answered")),
        ("MQ2008", {"kl": 0.745}, ("not-run", "answered")),
        ("MQ2008", {"squared": 0.6}, ("not-run", "answered")),
    ],
)
def test_figure_1_is_judged_on_the_data_sets_of_the_paper_and_asked_on_others(tmp_path, dataset, ends, found):
    ends = {**ENDS, "smooth-dcg-ascent": 0.72, **ends}
    curves = {
        ("" if name in figure.WITHOUT_PANEL else "as-printed", name): [np.array([end]), np.array([end + 1e-6])]
        for name, end in ends.items()
    }
    tables = {"topk-gaps": figure.gaps(dataset, curves)}
    judgements = [readings.judged(claim, tables, {}, tmp_path) for claim in ("topk-fig1", "topk-fig1-order")]
    assert tuple(one.status for one in judgements) == found
    for one in judgements:
        if one.status in ("verified", "answered"):
            assert not one.severity.missed
    [said] = [one.explanation for one in judgements if one.status != "not-run"]
    assert ("KL ends above RankSVM" in said) == (found[1] == "answered" and ends["kl"] > ends["ranksvm"])
    assert ("closer to random order than" in said) == (found[1] == "answered" and ends["squared"] < 0.62)


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
