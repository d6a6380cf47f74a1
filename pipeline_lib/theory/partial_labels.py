r"""From the labels of how many documents per query can NDCG be learned?

A learner shows an order of the m documents of a query and then sees the labels of the k documents on top. What
NDCG needs of a label law P are the expected relevances

    a_i(P) = E_{y ~ P} G(y_i) / Z(y),

because the expected NDCG of an order is sum over ranks r of D(r) a_{sigma(r)}: the best order sorts by them. The labels
of k documents at a time determine the differences a_i - a_j if and only if each function

    F_ij(y) = (G(y_i) - G(y_j)) / Z(y)

is a sum of functions of k labels (`topk`, Lemma 1, for the sufficiency). Let f be the part of F_12 that is orthogonal
to all such sums under the uniform law R on the N label vectors. Where f is not 0, the laws

    P = R + e f / N,    Q = R - e f / N,    e = 1 / max |f|,

have the same joint law of any k labels, so that no learner can tell them apart, and opposite best orders of documents
1 and 2: a_1 - a_2 is t under P and -t under Q, t = e E_R f^2. ``docs/feedback-on-top.md`` proves that f = 0 exactly
where k >= m - 1 for binary labels, and k = m for three or more grades.

Where f = 0, the rate depends on what two orders tell that differ by an exchange of neighbouring ranks. If F_12 is a sum
of functions of the labels that these two orders show, regret is of order T^(1/2), and otherwise of order T^(2/3), since
a learner has to show other orders in order to choose between the two (Bartok et al. 2014, on finite games of partial
monitoring).

**Calibration.** `topk`, Theorem 5.1 (Ravikumar, Tewari and Yang 2011): a surrogate is calibrated for NDCG if the
scores that minimise its expectation under any law P of labels sort the documents as a_i(P) = E G(y_i)/Z(y) does. A law
under which all minimisers put document 1 before document 2, while a_2 - a_1 > 0, shows that a surrogate is not
calibrated. The largest such difference is the value of a linear programme, because the minimisers of these surrogates
are known:

| surrogate | its minimisers sort by |
|---|---|
| `squared` | E y_i |
| `kl` | E exp(y_i) |
| `listnet` | E softmax(y)_i |
| `squared-ndcg` | E G(y_i)/Z(y) |

The expectation of `ranksvm` is sum_ij P(y_i > y_j) max(0, 1 + s_j - s_i), the dual of a flow: among the scores with
s_1 <= s_2, and among all others, some with whole numbers 0, ..., m - 1 minimise it. (A gap above 1 between neighbouring
scores can be made 1 at no cost.)
"""

import itertools
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from pipeline_lib import ranking
from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Positive, Total, checked
from pipeline_lib.core.errors import DataError

MOST_LABEL_VECTORS = 100_000


class LawPair(NamedTuple):
    """Two laws on all label vectors with the same joint law of any k labels and opposite best orders.

    Attributes
    ----------
    p, q : shape (N,)
        Probabilities of the rows of :func:`label_vectors`.
    gap : float
        a_1 - a_2 under p, and a_2 - a_1 under q; at least 0.
    """

    p: Floats
    q: Floats
    gap: float


@checked
def learnable(m: Count, grades: int, labels: int) -> bool:
    """Whether some learner has regret o(T) in NDCG that sees the labels of ``labels`` of m documents.

    For grades 0, 1, ..., with gains 2^r - 1: where labels >= m - 1 for two grades, and where labels = m for more.

    Example
    -------
    >>> learnable(5, 2, 4), learnable(5, 2, 3), learnable(5, 3, 4)
    (True, False, False)
    """
    _check(m, grades, labels)
    return labels >= (m - 1 if grades == 2 else m)


@checked
def regret_exponent(m: Count, grades: int, labels: int) -> float:
    """The power of T with which the least regret in NDCG grows that any learner can have against all label laws.

    1 where NDCG is not learnable, 1/2 where all labels are seen or one of two binary ones, and 2/3 for binary labels of
    all documents but one, m >= 3 (``docs/feedback-on-top.md``).

    Example
    -------
    >>> [round(regret_exponent(4, 2, k), 3) for k in (1, 2, 3, 4)], regret_exponent(2, 2, 1)
    ([1.0, 1.0, 0.667, 0.5], 0.5)
    """
    if not learnable(m, grades, labels):
        return 1.0
    return 0.5 if labels == m or m == 2 else 2.0 / 3.0


