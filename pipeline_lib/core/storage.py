"""How are tables and JSON documents stored, so that a damaged file is noticed before it is used?

Every stored file contains the SHA-256 of its own bytes, computed with zeros in place of the digest: JSON documents
under their first key, Parquet files among the key-value metadata of their footer. Readers compare it before they parse
anything.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from pipeline_lib.core import files, origins
from pipeline_lib.core.errors import (
    DamagedFileError,
    DataError,
    OldFileError,
    OtherOriginError,
    PipelineError,
    UnsignedFileError,
    is_refused_memory,
)
from pipeline_lib.core.files import PARQUET, is_made_by_runs, kind, naming_what_is_read, reading, replacing

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

TEXTS = ("configuration.yaml", "claims.json")
"""Files whose checksum is beside them, because other programs read them."""
DIGESTS = "files.json"  # beside a report: the digest of each of its files
KEY = "sha256"
PARQUET_KEY = b"pipeline_lib.sha256"
BLOCK = 1 << 20
"""Bytes of a Parquet file that are read at a time to compare it with its checksum."""
_DIGITS = 64
_UNSIGNED = b"0" * _DIGITS
_JSON_HEAD = re.compile(rb'\{\s*"sha256": "([0-9a-f]{64})"')
_PARQUET_END = b"PAR1"
_BEFORE_DIGITS = PARQUET_KEY + b"\x18\x40"
"""In Thrift's compact protocol, the key is followed by the type of the value and its length, 64 bytes."""


