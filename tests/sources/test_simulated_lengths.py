"""Have the lists of a population with the log-normal law the lengths that its settings state?"""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline_lib.core.errors import DataError
from pipeline_lib.sources import length_law
from pipeline_lib.sources.population_settings import LogNormalLengths

SMALL = LogNormalLengths(mean=4.5, low=2, high=12, spread=0.6)


def test_probabilities_are_those_of_the_formula() -> None:
    p = length_law.probabilities(SMALL)
    lengths = range(SMALL.low, SMALL.high + 1)
    assert math.isclose(math.fsum(p), 1.0, abs_tol=1e-12)
    assert math.isclose(math.fsum(m * q for m, q in zip(lengths, p, strict=True)), SMALL.mean, rel_tol=1e-9)
    # ln(m p(m)) is a parabola in ln m with curvature -1 / spread^2: divided differences show it without mu.
    x, y = np.log(lengths), np.log(np.array(lengths) * p)
    slopes = np.diff(y) / np.diff(x)
    assert np.diff(slopes) / ((x[2:] - x[:-2]) / 2) == pytest.approx(-1.0 / SMALL.spread**2)


def test_drawn_lengths_have_their_probabilities() -> None:
    n = 40_000
    drawn = length_law.draw(SMALL, n, np.random.default_rng(3))
    shares = np.bincount(drawn, minlength=SMALL.high + 1)[SMALL.low :] / n
    p = length_law.probabilities(SMALL)
    assert (np.abs(shares - p) < 5.0 * np.sqrt(p * (1.0 - p) / n)).all()


@settings(max_examples=60)
@given(
    low=st.integers(1, 5),
    width=st.integers(1, 60),
    place=st.floats(0.02, 0.98),
    spread=st.floats(0.05, 2.0),
    n=st.integers(1, 200),
    seed=st.integers(0, 100),
)
@example(low=1, width=1, place=0.75, spread=1.0, n=2, seed=0)
def test_exact_lengths_have_the_stated_sum_and_range(
    low: int, width: int, place: float, spread: float, n: int, seed: int
) -> None:
    law = LogNormalLengths(mean=low + place * width, low=low, high=low + width, spread=spread)
    drawn = length_law.draw(law, n, np.random.default_rng(seed))
    assert law.low <= drawn.min() <= drawn.max() <= law.high
    try:
        found = length_law.exact(law, drawn)
    except DataError:  # the two extremes alone leave no room for this mean
        assert n >= law.high
        assert not (n - 1) * low + law.high <= round(law.mean * n) <= low + (n - 1) * law.high
        return
    assert found.sum() == round(law.mean * n)
    assert law.low <= found.min() <= found.max() <= law.high
    if n >= law.high:
        assert (found.min(), found.max()) == (law.low, law.high)


def test_lengths_outside_the_law_are_refused() -> None:
    with pytest.raises(DataError, match=r"lengths\[0\]: expected a whole number from 2 to 12, found 1"):
        length_law.exact(SMALL, np.array([1, 5]))
    with pytest.raises(DataError, match="lengths: expected"):
        length_law.exact(SMALL, np.array(5))
