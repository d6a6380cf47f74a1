"""Which surrogate is the angle between the scores and the labels?"""

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Label, NonNegative
from pipeline_lib.core.compiled import njit
from pipeline_lib.surrogates.base import Norm, ScoreBound, Surrogate


class RankCosine(Surrogate):
    """phi(s, y) = (1 - <a, b>) / 2,  a = e^s / ||e^s||_2,  b = e^y / ||e^y||_2: half of 1 minus the angle's cosine.

    Scores and labels are compared after a transformation, which may be linear, exponential or logistic (Liu, (2.20)).
    The linear one, s / ||s||, has no derivative at s = 0 and no Lipschitz constant near it. Here it is the exponential,
    with which phi is smooth everywhere and does not change when a constant is added to the scores. Not convex.

    The gradient is -a_i (b_i - c a_i) / 2 with c = <a, b>.

    Constants, free of m and y_max, not tight. By the inequality of Cauchy and Schwarz, the l_1 norm of the gradient is
    at most ||a|| ||b - c a|| / 2 <= 1/2; the gradient sums up to 0, so that its l_2 norm is at most 1 / sqrt(8). For H,
    let means, Var and Cov be those of the weights a_i^2: D^2 c [u, v] = sum b_i a_i (u_i - E u)(v_i - E v) - 2 c
    Cov(u, v), where the first sum is at most (E (u - E u)^2 (v - E v)^2)^(1/2) <= 2 and the rest at most 2 if no
    entry of u and v exceeds 1; hence H <= 2. phi <= 1/2 for all scores, because a and b are positive.

    References
    ----------
    Qin, Zhang, Tsai, Wang, Liu and Li, "Query-level loss functions for information retrieval", Information Processing
    and Management 44 (2008); with the transformation as in Liu, "Learning to Rank for Information Retrieval", Springer
    2011, equation (2.20).

    Example
    -------
    >>> values, gradient = RankCosine().value_and_gradient([0.0, 0.0], [1, 0], [0, 2])
    >>> values.round(4), gradient.round(4)
    (array([0.0461]), array([-0.1049,  0.1049]))
    """

    name: ClassVar[str] = "rankcosine"
    formula: ClassVar[str] = (
        r"\varphi(s, y) = \frac{1}{2} \Bigl( 1 - \frac{\sum_i \exp(s_i + y_i)}"
        r"{\sqrt{\sum_i \exp(2 s_i)} \sqrt{\sum_i \exp(2 y_i)}} \Bigr)"
    )
    convex: ClassVar[bool] = False
    smooth: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = True
    repeats: ClassVar[float] = 14.0

    def unchecked(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """See the base class."""
        return _rankcosine(scores, y, offsets)

    def lipschitz(self, m: Count, y_max: Label, norm: Norm = "linf", *, score_bound: ScoreBound = None) -> float:
        """1/2 (l_inf) or 1 / sqrt(8) (l_2); 0 for one document."""
        if m == 1:
            return 0.0
        return 0.5 if norm == "linf" else 1.0 / math.sqrt(8.0)

    def smoothness(self, m: Count, y_max: Label, *, score_bound: ScoreBound = None) -> float:
        """2; 0 for one document."""
        return 0.0 if m == 1 else 2.0

    def bound(self, m: Count, y_max: Label, score_bound: NonNegative) -> float:
        """1/2."""
        return 0.5


@njit(nogil=True)
def _rankcosine(s, y, offsets):  # type: ignore[no-untyped-def]
    # With e = e^(s - max s) and f = e^(y - max y): A = sum e^2, B = sum f^2, C = sum e f,
    # phi = (1 - C / sqrt(A B)) / 2 and the gradient e_i (C e_i - A f_i) / (2 A sqrt(A B)), which is 0 where e = f.
    values, gradient = np.empty(len(offsets) - 1), np.empty(len(s))
    for q in range(len(values)):
        begin, end = offsets[q], offsets[q + 1]
        high, label = s[begin:end].max(), float(y[begin:end].max())
        A = B = C = 0.0
        for i in range(begin, end):
            e, f = math.exp(s[i] - high), math.exp(y[i] - label)
            A += e * e
            B += f * f
            C += e * f
        root = math.sqrt(A * B)
        values[q] = max(0.5 * (1.0 - C / root), 0.0)
        for i in range(begin, end):
            e, f = math.exp(s[i] - high), math.exp(y[i] - label)
            gradient[i] = e * (C * e - A * f) / (2.0 * A * root)
    return values, gradient
