"""How far apart can the losses of two rankers of small empirical risk be? The inequality behind Proposition 15.

For a non-negative loss with the smoothness constant H in the maximum norm, and rankers w, w' with Lhat <= r, appendix K
derives from Lemma 14

    d_2(w, w')  <=  sqrt(12 H r) max over queries of ||X w - X w'||_inf,

with d_2 the root of the mean squared difference of the losses. For the squared loss of one document, (s - y)^2 with H =
2, scores near each other on all queries attain a share of sqrt(1/6) of the right side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import surrogates
from pipeline_lib.seeds import generator

if TYPE_CHECKING:
    from pipeline_lib.papers.lists.experiments.lengths import LengthsSettings

LOSSES: dict[str, dict[str, Any]] = {"squared": {}, "listnet": {}, "smooth-dcg": {"sign": "regret"}}
QUERIES, Y_MAX, SCORES = 4, 2, 2.0


def rows(settings: LengthsSettings, seed: int) -> list[dict[str, Any]]:
    """The rows of `lists-local`: the largest ratio of the two sides over pairs of score vectors."""
    return [
        {"loss": name, "m": m, "largest_ratio": _largest(name, m, settings.local_pairs, seed)}
        for name in LOSSES
        for m in settings.local_lengths
    ]


def _largest(name: str, m: int, pairs: int, seed: int) -> float:
    loss, rng = surrogates.create(name, **LOSSES[name]), generator(seed, "lists-lengths", "local", name, m)
    smoothness = loss.smoothness(m, Y_MAX, score_bound=SCORES)
    offsets, largest = np.arange(QUERIES + 1, dtype=np.int64) * m, 0.0
    for k in range(pairs):
        y = rng.integers(Y_MAX + 1, size=QUERIES * m).astype(np.int32)
        s = rng.uniform(-SCORES, SCORES, size=QUERIES * m)
        if k % 2:  # the same on all queries and documents, where the inequality of the squared loss is nearest
            y, s = np.full_like(y, y[0]), np.full_like(s, s[0])
        # Half of the pairs are near each other.
        other = s + rng.choice([0.001, 1.0]) * (1.0 if k % 2 else rng.uniform(-1.0, 1.0, size=len(s)))
        of = [loss.unchecked(scores, y, offsets)[0] - loss.least(y, offsets) for scores in (s, other)]
        apart = np.sqrt(np.mean((of[0] - of[1]) ** 2))
        risk = max(float(of[0].mean()), float(of[1].mean()))
        if risk > 0.0:  # a list of one document has no loss under a softmax
            largest = max(largest, float(apart / (np.sqrt(12.0 * smoothness * risk) * np.abs(s - other).max())))
    return largest
