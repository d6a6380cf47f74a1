"""How do the named columns of a table become queries, labels and features?

One column holds the labels, one the queries, one may hold the ids of documents, and all others are features, unless
they are to be left out or encoded (:mod:`pipeline_lib.data.derived`). Tables are those of Arrow, into which files and
data frames are read; they come whole or in pieces, row by row.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core import checks
from pipeline_lib.core.errors import ArgumentError, DataError, hint
from pipeline_lib.data import derived
from pipeline_lib.data.derived import Derived
from pipeline_lib.data.labels import expected, grades, remedy
from pipeline_lib.data.problems import refuse
from pipeline_lib.data.stored_data import LARGEST_VALUE, Columns, Extreme, Missing

if TYPE_CHECKING:
    import pyarrow as pa

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

LABELS = ("label", "relevance", "rel", "grade", "y")
QUERIES = ("qid", "query_id", "query", "topic")
DOCUMENTS = ("docid", "doc_id", "docno")
"""Names by which the columns of labels, queries and ids of documents are recognised, whatever their case."""
NO_NUMBER = "encode a column of categories (`one_hot`), and leave one out that is no feature (`ignore`)"
"""What to do about a column of other values than numbers."""
_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?")

ADVICE = "fill it in first, as `missing='mean'` of RankingData.from_frame does"
"""What to do about a missing value of a data frame."""
_LOG = logging.getLogger(__name__)

Place = Callable[[int], str]
"""How the row of a number, counted from 0, is named in an error."""


@dataclass(frozen=True)
class Roles:
    """Which columns hold the labels, if they are read, the queries and the features.

    The ids of ``documents`` and the ``weight`` of queries have columns in some tables, and ``one_hot`` are those that
    are encoded.
    """

    label: str | None
    query: str
    features: tuple[str, ...]
    documents: str | None = None
    weight: str | None = None
    one_hot: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """The columns that are read."""
        names = (self.query, self.label, *self.features, self.documents, self.weight, *self.one_hot)
        return tuple(name for name in names if name is not None)


def roles(
    schema: pa.Schema,
    where: str,
    *,
    label: str | None = None,
    query: str | None = None,
    ignore: Collection[str] = (),
    features: Collection[str] | None = None,
    labelled: bool = True,
    weight: str | None = None,
    one_hot: Sequence[str] = (),
) -> Roles:
    """Say which column plays which role.

    Parameters
    ----------
    schema : pyarrow.Schema
    where : str
        How errors name the table.
    label, query : str, optional
        The columns; by default the one whose name is in :data:`LABELS` or :data:`QUERIES`.
    ignore : collection of str
        Columns that are no features.
    features : collection of str, optional
        The features and their order; by default all columns that are nothing else.
    labelled : bool
        Whether labels are read; where they are not, there need not be any.
    weight : str, optional
        The column of the weights of queries.
    one_hot : sequence of str
        The columns of categories.

    Raises
    ------
    DataError
        When a column is missing or stands twice, has two roles or the name of a feature that is made of another,
        several may be meant, or no feature is left.
    """
    names = list(schema.names)
    for name, count in Counter(names).items():
        if count > 1:
            raise DataError(f"{where}: expected columns of different names, found {count} columns {name!r}")
    for name in ignore:
        if name not in names:
            raise DataError(f"{where}: expected the column {name!r} to ignore; {hint(name, names)}")
    checks.features_of_training(where, (*features, *one_hot) if features is not None else (), names)
    own = [*([("weight", weight)] if weight is not None else []), *(("one_hot", name) for name in one_hot)]
    for role, name in own:
        if name not in names:
            raise DataError(f"{where}: expected the column {name!r}, given as `{role}`; {hint(name, names)}")
    free = [name for name in names if features is None or name not in (*features, *one_hot)]
    chosen = _chosen(free, names, label, "label", LABELS, where, needed=labelled)
    of_queries = _chosen(free, names, query, "query", QUERIES, where)
    for place, (role, name) in enumerate(own):
        if name in (chosen, of_queries, *ignore, *(other for _, other in own[:place])):
            raise DataError(
                f"{where}: expected a column of its own as `{role}`, found {name!r}, which has another role"
            )
    if features is None:
        derived.check_names(where, (name for name in names if name not in ignore), one_hot)
    rest = [name for name in free if name not in (chosen, of_queries, weight, *ignore, *one_hot)]
    ids = [name for name in rest if name.lower() in DOCUMENTS]
    if len(ids) > 1:
        raise DataError(
            f"{where}: expected one column with the ids of documents, found {' and '.join(ids)}; leave out (`ignore`) "
            "those that are none"
        )
    found = tuple(name for name in rest if name not in ids) if features is None else tuple(features)
    if not (found or one_hot):
        raise DataError(f"{where}: expected at least one column of features, found only {', '.join(names)}")
    return Roles(chosen if labelled else None, of_queries, found, ids[0] if ids else None, weight, tuple(one_hot))


def _chosen(
    free: Sequence[str],
    names: Sequence[str],
    given: str | None,
    role: str,
    known: Sequence[str],
    where: str,
    *,
    needed: bool = True,
) -> Any:
    """The column of a role, among those that are ``free`` unless it was given; None if none is found or needed."""
    if given is not None:
        if given not in names:
            raise DataError(f"{where}: expected the column {given!r}, given as `{role}`; {hint(given, names)}")
        return given
    candidates = [name for name in free if name.lower() in known]
    if not candidates and not needed:
        return None
    if len(candidates) != 1:
        present = f"both {' and '.join(candidates)}" if candidates else f"the columns {', '.join(names[:20])}"
        advice = f"name the column with `{role}`"
        if not candidates and any(_NUMBER.fullmatch(name) for name in names):
            advice += ", or write a line of column names first if there is none"
        raise DataError(
            f"{where}: expected one column named {', '.join(known[:-1])} or {known[-1]}, found {present}; {advice}"
        )
    return candidates[0]


def numbers(
    column: Any, name: str, place: Place, *, missing: bool = False, advice: str = "fill it in first"
) -> NDArray[np.float64]:
    """The finite numbers of a column, in float64; NaN for a value that is ``missing``, if that is allowed.

    ``advice`` is what to do about such a value elsewhere, for messages.

    Raises
    ------
    DataError
        Naming the row and the column, when there is no number, or one that is not finite.
    """
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if not is_numeric(kind):
        first = repr(column[0].as_py())[:40] if len(column) else str(kind)
        raise DataError(f"{place(0)}: expected a number in the column {name!r}, found {first}; {NO_NUMBER}")
    absent = _absent(column)
    if not missing:
        none = f"expected a number in the column {name!r}, found no value; {advice}"
        refuse(place, absent, name, lambda row: none)
    values: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    wrong = ~np.isfinite(values) & ~absent
    if missing:
        wrong &= ~np.isnan(values)

    def text(row: int) -> str:
        what = f"expected a finite number in the column {name!r}, found {values[row]}"
        return f"{what}; {advice}" if np.isnan(values[row]) else what

    refuse(place, wrong, name, text)
    return values


def labels(
    column: Any, name: str, place: Place, *, policy: str = "whole", spelled: str | None = None
) -> NDArray[np.uint8]:
    """The labels of a column: whole numbers in 0..255, ``1.0`` included, or what else the policy takes.

    ``spelled`` is how whoever reads the table asks for a policy, for messages (see :mod:`pipeline_lib.data.labels`).

    Raises
    ------
    DataError
        Naming the row and the column.
    """
    given = numbers(column, name, place)
    values = grades(given, policy)

    def words(row: int) -> str:
        advice = remedy(given[row], policy, spelled) if spelled else ""
        return f"expected {expected(policy)} as the label (column {name!r}), found {given[row]:g}{advice}"

    wrong = np.isnan(values)
    refuse(place, wrong & np.isfinite(given), name, words)
    return np.where(wrong, 0, values).astype(np.uint8)


def ids(column: Any, name: str, place: Place) -> NDArray[Any]:
    """The ids of documents in a column, as texts.

    Raises
    ------
    DataError
        Naming the row and the column, when there is none.
    """
    import pyarrow as pa

    texts = np.asarray(column.cast(pa.string()).to_numpy(zero_copy_only=False), dtype=object)
    missing = (texts == "") | (texts == None)  # noqa: E711 - of every entry
    none = f"expected the id of a document in the column {name!r}, found none"
    refuse(place, missing, name, lambda row: none)
    return texts


def features(
    table: Any, names: Sequence[str], place: Place, *, missing: bool = False, extreme: Extreme = "refuse", **advice: str
) -> NDArray[np.float32]:
    """The columns of some names as features, a row a document; NaN for values that are ``missing``, if that is allowed.

    Values beyond the range of float32 are ``extreme``: an error, the nearest float32, or missing (and then NaN).

    Raises
    ------
    DataError
        Naming the row and the column, when a value is missing, no number, or not finite in float32.
    """
    X = np.empty((table.num_rows, len(names)), np.float32)
    for j, name in enumerate(names):
        values = numbers(table.column(name), name, place, missing=missing, **advice)
        with np.errstate(over="ignore"):
            X[:, j] = values
        infinite = np.isinf(X[:, j]) & np.isfinite(values)
        if extreme == "refuse":
            refuse(place, infinite, name, partial(_too_large, name))
        X[infinite, j] = np.copysign(LARGEST_VALUE, X[infinite, j]) if extreme == "clip" else np.nan
    return X


def _too_large(name: str, row: int) -> str:
    return (
        f"expected a value of {name!r} that is finite in float32 (in a study, `extreme: clip` takes the nearest one, "
        "and `extreme: missing` none for it)"
    )


class Queries:
    """Numbers the queries of a table that comes in pieces, and sees to it that each stands together.

    ``names`` lists the names of the queries that were met, where these are text; their numbers count from 0. Whole
    numbers are kept as they are, and ``names`` is None.
    """

    def __init__(self, *, textual: bool) -> None:
        self.names: list[str] | None = [] if textual else None
        self._seen: set[Any] = set()
        self._last: Any = None

    def number(self, column: Any, name: str, place: Place) -> NDArray[np.int64]:
        """The number of every row's query.

        Raises
        ------
        DataError
            When a query has no name, or returns after others; the message names the row.
        """
        values = self._values(column, name, place)
        if self.names is not None:
            refuse(place, values == "", name, lambda row: f"expected a query in the column {name!r}, found none")
        numbers, again = np.empty(len(values), np.int64), np.zeros(len(values), np.bool_)
        for start, stop in runs(values):
            query = values[start]
            if query != self._last:
                again[start] = query in self._seen and query is not None
                self._seen.add(query)
                self._last = query
                if self.names is not None:
                    self.names.append(str(query))
            numbers[start:stop] = len(self.names) - 1 if self.names is not None else int(query)
        together = "expected the documents of a query to stand together"
        refuse(
            place, again, "order",
            lambda row: f"{together}, found query {values[row]} again after others; sort the rows by query",
        )  # fmt: skip
        return numbers

    def name(self, number: int) -> str | int:
        """What the table calls the query of this number."""
        return number if self.names is None else self.names[number]

    def _values(self, column: Any, name: str, place: Place) -> NDArray[Any]:
        import pyarrow as pa

        refuse(place, _absent(column), name, lambda row: f"expected a query in the column {name!r}, found none")
        if self.names is not None:
            return np.asarray(column.cast(pa.string()).to_numpy(zero_copy_only=False), dtype=object)
        if pa.types.is_string(column.type):  # all of them whole numbers
            return column.cast(pa.int64()).to_numpy(zero_copy_only=False)
        if pa.types.is_integer(column.type):
            return checks.whole_numbers(f"{place(0)}: {name}", column.to_numpy(zero_copy_only=False))
        values = numbers(column, name, place)
        wrong = values != np.floor(values)
        refuse(place, wrong, name, lambda row: f"expected a whole number or text as the query, found {values[row]:g}")
        return values.astype(np.int64)


class Weights:
    """Reads the weights of queries of a table that comes in pieces, and sees to it that a query has one.

    ``queries`` is what numbers the queries of the same pieces, and knows their names.
    """

    def __init__(self, queries: Queries) -> None:
        self._queries = queries
        self._last: tuple[Any, float] = (None, 0.0)

    def read(self, column: Any, name: str, place: Place, queries: NDArray[Any]) -> NDArray[np.float64]:
        """The weight of every row's query; ``queries`` are the numbers of the rows' queries.

        Raises
        ------
        DataError
            When a weight is no number above 0, or a query has several; the message names the row, and the query.
        """
        weights = numbers(column, name, place)
        refuse(
            place, weights <= 0.0, name,
            lambda row: f"expected a number above 0 as the weight (column {name!r}), found {weights[row]:g}; leave the "
            "query out if it is not to count",
        )  # fmt: skip
        firsts = np.empty(len(weights))
        for start, stop in runs(queries):
            goes_on = start == 0 and queries[0] == self._last[0]
            firsts[start:stop] = self._last[1] if goes_on else weights[start]
            self._last = queries[start], float(firsts[start])
        # One that was refused already is no second problem, nor makes it one of what follows.
        several = (weights != firsts) & (weights > 0.0) & (firsts > 0.0)
        refuse(
            place, several, name,
            lambda row: f"expected one weight (column {name!r}) for all documents of query "
            f"{self._queries.name(queries[row])}, found {weights[row]:g} after {firsts[row]:g}",
        )  # fmt: skip
        return weights


def _absent(column: Any) -> NDArray[np.bool_]:
    if not column.null_count:  # known without reading the column
        return np.zeros(len(column), np.bool_)
    return np.asarray(column.is_null().to_numpy(zero_copy_only=False), np.bool_)


def is_numeric(kind: Any) -> bool:
    """Whether a column of this type holds numbers, or nothing at all."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    known = (pa.types.is_floating, pa.types.is_integer, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)
    return any(is_kind(kind) for is_kind in known)


