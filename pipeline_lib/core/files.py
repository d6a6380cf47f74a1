"""How is a file written that a person named, so that nothing else is lost, and how is one opened that she named?

A file gets its name only once it is complete. Links are followed, and what is no regular file is written through.
"""

import errno
import io
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PosixPath
from typing import Any, BinaryIO

from pipeline_lib.core.errors import ConfigurationError, DataError, StorageError, is_refused_memory, printable

MOST_LINKS = 40
"""So many links, one to the next, are followed by Linux as well."""
MOST_OF_NAME = 50
"""So many letters of a file's name begin that of its temporary file, which must not be too long."""
PARQUET = "a Parquet file"
_HEAD = 4096
_OF_RUST = re.compile(r"\(os error (\d+)\)")
_OF_ARROW = "error closing file"
_NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR)


def is_full(error: BaseException) -> bool:
    """Whether an error means that a disk, or one's quota of it, is full; libraries report this in several ways.

    Example
    -------
    >>> is_full(OSError(errno.ENOSPC, "No space left on device")), is_full(OSError(errno.EACCES, "Permission denied"))
    (True, False)
    """
    numbers = (errno.ENOSPC, errno.EDQUOT)
    return any(getattr(error, "errno", None) == number or f"(os error {number})" in str(error) for number in numbers)


def expanded(name: str) -> Path:
    """The path of a name in which ``~`` stands for a home; ``~name`` is itself where nobody has that name.

    Example
    -------
    >>> expanded("~/data").is_absolute(), expanded("~nobody-has-this-name/data")
    (True, PosixPath('~nobody-has-this-name/data'))
    """
    return Path(os.path.expanduser(name))


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise an error that names ``path`` when the block, which writes it, finds the disk full, or it fails otherwise.

    Raises
    ------
    StorageError

    Example
    -------
    >>> with naming("model.json"):
    ...     raise OSError(errno.EIO, "Input/output error")
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.StorageError: model.json: cannot be written (Input/output error); check the disk, and \
start again
    """
    try:
        yield
    except StorageError:
        raise
    except Exception as error:
        if is_full(error):
            raise StorageError(f"{path}: cannot be written, the disk is full; free space and start again") from error
        if _is_of_writing(error):
            raise StorageError(f"{path}: cannot be written ({_reason(error)}); {_remedy(error)}") from error
        raise


@contextmanager
def naming_what_is_read(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise an error that names ``path`` when polars, which reads it in the block, is refused its content.

    Raises
    ------
    DataError

    Example
    -------
    >>> with naming_what_is_read("table.parquet"):
    ...     raise OSError("Input/output error (os error 5)")
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: table.parquet: cannot be read (Input/output error); check the disk, and \
start again
    """
    try:
        yield
    except Exception as error:
        if _OF_RUST.search(str(error)) and not is_refused_memory(error):
            raise DataError(f"{path}: cannot be read ({_reason(error)}); {_remedy(error)}") from error
        raise


def _is_of_writing(error: Exception) -> bool:
    """Whether an error is about the file that is being written, which the system, or a library, need not name.

    Errors of connections are of other classes, those of other files name these, and damaged content has no number.
    """
    if isinstance(error, OSError) and error.filename is not None:
        return str(error.filename).endswith(".partial")
    if type(error) is OSError and (error.errno is not None or str(error) == _OF_ARROW):
        return True
    return bool(_OF_RUST.search(str(error))) and not is_refused_memory(error)


def _reason(error: Exception) -> str:
    """What the system says of an error, or else the library."""
    number = _number(error)
    return os.strerror(number) if number else printable(" ".join(str(error).split()))


def _number(error: Exception) -> int | None:
    """The number that the system has for an error, which polars has in the text."""
    found = _OF_RUST.search(str(error))
    return int(found[1]) if found else getattr(error, "errno", None)


def _remedy(error: Exception) -> str:
    """What to do about an error of the system."""
    number = _number(error)
    if number in (errno.EMFILE, errno.ENFILE):
        return "raise the limit of open files (`ulimit -n`), and start again"
    return "allow writing in its folder" if number in _NOT_ALLOWED else "check the disk, and start again"


