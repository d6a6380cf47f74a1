"""Everything of a study that can be recomputed, and in words what came out."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline_lib.recompute import cards, definitions, joins, largest, measures, slopes
from pipeline_lib.recompute.comparison import Comparison, Difference, distance, shown
from pipeline_lib.recompute.study import Study

CARD = "card "
"""How the names of cards begin."""
NO_RAWER_ROWS = "their steps store no rawer rows"
NOT_STORED = "bounds, random draws, words, and what a step measures itself: no stored rows give them"
NO_ROWS = "they have no rows"


def recomputed(results: Path, report: Path) -> Comparison:
    """Recompute what can be, in the folder of a study's results and that of the report about them.

    Raises
    ------
    DataError
        When a table that is needed is missing.
    DamagedFileError
        When a table does not have the checksum that it states.
    """
    study, found = Study(results, report), Comparison()
    for part in (cards, largest, slopes, joins, measures, definitions):
        part.compare(study, found)
    for name in study.tables:
        frame = study.table(name)
        left = [column for column in frame.columns if column not in found.columns[name]]
        if frame.is_empty():
            found.leave(NO_ROWS, name)
        elif name not in found.compared:
            found.leave(NO_RAWER_ROWS, name)
        elif left:
            found.leave(NOT_STORED, name, left)
    return found


def lines(found: Comparison) -> Iterator[str]:
    """One line for every column of a table, and every value of a card, that differs: how often, and where most."""
    for name, differences in found.differences.items():
        columns: dict[str, list[Difference]] = {}
        for one in differences:
            columns.setdefault(one.column, []).append(one)
        for column, alike in columns.items():
            most = max(alike, key=lambda one: distance(one.published, one.recomputed))
            cells = "1 cell differs" if len(alike) == 1 else f"{len(alike):,} cells differ, most"
            where = f" at {most.where}" if most.where else ""
            numbers = f"published {shown(most.published)}, recomputed {shown(most.recomputed)}"
            yield f"{name}, {column}: {cells}{where}: {numbers}{_apart(most)}"


def summary(found: Comparison) -> str:
    """How much was recomputed, and whether all of it agrees, in one line."""
    of_cards = sum(name.startswith(CARD) for name in found.compared)
    tables = len(found.compared) - of_cards
    numbers = f"{sum(found.compared.values()):,} numbers of {tables} tables and {of_cards} cards"
    differing = sum(map(len, found.differences.values()))
    outcome = f"{differing:,} differ" if differing else "all agree"
    if unread := len(found.left.get(cards.NOT_IN_SQLITE, ())):
        outcome += f"; of the cards, {unread} could not be recomputed (`python -m pipeline_lib recompute` says why)"
    return f"Recomputed {numbers} from raw rows: {outcome}"


def not_compared(found: Comparison) -> Iterator[str]:
    """What was not compared, by the reasons."""
    for why, tables in found.left.items():
        named = [f"{name} ({_listed(columns)})" if columns else name for name, columns in tables.items()]
        if why == cards.NO_TRIALS:
            named = [_listed(columns) for columns in tables.values()]
        yield f"not compared, {why}: {'; '.join(named)}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _apart(one: Difference) -> str:
    apart = distance(one.published, one.recomputed)
    return f" (difference {apart:.2g})" if apart < float("inf") else ""
