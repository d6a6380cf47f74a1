"""How large are Rademacher averages of the losses themselves, and not of linear rankers?

For one feature the supremum over |w| <= W of |sum_j sigma_j a_j phi(-w d_j)| is found by trying a grid of w, and the
mean over all signs is exact. For the hinge the sum is linear between its kinks, which are tried as well, so that the
supremum is exact; for the smooth losses the grid makes it too small, by less than a thousandth.
"""

import itertools

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.theory.pair_losses import PairLoss

LOSSES = ("hinge", "logistic", "exponential")
# Weights that are tried, apart from the kinks of the hinge.
WEIGHTS = 401


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
