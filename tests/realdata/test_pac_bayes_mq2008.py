"""Does the page on certificates by training queries say of MQ2008 what is found there?"""

import re
from pathlib import Path

import pytest

from pipeline_lib import evaluation, learners

PAGE = Path(__file__).parents[2] / "docs/certifying-from-training-data.md"


def test_the_limits_of_the_page_are_those_of_fold_one(mq2008) -> None:
    said = PAGE.read_text(encoding="utf-8").partition("## What it is worth")[2].partition("## ")[0]
    equal, trained, randomised, lower, of_weak, lower_of_weak, held_out = map(float, re.findall(r"0\.\d{3}", said))
    train, test = mq2008("Fold1/train"), mq2008("Fold1/test")
    assert (train.n_queries, test.n_queries) == (471, 156)
    rankers = {l2: learners.create("erm", surrogate="ranksvm", l2=l2).fit(train) for l2 in (0.1, 1.0, 10.0, 100.0)}
    found = {
        l2: evaluation.certify_training(ranker, train, "ndcg@10", level=1 - 0.05 / len(rankers))
        for l2, ranker in rankers.items()
    }
    best = found[100.0]
    assert max(found.values(), key=lambda one: one.lower) is best
    assert (best.equal, best.trained, best.mean) == pytest.approx((equal, trained, randomised), abs=1e-3)
    assert (best.lower, found[0.1].lower) == pytest.approx((lower, lower_of_weak), abs=1e-3)
    assert found[0.1].mean == pytest.approx(of_weak, abs=1e-3)
    assert best.strength == found[0.1].strength  # so that noise is the same share of the weights
    assert best.informative
    assert not found[0.1].informative
    assert evaluation.certify((rankers[100.0], test)).lower[0] == pytest.approx(held_out, abs=1e-3)
