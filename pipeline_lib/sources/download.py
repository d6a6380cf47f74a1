"""How is a file fetched over an unreliable network, so that only the right file ever gets its name?

A file grows as ``.NAME.*.partial`` next to its target, is checked by size and digest, and only then renamed. What may
pass, such as a busy server or a broken connection, is tried again from the beginning. Every source is tried in order;
when none works, one error lists them all.
"""

import http.client
import re
import shutil
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from pipeline_lib.core.errors import DataError, DownloadError, StorageError
from pipeline_lib.core.files import naming, replacing
from pipeline_lib.sources.catalog import LARGEST_ARCHIVE, Archive
from pipeline_lib.sources.digests import BLOCK_BYTES, check_archive

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

ATTEMPTS = 5
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds between attempts; doubled every time
PASSING_STATUSES = {408, 425, 429, 500, 502, 503, 504}
TIMEOUT = 60.0  # seconds without a byte
LEAST_RATE, RATE_WINDOW = 4096.0, 60.0  # bytes per second that are expected over every so many seconds
REPORT_EVERY = 5.0  # seconds
SPARED_BYTES = 1 << 28  # that stay free on the disk
ROOM_EVERY = 1 << 24  # bytes after which the free space is looked at again

T = TypeVar("T")


class Candidate(NamedTuple):
    """An address and the archive that is expected there."""

    address: str
    archive: Archive


class _SourceError(Exception):
    """This source will not give the file, whatever is tried."""


class _PassingError(Exception):
    """This attempt failed, but the next one may succeed; the server requests a ``pause`` of so many seconds."""

    def __init__(self, message: str, pause: float = 0.0) -> None:
        super().__init__(message)
        self.pause = pause


def download(
    candidates: Sequence[Candidate], folder: Path, use: Callable[[Path], T], *, by_hand: str, tried: Sequence[str] = ()
) -> T:
    """Fetch one of several archives into a folder: the first that arrives whole, is right, and can be used.

    Parameters
    ----------
    candidates : sequence of Candidate
        Tried in order. Addresses are http or https.
    folder : Path
        Made if missing. An archive gets its name there only after size and digest were checked.
    use : function of the path
        What is done with the file; its result is returned. When it raises DataError, the file is removed and the next
        candidate is tried.
    by_hand : str
        What a person can do instead; ends the error.
    tried : sequence of str
        What was tried before, and why it failed; begins the error.

    Raises
    ------
    DownloadError
        When no candidate works: what was tried, why each failed, and how to get the file by hand.
    StorageError
        At once when the folder cannot be written, or the disk is full or would be left with less than 256 MiB.
    """
    failures = list(tried)
    for address, archive in candidates:
        target = folder / archive.name
        try:
            _fetch(address, archive, target)
        except (_SourceError, ValueError) as error:  # the latter of an address, or a redirection, that cannot be one
            failures.append(f"{address}: {error}")
            continue
        try:
            return use(target)
        except DataError as error:
            target.unlink()
            failures.append(f"{address}: wrong file ({error}); removed")
    listed = "; ".join(failures) if failures else "nothing, because no address is known"
    what = " or ".join(dict.fromkeys(archive.name for _, archive in candidates)) or "the file"
    raise DownloadError(f"{what} could not be fetched. Tried: {listed}. {by_hand}")


def _fetch(address: str, archive: Archive, target: Path) -> None:
    if not address.lower().startswith(("http://", "https://")):
        raise _SourceError("expected an address with http or https")
    with replacing(target) as partial:
        for attempt in range(ATTEMPTS):
            try:
                _save(address, archive, partial)
                break
            except _PassingError as error:
                if attempt == ATTEMPTS - 1:
                    raise _SourceError(f"{error} ({ATTEMPTS} attempts)") from error
                time.sleep(min(LONGEST_PAUSE, max(error.pause, FIRST_PAUSE * 2.0**attempt)))
        try:
            check_archive(partial, archive)
        except DataError as error:
            raise _SourceError(f"wrong file ({error}); removed") from error


def _save(address: str, archive: Archive, partial: Path) -> None:
    """Write what a server sends while the disk has room; how much has come is shown now and then."""
    size, looked, shown = 0, 0, time.monotonic()
    _check_room(partial, archive.bytes or 0)
    of_all = f" of {archive.bytes / 1e6:,.1f}" if archive.bytes else ""
    with naming(partial), partial.open("wb") as file:
        for block in _received(address, archive):
            size += len(block)
            if size - looked >= ROOM_EVERY:
                looked = size
                _check_room(partial, len(block))
            file.write(block)
            if time.monotonic() - shown >= REPORT_EVERY:
                shown = time.monotonic()
                print(f"{archive.name}: {size / 1e6:,.1f}{of_all} MB", file=sys.stderr, flush=True)


def _check_room(partial: Path, more: int) -> None:
    free = shutil.disk_usage(partial.parent).free
    if free - more < SPARED_BYTES:
        raise StorageError(
            f"{partial.parent}: cannot be written: {more / 1e6:,.1f} MB more and {SPARED_BYTES / 1e6:,.0f} MB to spare "
            f"are needed, {free / 1e6:,.1f} MB are free; make room"
        )


def _received(address: str, archive: Archive) -> Iterator[bytes]:
    """What a server sends, block by block; all of it, unless an error is raised."""
    headers = {"User-Agent": "pipeline_lib", "Accept-Encoding": "identity"}
    size, total = 0, archive.bytes or 0
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=TIMEOUT) as response:
            length = response.headers.get("Content-Length", "")
            if re.fullmatch(r"[0-9]+", length):
                total = int(length)
                _check_size("offers", total, archive, whole=True)
            began, before = time.monotonic(), 0
            while block := response.read1(BLOCK_BYTES):
                size += len(block)
                _check_size("sent", size, archive)
                # A server that sends a byte now and then would never time out.
                if (seconds := time.monotonic() - began) >= RATE_WINDOW:
                    if size - before < LEAST_RATE * seconds:
                        rate = f"{(size - before) / seconds:,.0f} bytes per second over {seconds:,.0f} s"
                        raise _PassingError(f"{rate}; at least {LEAST_RATE:,.0f} are expected")
                    began, before = time.monotonic(), size
                yield block
    except urllib.error.HTTPError as error:
        with error:
            if error.code not in PASSING_STATUSES:
                raise _SourceError(f"HTTP {error.code} {error.reason}") from error
            wish = error.headers.get("Retry-After", "")  # the pause that a busy server requests
            pause = float(wish) if re.fullmatch(r"[0-9]{1,6}", wish) else 0.0
            raise _PassingError(f"HTTP {error.code} {error.reason}", pause) from error
    except (OSError, http.client.HTTPException) as error:
        why = str(getattr(error, "reason", None) or error) or type(error).__name__
        raise _PassingError(f"broke off after {size:,} bytes ({why})" if size else why) from error
    if size < total:
        raise _PassingError(f"broke off after {size:,} of {total:,} bytes")


def _check_size(verb: str, size: int, archive: Archive, *, whole: bool = False) -> None:
    limit = archive.bytes or archive.max_bytes or LARGEST_ARCHIVE
    if whole and archive.bytes and size != archive.bytes:
        raise _SourceError(f"offers {size:,} bytes where {archive.bytes:,} are expected: another file")
    if size > limit:
        raise _SourceError(
            f"{verb} {size:,} bytes, more than the {limit:,} that {archive.name} may have: another file, "
            "or its max_bytes in data/catalog.yaml is too low"
        )
