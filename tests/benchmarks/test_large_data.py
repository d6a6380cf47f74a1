"""Is what the benchmark of large data measured shown, and are its exponents and its commands right?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import large_data, rows
from benchmarks.large_data import Measured


@given(power=st.floats(0.3, 2.5), factor=st.floats(1e-4, 1e3))
def test_the_exponent_of_a_power_is_its_exponent(power: float, factor: float) -> None:
    sizes = [5e3, 1e5, 3e5, 1e6]
    assert large_data.exponent(sizes, [factor * size**power for size in sizes]) == pytest.approx(power, abs=0.006)


def test_sizes_at_which_the_start_dominates_take_no_part() -> None:
    assert large_data.exponent([1, 10, 100, 1000], [1.0, 1.9, 20.0, 200.0]) == pytest.approx(1.0)
    assert large_data.exponent([1, 10, 100, 1000], [1.0, 1.1, 1.5, 200.0]) is None


def test_the_rows_are_what_was_measured() -> None:
    made = rows.files("large_data", large_data.section(large_data.read()))
    assert all((rows.FOLDER / file).read_text(encoding="utf-8") == text for file, text in made.items())


def test_a_row_says_how_far_it_was_measured() -> None:
    measured = [Measured("train_model:x", size, 1, 1.0, 1.0, 100.0) for size in (10, 20)]
    measured.append(Measured("train_model:y", 20, 1, 1.0, 1.0, 9000.0, "failed (1)"))
    lines = large_data.section(measured).splitlines()
    [x] = [line for line in lines if line.startswith("| `train_model:x`")]
    [y] = [line for line in lines if line.startswith("| `train_model:y`")]
    assert x.endswith("| yes |")
    assert y.endswith("| no |")
    assert any(line.startswith("`train_model:y` with 20 documents: failed (1)") for line in lines)
