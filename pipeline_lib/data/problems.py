"""How are all problems of a file told at once?

A reader stops at the first problem, and costs nothing as long as there is none. Then the file is read once more, with
an object of this module that collects problems instead.
"""

from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.errors import DataError

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

MOST, OF_A_KIND = 20, 3
"""How many problems are listed, and how many of the same kind, such as those of one column."""


class Enough(Exception):
    """As many problems as are listed were found."""


class Problems:
    """The problems of a file, as many as help to mend it.

    Example
    -------
    >>> found = Problems()
    >>> for line in range(2, 9):
    ...     found.add("a label", f"my.txt:{line}: expected a label")
    >>> print(found.message("my.txt"))
    my.txt:2: expected a label
    my.txt:3: expected a label
    my.txt:4: expected a label
    my.txt: 4 more problems of these kinds
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._kinds: Counter[str] = Counter()
        self._full = False

    def add(self, kind: str, text: str) -> None:
        """Take down a problem.

        Raises
        ------
        Enough
            When the list is full.
        """
        self._kinds[kind] += 1
        if self._kinds[kind] <= OF_A_KIND:
            self.lines.append(text)
        if len(self.lines) == MOST:
            self._full = True
            raise Enough

    def count(self, kind: str, number: int) -> None:
        """Count problems of a kind that need not be listed."""
        self._kinds[kind] += number

    def message(self, name: object, last: str = "") -> str:
        """All that were found, a line for each; ``name`` is that of the file, ``last`` why it could not be read on."""
        more = self._kinds.total() - len(self.lines)
        rest = f"{name}: {more:,} more problem{'s' if more > 1 else ''} of these kinds" if more else ""
        if self._full:
            rest = f"{name}: there may be more; what follows was not read"
        return "\n".join(filter(None, [*self.lines, last, rest]))


class Rows:
    """The problems of some rows of a table: called with a row, it names the place.

    Functions that refuse rows take this, or a function that names places; then the first problem is an error.
    """

    def __init__(self, place: Callable[[int], str]) -> None:
        self._place = place
        self.found: list[tuple[int, str, str]] = []
        self.more: Counter[str] = Counter()

    def __call__(self, row: int) -> str:
        return self._place(row)

    def refuse(self, wrong: NDArray[np.bool_], kind: str, words: Callable[[int], str]) -> None:
        """Take down the first of the rows that are wrong, and how many there are; one of a kind is enough for a row."""
        known = {row for row, other, _ in self.found if other == kind}
        rows = [row for row in np.flatnonzero(wrong).tolist() if row not in known]
        self.found += [(row, kind, f"{self(row)}: {words(row)}") for row in rows[:OF_A_KIND]]
        self.more[kind] += max(0, len(rows) - OF_A_KIND)

    def hand_over(self, problems: Problems) -> None:
        """Add what was found to the problems of the file, in the order of the rows."""
        for _, kind, text in sorted(self.found, key=lambda one: one[0]):
            problems.add(kind, text)
        for kind, number in self.more.items():
            problems.count(kind, number)


def refuse(place: Callable[[int], str], wrong: NDArray[np.bool_], kind: str, words: Callable[[int], str]) -> None:
    """Say which rows are wrong, if any: the first in an error, unless ``place`` collects them (:class:`Rows`).

    Raises
    ------
    DataError
        With the place of the row and the words for it.
    """
    if isinstance(place, Rows):
        place.refuse(wrong, kind, words)
    elif wrong.any():
        row = int(wrong.argmax())
        raise DataError(f"{place(row)}: {words(row)}")
