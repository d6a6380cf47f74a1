"""Every convex surrogate is minimised to a certified relative gap of 1e-6: free, in an l2 ball and in an l1 ball."""

import numpy as np
import pytest

from pipeline_lib import surrogates
from pipeline_lib.learners import erm
from pipeline_lib.learners.balls import project
from tests.samples import drawn, objective

CONVEX = [name for name in surrogates.NAMES if surrogates.create(name).convex]
OPTIONS = [
    ("ranksvm", {"normalisation": "mean", "margin": 0.5}),
    ("ranknet", {"normalisation": "mean"}),
    ("rankboost", {"normalisation": "mean"}),
    ("slam-ndcg", {"margin": 0.3}),
    ("slam-map", {"margin": 2.0}),
    ("slam-ndcg@3", {}),
]
CASES = [*((name, {}) for name in CONVEX), *OPTIONS]
NAMES = [f"{name} {options}" if options else name for name, options in CASES]


DATA = drawn(40, 12, 8, noise=0.7)


def nothing_is_lower(surrogate, l2, fit, radius=None, ball="l2"):
    """Neither random points, near or far, nor a subgradient descent from the minimum, fall below the bound."""
    rng = np.random.default_rng(1)
    bound = fit.objective - fit.gap - 1e-12 * abs(fit.objective)
    w = fit.w
    for trial in range(120):
        if trial % 2:
            w = fit.w + 10.0 ** rng.uniform(-4, 0) * rng.standard_normal(len(w))
        else:
            slope = l2 * w + DATA.X64.T @ surrogate.gradient(DATA.X64 @ w, DATA.y, DATA.offsets) / DATA.n_queries
            w = w - 1e-4 * slope / max(np.linalg.norm(slope), 1e-300)
        w = w if radius is None else project(w, radius, ball)
        if objective(DATA, surrogate, l2, w) < bound:
            return False
    return True


@pytest.mark.parametrize(("name", "options"), CASES, ids=NAMES)
@pytest.mark.parametrize("l2", [1.0, 1e-2, 1e-4])
def test_regularised(name, options, l2):
    surrogate = surrogates.create(name, **options)
    fit = erm.fit(DATA, surrogate, l2=l2)
    assert fit.certified, fit.reason
    assert 0.0 <= fit.relative_gap <= 1e-6
    assert fit.objective == pytest.approx(objective(DATA, surrogate, l2, fit.w), rel=1e-12)
    assert nothing_is_lower(surrogate, l2, fit)


@pytest.mark.parametrize(("name", "options"), CASES, ids=NAMES)
@pytest.mark.parametrize(("l2", "ball"), [(0.0, "l2"), (0.01, "l2"), (0.0, "l1"), (0.01, "l1")])
def test_in_a_ball(name, options, l2, ball):
    surrogate = surrogates.create(name, **options)
    fit = erm.fit(DATA, surrogate, l2=l2, radius=0.3, ball=ball)
    assert fit.certified, fit.reason
    assert np.linalg.norm(fit.w, 2 if ball == "l2" else 1) <= 0.3 * (1 + 1e-12)
    assert nothing_is_lower(surrogate, l2, fit, 0.3, ball)


@pytest.mark.parametrize("name", ["listnet", "squared", "ranksvm", "slam-map"])
def test_many_features_in_an_l1_ball(name):
    data = drawn(12, 8, 400)
    fit = erm.fit(data, name, l2=0.0, radius=0.5, ball="l1")
    assert fit.certified, fit.reason
    assert np.abs(fit.w).sum() == pytest.approx(0.5, rel=1e-6)
