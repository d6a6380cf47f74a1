"""What are the mean and the second moment of an estimate from the labels at the top, over everything that may be shown?

`topk`: exact sums over all ordered tops (j_1, ..., j_k) of a list, each with the probability (1) that Algorithm 1 gives
it,

    p(j_1, ..., j_k) = (1 - gamma) 1[these are the top k of s, in this order] + gamma (m - k)! / m!.

With them Lemma 1 (the mean is the gradient) and Lemma 5 (the second moment is at most C / gamma) can be checked without
sampling.
"""

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Label, NonNegative, Probability, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.learners.top_k_feedback import Probabilities, estimate
from pipeline_lib.ranking import order_by_score
from pipeline_lib.surrogates.base import Surrogate

Term = Callable[[tuple[int, ...]], Floats]


@checked
def ordered_tops(scores: ArrayLike, k: Count, gamma: Probability) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every ordered top of k documents with its probability (1); they sum to 1.

    Raises
    ------
    DataError
        When k is not in 1..m, or gamma not between 0 and 1.

    Example
    -------
    >>> [(top, round(p, 3)) for top, p in ordered_tops([0.0, 2.0, 1.0], 1, 0.3)]
    [((0,), 0.1), ((1,), 0.8), ((2,), 0.1)]
    """
    m, best = _checked(scores, k), tuple(_ranking(scores)[:k])
    for top in itertools.permutations(range(m), k):
        yield top, (1.0 - gamma) * (top == best) + gamma / math.perm(m, k)


@checked
def lemma_1_mean(terms: Term, scores: ArrayLike, k: Count, gamma: Probability) -> Floats:
    """The mean of Lemma 1's estimator (3) of sum over ordered k-tuples of ``terms(tuple)``, from (1) and (3) alone.

    Example
    -------
    >>> lemma_1_mean(lambda top: np.array([float(top[0])]), [0.5, 0.1, 0.9], 1, 0.2).round(12)
    array([3.])
    """
    p = dict(ordered_tops(scores, k, gamma))
    total: Floats = np.zeros(())
    for top, probability in p.items():
        orders = list(itertools.permutations(top))
        numerator = np.sum([terms(order) for order in orders], axis=0)
        total = total + probability * numerator / math.fsum(p[order] for order in orders)
    return np.asarray(total)


@checked
def mean_estimate(
    surrogate: Surrogate,
    scores: ArrayLike,
    y: ArrayLike,
    k: Count,
    gamma: Probability,
    probabilities: Probabilities = "correct",
) -> Floats:
    """The mean of the learner's estimate of grad phi(scores, y) over all that may be shown, shape (m,).

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> mean_estimate(surrogates.create("squared"), [1.0, 0.0], [3, 1], 1, 0.5).round(12)
    array([-4., -2.])
    """
    labels, best = _labels(y, _checked(scores, k)), _ranking(scores)
    total = np.zeros(np.size(scores))
    for top, probability in ordered_tops(scores, k, gamma):
        f = estimate(surrogate, scores, top, labels[list(top)], best, gamma, k, probabilities=probabilities)
        total += probability * f
    return total


@checked
def second_moment(
    surrogate: Surrogate, X: ArrayLike, scores: ArrayLike, y: ArrayLike, k: Count, gamma: Probability
) -> float:
    """E ||X' f||_2^2 of the learner's estimate f over all that may be shown: the left side of Lemma 5.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> round(second_moment(surrogates.create("kl"), np.eye(2), [0.0, 0.0], [0, 1], 1, 0.5), 4)
    11.81
    """
    m = _checked(scores, k)
    documents, labels, best = checks.floats("X", X, ndim=2), _labels(y, m), _ranking(scores)
    if len(documents) != m:
        raise DataError(f"X: expected a row for each of {m} scores, found {len(documents)}")
    total = 0.0
    # The estimate does not depend on the order within the top: sets are enough.
    for top in itertools.combinations(range(m), k):
        probability = (1.0 - gamma) * (set(top) == set(best[:k])) + gamma / math.comb(m, k)
        f = estimate(surrogate, scores, top, labels[list(top)], best, gamma, k)
        total += probability * float(np.sum((f @ documents) ** 2))
    return total


def _checked(scores: ArrayLike, k: int) -> int:
    # the length of the list
    m = len(checks.floats("scores", scores, ndim=1))
    if not 1 <= k <= m:
        raise DataError(f"k: expected 1 to m = {m} documents, found {k}")
    return m


def _labels(y: ArrayLike, m: int) -> NDArray[np.int32]:
    labels = checks.labels("y", y)
    if len(labels) != m:
        raise DataError(f"y: expected {m} labels, found {len(labels)}")
    return labels


def _ranking(scores: ArrayLike) -> list[int]:
    # equal scores in document order, as the learner ranks
    s = np.asarray(scores, np.float64)
    ranked = np.empty(len(s), np.int64)
    order_by_score(s, ranked)
    return [int(document) for document in ranked]


@checked
def printed_constant(name: str, m: Count, feature_norm: NonNegative, radius: NonNegative, y_max: Label) -> float:
    """C of Lemma 5 as its proof prints it, with R_D = ``feature_norm``, U = ``radius`` and R_max = ``y_max``.

    C^sq = m^4 R_D^4 U^2 R_max^2, C^KL = m^2 R_D^2 exp(2 R_D U), and C^svm = m^4 R_D^2, the smallest whole constant in
    its O(m^4 R_D^2).

    Example
    -------
    >>> printed_constant("squared", 2, 1.0, 3.0, 2)
    576.0
    """
    if name == "squared":
        return float(m**4 * feature_norm**4 * radius**2 * y_max**2)
    if name == "kl":
        return float(m**2 * feature_norm**2 * math.exp(2.0 * feature_norm * radius))
    if name == "ranksvm":
        return float(m**4 * feature_norm**2)
    raise DataError(f"surrogate: Lemma 5 speaks of squared, kl and ranksvm, found {name!r}")


@checked
def valid_constant(name: str, m: Count, feature_norm: NonNegative, radius: NonNegative, y_max: Label) -> float:
    """A C with E||z||^2 <= C / gamma for all parameters (erratum T).

    By Lemma 4, ||X'f||_2 <= R_D ||f||_1. Over the sets A of l documents E||z||^2 <= R_D^2 sum_A P(A) ||f_A||_1^2, and
    P(A) >= gamma / C(m, l):

    - squared: ||f||_1 <= 2 (m R_D U + R_max / P) <= 2 (m R_D U + R_max) / P, so C = 4 m^2 R_D^2 (m R_D U + R_max)^2;
      the proof bounds the sum a + b by the product a b, which needs a, b >= 2, and drops the gradient's factor 2;
    - kl: |e^s - e^y| <= max(e^{R_D U}, e^{R_max}), so C = m^2 R_D^2 exp(2 max(R_D U, R_max)); the proof drops the
      second;
    - ranksvm: ||f||_1 <= 2 / P, so C = 4 R_D^2 C(m, 2)^2 = m^2 (m - 1)^2 R_D^2.

    Example
    -------
    >>> valid_constant("squared", 2, 1.0, 3.0, 2), valid_constant("ranksvm", 3, 1.0, 3.0, 2)
    (1024.0, 36.0)
    """
    if name == "squared":
        return float(4.0 * m**2 * feature_norm**2 * (m * feature_norm * radius + y_max) ** 2)
    if name == "kl":
        return float(m**2 * feature_norm**2 * math.exp(2.0 * max(feature_norm * radius, y_max)))
    if name == "ranksvm":
        return float(m**2 * (m - 1) ** 2 * feature_norm**2)
    raise DataError(f"surrogate: Lemma 5 speaks of squared, kl and ranksvm, found {name!r}")


@checked
def relative_bias(mean: ArrayLike, truth: ArrayLike) -> float:
    """max |mean - truth| / max(1, max |truth|).

    Example
    -------
    >>> relative_bias([1.0, 4.0], [1.0, 2.0])
    1.0
    """
    expected = checks.floats("truth", truth)
    if not expected.size:
        raise DataError("truth: expected at least one number, found none")
    return float(
        np.abs(checks.floats("mean", mean, shape=expected.shape) - expected).max() / max(1.0, np.abs(expected).max())
    )
