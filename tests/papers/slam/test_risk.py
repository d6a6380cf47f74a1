"""The excess risks of SLAM, measured and exact, are those of plain computations."""

import math
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

from pipeline_lib import surrogates
from pipeline_lib.core.seeds import generator
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.experiment import Job
from pipeline_lib.learners import erm
from pipeline_lib.papers.slam.risk import experiment as risk
from pipeline_lib.statistics import Interval
from tests import readings
from tests.papers.jobs import tables
from tests.small_settings import small

BATCH: dict[str, Any] = {"radii": [2.0], "repetitions": 4, "parts": 2, "truth": 400}


@pytest.mark.parametrize("surrogate", ["slam-map", "listnet"])
def test_the_minimiser_of_two_points_is_that_of_a_certified_solve(surrogate):
    loss, n, k = surrogates.create(surrogate), 40, 27
    X = risk.NORM * np.array([[-1.0], [1.0], [-1.0], [1.0]])
    data = RankingData.from_arrays(X, [0, 1, 1, 0], [0, 0, 1, 1])
    fit = erm.fit(data, loss, l2=0.3, radius=risk.RADIUS, tol=1e-9, weights=[k, n - k])
    [w] = risk.minimiser(loss, np.array([k / n]), 0.3, risk.RADIUS)
    assert w == pytest.approx(fit.w[0], abs=1e-4)
    mean = (k * loss.value(X[:2, 0] * w, [0, 1], [0, 2])[0] + (n - k) * loss.value(X[2:, 0] * w, [1, 0], [0, 2])[0]) / n
    assert risk.risk(loss, np.array([w]), k / n)[0] == pytest.approx(mean)


def test_the_expected_excess_of_two_points_is_that_of_simulated_samples():
    settings = small("slam", "risk", **BATCH, finite_sizes=[50, 5000])
    rows = list(risk.finite(Job(settings, 3)))
    assert all(row.excess_risk <= row.bound for row in rows)
    [row] = [row for row in rows if (row.surrogate, row.n, row.signal) == ("slam-map", 50, 1.5)]
    p, loss = (1 + 1.5 / math.sqrt(50)) / 2, surrogates.create("slam-map")
    l2 = erm.lipschitz_l2(50, radius=risk.RADIUS, lipschitz=1.0, feature_norm=risk.NORM)
    w = risk.minimiser(loss, np.random.default_rng(0).binomial(50, p, 4000) / 50, l2, risk.RADIUS)
    # Risks are linear in w: v (1 - 2 R (2 p - 1) w) with v = 1/2, least at w = B.
    slope = 2 * risk.NORM * (2 * p - 1) / 2
    assert row.excess_risk == pytest.approx(slope * (risk.RADIUS - w).mean(), rel=0.05)


def test_the_regularisation_and_the_bound_are_those_of_theorem_8(risks):
    L, B = risks[0].lipschitz, 2.0
    for row in risks:
        n = row.n
        assert row.bound == pytest.approx(2 * L * B * (8 / n + math.sqrt(2 / n)))
        assert row.l2**2 == pytest.approx(4 * L**2 / n / (B**2 / 2 + 4 * B**2 / n))


@pytest.fixture(scope="module")
def risks() -> list[risk.Excess]:
    return [row for part in (0, 1) for row in measured(BATCH, "listnet", part)]


def measured(settings: dict[str, Any], surrogate: str, part: int = 0) -> list[risk.Excess]:
    return list(risk.measure(Job(small("slam", "risk", **settings), 7, {"surrogate": surrogate, "part": str(part)})))


def test_parts_share_the_repetitions_and_change_nothing(risks):
    whole = measured({**BATCH, "parts": 1}, "listnet")
    key = attrgetter("repetition", "n")
    assert sorted(risks, key=key) == sorted(whole, key=key)
    assert len(whole) == 4 * 3


def test_excess_risks_are_certified_positive_and_fall(risks):
    assert all(row.certified for row in risks)
    assert all(row.excess >= 0.0 for row in risks)
    found = list(risk.summarised(risks, 0.95))
    by_n = {row.n: row for row in found}
    assert by_n[90].excess_risk.value < by_n[10].excess_risk.value
    assert by_n[90].excess_risk.low < by_n[90].excess_risk.value < by_n[90].excess_risk.high
    exact = {"slam-finite-risk": []}
    trials = readings.trials("slam-thm8", tables(found) | exact, {"repetitions": 4})
    assert len(trials) == 3
    less = risk.summarised([row.model_copy(update={"certified": row.n > 10}) for row in risks], 0.95)
    certified, in_part = (
        readings.notes("slam-thm8", tables(rows) | exact, {"repetitions": 4}) for rows in (found, less)
    )
    assert certified != in_part
    assert "1 of 3 means" in in_part
    for trial in trials:
        assert isinstance(trial.values["excess_risk"], Interval)
        assert trial.values["excess_risk"].value <= trial.values["bound"]


def test_the_excess_of_slam_map_counts_labels_as_relevant_or_not():
    rows = measured({**BATCH, "sizes": [20], "repetitions": 2, "parts": 1}, "slam-map")
    assert all(row.certified and row.excess >= 0.0 for row in rows)


def test_intervals_include_the_error_of_the_population_that_all_repetitions_share(risks):
    for row in risk.summarised(risks, 0.95):
        cell = [one for one in risks if one.n == row.n]
        for name, interval in (("truth_error", row.excess_risk), ("gap_error", row.gap)):
            shared = max(getattr(one, name) for one in cell)
            assert shared > 0.0
            assert interval.high - interval.value >= 1.9599 * shared
            assert interval.value - interval.low >= 1.9599 * shared


def test_the_error_of_a_gap_is_that_of_the_risk_over_fresh_queries():
    # Populations of other seeds, and the same samples: the risk minus that of w = 0 varies by what is stated.
    settings = small("slam", "risk", **{**BATCH, "sizes": [20], "truth": 100})
    population = risk.Population(risk.PopulationSettings(features=settings.features, documents=settings.documents))
    loss, w = surrogates.create("listnet"), np.full(settings.features, 0.3)
    differences, errors = [], []
    for seed in range(200):
        data = population.draw(100, generator(seed, "fresh queries", role="truth"))
        of_query = risk.losses_of(loss, data, w, "truth") - risk.losses_of(loss, data, 0.0 * w, "truth")
        differences.append(of_query.mean())
        errors.append(risk.standard_error(of_query))
    assert np.std(differences) == pytest.approx(np.mean(errors), rel=0.2)
