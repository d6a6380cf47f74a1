"""How does AdaRank boost single features towards a ranking measure?

The weights of the queries start at P_1 = 1/Q; where the data have weights c of queries, P_1(q) = c_q / sum(c). In every
round t, the weak ranker is the feature k that maximises sum_q P_t(q) E(q, x_k), where E in [0, 1] is the measure of the
query ranked by that feature alone, and

    alpha_t = 1/2 ln( sum_q P_t(q) (1 + E(q, x_k)) / sum_q P_t(q) (1 - E(q, x_k)) ),
    f_t = f_(t-1) + alpha_t x_k,      P_(t+1)(q) proportional to P_1(q) exp(-E(q, f_t)).

As printed, the algorithm stalls when f_t gives the same ranking as f_(t-1), in particular when the first feature is
chosen again: P then no longer changes, and this feature is chosen in all later rounds. ``repeats`` limits how often a
feature may be chosen (null: as printed).

Ties are broken by document order. Queries without a relevant document have no measure and are left out of training.

References
----------
Xu and Li, AdaRank: a boosting algorithm for information retrieval, SIGIR 2007, figure 1.
"""

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pipeline_lib import metrics
from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Seed, checked
from pipeline_lib.core.cost import Size
from pipeline_lib.core.errors import UnlearnableError
from pipeline_lib.core.settings import Whole
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import completed, selection
from pipeline_lib.learners.features import fitted
from pipeline_lib.learners.learner import IMPORTS, Learner, PlainFeatures, RankingMeasure, Selecting
from pipeline_lib.learners.models import LinearModel
from pipeline_lib.learners.ranker import Result, Trained, names_of

_LOG = logging.getLogger(__name__)

CERTAIN = 1e-12
"""A weak ranker without any loss would have infinite weight; its loss counts as at least this."""


@dataclass(frozen=True, eq=False)
class Run(Result):
    """The course of :func:`run`.

    Attributes
    ----------
    features : int64, shape (T,)
        The weak ranker of every round, from 0.
    alphas : float64, shape (T,)
        Its weight.
    values : float64, shape (T,)
        The mean training measure of f_t.
    weights : float64, shape (T, d)
        f_t as a linear ranker, for every t.
    """

    features: NDArray[np.int64]
    alphas: Floats
    values: Floats
    weights: Floats
    feature_names: tuple[str, ...] | None = None

    @property
    def model(self) -> LinearModel:
        """The ranker f_T of the last round."""
        return LinearModel.of(self.weights[-1], feature_names=self.feature_names)


@checked
def run(data: RankingData, measure: str, *, rounds: Count, repeats: Count | None = 1) -> Run:
    """Boost for ``rounds``, or until every feature has been chosen ``repeats`` times.

    Parameters
    ----------
    data : RankingData
        At least one query with a relevant document.
    measure : str
        "map", "ndcg" or "ndcg@K".
    rounds : int >= 1
    repeats : int >= 1 or None
        How often a feature may be chosen; None: without limit, as printed.

    Raises
    ------
    DataError
        When a number is out of range or no query has a relevant document.

    Example
    -------
    Two queries; the first feature ranks the first right, the second feature the second. E is 1 and 1/2 for both:

    >>> X = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    >>> data = RankingData.from_arrays(X, [1, 0, 0, 1], [1, 1, 2, 2])
    >>> result = run(data, "map", rounds=2)
    >>> result.features, result.alphas.round(4)
    (array([0, 1]), array([0.973 , 1.1306]))
    """
    y = data.labels_for(binary=metrics.get(measure).binary)
    known = np.flatnonzero(np.maximum.reduceat(y, data.offsets[:-1]) > 0) if data.n_documents else np.zeros(0)
    if not len(known):
        raise UnlearnableError("data: adarank: expected a query with a relevant document, found none")
    if not data.n_features:
        raise UnlearnableError("data: adarank: expected at least one feature, found none")
    train = data.take(known)
    alone = np.stack([_measured(measure, column.astype(np.float64), train) for column in train.X.T])
    shares = None if train.weights is None else train.weights / train.weights.sum()
    P = np.full(train.n_queries, 1.0 / train.n_queries) if shares is None else shares
    w, scores = np.zeros(train.n_features), np.zeros(train.n_documents)
    chosen, alphas, weights = [], [], []
    values: list[float] = []
    left = np.full(train.n_features, rounds if repeats is None else repeats)
    for _ in progress.counted(range(rounds), "rounds", state=lambda: f"training {measure} {values[-1]:.4f}"):
        mean = np.where(left > 0, alone @ P, -np.inf)
        k = selection.first_best(mean)
        if not left[k]:
            break
        left[k] -= 1
        alpha = 0.5 * math.log((1.0 + mean[k]) / max(1.0 - mean[k], CERTAIN))
        w[k] += alpha
        scores += alpha * train.X[:, k].astype(np.float64)
        E = _measured(measure, scores, train)
        P = np.exp(-E) if shares is None else shares * np.exp(-E)
        P /= P.sum()
        chosen.append(k)
        alphas.append(alpha)
        values.append(float(E.mean() if shares is None else shares @ E))
        weights.append(w.copy())
    return Run(np.array(chosen), np.array(alphas), np.array(values), np.array(weights), names_of(data))


