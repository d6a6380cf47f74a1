"""Does the command below a table or figure make it again, and are its jobs and their times those that ran?"""

import re
from pathlib import Path

import pytest

from pipeline_lib import papers
from pipeline_lib.core import storage
from pipeline_lib.report.rerun import Rerun
from pipeline_lib.report.results import ResultsFolder

ROOT = Path(__file__).parents[2]


def study(folder: Path, name: str = "default", changes: tuple[str, ...] = ()) -> ResultsFolder:
    """Results with the record of their changes and the times of some jobs."""
    results = folder / name
    times = {"topk_regret": 6.0, "topk_regret_slice/one": 60.0, "topk_regret_slice/two": 54.0, "compare_models": 3.0}
    for job, seconds in times.items():
        path = results / f"benchmarks/{job}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\th:m:s\n{seconds}\t0:00:00\n")
    storage.write_json(results / "changes.json", {"changes": [{"setting": one} for one in changes]})
    storage.write_json(results / "provenance.json", {"code": "0123456789ab"})
    return ResultsFolder(results)


def test_a_table_is_made_again_with_the_parts_that_it_joins(tmp_path: Path) -> None:
    found = Rerun(study(tmp_path), ["topk"]).of(["tables/topk-regret.parquet"])
    # The report is the target, so that it shows what is made anew.
    assert found.command.split() == [
        *("snakemake", "--cores", "4", "reports/default/index.html"),
        *("--forcerun", "topk_regret_slice", "topk_regret"),
    ]
    assert "3 jobs, 2.0 minutes" in found.says
    assert "0123456789ab" in found.says


@pytest.mark.parametrize(
    ("file", "rule"),
    [
        ("tables/comparisons.parquet", "compare_models"),
        ("tables/summary.parquet", "summarise_results"),
        ("claims.json", "judge_claims"),
        ("data/mine.json", "describe_data"),
        ("data/*.json", "describe_data"),
        ("pipeline_lib/papers/slam/sections.yaml", "render_report"),
    ],
)
def test_every_file_has_its_rule(tmp_path: Path, file: str, rule: str) -> None:
    command = Rerun(study(tmp_path), []).of([file]).command
    assert command == f"snakemake --cores 4 reports/default/index.html --forcerun {rule}"
    assert re.search(
        rf"^(use rule \w+ as|rule) {rule}\b", (ROOT / "workflow/rules/report.smk").read_text(), re.MULTILINE
    )


def test_jobs_of_what_was_removed_from_a_study_do_not_count(tmp_path: Path) -> None:
    jobs = (
        "describe_data/a", "describe_data/a-b", "train_model/a/kept", "train_fold/a/kept/fold-1", "train_model/a/gone",
        "evaluate_model/a-b/kept", "summarise_results", "slam_losses", "topk_regret", "topk_regret_slice/1",
        "topk_unknown", "cone_bases_fold/a-1", "cone_bases_fold/a-b-1",
    )  # fmt: skip
    cells = [step for _, _, step in papers.steps(["cone"]) if step.axes == ("dataset", "fold")]
    jobs = tuple(one.replace("cone_bases_fold", f"cone_{cells[0].name}") for one in jobs)
    for job in jobs:
        path = tmp_path / f"benchmarks/{job}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("s\n1.0\n")
    for name in ("a", "a-b"):
        storage.write_json(tmp_path / f"data/{name}.json", {"dataset": name})
    storage.write_json(tmp_path / "availability.json", {"datasets": [{"dataset": "a"}]})
    storage.write_json(tmp_path / "models.json", {"models": [{"model": "kept"}]})
    (tmp_path / "configuration.yaml").write_text("papers: [topk, cone]\n")
    results = ResultsFolder(tmp_path)
    named = ["describe_data", "summarise_results", "topk_regret", "topk_regret_slice", "train_fold", "train_model"]
    assert [job.rule for job in results.costs] == [f"cone_{cells[0].name}", *named]
    assert [entry["dataset"] for entry in results.datasets()] == ["a"]


def test_a_study_other_than_the_default_has_its_configuration(tmp_path: Path) -> None:
    shipped = Rerun(study(tmp_path, "letor-real", ("study",)), []).whole
    assert shipped.command == "snakemake --cores 4 --configfile workflow/studies/letor-real.yaml"
    own = Rerun(study(tmp_path, "mine", ("study", "seed")), [])
    assert own.whole.command.endswith(" --configfile results/mine/configuration.yaml")
    assert "4 jobs" in own.whole.says


def test_the_code_of_every_step_is_where_it_is_said_to_be(tmp_path: Path) -> None:
    rerun = Rerun(study(tmp_path), papers.names())
    for paper, _, step in papers.steps(papers.names()):
        for table in step.shown:
            rule = rerun.rules(f"{table}.parquet")[-1]
            file, _, line = rule.code.partition(":")
            assert rule.name == f"{paper}_{step.name}"
            text = (ROOT / file).read_text(encoding="utf-8").splitlines()
            assert f"def {step.run.__name__}(" in "".join(text[int(line) - 1 : int(line) + 2])


def test_a_study_without_records_of_its_jobs_says_nothing_of_time(tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    found = Rerun(ResultsFolder(tmp_path / "bare"), []).of(["tables/summary.parquet"])
    assert found.says == "summarise_results"
