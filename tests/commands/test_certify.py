"""Does `certify` print and write what the function finds?"""

import json
from pathlib import Path

import numpy as np
import pytest

from pipeline_lib import cli, evaluation
from tests.html_page import Page


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs of 40 queries, and qrels."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, (40, 8))
    lines = (f"q{q} 0 d{k} {label}\n" for q, of in enumerate(labels) for k, label in enumerate(of))
    Path("some.qrels").write_text("".join(lines))
    for name, noise in (("one", 0.4), ("a<b", 4.0)):
        scores = labels + noise * rng.normal(size=labels.shape)
        lines = (f"q{q} Q0 d{k} 0 {score} x\n" for q, of in enumerate(scores) for k, score in enumerate(of))
        Path(f"{name}.run").write_text("".join(lines))
    return tmp_path


def certified(*words: str) -> int:
    return cli.main(["certify", "one.run", "--qrels", "some.qrels", *words])


def test_the_command_prints_what_the_function_finds(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [files / name for name in ("one.run", "a<b.run")]
    expected = evaluation.certify(
        runs, files / "some.qrels", "AP(rel=2)", baseline="a<b", chosen_from=4, level=0.9, seed=3
    )
    words = ("--measure", "AP(rel=2)", "--baseline", "a<b.run", "--chosen-from", "4", "--level", ".9", "--seed", "3")
    assert certified(*words) == 0
    assert capsys.readouterr().out == f"{expected}\n"
    assert certified(*words, "--json") == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(expected.to_dict()))


@pytest.mark.parametrize("words", [(), ("--baseline", "a<b.run")])
def test_the_page_is_one_file_with_every_number(
    files: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert certified(*words, "--html", "page.html", "--json") == 0
    run = json.loads(capsys.readouterr().out)["runs"][0]
    text = (files / "page.html").read_text()
    page = Page(text)
    assert page.open == []
    assert page.loaded == ["data:,"]
    for name in ("mean", "lower", "low", "high", "hoeffding", "bootstrap"):
        assert f"{abs(run[name]):.4f}" in text
    assert text.count("<svg ") == 1
    assert ("a&lt;b" in text) == bool(words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--baseline", "none.run"), "none.run"),
        (("--measure", "Bpref"), "unknown measure 'Bpref'"),
        (("--html", "some.qrels", "--force"), "some.qrels"),
        (("--level", "2"), "level"),
        (("--chosen-from", "0"), "chosen_from"),
        (("--baseline", "one.run"), "baseline"),
    ],
)
def test_what_is_wrong_is_one_line(
    files: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    before = (files / "some.qrels").read_bytes()
    assert certified(*words) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert (files / "some.qrels").read_bytes() == before
