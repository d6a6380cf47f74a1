"""Random features are close to their kernel, come back from their seed, and let linear learners bend."""

import numpy as np
import pytest

from pipeline_lib import metrics
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import kernel
from pipeline_lib.learners.features import fitted
from pipeline_lib.learners.kernel import RandomFourier
from tests.samples import unrelated

GAUSSIAN = {"kernel": "gaussian", "components": 200, "bandwidth": "median"}


def ring(seed: int) -> RankingData:
    """Relevant inside a ring: no linear ranker orders it."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (600, 2))
    distance = np.linalg.norm(X, axis=1)
    return RankingData.from_arrays(X, ((distance > 0.4) & (distance < 0.7)).astype(int), np.repeat(np.arange(40), 15))


def error(components: int) -> float:
    """Root mean square difference to the kernel, over pairs of documents and draws."""
    data = unrelated(4, 10)
    X = data.X64
    exact = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * 1.5**2))
    squares = []
    for seed in range(20):
        z = RandomFourier(3, components, 1.5, (seed,)).apply(data).X64
        squares.append(np.mean((z @ z.T - exact) ** 2))
    return float(np.sqrt(np.mean(squares)))


def test_the_error_falls_as_one_over_the_root_of_the_components():
    sizes = [50, 200, 800, 3200]
    slope = np.polyfit(np.log(sizes), np.log([error(size) for size in sizes]), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.05)


def test_the_median_bandwidth_is_the_median_distance():
    data = unrelated(n=5)
    X = data.X64
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)[np.triu_indices(len(X), 1)]
    assert kernel.median_distance(data, (1,)) == pytest.approx(np.median(distances))


def test_a_model_scores_what_the_learner_saw_up_to_the_single_precision_in_which_it_is_stored():
    data = unrelated()
    features = fitted(GAUSSIAN, data, (3, "fold", 1))
    model = features.model(np.random.default_rng(0).standard_normal(200))
    np.testing.assert_allclose(model.predict(data), features.apply(data).X64 @ model.w, atol=1e-4)


def test_a_score_does_not_depend_on_where_a_document_stands(monkeypatch):
    data = unrelated()
    model = fitted(GAUSSIAN, data, 0).model(np.ones(200))
    whole = model.predict(data)
    monkeypatch.setattr(kernel, "ROWS_AT_ONCE", 7)
    np.testing.assert_array_equal(model.predict(data), whole)
    np.testing.assert_array_equal(model.predict(data.take([4])), whole[data.offsets[4] : data.offsets[5]])


@pytest.mark.parametrize("learner", ["erm", "ogd"])
def test_a_kernel_ranks_what_no_line_can(learner):
    from pipeline_lib import learners

    settings = {"surrogate": "listnet", "selection": "ndcg@10"}
    settings |= {"l2": [1e-4, 1e-2]} if learner == "erm" else {"step": [1.0, 10.0], "passes": 20}
    train, validation, test = ring(1), ring(2), ring(3)
    quality = {}
    for features in ("standardised", "kernel"):
        chosen = {**settings, "features": GAUSSIAN if features == "kernel" else features}
        model = learners.get(learner).train(train, validation, chosen, 5).model
        quality[features] = metrics.average_precision(model.predict(test), test.y, test.offsets).mean()
    assert quality["kernel"] > quality["standardised"] + 0.2


def test_standardised_and_raw_are_linear():
    data = unrelated()
    w = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(fitted("raw", data, 0).model(w).predict(data), data.X64 @ w, atol=1e-12)
    standard = fitted("standardised", data, 0)
    np.testing.assert_allclose(standard.model(w).predict(data), standard.apply(data).X64 @ w, atol=1e-5)


def test_wrong_features_are_refused():
    with pytest.raises(DataError, match="X: expected 3 features, found 2"):
        RandomFourier(3, 5, 1.0, (0,)).apply(unrelated(d=2))
    same = RankingData.from_arrays(np.zeros((3, 2)), [0, 1, 0], [1, 1, 1])
    with pytest.raises(DataError, match=r"bandwidth: expected .*found 'mean'"):
        RandomFourier.of(unrelated(), 5, "mean", 0)
    with pytest.raises(DataError, match="median distance between documents is 0"):
        RandomFourier.of(same, 5, "median", 0)
    with pytest.raises(ConfigurationError, match="features: expected 'standardised', 'raw' or the keys"):
        fitted({"kernel": "gaussian"}, unrelated(), 0)
    with pytest.raises(DataError, match=r"w: expected .*\(5,\)"):
        fitted({"kernel": "gaussian", "components": 5, "bandwidth": 1.0}, unrelated(), 0).model(np.zeros(4))


def test_the_median_distance_is_that_of_the_features_of_which_the_random_ones_are_made() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3)) * [1.0, 100.0, 0.01]
    train = RankingData.from_arrays(X, np.arange(60) % 2, np.repeat(np.arange(6), 10))
    found = fitted(GAUSSIAN, train, 3)
    assert found.standard is not None
    assert found.random is not None
    assert found.random.bandwidth == pytest.approx(kernel.median_distance(found.standard.apply(train), (3,)))
