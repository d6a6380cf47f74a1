"""The plan counts jobs, names what is missing, and learns from recorded times."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_lib import papers, planning
from pipeline_lib.cost import Cost
from pipeline_lib.planning import PlannedJob

steps = [step.cost for _, _, step in papers.steps(papers.names())]
costs = st.sampled_from([*planning.COSTS.values(), planning.DEFAULT_COST, *steps])


def record(path: Path, seconds: float) -> Path:
    path.write_text(f"s\th:m:s\tmax_rss\n{seconds}\t0:00:01\t10\n")
    return path


def test_recorded_seconds_replace_the_guess(tmp_path: Path) -> None:
    jobs = [PlannedJob("train_model", 3.0, record(tmp_path / "a.tsv", 30.0))]
    assert planning.estimates(jobs) == [30.0]


def test_a_rule_s_recorded_jobs_scale_the_guess_for_its_new_jobs(tmp_path: Path) -> None:
    known = PlannedJob("train_model", 3.0, record(tmp_path / "a.tsv", 30.0))
    new = PlannedJob("train_model", 3.0, tmp_path / "none.tsv")
    assert planning.estimates([known, new]) == pytest.approx([30.0, 30.0])


def test_an_unreadable_record_counts_as_none(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("garbage\n")
    assert planning.recorded_seconds(path) is None


@given(costs, st.floats(0, 1e10), st.integers(1, 4))
def test_a_retry_asks_for_more(cost: Cost, cells: float, attempt: int) -> None:
    assert planning.memory_mb(cost, cells, attempt + 1) > planning.memory_mb(cost, cells, attempt) > 0
    assert planning.runtime_minutes(cost, cells, attempt + 1) > planning.runtime_minutes(cost, cells, attempt) >= 10


def test_the_plan_says_what_is_missing_and_how_to_get_it() -> None:
    text = planning.describe("s", [], 4, [], {"MQ2007": "place MQ2007.rar in data/raw"})
    assert "missing     MQ2007; to get it: place MQ2007.rar in data/raw" in text
    assert "jobs        none" in text


def test_the_plan_says_which_models_are_left_out_and_why() -> None:
    text = planning.describe("s", [], 4, [], {}, untrained={"trees": "lightgbm is not installed"})
    assert "trees, which is not trained: lightgbm is not installed" in text


def test_what_settings_ask_for_counts() -> None:
    cost = Cost(2.0, 0.0, 600.0)
    assert planning.runtime_minutes(cost, 0.0, extra=3600.0) >= 600
    assert planning.memory_mb(cost, 0.0, extra=2000.0) == planning.memory_mb(cost, 0.0) + 2000


@given(costs, st.floats(0, 1e10), st.integers(1, 4))
def test_memory_covers_what_runs_next_to_the_command(cost: Cost, cells: float, attempt: int) -> None:
    requested = planning.memory_mb(cost, cells, attempt)
    assert requested >= 2 ** (attempt - 1) * (cost.mb(cells) + planning.OVERHEAD_MB)
    assert requested <= 2 ** (attempt - 1) * planning.memory_mb(cost, cells)


def test_light_jobs_are_short_and_small() -> None:
    cost = planning.cost("split_folds")
    assert planning.is_light(cost, 1e6)
    assert not planning.is_light(cost, 1e6, extra=planning.SHORT_SECONDS)
    assert not planning.is_light(cost, 1e6, extra_mb=planning.LIGHT_MB)
    assert not planning.is_light(planning.cost("train_model"), 1e9)


@given(st.dictionaries(st.integers(), st.floats(0.1, planning.BATCH_SECONDS), max_size=60))
def test_batches_contain_every_job_once_and_enough_work(seconds: dict[int, float]) -> None:
    batches = planning.batches(seconds)
    assert sorted(key for batch in batches for key in batch) == sorted(seconds)
    work = [sum(seconds[key] for key in batch) for batch in batches]
    assert len(batches) <= max(1, sum(work) / planning.BATCH_SECONDS)
    # No batch is longer than another by more than one job, and none is empty.
    assert all(batches)
    assert not work or max(work) - min(work) <= planning.BATCH_SECONDS


@given(st.integers(1, 1000), st.integers(1, 4))
def test_the_minutes_of_a_batch_are_those_of_a_job_at_least(jobs: int, attempt: int) -> None:
    minutes = planning.runtime_minutes(Cost(0.1), 0.0, attempt, jobs=jobs)
    assert jobs * minutes >= 10 * 2 ** (attempt - 1)


def test_the_plan_adds_up_the_memory_of_the_largest_jobs_at_a_time() -> None:
    jobs = [PlannedJob("train_model", 1.0, None, mb) for mb in (500.0, 2_000.0, 1_500.0)]
    assert re.findall(r"([\d.]+) GB", planning.describe("s", jobs, 2, [], {})) == ["2.0", "3.5"]
    assert "GB" not in planning.describe("s", [], 2, [], {})


def test_the_plan_for_a_cluster_says_nothing_that_its_queue_decides() -> None:
    jobs = [PlannedJob("train_model", 60.0, None, 500.0)] * 20
    text = planning.describe("s", jobs, None, [], {}, submissions=7)
    assert "submissions 7" in text
    assert re.findall(r"([\d.]+) (min|s|GB)\b", text) == [("20", "min"), ("0.5", "GB")]


def test_no_run_is_shorter_than_its_longest_job(tmp_path: Path) -> None:
    long = PlannedJob("lists_grid", 30.0, record(tmp_path / "a.tsv", 600.0))
    text = planning.describe("s", [long, PlannedJob("judge_claims", 1.0, None)], 4, [], {})
    # The work of both jobs, then the time that it takes.
    assert re.findall(r"(\d+) min", text) == ["11", "10"]


@pytest.mark.parametrize(("seconds", "unit"), [(2.0, " s"), (2e3, " min"), (1e5, " h")])
def test_durations_read_well(seconds: float, unit: str) -> None:
    text = planning.describe("s", [PlannedJob("train_model", seconds, None)], 1, [], {})
    assert f"{unit} of work" in text


def test_long_lists_of_jobs_are_wrapped_and_no_number_stands_alone() -> None:
    jobs = [PlannedJob(f"rule_{i}", 1.0, None) for i in range(100)]
    lines = planning.describe("s", jobs, 1, [], {}).splitlines()
    assert max(map(len, lines)) <= 110
    assert not any(line.split()[-1].isdecimal() for line in lines)


@given(st.lists(st.floats(0.0, 1e4), min_size=1, max_size=20), st.integers(1, 8))
def test_the_time_left_lies_between_perfect_sharing_and_one_job_after_another(
    expected: list[float], slots: int
) -> None:
    left = planning.TimeLeft({i: PlannedJob("r", s, None) for i, s in enumerate(expected)}, slots)
    assert max(max(expected), sum(expected) / slots) * (1 - 1e-12) <= left.seconds() <= sum(expected) * (1 + 1e-12)
    for i, seconds in enumerate(expected):
        left.finished(i, seconds)
    assert (len(left), left.seconds()) == (0, 0.0)
