"""What is the NDCG of a list under a convention, to 40 digits, and which convention gives the number of a library?

The reference is :class:`Convention` with its defaults. A deviation is another value of one of its fields; what a
library computes is explained by deviations that give the same number.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from functools import cache

import numpy as np

from tools.conformance.vectors import VECTORS, Number, Query, Vector

DIGITS = 40
MOST_DEVIATIONS = 4


@dataclass(frozen=True)
class Convention:
    """The choices on which implementations of NDCG differ; the defaults are those of the reference."""

    gain: str = "exponential"
    ties: str = "document order"
    empty: str = "0"
    no_relevant: str = "ideal"
    ideal: str = "same cut"
    precision: str = "exact"
    depth: str = "any"
    short_lists: str = "as they are"
    negative_labels: str = "undefined"
    fractions: str = "kept"
    nan_labels: str = "undefined"
    nan_scores: str = "undefined"
    infinite_scores: str = "as they are"
    empty_lists: str = "undefined"
    cut_at_0: str = "undefined"
    largest_gain: str = "any"


REFERENCE = Convention()


@dataclass(frozen=True)
class Deviation:
    """Another choice: its short name in tables, the field of the convention and its value, and one sentence."""

    name: str
    field: str
    value: str
    says: str


DEVIATIONS: tuple[Deviation, ...] = (
    Deviation("lin", "gain", "linear", "Gains are linear: a label y counts y and not 2^y − 1."),
    Deviation("bin", "gain", "binary", "Gains are binary: every label above 0 counts 1."),
    Deviation("avg", "ties", "averaged", "Documents with equal scores share the mean of their gains."),
    Deviation("rev", "ties", "reversed", "Of documents with equal scores, the later ones in the data come first."),
    Deviation("name−", "ties", "names fall", "Documents with equal scores are sorted by falling names, as strings."),
    Deviation("name+", "ties", "names rise", "Documents with equal scores are sorted by rising names, as strings."),
    Deviation("best", "ties", "best", "Of documents with equal scores, those with larger labels come first."),
    Deviation("worst", "ties", "worst", "Of documents with equal scores, those with smaller labels come first."),
    Deviation("one", "empty", "1", "A query without a relevant document counts 1."),
    Deviation("nan", "empty", "nan", "A query without a relevant document has no value (NaN)."),
    Deviation("out", "empty", "left out", "Queries without a relevant document are left out of the mean."),
    Deviation("Σ0", "no_relevant", "sum", "A query whose labels sum to 0 is one without a relevant document."),
    Deviation("whole", "ideal", "whole list", "The ideal ranking is not cut off at k."),
    Deviation("f64", "precision", "double", "Scores are rounded to double precision, which makes some equal."),
    Deviation("f32", "precision", "single", "Scores are rounded to single precision, which makes some equal."),
    Deviation("1000", "depth", "1000", "Ranks after 1,000 do not count."),
    Deviation("pad", "short_lists", "0", "A list with fewer than k documents counts 0."),
    Deviation("neg", "negative_labels", "as they are", "Negative labels have negative gains."),
    Deviation("neg0", "negative_labels", "0", "Negative labels count as 0."),
    Deviation("mask", "negative_labels", "left out", "Documents with negative labels are left out of the list."),
    Deviation("mask", "nan_labels", "left out", "Documents with a label that is NaN are left out of the list."),
    Deviation("≥1", "fractions", "below 1", "Labels below 1 count as 0."),
    Deviation("int", "fractions", "cut off", "Labels are cut off to whole numbers."),
    Deviation("y0", "nan_labels", "0", "A label that is NaN counts as 0."),
    Deviation("ynan", "nan_labels", "nan", "A label that is NaN makes the result NaN."),
    Deviation("nan=", "nan_scores", "tied", "A score that is NaN counts as equal to every other one."),
    Deviation("nan↓", "nan_scores", "last", "Scores that are NaN come last."),
    Deviation("nan↑", "nan_scores", "first", "Scores that are NaN come first."),
    Deviation("inf−", "infinite_scores", "unranked", "A document with the score −∞ is not ranked."),
    Deviation("inf−", "infinite_scores", "finite only", "Documents with infinite scores are not ranked."),
    Deviation("len0", "empty_lists", "no relevant", "An empty list is one without a relevant document."),
    Deviation("k0", "cut_at_0", "0", "A cut at 0 leaves nothing, and the result is 0."),
    Deviation("k∞", "cut_at_0", "no cut", "A cut at 0 means no cut."),
    Deviation("over", "largest_gain", "128", "Gains beyond the range of single precision make the result NaN."),
    Deviation("over", "largest_gain", "1024", "Gains beyond the range of double precision make the result NaN."),
    Deviation("sq", "gain", "square", "The gain is y² − 1, so that a label 0 counts −1."),
)
RANDOM = Deviation("random", "ties", "random", "Documents with equal scores are put in a random order.")

Value = Decimal | None
"""A number, possibly NaN, or None where a convention leaves a vector undefined."""

LEFT_OUT = Decimal("-Infinity")


@cache
def _value(vector: Vector, convention: Convention) -> Value:
    with localcontext() as context:
        context.prec = DIGITS
        values = [_of_query(query, vector.k, convention) for query in vector.queries]
        known = [one for one in values if one is not None]
        if len(known) < len(values):
            return None
        kept = [one for one in known if one != LEFT_OUT]
        return sum(kept, Decimal(0)) / len(kept) if kept else Decimal("nan")


def _left_out(label: Number, c: Convention) -> bool:
    return (c.negative_labels == "left out" and label < 0) or (c.nan_labels == "left out" and math.isnan(label))


def _without(query: Query, c: Convention) -> Query:
    """The list without the documents that the convention leaves out."""
    kept = [row for row in zip(query.labels, query.scores, query.names, strict=True) if not _left_out(row[0], c)]
    labels, scores, names = zip(*kept, strict=True) if kept else ((), (), ())
    return Query(labels, scores, names)


def _of_query(query: Query, k: int | None, c: Convention) -> Value:
    query = _without(query, c)
    if k == 0 and c.cut_at_0 != "no cut":
        return None if c.cut_at_0 == "undefined" else Decimal(0)
    if not query.labels and c.empty_lists == "undefined":
        return None
    gains = _gains(query.labels, c)
    order = _order(query, gains, c) if gains is not None else None
    if gains is None or order is None:
        return None
    cut = min(k or len(gains), len(gains) if c.depth == "any" else int(c.depth))
    if c.short_lists == "0" and (k or 0) > len(gains):
        return Decimal(0)
    if any(gain.is_nan() for gain in gains):
        return Decimal("nan")
    best = _dcg(sorted(gains, reverse=True), len(gains) if c.ideal == "whole list" else cut)
    if best == 0 or (c.no_relevant == "sum" and sum(query.labels) == 0):
        return LEFT_OUT if c.empty == "left out" else Decimal(c.empty)
    return _dcg(_by_rank(order, gains, query, c), cut) / best


def _dcg(gains: Sequence[Decimal], cut: int) -> Decimal:
    """The sum of gains over log2(1 + rank) down to the cut."""
    return sum((gain / _log2(rank + 1) for rank, gain in enumerate(gains[:cut], 1) if gain), Decimal(0))


def _log2(n: int) -> Decimal:
    return _log(n) / _log(2)


@cache
def _log(n: int) -> Decimal:
    return Decimal(n).ln()


def _gains(labels: Sequence[Number], c: Convention) -> list[Decimal] | None:
    """The gain of every label; None where a label has none."""
    numbers = [_label(label, c) for label in labels]
    known = [number for number in numbers if number is not None]
    return [_gain(number, c) for number in known] if len(known) == len(numbers) else None


def _label(label: Number, c: Convention) -> Value:
    if math.isnan(label):
        return {"undefined": None, "0": Decimal(0), "nan": Decimal("nan")}[c.nan_labels]
    if label < 0:
        return {"undefined": None, "0": Decimal(0), "as they are": Decimal(label)}[c.negative_labels]
    if c.fractions == "below 1" and label < 1:
        return Decimal(0)
    return Decimal(math.trunc(label) if c.fractions == "cut off" else label)


def _gain(label: Decimal, c: Convention) -> Decimal:
    if label.is_nan() or (c.largest_gain != "any" and label >= int(c.largest_gain)):
        return Decimal("nan")
    return _of_label(label, c.gain)


@cache
def _of_label(label: Decimal, kind: str) -> Decimal:
    match kind:
        case "linear":
            return label
        case "binary":
            return Decimal(label > 0)
        case "square":
            return label**2 - 1
    return Decimal(2) ** label - 1


def _order(query: Query, gains: Sequence[Decimal], c: Convention) -> list[list[int]] | None:
    """The documents by falling score, those with equal scores together; None where a score has no place."""
    if any(map(math.isnan, query.scores)) and c.nan_scores in ("undefined", "tied"):
        return None if c.nan_scores == "undefined" else [list(range(len(gains)))]
    places = [_place(score, c) for score in query.scores]
    documents = sorted(range(len(places)), key=places.__getitem__, reverse=True)
    tied = [list(group) for _, group in itertools.groupby(documents, key=places.__getitem__)]
    ranked = [[i for i in group if _is_ranked(query.scores[i], c)] for group in tied]
    return [group for group in ranked if group]


def _is_ranked(score: Number, c: Convention) -> bool:
    finite_only = c.infinite_scores == "finite only"
    return c.infinite_scores == "as they are" or math.isfinite(score) or not (finite_only or score == -math.inf)


def _place(score: Number, c: Convention) -> tuple[int, Number]:
    """What documents are sorted by."""
    if math.isnan(score):
        return {"last": -1, "first": 1}[c.nan_scores], 0
    if c.precision == "double":
        return 0, float(score)
    return 0, single(score) if c.precision == "single" else score


def single(score: Number) -> float:
    """A score in single precision."""
    with np.errstate(over="ignore"):
        return float(np.float32(score))


def _by_rank(order: list[list[int]], gains: Sequence[Decimal], query: Query, c: Convention) -> list[Decimal]:
    """The gain at every rank."""
    ranked: list[Decimal] = []
    for tied in order:
        own = [gains[i] for i in tied]
        match c.ties:
            case "averaged":
                own = [sum(own, Decimal(0)) / len(own)] * len(own)
            case "reversed":
                own.reverse()
            case "best" | "worst":
                own.sort(reverse=c.ties == "best")
            case "names rise" | "names fall":
                by_name = sorted(tied, key=query.names.__getitem__, reverse=c.ties == "names fall")
                own = [gains[i] for i in by_name]
        ranked += own
    return ranked


def _positive(query: Query) -> int:
    return sum(label > 0 for label in query.labels)


def may_tie(query: Query) -> bool:
    """Whether documents have equal scores, in single precision at least, or scores that are not comparable."""
    places = {single(score) for score in query.scores}
    return len(places) < len(query.scores) or any(map(math.isnan, query.scores))


MATTERS: dict[str, Callable[[Query, int | None], bool]] = {
    "gain": lambda query, k: True,
    "ties": lambda query, k: may_tie(query),
    "empty": lambda query, k: not _positive(query),
    "no_relevant": lambda query, k: sum(query.labels) == 0,
    "ideal": lambda query, k: k is not None and k < _positive(query),
    "precision": lambda query, k: any(single(score) != score for score in query.scores),
    "depth": lambda query, k: len(query.labels) > 1000,
    "short_lists": lambda query, k: k is not None and k > len(query.labels),
    "negative_labels": lambda query, k: any(label < 0 for label in query.labels),
    "fractions": lambda query, k: any(math.isfinite(label) and label != int(label) for label in query.labels),
    "nan_labels": lambda query, k: any(map(math.isnan, query.labels)),
    "nan_scores": lambda query, k: any(map(math.isnan, query.scores)),
    "infinite_scores": lambda query, k: any(map(math.isinf, query.scores)),
    "empty_lists": lambda query, k: not query.labels,
    "cut_at_0": lambda query, k: k == 0,
    "largest_gain": lambda query, k: any(label > 30 for label in query.labels),
}
"""Where a field of the convention can make a difference, so that others need not be tried."""


@cache
def matter(vector: Vector) -> tuple[str, ...]:
    """The fields of the convention that can make a difference to a vector."""
    return tuple(name for name, holds in MATTERS.items() if any(holds(one, vector.k) for one in vector.queries))


def value(vector: Vector, convention: Convention = REFERENCE) -> Value:
    """The NDCG of a vector, or the mean of those of its queries.

    Example
    -------
    >>> round(value(VECTORS["second-of-two"]), 10)
    Decimal('0.6309297536')
    """
    return _value(vector, Convention(**{field: getattr(convention, field) for field in matter(vector)}))


def gives(convention: Convention, id: str, found: float, tolerance: float) -> bool:
    """Whether a library's number is the value under a convention."""
    expected = value(VECTORS[id], convention)
    if expected is None:
        return False
    if math.isnan(found) or expected.is_nan():
        return math.isnan(found) and expected.is_nan()
    return abs(found - float(expected)) <= tolerance * max(1.0, abs(float(expected)))


