"""Which data sets are available without a network, and how can the others be obtained?

A mirror is a folder, or a base address, that contains the data files by name: archives such as ``MQ2008.zip``, or
unpacked text such as ``MQ2008/S1.txt`` and ``MSLR-WEB10K/Fold1/test.txt``. Mirrors come from the variable LTR_MIRROR,
then from ``mirrors:`` of the configuration. The folder of raw data is searched first, so that files may also be placed
there by hand.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from pipeline_lib.core.checks import checked
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.core.files import expanded
from pipeline_lib.sources.catalog import Archive, DataSet
from pipeline_lib.sources.digests import check_size
from pipeline_lib.sources.manifest import read_manifest

VARIABLE = "LTR_MIRROR"
OFFLINE = "LTR_OFFLINE"
"""The variable that keeps a job from using the network: every run sets it, unless its target is ``download``."""
_ADDRESS = re.compile(r"(?:https?|file)://\S+", re.IGNORECASE)


def network_allowed() -> bool:
    """Whether the environment lets a job use the network."""
    return not os.environ.get(OFFLINE)


@checked
@dataclass(frozen=True)
class Mirrors:
    """Folders, which every run uses, and base addresses, which only a download uses; each in order."""

    folders: tuple[Path, ...] = ()
    addresses: tuple[str, ...] = ()

    @property
    def as_text(self) -> str:
        """The same mirrors as a value of LTR_MIRROR.

        Example
        -------
        >>> Mirrors((Path("/a"), Path("/b c")), ("http://host/x",)).as_text
        '/a:/b c http://host/x'
        """
        return " ".join([os.pathsep.join(map(str, self.folders)), *self.addresses]).strip()


@dataclass(frozen=True)
class Availability:
    """Whether a data set can be used now.

    Attributes
    ----------
    status : "present", "at-hand" or "missing"
        Unpacked with its manifest; obtainable without a network; or neither.
    reason : str
        One sentence.
    how_to_get : str
        What a person can do to obtain it; empty unless it is missing.
    """

    status: Literal["present", "at-hand", "missing"]
    reason: str
    how_to_get: str = ""


@checked
def configured_mirrors(configured: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> Mirrors:
    """Collect the mirrors: those of LTR_MIRROR, then those of the configuration, each once.

    LTR_MIRROR may name several: folders separated as in PATH, addresses by white space. An address ``file:///folder``
    is a folder.

    Raises
    ------
    ConfigurationError
        When an address cannot be one of a server.

    Example
    -------
    >>> configured_mirrors(["https://example.org/ltr"], {"LTR_MIRROR": "/data/letor:/scratch/my data http://host:8000/ltr"})
    Mirrors(folders=(PosixPath('/data/letor'), PosixPath('/scratch/my data')), addresses=('http://host:8000/ltr', \
'https://example.org/ltr'))
    """
    variables = os.environ if environment is None else environment
    folders: list[Path] = []
    addresses: list[str] = []
    for name in [*_names(variables.get(VARIABLE, "")), *(name for text in configured for name in _names(text))]:
        if not _ADDRESS.fullmatch(name):
            folders.append(expanded(name))
        elif name.lower().startswith("file:"):
            folders.append(Path(unquote(urlsplit(name).path)))
        else:
            try:
                urlsplit(name)
            except ValueError as error:
                raise ConfigurationError(
                    f"mirrors, or the variable {VARIABLE}: expected the address of a server, found {name!r} ({error})"
                ) from None
            addresses.append(name.rstrip("/"))
    return Mirrors(tuple(dict.fromkeys(folders)), tuple(dict.fromkeys(addresses)))


@checked
def availability(data_set: DataSet, mirrors: Mirrors, raw_folder: str | os.PathLike[str]) -> Availability:
    """Determine from files alone whether a data set is present, at hand or missing; no network is used.

    Example
    -------
    >>> from pipeline_lib.sources import catalog
    >>> missing = availability(catalog.get("Istella-S"), Mirrors(), "nowhere")
    >>> missing.status, missing.reason
    ('missing', 'Istella-S is neither in nowhere nor in a mirror folder (none is set).')
    """
    raw = Path(raw_folder)
    if data_set.source == "own":
        return Availability("present", f"The configuration names the files of {data_set.name}.")
    if read_manifest(data_set, raw) is not None:
        return Availability("present", f"{data_set.name} is unpacked in {raw / data_set.name}.")
    remarks = []
    for folder in (raw, *mirrors.folders):
        if find_parts(data_set, folder) is not None:
            return Availability("at-hand", f"The text files of {data_set.name} are in {folder}.")
        for archive, path in find_archives(data_set, folder):
            try:
                check_size(path, archive)
            except DataError as error:
                remarks.append(f"In {path.parent}: {error}.")
            else:
                return Availability("at-hand", f"{path.name} is in {folder}.")
    if data_set.source == "generated":
        return Availability("at-hand", f"{data_set.name} is generated by this project, from the configuration.")
    remarks += [
        f"The mirror folder {folder} does not exist." for folder in mirrors.folders if not os.path.isdir(folder)
    ]
    searched = "the mirror folders " + ", ".join(map(str, mirrors.folders)) if mirrors.folders else "a mirror folder"
    reason = f"{data_set.name} is neither in {raw} nor in {searched}{'' if mirrors.folders else ' (none is set)'}."
    return Availability("missing", " ".join([reason, *remarks]), how_to_get(data_set, raw))


@checked
def record(available: Mapping[str, Availability], raw_folder: str | os.PathLike[str]) -> list[dict[str, str]]:
    """The data sets that are available, without their places, which differ between machines.

    Example
    -------
    >>> [entry] = record({"MQ2007": Availability("missing", "", "by hand")}, "data/raw")
    >>> entry["status"], entry["reason"]
    ('missing', 'MQ2007 is neither in data/raw nor in a mirror folder.')
    """
    said = []
    for name, one in available.items():
        status, reason = "present", ""
        if one.status == "missing":
            status, reason = "missing", f"{name} is neither in {Path(raw_folder)} nor in a mirror folder."
        said.append({"dataset": name, "status": status, "reason": reason, "how_to_get": one.how_to_get})
    return said


@checked
def how_to_get(data_set: DataSet, raw_folder: str | os.PathLike[str]) -> str:
    """Explain how to obtain a data set: by download if there is an address, by hand, or from a mirror."""
    raw = Path(raw_folder)
    names = " or ".join(archive.name for archive in data_set.archives)
    by_hand = data_set.by_hand.replace("{folder}", str(raw))
    advice = [
        f"Where the network reaches the addresses of the catalogue, run `snakemake --cores 1 download` with "
        f"{data_set.name} among the data sets of the configuration."
        if data_set.addresses
        else "There is no public address to download from.",
        f"By hand: {by_hand}",
        f"From a mirror: put {names} into a folder of your own and set {VARIABLE} to that folder, or list it under "
        "`mirrors:`.",
        f"Terms: {data_set.terms} See {data_set.terms_page} .",
    ]
    return " ".join(advice)


@checked
def find_archives(data_set: DataSet, folder: Path) -> list[tuple[Archive, Path]]:
    """The archives of a data set in a folder, or in its subfolder of the data set's name."""
    places = [folder, folder / data_set.name]
    found = [(archive, place / archive.name) for archive in data_set.archives for place in places]
    return [(archive, path) for archive, path in found if os.path.isfile(path)]


@checked
def find_parts(data_set: DataSet, folder: Path) -> dict[str, Path] | None:
    """The unpacked text files of a data set in a folder, by part; None unless every part is there."""
    paths = {name: _find_part(data_set, name, folder) for name in data_set.parts}
    complete = {name: path for name, path in paths.items() if path is not None}
    return complete if len(complete) == len(paths) else None


def _find_part(data_set: DataSet, name: str, folder: Path) -> Path | None:
    own, members = folder / data_set.name, data_set.parts[name].members
    # The last of these where a whole archive was unpacked there.
    candidates = [own / f"{name}.txt", *(place / member for place in (own, own / data_set.name) for member in members)]
    # Directly in the folder only under a path that names the data set: "test.txt" could belong to any data set.
    candidates += [folder / member for member in members if member.startswith(f"{data_set.name}/")]
    return next((path for path in candidates if os.path.isfile(path)), None)


def _names(text: str) -> list[str]:
    """Split a list of folders and addresses; a colon inside an address does not separate."""
    names, end = [], 0
    for match in _ADDRESS.finditer(text):
        names += [*text[end : match.start()].split(os.pathsep), match.group()]
        end = match.end()
    names += text[end:].split(os.pathsep)
    return [name.strip() for name in names if name.strip()]