@checked
def label_vectors(m: Count, grades: int) -> NDArray[np.int64]:
    """All label vectors of m documents, shape (grades^m, m), in lexicographic order.

    Raises
    ------
    DataError
        When there are more than 100,000 of them, m < 1, or fewer than two grades.

    Example
    -------
    >>> label_vectors(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    _check(m, grades, 1)
    return np.array(list(itertools.product(range(grades), repeat=m)))


@checked
def relevances(m: Count, grades: int) -> Floats:
    """G(y_i) / Z(y) of every label vector, and 0 where no label is relevant, shape (grades^m, m).

    Example
    -------
    >>> relevances(2, 2).round(4).tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.6131, 0.6131]]
    """
    gains = ranking.GAINS[label_vectors(m, grades)]
    ideal = np.sort(gains, axis=1)[:, ::-1] @ ranking.discounts(m)
    return np.divide(gains, ideal[:, None], out=np.zeros_like(gains), where=ideal[:, None] > 0)


@checked
def split(values: Floats, m: Count, grades: int, labels: int) -> tuple[Floats, Floats]:
    """Split functions of all labels into a sum of functions of ``labels`` of them, and what is orthogonal to all such.

    Orthogonality is that of the uniform law on the label vectors (the analysis of variance of Hoeffding).

    Parameters
    ----------
    values : shape (grades^m,) or (grades^m, c)
        Functions by their values on the rows of :func:`label_vectors`.

    Example
    -------
    >>> determined, undetermined = split([0.0, 0.0, 0.0, 1.0], 2, 2, 1)  # y_1 y_2
    >>> determined.tolist(), undetermined.tolist()
    ([-0.25, 0.25, 0.25, 0.75], [0.25, -0.25, -0.25, 0.25])
    """
    _check(m, grades, labels)
    terms = np.asarray(values, np.float64)
    shape = terms.shape
    if terms.ndim not in (1, 2) or shape[0] != grades**m:
        raise DataError(f"values: expected {grades**m} values or rows, one for each label vector, found shape {shape}")
    undetermined = np.zeros(shape)
    for size in range(labels + 1, m + 1):
        for documents in itertools.combinations(range(m), size):
            undetermined += _component(terms.reshape(*(grades,) * m, -1), documents, m).reshape(shape)
    return terms - undetermined, undetermined


@checked
def unseen_by_neighbours(m: Count, grades: int, labels: int) -> float:
    """The largest part of F_12 that is no sum of functions of what two neighbouring orders show, over such orders.

    The orders differ by an exchange of documents 1 and 2 at ranks r and r + 1. Each shows the labels of its first
    ``labels`` documents; that of the rest, 3, 4, ..., is the same for both. The part is orthogonal to the sums under
    the uniform law; its size is the largest absolute value.

    Example
    -------
    >>> unseen_by_neighbours(3, 2, 3) < 1e-12, unseen_by_neighbours(3, 2, 2) > 0.1
    (True, True)
    """
    vectors, difference, largest = label_vectors(m, grades), _difference(m, grades, labels), 0.0
    for rank in range(m - 1):
        others = list(range(2, m))
        orders = [[*others[:rank], *pair, *others[rank:]] for pair in ((0, 1), (1, 0))]
        sets = {tuple(sorted(order[:labels])) for order in orders}
        told = np.vstack([_events(vectors, grades, documents) for documents in sorted(sets)]).T
        fitted = told @ np.linalg.lstsq(told, difference, rcond=None)[0]
        largest = max(largest, float(np.abs(difference - fitted).max()))
    return largest


@checked
def law_pair(m: Count, grades: int, labels: int) -> LawPair:
    """Two laws that the labels of ``labels`` documents do not tell apart, with opposite best orders (see above).

    Where there are none, both are uniform and the gap is 0.

    Example
    -------
    >>> round(law_pair(3, 2, 1).gap, 4), law_pair(3, 2, 2).gap
    (0.0967, 0.0)
    """
    difference = _difference(m, grades, labels)
    _, free = split(difference, m, grades, labels)
    size = len(free)
    largest = np.abs(free).max()
    if largest <= 1e-12 * max(np.abs(difference).max(), 1e-300):
        return LawPair(np.full(size, 1.0 / size), np.full(size, 1.0 / size), 0.0)
    scaled = free / largest
    return LawPair((1.0 + scaled) / size, (1.0 - scaled) / size, float(np.mean(scaled * difference)))


@checked
def hardest_pair(m: Count, grades: int, labels: int) -> LawPair:
    """The two such laws with the largest gap, by linear programming.

        max t  s.t.  P, Q laws with equal joint laws of any k labels,  a_1(P) - a_2(P) >= t,  a_2(Q) - a_1(Q) >= t

    Example
    -------
    >>> round(hardest_pair(3, 2, 1).gap, 4), round(hardest_pair(3, 3, 2).gap, 4)
    (0.1934, 0.0863)
    """
    from scipy.optimize import linprog

    vectors, difference = label_vectors(m, grades), _difference(m, grades, labels)
    size = len(vectors)
    joint = _joint_laws(vectors, grades, labels)
    # The variables are P, Q and t. That P sums to 1 makes Q do so, since their joint laws agree.
    equal = np.vstack(
        [
            np.hstack([joint, -joint, np.zeros((len(joint), 1))]),
            np.concatenate([np.ones(size), np.zeros(size + 1)])[None],
        ]
    )
    orders = np.array([[*(-difference), *np.zeros(size), 1.0], [*np.zeros(size), *difference, 1.0]])
    found = linprog(
        np.concatenate([np.zeros(2 * size), [-1.0]]),
        A_ub=orders,
        b_ub=np.zeros(2),
        A_eq=equal,
        b_eq=np.concatenate([np.zeros(len(joint)), [1.0]]),
        bounds=[(0.0, None)] * (2 * size) + [(None, None)],
        method="highs",
    )
    if found.x is None:
        raise DataError(f"hardest pair for m = {m}, grades = {grades}, labels = {labels}: {found.message}")
    p, q = (np.maximum(part, 0.0) / np.maximum(part, 0.0).sum() for part in np.split(found.x[:-1], 2))
    return LawPair(p, q, max(0.0, float(found.x[-1])))


@checked
def linear_rate(p: Floats, q: Floats, m: Count, grades: int) -> float:
    """The regret per round, averaged over the two laws, that no learner falls below which cannot tell them apart.

        (V(P) + V(Q)) / 2 - V((P + Q) / 2),    V(P) = sum_r D(r) a_(r)(P),  the relevances sorted downwards

    Such a learner plays in the same way under both laws, and its average NDCG is that under the mean law.

    Raises
    ------
    DataError
        When a law does not have one probability for each of the grades^m label vectors.

    Example
    -------
    >>> pair = law_pair(3, 2, 1)
    >>> round(linear_rate(pair.p, pair.q, 3, 2), 5)
    0.02418
    """
    values = relevances(m, grades)
    laws = []
    for name, given in (("p", p), ("q", q)):
        law = checks.floats(name, given, shape=(len(values),))
        if np.any((law < 0.0) | (law > 1.0)):
            raise DataError(f"{name}: expected probabilities, found numbers from {law.min():g} to {law.max():g}")
        laws.append(law)
    both = [best_value(law @ values) for law in laws]
    return float(np.mean(both) - best_value(sum(laws) / 2.0 @ values))


@checked
def best_value(relevance: Floats) -> float:
    """The expected NDCG of the best fixed order, sum_r D(r) a_(r), for expected relevances a.

    Example
    -------
    >>> round(best_value([0.5, 1.0]), 4)
    1.3155
    """
    falling = np.sort(checks.floats("relevance", relevance, ndim=1))[::-1]
    if not len(falling):
        raise DataError("relevance: expected at least one document, found none")
    return float(falling @ ranking.discounts(len(falling)))


SORTED_BY: Mapping[str, Callable[[Floats], Floats]] = {
    "squared": lambda labels: labels,
    "kl": np.exp,
    "listnet": partial(softmax, axis=1),
}
"""What the minimisers of the expected surrogate sort by is the expectation of this function of a label vector."""


class Misordering(NamedTuple):
    """A law of labels under which a surrogate's minimisers are in the wrong order, if there is any.

    Attributes
    ----------
    law : shape (grades^m,)
        Probabilities of the rows of :func:`pipeline_lib.theory.label_vectors`.
    gap : float
        a_2 - a_1 under this law, while all minimisers have s_1 > s_2. With a gap > 0 the surrogate is not calibrated.
    """

    law: Floats
    gap: float


@checked
def largest_misordering(surrogate: str, m: Count, grades: int, margin: Positive = 0.01) -> Misordering:
    """The law with the largest a_2 - a_1 under which all minimisers put document 1 first, by linear programming.

    Parameters
    ----------
    surrogate : str
        ``squared``, ``kl``, ``listnet``, ``ranksvm`` or ``squared-ndcg``.
    m, grades : int
        Documents, at least 2, and grades 0, 1, ..., at least 2.
    margin : float > 0
        By how much document 1 leads: in the expectation that sorts the minimisers, or for ``ranksvm`` in the expected
        loss of scores with s_1 <= s_2 over the least one.

    Raises
    ------
    DataError
        When the minimisers of the surrogate are not known here.

    Example
    -------
    >>> [round(largest_misordering(name, 3, 2).gap, 3) for name in ("squared", "ranksvm", "squared-ndcg")]
    [0.185, 0.187, -0.01]
    """
    vectors, values = label_vectors(m, grades), relevances(m, grades)
    if m < 2:
        raise DataError(f"m: expected at least two documents, found {m}")
    lead = values[:, 1] - values[:, 0]
    found = [_programme(lead, leads, margin) for leads in _leads(surrogate, vectors, values)]
    possible = [one for one in found if one is not None]
    if not possible:
        raise DataError(f"{surrogate}: no law of labels puts document 1 first by {margin:g}")
    return max(possible, key=lambda one: one.gap)


def _leads(surrogate: str, vectors: NDArray[np.int64], values: Floats) -> list[Floats]:
    """Sets of functions of the label vector; where all of one set have expectations of at least the margin, 1 leads."""
    if surrogate == "squared-ndcg":
        return [(values[:, 0] - values[:, 1])[None]]
    if surrogate in SORTED_BY:
        sorted_by = SORTED_BY[surrogate](vectors.astype(np.float64))
        return [(sorted_by[:, 0] - sorted_by[:, 1])[None]]
    if surrogate != "ranksvm":
        known = ", ".join([*SORTED_BY, "ranksvm", "squared-ndcg"])
        raise DataError(f"surrogate: expected one of {known}, found {surrogate!r}")
    scores, losses = _whole_scores(vectors)
    first = scores[:, 0] > scores[:, 1]
    return [losses[~first] - losses[best] for best in np.flatnonzero(first)]


def _whole_scores(vectors: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
    """Scores in 0, ..., m - 1, the least of which is 0, and RankSVM's loss of each for every label vector."""
    m = vectors.shape[1]
    scores = np.array([s for s in itertools.product(range(m), repeat=m) if min(s) == 0])
    hinges = np.maximum(0.0, 1.0 + scores[:, None, :] - scores[:, :, None])
    preferred = vectors[:, :, None] > vectors[:, None, :]
    return scores, np.einsum("sij,vij->sv", hinges, preferred.astype(np.float64))


