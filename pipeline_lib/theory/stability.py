"""What are the values of ConeRank's stability bounds, Theorems 1 and 2 of `cone`?"""

from __future__ import annotations

import math

from pipeline_lib import checks
from pipeline_lib.checks import checked


@checked(beta=checks.AT_LEAST_0, gamma=checks.AT_LEAST_0, epsilon=checks.PROBABILITY)
def risk_bound(empirical_risk: float, beta: float, gamma: float, P: int, epsilon: float) -> float:
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


@checked(**dict.fromkeys(("s", "rho", "c", "largest_sum"), checks.AT_LEAST_0))
def bound_on_beta(s: float, *, K: int, rho: float, c: float, largest_sum: float) -> float:
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
