"""How does a ranker learn online when it is told the labels of the k documents on top of what it shows, and no others?

`topk`, Algorithm 1 (RTop-kF): w_1 = 0; on round t the documents are ranked by s_t = X_t w_t, or, with probability
gamma, by scores uniform on [0, 1]^m; from the labels of the k documents shown first comes an unbiased estimate z_t of
X_t' grad phi(X_t w_t, y_t) (:mod:`pipeline_lib.learners.top_k_estimates`); w_(t+1) is the projection of w_t - eta z_t
onto ||w|| <= radius.

The rounds are played by one compiled loop, :mod:`pipeline_lib.learners.top_k_kernels`. It takes e^300 for every larger
exponential of `kl` and `rankboost`, in estimates and in losses: within a ball such a step ends at the surface either
way. Its random numbers come from SplitMix64 (Steele, Lea and Flood 2014), seeded from the ``numpy`` generator of the
seed's axes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib import checks, surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.checks import checked
from pipeline_lib.errors import DataError
from pipeline_lib.learners import attempts, completed
from pipeline_lib.learners import top_k_kernels as kernels
from pipeline_lib.learners.models import LinearModel
from pipeline_lib.learners.ranker import Result, Seed, Trained, names_of
from pipeline_lib.learners.rounds import of_game, random_passes
from pipeline_lib.learners.top_k_estimates import (
    KINDS,
    ORDERS,
    Probabilities,
    check_kind,
    check_order,
    estimate,
    options_of,
    show_probability,
)
from pipeline_lib.ranking import GAINS, discounts, ideal_dcgs
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import Axis, generator
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.surrogates.ndcg_regression import normalised_gains

__all__ = [
    "ORDERS",
    "Probabilities",
    "Run",
    "estimate",
    "in_random_order",
    "log_checkpoints",
    "run",
    "show_probability",
    "theorem_parameters",
    "train",
    "with_all_labels",
]


@dataclass(frozen=True, eq=False)
class Run(Result):
    """What a game of T rounds looked like at its C checkpoints; all averages are over rounds 1..checkpoint.

    Attributes
    ----------
    w : float64, shape (d,)
        After the last round.
    rounds : int64, shape (C,)
        The checkpoints.
    path : float64, shape (C, d)
        w after each checkpoint.
    ndcg : float64, shape (C,)
        Average NDCG@10 of the rankings shown, over the rounds whose query has a relevant document; NaN before the
        first of them.
    losses : float64, shape (C,)
        Average loss of the scores by which was ranked, random ones included; NaN where losses were not measured.
    own_losses : float64, shape (C,)
        Average loss of the scores X_t w_t; NaN where losses were not measured.
    squared_norms : float64, shape (C,)
        Average ||z_t||_2^2.
    explored : int
        Rounds with a random order.
    """

    w: Floats
    rounds: NDArray[np.int64]
    path: Floats
    ndcg: Floats
    losses: Floats
    own_losses: Floats
    squared_norms: Floats
    explored: int
    feature_names: tuple[str, ...] | None = None

    @property
    def model(self) -> LinearModel:
        """The ranker w after the last round."""
        return LinearModel.of(self.w, feature_names=self.feature_names)


@checked(eta=checks.POSITIVE, gamma=checks.PROBABILITY, radius=checks.POSITIVE)
def run(
    data: RankingData,
    surrogate: str | Surrogate,
    k: int,
    rounds: int,
    eta: float,
    gamma: float,
    radius: float | None = None,
    seed: Seed = 0,
    *,
    order: ArrayLike | None = None,
    probabilities: Probabilities = "correct",
    checkpoints: ArrayLike | None = None,
    losses: bool = True,
    judge: ArrayLike | None = None,
    y_max: int | None = None,
) -> Run:
    """Play T = ``rounds`` rounds of Algorithm 1.

    Parameters
    ----------
    data : RankingData
    surrogate : str or Surrogate
        One of :data:`ORDERS`; ``smooth-dcg`` with k = 1 climbs its gain, or descends on it with
        ``sign="as-printed"`` (docs/errata.md, D); pairwise ones with normalisation ``sum``.
    k : int
        How many labels are seen: at least the surrogate's order, at most the length of the shortest list met.
    rounds : int >= 1
    eta : float > 0
        The step.
    gamma : float in (0, 1)
        How often the order is random. :func:`theorem_parameters` has the eta and gamma of Theorem 4.1.
    radius : float > 0, optional
        Keep ||w||_2 <= radius.
    seed : int or tuple of axes
        Of exploration, and of the queries' order when it is not given.
    order : integers, shape (T,), optional
        Queries by position, repeats allowed; when not given, all queries once a pass, each pass in a new random order.
    probabilities : "correct" or "as-printed"
    checkpoints : rising integers in 1..T, optional
        The rounds to report on; :func:`log_checkpoints` of T when not given.
    losses : bool
        Measure losses as well; those of pairwise surrogates take O(m^2) a round.
    judge : shape (N,), optional
        Measure sum_i (s_i - judge_i)^2 in place of the surrogate's loss.
    y_max : int, optional
        The largest label that may appear.

    Raises
    ------
    DataError
        Before any round is played: when an argument is out of range, k is too small for the surrogate (Lemmas 2 and
        3) or larger than a list, or a label lies beyond y_max.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [7, 7])
    >>> result = run(data, "squared", k=1, rounds=500, eta=0.1, gamma=0.5, radius=2.0, seed=1)
    >>> bool(0.5 < result.w[0] < 1.5), bool(0.8 < result.ndcg[-1] < 1.0)
    (True, True)
    """
    loss = surrogates.create(surrogate) if isinstance(surrogate, str) else surrogate
    check_order(loss, k)
    queries = of_game(data, rounds, order, seed)
    shortest = int(data.documents_per_query[queries].min())
    if k > shortest:
        raise DataError(f"k: expected at most the length of the shortest list, {shortest}, found {k}")
    _check_labels(data, y_max)
    printed = probabilities == "as-printed"
    return _played(data, loss, int(k), gamma, eta, queries, radius, printed, checkpoints, losses, judge, seed)


@checked(eta=checks.POSITIVE, radius=checks.POSITIVE)
def with_all_labels(
    data: RankingData,
    surrogate: str | Surrogate,
    rounds: int,
    eta: float,
    radius: float | None = None,
    seed: Seed = 0,
    *,
    order: ArrayLike | None = None,
    checkpoints: ArrayLike | None = None,
    losses: bool = True,
    judge: ArrayLike | None = None,
) -> Run:
    """Online gradient descent that sees all labels and never explores, in the same loop: the estimate is exact.

    As :func:`run`, also for ``listnet`` and ``squared-ndcg``; online ListNet is the full-information learner of
    Figure 1.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [7, 7])
    >>> with_all_labels(data, "listnet", rounds=2, eta=1.0).losses.round(4)
    array([0.6698])
    """
    loss = surrogates.create(surrogate) if isinstance(surrogate, str) else surrogate
    check_kind(loss, KINDS)
    queries = of_game(data, rounds, order, seed)
    return _played(data, loss, 0, 0.0, eta, queries, radius, False, checkpoints, losses, judge, seed)


@checked
def in_random_order(
    data: RankingData,
    rounds: int,
    seed: Seed = 0,
    *,
    order: ArrayLike | None = None,
    checkpoints: ArrayLike | None = None,
) -> Run:
    """Show every query in a uniformly random order and learn nothing: the control.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [7, 7])
    >>> in_random_order(data, rounds=10_000).ndcg[-1].round(1)
    np.float64(0.8)
    """
    queries, loss = of_game(data, rounds, order, seed), surrogates.create("squared")
    return _played(data, loss, 1, 1.0, 0.0, queries, None, False, checkpoints, False, None, seed)


@checked
def theorem_parameters(T: int) -> tuple[float, float]:
    """eta = T^(-2/3) and gamma = T^(-1/3): what Theorem 4.1 asks for, up to constants, and section 6 uses.

    Example
    -------
    >>> theorem_parameters(1000)
    (0.01, 0.1)
    """
    if T < 2:
        raise DataError(f"T: expected at least two rounds, found {T}")
    return float(np.cbrt(float(T)) ** -2.0), float(1.0 / np.cbrt(float(T)))


@checked
def log_checkpoints(T: int, count: int = 40, first: int = 100) -> NDArray[np.int64]:
    """About ``count`` rounds from ``first`` to T, evenly spread in their logarithm; T is always among them.

    Raises
    ------
    DataError
        When one of the numbers is below 1.

    Example
    -------
    >>> log_checkpoints(10_000, 5)
    array([  100,   316,  1000,  3162, 10000])
    """
    if min(T, count, first) < 1:
        raise DataError(f"T, count and first: expected whole numbers >= 1, found {T}, {count} and {first}")
    points = np.exp(np.linspace(math.log(min(first, T)), math.log(T), count))
    return np.unique(np.append(np.round(points), T).astype(np.int64))


@checked
def train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
    """Play ``passes`` passes over ``train`` with eta = c T^(-2/3) for every c; keep what ``validation`` likes best.

    Parameters
    ----------
    settings : mapping
        ``surrogate`` (a name of :data:`ORDERS`), ``options`` (of the surrogate) and those of
        :class:`pipeline_lib.learners.declared.top_k_feedback.TopKFeedbackSettings`; what is missing has its default.
        Ties go to the smaller c.
    seed
        Of the orders, of exploration and of random features.

    Returns
    -------
    Trained
        The record holds the settings, the chosen ``step``, and ``tried``: for every c the mean NDCG@10 of what was
        shown, ||w|| and the validation value.

    Raises
    ------
    ConfigurationError
        When a setting is missing, unknown or has no such value.
    """
    chosen = completed("top-k-feedback", settings)
    long_enough = np.flatnonzero(train.documents_per_query >= chosen["k"])
    if train.n_queries and not len(long_enough):
        raise DataError(
            f"top-k feedback: expected training queries with at least k = {chosen['k']} documents, found none"
        )
    loss = surrogates.create(chosen["surrogate"], **chosen["options"])
    order = random_passes(len(long_enough), chosen["passes"], seed)
    step, exploration = theorem_parameters(max(len(order), 2))
    gamma = exploration if chosen["gamma"] == "theory" else float(chosen["gamma"])

    def with_step(inside: RankingData, c: float) -> tuple[Floats, int, dict[str, float]]:
        found = run(
            *(inside if len(long_enough) == inside.n_queries else inside.take(long_enough), loss),
            k=chosen["k"],
            rounds=len(order),
            eta=c * step,
            gamma=gamma,
            radius=chosen["radius"],
            seed=(*axes_of(seed), "exploration"),
            order=order,
            probabilities=chosen["probabilities"],
            losses=False,
        )
        return found.w, len(order), {"shown_ndcg": float(np.nan_to_num(found.ndcg[-1]))}

    name = f"top-k feedback, {loss.name}"
    return attempts.keep_best(name, "step", chosen["step"], with_step, train, validation, chosen, seed)


def _played(
    data: RankingData,
    loss: Surrogate,
    k: int,
    gamma: float,
    eta: float,
    queries: NDArray[np.int64],
    radius: float | None,
    printed: bool,
    checkpoints: ArrayLike | None,
    measured: bool,
    judge: ArrayLike | None,
    seed: Seed,
) -> Run:
    stops = stops_of(checkpoints, len(queries))
    gains = loss.name == "squared-ndcg"
    values = normalised_gains(data.y, data.offsets) if gains else data.y.astype(np.float64)
    judged = np.empty(0) if judge is None else _judge(judge, data.n_documents)
    sigma, sign = options_of(loss)
    state = generator(*axes_of(seed)).integers(0, 2**64, size=1, dtype=np.uint64)
    reach = math.inf if radius is None else radius
    found = kernels.play(
        *(data.X, data.y, data.offsets, queries, values, judged, KINDS[loss.name], ORDERS.get(loss.name, 1), k),
        *(
            float(gamma),
            float(eta),
            float(reach),
            printed,
            sigma,
            sign,
            measured,
            ideal_dcgs(data.y, data.offsets, kernels.SHOWN),
            discounts(kernels.SHOWN),
            GAINS,
            stops,
            state,
        ),
    )
    w, path, ndcg, losses, own, norms, explored = found
    if not (np.isfinite(w).all() and np.isfinite(losses).all()):
        raise DataError("eta: scores overflowed; give smaller steps or a smaller radius")
    if not measured:
        losses[:], own[:] = np.nan, np.nan
    return Run(w, stops, path, ndcg, losses, own, norms, int(explored), names_of(data))


def axes_of(seed: Seed) -> tuple[Axis, ...]:
    return seed if isinstance(seed, tuple) else (seed,)


def _check_labels(data: RankingData, y_max: int | None) -> None:
    if y_max is None:
        return
    beyond = np.flatnonzero(data.y > y_max)
    if len(beyond):
        raise DataError(f"row {beyond[0]}: expected a label of at most y_max = {y_max}, found {data.y[beyond[0]]}")


def stops_of(checkpoints: ArrayLike | None, T: int) -> NDArray[np.int64]:
    stops = log_checkpoints(T) if checkpoints is None else np.asarray(checkpoints)
    good = stops.ndim == 1 and len(stops) and stops.dtype.kind in "iu"
    if not (good and stops[0] >= 1 and stops[-1] <= T and (np.diff(stops) > 0).all()):
        raise DataError(f"checkpoints: expected rising whole numbers in 1..{T}, found {stops}")
    return stops.astype(np.int64)


def _judge(judge: ArrayLike, n: int) -> Floats:
    return np.ascontiguousarray(checks.floats("judge", judge, shape=(n,)))
