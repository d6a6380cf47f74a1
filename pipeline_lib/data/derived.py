"""Which features are made from columns that hold categories, and what stands for values that are missing?

The one place that says so, whether documents come from text, tables, data frames or arrays. Features that are made
stand after those that columns hold: first one for each value of a column that is encoded (``brand = acme``), then one
for each column whose missing values are marked (``age missing``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.errors import DataError

if TYPE_CHECKING:
    from pipeline_lib.data.stored_data import Columns

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

ABSENT = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "N/A", "NA", "NULL"),
    *("NaN", "n/a", "nan", "null"),
)
"""What stands for a value that is missing: the texts that Arrow and pandas take for one."""
FLAG = "{} missing"
"""The name of the feature that marks the missing values of another."""
EQUALS = "{} = {}"
"""The name of the feature that is 1 where a column has a value."""
MOST_VALUES = 1_000
"""So many values of a column are encoded: a column of more is an id, and its features would say nothing of others."""
MAX_FEATURES = 65_536


@dataclass(frozen=True)
class Derived:
    """The features of documents, by what they are made of.

    ``plain`` features are the columns themselves. ``values`` has the encoded columns, each with the values for which
    there are features, and ``flagged`` the plain features whose missing values others mark.
    """

    plain: tuple[str, ...]
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    flagged: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all features, in their order.

        Example
        -------
        >>> Derived(("age",), {"brand": ("acme", "zeta")}, frozenset({"age"})).names
        ('age', 'brand = acme', 'brand = zeta', 'age missing')
        """
        encoded = [EQUALS.format(column, value) for column, values in self.values.items() for value in values]
        return (*self.plain, *encoded, *(FLAG.format(name) for name in self.plain if name in self.flagged))

    @property
    def marked(self) -> list[int]:
        """Which of the plain features are marked, by index."""
        return [j for j, name in enumerate(self.plain) if name in self.flagged]

    def checked(self, where: object) -> Derived:
        """The same.

        Raises
        ------
        DataError
            When there is no feature, or there are more than :data:`MAX_FEATURES`.
        """
        if not 1 <= len(self.names) <= MAX_FEATURES:
            raise DataError(
                f"{where}: expected at least 1 and at most {MAX_FEATURES} features, found {len(self.names)}"
            )
        return self

    @classmethod
    def of_training(cls, features: Sequence[str], columns: Columns, names: Collection[str]) -> Derived:
        """How the features of a ranker are made from a table with columns of some ``names``.

        A table that has them all, and lacks a column of categories or has marks of its own, holds them as they are.

        Example
        -------
        >>> from pipeline_lib.data.stored_data import Columns
        >>> trained = Columns("label", "qid", missing="flag", one_hot=("brand",))
        >>> Derived.of_training(["age", "brand = acme", "age missing"], trained, ["brand", "age"])
        Derived(plain=('age',), values={'brand': ('acme',)}, flagged=frozenset({'age'}))
        """
        made = columns.missing == "flag" or columns.one_hot
        if not made or set(features) <= set(names):
            return cls(tuple(features))
        of = {column: EQUALS.format(column, "") for column in columns.one_hot}
        values = {c: tuple(name.removeprefix(of[c]) for name in features if name.startswith(of[c])) for c in of}
        own = [name for name in features if not name.startswith(tuple(of.values()))]
        flagged = flagged_among(own) if columns.missing == "flag" else frozenset()
        marks = {FLAG.format(name) for name in flagged}
        return cls(tuple(name for name in own if name not in marks), values, flagged)


def flagged_among(features: Collection[str]) -> frozenset[str]:
    """Which of some features are marked, by others of them, where their values are missing.

    Example
    -------
    >>> flagged_among(["age", "bm25", "bm25 missing"])
    frozenset({'bm25'})
    """
    return frozenset(name for name in features if FLAG.format(name) in features)


def check_marks(where: object, features: Sequence[str]) -> None:
    """Raise a DataError where a column is called like the mark of another."""
    if taken := sorted(flagged_among(features)):
        name = FLAG.format(taken[0])
        raise DataError(f"{where}: expected no column {name!r}: the column that marks missing values has this name")


def check_names(where: object, names: Iterable[str], one_hot: Sequence[str]) -> None:
    """Raise a DataError where a column is called like a feature that is made of one in ``one_hot``, or its mark is.

    The value of a feature can then be read off its name, also where a ranker has met other values than a new table.

    Example
    -------
    >>> check_names("my.csv", ["brand", "brand = acme"], ["brand"])
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: my.csv: expected no column 'brand = acme': the features made of 'brand' \
(`one_hot`) have such names; rename it, or leave it out (`ignore`)
    """
    for name in names:
        if of := [column for column in one_hot if FLAG.format(name).startswith(EQUALS.format(column, ""))]:
            raise DataError(
                f"{where}: expected no column {name!r}: the features made of {of[0]!r} (`one_hot`) have such names; "
                "rename it, or leave it out (`ignore`)"
            )


