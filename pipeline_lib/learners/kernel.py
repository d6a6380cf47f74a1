"""How does a linear learner become a kernel method, at a cost that is linear in the number of documents?

By random features (Rahimi and Recht 2007): for the Gaussian kernel k(x, x') = exp(-||x - x'||^2 / (2 b^2)),

    z(x) = sqrt(2/D) cos(x Omega + phase),   Omega_ij ~ N(0, 1/b^2),   phase_j ~ U(0, 2 pi),

has E <z(x), z(x')> = k(x, x') with the variance (1 + k(x, x')^4 / 2 - k(x, x')^2) / D, a standard error of at most
sqrt(1/D), so that any learner of linear rankers on z(x) approximates one on the kernel's functions.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Natural, Positive, Seed, SeedAxes, checked
from pipeline_lib.core.errors import DataError, UnlearnableError
from pipeline_lib.core.seeds import generator
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners.ranker import axes_of

# So many documents are mapped at a time, which limits the memory needed in addition to the result.
ROWS_AT_ONCE = 16_384
# The median distance is computed from the pairs of so many documents.
SAMPLE = 1_000


@checked
@dataclass(frozen=True)
class RandomFourier:
    """D random features of the Gaussian kernel on d features; Omega and phase are determined by the seed.

    Attributes
    ----------
    n_features : int
        d.
    components : int >= 1
        D.
    bandwidth : float > 0
        b, in the units of the features.
    seed : tuple of axes

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 1])
    >>> mapped = RandomFourier(1, 5000, 1.0, (7,)).apply(data)
    >>> round(float(mapped.X64[0] @ mapped.X64[1]), 1), round(math.exp(-0.5), 1)
    (0.6, 0.6)
    """

    n_features: Natural
    components: Count
    bandwidth: Positive
    seed: SeedAxes

    @classmethod
    def of(
        cls, data: RankingData, components: Count, bandwidth: Positive | Literal["median"], seed: Seed
    ) -> "RandomFourier":
        """Make random features for ``data``; the bandwidth "median" is the median distance between its documents.

        Raises
        ------
        DataError
            When a number is out of range, or the median distance is 0.
        """
        axes = axes_of(seed)
        width = median_distance(data, axes) if isinstance(bandwidth, str) else float(bandwidth)
        return cls(data.n_features, components, width, axes)

    def apply(self, data: RankingData) -> RankingData:
        """z of every document, in single precision as features are stored; labels and queries are unchanged.

        Raises
        ------
        DataError
            When ``data`` has another number of features.
        """
        mapped = np.empty((data.n_documents, self.components), np.float32)
        for begin, block in self.blocks(data.X):
            mapped[begin : begin + len(block)] = block
        return replace(data, X=mapped, feature_names=None)

    def blocks(self, X: np.ndarray) -> Iterator[tuple[int, Floats]]:
        """z in double precision, some rows of X (N, d) at a time, with the first row's number."""
        checks.array("X", X, ndim=2)
        if X.shape[1] != self.n_features:
            raise DataError(f"X: expected {self.n_features} features, found {X.shape[1]}")
        omega, phase = self._drawn
        for begin in range(0, len(X), ROWS_AT_ONCE):
            rows = X[begin : begin + ROWS_AT_ONCE].astype(np.float64)
            # einsum sums every row in the same order: equal documents have equal features wherever they are in the
            # data.
            angle = np.einsum("ij,jk->ik", rows, omega) + phase
            yield begin, math.sqrt(2.0 / self.components) * np.cos(angle)

    @cached_property
    def _drawn(self) -> tuple[Floats, Floats]:
        rng = generator(*self.seed, "random-fourier")
        omega = rng.standard_normal((self.n_features, self.components)) / self.bandwidth
        return omega, rng.uniform(0.0, 2.0 * math.pi, self.components)


@checked
def median_distance(data: RankingData, seed: SeedAxes) -> float:
    """The median Euclidean distance between two of (at most 1,000 random) documents.

    Raises
    ------
    DataError
        When there are fewer than two documents or half of the pairs coincide.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [3.0]], [0, 1], [1, 1])
    >>> median_distance(data, (1,))
    3.0
    """
    from scipy.spatial.distance import pdist

    chosen = np.sort(generator(*seed, "median-distance").permutation(data.n_documents)[:SAMPLE])
    distances = pdist(data.X[chosen].astype(np.float64))
    median = float(np.median(distances)) if len(distances) else 0.0
    if median == 0.0:
        raise UnlearnableError("data: the median distance between documents is 0; give the bandwidth as a number")
    return median
