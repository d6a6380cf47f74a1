"""How does a file get its final name only once it is complete?"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside ``path``; rename it to ``path`` when the block ends without an error.

    Whoever is killed inside the block leaves at most a ``.NAME.*.partial`` file, never a half-written ``path``,
    and a file that stood at ``path`` before is untouched until the rename. Missing folders are made.

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
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".partial")
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        # mkstemp makes files private; give what the process's umask would have given.
        umask = os.umask(0)
        os.umask(umask)
        partial.chmod(0o666 & ~umask)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write ``text`` as UTF-8 with LF line ends, whole or not at all.

    Example
    -------
    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "note.txt"
    >>> write_text(target, "one line\\n"); target.read_text()
    'one line\\n'
    """
    with replacing(path) as partial:
        partial.write_bytes(text.encode("utf-8"))
