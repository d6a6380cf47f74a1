"""Are the raw files of a data set still those that its manifest lists?

Planning compares their sizes and modification times with those of the last check, which takes no time. Where they
differ, the files are checked again. A conversion compares the SHA-256 of what it has read.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pipeline_lib.core import storage
from pipeline_lib.core.errors import DamagedFileError, DataError
from pipeline_lib.sources.catalog import DataSet
from pipeline_lib.sources.digests import digest
from pipeline_lib.sources.manifest import FILE, Manifest

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)


def record_path(name: str) -> Path:
    """The path of the record of the last check of a data set's raw files."""
    return Path("data/parquet") / name / "raw-files.json"


def check(data_set: DataSet, raw_folder: Path, manifest: Manifest) -> list[dict[str, Any]]:
    """Compare every raw file with the manifest; return their names, sizes, times (in ns) and SHA-256.

    Raises
    ------
    DataError
        As :func:`compare`, or when a file is missing.
    """
    seen = []
    digests: dict[str, str] = {}
    for name, path in manifest.files(raw_folder).items():
        try:
            state = recorded_state(path)  # a process that writes meanwhile leaves a later time than this one
            digests[name] = digest(path)
        except DataError as error:
            raise DataError(f"{error}; {how_to_restore(data_set, raw_folder, path)}") from error
        seen.append({**state, "sha256": digests[name]})
    compare(data_set, raw_folder, manifest, digests)
    return seen


def compare(data_set: DataSet, raw_folder: Path, manifest: Manifest, digests: Mapping[str, str]) -> None:
    """Compare the SHA-256 of every part's bytes with the manifest.

    Raises
    ------
    DataError
        When they differ: the file, both digests, and how to restore the file or to accept the change.
    """
    for part in manifest.parts:
        found = digests[part.name]
        if found != part.sha256:
            path = data_set.raw_paths(part.name, raw_folder)[0]
            raise DataError(
                f"{path}: changed since it was obtained: expected the SHA-256 {part.sha256} that {FILE} lists, found "
                f"{found}; {how_to_restore(data_set, raw_folder, path)}"
            )


UNCHANGED = "unchanged"
"""The state of files before their first check."""


@cache
def _planned_sha256(path: Path, size: int, modified: int) -> str | None:
    """The SHA-256 of a file, read once for a plan; None if it cannot be read, which its job will report."""
    try:
        return digest(path)
    except DataError:
        return None


def _read(record: Path) -> Mapping[str, Any]:
    """What :func:`write_record` wrote; no files where there is none yet, or one that cannot be read."""
    try:
        return storage.read_json(record)
    except DataError:
        return {"files": []}


def state_for_planning(data_set: DataSet, raw_folder: Path, record: Path) -> str:
    """Encode in one word the state of a data set's files with which their check was, or is now to be, planned.

    The check is planned again when this word differs from the previous one. It does not change before there is a
    ``record`` (:func:`write_record`), nor as long as sizes and times are those in the record. Own files that were
    merely touched are recognised by their digests, and change nothing.
    """
    if not record.exists():
        return UNCHANGED
    now = [recorded_state(path) for name in data_set.parts for path in data_set.raw_paths(name, raw_folder)]
    last = _read(record)
    if len(last["files"]) == len(now):  # else it cannot be read, or is one of other files: check again
        own = data_set.source == "own"
        if all(_is_unchanged(state, before, read=own) for before, state in zip(last["files"], now, strict=True)):
            return str(last["planned_with"])
    return hashlib.sha256(json.dumps(now).encode()).hexdigest()[:16]


def _is_unchanged(now: Mapping[str, Any], before: Mapping[str, Any], *, read: bool) -> bool:
    if (now["file"], now["bytes"]) != (before["file"], before["bytes"]):
        return False
    if now["modified"] == before["modified"]:
        return True
    return read and _planned_sha256(Path(now["file"]), now["bytes"], now["modified"]) == before["sha256"]


def listed(name: str) -> Iterator[tuple[Path, str, Mapping[str, Any] | None]]:
    """The raw files of a data set with their SHA-256, and what the record of the last check says of each.

    Where the record is damaged, the manifest has the digests of the files that it lists in its own folder.
    """
    try:
        for known in storage.read_json(record_path(name))["files"]:
            yield Path(known["file"]), known["sha256"], known
    except DamagedFileError:
        folder = Path("data/raw") / name
        for part in storage.read_json(folder / FILE)["parts"]:
            if (path := folder / part["file"]).is_file():
                yield path, part["sha256"], None


def is_own_change(path: Path, known: Mapping[str, Any] | None) -> bool:
    """Whether somebody may have written a file of their own anew since it was read: its size or its time says so."""
    return path.parts[:2] != ("data", "raw") and known != {
        **recorded_state(path),
        "sha256": (known or {}).get("sha256"),
    }


def write_record(record: Path, files: list[dict[str, Any]], planned_with: str) -> None:
    """Record the result of a check, and the :func:`state_for_planning` with which it was planned."""
    storage.write_json(record, {"files": files, "planned_with": planned_with})


def recorded_state(path: Path) -> dict[str, Any]:
    """What tells without reading it whether a file has changed: its size and time, None where there is no file."""
    try:
        found = path.stat()
    except OSError:
        return {"file": str(path), "bytes": None, "modified": None}
    return {"file": str(path), "bytes": found.st_size, "modified": found.st_mtime_ns}


def how_to_restore(data_set: DataSet, raw_folder: Path, path: Path) -> str:
    """What a person can do about a raw file that is not what its manifest says."""
    manifest = raw_folder / data_set.name / FILE
    if data_set.source == "own":
        return "start the run again, which reads the file as it is now"
    if data_set.source == "generated":
        return f"delete {manifest} to have the next run draw {data_set.name} again"
    return (
        f"delete {path} and run `snakemake --cores 1 {record_path(data_set.name)}`, which unpacks it again, or fetches "
        "it if no archive is available; to use a changed text, name it as a data set of your own (`datasets`)"
    )
