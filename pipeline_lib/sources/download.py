"""How is a file fetched over an unreliable network, so that only the right file ever gets its name?

A file grows as ``.NAME.partial`` next to its target; ``.NAME.partial.json`` states where it comes from and by which
validator (ETag or Last-Modified) the server names its version. It is resumed by range requests, checked by size
and digest, and only then renamed. Every source is tried in order; when none works, one error lists them all.
"""

from __future__ import annotations

import errno
import http.client
import json
import os
import re
import shutil
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from pipeline_lib.checks import checked
from pipeline_lib.errors import DataError, DownloadError
from pipeline_lib.files import write_text
from pipeline_lib.sources.catalog import Archive
from pipeline_lib.sources.digests import BLOCK_BYTES, check_archive
from pipeline_lib.sources.http_opener import SCHEMES, Pace, SourceError, opener

ATTEMPTS = 5  # in a row without progress
PROGRESS_BYTES = 1 << 20  # what counts as progress
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds between attempts; doubled every time
PASSING_STATUSES = {408, 425, 429, 500, 502, 503, 504}
REPORT_EVERY = 5.0  # seconds
LEAST_RATE, RATE_WINDOW = 4096.0, 60.0  # bytes per second, over so many seconds
SPARED_BYTES = 1 << 28  # that stay free on the disk
ROOM_EVERY = 1 << 24  # bytes after which the free space is checked again

T = TypeVar("T")


@dataclass(frozen=True)
class Settings:
    """How patient a download is.

    Attributes
    ----------
    timeout : float > 0
        Seconds without a byte.
    attempts : int >= 1
        In a row without progress.
    least_rate, window : float > 0
        An attempt that brings fewer bytes per second, over that many seconds, ends; what it brought is kept.
    sleep, clock : functions
        Those of :mod:`time`.
    """

    timeout: float = 60.0
    attempts: int = ATTEMPTS
    least_rate: float = LEAST_RATE
    window: float = RATE_WINDOW
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic


@checked
@dataclass(frozen=True)
class Candidate:
    """An address and the archive that is expected there."""

    address: str
    archive: Archive


class _PassingError(Exception):
    """This attempt failed, but the next one may succeed; the server requests a ``pause`` of so many seconds."""

    def __init__(self, message: str, pause: float = 0.0) -> None:
        super().__init__(message)
        self.pause = pause


@checked
def download(
    candidates: Sequence[Candidate],
    folder: Path,
    use: Callable[[Path], T],
    *,
    by_hand: str,
    tried: Sequence[str] = (),
    settings: Settings | None = None,
) -> T:
    """Fetch one of several archives into a folder: the first that arrives whole, is right, and can be used.

    Parameters
    ----------
    candidates : sequence of Candidate
        Tried in order. Addresses are http, https or file.
    folder : Path
        Made if missing. An archive gets its name there only after size and digest were checked.
    use : function of the path
        What is done with the file; its result is returned. When it raises DataError, the file is removed and the next
        candidate is tried.
    by_hand : str
        What a person can do instead; ends the error.
    tried : sequence of str
        What was tried before, and why it failed; begins the error.
    settings : Settings, optional

    Raises
    ------
    DownloadError
        When no candidate works: what was tried, why each failed, and how to get the file by hand. At once when the
        folder cannot be written or the disk has no room; what was fetched is then kept and continued by the next call.
    """
    folder.mkdir(parents=True, exist_ok=True)
    failures = list(tried)
    for candidate in candidates:
        target = folder / candidate.archive.name
        try:
            _fetch(candidate, target, settings or Settings())
        except (SourceError, ValueError) as error:  # the latter of an address, or a redirection, that cannot be one
            failures.append(f"{candidate.address}: {error}")
            continue
        except OSError as error:
            why = error.strerror or error
            raise DownloadError(f"{target}: cannot be written ({why}); make room or allow writing there") from error
        try:
            return use(target)
        except DataError as error:
            target.unlink()
            failures.append(f"{candidate.address}: wrong file ({error}); removed")
    listed = "; ".join(failures) if failures else "nothing, because no address is known"
    what = " or ".join(dict.fromkeys(candidate.archive.name for candidate in candidates)) or "the file"
    raise DownloadError(f"{what} could not be fetched. Tried: {listed}. {by_hand}")


