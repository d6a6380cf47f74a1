"""By how much can a smooth non-negative loss differ at two score vectors, given its values there?"""

import numpy as np
from numpy.typing import ArrayLike

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import NonNegative, Positive, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.surrogates.base import Surrogate


@checked
def ratio(
    surrogate: Surrogate,
    scores: ArrayLike,
    others: ArrayLike,
    y: ArrayLike,
    offsets: ArrayLike,
    smoothness: Positive,
) -> Floats:
    """Left over right side of `lists`, Lemma 14, for every query, shape (Q,); the lemma states at most 1.

        (phi(s) - phi(s'))^2 <= 6 H (phi(s) + phi(s')) ||s - s'||_inf^2

    for non-negative phi with smoothness constant H with respect to l_inf (Lemma 13 is the case of one document). Where
    both sides are 0, the ratio is 0.

    Parameters
    ----------
    surrogate : Surrogate
    scores, others : shape (N,)
        s and s'.
    y : shape (N,)
    offsets : shape (Q + 1,)
    smoothness : float > 0
        H, on all of R^m: if it holds on a bounded set of scores only, the lemma may fail.

    Raises
    ------
    DataError
        When the loss is negative somewhere, or the input is not of this form.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> ratio(surrogates.create("squared"), [2.0], [1.0], [0], [0, 1], 2.0)
    array([0.15])
    """
    here, there = surrogate.value(scores, y, offsets), surrogate.value(others, y, offsets)
    if (here < 0.0).any() or (there < 0.0).any():
        raise DataError(f"{surrogate.name}: Lemma 14 expects a non-negative loss, found {min(here.min(), there.min())}")
    moved = np.abs(checks.floats("scores", scores) - checks.floats("others", others))
    distance = np.maximum.reduceat(moved, checks.array("offsets", offsets)[:-1])
    return of_values(here, there, distance, smoothness)


@checked
def of_values(here: Floats, there: Floats, distance: Floats, smoothness: NonNegative | Floats) -> Floats:
    """The same ratio from the values phi(s) and phi(s') and the distances ||s - s'||_inf, all of one shape.

    Example
    -------
    >>> of_values(np.array([4.0]), np.array([1.0]), np.array([1.0]), 2.0)
    array([0.15])
    """
    if not here.shape == there.shape == distance.shape or np.shape(smoothness) not in ((), here.shape):
        shapes = ", ".join(str(np.shape(part)) for part in (here, there, distance, smoothness))
        raise DataError(f"here, there, distance and smoothness: expected one shape, found {shapes}")
    right = 6.0 * smoothness * (here + there) * distance**2
    return np.divide((here - there) ** 2, right, out=np.zeros_like(right), where=right > 0.0)
