"""What does ConeRank minimise, and how good is a basis?

For pairs with y_l > y_m, phi = y_l - y_m and z = rho (x_l - x_m) / (alpha + ||x_l - x_m||)  (eq. 5, 7), problem (18) is

    min over U (d x K, ||u_k|| <= c) and w_j (>= 0, sum 1) of   mean over queries of  mean over its pairs of
        phi_j ||z_j - U w_j||^2,

and (9) the same with ||u_k|| = c and low <= sum w_j <= high. Queries without a pair do not count. Here U is given, and
the coefficients w_j that are best for it are found, with a certificate.
"""

import math
import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Natural, Positive, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import cone_kernels

__all__ = ["ACCURACY", "Problem", "UncertifiedWarning", "basis_gap", "has_pairs", "losses", "pair_losses", "risk"]

ACCURACY = 1e-9
"""Gap to which coefficients are folded in exactly, relative to rho^2, up to ``cone_kernels.SLACK``."""


class UncertifiedWarning(UserWarning):
    """Rounding or a lack of steps ended folding in exactly: a loss is certified to a larger gap alone."""


@checked
@dataclass(frozen=True)
class Problem:
    """The constants of (18) and (9).

    Attributes
    ----------
    alpha : float > 0
        Damps short differences (eq. 5), in units of the features' norm.
    rho : float > 0 or None
        Bound of ||z|| (eq. 6); None: sqrt(d).
    c : float > 0 or None
        Bound of ||u_k||; None: 2 rho.
    weighted : bool
        Weight pairs by the difference of their labels (eq. 7).
    band : (low, high)
        Of the coefficients' sum, 0 < low <= high; (1, 1) is (18).
    norms : "at-most" or "equal"
        Is ||u_k|| at most c (18) or equal to it (9)?

    Example
    -------
    >>> Problem().rho_of(46), Problem(rho=2.0).c_of(46)
    (6.782329983125268, 4.0)
    """

    alpha: Positive = 1.0
    rho: Positive | None = None
    c: Positive | None = None
    weighted: bool = True
    band: tuple[float, ...] = (1.0, 1.0)
    norms: Literal["at-most", "equal"] = "at-most"

    def __post_init__(self) -> None:
        if len(self.band) != 2 or not 0.0 < self.band[0] <= self.band[1]:
            raise DataError(f"band: expected (low, high) with 0 < low <= high, found {self.band!r}")

    def rho_of(self, d: Natural) -> float:
        """rho for d features."""
        return math.sqrt(d) if self.rho is None else float(self.rho)

    def c_of(self, d: Natural) -> float:
        """c for d features."""
        return 2.0 * self.rho_of(d) if self.c is None else float(self.c)


PUBLISHED = Problem()
"""Problem (18), with rho = sqrt(d) and c = 2 rho."""


@checked
def losses(data: RankingData, U: ArrayLike, problem: Problem = PUBLISHED) -> tuple[Floats, NDArray[np.int64]]:
    """L_q of every query with the coefficients that are best for U, and its number of pairs; shapes (Q,).

    Certified: ||z - U w||^2 of each pair is at most 1e-9 rho^2 above its minimum, or an :class:`UncertifiedWarning`
    says by how much it may be. A query without a pair has loss 0.

    Raises
    ------
    DataError
        When U is not a matrix of d rows of finite numbers.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 1])
    >>> losses(data, [[-0.5]])
    (array([1.]), array([1]))
    """
    values, pairs, _, _, unsolved = _at_best(data, U, problem)
    warn_above(unsolved, problem.rho_of(data.n_features))
    return values, pairs


@checked
def basis_gap(data: RankingData, U: ArrayLike, problem: Problem = PUBLISHED) -> float:
    """How far U is from a stationary point of (18): a bound on what its block could gain with the best coefficients.

    The Frank-Wolfe gap max <g, U - V> over ||v_k|| <= c, where g is the gradient of the risk in U at the coefficients
    that are best for U. It is 0 where neither block can gain, and only there.

    Raises
    ------
    DataError
        As :func:`losses`; when the norms must equal c, since that block is not convex; when there is no pair.

    Example
    -------
    At u = 1/2 = z nothing is to be gained; at u = 0 the slope is -1 and c = 2:

    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 1])
    >>> basis_gap(data, [[0.5]]), basis_gap(data, [[0.0]])
    (0.0, 2.0)
    """
    if problem.norms == "equal":
        raise DataError("basis_gap: expected norms 'at-most', found 'equal'")
    _, pairs, M, B, unsolved = _at_best(data, U, problem)
    warn_above(unsolved, problem.rho_of(data.n_features))
    counted = int((pairs > 0).sum())
    if not counted:
        raise DataError("data: expected a query with documents of different labels, found none")
    basis = given_basis(U, data.n_features)
    return float(cone_kernels.basis_gap(basis, M / counted, B / counted, problem.c_of(data.n_features)))


