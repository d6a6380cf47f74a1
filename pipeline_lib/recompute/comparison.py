"""Which cells agree with what separate code makes of them, which differ, and which were not compared, and why?"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

TOLERANCE = 1e-9
"""Of numbers, relative to the larger: sums of the same numbers in another order differ by less."""
ROUNDING = 1e-12
"""What is no larger is the rounding of a difference of numbers of the size of 1."""
Row = Mapping[str, Any]


class Remainder(float):
    """What is left of numbers of a size, relative to which it is rounded."""

    size: float

    def __new__(cls, value: float, size: float) -> "Remainder":
        """A number with the size of what it was left of."""
        made = super().__new__(cls, value)
        made.size = size
        return made


@dataclass(frozen=True)
class Difference:
    """A published cell that separate code does not reproduce."""

    where: str
    column: str
    published: Any
    recomputed: Any


@dataclass
class Comparison:
    """What was compared so far.

    Attributes
    ----------
    differences : mapping of str to list of Difference
        By table or card; a cell that is recomputed in two ways, and differs in both, once.
    columns : mapping of str to set of str
        By table, the columns that were compared, and those by which its rows were found.
    cells : mapping of str to mapping of (str, str) to int
        By table or card: row and column of every cell that was compared -> how many numbers it has.
    left : mapping of str to mapping of str to list of str
        Why columns were not compared: reason -> table -> columns; an empty list stands for the whole table.
    """

    differences: dict[str, list[Difference]] = field(default_factory=lambda: defaultdict(list))
    cells: dict[str, dict[tuple[str, str], int]] = field(default_factory=lambda: defaultdict(dict))
    left: dict[str, dict[str, list[str]]] = field(default_factory=lambda: defaultdict(dict))
    columns: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    @property
    def compared(self) -> dict[str, int]:
        """How many numbers of every table or card were compared."""
        return {name: sum(cells.values()) for name, cells in self.cells.items()}

    def cell(
        self, name: str, where: str, column: str, published: Any, recomputed: Any, tolerance: float = TOLERANCE
    ) -> None:
        """Compare one cell of a table or card; an interval counts as its numbers."""
        pairs = list(zip(listed(published), listed(recomputed), strict=False))
        self.cells[name][where, column] = len(pairs)
        self.columns[name].add(column)
        same = len(listed(published)) == len(listed(recomputed))
        if same and all(agree(a, b, tolerance) for a, b in pairs):
            return
        if not any((one.where, one.column) == (where, column) for one in self.differences[name]):
            self.differences[name].append(Difference(where, column, published, recomputed))

    def table(
        self,
        name: str,
        keys: Sequence[str],
        published: Iterable[Row],
        recomputed: Iterable[Row],
        tolerance: float = TOLERANCE,
    ) -> None:
        """Compare the rows of a table by their keys; of the other columns those that were recomputed."""
        self.columns[name].update(keys)
        stored, again = ({tuple(row[key] for key in keys): row for row in rows} for rows in (published, recomputed))
        for key in dict.fromkeys((*stored, *again)):
            where = ", ".join(f"{column} = {shown(value)}" for column, value in zip(keys, key, strict=True))
            if key not in stored or key not in again:
                states = ("published" if key in stored else "absent", "recomputed" if key in again else "absent")
                self.differences[name].append(Difference(where, "row", *states))
                continue
            for column, value in again[key].items():
                if column not in keys:
                    self.cell(name, where, column, stored[key][column], value, tolerance)

    def leave(self, why: str, name: str, columns: Iterable[str] = ()) -> None:
        """State why columns of a table, or all of it, are not compared."""
        self.left[why].setdefault(name, []).extend(columns)


def agree(a: Any, b: Any, tolerance: float = TOLERANCE) -> bool:
    """Whether two values are the same, numbers up to a relative tolerance.

    Example
    -------
    >>> agree(1.0, 1.0 + 1e-10), agree(1, 1.1), agree("a", "a"), agree(None, 0.0)
    (True, False, True, False)
    >>> agree(2e-9, 1e-9), agree(2e-9, Remainder(1e-9, size=1e5))
    (False, True)
    """
    if isinstance(a, int | float) and isinstance(b, int | float):
        if not (math.isfinite(a) and math.isfinite(b)):
            return a == b or (math.isnan(a) and math.isnan(b))
        return abs(a - b) <= max(tolerance * max(abs(a), abs(b)), ROUNDING * getattr(b, "size", 1.0))
    return bool(a == b)


def distance(published: Any, recomputed: Any) -> float:
    """How far two cells are apart, infinitely where they are not both numbers.

    Example
    -------
    >>> distance([0.5, 0.25], [0.5, 0.375]), distance("published", "absent")
    (0.125, inf)
    """
    pairs = list(zip(listed(published), listed(recomputed), strict=False))
    if len(listed(published)) != len(listed(recomputed)) or any(
        not isinstance(one, int | float) for pair in pairs for one in pair
    ):
        return math.inf
    return max(float(abs(a - b)) for a, b in pairs)


def listed(value: Any) -> list[Any]:
    """The numbers of an interval, or a number alone."""
    return list(value) if isinstance(value, list | tuple) else [value]


def shown(value: Any) -> str:
    """A value in few digits.

    Example
    -------
    >>> shown(0.123456789), shown(None), shown([1, 0.5])
    ('0.1234568', 'none', '1 [0.5]')
    """
    if isinstance(value, list | tuple):
        return f"{shown(value[0])} [{', '.join(map(shown, value[1:]))}]"
    return "none" if value is None else f"{value:.7g}" if isinstance(value, int | float) else str(value)
