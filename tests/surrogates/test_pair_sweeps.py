"""Are documents sorted by label and by score, and scores centred?"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pipeline_lib.surrogates.pair_sweeps import PASSES_UP_TO, ascending, label_runs


@given(hnp.arrays(np.float64, st.integers(1, 300), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_ascending_is_a_stable_sort(s):
    s[::3] = np.round(s[::3] / 1e300)  # ties, and zeros of either sign
    np.testing.assert_array_equal(ascending(s), np.argsort(s, kind="stable"))


@pytest.mark.parametrize("top", [0, 1, PASSES_UP_TO, PASSES_UP_TO + 1, 255])
def test_label_runs(top):
    rng = np.random.default_rng(top)
    for m in (1, 2, 50):
        s, y = rng.normal(size=m), rng.integers(0, top + 1, m).astype(np.int32)
        c, order, runs = np.empty(m), np.empty(m + 1, np.int64), np.empty(m + 1, np.int64)
        n_runs = label_runs(s, y, 0.5, c, order, runs)
        expected = np.argsort(y, kind="stable")
        np.testing.assert_array_equal(order[:m], expected)
        np.testing.assert_array_equal(c, s[expected] - 0.5)
        starts = np.flatnonzero(np.diff(y[expected], prepend=-1))
        np.testing.assert_array_equal(runs[: n_runs + 1], [*starts, m])
