"""Are the messages on the page of troubleshooting still those that a user sees? Each failure is provoked."""

import contextlib
import errno
import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from pipeline_lib import cli
from pipeline_lib.core import files, schemas, storage
from pipeline_lib.core.errors import PipelineError
from pipeline_lib.sources import acquisition, catalog, download, mirrors
from pipeline_lib.study import configuration, run_lock
from tests.docs import documented
from tests.study import test_console, test_run_lock

PAGE = "docs/troubleshooting.md"
SECTIONS = dict(
    re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", (documented.ROOT / PAGE).read_text("utf-8"), re.MULTILINE | re.DOTALL)
)


def quoted(section: str) -> list[str]:
    """The messages that a section shows, one a line; a message of several lines is one block that begins it."""
    found = [block.code for block in documented.blocks_of(SECTIONS[section], PAGE) if block.language == "text"]
    assert found
    return [line.strip() for code in found for line in code.strip().splitlines()]


def commands_not_found(folder: Path) -> str:
    path = {"PATH": str(folder)}
    shell = subprocess.run(["/bin/bash", "-c", "snakemake"], capture_output=True, text=True, env=path, check=False)
    command = [sys.executable, "-I", "-S", "-m", "pipeline_lib"]
    module = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    return shell.stderr + module.stderr


def missing_library(folder: Path) -> str:
    """What Snakemake says where it is installed and nothing else; one of its plug-ins here needs the library itself."""
    code = "import sys; from snakemake.cli import main; sys.modules['numpy'] = None; main()"
    command = [sys.executable, "-c", code, "--snakefile", str(documented.ROOT / "workflow/Snakefile"), "--list"]
    given = ["--configfile", str(documented.ROOT / "config.yaml")]
    return subprocess.run([*command, *given], cwd=folder, capture_output=True, text=True, check=False).stderr


