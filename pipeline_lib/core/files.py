"""How does a file get its final name only once it is complete?"""

import errno
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pipeline_lib.core.errors import StorageError


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
    """Raise an error that names ``path`` when the block, which writes it, finds the disk full.

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
        raise


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Provide a temporary path next to ``path``; rename it to ``path`` when the block ends without an error.

    A process that is killed inside the block leaves at most a file ``.NAME.*.partial``, never a partly written
    ``path``. An earlier file at ``path`` is unchanged until it is replaced. Missing folders are created.

    Raises
    ------
    StorageError
        When the disk is full, no file can be made in the folder, or ``path`` is a folder.

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
            if target.is_dir():
                raise StorageError(f"{target}: expected the name of a file, found a folder")
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
    for folder in folders:
        for path in Path(folder).rglob(".*.partial"):
            with suppress(OSError):
                if time.time() - path.lstat().st_mtime > seconds:
                    path.unlink()


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