@checked
def risk(data: RankingData, U: ArrayLike, problem: Problem = PUBLISHED) -> float:
    """The empirical risk (4): the mean of L_q over the queries that have pairs; 0 if there are none.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0], [5.0]], [0, 1, 2], [1, 1, 2])
    >>> risk(data, [[-0.5]])
    1.0
    """
    value, unsolved = risk_and_gap(data, U, problem)
    warn_above(unsolved, problem.rho_of(data.n_features))
    return value


@checked
def pair_losses(data: RankingData, U: ArrayLike, problem: Problem = PUBLISHED) -> Floats:
    """phi_j min_w ||z_j - U w||^2 of every pair of ``data``, shape (pairs,): for small samples.

    Raises
    ------
    DataError
        As :func:`losses`.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0], [0.0]], [0, 1, 0], [1, 1, 1])
    >>> pair_losses(data, [[-0.5]])
    array([1., 1.])
    """
    basis = given_basis(U, data.n_features)
    rho = problem.rho_of(data.n_features)
    low, high = problem.band
    found, unsolved = cone_kernels.every_loss(
        data.X64, data.y, data.offsets, basis, problem.weighted, problem.alpha, rho, low, high, ACCURACY * rho**2
    )
    warn_above(unsolved, rho)
    every: Floats = found
    return every


@checked
def has_pairs(data: RankingData) -> bool:
    """Has any query two documents with different labels?

    Example
    -------
    >>> has_pairs(RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 2]))
    False
    """
    if not data.n_documents:
        return False
    lowest = np.minimum.reduceat(data.y, data.offsets[:-1])
    return bool((np.maximum.reduceat(data.y, data.offsets[:-1]) > lowest).any())


def check_data(data: RankingData) -> None:
    if not data.n_features:
        raise DataError("data: expected documents with at least one feature, found none")
    if not has_pairs(data):
        raise DataError("data: expected a query with documents of different labels, found none")


def given_basis(U: ArrayLike, d: int, name: str = "U") -> Floats:
    basis = np.ascontiguousarray(checks.floats(name, U, ndim=2))
    if len(basis) != d or not basis.shape[1]:
        raise DataError(f"{name}: expected finite numbers, shape ({d}, K), K >= 1, found shape {basis.shape}")
    return basis


def _at_best(
    data: RankingData, U: ArrayLike, problem: Problem
) -> tuple[Floats, NDArray[np.int64], Floats, Floats, float]:
    basis = given_basis(U, data.n_features)
    rho = problem.rho_of(data.n_features)
    low, high = problem.band
    found: tuple[Floats, NDArray[np.int64], Floats, Floats, float] = cone_kernels.objective(
        data.X64, data.y, data.offsets, basis, problem.weighted, problem.alpha, rho, low, high, ACCURACY * rho**2
    )
    return found


def risk_and_gap(data: RankingData, U: ArrayLike, problem: Problem) -> tuple[float, float]:
    # The risk, and the largest gap of the coefficients behind it.
    values, pairs, _, _, unsolved = _at_best(data, U, problem)
    return float(values[pairs > 0].mean()) if (pairs > 0).any() else 0.0, unsolved


def warn_above(gap: float, rho: float) -> None:
    if not gap <= cone_kernels.SLACK * ACCURACY * rho**2:
        warnings.warn(
            f"cone: the coefficients of a pair are certified to a gap of {gap:.2g}, not {ACCURACY * rho**2:.2g}: its "
            "||z - U w||^2 may be too high by as much; are the columns of U much longer than rho?",
            UncertifiedWarning,
            stacklevel=3,
        )
