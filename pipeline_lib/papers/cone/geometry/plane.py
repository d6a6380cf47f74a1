"""What is the best cone of two vectors in the plane, and how wide is it?

With two basis vectors of norm c, a cone of the plane is given by two angles, so that the minimum of (9) is found on a
grid. With ||u_k|| <= c and sum w = 1, as in (18), a minimum is attained at a whole chord of the circle of radius c, and
at every part of it that the differences are projected to.
"""

import numpy as np

from pipeline_lib.core.arrays import Floats

DIRECTIONS = 180
"""Directions of the basis vectors, two degrees apart, next to those of the differences."""
EQUAL = 1e-9
"""Risks that differ by at most this count as equal."""


def best(angles: Floats, c: float, high: float) -> dict[str, float]:
    """The best cones for differences of norm 1 at these angles, with vectors of norm c and 1 <= sum w <= ``high``."""
    Z = np.stack([np.cos(angles), np.sin(angles)])
    directions = np.concatenate([2.0 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS, angles])
    first, second = (directions[i] for i in np.triu_indices(len(directions), 1))
    A, B = (c * np.stack([np.cos(t), np.sin(t)], axis=1) for t in (first, second))
    losses = squared_distances(A, B, Z, high)
    risks = losses.mean(axis=1)
    best = np.flatnonzero(risks <= risks.min() + EQUAL)
    between = np.degrees(np.abs((first - second + np.pi) % (2.0 * np.pi) - np.pi))[best]
    least = int(best[np.argmin(between)])
    # With norms of at most c the part of a chord to which differences are projected is as good as the chord.
    narrowest = between.min() if c == 1.0 else _opening_of_part(A[least], B[least], Z)
    found = {"risk": risks.min(), "largest_loss": losses[least].max(), "narrowest": narrowest, "widest": between.max()}
    return {name: float(value) for name, value in found.items()}


def _opening_of_part(a: Floats, b: Floats, Z: Floats) -> float:
    t = np.clip((Z - a[:, None]).T @ (b - a) / float((b - a) @ (b - a)), 0.0, 1.0)
    p, q = (a + share * (b - a) for share in (t.min(), t.max()))
    cosine = float(p @ q) / float(np.linalg.norm(p) * np.linalg.norm(q))
    return float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))


def squared_distances(A: Floats, B: Floats, Z: Floats, high: float) -> Floats:
    """Squared distances of the points Z (2, n) from {v a + w b: v, w >= 0, 1 <= v + w <= high}; shape (cones, n).

    ``A`` and ``B``, shape (cones, 2), are the basis vectors. A point outside is nearest to one of the four sides.

    Example
    -------
    >>> one, two = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    >>> squared_distances(one, two, np.array([[1.0, 0.0], [1.0, 0.0]]), 1.5).round(6)
    array([[0.125, 0.5  ]])
    """
    sides = ((A, B), (high * A, high * B), (A, high * A), (B, high * B))
    least = np.min([_to_segments(p, q, Z) for p, q in sides], axis=0)
    determinant = A[:, 0] * B[:, 1] - A[:, 1] * B[:, 0]
    safe = np.where(determinant == 0.0, 1.0, determinant)[:, None]
    v = (np.outer(B[:, 1], Z[0]) - np.outer(B[:, 0], Z[1])) / safe
    w = (np.outer(A[:, 0], Z[1]) - np.outer(A[:, 1], Z[0])) / safe
    inside = (v >= 0.0) & (w >= 0.0) & (v + w >= 1.0) & (v + w <= high) & (determinant != 0.0)[:, None]
    return np.where(inside, 0.0, least)


def _to_segments(P: Floats, Q: Floats, Z: Floats) -> Floats:
    edge = Q - P
    lengths = np.maximum((edge**2).sum(axis=1), np.finfo(np.float64).tiny)[:, None]
    t = np.clip((edge @ Z - (edge * P).sum(axis=1)[:, None]) / lengths, 0.0, 1.0)
    rest = [Z[i] - P[:, i, None] - t * edge[:, i, None] for i in range(2)]
    return rest[0] ** 2 + rest[1] ** 2
