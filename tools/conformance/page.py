"""How are the answers shown? The page docs/conformance.md, every number of which is from the record."""

from __future__ import annotations

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
WIDTH = 120
UNEXPLAINED = "?"

INTRODUCTION = """\
Two libraries that are given the same scores and labels may print two numbers and call both NDCG. This page asks many
of them for the same lists, cell by cell, and says by which convention each number comes about. `make conformance`
installs the libraries in an environment of their own, asks them and writes this page from what they answered, which
is kept in `tools/conformance/record.json`; do not edit it by hand.

No definition is the right one: papers and libraries disagree on gains, on documents with equal scores, and on queries
without a relevant document. What can be right or wrong is a comparison of two numbers that were computed under
different conventions."""

REFERENCE = """\
The value of the reference is computed with {digits} digits under one convention, that of `pipeline_lib.metrics.ndcg`:

$$\\mathrm{{NDCG}}@k = \\frac{{1}}{{Z_k}} \\sum_{{i \\le \\min(k, m)}} \\frac{{2^{{y_{{(i)}}}} - 1}}{{\\log_2(i + 1)}}$$

where y_(i) is the label at rank i, m the number of documents, and Z_k the largest value of the sum over all rankings,
cut off at k as well. Documents are ranked by falling score, and those with equal scores stay in the order of the
data. A query without a relevant document counts 0, and a mean is over all queries. Scores are compared exactly, and
infinite ones are ranked like others. The value is undefined for an empty list, a cut at 0, a label that is negative
or NaN, and a score that is NaN."""

CELLS = """\
`=` is the value of the reference, to {double:g} for libraries that compute in double precision, {single:g} for those
that compute in single precision, and {five:g} where five decimals are printed. A number is followed by the deviations
from the reference that give it, which the section on [conventions](#conventions) defines; of
several explanations, the one is shown that fits most of the numbers of the library. A `?` says that no known
convention gives it. ✗ means that the library refused, and its words are below the table. Two numbers with a dash are
the smallest and the largest of {times} calls. Every library is called with its defaults, unless its name in the table
says otherwise; where it needs a cut and none is asked for, the cut is the number of documents."""

DEVIATE = """\
Each is another choice than that of the reference. The last column names the libraries some of whose numbers are
explained by it; other input may show more of them."""

NEEDED = """\
The numbers of each library need these deviations, each for so many vectors. Many belong to one kind of input that is
unusual, such as a score that is NaN."""


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
                return "✗"
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
    every = [Answers(name, one["version"], one["answers"]) for name, one in record["libraries"].items()]
    cells = CELLS.format(double=DOUBLE, single=SINGLE, five=FIVE_DECIMALS, times=asking.TIMES)
    parts = [
        "# Whose NDCG is right?",
        *paragraphs(INTRODUCTION),
        "## The reference, and how to read the tables",
        *paragraphs(REFERENCE.format(digits=DIGITS)),
        *paragraphs(cells),
        "## Libraries",
        *paragraphs(made(record, every)),
        overview(every),
        *notes(),
        "## Conventions",
        *paragraphs(DEVIATE),
        conventions(every),
        *paragraphs(NEEDED),
        deviations(every),
        *(text for topic, vectors in TOPICS.items() for text in section(topic, vectors, every)),
    ]
    return "\n\n".join(parts) + "\n"


def paragraphs(text: str) -> Iterator[str]:
    """Paragraphs in lines of one length; formulas stay as they are."""
    for paragraph in text.split("\n\n"):
        yield paragraph if paragraph.startswith("$$") else filled(paragraph)


