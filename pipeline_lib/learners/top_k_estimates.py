"""What do the labels of the k documents on top say of a surrogate's gradient?

**The estimate, once for all** (`topk`, Lemma 1). Let the gradient be F(y) = c + sum over sets B of l documents of
H_B(y_B), where c needs no label. Every B lies in C(m - l, k - l) sets A of k documents, and A is shown with probability

    P(A) = (1 - gamma) 1[A = top k of s] + gamma / C(m, k),

so that c + sum over B in A of H_B(y_B) / (C(m - l, k - l) P(A)) has the mean F(y). This is the quotient of (3): both
of its sums run over the k! orders of A. The terms, with l = 1 for the first three and l = 2 for pairs:

| surrogate | c | H |
|---|---|---|
| `squared` | 2 s | -2 y_a e_a |
| `kl` | 0 | (e^{s_a} - e^{y_a}) e_a |
| `smooth-dcg` (k = 1), gain SD | 0 | G(y_a) pi_a (e_a - pi) / sigma,  pi = softmax(s / sigma) |
| `ranksvm` | 0 | 1[y_i > y_j] 1[1 + s_j > s_i] (e_j - e_i) |
| `ranknet`, `rankboost` | 0 | 1[y_i > y_j] q(s_j - s_i) (e_j - e_i),  q(x) = 1 / (1 + e^-x), e^x |

The paper prints P(A) = 1 - gamma + gamma / C(m, k) for every A (section 4.2), which is right only where A is the top k
of s (docs/errata.md, C); ``probabilities="as-printed"`` keeps it. For two labels the paper gives this number as
p(sigma(1), sigma(2)), by (1) the probability of one order. The denominator of section 4.1 adds both orders and would
then be 2 P(A), which halves every estimate; ``as-printed`` takes the number for that of the set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib import checks, surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.checks import checked
from pipeline_lib.errors import DataError
from pipeline_lib.learners import top_k_kernels as kernels
from pipeline_lib.surrogates.base import Surrogate

__all__ = ["ORDERS", "Probabilities", "estimate", "show_probability"]

Probabilities = Literal["correct", "as-printed"]

KINDS = {
    "squared": kernels.SQUARED,
    "kl": kernels.KL,
    "smooth-dcg": kernels.SMOOTH_DCG,
    "ranksvm": kernels.RANKSVM,
    "ranknet": kernels.RANKNET,
    "rankboost": kernels.RANKBOOST,
    "listnet": kernels.LISTNET,
    # With G(y)/Z(y) in place of the labels it is the squared loss.
    "squared-ndcg": kernels.SQUARED,
}
ORDERS: Mapping[str, int] = {"squared": 1, "kl": 1, "smooth-dcg": 1, "ranksvm": 2, "ranknet": 2, "rankboost": 2}
"""Labels at a time over which a surrogate's gradient decomposes, for those with an estimator; k must not be smaller."""


