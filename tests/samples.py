"""Small data sets that are drawn, and what is computed of any data set."""

import dataclasses

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.surrogates.base import Surrogate


def unrelated(n: int = 30, m: int = 6, d: int = 3, seed: int = 0, levels: int = 3) -> RankingData:
    """n queries of m documents with d normal features, and labels below ``levels`` that they say nothing of."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n * m, d))
    return RankingData.from_arrays(X, rng.integers(0, levels, n * m), np.repeat(np.arange(n), m))


def drawn(
    n: int = 12,
    m: int | tuple[int, int] = (1, 7),
    d: int = 3,
    seed: int = 0,
    noise: float = 0.5,
    levels: int = 3,
    ties: float = 0.0,
) -> RankingData:
    """n queries of m documents, or of a number between two, labelled by linear utilities of variance 1 and noise.

    A share ``ties`` of the documents is alike: all features are 0.
    """
    rng = np.random.default_rng(seed)
    sizes = np.full(n, m) if isinstance(m, int) else rng.integers(m[0], m[1] + 1, n)
    X = rng.normal(size=(sizes.sum(), d))
    X[rng.random(len(X)) < ties] = 0.0
    w = np.arange(1.0, d + 1.0)
    utility = X @ w / np.linalg.norm(w) + noise * rng.normal(size=len(X))
    return RankingData.from_arrays(X, np.digitize(utility, np.arange(levels - 1)), np.repeat(np.arange(n), sizes))


def same(a: RankingData, b: RankingData) -> bool:
    """Whether two data sets are equal in everything."""
    names = [field.name for field in dataclasses.fields(RankingData)]
    arrays = all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names[:4])
    return arrays and (a.feature_names, a.query_names) == (b.feature_names, b.query_names)


def objective(data: RankingData, surrogate: Surrogate, l2: float, w: Floats) -> float:
    """The regularised risk of w."""
    return float(0.5 * l2 * w @ w + surrogate.value(data.X64 @ w, data.y, data.offsets).mean())
