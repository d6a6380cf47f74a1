"""How does RankBoost boost thresholds of single features towards the order of all pairs?

With D_1 uniform over the pairs of each query with y_l > y_m (so that all queries count alike, or all pairs), times the
weight of the query where queries have weights, in every round the weak ranker h(x) = [x_k > theta] is the one with the
largest |r|, where

    pi(x_l) = sum over pairs (l, m) of D(l, m) - sum over pairs (m, l) of D(m, l),     r = sum_x pi(x) h(x),
    alpha = 1/2 ln((1 + r) / (1 - r)),     D(l, m) <- D(l, m) exp(-alpha (h(x_l) - h(x_m))) / Z.

D is never stored: D(l, m) is proportional to exp(H(x_m) - H(x_l)) with H the sum of the rankers so far, so -pi is the
gradient of the exponential surrogate (:mod:`pipeline_lib.surrogates.rankboost`), O(m) per query. Every feature is
sorted once; the best threshold is then one pass over the documents for every feature.

References
----------
Freund, Iyer, Schapire and Singer, An efficient boosting algorithm for combining preferences, JMLR 4, 2003, figures 1, 2
and section 3.2 (the third choice of alpha).
"""

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Seed, checked
from pipeline_lib.core.compiled import njit
from pipeline_lib.core.errors import UnlearnableError
from pipeline_lib.core.settings import Whole
from pipeline_lib.data import query_blocks
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import completed, selection
from pipeline_lib.learners.learner import IMPORTS, TRAINING, Learner, Selecting, megabytes
from pipeline_lib.learners.models import TreesModel
from pipeline_lib.learners.ranker import Result, Trained, names_of
from pipeline_lib.surrogates.rankboost import RankBoost

_LOG = logging.getLogger(__name__)

CERTAIN = 1e-9
"""A weak ranker that orders every pair would have infinite weight; |r| counts as at most 1 minus this."""


@dataclass(frozen=True, eq=False)
class Run(Result):
    """The course of :func:`run`.

    Attributes
    ----------
    features : int64, shape (T,)
        Feature of every round's weak ranker, from 0.
    thresholds : float64, shape (T,)
        theta: halfway between two neighbouring values of the training documents.
    alphas : float64, shape (T,)
    normalisers : float64, shape (T,)
        Z_t = sum of D exp(-alpha (h(x_l) - h(x_m))); their product bounds the share of pairs ranked wrongly.
    n_features : int
        Of the documents.
    """

    features: NDArray[np.int64]
    thresholds: Floats
    alphas: Floats
    normalisers: Floats
    n_features: int
    feature_names: tuple[str, ...] | None = None

    @property
    def model(self) -> TreesModel:
        """The weighted vote of all rounds: trees with a root and two leaves, which come one after the other."""
        node = np.arange(3 * len(self.features))
        root, upper = node % 3 == 0, node % 3 == 2
        return TreesModel.of(
            roots=node[root],
            features=np.where(root, np.repeat(self.features, 3), -1),
            thresholds=np.where(root, np.repeat(self.thresholds, 3), 0.0),
            lower=np.where(root, node + 1, 0),
            upper=np.where(root, node + 2, 0),
            values=np.where(upper, np.repeat(self.alphas, 3), 0.0),
            n_features=self.n_features,
            feature_names=self.feature_names,
        )


@checked
def run(data: RankingData, *, rounds: Count, pairs: Literal["alike", "queries-alike"] = "alike") -> Run:
    """Boost for ``rounds``, or until no weak ranker has |r| > 0 or the loss of every pair has vanished.

    Parameters
    ----------
    data : RankingData
        At least one pair of different labels in a query.
    rounds : int >= 1
    pairs : "alike" or "queries-alike"
        D_1: every pair has the same share, or every query with pairs has.

    Raises
    ------
    DataError
        When an argument is out of range or there is no pair.

    Example
    -------
    Two relevant documents, two others: [x > 0.5] orders two of the four pairs and none wrongly, so r = 1/2.

    >>> data = RankingData.from_arrays([[1.0], [0.0], [0.0], [0.0]], [1, 1, 0, 0], [1, 1, 1, 1])
    >>> result = run(data, rounds=1)
    >>> result.thresholds, result.alphas.round(4), round(0.5 * math.log(3), 4)
    (array([0.5]), array([0.5493]), 0.5493)
    """
    surrogate = RankBoost(normalisation="mean" if pairs == "queries-alike" else "sum")
    total, H = 0.0, np.zeros(data.n_documents)
    order, last = _sorted(data.X)
    chosen: list[tuple[int, float, float, float]] = []
    course = progress.counted(range(rounds), "rounds", state=lambda: f"exponential loss {total:.6g}")
    for _ in course:
        values, gradient = _weighted(data, *surrogate.value_and_gradient(H, data.y, data.offsets))
        before, total = total, float(values.sum())
        if chosen:
            chosen[-1] = (*chosen[-1][:3], total / before)
            if total == 0.0:
                # The documents of every pair are so far apart that its loss is below the smallest number.
                break
        elif not total > 0.0:
            raise UnlearnableError(
                "data: rankboost: expected documents with different labels in some query, found none"
            )
        k, place, r = _best_threshold(order, last, -gradient / total)
        r = min(max(r, CERTAIN - 1.0), 1.0 - CERTAIN)
        if k < 0:
            break
        theta = 0.5 * sum(float(data.X[order[i, k], k]) for i in (place, place + 1))
        alpha = 0.5 * math.log((1.0 + r) / (1.0 - r))
        H += alpha * (data.X[:, k].astype(np.float64) > theta)
        chosen.append((k, theta, alpha, math.nan))
    if chosen and math.isnan(chosen[-1][3]):
        values, _ = _weighted(data, *surrogate.value_and_gradient(H, data.y, data.offsets))
        chosen[-1] = (*chosen[-1][:3], float(values.sum()) / total)
    table = np.array(chosen, dtype=np.float64).reshape(-1, 4)
    return Run(table[:, 0].astype(np.int64), table[:, 1], table[:, 2], table[:, 3], data.n_features, names_of(data))


