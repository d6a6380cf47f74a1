"""How is what was measured written down? As sections in Markdown, and as the page docs/benchmarks.md.

A section a benchmark: its title and text are the docstring of the benchmark's module, its tables what was measured.
Modules of this folder that keep a record of their own write theirs. The rows go to files (:mod:`benchmarks.rows`), and
the page says of each section between which ratios its rows lie.
"""

import datetime
import importlib.metadata
import itertools
import math
import os
import platform
import textwrap
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import ratios, rows
from benchmarks.rows import ROOT, Kept
from benchmarks.timing import BUDGET, Scaling, Table, Timing
from pipeline_lib.core.files import write_text

PAGE = ROOT / "docs" / "benchmarks.md"
OURS = ("1", "1 (one call)", "–", "")
"""What stands in the column of ratios where there is nothing to compare with ours."""


def percent(share: float) -> str:
    """A share as a whole number of percent."""
    return f"{100.0 * share:.0f} %"


INTRODUCTION = f"""\
How fast is the library, compared with other software that does the same work on the same machine, and with what the
machine itself allows? `make bench` installs the other software and writes this page and its rows; do not edit them by
hand.

All rows of a work were measured in one run, by turns: in every round each implementation is called once (very short
work several times in a row), so that a machine whose speed drifts slows all alike. Times are processor seconds, in user
mode and in the system; every benchmark is a process of its own on one core. The column *ms* is the median over rounds.

The *ratio* is the time of an implementation divided by that of the first row of the same work, which is ours: above 1
ours is faster. It is the median of the ratios within the rounds. The interval after it, from the k-th smallest to the
k-th largest of these, encloses the true median with a confidence of at least {percent(ratios.LEVEL)} by the sign test
if rounds are independent, whatever the distribution of times. An implementation has {BUDGET:g} seconds for a work
unless a section says otherwise; with fewer than six rounds the interval is the range of all ratios, with the lower
confidence that is then stated. A row of one call has no interval.

The table says how many ratios of a section are above 1, and between which numbers they lie; the files of the last
column have the rows, with what was compared and how. For the limits of the machine the ratio is our time over the least
possible one, and for the estimates of training the measured time over the planned one. Studies by their size
(`python -m benchmarks.growth`), large data (`large_data`), estimates (`training_times`) and a run of the workflow
(`workflow_overhead`) are measured by commands of their own.
"""


@dataclass(frozen=True)
class Measured:
    """All that one benchmark measured, and the processor seconds of the whole."""

    name: str
    text: str
    timings: list[Timing] = field(default_factory=list)
    scalings: list[Scaling] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    seconds: float = 0.0


def introduction() -> str:
    """What the numbers are; every paragraph in lines of one length."""
    return "\n\n".join(textwrap.fill(paragraph, 120) for paragraph in INTRODUCTION.split("\n\n"))


def timing_table(timings: list[Timing]) -> list[str]:
    """A row an implementation; the ratio is to the first one of the same work, which alone states the work."""
    if not timings:
        return []
    units = list(dict.fromkeys(timing.unit for timing in timings))
    notes = any(timing.note for timing in timings)
    heads = ["work", "implementation", "ms", f"{units[0]}/s" if len(units) == 1 else "rate", "ratio"]
    lines = []
    for _, group in itertools.groupby(timings, key=lambda timing: timing.work):
        same = list(group)
        lines += [_cells(timing, same[0], len(units) > 1) for timing in same]
    if not notes:
        lines = [line[:-1] for line in lines]
    return _table([*heads, *(["note"] if notes else [])], ["---", "---", "---:", "---:", "---", "---"], lines)


def _cells(timing: Timing, ours: Timing, with_unit: bool) -> list[str]:
    work, note = timing.work if timing is ours else "", timing.note.replace("|", "\\|")
    if math.isnan(timing.median):
        return [work, timing.implementation, "–", "–", "–", note]
    rate = short(timing.rate) + (f" {timing.unit}/s" if with_unit else "")
    return [work, timing.implementation, milliseconds(timing.median), rate, ratio(timing, ours), note]


def ratio(timing: Timing, ours: Timing) -> str:
    """The ratio with its interval; 1 for ours."""
    if timing is ours:
        return "1" if len(timing.seconds) > 1 else "1 (one call)"
    if math.isnan(ours.median):
        return "–"
    found = ratios.of_rounds(ours.seconds, timing.seconds)
    if found.level == 0.0:
        return f"{ratio_digits(found.median)} (one call)"
    level = "" if found.level >= ratios.LEVEL else f"; {percent(found.level)}"
    return f"{ratio_digits(found.median)} ({ratio_digits(found.low)}–{ratio_digits(found.high)}{level})"


def milliseconds(seconds: float) -> str:
    """Milliseconds with three digits, never as a power of ten."""
    value = seconds * 1e3
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def short(number: float) -> str:
    """A number with three digits and k, M or G.

    Example
    -------
    >>> short(31_415_926.0), short(271.8)
    ('31.4 M', '272')
    """
    for factor, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= 0.9995 * factor:
            return f"{ratio_digits(number / factor)}{letter}"
    return ratio_digits(number)


