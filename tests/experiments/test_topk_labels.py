"""Is the regret of the games on label laws what exact computation says it is, and are the claims judged by it?"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pipeline_lib.papers.topk.computations import labels
from pipeline_lib.papers.topk.experiments.labels import LabelsSettings
from pipeline_lib.theory import partial_labels

SETTINGS = LabelsSettings(documents=(2, 3), played=(3,), grades=(2,), rounds=(1000, 3000, 10000), seeds=4)


@pytest.mark.parametrize(("m", "grades", "k"), [(3, 2, 1), (3, 2, 2), (3, 3, 2), (4, 2, 3), (3, 3, 3)])
def test_the_estimate_is_unbiased_for_what_k_labels_determine(m: int, grades: int, k: int) -> None:
    game = labels.Game(m, grades, k, labels.PAIR, labels.UNBIASED)
    vectors = partial_labels.label_vectors(m, grades)
    values = partial_labels.relevances(m, grades)
    centred = values - values.mean(axis=1, keepdims=True)
    expected = partial_labels.split(centred, m, grades, k)[0]
    subsets = list(itertools.combinations(range(m), k))
    estimates = [labels._estimate(game, documents) for documents in subsets]
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
    counts = [len(labels._explorations(np.random.default_rng(seed), T)) for seed in range(200)]
    assert np.mean(counts) == pytest.approx(T ** (2 / 3), rel=0.01)
    times = labels._explorations(np.random.default_rng(0), T)
    assert times.min() >= 0
    assert times.max() < T
    assert (np.diff(times) > 0).all()


def test_a_game_by_hand() -> None:
    """Every round played one by one, with the same random numbers."""
    game, T, axes = labels.Game(3, 2, 2, labels.PAIR, labels.UNBIASED), 2000, (5, 0, 1)
    law = labels._laws(game)[1]
    values = partial_labels.relevances(3, 2)
    relevance = law @ values
    discounts = 1 / np.log2([2, 3, 4])
    best = max(relevance[list(order)] @ discounts for order in itertools.permutations(range(3)))
    random = labels.generator(5, "topk-labels", *game, 1, 0, T)
    times = set(labels._explorations(random, T).tolist())
    drawn = iter(random.choice(len(law), size=len(times), p=law).tolist())
    orders = iter(random.permuted(np.tile(np.arange(3), (len(times), 1)), axis=1).tolist())
    estimate, regret = np.zeros(3), 0.0
    for t in range(T):
        if t in times:
            y, shown = next(drawn), next(orders)
            estimate += labels._estimate(game, tuple(sorted(shown[:2])))[y]
            regret += best - relevance.mean() * discounts.sum()
        else:
            regret += best - relevance[np.argsort(-estimate, kind="stable")] @ discounts
    assert labels._regret(game, law, T, axes) == pytest.approx(regret, rel=1e-9)


def test_rows_and_their_limits() -> None:
    laws = labels.laws(SETTINGS)
    assert [(row["m"], row["k"], row["learnable"]) for row in laws] == [
        (2, 1, True), (2, 2, True), (3, 1, False), (3, 2, True), (3, 3, True)
    ]  # fmt: skip
    assert all((row["linear_rate"] > 1e-3) != row["learnable"] for row in laws)
    games = labels.games(SETTINGS, 1)
    assert games == labels.games(SETTINGS, 1)
    slope = {(row["k"], row["law"], row["learner"]): row["slope"] for row in games.exponents}
    assert slope[1, labels.PAIR, labels.UNBIASED] > 0.85 > slope[3, labels.PAIR, labels.UNBIASED]
