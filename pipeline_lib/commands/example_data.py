"""Write a small data set of searches in a library's catalogue, as CSV, to try the project with.

Every row is a book that a search showed. The books are made up: how relevant one is follows from how many words of the
search its title has, how well its text fits, and how often it is lent, with some noise; the number of its pages plays
no role. What evaluates rankings can be tried as well: qrels of the books, and runs that rank them by one column.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Annotated

from pipeline_lib.core.errors import ConfigurationError, hint
from pipeline_lib.core.files import Output, write_text
from pipeline_lib.core.markup import count

COLUMNS = ("query", "title_words", "text_score", "loans", "age", "pages", "relevance")


def run(
    *,
    output: Annotated[Output, "file to write, such as books.csv"],
    searches: Annotated[int, "number of searches"] = 60,
    seed: Annotated[int, "another seed gives other books"] = 2026,
    qrels: Annotated[Output | None, "output file for the relevance of every book, as TREC qrels"] = None,
    runs: Annotated[
        Sequence[Output], "output files for TREC runs, named after the columns by which they rank, as in text_score.run"
    ] = (),
) -> None:
    """Write the files; ConfigurationError if there would be no search in them, or a file is named after no column."""
    if searches < 1 or seed < 0:
        raise ConfigurationError("--searches: expected at least 1, and --seed at least 0")
    for path in runs:
        if path.stem not in (features := COLUMNS[1:-1]):
            raise ConfigurationError(
                f"--runs: expected files named after a column, found {path}; {hint(path.stem, features)}"
            )
    rows = list(_rows(searches, seed))
    write_text(output, "".join(f"{','.join(map(str, row))}\n" for row in (COLUMNS, *rows)))
    if qrels is not None:
        write_text(qrels, "".join(f"{book[0]} 0 {name} {book[-1]}\n" for name, book in _named(rows)))
    for path in runs:
        write_text(path, "".join(_run(rows, path.stem)))
    print(f"{output}: {count(len(rows), 'book')} of {count(searches, 'search', 'searches')}")


def _named(rows: Sequence[tuple[object, ...]]) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Every book with an id."""
    return ((f"book-{number}", book) for number, book in enumerate(rows, 1))


def _run(rows: Sequence[tuple[object, ...]], column: str) -> Iterator[str]:
    """The lines of a run; equal values have equal scores."""
    place = COLUMNS.index(column)
    for query, books in groupby(_named(rows), key=lambda named: named[1][0]):
        best_first = sorted(books, key=lambda named: -float(str(named[1][place])))
        for rank, (name, book) in enumerate(best_first, 1):
            yield f"{query} Q0 {name} {rank} {book[place]} {column}\n"


def _rows(searches: int, seed: int) -> Iterator[tuple[object, ...]]:
    import numpy as np

    from pipeline_lib.core import seeds

    rng = seeds.generator(seed, "example-data")
    for number in range(1, searches + 1):
        m = int(rng.integers(8, 17))
        title, text, loans = rng.integers(0, 4, m), rng.gamma(2.0, 2.0, m), rng.poisson(rng.gamma(1.5, 20.0, m))
        age, pages = rng.integers(0, 60, m), rng.integers(40, 900, m)
        merit = 1.2 * title + 0.4 * text + 0.03 * loans - 0.02 * age + rng.normal(0.0, 1.0, m)
        # A search has no more than a few books that answer it, and some searches have none.
        relevance = np.digitize(merit, np.array([4.0, 6.0]) + rng.normal(0.0, 0.5))
        for i in range(m):
            yield f"search-{number}", title[i], f"{text[i]:.2f}", loans[i], age[i], pages[i], relevance[i]