def _programme(lead: Floats, leads: Floats, margin: float) -> Misordering | None:
    """max E lead  s.t.  E of every row of ``leads`` is at least the margin; None if no law satisfies this."""
    from scipy.optimize import linprog

    found = linprog(
        -lead,
        A_ub=-leads,
        b_ub=np.full(len(leads), -margin),
        A_eq=np.ones((1, len(lead))),
        b_eq=[1.0],
        bounds=(0.0, None),
        method="highs",
    )
    if found.x is None:
        return None
    law = np.maximum(found.x, 0.0)
    return Misordering(law / law.sum(), float(lead @ found.x))


def _check(m: int, grades: int, labels: int) -> None:
    if m < 1 or grades < 2 or not 1 <= labels <= m or grades**m > MOST_LABEL_VECTORS:
        raise DataError(
            f"expected m >= 1, at least two grades, labels in 1..m and at most {MOST_LABEL_VECTORS:,} label vectors, "
            f"found m = {m}, grades = {grades}, labels = {labels}"
        )


def _difference(m: int, grades: int, labels: int) -> Floats:
    """F_12 for every label vector."""
    _check(m, grades, labels)
    if m < 2:
        raise DataError(f"m: expected at least two documents, found {m}")
    values = relevances(m, grades)
    return np.asarray(values[:, 0] - values[:, 1])