def texts(column: Any, name: str, where: str) -> Any:
    """The values of a column as texts of Arrow, null where there is none.

    Raises
    ------
    DataError
        When it holds neither texts, numbers, truth values nor dates.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_nested(column.type) or pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
            raise pa.ArrowNotImplementedError
        found = column.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise DataError(
            f"{where}: expected texts or numbers in the column {name!r} of `one_hot`, found {column.type}"
        ) from error
    return pc.if_else(pc.is_in(found, value_set=pa.array(ABSENT)), pa.scalar(None, pa.string()), found)


def values_of(where: object, name: str, found: Iterable[Any]) -> tuple[str, ...]:
    """The different values of a column, sorted; ``found`` are its :func:`texts`, or the values of some pieces.

    Raises
    ------
    DataError
        When there are more than :data:`MOST_VALUES`.

    Example
    -------
    >>> values_of("my.csv", "brand", [("zeta", "acme"), ("acme",)])
    ('acme', 'zeta')
    """
    values: set[str] = set()
    for piece in found:
        values |= set(piece if isinstance(piece, tuple) else piece.unique().drop_null().to_pylist())
        if len(values) > MOST_VALUES:
            raise DataError(
                f"{where}: expected at most {MOST_VALUES:,} values of a column of `one_hot`, found more in {name!r}; "
                "a column of so many, such as an id, says nothing of documents with others: leave it out (`ignore`)"
            )
    return tuple(sorted(values))


def encoded(table: Any, values: Mapping[str, tuple[str, ...]], where: str) -> tuple[NDArray[np.float32], int]:
    """The features that are 1 where a column of a table has a value and 0 elsewhere, and how many values are others.

    Raises
    ------
    DataError
        As :func:`texts`.

    Example
    -------
    >>> import pyarrow as pa
    >>> X, others = encoded(pa.table({"brand": ["acme", None, "new"]}), {"brand": ("acme", "zeta")}, "my.csv")
    >>> X.tolist(), others
    ([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]], 1)
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    X = np.zeros((table.num_rows, sum(map(len, values.values()))), np.float32)
    first = others = 0
    for column, known in values.items():
        found = texts(table.column(column), column, where)
        place = pc.fill_null(pc.index_in(found, value_set=pa.array(known, pa.string())), -1)
        index = place.to_numpy(zero_copy_only=False)
        rows = np.flatnonzero(index >= 0)
        X[rows, first + index[rows]] = 1.0
        others += len(index) - found.null_count - len(rows)
        first += len(known)
    return X, others


def unknown(others: int, columns: Iterable[str]) -> str:
    """What is said of values that training did not have."""
    one = others == 1
    return (
        f"{others:,} value{'' if one else 's'} of {', '.join(map(repr, columns))} that training did not have count"
        f"{'s' if one else ''} as no value"
    )


def filled(X: NDArray[np.float32], starts: NDArray[np.int64]) -> NDArray[np.float32]:
    """The features with the mean of its query for each missing value, which is NaN, and 0 where none has a value.

    ``starts`` are the first rows of the queries. A mean over more than the query would take something from queries that
    test into those that train.

    Example
    -------
    >>> X = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, 5.0]], np.float32)
    >>> filled(X, np.array([0, 2])).tolist()
    [[1.0, 0.0], [3.0, 0.0], [0.0, 5.0]]
    """
    X = X.copy()
    missing = np.isnan(X)
    sizes = np.diff(np.r_[starts, len(X)])
    for column in np.flatnonzero(missing.any(axis=0)):
        absent = missing[:, column]
        sums = np.add.reduceat(np.where(absent, 0.0, X[:, column].astype(np.float64)), starts)
        means = sums / np.maximum(np.add.reduceat(~absent, starts, dtype=np.int64), 1)
        X[absent, column] = np.repeat(means, sizes)[absent]
    return X


def completed(
    X: NDArray[np.float32], starts: NDArray[np.int64], missing: str, marked: Sequence[int] = ()
) -> NDArray[np.float32]:
    """The features with what a policy takes for missing values, which are NaN, and then the marks of some features.

    Example
    -------
    >>> X = np.array([[1.0], [np.nan]], np.float32)
    >>> completed(X, np.array([0]), "zero").tolist(), completed(X, np.array([0]), "flag", [0]).tolist()
    ([[1.0], [0.0]], [[1.0, 0.0], [1.0, 1.0]])
    """
    if missing == "refuse":
        return X
    marks = np.isnan(X[:, list(marked)]).astype(np.float32)
    whole = np.where(np.isnan(X), np.float32(0.0), X) if missing == "zero" else filled(X, starts)
    return np.hstack([whole, marks]) if marked else whole


def completed_arrays(
    X: NDArray[np.float32], names: tuple[str, ...] | None, starts: NDArray[np.int64], missing: str
) -> tuple[NDArray[np.float32], tuple[str, ...] | None]:
    """The same for the features of arrays, and their names with those of the marks.

    Raises
    ------
    DataError
        When features are to be marked that have no names.
    """
    if missing != "flag":
        return completed(X, starts, missing), names
    if names is None:
        raise DataError(
            "missing: expected `feature_names` with 'flag', whose marks are called after the features, found none; "
            "'mean' takes the same values without marks"
        )
    if len(names) != X.shape[1]:
        raise DataError(f"feature_names: expected {X.shape[1]} names, found {len(names)}")
    check_marks("feature_names", names)
    lacking = frozenset(names[j] for j in np.flatnonzero(np.isnan(X).any(axis=0)))
    made = Derived(names, flagged=lacking)
    return completed(X, starts, missing, made.marked), made.names


def without_missing(X: Any) -> tuple[Any, NDArray[np.bool_] | None]:
    """An array-like with 0 in place of NaN and None, and where these were; as it is where it holds no such numbers.

    Example
    -------
    >>> without_missing([[1, None]])
    (array([[1., 0.]]), array([[False,  True]]))
    """
    if isinstance(X, np.ma.MaskedArray):
        return X, None
    try:
        found = np.asarray(X)
    except ValueError:  # rows of different lengths: whoever checks numbers says it better
        return X, None
    if found.dtype == object and all(one is None or isinstance(one, Real) for one in found.flat):
        found = np.array([np.nan if one is None else float(one) for one in found.flat]).reshape(found.shape)
    if found.dtype.kind != "f":
        return X, None
    absent = np.isnan(found)
    return np.where(absent, found.dtype.type(0), found), absent
