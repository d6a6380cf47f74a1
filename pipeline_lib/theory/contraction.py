"""What does a data-dependent Rademacher average certify, if the loss is contracted document by document?

For a loss with the l2 Lipschitz constant G^CW (gradients in the scores of length at most G^CW), losses in [0, B] over
the ball ||w||_2 <= W, and T_i = sum_j ||x_ij||^2, with probability at least 1 - delta, for all w of the ball,

    L(w) <= Lhat(w) + sqrt(2 pi) G^CW W sqrt(mu / n) + B sqrt( log(2/delta) / (2n) ),
    sqrt(mu) = sqrt(a/2) + sqrt(a/2 + T),     T = (1/n) sum_i T_i,     a = m R_X^2 log(2/delta) / n.

Proof. Replacing one query changes sup_w L(w) - Lhat(w) by at most B/n, so that by McDiarmid's inequality the supremum
exceeds its mean by no more than the last term, with probability 1 - delta/2. By symmetrisation the mean is at most
twice the Rademacher average of the losses, and this is at most sqrt(pi/2) times the same average with Gaussian numbers
g_i in place of signs, since E |g_i| = sqrt(2/pi). The increments of sum_i g_i phi(X_i w, y_i) have no larger variance
than those of G^CW sum_ij g_ij <w, x_ij>, with a number of its own for every document. By the comparison theorem of
Sudakov and Fernique the expected supremum is then no larger either; that of the second process is
G^CW W E ||sum_ij g_ij x_ij||. By Jensen's inequality, over the Gaussian numbers and then over the samples,

    E ||sum_ij g_ij x_ij|| <= E sqrt( sum_i T_i ) <= sqrt(n E T_1).

The T_i are independent numbers in [0, m R_X^2], so that by Chernoff's inequality for the lower tail, with probability
1 - delta/2, E T_1 - sqrt(2 a E T_1) <= T, which means sqrt(E T_1) <= sqrt(mu). QED.

Where the Rademacher average of the losses is known to be at most some number for every sample, twice this number bounds
the mean as well, with no share of delta. The second term is then the smaller of the two. Such averages are those of
:mod:`pipeline_lib.theory.list_lengths`, which grow little or not at all with the length of the lists.

In place of the mean square of the documents, Chapelle and Wu's bound contains the largest, m R_X^2, and its
concentration term is four times as large. For losses that are not affected by adding a number to all scores of a list,
documents are taken relative to the mean of their list, which changes no loss and makes T smaller
(:func:`pipeline_lib.theory.ranker_facts.effective`).
"""

import math

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import AtLeast1, Extended, NonNegative, Positive, Probability, checked
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory.ranker_facts import effective

NAME, PLACE = "contraction", "where-bounds-lose.md"
FACTOR = math.sqrt(2.0 * math.pi)
"""2 of symmetrisation times sqrt(pi/2) of Gaussian numbers in place of signs."""


@checked
def squared_norms(data: RankingData, surrogate: Surrogate) -> Floats:
    """T_i = sum_j ||x_ij||^2 of every query, shape (Q,).

    Raises
    ------
    DataError
        When there is no query.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> data = RankingData.from_arrays([[3.0, 4.0], [1.0, 2.0], [2.0, 0.0]], [1, 0, 0], [1, 1, 2])
    >>> [squared_norms(data, surrogates.create(name)).tolist() for name in ("squared", "listnet")]
    [[30.0, 4.0], [4.0, 0.0]]
    """
    X = effective(data, surrogate)
    return np.add.reduceat(np.einsum("ij,ij->i", X, X), data.offsets[:-1])


@checked
def mean_at_most(square: NonNegative, largest: NonNegative, n: AtLeast1, delta: Probability) -> float:
    """mu: what the mean of numbers in [0, ``largest``] does not exceed, with probability 1 - delta.

    ``square`` is their mean over n independent draws. The mean is never above ``largest``.

    Raises
    ------
    DataError
        When an argument is out of range.

    Example
    -------
    >>> mean_at_most(0.0, 1.0, 100, math.exp(-1.0)), mean_at_most(0.5, 1.0, 10**9, 0.05).__round__(3)
    (0.02, 0.5)
    """
    a = largest * math.log(1.0 / delta) / n
    return min(largest, (math.sqrt(0.5 * a) + math.sqrt(0.5 * a + square)) ** 2)


@checked
def deviation(
    n: AtLeast1,
    *,
    square: NonNegative,
    largest: NonNegative,
    lipschitz_l2: Positive,
    radius: Positive,
    loss_bound: Positive,
    delta: Probability,
    average: Extended = math.inf,
) -> float:
    """What the bound adds to the training risk.

    Parameters
    ----------
    n : number >= 1
        Queries.
    square : float >= 0
        T, the mean of sum_j ||x_ij||^2 over the queries.
    largest : float >= 0
        m R_X^2, which no sum exceeds.
    lipschitz_l2, radius, loss_bound : float > 0
        G^CW, W and B.
    delta : float
        The bound fails with at most this probability.
    average : float >= 0
        A number that the Rademacher average of the losses does not exceed, for any sample; inf if none is known.

    Raises
    ------
    DataError
        When an argument is out of range.

    Example
    -------
    >>> given = dict(square=2.0, largest=10.0, lipschitz_l2=1.0, radius=1.0, loss_bound=3.0, delta=0.05)
    >>> round(deviation(1_000, **given), 3), round(deviation(100_000, **given), 3)
    (0.252, 0.024)
    """
    mu = mean_at_most(square, largest, n, 0.5 * delta)
    complexity = min(FACTOR * lipschitz_l2 * radius * math.sqrt(mu / n), 2.0 * average)
    return complexity + loss_bound * math.sqrt(math.log(2.0 / delta) / (2.0 * n))
