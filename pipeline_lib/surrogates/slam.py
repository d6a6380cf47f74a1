"""Which convex surrogates bound a listwise ranking loss with one weighted hinge per document: the SLAM family?

    phi^v(s, y) = sum_i v_i max(0, max_{j: y_j < y_i} (Delta + s_j - s_i))                                          (5)

The loss of a document is its weight v_i times the hinge of the best-scored less relevant document. The weights depend
on the labels only, and every choice of them bounds one ranking loss. With the documents numbered by decreasing label, i
= 1..m, r of them relevant, G the gain, D the discount, Z and Z_k the ideal DCG:

    v^MAP_i = 1/r - i / (r (m - r + i)) = (m - r) / (r (m - r + i))  for i <= r, else 0                             (6)
    v^NDCG_i = (G(y_i) - G(y_m)) (D(i) - D(m)) / Z                                                                  (9)
    v^NDCG@k_i = G(y_i) D(i) / Z_k  for i <= k, else 0                                                             (31)

Equal labels. Documents of equal label share a range of positions i, and (6), (9) and (31) do not state how these are
assigned. Here they are assigned in document order. With any assignment that does not depend on the scores, phi^v is
convex, and with any assignment the bound holds: within a label the hinge decreases with the score and v decreases with
i, so that among all assignments the sum is smallest when the best-scored document has the first position; the proofs in
the paper's appendix bound that smallest sum. As a surrogate it would be tighter, but a minimum of convex functions is
not convex.

The bound. A document below a less relevant one has a hinge of at least Delta, so phi^v >= 1 - NDCG (Theorem 3), 1 - AP
(Theorem 2) and 1 - NDCG@k (Corollary 7) for every s and y when Delta >= 1, however ties in scores are broken; for Delta
< 1 the same holds with Delta times the loss. AP uses binary labels: a label of 1 or more counts as 1.

Queries without a loss. All labels equal: no hinge, phi = 0; v^NDCG = v^MAP = 0 (r = m and r = 0 included). No relevant
document: Z = Z_k = 0, and all weights are 0 by convention. The measures count as 1 there.

Constants. Let one document of the lowest label have the largest score and all others the same score: all hinges are
active and point to that document, and ||grad||_1 = 2 sum v over the documents that have a hinge, the largest possible.
With respect to l_2, ||grad||_2 <= sum v ||e_k - e_i||_2 = sqrt(2) sum v, attained where one document carries all the
weight. Over label vectors, sum v is largest for a single relevant document of m, where it is

    1 - 1/m (MAP),    1 - D(m) (NDCG),    1 (NDCG@k);

for MAP since sum v = (1/r) sum_{i<=r} (m - r) / (m - r + i), a mean of terms that all decrease in r and i; for NDCG
since sum v <= 1 - D(m) sum g / sum g D with g_i = G(y_i) - G(y_m) and D <= 1. So the suprema below are attained,
whatever y_max >= 1, and grow with m.

**The smallest valid weights for 1 - NDCG.** With the documents numbered by falling label, r_l of them labelled l or
more, and the gain G,

    v_i = (1/Z) sum over l = 1..y_i of (G(l) - G(l - 1)) (D(i) - D(m - r_l + i)).

For a single threshold l, the documents labelled l or more are relevant and all others are not, and D(i) - D(m - r_l +
i) is what document i loses in the reversed order: the analogue of v^MAP (6). A threshold's hinge is at most that of
(5), since a document of label y_i >= l has at least the documents below l to compete with; so the sum over thresholds
bounds 1 - NDCG. The sum of v is 1 - NDCG of the reversed order. No valid weights have a smaller one: at equal scores
all hinges are 1, and ties may be broken in that order. No weight exceeds that of (9), because D(m - r_l + i) >= D(m).
The proof is in docs/weights-of-slam.md.

References
----------
`slam`, sections 3 to 5 and its appendix.
"""

