"""How is a data set brought into the folder of raw data, unpacked and verified?

    raw_folder/NAME/PART.txt ...      every part, under its name only when complete and verified
    raw_folder/NAME/manifest.json     written last

Places are searched in this order: the data set's folder; unpacked text and archives in the raw folder and in the mirror
folders; and, only if the network is allowed, address mirrors and the catalogue's addresses.
"""

import os
from dataclasses import asdict
from pathlib import Path

from pipeline_lib.core.checks import checked
from pipeline_lib.core.errors import DataError, DownloadError
from pipeline_lib.core.files import replacing
from pipeline_lib.sources.archives import extract
from pipeline_lib.sources.catalog import DataSet
from pipeline_lib.sources.digests import LARGEST_TEXT, Stored, blocks, check_archive, check_part, check_size, write_part
from pipeline_lib.sources.download import Candidate, download
from pipeline_lib.sources.manifest import Manifest, ManifestPart, read_manifest
from pipeline_lib.sources.mirrors import Mirrors, find_archives, find_parts, how_to_get


@checked
def obtain(data_set: DataSet, raw_folder: str | os.PathLike[str], mirrors: Mirrors, *, network: bool) -> Manifest:
    """Ensure that a data set is unpacked and verified in the raw folder, and return its manifest.

    Parameters
    ----------
    data_set : DataSet
    raw_folder : path
        Usually ``data/raw``.
    mirrors : Mirrors
        Their folders are always used, their addresses only with ``network``.
    network : bool
        Whether anything may be fetched. Without it no connection is ever opened.

    Raises
    ------
    DataError
        When the data set is generated and its files are not there yet.
    DownloadError
        When no place has it; the message states what was tried, why each attempt failed, and how to obtain the data
        set.
    """
    raw = Path(raw_folder)
    manifest = read_manifest(data_set, raw)
    if manifest is not None:
        return manifest
    failures: list[str] = []
    for folder in (raw, *mirrors.folders):
        manifest = _from_folder(data_set, raw, folder, failures)
        if manifest is not None:
            return manifest
    if data_set.source == "generated":
        raise DataError(
            f"{raw / data_set.name}: expected the files of {data_set.name}, which is generated here; generate it first"
        )
    advice = how_to_get(data_set, raw)
    if not network:
        tried = f" Tried: {'; '.join(failures)}." if failures else ""
        raise DownloadError(f"{data_set.name} is not available.{tried} {advice}")
    candidates = [
        Candidate(f"{base}/{archive.name}", archive) for base in mirrors.addresses for archive in data_set.archives
    ]
    named = {archive.name: archive for archive in data_set.archives}
    candidates += [Candidate(entry.address, named[entry.archive]) for entry in data_set.addresses]
    return download(candidates, raw, lambda path: _unpack(data_set, raw, path), by_hand=advice, tried=failures)


def _from_folder(data_set: DataSet, raw: Path, folder: Path, failures: list[str]) -> Manifest | None:
    """Use unpacked text or an archive in one folder; None, with the reasons recorded, when neither is usable."""
    texts = find_parts(data_set, folder)
    if texts is not None:
        try:
            return _adopt(data_set, raw, folder, texts)
        except DataError as error:
            failures.append(str(error))
    for archive, path in find_archives(data_set, folder):
        try:
            # Where the digests of the parts are known, the same files may have been packed again.
            (check_size if data_set.known_by_parts else check_archive)(path, archive)
            return _unpack(data_set, raw, path)
        except DataError as error:
            failures.append(str(error))
    return None


def _adopt(data_set: DataSet, raw: Path, folder: Path, texts: dict[str, Path]) -> Manifest:
    """Use text that a person unpacked: it is verified in place, or while it is copied to its place."""
    found = {}
    for name, path in texts.items():
        target, part = raw / data_set.name / f"{name}.txt", data_set.parts[name]
        if target.exists() and target.samefile(path):
            stored = check_part(blocks(path), part, LARGEST_TEXT, str(path))
        else:
            with replacing(target) as partial:
                stored = write_part(blocks(path), partial, part, LARGEST_TEXT, str(path))
        found[name] = (path.relative_to(folder).as_posix(), stored)
    return _complete(data_set, raw, "unpacked text", found)


def _unpack(data_set: DataSet, raw: Path, archive: Path) -> Manifest:
    return _complete(data_set, raw, archive.name, extract(archive, data_set.parts, raw / data_set.name))


def _complete(data_set: DataSet, raw: Path, source: str, found: dict[str, tuple[str, Stored]]) -> Manifest:
    """The manifest, written once all parts are ``found``: where each comes from, and what is stored of it."""
    in_order = [(name, *found[name]) for name in data_set.parts]
    parts = [ManifestPart(name, f"{name}.txt", **asdict(stored), origin=origin) for name, origin, stored in in_order]
    manifest = Manifest(data_set.name, source, tuple(parts))
    manifest.write(raw)
    return manifest
