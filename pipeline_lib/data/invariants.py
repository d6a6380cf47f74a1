"""What holds of a table, whatever its numbers are: which columns name a row, and how columns are related.

An invariant follows from what the columns mean: the mean of some numbers is at most the largest of them, a part is at
most the whole, and a query is measured once. A table that breaks one was computed wrongly, or put together of parts
that do not belong together; it is refused when it is written, and again when claims are judged on it.

A rule compares expressions of SQL over the columns (:mod:`pipeline_lib.core.expressions`) by ``<=``, ``>=`` or ``=``,
as in ``0 <= mistakes <= rounds``; windows relate the rows of a group, as in ``SUM(n) OVER (PARTITION BY m) = total``. A
comparison within an expression is in parentheses; of conditions, ``(a) <= (b)`` says that the first implies the second.
A rule holds where a value is missing. Numbers that are not whole are compared up to their rounding:
:data:`RELATIVE` of the larger one, and :data:`ABSOLUTE`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from pipeline_lib.core import storage
from pipeline_lib.core.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    import polars as pl

__all__: list[str] = []  # internal: declared with the rows of tables

RELATIVE, ABSOLUTE = 1e-9, 1e-12
"""By how much rounding may let numbers break a rule: a share of the larger one, and a number."""
_NUMBER = re.compile(r"[\d.]+")
_TOKENS = re.compile(r"""'[^']*'|"[^"]*"|[()]|<=|>=|=|<|>""")


@dataclass(frozen=True)
class Invariants:
    """The columns that name a row, and rules that hold in every row.

    Every combination of values of ``key`` occurs once; of a table whose key is empty, there is one row at most. None
    stands for no key. A value of the key may be missing only in the columns ``optional``, and is then one of its own.

    Example
    -------
    >>> import polars as pl
    >>> measured = Invariants(key=("fold",), rules=("mean <= largest",))
    >>> measured.check("gaps", pl.DataFrame({"fold": [1, 2], "mean": [0.5, 0.75], "largest": [0.5, 0.25]}))
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: gaps: expected mean <= largest in every row, found 1 of 2 rows in which it \
does not hold, the first at fold = 2: 0.75 and 0.25
    """

    key: tuple[str, ...] | None = None
    rules: tuple[str, ...] = ()
    optional: frozenset[str] = field(default_factory=frozenset)

    def check(self, place: str, table: pl.DataFrame) -> None:
        """Refuse a table of which a rule does not hold, or in which the key names two rows.

        Raises
        ------
        DataError
            For the first rule that is broken, or the key; the message begins with ``place``, and names the number of
            such rows and the first of them.
        """
        if self.key is not None:
            self._check_key(place, table)
        values = _values(place, table, [text for rule in self.rules for text in sides(rule)[0]])
        broken = values.select(_broken(rule, values).alias(rule) for rule in self.rules)
        for rule in self.rules:
            if broken[rule].any():
                first = broken[rule].arg_true().item(0)
                raise DataError(
                    f"{place}: expected {rule} in every row, found {broken[rule].sum():,} of {table.height:,} rows in "
                    f"which it does not hold, the first at {self._named(table, first)}: "
                    f"{' and '.join(str(values[text].item(first)) for text in sides(rule)[0])}"
                )

    def read(self, path: str | os.PathLike[str]) -> pl.DataFrame:
        """Read a stored table, and refuse it as :meth:`check` does."""
        table = storage.read_table(path)
        self.check(os.fspath(path), table)
        return table

    def write(self, path: str | os.PathLike[str], table: pl.DataFrame) -> None:
        """Store a table, unless it is refused as :meth:`check` does."""
        self.check(os.fspath(path), table)
        storage.write_table(path, table)

    def _check_key(self, place: str, table: pl.DataFrame) -> None:
        import polars as pl  # which whoever only declares rows need not have

        key = list(self.key or ())
        if absent := [name for name in key if name not in table.columns]:
            raise DataError(f"{place}: expected the column {absent[0]}, found {', '.join(table.columns)}")
        for name in key:
            if name not in self.optional and table[name].null_count():
                raise DataError(
                    f"{place}: expected a value of {name} in every row, found {table[name].null_count():,} of "
                    f"{table.height:,} rows without one"
                )
        shared = table.select(key).is_duplicated() if key else pl.repeat(table.height > 1, table.height, eager=True)
        if shared.any():
            first = shared.arg_true().item(0)
            raise DataError(
                f"{place}: expected one row for every {' and '.join(key) or 'table'}, found {shared.sum():,} of "
                f"{table.height:,} rows that share theirs, the first at {self._named(table, first)}"
            )

    def _named(self, table: pl.DataFrame, row: int) -> str:
        """A row by its key, or by its number."""
        return ", ".join(f"{name} = {table[name].item(row)}" for name in self.key or ()) or f"row {row + 1}"


