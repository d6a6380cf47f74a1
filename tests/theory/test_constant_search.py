"""Does the search for suprema find them, and is what it finds attained?"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory.constant_search import STEP, search
from pipeline_lib.theory.constants import constants


class Planted(Surrogate):
    """A gradient that is not 0 for lists of four documents only; the whole space must be searched for its largest."""

    name = "planted"

    def unchecked(self, scores, y, offsets):
        gradient = np.zeros(len(scores))
        for a, b in itertools.pairwise(offsets):
            if b - a == 4:
                gradient[a:b] = self.of(scores[a:b])
        return np.zeros(len(offsets) - 1), gradient

    def lipschitz(self, m, y_max, norm="linf", *, score_bound=None):
        return 1.0

    def smoothness(self, m, y_max, *, score_bound=None):
        return 2.5**2


class Ridge(Planted):
    """The second derivative <f, u>^2 is attained where <f, s> = 7/6, as at evenly falling scores."""

    def of(self, scores):
        form = np.array([1.0, -0.5, -1.0, 0.0])
        return form * math.atan(10.0 * (form @ scores - 7.0 / 6.0)) / 10.0


class Peak(Planted):
    def of(self, scores):
        return np.array([1.0, 0.0, 0.0, 0.0]) / (1.0 + 25.0 * np.sum((scores - [0.7, -0.23, 0.41, 0.05]) ** 2))


@pytest.mark.parametrize("seed", range(6))
def test_documents_that_do_not_matter_do_not_hide_a_supremum(seed):
    found = search(Ridge(), 4, 0, "smoothness", rng=np.random.default_rng(seed), restarts=2)
    step = 10.0 * 2.5 * STEP
    assert found.value == pytest.approx(2.5**2 * math.atan(step) / step, rel=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_a_supremum_far_from_every_start_is_approached(seed):
    found = search(Peak(), 4, 0, "lipschitz-linf", rng=np.random.default_rng(seed))
    assert 0.8 < found.value <= 1.0


@pytest.mark.parametrize(("m", "y_max"), [(10, 2), (100, 1)])
def test_the_smoothness_of_ranknet_is_found(m, y_max):
    # At equal scores, half of the documents relevant, and the direction that separates them
    found = search("ranknet", m, y_max, "smoothness", rng=np.random.default_rng(0), restarts=2)
    assert found.value == pytest.approx(m * m / 4, rel=1e-6)


@pytest.mark.parametrize("m", [5, 10, 50, 100, 500])
def test_ranksvm_grows_as_the_square_of_m(m):
    # `slam`, section 6.1 prints O(m) and 2 m; for binary labels it is 2 r (m - r) <= m^2 / 2
    found = search("ranksvm", m, 1, "lipschitz-linf", rng=np.random.default_rng(0), restarts=1)
    assert found.value == m**2 // 2
    assert constants("ranksvm", m, 1).lipschitz == m**2 // 2


@pytest.mark.parametrize("m", [5, 500, 10_000])
def test_listnet_does_not_grow_with_m(m):
    # `lists`, Proposition 1
    rng = np.random.default_rng(0)
    slope = search("listnet", m, 4, "lipschitz-linf", rng=rng, restarts=1)
    assert len(slope.y) == m
    assert slope.value == pytest.approx(2.0 - 2.0 / (1.0 + (m - 1) * math.exp(4)), rel=1e-9)
    curvature = search("listnet", m, 4, "smoothness", rng=rng, restarts=1)
    assert curvature.value == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("m", [2, 9, 1001])
def test_smooth_dcg_reaches_a_quarter_of_proposition_2(m):
    found = search("smooth-dcg", m, 4, "lipschitz-linf", rng=np.random.default_rng(0), restarts=1)
    assert found.value == pytest.approx(constants("smooth-dcg", m, 4).lipschitz / 4.0, rel=1e-9)


def test_search_is_reproducible():
    first, second = (search("ranknet", 5, 2, "smoothness", rng=np.random.default_rng(7), restarts=2) for _ in range(2))
    assert first.value == second.value
    np.testing.assert_array_equal(first.scores, second.scores)
