"""Which point of a ball is nearest to a given point, and at which is a regularised linear function smallest?"""

import math
from typing import Literal

import numpy as np

from pipeline_lib.core.arrays import Floats

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

Ball = Literal["l2", "l1"]


def norm(w: Floats, ball: Ball) -> float:
    """||w||_2 or ||w||_1.

    Example
    -------
    >>> norm(np.array([3.0, -4.0]), "l2"), norm(np.array([3.0, -4.0]), "l1")
    (5.0, 7.0)
    """
    return math.sqrt(w @ w) if ball == "l2" else float(np.abs(w).sum())


def project(w: Floats, radius: float, ball: Ball = "l2") -> Floats:
    """The point of ||v|| <= radius nearest to ``w`` in the Euclidean norm, shape (d,).

    l2: v = w min(1, radius / ||w||_2). l1: v_j = sign(w_j) max(0, |w_j| - t) with t >= 0 such that ||v||_1 = radius;
    t = max_k (sum of the k largest |w_j| - radius) / k, found by sorting in O(d log d) (Held, Wolfe and Crowder 1974).

    Example
    -------
    >>> project(np.array([3.0, -4.0]), 1.0)
    array([ 0.6, -0.8])
    >>> project(np.array([3.0, -1.0]), 1.0, "l1")
    array([ 1., -0.])
    """
    size = norm(w, ball)
    if size <= radius:
        return w
    if ball == "l2":
        return w * (radius / size)
    falling = np.sort(np.abs(w))[::-1]
    threshold = float(((np.cumsum(falling) - radius) / np.arange(1, len(w) + 1)).max())
    nearest: Floats = np.sign(w) * np.maximum(np.abs(w) - threshold, 0.0)
    if not nearest.any():  # so far away that the radius is rounding: a corner
        nearest[np.argmax(np.abs(w))] = radius * np.sign(w[np.argmax(np.abs(w))])
    # By rounding, the sum may exceed the radius by some units in the last place.
    return nearest * min(1.0, radius / norm(nearest, ball))


def lowest(slope: Floats, l2: float, radius: float, ball: Ball = "l2") -> Floats | None:
    """The minimiser of l2/2 ||v||_2^2 + <slope, v> over ||v|| <= radius; None if there is none, or no unique one.

    With l2 > 0 it is the projection of -slope / l2. With l2 = 0 it is a point of the ball's surface: -radius slope /
    ||slope||_2 or, for l1, a corner.

    Example
    -------
    >>> lowest(np.array([1.0, -3.0]), 0.0, 2.0, "l1")
    array([0., 2.])
    """
    if not slope.any():
        return None if l2 == 0.0 else np.zeros_like(slope)
    if l2 > 0.0 and (math.isinf(radius) or norm(slope, ball) <= l2 * radius):
        return -slope / l2
    if math.isinf(radius):
        return None
    if ball == "l2":
        return -slope * (radius / norm(slope, ball))
    if l2 > 0.0:
        return project(-slope / l2, radius, ball)
    corner = np.zeros_like(slope)
    steepest = int(np.argmax(np.abs(slope)))
    corner[steepest] = -radius * np.sign(slope[steepest])
    return corner