PER_QUERY = Invariants(key=("dataset", "model", "fold", "query"))
"""Of the measures of models query by query, the files ``evaluation/DATASET/MODEL.parquet``."""
_SHARES = ("ndcg", "linear_ndcg", "letor4_ndcg", "letor4_mean_ndcg", "map", "p", "recall", "rr", "err")
"""Measures that are numbers between 0 and 1."""
_RISING = ("recall", "rr", "err")
"""Those that more ranks can only raise."""
_BEST_IS_ONE = ("ndcg", "linear_ndcg", "letor4_mean_ndcg", "map", "rr")
"""Those that are 1 in the best order of any query with a relevant document, and else 0."""
_GRADED = ("ndcg", "linear_ndcg", "letor4_ndcg")
"""Those that are above 0 exactly where a label above 0 is among the first documents (of LETOR's, only there)."""


def of_measures(names: Sequence[str], *, best: bool = False, relevant_from: int = 1) -> tuple[str, ...]:
    """What holds of the values of measures for a query, by what these are; nothing is said of others.

    Shares are between 0 and 1, more ranks find no less, ``p@10`` and ``ndcg@10`` are above 0 for the same queries, and
    ERR is at most RR. All of it holds of means over orders of equal scores too.

    Parameters
    ----------
    names : sequence of str
        The columns.
    best : bool
        Whether documents are ranked by their labels: NDCG, AP and RR are then 1, or 0 without a relevant document.
    relevant_from : int
        From which label on documents are relevant. Above 1, measures of grades and of relevance are not compared.

    Example
    -------
    >>> of_measures(["p@5", "p@10"])[2:]
    ('0 <= 10 * "p@10" - 5 * "p@5" <= 5',)
    >>> of_measures(["map"], best=True)
    ('0 <= "map" <= 1', '"map" = ("map" > 0)')
    """
    parsed = [
        (name.partition("@")[0], int(rank) if (rank := name.partition("@")[2]).isdecimal() else None, name)
        for name in names
    ]
    by_name = {(family, k): name for family, k, name in parsed}
    ranks = {family: sorted(k for one, k in by_name if one == family and k is not None) for family in _SHARES}
    rules = [f'0 <= "{name}" <= 1' for family, _, name in parsed if family in _SHARES]
    rules += [f"{q} <= {p}" for family in _RISING for q, p in pairwise(_quoted(by_name, family, ranks[family]))]
    rules += [f'0 <= {l} * "p@{l}" - {k} * "p@{k}" <= {l - k}' for k, l in pairwise(ranks["p"])]
    rules += [f'"{name}" = ("{name}" > 0)' for family, _, name in parsed if best and family in _BEST_IS_ONE]
    if {"p@1", "rr@1"} <= {*names}:
        rules.append('"p@1" = "rr@1"')
    if {"ndcg@1", "letor4_ndcg@1"} <= {*names}:
        rules.append('"ndcg@1" = "letor4_ndcg@1"')
    if relevant_from > 1:
        return tuple(rules)
    for family in _GRADED:
        sign = "<=" if family == "letor4_ndcg" else "="
        rules += [f'("{family}@{k}" > 0) {sign} ("p@{k}" > 0)' for k in ranks[family] if k in ranks["p"]]
    if {"err", "rr"} <= {*names}:
        rules.append('"err" <= "rr"')
    if "map" in names:
        rules += [f'("p@{k}" > 0) <= ("map" > 0)' for k in ranks["p"]]
    return tuple(rules)


def _quoted(by_name: Mapping[tuple[str, int | None], str], family: str, ranks: Sequence[int]) -> list[str]:
    # The columns of a family from the first cutoff to the last, and the one that is not cut off.
    every = [by_name[family, k] for k in ranks] + [family] * ((family, None) in by_name)
    return [f'"{name}"' for name in every]


