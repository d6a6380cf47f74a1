"""The plan counts jobs, names what is missing, and learns from recorded times."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_lib import papers
from pipeline_lib.study import planning
from pipeline_lib.study.planning import Estimate, PlannedJob

costs = st.sampled_from([*planning.COSTS.values(), *(step.cost for _, _, step in papers.steps(papers.names()))])
jobs_of = st.builds(Estimate.of, costs, cells=st.floats(0, 1e10), seconds=st.floats(0.0, 1e4), mb=st.floats(0.0, 1e5))


def record(path: Path, seconds: float) -> Path:
    path.write_text(f"s\th:m:s\tmax_rss\n{seconds}\t0:00:01\t10\n")
    return path


def test_a_rule_s_recorded_jobs_scale_the_guess_for_its_new_jobs(tmp_path: Path) -> None:
    known = PlannedJob("train_model", 3.0, record(tmp_path / "a.tsv", 30.0))
    new = PlannedJob("train_model", 3.0, tmp_path / "none.tsv")
    assert planning.estimates([known, new]) == pytest.approx([30.0, 30.0])


def test_an_unreadable_record_counts_as_none(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("garbage\n")
    assert planning.recorded_seconds(path) is None


@given(jobs_of, st.integers(1, 4), st.integers(1, 1000))
def test_a_job_gets_what_it_takes_and_a_retry_twice_as_much(job: Estimate, attempt: int, jobs: int) -> None:
    memory, minutes = job.memory_mb(attempt), job.runtime_minutes(attempt, jobs)
    assert memory >= 2 ** (attempt - 1) * (job.mb + planning.OVERHEAD_MB)
    assert jobs * minutes >= 2 ** (attempt - 1) * max(10.0, jobs * job.seconds / 6)
    assert (job.memory_mb(attempt + 1), job.runtime_minutes(attempt + 1, jobs)) == (2 * memory, 2 * minutes)


def test_the_plan_says_what_is_missing_and_what_is_left_out_and_why() -> None:
    untrained = {"trees": "lightgbm is not installed"}
    text = planning.describe("s", [], 4, [], {"MQ2007": "place MQ2007.rar in data/raw"}, untrained=untrained)
    assert "missing     MQ2007; to get it: place MQ2007.rar in data/raw" in text
    assert "trees, which is not trained: lightgbm is not installed" in text
    assert "jobs        none" in text


@given(st.dictionaries(st.integers(), st.floats(0.1, planning.BATCH_SECONDS), max_size=60))
def test_batches_contain_every_job_once_and_enough_work(seconds: dict[int, float]) -> None:
    batches = planning.batches(seconds)
    assert sorted(key for batch in batches for key in batch) == sorted(seconds)
    work = [sum(seconds[key] for key in batch) for batch in batches]
    assert len(batches) <= max(1, sum(work) / planning.BATCH_SECONDS)
    # No batch is longer than another by more than one job, and none is empty.
    assert all(batches)
    assert not work or max(work) - min(work) <= planning.BATCH_SECONDS


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


@given(st.lists(st.floats(0.0, 1e4), min_size=1, max_size=20), st.integers(1, 8))
def test_the_time_left_lies_between_perfect_sharing_and_one_job_after_another(
    expected: list[float], slots: int
) -> None:
    left = planning.TimeLeft({i: PlannedJob("r", s, None) for i, s in enumerate(expected)}, slots)
    assert max(max(expected), sum(expected) / slots) * (1 - 1e-12) <= left.seconds() <= sum(expected) * (1 + 1e-12)
    for i, seconds in enumerate(expected):
        left.finished(i, seconds)
    assert (len(left), left.seconds()) == (0, 0.0)
