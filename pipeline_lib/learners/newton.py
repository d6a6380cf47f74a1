"""How is a smooth regularised risk minimised to a certified gap?

L-BFGS achieves most of the decrease at low cost. Newton's method with the exact second derivative completes the
minimisation, handles the ball, and provides the certificate if there is no regularisation.

The certificate for l2 = 0 without a ball. Let |D^3 F(w)[v, v, v]| <= R(v) D^2 F(w)[v, v] for all w, v (a generalised
self-concordance; Bach 2010), where R(v) is third_order times the largest |score| under v, with scores centred within
queries if the surrogate is shift-invariant. For fixed v, g(t) = F(w + t v) has g'' ' >= -R g'', so g''(t) >= g''(0)
e^(-R t), and integrating twice from 0 to 1,

    F(w + v) >= F(w) + <grad, v> + D^2 F[v, v] (e^-R + R - 1) / R^2.

Write r = D^2 F[v, v]^(1/2), nu for the Newton decrement (<grad, v> >= -nu r) and c for a number with R(v) <= c r. The
factor decreases in R, so F(w + v) - F(w) >= -nu r + (e^(-c r) + c r - 1) / c^2. With t = c nu < 1 the right side is
smallest at c r = -ln(1 - t), whence

    F(w) - min F <= (t + (1 - t) ln(1 - t)) / c^2     (nu^2 / 2 as c -> 0, exact for a quadratic).

c is the largest norm of a (centred) document in the metric of the inverse second derivative, times third_order. Along
directions without curvature F is constant, provided that the gradient vanishes along them as well, which is checked.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.data import query_blocks
from pipeline_lib.data.query_blocks import Block
from pipeline_lib.learners.problem import Problem, Solution, Watch, minorant_gap
from pipeline_lib.surrogates.base import SmoothSurrogate

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

# L-BFGS stops after 10 + d / 10 iterations: two or three Newton steps cost less than many more iterations.
LBFGS_ITERATIONS = 10
NEWTON_ITERATIONS = 100
# Newton's method stops after so many steps in a row that did not reduce the gap.
PATIENCE = 5
# Eigenvalues of a second derivative, and singular values of features, below this fraction of the largest count as 0.
FLAT, DEPENDENT = 1e-13, 1e-12
ROWS_AT_ONCE = 16_384
# A slope along a flat direction counts as 0 below this fraction of its summands.
ROUNDING = 1e-10
DUALITY, SELF_CONCORDANCE = "duality", "self-concordance"
NOT_ATTAINED = "no certificate was reached: the infimum may not be attained; give l2 > 0 or a radius"


def minimise(problem: Problem, start: Floats, tol: float) -> Solution:
    """Minimise F for a :class:`SmoothSurrogate` until gap <= tol * objective, from ``start``."""
    if problem.l2 == 0.0 and math.isinf(problem.radius):
        return _without_regularisation(problem, start, tol)
    if math.isfinite(problem.radius):
        return _newton(problem, start, tol, 0)
    w, iterations, gap, objective = _lbfgs(problem, start, tol)
    if problem.relative(gap, objective) <= tol:
        return Solution(w, gap, DUALITY, iterations)
    return _newton(problem, w, tol, iterations)


def step(problem: Problem, w: Floats, gradient: Floats, hessian: Floats) -> Floats:
    """The step from w to the minimiser of the quadratic model of F within the ball."""
    if math.isinf(problem.radius):
        try:
            return -np.asarray(np.linalg.solve(hessian, gradient), dtype=np.float64)
        except np.linalg.LinAlgError:
            return -np.asarray(np.linalg.lstsq(hessian, gradient, rcond=FLAT)[0], dtype=np.float64)
    values, vectors = np.linalg.eigh(hessian)
    target = vectors.T @ (hessian @ w - gradient)
    curved = values > FLAT * max(values[-1], np.finfo(float).tiny)
    flat = float(np.linalg.norm(target[~curved]))
    if flat <= ROUNDING * float(
        np.linalg.norm(target)
    ):  # otherwise the model is unbounded below, and its minimum is on the sphere
        free = np.divide(target, values, out=np.zeros_like(target), where=curved)
        if np.linalg.norm(free) <= problem.radius:
            return vectors @ free - w
    return vectors @ _on_sphere(np.where(curved, values, 0.0), target, problem.radius) - w


def _on_sphere(values: Floats, target: Floats, radius: float) -> Floats:
    # target / (values + mu) with mu > 0 such that its norm is the radius: Newton's method on 1/norm - 1/radius, which
    # is concave and increasing in mu, so that the iterates increase to the root from the left, where they start: at a
    # mu for which one coordinate alone is as long as the radius.
    mu = max(0.0, float((np.abs(target) / radius - values).max()))
    for _ in range(100):
        point = np.divide(target, values + mu, out=np.zeros_like(target), where=values + mu > 0.0)
        norm = float(np.linalg.norm(point))
        slope = float(np.sum(np.divide(point**2, values + mu, out=np.zeros_like(point), where=values + mu > 0.0)))
        change = (norm / radius - 1.0) * norm**2 / slope
        mu += change
        if change <= 1e-15 * mu:
            break
    return point * (radius / norm)


def line_search(problem: Problem, w: Floats, scores: Floats, objective: float, move: Floats, decrease: float) -> float:
    """Halve the step until F falls by enough of ``decrease`` (= -<gradient, move> > 0); 0 if it never does."""
    along = problem.X @ move
    length = 1.0
    for _ in range(50):
        loss, _ = problem.loss(scores + length * along)
        rounding = 8.0 * np.finfo(float).eps * abs(objective)
        if problem.objective(w + length * move, loss) <= objective - 1e-4 * length * decrease + rounding:
            return length
        length *= 0.5
    return 0.0


def _lbfgs(problem: Problem, start: Floats, tol: float) -> tuple[Floats, int, float, float]:
    from scipy.optimize import minimize

    best: list[tuple[float, float, Floats]] = []

    def function(w: Floats) -> tuple[float, Floats]:
        loss, score_gradient = problem.loss(problem.X @ w)
        slope = problem.X.T @ score_gradient
        objective = problem.objective(w, loss)
        gap = minorant_gap(problem, w, loss, loss - float(slope @ w), slope)
        if not best or gap < best[0][0]:
            best[:] = [(gap, objective, w.copy())]
        return objective, problem.l2 * w + slope

    def stop_when_certified(intermediate_result: OptimizeResult) -> None:
        if problem.relative(best[0][0], best[0][1]) <= tol:
            raise StopIteration

    most = LBFGS_ITERATIONS + problem.X.shape[1] // 10
    options: Any = {"maxiter": most, "maxfun": 2 * most, "maxcor": 20, "gtol": 0.0, "ftol": 1e-15}
    result = minimize(function, start, jac=True, method="L-BFGS-B", callback=stop_when_certified, options=options)
    gap, objective, w = best[0]
    return w, int(result.nit), gap, objective


def _newton(problem: Problem, w: Floats, tol: float, iterations: int) -> Solution:
    surrogate = problem.surrogate
    assert isinstance(surrogate, SmoothSurrogate)
    best = Solution(w, math.inf, DUALITY, iterations)
    waited = 0
    watch = Watch(problem, NEWTON_ITERATIONS)
    for taken in range(NEWTON_ITERATIONS):
        scores = problem.X @ w
        loss, score_gradient = problem.loss(scores)
        slope = problem.X.T @ score_gradient
        objective = problem.objective(w, loss)
        gap = minorant_gap(problem, w, loss, loss - float(slope @ w), slope)
        waited = 0 if gap < 0.9 * best.gap else waited + 1
        watch.at(taken, gap, objective)
        if gap < best.gap:
            best = Solution(w, gap, DUALITY, iterations)
        if problem.relative(gap, objective) <= tol:
            return replace(best, iterations=iterations)
        gradient = problem.l2 * w + slope
        move = step(problem, w, gradient, problem.hessian(scores, surrogate))
        length = line_search(problem, w, scores, objective, move, -float(gradient @ move))
        iterations += 1
        if length == 0.0 or waited == PATIENCE:
            break
        w = w + length * move
    return replace(best, iterations=iterations, reason="Newton's method made no more progress: rounding")


def _without_regularisation(problem: Problem, start: Floats, tol: float) -> Solution:
    surrogate = problem.surrogate
    assert isinstance(surrogate, SmoothSurrogate)
    curved, flat = _directions(problem, surrogate)
    inside = problem.times(curved)
    w, iterations, waited = start, 0, 0
    best = Solution(w, math.inf, SELF_CONCORDANCE, 0)
    watch = Watch(problem, NEWTON_ITERATIONS)
    while iterations < NEWTON_ITERATIONS and waited < PATIENCE:
        scores = problem.X @ w
        loss, score_gradient = problem.loss(scores)
        gradient = curved.T @ (problem.X.T @ score_gradient)
        try:
            inverse_root = np.linalg.inv(np.linalg.cholesky(inside.hessian(scores, surrogate)))
        except np.linalg.LinAlgError:
            break
        decrement = float(np.linalg.norm(inverse_root @ gradient))
        gap = _self_concordant_gap(inside, surrogate, inverse_root, decrement)
        if not _vanishes(problem, flat, score_gradient):
            gap = math.inf
        watch.at(iterations, gap, loss)
        # Far from the minimum there is no certificate yet; steps without progress count only once there is one.
        waited = waited + 1 if math.isfinite(best.gap) and gap > 0.9 * best.gap else 0
        if gap < best.gap:
            best = Solution(w, gap, SELF_CONCORDANCE, iterations)
        if problem.relative(gap, loss) <= tol:
            return replace(best, iterations=iterations)
        move = curved @ (inverse_root.T @ (inverse_root @ -gradient))
        length = line_search(problem, w, scores, loss, move, decrement**2)
        iterations += 1
        if length == 0.0:
            break
        w = w + length * move
    point = best.w if math.isfinite(best.gap) else w
    return replace(best, w=point, iterations=iterations, reason=NOT_ATTAINED)


def _directions(problem: Problem, surrogate: SmoothSurrogate) -> tuple[Floats, Floats]:
    # Bases (d, r) and (d, d - r) of directions in which F is curved and flat: those in which some contributing query's
    # (centred) documents differ, whatever w is. Features are first scaled to unit length, so that none vanishes because
    # of its unit. The singular values are those of the features themselves and not of their products, whose squares
    # would hide nearly dependent features. Directions are scaled such that documents have unit spread.
    contributing = np.repeat(_contributes(problem, surrogate), np.diff(problem.offsets))
    length = np.sqrt(query_blocks.total(problem.each(partial(_squares, surrogate, contributing))))
    scale = np.divide(1.0, length, out=np.ones_like(length), where=length > 0.0)
    triangle = np.empty((0, len(scale)))
    for block in problem.blocks:
        documents = surrogate.effective(problem.rows_of(block), block.offsets)
        for start in range(0, len(documents), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            chosen = documents[rows][contributing[block.rows][rows]]
            triangle = np.asarray(np.linalg.qr(np.vstack([triangle, chosen * scale]), mode="r"))
    _, values, rows_of_v = np.linalg.svd(triangle, full_matrices=True)
    spanned = int(np.sum(values > DEPENDENT * max(values.max(initial=0.0), np.finfo(float).tiny)))
    directions: Floats = scale[:, None] * rows_of_v.T
    return directions[:, :spanned] / values[:spanned], directions[:, spanned:]


def _squares(surrogate: SmoothSurrogate, contributing: NDArray[np.bool_], block: Block, X: Floats) -> Floats:
    # The sum of squares of every feature of a block's (centred) documents that contribute
    documents = surrogate.effective(X, block.offsets)
    return np.einsum("ij,ij,i->j", documents, documents, contributing[block.rows].astype(np.float64))


def _contributes(problem: Problem, surrogate: SmoothSurrogate) -> NDArray[np.bool_]:
    # Which queries have any curvature, shape (Q,); tested with a vector that is constant on no query and nowhere 0.
    sizes = np.diff(problem.offsets)
    ranks = np.arange(len(problem.y)) - np.repeat(problem.offsets[:-1], sizes) + 1.0
    product = surrogate.hessian_product(
        np.zeros(len(problem.y)), problem.y, problem.offsets, ranks[:, None].astype(np.float64)
    )
    return np.add.reduceat(np.abs(product[:, 0]), problem.offsets[:-1]) > 0.0


def _vanishes(problem: Problem, flat: Floats, score_gradient: Floats) -> bool:
    # Whether the slope along every flat direction is 0, relative to the size of its summands.
    slopes = flat.T @ (problem.X.T @ score_gradient)
    summands = np.abs(flat).T @ summand_sizes(problem, score_gradient)
    return bool(np.all(np.abs(slopes) <= ROUNDING * summands))


def summand_sizes(problem: Problem, score_gradient: Floats) -> Floats:
    """|X|' |g|, shape (d,): the sizes of the summands of X' g, to which rounding is relative."""
    sizes = np.abs(score_gradient)
    return query_blocks.total(problem.each(lambda block, X: np.abs(X).T @ sizes[block.rows]))


def _self_concordant_gap(inside: Problem, surrogate: SmoothSurrogate, inverse_root: Floats, decrement: float) -> float:
    if surrogate.third_order == 0.0:
        return 0.5 * decrement**2
    if decrement == 0.0:
        return 0.0

    def longest(block: Block, X: Floats) -> float:
        metric = surrogate.effective(X, block.offsets) @ inverse_root.T
        return float(np.einsum("ij,ij->i", metric, metric).max())

    c = surrogate.third_order * math.sqrt(max(inside.each(longest)))
    t = c * decrement
    if t >= 1.0:
        return math.inf
    if t < 1e-4:  # the series 1 + t/3 + t^2/6 + ..., rounded up, where the closed form cancels
        return 0.5 * decrement**2 * (1.0 + t / 3.0 + t**2 / 5.0)
    return (t + (1.0 - t) * math.log1p(-t)) / c**2
