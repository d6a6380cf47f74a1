"""How does the largest gap L - Lhat over a ball depend on the length m of the lists, with explicit constants?

n queries of m documents, ||w||_2 <= W2, ||x||_2 <= R_X, so that scores are at most a = W2 R_X. For every class of
losses whose values change by at most ``spread`` when a query is exchanged, with probability 1 - delta,

    sup over w of L(w) - Lhat(w)  <=  2 Rad + spread sqrt(log(1/delta) / (2n)),

by symmetrisation and McDiarmid's inequality; :func:`deviation` is the right side. The functions of this module bound
the Rademacher average Rad. ``docs/when-the-list-length-stops-mattering.md`` has the proofs.

| function | Rad <= | depends on m |
|---|---|---|
| :func:`of_listnet` | (a + e^a (e^a - 1)) / sqrt(n), ListNet as printed | not at all |
| :func:`of_smooth_dcg` | sqrt(2) D(1) G(y_max) e^b (e^b - 1) / sqrt(n), b = a / sigma, SmoothDCG@1 | not at all |
| :func:`by_chain` | a chain of the coverings of Proposition 7, for every G in the maximum norm | as sqrt(log m) |
| :func:`by_euclidean_norm` | sqrt(pi/2) G^CW a sqrt(m/n), for every G^CW in the Euclidean norm | as sqrt(m) |
| :func:`by_coordinates` | m G_1 a / sqrt(n), G_1 the largest partial derivative | as m |

Of these, ``by_euclidean_norm`` is the comparison with a Gaussian process that Chapelle and Wu use, with the constant
that it gives, sqrt(2 pi) = 2.51 in the gap in place of 3; ``by_coordinates`` is what a contraction for one score at a
time gives.
"""

import math
from typing import Any

from pipeline_lib.core.checks import Label, Positive, Probability, checked
from pipeline_lib.ranking import GAINS
from pipeline_lib.surrogates.base import Surrogate

PLACE = "when-the-list-length-stops-mattering.md"

RATIOS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 64)
"""The ratios of the sizes of neighbouring coverings in a chain, of which the best is taken."""
LARGEST_EXPONENT = 350.0
"""Scores beyond which e^(2a) is no float64."""


@checked
def deviation(average: float, *, n: Positive, spread: Positive, delta: Probability) -> float:
    """2 Rad + spread sqrt(log(1/delta) / (2n)): what the gap of no ranker exceeds, with probability 1 - delta.

    Parameters
    ----------
    average : float >= 0
        An upper bound on the Rademacher average, for every sample.
    n : float > 0
        Queries.
    spread : float > 0
        The largest difference of the losses that one ranker can have on two queries.
    delta : float in (0, 1)
        The probability with which the bound may fail.

    Example
    -------
    >>> deviation(0.25, n=200, spread=2.0, delta=math.exp(-1.0))
    0.6
    """
    return 2.0 * average + spread * math.sqrt(math.log(1.0 / delta) / (2.0 * n))


@checked
def of_listnet(*, n: Positive, scores: Positive, centred: Positive | None = None) -> float:
    """(a + e^a (e^a - 1)) / sqrt(n): the Rademacher average of ListNet, for lists of every length.

    ListNet as printed is -<P(y), s> + log mean exp(s) + log m. The first term is linear in w, with features of norm at
    most R_X. The mean of exp(<x, w>) - 1 is linear in the feature space of the kernel exp(<x, w>) - 1, where both
    factors have norms of at most sqrt(e^a - 1), and the logarithm is e^a-Lipschitz on [e^-a, e^a]. Scores whose mean is
    subtracted are of size c at most, which gives (e^c - 1) / sqrt(n); the smaller one is taken.

    Parameters
    ----------
    n : float > 0
        Queries.
    scores : float > 0
        a = W2 R_X, the largest score of the class.
    centred : float > 0, optional
        c = W2 times the largest distance of a document from the mean of its query's; 2a where it is not known.

    Example
    -------
    >>> round(of_listnet(n=1.0, scores=1.0), 4), round(of_listnet(n=1.0, scores=1.0, centred=1.0), 4)
    (5.6708, 1.7183)
    """
    return min(scores + _curved(scores), _centred(centred)) / math.sqrt(n)


@checked
def of_smooth_dcg(*, n: Positive, scores: Positive, largest_gain: Positive, centred: Positive | None = None) -> float:
    """sqrt(2) D(1) G(y_max) e^b (e^b - 1) / sqrt(n): the Rademacher average of SmoothDCG@1, for lists of every length.

    The loss is a quotient of two means of exp(s_i / sigma) with weights, and both are linear in the feature space of
    :func:`of_listnet`. Maurer's contraction for two coordinates (2016, Corollary 4) has the factor sqrt(2); the two
    means are scaled so that their product of constants is least. Scores whose mean is subtracted give e^c - 1 in place
    of e^b (e^b - 1); the smaller one is taken.

    Parameters
    ----------
    n : float > 0
        Queries.
    scores : float > 0
        b = W2 R_X / sigma.
    largest_gain : float > 0
        D(1) G(y_max).
    centred : float > 0, optional
        c = W2 / sigma times the largest distance of a document from the mean of its query's; 2b where it is not known.

    Example
    -------
    >>> round(of_smooth_dcg(n=4.0, scores=1.0, largest_gain=1.0), 4)
    3.3027
    """
    return math.sqrt(2.0 / n) * largest_gain * min(_curved(scores), _centred(centred))


