"""Do gaps on subsamples of real queries stay below the bounds, with certified minimisers?"""

import numpy as np
import pytest

from pipeline_lib.papers.lists.real.experiment import RealSettings, measure
from tests.papers.jobs import Given

ASKED = RealSettings.parse(
    {
        "queries": [25, 200],
        "lengths": [10],
        "repetitions": 5,
        "radius": 10.0,
        "tol": 1e-4,
        "ascent_steps": 5,
        "delta": 0.05,
        "losses": [
            {"name": "listnet", "surrogate": "listnet", "options": {}},
            {"name": "ranksvm", "surrogate": "ranksvm", "options": {"normalisation": "mean"}},
        ],
    }
)


@pytest.fixture(scope="module")
def rows(mq2008):
    return list(measure(Given(ASKED, 1, data={"MQ2008": mq2008("Fold1/train")})))


def test_minimisers_are_certified_and_gaps_bounded(rows):
    assert len(rows) == 20 * 4
    assert all(row.certified_gap <= 1e-4 for row in rows if row.learner in ("erm", "rerm"))
    assert all(row.gap < row.bound for row in rows)


def test_excess_risks_are_below_their_bounds_and_the_worst_gap_is_above_the_minimiser(rows):
    assert all(row.excess <= row.excess_bound for row in rows if row.learner != "worst")
    for loss in ("listnet", "ranksvm"):
        mine = [row for row in rows if row.loss == loss and row.n == 25]
        least, worst = (np.mean([row.gap for row in mine if row.learner == name]) for name in ("erm", "worst"))
        assert worst > least


def test_gaps_fall_with_more_queries(rows):
    for loss in ("listnet", "ranksvm"):
        few, many = ([row.gap for row in rows if (row.loss, row.n, row.learner) == (loss, n, "erm")] for n in (25, 200))
        assert np.mean(many) < np.mean(few)