def _weighted(data: RankingData, values: Floats, gradient: Floats) -> tuple[Floats, Floats]:
    # The losses of the queries and their gradients, times the weights of the queries
    if data.weights is None:
        return values, gradient
    shares = data.weights / data.weights.max()
    return shares * values, np.repeat(shares, data.documents_per_query) * gradient


class RankBoostSettings(Selecting):
    """RankBoost, with thresholds of single features as weak rankers."""

    tuned = "rounds"
    rounds: Whole = Field(300, description="largest number of rounds; the best number is chosen on the validation part")
    pairs: Literal["alike", "queries-alike"] = Field(
        "alike", description="whether all pairs have equal weight (alike) or all queries (queries-alike)"
    )


@checked
def train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
    """Boost on ``train`` and keep the number of rounds with the best mean measure on ``validation``.

    Parameters
    ----------
    settings : mapping
        Those of :class:`RankBoostSettings`; what is missing has its default. Ties go to fewer rounds.

    Returns
    -------
    Trained
        A model of trees with two leaves. The record holds the settings, the chosen ``rounds``, their ``validation``
        value, and ``course``: the validation value of every number of rounds.

    Raises
    ------
    ConfigurationError, DataError
        When a setting is missing, unknown or out of range, or no weak ranker distinguishes documents.
    """
    chosen = completed("rankboost", settings)
    selection.check_queries("rankboost", train, validation, "the rounds")
    boosted = run(train, rounds=chosen["rounds"], pairs=chosen["pairs"])
    if not len(boosted.features):
        raise UnlearnableError(
            "train: rankboost: expected a feature that tells relevant documents from others, found none"
        )
    model = boosted.model
    values = selection.measured(model.sums(validation).T, validation, chosen["selection"])
    best = selection.first_best(values) + 1
    _LOG.info(
        f"pairs {chosen['pairs']}: best after {best} of {len(values)} rounds, which multiplied the exponential loss by "
        f"{np.prod(boosted.normalisers):.4g}; validation {chosen['selection']} {values[best - 1]:.4f}"
    )
    return Trained(model.first(best), selection.record_of_rounds(chosen, values, values))


def _sorted(X: NDArray[np.float32]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    # The documents in the order of every feature, and which of them are the last of their value (but the last of all,
    # above which there is no threshold): (N, d), column by column
    order, last = np.empty(X.shape, np.int32, order="F"), np.zeros(X.shape, np.bool_, order="F")

    def sort(k: int) -> None:
        values = np.ascontiguousarray(X[:, k])
        order[:, k] = np.argsort(values, kind="stable")
        values = values[order[:, k]]
        last[:-1, k] = values[:-1] < values[1:]

    for _ in query_blocks.in_order(sort, range(X.shape[1])):
        pass
    return order, last


def _best_threshold(order: NDArray[np.int32], last: NDArray[np.bool_], pi: Floats) -> tuple[int, int, float]:
    # The feature, the place (in its order) of the last document not above theta, and r; the first of equal ones.
    places = query_blocks.in_order(lambda k: _best_place(order[:, k], last[:, k], pi), range(order.shape[1]))
    best = -1, -1, 0.0
    for k, (place, r) in enumerate(places):
        if place >= 0 and abs(r) > abs(best[2]):
            best = k, place, r
    return best


@njit(nogil=True)
def _best_place(order, last, pi):  # type: ignore[no-untyped-def]
    # r(theta) = sum of pi over documents with x_k > theta = -(sum of pi over the others), since pi sums to 0.
    best_place, best, signed = -1, 1e-15, 0.0
    below = 0.0
    for i in range(len(order) - 1):
        below += pi[np.uint32(order[i])]
        if abs(below) > best and last[i]:
            best_place, best, signed = i, abs(below), -below
    return best_place, signed


LEARNER = Learner(
    train,
    RankBoostSettings,
    formula=(
        r"s \leftarrow s + \alpha_t\, \mathbb{1}[x_{k_t} > \theta_t], \quad "
        r"\text{pairs with } y_i > y_j \text{ weighted by } e^{s_j - s_i}"
    ),
    weighs=True,
    # A round passes over all documents in the order of every feature.
    seconds=lambda settings, size: IMPORTS + settings.rounds * (1.5e-9 * size.cells + 1e-7 * size.documents),
    # The order of the documents by every feature, in 32 bits, and where its value changes
    megabytes=lambda settings, size: megabytes(settings, size) + 5e-6 * TRAINING * size.cells,
)
