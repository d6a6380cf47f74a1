"""How is a risk that is not convex minimised, if no gap can be certified?

Local minima are found from several starts, and the lowest is kept: 0, the given start, a point on the steepest descent
from 0, and random directions of several lengths. A surrogate that can be made smoother
(:class:`~pipeline_lib.surrogates.base.AnnealableSurrogate`) is annealed: it is first minimised with several times the
requested smoothing, where it has few minima, and then with less and less, each time starting at the previous minimum.

Every local minimum is L-BFGS's or, in a ball, that of projected gradients with spectral steps (Birgin, Martinez and
Raydan 2000). The result states that it is a local minimum, and the norm of its projected gradient.
"""

import logging
import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np

from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Seed
from pipeline_lib.core.seeds import generator
from pipeline_lib.learners.balls import norm, project
from pipeline_lib.learners.problem import Problem, Solution
from pipeline_lib.learners.ranker import axes_of
from pipeline_lib.surrogates.base import AnnealableSurrogate

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)
_LOG = logging.getLogger(__name__)

CERTIFICATE = "local"
# Multiples of the requested smoothing, in this order.
ANNEALING = (64.0, 16.0, 4.0, 1.0)
RANDOM_STARTS = 4
# Standard deviations of the scores at the random starts, in turn.
SPREADS = (1.0, 0.1, 10.0)
ITERATIONS, STATIONARY = 500, 1e-7
# A spectral step must lead below the largest of so many last values (Grippo, Lampariello and Lucidi 1986).
MEMORY, ENOUGH = 10, 1e-4


def minimise(problem: Problem, start: Floats, seed: Seed) -> Solution:
    """The lowest of several local minima of F, from ``start`` and elsewhere; its gap is unknown (inf).

    The same seed gives the same minimum. F is no higher there than at any of the starts.
    """
    best: tuple[float, Floats] | None = None
    steps = minima = 0
    pace = progress.Pace()
    for begin in _starts(problem, start, seed):
        w, used = _annealed(problem, begin)
        steps, minima = steps + used, minima + 1
        for point in (w, begin):
            value = _value(problem, point)[0]
            if best is None or value < best[0]:
                best = (value, point)
        if best is not None and pace.due():
            _LOG.info(f"{problem.surrogate.name}, l2 = {problem.l2:g}: {minima} local minima, the lowest {best[0]:.6g}")
    assert best is not None
    stationarity = _stationarity(problem, best[1], _value(problem, best[1])[1])
    reason = f"not convex: the lowest of {minima} local minima, projected gradient {stationarity:.1e}"
    return Solution(best[1], math.inf, CERTIFICATE, steps, reason)


def _starts(problem: Problem, start: Floats, seed: Seed) -> Iterator[Floats]:
    zero = np.zeros_like(start)
    yield zero
    if start.any():
        yield start
    rng = generator(*axes_of(seed), "restarts")
    random = [rng.standard_normal(len(start)) for _ in range(RANDOM_STARTS)]
    for direction, spread in zip([-_value(problem, zero)[1], *random], cycle(SPREADS), strict=False):
        deviation = float(np.std(problem.X @ direction))
        if deviation > 0.0:
            yield project(direction * (spread / deviation), problem.radius, problem.ball)


def _annealed(problem: Problem, w: Floats) -> tuple[Floats, int]:
    loss, steps = problem.surrogate, 0
    stages = [loss.smoother(factor) for factor in ANNEALING] if isinstance(loss, AnnealableSurrogate) else [loss]
    for stage in stages:
        w, used = _local(replace(problem, surrogate=stage), w)
        steps += used
    return w, steps


def _value(problem: Problem, w: Floats) -> tuple[float, Floats]:
    loss, score_gradient = problem.loss(problem.X @ w)
    return problem.objective(w, loss), problem.l2 * w + problem.X.T @ score_gradient


def _stationarity(problem: Problem, w: Floats, gradient: Floats) -> float:
    return norm(project(w - gradient, problem.radius, problem.ball) - w, "l2")


def _local(problem: Problem, w: Floats) -> tuple[Floats, int]:
    if math.isinf(problem.radius):
        from scipy.optimize import minimize

        function: Any = partial(_value, problem)
        options: Any = {"maxiter": ITERATIONS, "gtol": STATIONARY, "ftol": 0.0}
        found = minimize(function, w, jac=True, method="L-BFGS-B", options=options)
        return np.asarray(found.x), int(found.nit)
    return _spectral(problem, w)


def _spectral(problem: Problem, w: Floats) -> tuple[Floats, int]:
    value, gradient = _value(problem, w)
    last, length = [value], 1.0
    for iteration in range(ITERATIONS):
        if _stationarity(problem, w, gradient) <= STATIONARY:
            return w, iteration
        move = project(w - length * gradient, problem.radius, problem.ball) - w
        falls, part = float(gradient @ move), 1.0
        while True:
            after = w + part * move
            new_value, new_gradient = _value(problem, after)
            if new_value <= max(last) + ENOUGH * part * falls or part < 1e-12:
                break
            part *= 0.5
        step, change = after - w, new_gradient - gradient
        bend = float(step @ change)
        length = min(max(float(step @ step) / bend, 1e-10), 1e10) if bend > 0.0 else min(10.0 * length, 1e10)
        w, value, gradient = after, new_value, new_gradient
        last = [*last[1 - MEMORY :], value]
    return w, ITERATIONS