def write_json(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write a JSON object with its checksum, completely or not at all; equal content gives equal bytes.

    Raises
    ------
    ValueError
        When a number is not finite.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "model.json"
    >>> write_json(path, {"w": [0.5]})
    >>> read_json(path), sorted(json.loads(path.read_text()))
    ({'w': [0.5]}, ['sha256', 'w'])
    """
    _state_origin(path, _write_signed(path, content))


def _write_signed(path: str | os.PathLike[str], content: Mapping[str, Any]) -> bytes:
    """Write a JSON object with its checksum; returns the checksum."""
    text = json.dumps(content, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False)
    separator = "," if content else "\n"
    signed = f'{{\n "{KEY}": "{_UNSIGNED.decode()}"{separator}{text[1:]}\n'.encode()
    digits = _digest([signed])
    with replacing(path) as partial:
        partial.write_bytes(signed.replace(_UNSIGNED, digits, 1))
    return digits


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what :func:`write_json` wrote, without its checksum.

    Raises
    ------
    DataError
        When there is no such file.
    DamagedFileError
        When the file does not have the checksum that it states, or states none.
    """
    with _open(path) as file:
        content = file.read()
    head = _JSON_HEAD.match(content)
    if head is None:
        raise _without_checksum(path, "a JSON object that begins with its SHA-256", _is_json(content))
    _compare(path, head[1], [content[: head.start(1)], _UNSIGNED, content[head.end(1) :]])
    try:
        document: dict[str, Any] = json.loads(content)
    except (ValueError, RecursionError) as error:  # a number may have more digits than Python converts
        raise DataError(
            f"{path}: expected JSON as this project stores it, found other content with a right checksum ({error})"
        ) from error
    del document[KEY]
    return document


def write_table(path: str | os.PathLike[str], table: pl.DataFrame) -> None:
    """Write a table as Parquet with its checksum, completely or not at all.

    Example
    -------
    >>> import tempfile
    >>> import polars as pl
    >>> path = Path(tempfile.mkdtemp()) / "table.parquet"
    >>> write_table(path, pl.DataFrame({"k": [1, 2]}))
    >>> read_table(path)["k"].to_list(), pl.read_parquet(path)["k"].to_list()
    ([1, 2], [1, 2])
    """
    with replacing(path) as partial:
        table.write_parquet(partial, compression="zstd", metadata={PARQUET_KEY.decode(): _UNSIGNED.decode()})
        digits = _sign(partial)
    _state_origin(path, digits)


def read_table(path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Read what :func:`write_table` wrote, or some of its ``columns``.

    Raises
    ------
    DataError
        When there is no such file.
    DamagedFileError
        When the file does not have the checksum that it states, or states none.
    """
    import polars as pl

    with checked(path) as file, naming_what_is_read(path):
        return pl.read_parquet(file, columns=columns if columns is None else list(columns))


@contextmanager
def parquet_writer(path: str | os.PathLike[str], schema: pa.Schema, **options: Any) -> Iterator[pq.ParquetWriter]:
    """Open a Parquet file of any size for writing by row groups; it appears, with its checksum, when complete.

    ``options`` are those of ``pyarrow.parquet.ParquetWriter``.
    """
    import pyarrow.parquet as pq

    with replacing(path) as partial:
        with pq.ParquetWriter(partial, schema, **options) as writer:
            yield writer
            writer.add_key_value_metadata({PARQUET_KEY: _UNSIGNED})
        digits = _sign(partial)
    _state_origin(path, digits)


@contextmanager
def checked(path: str | os.PathLike[str], *, required: bool = True) -> Iterator[BinaryIO]:
    """Open a Parquet file whose bytes have been compared with its checksum.

    A file without a checksum, as other programs write it, is opened as it is unless one is ``required``.

    Raises
    ------
    DataError
        When there is no such file.
    DamagedFileError
        When its bytes are not those that its checksum states; also when it states none although one is required.
    """
    with _open(path) as file:
        place = _place(file)
        if place is None:
            if required:
                raise _without_checksum(path, "a Parquet file that states its SHA-256", _is_parquet(file))
        else:
            file.seek(place)
            _compare(path, file.read(_DIGITS), _signed(file, place))
        file.seek(0)
        yield file


@contextmanager
def parquet_of_others(path: str | os.PathLike[str], *, compared: bool = False) -> Iterator[None]:
    """Put into words what Arrow says, while the block reads it, of a Parquet file that states no checksum.

    A damaged file may ask for any amount of memory. Where the bytes were ``compared`` with a checksum, it is the system
    that gives too little, and the error says so.

    Raises
    ------
    DataError
        When the file is none, or a damaged one, which Arrow notices in many ways.

    Example
    -------
    >>> with parquet_of_others("clicks.parquet"):
    ...     raise OSError("Deserializing page header failed.")
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: clicks.parquet: expected a Parquet file that can be read, found another \
file or a damaged one (Deserializing page header failed.); write it anew, or copy it again
    """
    import pyarrow as pa

    try:
        yield
    except PipelineError:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        if compared and is_refused_memory(error):
            raise
        said = " ".join(str(error).split())
        raise DataError(
            f"{path}: expected a Parquet file that can be read, found another file or a damaged one ({said}); write it "
            "anew, or copy it again"
        ) from error


def is_stored(path: Path) -> bool:
    """Whether a file states a checksum of its own, as :func:`write_json` and the writers of Parquet let it do.

    Example
    -------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> write_json(folder / "model.json", {})
    >>> (folder / "other.json").write_text("{}")
    2
    >>> is_stored(folder / "model.json"), is_stored(folder / "other.json")
    (True, False)
    """
    with reading(path) as file:
        return bool(_JSON_HEAD.match(file.read(2 * _DIGITS))) or _place(file) is not None


def verify(path: str | os.PathLike[str]) -> None:
    """Compare all bytes of a file that :func:`write_json` or a writer of Parquet stored with its checksum.

    Raises
    ------
    DataError
        When there is no such file.
    DamagedFileError
        When the file does not have the checksum that it states, or states none.
    """
    if Path(path).name in TEXTS:
        read_text(path)
    elif Path(path).suffix == ".json":
        read_json(path)
    else:
        with checked(path):
            pass


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write text, with its checksum in a file beside it, completely or not at all.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "configuration.yaml"
    >>> write_text(path, "seed: 1\\n")
    >>> read_text(path)
    'seed: 1\\n'
    """
    files.write_text(path, text)
    _state_origin(path, _digest([text.encode()]), always=True)


def read_text(path: str | os.PathLike[str]) -> str:
    """Read text, and compare it with the checksum beside it, if there is one.

    Raises
    ------
    DataError
        When there is no such file.
    DamagedFileError
        When the file does not have that checksum, or is not UTF-8.
    """
    with _open(path) as file:
        content = file.read()
    if stated := _stated_beside(path):
        _compare(path, stated, [content])
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DamagedFileError(path, f"expected UTF-8, found {error.reason} at byte {error.start:,}") from error


def compare_origin(path: Path, planned: origins.Origin) -> None:
    """Compare what made a file with what the run has planned to make it.

    Raises
    ------
    OtherOriginError
        When they differ, or nothing is known of what made the file as it is.
    """
    try:
        stated = read_json(origins.beside(path))
    except DataError:
        stated = {}
    if "code" not in stated or stated["of"] != _own_checksum(path):
        verify(path)
        raise OtherOriginError(path, "expected a file of this run's code and settings, found one of unknown origin")
    for what, found, expected in zip(("code", "settings"), (stated["code"], stated["settings"]), planned, strict=True):
        if found != expected:
            raise OtherOriginError(path, f"expected a file made with the {what} {expected} of this run, found {found}")


def compare_parts(paths: Sequence[Path], seed: int) -> None:
    """Compare what made some files, among which the same work is divided, with each other, and with the study's seed.

    Files of which nothing is known, because no job has made them, pass as parts of one another.

    Raises
    ------
    DataError
        When they were made with different code, settings or seeds, or with another seed.
    """
    again = "make it again, and what else is of other code, settings or seeds than this study"
    first: dict[str, Any] = {}
    for path in paths:
        found = _made_with(path)
        if found.get("seed", seed) != seed:
            raise DataError(f"{path}: expected a file made with the seed {seed}, found one of {found['seed']}; {again}")
        first = first if path != paths[0] else found
        for what in dict.fromkeys([*first, *found]):
            stated, expected = found.get(what, "unknown"), first.get(what, "unknown")
            if stated != expected:
                raise DataError(
                    f"{path}: expected a file made with what {paths[0]} was made with ({what} {expected}), found one "
                    f"made otherwise ({what} {stated}); {again}"
                )


def _made_with(path: Path) -> dict[str, Any]:
    """What is stated of the origin of a file, as far as parts of the same work share it; nothing without a statement.

    Raises
    ------
    DataError
        When the statement is about another file.
    """
    beside = origins.beside(path)
    if not beside.is_file():
        return {}
    try:
        stated = read_json(beside)
    except DamagedFileError as error:
        raise DamagedFileError(path, f"expected its origin in {beside}, found that damaged") from error
    if stated["of"] != _own_checksum(path):
        verify(path)
        raise DataError(f"{path}: expected the file whose origin {beside.name} states, found another; make it again")
    return {what: said for what, said in stated.items() if what not in ("of", "settings")}


def _without_checksum(path: str | os.PathLike[str], expected: str, is_whole: bool) -> DamagedFileError:
    """The error of a file without a checksum: an old one, unless it cannot be read or something beside it is newer."""
    found = kind(path)
    if is_whole and not origins.beside(path).exists():
        return OldFileError(path, f"expected {expected}, found {found} without it, as older versions wrote them")
    if found == PARQUET and PARQUET in expected:
        found = "one that states none"
    return UnsignedFileError(path, f"expected {expected}, found {found}")


def _is_json(content: bytes) -> bool:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and not any(name.lower().startswith("sha") for name in list(found)[:1])


def _is_parquet(file: BinaryIO) -> bool:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        known = pq.read_metadata(file).metadata or {}
    except (pa.ArrowException, OSError, ValueError):
        return False
    return not any(name.startswith(b"pipeline_lib") for name in known)


def _state_origin(path: str | os.PathLike[str], digits: bytes, *, always: bool = False) -> None:
    """Write beside a file what made it, or remove what is said there of another file."""
    origin = origins.of_this_job()
    if origin or always:
        _write_signed(origins.beside(path), {"of": digits.decode(), **origin})
    else:
        origins.beside(path).unlink(missing_ok=True)


def _stated_beside(path: str | os.PathLike[str]) -> bytes | None:
    """The checksum beside a file, if there is one."""
    beside = origins.beside(path)
    try:
        return str(read_json(beside)["of"]).encode() if beside.is_file() else None
    except DamagedFileError as error:
        raise DamagedFileError(path, f"expected its checksum in {beside}, found that damaged") from error


def _own_checksum(path: Path) -> str | None:
    """The checksum that a file states, or that it has if it is of a kind that states none; nothing is compared."""
    with _open(path) as file:
        if path.suffix == ".parquet":
            place = _place(file)
            file.seek(place or 0)
            return file.read(_DIGITS).decode("ascii", "replace") if place else None
        head = _JSON_HEAD.match(file.read(len(KEY) + _DIGITS + 32)) if path.suffix == ".json" else None
        if head is not None:
            return head[1].decode()
        file.seek(0)
        return _digest([file.read()]).decode()


def write_digests(path: str | os.PathLike[str], files: Iterable[Path]) -> None:
    """Write the SHA-256 of files that state none, as a JSON document with its own checksum; see :func:`damaged_of`.

    The file beside it contains them once more, so that damage to one of the two hides nothing.
    """
    listed = {"files": {str(file): _digest([file.read_bytes()]).decode() for file in files}}
    digits = _write_signed(path, listed)
    _write_signed(origins.beside(path), {"of": digits.decode(), **origins.of_this_job(), **listed})


def digests(path: str | os.PathLike[str]) -> dict[str, str]:
    """What :func:`write_digests` wrote, by file, from whichever of the two lists is whole.

    Raises
    ------
    DamagedFileError
        When both are damaged.
    """
    try:
        found = read_json(path)
    except DamagedFileError as error:
        try:
            found = read_json(origins.beside(path))
        except DataError:
            raise error from None
    listed: dict[str, str] = found.get("files", {})
    return listed


def damaged_of(path: str | os.PathLike[str]) -> Iterator[DamagedFileError]:
    """The files that are missing or do not have the SHA-256 that :func:`write_digests` wrote.

    Example
    -------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "page.html").write_text("one"), (folder / "other.html").write_text("two")
    (3, 3)
    >>> write_digests(folder / "files.json", folder.glob("*.html"))
    >>> (folder / "page.html").write_text("0ne")
    3
    >>> [error.path.name for error in damaged_of(folder / "files.json")]
    ['page.html']
    """
    for name, stated in digests(path).items():
        try:
            _compare(name, stated.encode(), [Path(name).read_bytes()])
        except OSError as error:
            yield DamagedFileError(name, f"it cannot be read ({error.strerror})")
        except DamagedFileError as error:
            yield error


def set_aside(path: Path) -> Path | None:
    """Move a damaged file to ``NAME.damaged`` (or ``NAME.damaged-2``, ...), so that the next run makes it again.

    Only files that a run makes are moved (:func:`pipeline_lib.core.files.is_made_by_runs`), and no file is ever
    replaced. Returns the new path, or None if the file is not moved.
    """
    if not is_made_by_runs(path):
        return None
    target = next(target for number in itertools.count(1) if not (target := _aside(path, number)).exists())
    try:
        moved = path.rename(target)
        origins.beside(path).unlink(missing_ok=True)
        return moved
    except FileNotFoundError:  # another job has noticed the damage as well, and was faster
        return _aside(path, 1)
    except OSError:  # a read-only folder
        return None


def _open(path: str | os.PathLike[str]) -> BinaryIO:
    try:
        return io.BufferedReader(reading(path))
    except DataError as error:
        if os.path.exists(_aside(Path(path), 1)):
            raise DamagedFileError(path, f"it is not there, because it was moved to {_aside(Path(path), 1)}") from error
        raise


def _aside(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.damaged{'' if number == 1 else f'-{number}'}")


def _digest(content: Iterable[bytes]) -> bytes:
    digest = hashlib.sha256()
    for piece in content:
        digest.update(piece)
    return digest.hexdigest().encode()


def _compare(path: str | os.PathLike[str], stated: bytes, content: Iterable[bytes]) -> None:
    found = _digest(content)
    if found != stated:
        digits = stated.decode("ascii", "backslashreplace")
        raise DamagedFileError(path, f"expected the SHA-256 {digits} that it states, found {found.decode()}")


def _place(file: BinaryIO | io.FileIO) -> int | None:
    """Where the digits of the checksum of a Parquet file begin, in its footer after their key; None without them."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - 8, 0))
    end = file.read()
    start = size - 8 - int.from_bytes(end[:4], "little")
    if not end.endswith(_PARQUET_END) or len(end) < 8 or start < len(_PARQUET_END):
        return None
    file.seek(start)
    footer = file.read()
    at = footer.rfind(_BEFORE_DIGITS)
    digits = at + len(_BEFORE_DIGITS)
    return start + digits if at >= 0 and digits + _DIGITS <= len(footer) else None


def _signed(file: BinaryIO, place: int) -> Iterator[bytes]:
    """The bytes of a Parquet file that its checksum is about: all, with zeros as the digits at ``place``."""
    file.seek(0)
    for start in range(0, place, BLOCK):
        yield file.read(min(BLOCK, place - start))
    file.seek(place + _DIGITS)
    yield _UNSIGNED
    while piece := file.read(BLOCK):
        yield piece


def _sign(path: Path) -> bytes:
    """Write the digits into the space reserved for them in a Parquet file; returns them."""
    with path.open("r+b") as file:
        place = _place(file)
        assert place is not None
        digits = _digest(_signed(file, place))
        file.seek(place)
        file.write(digits)
        return digits
