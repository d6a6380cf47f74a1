"""Which errors does the project raise for what a person can mend, and how do they read?

Every message says where (file, line, key or argument), what was expected, what was found, and what to do.
The command line prints such an error as one line and exits with status 1; anything else keeps its traceback.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from pathlib import Path


class PipelineError(Exception):
    """Base of all errors that a person can mend without reading our code; the message is :func:`printable`."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(printable(part) if isinstance(part, str) else part for part in arguments))


class DataError(PipelineError, ValueError):
    """The data given are not what the function or the file format asks for."""


class ArgumentError(DataError, TypeError):
    """An argument of a function is of a type that the function does not take at all."""


class DamagedFileError(DataError):
    """A stored file is not what its checksum says; ``path`` is the file, and the next run can make it again."""

    def __init__(self, path: str | os.PathLike[str], difference: str) -> None:
        super().__init__(f"{path}: damaged: {difference}")
        self.path = Path(path)


class ConfigurationError(PipelineError, ValueError):
    """A key or a value of the configuration, the catalogue or the ledger of claims is wrong."""


class DownloadError(PipelineError, OSError):
    """A file could not be fetched, or what was fetched is not the file that was asked for."""


class StorageError(PipelineError, OSError):
    """A file cannot be written: the disk is full, or the place does not take it."""


def printable(text: str) -> str:
    """Escape what a terminal would obey rather than show; line feeds and tabs stay.

    Messages quote servers, archives and files, whose bytes may move the cursor, hide text or set a window's title.

    Example
    -------
    >>> print(printable("HTTP 404 \\x1b[2Jgone"))
    HTTP 404 \\x1b[2Jgone
    """
    return "".join(
        sign if sign.isprintable() or sign in "\n\t" else sign.encode("unicode_escape").decode("ascii") for sign in text
    )


def hint(name: object, known: Iterable[str]) -> str:
    """Say which known name was probably meant by a wrong one, whatever its case; list them all where none is near.

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
