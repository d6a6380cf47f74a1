"""Which unpacked files constitute a data set, and was it complete?

``RAW/NAME/manifest.json`` is written last, after every part has been verified and has its final name. A run that was
killed before leaves no manifest, so that its files are not mistaken for complete ones.
"""

from dataclasses import asdict, dataclass
from pathlib import Path

from pipeline_lib.core import storage
from pipeline_lib.core.errors import DataError
from pipeline_lib.sources.catalog import DataSet

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

FILE = "manifest.json"


@dataclass(frozen=True)
class ManifestPart:
    """One text file of a data set.

    Its name in the folder of the manifest, its size, its SHA-256, whether the catalogue contains that digest, and the
    archive member or file from which it was taken."""

    name: str
    file: str
    bytes: int
    sha256: str
    verified: bool
    origin: str


@dataclass(frozen=True)
class Manifest:
    """The parts of one data set, in the catalogue's order, and the archive or folder from which they were taken."""

    data_set: str
    source: str
    parts: tuple[ManifestPart, ...]

    def path(self, raw_folder: Path) -> Path:
        """The path of the manifest."""
        return raw_folder / self.data_set / FILE

    def files(self, raw_folder: Path) -> dict[str, Path]:
        """The text files by part, in the order of storage."""
        return {part.name: raw_folder / self.data_set / part.file for part in self.parts}

    def write(self, raw_folder: Path) -> None:
        """Write the manifest with its checksum, completely or not at all."""
        storage.write_json(self.path(raw_folder), asdict(self))


def read_manifest(data_set: DataSet, raw_folder: Path) -> Manifest | None:
    """Read a data set's manifest; None if there is none, or if it no longer agrees with its files or the catalogue.

    Files are compared by presence and size only; :mod:`pipeline_lib.sources.raw_files` compares their digests.
    """
    manifest = recorded(data_set, raw_folder)
    if manifest is None:
        return None
    sizes = {raw_folder / data_set.name / part.file: part.bytes for part in manifest.parts}
    return manifest if all(path.is_file() and path.stat().st_size == size for path, size in sizes.items()) else None


def recorded(data_set: DataSet, raw_folder: Path) -> Manifest | None:
    """Read a data set's manifest whether or not its files exist; None if none agrees with the catalogue."""
    try:
        document = storage.read_json(raw_folder / data_set.name / FILE)
        parts = tuple(ManifestPart(**part) for part in document.pop("parts"))
        manifest = Manifest(**document, parts=parts)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return manifest if _fits(manifest, data_set) else None


def required(data_set: DataSet, raw_folder: Path) -> Manifest:
    """Read a data set's manifest as :func:`recorded` does.

    Raises
    ------
    DataError
        When there is none that agrees with the catalogue.
    DamagedFileError
        When it does not have the checksum that it states.
    """
    manifest = recorded(data_set, raw_folder)
    if manifest is None:
        path = raw_folder / data_set.name / FILE
        storage.verify(path)
        raise DataError(
            f"{path}: expected a manifest of the parts {', '.join(data_set.parts)} of {data_set.name}, found none that "
            "fits the catalogue; delete it to have the next run obtain the data set again"
        )
    return manifest


def _fits(manifest: Manifest, data_set: DataSet) -> bool:
    """Whether the catalogue accepts the parts."""
    if manifest.data_set != data_set.name or [part.name for part in manifest.parts] != list(data_set.parts):
        return False
    known = ((part, data_set.parts[part.name].sha256) for part in manifest.parts)
    return all(not accepted or part.sha256 in accepted for part, accepted in known)
