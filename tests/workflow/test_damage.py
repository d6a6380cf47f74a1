"""Raw text that was touched or changed, and stored files that were damaged, in a finished small study."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from .conftest import Project, announced

pytestmark = pytest.mark.workflow

TEXT = "data/raw/letor-sim/S1.txt"


def changed_digit(path: Path) -> None:
    """Change one digit of one value; the size stays."""
    text = bytearray(path.read_bytes())
    place = text.index(b" 1:") + len(" 1:0.")
    text[place] = ord("1") if text[place] != ord("1") else ord("2")
    path.write_bytes(text)


def flipped_bit(path: Path) -> None:
    """Flip the lowest bit of the byte in the middle."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_touched_text_is_checked_once_and_nothing_else_runs(finished_copy: Project) -> None:
    before = finished_copy.tables()
    os.utime(finished_copy.folder / TEXT, (1e9, 1e9))  # as a clock that was set back would have it
    assert announced(finished_copy.snakemake()) == {"check_raw": 1}
    assert finished_copy.planned() == {}
    assert finished_copy.tables() == before


def test_changed_text_is_an_error_until_it_is_restored(finished_copy: Project) -> None:
    path = finished_copy.folder / TEXT
    text, before = path.read_bytes(), finished_copy.tables()
    changed_digit(path)
    digests = [hashlib.sha256(content).hexdigest() for content in (text, path.read_bytes())]
    for _ in range(2):
        output = finished_copy.snakemake(check=False)
        assert announced(output) == {"check_raw": 1}
        assert all(word in output for word in (f"error: {TEXT}", *digests))
    path.write_bytes(text)
    finished_copy.snakemake()
    assert finished_copy.planned() == {}
    assert finished_copy.tables() == before


def test_a_conversion_compares_the_text_it_reads(finished_copy: Project) -> None:
    path = finished_copy.folder / TEXT
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    changed_digit(path)
    os.utime(path, ns=times)  # nothing shows from outside
    assert finished_copy.planned() == {}
    output = finished_copy.snakemake("-R", "convert_data", check=False)
    assert f"error: {TEXT}" in output
    assert not (finished_copy.folder / "data/parquet/letor-sim/documents.parquet").exists()
    # As the message advises for text that is made here.
    (finished_copy.folder / "data/raw/letor-sim/manifest.json").unlink()
    finished_copy.snakemake("data/parquet/letor-sim/folds.parquet")
    assert hashlib.sha256(path.read_bytes()).hexdigest() in output


def test_damaged_models_are_named_and_made_again(finished_copy: Project) -> None:
    before = finished_copy.tables()
    models = [f"results/small/models/letor-sim/{name}.json" for name in ("random/fold-1", "listnet/fold-2")]
    flipped_bit(finished_copy.folder / models[0])
    os.truncate(finished_copy.folder / models[1], 100)
    output = finished_copy.snakemake("-R", "evaluate_model", check=False)
    for model in models:
        assert f"error: {model}: damaged" in output
        assert (finished_copy.folder / f"{model}.damaged").exists()
    assert announced(finished_copy.snakemake())["train_model"] == 2
    assert finished_copy.planned() == {}
    assert finished_copy.tables() == before


@pytest.mark.slow
def test_a_damaged_table_of_documents_is_named_and_made_again(finished_copy: Project) -> None:
    before = finished_copy.tables()
    documents = "data/parquet/letor-sim/documents.parquet"
    os.truncate(finished_copy.folder / documents, (finished_copy.folder / documents).stat().st_size - 100)
    output = finished_copy.snakemake("-R", "describe_data", check=False)
    assert f"error: {documents}: damaged" in output
    finished_copy.snakemake()
    assert finished_copy.planned() == {}
    assert finished_copy.tables() == before
