"""Does RankSVM give on MQ2008 what was published for it?

The values are those of RankSVM-struct on fold 1 in the LETOR 4.0 results: MAP .4502, MeanNDCG .4577, with C = 10 in
1/2 ||w||^2 + (C/n) sum over queries of the sum of pair hinges. The data's terms of use keep them out of the repository.
"""

import pytest

from pipeline_lib import metrics
from pipeline_lib.learners import erm
from pipeline_lib.learners.models import LinearModel


def test_fold_one(mq2008):
    train, test = mq2008("S1", "S2", "S3"), mq2008("S5")
    result = erm.fit(train, "ranksvm", l2=0.1)
    assert result.certified
    assert result.relative_gap <= 1e-6
    found = metrics.letor4(LinearModel.of(result.w).predict(test), test.y, test.offsets)
    assert (found["map"], found["mean_ndcg"]) == pytest.approx((0.4502, 0.4577), abs=0.004)
