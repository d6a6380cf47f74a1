"""Do control rankers and models do what their names say?"""

import numpy as np
import pytest

from pipeline_lib import RankingData, learners, metrics
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.learners import models


@pytest.fixture
def data():
    X = np.array([[0.0, 3.0, 1.0], [1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [5.0, 9.0, 5.0], [4.0, 9.0, 4.0]])
    return RankingData.from_arrays(X, [2, 1, 0, 1, 0], [3, 3, 3, 8, 8])


def test_ideal(data):
    model = learners.get("ideal").train(data, data, {}, 0).model
    np.testing.assert_array_equal(model.predict(data), data.y)


def test_random_depends_on_seed_and_queries_only(data):
    model = learners.get("random").train(data, data, {}, (5, "fold", 1)).model
    first = model.predict(data)
    model.predict(data.take([1]))
    np.testing.assert_array_equal(model.predict(data), first)
    assert not np.array_equal(learners.get("random").train(data, data, {}, 6).model.predict(data), first)
    renamed = RankingData.from_arrays(data.X, data.y, [3, 3, 3, 9, 9])
    assert not np.array_equal(model.predict(renamed), first)
    assert first.shape == (5,)
    assert 0.0 <= first.min() <= first.max() < 1.0


@pytest.mark.parametrize(
    ("X", "feature", "sign"),
    [
        # Feature 1 ranks the first query right and ties the second, feature 2 ranks both right.
        ([[1.0, 0.0, 0.0], [2.0, 3.0, 2.0], [0.0, 2.0, 1.0], [5.0, 9.0, 1.0], [4.0, 9.0, 3.0]], 2, 1),
        ([[0.0, 0.0, 0.0], [0.0, 2.0, 2.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 1.0, 1.0]], 1, 1),  # the first
        ([[1.0], [0.0], [0.0], [1.0], [0.0]], 0, -1),
    ],
)
def test_best_feature(X, feature, sign):
    data = RankingData.from_arrays(X, [0, 2, 1, 0, 1], [3, 3, 3, 8, 8])
    trained = learners.get("best-feature").train(data, data, {"selection": "map"}, 0)
    assert trained.record == {"feature": feature, "sign": sign, "value": 1.0}
    np.testing.assert_array_equal(trained.model.predict(data), sign * data.X64[:, feature])


def test_the_order_of_the_file_is_that_of_a_ranker_without_weights(data):
    trained = learners.get("file-order").train(data, data, {}, 0)
    np.testing.assert_array_equal(trained.model.predict(data), np.zeros(5))
    rows = RankingData.from_arrays([[0.0], [1.0]], [1, 0], [1, 1])
    listed = learners.get("file-order").train(rows, rows, {}, 0).model.predict(rows)
    assert metrics.ndcg(listed, rows.y, rows.offsets).tolist() == [1.0]


def test_equal_documents_have_equal_scores():
    rng = np.random.default_rng(0)
    row, w = rng.normal(size=47), rng.normal(size=47)
    X = np.tile(row, (101, 1))
    X[::7] = rng.normal(size=(15, 47))
    same = RankingData.from_arrays(X, np.zeros(101), np.zeros(101))
    scores = models.LinearModel.of(w, 0.1 * w, np.abs(w) + 1).predict(same)
    assert len(np.unique(np.delete(scores, np.arange(0, 101, 7)))) == 1


def test_wrong_models_are_refused(data):
    with pytest.raises(ConfigurationError, match="did you mean 'linear'"):
        models.from_dict({"kind": "linaer"})
    with pytest.raises(ConfigurationError, match="fields"):
        models.from_dict({"kind": "linear", "w": [1.0]})
    for w, scale in (([1.0, np.nan], [1.0, 1.0]), ([1.0, 1.0], [1.0, 0.0]), ([1.0, 1.0], [1.0])):
        with pytest.raises(DataError):
            models.LinearModel.of(w, None, scale)
    with pytest.raises(DataError, match="features"):
        models.LinearModel.of([1.0]).predict(data)


def test_the_best_feature_is_that_of_the_training_part():
    train = RankingData.from_arrays([[0.0, 1.0], [1.0, 0.0]], [0, 1], [1, 1])
    validation = RankingData.from_arrays([[1.0, 0.0], [0.0, 1.0]], [0, 1], [1, 1])
    trained = learners.get("best-feature").train(train, validation, {"selection": "map"}, 0)
    assert trained.record == {"feature": 0, "sign": 1, "value": 1.0}
