"""What do rankers that cost next to nothing reach: equal scores, one feature, and least squares?"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import metrics
from pipeline_lib.core.arrays import Floats
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.sources.pitfalls import CUTOFF

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

MEASURE = f"ndcg@{CUTOFF}"
RIDGE = 1e-3
"""The penalty of least squares, for standardised features, a document."""


def ndcg(scores: NDArray[np.floating], data: RankingData) -> Floats:
    """NDCG@10 of every query, the mean over all orders that equal scores allow."""
    return metrics.per_query([MEASURE], scores, data.y, data.offsets, ties="mean")[MEASURE]


def of_feature(column: NDArray[np.floating], data: RankingData) -> Floats:
    """NDCG@10 of every query by one feature, falling or rising, whichever is better on the mean."""
    column = np.ascontiguousarray(column, np.float64)
    return max((ndcg(sign * column, data) for sign in (1.0, -1.0)), key=lambda values: values.mean())


def best_feature(data: RankingData, without: NDArray[np.bool_] | None = None) -> tuple[int, Floats]:
    """The feature that ranks the queries best, with a sign, and its NDCG@10 of every query.

    Features in ``without`` are passed over; those that are constant within all queries cannot be the best.
    """
    best, values = 0, np.full(data.n_queries, -1.0)
    for j in range(data.n_features):
        if without is not None and without[j]:
            continue
        if (found := of_feature(data.X[:, j], data)).mean() > values.mean():
            best, values = j, found
    return best, values


def centred(X: NDArray[np.floating] | NDArray[np.integer], offsets: NDArray[np.int64]) -> Floats:
    """Features or labels less their mean over the documents of the query, in double precision."""
    wide = X.astype(np.float64)
    sizes = np.diff(offsets)
    means = np.add.reduceat(wide, offsets[:-1], axis=0) / (sizes if wide.ndim == 1 else sizes[:, None])
    return np.asarray(wide - np.repeat(means, sizes, axis=0))


def weights(data: RankingData) -> Floats:
    """The w of least squares for labels, both less their means within queries.

    ::

        w minimises |Z u - y|^2 + RIDGE N |u|^2,    Z the features over their standard deviations s,    w = u / s

    Where there are fewer documents than features, u is Z^T (Z Z^T + RIDGE N I)^-1 y, which is the same.
    """
    Z, y = centred(data.X, data.offsets), centred(data.y, data.offsets)
    spread = Z.std(axis=0)
    spread[spread == 0.0] = np.inf
    Z /= spread
    n, d = Z.shape
    if n < d:
        return np.asarray(Z.T @ np.linalg.solve(Z @ Z.T + RIDGE * n * np.eye(n), y) / spread)
    return np.asarray(np.linalg.solve(Z.T @ Z + RIDGE * n * np.eye(d), Z.T @ y) / spread)


def least_squares(halves: "Halves") -> Floats:
    """NDCG@10 of every query that is measured, by least squares on others."""
    found = [ndcg(test.X.astype(np.float64) @ weights(train), test) for train, test in halves]
    return np.concatenate(found) if found else np.zeros(0)


Halves = list[tuple[RankingData, RankingData]]
"""What to train on, and what to measure then."""


def halves(data: RankingData) -> Halves:
    """Every second query measures what the others have taught; nothing where there are fewer than two queries."""
    parts = [data.take(np.arange(start, data.n_queries, 2)) for start in (0, 1)] if data.n_queries > 1 else []
    return [(one, other) for one, other in (parts, parts[::-1])] if parts else []


def in_queries(halves: Halves) -> Iterator[RankingData]:
    """The queries that are measured."""
    return (test for _, test in halves)