import math
from abc import abstractmethod
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import MAX_LABEL, Count, Label, NonNegative, Positive, checked
from pipeline_lib.core.compiled import njit
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.ranking import (
    GAINS,
    best_below,
    discounts,
    discounts_of_longest,
    ideal_dcg_in_data_order,
    ideal_ranks,
)
from pipeline_lib.surrogates.base import Evaluation, Norm, ScoreBound, Surrogate, What
from pipeline_lib.surrogates.programmes import Chains, of_chains


@checked
def weights(y: ArrayLike, kind: str = "ndcg") -> Floats:
    """The weights v of one query's documents, in the documents' own order, shape (m,): (9), (6) or (31).

    Equal labels take their positions in document order; see the module's docstring for why.

    Parameters
    ----------
    y : shape (m,), whole labels in 0..255
    kind : "ndcg", "map" (label >= 1 counts as 1) or "ndcg@K", such as "ndcg@10"

    Raises
    ------
    DataError
        When the labels are not of this form.
    ConfigurationError
        When the kind does not exist.

    Example
    -------
    >>> weights([0, 1, 1, 0], "map").round(4).tolist()
    [0.0, 0.3333, 0.25, 0.0]
    >>> weights([0, 2, 1], "ndcg@1").tolist()
    [0.0, 1.0, 0.0]
    """
    return weights_of_all(y, [0, _length(y)], kind)


@checked
def weights_of_all(y: ArrayLike, offsets: ArrayLike, kind: str = "ndcg") -> Floats:
    """The weights of all queries' documents, shape (N,): as :func:`weights`, query by query.

    Example
    -------
    >>> weights_of_all([0, 1, 0, 0, 1], [0, 2, 5], "map").round(4).tolist()
    [0.0, 0.5, 0.0, 0.0, 0.6667]
    """
    labels = checks.labels("y", y)
    return _weights(labels, checks.offsets("offsets", offsets, len(labels)), kind)


@checked
def tight_weights_of_all(y: ArrayLike, offsets: ArrayLike) -> Floats:
    """The valid weights for 1 - NDCG with the smallest sum, of all queries' documents, shape (N,).

    Parameters
    ----------
    y : shape (N,), whole labels in 0..255
    offsets : shape (Q + 1,), rising strictly from 0 to N

    Raises
    ------
    DataError
        When the labels or offsets are not of this form.

    Example
    -------
    >>> tight_weights_of_all([1, 1, 0], [0, 3]).round(3).tolist()
    [0.226, 0.08, 0.0]
    """
    labels = checks.labels("y", y)
    return _tight(labels, checks.offsets("offsets", offsets, len(labels)))


@checked
def v_max(y: ArrayLike, kind: str = "ndcg") -> float:
    """max v_i / v_j over positive weights of one query (Proposition 4); 1 where no weight is positive.

    Example
    -------
    >>> v_max([1, 1, 1, 0], "map")
    2.0
    """
    return float(v_max_of_all(y, [0, _length(y)], kind)[0])


def _length(y: ArrayLike) -> int:
    if not np.size(y):
        raise DataError("y: expected at least one label, found none")
    return np.size(y)


@checked
def v_max_of_all(y: ArrayLike, offsets: ArrayLike, kind: str = "ndcg") -> Floats:
    """The largest ratio of positive weights of every query, shape (Q,); its maximum is the v_max of Theorem 5.

    Example
    -------
    >>> v_max_of_all([1, 1, 0, 1, 0], [0, 3, 5], "map").round(9).tolist()
    [1.5, 1.0]
    """
    v = weights_of_all(y, offsets, kind)
    starts = checks.array("offsets", offsets)[:-1]
    largest = np.maximum.reduceat(v, starts)
    smallest = np.minimum.reduceat(np.where(v > 0, v, math.inf), starts)
    return np.where(largest > 0, largest / smallest, 1.0)


