"""What does an expression of SQL give in the rows of a table?

Expressions are those that :func:`polars.sql_expr` reads. Claims read their values by them, and what always holds of a
table is declared in them.
"""

from functools import cache

import polars as pl

from pipeline_lib.core.errors import DataError

__all__: list[str] = []  # internal: called where tables are read and checked


@cache
def parsed(text: str) -> pl.Expr:
    """The expression that a text is, parsed once."""
    return pl.sql_expr(text)


def evaluated(place: str, rows: pl.DataFrame, text: str) -> pl.Series:
    """What an expression gives: a value of every row, or one of all, such as a sum.

    Raises
    ------
    DataError
        When the text is no expression over the columns of the table; the message begins with ``place``.
    """
    if text in rows.columns:
        return rows[text]
    try:
        return rows.select(parsed(text)).to_series()
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
