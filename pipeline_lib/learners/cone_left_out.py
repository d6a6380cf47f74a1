"""To which basis does ConeRank come without one of its queries?

The stability of section 3.4 compares a training with those that leave out one query each. They begin at the same basis
and meet the other queries in the same order; otherwise the columns of the bases would not correspond.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib import checks
from pipeline_lib.arrays import Floats
from pipeline_lib.checks import checked
from pipeline_lib.learners import cone_kernels
from pipeline_lib.learners.cone_folding import FOLD_TOL, Method, axes_of, check_folding, kernel_numbers, key_of
from pipeline_lib.learners.cone_risk import Problem, check_data, given_basis, warn_above
from pipeline_lib.learners.cone_start import given_order, given_start
from pipeline_lib.learners.ranker import Seed
from pipeline_lib.ranking_data import RankingData

__all__ = ["without_each"]


@checked
def without_each(
    data: RankingData,
    start: Floats,
    order: NDArray[np.int64],
    left_out: ArrayLike,
    *,
    method: Method = "sg",
    problem: Problem | None = None,
    step: float | None = None,
    fold_steps: int = 10,
    fold_tol: float = FOLD_TOL,
    at_once: bool = False,
    seed: Seed = 0,
) -> Floats:
    """The last basis of a training that leaves out one query, for each of ``left_out``, in one compiled batch.

    The coefficients of a pair begin at the same numbers as well, and all passes are taken. A query that is not there
    (-1) leaves out nothing.

    Returns
    -------
    float64, shape (len(left_out), d, K)

    Raises
    ------
    DataError
        As :func:`fit`, and when ``left_out`` is not a list of whole numbers.

    Example
    -------
    >>> from pipeline_lib.learners.cone_start import random_order, started
    >>> data = RankingData.from_arrays([[0.0], [1.0], [0.0], [2.0]], [0, 1, 0, 1], [1, 1, 2, 2])
    >>> start, order = started(1, 1, Problem(), (1,)), random_order(2, 3, (1,))
    >>> without_each(data, start, order, [-1, 0, 1], method="exact").shape
    (3, 1, 1)
    """
    problem = Problem() if problem is None else problem
    check_folding(method, problem, fold_steps, fold_tol)
    check_data(data)
    d, skipped = data.n_features, np.ascontiguousarray(checks.whole_numbers("left_out", left_out))
    how, numbers = kernel_numbers(method, problem, step, (fold_steps, fold_tol), d)
    bases, unsolved = cone_kernels.train_without_each(
        data.X64,
        data.y,
        data.offsets,
        given_start(start, d, given_basis(start, d, "start").shape[1], problem),
        given_order(order, data, None),
        skipped,
        how,
        numbers,
        problem.c_of(d),
        problem.norms == "equal",
        at_once or method == "exact",
        key_of(axes_of(seed)),
    )
    warn_above(unsolved, problem.rho_of(d))
    found: Floats = bases
    return found
