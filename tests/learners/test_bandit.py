"""Is the compiled loop bandit gradient descent, and do its parameters bound what they are meant to bound?"""

import math

import numpy as np
import pytest

from pipeline_lib import metrics, surrogates
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.seeds import generator
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import bandit, loss_ranges
from tests.learners.test_top_k_feedback import SplitMix64, drawn


@pytest.mark.parametrize("name", ["squared", "kl", "ranksvm", "listnet", "squared-ndcg"])
def test_the_compiled_loop_is_the_algorithm(name: str) -> None:
    data, loss, rounds = drawn(3, n=6), surrogates.create(name), 60
    step, delta, radius = 0.01, 0.3, 1.5
    order = np.random.default_rng(0).integers(0, 6, size=rounds)
    found = bandit.run(data, name, rounds, step, delta, radius, seed=5, order=order, checkpoints=[20, rounds])
    uniform = SplitMix64(int(generator(5).integers(0, 2**64, size=1, dtype=np.uint64)[0]))
    w, shown, own, norms, qualities = np.zeros(4), [], [], [], []
    for q in order:
        rows = slice(data.offsets[q], data.offsets[q + 1])
        X, y = data.X64[rows], data.y[rows]
        u = []
        for _ in range(4):
            size = math.sqrt(-2 * math.log(1 - uniform()))
            u.append(size * math.cos(2 * math.pi * uniform()))
        u = np.array(u) / np.linalg.norm(u)
        played = w + delta * u
        value = float(loss.value(X @ played, y, [0, len(y)])[0])
        own.append(float(loss.value(X @ w, y, [0, len(y)])[0]))
        shown.append(value)
        norms.append((4 / delta * value) ** 2)
        if y.any():
            qualities.append(metrics.ndcg(X @ played, y, [0, len(y)], k=10)[0])
        w = w - step * value * u
        w *= min(1.0, (radius - delta) / np.linalg.norm(w))
    np.testing.assert_allclose(found.w, w, rtol=1e-7)
    assert found.losses[-1] == pytest.approx(np.mean(shown), rel=1e-6)
    assert found.own_losses[-1] == pytest.approx(np.mean(own), rel=1e-6)
    assert found.squared_norms[-1] == pytest.approx(np.mean(norms), rel=1e-6)
    assert found.ndcg[-1] == pytest.approx(np.mean(qualities), rel=1e-6)
    assert found.losses[0] == pytest.approx(np.mean(shown[:20]), rel=1e-6)


@pytest.mark.parametrize("name", loss_ranges.KNOWN)
def test_no_weights_in_the_ball_exceed_the_largest_loss_and_slope(name: str) -> None:
    data, loss, rng, radius = drawn(4, n=8), surrogates.create(name), np.random.default_rng(1), 2.0
    largest, steepest = loss_ranges.largest(data, name, radius), loss_ranges.steepest(data, name, radius)
    for _ in range(30):
        w = rng.normal(size=4)
        w *= radius * rng.random() ** 0.25 / np.linalg.norm(w)
        s = data.X64 @ w
        assert (loss.value(s, data.y, data.offsets) <= largest + 1e-12).all()
        slopes = loss.gradient(s, data.y, data.offsets)
        lengths = [
            np.linalg.norm(slopes[i:j] @ data.X64[i:j]) for i, j in zip(data.offsets, data.offsets[1:], strict=False)
        ]
        assert (np.array(lengths) <= steepest + 1e-12).all()


def test_the_parameters_of_the_theorem_by_hand() -> None:
    # One document with x = 1 and label 1, ||w|| <= 1: the squared loss is at most C = 4, its slope at most L = 4.
    data = RankingData.from_arrays([[1.0]], [1], [1])
    found = bandit.theorem_parameters(data, "squared", 1.0, 10_000)
    assert found.step == pytest.approx(1 / (4 * 100))
    assert found.delta == pytest.approx(0.1 * math.sqrt(4 / (3 * (4 + 4))))
    assert found.bound == pytest.approx(2 * 1000 * math.sqrt(3 * 4 * (4 + 4)))


def test_few_rounds_have_no_bound() -> None:
    data = RankingData.from_arrays(np.eye(50), [1] * 50, [1] * 50)
    found = bandit.theorem_parameters(data, "squared", 1.0, 2)
    assert (found.delta, found.bound) == (0.5, math.inf)


def test_what_cannot_be_played_is_refused() -> None:
    one, featureless = (RankingData.from_arrays(np.ones((1, d)), [1], [1]) for d in (1, 0))
    for call, words in (
        (lambda: bandit.run(one, "squared", 10, 0.1, 2.0, 2.0), "delta"),
        (lambda: bandit.run(featureless, "squared", 10, 0.1, 0.1, 2.0), "at least one feature"),
        (lambda: loss_ranges.largest(one, "listnet", 1.0), "surrogate"),
        (lambda: bandit.theorem_parameters(one, "ranksvm", 1.0, 100), "not 0 everywhere"),
    ):
        with pytest.raises(DataError, match=words):
            call()
