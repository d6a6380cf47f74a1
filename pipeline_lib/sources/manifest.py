"""Which unpacked files make up a data set, and were they all there when it was called complete?

``RAW/NAME/manifest.json`` is written last, after every part stands verified under its final name: a run that was
killed before leaves no manifest, and nothing it left is taken for done.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from pipeline_lib.checks import checked
from pipeline_lib.files import write_text
from pipeline_lib.sources.catalog import DataSet

FILE = "manifest.json"


@dataclass(frozen=True)
class ManifestPart:
    """One text file: its name beside the manifest, size, SHA-256, whether the catalogue vouches for that digest,
    and the archive member or file it came from."""

    name: str
    file: str
    bytes: int
    sha256: str
    verified: bool
    origin: str


@checked
@dataclass(frozen=True)
class Manifest:
    """The parts of one data set, in the catalogue's order, and the name of the archive or folder they came from."""

    data_set: str
    source: str
    parts: tuple[ManifestPart, ...]

    def path(self, raw_folder: Path) -> Path:
        """Where the manifest lies."""
        return raw_folder / self.data_set / FILE

    def files(self, raw_folder: Path) -> dict[str, Path]:
        """The text files by part, in the order of storage."""
        return {part.name: raw_folder / self.data_set / part.file for part in self.parts}

    def write(self, raw_folder: Path) -> None:
        """Write the manifest, whole or not at all."""
        write_text(self.path(raw_folder), json.dumps(asdict(self), indent=2, sort_keys=True) + "\n")


@checked
def read_manifest(data_set: DataSet, raw_folder: Path) -> Manifest | None:
    """Read a data set's manifest; None when there is none, or when it no longer fits its files or the catalogue.

    Files are compared by presence and size only: their digests were checked when the manifest was written.
    """
    try:
        document = json.loads((raw_folder / data_set.name / FILE).read_text(encoding="utf-8"))
        parts = tuple(ManifestPart(**part) for part in document.pop("parts"))
        manifest = Manifest(**document, parts=parts)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return manifest if _fits(manifest, data_set, raw_folder) else None


def _fits(manifest: Manifest, data_set: DataSet, raw_folder: Path) -> bool:
    if manifest.data_set != data_set.name or [part.name for part in manifest.parts] != list(data_set.parts):
        return False
    for part in manifest.parts:
        accepted = data_set.parts[part.name].sha256
        path = raw_folder / data_set.name / part.file
        if accepted and part.sha256 not in accepted:
            return False
        if not path.is_file() or path.stat().st_size != part.bytes:
            return False
    return True
