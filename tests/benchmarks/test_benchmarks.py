"""The benchmarks: intervals of ratios, rounds, the page, and the counts behind the table of limits."""

import functools
import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import (
    autodiff,
    bench_certificates,
    bench_comparison,
    bench_limits,
    bench_lists,
    growth,
    page,
    ratios,
    recorded,
    rows,
    timing,
)


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


def test_a_slice_of_the_grid_of_lists_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_lists, "LENGTHS", (4, 8))
    monkeypatch.setattr(bench_lists, "SAMPLES", (90,))
    (found,) = bench_lists.scaling()
    assert found.sizes == (4, 8)


def test_works_that_certify_agree_and_others_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_comparison, "QUERIES", 200)
    monkeypatch.setattr(bench_certificates, "RESAMPLES", 500)
    monkeypatch.setattr(bench_certificates, "compare", functools.partial(timing.compare, rounds=1))
    found = bench_certificates.measure()
    assert [
        (one.work, one.implementation)
        for one in found
        if not math.isnan(one.median) and "and" not in one.implementation
    ] == [
        ("NDCG@10 and a lower limit of its mean", "pipeline_lib"),
        ("a lower limit of the mean", "pipeline_lib"),
        ("a lower limit of the mean", "scipy"),
    ]
    assert {one.implementation for one in found} == {"pipeline_lib", "scipy", "ranx and scipy", "ir_measures and scipy"}
    ours = functools.partial(tuple, (0.5, 0.4))
    bench_certificates._agree({"pipeline_lib": ours, "another": functools.partial(tuple, (0.5, 0.44))})
    for theirs in ((0.6, 0.55), (0.5, 0.3), (0.5, 0.46), (0.5, 0.51)):
        with pytest.raises(AssertionError, match="another computes other numbers"):
            bench_certificates._agree({"pipeline_lib": ours, "another": functools.partial(tuple, theirs)})


def test_the_page_is_made_from_the_files_of_rows() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.page(page.measured_before()) == text
    assert set(re.findall(r"data/(benchmarks-[\w-]+\.csv)", text)) == {kept.name for kept in rows.read()}


def test_the_rows_of_growth_are_what_was_measured() -> None:
    measured = [*recorded.read(growth.TABLE, growth.Measured), *growth.whole()]
    made = rows.files("growth", growth.section(measured))
    assert all((rows.FOLDER / file).read_text(encoding="utf-8") == text for file, text in made.items())


def test_the_ratios_of_a_section_leave_out_ours_and_what_was_stopped(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(rows, "FOLDER", tmp_path)
    lines = [f"| {work} | {ratio} |" for work, ratio in (("a", "1"), ("", "0.5 (0.4–0.6)"), ("", "1,200 (one call)"))]
    rows.write("x", "\n".join(["## X", "", "How.", "", "| work | ratio |", "|---|---|", *lines, "| b | – |"]))
    assert "| X | 1 of 2 | 0.5 to 1,200 | [benchmarks-x.csv](data/benchmarks-x.csv) |" in page.page(
        "Measured on a day."
    )
    assert [row["work"] for row in next(rows.read()).rows] == ["a", "a", "a", "b"]
