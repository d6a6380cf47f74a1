"""Which pairwise losses does `twolayer` use, and what is their average over the pairs of a query?

For documents z = (x, y) and z' of one query, equation (1) defines

    l01(z, z') = 1[(y - y') (f(x) - f(x')) < 0],      l_phi(z, z') = phi(-sgn(y - y') (f(x) - f(x'))),

phi(t) = max(0, 1 + t) (hinge), log(1 + e^t) (logistic) or e^t (exponential), and the empirical risk averages

    (1 / (m (m - 1))) sum over j != k of l(z_j, z_k)

over queries. sgn(0) = 0: two documents of the same label have the loss phi(0) for every f, and 0 under l01; a pair with
equal scores also has the loss 0 under l01.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pipeline_lib import surrogates
from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import checked
from pipeline_lib.core.compiled import njit
from pipeline_lib.core.errors import ConfigurationError, DataError, hint
from pipeline_lib.ranking import ascending
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.surrogates.pair_sweeps import LEVELS, n_pairs


@checked
@dataclass(frozen=True)
class PairLoss:
    """One of the paper's losses.

    Attributes
    ----------
    name : str
    surrogate : str or None
        Its name among the surrogates; None for the 0-1 loss, which is not convex.
    at_zero : float
        phi(0), the loss of two documents of the same label.
    of_difference : callable
        t -> phi(t), elementwise, t = -sgn(y - y') (f(x) - f(x')).
    derivative : callable
        t -> phi'(t), elsewhere than at a kink.
    largest, slope : callables
        B -> M and B -> Lipschitz constant of phi, on [-2B, 2B], the range of t for scores in [-B, B].
    """

    name: str
    surrogate: str | None
    at_zero: float
    of_difference: Callable[[Floats], Floats]
    derivative: Callable[[Floats], Floats]
    largest: Callable[[float], float]
    slope: Callable[[float], float]

    def values(self, scores: ArrayLike, y: ArrayLike, offsets: ArrayLike) -> Floats:
        """The average over the pairs of every query, shape (Q,).

        Parameters
        ----------
        scores, y : array-like, shape (N,)
        offsets : array-like, shape (Q + 1,)
            Every query has at least two documents.

        Raises
        ------
        DataError
            When a query has a single document, or the input is invalid.

        Example
        -------
        >>> LOSSES["hinge"].values([2.0, 0.0, 0.0], [1, 0, 0], [0, 3]).round(6)
        array([0.333333])
        >>> LOSSES["zero-one"].values([0.0, 1.0, 2.0], [2, 1, 0], [0, 3])
        array([1.])
        """
        s, labels, bounds = checks.ranking(scores, y, offsets)
        m = np.diff(bounds)
        if np.any(m < 2):
            where = int(np.argmax(m < 2))
            raise DataError(f"query {where}: expected at least two documents to form a pair, found {m[where]}")
        pairs = m * (m - 1) / 2.0
        if self.surrogate is None:
            return np.asarray(_misordered(s, labels, bounds) / pairs)
        different = n_pairs(labels, bounds) / pairs
        return self.objective().value(s, labels, bounds) + self.at_zero * (1.0 - different)

    def objective(self) -> Surrogate:
        """The surrogate with the same risk, except for pairs of equal labels, which no ranker changes.

        Raises
        ------
        DataError
            For the 0-1 loss.
        """
        if self.surrogate is None:
            raise DataError(f"{self.name}: expected a convex loss to minimise, found one that is not")
        return surrogates.create(self.surrogate, normalisation="all-pairs")


@checked
def get(name: str) -> PairLoss:
    """The loss of that name.

    Raises
    ------
    ConfigurationError
        When there is none; the message names the nearest.

    Example
    -------
    >>> get("logistic").surrogate
    'ranknet'
    """
    if name not in LOSSES:
        raise ConfigurationError(f"loss: unknown name {name!r}; {hint(name, LOSSES)}")
    return LOSSES[name]


def _sigmoid(t: Floats) -> Floats:
    return np.exp(-np.logaddexp(0.0, -t))


def _exponential_at_twice(b: float) -> float:
    # beyond the range of floats, largest value and slope are infinite
    return math.exp(2.0 * b) if 2.0 * b < math.log(sys.float_info.max) else math.inf


@njit
def _misordered(s, y, offsets):  # type: ignore[no-untyped-def]
    # number of pairs with y_i > y_j and s_i < s_j, for every query
    counts = np.zeros(len(offsets) - 1)
    seen = np.zeros(LEVELS, np.int64)
    for q in range(len(counts)):
        begin, end = offsets[q], offsets[q + 1]
        # By increasing score: the number of documents with a larger label and a smaller score; equal scores are counted
        # first.
        order = ascending(s[begin:end])
        top = 0
        for i in range(begin, end):
            top = max(top, y[i])
        seen[: top + 1] = 0
        waiting = 0
        for k in range(end - begin):
            i = begin + order[k]
            while s[begin + order[waiting]] < s[i]:
                seen[y[begin + order[waiting]]] += 1
                waiting += 1
            for label in range(y[i] + 1, top + 1):
                counts[q] += seen[label]
    return counts


ZERO_ONE = "zero-one"
"""The name of the loss that counts wrong pairs."""
LOSSES = {
    loss.name: loss
    for loss in (
        PairLoss(
            ZERO_ONE,
            None,
            0.0,
            lambda t: (t > 0.0).astype(np.float64),
            np.zeros_like,
            lambda b: 1.0,
            lambda b: math.inf,
        ),
        PairLoss(
            "hinge",
            "ranksvm",
            1.0,
            lambda t: np.maximum(0.0, 1.0 + t),
            lambda t: (t > -1.0).astype(np.float64),
            lambda b: 1.0 + 2.0 * b,
            lambda b: 1.0,
        ),
        PairLoss(
            "logistic",
            "ranknet",
            math.log(2.0),
            lambda t: np.logaddexp(0.0, t),
            _sigmoid,
            lambda b: float(np.logaddexp(0.0, 2.0 * b)),
            lambda b: 1.0 / (1.0 + math.exp(-2.0 * b)),
        ),
        PairLoss("exponential", "rankboost", 1.0, np.exp, np.exp, _exponential_at_twice, _exponential_at_twice),
    )
}