def fitted(answers: Mapping[str, float], tolerance: float) -> Convention:
    """The convention of a library: from the reference, the best change of one field is made as long as one helps."""
    own = REFERENCE
    while True:
        gains = {deviation: _improvement(own, deviation, answers, tolerance) for deviation in DEVIATIONS}
        best = max(DEVIATIONS, key=gains.__getitem__)
        if gains[best] <= 0:
            return own
        own = replace(own, **{best.field: best.value})


def _improvement(own: Convention, deviation: Deviation, answers: Mapping[str, float], tolerance: float) -> int:
    """How many more numbers a convention gives with the deviation."""
    new = replace(own, **{deviation.field: deviation.value})
    concerned = [(id, x) for id, x in answers.items() if deviation.field in matter(VECTORS[id])]
    return sum(gives(new, id, x, tolerance) - gives(own, id, x, tolerance) for id, x in concerned)


def explained(answers: Mapping[str, float], tolerance: float) -> dict[str, tuple[Deviation, ...] | None]:
    """How the numbers of a library come about: () where one is the reference, None where no explanation is known.

    The convention that fits the library as a whole is tried first, and then all others. Of what is tried, the smallest
    set of deviations is taken.
    """
    own = fitted(answers, tolerance)
    usual = [one for one in DEVIATIONS if getattr(own, one.field) == one.value]
    return {
        id: _smallest(id, x, tolerance, usual) or _smallest(id, x, tolerance, DEVIATIONS) for id, x in answers.items()
    }


def _smallest(id: str, found: float, tolerance: float, deviations: Sequence[Deviation]) -> tuple[Deviation, ...] | None:
    possible = [one for one in deviations if one.field in matter(VECTORS[id])]
    for number in range(MOST_DEVIATIONS + 1):
        for chosen in itertools.combinations(possible, number):
            changes = {one.field: one.value for one in chosen}
            if len(changes) == number and gives(replace(REFERENCE, **changes), id, found, tolerance):
                return chosen
    return None
