"""How is a chain shown, whose links lead from what is measured to the number that a bound states?

A waterfall has a line for each link. A bar reaches from the link before to this one, on a logarithmic axis, so that its
length is the factor of the step; the factor is next to it. Terms that are added are hatched, and the step with the
largest factor is dark. A dashed line marks what holds without any theorem.
"""

from collections.abc import Sequence
from itertools import dropwhile
from types import SimpleNamespace
from typing import Any

from matplotlib.figure import Figure as Drawing

from pipeline_lib.report.declared_tables import col, table
from pipeline_lib.report.figures import COLOURS, FAINT, INK, PAPER, Figure, drawing, logarithmic, rows_of, words
from pipeline_lib.report.queries import Rows
from pipeline_lib.report.tables import Table, short

LIGHT = COLOURS[5]
DARK = COLOURS[0]
AXES = ("dataset", "loss", "n", "bound")
LEAST = 1e-12
"""Links at 0 and below, which have no place on a logarithmic axis, are left out up to the first one above this."""
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


def waterfall(chain: Rows) -> Figure:
    """The figure of one chain."""
    first, last = chain[0], chain[-1]
    shown = list(dropwhile(lambda link: link.value <= LEAST, chain))
    dearest = _costliest(chain)
    return Figure(
        name=_name(chain),
        title=f"{first.place}: where the bound loses ({first.dataset}, {first.setting})",
        caption="From what is measured to the number that is stated; a bar's length is the factor of its step, on a "
        "logarithmic axis; thin lines: 95 % intervals; hatched bars: added terms; dark: the largest factor",
        source=chain.source,
        description=" ".join(
            [
                f"From {short(first.value)} ({first.label}) to {short(last.value)} ({last.label});",
                f"the largest factor is that of {dearest.label}, {short(dearest.factor)};"
                if dearest.factor is not None
                else "",
                f"{short(first.trivial)} holds without the theorem.",
            ]
        ),
        draw=lambda: draw(shown, first.trivial),
    )


def draw(links: Sequence[SimpleNamespace], trivial: float) -> Drawing:
    """Draw the links, the first on top."""
    figure = drawing(0.27 * len(links) + 0.95)
    axis = figure.subplots()
    values = [link.value for link in links]
    least, most = min(values), max(*values, trivial)
    before = None
    for row, link in enumerate(links):
        if before is None:
            axis.plot(link.value, row, "D", color=INK, markersize=5)
        else:
            left, right = sorted((before, link.value))
            axis.barh(
                row,
                right - left,
                left=left,
                height=0.62,
                color=DARK if link.costliest else LIGHT,
                edgecolor=INK,
                linewidth=0.5,
                hatch="////" if link.added else None,
            )
        if link.high > link.low:
            axis.plot([max(link.low, 0.3 * link.value), link.high], [row, row], color=INK, linewidth=0.9)
        factor = "" if before is None else f"  ×{short(link.value / before)}"
        rightmost = max(before or 0.0, link.value, link.high)
        axis.annotate(
            f"{short(link.value)}{factor}",
            (rightmost, row),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=7,
            color=INK,
            bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.6},
        )
        before = link.value
    axis.axvline(trivial, color=FAINT, linestyle="--", linewidth=1)
    axis.text(trivial, -0.75, words("without a theorem"), ha="center", va="bottom", fontsize=7, color=FAINT)
    logarithmic(axis, "x")
    # Room for the numbers to the right of the bars.
    axis.set_xlim(least / 1.6, most * (most / least) ** 0.28 * 2.0)
    rows_of(axis, [link.label for link in links], "loss")
    axis.set_ylim(len(links) - 0.4, -0.75)
    return figure


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
        col("trivial", "Without a theorem"),
        col("step", "Costliest step"),
        col("factor", "Its factor"),
        col("without", "Stated without it"),
    ]
    notes = [
        "“Without a theorem”: the largest value that the quantity can have. “Stated without it”: the number if that "
        "step cost nothing; terms that later steps add remain, so that it need not be the quotient of the two columns."
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
    first, last = chain[0], chain[-1]
    step = _costliest(chain)
    return SimpleNamespace(
        paper=_paper(chain),
        place=first.place,
        dataset=first.dataset,
        setting=first.setting,
        measured=first.value,
        stated=last.value,
        trivial=first.trivial,
        step=step.label if step.leads else f"{step.label} {UNSURE}",
        factor=step.factor,
        without=step.without,
    )


def steps(chain: Rows) -> Table:
    """The links of one chain in words."""
    first = chain[0]
    columns = [
        col("says", "Step"),
        col("value", "Value"),
        col("low_shown", "95 % interval from"),
        col("high_shown", "to"),
        col("factor", "Factor"),
        col("without", "Stated without it"),
    ]
    # A link that is not estimated has no interval.
    ends = ((row.low, row.high) if row.high > row.low else (None, None) for row in chain)
    shown = [
        SimpleNamespace(**vars(row), low_shown=low, high_shown=high)
        for row, (low, high) in zip(chain, ends, strict=True)
    ]
    return table(
        f"{_name(chain)}-steps",
        f"{first.place}: the steps in words ({first.dataset}, {first.setting})",
        Rows(shown, chain.tables),
        columns,
    )


def _name(chain: Rows) -> str:
    first = chain[0]
    return "-".join(("chain", _paper(chain), first.bound, first.dataset, first.loss)).lower()


def _paper(chain: Rows) -> str:
    # The table of a paper's chains is called after it.
    return chain.tables[0].partition("-")[0]
