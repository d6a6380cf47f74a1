"""Is Table 1 as published, and is the regret of the game with two adversaries what its definition says?"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from pipeline_lib.experiment import Job
from pipeline_lib.papers.topk.adversary import experiment as adversary
from tests import readings
from tests.papers.jobs import of, tables
from tests.small_settings import small


def test_excess_over_the_goal_is_the_expected_regret():
    # Three rounds of a fixed sequence of scores, all 8^3 label sequences.
    p = adversary.ADVERSARIES["p"]
    gains, scores = adversary.gains(), np.array([[0.1, 0.5, 0.2], [0.4, 0.0, 0.3], [1.0, 1.0, 1.0]])
    goal, expected = p @ gains, 0.0
    for outcome in itertools.product(range(8), repeat=3):
        seen = gains[list(outcome)]
        best = np.sum((seen - seen.mean(axis=0)) ** 2)
        expected += math.prod(p[i] for i in outcome) * (np.sum((scores - seen) ** 2) - best)
    covariance = p @ np.sum((gains - goal) ** 2, axis=1)
    assert np.sum((scores - goal) ** 2) + covariance == pytest.approx(expected)


@pytest.fixture(scope="module")
def game() -> list[adversary.Regret]:
    return of(adversary.Regret, adversary.measure(Job(small("topk", "adversary", rounds=[300, 1000, 3000]), 4)))


def test_nobody_who_sees_one_label_beats_the_limit(game):
    for row in game:
        if row.learner != adversary.FULL_INFORMATION:
            assert row.regret.value >= row.linear_limit
    [constant] = [row for row in game if (row.learner, row.T) == ("constant", 3000)]
    assert constant.regret.value == pytest.approx(constant.linear_limit, rel=0.1)


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
    for found, goal in zip(adversary.followed(goals, 0.1), goals, strict=True):
        np.testing.assert_allclose(found, s, atol=1e-12)
        s = s - 0.1 * 2.0 * (s - goal)


def test_labels_apart_have_the_mean_gains_of_such_labels():
    # sum of means 1.3: two relevant documents with chance .3, each pair equally often
    means = np.array([[0.45, 0.45, 0.4]])
    pair = 1.0 / (1.0 + 1.0 / np.log2(3.0))
    expected = [0.2 * pair + mean - 0.2 for mean in means[0]]
    np.testing.assert_allclose(adversary.apart(means)[0], expected)


def test_what_is_said_of_the_game_is_decided(tmp_path):
    # The proof lets a learner play a or b alone: whoever plays their midpoint has half of its limit.
    asked = small("topk", "adversary", rounds=[10000, 30000, 100000], seeds=20)
    found = tables(adversary.measure(Job(asked, 4)))
    for claim, status in (("table1", "verified"), ("thm52", "verified"), ("thm52-constant", "refuted")):
        assert readings.decided(f"topk-{claim}", found, asked.plain(), tmp_path) == (status, [])


# Table 1 and Theorem 5.2, by the plainest implementation

Vector = list[Any]
VECTORS = ((0, 0, 0), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1))
P = {"p": (0, 10, 15, 5, 20, 30, 20, 0), "p~": (0, 30, 0, 0, 15, 15, 40, 0)}


def shares(y: Sequence[int]) -> Vector:
    """G(y)/Z(y)."""
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, sum(y) + 1))
    return [label / ideal if label else 0.0 for label in y]


def expected(weights: Sequence[int], of: Callable[[Sequence[int]], Sequence[float]]) -> Vector:
    return [sum(w * of(y)[i] for w, y in zip(weights, VECTORS, strict=True)) / 100 for i in range(3)]


def test_table_1() -> None:
    for row in adversary.table_1():
        of = shares if row.quantity == "E[G/Z]" else list
        found = expected(P[row.adversary], of)[row.document - 1]
        assert row.measured == pytest.approx(found, abs=1e-12)
        assert round(found, 4) == row.published


def test_the_linear_limit_and_the_regret_of_the_midpoint() -> None:
    a, b = (expected(weights, shares) for weights in P.values())
    limit = sum((u - v) ** 2 for u, v in zip(a, b, strict=True)) / 4
    assert adversary.linear_limit() == pytest.approx(limit)
    asked = small("topk", "adversary", rounds=[100, 300, 1000])
    game = {(row.learner, row.T): row.regret.value for row in of(adversary.Regret, adversary.measure(Job(asked, 1)))}
    noise = 0.0  # the sum over documents of the variance of G/Z, averaged over the adversaries
    for weights, mean in zip(P.values(), (a, b), strict=True):
        for w, y in zip(weights, VECTORS, strict=True):
            noise += w / 200 * sum((g - c) ** 2 for g, c in zip(shares(y), mean, strict=True))
    for T in asked.rounds:
        assert game["constant", T] == pytest.approx(T * limit + noise)
    assert game["constant", 1000] < 1000 * 2 * limit  # the limit of the proof


def test_the_scores_of_the_leader() -> None:
    order = [1, 4, 6, 5, 2, 3, 6, 1]
    found = adversary.on_the_game(np.array(order))["leader"]
    seen: list[list[int]] = [[], [], []]
    for t, drawn in enumerate(order):
        mean = [(sum(labels) + 0.5) / (len(labels) + 1) for labels in seen]
        s = [0.0] * 3
        for y in VECTORS:
            chance = math.prod(mean[i] if y[i] else 1 - mean[i] for i in range(3))
            s = [total + chance * share for total, share in zip(s, shares(y), strict=True)]
        s[t % 3] = max(s)
        assert found[t].tolist() == pytest.approx(s)
        seen[t % 3].append(VECTORS[drawn][t % 3])
