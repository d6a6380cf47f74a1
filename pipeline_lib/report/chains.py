"""How is a chain shown, whose links lead from what is measured to the number that a bound states?

The figure has a row for each link, with the factor of its step, on a logarithmic axis; what holds without any theorem
is marked in the last row. The tables name the step with the largest factor, and say what would be stated without it.
"""

from collections.abc import Sequence
from itertools import dropwhile
from types import SimpleNamespace
from typing import Any

from pipeline_lib.claims.words import rounded_down
from pipeline_lib.report.declared_figures import RowFigure, row_figure
from pipeline_lib.report.figures import Figure, Measured
from pipeline_lib.report.queries import Rows, Tables
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.report.tables import Table, col, short, table

AXES = ("dataset", "loss", "n", "bound")
LEAST = 1e-12
"""Links at 0 and below, which have no place on a logarithmic axis, are left out up to the first one above this."""
LARGEST = "largest possible value"
"""What holds without any theorem, as it is called in legends."""
UNSURE = "(?)"
"""After the name of a step whose lead over the next one may be noise."""


def chains(rows: Rows) -> list[Rows]:
    """The links of every chain, in the order of the table."""
    found: dict[tuple[Any, ...], list[SimpleNamespace]] = {}
    for row in rows:
        found.setdefault(tuple(getattr(row, axis) for axis in AXES), []).append(row)
    return [Rows(links, rows.tables) for links in found.values()]


def largest(rows: Rows, datasets: int = 1) -> list[Rows]:
    """The chains of the first data sets with the largest n of each bound."""
    kept = chains(rows.where(dataset=rows.distinct("dataset")[:datasets]))
    most: dict[tuple[Any, ...], int] = {}
    for one in kept:
        key = (one[0].dataset, one[0].loss, one[0].bound)
        most[key] = max(most.get(key, 0), one[0].n)
    return [one for one in kept if one[0].n == most[one[0].dataset, one[0].loss, one[0].bound]]


def of_papers(results: ResultsFolder, papers: Sequence[str]) -> list[Rows]:
    """The chain with the largest n of each bound of the papers, on every data set."""
    tables = Tables(results)
    found = [tables.rows(f"{paper}-chain") for paper in papers if tables.has(f"{paper}-chain")]
    return [one for rows in found for one in largest(rows, datasets=len(rows.distinct("dataset")))]


def figure(chain: Rows) -> Figure:
    """The figure of one chain."""
    first = chain[0]
    shown = list(dropwhile(lambda link: link.value <= LEAST, chain))
    rows = []
    for link in shown:
        factor = "" if link.factor is None else f" ×{short(link.factor)}"
        rows.append((f"{link.label}{factor}", {"value": Measured(link.value, link.low, link.high)}))
    rows[-1][1][LARGEST] = Measured(first.trivial, first.trivial, first.trivial)
    step, lost = _costliest(chain), "where the bound loses"
    if step.leads:
        lost = f"“{step.label}” costs most, a factor above {rounded_down(step.factor_low)}"
    return row_figure(
        _name(chain),
        f"{first.place}: {lost}",
        f"From what is measured to the number that is stated ({first.dataset}, {first.setting}), with 95 % intervals; "
        "after the name of a step its factor",
        {"": rows},
        xlabel="loss",
        log="x",
        source=chain.source,
    )


def overview(name: str, title: str, caption: str, found: Sequence[Rows]) -> RowFigure:
    """The figure of several chains: what is measured, what is stated, and shaded the range that says nothing."""
    rows, several = [], len({chain[0].dataset for chain in found}) > 1
    for chain in found:
        ends = {"measured": chain[0], "stated": chain[-1]}
        shown = {words: Measured(one.value, one.low, one.high) for words, one in ends.items() if one.value > LEAST}
        shown[LARGEST] = Measured(chain[0].trivial, chain[0].trivial, chain[0].trivial)
        where = f", {chain[0].dataset}" if several else ""
        rows.append((f"{_paper(chain)}{where}: {chain[0].place}", shown))
    source = ", ".join(dict.fromkeys(chain.source for chain in found))
    return row_figure(
        name, title, caption, {"": rows}, xlabel="in the units of the bound", log="x", source=source, beyond=LARGEST
    )


def summary(name: str, caption: str, found: Sequence[Rows]) -> Table:
    """One row for each chain: what is measured, what is stated, the step with the largest factor, and without it."""
    rows = [_in_one(chain) for chain in found]
    tables = tuple(dict.fromkeys(table for chain in found for table in chain.tables))
    columns = [
        *([col("paper", "Paper")] if len(tables) > 1 else []),
        col("place", "Bound"),
        *([col("dataset", "Data set")] if len({row.dataset for row in rows}) > 1 else []),
        col("setting", "Setting"),
        col("measured", "Measured"),
        col("stated", "Stated"),
        col("trivial", "Largest possible"),
        col("step", "Costliest step"),
        col("factor", "Its factor"),
        col("without", "Stated without it"),
    ]
    notes = [
        "“Stated without it”: the number if that step cost nothing; terms that later steps add remain, so that it need "
        "not be the quotient of the two columns."
    ]
    if any(row.step.endswith(UNSURE) for row in rows):
        notes.append(
            f"{UNSURE} The interval of this step's factor, by those of the links on both sides of it, overlaps with "
            "that of another step."
        )
    return table(name, caption, Rows(rows, tables), columns, notes=notes)


def _costliest(chain: Rows) -> SimpleNamespace:
    """The link whose step has the largest factor, as the table says; the last one if no factor is known."""
    return next((row for row in chain if row.costliest), chain[-1])


def _in_one(chain: Rows) -> SimpleNamespace:
    first, step = chain[0], _costliest(chain)
    about = vars(first) | {"paper": _paper(chain), "measured": first.value, "stated": chain[-1].value}
    about |= {"step": step.label if step.leads else f"{step.label} {UNSURE}"}
    return SimpleNamespace(**about | {"factor": step.factor, "without": step.without})


def steps(chain: Rows) -> Table:
    """The links of one chain in words."""
    first = chain[0]
    columns = [
        col("says", "Step"),
        col("value", "Value"),
        col("low", "95 % interval from"),
        col("high", "to"),
        col("factor", "Factor"),
        col("without", "Stated without it"),
    ]
    caption = f"{first.place}: the steps in words ({first.dataset}, {first.setting})"
    notes = ["The interval of a link that is not estimated is its value."]
    return table(f"{_name(chain)}-steps", caption, chain, columns, notes=notes)


def _name(chain: Rows) -> str:
    first = chain[0]
    return "-".join(("chain", _paper(chain), first.bound, first.dataset, first.loss)).lower()


def _paper(chain: Rows) -> str:
    # The table of a paper's chains is called after it.
    return chain.tables[0].partition("-")[0]
