"""Rounds of SLAM's perceptron

500 queries of 20 documents with 46 features and labels 0..2, met 20,000 times in random order: scores, ranking, its
NDCG, the weighted subgradient and the step. The peer is Algorithm 1 in a plain loop over numpy arrays, as one writes it
first, with the weights v computed beforehand; both give the same w.
"""

import numpy as np

from benchmarks.timing import Timing, compare
from pipeline_lib import RankingData
from pipeline_lib.learners import perceptron
from pipeline_lib.surrogates import slam

N_QUERIES, DOCUMENTS, N_FEATURES, ROUNDS = 500, 20, 46, 20_000


def sample() -> RankingData:
    """Labels from noisy linear utilities, so that most rounds have a mistake."""
    rng = np.random.default_rng(20262)
    X = rng.normal(size=(N_QUERIES * DOCUMENTS, N_FEATURES))
    utility = X @ rng.normal(size=N_FEATURES) + 5.0 * rng.normal(size=len(X))
    y = np.searchsorted(np.quantile(utility, [0.76, 0.93]), utility)
    return RankingData.from_arrays(X, y, np.repeat(np.arange(N_QUERIES), DOCUMENTS))


def plain(data: RankingData, order: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Algorithm 1 with NDCG and eta = 1, a query at a time."""
    w = np.zeros(data.n_features)
    discount = 1.0 / np.log2(np.arange(DOCUMENTS) + 2.0)
    X, y = data.X64.reshape(N_QUERIES, DOCUMENTS, -1), data.y.astype(int).reshape(N_QUERIES, DOCUMENTS)
    gains, v = 2.0**y - 1.0, v.reshape(N_QUERIES, DOCUMENTS)
    ideal = np.sort(gains, axis=1)[:, ::-1] @ discount
    below = y[:, :, None] > y[:, None, :]
    for q in order:
        s = X[q] @ w
        ranked = np.argsort(-s, kind="stable")
        if ideal[q] == 0.0 or 1.0 - gains[q][ranked] @ discount / ideal[q] < 1e-12:
            continue
        rivals = np.where(below[q], s, -np.inf)
        k = rivals.argmax(axis=1)
        open_ = (1.0 + rivals.max(axis=1) - s > 0.0) & (v[q] > 0.0)
        w -= v[q][open_] @ (X[q][k[open_]] - X[q][open_])
    return w


def measure() -> list[Timing]:
    """Both, over the same rounds."""
    data = sample()
    order = np.random.default_rng(20263).integers(0, N_QUERIES, ROUNDS)
    v = slam.weights_of_all(data.y.astype(np.int32), data.offsets)
    np.testing.assert_allclose(plain(data, order, v), perceptron.run(data, order).w, rtol=1e-8)
    return compare(
        "perceptron, 20 documents x 46 features",
        {"ours": lambda: perceptron.run(data, order), "numpy, a loop": lambda: plain(data, order, v)},
        unit="rounds",
        unit_count=ROUNDS,
    )
