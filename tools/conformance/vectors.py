"""Which lists are the libraries asked about?

A vector is one call: one list, or a few whose mean is asked for, and a cut. ``exact`` is the value by hand, under the
convention of the reference (see ``conventions.py``); it is empty where the reference is undefined.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Number = int | float


@dataclass(frozen=True, eq=False)
class Query:
    """The labels and scores of the documents of a list, in the order of the data, and their names."""

    labels: tuple[Number, ...]
    scores: tuple[Number, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Vector:
    """One question: the NDCG of the queries, cut off at rank k or whole."""

    id: str
    queries: tuple[Query, ...]
    k: int | None
    exact: str
    shown: str = ""
    """How the page shows it where labels and scores would be too long."""


def query(labels: Sequence[Number], scores: Sequence[Number], names: Sequence[str] = ()) -> Query:
    """A list of documents, whose names rise in the order of the data unless they are given."""
    width = len(str(len(labels)))
    return Query(
        tuple(labels), tuple(scores), tuple(names) or tuple(f"d{i:0{width}}" for i in range(1, len(labels) + 1))
    )


def _one(
    id: str,
    labels: Sequence[Number],
    scores: Sequence[Number],
    exact: str,
    k: int | None = None,
    names: Sequence[str] = (),
    shown: str = "",
) -> Vector:
    return Vector(id, (query(labels, scores, names),), k, exact, shown)


def _falling(m: int) -> list[float]:
    return [float(score) for score in range(m, 0, -1)]


def _ranked(id: str, labels: Sequence[Number], exact: str, k: int | None = None) -> Vector:
    """A list whose documents are already in the order of their scores."""
    return _one(id, labels, _falling(len(labels)), exact, k)


def _last(id: str, m: int) -> Vector:
    """A long list whose only relevant document is the last one."""
    shown = f"{m - 1:,} times 0, then 1; scores fall"
    return _one(id, [0] * (m - 1) + [1], _falling(m), f"1 / {round(math.log2(m + 1))}", shown=shown)


ALTERNATING = 1000
NAN, INF = math.nan, math.inf

TOPICS: dict[str, tuple[Vector, ...]] = {
    "Binary labels": (
        _ranked("first-of-two", [1, 0], "1"),
        _ranked("second-of-two", [0, 1], "1 / log2(3)"),
        _ranked("third-of-three", [0, 0, 1], "1 / 2"),
        _ranked("seventh-of-seven", [0, 0, 0, 0, 0, 0, 1], "1 / 3"),
        _ranked("first-and-third", [1, 0, 1], "(1 + 1/2) / (1 + 1/log2(3))"),
        _ranked("second-and-third", [0, 1, 1], "(1/log2(3) + 1/2) / (1 + 1/log2(3))"),
        _one("unsorted", [1, 0, 0, 1], [0.1, 0.9, 0.5, 0.7], "(1/log2(3) + 1/log2(5)) / (1 + 1/log2(3))"),
        _ranked("one-document", [1], "1"),
    ),
    "Graded labels": (
        _ranked("grades-swapped", [1, 2], "(1 + 3/log2(3)) / (3 + 1/log2(3))"),
        _ranked("grades-rising", [1, 2, 3], "(1 + 3/log2(3) + 7/2) / (7 + 3/log2(3) + 1/2)"),
        _ranked("grades-ideal", [3, 2, 1, 0], "1"),
        _ranked(
            "five-grades",
            [0, 3, 1, 2, 4],
            "(7/log2(3) + 1/2 + 3/log2(5) + 15/log2(6)) / (15 + 7/log2(3) + 3/2 + 1/log2(5))",
        ),
        _ranked("five-grades-at-3", [0, 3, 1, 2, 4], "(7/log2(3) + 1/2) / (15 + 7/log2(3) + 3/2)", k=3),
        _ranked("one-grade", [0, 4], "1 / log2(3)"),
        _ranked("same-grade", [2, 2, 0, 2], "(3 + 3/log2(3) + 3/log2(5)) / (3 + 3/log2(3) + 3/2)"),
        _one("grades-unsorted", [2, 0, 1], [0.2, 0.3, 0.9], "(1 + 3/2) / (3 + 1/log2(3))"),
    ),
    "Cuts": (
        _ranked("hit-at-1", [1, 0, 1], "1", k=1),
        _ranked("miss-at-1", [0, 1, 1], "0", k=1),
        _ranked("ideal-is-cut", [1, 0, 1, 1], "1 / (1 + 1/log2(3))", k=2),
        _ranked("grades-at-1", [1, 3], "1 / 7", k=1),
        _ranked("below-the-cut", [0, 0, 0, 1], "0", k=3),
        _ranked("cut-at-the-end", [0, 1, 0], "1 / log2(3)", k=3),
        _ranked("cut-beyond", [0, 1], "1 / log2(3)", k=10),
        _ranked("cut-far-beyond", [0, 1, 1], "(1/log2(3) + 1/2) / (1 + 1/log2(3))", k=100_000),
    ),
    "No relevant document": (
        _ranked("none", [0, 0, 0], "0"),
        _ranked("none-at-2", [0, 0, 0], "0", k=2),
        _ranked("none-of-one", [0], "0"),
        _one("none-tied", [0, 0], [1.0, 1.0], "0"),
        Vector("mean-of-two", (query([1, 0], [2.0, 1.0]), query([0, 1], [2.0, 1.0])), None, "(1 + 1/log2(3)) / 2"),
        Vector("mean-with-none", (query([0, 1], [2.0, 1.0]), query([0, 0], [2.0, 1.0])), None, "1/log2(3) / 2"),
        Vector(
            "mean-of-three",
            (query([1, 0], [2.0, 1.0]), query([0, 0], [2.0, 1.0]), query([0, 1], [2.0, 1.0])),
            1,
            "1 / 3",
        ),
    ),
    "Equal scores": (
        _one("tie-good-first", [1, 0], [1.0, 1.0], "1"),
        _one("tie-good-last", [0, 1], [1.0, 1.0], "1 / log2(3)"),
        _one("tie-below", [0, 1, 0], [2.0, 1.0, 1.0], "1 / log2(3)"),
        _one("tie-above", [0, 1, 1], [2.0, 2.0, 1.0], "(1/log2(3) + 1/2) / (1 + 1/log2(3))"),
        _one("tie-of-grades", [1, 3, 0], [1.0, 1.0, 1.0], "(1 + 7/log2(3)) / (7 + 1/log2(3))"),
        _one("tie-of-equals", [1, 1, 0], [1.0, 1.0, 0.0], "1"),
        _one("tie-of-zeros", [0, 1], [0.0, -0.0], "1 / log2(3)"),
        _one("two-ties", [0, 1, 0, 1], [2.0, 2.0, 1.0, 1.0], "(1/log2(3) + 1/log2(5)) / (1 + 1/log2(3))"),
    ),
    "Equal scores and cuts": (
        _one("all-tied", [0, 0, 1, 0, 0], [0.0] * 5, "1 / 2"),
        _one("all-tied-at-1", [0, 1], [1.0, 1.0], "0", k=1),
        _one("all-tied-hit-at-1", [1, 0], [1.0, 1.0], "1", k=1),
        _one("tie-across-the-cut", [0, 0, 1], [2.0, 1.0, 1.0], "0", k=2),
        _one("tie-within-the-cut", [0, 1, 0], [2.0, 2.0, 1.0], "1 / log2(3)", k=2),
        _one("long-tie", [0] * 19 + [1], [0.5] * 20, "1 / log2(21)", shown="19 times 0, then 1; all scores 0.5"),
        _one("long-tie-at-10", [0] * 19 + [1], [0.5] * 20, "0", 10, shown="19 times 0, then 1; all scores 0.5"),
    ),
    "Names of documents with equal scores": (
        _one("names-rise", [0, 1], [1.0, 1.0], "1 / log2(3)", names=["a", "b"]),
        _one("names-fall", [0, 1], [1.0, 1.0], "1 / log2(3)", names=["b", "a"]),
        _one("names-as-numbers", [0, 1], [1.0, 1.0], "1 / log2(3)", names=["10", "9"]),
        _one("names-as-numbers-fall", [0, 1], [1.0, 1.0], "1 / log2(3)", names=["9", "10"]),
        _one("capitals", [0, 1], [1.0, 1.0], "1 / log2(3)", names=["a", "B"]),
        _one("three-names", [0, 1, 0], [1.0, 1.0, 1.0], "1 / log2(3)", names=["c", "a", "b"]),
    ),
    "Large labels": (
        _ranked("label-30", [29, 30], "(2**29 - 1 + (2**30 - 1)/log2(3)) / (2**30 - 1 + (2**29 - 1)/log2(3))"),
        _ranked("label-31", [30, 31], "(2**30 - 1 + (2**31 - 1)/log2(3)) / (2**31 - 1 + (2**30 - 1)/log2(3))"),
        _ranked("label-32", [31, 32], "(2**31 - 1 + (2**32 - 1)/log2(3)) / (2**32 - 1 + (2**31 - 1)/log2(3))"),
        _ranked("label-64", [63, 64], "(2**63 - 1 + (2**64 - 1)/log2(3)) / (2**64 - 1 + (2**63 - 1)/log2(3))"),
        _ranked("label-255", [1, 255], "(1 + (2**255 - 1)/log2(3)) / (2**255 - 1 + 1/log2(3))"),
        _ranked("label-256", [1, 256], "(1 + (2**256 - 1)/log2(3)) / (2**256 - 1 + 1/log2(3))"),
        _ranked("label-1024", [0, 1024], "1 / log2(3)"),
    ),
    "Other labels": (
        _ranked("whole-floats", [1.0, 2.0], "(1 + 3/log2(3)) / (3 + 1/log2(3))"),
        _ranked("half-labels", [0.5, 1.5], "(2**0.5 - 1 + (2**1.5 - 1)/log2(3)) / (2**1.5 - 1 + (2**0.5 - 1)/log2(3))"),
        _ranked("labels-above-1", [1.5, 2.0], "(2**1.5 - 1 + 3/log2(3)) / (3 + (2**1.5 - 1)/log2(3))"),
        _ranked("small-labels", [0.0, 0.25], "1 / log2(3)"),
        _ranked("negative-label", [-1, 1], ""),
        _ranked("only-negative-labels", [-1, -2], ""),
        _ranked("nan-label", [NAN, 1.0], ""),
    ),
    "Scores": (
        _one("negative-scores", [0, 1], [-1.0, -2.0], "1 / log2(3)"),
        _one("whole-scores", [0, 1], [2, 1], "1 / log2(3)"),
        _one("huge-scores", [0, 1], [-1e300, 1e300], "1"),
        _one("tiny-scores", [0, 1], [0.0, 5e-324], "1"),
        _one("close-scores-rise", [0, 1], [1.0, 1.0 + 1e-10], "1"),
        _one("close-scores-fall", [1, 0], [1.0 + 1e-10, 1.0], "1"),
        _one("whole-scores-above-2-to-53", [0, 1], [2**53, 2**53 + 1], "1"),
        _one("whole-scores-above-2-to-24", [0, 1], [2**24, 2**24 + 1], "1"),
    ),
    "Scores that are not finite": (
        _one("infinite-top", [0, 1], [0.0, INF], "1"),
        _one("infinite-bottom", [0, 1], [-INF, 0.0], "1"),
        _one("infinite-last", [1, 1], [-INF, 0.0], "1"),
        _one("infinite-tie", [0, 1], [INF, INF], "1 / log2(3)"),
        _one("nan-first", [1, 0], [NAN, 0.0], ""),
        _one("nan-last", [1, 0], [0.0, NAN], ""),
        _one("nan-between", [1, 0, 0], [0.0, NAN, 1.0], ""),
        _one("nan-all", [0, 1], [NAN, NAN], ""),
    ),
    "Short and long lists": (
        _one("no-document", [], [], ""),
        _ranked("cut-at-0", [1, 0], "", k=0),
        _last("rank-1023", 1023),
        _last("rank-4095", 4095),
        _last("rank-16383", 16383),
        _last("rank-65535", 65535),
        _one(
            "alternating",
            [i % 2 for i in range(ALTERNATING)],
            _falling(ALTERNATING),
            "sum(1/log2(i + 1) for i in range(2, 1001, 2)) / sum(1/log2(i + 1) for i in range(1, 501))",
            shown="0 and 1 by turns, 1,000 documents; scores fall",
        ),
    ),
}
"""The vectors by topic; no topic has more than eight, so that its table is no wider than a page."""

VECTORS: dict[str, Vector] = {vector.id: vector for topic in TOPICS.values() for vector in topic}