def _fetch(candidate: Candidate, target: Path, settings: Settings) -> None:
    partial = target.with_name(f".{target.name}.partial")
    # The pieces of two attempts may not belong together: a wrong file made of pieces is fetched once more.
    for last in (False, True):
        in_pieces = _receive(candidate, partial, settings)
        try:
            check_archive(partial, candidate.archive)
        except DataError as error:
            _discard(partial)
            if last or not in_pieces:
                raise SourceError(f"wrong file ({error}); removed") from error
        else:
            break
    partial.replace(target)
    _discard(partial)


def _receive(candidate: Candidate, partial: Path, settings: Settings) -> bool:
    """Fill ``partial`` to its end, in as many attempts as make progress; True when it was pieced together."""
    scheme = urlsplit(candidate.address).scheme.lower()
    if scheme == "file":
        _copy(Path(unquote(urlsplit(candidate.address).path)), partial, candidate.archive)
        return False
    if scheme not in SCHEMES:
        raise SourceError(f"expected an address with http, https or file, found {scheme!r}")
    failed, attempts, furthest = 0, 0, _size(partial)
    while True:
        try:
            return _attempt(candidate, partial, settings) > 0
        except _PassingError as error:
            failed += 1
            attempts += 1
            if _size(partial) >= furthest + PROGRESS_BYTES:
                failed, furthest = 1, _size(partial)
            if failed >= settings.attempts:
                raise SourceError(f"{error} ({attempts} attempts)") from error
            settings.sleep(min(LONGEST_PAUSE, max(error.pause, FIRST_PAUSE * 2.0 ** (failed - 1))))


