"""How does online gradient descent learn a linear ranker, with one query per round?

    w_1 = 0,   w_(t+1) = projection of w_t - eta_t X_t' grad phi(X_t w_t, y_t) onto ||w|| <= radius.

`lists` uses the mean of w_1, ..., w_n, whose expected risk online-to-batch conversion bounds (Theorem 5; for smooth
losses (7), (8)); `topk` compares its learners with the full-information form.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from pipeline_lib import surrogates
from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, NonNegative, Positive, Seed, checked
from pipeline_lib.core.compiled import njit
from pipeline_lib.core.cost import Size
from pipeline_lib.core.errors import DataError, UnlearnableError
from pipeline_lib.core.settings import Truth, Whole
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import completed, rounds, selection
from pipeline_lib.learners.balls import Ball, project
from pipeline_lib.learners.learner import IMPORTS, Features, Learner, Radius, Selecting, Steps, listed, seen_by
from pipeline_lib.learners.losses import checked_surrogate
from pipeline_lib.learners.models import AveragedResult
from pipeline_lib.learners.ranker import Trained, names_of
from pipeline_lib.surrogates.base import Surrogate


@dataclass(frozen=True, eq=False)
class Run(AveragedResult):
    """The course of :func:`run`.

    Attributes
    ----------
    w : float64, shape (d,)
        After the last round, w_(T+1).
    average : float64, shape (d,)
        (w_1 + ... + w_T) / T.
    losses : float64, shape (T,)
        phi(X_t w_t, y_t) of every round, before its step.
    gradient_norms : float64, shape (T,)
        ||X_t' grad phi||_2 of every round, which the regret bound sums.
    projections : int
        Number of rounds after which w had to be projected onto the ball.
    """

    gradient_norms: Floats
    projections: int


@checked
def run(
    data: RankingData,
    surrogate: str | Surrogate,
    *,
    step: float | ArrayLike,
    order: ArrayLike | None = None,
    radius: Positive | None = None,
    ball: Ball = "l2",
) -> Run:
    """Process queries in ``order``, with one projected gradient step for each.

    For convex phi and constant eta, every u in the ball has (Zinkevich 2003)

        sum_t f_t(w_t) - f_t(u) <= ||w_1 - u||^2 / (2 eta) + eta/2 sum_t ||grad f_t(w_t)||^2.

    Parameters
    ----------
    data : RankingData
    surrogate : str or Surrogate
        Convex or not.
    step : float > 0 or shape (T,)
        eta_t: one number for all rounds, or one per round.
    order : integers, shape (T,), optional
        Queries by position in ``data``, repeats allowed; by default every query once, in the order of the data.
    radius, ball
        Keep ||w||_2 (or ||w||_1) <= radius; None: no ball.

    Raises
    ------
    DataError
        When a step is not positive and finite, the order names a query that does not exist, there is no such ball, or
        shapes do not agree.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [7, 7])
    >>> result = run(data, "ranksvm", step=0.5, order=[0, 0, 0])
    >>> result.losses, result.w, result.average
    (array([1. , 0.5, 0. ]), array([1.]), array([0.5]))
    """
    orders = rounds.of_order(data, order)[None, :]
    return runs(data, surrogate, step=step, orders=orders, radius=radius, ball=ball)[0]


@checked
def runs(
    data: RankingData,
    surrogate: str | Surrogate,
    *,
    step: float | ArrayLike,
    orders: ArrayLike,
    radius: Positive | None = None,
    ball: Ball = "l2",
) -> list[Run]:
    """Several runs of :func:`run` side by side, each with its own w: the same results in less time.

    In every round the surrogate evaluates the queries of all runs at once.

    Parameters
    ----------
    orders : integers, shape (R, T)
        The queries of every run.
    data, surrogate, step, radius, ball
        As for :func:`run`; the step is the same for all runs.

    Raises
    ------
    DataError
        As :func:`run`.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0], [0.0], [2.0]], [0, 1, 0, 1], [7, 7, 8, 8])
    >>> [one.average.tolist() for one in runs(data, "ranksvm", step=0.25, orders=[[0, 0], [1, 1]])]
    [[0.125], [0.25]]
    """
    every = checks.whole_numbers("orders", orders, 0, data.n_queries - 1, ndim=2)
    (R, T), X, begins = every.shape, data.X, data.offsets
    loss = checked_surrogate(surrogate)
    y = data.labels_for(binary=loss.binary)
    eta, reach = _steps(step, T), math.inf if radius is None else radius
    W, total = np.zeros((2, R, data.n_features))
    losses, norms, outside = np.empty((R, T)), np.empty((R, T)), np.zeros(R, np.int64)
    for t, queries in enumerate(np.ascontiguousarray(every.T)):
        scores, labels, offsets = _scored(X, y, begins, queries, W)
        losses[:, t], slopes = loss.unchecked(scores, labels, offsets)
        norms[:, t] = _moved(X, begins, queries, slopes, eta[t], reach if ball == "l2" else math.inf, W, total, outside)
        if ball == "l1":
            for r, moved in enumerate(W.copy()):
                W[r] = project(moved, reach, ball)
                outside[r] += (W[r] != moved).any()
    if not np.isfinite(W).all():
        raise UnlearnableError("step: too large for this surrogate, scores overflowed; give smaller steps or a ball")
    means, names = total / max(T, 1), names_of(data)
    return [Run(W[r], means[r], losses[r], norms[r], int(outside[r]), feature_names=names) for r in range(R)]


@njit
def _scored(X, y, begins, queries, W):  # type: ignore[no-untyped-def]
    # <w_r, x> of the documents of query q_r for every run r, with their labels and where each query begins.
    offsets = np.zeros(len(queries) + 1, np.int64)
    for r in range(len(queries)):
        offsets[r + 1] = offsets[r] + begins[queries[r] + 1] - begins[queries[r]]
    scores, labels = np.zeros(offsets[-1]), np.empty(offsets[-1], np.int32)
    for r in range(len(queries)):
        for i in range(offsets[r], offsets[r + 1]):
            document = begins[queries[r]] + i - offsets[r]
            labels[i] = y[document]
            for j in range(X.shape[1]):
                scores[i] += float(X[document, j]) * W[r, j]
    return scores, labels, offsets


@njit
def _moved(X, begins, queries, slopes, eta, radius, W, total, outside):  # type: ignore[no-untyped-def]
    # Adds w_r to total_r, and moves w_r to the projection of w_r - eta g on ||w||_2 <= radius, where g = X' slopes.
    # Returns ||g||_2 of every run.
    norms, i = np.empty(len(queries)), 0
    for r in range(len(queries)):
        gradient = np.zeros(X.shape[1])
        for document in range(begins[queries[r]], begins[queries[r] + 1]):
            for j in range(X.shape[1]):
                gradient[j] += slopes[i] * X[document, j]
            i += 1
        norms[r] = math.sqrt((gradient * gradient).sum())
        total[r] += W[r]
        W[r] -= eta * gradient
        size = math.sqrt((W[r] * W[r]).sum())
        if size > radius:
            W[r] *= radius / size
            outside[r] += 1
    return norms


@checked
def lipschitz_step(n: Count, *, radius: Positive, lipschitz: Positive, feature_norm: Positive) -> float:
    """W2 / (G R_X sqrt(2 n)): the step behind `lists`, Theorem 5.

    It makes W2^2 / (2 eta) + eta (G R_X)^2 n smallest, the regret bound as that paper prints it (Section 3).

    Example
    -------
    >>> lipschitz_step(50, radius=1.0, lipschitz=2.0, feature_norm=1.0)
    0.05
    """
    return radius / (lipschitz * feature_norm * math.sqrt(2.0 * n))


@checked
def smooth_step(n: Count, *, radius: Positive, smoothness: Positive, optimal_risk: NonNegative) -> float:
    """W2 / (4 H W2 + 2 sqrt(4 H^2 W2^2 + 2 H L* n)), `lists` (7), for a loss that is H-smooth in w (H = R_X^2 H_phi).

    It makes L* / (1 - 4 eta H) + W2^2 / (2 eta (1 - 4 eta H) n) smallest; ``optimal_risk`` is L* >= 0.

    Example
    -------
    >>> smooth_step(100, radius=1.0, smoothness=1.0, optimal_risk=0.0)
    0.125
    """
    root = math.sqrt(4.0 * smoothness**2 * radius**2 + 2.0 * smoothness * optimal_risk * n)
    return radius / (4.0 * smoothness * radius + 2.0 * root)


@checked
def decreasing_steps(n: Count, first: Positive) -> Floats:
    """first / sqrt(t) for t = 1, ..., n, which need not be known beforehand.

    Example
    -------
    >>> decreasing_steps(4, 1.0).round(3)
    array([1.   , 0.707, 0.577, 0.5  ])
    """
    return first / np.sqrt(np.arange(1.0, n + 1.0))


class OgdSettings(Selecting):
    """Online gradient descent, eta_t = c / sqrt(t) over the training queries in random order."""

    tuned = "step"
    step: Steps = Field((1e-3, 1e-2, 1e-1, 1.0), description="c, or several values, from which validation chooses")
    passes: Whole = Field(5, description="times that every query is visited")
    radius: Radius = Field(None, description="largest ||w||; null means no limit")
    ball: Ball = Field("l2", description="the norm that the radius limits: l2 or l1")
    average: Truth = Field(True, description="whether the mean of all iterates is the ranker, or the last one")
    features: Features = Field("standardised", description="as for erm")


@checked
def train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
    """Run with eta_t = c / sqrt(t) for every c and keep the one with the best mean measure on ``validation``.

    Parameters
    ----------
    settings : mapping
        ``surrogate`` (name), ``options`` (of the surrogate) and those of :class:`OgdSettings`; what is missing has its
        default. Every pass visits the queries in a new random order. Ties go to the smaller c.
    seed
        Of the orders and of random features.

    Returns
    -------
    Trained
        The record holds the settings, the chosen ``step``, and ``tried``: for every c the mean loss over all rounds,
        ||w|| and the validation value.

    Raises
    ------
    ConfigurationError
        When a setting is missing, unknown or has no such value.
    """
    chosen = completed("ogd", settings)
    loss = surrogates.create(chosen["surrogate"], **chosen["options"])
    order = rounds.random_passes(train.n_queries, chosen["passes"], seed)

    def with_step(inside: RankingData, c: float) -> tuple[Floats, int, dict[str, float]]:
        steps = decreasing_steps(len(order), c)
        result = run(inside, loss, step=steps, order=order, radius=chosen["radius"], ball=chosen["ball"])
        w = result.average if chosen["average"] else result.w
        return w, len(order), {"mean_loss": float(result.losses.mean())}

    name = f"ogd, {loss.name}"
    return selection.keep_best(name, "step", chosen["step"], with_step, train, validation, chosen, seed)


def _steps(step: float | ArrayLike, n: int) -> Floats:
    eta = checks.floats("step", step)
    if eta.ndim and eta.shape != (n,):
        raise DataError(f"step: expected one number, or one for each of {n} rounds, found shape {eta.shape}")
    if not (eta > 0.0).all():
        raise DataError(f"step: expected numbers > 0, found {eta.min():g}")
    return np.broadcast_to(eta, (n,))


def _seconds(settings: OgdSettings, size: Size) -> float:
    # A round has a fixed cost besides that of reading the query's features.
    rounds = settings.passes * len(listed(settings.step))
    return IMPORTS + rounds * (4e-5 * size.queries + 1e-9 * seen_by(settings.features, size).cells)


LEARNER = Learner(
    train,
    OgdSettings,
    formula=(
        r"w \leftarrow \Pi\bigl( w - \eta_t X_q^\top \nabla_s \varphi(X_q w, y_q) \bigr), \quad "
        r"\eta_t = \frac{c}{\sqrt{t}}"
    ),
    with_surrogate=True,
    seconds=_seconds,
)
