"""How are the answers shown? The page docs/conformance.md and its rows in docs/data/, all numbers from the record."""

from __future__ import annotations

import csv
import io
import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tools.conformance import asking
from tools.conformance.conventions import DEVIATIONS, DIGITS, RANDOM, Deviation, explained, value
from tools.conformance.libraries import DOUBLE, FIVE_DECIMALS, LIBRARIES, SINGLE
from tools.conformance.vectors import TOPICS, VECTORS, Number, Vector, query

PAGE = asking.ROOT / "docs" / "conformance.md"
ROWS = asking.ROOT / "docs" / "data"
WIDTH = 120
UNEXPLAINED = "?"
ORDINARY = ("gain", "ties", "empty", "ideal", "depth", "short_lists")
"""The fields of a convention that matter for data in which nothing is odd."""

INTRODUCTION = """\
Two libraries that are given the same scores and labels may print two numbers and call both NDCG. `make conformance`
installs many of them in an environment of their own, asks them for the same lists, and says by which convention each
number comes about. It writes this page and its rows from the answers in `tools/conformance/record.json`; do not edit
them by hand.

No definition is the right one: papers and libraries disagree on gains, on documents with equal scores, and on queries
without a relevant document. What can be wrong is a comparison of numbers under different conventions."""

REFERENCE = """\
The value of the reference is computed with {digits} digits under one convention, that of `pipeline_lib.metrics.ndcg`:

$$\\mathrm{{NDCG}}@k = \\frac{{1}}{{Z_k}} \\sum_{{i \\le \\min(k, m)}} \\frac{{2^{{y_{{(i)}}}} - 1}}{{\\log_2(i + 1)}}$$

where y_(i) is the label at rank i, m the number of documents, and Z_k the largest value of the sum over all rankings,
cut off at k as well. Documents are ranked by falling score, compared exactly; infinite ones are ranked like others, and
equal ones stay in the order of the data. A query without a relevant document counts 0, and a mean is over all queries.
The value is undefined for an empty list, a cut at 0, a label that is negative or NaN, and a score that is NaN."""

FILES = """\
- [conformance-answers.csv](data/conformance-answers.csv): a row for every list, with its labels, scores and reference
  value, and a column for every library. `=` is the value of the reference, to {double:g} for libraries that compute in
  double precision, {single:g} in single precision, and {five:g} where five decimals are printed. A number is followed
  by the conventions that give it, of several explanations the one that fits most of the numbers of the library, or by
  `?` if no known convention gives it; ✗, with its words, says that the library refused. Two numbers with a dash are the
  smallest and the largest of {times} calls.
- [conformance-libraries.csv](data/conformance-libraries.csv): for every library, how many of its answers are those of
  the reference, explained, unexplained and refused, the number of lists that need each convention, and what has to be
  known of how it was asked.
- [conformance-conventions.csv](data/conformance-conventions.csv): all conventions, those for odd input too, such as a
  score that is NaN, and the libraries some of whose numbers they explain; other input may show more of them.

Every library is called with its defaults, unless its name says otherwise; where it needs a cut and none is asked for,
the cut is the number of documents."""

DIFFER = """\
These choices differ from those of the reference for data in which nothing is odd, and explain some of the numbers of
the libraries named."""


@dataclass(frozen=True)
class Answers:
    """What one library answered, and how its numbers come about."""

    name: str
    version: str
    given: dict[str, Any]

    @cached_property
    def numbers(self) -> dict[str, float]:
        """The numbers by vector, where all calls gave the same one."""
        return {id: float(one["value"]) for id, one in self.given.items() if "value" in one}

    @cached_property
    def errors(self) -> dict[str, str]:
        """The words with which vectors were refused."""
        return {id: one["error"] for id, one in self.given.items() if "error" in one}

    @cached_property
    def reasons(self) -> dict[str, tuple[Deviation, ...] | None]:
        """The deviations of every vector that was not refused: () where it is the reference, None if unknown."""
        varying = [id for id, one in self.given.items() if "values" in one]
        return explained(self.numbers, LIBRARIES[self.name].tolerance) | dict.fromkeys(varying, (RANDOM,))

    def kind(self, id: str) -> str:
        """Equal, explained, unexplained or refused."""
        if id in self.errors:
            return "refused"
        found = self.reasons[id]
        return "unexplained" if found is None else "explained" if found else "equal"

    def cell(self, id: str) -> str:
        """What the table of a topic shows."""
        match self.kind(id):
            case "refused":
                return f"✗ {self.errors[id]}"
            case "equal":
                return "="
        numbers = [float(x) for x in self.given[id].get("values", [self.given[id].get("value")])]
        if not self.reasons[id]:
            return f"{short(numbers[0], digits=7)} {UNEXPLAINED}"
        return f"{'–'.join(map(short, numbers))} {' '.join(names_of(self.reasons[id]))}"


def short(number: float, digits: int = 4) -> str:
    """A number with so many decimals at most.

    Example
    -------
    >>> short(0.5), short(0.63093), short(-1.0), short(1e20), short(math.nan)
    ('0.5', '0.6309', '−1', '1e+20', 'NaN')
    """
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "∞" if number > 0 else "−∞"
    text = f"{number:.{digits}f}".rstrip("0").rstrip(".") if abs(number) < 1e6 else f"{number:.4g}"
    return text.replace("-", "−", 1) if number < 0 else text


