"""Where does the training of a cone begin, and in which order does it meet the queries?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib import checks
from pipeline_lib.arrays import Floats
from pipeline_lib.checks import checked
from pipeline_lib.errors import DataError
from pipeline_lib.learners import cone_kernels
from pipeline_lib.learners.cone_risk import Problem
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator

__all__ = ["random_order", "started"]


@checked(d=checks.COUNT)
def started(d: int, K: int, problem: Problem, seed: tuple[Any, ...]) -> Floats:
    """A random basis, shape (d, K): normal entries with ||u_k|| about rho, columns longer than c cut to c.

    "Randomly initialised to satisfy the relaxed norm constraint": with rho = sqrt(d) the entries are standard normal.

    Raises
    ------
    DataError
        When d or K is not a whole number >= 1.

    Example
    -------
    >>> basis = started(400, 3, Problem(), (7,))
    >>> np.linalg.norm(basis, axis=0).round(-1), Problem().c_of(400)
    (array([20., 20., 20.]), 40.0)
    """
    rho = problem.rho_of(d)
    basis: Floats = generator(*seed, "cone-basis").standard_normal((d, K)) * (rho / math.sqrt(d))
    cone_kernels.clip_columns(basis, problem.c_of(d), problem.norms == "equal")
    return basis


@checked
def random_order(n_queries: int, passes: int, seed: tuple[Any, ...]) -> NDArray[np.int64]:
    """Every query once a pass, in a new random order each time; shape (passes, Q).

    Example
    -------
    >>> sorted(random_order(3, 2, (7,))[1].tolist())
    [0, 1, 2]
    """
    rng = generator(*seed, "cone-order")
    return np.stack([rng.permutation(n_queries) for _ in range(passes)]).astype(np.int64)


def given_start(start: ArrayLike, d: int, K: int, problem: Problem) -> Floats:
    basis = np.array(checks.floats("start", start, shape=(d, K)), order="C")
    cone_kernels.clip_columns(basis, problem.c_of(d), problem.norms == "equal")
    return basis


def given_order(order: ArrayLike, data: RankingData, passes: int | None) -> NDArray[np.int64]:
    rounds = checks.whole_numbers("order", order, 0, data.n_queries - 1, ndim=2)
    if passes is not None and len(rounds) != passes:
        raise DataError(f"order: expected a row for each of {passes} passes, found {len(rounds)}")
    return np.ascontiguousarray(rounds)
