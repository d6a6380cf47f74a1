"""How does a file get its final name only once it is complete?"""

import errno
import os
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pipeline_lib.core.errors import StorageError

CODE = (".py", ".pyc", ".nbi", ".nbc")


def is_full(error: BaseException) -> bool:
    """Whether an error means that a disk, or one's quota of it, is full; libraries report this in several ways.

    Example
    -------
    >>> is_full(OSError(errno.ENOSPC, "No space left on device")), is_full(OSError(errno.EACCES, "Permission denied"))
    (True, False)
    """
    return _has_number(error, errno.ENOSPC) or _has_number(error, errno.EDQUOT)


def _has_number(error: BaseException, number: int) -> bool:
    return getattr(error, "errno", None) == number or f"(os error {number})" in str(error)


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
    """Raise an error that names ``path`` when the block, which writes it, finds the disk full or the file too large.

    Raises
    ------
    StorageError
    """
    try:
        yield
    except StorageError:
        raise
    except Exception as error:
        if is_full(error):
            raise StorageError(f"{path}: cannot be written, the disk is full; free space and start again") from error
        if _has_number(error, errno.EFBIG):
            advice = "raise the limit (`ulimit -f`) and start again"
            raise StorageError(f"{path}: cannot be written, it is larger than files may be here; {advice}") from error
        raise


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Provide a temporary path next to ``path``; rename it to ``path`` when the block ends without an error.

    A process that is killed inside the block leaves at most a file ``.NAME.*.partial``, never a partly written
    ``path``. An earlier file at ``path`` is unchanged until it is replaced. Missing folders are created.

    Raises
    ------
    StorageError
        When the disk is full, or no file can be made in the folder.

    Example
    -------
    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "table.csv"
    >>> with replacing(target) as partial:
    ...     _ = partial.write_text("complete")
    >>> target.read_text(), [p.name for p in target.parent.iterdir()]
    ('complete', ['table.csv'])
    """
    target = Path(path)
    with naming(target):
        partial = _partial_file(target)
        try:
            yield partial
            # mkstemp creates private files; set the permissions that the umask of the process would have given.
            umask = os.umask(0)
            os.umask(umask)
            partial.chmod(0o666 & ~umask)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)


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
    for path, modified in _times(folders):
        if path.name.startswith(".") and path.name.endswith(".partial") and time.time() - modified > seconds:
            with suppress(OSError):
                path.unlink()


def bring_to_present(*folders: str | os.PathLike[str]) -> int:
    """Give the present time to all files but code in some folders that were changed in the future; how many these were.

    There are such files after a clock was set back, and Snakemake accepts no output that is older than its input.

    Raises
    ------
    StorageError
        When the time of a file cannot be changed.

    Example
    -------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> (folder / "table.csv").touch()
    >>> os.utime(folder / "table.csv", (2**32, 2**32))
    >>> bring_to_present(folder), bring_to_present(folder)
    (1, 0)
    """
    now = time.time()
    # No job has code as an input, and numba compiles anew what is in a file with another time.
    ahead = [path for path, modified in _times(folders) if modified > now + 1.0 and path.suffix not in CODE]
    for path in ahead:
        try:
            os.utime(path, (now, now))
        except OSError as error:
            raise StorageError(
                f"{path}: expected a file that was changed in the past, found one of the future, and its time cannot "
                f"be set ({error.strerror}); set the clock of this computer, or `touch` the file"
            ) from error
    return len(ahead)


def _times(folders: Iterable[str | os.PathLike[str]]) -> Iterator[tuple[Path, float]]:
    """All files in some folders, without links, and when they were changed."""
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(place, name)
                with suppress(OSError):
                    status = os.lstat(path)
                    if stat.S_ISREG(status.st_mode):
                        yield Path(path), status.st_mtime


def _partial_file(target: Path) -> Path:
    """Create an empty file with a unique name in the folder of ``target``."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".partial")
    except OSError as error:
        if is_full(error):
            raise
        raise StorageError(f"{target}: cannot be written ({error.strerror}); allow writing in its folder") from error
    os.close(handle)
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