@checked
def of_loss(loss: Surrogate, *, scores: Positive, y_max: Label) -> float | None:
    """The Rademacher average of one query, by :func:`of_listnet` or :func:`of_smooth_dcg`; None for other losses.

    That of n queries is smaller by the factor sqrt(n).

    Parameters
    ----------
    loss : Surrogate
    scores : float > 0
        W2 R_X, the largest score of the class.
    y_max : int
        The largest label.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> known = (of_loss(surrogates.create(name), scores=1.0, y_max=2) for name in ("listnet", "smooth-dcg", "ranknet"))
    >>> [average and round(average, 2) for average in known]
    [5.67, 19.82, None]
    """
    # By their names: a certificate of one loss is computed by code that imports no other.
    if loss.name == "listnet":
        return of_listnet(n=1.0, scores=scores)
    known: Any = loss
    if loss.name == "smooth-dcg" and y_max > 0:
        return of_smooth_dcg(n=1.0, scores=scores / known.sigma, largest_gain=float(GAINS[y_max]))
    return None


def _centred(size: float | None) -> float:
    # e^c - 1, infinite where c is not known or this is no float64.
    return math.inf if size is None or size > 2.0 * LARGEST_EXPONENT else math.expm1(size)


def _curved(scores: float) -> float:
    # e^a (e^a - 1), infinite where it is no float64.
    return math.exp(scores) * math.expm1(scores) if scores <= LARGEST_EXPONENT else math.inf


@checked
def by_chain(*, n: Positive, m: Positive, lipschitz: Positive, scores: Positive) -> float:
    """The Rademacher average of a loss with the constant G in the maximum norm, by a finite chain of coverings.

    By Proposition 7 there are coverings of (2 m n + 1)^k points at scale A / sqrt(k), A = G a, for k = 1, 2, 3, ...; at
    scale A one point is enough. A chain from one point over k = q, q^2, ..., q^J gives, by Massart's lemma for every
    pair of neighbours,

        Rad <= A ( q^(-J/2) + sum_j (q^(-j/2) + q^(-(j-1)/2)) sqrt(2 (q^j + q^(j-1)) log(2 m n + 1) / n) ),

    without q^(j-1) under the root for j = 1. J = 0 gives A. The least over J and over q in RATIOS is taken.

    Parameters
    ----------
    n, m : float > 0
        Queries, and documents of each.
    lipschitz : float > 0
        G.
    scores : float > 0
        a = W2 R_X.

    Example
    -------
    >>> given = dict(m=100, lipschitz=2.0, scores=1.0)
    >>> by_chain(n=100, **given), round(by_chain(n=10**6, **given), 4)
    (2.0, 0.2182)
    """
    step = math.sqrt(2.0 * math.log(2.0 * m * n + 1.0) / n)
    best = 1.0
    for q in RATIOS:
        links, before = 0.0, 1.0
        # A link that begins at k shortens the chain only if sqrt(q k) step < (sqrt(q) - 1) / (sqrt(q) + 1) < 1.
        while before * step**2 < 1.0:
            now = before * q
            points = now + (before if before > 1.0 else 0.0)
            links += (now**-0.5 + before**-0.5) * math.sqrt(points) * step
            best, before = min(best, now**-0.5 + links), now
    return lipschitz * scores * best


@checked
def by_euclidean_norm(*, n: Positive, m: Positive, lipschitz_l2: Positive, scores: Positive) -> float:
    """sqrt(pi/2) G^CW a sqrt(m/n): the Rademacher average by comparison with a Gaussian process.

    A Rademacher average is at most sqrt(pi/2) times the Gaussian one, which by Slepian's lemma, in the form for
    expected suprema (Sudakov, Fernique), is at most G^CW times that of the m n scores, a sqrt(m/n).

    Example
    -------
    >>> round(by_euclidean_norm(n=4.0, m=16.0, lipschitz_l2=1.0, scores=1.0), 4)
    2.5066
    """
    return math.sqrt(0.5 * math.pi) * lipschitz_l2 * scores * math.sqrt(m / n)


@checked
def by_coordinates(*, n: Positive, m: Positive, partial: Positive, scores: Positive) -> float:
    """m G_1 a / sqrt(n): the sum of the averages of the m scores, each times the largest partial derivative G_1.

    Example
    -------
    >>> by_coordinates(n=4.0, m=10.0, partial=1.0, scores=0.5)
    2.5
    """
    return m * partial * scores / math.sqrt(n)
