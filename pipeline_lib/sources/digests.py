"""Is a file the expected one, and what is its digest?"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline_lib import checks
from pipeline_lib.checks import checked
from pipeline_lib.errors import DataError
from pipeline_lib.files import naming
from pipeline_lib.sources.catalog import Archive, Part

BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class Stored:
    """The size and SHA-256 of a file, and whether the catalogue contains this digest.

    ``verified`` is False when the catalogue knows no digest to compare with; a wrong digest is an error instead.
    """

    bytes: int
    sha256: str
    verified: bool


@checked
def blocks(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Read a file in blocks of bounded size."""
    with open(path, "rb") as file:
        while block := file.read(BLOCK_BYTES):
            yield block


@checked
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


@checked
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
        found = _digest(blocks(path), algorithm)
        if found not in accepted:
            raise DataError(
                f"{archive.name}: expected the {algorithm} digest {' or '.join(accepted)}, found {found}: damaged, or "
                "another file"
            )


@checked
def check_part(path: Path, part: Part) -> Stored:
    """Read an unpacked file and compare it with what the catalogue accepts.

    Raises
    ------
    DataError
        When the file is empty, too large or has an unknown digest where digests are known.
    """
    digest, size = hashlib.sha256(), 0
    for block in _limited(blocks(path), part.max_bytes, str(path)):
        digest.update(block)
        size += len(block)
    return _accepted(part, size, digest.hexdigest(), str(path))


@checked
def write_part(content: Iterable[bytes], target: Path, part: Part, limit: int, origin: str) -> Stored:
    """Write a part to ``target`` while it is read, and compare it with what the catalogue accepts.

    At most ``limit`` bytes, or the part's own limit when that is lower, are ever written.

    Raises
    ------
    DataError
        As :func:`check_part`, naming ``origin``; the caller must then remove ``target``.
    StorageError
        When the disk is full.
    """
    digest, size = hashlib.sha256(), 0
    bound = limit if part.max_bytes is None else min(limit, part.max_bytes)
    with naming(target), target.open("wb") as file:
        for block in _limited(content, bound, origin):
            digest.update(block)
            size += len(block)
            file.write(block)
    return _accepted(part, size, digest.hexdigest(), origin)


def _digest(content: Iterable[bytes], algorithm: str) -> str:
    digest = hashlib.new(algorithm, usedforsecurity=False)
    for block in content:
        digest.update(block)
    return digest.hexdigest()


def _limited(content: Iterable[bytes], limit: int | None, origin: str) -> Iterator[bytes]:
    size = 0
    for block in content:
        checks.instance("content", block, bytes)
        size += len(block)
        if limit is not None and size > limit:
            raise DataError(f"{origin}: expected at most {limit:,} bytes, found more: another file, or a bomb")
        yield block


def _accepted(part: Part, size: int, sha256: str, origin: str) -> Stored:
    if not size:
        raise DataError(f"{origin}: expected LETOR text, found an empty file")
    if part.sha256 and sha256 not in part.sha256:
        raise DataError(
            f"{origin}: expected part {part.name} with SHA-256 {' or '.join(part.sha256)}, found {sha256}: the file "
            "was changed, or belongs to another data set"
        )
    return Stored(size, sha256, verified=bool(part.sha256))
