"""What if a function that numba compiled in an earlier process, and keeps in a file, can no longer be read?

Numba writes two files per function (:mod:`pipeline_lib.core.compiled`), an index (``.nbi``) and the machine code
(``.nbc``). It reads them without a check, so that one that was cut off, by a loss of power or a copy that was
interrupted, would make every later process fail. Removing the index has the function compiled anew.
"""

import contextlib
import pickle
import traceback
from collections.abc import Iterator
from pathlib import Path

__all__: list[str] = []  # internal: called by the command line alone (see pipeline_lib.core.checks)

_PACKAGE = Path(__file__).parents[1]


def remove_damaged(error: BaseException) -> list[Path]:
    """The damaged index files, which are removed, where an error was raised while numba read one; else none.

    All files of the package are looked at with one of it, because what damaged one has often damaged several.
    """
    met = None if isinstance(error, OSError) else next(_indices(error), None)
    if met is None:
        return []
    others = _PACKAGE.rglob("*.nbi") if met.is_relative_to(_PACKAGE) else met.parent.glob("*.nbi")
    damaged = {met} | {path for path in others if not _is_whole(path)}
    for path in damaged:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
    return sorted(path for path in damaged if not path.exists())


def _indices(error: BaseException) -> Iterator[Path]:
    """The index files that numba was reading when the error was raised."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if Path(frame.f_code.co_filename).parts[-3:] == ("numba", "core", "caching.py"):
            cache = frame.f_locals.get("self")
            path = getattr(getattr(cache, "_cache_file", cache), "_index_path", None)
            if isinstance(path, str):
                yield Path(path)


def _is_whole(index: Path) -> bool:
    """Whether an index and the code that it lists can be read."""
    try:
        with index.open("rb") as file:
            pickle.load(file)  # numba's version
            _, files = pickle.loads(file.read())
        for name in files.values():
            pickle.loads((index.parent / name).read_bytes())
    except Exception:  # unpickling damaged bytes may raise anything
        return False
    return True
