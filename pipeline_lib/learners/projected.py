"""How is a smooth risk minimised in an l1 ball to a certified gap?

Accelerated projected gradients (Nesterov 1983; Beck and Teboulle 2009) with a step size found by halving, restarted
whenever the momentum points uphill (O'Donoghue and Candes 2015):

    v = w_k + (t_k - 1)/t_(k+1) (w_k - w_(k-1)),   w_(k+1) = projection of v - grad F(v) / curvature onto the ball.

The tangent of L at v is an affine function below L and gives the gap; with l2 = 0 it is the Frank-Wolfe gap.
"""

import math

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.learners.balls import project
from pipeline_lib.learners.problem import Problem, Solution, Watch, minorant_gap

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

ITERATIONS = 20_000
CERTIFICATE = "duality"
# The estimate of the curvature may decrease by this factor per step, so that one steep place does not slow down the
# rest.
RELAX = 0.9
NO_PROGRESS = f"the gap was not reached in {ITERATIONS} projected gradient steps"


def minimise(problem: Problem, start: Floats, tol: float) -> Solution:
    """Minimise F for a smooth surrogate until gap <= tol * objective, from ``start`` in the ball of finite radius."""
    w, v, momentum, curvature = start, start, 1.0, 1.0
    best_w, best_loss, bound = start, problem.loss(problem.X @ start)[0], -math.inf
    best = problem.objective(best_w, best_loss)
    watch = Watch(problem, ITERATIONS)
    for iteration in range(ITERATIONS):
        loss, score_gradient = problem.loss(problem.X @ v)
        slope = problem.X.T @ score_gradient
        objective = problem.objective(v, loss)
        # The tangent at any v bounds min F from below; the gap is that of the best point in the ball.
        gap = minorant_gap(problem, best_w, best_loss, loss - float(slope @ v), slope)
        bound = max(bound, best - gap)
        watch.at(iteration, best - bound, best)
        if problem.relative(best - bound, best) <= tol:
            return Solution(best_w, max(best - bound, 0.0), CERTIFICATE, iteration)
        gradient = problem.l2 * v + slope
        after, loss, curvature = _step(problem, v, objective, gradient, RELAX * curvature)
        if problem.objective(after, loss) < best:
            best_w, best_loss, best = after, loss, problem.objective(after, loss)
        if float(gradient @ (after - w)) > 0.0:
            v, momentum = after, 1.0
        else:
            larger = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum**2))
            v, momentum = after + (momentum - 1.0) / larger * (after - w), larger
        w = after
    return Solution(best_w, best - bound, CERTIFICATE, ITERATIONS, NO_PROGRESS)


def _step(
    problem: Problem, v: Floats, objective: float, gradient: Floats, curvature: float
) -> tuple[Floats, float, float]:
    # The projected step with the smallest curvature, doubled from the given one, whose parabola is above F at its end.
    while True:
        after = project(v - gradient / curvature, problem.radius, problem.ball)
        move = after - v
        loss, _ = problem.loss(problem.X @ after)
        value = problem.objective(after, loss)
        parabola = objective + float(gradient @ move) + 0.5 * curvature * float(move @ move)
        if value <= parabola + 1e-14 * abs(objective) or not np.any(move):
            return after, loss, curvature
        curvature *= 2.0