def _component(terms: Floats, documents: tuple[int, ...], m: int) -> Floats:
    """The part that depends on the labels of exactly these documents together, broadcast to all label vectors."""
    part = terms
    for document in range(m):
        mean = part.mean(axis=document, keepdims=True)
        part = part - mean if document in documents else np.broadcast_to(mean, part.shape)
    return np.asarray(part)


def _joint_laws(vectors: NDArray[np.int64], grades: int, labels: int) -> Floats:
    """One row per set of documents and vector of their labels: which label vectors agree with it."""
    sets = itertools.combinations(range(vectors.shape[1]), labels)
    return np.vstack([_events(vectors, grades, documents) for documents in sets])


def _events(vectors: NDArray[np.int64], grades: int, documents: tuple[int, ...]) -> Floats:
    """One row per vector of labels of these documents: which label vectors agree with it."""
    code = vectors[:, documents] @ grades ** np.arange(len(documents))
    return np.array([code == value for value in range(grades ** len(documents))], np.float64)


class NearTies(NamedTuple):
    """Two laws of binary labels that only document 3 tells apart, and the regret that they force on every learner.

    Attributes
    ----------
    distance : float
        eps: document 3 is relevant with probability 1/2 - eps or 1/2 + eps, given which of 1 and 2 is.
    relevances : array of float64, shape (m,)
        a_i = E G(y_i)/Z(y) under the first law; the second one exchanges documents 1 and 2.
    regret : float
        What no learner that sees m - 1 labels falls below, averaged over the two laws.
    """

    distance: float
    relevances: Floats
    regret: float


