"""Does the basis change less and less when a query is left out of more and more? Not where two bases are equally good.

Section 3.4 of `cone` asks what bounds s_max. On the samples of this module the answer is: nothing that depends on the
number of queries. The risk has several minima of the same value, and the query that is left out decides which of them
is the lowest (docs/stability-of-cones.md).

- ``axes``: K = N >= 2 and sum w = 1. The differences are rho e_k and -rho e_k for every axis k, equally many of each.
  Without one query along axis k the best cone lies in the hyperplane z_k = constant.
- ``axes, one of them rare``: the same with fewer queries along the last axis: the best hyperplane is always the same.
- ``sums``: K = N = 1 and 1 <= w <= lambda_u. The differences are rho and -rho: the best u is positive if one -rho is
  left out, and negative if one rho is.
"""

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import cone
from pipeline_lib.papers.cone.common import without


@dataclass(frozen=True)
class Tied:
    """Differences of norm 1 along the axes, both ways: query 2k has e_k and query 2k + 1 has -e_k, ``counts`` times."""

    counts: NDArray[np.int64]
    largest_sum: float = 1.0

    @property
    def N(self) -> int:
        """The number of features, which is the number of basis vectors."""
        return len(self.counts) // 2

    @property
    def problem(self) -> cone.Problem:
        """The constants of (18), or of (9): differences this long are not shortened by alpha."""
        return cone.Problem(alpha=1e-12, rho=1.0, c=float(self.N), weighted=False, band=(1.0, self.largest_sum))

    @property
    def data(self) -> RankingData:
        """The kinds of queries, a pair each."""
        N = self.N
        X = np.zeros((4 * N, N))
        X[np.arange(1, 4 * N, 2), np.repeat(np.arange(N), 2)] = np.tile([1.0, -1.0], N)
        return RankingData.from_arrays(X, np.tile([0, 1], 2 * N), np.repeat(np.arange(2 * N), 2))

    def losses(self, U: Floats) -> Floats:
        """The loss of every kind of query."""
        return cone.losses(self.data, U, self.problem)[0]

    def best(self, counts: NDArray[np.int64]) -> tuple[Floats, float]:
        """A basis for a sample with so many queries of each kind, and a lower bound of the risk of all bases."""
        return _best_sum(counts, self.largest_sum) if self.N == 1 else _best_hyperplane(counts)


def _best_hyperplane(counts: NDArray[np.int64]) -> tuple[Floats, float]:
    # The cone's points with sum w = 1 lie in a hyperplane; the nearest one to the differences is orthogonal to the
    # axis with the smallest second moment about the mean, and its distance, the smallest eigenvalue, bounds the risk.
    # The simplex with the centre of the differences contains the projections of all of them.
    N, P = len(counts) // 2, float(counts.sum())
    Z = np.repeat(np.eye(N), 2, axis=0) * np.tile([1.0, -1.0], N)[:, None]
    mean = counts @ Z / P
    values, vectors = np.linalg.eigh((Z.T * counts) @ Z / P - np.outer(mean, mean))
    normal = int(np.argmax(np.abs(vectors[:, 0])))
    inside = [k for k in range(N) if k != normal]
    U = np.empty((N, N))
    U[normal] = mean[normal]
    U[inside] = (N - 1) * _simplex(N)
    return U, float(values[0])


def _simplex(N: int) -> Floats:
    # N unit vectors of N - 1 dimensions with the sum 0 and equal angles, as columns.
    centred = np.eye(N) - 1.0 / N
    frame = np.linalg.svd(centred)[2][: N - 1]
    corners = frame @ centred
    return corners / np.linalg.norm(corners, axis=0)


def _best_sum(counts: NDArray[np.int64], high: float) -> tuple[Floats, float]:
    # u > 0 reaches the differences 1 from u = 1 / lambda_u to u = 1, and -1 never; u < 0 the other way round. Up to
    # 1 / lambda_u the risk is a convex quadratic in |u|, and from there on it rises: it is least at 0, at 1 / lambda_u,
    # or where the slope of the quadratic vanishes.
    def risk(u: float) -> float:
        ends = sorted((u, high * u))
        return sum(n * (z - min(max(z, ends[0]), ends[1])) ** 2 for n, z in zip(counts, (1.0, -1.0), strict=True))

    candidates = [0.0]
    for sign, reached, missed in ((1.0, *counts), (-1.0, *counts[::-1])):
        vertex = float((reached * high - missed) / (reached * high**2 + missed))
        candidates += [sign / high, sign * min(max(vertex, 0.0), 1.0 / high)]
    u = min(candidates, key=risk)
    return np.array([[u]]), risk(u) / float(counts.sum())


def apart(tied: Tied, i: int, j: int) -> dict[str, float]:
    """Half the distance of the bases without query i and without query j, and of their losses.

    One of them is at least that far away from the basis of the whole sample; columns are matched so that the distance
    is smallest. ``above_the_bound`` is by how much the larger of their risks exceeds a lower bound of all risks.
    """
    counts = [without(tied.counts, query) for query in (i, j)]
    (U, V), least = zip(*map(tied.best, counts), strict=True)
    losses = [tied.losses(basis) for basis in (U, V)]
    excess = [float(n @ at) / float(n.sum()) - below for n, at, below in zip(counts, losses, least, strict=True)]
    distances = [float(np.linalg.norm(U - V[:, list(order)], ord=2)) for order in permutations(range(tied.N))]
    change = 0.5 * float(np.abs(losses[0] - losses[1]).max())
    return {"s_max": 0.5 * min(distances), "beta": change, "above_the_bound": max(excess)}
