"""Do the lists hold the extremes that they promise?"""

import numpy as np
import pytest

from pipeline_lib.papers import score_lists


@pytest.mark.parametrize("m", [1, 2, 7])
@pytest.mark.parametrize("y_max", [0, 1, 4])
def test_labels_and_scores_are_in_range(m: int, y_max: int) -> None:
    scores, y = score_lists.mixed_lists(200, m, y_max, np.random.default_rng(1))
    assert scores.shape == y.shape == (200, m)
    assert np.isfinite(scores).all()
    assert y.min() >= 0
    assert y.max() <= y_max


def test_extremes_are_there() -> None:
    scores, y = score_lists.adversarial_lists(500, 6, 3, np.random.default_rng(2))
    relevant = (y > 0).sum(axis=1)
    assert {0, 1, 5, 6} <= set(relevant.tolist())
    assert (np.ptp(scores, axis=1) == 0.0).any()
    assert (np.ptp(scores, axis=1) >= 1000.0).any()
    gaps = np.abs(scores[:, :, None] - scores[:, None, :])
    assert ((gaps > 0.0) & (gaps < 1e-8)).any()
    assert (gaps == 1.0).any()


def test_neighbours_stay_bounded() -> None:
    rng = np.random.default_rng(3)
    scores, _ = score_lists.adversarial_lists(100, 5, 2, rng)
    for _ in range(50):
        scores = score_lists.moved(scores, rng.normal(size=scores.shape), rng)
    assert np.abs(scores).max() <= score_lists.FAR
