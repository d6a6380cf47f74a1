"""Does the search reach the worst gap?"""

import numpy as np
import pytest

from pipeline_lib.papers.twolayer import risks
from pipeline_lib.papers.twolayer.gaps import experiment as gaps
from pipeline_lib.papers.twolayer.gaps import worst_gaps
from pipeline_lib.papers.twolayer.gaps.experiment import GapsSettings
from pipeline_lib.theory import pair_losses
from tests.papers.jobs import Given
from tests.papers.twolayer.test_gaps import SMALL

LOSSES = ("hinge", "logistic", "exponential")


@pytest.mark.parametrize("name", LOSSES)
def test_pairs_have_the_risk_of_the_sample_and_its_gradient(name):
    population = risks.population(SMALL["population"])
    data, loss = population.draw(7, np.random.default_rng(0), 5), pair_losses.get(name)
    pairs = worst_gaps.Pairs.of_sample(data)
    w = np.array([0.3, -0.2, 0.1])
    value, slope = pairs.risk(loss, w)
    equal = 1.0 - len(pairs.differences) / 70
    assert value + equal * loss.at_zero == pytest.approx(risks.empirical(data, loss, w))
    for j, direction in enumerate(np.eye(3) * 1e-6):
        ends = [pairs.risk(loss, w + sign * direction)[0] for sign in (1, -1)]
        assert slope[j] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-8)


def test_the_search_comes_as_far_as_a_grid():
    population = risks.population({**SMALL["population"], "features": 2})
    asked, rng = GapsSettings.parse({**SMALL, "steps": 60}), np.random.default_rng(3)
    expected = worst_gaps.Pairs.of_sample(population.draw(300, rng, 2))
    angles = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    points = [asked.radius * r * np.array([np.cos(a), np.sin(a)]) for r in (0.3, 0.6, 1.0) for a in angles]
    for name in ("hinge", "logistic"):
        loss, data = pair_losses.get(name), population.draw(5, rng, 4)
        sample = worst_gaps.Pairs.of_sample(data)

        def gap(w, loss=loss, sample=sample):
            return expected.risk(loss, w)[0] - sample.risk(loss, w)[0]

        starts = worst_gaps.starts(risks.fitted(data, loss, asked.radius)[0], asked.radius, asked.searches, rng)
        worst = worst_gaps.search(loss, expected, sample, starts, asked.radius, asked.steps)
        assert np.linalg.norm(worst) <= asked.radius * (1 + 1e-12)
        assert gap(worst) >= max(map(gap, points)) - 0.01


def test_the_worst_gap_is_at_least_that_of_the_trained_ranker():
    rows = list(gaps.search(Given(GapsSettings.parse(SMALL), 1)))
    assert [(row.loss, row.queries, row.documents) for row in rows] == [("hinge", 6, 4), ("logistic", 6, 4)]
    for row in rows:
        assert row.worst.value > row.gap.value
        assert row.worst_largest >= row.gap_largest
        assert row.worst_largest < row.bound
