"""How does PRank learn to predict labels one document at a time, with one threshold between every two labels?

The predicted label of x is the number of thresholds b_1 <= b_2 <= ... that are not above <w, x>. On a document with
label y, for r = 1, ..., y_max, let y_r = 1 if y >= r, else -1, and tau_r = y_r if (<w, x> - b_r) y_r <= 0, else 0; then

    w <- w + (sum_r tau_r) x,     b_r <- b_r - tau_r.

The thresholds remain in order. As a ranker, only w counts.

References
----------
Crammer and Singer 2001, figure 1; `slam`, reference 12.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Seed, checked
from pipeline_lib.core.compiled import njit
from pipeline_lib.core.cost import Size
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import selection
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
    thresholds : float64, shape (y_max,)
        After the last round, rising.
    losses : int64, shape (T,)
        The difference between predicted and true label in every round.
    """

    thresholds: Floats


@checked
def run(data: RankingData, order: ArrayLike | None = None) -> Run:
    """Visit the documents of ``order`` by position, repeats allowed; by default all once, in the order of the data.

    Raises
    ------
    DataError
        When the order names a document that does not exist.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.5], [2.0], [-1.0]], [1, 2, 0], [7, 7, 7])
    >>> result = run(data)
    >>> result.w, result.thresholds, result.losses
    (array([2.]), array([-1.,  0.]), array([1, 1, 0]))
    """
    documents = np.arange(data.n_documents)
    if order is not None:
        documents = checks.query_indices("order", order, data.n_documents)
    w, average, thresholds, losses = _run(data.X, data.y, documents, int(data.y.max(initial=0)))
    return Run(w, average, losses, thresholds, feature_names=names_of(data))


class PRankSettings(Passing):
    """PRank, over the training documents in random order."""


@checked
def train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
    """Make ``passes`` passes over ``train`` in random orders; keep the number of passes that is best on ``validation``.

    Parameters
    ----------
    settings : mapping
        Those of :class:`PRankSettings`; what is missing has its default.
    seed
        Of the orders and of random features.

    Returns
    -------
    Trained
        The record holds the settings, the ``passes`` kept, and ``tried``: for every number of passes the mean
        difference between predicted and true label so far, ||w|| and the validation value.

    Raises
    ------
    ConfigurationError
        When a setting is missing, unknown or has no such value.
    """
    return selection.keep_best_pass("prank", run, train.n_documents, train, validation, settings, seed)


@njit
def _run(X, y, order, y_max):  # type: ignore[no-untyped-def]
    T, d = len(order), X.shape[1]
    w, total, thresholds = np.zeros(d), np.zeros(d), np.zeros(y_max)
    losses = np.zeros(T, np.int64)
    for t in range(T):
        i = order[t]
        score = 0.0
        for c in range(d):
            score += X[i, c] * w[c]
            total[c] += w[c]
        predicted = step = 0
        for r in range(y_max):
            predicted += score >= thresholds[r]
            side = 1 if y[i] > r else -1
            if (score - thresholds[r]) * side <= 0.0:
                step += side
                thresholds[r] -= side
        losses[t] = abs(predicted - y[i])
        for c in range(d):
            w[c] += step * X[i, c]
    return w, total / max(T, 1), thresholds, losses


def _seconds(settings: PRankSettings, size: Size) -> float:
    inside, runs = seen_by(settings.features, size), settings.passes_run()
    return IMPORTS + 0.5 + 1.5e-9 * runs * inside.cells


LEARNER = Learner(
    train,
    PRankSettings,
    formula=(
        r"w \leftarrow w + \sum_r \tau_r x, \quad b_r \leftarrow b_r - \tau_r, \quad "
        r"\tau_r = \pm 1 \text{ where } \langle w, x \rangle \text{ is on the wrong side of } b_r \text{, else } 0"
    ),
    seconds=_seconds,
)
