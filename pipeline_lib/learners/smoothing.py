"""How is a risk with kinks minimised to a certified gap through smooth minorants of its surrogate?

Newton's method minimises F_h, in which the kinks are rounded off over a width h, while h decreases. The gradients of
F_h are slopes of affine functions below L (for RankSVM: dual variables alpha in [0, 1] of its pairs), so that every
step gives a duality gap for F itself (see :func:`~pipeline_lib.learners.problem.minorant_gap`), without the pairs ever
being stored. At the minimum of F_h the gap is the cost of rounding, sum alpha (1 - alpha) h over the rounded pairs for
RankSVM, which vanishes with h.

Without l2 and without a ball the problem is a linear programme, and an affine function below L bounds nothing unless
its slope u = (1/Q) sum alpha z is 0. It is 0 only up to rounding, and is corrected as follows: with B the variables at
least e inside (0, 1), solve (1/Q) sum_B z z' zeta = u and replace alpha_p by alpha_p - <z_p, zeta>. If no |<z_p, zeta>|
exceeds e this is feasible with slope 0, and its intercept b' is at least b (1 - max |<z_p, zeta>| / e), because sum_B
|<z_p, zeta>| <= (max |<z_p, zeta>| / e) sum_B alpha_p.
"""

import math
from dataclasses import replace

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.learners.newton import DUALITY, FLAT, ROUNDING, step, summand_sizes
from pipeline_lib.learners.problem import Problem, Solution, Watch, minorant_gap
from pipeline_lib.surrogates.base import MinorantSurrogate, SmoothableSurrogate

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

ITERATIONS = 300
# Widths are in margins. With all scores 0 every hinge is at 1: the first width rounds all of them off. Starting at the
# solution of a neighbouring problem, the first width is smaller, so that this solution is not lost.
FIRST_WIDTH, WARM_WIDTH = 2.0, 0.1
# The width decreases by at most this factor, once the step's predicted decrease is below READY times the cost of
# rounding, or after so many steps; it stops when this cost is TARGET times what the tolerance allows.
SHRINK, READY, TARGET, STEPS_PER_WIDTH = 0.25, 5.0, 0.8, 50
# A line search ends where the slope is this fraction of what it was.
LINE_SEARCH_STEPS, FLATTENED = 60, 0.25
NARROWEST = 1e-11
# The solver stops after so many steps at one width that improved neither the objective nor the bound.
PATIENCE = 20
# The distances from 0 and 1 that dual variables must have to be used for correcting a slope; the best one is taken.
EDGES = (1e-1, 1e-3, 1e-6)
# Curvature that is added in the steps of the linear programme, as a fraction of that of the first step.
LENT = 1e-9
NO_PROGRESS = "the gap stopped shrinking: rounding, or for l2 = 0 a minimum that is not unique; give l2 > 0 or a radius"


def minimise(problem: Problem, start: Floats, tol: float) -> Solution:
    """Minimise F for a :class:`SmoothableSurrogate` until gap <= tol * objective, from ``start``."""
    if start.any():
        warm = _descend(problem, start, tol, WARM_WIDTH)
        if not warm.reason:
            return warm
    # Far from the minimum, such a narrow width can miss all kinks: start again with a wide one.
    return _descend(problem, np.zeros_like(start), tol, FIRST_WIDTH)


def _descend(problem: Problem, start: Floats, tol: float, width: float) -> Solution:
    assert isinstance(problem.surrogate, SmoothableSurrogate)
    w, steps, waited = start, 0, 0
    best_w, best, bound = start, math.inf, 0.0  # phi >= 0
    lent = _lent_curvature(problem)
    watch = Watch(problem, ITERATIONS)
    for iteration in range(ITERATIONS):
        rounded = problem.surrogate.smoothed(width)
        scores = problem.X @ w
        objective = problem.objective(w, problem.loss(scores)[0])
        waited += 1
        if objective < best:
            best_w, best, waited = w, objective, 0
        values, score_gradient, intercepts = problem.minorant(scores, rounded)
        slope = problem.X.T @ score_gradient / len(values)
        cost, lower = _lower_bound(problem, rounded, w, scores, float(intercepts.mean()), slope)
        if lower > bound:
            bound, waited = lower, 0
        watch.at(iteration, best - bound, best)
        if problem.relative(best - bound, best) <= tol:
            return Solution(best_w, max(best - bound, 0.0), DUALITY, iteration)
        if width < NARROWEST or waited == PATIENCE:
            break
        gradient = problem.l2 * w + slope
        smooth = replace(problem, surrogate=rounded)
        move = step(problem, w, gradient, smooth.hessian(scores, rounded) + lent)
        decrease = -float(gradient @ move)
        w = w + _line_search(smooth, w, scores, move, decrease) * move
        steps += 1
        allowed = TARGET * tol * max(abs(best), problem.negligible)
        if (cost > allowed and 0.5 * decrease <= READY * cost) or steps == STEPS_PER_WIDTH:
            width *= max(SHRINK, min(0.9, math.sqrt(0.8 * allowed / cost) if cost > 0.0 else SHRINK))
            steps = waited = 0
    return Solution(best_w, best - bound, DUALITY, iteration, NO_PROGRESS)


