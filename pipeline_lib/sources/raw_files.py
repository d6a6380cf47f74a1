"""Are the raw text files of a data set still those that its manifest lists?

Planning compares their sizes and modification times with those of the last check, which takes no time; a file that
differs is checked by its SHA-256 in a job. A conversion compares the SHA-256 of the bytes that it reads.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline_lib import storage
from pipeline_lib.errors import DataError
from pipeline_lib.sources.catalog import DataSet
from pipeline_lib.sources.manifest import FILE, Manifest

UNCHANGED = "unchanged"

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.checks)


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
            # A process that writes meanwhile leaves a later time than the one recorded here.
            state = _state(path)
            with path.open("rb") as file:
                digests[name] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise DataError(
                f"{path}: expected the text that {FILE} lists, found none ({error.strerror}); "
                f"{_how_to_restore(data_set, raw_folder, path)}"
            ) from error
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
            path = raw_folder / data_set.name / part.file
            raise DataError(
                f"{path}: changed since it was obtained: expected the SHA-256 {part.sha256} that {FILE} lists, found "
                f"{found}; {_how_to_restore(data_set, raw_folder, path)}"
            )


def state_for_planning(data_set: DataSet, raw_folder: Path, record: Path) -> str:
    """Encode in one word the state of a data set's raw files with which their check was, or is now to be, planned.

    The check is planned again when this word differs from the previous one. It does not change before there is a
    ``record`` (:func:`write_record`), nor as long as sizes and times are those in the record.
    """
    if not record.exists():
        return UNCHANGED
    now = [_state(raw_folder / data_set.name / f"{name}.txt") for name in data_set.parts]
    try:
        last = storage.read_json(record)
        known = [{key: file[key] for key in state} for file, state in zip(last["files"], now, strict=True)]
        if known == now:
            return str(last["planned_with"])
    except (DataError, KeyError, TypeError, ValueError):
        pass  # a record that cannot be read is useless: check again
    return hashlib.sha256(json.dumps(now).encode()).hexdigest()[:16]


def write_record(record: Path, files: list[dict[str, Any]], planned_with: str) -> None:
    """Record the result of a check, and the :func:`state_for_planning` with which it was planned."""
    storage.write_json(record, {"files": files, "planned_with": planned_with})


def _state(path: Path) -> dict[str, Any]:
    try:
        found = path.stat()
    except OSError:
        return {"file": path.name, "bytes": None, "modified": None}
    return {"file": path.name, "bytes": found.st_size, "modified": found.st_mtime_ns}


def _how_to_restore(data_set: DataSet, raw_folder: Path, path: Path) -> str:
    manifest = raw_folder / data_set.name / FILE
    if data_set.source == "generated":
        return f"delete {manifest} to have the next run draw {data_set.name} again"
    advice = (
        f"delete {path} and run `snakemake --cores 1 {record_path(data_set.name)}`, which unpacks it again, or fetches "
        "it if no archive is available"
    )
    if not data_set.parts[path.stem].sha256:
        advice += (
            f"; if the change is meant, delete {manifest} instead: the next run records the text as it is now, and "
            "makes again what follows from it"
        )
    return advice
