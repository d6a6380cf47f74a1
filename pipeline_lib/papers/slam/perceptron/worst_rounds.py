"""How close to equality can the bound (16) on the perceptron's subgradient be in one round?

In a round with a mistake, phi is at least v_i for a document i that is ranked below a less relevant one, and ||z|| is
at most 2 R_X times the sum of the weights of active hinges. Both are attained together in two dimensions: the lowest
documents lie at (1, 0) R, the others at (-1, h) R with h so small that their norm is R, and w = (0, W) is so long
that every one of these has a margin of almost 1, but for the last, i, which is at (-1, 0) R and has none. Then the
ratio of the two sides of (16) is almost

    (sum v)^2 / (m v_max v_i),

which is searched here for its largest value over label vectors: all of them for short lists, and r documents with one
label for long ones.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from pipeline_lib import surrogates
from pipeline_lib.papers.score_lists import Labels
from pipeline_lib.papers.slam.ranking_losses import falling_labels
from pipeline_lib.surrogates.slam import cutoff, weights

LENGTHS = (2, 3, 5, 10, 30, 100)
MEASURES = ("ndcg", "map", "ndcg@1", "ndcg@2", "ndcg@5")
LARGEST_LABEL = 2
LONGEST_ENUMERATED = 5
NORM = 2.0
HAIR = 1e-9
LONG = 1e5


def over_all() -> Iterator[dict[str, Any]]:
    """The round in which the two sides of (16) are closest, for every measure and length, as :func:`worst_round`."""
    for measure, m in itertools.product(MEASURES, LENGTHS):
        y = max(_label_vectors(m), key=lambda y: _largest_ratio(y, measure))
        yield {"measure": measure, "m": m, **worst_round(y, measure)}


def worst_round(y: Labels, measure: str) -> dict[str, Any]:
    """The two sides of (16) in the round described above, for labels that fall and do not all agree.

    With the number of relevant documents, length (min(k, m) for NDCG@k, else m), feature_norm, v_max, surrogate_loss,
    squared_norm and ratio.

    Example
    -------
    >>> round(worst_round(np.array([1, 0], np.int32), "ndcg@1")["ratio"], 6)
    1.0
    """
    v = weights(y, measure)
    last = int(np.flatnonzero(v > 0.0)[-1])
    heights = np.where((np.arange(len(y)) == last) | (y == y.min()), -HAIR, 1.0 - HAIR) / LONG
    heights[y == y.min()] = 0.0
    sides = np.where(y == y.min(), 1.0, -1.0)
    X = NORM * np.column_stack([sides * np.sqrt(1.0 - heights**2), heights])
    w = np.array([0.0, LONG / NORM])
    [value], gradient = surrogates.create(f"slam-{measure}").value_and_gradient(X @ w, y, [0, len(y)])
    z = X.T @ gradient
    found = {
        "relevant": int((y > 0).sum()),
        "length": min(cutoff(measure) or len(y), len(y)),
        "feature_norm": NORM,
        "v_max": float(v.max() / v[v > 0.0].min()),
        "surrogate_loss": float(value),
        "squared_norm": float(z @ z),
    }
    right = 4.0 * found["length"] * NORM**2 * found["v_max"] * found["surrogate_loss"]
    return {**found, "ratio": found["squared_norm"] / right}


def _largest_ratio(y: Labels, measure: str) -> float:
    v = weights(y, measure)
    if not v.any():
        return -math.inf
    # v_max times the smallest weight is the largest one.
    return float(v.sum() ** 2 / (min(cutoff(measure) or len(y), len(y)) * v.max()))


def _label_vectors(m: int) -> Iterator[Labels]:
    """Labels that fall along the list, with a lowest one of 0."""
    if m <= LONGEST_ENUMERATED:
        return falling_labels(m, LARGEST_LABEL)
    return ((np.arange(m) < r).astype(np.int32) for r in range(1, m))
