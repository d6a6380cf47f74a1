"""How large are Rademacher averages of the losses themselves, and not of linear rankers?

For one feature the supremum over |w| <= W of |sum_j sigma_j a_j phi(-w d_j)| is found by trying a grid of w, and the
mean over all signs is exact. For the hinge the sum is linear between its kinks, which are tried as well, so that the
supremum is exact; for the smooth losses the grid makes it too small, by less than a thousandth. For more features the
suprema over ||w|| <= W are found by ascent for every draw of signs, which can only make them too small.
"""

import itertools
import math

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.theory import two_layer_rademacher as rademacher
from pipeline_lib.theory.pair_losses import PairLoss

LOSSES = ("hinge", "logistic", "exponential")
# Weights that are tried, apart from the kinks of the hinge.
WEIGHTS = 401
# Steps of every ascent.
STEPS = 20


def average(loss: PairLoss, differences: Floats, weights: Floats, radius: float, centre: float = 0.0) -> float:
    """E max over |w| <= radius of |sum_j sigma_j weights_j (phi(-w d_j) - centre)|, over all signs.

    Example
    -------
    >>> from pipeline_lib.theory import pair_losses
    >>> average(pair_losses.get("hinge"), np.ones(1), np.array([2.0]), 1.0)         # 2 max phi
    4.0
    """
    kinks = 1.0 / differences[np.abs(differences) * radius > 1.0]
    w = np.concatenate([np.linspace(-radius, radius, WEIGHTS), kinks])
    losses = (loss.of_difference(-np.outer(differences, w)) - centre) * weights[:, None]
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=len(differences))))
    return float(np.abs(signs @ losses).max(axis=1).mean())


def ascended(
    loss: PairLoss, differences: Floats, radius: float, centre: float, draws: int, rng: np.random.Generator
) -> rademacher.Estimate:
    """(2/k) E max over ||w|| <= radius of |sum_j sigma_j (phi(-<w, d_j>) - centre)|, by random signs and ascent.

    Ascent of the sum and of its negative starts at the ranker that is best for a linear loss, at its opposite and at 0.

    Example
    -------
    >>> from pipeline_lib.theory import pair_losses
    >>> found = ascended(pair_losses.get("hinge"), np.ones((1, 1)), 1.0, 0.0, 10, np.random.default_rng(0))
    >>> round(found.estimate, 9), found.standard_error                  # as by average
    (4.0, 0.0)
    """
    k = len(differences)
    signs = rng.integers(0, 2, (draws, k)) * 2.0 - 1.0
    best = np.zeros(draws)
    for side in (signs, -signs):
        linear = _onto_sphere(side @ differences, radius)
        for start in (linear, -linear, np.zeros_like(linear)):
            w = start
            for step in range(STEPS):
                t = -(w @ differences.T)
                best = np.maximum(best, (side * (loss.of_difference(t) - centre)).sum(axis=1))
                slope = -(side * loss.derivative(t)) @ differences
                w = w + _onto_sphere(slope, radius / (1.0 + step))
                lengths = np.linalg.norm(w, axis=1, keepdims=True)
                w = w * (radius / np.maximum(lengths, radius))
    # The value at w = 0, whose mean over all signs is known, varies most.
    at_zero = abs(loss.at_zero - centre)
    more = 2.0 / k * (best - at_zero * np.abs(signs.sum(axis=1)))
    known = at_zero / loss.at_zero * rademacher.contracted(0.0, k, loss, 0.0)
    return rademacher.Estimate(known + float(more.mean()), float(more.std(ddof=1) / math.sqrt(draws)))


def _onto_sphere(vectors: Floats, radius: float) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors * np.divide(radius, lengths, out=np.zeros_like(lengths), where=lengths > 0.0))
