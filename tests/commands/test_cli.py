"""The command line imports only the command asked for and says plainly what is wrong."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from pipeline_lib import __version__, cli
from pipeline_lib.cli import FOR_PEOPLE, command_names, main

ROOT = Path(__file__).parents[2]


def test_the_overview_lists_every_command_with_its_first_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    names = [line.split()[0] for line in lines if not line.startswith("   ")]
    assert names[: len(FOR_PEOPLE)] == list(FOR_PEOPLE)
    assert sorted(names) == command_names()
    assert all(len(line.split(maxsplit=1)[1]) > 20 for line in lines if not line.startswith("   "))


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"pipeline_lib {__version__}\n"


def test_a_wrong_command_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train-modle"]) == 2
    assert "did you mean 'train-model'?" in capsys.readouterr().err


def test_a_package_that_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError("No module named 'jinja2'", name="jinja2")

    monkeypatch.setattr(cli, "_module", missing)
    assert main(["render-report", "--help"]) == 1
    assert "render-report needs the package jinja2" in capsys.readouterr().err


@pytest.mark.parametrize("command", command_names())
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([command, "--help"])
    assert caught.value.code == 0
    printed = capsys.readouterr().out
    assert "usage: python -m pipeline_lib " + command in printed
    assert str(ROOT) not in printed
    # Roles of Sphinx are for the reference of the library, which links them.
    assert not re.search(r":[a-z]+:`", printed)


def test_an_error_a_person_can_mend_is_one_line_and_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = f"split-folds --dataset MQ208 --documents {tmp_path / 'x'} --folds {tmp_path / 'y'}".split()
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert "MQ2008" in error


def test_a_full_disk_is_one_line_that_names_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def on_a_full_disk(dir: Path, prefix: str, suffix: str) -> tuple[int, str]:
        path = dir / f"{prefix}{suffix}"
        path.symlink_to("/dev/full")
        return os.open(path, os.O_WRONLY), str(path)

    monkeypatch.setattr(tempfile, "mkstemp", on_a_full_disk)
    target = tmp_path / "sim" / "manifest.json"
    arguments = f"simulate-data --dataset letor-sim --queries 30 --seed 1 --manifest {target}".split()
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert str(target.parent) in error
    assert "disk is full" in error


def test_output_that_finds_the_disk_full_is_one_line() -> None:
    command = [sys.executable, "-m", "pipeline_lib", "counterexamples"]
    with open("/dev/full", "w") as full:
        result = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "disk is full" in result.stderr


def test_threads_are_pinned_before_numpy_and_polars_are_imported() -> None:
    script = (
        "import os, sys, runpy\nsys.argv = ['x', '--help']\n"
        "try:\n    runpy.run_module('pipeline_lib', run_name='__main__')\nexcept SystemExit:\n    pass\n"
        "print(os.environ['OPENBLAS_NUM_THREADS'], 'numpy' in sys.modules)\n"
        "import polars\nprint(polars.thread_pool_size())"
    )
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "7", "POLARS_MAX_THREADS": "3"}
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=environment)
    assert result.stdout.splitlines()[-2:] == ["1 False", "1"]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [("--help", 0), ("rank --help", 0), ("rank --nosuch", 2), ("nosuch", 2), ("rank a b c", 2), ("", 2)],
)
def test_a_process_ends_with_the_status_of_its_command(arguments: str, status: int) -> None:
    command = [sys.executable, "-m", "pipeline_lib", *arguments.split()]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == status
    assert result.stdout or result.stderr


def test_a_process_ends_before_the_interpreter_is_finalised() -> None:
    # This process would be aborted if what is registered for its end were called.
    script = (
        "import atexit, os, runpy, sys\nsys.argv = ['x', '--help']\natexit.register(os.abort)\n"
        "runpy.run_module('pipeline_lib', run_name='__main__', alter_sys=True)"
    )
    result = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (result.returncode, "commands:" in result.stdout) == (0, True)


def test_a_reader_that_stops_early_is_no_error_to_be_traced() -> None:
    command = f"{sys.executable} -m pipeline_lib counterexamples | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert "Broken pipe" not in done.stderr


def test_a_person_who_interrupts_a_command_is_shown_no_traceback() -> None:
    script = (
        "import runpy, sys\nsys.argv = ['x', 'witnesses']\nimport pipeline_lib.cli as cli\n"
        "def interrupted(*_):\n    raise KeyboardInterrupt\ncli.main = interrupted\n"
        "runpy.run_module('pipeline_lib', run_name='__main__', alter_sys=True)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr == "interrupted\n"
    assert done.returncode in (130, -2)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("Unable to allocate 8 GiB"),
        ImportError("libx.so: failed to map segment from shared object"),
        ImportError("libx.so: cannot open: Cannot allocate memory"),
    ],
)
def test_refused_memory_is_one_line(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(name: str) -> None:
        raise error

    monkeypatch.setattr(cli, "_module", refused)
    assert main(["rank", "--help"]) == 1
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert printed.startswith("error: rank was refused memory")


def test_memory_that_a_library_was_refused_is_found_behind_what_the_library_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(name: str) -> None:
        try:
            raise OSError("libllvmlite.so: failed to map segment from shared object")
        except OSError as error:
            raise OSError("Could not find/load shared object file 'libllvmlite.so'") from error

    monkeypatch.setattr(cli, "_module", refused)
    assert main(["rank", "--help"]) == 1
    assert capsys.readouterr().err.startswith("error: rank was refused memory")


def test_an_import_that_fails_otherwise_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ImportError("cannot import name 'x'")

    monkeypatch.setattr(cli, "_module", broken)
    with pytest.raises(ImportError, match="cannot import"):
        main(["rank", "--help"])


def test_byte_code_that_is_cut_off_is_removed_and_the_command_begins_again(tmp_path: Path) -> None:
    def run() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pipeline_lib", "--version"]
        kept = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}
        return subprocess.run(command, env=kept, cwd=ROOT, capture_output=True, text=True, check=False)

    whole = run()
    [path] = (path for path in tmp_path.rglob("cli.*.pyc") if path.parent.name == "pipeline_lib")
    os.truncate(path, path.stat().st_size // 2)
    again = run()
    assert (again.returncode, again.stdout) == (0, whole.stdout)
    assert f"{path}: damaged byte code" in again.stderr
    assert run().stderr == ""


def test_no_certificates_are_not_all_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "false.toml").write_text('claims = ["slam-thm2"]')
    for folder in ("empty", "nowhere"):
        assert main(["check-proofs", str(tmp_path / folder)]) == 1
        assert f"{tmp_path / folder}: expected a certificate" in capsys.readouterr().err
    assert main(["check-proofs", str(tmp_path / "false.toml")]) == 1
    assert "REFUSED" in capsys.readouterr().out
