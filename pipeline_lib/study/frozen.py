"""From which copy of the project, and from which configuration, does a run work?

A run may take days, and in the meantime somebody edits a file, or switches to another branch. A run therefore works
from a copy of the project that does not change, and so do its jobs on the nodes of a cluster, where Snakemake reads
the rules and the configuration once more. The copy is in ``.snakemake/frozen``, in a folder that is named by a digest
of all its content, together with the configurations of the runs that worked from it. Byte code is written when the
copy is made, and Python never asks whether it is current.

This module imports nothing of the package, because the workflow runs it before the package is there.
"""

import contextlib
import hashlib
import importlib.util
import marshal
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(".snakemake/frozen")
"""Where copies are, in the folder of the run."""
ORIGIN = "origin"
"""The file of a copy that says from which folder it was made; it is written last."""
RUNS = "runs"
"""The folder of a copy with one folder for every configuration that was run with it."""
CONFIGURATION = "configuration.yaml"
"""What the jobs of a run are given as their configuration, in its folder there."""
PARTS = (
    *("pipeline_lib", "workflow", "profiles", "data/catalog.yaml", "docs"),
    *("Snakefile", "environment.yml", "requirements.lock"),
)
"""What the rules and the package read of the project. Of the documentation, only its pages are copied."""
KEPT_FOR = 24 * 3600.0
"""Seconds for which a copy is kept after the start of the last run that used it.

No other run works in the folder when copies are removed, but jobs that a killed run left behind may.
"""
_MODULE, _PAGE = ".py", ".md"


def of_process(here: Path, configuration: Path | None) -> tuple[Path, Path]:
    """The folder from which a process of Snakemake works, and the project's own folder.

    Parameters
    ----------
    here : Path
        The folder of the project, or the copy, whose rules are read.
    configuration : Path or None
        For the process of a job, the configuration that it was given.

    Example
    -------
    >>> import tempfile
    >>> copy = Path(tempfile.mkdtemp())
    >>> _ = (copy / ORIGIN).write_text("/home/me/project")
    >>> of_process(copy, None) == (copy, Path("/home/me/project"))
    True
    """
    if (here / ORIGIN).is_file():
        return here, Path((here / ORIGIN).read_text(encoding="utf-8"))
    if (
        configuration is not None
        and configuration.name == CONFIGURATION
        and (configuration.parents[2] / ORIGIN).is_file()
    ):
        return configuration.parents[2], here
    return here, here


def copy_of(project: Path) -> Path:
    """The copy of a project as it is now, which is made unless there is one.

    Where none can be made, such as in a folder that can only be read, the result is the project itself.
    """
    try:
        return make_copy(project)
    except OSError:
        return project


def make_copy(project: Path) -> Path:
    """The copy of a project as it is now, which is made unless there is one.

    Raises
    ------
    OSError
        When none can be made.
    """
    files = dict(sorted(_files(project)))
    digest = hashlib.sha256(f"{project} {sys.version}".encode())
    for name, content in files.items():
        digest.update(f"\0{name}\0{len(content)}\0".encode() + content)
    folder = FOLDER.absolute() / digest.hexdigest()[:16]
    if not _is_whole(folder, files):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".") as made:
            _write(Path(made), folder, files, project)
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(OSError):  # another process was faster
                Path(made).rename(folder)
    os.utime(folder)
    return folder


def _is_whole(folder: Path, files: dict[str, bytes]) -> bool:
    return (folder / ORIGIN).is_file() and all(_has(folder / name, content) for name, content in files.items())


def remove_unused(used: Path) -> None:
    """Remove the other copies that no run has begun with for a day; to be called while no other run is at work."""
    for other in FOLDER.glob("*"):
        with contextlib.suppress(OSError):
            if other.absolute() != used and time.time() - other.stat().st_mtime > KEPT_FOR:
                shutil.rmtree(other)


def _files(project: Path) -> Iterator[tuple[str, bytes]]:
    """What a copy contains, by path, without what editors, Python and interrupted runs leave behind."""
    for part in PARTS:
        if (project / part).is_file():
            yield part, (project / part).read_bytes()
        for folder, folders, names in os.walk(project / part):
            folders[:] = [name for name in folders if not name.startswith((".", "__pycache__"))]
            for name in names:
                if not name.startswith(".") and not name.endswith("~") and (part != "docs" or name.endswith(_PAGE)):
                    path = Path(folder, name)
                    yield path.relative_to(project).as_posix(), path.read_bytes()


def _write(target: Path, folder: Path, files: dict[str, bytes], project: Path) -> None:
    """Write a copy to a temporary folder; what the last copy has as well is shared with it."""
    target.chmod(0o755)
    copies = [other for other in FOLDER.absolute().glob("*") if (other / ORIGIN).is_file()]
    last = max(copies, key=lambda other: other.stat().st_mtime, default=None)
    for name, content in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        written = [path]
        same = last is not None and _has(last / name, content)
        if not same:
            path.write_bytes(content)
            path.chmod((project / name).stat().st_mode & 0o555)
        if name.endswith(_MODULE):
            compiled = path.with_name("__pycache__") / f"{path.stem}.{sys.implementation.cache_tag}.pyc"
            compiled.parent.mkdir(exist_ok=True)
            if not same:
                with contextlib.suppress(SyntaxError, ValueError):  # whoever imports the module says what is wrong
                    compiled.write_bytes(_byte_code(content, folder / name))
            written.append(compiled)
        if last is not None and same:
            for one in written:
                _share(last / one.relative_to(target), one)
    (target / ORIGIN).write_text(str(project), encoding="utf-8")


def _has(path: Path, content: bytes) -> bool:
    try:
        return path.read_bytes() == content
    except OSError:
        return False


def _share(source: Path, target: Path) -> None:
    """Let two copies have the same file, or copy it where a file system has no links."""
    try:
        os.link(source, target)
    except OSError:
        if source.is_file():
            shutil.copy2(source, target)


def _byte_code(source: bytes, path: Path) -> bytes:
    """A whole ``.pyc`` of a module, which Python takes without comparing it with the module (PEP 552)."""
    code = compile(source, str(path), "exec", dont_inherit=True)
    unchecked = (0b01).to_bytes(4, "little")
    return importlib.util.MAGIC_NUMBER + unchecked + importlib.util.source_hash(source) + marshal.dumps(code)
