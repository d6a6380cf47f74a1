"""A command writes where it is told without destroying anything: devices, links, its own input, files of others."""

import hashlib
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from pipeline_lib.cli import main
from pipeline_lib.core import storage
from pipeline_lib.core.errors import StorageError
from pipeline_lib.core.files import write_text
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners.models import LinearModel
from pipeline_lib.sources import letor

ROOT = Path(__file__).parents[2]
DATA = RankingData.from_arrays(np.eye(3), [2, 0, 1], [7, 7, 7])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a ranker and documents for it."""
    monkeypatch.chdir(tmp_path)
    letor.write("data.txt", DATA)
    LinearModel.of([1.0, 0.0, 0.5]).save("model.json")
    return tmp_path


def rank(*arguments: str) -> int:
    return main(["rank", "--model", "model.json", "--data", "data.txt", *arguments])


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    "outputs",
    [
        "--output data.txt",
        "--output ./data.txt",
        "--output link.txt",
        "--output model.json",
        "--output x.run --qrels x.run",
        "--output x.run --qrels ./x.run",
        "--output x.run --qrels data.txt",
        "--output data.txt --force",
        "--output x.run --qrels x.run --force",
    ],
)
def test_a_file_is_not_both_read_and_written_or_written_twice(
    outputs: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "link.txt").symlink_to("data.txt")
    before = content(folder)
    assert rank(*outputs.split()) == 1
    assert content(folder) == before
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "expected another file than" in error


@pytest.mark.parametrize(
    "command",
    [
        "rank --model model.json --data data.txt --output mine.csv",
        "rank --model model.json --data data.txt --output new.run --qrels mine.csv",
        "example-data --output mine.csv",
        "evaluate-run --run a.run --qrels a.qrels --output mine.csv",
        "evaluate-run --run a.run --qrels a.qrels --per-query mine.csv",
        "default-configuration --page mine.csv",
        "simulate-data --dataset letor-sim --queries 30 --seed 1 --documents new.parquet --summary mine.csv",
    ],
)
def test_a_file_of_others_is_replaced_only_by_force(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.run").write_text("7 Q0 a 1 0.5 bm25\n")
    (folder / "a.qrels").write_text("7 0 a 1\n")
    (folder / "mine.csv").write_text("work of years\n")
    assert main(command.split()) == 1
    assert (folder / "mine.csv").read_text() == "work of years\n"
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "--force" in error
    assert main([*command.split(), "--force"]) == 0
    assert "of years" not in (folder / "mine.csv").read_bytes().decode("latin-1")


def test_a_command_writes_into_an_empty_file_and_makes_again_what_runs_make(folder: Path) -> None:
    (folder / "empty.run").touch()
    assert rank("--output", "empty.run") == 0
    (folder / "results").mkdir()
    assert rank("--output", "results/x.run") == rank("--output", "results/x.run") == 0


def device(path: Path, minor: int, usual: str) -> None:
    """A device of Linux's memory under a name of ours: as root, a wrong writer would replace that of the machine."""
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
    except PermissionError:
        path.symlink_to(usual)


def test_a_device_is_written_through(folder: Path) -> None:
    device(folder / "null", 3, "/dev/null")
    for _ in range(2):
        assert rank("--output", "null") == 0
    assert stat.S_ISCHR((folder / "null").stat().st_mode)
    assert rank("--output", "null", "--qrels", "null") == 0


def test_a_full_device_is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    device(folder / "full", 7, "/dev/full")
    assert rank("--output", "full") == 1
    assert capsys.readouterr().err == "error: full: cannot be written, the disk is full; free space and start again\n"


def test_a_pipe_is_written_through(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((folder / "pipe").read_text()), daemon=True)
    reader.start()
    assert rank("--output", "pipe") == 0
    reader.join(60)
    assert rank("--output", "file.run") == 0
    assert read == [(folder / "file.run").read_text()]
    assert stat.S_ISFIFO((folder / "pipe").stat().st_mode)


