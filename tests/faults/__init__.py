"""The n-th write, rename, open, fork or allocation of a job fails, for every n: does the job say so, and lose nothing?

    python -m tests.faults --only train-model

A library that is loaded before the C library (``shim.c``, compiled when it is needed) counts the calls of the jobs of a
small study on its files, and lets one of them fail. A job that ends well must have written the bytes of an undisturbed
one, and a job that fails must say in one line what failed; either leaves no damaged file under its own name, and when
it is done again without a failure, the bytes are those of an undisturbed one.
"""

import errno
import mmap
import os
import shutil
import struct
import subprocess
from pathlib import Path

SHIM = Path(__file__).with_name("shim.c")
OPERATIONS = (
    *(
        "write",
        "log",
        "read",
        "open",
        "rename",
        "fsync",
        "ftruncate",
        "close",
        "close of a log",
        "unlink",
        "chmod",
        "mkdir",
    ),
    *("fork", "mmap", "malloc"),
)
"""Kinds of calls, in the order of the shim."""
SHORT = -1
"""In place of the number of an error: half of what a call was given is written, and the call says so."""
ERRORS: dict[str, tuple[int, ...]] = {
    "write": (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EINTR, SHORT),
    "log": (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EINTR, SHORT),
    "read": (errno.EIO,),
    "open": (errno.EMFILE, errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EINTR),
    "rename": (errno.EIO, errno.ENOSPC, errno.EDQUOT),
    "fsync": (errno.EIO, errno.ENOSPC),
    "ftruncate": (errno.EIO, errno.ENOSPC),
    "close": (errno.EIO, errno.ENOSPC, errno.EDQUOT),
    "close of a log": (errno.EIO, errno.ENOSPC, errno.EDQUOT),
    "unlink": (errno.EIO,),
    "chmod": (errno.EIO, errno.EPERM),
    "mkdir": (errno.ENOSPC, errno.EIO),
    "fork": (errno.EAGAIN, errno.ENOMEM),
    "mmap": (errno.ENOMEM,),
    "malloc": (errno.ENOMEM,),
}
"""How a call of each kind may fail. Linux interrupts no reading of a file on a disk."""
_PLAN = struct.Struct(f"=6q{len(OPERATIONS)}q512s512s")


class NoCompiler(Exception):
    """There is no C compiler here, or no loader that takes libraries before others."""


def name_of(error: int) -> str:
    """The name of an error, such as ENOSPC.

    Example
    -------
    >>> name_of(errno.ENOSPC), name_of(SHORT)
    ('ENOSPC', 'short')
    """
    return "short" if error == SHORT else errno.errorcode[error]


class Faults:
    """The plan that the shim shares with the processes which are started in :meth:`environment`.

    Parameters
    ----------
    place : path
        A folder for the compiled shim and the plan.
    folder : path
        The folder of the run, whose files count.

    Raises
    ------
    NoCompiler
    """

    def __init__(self, place: Path, folder: Path) -> None:
        compiler = shutil.which("cc")
        if compiler is None or os.uname().sysname != "Linux":
            raise NoCompiler("the shim needs cc and Linux")
        place.mkdir(parents=True, exist_ok=True)
        self.shim, self._file = place / "shim.so", place / "plan"
        self.folder = os.fsencode(os.path.realpath(folder))
        command = [compiler, "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", self.shim, SHIM, "-ldl"]
        subprocess.run(command, check=True)
        self._file.write_bytes(bytes(_PLAN.size))
        with self._file.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), _PLAN.size)
        self.count()

    def environment(self) -> dict[str, str]:
        """The variables of processes that take part."""
        return {"LD_PRELOAD": str(self.shim), "LTR_FAULTS": str(self._file)}

    def count(self, *, everywhere: bool = False) -> None:
        """Only count from now on, from 0."""
        self.let_fail("write", 0, 0, times=0, everywhere=everywhere)

    def let_fail(self, operation: str, first: int, error: int, *, times: int = 1, everywhere: bool = False) -> None:
        """Let so many calls of a kind from the ``first`` on (1, 2, ...) fail, and count from 0.

        ``everywhere`` says that processes count which are no jobs.
        """
        numbers = (OPERATIONS.index(operation), first, times, error, int(everywhere), 0)
        self._shared[:] = _PLAN.pack(*numbers, *[0] * len(OPERATIONS), self.folder, b"")

    def counts(self) -> dict[str, int]:
        """How many calls of each kind there were."""
        return dict(zip(OPERATIONS, _PLAN.unpack(self._shared)[6:-2], strict=True))

    def fired(self) -> str | None:
        """The file of the call that failed last; None where none has failed."""
        fields = _PLAN.unpack(self._shared)
        return fields[-1].rstrip(b"\0").decode() if fields[5] else None
