"""The benchmarks: intervals of ratios, rounds, the page, and the counts behind the table of limits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import autodiff, bench_limits, ratios, recorded, timing, training_times
from pipeline_lib import surrogates


def enclosed(n: int, k: int) -> float:
    """The share of the 2^n patterns of "below or above the median" in which the k-th ratios enclose the median."""
    return sum(k <= sum(below) <= n - k for below in itertools.product((0, 1), repeat=n)) / 2**n


@pytest.mark.parametrize("n", range(1, 13))
def test_the_level_of_an_interval_is_that_of_all_patterns_of_signs(n: int) -> None:
    k, level = ratios.place(n)
    assert level == pytest.approx(enclosed(n, k), abs=1e-12)
    assert level >= ratios.LEVEL or k == 1
    narrower = k + 1
    assert 2 * narrower > n or enclosed(n, narrower) < ratios.LEVEL


def test_ratios_are_those_within_rounds() -> None:
    found = ratios.of_rounds([1.0, 2.0, 4.0, 1.0], [3.0, 4.0, 4.0])  # the fourth round of ours has no counterpart
    assert (found.median, found.low, found.high, found.level) == (2.0, 1.0, 3.0, 0.75)
    nine = ratios.of_rounds([1.0] * 9, [9.0, 1.0, 8.0, 2.0, 7.0, 3.0, 6.0, 4.0, 5.0])
    assert (nine.median, nine.low, nine.high) == (5.0, 2.0, 8.0)
    assert ratios.of_rounds([2.0], [5.0]) == ratios.Ratio(2.5, 2.5, 2.5, 0.0)


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=15), st.floats(0.01, 100.0))
def test_a_machine_that_slows_down_between_rounds_changes_no_ratio(seconds: list[float], factor: float) -> None:
    found = ratios.of_rounds(seconds, [factor * s for s in seconds])
    assert found.low == pytest.approx(factor)
    assert found.high == pytest.approx(factor)


def replay(seconds: dict[str, list[float]], calls: list[str]) -> Callable[[Callable[[], Any]], tuple[float, Any]]:
    """A timer which gives the stated seconds of the implementation that the call names, and notes the call."""
    left = {name: iter(values) for name, values in seconds.items()}

    def timer(call: Callable[[], Any]) -> tuple[float, Any]:
        name = call()
        calls.append(name)
        return next(left[name]), name

    return timer


def test_implementations_take_turns_and_slow_ones_take_part_in_fewer_rounds() -> None:
    seconds = {"ours": [1.0] * 4, "slow": [2.0, 2.1, 2.2], "too slow": [9.0], "stopped": [math.nan]}
    calls: list[str] = []
    work = {name: lambda name=name: name for name in seconds}
    timings = timing.compare(
        "work",
        work,
        unit="things",
        unit_count=10,
        rounds=3,
        budget=5.0,
        notes={"slow": "a note", "stopped": lambda results: f"stopped after {results['ours']}", "absent": "-"},
        timer=replay(seconds, calls),
    )
    assert calls == ["ours", "slow", "too slow", "stopped", "ours", "slow", "ours", "slow", "ours"]
    found = {t.implementation: t for t in timings}
    assert found["ours"].seconds == (1.0, 1.0, 1.0)
    assert found["slow"].seconds == (2.1, 2.2)
    assert found["too slow"].seconds == (9.0,)
    assert math.isnan(found["stopped"].median)
    assert [t.note for t in timings] == ["", "a note", "", "stopped after ours"]
    assert found["ours"].rate == 10.0


def test_limits_know_only_kernels_that_there_are() -> None:
    assert set(bench_limits.OF_SURROGATE) <= set(surrogates.NAMES)
    assert [kernel.name for kernel in bench_limits.of_surrogates()] == list(surrogates.NAMES)


def test_the_least_time_is_that_of_the_scarcest_resource() -> None:
    limits = {"bytes": 1e9, "exponentials": 1e8}
    assert bench_limits.least({"bytes": 20.0, "exponentials": 1.0}, limits) == ("bytes", 2e-8)
    assert bench_limits.least({"bytes": 20.0, "exponentials": 4.0}, limits) == ("exponentials", 4e-8)


def test_pairs_of_peers_are_all_pairs_of_different_labels() -> None:
    rng = np.random.default_rng(0)
    y, offsets = rng.integers(0, 3, 30).astype(np.int32), np.array([0, 1, 12, 30])
    higher, lower = autodiff.pairs(y, offsets)
    expected = {(i, j) for a, b in itertools.pairwise(offsets) for i in range(a, b) for j in range(a, b) if y[i] > y[j]}
    assert len(higher) == len(expected)
    assert set(zip(higher.tolist(), lower.tolist(), strict=True)) == expected
    problem = autodiff.Problem.of(rng.normal(size=30), y, offsets)
    assert np.add.reduceat(problem.target, offsets[:-1]) == pytest.approx(1.0)
    assert problem.rectangle(y, int, -1).tolist()[1] == [*y[1:12].tolist(), *[-1] * 7]


def test_what_is_recorded_is_read_again(tmp_path: Path) -> None:
    rows = [training_times.Training("some, more", 1, 2, 3, 'a "model"', "erm", "{}", 0.25)]
    recorded.write(tmp_path / "table.csv", training_times.Training, rows)
    assert recorded.read(tmp_path / "table.csv", training_times.Training) == rows
    assert recorded.read(tmp_path / "none.csv", training_times.Training) == []
