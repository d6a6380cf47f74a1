"""Do ConeRank and RankBoost reach what Table 1 of `cone` prints for MQ2008, on fold 1?

The data's terms of use keep them out of the repository.
"""

import pytest

from pipeline_lib import RankingData, metrics
from pipeline_lib.learners import cone, rankboost

TOLERANCE = 0.015


@pytest.fixture(scope="module")
def fold_one(mq2008):
    """Training, validation and test part of fold 1."""
    return mq2008("S1", "S2", "S3"), mq2008("S4"), mq2008("S5")


def measured(model, test: RankingData) -> tuple[float, float]:
    """MAP and MeanNDCG of the LETOR 4.0 evaluation."""
    found = metrics.letor4(model.predict(test), test.y, test.offsets)
    return found["map"], found["mean_ndcg"]


def test_rankboost(fold_one):
    train, validation, test = fold_one
    settings = {"rounds": 300, "pairs": "alike", "selection": "letor4_mean_ndcg"}
    trained = rankboost.train(train, validation, settings, 0)
    assert measured(trained.model, test) == pytest.approx((0.467, 0.480), abs=TOLERANCE)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "published"), [("sg", (0.454, 0.464)), ("eg", (0.444, 0.456))])
def test_conerank(fold_one, method, published):
    train, validation, test = fold_one
    settings = {"basis": [10], "method": method, "passes": 30, "restarts": 2, "fold_in": "gradient"}
    trained = cone.train(train, validation, {**settings, "selection": "letor4_mean_ndcg"}, (1,))
    assert measured(trained.model, test) == pytest.approx(published, abs=TOLERANCE)
