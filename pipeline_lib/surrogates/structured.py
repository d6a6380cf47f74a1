"""Which surrogates treat ranking as structured prediction: the largest violated margin over all rankings?

Both are a maximum, over the rankings pi of a query's documents, of the ranking loss of pi plus the amount by which the
scores favour pi over an ideal ranking. The ranking by the scores is among them and is favoured by them, so the maximum
is at least its loss: structured-ndcg >= 1 - NDCG, svm-map >= 1 - AP, for every s and y. A maximum of affine functions
of s is convex, and the slope of one that attains it is a subgradient.

A query whose documents all have one label contributes 0: no ranking of it has a loss.
"""

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Label, NonNegative
from pipeline_lib.ranking import discounts, ideal_ranks
from pipeline_lib.surrogates.base import Norm, ScoreBound, Surrogate, What
from pipeline_lib.surrogates.loss_augmented_search import structured_ndcg, svm_map


class StructuredNDCG(Surrogate):
    """phi(s, y) = max_pi [1 - NDCG(pi, y) + <s, A(pi) - A(pi_y)>] with A(pi)_i = m - rank_i, pi_y an ideal ranking.

    The bracket is 0 at pi = pi_y, so that max(0, .) around the maximum changes nothing. A subgradient is
    rank_i in pi_y minus rank_i in a best pi.

    Several ideal rankings exist when labels are equal. Chapelle, Le and Smola choose one at random. Here equal labels
    are in document order, which is a fixed choice, as convexity requires: with the best-scored ideal ranking, phi would
    be a difference of convex functions. Therefore phi is also positive for equal labels that the scores do not order as
    the documents, and depends on that order, which `slam`, section 3.1, criticises. For a query with one label level it
    is nevertheless set to 0.

    Exact for any labels: O(m log m) for two label levels, and for more unless the scores of documents of different
    labels are so similar that the loss decides their order; then up to O(m^2) for each of a few documents (see
    ``loss_augmented_search``).

    Constants. The gradient is the difference of two permutations, any of which can be made best by scores far apart:
    with respect to l_inf, G = sum_i |2i - 1 - m| = floor(m^2 / 2), with respect to l_2 sqrt(m (m^2 - 1) / 3), both
    attained by the reversed ideal ranking, whatever y_max >= 1.

    References
    ----------
    Chapelle, Le and Smola 2007; `slam`, section 6.1 and its appendix (the gradient is O(m^2)).

    Example
    -------
    >>> values, gradient = StructuredNDCG().value_and_gradient([0.0, 2.0, 1.0], [1, 0, 0], [0, 3])
    >>> values.tolist(), gradient.tolist()
    ([3.5], [-2.0, 1.0, 1.0])
    """

    name: ClassVar[str] = "structured-ndcg"
    formula: ClassVar[str] = (
        r"\varphi(s, y) = \max_\pi \bigl( 1 - \mathrm{NDCG}(\pi, y) + \langle s, A(\pi) - A(\pi_y) \rangle \bigr), "
        r"\quad A(\pi)_i = m - \mathrm{rank}_\pi(i)"
    )
    shift_invariant: ClassVar[bool] = True
    exact: ClassVar[tuple[What, ...]] = ("lipschitz-linf", "lipschitz-l2")
    effort: ClassVar[float] = 15.0
    repeats: ClassVar[float] = 12.0

    def unchecked(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """See the base class."""
        D = discounts(int(np.diff(offsets).max(initial=1)))
        return structured_ndcg(scores, y, offsets, ideal_ranks(y, offsets), D)

    def lipschitz(self, m: Count, y_max: Label, norm: Norm = "linf", *, score_bound: ScoreBound = None) -> float:
        """floor(m^2 / 2) (l_inf) or sqrt(m (m^2 - 1) / 3) (l_2); attained. 0 where no two labels can differ."""
        if m == 1 or y_max == 0:
            return 0.0
        return float(m**2 // 2) if norm == "linf" else math.sqrt(m * (m**2 - 1) / 3)

    def bound(self, m: Count, y_max: Label, score_bound: NonNegative) -> float:
        """1 + S floor(m^2 / 2)."""
        # 1 - NDCG <= 1, and ||A(pi) - A(pi_y)||_1 <= sum |2 i - 1 - m| = floor(m^2 / 2)
        return 1.0 + score_bound * (m * m // 2)


class SvmMAP(Surrogate):
    """phi(s, y) = max_pi [1 - AP(pi, y) + <s, Psi(pi) - Psi(pi*)>] on binary labels (label >= 1 counts as 1), with

        <s, Psi(pi)> = 1/(r (m - r)) sum over relevant i, irrelevant j of pi_ij (s_i - s_j),

    pi_ij = 1 if i is ranked above j, else -1; r documents are relevant. Psi is the same for every ideal ranking pi*,
    and phi does not depend on the order of the documents. O(m log m), exact (see ``loss_augmented_search``).

    Constants. The gradient is -2/(r (m - r)) times the number of irrelevant documents above a relevant one, and 2/(r (m
    - r)) times the number of relevant documents below an irrelevant one. All are largest at the same time when all
    irrelevant documents are ranked at the top: G = 4 with respect to l_inf, for every m and r; with respect to l_2
    sqrt(4/r + 4/(m - r)), largest for one relevant document and one irrelevant: sqrt(8). Both are attained.

    References
    ----------
    Yue, Finley, Radlinski and Joachims 2007; `slam`, section 6.1 (the gradient is bounded by a constant).

    Example
    -------
    >>> values, gradient = SvmMAP().value_and_gradient([0.0, 2.0], [1, 0], [0, 2])
    >>> values.tolist(), gradient.tolist()
    ([4.5], [-2.0, 2.0])
    """

    name: ClassVar[str] = "svm-map"
    formula: ClassVar[str] = (
        r"\varphi(s, y) = \max_\pi \bigl( 1 - \mathrm{AP}(\pi, y) + \langle s, \Psi(\pi) - \Psi(\pi_y) \rangle \bigr), "
        r"\quad \langle s, \Psi(\pi) \rangle = \frac{1}{r (m - r)} \sum_{i, j:\, y_i \ge 1 > y_j} \pi_{ij} (s_i - s_j)"
    )
    shift_invariant: ClassVar[bool] = True
    exact: ClassVar[tuple[What, ...]] = ("lipschitz-linf", "lipschitz-l2")
    effort: ClassVar[float] = 8.0

    def unchecked(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """See the base class."""
        return svm_map(scores, np.minimum(y, 1), offsets)

    def lipschitz(self, m: Count, y_max: Label, norm: Norm = "linf", *, score_bound: ScoreBound = None) -> float:
        """4 (l_inf) or sqrt(8) (l_2); attained. 0 where no two labels can differ."""
        if m == 1 or y_max == 0:
            return 0.0
        return 4.0 if norm == "linf" else math.sqrt(8.0)

    def bound(self, m: Count, y_max: Label, score_bound: NonNegative) -> float:
        """1 + 4 S."""
        # 1 - AP <= 1, and every pair contributes at most 2 * 2 S / (r (m - r))
        return 1.0 + 4.0 * score_bound