def _attempt(candidate: Candidate, partial: Path, settings: Settings) -> int:
    """One request: continue ``partial``, or begin it anew; returns the offset at which this request began."""
    offset, validator = _resume_point(candidate, partial)
    headers = {"User-Agent": "pipeline_lib", "Accept-Encoding": "identity"}
    if offset:
        headers["Range"] = f"bytes={offset}-"
        if validator:
            headers["If-Range"] = validator
    request = urllib.request.Request(candidate.address, headers=headers)
    try:
        response = opener(Pace(settings.least_rate, settings.window, settings.clock)).open(
            request, timeout=settings.timeout
        )
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 416:
                if error.headers.get("Content-Range", "") == f"bytes */{offset}":
                    return offset  # it was complete already
                _discard(partial)
                raise _PassingError("the server refused to continue the file") from error
            if error.code in PASSING_STATUSES:
                raise _PassingError(f"HTTP {error.code} {error.reason}", _stated_pause(error)) from error
            raise SourceError(f"HTTP {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException) as error:
        raise _PassingError(_why(error)) from error
    with response:
        offset, total = _where_it_begins(response, offset, validator, partial)
        expected = candidate.archive.bytes
        if expected is not None and total is not None and total != expected:
            _discard(partial)
            raise SourceError(f"offers {total:,} bytes where {expected:,} are expected: another file")
        _check_limit("offers", total or 0, candidate.archive, partial)
        _check_room(partial, max((total or expected or 0) - offset, 0))
        _note_origin(candidate, response, partial)
        _append(response, partial, offset, total, candidate.archive)
    return offset


def _resume_point(candidate: Candidate, partial: Path) -> tuple[int, str]:
    """How much of ``partial`` can be kept, and the validator of the version it belongs to."""
    origin = partial.with_name(partial.name + ".json")
    try:
        noted = json.loads(origin.read_text(encoding="utf-8"))
        validator = str(noted["validator"])
        same = noted["address"] == candidate.address
    except (OSError, ValueError, KeyError, TypeError):
        same, validator = False, ""
    # Without a validator only a digest can tell whether the pieces belong together.
    checkable = bool(candidate.archive.sha256 or candidate.archive.md5)
    if same and (validator or checkable):
        return _size(partial), validator
    _discard(partial)
    return 0, ""


def _where_it_begins(response: Any, requested: int, validator: str, partial: Path) -> tuple[int, int | None]:
    """The offset at which the body begins and the size of the whole file, as the server states them."""
    length = response.headers.get("Content-Length", "")
    remaining = int(length) if re.fullmatch(r"[0-9]+", length) else None
    if response.status != 206:
        return 0, remaining
    stated = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
    if stated is None or int(stated[1]) != requested:
        _discard(partial)
        raise _PassingError("the server continued the file at another place than was requested")
    if validator and _validator(response) not in ("", validator):
        _discard(partial)
        raise _PassingError("the file changed between two attempts")
    if stated[2] != "*":
        return requested, int(stated[2])
    return requested, None if remaining is None else requested + remaining


def _note_origin(candidate: Candidate, response: Any, partial: Path) -> None:
    note = {"address": candidate.address, "validator": _validator(response)}
    write_text(partial.with_name(partial.name + ".json"), json.dumps(note, sort_keys=True) + "\n")


def _validator(response: Any) -> str:
    """What names this version of the file: a strong ETag, else the time of its last change, else nothing."""
    etag = str(response.headers.get("ETag", ""))
    return etag if etag.startswith('"') else str(response.headers.get("Last-Modified", ""))


def _append(response: Any, partial: Path, offset: int, total: int | None, archive: Archive) -> None:
    expected = archive.bytes
    size = looked = offset
    progress = _Progress(archive.name, total or expected)
    with partial.open("r+b" if offset else "wb") as file:
        file.seek(offset)
        file.truncate()
        while True:
            try:
                block = response.read1(BLOCK_BYTES)
            except (OSError, http.client.HTTPException) as error:
                raise _PassingError(f"broke off after {size:,} bytes ({_why(error)})") from error
            if not block:
                break
            size += len(block)
            if expected is not None and size > expected:
                raise SourceError(f"sent more than the expected {expected:,} bytes: another file")
            _check_limit("sent", size, archive, partial)
            if size - looked >= ROOM_EVERY:
                looked = size
                _check_room(partial, len(block))
            file.write(block)
            progress.show(size)
    known = total if total is not None else expected
    if known is not None and size < known:
        raise _PassingError(f"broke off after {size:,} of {known:,} bytes")


def _check_limit(verb: str, size: int, archive: Archive, partial: Path) -> None:
    if size > archive.max_bytes:
        _discard(partial)
        raise SourceError(
            f"{verb} {size:,} bytes, more than the {archive.max_bytes:,} that {archive.name} may have: another file, "
            "or its max_bytes in data/catalog.yaml is too low"
        )


def _check_room(partial: Path, more: int) -> None:
    free = shutil.disk_usage(partial.parent).free
    if free - more < SPARED_BYTES:
        needed = f"{more / 1e6:,.1f} MB more and {SPARED_BYTES / 1e6:,.0f} MB to spare are needed"
        raise OSError(errno.ENOSPC, f"{os.strerror(errno.ENOSPC)}: {needed}, {free / 1e6:,.1f} MB are free")


def _copy(source: Path, partial: Path, archive: Archive) -> None:
    _discard(partial)
    if source.is_file():
        _check_limit("has", source.stat().st_size, archive, partial)
        _check_room(partial, source.stat().st_size)
    elif source.exists():
        raise SourceError("is no regular file")
    try:
        shutil.copyfile(source, partial)
    except OSError as error:
        raise SourceError(f"cannot be copied ({error.strerror or error})") from error


def _stated_pause(error: urllib.error.HTTPError) -> float:
    """The pause that a busy server requests, in seconds; 0 when it requests none."""
    seconds = error.headers.get("Retry-After", "")
    return float(seconds) if re.fullmatch(r"[0-9]{1,6}", seconds) else 0.0


def _why(error: Exception) -> str:
    reason = getattr(error, "reason", None) or error
    return str(reason) or type(error).__name__


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _discard(partial: Path) -> None:
    partial.unlink(missing_ok=True)
    partial.with_name(partial.name + ".json").unlink(missing_ok=True)


class _Progress:
    """Reports the progress of a download on stderr every few seconds."""

    def __init__(self, name: str, total: int | None) -> None:
        self.name = name
        self.total = f" of {total / 1e6:,.1f}" if total else ""
        self.last = time.monotonic()

    def show(self, size: int) -> None:
        now = time.monotonic()
        if now - self.last >= REPORT_EVERY:
            self.last = now
            print(f"{self.name}: {size / 1e6:,.1f}{self.total} MB", file=sys.stderr, flush=True)
