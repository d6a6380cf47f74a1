"""How does a data set that the configuration itself describes become an entry like those of the catalogue?

Its parts are the files that the person named, wherever they lie; they are read there and never copied or changed. What
the catalogue states of public data, such as counts and digests, is not known of them and is not asked for.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pipeline_lib.core.files import expanded
from pipeline_lib.sources import catalog, raw_files
from pipeline_lib.sources.catalog import DataSet, Fold, Form, Part
from pipeline_lib.sources.compression import SUFFIXES
from pipeline_lib.sources.digests import digest
from pipeline_lib.sources.manifest import Manifest, ManifestPart
from pipeline_lib.sources.own_settings import DEFAULT_FOLDS, ROLES, Files, OwnDataSettings, companions

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

_OF_CONTENT = (
    *("label", "query", "ignore", "labels", "missing", "separator", "extreme", "repeated_features", "weight"),
    "one_hot",
)
NOT_READ_BY = {
    "register_data": ("title", "folds", "relevant_from", *_OF_CONTENT),
    "convert_data": ("title", "folds"),
    "split_folds": ("title", "relevant_from", *_OF_CONTENT),
    "describe_data": (),
    "examine_data": ("title", "folds"),
}
"""What of an entry the output of a command does not depend on, and is therefore not handed to it."""

_BYTES_PER_VALUE = 8
_UNPACKED = 4


def data_set(settings: OwnDataSettings) -> DataSet:
    """The entry of a data set of one's own."""
    files, split, folds = _divided(settings)
    size = sum(_size(path) for path in files.values())
    members_of = {name: tuple(map(str, (path, *companions(path)))) for name, path in files.items()}
    return DataSet.model_construct(
        name=settings.name,
        title=settings.title or settings.name,
        source="own",
        terms="",
        terms_page="",
        citation="",
        text=Form(labels="integer", qid="token"),
        parts={name: Part.model_construct(members=members) for name, members in members_of.items()},
        split=split,
        folds=folds,
        columns={name: getattr(settings, name) for name in _OF_CONTENT},
        shared=settings.folder is not None and len(folds) > 1,
        relevant_from=settings.relevant_from,
        about_cells=size // _BYTES_PER_VALUE,
    )


def plain_entry(settings: OwnDataSettings, command: str) -> dict[str, Any]:
    """What a command must know of the entry, as plain values."""
    plain = settings.model_dump(mode="json", exclude_defaults=True)
    return {key: value for key, value in plain.items() if key not in NOT_READ_BY[command]}


Name = Annotated[str, "name of the data set"]
Own = Annotated[
    Mapping[str, Any] | None, "the entry of the configuration, as JSON; by default data/catalog.yaml has one"
]


def entry(dataset: str, own: Mapping[str, Any] | None) -> DataSet:
    """The data set that a command with the arguments ``Name`` and ``Own`` works on."""
    return catalog.get(dataset) if own is None else data_set(OwnDataSettings.parse(own, dataset))


def register(own: DataSet, raw_folder: Path, record: Path, planned_with: str) -> Manifest:
    """Write the manifest of the files as they are now, and the record of their sizes, times and digests.

    The digest of a part next to which a file has its group sizes, or the names of its features, is that of all these
    files, one after the other.
    """
    parts: list[ManifestPart] = []
    files: list[dict[str, Any]] = []
    for part, entry in own.parts.items():
        states = [raw_files.recorded_state(Path(path)) for path in entry.members]
        files += [{**state, "sha256": digest(path)} for state, path in zip(states, entry.members, strict=True)]
        size = sum(state["bytes"] or 0 for state in states)
        origin = " and ".join(entry.members)
        parts.append(ManifestPart(part, entry.members[0], size, digest(*entry.members), False, origin))
    manifest = Manifest(own.name, "files named in the configuration", tuple(parts))
    manifest.write(raw_folder)
    raw_files.write_record(record, files, planned_with)
    return manifest


def _size(path: Path) -> int:
    """Bytes of text, roughly."""
    size = path.stat().st_size if path.exists() else 0
    return size * (_UNPACKED if path.suffix.lower() in (*SUFFIXES, ".parquet", ".pq") else 1)


def _divided(settings: OwnDataSettings) -> tuple[dict[str, Path], dict[str, int], tuple[Fold, ...]]:
    """The files by part, the parts that are split, and the folds."""
    folds = settings.folds_of_files
    if settings.files is not None:
        given = (settings.files,) if isinstance(settings.files, str) else settings.files
        parts = _named("file", tuple(expanded(one) for one in given))
        shares = settings.n_folds if settings.n_folds > 1 else DEFAULT_FOLDS
        return parts, dict.fromkeys(parts, shares), tuple(_rotated(parts, k, shares) for k in range(settings.n_folds))
    prefixed = {f"Fold{k}" if len(folds) > 1 else "": fold for k, fold in enumerate(folds, start=1)}
    files: dict[str, Path] = {}
    split: dict[str, int] = {}
    # Test files first: where folds share their queries, each is stored in the order of the tests.
    for role in reversed(ROLES):
        for prefix, fold in prefixed.items():
            files |= _named(prefix + role, fold[role])
    return files, split, tuple(_given(prefix, fold, split) for prefix, fold in prefixed.items())


def _named(stem: str, paths: Sequence[Path]) -> dict[str, Path]:
    return {stem if len(paths) == 1 else f"{stem}{i}": path for i, path in enumerate(paths, start=1)}


def _rotated(parts: Mapping[str, Path], fold: int, shares: int) -> Fold:
    """Fold number ``fold`` from 0: the next block validates, so that over all folds each block does so once."""
    tested, validated = fold % shares, (fold + 1) % shares

    def blocks(chosen: Sequence[int]) -> tuple[str, ...]:
        return tuple(f"{part}/{block + 1}" for part in parts for block in chosen)

    rest = [block for block in range(shares) if block not in (tested, validated)]
    return Fold.model_construct(train=blocks(rest), validation=blocks([validated]), test=blocks([tested]))


def _given(prefix: str, fold: Files, split: dict[str, int]) -> Fold:
    """A fold whose files the person named; without files for validation, a fifth of the training queries validates."""
    names = {role: tuple(_named(prefix + role, fold[role])) for role in ROLES}
    rest, validation = names["train"], names["validation"]
    if not validation:
        split |= dict.fromkeys(names["train"], DEFAULT_FOLDS)
        rest = tuple(f"{part}/{block}" for part in names["train"] for block in range(2, DEFAULT_FOLDS + 1))
        validation = tuple(f"{part}/1" for part in names["train"])
    return Fold.model_construct(train=rest, validation=validation, test=names["test"])
