"""How are the differences between two studies shown on a page?"""

import os

from pipeline_lib.report import page, site
from pipeline_lib.report.comparison import Comparison, TableChange
from pipeline_lib.report.pages import FRONT, Page
from pipeline_lib.report.tables import Cell


def write(path: str | os.PathLike[str], found: Comparison) -> None:
    """Write one page, with all tables as CSV and LaTeX in a folder ``tables`` next to it."""
    rows = {kind: [one._asdict() for one in getattr(found, kind)] for kind in ("claims", "settings", "tables")}
    for row in rows["tables"]:
        row["largest"] = None if row["largest"] is None else Cell(f"{row['largest']:.2g}", row["largest"])
    section = page.section("comparison", "comparison", {"found": found, "rows": rows})
    assert section is not None
    title = f"{found.first} and {found.second}: what differs"
    site.write_page(path, title, found.second, Page(FRONT, section.title, (section,)))


def extent(change: TableChange) -> str:
    """How many rows differ, by how much, and where most."""
    if change.rows is None:
        return ""
    most = "" if change.largest is None else f", by up to {_share(change.largest)}, most at {change.where}"
    return f"; {change.rows:,} of {change.of:,} rows{most}"


def _share(largest: float) -> str:
    return "a number that is missing in one of them" if largest == float("inf") else f"{largest:.2g} of the larger"
