"""The plan counts jobs, names what is missing, and learns from recorded times."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_lib import planning
from pipeline_lib.planning import PlannedJob


def record(path: Path, seconds: float) -> Path:
    path.write_text(f"s\th:m:s\tmax_rss\n{seconds}\t0:00:01\t10\n")
    return path


def test_recorded_seconds_replace_the_guess(tmp_path: Path) -> None:
    jobs = [PlannedJob("train_model", 0.0, record(tmp_path / "a.tsv", 30.0))]
    assert planning.estimate_seconds(jobs) == 30.0


def test_a_rule_s_recorded_jobs_scale_the_guess_for_its_new_jobs(tmp_path: Path) -> None:
    known = PlannedJob("train_model", 1e6, record(tmp_path / "a.tsv", 30.0))
    new = PlannedJob("train_model", 1e6, tmp_path / "none.tsv")
    assert planning.estimate_seconds([known, new]) == pytest.approx(60.0)


def test_an_unreadable_record_counts_as_none(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("garbage\n")
    assert planning.recorded_seconds(path) is None


@given(st.sampled_from(sorted(planning.COSTS)), st.floats(0, 1e10), st.integers(1, 4))
def test_a_retry_asks_for_more(rule: str, cells: float, attempt: int) -> None:
    assert planning.memory_mb(rule, cells, attempt + 1) > planning.memory_mb(rule, cells, attempt) > 0
    assert planning.runtime_minutes(rule, cells, attempt + 1) > planning.runtime_minutes(rule, cells, attempt) >= 10


def test_the_plan_says_what_is_missing_and_how_to_get_it() -> None:
    text = planning.describe("s", [], 4, [], {"MQ2007": "place MQ2007.rar in data/raw"})
    assert "missing     MQ2007; to get it: place MQ2007.rar in data/raw" in text
    assert "jobs        none" in text


@pytest.mark.parametrize(("cells", "unit"), [(0.0, " s"), (2e9, " min"), (1e11, " h")])
def test_durations_read_well(cells: float, unit: str) -> None:
    text = planning.describe("s", [PlannedJob("train_model", cells, None)], 1, [], {})
    assert f"{unit} of work" in text
