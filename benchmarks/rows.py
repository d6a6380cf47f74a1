"""How are the rows of a section kept? As files ``docs/data/benchmarks-NAME.csv``, with its text as comments.

Each table of a section is a file, with the cells as they are shown; the first one begins with the title and the text of
the section in lines with a #. The page of benchmarks is made from these files (:mod:`benchmarks.page`).
"""

import csv
import io
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline_lib.core.files import write_text

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "data"
_CELLS = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class Kept:
    """A file of a section: its name, the title of the section, and its rows by the heads of their columns."""

    name: str
    title: str
    rows: list[dict[str, str]]


def files(name: str, section: str) -> dict[str, str]:
    """The names and texts of the files of a section in Markdown.

    Example
    -------
    >>> section = "## X\\n\\nHow.\\n\\n| work | ms |\\n|---|---:|\\n| a | 1 |\\n|  | 2 |\\n"
    >>> print(files("x_y", section)["benchmarks-x-y.csv"])
    # X
    #
    # How.
    work,ms
    a,1
    a,2
    <BLANKLINE>
    """
    paragraphs = section.removeprefix("## ").strip().split("\n\n")
    tables = [paragraph for paragraph in paragraphs if paragraph.startswith("|")]
    words = [textwrap.fill(one, 118) for one in paragraphs if not one.startswith("|")]
    about = ["\n\n".join(words), *[words[0]] * len(tables)]
    made = {}
    for number, table in enumerate(tables):
        suffix = f"-{number + 1}" if number else ""
        comments = "".join(f"# {line}".rstrip() + "\n" for line in about[number].split("\n"))
        made[f"benchmarks-{name.replace('_', '-')}{suffix}.csv"] = comments + _csv(table)
    return made


def _csv(table: str) -> str:
    """A table of Markdown as CSV; a work that is stated once stands in each of its rows."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    heads, _, *lines = table.split("\n")
    above: list[str] = []
    writer.writerow(_cells(heads))
    for line in lines:
        cells = _cells(line)
        above = [above[0], *cells[1:]] if above and not cells[0] else cells
        writer.writerow(above)
    return text.getvalue()


def _cells(line: str) -> list[str]:
    return [cell.strip().replace(r"\|", "|") for cell in _CELLS.split(line.strip())[1:-1]]


def write(name: str, section: str) -> None:
    """Write the files of a section, and remove those of further tables that it had before."""
    made = files(name, section)
    first = next(iter(made))
    for path in FOLDER.glob(first.replace(".csv", "-[0-9].csv")):
        if path.name not in made:
            path.unlink()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file, text in made.items():
        write_text(FOLDER / file, text)


def read() -> Iterator[Kept]:
    """All files, those of a section after each other."""
    for path in sorted(FOLDER.glob("benchmarks-*.csv"), key=lambda path: path.stem):
        lines = path.read_text(encoding="utf-8").split("\n")
        rows = csv.DictReader(line for line in lines if line and not line.startswith("#"))
        yield Kept(path.name, lines[0].removeprefix("# "), list(rows))