class Output(PosixPath):
    """A file that a command writes because its command line names it, whereas every other path is read."""


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Provide a temporary path; when the block ends without an error, what was written there becomes ``path``.

    The temporary file is next to the file that ``path`` names, with all links followed, and is renamed. A process that
    is killed inside the block leaves at most a file ``.NAME.*.partial``, never a partly written ``path``. An earlier
    file at ``path`` is unchanged until it is replaced. Missing folders are created.

    A device, a pipe or an open file of this process, such as ``/dev/null`` or ``/dev/stdout``, is not replaced: what
    was written is sent through it as a whole.

    Raises
    ------
    StorageError
        When the disk is full, no file can be made in the folder, or ``path`` is a folder or no name of a file.

    Example
    -------
    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "table.csv"
    >>> with replacing(target) as partial:
    ...     _ = partial.write_text("complete")
    >>> target.read_text(), [p.name for p in target.parent.iterdir()]
    ('complete', ['table.csv'])
    """
    if is_written_through(path):
        with tempfile.TemporaryDirectory() as folder, naming(path):
            written = Path(folder, "whole")
            yield written
            with written.open("rb") as whole, _opened_through(path) as through:
                shutil.copyfileobj(whole, through)
        return
    target = Path(os.path.realpath(path))
    with naming(path):
        partial = _partial_file(Path(path), target)
        try:
            if target.is_dir():
                raise StorageError(f"{path}: expected the name of a file, found a folder")
            yield partial
            # mkstemp creates private files; set the permissions that the umask of the process would have given.
            umask = os.umask(0)
            os.umask(umask)
            partial.chmod(0o666 & ~umask)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)


def is_written_through(path: str | os.PathLike[str]) -> bool:
    """Whether ``path`` is a device, a pipe or an open file of this process, which cannot be replaced by another file.

    Raises
    ------
    StorageError
        When there can be no file of this name.

    Example
    -------
    >>> is_written_through("/dev/null"), is_written_through("/dev/stdout"), is_written_through("new.run")
    (True, True, False)
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:  # ValueError: a NUL in it
        raise StorageError(f"{path}: expected the name of a file to write ({_said(error)})") from error
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) or _descriptor(Path(path)) is not None


def _descriptor(path: Path) -> int | None:
    """The number of the open file of this process that a name such as ``/dev/stdout`` stands for."""
    for _ in range(MOST_LINKS):
        if not path.is_symlink():
            return None
        folder = Path(os.path.realpath(path.parent))
        if folder == Path(f"/proc/{os.getpid()}/fd"):
            return int(path.name)
        path = folder / os.readlink(path)
    return None


def _opened_through(path: str | os.PathLike[str]) -> BinaryIO:
    number = _descriptor(Path(path))
    # Opened anew, a file to which the output of this process is directed would be written from its beginning.
    return open(path if number is None else os.dup(number), "wb")


def check_outputs(
    outputs: Sequence[tuple[str, Path]], inputs: Sequence[tuple[str, Path]] = (), *, force: bool = False
) -> None:
    """Refuse outputs that would destroy what a command reads, each other, or another file, before anything is done.

    Parameters
    ----------
    outputs, inputs : sequence of (str, path)
        The files with what a person calls them, such as ``--output``.
    force : bool
        Whether existing files may be replaced. Files that runs make (:func:`is_made_by_runs`), empty ones, and what is
        written through may always be.

    Raises
    ------
    ConfigurationError

    Example
    -------
    >>> check_outputs([("--output", Path("new.csv"))], [("--data", Path("./new.csv"))])
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.ConfigurationError: --output new.csv: expected another file than --data, which it would \
replace; name another one
    """
    written = [(name, path) for name, path in outputs if not is_written_through(path) or path.is_file()]
    others = list(inputs)
    for name, path in written:
        for other, read in others:
            if _same(path, read):
                raise ConfigurationError(
                    f"{name} {path}: expected another file than {other}, which it would replace; name another one"
                )
        others.append((name, path))
    for name, path in written:
        if not force and _is_of_others(path):
            raise ConfigurationError(
                f"{name} {path}: there is such a file already, which would be lost; name another one, or add --force"
            )


def check_replaceable(path: str | os.PathLike[str], is_own: Callable[[Path], bool], *, force: bool = False) -> None:
    """Refuse to replace an existing file, other than :func:`check_outputs` allows, for which ``is_own`` is false.

    Raises
    ------
    StorageError
    """
    if not force and _is_of_others(Path(path)) and not is_own(Path(path)):
        raise StorageError(
            f"{path}: expected a new name, or a file that this project stored, found {kind(path)}, which would be "
            "lost; name another one, or pass force=True"
        )


def _is_of_others(path: Path) -> bool:
    """Whether something is lost when a file is replaced that no run makes again."""
    replaced = not is_written_through(path) and path.is_file() and path.stat().st_size > 0
    return replaced and not is_made_by_runs(path)


def _same(one: Path, other: Path) -> bool:
    """Whether two paths name one file, by way of links or not; there may be none yet."""
    try:
        if one.exists() and other.exists():
            return os.path.samefile(one, other)
        return os.path.realpath(one) == os.path.realpath(other)
    except (OSError, ValueError):  # names that no file can have, which nothing is written to or read from
        return False


def is_made_by_runs(path: Path) -> bool:
    """Whether a file is where runs make theirs: below ``results``, ``reports`` and ``data/parquet`` in this folder.

    The manifests in ``data/raw`` are made by runs as well.

    Example
    -------
    >>> is_made_by_runs(Path("results/mine/tables/a.parquet")), is_made_by_runs(Path("a.parquet"))
    (True, False)
    """
    folders = ("results", "reports", "data/parquet", *(("data/raw",) if path.name == "manifest.json" else ()))
    return ".." not in path.parts and any(path.absolute().is_relative_to(Path.cwd() / folder) for folder in folders)


