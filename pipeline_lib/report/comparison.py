"""What differs between two studies: statuses of claims, settings, and numbers beyond a tolerance?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from pipeline_lib.claims import judged
from pipeline_lib.claims.judged import JudgedClaim
from pipeline_lib.claims.words import STATUSES
from pipeline_lib.core import storage
from pipeline_lib.core.errors import DataError
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.report.study import as_text

FOLDERS = ("tables", "evaluation")
"""Where the tables of a study are; parts of tables, models and logs are not compared."""


class ClaimChange(NamedTuple):
    """A claim whose status, or only whose evidence, differs; None where a study does not have the claim."""

    claim: str
    before: str | None
    after: str | None


class SettingChange(NamedTuple):
    """A setting that differs, by its place in the configuration; None where a study does not have it."""

    setting: str
    before: str | None
    after: str | None


class TableChange(NamedTuple):
    """A table that differs: ``what`` says how, and for numbers ``rows`` of ``of`` differ, by up to ``largest``.

    ``largest`` is relative to the larger of the two numbers, and ``where`` has the texts of the row in which it is.
    """

    table: str
    what: str
    rows: int | None = None
    of: int | None = None
    largest: float | None = None
    where: str = ""


@dataclass(frozen=True)
class Comparison:
    """All differences between a first and a second study, and how much was compared."""

    first: str
    second: str
    tolerance: float
    claims: tuple[ClaimChange, ...]
    settings: tuple[SettingChange, ...]
    tables: tuple[TableChange, ...]
    compared_claims: int
    compared_tables: int

    @property
    def same(self) -> bool:
        """Whether no status, no evidence and no number differs; settings may."""
        return not (self.claims or self.tables)


def compare(first: Path, second: Path, tolerance: float) -> Comparison:
    """Compare two results folders, ``results/<study>``, with the judged claims of their reports.

    Two numbers differ if their distance exceeds ``tolerance`` times the larger of them; with tolerance 0, if they are
    not equal. Rows are compared in their order if their texts agree, and otherwise by their texts and whole numbers.

    Raises
    ------
    DataError
        When there is no table in a folder, or no ``claims.json`` for it.
    """
    names = sorted({name for folder in (first, second) for name in _tables(folder)})
    claims = [{claim.id: claim for claim in judged.read(_claims_of(folder)).claims} for folder in (first, second)]
    return Comparison(
        ResultsFolder.at(first).study,
        ResultsFolder.at(second).study,
        tolerance,
        tuple(_of_claims(*claims)),
        tuple(_of_settings(*(_flat(ResultsFolder.at(folder).configured) for folder in (first, second)))),
        tuple(change for name in names for change in _of_table(name, first / name, second / name, tolerance)),
        len({*claims[0], *claims[1]}),
        len(names),
    )


def _tables(folder: Path) -> list[str]:
    found = [path.relative_to(folder).as_posix() for top in FOLDERS for path in (folder / top).rglob("*.parquet")]
    if not found:
        raise DataError(f"{folder}: expected the results of a study, found no table below {' or '.join(FOLDERS)}")
    return found


def _claims_of(results: Path) -> Path:
    """The judged claims of a study, ``reports/<study>/claims.json`` next to ``results/<study>``."""
    results = results.resolve()
    return results.parents[1] / "reports" / results.name / "claims.json"


def _of_claims(first: Mapping[str, JudgedClaim], second: Mapping[str, JudgedClaim]) -> Iterator[ClaimChange]:
    """Claims with another status, the worst status of the second study first, then those with other evidence."""
    changes, evidence = [], []
    for name in dict.fromkeys([*first, *second]):
        one, other = first.get(name), second.get(name)
        change = ClaimChange(name, one.status if one else None, other.status if other else None)
        if change.before != change.after:
            changes.append(change)
        elif (
            one is not None and other is not None and (one.explanation, one.trials) != (other.explanation, other.trials)
        ):
            evidence.append(change)
    order: dict[str | None, int] = {status: place for place, status in enumerate(STATUSES)}
    yield from sorted(changes, key=lambda change: order.get(change.after, len(order)))
    yield from evidence


def _of_settings(first: Mapping[str, str], second: Mapping[str, str]) -> Iterator[SettingChange]:
    for name in dict.fromkeys([*first, *second]):
        if name != "study" and first.get(name) != second.get(name):
            yield SettingChange(name, first.get(name), second.get(name))


def _flat(settings: Mapping[str, Any], place: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in settings.items():
        found |= _flat(value, f"{place}{name}.") if isinstance(value, Mapping) else {f"{place}{name}": as_text(value)}
    return found


def _of_table(name: str, first: Path, second: Path, tolerance: float) -> Iterator[TableChange]:
    if not (first.is_file() and second.is_file()):
        yield TableChange(name, f"only in the {'first' if first.is_file() else 'second'} study")
        return
    one, other = storage.read_table(first), storage.read_table(second)
    if one.schema != other.schema:
        differ = sorted({column for column, _ in {*one.schema.items()} ^ {*other.schema.items()}})
        yield TableChange(name, f"other columns or types: {', '.join(differ)}")
        return
    texts = [column for column, kind in one.schema.items() if not kind.is_numeric()]
    keys = texts
    if one.height != other.height or not one.select(texts).equals(other.select(texts), null_equal=True):
        keys = [column for column, kind in one.schema.items() if not kind.is_float()]
        kept, other_kept = _matched(one, other, keys)
        if lost := (one.height - kept.height) + (other.height - kept.height):
            yield TableChange(name, "rows that only one study has", lost, max(one.height, other.height))
        one, other = kept, other_kept
    for column in (column for column in one.columns if column not in keys):
        yield from _of_column(name, one, other, column, texts, tolerance)


def _matched(one: pl.DataFrame, other: pl.DataFrame, keys: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows that both tables have, by the key columns and the number of the repetition, in the first's order."""
    first, second = (
        frame.with_columns(
            pl.int_range(pl.len()).over(keys).alias("_repetition") if keys else pl.lit(0).alias("_repetition")
        )
        for frame in (one, other)
    )
    on = [*keys, "_repetition"]
    columns = [*on, *(column for column in one.columns if column not in keys)]
    joined = first.select(columns).join(
        second.select(columns), on=on, how="inner", suffix="_other", nulls_equal=True, maintain_order="left"
    )
    others = [*keys, *(f"{column}_other" for column in one.columns if column not in keys)]
    return joined.select(one.columns), joined.select(others).rename(lambda name: name.removesuffix("_other"))


def _of_column(
    name: str, one: pl.DataFrame, other: pl.DataFrame, column: str, texts: list[str], tolerance: float
) -> Iterator[TableChange]:

    # A missing number becomes NaN, which equals itself here.
    before, after = (
        frame[column].cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy() for frame in (one, other)
    )
    distance, size = np.abs(before - after), np.maximum(np.abs(before), np.abs(after))
    same = (before == after) | (np.isnan(before) & np.isnan(after)) | (distance <= tolerance * size)
    wrong = np.flatnonzero(~same)
    if not len(wrong):
        return
    # Where only one study has a number, the difference is infinite.
    shares = np.nan_to_num(distance[wrong] / size[wrong], nan=np.inf)
    place = int(wrong[np.argmax(shares)])
    where = ", ".join(f"{text} = {one[text][place]}" for text in texts if one[text][place] is not None)
    what = f"{column}: {one[column][place]} in the first study, {other[column][place]} in the second"
    yield TableChange(name, what, len(wrong), one.height, float(shares.max()), where or f"row {place + 1}")
