"""For which data is SLAM's risk smallest at w = 0, where nothing is learned?

Let F(w) = E phi^v(X w, y) be SLAM's risk, over a population or over the queries of a sample, with any margin Delta > 0.
At w = 0 every hinge is Delta > 0, so that the slope of F at 0 in the direction u is

    F'(0; u) = E sum_i v_i (max_{j: y_j < y_i} <u, x_j> - <u, x_i>) = spread(u) - lead(u),

    lead(u)   = E sum_i v_i (<u, x_i> - mean_{j: y_j < y_i} <u, x_j>),
    spread(u) = E sum_i v_i (max_{j: y_j < y_i} <u, x_j> - mean_{j: y_j < y_i} <u, x_j>) >= 0.

F is convex, and so w = 0 minimises it if and only if lead(u) <= spread(u) for every u. Neither Delta nor a term l2/2
||w||^2, whose slope at 0 is 0, has any influence. The lead compares relevant documents with the average of the others,
the spread grows with their number: for independent standard normal scores it is E max of n of them, about sqrt(2 log
n), per unit of weight. docs/weights-of-slam.md has the proof and the measurements.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import MAX_LABEL, Count, Positive, checked
from pipeline_lib.core.compiled import njit
from pipeline_lib.core.errors import DataError
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import bundle
from pipeline_lib.learners.problem import Problem
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.surrogates.slam import hinges

STEPS = 30
"""The largest number of times that the direction is improved."""
LARGEST = 1e100
"""The largest absolute weight: its products with features can be summed, and so can the squares of these sums."""


@dataclass(frozen=True, eq=False)
class Direction:
    """A direction in which SLAM's risk falls most, or rises least, from w = 0, relative to the lead.

    Attributes
    ----------
    u : float64, shape (d,)
        Of norm at most 1.
    lead, spread : float
        Means over queries.
    ratio : float
        lead / spread: w = 0 minimises the risk if this largest ratio is at most 1. inf where only the lead is positive,
        and 0 where no direction has a lead.
    """

    u: Floats
    lead: float
    spread: float

    @property
    def ratio(self) -> float:
        """The lead divided by the spread."""
        if self.lead <= 0.0:
            return 0.0
        return self.lead / self.spread if self.spread > 0.0 else math.inf


@checked
def expected_maximum(n: Count) -> float:
    """E max of n independent standard normal variables, to about 1e-12.

    Example
    -------
    >>> expected_maximum(1), round(expected_maximum(2), 12) == round(1 / math.sqrt(math.pi), 12)
    (0.0, True)
    """
    from scipy.special import log_ndtr

    x = np.linspace(-12.0, 12.0, 4801)
    # The trapezoidal rule converges faster than any power of the step for such densities.
    density = np.exp(math.log(n) - 0.5 * x**2 + (n - 1) * log_ndtr(x)) / math.sqrt(2.0 * math.pi)
    return float((x * density).sum() * (x[1] - x[0]))


@checked
def best_direction(data: RankingData, v: ArrayLike, tol: Positive = 1e-6) -> Direction:
    """The direction with the largest ratio of lead and spread.

    The ratio is maximised by Dinkelbach's method: spread(u) - c lead(u) is minimised over the unit ball by cutting
    planes, and c is replaced by the ratio at the minimiser, until the minimum is above -``tol``. The ratio is that of
    the direction itself; one found above 1 therefore proves that w = 0 is no minimiser.

    Parameters
    ----------
    data : RankingData
    v : shape (N,), up to :data:`LARGEST`
        The weights of the documents.
    tol : float > 0
        In units of scores, or of scores times the largest weight where that is above 1: of a mean over queries.

    Raises
    ------
    DataError
        When there is no query, or v has another shape or a larger weight.

    Example
    -------
    >>> data = RankingData.from_arrays([[3.0], [2.0], [0.0]], [1, 0, 0], [7, 7, 7])
    >>> best_direction(data, [0.5, 0.0, 0.0]).ratio
    2.0
    """
    if not data.n_queries:
        raise DataError("data: expected at least one query, found none")
    y, bounds = data.y.astype(np.int32), data.offsets
    weights = checks.floats("v", v, shape=(data.n_documents,))
    largest = float(np.abs(weights).max(initial=0.0))
    if largest > LARGEST:
        raise DataError(f"v: expected weights up to {LARGEST:g} in absolute value, found {largest:g}")
    if largest > 1.0:  # no solver comes to an absolute tolerance where rounding errors are larger
        found = best_direction(data, weights / largest, tol)
        return Direction(found.u, largest * found.lead, largest * found.spread)
    slopes = _lead_slopes(y, bounds, weights)
    gradient = data.X64.T @ slopes / data.n_queries
    length = float(np.linalg.norm(gradient))
    # What is not longer than the rounding errors of these sums may have come from them alone.
    sizes = np.abs(data.X64).T @ np.abs(slopes) / data.n_queries
    if length <= data.n_documents * np.finfo(np.float64).eps * float(np.linalg.norm(sizes)):
        return Direction(np.zeros(data.n_features), 0.0, 0.0)
    found = _at(data, y, weights, slopes, gradient / length)
    if data.n_features == 1:
        return found
    for _ in range(STEPS):
        if found.spread == 0.0:
            break
        balance = _Balance(weights, slopes, found.spread / found.lead)
        solution = bundle.minimise(Problem(data.X64, y, bounds, balance, 0.0, 1.0), found.u, tol)
        better = _at(data, y, weights, slopes, solution.w)
        if better.spread - found.spread / found.lead * better.lead > -tol or better.ratio <= found.ratio:
            break
        found = better
    return found


def _at(data: RankingData, y: NDArray[np.int32], v: Floats, slopes: Floats, u: Floats) -> Direction:
    scores = data.X64 @ u
    lead = float(slopes @ scores) / data.n_queries
    return Direction(u, lead, lead + float(hinges(scores, y, data.offsets, v, 0.0, False)[0].mean()))


class _Balance(Surrogate):
    """1 + spread - c lead of every query; the 1 makes relative gaps absolute ones."""

    name: ClassVar[str] = "spread-less-lead"

    def __init__(self, v: Floats, slopes: Floats, c: float) -> None:
        self.v, self.slopes, self.c = v, slopes, c

    def unchecked(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        excesses, gradient = hinges(scores, y, offsets, self.v, 0.0, False)
        leads = np.add.reduceat(self.slopes * scores, offsets[:-1])
        return 1.0 + excesses + (1.0 - self.c) * leads, gradient + (1.0 - self.c) * self.slopes


@njit
def _lead_slopes(y, offsets, v):  # type: ignore[no-untyped-def]
    # The gradient of the lead, which is linear in the scores
    slopes, sums, counts = np.zeros(len(y)), np.zeros(MAX_LABEL + 1), np.zeros(MAX_LABEL + 1, np.int64)
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        sums[:], counts[:] = 0.0, 0
        for i in range(begin, end):
            counts[y[i]] += 1
            sums[y[i]] += v[i]
        # sums[l] becomes what every document of label l loses to those above it; lower counts those below a label.
        lower = end - begin
        owed = 0.0
        for label in range(MAX_LABEL, -1, -1):
            lower -= counts[label]
            own, sums[label] = sums[label], owed
            if lower > 0:
                owed += own / lower
        lowest = y[begin:end].min()
        for i in range(begin, end):
            slopes[i] = (v[i] if y[i] > lowest else 0.0) - sums[y[i]]
    return slopes
