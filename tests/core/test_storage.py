"""Stored files: equal content gives equal bytes, and no flipped bit or lost tail goes unnoticed."""

import errno
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from pipeline_lib import cli
from pipeline_lib.core import origins, storage
from pipeline_lib.core.errors import DamagedFileError, DataError, OldFileError
from pipeline_lib.data import stored_data
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.sources import catalog, folds
from tests.samples import same, unrelated
from tests.sources.test_folds import stored

FLIPS = 400
TABLE = pl.DataFrame({"k": [1, 2, None], "x": [0.5, -1e300, 0.0], "name": ["a", "b", "é"]})


def model(folder: Path) -> tuple[Path, Callable[[Path], Any]]:
    storage.write_json(folder / "model.json", {"trained": {"w": [0.1, 2.0]}, "fold": 1, "name": "Größe"})
    return folder / "model.json", storage.read_json


def table(folder: Path) -> tuple[Path, Callable[[Path], Any]]:
    storage.write_table(folder / "table.parquet", TABLE)
    return folder / "table.parquet", lambda path: storage.read_table(path).rows()


def documents(folder: Path) -> tuple[Path, Callable[[Path], Any]]:
    unrelated(20, 3, 4).write_parquet(folder / "documents.parquet")

    def read(path: Path) -> Any:
        data = RankingData.read_parquet(path, stored=True)
        return [getattr(data, name).tolist() for name in ("X", "y", "offsets", "qids")]

    return folder / "documents.parquet", read


def fold_table(folder: Path) -> tuple[Path, Callable[[Path], Any]]:
    layout = catalog.get("letor-sim")
    stored(folder / "documents.parquet", dict.fromkeys(layout.parts, 2))
    folds.write_folds(layout, folder / "documents.parquet", folder / "folds.parquet")
    return folder / "folds.parquet", lambda path: folds.queries(path, 2, "test").tolist()


KINDS = [model, table, documents, fold_table]


