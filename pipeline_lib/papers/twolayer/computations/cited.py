"""What do the analyses that `twolayer` cites average over, and which of their elements are independent?

Section 2.2: the empirical risk of the document-level analysis is over all pairs of documents, also of different
queries. In the population of this module a query is of one of two kinds with probability 1/2 each, and its documents
have the label 0 or 1 with probability 1/2 each; the ranker scores a document by its label, plus a shift in queries of
the second kind. No pair of one query is in the wrong order. Documents of different queries are, if the shift exceeds 1.

Section 3.1: in (n, m)-sampling a task is drawn for every row, and the m elements of the row by the task. Elements are 1
with a probability that depends on the task.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline_lib.papers.twolayer.experiments.definitions import DefinitionsSettings

# Shifts of the scores of the second kind of queries: with the first, documents of all queries can be compared.
SHIFTS = (0, 2)
# Probabilities of a 1 in the two kinds of tasks.
TASKS = ((Fraction(0), Fraction(1)), (Fraction(1, 4), Fraction(3, 4)), (Fraction(2, 5), Fraction(7, 10)))


def all_pairs(settings: DefinitionsSettings) -> Iterator[dict[str, Any]]:
    """For every n and m: the expected risk of the pairs of queries, and the mean of the one over all pairs."""
    for n, m in itertools.product(settings.queries, settings.documents):
        plain, shifted = (mean_over_all_pairs(n, m, shift) for shift in SHIFTS)
        yield {
            "queries": n,
            "documents": m,
            "within_queries": float(within_queries(SHIFTS[-1])),
            "over_all_pairs": float(shifted),
            "over_all_pairs_if_comparable": float(plain),
        }


def within_queries(shift: int) -> Fraction:
    """The expected risk (2), over two documents of one query."""
    wrong = [
        (y - other) * (y + kind * shift - other - kind * shift) < 0
        for kind, y, other in itertools.product((0, 1), repeat=3)
    ]
    return Fraction(sum(wrong), len(wrong))


def mean_over_all_pairs(n: int, m: int, shift: int) -> Fraction:
    """The expectation of the average 0-1 loss over all pairs of the n m documents.

    A pair is of two queries with probability (n - 1) m / (n m - 1).

    Example
    -------
    >>> mean_over_all_pairs(2, 2, 2), mean_over_all_pairs(2, 2, 0)
    (Fraction(1, 12), Fraction(0, 1))
    """
    wrong = [
        (y - other) * (y + kind * shift - other - other_kind * shift) < 0
        for kind, other_kind, y, other in itertools.product((0, 1), repeat=4)
    ]
    of_two_queries = Fraction((n - 1) * m, n * m - 1)
    return of_two_queries * Fraction(sum(wrong), len(wrong)) + (1 - of_two_queries) * within_queries(shift)


def elements() -> Iterator[dict[str, Any]]:
    """For two kinds of tasks: covariances of elements in one row, in two rows, and in one row given its task."""
    for first, second in TASKS:
        law = _law((first, second))
        given = [abs(_covariance({drawn: p for drawn, p in law.items() if drawn[0] == task}, 2, 3)) for task in (0, 1)]
        yield {
            "first": float(first),
            "second": float(second),
            "in_one_row": float(_covariance(law, 2, 3)),
            "in_two_rows": float(_covariance(law, 2, 4)),
            "given_the_task": float(max(given)),
        }


Drawn = tuple[int, int, int, int, int]


def _law(ones: tuple[Fraction, Fraction]) -> dict[Drawn, Fraction]:
    """The probabilities of the tasks of two rows, two elements of the first, and one of the second."""
    law = {}
    for one, other, *values in itertools.product((0, 1), repeat=5):
        chances = (
            ones[task] if value else 1 - ones[task] for task, value in zip((one, one, other), values, strict=True)
        )
        law[one, other, values[0], values[1], values[2]] = math.prod(chances, start=Fraction(1, 4))
    return law


def _covariance(law: Mapping[Drawn, Fraction], a: int, b: int) -> Fraction:
    """Of two of the drawn numbers, given that one of the outcomes in ``law`` occurs."""
    whole = sum(law.values())
    both, one, other = (
        sum(p * drawn[i] * drawn[j] for drawn, p in law.items()) / whole for i, j in ((a, b), (a, a), (b, b))
    )
    return Fraction(both - one * other)
