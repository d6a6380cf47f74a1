"""Does every convex surrogate reach its certified gap on real documents?"""

import pytest

from pipeline_lib import surrogates
from pipeline_lib.data.ranking_data import RankingData, Standardisation
from pipeline_lib.learners import erm

QUICK = [name for name in surrogates.NAMES if surrogates.create(name).convex and name != "structured-ndcg"]


@pytest.fixture(scope="module")
def train(mq2008) -> RankingData:
    data = mq2008("Fold1/train")
    return Standardisation.of(data).apply(data)


def check(fit: erm.Fit) -> None:
    assert fit.certified, fit.reason
    assert fit.relative_gap <= 1e-6


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize(("l2", "radius"), [(1e-2, None), pytest.param(0.0, 1.0, marks=pytest.mark.slow)])
def test_certified(name, l2, radius, train):
    check(erm.fit(train, name, l2=l2, radius=radius))


@pytest.mark.slow
@pytest.mark.parametrize("l2", [1e-1, 1e-3])
def test_structured_ndcg_is_certified(l2, train):
    # Its minimum is a corner at w = 0 with hundreds of planes through it.
    check(erm.fit(train, "structured-ndcg", l2=l2))
