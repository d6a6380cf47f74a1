"""How are the pairs of a query folded in, with the basis of the cone fixed?

The coefficients of a pair, w >= 0 with sum 1 (or in a band), make ||z - U w||^2 small; its gradient is g:

| method | step on ||z - U w||^2, gradient g |
|---|---|
| ``sg`` | w - mu g, projected on the set: what (18) asks for |
| ``sg-printed`` | max(w - mu g, 0), divided by its sum: steps 1a to 1c as printed, which end elsewhere (errata, W) |
| ``eg`` | w exp(-mu g), divided by its sum |
| ``eg-linear`` | w (1 - mu (g - w.g)) |
| ``exact`` | the minimum, certified |

Step 1a descends ||z_j - U w_j||^2, without the factor phi_j / (P n_q) that the risk has there: with 1/(P n_q) a step of
mu = .001 moves nothing, and phi_j > 0 moves no minimiser. Where folding-in is cut short, phi_j would let it go further
for pairs that weigh more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from numpy.typing import ArrayLike

from pipeline_lib import checks
from pipeline_lib.arrays import Floats
from pipeline_lib.checks import checked
from pipeline_lib.errors import DataError
from pipeline_lib.learners import cone_kernels
from pipeline_lib.learners.cone_risk import ACCURACY, Problem, given_basis, warn_above
from pipeline_lib.learners.ranker import Seed
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator

__all__ = ["FOLD_TOL", "METHODS", "PUBLISHED_STEPS", "Method", "folded_in"]

Method = Literal["sg", "sg-printed", "eg", "eg-linear", "exact"]
METHODS: tuple[Method, ...] = get_args(Method)
PUBLISHED_STEPS: Mapping[str, float] = {"sg": 0.001, "sg-printed": 0.001, "eg": 0.005, "eg-linear": 0.005, "exact": 1.0}
"""mu of section 6.1; the exact method has no step."""

FOLD_TOL = 1e-3
"""A pair's folding-in stops when its coefficients move by at most this much (sum of sizes)."""


@checked
def folded_in(
    data: RankingData,
    U: ArrayLike,
    query: int,
    *,
    method: Method,
    problem: Problem | None = None,
    step: float | None = None,
    fold_steps: int = 10,
    fold_tol: float = FOLD_TOL,
    seed: Seed = 0,
) -> Floats:
    """The coefficients of every pair of one query for a fixed basis, shape (pairs, K).

    Pairs (l, m) with y_l > y_m in the order of l, then m.

    Raises
    ------
    DataError
        As :func:`losses` and :func:`fit`, and when there is no such query.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 1])
    >>> folded_in(data, [[0.5]], 0, method="exact")
    array([[1.]])
    """
    problem = Problem() if problem is None else problem
    check_folding(method, problem, fold_steps, fold_tol)
    basis = given_basis(U, data.n_features)
    if not 0 <= query < data.n_queries:
        raise DataError(f"query: expected a number from 0 to {data.n_queries - 1}, found {query}")
    how, numbers = kernel_numbers(method, problem, step, (fold_steps, fold_tol), data.n_features)
    begin, end = int(data.offsets[query]), int(data.offsets[query + 1])
    y = data.y[begin:end]
    n = int((y[:, None] > y).sum())
    W, unsolved = cone_kernels.coefficients(data.X64, data.y, begin, end, basis, how, numbers, key_of(axes_of(seed)), n)
    warn_above(unsolved, problem.rho_of(data.n_features))
    found: Floats = W
    return found


def kernel_numbers(
    method: Method, problem: Problem, step: float | None, folding: tuple[int, float], d: int
) -> tuple[tuple[int, int, bool], tuple[float, float, float, float, float, float]]:
    mu = PUBLISHED_STEPS[method] if step is None else step
    checks.real("step", mu, checks.POSITIVE)
    rho = problem.rho_of(d)
    tol = ACCURACY * rho**2 if method == "exact" else folding[1]
    how = (METHODS.index(method), folding[0], bool(problem.weighted))
    return how, (float(problem.alpha), rho, float(mu), float(tol), float(problem.band[0]), float(problem.band[1]))


def check_folding(method: str, problem: Problem, fold_steps: int, fold_tol: float) -> None:
    checks.real("fold_tol", fold_tol, checks.POSITIVE)
    if method == "eg-linear" and problem.band[0] != problem.band[1]:
        raise DataError("eg-linear: its update keeps the sum of the coefficients; expected a band (low, low)")


def axes_of(seed: Seed) -> tuple[Any, ...]:
    return tuple(seed) if isinstance(seed, tuple | list) else (seed,)


def key_of(axes: tuple[Any, ...]) -> int:
    return int(generator(*axes, "cone-coefficients").integers(2**62))
