"""Does the command doctor look at files and at entries of a study, and end as it is asked to?"""

import json

import numpy as np
import pytest

from pipeline_lib import RankingData
from pipeline_lib.cli import main
from pipeline_lib.evaluation import doctor
from tests.html_page import Page


@pytest.fixture
def clicks(tmp_path, monkeypatch):
    """A table whose feature is the label."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [(f"s{q}", round(float(rng.normal()), 3), y, y) for q in range(30) for y in rng.permutation([0, 0, 1, 2, 2])]
    lines = ["session,age,seen,clicked", *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "clicks.csv").write_text("\n".join(lines) + "\n")
    entry = "{{name: {}, files: [clicks.csv], label: clicked, query: session, ignore: [{}]}}"
    entries = [entry.format("clicks", "age"), entry.format("other", "seen"), "MQ2008"]
    (tmp_path / "my.yaml").write_text("\n".join(["study: my", "datasets:", *(f"  - {one}" for one in entries)]))
    return tmp_path / "clicks.csv"


OPTIONS = ["--label", "clicked", "--query", "session"]


def test_findings_are_printed_and_strict_ends_with_status_1(clicks, capsys) -> None:
    assert main(["doctor", "clicks.csv", *OPTIONS]) == 0
    printed = capsys.readouterr().out
    assert printed == f"{doctor('clicks.csv', label='clicked', query='session')}\n"
    assert "`ignore: [seen]`" in printed
    assert main(["doctor", "clicks.csv", *OPTIONS, "--strict"]) == 1
    assert main(["doctor", "clicks.csv", *OPTIONS, "--ignore", "seen", "--strict"]) == 0
    assert "nothing found" in capsys.readouterr().out


def test_an_entry_of_a_study_is_looked_at_as_it_stands(clicks, capsys) -> None:
    for name, found in (("clicks", ["label among the features"]), ("other", [])):
        assert main(["doctor", name, "--configfile", "my.yaml", "--json"]) == 0
        assert [one["check"] for one in json.loads(capsys.readouterr().out)["found"]] == found
    for name, said in (("clikcs", "did you mean 'clicks'"), ("MQ2008", "data/parquet/MQ2008")):
        assert main(["doctor", name, "--configfile", "my.yaml"]) == 1
        assert said in capsys.readouterr().err
    stored = clicks.parent / "data/parquet/MQ2008/documents.parquet"
    stored.parent.mkdir(parents=True)
    RankingData.from_arrays([[0.5], [1.0]] * 3, [0, 1] * 3, np.repeat(range(3), 2)).write_parquet(stored)
    assert main(["doctor", "MQ2008", "--configfile", "my.yaml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["queries"] == 3


def test_categories_and_missing_values_are_options_as_in_an_entry(clicks, capsys) -> None:
    lines = clicks.read_text(encoding="utf-8").splitlines()
    brands = ["brand", *("acme" if k % 3 else "zeta" for k in range(len(lines) - 1))]
    lines[1] = lines[1].replace(lines[1].split(",")[1], "")
    clicks.write_text("\n".join(f"{line},{brand}" for line, brand in zip(lines, brands, strict=True)) + "\n")
    assert main(["doctor", "clicks.csv", *OPTIONS, "--one-hot", "brand", "--missing", "mean", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["features"] == 4
    entry = {"files": "clicks.csv", "label": "clicked", "query": "session", "one_hot": ["brand"], "missing": "mean"}
    assert printed == json.loads(json.dumps(doctor(entry).to_dict()))


@pytest.mark.parametrize("options", [[], ["--ignore", "seen"]], ids=["findings", "none"])
def test_the_page_holds_the_findings_and_loads_nothing(clicks, capsys, options) -> None:
    assert main(["doctor", "clicks.csv", *OPTIONS, *options, "--html", "page.html"]) == 0
    text = (clicks.parent / "page.html").read_text(encoding="utf-8")
    page = Page(text)
    assert not page.open
    assert [one for one in page.loaded if not one.startswith("data:")] == []
    assert ("seen is a monotone function of the label" in text) == (not options)
    assert main(["doctor", "clicks.csv", *OPTIONS, "--html", "clicks.csv"]) == 1
    assert "session,age" in clicks.read_text()


def test_a_file_that_breaks_its_format_is_named_with_its_line(tmp_path, capsys) -> None:
    path = tmp_path / "some.txt"
    path.write_text("1 qid:1 1:0.5\n0 qid:1 1:x\n")
    assert main(["doctor", str(path)]) == 1
    assert f"{path}:2" in capsys.readouterr().err
