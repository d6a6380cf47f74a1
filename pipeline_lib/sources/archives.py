"""How are the needed files extracted from an untrusted archive?

The format is recognised by the content, not by the name: .zip, and through libarchive .tar (plain, .gz, .bz2, .xz),
.rar and .7z. Members are read as streams and written under names of our own, so that no member can choose its
destination. An archive that attempts to (by a path outside the folder, a link, a device, or a duplicate member), that
is encrypted, or that unpacks to far more than it should is refused as a whole, and no file is left behind.
"""

import errno
import os
import re
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pipeline_lib.core.errors import DataError
from pipeline_lib.sources.catalog import Part
from pipeline_lib.sources.digests import BLOCK_BYTES, LARGEST_TEXT, Stored, write_part

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

# LETOR text is compressed by a factor of 5 to 15. A much larger factor indicates an archive bomb.
LARGEST_RATIO = 200
SMALLEST_LIMIT = 1 << 20

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_OF_LIBARCHIVE = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"Rar!\x1a\x07", b"7z\xbc\xaf\x27\x1c")
# What zipfile raises for damaged archives, in which offsets may be wrong.
_DAMAGE = (
    *(zipfile.BadZipFile, EOFError, zlib.error, struct.error, UnicodeDecodeError),
    *(NotImplementedError, ValueError, IndexError, OverflowError, OSError),
)
_SEEK_TO_NOWHERE = (None, errno.EINVAL, errno.EOVERFLOW)


Kind = Literal["file", "directory", "link", "device"]


@dataclass(frozen=True)
class _Member:
    name: str
    kind: Kind
    encrypted: bool
    size: int
    content: Callable[[], Iterator[bytes]]


def extract(archive: Path, parts: Mapping[str, Part], folder: Path) -> dict[str, tuple[str, Stored]]:
    """Extract the needed parts of an archive to ``folder/PART.txt`` and check them while they are read.

    A part is the member whose path ends, in whole components, with one of the part's ``members``; an earlier one of
    these is preferred. Returned is for every part the member that contained it, its size and its digest.

    Raises
    ------
    DataError
        When the file is not an archive, is damaged, violates a rule above, lacks a part, contains it twice, or contains
        another file than the catalogue expects; also when libarchive is needed but not installed. No file is left in
        ``folder`` then.
    """
    folder.mkdir(parents=True, exist_ok=True)
    limit = min(LARGEST_TEXT, max(SMALLEST_LIMIT, LARGEST_RATIO * archive.stat().st_size))
    staging = folder / ".unpacking.partial"
    shutil.rmtree(staging, ignore_errors=True)  # of a run that was killed
    staging.mkdir()
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, staging)
        try:
            taken = _take(archive, _open(archive, stack), parts, staging, limit)
        except DataError:
            raise
        except _DAMAGE as error:
            if isinstance(error, OSError) and error.errno not in _SEEK_TO_NOWHERE:
                raise  # a full disk or a missing permission is not the archive's fault
            raise DataError(f"{archive}: the archive is damaged or incomplete ({error}); fetch it again") from error
        missing = [name for name in parts if name not in taken]
        if missing:
            wanted = " or ".join(parts[missing[0]].members)
            raise DataError(f"{archive}: no member ends with {wanted} (part {missing[0]}); is it another data set's?")
        for name in parts:
            os.replace(staging / f"{name}.txt", folder / f"{name}.txt")
    return {name: taken[name][1:] for name in parts}


def _take(
    archive: Path, members: Iterable[_Member], parts: Mapping[str, Part], staging: Path, limit: int
) -> dict[str, tuple[int, str, Stored]]:
    """Read all members once, check every one, and write those that are parts."""
    taken: dict[str, tuple[int, str, Stored]] = {}
    seen: set[str] = set()
    unpacked = 0
    for member in members:
        name = _safe_name(archive, member)
        if name in seen and member.kind != "directory":
            raise DataError(f"{archive}: holds the member {name} twice; refused")
        seen.add(name)
        unpacked += member.size
        if unpacked > limit:
            raise DataError(f"{archive}: unpacks to more than {limit:,} bytes; refused as a bomb")
        for part, rank in _ranks(name, parts) if member.kind == "file" else ():
            if part in taken and taken[part][0] == rank:
                raise DataError(f"{archive}: both {taken[part][1]} and {name} could be part {part}; keep one")
            if part not in taken or rank < taken[part][0]:
                origin = f"{archive}, member {name}"
                stored = write_part(member.content(), staging / f"{part}.txt", parts[part], limit, origin)
                taken[part] = (rank, name, stored)
    return taken