class _Read(io.FileIO):
    """A file whose content the system may refuse, as of a disk that fails: what it says then names the file."""

    def _named(self, read: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return read(*arguments)
        except OSError as error:
            raise DataError(f"{self.name}: cannot be read ({_said(error)}); check the disk, and start again") from error

    def readinto(self, buffer: Any, /) -> int | None:
        return self._named(super().readinto, buffer)

    def read(self, size: int | None = -1, /) -> bytes:
        return self._named(super().read, size)

    def readall(self) -> bytes:
        return self._named(super().readall)


def reading(path: str | os.PathLike[str]) -> io.FileIO:
    """Open a file of a person for reading its bytes, without a buffer.

    Raises
    ------
    DataError
        When there is none, it cannot be read, or it is no regular file: a pipe can be read only once, and a program
        that waits for what nobody writes there, or reads a device without an end, says nothing.

    Example
    -------
    >>> reading("/dev/zero")
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: /dev/zero: expected a file, which can be read more than once, found a device; \
write its content to a file
    """
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISREG(mode):
            file = _Read(path)
            io.FileIO.read(file, 1)  # which the system may refuse, as of the memory of a process
            file.seek(0)
            return file
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: expected a readable file, found none ({_said(error)})") from error
    if stat.S_ISDIR(mode):
        raise DataError(f"{path}: expected a readable file, found a folder")
    found = "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    raise DataError(
        f"{path}: expected a file, which can be read more than once, found {found}; write its content to a file"
    )


_KINDS = (
    (rb"PAR1", PARQUET),
    (rb"version https://git-lfs", "a Git LFS pointer, not the file itself; `git lfs pull` gets that"),
    (rb"tree\r?\nversion=", "a model of LightGBM"),
    (rb'\s*\{"learner"', "a model of XGBoost"),
    (rb"CBM1", "a model of CatBoost"),
    (rb"\x80[\x02-\x05]", "a pickle of Python, which would execute code when it is read"),
    (rb"\x93NUMPY", "an array of NumPy"),
    (rb"\x89HDF", "a file of HDF5"),
    (rb"SQLite format 3\x00", "a database of SQLite"),
    (rb"PK\x03\x04", "a zip archive"),
    (rb"\x1f\x8b|BZh[1-9]|\x28\xb5\x2f\xfd|\xfd7zXZ", "a compressed file"),
    (rb"%PDF", "a PDF document"),
    (rb"\s*<(?:!doctype html|html)", "a page of HTML"),
    (rb'\{\s*"study": "[^"]*",\s*"counts"', "the judged claims of a study"),
    (rb'\{\s*"sha256": "', "another document that this project stored"),
    (rb"\s*\{", "JSON that is none of this project"),
)
"""How files of several kinds begin."""


def kind(path: str | os.PathLike[str]) -> str:
    """What a file is, in words, by its first bytes.

    Example
    -------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.txt"
    >>> _ = path.write_text("tree\\nversion=v4\\n")
    >>> kind(path)
    'a model of LightGBM'
    >>> _ = path.write_text("0.5 7 1")
    >>> kind(path)
    "text that begins with '0.5 7 1'"
    """
    with reading(path) as file:
        head = file.read(_HEAD)
    known = next((words for mark, words in _KINDS if re.match(mark, head, re.DOTALL | re.IGNORECASE)), None)
    if known or not head:
        return known or "an empty file"
    text = head.decode("utf-8", "ignore").removeprefix("\ufeff")
    if "\0" in text or len(text.encode()) < len(head) - 8:
        return "bytes that are no text"
    return f"text that begins with {text.strip().partition(chr(10))[0].strip()[:40]!r}"


def _said(error: OSError | ValueError) -> str:
    """What the system says of a name: an error of the system, or a NUL in it."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def remove_abandoned(*folders: str | os.PathLike[str], seconds: float = 3600.0) -> None:
    """Remove partial files in some folders to which nobody has written for so long: their process was killed.

    Example
    -------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> (folder / ".table.csv.abc.partial").touch()
    >>> remove_abandoned(folder); len(list(folder.iterdir()))
    1
    >>> remove_abandoned(folder, seconds=-1.0); len(list(folder.iterdir()))
    0
    """
    for folder in folders:
        for path in Path(folder).rglob(".*.partial"):
            with suppress(OSError):
                if time.time() - path.lstat().st_mtime > seconds:
                    path.unlink()


def _partial_file(named: Path, target: Path) -> Path:
    """Create an empty file with a unique name in the folder of ``target``, which a person ``named``."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:MOST_OF_NAME]}.", suffix=".partial")
    except OSError as error:
        if is_full(error):
            raise
        raise StorageError(f"{named}: cannot be written ({error.strerror}); {_remedy(error)}") from error
    try:
        os.close(handle)
    except OSError:
        os.unlink(name)
        raise
    return Path(name)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write ``text`` as UTF-8 with LF line ends, completely or not at all.

    Example
    -------
    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "note.txt"
    >>> write_text(target, "one line\\n"); target.read_text()
    'one line\\n'
    """
    with replacing(path) as partial:
        partial.write_bytes(text.encode("utf-8"))