@checked
def v_max_supremum(m: Count, y_max: Label, kind: str = "ndcg") -> float:
    """The largest v_max over all lists of at most ``m`` documents with labels in 0..``y_max``; attained.

    MAP: v_1 / v_r = m / (m - r + 1) is largest for r = m - 1: m / 2.
    NDCG: labels y_max, ..., 1, 0 give (2^y_max - 1) (1 - D(m)) / (D(m - 1) - D(m)), of the order m log^2 m, for m >= 3.
    NDCG@k: labels y_max, ..., 1 at the first K = min(k, m) positions give (2^y_max - 1) log2(K + 1), for K >= 2.
    In every other case at most one weight is positive, and the ratio is 1.

    Example
    -------
    >>> v_max_supremum(10, 1, "map"), v_max_supremum(100, 1, "ndcg@3")
    (5.0, 2.0)
    """
    k = cutoff(kind)
    if kind == "map":
        return max(1.0, m / 2) if y_max else 1.0
    D = discounts(m)
    if k is None:
        return float(GAINS[y_max] * (1.0 - D[-1]) / (D[-2] - D[-1])) if m >= 3 and y_max else 1.0
    last = min(k, m)
    return float(GAINS[y_max] / D[last - 1]) if last >= 2 and y_max else 1.0


Weights = Literal["printed", "tight"]
"""Those of (9), or the valid ones with the smallest sum."""

_HINGES = r"\varphi(s, y) = \sum_i v_i \max\Bigl( 0, \max_{j:\, y_j < y_i} (\Delta + s_j - s_i) \Bigr), \quad "  # (5)


