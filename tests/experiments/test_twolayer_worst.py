"""Does the search reach the worst gap, and are the averages of the losses suprema over all rankers?"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pipeline_lib.papers.twolayer.computations import remarks, risks, worst_gaps
from pipeline_lib.papers.twolayer.experiments.gaps import GapsSettings
from pipeline_lib.papers.twolayer.experiments.statements import StatementsSettings
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import pair_losses
from tests.experiments.test_twolayer_gaps import SMALL

LOSSES = ("hinge", "logistic", "exponential")


@pytest.mark.parametrize("name", LOSSES)
def test_pairs_have_the_risk_of_the_sample_and_its_gradient(name):
    population = Population(PopulationSettings.from_mapping(SMALL["population"]))
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
    population = Population(PopulationSettings.from_mapping({**SMALL["population"], "features": 2}))
    asked, rng = GapsSettings.parse({**SMALL, "steps": 60}), np.random.default_rng(3)
    expected = worst_gaps.Pairs.of_sample(population.draw(300, rng, 2))
    angles = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    points = [asked.radius * r * np.array([np.cos(a), np.sin(a)]) for r in (0.3, 0.6, 1.0) for a in angles]
    for name in ("hinge", "logistic"):
        loss, data = pair_losses.get(name), population.draw(5, rng, 4)
        sample = worst_gaps.Pairs.of_sample(data)

        def gap(w, loss=loss, sample=sample):
            return expected.risk(loss, w)[0] - sample.risk(loss, w)[0]

        worst = worst_gaps.search(asked, loss, expected, sample, risks.fitted(data, loss, asked.radius)[0], rng)
        assert np.linalg.norm(worst) <= asked.radius * (1 + 1e-12)
        assert gap(worst) >= max(map(gap, points)) - 0.01


def test_the_worst_gap_is_at_least_that_of_the_trained_ranker():
    rows = worst_gaps.run(GapsSettings.parse(SMALL), 1)
    assert [(row["loss"], row["queries"], row["documents"]) for row in rows] == [("hinge", 6, 4), ("logistic", 6, 4)]
    for row in rows:
        assert row["worst"] > row["gap"]
        assert row["worst_largest"] >= row["gap_largest"]
        assert row["worst_largest"] < row["bound"]


@pytest.mark.parametrize("name", LOSSES)
def test_averages_of_losses_are_suprema_over_rankers(name):
    loss, d, radius = pair_losses.get(name), np.array([0.7, -1.0, 0.2]), 2.0
    rankers = np.linspace(-radius, radius, 20_001)
    losses = np.array([loss.of_difference(-w * d) for w in rankers])
    for centre, average in ((0.0, "plain"), (loss.at_zero, "centred")):
        total = sum(np.abs((losses - centre) @ np.array(signs)).max() for signs in itertools.product((-1, 1), repeat=3))
        assert remarks.average(loss, d, radius, centre) == pytest.approx(2 / 3 * total / 8, rel=1e-3), average


def test_averages_of_hinges_are_exact():
    # A sum of hinges is linear between their kinks, at which w d = 1: no grid of rankers is needed.
    d, radius = [0.3, 0.9, 0.4], 5.0
    total = 0.0
    for signs in itertools.product((-1, 1), repeat=3):
        ends = [-radius, radius, *(1 / one for one in d)]
        total += max(abs(sum(s * max(0.0, 1 - w * one) for s, one in zip(signs, d, strict=True))) for w in ends)
    assert remarks.average(pair_losses.get("hinge"), np.array(d), radius, 0.0) == pytest.approx(2 / 3 * total / 8)


def test_remarks_hold_every_loss_at_every_bound_on_the_scores():
    rows = remarks.rows(StatementsSettings.parse({"score_bounds": [0.1, 2.0], "draws": 200}), 1)
    assert len(rows) == 3 * (4 + 1) * 2
    for row in rows:
        assert row["steps_below"] == {2.0: 0, 0.1: 1}[row["score_bound"]]
        assert row["average"] - 4 * row["average_error"] <= row["contracted"] * (1 + 1e-9)
        assert row["without_constant"] < row["with_half_the_constant"] < row["contracted"]
        assert row["average"] - 4 * row["average_error"] <= row["largest"] * (1 + 1e-9)


@pytest.mark.parametrize("name", LOSSES)
def test_ascent_comes_to_the_exact_average(name):
    loss, d, rng = pair_losses.get(name), np.array([0.7, -1.0, 0.2, 0.5, -0.1]), np.random.default_rng(0)
    for centre in (0.0, loss.at_zero):
        exact = remarks.average(loss, d, 2.0, centre)
        found = remarks.ascended(loss, d[:, None], 2.0, centre, 2000, rng)
        assert abs(found.estimate - exact) < 4 * found.standard_error + 0.005 * exact
