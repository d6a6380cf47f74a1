"""Do the online learners of this project learn NDCG from the labels of k documents, for k = 1, ..., m?

The games are those of :mod:`pipeline_lib.papers.topk.computations.labels`: labels come from one law of the pair that is
hardest to tell apart, X = I, so that a learner may give every document any score within its ball, and regret is that in
NDCG against the best fixed order of the law P, without the noise of labels and of exploration,

    sum_t V(P) - (1 - gamma) V(P, order of w_t) - gamma V(P, random order),

averaged over the two laws. Learners are Algorithm 1 with every surrogate that has an estimator from k labels, and
online gradient descent with all labels (k = m) on ListNet and on the squared loss against G(y)/Z(y). No learner can do
better than linear regret where k labels do not determine the best order. Where they do, a surrogate must also be
calibrated for NDCG: otherwise its minimiser shows another order, however many labels are seen.
"""

from __future__ import annotations

import functools
import itertools
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import progress, surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.learners import top_k_feedback
from pipeline_lib.papers.topk.computations import labels
from pipeline_lib.ranking import discounts
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator
from pipeline_lib.statistics import fit_exponent, over_folds
from pipeline_lib.theory import partial_labels

if TYPE_CHECKING:
    from pipeline_lib.papers.topk.experiments.labels import LabelsSettings

_LOG = logging.getLogger(__name__)

WITH_ALL_LABELS = ("listnet", "squared-ndcg")
"""Surrogates of online gradient descent, whose gradients take all labels."""
SMOOTHING = 0.1
"""epsilon of SmoothDCG, which climbs its gain."""


class Player(NamedTuple):
    """Who plays on which lists, and how many labels are seen."""

    m: int
    grades: int
    k: int
    learner: str


def players(settings: LabelsSettings) -> Iterator[Player]:
    """Every learner with every k for which it has an estimator."""
    for m, grades in itertools.product(settings.played, settings.played_grades):
        for name, order in top_k_feedback.ORDERS.items():
            for k in range(order, m + 1):
                yield Player(m, grades, k, name)
        for name in WITH_ALL_LABELS:
            yield Player(m, grades, m, name)


def games(settings: LabelsSettings, seed: int) -> list[dict[str, Any]]:
    """Play every game at every T: a row for each, with the exponent of the regret over all T."""
    rows = []
    for player in progress.counted(list(players(settings)), _LOG, "learners"):
        pair = labels.hardest(player.m, player.grades)
        regrets = np.array(
            [[np.mean([regret(player, law, T, settings.radius, (seed, number, side)) for side, law in enumerate(pair)])
              for T in settings.learner_rounds] for number in range(settings.learner_seeds)]
        )  # fmt: skip
        fitted = fit_exponent(np.array(settings.learner_rounds, np.float64), regrets)
        case = {**player._asdict(), "learnable": partial_labels.learnable(player.m, player.grades, player.k)}
        slope = {"slope": fitted.slope, "slope_low": fitted.low, "slope_high": fitted.high}
        rate = partial_labels.linear_rate(*pair, player.m, player.grades)
        for i, T in enumerate(settings.learner_rounds):
            summary = over_folds(regrets[:, i])
            measured = {"regret": summary.mean, "low": summary.low, "high": summary.high}
            rows.append({**case, "T": T, **measured, "linear_limit": T * rate, **slope})
    return rows


def regret(player: Player, law: Floats, T: int, radius: float, axes: tuple[int, int, int]) -> float:
    """The expected regret in NDCG, given its weights, of one game of T rounds, against the best fixed order."""
    seed, number, side = axes
    name = (seed, "topk-label-learners", *player, side, number, T)
    order = generator(*name, "labels").choice(len(law), size=T, p=law)
    path, gamma = _played(player, order, radius, name)
    relevance = law @ partial_labels.relevances(player.m, player.grades)
    best = partial_labels.best_value(relevance)
    shown = labels.value(np.vstack([np.zeros(player.m), path[:-1]]), relevance)
    random = relevance.mean() * discounts(player.m).sum()
    return float((1.0 - gamma) * (best - shown).sum() + gamma * T * (best - random))


@functools.cache
def on_identity(m: int, grades: int) -> RankingData:
    """Every label vector as a query whose documents have the unit vectors as features.

    Example
    -------
    >>> on_identity(2, 2).y.tolist(), on_identity(2, 2).X[:2].tolist()
    ([0, 0, 0, 1, 1, 0, 1, 1], [[1.0, 0.0], [0.0, 1.0]])
    """
    vectors = partial_labels.label_vectors(m, grades)
    X = np.tile(np.eye(m), (len(vectors), 1))
    return RankingData.from_arrays(X, vectors.ravel(), np.repeat(np.arange(len(vectors)), m))


def _played(
    player: Player, order: NDArray[np.int64], radius: float, name: tuple[int | str, ...]
) -> tuple[Floats, float]:
    """The weights after every round, and the probability of a random order."""
    data, T = on_identity(player.m, player.grades), len(order)
    every = np.arange(1, T + 1)
    if player.learner in WITH_ALL_LABELS:
        found = top_k_feedback.with_all_labels(
            data, player.learner, T, eta=T**-0.5, radius=radius, order=order, checkpoints=every, losses=False
        )
        return found.path, 0.0
    eta, gamma = top_k_feedback.theorem_parameters(T)
    loss = surrogates.create(player.learner, **({"sigma": SMOOTHING} if player.learner == "smooth-dcg" else {}))
    found = top_k_feedback.run(
        *(data, loss, player.k, T, eta, gamma, radius, (*name, "exploration")),
        order=order,
        checkpoints=every,
        losses=False,
    )
    return found.path, gamma
