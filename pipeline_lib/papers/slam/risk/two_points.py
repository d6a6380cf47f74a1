"""Which ranker of one feature minimises the regularised risk on lists of two documents, and what is its risk?

There are two documents at -R and R; the second is the relevant one with probability p, else the first. Where 2 R B <= 1
the hinges are active in the whole ball, and the risk of SLAM is linear. The number of lists of the first kind in a
sample is binomial, and an expectation over samples is a sum over its values.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from pipeline_lib.core.arrays import Floats
from pipeline_lib.surrogates.base import Surrogate

NORM = 0.5
"""R."""
DEVIATIONS = 7.5
"""Beyond so many standard deviations the binomial distribution has a mass of less than 1e-12."""
HALVINGS = 45


def counts(n: int, p: float) -> tuple[NDArray[np.int64], Floats]:
    """How many of n lists may have a relevant second document, and the probability of each number."""
    deviation = DEVIATIONS * math.sqrt(n * p * (1.0 - p)) + 1.0
    k = np.arange(max(0, math.floor(n * p - deviation)), min(n, math.ceil(n * p + deviation)) + 1)
    return k, binom.pmf(k, n, p)


def risk(loss: Surrogate, w: Floats, p: float) -> Floats:
    """The risk of every w where lists whose second document is relevant have the probability p; shape of ``w``."""
    (first, _), (second, _) = _evaluated(loss, w, 1), _evaluated(loss, w, 0)
    return p * first + (1.0 - p) * second


def minimiser(loss: Surrogate, shares: Floats, l2: float, radius: float) -> Floats:
    """argmin over |w| <= B of l2/2 w^2 + the mean loss, for each share of lists whose second document is relevant.

    By bisection on the derivative, which does not fall.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> minimiser(surrogates.create("slam-map"), np.array([0.5, 0.6, 1.0]), 0.5, 0.5).round(6).tolist()
    [0.0, 0.2, 0.5]
    """
    low, high = np.full(len(shares), -radius), np.full(len(shares), radius)
    for _ in range(HALVINGS):
        w = (low + high) / 2.0
        (_, first), (_, second) = _evaluated(loss, w, 1), _evaluated(loss, w, 0)
        rising = l2 * w + shares * first + (1.0 - shares) * second > 0.0
        low, high = np.where(rising, low, w), np.where(rising, w, high)
    return np.asarray((low + high) / 2.0)


def _evaluated(loss: Surrogate, w: Floats, relevant: int) -> tuple[Floats, Floats]:
    """The loss of a list, and its derivative in w, for every w."""
    x = NORM * np.array([-1.0, 1.0])
    y = np.zeros((len(w), 2), np.int32)
    y[:, relevant] = 1
    offsets = np.arange(0, 2 * len(w) + 1, 2)
    values, gradient = loss.unchecked(np.outer(w, x).ravel(), y.ravel(), offsets)
    return values, gradient.reshape(-1, 2) @ x
