"""How are the differences between two studies shown on a page?"""

from __future__ import annotations

import os

from pipeline_lib.reporting import site
from pipeline_lib.reporting.blocks import Block, Paragraph, Section
from pipeline_lib.reporting.comparison import Comparison, TableChange
from pipeline_lib.reporting.pages import FRONT, Page
from pipeline_lib.reporting.tables import Cell, Column, Table, simple, text, whole


def write(path: str | os.PathLike[str], found: Comparison) -> None:
    """Write one page, with all tables as CSV and LaTeX in a folder ``tables`` next to it."""
    section = Section("comparison", f"{found.first} and {found.second}", tuple(_blocks(found)))
    page = Page(FRONT, section.title, (section,))
    site.write_page(path, f"{found.first} and {found.second}: what differs", found.second, page)


def extent(change: TableChange) -> str:
    """How many rows differ, by how much, and where most."""
    if change.rows is None:
        return ""
    most = "" if change.largest is None else f", by up to {_share(change.largest)}, most at {change.where}"
    return f"; {change.rows:,} of {change.of:,} rows{most}"


def _share(largest: float) -> str:
    return "a number that is missing in one of them" if largest == float("inf") else f"{largest:.2g} of the larger"


def _blocks(found: Comparison) -> list[Block]:
    blocks: list[Block] = [
        Paragraph(
            f"The studies `{found.first}` and `{found.second}` are compared by the statuses of {found.compared_claims} "
            f"claims and by {found.compared_tables} tables. Numbers differ if their distance exceeds "
            f"{found.tolerance:g} times the larger of the two."
        )
    ]
    titles = (
        (found.claims, _claims(found), "No claim has another status or other evidence."),
        (found.settings, _settings(found), "All settings are the same."),
        (found.tables, _tables(found), "All tables are the same."),
    )
    blocks += [table if changes else Paragraph(otherwise) for changes, table, otherwise in titles]
    return blocks


def _claims(found: Comparison) -> Table:
    columns = [Column("claim", "Claim", "left"), Column("before", found.first, "left")]
    columns.append(Column("after", found.second, "left"))
    rows = [[text(one.claim), text(one.before), text(one.after)] for one in found.claims]
    notes = ["A claim with the same status in both columns has other evidence."]
    return simple("changed-claims", "Claims that differ", "claims.json", columns, rows, notes)


def _settings(found: Comparison) -> Table:
    columns = [Column("setting", "Setting", "left"), Column("before", found.first, "left")]
    columns.append(Column("after", found.second, "left"))
    rows = [[text(one.setting), text(one.before), text(one.after)] for one in found.settings]
    return simple("changed-settings", "Settings that differ", "configuration.yaml", columns, rows)


def _tables(found: Comparison) -> Table:
    columns = [Column("table", "Table", "left"), Column("what", "Difference", "left"), Column("rows", "Rows")]
    columns += [Column("of", "of"), Column("largest", "Largest"), Column("where", "Where", "left")]
    rows = [
        [
            text(one.table),
            text(one.what),
            text(None) if one.rows is None else whole(one.rows),
            text(None) if one.of is None else whole(one.of),
            text(None) if one.largest is None else Cell(f"{one.largest:.2g}", one.largest),
            text(one.where),
        ]
        for one in found.tables
    ]
    notes = ["Largest: the largest difference, relative to the larger of the two numbers."]
    return simple("changed-tables", "Numbers that differ", "*.parquet", columns, rows, notes)
