"""How does a page ask for rows of a study's tables?

By name, ``rows("topk-regret")``, or in SQL, ``SELECT ... FROM "topk-regret"``, which Polars answers. A table ``NAME``
is the file ``tables/NAME.parquet`` of the study. The rows remember their tables, so that a table or figure made of them
can name its source.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from types import SimpleNamespace
from typing import Any

import polars as pl

from pipeline_lib import papers
from pipeline_lib.core import storage
from pipeline_lib.core.errors import DataError
from pipeline_lib.data.rows import columns
from pipeline_lib.report.results import ResultsFolder, checked

_TABLES = re.compile(r'\b(?:FROM|JOIN)\s+"([^"]+)"', re.IGNORECASE)

_UNORDERED = re.compile(r"\b(?:GROUP\s+BY|DISTINCT|JOIN|UNION)\b", re.IGNORECASE)
_ORDERED = re.compile(r"\bORDER\s+BY\b", re.IGNORECASE)


class Rows:
    """Rows of one or more tables, each with its columns as attributes, in a fixed order.

    Example
    -------
    >>> rows = Rows([{"loss": "kl", "T": 10}, {"loss": "kl", "T": 20}, {"loss": "squared", "T": 10}], ("topk-regret",))
    >>> rows.where(loss="kl").max("T"), rows.distinct("loss"), rows.source
    (20, ['kl', 'squared'], 'tables/topk-regret.parquet')
    >>> rows.one(loss="squared").T
    10
    """

    def __init__(
        self, rows: Iterable[dict[str, Any] | SimpleNamespace], tables: tuple[str, ...], *, computed: bool = False
    ) -> None:
        self._rows: list[SimpleNamespace] = [
            row if isinstance(row, SimpleNamespace) else SimpleNamespace(**row) for row in rows
        ]
        self.tables = tables
        self._computed = computed

    @property
    def source(self) -> str:
        """The files behind the rows."""
        return ", ".join(f"tables/{name}.parquet" for name in self.tables)

    def __iter__(self) -> Iterator[SimpleNamespace]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> SimpleNamespace:
        return self._rows[index]

    def where(self, **equal: Any) -> "Rows":
        """The rows whose columns have these values; a list, tuple or set stands for any of its values."""
        return self._some(row for row in self._rows if all(_fits(self._get(row, k), v) for k, v in equal.items()))

    def one(self, **equal: Any) -> SimpleNamespace:
        """The only row whose columns have these values; DataError when there is none, or more than one."""
        chosen = self.where(**equal)
        if len(chosen) != 1:
            raise DataError(f"{self.source}: expected one row with {equal}, found {len(chosen)}")
        return chosen[0]

    def column(self, name: str) -> list[Any]:
        """The values of a column, row after row."""
        return [self._get(row, name) for row in self._rows]

    def distinct(self, name: str) -> list[Any]:
        """The values of a column, each once, in the order in which they come first."""
        return list(dict.fromkeys(self.column(name)))

    def by(self, name: str) -> "dict[Any, Rows]":
        """The rows for every value of a column."""
        found: dict[Any, list[SimpleNamespace]] = {}
        for row in self._rows:
            found.setdefault(self._get(row, name), []).append(row)
        return {value: self._some(rows) for value, rows in found.items()}

    def sorted(self, *names: str) -> "Rows":
        """The rows in ascending order of some columns."""
        in_order: list[SimpleNamespace] = sorted(self._rows, key=lambda row: [self._get(row, name) for name in names])
        return self._some(in_order)

    def max(self, name: str) -> Any:
        """The largest known value of a column; DataError when there is none.

        Example
        -------
        >>> Rows([{"factor": 2.0}, {"factor": None}], ()).max("factor")
        2.0
        """
        return max(self._values(name))

    def min(self, name: str) -> Any:
        """The smallest known value of a column; DataError when there is none."""
        return min(self._values(name))

    def ordered(self, name: str, values: Iterable[Any]) -> "Rows":
        """The rows whose column has one of these values, in the order of the values."""
        parts = self.by(name)
        return self._some(row for value in values for row in parts.get(value, ()))

    def intervals(self, name: str) -> list[tuple[float, float, float]]:
        """The known values of a column, each with the ends of its interval, or with itself twice where it has none.

        Rows that say nothing, because a bound in them is vacuous, are left out.

        Raises
        ------
        DataError
            When a query computed the rows: a sentence quotes what a table holds.

        Example
        -------
        >>> Rows([{"x": 2.0, "x_low": 1.0, "x_high": 4.0}, {"x": 3.0, "x_low": 3.0, "x_high": 3.0}], ()).intervals("x")
        [(2.0, 1.0, 4.0), (3.0, 3.0, 3.0)]
        """
        if self._computed:
            raise DataError(f"{self.source}: expected rows of a table or trials, found the answer to a query")
        says = [row for row in self._rows if not getattr(row, "vacuous", False) and getattr(row, "informative", True)]
        low, high = _ends(tuple(self.tables), name)
        return [
            (value, getattr(row, low, value), getattr(row, high, value))
            for row in says
            if (value := self._get(row, name)) is not None
        ]

    def pivot(self, on: str, values: str | Sequence[str], *index: str) -> "Rows":
        """One row for every value of the ``index`` columns, with a column for every value of ``on``.

        With one column of ``values`` the new columns are called as the values of ``on``; with several, "VALUE COLUMN"
        from the second on.

        Example
        -------
        >>> long = Rows([{"loss": "kl", "d": 1, "x": 0.5, "sd": 0.1}, {"loss": "kl", "d": 2, "x": 0.2, "sd": 0.3}], ())
        >>> vars(long.pivot("d", ("x", "sd"), "loss")[0])
        {'loss': 'kl', '1': 0.5, '1 sd': 0.1, '2': 0.2, '2 sd': 0.3}
        """
        first, *others = (values,) if isinstance(values, str) else values
        wide: dict[tuple[Any, ...], dict[str, Any]] = {}
        heads = [head for value in self.distinct(on) for head in (f"{value}", *(f"{value} {name}" for name in others))]
        for row in self._rows:
            key = tuple(self._get(row, name) for name in index)
            cells = wide.setdefault(key, {**dict(zip(index, key, strict=True)), **dict.fromkeys(heads)})
            head = f"{self._get(row, on)}"
            if cells[head] is not None:
                raise DataError(f"{self.source}: expected one row with {on} = {head} for {key}, found several")
            cells |= {head: self._get(row, first), **{f"{head} {name}": self._get(row, name) for name in others}}
            wide[key] = cells
        return self._some(wide.values())

    def _some(self, rows: Iterable[dict[str, Any] | SimpleNamespace]) -> "Rows":
        return Rows(rows, self.tables, computed=self._computed)

    def _values(self, name: str) -> list[Any]:
        known = [value for value in self.column(name) if value is not None]
        if not known:
            raise DataError(f"{self.source}: expected rows with the column {name!r}, found none")
        return known

    def _get(self, row: SimpleNamespace, name: str) -> Any:
        try:
            return getattr(row, name)
        except AttributeError:
            raise DataError(f"{self.source}: expected the column {name!r}, found {sorted(vars(row))}") from None


@dataclass(frozen=True)
class Tables:
    """The tables of a study, as the templates of pages query them. Each file is read once."""

    results: ResultsFolder
    _frames: dict[str, pl.DataFrame] = field(default_factory=dict, init=False, repr=False, compare=False)

    def has(self, *names: str) -> bool:
        """Whether the study has these tables, each with a row at least."""
        return all((self.results.path / _file(name)).exists() and len(self.frame(name)) > 0 for name in names)

    def matching(self, pattern: str) -> list[str]:
        """The tables of the study whose names match a pattern such as ``lists-*``, sorted; some may be empty."""
        return sorted(path.stem for path in self.results.path.glob(_file(pattern)))

    def rows(self, name: str, **equal: Any) -> Rows:
        """The rows of one table, all or those with some values."""
        return Rows(checked(self.frame(name), name), (name,)).where(**equal)

    def sql(self, query: str) -> Rows:
        """The answer to a query; every table in it stands between double quotes after FROM or JOIN.

        Raises
        ------
        DataError
            When a table is missing, the query is wrong, or it groups or joins rows and does not order them.
        """
        if _UNORDERED.search(query) and not _ORDERED.search(query):
            raise DataError(f"{query.strip()}: expected ORDER BY, since groups come in no order of their own")
        names = tuple(dict.fromkeys(_TABLES.findall(query)))
        context = pl.SQLContext(frames={name: self.frame(name) for name in names})
        try:
            answer = context.execute(query, eager=True)
        except pl.exceptions.PolarsError as error:
            raise DataError(
                f"{query.strip()}: expected a query that Polars can answer; {str(error).splitlines()[0]}"
            ) from None
        return Rows(checked(answer, ", ".join(names)), names, computed=True)

    def frame(self, name: str) -> pl.DataFrame:
        """One table, read and checked; DataError when it is missing."""
        if name not in self._frames:
            path = self.results.path / _file(name)
            if not path.exists():
                raise DataError(f"{path}: expected the table {name}, found none; run the study first")
            self._frames[name] = storage.read_table(path)
        return self._frames[name]


@cache
def _ends(tables: tuple[str, ...], column: str) -> tuple[str, str]:
    """The columns that hold the ends of the interval of a column, should it have one."""
    for *_, step in papers.steps(papers.names()):
        for declared, row in step.tables.items():
            pattern = re.sub(r"{\w+}", "*", declared.removeprefix("tables/"))
            ends = {one.part: one.name for one in columns(row) if one.field == column}
            if "low" in ends and any(fnmatchcase(table, pattern) for table in tables):
                return ends["low"], ends["high"]
    return f"{column}_low", f"{column}_high"


def _file(name: str) -> str:
    return f"tables/{name}.parquet"


def _fits(value: Any, wanted: Any) -> bool:
    return value in wanted if isinstance(wanted, list | tuple | set | frozenset) else bool(value == wanted)
