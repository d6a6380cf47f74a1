"""What does an expression of SQL give in the rows of a table?

Expressions are those that :func:`polars.sql_expr` reads. Claims read their values by them, and what always holds of a
table is declared in them.
"""

from collections.abc import Collection
from functools import cache

import polars as pl

from pipeline_lib.core.errors import DataError

__all__: list[str] = []  # internal: called where tables are read and checked


_parsed = cache(pl.sql_expr)


def parsed(text: str, columns: Collection[str]) -> pl.Expr:
    """The expression that a text is: one of these columns, which may be called as a word of SQL, or parsed, once.

    Example
    -------
    >>> [parsed(text, ["limit", "n"]).meta.root_names() for text in ("limit", "n / 2")]
    [['limit'], ['n']]
    """
    return pl.col(text) if text in columns else _parsed(text)


def evaluated(place: str, rows: pl.DataFrame, text: str) -> pl.Series:
    """What an expression gives: a value of every row, or one of all, such as a sum.

    Raises
    ------
    DataError
        When the text is no expression over the columns of the table; the message begins with ``place``.
    """
    try:
        return rows.select(parsed(text, rows.columns)).to_series()
    except pl.exceptions.PolarsError as error:
        problem = str(error).strip().partition("\n")[0]
        wanted = f"expected an expression over {', '.join(rows.columns)}"
        raise DataError(f"{place}: {wanted}, found {text!r}: {problem}") from error


def column(place: str, rows: pl.DataFrame, text: str) -> pl.Series:
    """What an expression gives in every row; a summary of all rows is the same in each.

    Example
    -------
    >>> column("toy", pl.DataFrame({"n": [1, 3]}), "2 * MAX(n)").to_list()
    [6, 6]
    """
    found = evaluated(place, rows, text)
    return found if len(found) == rows.height else found.new_from_index(0, rows.height)
