"""How does a perceptron learn from pairs of documents in the wrong order?

Whenever a query is visited, its documents are scored, and with P pairs y_i > y_j, if any,

    w <- w + (1/P) sum over pairs with s_i <= s_j of (x_i - x_j),

the step of a perceptron for every pair in the wrong order, all queries counting alike. A common step size only scales w
and changes no ranking.

References
----------
Rosenblatt 1958; Shen and Joshi 2005 (perceptrons on pairs); Freund and Schapire 1999 (averaging).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pipeline_lib.core.checks import Seed, checked
from pipeline_lib.core.compiled import njit
from pipeline_lib.core.cost import Size
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import rounds, selection
from pipeline_lib.learners.learner import IMPORTS, Learner, Passing, seen_by
from pipeline_lib.learners.models import AveragedResult
from pipeline_lib.learners.ranker import Trained, names_of


@dataclass(frozen=True, eq=False)
class Run(AveragedResult):
    """The course of :func:`run`.

    Attributes
    ----------
    w : float64, shape (d,)
        After the last round.
    average : float64, shape (d,)
        The mean of the weights that the rounds began with.
    losses : float64, shape (T,)
        The share of pairs in the wrong order in every round, equal scores included; 0 without pairs.
    """


@checked
def run(data: RankingData, order: ArrayLike | None = None) -> Run:
    """Visit the queries of ``order``, repeats allowed; by default every query once, in the order of the data.

    Raises
    ------
    DataError
        When the order names a query that does not exist.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [7, 7])
    >>> result = run(data, order=[0, 0])
    >>> result.w, result.losses
    (array([1.]), array([1., 0.]))
    """
    w, average, losses = _run(data.X, data.y, data.offsets, rounds.of_order(data, order))
    return Run(w, average, losses, feature_names=names_of(data))


class PairwisePerceptronSettings(Passing):
    """The perceptron on pairs of documents, over the training queries in random order."""


@checked
def train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
    """Make ``passes`` passes over ``train`` in random orders; keep the number of passes that is best on ``validation``.

    Parameters
    ----------
    settings : mapping
        Those of :class:`PairwisePerceptronSettings`; what is missing has its default.
    seed
        Of the orders and of random features.

    Returns
    -------
    Trained
        The record holds the settings, the ``passes`` kept, and ``tried``: for every number of passes the mean share of
        pairs in the wrong order so far, ||w|| and the validation value.

    Raises
    ------
    ConfigurationError
        When a setting is missing, unknown or has no such value.
    """
    return selection.keep_best_pass("pairwise-perceptron", run, train.n_queries, train, validation, settings, seed)


@njit
def _run(X, y, offsets, order):  # type: ignore[no-untyped-def]
    T, d = len(order), X.shape[1]
    w, total, losses = np.zeros(d), np.zeros(d), np.zeros(T)
    longest = 1
    for q in range(len(offsets) - 1):
        longest = max(longest, offsets[q + 1] - offsets[q])
    s, push = np.empty(longest), np.empty(longest, np.int64)
    for t in range(T):
        begin, m = offsets[order[t]], offsets[order[t] + 1] - offsets[order[t]]
        for i in range(m):
            s[i] = 0.0
            for c in range(d):
                s[i] += X[begin + i, c] * w[c]
        for c in range(d):
            total[c] += w[c]
        push[:m] = 0
        pairs = wrong = 0
        for i in range(m):
            for j in range(m):
                if y[begin + i] > y[begin + j]:
                    pairs += 1
                    if s[i] <= s[j]:
                        wrong += 1
                        push[i] += 1
                        push[j] -= 1
        if wrong == 0:
            continue
        losses[t] = wrong / pairs
        for i in range(m):
            if push[i] != 0:
                for c in range(d):
                    w[c] += push[i] / pairs * X[begin + i, c]
    return w, total / max(T, 1), losses


def _seconds(settings: PairwisePerceptronSettings, size: Size) -> float:
    inside, runs = seen_by(settings.features, size), settings.passes_run()
    return IMPORTS + 0.5 + 1.5e-9 * runs * inside.cells + 2e-9 * runs * size.documents**2 / size.queries


LEARNER = Learner(
    train,
    PairwisePerceptronSettings,
    formula=(
        r"w \leftarrow w + \frac{1}{P_q} \sum_{i, j:\, y_i > y_j,\, s_i \le s_j} (x_i - x_j), "
        r"\quad P_q \text{ pairs } y_i > y_j"
    ),
    seconds=_seconds,
)
