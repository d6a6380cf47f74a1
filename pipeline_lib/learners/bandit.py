r"""How does a ranker learn online that sees nothing but its loss? By bandit gradient descent.

`topk`, section 4.3, compares the rate of Algorithm 1, T^(2/3), with T^(3/4), the best rate known for bandit convex
optimisation by an efficient algorithm. That is reached by Flaxman, Kalai and McMahan (SODA 2005): on round t the ranker
w_t + delta u_t is played, u_t uniform on the unit sphere, the number l_t = phi(X_t (w_t + delta u_t), y_t) is seen, and

    w_(t+1) = projection of w_t - step l_t u_t onto ||w|| <= U - delta.

(d / delta) l_t u_t is an unbiased estimate of the gradient of phi averaged over the ball of radius delta around w_t.
With C and L bounds on the loss and its slope in the ball of radius U (Theorem 2 there, whose inner radius is U here),

    step = U / (C sqrt(T)),   delta = T^(-1/4) sqrt(d C U^2 / (3 (L U + C))),
    regret <= 2 T^(3/4) sqrt(3 U d C (L + C / U)).

The rounds are those of :mod:`pipeline_lib.learners.top_k_feedback`: the same queries, measures and random numbers.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pipeline_lib.core.checks import Count, Positive, Seed, checked
from pipeline_lib.core.compiled import copy, njit
from pipeline_lib.core.errors import DataError, UnlearnableError
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import loss_ranges
from pipeline_lib.learners.losses import checked_surrogate
from pipeline_lib.learners.ranker import names_of
from pipeline_lib.learners.rounds import of_game
from pipeline_lib.learners.top_k_feedback import KINDS, Run, check_kind, options_of, prepared
from pipeline_lib.learners.top_k_kernels import SHOWN, gained, loss_of, score, uniform
from pipeline_lib.ranking import longest, top_by_score
from pipeline_lib.surrogates.base import Surrogate

__all__ = ["Parameters", "run", "theorem_parameters"]


class Parameters(NamedTuple):
    """What the theorem prescribes for T rounds, and its bound on the regret."""

    step: float
    delta: float
    bound: float


@checked
def run(
    data: RankingData,
    surrogate: str | Surrogate,
    rounds: Count,
    step: Positive,
    delta: Positive,
    radius: Positive,
    seed: Seed = 0,
    *,
    order: ArrayLike | None = None,
    checkpoints: ArrayLike | None = None,
    losses: bool = True,
) -> Run:
    """Play T = ``rounds`` rounds of bandit gradient descent.

    Parameters
    ----------
    data : RankingData
    surrogate : str or Surrogate
        Any loss of :func:`pipeline_lib.learners.top_k_feedback.with_all_labels`.
    rounds : int >= 1
    step, delta : float > 0
        delta is below the radius. :func:`theorem_parameters` has those of the theorem.
    radius : float > 0
        What is played keeps within ||w||_2 <= radius.
    seed : int or tuple of axes
        Of the directions, and of the queries' order when it is not given.
    order : integers, shape (T,), optional
        Queries by position; when not given, all queries once a pass, each pass in a new random order.
    checkpoints : rising integers in 1..T, optional
        The rounds to report on.
    losses : bool
        Measure the loss of w_t as well, which the learner does not see.

    Returns
    -------
    Run
        ``losses`` and ``ndcg`` are those of the rankers played, ``own_losses`` those of w_t; ``squared_norms`` are of
        (d / delta) l_t u_t; ``explored`` is 0, since every round explores.

    Raises
    ------
    DataError
        When an argument is out of range, or the step is so large that scores overflow.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [7, 7])
    >>> result = run(data, "squared", rounds=2000, step=0.05, delta=0.3, radius=2.0, seed=1)
    >>> bool(0.5 < result.w[0] < 1.5), bool(0.9 < result.ndcg[-1])
    (True, True)
    """
    loss = checked_surrogate(surrogate)
    check_kind(loss, KINDS)
    if not data.n_features:
        raise UnlearnableError("data: expected at least one feature, found none: there is no direction to explore")
    if delta >= radius:
        raise DataError(f"delta: expected less than the radius, {radius:g}, found {delta:g}")
    queries = of_game(data, rounds, order, seed)
    stops, values, state, quality = prepared(data, loss, checkpoints, rounds, seed)
    w, path, ndcg, shown, own, norms = _play(
        *(data.X, data.y, data.offsets, queries, values, KINDS[loss.name], *options_of(loss)),
        *(float(step), float(delta), float(radius - delta), losses, *quality, stops, state),
    )
    if not (np.isfinite(w).all() and np.isfinite(shown).all()):
        raise UnlearnableError("step: scores overflowed; give smaller steps or a smaller radius")
    if not losses:
        own[:] = np.nan
    return Run(w, stops, path, ndcg, shown, own, norms, 0, feature_names=names_of(data))


@njit
def _play(  # type: ignore[no-untyped-def]
    X, y, offsets, order, values, kind, sigma, sign, step, delta, inner, measured, ideal, D, gains, stops, state
):
    d, most = X.shape[1], longest(offsets)
    w, v, u, s = np.zeros(d), np.empty(d), np.empty(d), np.empty(most)
    path, best = np.empty((len(stops), d)), np.empty(SHOWN, np.int64)
    ndcg, losses, own, norms = np.empty(len(stops)), np.empty(len(stops)), np.empty(len(stops)), np.empty(len(stops))
    quality = loss = own_loss = norm = 0.0
    rated = stop = 0
    for t in range(len(order)):
        q = order[t]
        begin, m = offsets[q], offsets[q + 1] - offsets[q]
        truth = values[begin : begin + m]
        if measured:
            score(X[begin : begin + m], w, s)
            own_loss += loss_of(kind, s[:m], truth, sigma, sign)
        _direction(state, u)
        for c in range(d):
            v[c] = w[c] + delta * u[c]
        score(X[begin : begin + m], v, s)
        if ideal[q] > 0.0:
            top_by_score(s[:m], min(SHOWN, m), best)
            quality += gained(y[begin : begin + m], best, gains, D) / ideal[q]
            rated += 1
        value = loss_of(kind, s[:m], truth, sigma, sign)
        loss += value
        norm += (d / delta * value) ** 2
        length = 0.0
        for c in range(d):
            w[c] -= step * value * u[c]
            length += w[c] * w[c]
        if length > inner * inner:
            shrink = inner / math.sqrt(length) if length < math.inf else math.nan
            for c in range(d):
                w[c] *= shrink
        if t + 1 == stops[stop]:
            ndcg[stop] = quality / rated if rated else np.nan
            losses[stop], own[stop], norms[stop] = loss / (t + 1), own_loss / (t + 1), norm / (t + 1)
            copy(path[stop], w)
            stop = min(stop + 1, len(stops) - 1)
    return w, path, ndcg, losses, own, norms


@njit
def _direction(state, u):  # type: ignore[no-untyped-def]
    # uniform on the unit sphere: normal entries (Box and Muller), divided by their length
    length = 0.0
    while length == 0.0:
        for c in range(len(u)):
            radius = math.sqrt(-2.0 * math.log(1.0 - uniform(state)))
            u[c] = radius * math.cos(2.0 * math.pi * uniform(state))
            length += u[c] * u[c]
    for c in range(len(u)):
        u[c] /= math.sqrt(length)


@checked
def theorem_parameters(data: RankingData, surrogate: str, radius: Positive, T: Count) -> Parameters:
    """Step, delta and bound of the theorem, with C and L by :mod:`pipeline_lib.learners.loss_ranges`.

    The theorem speaks of T so large that delta is below the radius; for smaller T, delta is half the radius, and the
    bound is infinite.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.5], [-0.5]], [1, 0], [1, 1])
    >>> [round(value, 4) for value in theorem_parameters(data, "ranksvm", 1.0, 10_000)]
    [0.005, 0.0471, 8485.2814]
    """
    if not data.n_queries:
        raise UnlearnableError("data: expected at least one query, found none")
    C = float(loss_ranges.largest(data, surrogate, radius).max())
    L = float(loss_ranges.steepest(data, surrogate, radius).max())
    if C == 0.0:
        raise UnlearnableError(f"{surrogate}: expected a loss that is not 0 everywhere")
    d = data.n_features
    step, delta = radius / (C * math.sqrt(T)), T**-0.25 * math.sqrt(d * C * radius**2 / (3.0 * (L * radius + C)))
    if delta >= radius:
        return Parameters(step, radius / 2.0, math.inf)
    return Parameters(step, delta, 2.0 * T**0.75 * math.sqrt(3.0 * radius * d * C * (L + C / radius)))
