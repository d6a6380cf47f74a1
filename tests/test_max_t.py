"""The kernels of the max-T test, against the formula on whole arrays."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline_lib import max_t


@given(st.integers(2, 7), st.integers(1, 3 * max_t.PATTERNS), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_counts_and_largest_are_those_of_the_formula(runs: int, patterns: int, n_pairs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sums = rng.integers(-3, 4, (runs, patterns)).astype(float)  # small integers, so that many T are equal to a reach
    pairs = rng.integers(0, runs, (n_pairs, 2))
    scale = rng.integers(0, 3, n_pairs).astype(float)
    reach = rng.integers(0, 5, n_pairs) / 2.0
    t = np.abs(sums[pairs[:, 0]] - sums[pairs[:, 1]])
    t = np.divide(t, scale[:, None], out=np.zeros_like(t), where=scale[:, None] > 0.0)
    from_here = np.maximum.accumulate(t[::-1], axis=0)[::-1]

    hits, joint = max_t.at_least(sums, pairs, scale, reach)

    assert hits.tolist() == (t >= reach[:, None]).sum(axis=1).tolist()
    assert joint.tolist() == (from_here >= reach[:, None]).sum(axis=1).tolist()
    assert max_t.largest(sums, pairs, scale).tolist() == t.max(axis=0).tolist()
