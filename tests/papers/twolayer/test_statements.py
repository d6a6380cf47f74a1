"""Are definitions and averages of losses compared with the right numbers?"""

import itertools

import numpy as np
import pytest

from pipeline_lib.papers.twolayer.statements import experiment as statements
from pipeline_lib.papers.twolayer.statements import loss_averages
from pipeline_lib.papers.twolayer.statements.experiment import StatementsSettings
from pipeline_lib.papers.twolayer.statements.loss_averages import LOSSES
from pipeline_lib.theory import pair_losses
from pipeline_lib.theory import two_layer_rademacher as rademacher
from tests import readings
from tests.papers.jobs import Given, tables


def test_statements():
    asked = StatementsSettings.parse({"draws": 500, "radius": 1.0, "matrices": 3})
    rows = list(statements.measure(Given(asked, 3)))
    made = tables(rows)
    for claim, value, number, limit in (
        ("twolayer-def3", "standard_errors_apart", 6, 4),
        ("twolayer-eq6", "largest_difference", 5, 1e-12),
    ):
        found = readings.values(claim, value, made)
        assert (len(found), max(found) < limit) == (number, True)
    assert rows == list(statements.measure(Given(asked, 3)))


def test_misread_definitions_have_one_sign_per_query_or_one_weight():
    pairs = rademacher.Pairs(np.array([[1.0], [2.0], [4.0]]), np.array([0, 0, 1]))
    wrong = statements.misread(pairs)
    both = {name: rademacher.exactly(d, np.full(len(d), 2.0 / len(d)), 1.0) for name, d in wrong.items()}
    # Weights are 1/2, 1/2 and 1: E |a (1/2 + 1) + b 4|, and 2/3 E |a + 2 b + 4 c|.
    assert both == {"signs_of_queries": pytest.approx(4.0), "equal_weights": pytest.approx(2 / 3 * 4.0)}


@pytest.mark.parametrize("name", LOSSES)
def test_averages_of_losses_are_suprema_over_rankers(name):
    loss, d, radius = pair_losses.get(name), np.array([0.7, -1.0, 0.2]), 2.0
    rankers = np.linspace(-radius, radius, 20_001)
    losses = np.array([loss.of_difference(-w * d) for w in rankers])
    for centre, average in ((0.0, "plain"), (loss.at_zero, "centred")):
        total = sum(np.abs((losses - centre) @ np.array(signs)).max() for signs in itertools.product((-1, 1), repeat=3))
        assert 2 / 3 * loss_averages.average(loss, d, np.ones(3), radius, centre) == pytest.approx(
            2 / 3 * total / 8, rel=1e-3
        ), average


def test_averages_of_hinges_are_exact():
    # A sum of hinges is linear between their kinks, at which w d = 1: no grid of rankers is needed.
    d, radius = [0.3, 0.9, 0.4], 5.0
    total = 0.0
    for signs in itertools.product((-1, 1), repeat=3):
        ends = [-radius, radius, *(1 / one for one in d)]
        total += max(abs(sum(s * max(0.0, 1 - w * one) for s, one in zip(signs, d, strict=True))) for w in ends)
    found = loss_averages.average(pair_losses.get("hinge"), np.array(d), np.ones(3), radius, 0.0)
    assert found == pytest.approx(total / 8)


def test_remarks_hold_every_loss_at_every_bound_on_the_scores():
    rows = list(statements.remarks(StatementsSettings.parse({"score_bounds": [0.1, 2.0], "draws": 200}), 1))
    assert len(rows) == 3 * 4 * 2
    for row in rows:
        assert row.steps_below == {2.0: 0, 0.1: 1}[row.score_bound]
        assert row.average <= row.contracted * (1 + 1e-9)
        assert row.without_constant < row.with_half_the_constant < row.contracted
        assert row.average <= row.largest * (1 + 1e-9)
