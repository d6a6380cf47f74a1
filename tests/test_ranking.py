"""Are the order, the ranks and the ideal DCG those of their definitions?"""

from __future__ import annotations

import numpy as np
import pytest

from pipeline_lib import ranking


@pytest.mark.parametrize("m", [1, 7, ranking.LONG, ranking.LONG + 1, 300])
def test_equal_scores_keep_the_order_of_the_documents(m: int) -> None:
    scores = np.random.default_rng(m).integers(0, 5, m).astype(float)
    ranked = np.full(m + 3, -1, np.int64)
    ranking.order_by_score(scores, ranked)
    assert ranked[:m].tolist() == sorted(range(m), key=lambda i: -scores[i])
    assert ranked[m:].tolist() == [-1] * 3


@pytest.mark.parametrize("k", [1, 4, 30])
def test_the_ideal_dcg_is_that_of_falling_labels(k: int) -> None:
    y = np.random.default_rng(k).integers(0, 6, 20)
    D = ranking.discounts(k)
    falling = [ranking.GAINS[label] * discount for label, discount in zip(sorted(y, reverse=True), D, strict=False)]
    assert ranking.ideal_dcg(y, D) == pytest.approx(sum(falling), rel=1e-14)
    by_rank = ranking.ideal_ranks(y, np.array([0, 20]))
    assert y[np.argsort(by_rank)].tolist() == sorted(y, reverse=True)


def test_gains_are_exact() -> None:
    assert all(int(gain) == 2**label - 1 for label, gain in enumerate(ranking.GAINS[:54]))