@checked
def near_ties(m: Annotated[int, checks.Range(3, 1000)], T: Total) -> NearTies:
    """Two laws after whose T rounds every learner that sees all binary labels but one has a regret of order T^(2/3).

    One of the documents 1 and 2 is relevant, each with probability 1/2, all after the third are, and document 3 is as
    the class says. With d_1 = D(m - 2) - D(m - 1), d_2 = D(m - 1) - D(m), Delta = 1/S_(m-2) - 1/S_(m-1) and
    eps^3 = 3 d_2 / (64 d_1 T), the regret is at least Delta d_1 eps T / 4, if eps <= d_2 / (8 d_1)
    (docs/feedback-on-top.md, Proposition 4).

    Raises
    ------
    DataError
        When T is below 24 d_1^2 / d_2^2, so that eps is too large.

    Example
    -------
    >>> near_ties(3, 1000).regret / 1000 ** (2 / 3)
    0.009110...
    """
    discounts = ranking.discounts(m)
    first, second = discounts[m - 3] - discounts[m - 2], discounts[m - 2] - discounts[m - 1]
    if (least := 24.0 * (first / second) ** 2) > T:
        raise DataError(f"T: expected at least {math.ceil(least)} rounds for lists of {m} documents, found {T}")
    ideal = np.cumsum(discounts)
    high, low = 1.0 / ideal[m - 3], 1.0 / ideal[m - 2]
    eps = math.cbrt(3.0 * second / (64.0 * first * T))
    lead = eps * (high - low) / 2.0
    of_three = [(high + low) / 4.0 + lead, (high + low) / 4.0 - lead, low / 2.0]
    relevances = np.array(of_three + [(high + low) / 2.0] * (m - 3))
    return NearTies(eps, relevances, float((high - low) * first * eps * T / 4.0))
