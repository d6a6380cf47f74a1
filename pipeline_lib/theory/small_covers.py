"""How small is an entropy integral with the smallest covers of a ball that are known for a given number of features?

For phi(X w, y) with the Lipschitz constant A / radius in w (A = G W2 R_X, or G W1 Rbar_X), a cover of the ball in its
own norm at scale eps / A is one of the class at scale eps, and volumes give

    log2 N(eps) <= d log2(1 + 2 A / eps),     N(eps) = 1 for eps >= A.

The covering numbers of `lists` (Propositions 7 and 10) do not contain d but grow as 1/eps^2, so that the smaller of the
two is taken at every scale. What the propositions cost is then seen apart from what the integral costs.
"""

import math

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.theory.entropy import Covering

__all__: list[str] = []  # internal: the experiments hand in what they have checked

NODES = 4000
DECADES = 8.0
"""The integral is computed down to this many powers of ten below B; coarser scales suffice for every n below 10^15."""


def volume(eps: Floats, scale: float, d: int) -> Floats:
    """d log2(1 + 2 A / eps), and 0 for eps >= A.

    Example
    -------
    >>> volume(np.array([0.5, 2.0]), 1.0, 3).round(3).tolist()
    [6.966, 0.0]
    """
    return np.where(eps >= scale, 0.0, d * np.log2(1.0 + 2.0 * scale / eps))


def integral(covering: Covering, scale: float, d: int, n: float, reach: float) -> float:
    """inf over alpha in (0, B] of 4 alpha + 10 int_alpha^B sqrt(log2 N(eps) / n) d eps, N the smaller of both.

    The integrand falls, and is taken at the lower end of each of ``NODES`` steps: the result is not too small.

    Parameters
    ----------
    covering : Covering
        Proposition 7 or 10.
    scale : float
        A, the largest change of the loss between the centre and a ranker of the ball.
    d, n, reach
        Features, queries and B.

    Example
    -------
    >>> integral(Covering(1.0, 1e6), 1.0, 2, 10**6, 1.0) < 0.03
    True
    """
    eps = np.geomspace(reach * 10.0**-DECADES, reach, NODES)
    entropies = np.minimum(covering.log2(eps), volume(eps, scale, d))
    areas = np.sqrt(entropies[:-1] / n) * np.diff(eps)
    above = np.concatenate([np.cumsum(areas[::-1])[::-1], [0.0]])
    return float(np.min(4.0 * eps + 10.0 * above)) if math.isfinite(reach) else math.inf
