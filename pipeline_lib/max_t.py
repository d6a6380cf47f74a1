"""Kernels of the max-T test: what random signs of the queries make of the statistics of many pairs of runs.

For pair i of runs (a, b) and pattern p of signs, with the sums X_kp = sum_q e_q^p x_kq that all pairs share,

::

    T_ip = |X_ap - X_bp| / s_i

costs a subtraction, whatever the number of queries. P pairs and B patterns take P B of them: patterns go by in blocks
whose sums of all runs fit into the processor's nearest memory, and nothing of the size P B is stored.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.compiled import njit

Counts = NDArray[np.int64]
PATTERNS = 64
"""Patterns of a block: 100 runs then have sums of 51 kB."""


def at_least(sums: Floats, pairs: NDArray[np.int64], scale: Floats, reach: Floats) -> tuple[Counts, Counts]:
    """How often T of each pair reaches a number, and how often the largest T from this pair on does.

    ::

        (#{p: T_ip >= r_i},      #{p: max_{l >= i} T_lp >= r_i})

    Parameters
    ----------
    sums : (K, B) array
        X of every run and pattern.
    pairs : (P, 2) array of int
        Rows of ``sums``.
    scale : (P,) array
        s_i; T_i is 0 where it is 0.
    reach : (P,) array
        r_i.

    Example
    -------
    Three runs, two patterns; T is 1, 2 for the first pair and 3, 0 for the second:

    >>> sums = np.array([[1.0, 2.0], [0.0, 0.0], [3.0, 0.0]])
    >>> [counts.tolist() for counts in at_least(sums, np.array([[0, 1], [2, 1]]), np.ones(2), np.array([2.0, 0.0]))]
    [[1, 2], [2, 2]]
    """
    hits, joint = _at_least(sums, pairs, _inverse(scale), reach)
    return hits, joint


def largest(sums: Floats, pairs: NDArray[np.int64], scale: Floats) -> Floats:
    """The largest T of all pairs, max_i T_ip, of every pattern; parameters as of :func:`at_least`.

    Example
    -------
    >>> sums = np.array([[1.0, 2.0], [0.0, 0.0], [3.0, 0.0]])
    >>> largest(sums, np.array([[0, 1], [2, 1]]), np.ones(2)).tolist()
    [3.0, 2.0]
    """
    found: Floats = _largest(sums, pairs, _inverse(scale))
    return found


def _inverse(scale: Floats) -> Floats:
    return np.divide(1.0, scale, out=np.zeros(len(scale)), where=scale > 0.0)


@njit
def _at_least(sums: Any, pairs: Any, inverse: Any, reach: Any) -> Any:
    hits, joint = np.zeros(len(pairs), np.int64), np.zeros(len(pairs), np.int64)
    for start in range(0, sums.shape[1], PATTERNS):
        # A copy whose rows have one length lets the loops below be unrolled into lanes.
        block = sums[:, start : start + PATTERNS].copy()
        top = np.zeros(block.shape[1])
        for i in range(len(pairs) - 1, -1, -1):
            a, b, s, r = block[pairs[i, 0]], block[pairs[i, 1]], inverse[i], reach[i]
            reached, exceeded = 0, 0
            for p in range(len(top)):
                t = abs(a[p] - b[p]) * s
                top[p] = max(top[p], t)
                reached += t >= r
                exceeded += top[p] >= r
            hits[i] += reached
            joint[i] += exceeded
    return hits, joint


@njit
def _largest(sums: Any, pairs: Any, inverse: Any) -> Any:
    found = np.zeros(sums.shape[1])
    for start in range(0, sums.shape[1], PATTERNS):
        block = sums[:, start : start + PATTERNS].copy()
        top = found[start : start + PATTERNS]
        for i in range(len(pairs)):
            a, b, s = block[pairs[i, 0]], block[pairs[i, 1]], inverse[i]
            for p in range(len(top)):
                top[p] = max(top[p], abs(a[p] - b[p]) * s)
    return found
