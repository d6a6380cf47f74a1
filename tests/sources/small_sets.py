"""Small data sets, as catalogue entries and as files, for the tests of this folder."""

import copy
import hashlib
import io
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import yaml

from pipeline_lib.sources import catalog

TEXTS = {
    name: f"{i % 3} qid:{i} 1:0.5 2:{i}\n".encode() * (i + 2) for i, name in enumerate(("S1", "S2", "S3", "S4", "S5"))
}
TURNS = [*TEXTS] * 2
"""The parts twice, so that every fold begins one part later."""
MEMBERS = {f"Small/{name}.txt": text for name, text in TEXTS.items()}

ENTRY: dict[str, Any] = {
    "title": "A small set",
    "source": "download",
    "terms": "None.",
    "terms_page": "https://example.org/terms",
    "citation": "Nobody. Nothing. 2026.",
    "features": 2,
    "max_label": 2,
    "text": {"labels": "integer", "qid": "token"},
    "counts": {"rows": 20, "queries": 5},
    "archives": [{"name": "Small.zip"}, {"name": "Small.tar.gz"}],
    "addresses": [],
    "by_hand": "Write to the author and place Small.zip in {folder}.",
    "parts": {
        name: {"members": [f"Small/{name}.txt"], "sha256": [hashlib.sha256(text).hexdigest()]}
        for name, text in TEXTS.items()
    },
    "folds": [
        {"train": TURNS[k : k + 3], "validation": TURNS[k + 3 : k + 4], "test": TURNS[k + 4 : k + 5]} for k in range(5)
    ],
}


def entry(**changes: Any) -> dict[str, Any]:
    """A copy of the entry with some keys replaced; None removes a key."""
    changed = {**copy.deepcopy(ENTRY), **changes}
    return {key: value for key, value in changed.items() if value is not None}


def write_catalog(folder: Path, document: Any) -> Path:
    path = folder / "catalog.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return path


def small_set(folder: Path, **changes: Any) -> catalog.DataSet:
    return catalog.load(write_catalog(folder, {"data_sets": {"Small": entry(**changes)}}))["Small"]


def zip_of(path: Path, members: dict[str, bytes] | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (MEMBERS if members is None else members).items():
            archive.writestr(name, content)
    return path


def tar_of(path: Path, members: dict[str, bytes] | None = None, mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, content in (MEMBERS if members is None else members).items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def unverified() -> dict[str, Any]:
    """Parts without digests."""
    return {name: {"members": [f"Small/{name}.txt"]} for name in TEXTS}