def above_mean(largest: str, mean: str) -> str:
    """The rule that the largest of some numbers lies above their mean by a standard error at least.

    ::

        max x  >=  mean x + sqrt( sum (x - mean x)^2 / (k (k - 1)) )

    for k >= 2 numbers. ``mean`` is a column with a t interval; a half of it is a standard error times Student's
    quantile, which for a level of 95 % is below 12.71. Without the standard error, a mean in the place of the largest
    number would not be noticed.

    Source: deviations d <= D from the mean, whose sum is 0, have the largest sum of squares, k (k - 1) D^2, where all
    but one of them are D.

    Example
    -------
    >>> above_mean("largest", "gap")
    'gap + (gap_high - gap) / 12.71 <= largest'
    """
    return f"{mean} + ({mean}_high - {mean}) / 12.71 <= {largest}"


@cache
def sides(rule: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The expressions that a rule compares, and the signs between them.

    Raises
    ------
    ConfigurationError
        When it compares none, or by another sign.

    Example
    -------
    >>> sides("0 <= mistakes <= rounds")
    (('0', 'mistakes', 'rounds'), ('<=', '<='))
    >>> sides("first <= (kind = 'bound')")
    (('first', "(kind = 'bound')"), ('<=',))
    """
    signs = list(_outer_signs(rule))
    if not signs or any(sign in "<>" for sign, _, _ in signs):
        raise ConfigurationError(f"rule: expected expressions with <=, >= or = between them, found {rule!r}")
    ends = [0, *(end for _, _, end in signs)]
    starts = [*(start for _, start, _ in signs), len(rule)]
    expressions = (rule[end:start].strip() for end, start in zip(ends, starts, strict=True))
    return tuple(expressions), tuple(sign for sign, _, _ in signs)


def _outer_signs(rule: str) -> Iterator[tuple[str, int, int]]:
    """The signs of comparisons that are in no parentheses and no text, each with its place."""
    depth = 0
    for token in _TOKENS.finditer(rule):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if depth == 0 and token[0] in ("<=", ">=", "=", "<", ">"):
            yield token[0], token.start(), token.end()


def _values(place: str, table: pl.DataFrame, texts: Iterable[str]) -> pl.DataFrame:
    """What expressions give in every row, each a column that is called like it; all at once, which is faster."""
    import polars as pl

    from pipeline_lib.core.expressions import column, parsed

    wanted = dict.fromkeys(texts)
    try:
        found = table.with_columns(parsed(one, table.columns).alias(one) for one in wanted)
        found = found.select(*wanted)
    except pl.exceptions.PolarsError:  # one by one, so that the error names the expression
        found = pl.DataFrame({one: column(place, table, one) for one in wanted})
    for one, kind in found.schema.items():
        if kind.is_decimal() and not _NUMBER.fullmatch(one):  # of which polars keeps a few digits only
            raise ConfigurationError(f"rule: expected whole numbers without a point, such as 1 / m, found {one!r}")
    return found


def _broken(rule: str, values: pl.DataFrame) -> pl.Expr:
    """In which rows neighbouring values do not compare as the signs between them say."""
    import polars as pl

    expressions, signs = sides(rule)
    compared = [
        _compares(left, sign, right, values) for (left, right), sign in zip(pairwise(expressions), signs, strict=True)
    ]
    return ~pl.all_horizontal(compared)


def _compares(left: str, sign: str, right: str, values: pl.DataFrame) -> pl.Expr:
    import polars as pl

    one, other = pl.col(left), pl.col(right)
    exactly = {"<=": one <= other, ">=": one >= other, "=": one == other}[sign]
    # A number that is written with a point is a decimal one.
    if any(values.schema[text].is_float() or values.schema[text].is_decimal() for text in (left, right)):
        one, other = one.cast(pl.Float64), other.cast(pl.Float64)
        above = {"<=": one - other, ">=": other - one, "=": (one - other).abs()}[sign]
        room = RELATIVE * pl.max_horizontal(one.abs(), other.abs()) + ABSOLUTE
        exactly = exactly | (above <= room)
    return exactly.fill_null(True)
