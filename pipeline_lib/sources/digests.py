"""Is a file the expected one, and what is its digest?"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline_lib.core.errors import DataError
from pipeline_lib.core.files import naming, reading
from pipeline_lib.sources.catalog import Archive, Part

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

BLOCK_BYTES = 1 << 20
LARGEST_TEXT = 1 << 37
"""Bytes of one unpacked file, at most: no data set here is larger."""


@dataclass(frozen=True)
class Stored:
    """The size and SHA-256 of a file, and whether the catalogue contains this digest.

    ``verified`` is False when the catalogue knows no digest to compare with; a wrong digest is an error instead.
    """

    bytes: int
    sha256: str
    verified: bool


def blocks(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Read a file in blocks of bounded size.

    Raises
    ------
    DataError
        When it cannot be read.
    """
    try:
        with reading(path) as file:
            while block := file.read(BLOCK_BYTES):
                yield block
    except OSError as error:
        raise DataError(f"{path}: expected a readable file, found none ({error.strerror})") from error


def digest(*paths: str | os.PathLike[str], algorithm: str = "sha256") -> str:
    """The digest of a file, or of several, one after the other."""
    found = hashlib.new(algorithm, usedforsecurity=False)
    for path in paths:
        for block in blocks(path):
            found.update(block)
    return found.hexdigest()


def check_size(path: Path, archive: Archive) -> None:
    """Compare the size of a file with the catalogue's, where it knows one.

    Raises
    ------
    DataError
        When they differ.
    """
    size = path.stat().st_size
    if archive.bytes is not None and size != archive.bytes:
        raise DataError(
            f"{archive.name}: expected {archive.bytes:,} bytes, found {size:,}: incomplete, or another file"
        )


def check_archive(path: Path, archive: Archive) -> None:
    """Compare size and digest of a file with what the catalogue accepts, as far as it knows them.

    SHA-256 is compared where it is known, MD5 only where it is not.

    Raises
    ------
    DataError
        When size or digest differ.
    """
    check_size(path, archive)
    algorithm, accepted = ("sha256", archive.sha256) if archive.sha256 else ("md5", archive.md5)
    if accepted:
        found = digest(path, algorithm=algorithm)
        if found not in accepted:
            raise DataError(
                f"{archive.name}: expected the {algorithm} digest {' or '.join(accepted)}, found {found}: damaged, or "
                "another file"
            )


def write_part(content: Iterable[bytes], target: Path, part: Part, limit: int, origin: str) -> Stored:
    """Write a part to ``target`` while it is read, and compare it with what the catalogue accepts.

    At most ``limit`` bytes, or the part's own limit when that is lower, are ever written.

    Raises
    ------
    DataError
        As :func:`check_part`; the caller must then remove ``target``.
    StorageError
        When the disk is full.
    """
    with naming(target), target.open("wb") as file:
        return check_part(content, part, limit, origin, file.write)


def check_part(
    content: Iterable[bytes], part: Part, limit: int, origin: str, write: Callable[[bytes], Any] = lambda block: None
) -> Stored:
    """Read a part and compare it with what the catalogue accepts.

    Raises
    ------
    DataError
        Naming ``origin``, when it is empty, too large or has an unknown digest where digests are known.
    """
    sha256, size = hashlib.sha256(), 0
    limit = min(limit, part.max_bytes or limit)
    for block in content:
        size += len(block)
        if size > limit:
            raise DataError(f"{origin}: expected at most {limit:,} bytes, found more: another file, or a bomb")
        sha256.update(block)
        write(block)
    found = sha256.hexdigest()
    if not size:
        raise DataError(f"{origin}: expected LETOR text, found an empty file")
    if part.sha256 and found not in part.sha256:
        raise DataError(
            f"{origin}: expected the SHA-256 {' or '.join(part.sha256)}, found {found}: the file was changed, or "
            "belongs to another data set"
        )
    return Stored(size, found, verified=bool(part.sha256))
