"""Is the regret of the games on label laws what exact computation says it is, and are the claims judged by it?"""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from pipeline_lib.core.seeds import generator
from pipeline_lib.papers.topk.labels import experiment as labels
from pipeline_lib.theory import partial_labels
from tests import readings
from tests.papers.jobs import tables
from tests.small_settings import small

SETTINGS = small("topk", "labels", grades=[2], played_grades=[2], seeds=4, leader_seeds=50)


@pytest.mark.parametrize(("m", "grades", "k"), [(3, 2, 1), (3, 2, 2), (3, 3, 2), (4, 2, 3), (3, 3, 3)])
def test_the_estimate_is_unbiased_for_what_k_labels_determine(m: int, grades: int, k: int) -> None:
    game = labels.Game(m, grades, k, labels.PAIR, labels.UNBIASED)
    vectors = partial_labels.label_vectors(m, grades)
    values = partial_labels.relevances(m, grades)
    centred = values - values.mean(axis=1, keepdims=True)
    expected = partial_labels.split(centred, m, grades, k)[0]
    subsets = list(itertools.combinations(range(m), k))
    estimates = [labels.estimate(game, documents) for documents in subsets]
    np.testing.assert_allclose(np.mean(estimates, axis=0), expected, atol=1e-12)
    if partial_labels.learnable(m, grades, k):
        np.testing.assert_allclose(expected, centred, atol=1e-12)
    for documents, estimate in zip(subsets, estimates, strict=True):
        # The estimate depends on the labels that are seen alone.
        for seen in itertools.product(range(grades), repeat=k):
            rows = (vectors[:, documents] == seen).all(axis=1)
            np.testing.assert_allclose(estimate[rows], estimate[rows][0] * np.ones((rows.sum(), 1)), atol=1e-12)


def test_rounds_of_exploration_have_the_stated_probability() -> None:
    T = 64_000
    counts = [len(labels.explorations(np.random.default_rng(seed), T)) for seed in range(200)]
    assert np.mean(counts) == pytest.approx(T ** (2 / 3), rel=0.01)
    times = labels.explorations(np.random.default_rng(0), T)
    assert times.min() >= 0
    assert times.max() < T
    assert (np.diff(times) > 0).all()


def test_a_game_by_hand() -> None:
    """Every round played one by one, with the same random numbers."""
    game, T, axes = labels.Game(3, 2, 2, labels.PAIR, labels.UNBIASED), 2000, (5, 0, 1)
    law = labels.laws_of(game, T)[1]
    values = partial_labels.relevances(3, 2)
    relevance = law @ values
    discounts = 1 / np.log2([2, 3, 4])
    best = max(relevance[list(order)] @ discounts for order in itertools.permutations(range(3)))
    random = generator(5, "topk-labels", *game, 1, 0, T)
    times = set(labels.explorations(random, T).tolist())
    drawn = iter(random.choice(len(law), size=len(times), p=law).tolist())
    orders = iter(random.permuted(np.tile(np.arange(3), (len(times), 1)), axis=1).tolist())
    estimate, regret = np.zeros(3), 0.0
    for t in range(T):
        if t in times:
            y, shown = next(drawn), next(orders)
            estimate += labels.estimate(game, tuple(sorted(shown[:2])))[y]
            regret += best - relevance.mean() * discounts.sum()
        else:
            regret += best - relevance[np.argsort(-estimate, kind="stable")] @ discounts
    assert labels.regret(game, law, T, axes) == pytest.approx(regret, rel=1e-9)


def test_rows_and_their_limits() -> None:
    laws = list(labels.laws(SETTINGS))
    assert [(row.m, row.k, row.learnable) for row in laws] == [
        (2, 1, True), (2, 2, True), (3, 1, False), (3, 2, True), (3, 3, True)
    ]  # fmt: skip
    assert all((row.linear_rate > 1e-3) != row.learnable for row in laws)
    found = list(labels.games(SETTINGS, 1))
    assert found == list(labels.games(SETTINGS, 1))
    slope = {(row.k, row.law, row.learner): row.slope.value for row in found if isinstance(row, labels.Growth)}
    assert slope[1, labels.PAIR, labels.UNBIASED] > 0.85 > slope[3, labels.PAIR, labels.UNBIASED]


def test_the_leader_with_all_labels_round_by_round() -> None:
    """The regret of every block of rounds between changes of the order, with the same random numbers."""
    game, T = labels.Game(3, 2, 3, labels.PAIR, labels.ALL_LABELS), 11
    law = labels.laws_of(game, T)[0]
    values = partial_labels.relevances(3, 2)
    relevance, discounts = law @ values, 1 / np.log2([2, 3, 4])
    best = max(relevance[list(order)] @ discounts for order in itertools.permutations(range(3)))
    found = labels.of_leader(game, law, T, SETTINGS.leader_seeds, (5, 0))
    random = generator(5, "topk-labels", *game, 0, T)
    seen, lost = np.zeros((50, 8)), np.zeros(50)
    for length in (1, 1, 2, 4, 3):
        for i in range(50):
            estimate = seen[i] @ values
            lost[i] += length * (best - relevance[np.argsort(-estimate, kind="stable")] @ discounts)
        seen += random.multinomial(length, law, size=50)
    np.testing.assert_allclose(found, lost, atol=1e-12)


