"""Readers of files against slow, plain ones on damaged input (``tests/fuzz``), and what that found."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline_lib import RankingData
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.sources import catalog, letor, tables
from pipeline_lib.study import configuration

from . import letor_text
from .__main__ import TARGETS, findings
from .configurations import FOLDS
from .own_files import stored

ROOT = Path(__file__).parents[2]


def found(inputs: int, seed: int, first: int) -> list[str]:
    """The findings of a process of its own, which limits its memory; every target must have met valid inputs."""
    command = [sys.executable, "-m", "tests.fuzz", *f"--inputs {inputs} --seed {seed} --first {first}".split()]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=7_200, check=False)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert run.stderr.startswith(f"{inputs} inputs, "), run.stderr[-2000:]
    assert set(lines[-1]["counts"]) == {f"{name}, {word}" for name in TARGETS for word in ("valid", "refused")}
    return [str(line) for line in lines[:-1]]


@pytest.mark.parametrize(
    ("inputs", "seed", "first"),
    # A million in four parts, so that no worker is left with all of them when the others have nothing to do.
    [(1_000, 0, 0), *(pytest.param(250_000, 1, 250_000 * part, marks=pytest.mark.slow) for part in range(4))],
)
def test_damaged_files_are_read_as_by_the_plain_readers(inputs: int, seed: int, first: int) -> None:
    wrong = found(inputs, seed, first)
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize("change", ["value", "error", "place", "leniency"])
def test_a_reader_that_errs_is_found(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read = letor.read

    def wrong(path: Path, **options: Any) -> RankingData:
        try:
            data = read(path, **options)
        except DataError as error:
            if change == "place":
                raise DataError(str(error).replace(":2: ", ":3: ")) from error
            if change == "leniency":
                return RankingData.from_arrays([[0.0]], [0], [1])
            raise
        if change == "error":
            raise KeyError(path)
        return RankingData(data.X, data.y + (change == "value"), data.offsets, data.qids)

    monkeypatch.setattr(letor_text.letor, "read", wrong)
    for name in ("PIECE", "rows_per_group"):  # targets change them
        monkeypatch.setattr(letor_text.letor_reader, name, getattr(letor_text.letor_reader, name))
    lines = list(findings(60, seed=0, only="letor"))
    assert any("found" in line for line in lines)


# --- What was found -----------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path: Path) -> Callable[[bytes], Any]:
    def read(content: bytes, **options: Any) -> Any:
        path = tmp_path / "my.csv"
        path.write_bytes(content)
        return stored([path], tables.Options(**options))

    return read


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("qid,label,café\n1,2,3\n".encode("latin-1"), ": expected the names of columns in UTF-8"),
        ("qid,label,a\n1,2,3\n".encode("utf-16"), ":1: expected text in UTF-8, found UTF-16"),
        # A quote that is never closed swallows no documents.
        (b'qid,label,a,url\n1,0,1,"x,y"\n1,2,3,"x\n1,1,2,y\n1,0,1,z\n', ":3: expected a second quote"),
        (b'qid,label,a,url\n1,0,1,"x\ny"\n1,2,3,"x"\n', ":2: expected a second quote"),
        (b'qid,label,"a\n1,2,3\n', ":1: expected a second quote"),
        # As pandas writes a table with its index.
        (b",qid,label,a\n0,1,2,3\n", ": expected a name for every column, found none for column 1"),
        (b"qid,label,a\nx,2,3\n,1,2\n", ":3: expected a query in the column 'qid', found none"),
    ],
)
def test_tables_that_were_accepted_or_crashed(table: Callable[..., Any], content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=rf"my\.csv{message}"):
        table(content, ignore=("url",) if b"url" in content else ())


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_lines_are_counted_whatever_ends_them(table: Callable[..., Any], line_end: bytes) -> None:
    lines = [b"qid,label,a,url", b'1,2,3,"one,""two"', b"", b'1,1,2,a"b', b"1,1,x,y", b""]
    with pytest.raises(DataError, match=r"my\.csv:5: expected a number in the column 'a', found 'x'"):
        table(line_end.join(lines), ignore=("url",))


def test_rows_may_be_longer_than_a_piece(table: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_PIECE", 64)
    *_, [(_, _, X, *_)] = table(f"qid,label,a\n1,2,0.{'0' * 150}1e151\n1,0,2\n".encode())
    assert np.array(X, np.uint32).view(np.float32).tolist() == [[1.0], [2.0]]


def test_labels_below_0_are_refused_rounded_or_not(table: Callable[..., Any], tmp_path: Path) -> None:
    for rounded in (True, False):
        with pytest.raises(DataError, match=r"my\.csv:2: .*found -0\.4"):
            table(b"qid,label,a\n1,-0.4,3\n", labels="rounded" if rounded else "whole")
    (tmp_path / "my.txt").write_text("-0.4 qid:1 1:3\n")
    with pytest.raises(DataError, match=r"my\.txt:1: "):
        letor.read(tmp_path / "my.txt", labels="rounded")


def test_an_infinite_label_is_refused_without_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "my.txt"
    path.write_text("1e309 qid:1 1:3\n")
    with pytest.raises(DataError, match=r"my\.txt:1: expected a number in 0\.\.255 as the label, found '1e309'"):
        letor.read(path, labels="rounded")


def test_the_digest_counts_group_sizes_that_are_not_needed(tmp_path: Path) -> None:
    (tmp_path / "my.txt").write_text("1 qid:1 1:3\n")
    (tmp_path / "my.txt.query").write_text("1\n")
    stored([tmp_path / "my.txt"], tables.Options())  # compares the digest


REFUSED: list[tuple[dict[str, Any], str]] = [
    (
        {"models": [{"name": "m", "algorithm": "erm", "surrogate": "kl", "l2": {"letor-sim": [1.0, "x", 1, 1, -1.0]}}]},
        r"l2\.letor-sim\[1\]: expected a valid number.*\n.*l2\.letor-sim\[4\]",
    ),
    (
        {"datasets": [{"name": "mine", "files": ["FILE"], "folds": 2**31}]},
        "folds: expected a number less than or equal to 1000",
    ),
    ({"datasets": [{"name": "mine", "files": ["x" * 5000]}]}, "which cannot be looked up"),
    ({"datasets": [{"name": "mine", "files": ["~nobody-has-this-name/x"]}]}, "expected a file, found no"),
    ({"perceptron": {"average": 1}}, "perceptron.average: expected true or false, found 1"),
    ({"title": "\ud800"}, "title: expected text"),
    (
        {"models": [{"name": "m", "algorithm": "perceptron", "features": {"surrogate": "kl", "options": 5}}]},
        "options: expected a mapping",
    ),
]


@pytest.mark.parametrize(("config", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_configurations_that_were_accepted_or_crashed(config: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "my.txt").write_text("1 qid:1 1:1\n")
    for entry in config.get("datasets", ()):
        entry["files"] = [str(tmp_path / "my.txt") if name == "FILE" else name for name in entry["files"]]
    with pytest.raises(ConfigurationError, match=message):
        configuration.check(config, FOLDS)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("folds:", "max_label: 2024-13-45\n    folds:"),  # YAML takes it for a date, of which there is none
        ("S1: {}", "1: {}"),
        ("title:", "title: " + "[" * 5000 + "\n    other:"),
        ("source: generated", "source: generated\n    archives: [{name: x, bytes: 9223372036854775808}]"),
    ],
)
def test_catalogues_that_crashed_name_the_file(old: str, new: str, tmp_path: Path) -> None:
    path = tmp_path / "catalog.yaml"
    text = catalog.CATALOG.read_text(encoding="utf-8")
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigurationError) as raised:
        catalog.load(path)
    assert str(raised.value).startswith(f"{path}")