def page(record: dict[str, Any]) -> str:
    """The whole page."""
    every = answers(record)
    ordinary = {one.name for one in (*DEVIATIONS, RANDOM) if one.field in ORDINARY}
    shown = [row for row in conventions(every) if row[0] in ordinary and row[2] != "none"]
    parts = [
        "# Whose NDCG is right?",
        *paragraphs(INTRODUCTION),
        "## The reference",
        *paragraphs(REFERENCE.format(digits=DIGITS)),
        "## By what the libraries differ",
        *paragraphs(made(record, every)),
        *paragraphs(DIFFER),
        table(("name", "convention", "libraries"), shown),
        "## The rows",
        FILES.format(double=DOUBLE, single=SINGLE, five=FIVE_DECIMALS, times=asking.TIMES),
    ]
    return "\n\n".join(parts) + "\n"


def files(record: dict[str, Any]) -> dict[str, str]:
    """The names of the files of rows, and their texts."""
    every = answers(record)
    heads = ("topic", "vector", "labels", "scores", "names", "k", "reference", "value", *(one.name for one in every))
    asked = [
        (topic, *described(vector), *(one.cell(vector.id) for one in every))
        for topic, vectors in TOPICS.items()
        for vector in vectors
    ]
    counted = ("library", "version", "equal", "explained", "unexplained", "refused", "conventions", "note")
    return {
        "conformance-answers.csv": as_csv(heads, asked),
        "conformance-libraries.csv": as_csv(counted, map(library, every)),
        "conformance-conventions.csv": as_csv(("name", "convention", "libraries"), conventions(every)),
    }


def write(record: dict[str, Any]) -> None:
    """Write the page and its rows."""
    ROWS.mkdir(parents=True, exist_ok=True)
    for name, text in files(record).items():
        (ROWS / name).write_text(text, encoding="utf-8")
    PAGE.write_text(page(record), encoding="utf-8")


def answers(record: dict[str, Any]) -> list[Answers]:
    """What every library answered."""
    return [Answers(name, one["version"], one["answers"]) for name, one in record["libraries"].items()]


def as_csv(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([heads, *rows])
    return text.getvalue()


def paragraphs(text: str) -> Iterator[str]:
    """Paragraphs in lines of one length; formulas stay as they are."""
    for paragraph in text.split("\n\n"):
        yield paragraph if paragraph.startswith("$$") else filled(paragraph)


def filled(text: str) -> str:
    """A paragraph in lines of one length."""
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    return "\n".join(
        [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", *(f"| {' | '.join(row)} |" for row in rows)]
    )


def made(record: dict[str, Any], every: Sequence[Answers]) -> str:
    """What was asked, of whom and when."""
    packages = {LIBRARIES[one.name].package for one in every}
    return (
        f"{len(VECTORS)} vectors were put to {len(every)} functions of {len(packages)} packages on {record['date']}, "
        f"with Python {record['python']}."
    )


def library(one: Answers) -> list[str]:
    """A library's row: how many answers are equal, explained, unexplained and refused, and by which conventions."""
    kinds = Counter(map(one.kind, VECTORS))
    counts = [str(kinds[kind]) for kind in ("equal", "explained", "unexplained", "refused")]
    needed = Counter(each.name for reason in one.reasons.values() for each in reason or ())
    words = ", ".join(f"{name} {number}" for name, number in needed.most_common())
    return [one.name, one.version, *counts, words, LIBRARIES[one.name].note]


def conventions(every: Sequence[Answers]) -> list[tuple[str, str, str]]:
    """A row for each deviation: its name, what it means, and the libraries that are explained by it.

    What a library returns for an empty list, which has no NDCG, does not show how it treats ordinary queries.
    """
    rows = []
    for name in dict.fromkeys(one.name for one in (*DEVIATIONS, RANDOM)):
        meant = [one for one in (*DEVIATIONS, RANDOM) if one.name == name]
        says = " Or: ".join(dict.fromkeys(one.says for one in meant))
        shows = [v for v in VECTORS if value(VECTORS[v]) is not None or not all(one.field in ORDINARY for one in meant)]
        users = [one.name for one in every if any(name in names_of(one.reasons.get(id)) for id in shows)]
        rows.append((name, says, "; ".join(users) or "none"))
    return rows


def names_of(reason: Sequence[Deviation] | None) -> list[str]:
    """The names of deviations."""
    return [one.name for one in reason or ()]


def described(vector: Vector) -> list[str]:
    """The cells that describe a vector: what it asks, its value in closed form and as a decimal number."""
    given = vector.queries
    named = any(one.names != query(one.labels, one.scores).names for one in given)
    scores = "" if vector.shown else "; ".join(listed(one.scores) for one in given)
    exact = vector.exact.replace("**", "^").replace("log2(", "log₂(").replace("*", " ")
    number = value(vector)
    return [
        vector.id,
        vector.shown or "; ".join(listed(one.labels) for one in given) or "none",
        scores or ("" if vector.shown else "none"),
        "; ".join(" ".join(one.names) for one in given) if named else "",
        "" if vector.k is None else f"{vector.k:,}",
        exact or "undefined",
        "" if number is None else f"{number:.10f}".rstrip("0").rstrip("."),
    ]


def listed(numbers: Sequence[Number]) -> str:
    """Numbers in a row, as Python writes them."""
    return " ".join(str(x).replace("inf", "∞").replace("-", "−").replace("nan", "NaN") for x in numbers)
