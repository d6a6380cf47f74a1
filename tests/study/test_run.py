"""What a run says at its end."""

import logging
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from pipeline_lib.recompute import whole
from pipeline_lib.recompute.comparison import Comparison
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.study import recorded, run, run_crate, snakemake_internals


@pytest.mark.parametrize(
    ("targets", "said"),
    [
        (["slam"], ["The tables of slam are in results/mine/tables; ", "`papers: [slam]`"]),
        (["topk", "cone"], ["The tables of cone, topk are in results/mine/tables; ", "`papers: [cone, topk]`"]),
        (["download"], []),
    ],
)
def test_a_run_for_a_paper_ends_with_where_its_tables_are_and_how_to_get_its_report(
    targets: list[str], said: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sys, "argv", ["snakemake", "--cores", "1", *targets])
    monkeypatch.setattr(snakemake_internals, "finished_jobs", lambda workflow: [])
    nothing: Any = None
    study: Any = SimpleNamespace(name="mine")
    with caplog.at_level(logging.INFO, "snakemake.logging"):
        run.conclude(nothing, nothing, study, nothing, "")
    assert len(caplog.messages) == bool(said)
    assert all(part in caplog.text for part in said)


def test_a_run_ends_with_what_was_recomputed_and_names_what_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    found = Comparison()
    found.cell("topk-exponents", "player = idle", "slope", 0.75, 0.5)
    asked: list[tuple[Path, Path]] = []

    def recomputed(results: Path, report: Path) -> Comparison:
        asked.append((results, report))
        return found

    monkeypatch.setattr(whole, "recomputed", recomputed)
    conclude(tmp_path, monkeypatch, caplog)
    assert asked == [(Path("results/mine"), Path("reports/mine"))]
    warned = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warned) == 1
    assert warned[0].startswith("topk-exponents, slope")
    assert "1 differ" in caplog.text


@pytest.mark.parametrize("error", [KeyError("runs"), pl.exceptions.ColumnNotFoundError("runs"), ValueError("runs")])
def test_a_run_over_the_tables_of_another_version_ends_with_one_line(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def recomputed(*_: Path) -> Comparison:
        raise error

    monkeypatch.setattr(whole, "recomputed", recomputed)
    conclude(tmp_path, monkeypatch, caplog)
    (warned,) = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert "results/mine: expected the tables of this version" in warned
    assert caplog.messages[-1] == "The report is in reports/mine/index.html"


def conclude(folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """The end of a run that made the report of a study, without data sets or a record."""
    monkeypatch.chdir(folder)
    (folder / "reports/mine").mkdir(parents=True)
    (folder / "reports/mine/claims.json").write_text("{}")
    monkeypatch.setattr(
        snakemake_internals, "finished_jobs", lambda _: [SimpleNamespace(outputs=["reports/mine/index.html"])]
    )
    monkeypatch.setattr(run_crate, "write", lambda *_: None)
    monkeypatch.setattr(recorded, "path_of", lambda _: folder / "none.json")
    monkeypatch.setattr(ResultsFolder, "at", lambda _: SimpleNamespace(listed=lambda _: []))
    nothing: Any = SimpleNamespace(present=[])
    study: Any = SimpleNamespace(name="mine")
    with caplog.at_level(logging.INFO, "snakemake.logging"):
        run.conclude(nothing, folder, study, nothing, "")
