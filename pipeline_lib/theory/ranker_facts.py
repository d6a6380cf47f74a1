"""What must a bound of `lists` know of a linear ranker, and of the queries on which it was trained?

Training jobs record these facts, and :mod:`pipeline_lib.theory.certificates` needs nothing else. They are a module of
their own, so that no training is repeated when a bound is changed.
"""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.data.ranking_data import RankingData, Standardisation
from pipeline_lib.learners.models import LinearModel
from pipeline_lib.learners.ranker import Model
from pipeline_lib.surrogates.base import Surrogate


@dataclass(frozen=True)
class Facts:
    """What a certificate needs to know.

    ``n`` queries of at most ``m`` documents with ``d`` features and labels up to ``y_max``; the norms ``l2`` and ``l1``
    of the weights; the largest Euclidean norm of a document, ``feature_l2``, and the largest absolute value of a
    feature, ``feature_linf``; the training risk ``empirical_risk`` of the loss less its smallest value; ``zero_risk``,
    that of the ranker w = 0 on the same queries; and ``square``, the mean over queries of the sum of the squared norms
    of their documents (:func:`effective`), where it is known.
    """

    n: int
    m: int
    d: int
    y_max: int
    l2: float
    l1: float
    feature_l2: float
    feature_linf: float
    empirical_risk: float
    zero_risk: float
    square: float | None = None


LARGEST = ("m", "y_max", "feature_l2", "feature_linf")
"""The facts that concern all queries there may be, not those at hand alone."""


@checked
def effective(data: RankingData, surrogate: Surrogate) -> Floats:
    """The documents as the loss sees them, shape (N, d): less the mean of their list if shifts of scores do not matter.

    Raises
    ------
    DataError
        When there is no query.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> data = RankingData.from_arrays([[3.0], [1.0]], [1, 0], [1, 1])
    >>> [effective(data, surrogates.create(name)).ravel().tolist() for name in ("listnet", "squared")]
    [[1.0, -1.0], [3.0, 1.0]]
    """
    if not data.n_queries:
        raise DataError("data: expected at least one query, found none")
    return surrogate.effective(data.X64, data.offsets)


@checked
def facts(data: RankingData, w: Floats, surrogate: Surrogate) -> Facts:
    """The facts about the ranker with weights ``w`` on the documents of ``data``.

    Raises
    ------
    DataError
        When there is no query, queries have different weights, or ``w`` has another length than documents have
        features.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> data = RankingData.from_arrays([[3.0, 4.0], [0.0, 1.0]], [1, 0], [1, 1])
    >>> found = facts(data, np.array([1.0, -1.0]), surrogates.create("squared"))
    >>> found.feature_l2, found.feature_linf, found.l1, found.m, found.empirical_risk, found.zero_risk
    (5.0, 4.0, 2.0, 2, 5.0, 1.0)
    """
    if not data.n_queries:
        raise DataError("data: expected at least one query, found none")
    if w.shape != (data.n_features,):
        raise DataError(f"w: expected {data.n_features} weights, one for each feature, found shape {w.shape}")
    if not data.count_alike:
        raise DataError("data: its queries have weights, and the bounds are about queries that count alike")
    scores = np.empty(data.n_documents)
    squared_norms, largest, squares = [], [], []
    for block, X in data.blocks():
        scores[block.rows] = X @ w
        squared_norms.append(float(np.einsum("ij,ij->i", X, X).max()))
        largest.append(float(np.abs(X).max()))
        squares.append(float(np.sum(surrogate.effective(X, block.offsets) ** 2)))
    y = data.labels_for(binary=surrogate.binary)
    least = surrogate.least(y, data.offsets)
    try:
        losses = surrogate.value(scores, y, data.offsets) - least
    except DataError as error:
        raise DataError(f"w: {error}") from error
    of_zero = surrogate.value(np.zeros(data.n_documents), y, data.offsets) - least
    return Facts(
        n=data.n_queries,
        m=int(data.documents_per_query.max()),
        d=data.n_features,
        y_max=int(y.max()),
        l2=float(np.linalg.norm(w)),
        l1=float(np.abs(w).sum()),
        feature_l2=math.sqrt(max(squared_norms)),
        feature_linf=max(largest),
        # A loss at its smallest value may be below it by rounding.
        empirical_risk=max(0.0, float(losses.mean())),
        zero_risk=max(0.0, float(of_zero.mean())),
        square=sum(squares) / data.n_queries,
    )


@checked
def of_model(model: Model, data: RankingData, surrogate: Surrogate) -> Facts:
    """The facts about a linear model, for features as the model standardises them.

    Raises
    ------
    DataError
        When the model is not linear, the data have no query, other features than the model or different weights of
        queries, or a loss exceeds the range of float64.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> data = RankingData.from_arrays([[3.0], [1.0]], [1, 0], [1, 1])
    >>> of_model(LinearModel.of([2.0], mean=[2.0], scale=[0.5]), data, surrogates.create("ranksvm")).feature_l2
    2.0
    """
    if not isinstance(model, LinearModel):
        raise DataError(f"expected a model with scores that are linear in the features, found one of kind {model.kind}")
    return facts(Standardisation(model.mean, model.scale).apply(data), model.w, surrogate)


@checked
def together(known: Facts, trained: Facts) -> Facts:
    """The facts on held-out queries, with the largest documents, lists and labels of the training queries as well.

    Example
    -------
    >>> test, train = Facts(5, 9, 3, 1, 1.0, 1.0, 2.0, 1.0, 0.3, 1.0), Facts(50, 8, 3, 2, 1.0, 1.0, 4.0, 2.0, 0.2, 1.0)
    >>> known = together(test, train)
    >>> known.n, known.m, known.y_max, known.feature_l2, known.empirical_risk
    (5, 9, 2, 4.0, 0.3)
    """
    largest = {name: max(getattr(known, name), getattr(trained, name)) for name in LARGEST}
    return replace(known, **largest)


@checked
def recorded(model: Model, data: RankingData, surrogate: Surrogate | None) -> dict[str, Any]:
    """What the record of a training says of a model: its ``facts``, or why there is none, ``without_facts``.

    Example
    -------
    >>> data = RankingData.from_arrays([[3.0], [1.0]], [1, 0], [1, 1])
    >>> recorded(LinearModel.of([2.0]), data, None)
    {'without_facts': 'it minimises no surrogate whose risk the bounds are about'}
    """
    if surrogate is None:
        reason = "it minimises no surrogate whose risk the bounds are about"
        return {"without_facts": reason}
    try:
        return {"facts": asdict(of_model(model, data, surrogate))}
    except DataError as error:
        return {"without_facts": str(error)}