def old_python(folder: Path) -> str:
    (folder / "Makefile").write_text((documented.ROOT / "Makefile").read_text())
    for name in ("requirements.lock", "pyproject.toml"):
        (folder / name).touch()
    old = folder / "python3"
    old.write_text('#!/bin/sh\ncase "$1" in --version) echo "Python 3.9.2";; *) exit 1;; esac\n')
    old.chmod(0o755)
    command = ["make", f"PYTHON={old}", "WORKERS=1", "setup"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stderr


def refused_settings(folder: Path) -> str:
    path = folder / "my-study.yaml"
    path.write_text("study: mine\nmodles: [listnet]\nerm:\n  tol: 1e-4\npapers: [slamm]\n")
    with pytest.raises(PipelineError) as caught:
        configuration.check(schemas.load(path), {"letor-sim": 5}, [Path("my-study.yaml")])
    path.write_text("seed: 1\nseed: 2\n")
    with pytest.raises(PipelineError) as twice:
        configuration.check_file(Path("my-study.yaml"))
    return f"{caught.value}\n{twice.value}"


def refused_files(folder: Path) -> str:
    from pipeline_lib.learners.models import LinearModel
    from pipeline_lib.sources import letor

    (folder / "my.txt").write_text("1 qid:1 1:0.5 2:0.3\n0 qid:1 1:0.2 2:abc\n")
    with pytest.raises(PipelineError) as caught:
        letor.read("my.txt")
    LinearModel.of([1.0]).save("ranker.json")
    printed = [f"error: {caught.value}"]
    for column, value in (("title_words", "nan"), ("bm25", "unknown")):
        (folder / "books.csv").write_text(f"query,{column},relevance\n1,1,0\n1,2,1\n1,{value},0\n")
        printed.append(failing(["rank", "--model", "ranker.json", "--data", "books.csv", "--output", "x.run"]))
    return "\n".join(printed)


def failing(arguments: list[str]) -> str:
    """What a command prints that fails."""
    printed = io.StringIO()
    with contextlib.redirect_stderr(printed):
        assert cli.main(arguments) == 1
    return printed.getvalue()


def no_data_set(folder: Path) -> str:
    raw = Path("data/raw")
    raw.mkdir(parents=True)
    (raw / "MQ2008.zip").write_bytes(b"PK\x03\x04, and then the connection broke")
    known = [catalog.get(name).model_copy(update={"addresses": ()}) for name in ("MQ2007", "MQ2008")]
    printed = []
    for data_set, addresses in zip(known, (("http://127.0.0.1:9",), ()), strict=True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(download, "FIRST_PAUSE", 0.0)
            with pytest.raises(PipelineError) as caught:
                acquisition.obtain(data_set, raw, mirrors.Mirrors(addresses=addresses), network=True)
        printed.append(str(caught.value))
    return "\n".join(printed)


def another_run(folder: Path) -> str:
    holder = test_run_lock.holder(folder / "run.lock")
    with pytest.raises(PipelineError) as caught:
        run_lock.hold(folder / "run.lock", "small")
    holder.communicate("")
    return str(caught.value)


def full_disk(folder: Path) -> str:
    with pytest.raises(PipelineError) as full, files.naming("results/x.parquet"):
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(PipelineError) as failing, files.naming("results/x.parquet"):
        raise OSError(errno.EIO, "Input/output error")
    with open("/proc/self/mem", "rb", buffering=0) as memory, files.reading(__file__) as file:  # whose start is nowhere
        os.dup2(memory.fileno(), file.fileno())
        with pytest.raises(PipelineError) as unread:
            file.read()
    (folder / "results").symlink_to("/proc")  # where nobody, not even root, makes files
    with pytest.raises(PipelineError) as forbidden:
        run_lock.hold(Path("results/run.lock"), "small")
    return "\n".join(str(error.value) for error in (full, failing, unread, forbidden))


def killed_job(folder: Path) -> str:
    stub = folder / "python"
    stub.write_text("#!/bin/sh\nkill -9 $$\n")
    stub.chmod(0o755)
    command = ["/bin/bash", "-c", "python -m pipeline_lib train-model; true"]
    environment = {"PATH": f"{folder}:/bin:/usr/bin", "LC_ALL": "C"}
    shell = subprocess.run(command, capture_output=True, text=True, env=environment, check=False).stderr
    console = test_console.Run()
    log = folder / "job.log"
    log.touch()
    console.start(1)
    console.now = 3.0
    console.end("work", "died with <Signals.SIGKILL: 9>.")
    console.fail(1, log, shellcmd="work")
    return "\n".join([shell, *console.lines()])


def source_of(package: str) -> str:
    """The source of a library, with the pieces of its texts joined: what it can say."""
    found = find_spec(package)
    assert found is not None
    assert found.submodule_search_locations
    texts = [path.read_text("utf-8") for path in sorted(Path(found.submodule_search_locations[0]).glob("*.py"))]
    return re.sub(r'"\s+f?"', "", "\n".join(texts))


def no_slurm(folder: Path) -> str:
    return source_of("snakemake_executor_plugin_slurm") + source_of("pipeline_lib.study")


def out_of_date(folder: Path) -> str:
    path = folder / "results/small/models/ranker.json"
    path.parent.mkdir(parents=True)
    storage.write_json(path, {"model": "linear"})
    path.write_text(path.read_text().replace("linear", "cubic"))
    outputs = "--documents a.parquet --folds b.parquet --measures map --models c.json --output x --held-out y"
    return source_of("snakemake.common") + failing(
        ["evaluate-model", "--summary", str(path.relative_to(folder)), *outputs.split()]
    )


PROVOKED: dict[str, Callable[[Path], str]] = {
    "The commands are not found": commands_not_found,
    "A library is not installed": missing_library,
    "Python is too old": old_python,
    "A setting is refused": refused_settings,
    "A file of mine is refused": refused_files,
    "A data set cannot be obtained": no_data_set,
    "Another run is working": another_run,
    "The disk is full, or the folder cannot be written": full_disk,
    "A job was killed": killed_job,
    "SLURM does not answer": no_slurm,
    "The results look out of date, or damaged": out_of_date,
}


def test_every_section_is_provoked_here() -> None:
    assert list(SECTIONS) == list(PROVOKED)


@pytest.mark.parametrize("section", PROVOKED)
def test_the_messages_are_those_that_a_user_sees(section: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(documented.ROOT))
    printed = PROVOKED[section](tmp_path)
    for line in quoted(section):
        pattern = ".*?".join(re.escape(piece) for piece in line.split("..."))
        assert re.search(pattern, printed, re.DOTALL), f"{line}\n\nis not in\n\n{printed[-3000:]}"