@checked(gamma=checks.PROBABILITY)
def estimate(
    surrogate: str | Surrogate,
    s: ArrayLike,
    shown: Sequence[int],
    labels_shown: ArrayLike,
    exploit: Sequence[int],
    gamma: float,
    k: int,
    *,
    probabilities: Probabilities = "correct",
) -> Floats:
    """The estimate of grad phi(s, y), shape (m,), from the labels of the k documents shown first.

    Parameters
    ----------
    s : shape (m,)
        The learner's scores.
    shown : at least k distinct positions in 0..m-1, best first
        The ranking shown; what comes after the first k is not used.
    labels_shown : shape (k,)
        The labels of the first k documents of ``shown``.
    exploit : at least k distinct positions, best first
        The ranking by ``s``, which is shown when the order is not random; its first k count.
    gamma : float in (0, 1)
    k : int
    probabilities : "correct" or "as-printed"

    Raises
    ------
    DataError
        As :func:`run`; also when a ranking is not one, or there are not k labels.

    Example
    -------
    With gamma = 1/2, document 0 is on top with probability 3/4; 2 (s_0 - y_0 / p) = 2 (1 - 3 / 0.75).

    >>> estimate("squared", [1.0, 0.0], shown=[0], labels_shown=[3], exploit=[0, 1], gamma=0.5, k=1)
    array([-6.,  0.])
    """
    loss = surrogates.create(surrogate) if isinstance(surrogate, str) else surrogate
    check_order(loss, k)
    scores = np.ascontiguousarray(checks.floats("s", s, ndim=1))
    m = len(scores)
    seen, best = _top("shown", shown, m, k), _top("exploit", exploit, m, k)
    known = checks.labels("labels_shown", labels_shown)
    if len(known) != k:
        raise DataError(f"labels_shown: expected k = {k} labels, found {len(known)}")
    top = probabilities == "as-printed" or set(best.tolist()) == set(seen.tolist())
    g, softmax, (sigma, sign) = np.empty(m), np.empty(m), options_of(loss)
    weight = kernels.inverse_weight(m, int(k), ORDERS[loss.name], gamma, top)
    kernels.estimate(KINDS[loss.name], scores, seen, known.astype(np.float64), weight, sigma, sign, softmax, g)
    return g


@checked
def show_probability(m: int, k: int, gamma: float, *, top: bool) -> float:
    """P(A): that exactly the k documents of A are shown first, (1 - gamma) 1[A is the top k] + gamma / C(m, k).

    Example
    -------
    >>> show_probability(3, 1, 0.3, top=True), show_probability(3, 2, 0.3, top=False)
    (0.7999999999999999, 0.09999999999999999)
    """
    return (1.0 - gamma if top else 0.0) + gamma / math.comb(m, k)


def options_of(loss: Surrogate) -> tuple[float, float]:
    # SmoothDCG's width, and the sign with which its gain enters the loss; the others have neither
    if loss.name != "smooth-dcg":
        return 1.0, 1.0
    return float(getattr(loss, "sigma")), 1.0 if getattr(loss, "sign") == "as-printed" else -1.0  # noqa: B009


def check_kind(loss: Surrogate, known: Mapping[str, int]) -> None:
    if loss.name not in known:
        raise DataError(f"surrogate: expected one of {', '.join(known)}, found {loss.name}")
    if getattr(loss, "normalisation", "sum") != "sum":
        raise DataError(f"{loss.name}: expected normalisation 'sum'; the number of pairs takes all labels to know")
    if getattr(loss, "margin", 1.0) != 1.0:
        raise DataError(f"{loss.name}: expected margin 1, found {getattr(loss, 'margin')}")  # noqa: B009
    if loss.name == "smooth-dcg" and (getattr(loss, "k") != 1 or getattr(loss, "sign") == "regret"):  # noqa: B009
        raise DataError("smooth-dcg: expected the published loss, k = 1, with sign 'ascent' or 'as-printed'")


def check_order(loss: Surrogate, k: int) -> None:
    if loss.name == "listnet":
        raise DataError(
            "listnet: its gradient does not decompose over fewer labels than all of a list (Lemma 3), found "
            f"k = {k}; take kl, or with_all_labels"
        )
    check_kind(loss, ORDERS)
    if k < ORDERS[loss.name]:
        raise DataError(
            f"{loss.name}: expected k >= 2, because its gradient does not decompose over single labels (Lemma 2), "
            f"found k = {k}"
        )


def _top(name: str, ranking: Sequence[int], m: int, k: int) -> NDArray[np.int64]:
    places = np.asarray(ranking)
    good = places.ndim == 1 and len(places) >= k and places.dtype.kind in "iu"
    if not (good and len(np.unique(places)) == len(places) and places.min() >= 0 and places.max() < m):
        raise DataError(f"{name}: expected at least k = {k} distinct positions in 0..{m - 1}, found {places.tolist()}")
    return places[:k].astype(np.int64)
