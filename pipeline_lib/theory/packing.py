"""How many rankers of a ball have losses on a sample that are far apart?

Points further apart than 2 eps are in different balls of radius eps, so that a packing at scale 2 eps is never larger
than a cover at scale eps: a lower estimate of the covering number that Propositions 7 and 10 of `lists` bound above.
The distance is max_i |phi(X_i w, y_i) - phi(X_i w', y_i)|.
"""

from __future__ import annotations

import numpy as np

from pipeline_lib import checks
from pipeline_lib.arrays import Floats
from pipeline_lib.checks import checked
from pipeline_lib.errors import DataError


@checked(eps=checks.POSITIVE)
def greedy(losses: Floats, eps: float) -> int:
    """The number of rows, taken in turn, that are further than 2 eps from all rows taken before, in the maximum norm.

    Parameters
    ----------
    losses : shape (k, n)
        One row per ranker, one column per query.
    eps : float > 0

    Raises
    ------
    DataError
        When eps is not > 0.

    Example
    -------
    >>> greedy(np.array([[0.0], [1.0], [2.5], [2.6]]), 0.5)
    2
    """
    left, taken = checks.floats("losses", losses, ndim=2), 0
    if not left.shape[1]:
        raise DataError("losses: expected one column per query, found none")
    while len(left):
        taken += 1
        left = left[np.max(np.abs(left - left[0]), axis=1) > 2.0 * eps]
    return taken
