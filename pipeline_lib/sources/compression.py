"""How is a file read whose bytes may be compressed? By its first bytes: gzip, bzip2 and Zstandard are recognised."""

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pipeline_lib.core.errors import DataError, PipelineError
from pipeline_lib.core.files import reading

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

SUFFIXES = (".gz", ".bz2", ".zst")
_HEAD = 10
_EXPORT = "write its documents as text, CSV or Parquet"
_OTHERS = {
    rb"version https://git-lfs": "a pointer of Git LFS and not the data: get these with `git lfs pull`",
    rb"\x80[\x02-\x05]": f"a pickle of Python: {_EXPORT}",
    rb"\x93NUMPY": f"an array of numpy: {_EXPORT}",
    rb"\x89HDF": f"HDF5: {_EXPORT}",
    rb"ARROW1": f"a file of Arrow: {_EXPORT}",
    # The length of the first record, in 8 bytes of which the upper ones are 0.
    rb"[\x00-\xff]{3}\x00{5}": f"TFRecords of TensorFlow: {_EXPORT}",
}
"""What begins with these bytes, and neither text nor a table does."""
_MARKS = {"gzip": rb"\x1f\x8b", "bz2": rb"BZh[1-9]1AY&SY", "zstd": rb"\x28\xb5\x2f\xfd"}


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[Any]:
    """Open a file for reading its bytes unpacked.

    Raises
    ------
    DataError
        When the file cannot be read, or what is compressed is damaged or cut off.
    """
    with reading(path) as raw:
        kind = None
        try:
            kind = compression(raw.read(_HEAD))
            raw.seek(0)
            if kind is None:
                yield raw
                return
            import pyarrow as pa

            yield pa.CompressedInputStream(pa.PythonFile(raw, "r"), kind)
        except PipelineError:
            raise
        except OSError as error:
            expected = "a file that can be read" if kind is None else f"a whole {kind} file"
            found = "found none" if kind is None else "found a damaged one"
            raise DataError(f"{path}: expected {expected}, {found} ({error})") from error


def compression(head: bytes) -> str | None:
    """How a file that begins with these bytes is compressed, in Arrow's words."""
    return next((kind for kind, mark in _MARKS.items() if re.match(mark, head, re.DOTALL)), None)


def other_kind(head: bytes) -> str | None:
    """What a file is, in words, that begins with these bytes and holds no documents that are read here."""
    return next((words for mark, words in _OTHERS.items() if re.match(mark, head)), None)


def unpacked_name(path: str | os.PathLike[str]) -> str:
    """The name of a file without the ending of its compression."""
    name = Path(path).name
    return Path(name).stem if Path(name).suffix.lower() in SUFFIXES else name


def lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, bytes]]:
    """The lines of a text that are not empty, with their numbers from 1, without a byte order mark."""
    with opened(path) as file, io.BufferedReader(file) as text:
        for number, line in enumerate(text, start=1):
            begun = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if begun.strip():
                yield number, begun


def text_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """All lines of a text, a character for each byte, without a byte order mark; every line end becomes a line feed."""
    with opened(path) as file, io.TextIOWrapper(io.BufferedReader(file), encoding="latin-1", newline=None) as text:
        for number, line in enumerate(text):
            yield line if number else line.removeprefix("\xef\xbb\xbf")