@pytest.mark.parametrize("name", ["stdout", "fd/1", "link"])
@pytest.mark.parametrize("mode", ["w", "a"])
def test_the_output_of_a_process_is_no_file_to_be_replaced(name: str, mode: str, folder: Path) -> None:
    # As in /dev, which a wrong writer would damage where tests run as root
    (folder / "stdout").symlink_to("/proc/self/fd/1")
    (folder / "fd").symlink_to("/proc/self/fd")
    (folder / "link").symlink_to("stdout")
    (folder / "log").write_text("before\n")
    command = [sys.executable, "-m", "pipeline_lib", "example-data", "--output", name, "--searches", "1"]
    with open("log", mode) as log:
        print("mine", file=log, flush=True)
        subprocess.run(command, stdout=log, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
        print("after", file=log)
    lines = (folder / "log").read_text().splitlines()
    assert lines[0 if mode == "w" else 1] == "mine"
    assert lines[-1] == "after"
    assert "query,title_words" in lines[1 if mode == "w" else 2]
    assert f"{name}: " in lines[-2]


def test_what_a_link_names_is_replaced_and_the_link_stays(folder: Path) -> None:
    (folder / "far").mkdir()
    (folder / "far" / "real.csv").write_text("old")
    (folder / "link.csv").symlink_to("far/real.csv")
    (folder / "dangling.csv").symlink_to("far/new.csv")
    write_text("link.csv", "new")
    write_text("dangling.csv", "first")
    assert (folder / "link.csv").is_symlink()
    assert (folder / "dangling.csv").is_symlink()
    assert (folder / "far" / "real.csv").read_text() == "new"
    assert (folder / "far" / "new.csv").read_text() == "first"
    assert sorted(os.listdir("far")) == ["new.csv", "real.csv"]


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "loop", "data.txt/x"])
def test_a_name_that_no_file_can_have_is_one_line(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "loop").symlink_to("loop")
    assert rank("--output", name) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert rank("--output", "y" * 250) == 0


def test_a_saved_model_replaces_its_kind_alone(folder: Path) -> None:
    model = LinearModel.of([1.0, 0.0, 0.5])
    model.save("model.json")
    DATA.write_parquet("data.parquet")
    DATA.write_parquet("data.parquet")
    for save in (model.save, DATA.write_parquet):
        Path("notes.json").write_text("{}")
        with pytest.raises(StorageError, match=r"notes\.json: expected a new name"):
            save("notes.json")
        assert Path("notes.json").read_text() == "{}"
        save("notes.json", force=True)
    storage.verify("data.parquet")


def other_kinds(folder: Path) -> dict[str, str]:
    """Healthy files that are no rankers, with what each is."""
    folder.mkdir(parents=True)
    pl.DataFrame({"x": [1]}).write_parquet(folder / "foreign.parquet")
    storage.write_table(folder / "ours.parquet", pl.DataFrame({"x": [1]}))
    storage.write_json(folder / "summary.json", {"queries": 3})
    texts = {
        "claims.json": '{\n"study": "x",\n"counts": {},\n"claims": [\n]}',
        "model.txt": "tree\nversion=v4\n",
        "pointer.json": "version https://git-lfs.github.com/spec/v1\n",
        "notes.txt": "\ufeffread me\n",
        "other.json": '{"a": 1}',
        "empty.json": "",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "estimator.pkl").write_bytes(b"\x80\x04\x95")
    return {
        "foreign.parquet": "Parquet",
        "ours.parquet": "Parquet",
        "summary.json": "another document that this project stored, with the keys queries",
        "claims.json": "the judged claims of a study",
        "model.txt": "LightGBM",
        "pointer.json": "Git LFS pointer",
        "notes.txt": "text that begins with 'read me'",
        "other.json": "JSON that is none of this project",
        "empty.json": "an empty file",
        "estimator.pkl": "pickle",
    }


