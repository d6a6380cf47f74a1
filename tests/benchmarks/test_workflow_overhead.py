"""The shares of a run's time are computed from records of Snakemake, and the rows are what the table contains."""

from benchmarks import recorded, rows, workflow_overhead
from benchmarks.workflow_overhead import Job, Run


def test_what_jobs_do_not_use_is_what_cores_spend_without_them() -> None:
    jobs = (Job("a/1", "a", 1.0, 5.0), Job("a/2", "a", 1.0, 4.0), Job("b", "b", 5.5, 8.5))
    numbers = workflow_overhead.of_run(Run(0.0, 10.0, 2, jobs), start=0.5)
    assert [number.seconds for number in numbers if number.table == "run"] == [10.0, 10.0, 1.5, 10.0, 5.0]
    assert [(n.what, n.jobs, n.seconds) for n in numbers if n.table == "rules"] == [("a", 2, 7.0), ("b", 1, 3.0)]
    text = workflow_overhead.section(numbers)
    assert "50.0% of their time" in text
    assert "57.5% were not spent" in text


def test_the_rows_are_what_was_measured() -> None:
    numbers = recorded.read(workflow_overhead.TABLE, workflow_overhead.Number)
    assert numbers
    made = rows.files("workflow_overhead", workflow_overhead.section(numbers))
    assert all((rows.FOLDER / file).read_text(encoding="utf-8") == text for file, text in made.items())
