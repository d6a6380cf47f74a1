"""Are the worst gaps of simple classes suprema, and measured with every plan?"""

import itertools
import math

import numpy as np
import pytest

from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.papers.twolayer.capacities.experiment import CapacitiesSettings, measure
from pipeline_lib.papers.twolayer.sign_rankers import Signs, even_lists
from tests.papers.jobs import Given


def test_worst_gaps_are_suprema_over_all_signs():
    asked = CapacitiesSettings.parse({"budget": 30, "capacities": [1, 3], "documents": [2], "repetitions": 40})
    share, noise, n, d = asked.turned_share, asked.noise, 4, 3
    rng = np.random.default_rng(1)
    gaps = []
    for _ in range(300):
        # Documents one by one, and all eight rankers.
        wrong = np.zeros((n, 2**d))
        weights = np.array(list(itertools.product((-1, 1), repeat=d)))
        for i in range(n):
            m = 30 // n + (i < 30 % n)
            feature, turned = rng.integers(d), rng.random() < share
            x = rng.integers(0, 2, m)
            y = np.where(rng.random(m) < noise, 1 - (x ^ turned), x ^ turned)
            for a, b in itertools.combinations(range(m), 2):
                wrong[i] += (y[a] - y[b]) * weights[:, feature] * (x[a] - x[b]) < 0
            wrong[i] /= m * (m - 1) / 2
        false, true = noise**2 / 2, (1 - noise) ** 2 / 2
        straight, opposite = (1 - share) * false + share * true, (1 - share) * true + share * false
        expected = np.where(weights == 1, straight, opposite).mean(axis=1)
        gaps.append((expected - wrong.mean(axis=0)).max())
    found = Signs(d, share, noise).worst_gaps(even_lists(30, n), 4000, np.random.default_rng(0))
    spread = math.hypot(np.std(gaps) / math.sqrt(len(gaps)), found.std() / math.sqrt(len(found)))
    assert abs(np.mean(gaps) - found.mean()) < 4 * spread


def test_every_class_is_measured_with_every_plan():
    asked = CapacitiesSettings.parse({"budget": 100, "capacities": [1, 5], "documents": [2, 10], "repetitions": 3})
    rows = list(measure(Given(asked, 1)))
    assert [(row.capacity, row.planned_for) for row in rows] == [
        (v, planned) for v in (1, 5) for planned in (1, 5, None, None)
    ]
    assert [row.queries for row in rows if row.planned_for is None] == [50, 10] * 2
    own = {row.capacity: row for row in rows if row.capacity == row.planned_for}
    for row in rows:
        assert row.bound >= own[row.capacity].bound * (1 - 1e-3)
    with pytest.raises(ConfigurationError, match="at most half the budget"):
        CapacitiesSettings.parse({"budget": 100, "documents": [2, 60]})
