"""claims.json holds everything that the page shows of the claims, and the page judges nothing by itself."""

import json
import math
from pathlib import Path

import pytest
from made_study import make, report

from pipeline_lib.claims import judged
from pipeline_lib.claims.severity import Curve, Line, Plant, Severity
from pipeline_lib.core import storage
from pipeline_lib.core.errors import DataError
from pipeline_lib.report import figures, site
from pipeline_lib.statistics import Interval
from pipeline_lib.study import import_closure

ROOT = Path(__file__).parents[2]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    trial = judged.JudgedTrial({"k": 3}, {"gap": Interval(0.5, 0.25, 1.0), "n": 7}, "tables/a.parquet", "verified")
    few = judged.JudgedTrial({"k": 4}, {"gap": Interval(0.5, 0.25, 1.0, freedom=4)}, "tables/a.parquet", "verified")
    line = Line(1, (0.5,), (0.25,), None)
    curve = Curve("gap ≤ 1", "% of the limit", 2, 0, 5.0, line, line, math.inf)
    plants = (Plant("half", "Half of it.", True),)
    severity = Severity(1, 1, math.inf, {"slope": (0.5, 0.75)}, {"gap": 0.25}, plants, (curve,))
    about = ("a-thm1", "a", "theorem", "p. 1", "Says.", "Words.", "Shows.", "Rule.", "verified", "So.")
    claim = judged.JudgedClaim(*about, severity, (trial.table,), "", (trial, few))
    study = judged.JudgedStudy("made", (claim,), {"a": judged.JudgedPaper("A title", "An author")})
    judged.write(tmp_path / "claims.json", study)
    assert judged.read(tmp_path / "claims.json") == study
    assert study.counts()["a"]["verified"] == study.counts()["all"]["verified"] == 1


@pytest.mark.parametrize("spoil", [lambda text: text[:-9], lambda text: text.replace('"status"', '"state"', 1)])
def test_a_spoilt_file_is_named(tmp_path: Path, spoil: object) -> None:
    trial = judged.JudgedTrial({}, {"n": 7}, "tables/a.parquet", "verified")
    claim = judged.JudgedClaim(
        "a-1", "a", "lemma", "p. 1", "", "", "", "", "verified", "", None, (trial.table,), "", (trial,)
    )
    path = tmp_path / "claims.json"
    judged.write(path, judged.JudgedStudy("made", (claim,), {"a": judged.JudgedPaper("A title", "An author")}))
    path.write_text(spoil(path.read_text()))  # type: ignore[operator]
    with pytest.raises(DataError, match=r"claims\.json"):
        judged.read(path)


def test_the_page_shows_the_stored_judgement_without_the_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "save", lambda figure, folder: "")  # drawing takes most of the time
    results, folder = make(tmp_path / "results"), tmp_path / "report"
    report(results, folder)
    document = json.loads((folder / "claims.json").read_text())
    changed = next(entry for entry in document["claims"] if entry["status"] == "verified")
    changed.update(status="deviates", explanation="It was 7777 where 8888 was claimed.")
    storage.write_text(folder / "claims.json", json.dumps(document))
    (results / "tables" / "slam-checks.parquet").unlink()
    site.render(results, folder, claims=folder / "claims.json", papers=list(document["papers"]))
    article = (
        (folder / "report.html").read_text().partition(f'id="claim-{changed["id"]}"')[2].partition("</article>")[0]
    )
    assert 'class="badge deviates"' in article
    assert "It was 7777 where 8888 was claimed." in article


def test_the_command_that_renders_does_not_depend_on_how_claims_are_judged() -> None:
    read = import_closure.closure(["pipeline_lib.commands.render_report"])
    assert not {"pipeline_lib.claims.kinds", "pipeline_lib.claims.ledger"} & read
