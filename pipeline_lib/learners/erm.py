"""How is a linear ranker found that minimises a surrogate on the training queries, and how is this certified?

    minimise F(w) = l2/2 ||w||^2 + (1/Q) sum_q phi(X_q w, y_q),  optionally over ||w||_2 (or ||w||_1) <= radius.

Where queries have weights, the mean over queries is the weighted one. Which solver, and which certificate of the gap
F(w) - min F:

| surrogate | solver | certificate |
|---|---|---|
| smooth, l2 > 0 or a radius | ``newton``: L-BFGS, then Newton | duality: ||grad F||^2 / (2 l2) and its form in a ball |
| smooth, neither | ``newton`` where F is curved | self-concordance (exact for ``squared``) |
| with kinks and smooth minorants (``ranksvm``) | ``smoothing`` | duality, also of the linear programme l2 = 0 |
| with kinks and a linear programme, many features | ``interior`` (*) | duality; needs l2 > 0 or a radius |
| any other with kinks, or stalled | ``bundle`` | cutting planes; needs l2 > 0 or a radius |
| smooth, in an l1 ball | ``projected``: accelerated projected gradients | duality (l2 = 0: the Frank-Wolfe gap) |
| with kinks, in an l1 ball | ``bundle`` | cutting planes |
| not convex | ``restarts``: several local minima, annealed | none: "local" |

(*) ``interior`` needs all features at once and holds a matrix for every query: where features are worked on in blocks
(:mod:`pipeline_lib.data.query_blocks`), or lists are so long that the matrices would take more than 512 MB, ``bundle``
takes its place. All other solvers work by blocks.

All certificates hold up to the rounding of float64.
"""

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from pipeline_lib import surrogates
from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, NonNegative, Positive, Seed, checked
from pipeline_lib.core.cost import Size
from pipeline_lib.core.errors import DataError, UnlearnableError
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Whole
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import (
    bundle,
    completed,
    interior,
    newton,
    projected,
    restarts,
    selection,
    smoothing,
    sublists,
)
from pipeline_lib.learners.balls import Ball, project
from pipeline_lib.learners.features import fitted
from pipeline_lib.learners.learner import (
    IMPORTS,
    Features,
    Learner,
    Radius,
    Regularisation,
    Selecting,
    Tolerance,
    seen_by,
)
from pipeline_lib.learners.losses import checked_surrogate
from pipeline_lib.learners.models import LinearResult
from pipeline_lib.learners.problem import DesignMatrix, Problem, Solution, design_matrix
from pipeline_lib.learners.ranker import Model, Trained, axes_of, names_of
from pipeline_lib.surrogates.base import SmoothableSurrogate, SmoothSurrogate, Surrogate

_LOG = logging.getLogger(__name__)

# Smoothing solves a system in all features at every step, and needs the more steps, the fewer documents there are for
# each: with fewer than this, and features that are not few, other methods are faster and reach the gap more surely.
DOCUMENTS_PER_FEATURE = 100
# With at most so many features, cutting planes are faster than an interior-point method for the whole programme.
FEW_FEATURES = 32
LARGEST_MATRICES = 2**26
"""Numbers in the matrices of all queries, beyond which they leave the interior-point method to cutting planes."""


@dataclass(frozen=True, eq=False)
class Fit(LinearResult):
    """The result of :func:`fit`.

    Attributes
    ----------
    w : float64, shape (d,)
    objective : float
        F(w).
    gap : float
        An upper bound on F(w) - min F (over the ball, if there is one); inf if none was found.
    relative_gap : float
        gap / objective; an objective below a millionth of that of w = 0 counts as this much.
    iterations : int
        Steps of the solver.
    certified : bool
        Whether relative_gap <= tol.
    certificate : str
        How the gap is proved: "duality", "self-concordance" or "cutting planes"; "local" if there can be no proof.
    reason : str
        The reason if it is not certified; otherwise empty.
    """

    objective: float
    gap: float
    relative_gap: float
    iterations: int
    certified: bool
    certificate: str
    reason: str


