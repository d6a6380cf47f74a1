"""The plan counts jobs and names what is missing; jobs request what they take."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_lib import papers
from pipeline_lib.sources import catalog
from pipeline_lib.study import configuration, planning, step_rules
from pipeline_lib.study.data_sets import DataSets
from pipeline_lib.study.planning import Estimate

costs = st.sampled_from([*planning.COSTS.values(), *(step.cost for _, _, step in papers.steps(papers.names()))])
jobs_of = st.builds(Estimate.of, costs, cells=st.floats(0, 1e10), seconds=st.floats(0.0, 1e4), mb=st.floats(0.0, 1e5))


@given(jobs_of, st.integers(1, 4))
def test_a_job_gets_what_it_takes_and_a_retry_twice_as_much(job: Estimate, attempt: int) -> None:
    memory, minutes = job.memory_mb(attempt), job.runtime_minutes(attempt)
    assert memory >= 2 ** (attempt - 1) * (job.mb + planning.OVERHEAD_MB)
    assert minutes >= 2 ** (attempt - 1) * max(10.0, job.seconds / 6)
    assert (job.memory_mb(attempt + 1), job.runtime_minutes(attempt + 1)) == (2 * memory, 2 * minutes)


def test_the_plan_says_what_is_missing_and_what_is_left_out_and_why() -> None:
    untrained = {"trees": "lightgbm is not installed"}
    text = planning.describe("s", [], [], {"MQ2007": "place MQ2007.rar in data/raw"}, untrained)
    assert "missing     MQ2007; to get it: place MQ2007.rar in data/raw" in text
    assert "trees, which is not trained: lightgbm is not installed" in text
    assert "jobs        none" in text


def test_the_plan_states_all_work_and_the_largest_memory() -> None:
    jobs = [("train_model", Estimate(60.0, 500.0))] * 20 + [("judge_claims", Estimate(1.0, 1500.0))]
    text = planning.describe("s", jobs, [], {}, {})
    assert "20 train_model, 1 judge_claims" in text
    assert "about 21 minutes of work on one core, up to 1.5 GB of memory" in text


def test_the_plan_says_what_the_test_queries_can_show() -> None:
    few, many = planning.power("mine", 5, 3, 0.95), planning.power("mine", 60, 10, 0.95)
    assert "no difference" in few
    assert "of 0.55 standard deviations" in many
    assert few in planning.describe("s", [], [], {}, {}, powers=[few])


def test_test_queries_are_counted_by_parts_and_folds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    public = catalog.load()
    Path("mine.tsv").write_text("query\tlabel\ta\n1\t0\t.5\n")
    settings = {"study": "mine", "datasets": ["letor-sim", {"name": "mine", "files": "mine.tsv"}], "folds": [1, 3]}
    study = configuration.check(settings, {name: entry.n_folds for name, entry in public.items()})
    data = DataSets(study, public)
    assert data.tested_queries("letor-sim") == round(study.config["letor_sim"]["queries"] * 2 / 5)
    assert data.tested_queries("mine") is None
    Path("data/parquet/mine").mkdir(parents=True)
    Path("data/parquet/mine/summary.json").write_text('{"parts": [{"name": "file", "queries": 60}]}')
    assert data.tested_queries("mine") == 24


@pytest.mark.parametrize(
    ("seconds", "said"), [(1.2, "at most a minute"), (60.0, "at most a minute"), (61.0, "about 2 minutes")]
)
def test_the_plan_counts_minutes_in_plain_words(seconds: float, said: str) -> None:
    text = planning.describe("s", [("train_model", Estimate(seconds, 500.0))], [], {}, {})
    assert f"estimate    {said} of work on one core" in text


def test_the_rule_with_the_longest_job_starts_first() -> None:
    study = configuration.check({"experiments": {"twolayer": {"rates": {"repetitions": 10**5}}}}, {"letor-sim": 5})
    rules = step_rules.of_study(study, ["letor-sim"])
    first = max(rules, key=lambda rule: rule.priority)
    assert first.rule == "twolayer_rates"
    assert first.priority == round(max(first.estimate(cell, 0.0, 0.0).seconds for cell in first.cells) - 2.0)
    assert 0 <= min(rule.priority for rule in rules) < 10
