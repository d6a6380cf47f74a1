"""Weighted queries: the same as repeating them, for every kind of solver."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pipeline_lib import surrogates
from pipeline_lib.errors import DataError
from pipeline_lib.learners import erm, weighting
from pipeline_lib.ranking_data import RankingData

COUNTS = [2, 0, 1, 5, 3, 1]


def drawn(d: int = 3) -> RankingData:
    rng = np.random.default_rng(4)
    sizes = np.array([4, 3, 5, 2, 6, 4])
    X = rng.standard_normal((sizes.sum(), d))
    y = np.clip(np.floor(X[:, 0] + rng.standard_normal(len(X))), 0, 2).astype(int)
    return RankingData.from_arrays(X, y, np.repeat(np.arange(6), sizes))


@pytest.mark.parametrize("name", ["listnet", "squared", "ranksvm", "slam-ndcg", "structured-ndcg"])
@pytest.mark.parametrize("where", [{"l2": 0.1}, {"l2": 0.0, "radius": 0.5}, {"l2": 0.0, "radius": 0.5, "ball": "l1"}])
def test_a_weight_is_a_number_of_copies(name, where):
    data = drawn()
    weighted = erm.fit(data, name, weights=COUNTS, tol=1e-8, **where)
    repeated = erm.fit(data.take(np.repeat(np.arange(6), COUNTS)), name, tol=1e-8, **where)
    assert weighted.certified
    assert repeated.certified
    assert weighted.objective == pytest.approx(repeated.objective, rel=3e-8)


@pytest.mark.parametrize("name", ["ranksvm", "slam-ndcg", "structured-ndcg", "svm-map"])
def test_the_method_for_many_features_weights_queries_as_well(name):
    data = drawn(40)
    weighted = erm.fit(data, name, l2=0.1, weights=COUNTS)
    repeated = erm.fit(data.take(np.repeat(np.arange(6), COUNTS)), name, l2=0.1)
    assert weighted.certificate == repeated.certificate
    assert weighted.objective == pytest.approx(repeated.objective, rel=3e-6)


@pytest.mark.parametrize("name", surrogates.NAMES)
def test_values_and_gradients_of_every_surrogate(name):
    data, loss = drawn(), surrogates.create(name)
    counts = np.array([2.0, 0.5, 1.0, 5.0, 3.0, 1.0])
    c = counts / counts.mean()
    labels = np.minimum(data.y, 1)
    scores = data.X64 @ np.arange(3.0)
    heavier = weighting.weighted(loss, counts)
    values, gradient = loss.value_and_gradient(scores, labels, data.offsets)
    np.testing.assert_allclose(heavier.value(scores, labels, data.offsets), c * values)
    documents = np.repeat(c, np.diff(data.offsets))
    np.testing.assert_allclose(heavier.gradient(scores, labels, data.offsets), documents * gradient)
    assert (heavier.convex, heavier.smooth, heavier.name) == (loss.convex, loss.smooth, loss.name)


def test_a_loss_that_is_not_convex_can_be_weighted():
    data = drawn()
    fit = erm.fit(data, "smooth-dcg", l2=0.0, radius=1.0, weights=COUNTS)
    assert fit.certificate == "local"


@pytest.mark.parametrize("wrong", [[1.0], [-1.0] + 5 * [1.0], [math.nan] + 5 * [1.0], 6 * [0.0]])
def test_wrong_weights_are_refused(wrong):
    with pytest.raises(DataError, match="weights"):
        erm.fit(drawn(), "listnet", l2=1.0, weights=wrong)
