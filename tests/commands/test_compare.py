"""Does `compare` print and write what the function finds?"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from pipeline_lib import cli, evaluation
from tests.html_page import Page

QUERIES = 30


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three runs, of which the second and third find more, and qrels."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, (QUERIES, 10))
    lines = (f"q{q} 0 d{k} {label}\n" for q, of in enumerate(labels) for k, label in enumerate(of))
    Path("some.qrels").write_text("".join(lines))
    for name, noise in (("one", 4.0), ("a<b", 0.6), ("three", 0.5)):
        scores = labels + noise * rng.normal(size=labels.shape)
        lines = (f"q{q} Q0 d{k} 0 {score} x\n" for q, of in enumerate(scores) for k, score in enumerate(of))
        Path(f"{name}.run").write_text("".join(lines))
    return tmp_path


def compared(*words: str) -> int:
    return cli.main(["compare", "one.run", "a<b.run", "three.run", "--qrels", "some.qrels", *words])


def test_the_command_prints_what_the_function_finds(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [files / name for name in ("one.run", "a<b.run", "three.run")]
    expected = evaluation.compare(
        runs, files / "some.qrels", "AP(rel=2)", baseline="one", correction="false-discovery", seed=3
    )
    words = ("--measure", "AP(rel=2)", "--baseline", "one.run", "--false-discovery-rate", "--seed", "3")
    assert compared(*words) == 0
    assert capsys.readouterr().out == f"{expected}\n"
    assert compared(*words, "--json") == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(expected.to_dict()))
    assert expected.names == [("a<b", "one"), ("three", "one")]


def test_the_page_is_one_file_with_every_number(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compared("--html", "page.html") == 0
    text = (files / "page.html").read_text()
    page = Page(text)
    assert page.open == []
    assert page.loaded == ["data:,"]
    assert page.links.count("#table-runs") == 1
    assert all(link.startswith("#") for link in page.links)
    assert len(page.ids) == len(set(page.ids))
    assert page.headers_without_scope == 0
    assert len(re.findall("<svg ", text)) == 2
    found = evaluation.compare([files / f"{name}.run" for name in ("one", "a<b", "three")], files / "some.qrels")
    shown = re.sub("<svg .*?</svg>", "", text, flags=re.DOTALL)
    for number in (*found.mean, *np.abs(found.difference), *found.detectable):
        assert f"{number:.4f}" in shown
    assert "a&lt;b" in shown
    first = text
    assert compared("--html", "page.html") == 1  # is there already
    assert compared("--html", "page.html", "--force") == 0
    assert (files / "page.html").read_text() == first


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--baseline", "on"), "did you mean 'one'"),
        (("--no-relevant", "none"), "--no-relevant: expected a number"),
        (("--measure", "Bpref"), "unknown measure 'Bpref'"),
        (("--measure", "AP(rel=2", "--json"), "unknown measure"),
        (("--html", "some.qrels", "--force"), "some.qrels"),
        (("--level", "2"), "level"),
    ],
)
def test_what_is_wrong_is_one_line(
    files: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    before = (files / "some.qrels").read_bytes()
    assert compared(*words) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert (files / "some.qrels").read_bytes() == before


def test_the_example_has_runs_by_its_columns(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["example-data", "--output", "books.csv", "--searches", "5"]
    assert cli.main([*words, "--qrels", "books.qrels", "--runs", "loans.run", "age.run"]) == 0
    books = [line.split(",") for line in Path("books.csv").read_text().splitlines()[1:]]
    judged = [line.split() for line in Path("books.qrels").read_text().splitlines()]
    assert [(query, label) for query, _, _, label in judged] == [(book[0], book[-1]) for book in books]
    lines = [line.split() for line in Path("loans.run").read_text().splitlines()]
    loans = {name: book[3] for (_, _, name, _), book in zip(judged, books, strict=True)}
    assert {name: score for _, _, name, _, score, _ in lines} == loans
    assert len(lines) == len(books)
    assert cli.main([*words, "--force", "--runs", "lones.run"]) == 1
    assert "did you mean 'loans'" in capsys.readouterr().err
