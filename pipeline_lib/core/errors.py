"""Which errors does the project raise for problems that a user can correct, and how are they worded?

Every message states the place (file, line, key or argument), what was expected, what was found, and what to do. The
command line prints such an error as one line and exits with status 1; anything else keeps its traceback.
"""

import difflib
import os
from collections.abc import Iterable
from pathlib import Path


class PipelineError(Exception):
    """Base of all errors that a user can correct without reading the code; the message is :func:`printable`."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(printable(part) if isinstance(part, str) else part for part in arguments))


class DataError(PipelineError, ValueError):
    """The given data are not what the function or the file format requires."""


class UnlearnableError(DataError):
    """From data that are in order, a learner cannot learn with its settings; another learner may."""


class OutOfRangeError(DataError):
    """A computation on numbers that are in order left the range of float64."""


class ArgumentError(DataError, TypeError):
    """An argument of a function has a type that the function does not accept."""


class DamagedFileError(DataError):
    """A stored file does not agree with its checksum; ``path`` is the file, which the next run can make again."""

    kind = "damaged: "

    def __init__(self, path: str | os.PathLike[str], difference: str) -> None:
        super().__init__(f"{path}: {self.kind}{difference}")
        self.path, self.difference = Path(path), difference


class UnsignedFileError(DamagedFileError):
    """A file states no checksum: another program wrote it, unless the damage is where its checksum was."""


class OldFileError(UnsignedFileError):
    """A stored file is whole as far as one can tell, but an older version wrote it, without a checksum."""

    kind = "old: "


class OtherOriginError(DamagedFileError):
    """A stored file is whole, but other code or other settings made it than the run has planned."""

    kind = "not of this run: "


class ConfigurationError(PipelineError, ValueError):
    """A key or a value of the configuration, the catalogue or the ledger of claims is wrong."""


class DownloadError(PipelineError, OSError):
    """A file could not be downloaded, or what was downloaded is not the requested file."""


class StorageError(PipelineError, OSError):
    """A file cannot be written, because the disk is full or writing there is not allowed."""


MORE_MEMORY = (
    "raise the limit of this shell (`ulimit -v`), of the container or of the cluster's job, or work on fewer data at "
    "a time"
)
"""What to do when memory was refused."""


def is_refused_memory(error: BaseException) -> bool:
    """Whether the system gave no memory: for data, or for the code of a library when it was imported.

    A library may say something else of it, such as that a file of its own cannot be found: the reason is then an error
    that was raised before.

    Example
    -------
    >>> is_refused_memory(ImportError("libarrow.so: failed to map segment from shared object"))
    True
    >>> is_refused_memory(OSError(2, "No such file or directory"))
    False
    """
    texts = ("failed to map segment", "Cannot allocate memory", "ZSTD_DCtx create failed")
    found: BaseException | None = error
    while found is not None:
        if isinstance(found, MemoryError) or any(text in str(found) for text in texts):
            return True
        found = found.__cause__ or found.__context__
    return False


def printable(text: str) -> str:
    """Escape the characters that a terminal would execute rather than show; line feeds and tabs are kept.

    Messages quote servers, archives and files, whose bytes may move the cursor, hide text or set a window's title.

    Example
    -------
    >>> print(printable("HTTP 404 \\x1b[2Jgone"))
    HTTP 404 \\x1b[2Jgone
    """
    if text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() or sign in "\n\t" else sign.encode("unicode_escape").decode("ascii") for sign in text
    )


def hint(name: object, known: Iterable[str]) -> str:
    """Suggest the known name that a wrong one probably means, whatever its case; list them all if none is similar.

    Example
    -------
    >>> hint("lisnet", ["listnet", "ranknet"])
    "did you mean 'listnet'?"
    >>> hint("x", ["listnet", "ranknet"])
    'known are listnet, ranknet'
    """
    names = list(known)
    lower = {candidate.lower(): candidate for candidate in names}
    near = difflib.get_close_matches(str(name).lower(), lower, n=1, cutoff=0.5)
    return f"did you mean {lower[near[0]]!r}?" if near else f"known are {', '.join(names) or 'none'}"
