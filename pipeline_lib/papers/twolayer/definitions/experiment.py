"""What do the analyses that `twolayer` cites average over?

**Section 2.2**: the empirical risk of the document-level analysis is over all pairs of documents, also of different
queries. In the population of this module a query is of one of two kinds with probability 1/2 each, and its documents
have the label 0 or 1 with probability 1/2 each; the ranker scores a document by its label, plus a shift in queries of
the second kind. No pair of one query is in the wrong order. Documents of different queries are, if the shift exceeds 1.

**Section 3.1**: in (n, m)-sampling a task is drawn for every row, and the m elements of the row by the task. Elements
are 1 with a probability that depends on the task.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from pipeline_lib.core.cost import Cost
from pipeline_lib.core.settings import Settings, Sizes
from pipeline_lib.data.rows import Field, FromOne, FromZero, Proportion, Row
from pipeline_lib.experiment import Experiment, Job, Step

# Shifts of the scores of the second kind of queries: with the first, documents of all queries can be compared.
SHIFTS = (0, 2)
# Probabilities of a 1 in the two kinds of tasks.
TASKS = ((Fraction(0), Fraction(1)), (Fraction(1, 4), Fraction(3, 4)), (Fraction(2, 5), Fraction(7, 10)))


class DefinitionsSettings(Settings):
    """The empirical risk over all pairs of documents, as section 2.2 has it."""

    queries: Sizes = Field((2, 10, 100), description="values of n, for the risk over all pairs of documents")
    documents: Sizes = Field((2, 10, 100), description="values of m there")


class AllPairs(Row, table="tables/twolayer-all-pairs", key=("queries", "documents")):
    """The expected 0-1 risk within queries beside the mean of the average over all pairs of documents."""

    queries: FromOne = Field(description="n, queries of the sample")
    documents: FromOne = Field(description="m, documents of each query")
    within_queries: Proportion = Field(description="expected risk over two documents of one query")
    over_all_pairs: Proportion = Field(description="mean of the average over all pairs, also of different queries")
    over_all_pairs_if_comparable: Proportion = Field(description="the same if scores of all queries were comparable")


class Covariances(Row, table="tables/twolayer-elements", key=("first", "second")):
    """Covariances of two elements of an (n, m)-sample with two kinds of tasks."""

    first: Proportion = Field(description="probability that an element is 1 under tasks of the first kind")
    second: Proportion = Field(description="the same under tasks of the second kind")
    in_one_row: float = Field(description="covariance of two elements of one row")
    in_two_rows: float = Field(description="covariance of elements of two rows")
    given_the_task: FromZero = Field(
        description="largest size of the covariance of two elements of a row, given its task"
    )


def measure(job: Job) -> Iterator[Row]:
    """Compute both tables."""
    for n, m in itertools.product(job.settings.queries, job.settings.documents):
        comparable, shifted = (mean_over_all_pairs(n, m, shift) for shift in SHIFTS)
        yield AllPairs(
            queries=n,
            documents=m,
            within_queries=float(within_queries(SHIFTS[-1])),
            over_all_pairs=float(shifted),
            over_all_pairs_if_comparable=float(comparable),
        )
    yield from elements()


def within_queries(shift: int) -> Fraction:
    """The expected risk (2), over two documents of one query."""
    return _wrong([(0, 0), (1, 1)], shift)


def mean_over_all_pairs(n: int, m: int, shift: int) -> Fraction:
    """The expectation of the average 0-1 loss over all pairs of the n m documents.

    A pair is of two queries with probability (n - 1) m / (n m - 1).

    Example
    -------
    >>> mean_over_all_pairs(2, 2, 2), mean_over_all_pairs(2, 2, 0)
    (Fraction(1, 12), Fraction(0, 1))
    """
    of_two_queries = Fraction((n - 1) * m, n * m - 1)
    of_any_kinds = _wrong(itertools.product((0, 1), repeat=2), shift)
    return of_two_queries * of_any_kinds + (1 - of_two_queries) * within_queries(shift)


def _wrong(kinds: Iterable[Sequence[int]], shift: int) -> Fraction:
    """The share of wrong pairs of documents of queries of such kinds, each kind and label being as frequent."""
    wrong = [
        (y - other) * (y + kind * shift - other - other_kind * shift) < 0
        for (kind, other_kind), y, other in itertools.product(kinds, (0, 1), (0, 1))
    ]
    return Fraction(sum(wrong), len(wrong))


def elements() -> Iterator[Covariances]:
    """For two kinds of tasks: covariances of elements in one row, in two rows, and in one row given its task."""
    for first, second in TASKS:
        law = _law((first, second))
        given = [abs(_covariance({drawn: p for drawn, p in law.items() if drawn[0] == task}, 2, 3)) for task in (0, 1)]
        yield Covariances(
            first=float(first),
            second=float(second),
            in_one_row=float(_covariance(law, 2, 3)),
            in_two_rows=float(_covariance(law, 2, 4)),
            given_the_task=float(max(given)),
        )


Drawn = tuple[int, int, int, int, int]


def _law(ones: tuple[Fraction, Fraction]) -> dict[Drawn, Fraction]:
    """The probabilities of the tasks of two rows, two elements of the first, and one of the second."""

    def chance(task: int, value: int) -> Fraction:
        return ones[task] if value else 1 - ones[task]

    return {
        (one, other, a, b, c): chance(one, a) * chance(one, b) * chance(other, c) / 4
        for one, other, a, b, c in itertools.product((0, 1), repeat=5)
    }


def _covariance(law: Mapping[Drawn, Fraction], a: int, b: int) -> Fraction:
    """Of two of the drawn numbers, given that one of the outcomes in ``law`` occurs."""
    whole = sum(law.values())
    both, one, other = (
        sum(p * drawn[i] * drawn[j] for drawn, p in law.items()) / whole for i, j in ((a, b), (a, a), (b, b))
    )
    return Fraction(both - one * other)


EXPERIMENT = Experiment(
    DefinitionsSettings, Step("definitions", measure, rows=(AllPairs, Covariances), cost=Cost(0.3, start_mb=500.0))
)
