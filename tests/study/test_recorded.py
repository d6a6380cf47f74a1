"""Does the record of a study say when later results differ from it, and are the records that are kept whole?"""

import json
from pathlib import Path

import polars as pl
import pytest

from pipeline_lib import cli, papers
from pipeline_lib.core import processor, storage
from pipeline_lib.core.errors import DamagedFileError
from pipeline_lib.study import provenance, recorded
from tests import readings
from tests.report import made_study

KEPT = recorded.names()


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    results = made_study.make(tmp_path / "results")
    storage.write_json(results / "provenance.json", provenance.collect())
    made_study.claims_of(results, tmp_path / "reports" / results.name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(recorded, "FOLDER", tmp_path / "recorded")
    assert cli.main(["record-results", results.name]) == 0
    return results.name


def compared(study: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit, match="1"):
        cli.main(["compare-studies", study])
    return capsys.readouterr().out


def test_the_same_results_do_not_differ(study: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert cli.main(["compare-studies", study]) == 0
    [line] = capsys.readouterr().out.splitlines()
    assert "every claim has the recorded status" in line
    record = recorded.read(study)
    assert f"{len(record.tables)} of {len(record.tables)} tables" in line
    assert any(claim.ranges for claim in record.claims.values())


def test_a_processor_without_the_instructions_of_the_record_is_named(study: str) -> None:
    found = recorded.made(study)
    record = found.model_copy(update={"made_with": found.made_with | {"instructions": processor.LEVEL}})
    other = found.model_copy(update={"made_with": found.made_with | {"instructions": "those of the processor"}})
    assert processor.LEVEL not in recorded.summary(record, record)
    assert processor.LEVEL in recorded.summary(record, other)


def test_what_differs_is_named_with_the_numbers(study: str, capsys: pytest.CaptureFixture[str]) -> None:
    claims = Path("reports", study, "claims.json")
    document = json.loads(claims.read_text())
    verified = next(claim for claim in document["claims"] if claim["status"] == "verified")
    verified["status"] = "refuted"
    read = {name for name, claim in recorded.read(study).claims.items() if claim.ranges}
    other = next(claim for claim in document["claims"] if claim["id"] in read and claim is not verified)
    name = next(iter(recorded.read(study).claims[other["id"]].ranges))
    for trial in other["trials"]:
        trial["values"][name] = 12.5
    storage.write_text(claims, json.dumps(document))
    table = Path("results", study, "tables/summary.parquet")
    storage.write_table(table, pl.read_parquet(table)[1:])
    printed = compared(study, capsys)
    assert f"claim {verified['id']}: verified in the record, refuted here" in printed
    assert f"claim {other['id']}: {other['status']} as in the record, with other numbers: {name} " in printed
    assert "here 12.5" in printed
    assert "tables/summary.parquet: other bytes than in the record" in printed
    assert f"other statuses for {verified['id']}" in printed


def test_another_configuration_is_not_compared(study: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("results", study, "configuration.yaml").write_text("seed: 2\n")
    assert "Not compared" in compared(study, capsys)


def test_a_record_that_was_edited_is_refused(study: str) -> None:
    path = recorded.path_of(study)
    path.write_text(path.read_text().replace('"verified"', '"proved"', 1))
    with pytest.raises(DamagedFileError):
        recorded.read(study)


NEWER = {
    *(
        "topk-label-auc",
        "twolayer-budget-nearly-least",
        "topk-variance-losses",
        "topk-variance",
        "slam-normalisation",
        "lists-listnet-l2",
    ),
    *(
        "lists-smoothdcg-l2",
        "twolayer-both",
        "twolayer-budget-corrected",
        "lists-listnet-logarithm",
        "cone-descent",
        "cone-size",
        "cone-size-corrected",
    ),
}
"""Claims that came, or were stated anew, after all records but that of the default study: the studies take hours."""


@pytest.mark.parametrize("name", KEPT)
def test_kept_records_are_of_whole_studies(name: str) -> None:
    record = recorded.read(name)
    assert record.study == name
    assert "changes" not in record.made_with["code"]
    assert record.tables
    known = {claim.id: {*claim.names} for claim in readings.ledger_of_claims()}
    assert {*record.claims} <= {*known}
    newer = NEWER if name != "default" else set()
    assert {*known} - {*record.claims} <= readings.added_claims() | newer
    # What a record has is a part of the project, and tests are not lenient with it; promises have no certificates.
    promised = {claim.id for claim in readings.ledger_of_claims() if claim.paper in papers.ours()}
    assert not {*record.claims} & readings.added_claims() - promised
    assert all({*claim.ranges} <= known[one] for one, claim in record.claims.items())
