"""Are proper cones told from others, and halfspaces from hinges?"""

import numpy as np

from pipeline_lib.papers.cone.geometry import experiment as geometry
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
