"""What do rounds of exploration cost?

`topk`, (5): the loss of the scores by which documents are ranked exceeds that of X_t w_t by O(gamma T),

    E sum_t phi(shown scores, y_t) <= E sum_t phi(X_t w_t, y_t) + gamma sum_t E phi(u, y_t),   u uniform on [0, 1]^m,

because a round shows random scores with probability gamma and losses are not negative. The last expectation is known
exactly:

| surrogate | E phi(u, y) |
|---|---|
| `squared` | sum_i 1/3 - y_i + y_i^2 |
| `kl` | sum_i e^(y_i) (y_i - 3/2) + e - 1 |
| `ranksvm` | the number of pairs with different labels, since E max(0, 1 + u_j - u_i) = 1 |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.learners import top_k_feedback
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.statistics import over_folds

if TYPE_CHECKING:
    from pipeline_lib.papers.topk.computations.regret import Game

_OF_LABELS: Mapping[str, Callable[[Floats], float]] = {
    "squared": lambda y: float((1.0 / 3.0 - y + y * y).sum()),
    "kl": lambda y: float((np.exp(y) * (y - 1.5) + math.e - 1.0).sum()),
    "ranksvm": lambda y: float((y[:, None] > y[None, :]).sum()),
}


def random_losses(data: RankingData, surrogate: str) -> Floats:
    """E phi(u, y) for every query, u uniform on [0, 1]^m, shape (n,).

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [7, 7])
    >>> [round(float(random_losses(data, name)[0]), 4) for name in ("squared", "kl", "ranksvm")]
    [0.6667, 0.5774, 1.0]
    """
    labels = np.split(data.y.astype(np.float64), data.offsets[1:-1])
    return np.array([_OF_LABELS[surrogate](y) for y in labels])


def row(game: Game, T: int, extra: Floats) -> dict[str, Any]:
    """By how much the loss of what was shown exceeds that of X_t w_t in T rounds, given averages over rounds by seed.

    ``random_loss`` is the sum over rounds of the expected loss of random scores.
    """
    _, gamma = top_k_feedback.theorem_parameters(T)
    summary = over_folds(extra * T)
    random = float(random_losses(game.data, game.surrogate)[game.order[:T]].sum())
    found = {"data": game.source, "surrogate": game.surrogate, "T": T, "seeds": len(extra), "random_loss": random}
    return {**found, "gamma": gamma, "extra": summary.mean, "low": summary.low, "high": summary.high}
