"""How do data look in which there is nothing to find?"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.data.ranking_data import RankingData

NAMES = ("bm25", "clicks", "age")
"""The features of data that have three."""


def drawn(
    rng: np.random.Generator,
    n_queries: int,
    *,
    name: str = "q",
    n_features: int = 3,
    noise: float = 1.0,
    sizes: tuple[int, int] = (2, 15),
    kinds: Sequence[int] = (),
) -> RankingData:
    """Lists in random order, with at least two labels each, that depend on the features with noise.

    ``kinds`` says how features are distributed: normal, whole, skewed, yes or no, or partly shared by the documents of
    a query.

    Example
    -------
    >>> data = drawn(np.random.default_rng(0), 4)
    >>> data.n_queries, data.feature_names, sorted(set(data.y.tolist()))
    (4, ('bm25', 'clicks', 'age'), [0, 1, 2])
    """
    m = rng.integers(*sizes, n_queries)
    query = np.repeat(np.arange(n_queries), m)
    X = rng.normal(size=(len(query), n_features))
    for j, kind in enumerate(kinds):
        X[:, j] = _of_kind(kind, X[:, j], query, rng)
    spread = np.where(X.std(axis=0) > 0.0, X.std(axis=0), 1.0)
    merit = ((X - X.mean(axis=0)) / spread).sum(axis=1) / math.sqrt(n_features)
    merit += noise * rng.normal(size=len(query))
    y = np.zeros(len(query), np.int64)
    for q in range(n_queries):
        rows = np.flatnonzero(query == q)
        y[rows] = np.digitize(merit[rows], [0.3, 1.3])
        y[rows[np.argmax(merit[rows])]] = max(1, y[rows].max())
        y[rows[np.argmin(merit[rows])]] = 0
    names = NAMES if n_features == len(NAMES) else None
    return RankingData.from_arrays(X, y, [f"{name}{q}" for q in query], feature_names=names)


def _of_kind(kind: int, x: NDArray[Any], query: NDArray[np.int64], rng: np.random.Generator) -> NDArray[Any]:
    if kind == 1:
        x = rng.poisson(3.0, len(x))
    elif kind == 2:
        x = np.exp(1.5 * x)
    elif kind == 3:
        x = 1.0 * (x > 0.5)
    elif kind == 4:
        x = x + rng.normal(size=int(query[-1]) + 1)[query]
    return x