@pytest.mark.parametrize("place", ["data/parquet/books", "results/books/tables", "elsewhere"])
def test_a_healthy_file_of_another_kind_is_named_and_left_where_it_is(
    place: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kinds = other_kinds(folder / place)
    before = content(folder / place)
    for name, kind in kinds.items():
        assert main(["rank", "--model", f"{place}/{name}", "--data", "data.txt", "--output", "x.run"]) == 1
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert kind in error
        assert "damaged" not in error
        assert "snakemake" not in error
    assert content(folder / place) == before


def test_a_command_that_only_reads_leaves_a_damaged_file_where_it_is(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = folder / "results/books/models"
    place.mkdir(parents=True)
    damaged = (folder / "model.json").read_bytes().replace(b"0.5", b"0.6")
    (place / "fold-1.json").write_bytes(damaged)
    command = "rank --model results/books/models/fold-1.json --data data.txt --output x.run"
    assert main(command.split()) == 1
    assert "damaged: " in capsys.readouterr().err
    assert content(place) == {"fold-1.json": damaged}


@pytest.mark.parametrize("option", ["--data", "--model"])
@pytest.mark.parametrize(
    "place", ["pipe", "folder", "/dev/zero", "/proc/self/mem", "a\0b", "x" * 300, "loop", "pipe.csv"]
)
def test_what_is_no_file_is_neither_read_nor_waited_for(
    option: str, place: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("pipe", "pipe.csv"):
        os.mkfifo(folder / name)
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to("loop")
    given = {"--model": "model.json", "--data": "data.txt", option: place}
    assert main(["rank", *(part for pair in given.items() for part in pair), "--output", "new.run"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith(f"error: {option if chr(0) in place else place}")
    assert not (folder / "new.run").exists()


@pytest.mark.parametrize("option", ["--run", "--qrels"])
@pytest.mark.parametrize("place", ["pipe", "/proc/self/mem", "x" * 300])
def test_a_run_that_is_no_file_is_not_waited_for(
    option: str, place: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "a.run").write_text("7 Q0 a 1 0.5 bm25\n")
    (folder / "a.qrels").write_text("7 0 a 1\n")
    given = {"--run": "a.run", "--qrels": "a.qrels", option: place}
    assert main(["evaluate-run", *(part for pair in given.items() for part in pair)]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"error: {place}")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "inner",
    [b'"trained": nothing}', b'"trained": ' + b"[" * 100_000, b'"n": ' + b"9" * 100_000 + b"}", b'"n": "\xff"}'],
)
def test_a_signed_file_that_is_no_json_is_one_line(
    inner: bytes, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unsigned = b'{\n "sha256": "' + b"0" * 64 + b'",\n ' + inner
    digest = hashlib.sha256(unsigned).hexdigest().encode()
    (folder / "signed.json").write_bytes(unsigned.replace(b"0" * 64, digest, 1))
    assert main(["rank", "--model", "signed.json", "--data", "data.txt", "--output", "new.run"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: signed.json: expected JSON")
    assert error.count("\n") == 1


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "loop"])
def test_a_study_of_an_impossible_name_is_one_line(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "results").mkdir()
    (folder / "results/loop").symlink_to("loop")
    (folder / "loop").symlink_to("loop")
    for arguments in ([name], [name, "other"], ["other", name]):
        assert main(["compare-studies", *arguments]) == 1
        assert capsys.readouterr().err.count("\n") == 1


def test_an_argument_without_an_option_is_named_as_the_help_has_it(tmp_path: Path, capsys) -> None:
    data = tmp_path / "some.csv"
    data.write_text("query,label,one\na,1,2\na,0,1\n")
    assert main(["doctor", str(data), "--html", str(data), "--force"]) == 1
    said = capsys.readouterr().err
    assert "expected another file than the argument files, which" in said
    assert data.read_text().startswith("query")
    assert main(["example-data", "--output", "new.csv", "--qrels", "new.csv"]) == 1
    assert "expected another file than --output, which" in capsys.readouterr().err
