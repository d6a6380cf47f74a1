"""ConeRank's passes over all pairs

500 queries of 20 documents with 46 features and labels 0..2, the size of MQ2008's training part; K = 10 basis vectors,
ten projected gradient steps per pair, one basis step per query. The peer performs the same steps with numpy,
for all pairs of a query at once. AdaRank and RankBoost have no maintained peer in Python.
"""

import itertools

import numpy as np

from benchmarks.timing import Timing, compare
from pipeline_lib import RankingData
from pipeline_lib.learners import cone

N_QUERIES, M, N_FEATURES, K, FOLD_STEPS, STEP = 500, 20, 46, 10, 10, 1e-3


def sample() -> RankingData:
    """The data: labels from noisy linear utilities."""
    rng = np.random.default_rng(20261)
    X = rng.standard_normal((N_QUERIES * M, N_FEATURES))
    utility = X @ rng.standard_normal(N_FEATURES) + 5.0 * rng.standard_normal(len(X))
    y = np.searchsorted(np.quantile(utility, [0.8, 0.94]), utility)
    return RankingData.from_arrays(X, y, np.repeat(np.arange(N_QUERIES), M))


def with_numpy(data: RankingData, start: np.ndarray) -> np.ndarray:
    """One pass, a query at a time, its pairs as matrices."""
    problem, U = cone.Problem(), start.copy()
    rho, c = problem.rho_of(N_FEATURES), problem.c_of(N_FEATURES)
    rng = np.random.default_rng(0)
    for begin, end in itertools.pairwise(data.offsets):
        X, y = data.X64[begin:end], data.y[begin:end]
        high, low = np.nonzero(y[:, None] > y)
        if not len(high):
            continue
        z = X[high] - X[low]
        z *= (rho / (1.0 + np.linalg.norm(z, axis=1)))[:, None]
        w = rng.random((len(z), K))
        w /= w.sum(axis=1, keepdims=True)
        G, b = U.T @ U, z @ U
        for _ in range(FOLD_STEPS):
            w = projected(w - STEP * 2.0 * (w @ G - b))
        weighted = w * (y[high] - y[low])[:, None]
        U -= STEP * 2.0 / len(z) * (U @ (weighted.T @ w) - z.T @ weighted)
        U *= np.minimum(1.0, c / np.linalg.norm(U, axis=0))
    return U


def projected(w: np.ndarray) -> np.ndarray:
    """Rows onto the simplex, by sorting."""
    falling = -np.sort(-w, axis=1)
    theta = (np.cumsum(falling, axis=1) - 1.0) / np.arange(1, w.shape[1] + 1)
    last = (falling > theta).sum(axis=1) - 1
    return np.maximum(w - theta[np.arange(len(w)), last][:, None], 0.0)


def ours(data: RankingData, start: np.ndarray) -> np.ndarray:
    """One pass over the queries in their order."""
    order = np.arange(N_QUERIES)[None]
    return cone.without_each(data, start, order, [-1], method="sg", fold_steps=FOLD_STEPS, fold_tol=1e-12)


def measure() -> list[Timing]:
    """One pass, ours and numpy's."""
    data = sample()
    start = cone.started(N_FEATURES, K, cone.Problem(), (1,))
    pairs = float(len(cone.pair_losses(data, start)))

    return compare(
        "ConeRank-SG, one pass",
        {"pipeline_lib": lambda: ours(data, start), "numpy, one query at a time": lambda: with_numpy(data, start)},
        unit="pairs",
        unit_count=pairs,
    )