def _line_search(problem: Problem, w: Floats, scores: Floats, move: Floats, decrease: float) -> float:
    # Between kinks the Newton step is exact; across many kinks, a line search finds a length at which the slope, which
    # increases from -decrease, is small: regula falsi, with halving where it is slow; beyond 1 only without a ball.
    if decrease <= 0.0:  # rounding: there is no descent
        return 0.0
    along = problem.X @ move

    def slope(length: float) -> float:
        _, score_gradient = problem.loss(scores + length * along)
        return problem.l2 * float(move @ (w + length * move)) + float(score_gradient @ along)

    low, high, at_low, at_high = 0.0, math.inf, -decrease, math.inf
    length = 1.0
    for trial in range(LINE_SEARCH_STEPS):
        now = slope(length)
        if abs(now) <= FLATTENED * decrease or (now < 0.0 and length == 1.0 and math.isfinite(problem.radius)):
            return length
        if now < 0.0:
            low, at_low = length, now
        else:
            high, at_high = length, now
        if math.isinf(high):
            length *= 2.0
        elif trial % 2:
            length = 0.5 * (low + high)
        else:
            length = low - at_low * (high - low) / (at_high - at_low)
    return low


def _lent_curvature(problem: Problem) -> Floats:
    # Without l2 and a ball, directions in which no kink is rounded have no curvature; a little makes steps finite.
    d = problem.X.shape[1]
    if problem.l2 > 0.0 or math.isfinite(problem.radius):
        return np.zeros((d, d))
    assert isinstance(problem.surrogate, SmoothableSurrogate)
    first = problem.hessian(np.zeros(len(problem.y)), problem.surrogate.smoothed(FIRST_WIDTH)).diagonal()
    return np.diag(LENT * np.where(first > 0.0, first, 1.0))


def _lower_bound(
    problem: Problem, rounded: MinorantSurrogate, w: Floats, scores: Floats, intercept: float, slope: Floats
) -> tuple[float, float]:
    # The cost of rounding at w, L(w) - intercept - <slope, w>, and a lower bound on min F.
    loss, _ = problem.loss(scores)
    cost = loss - intercept - float(slope @ w)
    if problem.l2 > 0.0 or math.isfinite(problem.radius):
        return cost, problem.objective(w, loss) - minorant_gap(problem, w, loss, intercept, slope)
    return cost, _mended_intercept(problem, rounded, scores, intercept, slope)


def _mended_intercept(
    problem: Problem, rounded: MinorantSurrogate, scores: Floats, intercept: float, slope: Floats
) -> float:
    summands = summand_sizes(problem, problem.evaluated(scores, rounded)[1])
    rounding = ROUNDING * summands / (len(problem.offsets) - 1)
    best = -math.inf
    for edge in EDGES:
        gram = problem.hessian(scores, rounded.interior(edge)) * (1.0 - 2.0 * edge) * rounded.dual_width
        curvature = np.diag(gram)
        scale = np.divide(1.0, np.sqrt(curvature), out=np.zeros_like(curvature), where=curvature > 0.0)
        values, vectors = np.linalg.eigh(scale[:, None] * gram * scale)
        spanned = values > FLAT * max(values[-1], np.finfo(float).tiny)
        basis = scale[:, None] * vectors[:, spanned]
        zeta = basis @ ((basis.T @ slope) / values[spanned])
        if np.any(np.abs(gram @ zeta - slope) > rounding):
            continue
        corrections = problem.X @ zeta
        highest = np.maximum.reduceat(corrections, problem.offsets[:-1])
        lowest = np.minimum.reduceat(corrections, problem.offsets[:-1])
        share = float((highest - lowest).max()) / edge
        if share <= 1.0:
            best = max(best, intercept * (1.0 - share))
    return best
