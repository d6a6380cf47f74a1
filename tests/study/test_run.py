"""What a run says at its end."""

import logging
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline_lib.study import run, snakemake_internals


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
