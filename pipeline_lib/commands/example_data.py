"""Write a small data set of searches in a library's catalogue, as CSV, to try the project with.

Every row is a book that a search showed. The books are made up: how relevant one is follows from how many words of the
search its title has, how well its text fits, and how often it is lent, with some noise; the number of its pages plays
no role.
"""

from collections.abc import Iterator
from typing import Annotated

from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.core.files import Output, write_text

COLUMNS = ("query", "title_words", "text_score", "loans", "age", "pages", "relevance")


def run(
    *,
    output: Annotated[Output, "file to write, such as books.csv"],
    searches: Annotated[int, "number of searches"] = 60,
    seed: Annotated[int, "another seed gives other books"] = 2026,
) -> None:
    """Write the file; ConfigurationError if there would be no search in it, or the seed is negative."""
    if searches < 1 or seed < 0:
        raise ConfigurationError("--searches: expected at least 1, and --seed at least 0")
    lines = [",".join(COLUMNS), *_rows(searches, seed)]
    write_text(output, "\n".join(lines) + "\n")
    print(f"{output}: {len(lines) - 1} books of {searches} searches")


def _rows(searches: int, seed: int) -> Iterator[str]:
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
            row = (f"search-{number}", title[i], f"{text[i]:.2f}", loans[i], age[i], pages[i], relevance[i])
            yield ",".join(map(str, row))