def filled(text: str, indent: str = "") -> str:
    """A paragraph in lines of one length."""
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> str:
    """A table, with some columns aligned on the right."""
    rules = ["---:" if column in right else "---" for column in range(len(heads))]
    lines = [f"|{'|'.join(rules)}|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join([f"| {' | '.join(heads)} |", *lines])


def made(record: dict[str, Any], every: Sequence[Answers]) -> str:
    """What was asked, of whom and when."""
    packages = {LIBRARIES[one.name].package for one in every}
    return (
        f"{len(VECTORS)} vectors were put to {len(every)} functions of {len(packages)} packages on {record['date']}, "
        f"with Python {record['python']}."
    )


def overview(every: Sequence[Answers]) -> str:
    """A row for each library: how many vectors are equal, explained, unexplained and refused."""
    rows = []
    for one in every:
        kinds = Counter(map(one.kind, VECTORS))
        counts = [str(kinds[kind]) for kind in ("equal", "explained", "unexplained", "refused")]
        rows.append([one.name, one.version, *counts])
    return table(("library", "version", "=", "explained", UNEXPLAINED, "✗"), rows, right=range(2, 6))


def deviations(every: Sequence[Answers]) -> str:
    """A row for each library: the deviations that its numbers need, and of how many vectors."""
    rows = []
    for one in every:
        needed = Counter(each.name for reason in one.reasons.values() for each in reason or ())
        rows.append([one.name, ", ".join(f"{name} {number}" for name, number in needed.most_common())])
    return table(("library", "deviations"), rows)


def notes() -> Iterator[str]:
    """What has to be known of how single libraries were asked."""
    for library in LIBRARIES.values():
        if library.note:
            yield filled(f"{library.name}: {library.note}")


def conventions(every: Sequence[Answers]) -> str:
    """A row for each deviation: what it means, and the libraries that are explained by it."""
    rows = []
    for name in dict.fromkeys(one.name for one in (*DEVIATIONS, RANDOM)):
        says = " Or: ".join(dict.fromkeys(one.says for one in (*DEVIATIONS, RANDOM) if one.name == name))
        users = [one.name for one in every if any(name in names_of(reason) for reason in one.reasons.values())]
        rows.append((name, says, "; ".join(users) or "none"))
    return table(("name", "convention", "libraries"), rows)


def names_of(reason: Sequence[Deviation] | None) -> list[str]:
    """The names of deviations."""
    return [one.name for one in reason or ()]


def section(topic: str, vectors: Sequence[Vector], every: Sequence[Answers]) -> Iterator[str]:
    """The vectors of a topic, what every library says of them, and the words of those that refused."""
    named = any(one.names != query(one.labels, one.scores).names for vector in vectors for one in vector.queries)
    heads = ["", "vector", "labels", "scores", *(["names"] if named else []), "k", "reference", "value"]
    yield f"## {topic}"
    yield table(heads, [[str(i), *described(vector, named)] for i, vector in enumerate(vectors, 1)])
    rows = [[one.name, *(one.cell(vector.id) for vector in vectors)] for one in every]
    yield table(["library", *map(str, range(1, len(vectors) + 1))], rows)
    if lines := list(refusals(vectors, every)):
        yield "Refused:"
        yield "\n".join(lines)


def described(vector: Vector, named: bool) -> list[str]:
    """The cells that describe a vector: what it asks, its value in closed form and as a decimal number."""
    given = vector.queries
    scores = "" if vector.shown else "; ".join(listed(one.scores) for one in given)
    names = ["; ".join(" ".join(one.names) for one in given)] if named else []
    exact = vector.exact.replace("**", "^").replace("log2(", "log₂(").replace("*", " ")
    number = value(vector)
    return [
        f"`{vector.id}`",
        vector.shown or "; ".join(listed(one.labels) for one in given) or "none",
        scores or ("" if vector.shown else "none"),
        *names,
        "" if vector.k is None else f"{vector.k:,}",
        exact or "undefined",
        "" if number is None else f"{number:.10f}".rstrip("0").rstrip("."),
    ]


def listed(numbers: Sequence[Number]) -> str:
    """Numbers in a row, as Python writes them."""
    return " ".join(str(x).replace("inf", "∞").replace("-", "−").replace("nan", "NaN") for x in numbers)


def refusals(vectors: Sequence[Vector], every: Sequence[Answers]) -> Iterator[str]:
    """Items of a list: the library, the vectors and the words."""
    for one in every:
        words: dict[str, list[str]] = {}
        for i, vector in enumerate(vectors, 1):
            if vector.id in one.errors:
                words.setdefault(one.errors[vector.id].replace("`", "'"), []).append(str(i))
        for error, numbers in words.items():
            yield filled(f"- {one.name}, {', '.join(numbers)}: `{error}`", "  ")
