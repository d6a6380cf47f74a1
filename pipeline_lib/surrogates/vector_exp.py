"""How is e^x computed for many documents at once, several in one instruction?

A compiler cannot vectorise calls of ``math.exp``. This function consists of plain arithmetic, so that loops over it are
vectorised and about seven times as fast.
"""

import numpy as np

from pipeline_lib.core.compiled import njit

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

LARGEST = 708.0  # e^LARGEST and e^-LARGEST are normal numbers of float64
LOG2_E = 1.4426950408889634
# log(2) as a sum of two numbers; a whole number below 2^11 times the first is exact.
LOG_2_HIGH, LOG_2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# x + ROUND - ROUND is x rounded to a whole number, which is in the last bits of x + ROUND.
ROUND = 1.5 * 2.0**52
# (e^r - 1 - r) / r^2 on |r| <= log(2) / 2 by the polynomial through its values at ten Chebyshev points, computed in
# rational arithmetic: e^r to 1.3e-17, for which Taylor's polynomial needs two terms more.
C2, C3, C4 = 0.5000000000000001, 0.16666666666666669, 0.041666666666624164
C5, C6, C7 = 0.008333333333330065, 0.0013888888917196719, 0.00019841269863040545
C8, C9 = 2.4801521322368692e-05, 2.7557268480310024e-06
C10, C11 = 2.7620075879983367e-07, 2.5100375832561234e-08


@njit(fastmath={"contract"})
def exp(x):  # type: ignore[no-untyped-def]
    """e^x for x up to LARGEST, within 1.1 units in the last place; 0 below -LARGEST.

    x = k log 2 + r with k whole and |r| <= log(2) / 2, so e^x = 2^k e^r; e^r by a polynomial of degree 11,
    2^k by putting k into the bits of the exponent.

    Example
    -------
    >>> exp(0.0), exp(-1e4), round(exp(1.0), 12)
    (1.0, 0.0, 2.718281828459)
    """
    shifted = max(x, -LARGEST) * LOG2_E + ROUND
    k = shifted - ROUND
    r = (max(x, -LARGEST) - k * LOG_2_HIGH) - k * LOG_2_LOW
    p = C8 + r * (C9 + r * (C10 + r * C11))
    p = C4 + r * (C5 + r * (C6 + r * (C7 + r * p)))
    p = C2 + r * (C3 + r * p)
    exponent = (np.float64(shifted).view(np.int64) + 1023) << 52
    power = np.int64(exponent).view(np.float64)
    return power * (p * r * r + r + 1.0) if x >= -LARGEST else 0.0