def test_laws_of_near_ties_come_together_and_disagree() -> None:
    game = labels.Game(3, 3, 3, labels.NEAR_TIE, labels.ALL_LABELS)
    values = partial_labels.relevances(3, 3)
    gaps = []
    for T in (10_000, 1_000_000):
        p, q = (law @ values for law in labels.laws_of(game, T))
        assert (p[0] - p[1]) * (q[0] - q[1]) < 0
        gaps.append(abs(p[0] - p[1]))
    assert gaps[0] == pytest.approx(10 * gaps[1])


@pytest.fixture(scope="module")
def found() -> tuple[dict[str, Any], dict[str, Any]]:
    lists = {"documents": (2, 3, 4), "grades": (2, 3), "vectors": 81}
    games = {"estimated": (2, 3), "seeds": 20, "rounds": (10**4, 10**5, 10**6)}
    settings = SETTINGS.model_copy(update={**lists, **games})
    return tables([*labels.laws(settings), *labels.targets(settings), *labels.squared(settings, 1)]), settings.plain()


@pytest.mark.parametrize(
    "claim",
    [
        "topk-more-labels",
        "topk-label-phases",
        "topk-squared-loss",
        "topk-centred-loss",
        "topk-label-targets",
        "topk-label-auc",
    ],
)
def test_what_labels_determine_is_verified_and_near_misses_are_caught(tmp_path, found, claim: str) -> None:
    assert readings.decided(claim, *found, tmp_path) == ("verified", [])


def test_auc_is_the_share_of_pairs_in_the_right_order() -> None:
    vectors = list(itertools.product((0, 1), repeat=4))
    found = labels.auc(np.tile([4.0, 3.0, 2.0, 1.0], 16), np.array(vectors).ravel(), np.arange(0, 65, 4))
    for y, value in zip(vectors, found, strict=True):
        pairs = [i < j for i in range(4) for j in range(4) if y[i] > y[j]]
        assert value == pytest.approx(np.mean(pairs) if pairs else 0.0)


def test_all_binary_labels_but_one_leave_the_parity_of_a_relevance_open() -> None:
    """The part of G(y_1)/Z that is orthogonal to all functions of m - 1 labels, by the formula of the proof."""
    settings = SETTINGS.model_copy(update={"documents": (2, 3, 4, 5), "vectors": 32})
    found = {
        row.m: row.unseen for row in labels.targets(settings) if row.target == labels.RELEVANCE and row.k == row.m - 1
    }
    for m, unseen in found.items():
        sums = np.cumsum(1 / np.log2(np.arange(2, m + 2)))
        parity = sum((-1) ** j * math.comb(m - 1, j) / sums[j] for j in range(m))
        assert unseen == pytest.approx(parity / 2**m, rel=1e-12)


def test_the_regret_in_a_squared_loss_round_by_round() -> None:
    game, T, axes = labels.Game(3, 2, 2, labels.PAIR, labels.RELEVANCE), 800, (5, 0, 1)
    law = np.array([0.1, 0.05, 0.2, 0.15, 0.05, 0.1, 0.3, 0.05])
    mean = law @ partial_labels.relevances(3, 2)
    random = generator(5, "topk-labels", *game, 1, 0, T)
    times = set(labels.explorations(random, T).tolist())
    drawn = iter(random.choice(len(law), size=len(times), p=law).tolist())
    orders = iter(random.permuted(np.tile(np.arange(3), (len(times), 1)), axis=1).tolist())
    total, seen, regret, learned = np.zeros(3), 0, 0.0, 0.0
    points = (np.arange(1000) + 0.5) / 1000
    for t in range(T):
        excess = np.sum((total / max(seen, 1) - mean) ** 2)
        learned += excess
        if t in times:
            total, seen = total + labels.estimate(game, tuple(sorted(next(orders)[:2])))[next(drawn)], seen + 1
            regret += sum(np.mean((points - a) ** 2) for a in mean)
        else:
            regret += excess
    assert labels.squared_regret(game, law, T, axes) == pytest.approx((regret, learned), rel=1e-6)


def test_exploring_first_comes_near_to_the_regret_that_no_learner_falls_below() -> None:
    for row in labels.explored(labels.LabelsSettings(explored_rounds=(1000, 10**6))):
        assert row.lower_bound <= row.regret < 2.0 * row.lower_bound
        assert row.distance == pytest.approx(partial_labels.near_ties(row.m, row.T).distance)


def test_near_ties_have_the_relevances_of_their_laws() -> None:
    near = partial_labels.near_ties(4, 1000)
    vectors = partial_labels.label_vectors(4, 2)
    law = np.array([_probability(labels_, near.distance) for labels_ in vectors])
    assert law.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(law @ partial_labels.relevances(4, 2), near.relevances, atol=1e-12)


def _probability(y: np.ndarray, eps: float) -> float:
    if y[0] + y[1] != 1 or y[3] == 0:
        return 0.0
    return 0.5 * (0.5 + (eps if y[2] == y[1] else -eps))
