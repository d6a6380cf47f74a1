"""What are the values of ConeRank's stability bounds, Theorems 1 and 2 of `cone`, and what bounds s_max?"""

import math

from pipeline_lib.core.checks import Count, NonNegative, Positive, Probability, checked
from pipeline_lib.core.errors import DataError


@checked
def risk_bound(
    empirical_risk: NonNegative, beta: NonNegative, gamma: NonNegative, P: Count, epsilon: Probability
) -> float:
    """Theorem 1: R_hat + 2 beta + (4 P beta + gamma) sqrt(ln(1/epsilon) / (2 P)), with probability 1 - epsilon.

    Parameters
    ----------
    empirical_risk, beta, gamma : float >= 0
        R_hat (4), the leave-one-query-out stability (12), and the largest loss.
    P : int >= 1
        Queries.
    epsilon : float in (0, 1)

    Raises
    ------
    DataError
        When an argument is out of range.

    Example
    -------
    >>> round(risk_bound(1.0, 0.01, 2.0, 200, math.exp(-1)), 6)
    1.52
    """
    return empirical_risk + 2.0 * beta + (4.0 * P * beta + gamma) * math.sqrt(-math.log(epsilon) / (2.0 * P))


@checked
def bound_on_beta(s: NonNegative, *, K: Count, rho: NonNegative, c: NonNegative, largest_sum: NonNegative) -> float:
    """Theorem 2: 2 s lambda_u (rho + sqrt(K) c lambda_u) + s^2 lambda_u^2, s = ||U - U^-i||_2, ||z|| <= rho.

    For the loss without weights; with weights, times the largest weight.

    Raises
    ------
    DataError
        When an argument is out of range.

    Example
    -------
    >>> bound_on_beta(0.5, K=4, rho=2.0, c=3.0, largest_sum=1.0)
    8.25
    """
    return 2.0 * s * largest_sum * (rho + math.sqrt(K) * c * largest_sum) + (s * largest_sum) ** 2


@checked
def tied_change(rho: Positive, low: Positive = 1.0, high: Positive = 1.0) -> float:
    """What ||U - U^-i|| exceeds for some query i of a sample in which two bases are equally good, however large P is.

    With low = high = 1 it is rho / sqrt(2), for K = N >= 2 basis vectors, c >= N rho, and equally many differences
    rho e_k and -rho e_k for every axis. With low < high it is rho (high - low) / (high^2 + low^2), for K = N = 1 and
    equally many differences rho and -rho (docs/stability-of-cones.md).

    Parameters
    ----------
    rho : float > 0
        The norm of all differences.
    low, high : float, 0 < low <= high
        lambda_l and lambda_u.

    Raises
    ------
    DataError
        When an argument is out of range.

    Example
    -------
    >>> round(tied_change(1.0), 4), tied_change(1.0, 1.0, 2.0)
    (0.7071, 0.2)
    """
    if low > high:
        raise DataError(f"low: expected at most high = {high}, found {low}")
    return rho / math.sqrt(2.0) if low == high else rho * (high - low) / (high**2 + low**2)


@checked
def growth_change(P: Count, growth: float, growth_without: float, *, rho: Positive, c: Positive) -> float:
    """4 (rho + c) / (P mu + (P - 1) mu_i), which bounds ||U - U^-i|| if the risks grow by mu/2 and mu_i/2 its square.

    R(U^-i) >= R(U) + mu/2 ||U - U^-i||^2 for the risk of all P queries, and R^-i(U) >= R^-i(U^-i) + mu_i/2 ||U -
    U^-i||^2 for that of the others, with sum w = 1: the sum of P times the first and P - 1 times the second is at most
    the change of query i's loss, which is at most 2 (rho + c) ||U - U^-i|| (docs/stability-of-cones.md).

    Parameters
    ----------
    P : int >= 1
        Queries that have pairs.
    growth, growth_without : float
        mu and mu_i.
    rho, c : float > 0
        The largest ||z|| and ||u_k||.

    Returns
    -------
    float
        Infinity if P mu + (P - 1) mu_i <= 0: then nothing follows.

    Raises
    ------
    DataError
        When an argument is out of range.

    Example
    -------
    >>> growth_change(100, 2.0, 2.0, rho=1.0, c=1.0) == 8.0 / 398.0
    True
    """
    total = P * growth + (P - 1) * growth_without
    return 4.0 * (rho + c) / total if total > 0.0 else math.inf