def _safe_name(archive: Path, member: _Member) -> str:
    """The normalised name of a member; refuses paths outside the folder, links, devices and encrypted members."""
    name = member.name
    if member.kind in ("link", "device"):
        raise DataError(f"{archive}: the member {name!r} is a {member.kind}; refused")
    if member.encrypted:
        raise DataError(f"{archive}: the member {name!r} is encrypted; unpack it by hand")
    steps = [step for step in name.split("/") if step not in ("", ".")]
    if name.startswith("/") or "\\" in name or "\0" in name or ".." in steps or re.match(r"[A-Za-z]:", name):
        raise DataError(f"{archive}: the member {name!r} would leave the folder; refused")
    return "/".join(steps)


def _ranks(name: str, parts: Mapping[str, Part]) -> Iterator[tuple[str, int]]:
    """The parts that a member could be, each with the rank of the pattern that it matches."""
    for part, wanted in parts.items():
        yield from ((part, rank) for rank, pattern in enumerate(wanted.members) if f"/{name}".endswith(f"/{pattern}"))


def _open(archive: Path, stack: ExitStack) -> Iterator[_Member]:
    with archive.open("rb") as file:
        head = file.read(512)
    if head.startswith(_ZIP):
        return _zip_members(stack.enter_context(zipfile.ZipFile(archive)))
    if head.startswith(_OF_LIBARCHIVE) or head[257:262] == b"ustar":
        return libarchive_members(archive, stack)
    raise DataError(f"{archive}: expected a .zip, .tar, .rar or .7z archive, {_what_it_is(head)}")


def _what_it_is(head: bytes) -> str:
    if not head:
        return "found an empty file"
    if re.match(rb"\s*<(!doctype|html|\?xml)", head, re.IGNORECASE):
        return "found a web page: the address led to a page, not to the file"
    return f"found a file that begins with {head[:16]!r}"


def _zip_members(archive: zipfile.ZipFile) -> Iterator[_Member]:
    for info in archive.infolist():
        kind = _kind(info.external_attr >> 16, info.orig_filename.endswith("/"))
        # zipfile cuts names at a null byte and replaces the system's separator; the stored name is the one that counts.
        content = partial(_blocks, partial(archive.open, info))
        yield _Member(info.orig_filename, kind, bool(info.flag_bits & 1), info.file_size, content)


def libarchive_members(archive: Path, stack: ExitStack) -> Iterator[_Member]:
    """Read .tar, .rar, .7z (and other formats of libarchive) through the system's library."""
    import ctypes

    libarchive = _libarchive()
    file = stack.enter_context(archive.open("rb"))
    # The binding lacks this function, and libarchive would return encrypted RAR content as it is.
    is_encrypted = libarchive.ffi.libarchive.archive_entry_is_encrypted
    is_encrypted.argtypes = [ctypes.c_void_p]

    def content(entry: Any) -> Iterator[bytes]:
        with _libarchive_errors(archive, libarchive):
            yield from entry.get_blocks(1 << 16)

    with _libarchive_errors(archive, libarchive):
        for entry in stack.enter_context(libarchive.fd_reader(file.fileno())):
            name = entry.pathname
            if not isinstance(name, str):
                raise DataError(f"{archive}: the name of a member cannot be read; pack the files again as .zip")
            kind = "link" if entry.linkpath else _kind(entry.filetype, entry.isdir)
            yield _Member(name, kind, bool(is_encrypted(entry._entry_p)), entry.size or 0, partial(content, entry))


@contextmanager
def _libarchive_errors(archive: Path, libarchive: Any) -> Iterator[None]:
    try:
        yield
    except libarchive.exception.ArchiveError as error:
        if re.search("encrypt|passphrase|password", str(error.msg), re.IGNORECASE):
            raise DataError(f"{archive}: is encrypted; unpack it by hand") from error
        raise DataError(
            f"{archive}: damaged, or a form libarchive cannot read ({error.msg}); a .zip works too"
        ) from error


def _libarchive() -> Any:
    try:
        import libarchive
        import libarchive.exception
    except (ImportError, OSError, AttributeError, TypeError) as error:
        # The binding loads the library when it is imported, and raises any of these errors if there is none.
        raise DataError(
            ".tar, .rar and .7z archives need libarchive, which was not found. Install it: on Debian or Ubuntu "
            "`apt-get install libarchive13`, with conda `conda install -c conda-forge libarchive python-libarchive-c`, "
            "on macOS `brew install libarchive`; then `pip install libarchive-c`, and if it is still not found let the "
            "variable LIBARCHIVE name the library file. Without it: unpack the archive by hand and pack the files as "
            f".zip under the same name ({error})"
        ) from error
    return libarchive


def _kind(mode: int, is_directory: bool) -> Kind:
    """The kind of a member by its Unix mode; a member without a mode, from another system, is a regular file."""
    if stat.S_ISLNK(mode):
        return "link"
    if is_directory or stat.S_ISDIR(mode):
        return "directory"
    return "file" if stat.S_IFMT(mode) in (0, stat.S_IFREG) else "device"


def _blocks(opened: Callable[[], Any]) -> Iterator[bytes]:
    with opened() as file:
        while block := file.read(BLOCK_BYTES):
            yield block