@checked
def fit(
    data: RankingData,
    surrogate: str | Surrogate,
    *,
    l2: NonNegative,
    radius: Positive | None = None,
    ball: Ball = "l2",
    tol: Positive = 1e-6,
    start: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    seed: Seed = 0,
) -> Fit:
    """Minimise l2/2 ||w||^2 + (1/Q) sum_q phi(X_q w, y_q), to a certified relative gap.

    Parameters
    ----------
    data : RankingData
        At least one query.
    surrogate : str or Surrogate
        A name of ``surrogates.NAMES`` (then with default options) or an object. For one that is not convex, the result
        is the lowest of several local minima, and certified is False.
    l2 : float >= 0
        The published C of RankSVM-struct is 1 / l2 with the ``sum`` normalisation.
    radius : float > 0, optional
        Keep ||w|| <= radius.
    ball : "l2" or "l1"
        The norm that the radius limits.
    tol : float > 0
        The required relative gap.
    start : shape (d,), optional
        The starting point, projected onto the ball; for a convex surrogate, every point leads to the same minimum.
    weights : shape (Q,), >= 0, optional
        The weight of every query, such as the number of its rounds: the mean over queries becomes the weighted mean.
        By default the weights of the data, if they have any.
    seed : int or axes of a seed
        Of the restarts for a surrogate that is not convex; nothing else is random.

    Returns
    -------
    Fit
        With ``certified`` False and a ``reason`` if the gap was not reached.

    Raises
    ------
    DataError
        When an argument is out of range, or neither l2 nor a radius bounds a surrogate
        that is solved by cutting planes.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0], [2.0]], [0, 1, 0], [1, 1, 1])
    >>> result = fit(data, "ranksvm", l2=0.5)
    >>> result.certified, round(result.objective, 6)
    (True, 2.0)
    """
    if weights is not None:
        counted = checks.weights("weights", weights, data.n_queries)
        met = np.flatnonzero(counted)
        data = replace(data.take(met), weights=counted[met])
    problem = _problem(data, surrogate, l2, radius, ball)
    d = data.n_features
    begin = np.zeros(d) if start is None else np.array(checks.floats("start", start, shape=(d,)))
    return replace(_solve(problem, begin, tol, seed), feature_names=names_of(data))


@checked
def path(
    data: RankingData,
    surrogate: str | Surrogate,
    l2_values: Sequence[NonNegative],
    *,
    radius: Positive | None = None,
    ball: Ball = "l2",
    tol: Positive = 1e-6,
    seed: Seed = 0,
) -> list[Fit]:
    """Fit every l2, from the largest to the smallest, each starting at the solution of the previous one.

    Returns
    -------
    list of Fit
        In the order of ``l2_values``. Earlier solutions only save steps: every fit has its own certificate.

    Raises
    ------
    DataError
        As :func:`fit`, or when ``l2_values`` is empty.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0], [2.0]], [0, 1, 0], [1, 1, 1])
    >>> [fit.certified for fit in path(data, "listnet", [0.01, 1.0])]
    [True, True]
    """
    fits = dict(_fits(data, surrogate, l2_values, radius, ball, tol, seed))
    return [fits[k] for k in range(len(l2_values))]


class ErmSettings(Selecting):
    """Regularised empirical risk minimisation: l2/2 ||w||^2 + mean surrogate loss over queries."""

    tuned = "l2"
    l2: Regularisation = Field(
        (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0),
        description="l2, or several values, of which the best is chosen on the validation part",
    )
    radius: Radius = Field(None, description="largest ||w||; null means no limit")
    ball: Ball = Field("l2", description="the norm that the radius limits: l2 or l1")
    tol: Tolerance = Field(1e-6, description="certified relative gap between the objective and its minimum")
    sublists: Whole | None = Field(
        None, description="cut training lists at random into lists of about so many documents; null means whole lists"
    )
    features: Features = Field(
        "standardised", description="standardised, raw, or {kernel: gaussian, components: 300, bandwidth: median}"
    )


@checked
def lipschitz_l2(n: Count, *, radius: NonNegative, lipschitz: NonNegative, feature_norm: NonNegative) -> float:
    """sqrt( (4 (G R_X)^2/n) / (W2^2/2 + 4 W2^2/n) ): the lambda of `lists`, Theorem 6 (18), for n queries.

    ``radius`` is W2, ``lipschitz`` the constant G of the loss in the scores, and ``feature_norm`` R_X.

    Example
    -------
    >>> lipschitz_l2(8, radius=1.0, lipschitz=2.0, feature_norm=1.0).__round__(4)
    1.4142
    """
    return math.sqrt(4.0 * (lipschitz * feature_norm) ** 2 / n / (radius**2 * (0.5 + 4.0 / n)))


