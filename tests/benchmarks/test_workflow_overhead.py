"""The shares of a run's time are computed from records of Snakemake, and the page shows what the table contains."""

from benchmarks import recorded, workflow_overhead
from benchmarks.workflow_overhead import Job, Run


def test_what_jobs_do_not_use_is_what_cores_spend_without_them() -> None:
    jobs = (Job("a/1", "a", 1.0, 5.0), Job("a/2", "a", 1.0, 4.0), Job("b", "b", 5.5, 8.5))
    numbers = workflow_overhead.of_run(Run(0.0, 10.0, 2, jobs), start=0.5)
    assert [number.seconds for number in numbers if number.table == "run"] == [10.0, 10.0, 1.5, 10.0, 5.0]
    assert [(n.what, n.jobs, n.seconds) for n in numbers if n.table == "rules"] == [("a", 2, 7.0), ("b", 1, 3.0)]
    text = workflow_overhead.section(numbers)
    assert "50.0% of their time" in text
    assert "57.5% were not spent" in text


def test_the_page_shows_the_table() -> None:
    page = workflow_overhead.PAGE.read_text(encoding="utf-8")
    numbers = recorded.read(workflow_overhead.TABLE, workflow_overhead.Number)
    assert numbers
    assert recorded.with_section(page, workflow_overhead.section(numbers)) == page