def ratio_digits(number: float) -> str:
    """Three digits; whole numbers from 100 on, and two digits below 0.1."""
    return f"{number:,.0f}" if number >= 99.95 else f"{number:.3g}" if number >= 0.1 else f"{number:.2g}"


def scaling_table(scalings: list[Scaling]) -> list[str]:
    """Nanoseconds per document for every size, and the exponent of the seconds of a whole query."""
    if not scalings:
        return []
    sizes, fitted_from = scalings[0].sizes, scalings[0].fitted_from
    heads = ["ns per document", *(f"m = {m:,}" for m in sizes), f"exponent from {fitted_from:,}", f"from {sizes[-2]:,}"]
    lines = []
    for scaling in scalings:
        cells = [ratio_digits(seconds / m * 1e9) for m, seconds in zip(sizes, scaling.seconds, strict=True)]
        lines.append([scaling.implementation, *cells, f"{scaling.exponent:.2f}", f"{scaling.last_exponent:.2f}"])
    return _table(heads, ["---", *["---:"] * (len(heads) - 1)], lines)


def other_table(table: Table) -> list[str]:
    """Any other table; columns whose cells are all numbers are aligned on the right."""
    numbers = [all(row[c][:1] in "0123456789–" for row in table.rows) for c in range(len(table.heads))]
    return _table(list(table.heads), ["---:" if n else "---" for n in numbers], [list(row) for row in table.rows])


def _table(heads: list[str], rules: list[str], cells: list[list[str]]) -> list[str]:
    lines = [" | ".join(heads), "|".join(rules[: len(heads)]), *(" | ".join(row) for row in cells)]
    return [f"|{line}|" if k == 1 else f"| {line} |" for k, line in enumerate(lines)]


def section(measured: Measured) -> list[str]:
    """One benchmark's section: its text and its tables."""
    title, _, rest = measured.text.strip().partition("\n")
    tables = [timing_table(measured.timings), scaling_table(measured.scalings), *map(other_table, measured.tables)]
    lines = [f"## {title}", "", rest.strip(), ""]
    for table in filter(None, tables):
        lines += [*table, ""]
    return lines


def page(measured: str) -> str:
    """The whole page: what the numbers are, what was ``measured`` when, and a row for each file of a section."""
    sections = itertools.groupby(rows.read(), key=lambda kept: kept.title)
    cells = [_row(title, list(files)) for title, files in sections]
    table = _table(["section", "above 1", "ratios", "rows"], ["---", "---:", "---:", "---"], cells)
    return "\n\n".join(["# Benchmarks", introduction(), measured, "\n".join(table)]) + "\n"


def _row(title: str, files: list[Kept]) -> list[str]:
    ratios_of = (row.get("ratio", "–") for kept in files for row in kept.rows)
    found = [float(cell.partition(" ")[0].replace(",", "")) for cell in ratios_of if cell not in OURS]
    span = " to ".join(map(ratio_digits, sorted({min(found), max(found)}))) if found else "–"
    above = f"{sum(one > 1.0 for one in found)} of {len(found)}" if found else "–"
    links = ", ".join(f"[{kept.name}](data/{kept.name})" for kept in files)
    return [title, above, span, links]


def measured_before() -> str:
    """What the present page says of the run: the two paragraphs after the introduction."""
    text = PAGE.read_text("utf-8")
    return text[text.index("Measured on ") : text.index("\n\n| section")]


def store(name: str, text: str) -> None:
    """Keep the section that another module of this folder has written, and let the page say so."""
    rows.write(name, text)
    write_text(PAGE, page(measured_before()))


def machine() -> str:
    """One paragraph about the machine and the versions compared."""
    versions = []
    for name in compared_packages():
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{name} not installed")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"Measured on {datetime.date.today().isoformat()}: {processor()}, {os.cpu_count()} cores, {memory:.0f} GiB of "
        f"memory, {platform.system()} `{platform.machine()}`, Python {platform.python_version()}. "
        f"Versions: {', '.join(versions)}."
    )


def compared_packages() -> list[str]:
    """The packages whose versions matter: what computes for us, and the extra `bench` of pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extra = [requirement.split(">")[0].split("=")[0] for requirement in project["optional-dependencies"]["bench"]]
    return list(dict.fromkeys(["numpy", "scipy", "numba", "polars", "lightgbm", *extra]))


def processor() -> str:
    """The name of the processor, as Linux tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "processor")


def about_run(sections: list[Measured]) -> str:
    """Two paragraphs about the run that measured these sections."""
    return f"{textwrap.fill(machine(), 120)}\n\n{textwrap.fill(durations(sections), 120)}"


def durations(sections: list[Measured]) -> str:
    """How long the run took, and whether it was disturbed."""
    each = ", ".join(f"{measured.name} {measured.seconds:.0f}" for measured in sections)
    total = sum(measured.seconds for measured in sections)
    return f"The run took {total:.0f} processor seconds: {each}. {load()}"


def load() -> str:
    """How busy the machine was in the last quarter of an hour, this run included."""
    return f"The load average was {os.getloadavg()[2]:.1f}; 1 would be this run alone."