@checked
def train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
    """Fit a path of l2 on ``train`` and keep the one with the best mean measure on ``validation``.

    Parameters
    ----------
    settings : mapping
        ``surrogate`` (name), ``options`` (of the surrogate) and those of :class:`ErmSettings`; what is missing has its
        default. Ties go to the larger l2.
    seed
        Of random features, of sublists, and of the restarts for a surrogate that is not convex.

    Returns
    -------
    Trained
        The record holds the settings, the chosen ``l2``, ``certified`` of the chosen fit, and ``path``: for every l2
        its objective, gap, relative gap, iterations, certificate, reason, ||w|| and validation value.

    Raises
    ------
    ConfigurationError
        When a setting is missing, unknown or has no such value.
    """
    chosen = completed("erm", settings)
    selection.check_queries("erm", train, validation, "l2")
    features = fitted(chosen["features"], train, seed)
    surrogate = surrogates.create(chosen["surrogate"], **chosen["options"])
    inside = features.apply(train)
    if chosen["sublists"]:
        inside = sublists.cut(inside, chosen["sublists"], generator(*axes_of(seed), "sublists"))
    tried: dict[int, tuple[Fit, Model, float]] = {}
    limits = (chosen["radius"], chosen["ball"], chosen["tol"])
    for k, fit in _fits(inside, surrogate, chosen["l2"], *limits, seed):
        model = features.model(fit.w)
        value = selection.mean_measure(model.predict(validation), validation, chosen["selection"])
        tried[k] = fit, model, value
        _LOG.info(
            f"{surrogate.name}, l2 = {chosen['l2'][k]:g}: {_in_words(fit)}; "
            f"validation {chosen['selection']} {value:.4f}"
        )
    falling = sorted(range(len(tried)), key=lambda k: -chosen["l2"][k])
    best = falling[selection.first_best([tried[k][2] for k in falling])]
    steps = [_step_record(l2, tried[k][0], tried[k][2]) for k, l2 in enumerate(chosen["l2"])]
    fit, kept, _ = tried[best]
    record = {"settings": chosen, "l2": chosen["l2"][best], "certified": _certified(fit), "path": steps}
    return Trained(kept, record)


def _fits(
    data: RankingData,
    surrogate: str | Surrogate,
    l2_values: Sequence[float],
    radius: float | None,
    ball: Ball,
    tol: float,
    seed: Seed,
) -> Iterator[tuple[int, Fit]]:
    # Every l2 by its position, from the largest to the smallest, as it is fitted.
    if not len(l2_values):
        raise DataError("l2_values: expected at least one value, found none")
    problems = [_problem(data, surrogate, l2, radius, ball) for l2 in l2_values]
    start = np.zeros(data.n_features)
    for k in sorted(range(len(problems)), key=lambda k: -problems[k].l2):
        fit = _solve(problems[k], start, tol, seed)
        start = fit.w
        yield k, replace(fit, feature_names=names_of(data))


def _problem(data: RankingData, surrogate: str | Surrogate, l2: float, radius: float | None, ball: Ball) -> Problem:
    if not data.n_queries:
        raise UnlearnableError("data: expected at least one query, found none")
    loss = checked_surrogate(surrogate)
    smooth = not loss.convex or isinstance(loss, SmoothSurrogate | SmoothableSurrogate)
    if not smooth and l2 == 0.0 and radius is None:
        raise UnlearnableError(f"{loss.name}: expected l2 > 0 or a radius, which cutting planes need, found neither")
    reach = math.inf if radius is None else float(radius)
    # Without a radius there is no ball; the solvers for the l2 ball are used.
    return Problem(
        design_matrix(data),
        data.labels_for(binary=loss.binary),
        data.offsets,
        loss,
        float(l2),
        reach,
        "l2" if radius is None else ball,
        None if data.weights is None else data.weights / data.weights.mean(),
    )


