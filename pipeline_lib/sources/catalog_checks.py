"""Do the keys of an entry of the catalogue fit together, as no schema can say?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline_lib.errors import ConfigurationError, hint
from pipeline_lib.sources.population_settings import PopulationSettings

if TYPE_CHECKING:
    from pipeline_lib.sources.catalog import DataSet

__all__: list[str] = []  # internal: called while the catalogue is read (see pipeline_lib.checks)


def problem(data_set: DataSet) -> tuple[str, str] | None:
    """The first inconsistency between several keys: the key and a sentence; None if there is none."""
    return _source_problem(data_set) or _counts_problem(data_set) or _folds_problem(data_set)


def _source_problem(data_set: DataSet) -> tuple[str, str] | None:
    if data_set.source == "generated":
        if data_set.archives or data_set.addresses or data_set.by_hand:
            return "source", "a generated data set has no archives, addresses or by_hand; remove them"
        return _simulation_problem(data_set)
    if data_set.simulation is not None:
        return "simulation", "only a generated data set is drawn; remove the key"
    needed: dict[str, object] = {
        "features": data_set.n_features,
        "max_label": data_set.max_label,
        "counts": data_set.counts,
        "archives": data_set.archives,
        "by_hand": data_set.by_hand,
    }
    for key, value in needed.items():
        if not value:
            return key, "a data set to be downloaded needs this key; add it"
    names = [archive.name for archive in data_set.archives]
    if len(set(names)) < len(names):
        return "archives", f"expected different names, found {', '.join(names)}"
    for i, address in enumerate(data_set.addresses):
        if address.archive not in names:
            return f"addresses.{i}.archive", f"expected one of {', '.join(names)}; found {address.archive!r}"
    for name, part in data_set.parts.items():
        if not part.members:
            return f"parts.{name}.members", "say how the file's path in the archive ends"
    return None


def _simulation_problem(data_set: DataSet) -> tuple[str, str] | None:
    assert data_set.simulation is not None  # which the schema requires
    if data_set.simulation.queries < len(data_set.parts):
        return "simulation.queries", f"expected one for each of the {len(data_set.parts)} parts or more"
    try:
        PopulationSettings.from_mapping(data_set.simulation.population)
    except ConfigurationError as error:
        return "simulation.population", str(error).removeprefix("population: ")
    return None


def _counts_problem(data_set: DataSet) -> tuple[str, str] | None:
    counts = data_set.counts
    if counts is None:
        return None
    if counts.labels is not None:
        if sum(counts.labels) != counts.rows:
            return "counts.labels", f"expected a sum of {counts.rows} (rows), found {sum(counts.labels)}"
        if len(counts.labels) - 1 != data_set.max_label:
            return "counts.labels", f"expected labels 0..{data_set.max_label}, found 0..{len(counts.labels) - 1}"
    for key, total in (("rows", counts.rows), ("queries", counts.queries)):
        known = [getattr(part, key) for part in data_set.parts.values()]
        if None not in known and sum(known) != total:
            return f"counts.{key}", f"expected {sum(known)}, the sum over the parts; found {total}"
    return None


def _folds_problem(data_set: DataSet) -> tuple[str, str] | None:
    for part in data_set.split:
        if part not in data_set.parts:
            return f"split.{part}", f"expected a part ({', '.join(data_set.parts)})"
    for number, fold in enumerate(data_set.folds):
        used = [*fold.train, *fold.validation, *fold.test]
        for block in used:
            if block not in data_set.blocks:
                return f"folds.{number}", f"unknown part or block {block!r}; {hint(block, data_set.blocks)}"
            if used.count(block) > 1:
                return f"folds.{number}", f"{block!r} has more than one role; the roles of a fold must be disjoint"
    if data_set.n_folds > 1:
        tests = [block for fold in data_set.folds for block in fold.test]
        if sorted(tests) != sorted(data_set.blocks):
            return (
                "folds",
                f"the test parts must contain every block once ({', '.join(data_set.blocks)}); found {tests}",
            )
    return None