@pytest.mark.parametrize("kind", KINDS)
def test_every_flipped_bit_is_noticed(kind: Any, tmp_path: Path) -> None:
    path, read = kind(tmp_path)
    content, expected = path.read_bytes(), read(path)
    rng = np.random.default_rng(11)
    places = rng.integers(0, 8 * len(content), FLIPS)
    if path.suffix == ".parquet":  # what the file says of itself stands at its end
        places[::2] = rng.integers(8 * (len(content) - 600), 8 * len(content), len(places[::2]))
    for place in places:
        damaged = bytearray(content)
        damaged[place // 8] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        with pytest.raises(DamagedFileError, match=path.name):
            read(path)
    path.write_bytes(content)
    assert read(path) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_every_lost_tail_is_noticed(kind: Any, tmp_path: Path) -> None:
    path, read = kind(tmp_path)
    content = path.read_bytes()
    for length in {0, 1, 3, 8, 12, *range(0, len(content), 97), *range(len(content) - 20, len(content))}:
        path.write_bytes(content[:length])
        with pytest.raises(DamagedFileError, match=path.name):
            read(path)
    path.write_bytes(content + b"\n")
    with pytest.raises(DamagedFileError, match=path.name):
        read(path)


@pytest.mark.parametrize("kind", KINDS)
def test_equal_content_gives_equal_bytes(kind: Any, tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    assert kind(tmp_path)[0].read_bytes() == kind(tmp_path / "again")[0].read_bytes()


def test_a_large_file_is_checked_in_bounded_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = unrelated(20, 3, 4)
    path = tmp_path / "documents.parquet"
    for block in (64, 1000, storage.BLOCK):
        monkeypatch.setattr(storage, "BLOCK", block)
        data.write_parquet(path)
        assert same(RankingData.read_parquet(path, stored=True), data)
        assert stored_data.query_index(path)[1].tolist() == data.qids.tolist()
        assert stored_data.read_parts(path)[0]["rows"] == data.n_documents


def test_files_of_other_programs_are_read_where_no_checksum_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "documents.parquet"
    unrelated(20, 3, 4).write_parquet(path)
    pq.write_table(pq.read_table(path).replace_schema_metadata(None), path)
    assert same(RankingData.read_parquet(path), unrelated(20, 3, 4))
    for read in (lambda: RankingData.read_parquet(path, stored=True), lambda: storage.read_table(path)):
        with pytest.raises(DamagedFileError, match=r"documents\.parquet"):
            read()


def test_an_absent_file_is_not_called_damaged(tmp_path: Path) -> None:
    for read in (storage.read_json, storage.read_table, RankingData.read_parquet):
        with pytest.raises(DataError, match="absent") as caught:
            read(tmp_path / "absent")
        assert not isinstance(caught.value, DamagedFileError)


def damaged_model(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path, _ = model(folder)
    path.write_bytes(path.read_bytes().replace(b"2.0", b"3.0"))
    return path


def judge(availability: Path) -> int:
    return cli.main(["judge-claims", "--study", "s", "--availability", str(availability), "--output", "none"])


def test_a_damaged_result_is_moved_aside_and_replaces_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in ("", "-2"):
        path = damaged_model(Path("results/small"))
        content = path.read_bytes()
        assert judge(path) == 1
        message = capsys.readouterr().err
        assert message.count("\n") == 1
        assert f"snakemake --cores 1 {path}" in message
        assert not path.exists()
        assert path.with_name(f"model.json.damaged{number}").read_bytes() == content
    # A job that comes too late to see it says the same.
    assert judge(path) == 1
    assert "model.json.damaged" in capsys.readouterr().err
    assert len(list(path.parent.iterdir())) == 2


def test_verify_names_all_damaged_files_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["verify"]) == 1
    assert not list(tmp_path.iterdir())
    names = [
        "results/one/models/model.json",
        "results/two/tables/table.parquet",
        "data/parquet/letor-sim/folds.parquet",
        "data/raw/letor-sim/manifest.json",
        "reports/one/files.json",
        "reports/one/pages/a.html",
        "reports/one/claims.json",
    ]
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
    storage.write_json(names[0], {"w": [0.5]})
    storage.write_json(names[3], {"parts": []})
    for name in names[1:3]:
        storage.write_table(name, pl.DataFrame({"k": range(100)}))
    for name in names[5:]:
        Path(name).write_text("what a person reads")
    storage.write_digests(names[4], map(Path, names[5:]))
    for name in ("results/one/ro-crate-metadata.json", "results/one/logs/train.log", "data/raw/mine.json"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("{}")
    assert cli.main(["verify"]) == 0
    assert capsys.readouterr().out.startswith("8 stored files compared, 4 not compared\n")
    rng = np.random.default_rng(1)
    for chosen in ({*names} - {names[4]}, {*names}, {names[4]}, {names[5]}, set(names[:2])):
        whole = {name: Path(name).read_bytes() for name in names}
        for name in chosen:
            content = bytearray(whole[name])
            content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
            Path(name).write_bytes(content)
            os.utime(name, (1e9, 1e9))
        assert cli.main(["verify"]) == 1
        named = re.findall(r"^  - (\S+): damaged", capsys.readouterr().err, re.MULTILINE)
        assert sorted(named) == sorted(chosen)
        assert not [name for name in chosen if Path(name).exists()]
        for name, content in whole.items():  # as a run makes them
            Path(name).write_bytes(content)
    assert cli.main(["verify"]) == 0


def test_a_damaged_file_in_a_read_only_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.chdir(tmp_path)
    path = damaged_model(Path("results"))
    monkeypatch.setattr(Path, "rename", refuse)
    assert judge(path) == 1
    assert str(path) in capsys.readouterr().err
    assert [entry.name for entry in path.parent.iterdir()] == ["model.json"]


JUDGE = ["judge-claims", "--study", "s", "--availability", "results/s/availability.json", "--output", "none"]
MAKE = {"results/s/availability.json": ["record-study"], "results/s/tables/one.parquet": ["experiment"]}


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Store the input of a job of a run, with the code that the run has planned, or with other code."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(origins, "_job", None)
    monkeypatch.setenv(origins.VARIABLE, str(tmp_path))
    jobs = [(words, "planned", (), [path]) for path, words in MAKE.items()]
    origins.write_plan(tmp_path, [*jobs, (JUDGE, "judging", list(MAKE), ["none"])])

    def make(code: str) -> list[str]:
        for path, words in MAKE.items():
            origins.begin(code, words)
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            if path.endswith(".json"):
                storage.write_json(path, {"datasets": []})
            else:
                storage.write_table(path, TABLE)
        return [*JUDGE, "--threads", "1", "--code", "judging"]

    return make


def test_input_of_other_code_than_planned_is_refused_by_name(
    planned: Callable[[str], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    bytes_of = [Path(path).read_bytes() for path in MAKE if planned("planned")]
    assert cli.main(planned("other")) == 1
    printed = capsys.readouterr().err
    for path in MAKE:
        assert f"error: {path}: not of this run: expected a file made with the code planned of this run" in printed
        assert f"snakemake --cores 1 {path}" in printed
        assert not Path(path).exists()
    # What made a file is not in it.
    command = planned("planned")
    assert [Path(path).read_bytes() for path in MAKE] == bytes_of
    assert cli.main(command) == 0


def test_all_damaged_input_of_a_job_is_named_at_once(
    planned: Callable[[str], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    command = planned("planned")
    for path in MAKE:
        content = bytearray(Path(path).read_bytes())
        content[len(content) // 2] ^= 1
        Path(path).write_bytes(content)
    assert cli.main(command) == 1
    printed = capsys.readouterr().err
    assert all(f"error: {path}: damaged" in printed for path in MAKE)
    assert not any(Path(path).exists() for path in MAKE)


def test_damaged_text_is_noticed_by_the_checksum_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "configuration.yaml"
    storage.write_text(path, "level: 0.95\n")
    assert storage.read_text(path) == "level: 0.95\n"
    path.write_text("level: 0.85\n")
    with pytest.raises(DamagedFileError, match=r"configuration\.yaml"):
        storage.read_text(path)
    path.write_text("level: 0.95\n")
    flipped = origins.beside(path).read_text().replace("of", "ov")
    origins.beside(path).write_text(flipped)
    with pytest.raises(DamagedFileError, match=r"configuration\.yaml"):
        storage.read_text(path)


def test_files_of_versions_without_checksums_are_old_and_not_damaged(tmp_path: Path) -> None:
    document, table = tmp_path / "model.json", tmp_path / "table.parquet"
    document.write_text('{"w": [0.5]}')
    TABLE.write_parquet(table)
    for path in (document, table):
        with pytest.raises(OldFileError):
            storage.verify(path)
    document.write_text('{"w": [0.5')
    with pytest.raises(DamagedFileError) as caught:
        storage.verify(document)
    assert not isinstance(caught.value, OldFileError)


def test_a_damaged_list_of_files_does_not_hide_what_is_damaged_among_them(tmp_path: Path) -> None:
    page, listed = tmp_path / "page.html", tmp_path / storage.DIGESTS
    page.write_text("one")
    storage.write_digests(listed, [page])
    listed.write_text(listed.read_text().replace("page", "pagf"))
    assert not list(storage.damaged_of(listed))
    page.write_text("0ne")
    assert [error.path for error in storage.damaged_of(listed)] == [page]


def test_a_table_that_polars_cannot_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, read = table(tmp_path)

    def fail(*arguments: Any, **options: Any) -> None:
        raise OSError("Input/output error (os error 5)")  # as polars has it of a disk that fails

    monkeypatch.setattr(pl, "read_parquet", fail)
    with pytest.raises(DataError, match=r"table\.parquet: cannot be read \(Input/output error\); check the disk"):
        read(path)
