"""How large is the two-layer Rademacher average (`twolayer`, Definition 3) of linear rankers, and of losses over them?

For queries with k_i = floor(m_i / 2) disjoint pairs of documents each, and independent signs sigma,

    R_{n; m_1, ..., m_n} = E_sigma sup_f |(2/n) sum_i (1/k_i) sum_j sigma_ij l(z_ij, z_i(k_i + j); f)|.

With two documents per query it is the ordinary average of n pairs (the *document-layer reduced* one), with one query
that of k_1 pairs (the *query-layer reduced* one). For l = <w, d>, d = sgn(y - y') (x - x') and ||w|| <= W, the supremum
is W times the length of the signed sum. This is estimated here, conditional on the sample, with a standard error.

**From linear to loss.** l_phi(z, z'; w) = phi(-<w, d>) with phi of slope at most L on the scores' range and phi(0) at w
= 0, which is in the class. With a(w) = sum sigma phi(-<w, d>),

    sup |a| <= sup (a(w) - a(0)) + sup (a(0) - a(w)) + |a(0)|

since both suprema are >= 0; each of the two is at most L times the linear supremum in expectation (contraction), so

    R(l_phi o F) <= 2 L R(linear) + phi(0) (2/k) E |sigma_1 + ... + sigma_k|         for k pairs of equal weight,

and with phi(0) E |sum sigma_ij 2/(n k_i)| in general.

Without absolute values, L R(linear) alone would do; Definitions 2 and 3 contain them, so that the term with phi(0)
remains.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, NonNegative, Positive, Several, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.theory.pair_losses import PairLoss
from pipeline_lib.theory.rademacher import Estimate as Estimate
from pipeline_lib.theory.rademacher import _estimate, _signed_sums

MOST_ENUMERATED = 20


@checked
@dataclass(frozen=True)
class Pairs:
    """Disjoint pairs of documents, query after query.

    ``differences`` sgn(y - y') (x - x'), shape (P, d), and ``owner``, shape (P,): the query of each pair, numbered from
    0 on without a gap, rising.

    Raises
    ------
    DataError
        When ``owner`` is not of this form.
    """

    differences: Floats
    owner: NDArray[np.int64]

    def __post_init__(self) -> None:
        checks.array("differences", self.differences, ndim=2)
        checks.array("owner", self.owner, ndim=1)
        n, steps = len(self.differences), np.diff(self.owner, prepend=0)
        if self.owner.shape != (n,) or np.any(self.owner[:1]) or np.any((steps < 0) | (steps > 1)):
            raise DataError(f"owner: expected the query of each of {n} pairs, 0, ..., 1, ..., found {self.owner}")

    @property
    def weights(self) -> Floats:
        """2 / (n k_i) for every pair: the factor of its sign in Definition 3."""
        counts = np.bincount(self.owner)
        return np.asarray(2.0 / (len(counts) * counts[self.owner]))


@checked
def disjoint_pairs(X: ArrayLike, y: ArrayLike, offsets: ArrayLike) -> Pairs:
    """Pair document j with document floor(m/2) + j of the same query; the last one is left out if m is odd.

    Parameters
    ----------
    X : array-like, shape (N, d)
    y : array-like, shape (N,)
        Finite numbers, of which only the order counts.
    offsets : array-like, shape (Q + 1,)

    Raises
    ------
    DataError
        When a query has fewer than two documents, a number is not finite, or shapes do not fit.

    Example
    -------
    >>> pairs = disjoint_pairs(np.arange(5.0)[:, None], np.array([0, 0, 1, 1, 1]), np.array([0, 5]))
    >>> pairs.differences.ravel().tolist()
    [2.0, 2.0]
    """
    features = checks.floats("X", X, ndim=2)
    n = len(features)
    labels, bounds = checks.floats("y", y, shape=(n,)), checks.offsets("offsets", offsets, n)
    m = np.diff(bounds)
    if np.any(m < 2):
        where = int(np.argmax(m < 2))
        raise DataError(f"offsets: query {where}: expected at least two documents to form a pair, found {m[where]}")
    k = m // 2
    owner = np.repeat(np.arange(len(k)), k)
    first = np.arange(len(owner)) - np.repeat(np.cumsum(k) - k, k) + bounds[owner]
    second = first + k[owner]
    sign = np.sign(labels[first] - labels[second])
    return Pairs(sign[:, None] * (features[first] - features[second]), owner)


@checked
def two_layer(pairs: Pairs, radius: Positive, draws: Several, rng: np.random.Generator) -> Estimate:
    """Definition 3 for linear rankers ||w|| <= radius on a sample of pairs, by ``draws`` random signs.

    Raises
    ------
    DataError
        When there is no pair, a difference is not finite, radius <= 0 or draws < 2.

    Example
    -------
    >>> pairs = Pairs(np.ones((4, 1)), np.array([0, 0, 0, 1]))
    >>> estimate = two_layer(pairs, 1.0, 20_000, np.random.default_rng(0))
    >>> abs(estimate.estimate - exactly(pairs.differences, pairs.weights, 1.0)) < 4 * estimate.standard_error
    True
    """
    weighted = _finite(pairs.differences) * pairs.weights[:, None]
    return _estimate(radius * _signed_sums(weighted, draws, rng))


@checked
def ordinary(differences: ArrayLike, radius: Positive, draws: Several, rng: np.random.Generator) -> Estimate:
    """Definition 2: E sup |(2/k) sum_j sigma_j <w, d_j>| for k independent pairs; arguments as :func:`two_layer`.

    Example
    -------
    >>> d = ordinary(np.ones((1, 1)), 1.5, 10, np.random.default_rng(0))
    >>> d.estimate, d.standard_error
    (3.0, 0.0)
    """
    d = _finite(differences)
    return _estimate(radius * _signed_sums(2.0 / len(d) * d, draws, rng))


@checked
def exactly(differences: ArrayLike, weights: ArrayLike, radius: Positive) -> float:
    """E sup |sum_j sigma_j weights_j <w, d_j>| over ||w|| <= radius, by enumeration of all signs of at most 20 pairs.

    Raises
    ------
    DataError
        When there are more pairs or none, shapes do not fit, a number is not finite, or radius <= 0.

    Example
    -------
    >>> exactly(np.ones((2, 1)), np.ones(2), 1.0)
    1.0
    """
    d = _finite(differences)
    if len(d) > MOST_ENUMERATED:
        raise DataError(f"differences: expected at most {MOST_ENUMERATED} pairs to enumerate, found {len(d)}")
    factors = checks.floats("weights", weights, shape=(len(d),))
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=len(d))))
    return radius * float(np.mean(np.linalg.norm((signs * factors) @ d, axis=1)))


@checked
def contracted(linear: NonNegative, k: Count, loss: PairLoss, score_bound: NonNegative) -> float:
    """Bound the average of ``loss`` on k pairs by the linear one: 2 L R(linear) + phi(0) (2/k) E |sum of k signs|.

    Parameters
    ----------
    linear : float >= 0
        The average for linear rankers.
    k : int >= 1
    loss : PairLoss
        Not the 0-1 loss, which has no slope.
    score_bound : float >= 0
        B: scores lie in [-B, B].

    Raises
    ------
    DataError
        For the 0-1 loss, and when an argument is out of range.

    Example
    -------
    >>> from pipeline_lib.theory.pair_losses import get
    >>> round(contracted(0.0, 1, get("hinge"), 1.0), 6), round(contracted(0.25, 2, get("hinge"), 1.0), 6)
    (2.0, 1.5)
    """
    slope = loss.slope(score_bound)
    if math.isinf(slope):
        reason = "use two_layer.sauer_massart" if loss.surrogate is None else f"found none on scores to {score_bound:g}"
        raise DataError(f"{loss.name}: expected a loss with a largest slope; {reason}")
    return 2.0 * slope * linear + loss.at_zero * 2.0 / k * _expected_walk(k)


def _expected_walk(k: int) -> float:
    # E |sum of k signs| = 2 h C(2h, h) / 4^h for k = 2h and the same as for k + 1 for odd k
    h = (k + 1) // 2
    return 2.0 * h * math.exp(math.lgamma(2 * h + 1) - 2.0 * math.lgamma(h + 1) - 2.0 * h * math.log(2.0))


def _finite(differences: ArrayLike) -> Floats:
    found = checks.floats("differences", differences, ndim=2)
    if not len(found):
        raise DataError("differences: expected at least one pair, found none")
    return found