class AdaRankSettings(Selecting):
    """AdaRank, with single features as weak rankers."""

    tuned = "rounds"
    measure: RankingMeasure = Field("map", description="the measure that is boosted: map, ndcg or ndcg@K")
    rounds: Whole = Field(100, description="largest number of rounds; the best number is chosen on the validation part")
    repeats: Whole | None = Field(1, description="how often a feature may be chosen; null: without limit, as printed")
    features: PlainFeatures = Field("raw", description="raw or standardised")


@checked
def train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
    """Boost on ``train`` and keep the number of rounds with the best mean measure on ``validation``.

    Parameters
    ----------
    settings : mapping
        Those of :class:`AdaRankSettings`; what is missing has its default. Ties go to fewer rounds.

    Returns
    -------
    Trained
        A linear model. The record holds the settings, the chosen ``rounds``, their ``validation`` value, and
        ``course``: the feature, its weight, and the training and validation value of every round.

    Raises
    ------
    ConfigurationError, DataError
        When a setting is missing, unknown or out of range.
    """
    chosen = completed("adarank", settings)
    selection.check_queries("adarank", train, validation, "the rounds")
    features = fitted(chosen["features"], train, seed)
    boosted = run(features.apply(train), chosen["measure"], rounds=chosen["rounds"], repeats=chosen["repeats"])
    models = [features.model(w) for w in boosted.weights]
    values = selection.measured((model.predict(validation) for model in models), validation, chosen["selection"])
    best = selection.first_best(values)
    _LOG.info(
        f"{chosen['measure']}: best after {best + 1} of {len(values)} rounds, training {boosted.values[best]:.4f}; "
        f"validation {chosen['selection']} {values[best]:.4f}"
    )
    path = [
        {"feature": int(k), "alpha": float(alpha), "training": float(value), "validation": held}
        for k, alpha, value, held in zip(boosted.features, boosted.alphas, boosted.values, values, strict=True)
    ]
    return Trained(models[best], selection.record_of_rounds(chosen, values, path))


def _measured(measure: str, scores: Floats, data: RankingData) -> Floats:
    judging = data.judging._asdict()
    return metrics.per_query([measure], np.ascontiguousarray(scores), data.y, data.offsets, **judging)[measure]


def _seconds(settings: AdaRankSettings, size: Size) -> float:
    # Every feature is measured once; a round weighs the queries' measures and predicts the validation part.
    return (
        IMPORTS
        + 4e-7 * size.cells
        + 1e-9 * settings.rounds * size.queries * size.features
        + (3e-8 * settings.rounds * size.documents)
    )


LEARNER = Learner(
    train,
    AdaRankSettings,
    formula=(
        r"s \leftarrow s + \alpha_t x_{k_t}, \quad "
        r"\sum_q P_t(q)\, E(x_{k_t}, y_q) = \max_k \sum_q P_t(q)\, E(x_k, y_q), \quad "
        r"P_t(q) \propto e^{-E(s, y_q)}"
    ),
    seconds=_seconds,
    weighs=True,
)