class _Slam(Surrogate):
    """The common part of the family: a margin, the hinges, and constants that follow from the largest sum of weights.

    Attributes
    ----------
    kind : str
        The kind of weights, as :func:`weights` names them.
    """

    shift_invariant: ClassVar[bool] = True
    exact: ClassVar[tuple[What, ...]] = ("lipschitz-linf", "lipschitz-l2")
    effort: ClassVar[float] = 8.0
    kind: str

    def __init__(self, margin: Positive = 1.0) -> None:
        self.margin = float(margin)

    def unchecked(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """See the base class; (24), with hinges at exactly 0 closed and the first of equal scores as k(i)."""
        return self.on(y, offsets)(scores)

    def on(self, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Evaluation:
        """See the base class."""
        labels = np.minimum(y, 1) if self.kind == "map" else y
        v = self._weights(labels, offsets)
        return lambda scores: hinges(scores, labels, offsets, v, self.margin)

    def _weights(self, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Floats:
        return _weights(y, offsets, self.kind)

    def programme(self, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Chains:
        """See the base class: the best score below every label is a variable."""
        labels = np.minimum(y, 1) if self.kind == "map" else y
        return of_chains(labels, offsets, self._weights(labels, offsets), self.margin)

    def lipschitz(self, m: Count, y_max: Label, norm: Norm = "linf", *, score_bound: ScoreBound = None) -> float:
        """2 (l_inf) or sqrt(2) (l_2) times the largest sum of weights; attained (see the module's docstring)."""
        if m == 1 or y_max == 0:
            return 0.0
        return (2.0 if norm == "linf" else math.sqrt(2.0)) * self._largest_sum(m)

    def bound(self, m: Count, y_max: Label, score_bound: NonNegative) -> float:
        """Delta + 2 S."""
        # sum v <= 1, and every hinge is at most Delta + 2 S
        return self.margin + 2.0 * score_bound

    @abstractmethod
    def _largest_sum(self, m: int) -> float:
        """sup of sum v over label vectors of m >= 2 documents."""


class SlamNDCG(_Slam):
    """phi^v with the weights (9); phi >= 1 - NDCG (Theorem 3), a bound that is not tight.

    G = 2 (1 - D(m)) with respect to l_inf, sqrt(2) (1 - D(m)) with respect to l_2; attained, with either weights: for
    one relevant document they agree.

    Parameters
    ----------
    margin : float > 0
        Delta; the paper uses 1, and from 1 on the bound holds.
    weights : "printed" or "tight"
        Those of (9), or the valid ones with the smallest sum (:func:`tight_weights_of_all`).

    References
    ----------
    `slam`, (5), (9) and (24), Theorem 3.

    Example
    -------
    >>> values, gradient = SlamNDCG().value_and_gradient([0.0, 2.0, 1.0], [1, 0, 0], [0, 3])
    >>> values.tolist(), gradient.tolist()
    ([1.5], [-0.5, 0.5, 0.0])
    """

    name: ClassVar[str] = "slam-ndcg"
    formula: ClassVar[str] = _HINGES + r"v_i = \frac{(G(y_i) - G(y_m)) (D(i) - D(m))}{Z(y)}"
    kind = "ndcg"

    def __init__(self, margin: Positive = 1.0, weights: Weights = "printed") -> None:
        super().__init__(margin)
        self.weights = weights

    def _weights(self, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Floats:
        return _tight(y, offsets) if self.weights == "tight" else super()._weights(y, offsets)

    def _largest_sum(self, m: int) -> float:
        return float(1.0 - discounts(m)[-1])


class SlamMAP(_Slam):
    """phi^v on binary labels (label >= 1 counts as 1) with the weights (6); phi >= 1 - AP (Theorem 2).

    The bound is tight: for every m, r and t <= r there are scores with 1 - AP = v_t + ... + v_r and a phi arbitrarily
    close to it. G = 2 (1 - 1/m) with respect to l_inf, sqrt(2) (1 - 1/m) with respect to l_2; attained.

    Parameters
    ----------
    margin : float > 0
        Delta; the paper uses 1, and from 1 on the bound holds.

    References
    ----------
    `slam`, (5), (6) and (24), Theorem 2.

    Example
    -------
    >>> SlamMAP().value([0.0, 1.0, -3.0], [1, 0, 0], [0, 3]).round(4).tolist()
    [1.3333]
    """

    name: ClassVar[str] = "slam-map"
    formula: ClassVar[str] = (
        _HINGES + r"v_i = \frac{1}{r} - \frac{i}{r (m - r + i)} \text{ for } i \le r, \text{ else } 0"
    )
    binary: ClassVar[bool] = True
    kind = "map"

    def _largest_sum(self, m: int) -> float:
        return 1.0 - 1.0 / m


class SlamNDCGAt(_Slam):
    """phi^v with the weights (31); phi >= 1 - NDCG@k (Corollary 7, its proof in the appendix).

    The paper's (30) sums over the first k documents of the list; the intended measure, which is bounded here, sums over
    the first k ranks. G = 2 with respect to l_inf and sqrt(2) with respect to l_2, for every m >= 2 and k; attained.

    Parameters
    ----------
    k : whole number >= 1
        The cut-off.
    margin : float > 0
        Delta; the paper uses 1, and from 1 on the bound holds.

    References
    ----------
    `slam`, (5), (24) and (31), Corollary 7.

    Example
    -------
    >>> SlamNDCGAt(k=1).value([0.0, 2.0, 1.0], [1, 0, 0], [0, 3]).tolist()
    [3.0]
    """

    name: ClassVar[str] = "slam-ndcg@k"
    formula: ClassVar[str] = _HINGES + r"v_i = \frac{G(y_i) D(i)}{Z_k(y)} \text{ for } i \le k, \text{ else } 0"

    def __init__(self, k: Count = 10, margin: Positive = 1.0) -> None:
        super().__init__(margin)
        self.kind = f"ndcg@{k}"
        cutoff(self.kind)
        self.k = int(k)

    def _largest_sum(self, m: int) -> float:
        return 1.0


@checked
def cutoff(kind: str, name: str = "kind") -> int | None:
    """The K of the kind "ndcg@K"; None for "ndcg" and "map".

    Raises
    ------
    ConfigurationError
        When the kind does not exist; the message calls it by ``name``.

    Example
    -------
    >>> cutoff("ndcg@10"), cutoff("map")
    (10, None)
    """
    if kind in ("ndcg", "map"):
        return None
    digits = kind.removeprefix("ndcg@")
    if digits == kind or not (digits.isascii() and digits.isdigit() and int(digits) >= 1):
        raise ConfigurationError(f"{name}: expected 'ndcg', 'map' or 'ndcg@K' with K >= 1, found {kind!r}")
    return int(digits)


def _weights(y: NDArray[np.int32], offsets: NDArray[np.int64], kind: str) -> Floats:
    k = cutoff(kind)
    if kind == "map":
        binary = np.minimum(y, 1)
        return _map_weights(binary, ideal_ranks(binary, offsets), offsets)
    return _dcg_weights(y, ideal_ranks(y, offsets), offsets, discounts_of_longest(offsets), k or 0)


def _tight(y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Floats:
    return _tight_weights(y, ideal_ranks(y, offsets), offsets, discounts_of_longest(offsets))


@njit(nogil=True)
def _map_weights(y, positions, offsets):  # type: ignore[no-untyped-def]
    # v_i = (m - r) / (r (m - r + i)) for relevant documents, else 0; binary labels
    v = np.zeros(len(y))
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        r = y[begin:end].sum()
        others = end - begin - r
        for i in range(begin, end):
            if y[i] > 0:
                v[i] = others / (r * (others + positions[i]))
    return v


@njit(nogil=True)
def _dcg_weights(y, positions, offsets, D, k):  # type: ignore[no-untyped-def]
    # v_i = (G(y_i) - G(lowest)) (D(i) - D(m)) / Z,  Z = sum_i G(y_i) D(i); with a cut-off, k > 0, instead
    # v_i = G(y_i) D(i) / Z_k for i <= k, else 0,  Z_k = sum_{i <= k} G(y_i) D(i)
    v = np.zeros(len(y))
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        Z = ideal_dcg_in_data_order(y[begin:end], positions[begin:end], D[:k] if k else D)
        if Z > 0.0:
            base, last = (0.0, 0.0) if k else (GAINS[y[begin:end].min()], D[end - begin - 1])
            for i in range(begin, end):
                if not k or positions[i] <= k:
                    v[i] = (GAINS[y[i]] - base) * (D[positions[i] - 1] - last) / Z
    return v


@njit(nogil=True)
def _tight_weights(y, positions, offsets, D):  # type: ignore[no-untyped-def]
    v, counts = np.zeros(len(y)), np.zeros(MAX_LABEL + 1, np.int64)
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        Z = ideal_dcg_in_data_order(y[begin:end], positions[begin:end], D)
        if Z == 0.0:
            continue
        counts[:] = 0
        for i in range(begin, end):
            counts[y[i]] += 1
        lowest = y[begin:end].min()
        for i in range(begin, end):
            # Thresholds between two labels that occur have the same documents above them.
            below, lower = lowest, counts[lowest]
            for label in range(lowest + 1, y[i] + 1):
                if counts[label] > 0:
                    place = positions[i] - 1
                    v[i] += (GAINS[label] - GAINS[below]) * (D[place] - D[lower + place]) / Z
                    below, lower = label, lower + counts[label]
    return v


@njit(nogil=True)
def hinges(s, y, offsets, v, margin, cut=True):  # type: ignore[no-untyped-def]
    """phi = sum_i v_i max(0, margin + s_k - s_i), k = k(i) the best-scored document with a label below y_i.

    Returns the values and gradients of all queries; without ``cut``, those of the sum without the maximum with 0.
    """
    values, gradient = np.zeros(len(offsets) - 1), np.zeros(len(s))
    best = np.full(MAX_LABEL + 2, -1, np.int64)
    for q in range(len(values)):
        begin, end = offsets[q], offsets[q + 1]
        top = best_below(s[begin:end], y[begin:end], best)
        for i in range(begin, end):
            k = best[y[i]]
            if k >= 0:
                hinge = margin + s[begin + k] - s[i]
                if hinge > 0.0 or not cut:
                    values[q] += v[i] * hinge
                    gradient[i] -= v[i]
                    gradient[begin + k] += v[i]
        best[: top + 2] = -1
    return values, gradient
