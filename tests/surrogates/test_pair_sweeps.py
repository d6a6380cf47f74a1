"""Are documents sorted by label and by score, and scores centred?"""

import numpy as np
import pytest

from pipeline_lib.surrogates.pair_sweeps import label_runs, level_runs


@pytest.mark.parametrize("m", [1, 2, 50])
@pytest.mark.parametrize("top", [0, 1, 4, 255])
def test_runs_are_of_one_label_and_in_document_order_or_by_score(top, m):
    rng = np.random.default_rng(top)
    s, y = np.round(rng.normal(size=m), 1), rng.integers(0, top + 1, m).astype(np.int32)
    s[::3] *= 0.0  # ties, and zeros of either sign
    c, order, runs = np.empty(m), np.empty(m, np.int64), np.empty(m + 1, np.int64)
    for by_score in (False, True):
        n_runs = level_runs(s, y, c, order, runs) if by_score else label_runs(s, y, 0.5, c, order, runs)
        expected = np.lexsort((s, y)) if by_score else np.argsort(y, kind="stable")
        np.testing.assert_array_equal(order, expected)
        np.testing.assert_array_equal(c, s[expected] - (np.rint(0.5 * (s.min() + s.max())) if by_score else 0.5))
        starts = np.flatnonzero(np.diff(y[expected], prepend=-1))
        np.testing.assert_array_equal(runs[: n_runs + 1], [*starts, m])
