"""What differs between two studies: statuses of claims, settings, and numbers beyond a tolerance?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from pipeline_lib.claims import judged
from pipeline_lib.claims.judged import JudgedClaim
from pipeline_lib.claims.words import STATUSES
from pipeline_lib.core import storage
from pipeline_lib.core.errors import DataError
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.report.study import flat

FOLDERS = ("tables", "evaluation")
"""Where the tables of a study are; parts of tables, models and logs are not compared."""


class Change(NamedTuple):
    """A claim whose status, or only whose evidence, differs, or a setting; None where a study does not have it."""

    name: str
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

    tolerance: float
    claims: tuple[Change, ...]
    settings: tuple[Change, ...]
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
    not equal. The rows of a table are matched by all that is no decimal number.

    Raises
    ------
    DataError
        When there is no table in a folder, or no ``claims.json`` for it.
    """
    names = sorted({name for folder in (first, second) for name in tables_of(folder)})
    claims = [{claim.id: claim for claim in judged.read(claims_of(folder)).claims} for folder in (first, second)]
    before, after = (flat(ResultsFolder.at(folder).configured, ".") for folder in (first, second))
    settings = (Change(name, before.get(name), after.get(name)) for name in {**before, **after} if name != "study")
    return Comparison(
        tolerance,
        tuple(_of_claims(*claims)),
        tuple(one for one in settings if one.before != one.after),
        tuple(change for name in names for change in _of_table(name, first / name, second / name, tolerance)),
        len({*claims[0], *claims[1]}),
        len(names),
    )


def tables_of(folder: Path) -> list[str]:
    """The tables of a study, as paths below its results folder."""
    found = [path.relative_to(folder).as_posix() for top in FOLDERS for path in (folder / top).rglob("*.parquet")]
    if not found:
        raise DataError(f"{folder}: expected the results of a study, found no table below {' or '.join(FOLDERS)}")
    return found


def claims_of(results: Path) -> Path:
    """The judged claims of a study, ``reports/<study>/claims.json`` next to ``results/<study>``."""
    results = results.resolve()
    return results.parents[1] / "reports" / results.name / "claims.json"


def _of_claims(first: Mapping[str, JudgedClaim], second: Mapping[str, JudgedClaim]) -> list[Change]:
    """Claims with another status, the worst status of the second study first, then those with other evidence."""
    statuses: list[Change] = []
    evidence: list[Change] = []
    for name in dict.fromkeys([*first, *second]):
        one, other = first.get(name), second.get(name)
        change = Change(name, one.status if one else None, other.status if other else None)
        if change.before != change.after:
            statuses.append(change)
        elif one and other and (one.explanation, one.trials) != (other.explanation, other.trials):
            evidence.append(change)
    order: list[str | None] = [*STATUSES, None]
    return sorted(statuses, key=lambda change: order.index(change.after)) + evidence


def _of_table(name: str, first: Path, second: Path, tolerance: float) -> Iterator[TableChange]:
    if not (first.is_file() and second.is_file()):
        yield TableChange(name, f"only in the {'first' if first.is_file() else 'second'} study")
        return
    one, other = storage.read_table(first), storage.read_table(second)
    if one.schema != other.schema:
        differ = sorted({column for column, _ in {*one.schema.items()} ^ {*other.schema.items()}})
        yield TableChange(name, f"other columns or types: {', '.join(differ)}")
        return
    numbers = [column for column, kind in one.schema.items() if kind.is_float()]
    keys = [column for column in one.columns if column not in numbers]
    # Rows with the same keys are told apart by their order.
    number = (pl.int_range(pl.len()).over(keys) if keys else pl.int_range(pl.len())).alias("_number")
    numbered, others = (frame.with_columns(number) for frame in (one, other))
    both = numbered.join(others, on=[*keys, "_number"], suffix="_other", nulls_equal=True, maintain_order="left")
    if lost := one.height + other.height - 2 * both.height:
        yield TableChange(name, "rows that only one study has", lost, max(one.height, other.height))
    texts = [column for column in keys if not one.schema[column].is_numeric()]
    for column in numbers:
        yield from _of_column(name, both, column, texts, tolerance)


def _of_column(name: str, both: pl.DataFrame, column: str, texts: list[str], tolerance: float) -> Iterator[TableChange]:
    # A missing number becomes NaN, which equals itself here.
    before, after = (both[one].fill_null(np.nan).to_numpy() for one in (column, f"{column}_other"))
    distance, size = np.abs(before - after), np.maximum(np.abs(before), np.abs(after))
    same = (before == after) | (np.isnan(before) & np.isnan(after)) | (distance <= tolerance * size)
    wrong = np.flatnonzero(~same)
    if not len(wrong):
        return
    # Where only one study has a number, the difference is infinite.
    shares = np.nan_to_num(distance[wrong] / size[wrong], nan=np.inf)
    place = int(wrong[np.argmax(shares)])
    where = ", ".join(f"{text} = {both[text][place]}" for text in texts if both[text][place] is not None)
    what = f"{column}: {both[column][place]} in the first study, {both[f'{column}_other'][place]} in the second"
    yield TableChange(name, what, len(wrong), both.height, float(shares.max()), where or f"row {place + 1}")
