"""Over how many labels at a time does a function of a label vector decompose?

A function F decomposes over l coordinates when F(y) = sum over sets of l documents of functions of their labels.
`topk`, Lemma 1: then, and only then, the labels of l documents at a time suffice for an unbiased estimate of F. Lemmas
2 and 3 state that RankSVM's gradient does not decompose over 1 coordinate, nor ListNet's over 1 or 2. The lemma itself
is checked by :func:`estimation_error`, which knows of no decomposition: it solves for the estimator.
"""

import itertools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Label, NonNegative, checked
from pipeline_lib.core.errors import DataError

LabelFunction = Callable[[NDArray[np.int32]], ArrayLike]
MOST_LABEL_VECTORS = 1_000_000


@checked
def interactions(function: LabelFunction, m: Count, y_max: Label) -> Floats:
    """The size of the parts of ``function`` that depend on exactly 0, 1, ..., m labels jointly, shape (m + 1,).

    F on {0..y_max}^m is uniquely the sum over sets T of documents of terms F_T(y_T) that vanish where a label of T is
    0; F_T(y_T) is the mixed difference at y = 0 in the documents of T with their labels as steps. Entry t is the
    largest |F_T(y_T)| with |T| = t. F decomposes over l coordinates if and only if the entries after l are 0.

    Raises
    ------
    DataError
        When there are more than a million label vectors.

    Example
    -------
    >>> interactions(lambda y: 5.0 + y[0] + 3.0 * y[1] * y[2], 3, 1)
    array([5., 1., 3., 0.])
    """
    if (y_max + 1) ** m > MOST_LABEL_VECTORS:
        raise DataError(f"expected at most {MOST_LABEL_VECTORS} label vectors, found m = {m}, y_max = {y_max}")
    vectors = [np.array(y, np.int32) for y in itertools.product(range(y_max + 1), repeat=m)]
    terms = np.array([np.ravel(np.asarray(function(y), np.float64)) for y in vectors])
    terms = terms.reshape(*(y_max + 1,) * m, -1)
    for document in range(m):
        along = np.moveaxis(terms, document, 0)
        along[1:] -= along[:1]
    together = np.array([np.count_nonzero(y) for y in vectors])
    largest = np.abs(terms.reshape(len(vectors), -1)).max(axis=1)
    return np.array([largest[together == size].max(initial=0.0) for size in range(m + 1)])


@checked
def estimation_error(function: LabelFunction, m: Count, y_max: Label, labels: Count, gamma: NonNegative) -> float:
    """How far ``function`` is from the mean of any estimator that sees the labels of ``labels`` documents on top.

    An order sigma of the m documents is drawn with probability gamma/m! + (1 - gamma) 1[sigma = (1, ..., m)]. An
    estimator g(sigma, y_sigma(1), ..., y_sigma(labels)) has the mean sum over sigma of P(sigma) g(sigma, ...). That is
    linear in the values of g: the nearest mean to ``function`` over all label vectors is a least-squares solution. An
    unbiased estimator exists if and only if the error is 0.

    Returns
    -------
    float
        The largest error over label vectors and entries, divided by the largest absolute value of ``function``.

    Example
    -------
    >>> product = lambda y: float(y[0] * y[1])
    >>> round(estimation_error(product, 3, 1, 1, 0.1), 3), estimation_error(product, 3, 1, 2, 0.1) < 1e-12
    (0.25, True)
    """
    if labels > m or gamma > 1.0:
        raise DataError(f"expected labels <= m and gamma <= 1, found m = {m}, labels = {labels}, gamma = {gamma}")
    # There are 10! orders of ten documents.
    if m >= 10 or math.factorial(m) * (y_max + 1) ** (m + labels) > MOST_LABEL_VECTORS:
        raise DataError(f"expected at most {MOST_LABEL_VECTORS} outcomes, found more for m = {m}, labels = {labels}")
    orders = list(itertools.permutations(range(m)))
    columns = len(orders) * (y_max + 1) ** labels
    vectors = np.array(list(itertools.product(range(y_max + 1), repeat=m)), np.int32)
    means = np.zeros((len(vectors), columns))
    powers = (y_max + 1) ** np.arange(labels)
    for number, order in enumerate(orders):
        probability = gamma / len(orders) + (1.0 - gamma) * (number == 0)
        seen = number * (y_max + 1) ** labels + vectors[:, order[:labels]] @ powers
        means[np.arange(len(vectors)), seen] = probability
    truth = np.array([np.ravel(np.asarray(function(y), np.float64)) for y in vectors])
    nearest = means @ np.linalg.lstsq(means, truth, rcond=None)[0]
    return float(np.abs(truth - nearest).max() / max(np.abs(truth).max(), 1e-300))


@checked
def order(function: LabelFunction, m: Count, y_max: Label, tol: float = 1e-9) -> int:
    """The smallest l such that ``function`` decomposes over l coordinates, up to the relative tolerance ``tol``.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> ranksvm = surrogates.create("ranksvm")
    >>> order(lambda y: ranksvm.gradient([0.3, -0.2, 0.1, 0.0], y, [0, 4]), 4, 2)
    2
    """
    sizes = interactions(function, m, y_max)
    return int(np.flatnonzero(sizes > tol * sizes.max(initial=0.0)).max(initial=0))
