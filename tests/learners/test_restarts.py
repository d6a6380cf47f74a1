"""What is not convex is brought to the lowest of several local minima, and never called certified."""

import itertools
import math

import numpy as np
import pytest

from pipeline_lib import surrogates
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import erm, restarts
from pipeline_lib.surrogates.base import Surrogate
from tests.samples import drawn, objective

LOSSES = [{"sigma": 1.0}, {"sigma": 0.1}, {"sigma": 1.0, "sign": "as-printed"}, {"sigma": 0.3, "sign": "regret"}]


@pytest.mark.parametrize("options", LOSSES, ids=str)
@pytest.mark.parametrize(("radius", "ball"), [(None, "l2"), (2.0, "l2"), (2.0, "l1")])
def test_no_point_of_a_fine_grid_is_lower(options, radius, ball):
    data, loss = drawn(12, 8, 2), surrogates.create("smooth-dcg", **options)
    fit = erm.fit(data, loss, l2=0.05, radius=radius, ball=ball)
    reach = 2.0 if radius else 4.0
    for w in itertools.product(np.linspace(-reach, reach, 41), repeat=2):
        if radius is None or np.linalg.norm(w, 2 if ball == "l2" else 1) <= radius:
            assert objective(data, loss, 0.05, np.array(w)) >= fit.objective - 1e-6
    if radius is not None:
        assert np.linalg.norm(fit.w, 2 if ball == "l2" else 1) <= radius * (1 + 1e-12)


def test_a_local_minimum_says_so():
    fit = erm.fit(drawn(12, 8, 2), "smooth-dcg", l2=0.1)
    assert (fit.certified, fit.certificate) == (False, "local")
    assert math.isinf(fit.gap)
    assert math.isinf(fit.relative_gap)
    assert fit.reason.startswith("not convex: the lowest of")


def test_the_same_seed_gives_the_same_minimum_and_it_is_stationary():
    data, loss = drawn(12, 8, 6), surrogates.create("smooth-dcg", sigma=0.3)
    a, b = (erm.fit(data, loss, l2=0.01, seed=7) for _ in range(2))
    assert np.array_equal(a.w, b.w)
    gradient = 0.01 * a.w + data.X64.T @ loss.gradient(data.X64 @ a.w, data.y, data.offsets) / data.n_queries
    assert np.linalg.norm(gradient) < 1e-5


def test_it_is_never_above_its_start_or_a_convex_stand_in():
    data, loss = drawn(12, 8, 6), surrogates.create("smooth-dcg", sigma=0.3)
    stand_in = erm.fit(data, "listnet", l2=0.01).w
    fit = erm.fit(data, loss, l2=0.01, start=stand_in)
    assert fit.objective <= objective(data, loss, 0.01, stand_in)
    assert fit.objective <= objective(data, loss, 0.01, np.zeros(6))


def test_a_surrogate_that_cannot_be_annealed_is_restarted():
    class Bent(Surrogate):
        """1 - exp(-sum (s - y)^2): bounded, and flat far away."""

        name = "bent"
        convex = False

        def unchecked(self, scores, y, offsets):
            away = scores - y
            near = np.exp(-np.add.reduceat(away**2, offsets[:-1])) if len(scores) else np.zeros(0)
            return 1.0 - near, 2.0 * away * np.repeat(near, np.diff(offsets))

    data = RankingData.from_arrays([[1.0], [2.0]], [1, 2], [1, 1])
    fit = erm.fit(data, Bent(), l2=0.0, radius=3.0)
    assert fit.w == pytest.approx([1.0], abs=1e-4)
    assert fit.objective == pytest.approx(0.0, abs=1e-8)


def test_training_calls_it_neither_certified_nor_failed():
    data = drawn(12, 8, 4)
    settings = {"surrogate": "smooth-dcg", "options": {"sigma": 0.3}, "l2": [0.1, 0.01], "selection": "ndcg@10"}
    record = erm.train(data, data, settings, (1, "fold", 2)).record
    assert record["certified"] is None
    assert {step["certificate"] for step in record["path"]} == {"local"}
    assert {step["gap"] for step in record["path"]} == {None}


def test_starts_have_scores_that_are_spread_as_far_as_is_stated(monkeypatch):
    data, begun = drawn(12, 8, 4), []
    local = restarts._annealed

    def annealed(problem, w):
        begun.append(float(np.std(problem.X @ w)))
        return local(problem, w)

    monkeypatch.setattr(restarts, "_annealed", annealed)
    erm.fit(data, "smooth-dcg", l2=0.1)
    assert begun == pytest.approx([0.0, *itertools.islice(itertools.cycle(restarts.SPREADS), len(begun) - 1)])
    assert set(restarts.SPREADS) <= {round(spread, 9) for spread in begun}
