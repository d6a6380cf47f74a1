"""Rounds of learning from the labels on top

Algorithm 1 of `topk` with KL and the label of the top document: scores, exploration, the ten best, their NDCG, the loss
of what was shown, the estimate, the step and the projection. 2,000 queries of 20 documents with 46 features (7 MB), and
3,000 of 24 documents with 700 (202 MB, more than the caches hold), met in random order. One peer is the same algorithm
in a plain loop over numpy arrays. The other only reads the documents, 8 sums at a time, and so shows what memory
bandwidth allows.
"""

from functools import partial

import numpy as np

from benchmarks.timing import Timing, compare
from pipeline_lib import RankingData
from pipeline_lib.core.compiled import njit
from pipeline_lib.learners import top_k_feedback

SIZES = ((2_000, 20, 46, 40_000), (3_000, 24, 700, 10_000))
GAMMA, ETA, RADIUS = 0.016, 2.5e-4, 100.0
ROUNDS_OF_NUMPY = 5_000


def sample(n: int, m: int, d: int) -> RankingData:
    """Labels 0..2 from noisy linear utilities."""
    rng = np.random.default_rng(20263)
    X = rng.normal(size=(n * m, d)).astype(np.float32) / np.sqrt(np.float32(d))
    utility = X @ rng.normal(size=d) + rng.normal(size=len(X))
    y = np.searchsorted(np.quantile(utility, [0.76, 0.93]), utility)
    return RankingData.from_arrays(X, y, np.repeat(np.arange(n), m))


def plain(data: RankingData, order: np.ndarray, m: int) -> np.ndarray:
    """The same rounds, a query at a time."""
    rng, w, quality, loss = np.random.default_rng(1), np.zeros(data.n_features), 0.0, 0.0
    X, y = data.X.reshape(-1, m, data.n_features), data.y.reshape(-1, m)
    discount = 1.0 / np.log2(np.arange(10) + 2.0)
    gains = 2.0**y - 1.0
    ideal = np.sort(gains, axis=1)[:, ::-1][:, :10] @ discount
    for q in order:
        s = X[q] @ w
        best = np.argsort(-s, kind="stable")
        shown = rng.permutation(m) if rng.random() < GAMMA else best
        if ideal[q] > 0.0:
            quality += gains[q][shown[:10]] @ discount / ideal[q]
        shown_scores = s if shown is best else np.zeros(m)
        loss += float(np.sum(np.exp(y[q]) * (y[q] - shown_scores - 1.0) + np.exp(shown_scores)))
        a = shown[0]
        p = (1.0 - GAMMA) * (a == best[0]) + GAMMA / m
        w -= ETA * (np.exp(s[a]) - np.exp(y[q, a])) / p * X[q, a]
        w *= min(1.0, RADIUS / max(float(np.linalg.norm(w)), 1e-300))
    return np.append(w, [quality, loss])


@njit(fastmath={"reassoc", "contract"})
def read_only(X, order, m):  # type: ignore[no-untyped-def]
    """The sum of all features met, in the same order."""
    total = np.float32(0.0)
    for q in order:
        for i in range(q * m, (q + 1) * m):
            for c in range(X.shape[1]):
                total += X[i, c]
    return total


def ours(data: RankingData, order: np.ndarray) -> object:
    """The rounds by the library."""
    return top_k_feedback.run(data, "kl", 1, len(order), ETA, GAMMA, RADIUS, seed=1, order=order).w


def measure() -> list[Timing]:
    """All three on both sizes."""
    timings = []
    for n, m, d, T in SIZES:
        data = sample(n, m, d)
        order = np.random.default_rng(2).integers(0, n, T)

        def numpy_loop(data: RankingData = data, order: np.ndarray = order, m: int = m, T: int = T) -> object:
            return [plain(data, order[:ROUNDS_OF_NUMPY], m) for _ in range(T // ROUNDS_OF_NUMPY)]

        def reading(data: RankingData = data, order: np.ndarray = order, m: int = m) -> object:
            return read_only(data.X, order, m)

        calls = {"ours": partial(ours, data, order), "numpy, a loop": numpy_loop, "reading alone": reading}
        notes = {"reading alone": "the sum of all features read: the limit set by memory, not a learner"}
        work = f"labels on top, {m} documents x {d} features"
        timings += compare(work, calls, unit="rounds", unit_count=float(T), notes=notes)
    return timings
