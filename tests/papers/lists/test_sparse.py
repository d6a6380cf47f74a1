"""Are the gaps of the l1 class certified, and is the best ranker of the ball where it is sought?"""

import dataclasses
import math
from collections import defaultdict

import numpy as np
import pytest

from pipeline_lib.core.seeds import generator
from pipeline_lib.experiment import Job
from pipeline_lib.papers.lists.sparse import experiment as sparse
from pipeline_lib.sources.population import Population, PopulationSettings
from tests import readings
from tests.papers.jobs import tables
from tests.small_settings import small

SPARSE = small("lists", "sparse")


def test_theorem_12_is_judged_by_certified_gaps_and_excess_risks():
    rows = list(sparse.measure(Job(SPARSE, 1)))
    assert len(rows) == 12
    assert max(row.certified_gap for row in rows if row.learner == "erm") <= 1e-2
    assert max(row.best_certified_gap for row in rows) <= 1e-6
    [first, *_] = readings.trials("lists-thm12", defaultdict(list, tables(rows)), SPARSE.plain())
    mine = [row for row in rows if row.d == 5]
    for learner, statistic, name in (
        ("erm", "gap", "gap"),
        ("worst", "worst_gap", "gap"),
        ("erm", "excess_risk", "excess"),
    ):
        assert first.values[statistic].value == max(getattr(row, name) for row in mine if row.learner == learner)
    added = 6.0 * math.sqrt(math.log(20.0) / 20.0)  # B = y_max + 2 W1 R_X, delta = 0.05, n = 10
    assert first.values["excess_bound"] == pytest.approx(first.values["bound"] + added, rel=1e-12)
    assert first.values["largest"] == 6.0


def test_held_out_queries_of_the_l1_class_are_drawn_in_blocks(monkeypatch):
    described = PopulationSettings(features=50, documents=SPARSE.documents, active=SPARSE.active)
    population = Population(described)
    W = np.random.default_rng(0).normal(size=(50, 2))
    monkeypatch.setattr(sparse, "NUMBERS_PER_BLOCK", 4 * 50 * 30)
    scores, levels, held = sparse._held_out(population, W, generator("held out", role="test"), 100)
    rng, whole, known = generator("held out", role="test"), [], []
    for n in (30, 30, 30, 10):
        queries = population.draw_queries(n, rng)
        known.append(queries.level)
        whole.append(population.draw_documents(queries, 4, rng))
    X = np.concatenate([data.X for data in whole])
    np.testing.assert_allclose(scores, (X.astype(np.float64) @ W).T, rtol=1e-12)
    np.testing.assert_array_equal(levels, np.concatenate(known))
    np.testing.assert_array_equal(held.X, X[:, population.utility != 0.0])
    assert (held.n_queries, held.n_features) == (100, 3)


class Mirrored(np.random.Generator):
    """A generator that draws xi_j with the other sign."""

    def __init__(self, seed, j):
        super().__init__(np.random.PCG64(seed))
        self._j = j

    def random(self, shape):
        drawn = super().random(shape)
        drawn[:, self._j] = 1.0 - drawn[:, self._j]
        return drawn


def test_features_that_do_not_matter_have_no_sign():
    # The map of the module's first lines: it keeps the law of all that is drawn, and all labels, and turns one feature.
    population = Population(PopulationSettings(features=6, documents=9, active=2, query_noise=1.0))
    j = int(np.flatnonzero(population.utility == 0.0)[0])
    queries = population.draw_queries(200, np.random.default_rng(3))
    centre = queries.centre.copy()
    centre[:, j] *= -1.0
    sign = np.where(queries.taste == j, -queries.sign, queries.sign)
    assert (queries.taste == j).any()
    turned = dataclasses.replace(queries, centre=centre, sign=sign)
    plain = population.draw_documents(queries, 9, np.random.default_rng(4))
    other = population.draw_documents(turned, 9, Mirrored(4, j))
    D = np.where(np.arange(6) == j, -1.0, 1.0)
    np.testing.assert_array_equal(other.y, plain.y)
    np.testing.assert_allclose(other.X, plain.X * D, atol=1e-6)
    # A feature that matters has a sign: the labels stay, other features move.
    i = int(np.flatnonzero(population.utility)[0])
    moved = population.draw_documents(queries, 9, Mirrored(4, i))
    assert np.abs(moved.X - plain.X * np.where(np.arange(6) == i, -1.0, 1.0)).max() > 0.01
