"""Are proper cones told from others, and halfspaces from hinges?"""

from types import SimpleNamespace

import numpy as np
import pytest

from pipeline_lib.papers.cone.geometry import experiment as geometry
from pipeline_lib.papers.cone.geometry import plane
from tests.small_settings import small


def test_cones_that_are_proper() -> None:
    angles = np.radians([0.0, 120.0, 240.0])
    star = np.vstack([np.cos(angles), np.sin(angles)])
    assert (geometry.of_order(star), geometry.is_solid(star), geometry.is_pointed(star)) == (True, True, False)
    flat = np.eye(3)[:, :2]
    assert (geometry.of_order(flat), geometry.is_solid(flat), geometry.is_pointed(flat)) == (True, False, True)
    assert not geometry.of_order(np.array([[1.0, 2.0], [0.0, 0.0]]))


def test_a_halfspace_is_no_hinge() -> None:
    settings = small("cone", "geometry")
    for row in geometry.distances(settings, 1):
        assert row.to_squared < 1e-12 < row.to_best_hinge
    [row] = geometry.solutions(settings, 1)
    assert row.to_squared <= 0.5 + 1e-9


def test_of_several_starts_the_cone_with_the_least_risk_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    risks = dict(enumerate(np.roll(np.arange(geometry.STARTS, dtype=float), 2)))

    def fit(data, K, *, seed, **settings):
        return SimpleNamespace(objective=np.array([9.0, risks[seed[-1]]]), U=np.full((3, K), risks[seed[-1]]))

    monkeypatch.setattr(geometry.cone, "fit", fit)
    settings = small("cone", "geometry", plane_samples=1)
    monkeypatch.setattr(geometry, "_squared_distances", lambda U, points: np.full(len(points), U.sum()))
    [surface] = geometry.surfaces(settings, 1)
    assert (surface.to_the_cone, surface.to_the_ray) == (0.0, 0.0)


def test_of_the_cones_that_reach_every_difference_the_narrowest_and_the_widest_are_told() -> None:
    angles = np.radians([-10.0, 0.0, 10.0])
    found = plane.best(angles, 1.0, 5.0)
    assert found["risk"] == pytest.approx(0.0, abs=1e-12)
    assert found["narrowest"] == pytest.approx(20.0, abs=2.0)
    assert found["widest"] > 60.0