def is_textual(kind: Any) -> bool:
    """Whether a column of this type holds text."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def fields(
    frame: Any,
    label: str | None,
    query: str | None,
    ignore: Collection[str],
    weight: str | None,
    one_hot: Sequence[str],
    missing: Missing,
) -> dict[str, Any]:
    """The fields of a ``RankingData`` that a data frame holds: see ``RankingData.from_frame``."""
    table = arrow_table(frame)
    chosen = roles(table.schema, "frame", label=label, query=query, ignore=ignore, weight=weight, one_hot=one_hot)
    assert chosen.label is not None
    place = "frame: row {}".format
    queries = Queries(textual=is_textual(table.schema.field(chosen.query).type))
    qid = queries.number(table.column(chosen.query), chosen.query, place)
    starts = np.array([start for start, _ in runs(qid)], np.int64)
    X = features(table, chosen.features, place, missing=missing != "refuse", advice=ADVICE)
    lacking = [chosen.features[j] for j in np.flatnonzero(np.isnan(X).any(axis=0))] if missing == "flag" else []
    if missing == "flag":
        derived.check_marks("frame", chosen.features)
    texts = {name: derived.texts(table.column(name), name, "frame") for name in one_hot}
    values = {name: derived.values_of("frame", name, [found]) for name, found in texts.items()}
    made = Derived(chosen.features, values, frozenset(lacking))
    return {
        "X": _completed(table, X, made.checked("frame") if one_hot or lacking else made, starts, missing, "frame"),
        "y": labels(table.column(chosen.label), chosen.label, place).astype(np.int32),
        "offsets": np.r_[starts, len(qid)].astype(np.int64),
        "qids": qid[starts],
        "feature_names": made.names,
        "query_names": None if queries.names is None else tuple(queries.names),
        "columns": Columns(
            chosen.label, chosen.query, tuple(ignore), missing=missing, weight=weight, one_hot=tuple(one_hot)
        ),
        "weights": None if weight is None else Weights(queries).read(table.column(weight), weight, place, qid)[starts],
    }


def fields_as_trained(frame: Any, trained: Columns, expected: Sequence[str]) -> dict[str, Any]:
    """The fields of a ``RankingData`` without labels: the documents of a data frame, read as a ranker was trained.

    Their queries matter only for means in place of missing values: these are means over a query where the frame has the
    column that named the queries in training, and over all documents otherwise.
    """
    table = arrow_table(frame)
    place = "X: row {}".format
    made = Derived.of_training(expected, trained, table.schema.names)
    checks.features_of_training("X", (*made.plain, *made.values), table.schema.names)
    X = features(table, made.plain, place, missing=trained.missing != "refuse")
    qid = np.zeros(len(X), np.int64)
    if trained.query is not None and trained.query in table.schema.names and np.isnan(X).any():
        column = table.column(trained.query)
        qid = Queries(textual=is_textual(column.type)).number(column, trained.query, place)
    starts = np.array([start for start, _ in runs(qid)], np.int64)
    return {
        "X": _completed(table, X, made, starts, trained.missing, "X"),
        "y": np.zeros(len(X), np.int32),
        "offsets": np.array([0, len(X)] if len(X) else [0], np.int64),
        "qids": np.zeros(min(len(X), 1), np.int64),
        "feature_names": made.names,
    }


def _completed(
    table: Any, X: NDArray[np.float32], made: Derived, starts: NDArray[np.int64], missing: Missing, where: str
) -> NDArray[np.float32]:
    """The plain features of a table with those that are made."""
    if made.values:
        encoded, others = derived.encoded(table, made.values, where)
        X = np.hstack([X, encoded])
        if others:
            _LOG.info(f"{where}: {derived.unknown(others, made.values)}")
    return derived.completed(X, starts, missing, made.marked)


def arrow_table(frame: Any, where: str = "frame") -> pa.Table:
    """A data frame of pandas, polars or any library that offers Arrow's interface, as a table of Arrow.

    Messages call it ``where``.
    """
    import pyarrow as pa

    try:
        if type(frame).__module__.partition(".")[0] == "pandas" and hasattr(frame, "columns"):
            return pa.Table.from_pandas(frame, preserve_index=False)
        if isinstance(frame, pa.Table) or hasattr(frame, "__arrow_c_stream__"):
            return pa.table(frame)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, ValueError, TypeError) as error:
        raise DataError(f"{where}: expected columns of numbers, and queries of numbers or text ({error})") from error
    raise ArgumentError(f"{where}: expected a data frame of pandas or polars, found {checks.shown(frame)}")


def runs(values: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Where the runs of equal values begin and end."""
    if len(values):
        ends = np.flatnonzero(np.r_[values[1:] != values[:-1], True]) + 1
        yield from zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)
