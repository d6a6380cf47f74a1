"""Files appear whole or not at all; seeds depend on the axes alone."""

import errno
import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_lib.core.errors import StorageError
from pipeline_lib.core.files import replacing, write_text
from pipeline_lib.core.seeds import seed

AXES = st.lists(st.one_of(st.text(), st.integers(), st.booleans(), st.none()), max_size=4)


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "a" / "table.txt"
    write_text(target, "old")
    with pytest.raises(RuntimeError, match="stop"), replacing(target) as partial:  # noqa: PT012
        partial.write_text("half")
        raise RuntimeError("stop")
    assert target.read_text() == "old"
    assert os.listdir(target.parent) == ["table.txt"]


def test_a_folder_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="expected the name of a file, found a folder"), replacing(tmp_path):
        pass
    assert tmp_path.is_dir()


def test_a_killed_writer_never_shows_a_half_file(tmp_path: Path) -> None:
    target = tmp_path / "table.txt"
    script = (
        "import sys\nfrom pipeline_lib.core.files import replacing\n"
        "with replacing(sys.argv[1]) as partial:\n    partial.write_text('half')\n"
        "    print('writing', flush=True)\n    sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(target)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    assert not target.exists()
    write_text(target, "whole")
    assert target.read_text() == "whole"


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_text(tmp_path / "x", "")
    finally:
        os.umask(old)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640


@given(AXES, AXES)
def test_seeds_are_equal_only_for_equal_axes(a: list[object], b: list[object]) -> None:
    same = [(type(x), x) for x in a] == [(type(x), x) for x in b]
    assert (seed(*a) == seed(*b)) == same  # type: ignore[arg-type]


def test_seed_is_the_same_in_every_version() -> None:
    # A frozen value: changing it would change every published number.
    by_hand = hashlib.sha256(b'[2026,"letor-sim",1,null,true]').hexdigest()[:32]
    assert seed(2026, "letor-sim", 1, None, True) == int(by_hand, 16)


def test_axes_without_a_stable_spelling_are_refused() -> None:
    with pytest.raises(TypeError, match="plain string"):
        seed((1, 2))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not JSON compliant"):
        seed(float("nan"))


@pytest.mark.parametrize(
    "write",
    [
        lambda path: path.write_bytes(b"x" * 10**6),
        lambda path: pl.DataFrame({"x": [0.0] * 10**5}).write_parquet(path),
        lambda path: pq.write_table(pa.table({"x": [0.0] * 10**5}), path),
    ],
    ids=["bytes", "polars", "pyarrow"],
)
def test_a_full_disk_is_named_with_the_file(tmp_path: Path, write: Callable[[Path], object]) -> None:
    target = tmp_path / "table.parquet"
    with pytest.raises(StorageError, match=r"table\.parquet: .*disk is full"), replacing(target) as partial:  # noqa: PT012
        partial.unlink()
        partial.symlink_to("/dev/full")
        write(partial)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_takes_no_files_is_named(tmp_path: Path) -> None:
    # Nobody, not even root, makes files in /proc.
    (tmp_path / "tables").symlink_to("/proc")
    with pytest.raises(StorageError, match="tables/table"):
        write_text(tmp_path / "tables/table.csv", "")


@pytest.mark.parametrize(
    "error",
    [
        TimeoutError(errno.ETIMEDOUT, "the server is silent"),
        FileNotFoundError(errno.ENOENT, "No such file or directory", "other.csv"),
        OSError("Invalid data stream"),  # of bz2, whose content is damaged
    ],
)
def test_what_fails_elsewhere_is_not_said_of_the_file_that_is_written(tmp_path: Path, error: OSError) -> None:
    with pytest.raises(OSError, match=r"silent|No such|stream") as caught, replacing(tmp_path / "table.csv"):
        raise error
    assert caught.value is error
    assert list(tmp_path.iterdir()) == []