def _solve(problem: Problem, start: Floats, tol: float, seed: Seed) -> Fit:
    inside = project(start, problem.radius, problem.ball)
    if not problem.surrogate.convex:
        return _fit(problem, restarts.minimise(problem, inside, seed), tol)
    if isinstance(problem.surrogate, SmoothSurrogate):
        method = projected.minimise if problem.ball == "l1" else newton.minimise
        return _fit(problem, method(problem, inside, tol), tol)
    smoothable = isinstance(problem.surrogate, SmoothableSurrogate) and problem.ball == "l2"
    return _fit(problem, (_with_minorants if smoothable else _with_kinks)(problem, inside, tol), tol)


def _with_minorants(problem: Problem, start: Floats, tol: float) -> Solution:
    # By smoothing where that is fast; otherwise, and where it stalls, by methods that need l2 or a ball.
    N, d = problem.X.shape
    bounded = problem.l2 > 0.0 or math.isfinite(problem.radius)
    if bounded and d > max(FEW_FEATURES, N / DOCUMENTS_PER_FEATURE):
        return _with_kinks(problem, start, tol)
    smoothed = smoothing.minimise(problem, start, tol)
    if not bounded or not smoothed.reason:
        return smoothed
    return _better(smoothed, _with_kinks(problem, smoothed.w, tol))


def _with_kinks(problem: Problem, start: Floats, tol: float) -> Solution:
    programme = None
    if problem.X.shape[1] > FEW_FEATURES and problem.ball == "l2" and not isinstance(problem.X, DesignMatrix):
        programme = problem.surrogate.programme(problem.y, problem.offsets)
    if programme is None or programme.matrix_size > LARGEST_MATRICES:
        return bundle.minimise(problem, start, tol)
    if problem.weights is not None:
        programme = programme.scaled(problem.weights)
    first = interior.minimise(problem, programme, tol)
    return _better(first, bundle.minimise(problem, first.w, tol)) if first.reason else first


def _better(first: Solution, second: Solution) -> Solution:
    # Of two solutions one after the other
    best = second if second.gap <= first.gap else first
    return replace(best, iterations=first.iterations + second.iterations)


def _fit(problem: Problem, solution: Solution, tol: float) -> Fit:
    objective = problem.objective(solution.w, problem.loss(problem.X @ solution.w)[0])
    relative = problem.relative(solution.gap, objective)
    certified = math.isfinite(objective) and relative <= tol
    how = (solution.iterations, certified, solution.certificate, "" if certified else solution.reason)
    return Fit(solution.w, objective, solution.gap, relative, *how)


def _certified(fit: Fit) -> bool | None:
    # For a local minimum there is no certificate to reach.
    return None if fit.certificate == restarts.CERTIFICATE else fit.certified


def _in_words(fit: Fit) -> str:
    gap = f", relative gap {fit.relative_gap:.1e}" if math.isfinite(fit.relative_gap) else ""
    return f"{fit.iterations} iterations{gap} ({f'certified by {fit.certificate}' if fit.certified else fit.reason})"


def _step_record(l2: float, fit: Fit, value: float) -> dict[str, Any]:
    # JSON has no infinity: an unknown gap is null.
    return {
        "l2": l2,
        "objective": fit.objective,
        "gap": fit.gap if math.isfinite(fit.gap) else None,
        "relative_gap": fit.relative_gap if math.isfinite(fit.relative_gap) else None,
        "iterations": fit.iterations,
        "certified": _certified(fit),
        "certificate": fit.certificate,
        "reason": fit.reason,
        "norm": float(np.linalg.norm(fit.w)),
        "validation": value,
    }


# Seconds to import the solvers, besides those of every learner.
SOLVERS = 0.3


def _seconds(settings: Any, size: Size) -> float:
    # Every l2 takes some passes over the features, and second derivatives or cutting planes, which grow with d too.
    inside = seen_by(settings.features, size)
    loss = surrogates.get(settings.surrogate)
    passes = loss.repeats * (1.2e-8 * inside.cells + 2e-7 * inside.documents)
    each = passes + 5e-11 * loss.effort * inside.cells * inside.features
    return IMPORTS + SOLVERS + len(settings.l2) * each


LEARNER = Learner(
    train,
    ErmSettings,
    formula=r"\min_w \; \frac{\lambda}{2} \lVert w \rVert^2 + \frac{1}{n} \sum_{q=1}^{n} \varphi(X_q w, y_q)",
    with_surrogate=True,
    weighs=True,
    seconds=_seconds,
)
