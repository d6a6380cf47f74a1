"""What is a learning-to-rank data set in memory?

One type, :class:`RankingData`, is used by every part of the project: all documents below each other, the documents of
a query contiguous, and the offsets where each query begins. :mod:`pipeline_lib.data.stored_data` stores it.
"""

import importlib
import logging
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks, seeds, storage
from pipeline_lib.core.checks import Count, checked
from pipeline_lib.core.errors import ArgumentError, DataError
from pipeline_lib.core.files import check_replaceable
from pipeline_lib.core.markup import count, listed
from pipeline_lib.core.seeds import Role
from pipeline_lib.data import query_blocks, stored_data
from pipeline_lib.data.labels import PolicyOrNone
from pipeline_lib.ranking import Convention

_LOG = logging.getLogger(__name__)

# So many documents are standardised at a time.
ROWS_AT_ONCE = 4096
LARGEST_DENSE = 4 * 2**30
"""Bytes that a sparse matrix may take when its zeros are filled in."""


@dataclass(frozen=True, eq=False)
class RankingData:
    """Queries, their documents' features and labels; immutable.

    Attributes
    ----------
    X : float32 array, shape (N, d), read-only
        Features, a row a document; the documents of a query are contiguous.
    y : int32 array, shape (N,), read-only
        Graded labels in 0..255; larger is more relevant.
    offsets : int64 array, shape (Q + 1,), read-only
        Query q owns the rows ``offsets[q]:offsets[q + 1]``; every query has at least one document.
    qids : int64 array, shape (Q,), read-only
        The queries' names as the source gives them; where these are text, numbers in their stead.
    feature_names : tuple of d str, optional
        The features' names, if they have any.
    query_names : tuple of Q str, optional
        The queries' names where these are text.
    columns : Columns, optional
        Of which columns of a table labels and queries were read, and which were left out.
    ties : "mean" or "file"
        What measures are where scores are equal: means over all orders of these documents, so that the order of the
        rows decides nothing, or by the order of the rows, as in the evaluation of LETOR and in the papers.
    relevant_from : int
        The smallest label of a relevant document, for measures that ask for nothing else of a label, such as MAP.
    weights : float64 array, shape (Q,), read-only, optional
        Numbers above 0, one for each query: a query of weight c counts like c copies of it, in training and in means.
    role : str, optional
        What the queries were drawn for, where that was said (:data:`pipeline_lib.core.seeds.Role`).

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0], [0.5]], [0, 2, 1], [7, 7, 8])
    >>> data
    RankingData(2 queries, 3 documents, 1 feature, labels 0..2)
    """

    X: NDArray[np.float32]
    y: NDArray[np.int32]
    offsets: NDArray[np.int64]
    qids: NDArray[np.int64]
    feature_names: tuple[str, ...] | None = None
    query_names: tuple[str, ...] | None = None
    columns: stored_data.Columns | None = None
    ties: Convention = "mean"
    relevant_from: int = 1
    weights: NDArray[np.float64] | None = None
    role: Role | None = None

    def __post_init__(self) -> None:
        # The types must be right already: the arrays are kept as they are, so that nothing is copied.
        for name, wanted in (("X", np.float32), ("y", np.int32), ("offsets", np.int64), ("qids", np.int64)):
            found = getattr(self, name)
            if type(found) not in (np.ndarray, np.memmap) or found.dtype != wanted:
                raise ArgumentError(
                    f"{name}: expected an array of {wanted.__name__}, found {checks.shown(found)}; use "
                    "RankingData.from_arrays"
                )
        checks.array("X", self.X, ndim=2)
        checks.labels("y", self.y)
        checks.array("qids", self.qids, ndim=1)
        checks.one_of("ties", self.ties, get_args(Convention))
        checks.whole("relevant_from", self.relevant_from, checks.Range(1, checks.MAX_LABEL))
        if len(self.X) != len(self.y):
            raise DataError(f"y: expected one label for each of {len(self.X)} rows of X, found {len(self.y)}")
        checks.offsets("offsets", self.offsets, len(self.y))
        if len(self.qids) != len(self.offsets) - 1:
            raise DataError(
                f"qids: expected one name for each of {len(self.offsets) - 1} queries, found {len(self.qids)}"
            )
        if self.weights is not None:
            object.__setattr__(self, "weights", np.array(_weights(self.weights, self.qids)))
        for name in ("X", "y", "offsets", "qids", *(["weights"] if self.weights is not None else [])):
            # Without gaps, or numba would compile every kernel once more. Features may lie column by column: products
            # with them then add up in another order, and what is measured so stays the same to the last bit.
            array = getattr(self, name)
            if not array.flags.forc:
                array = np.ascontiguousarray(array)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        for name, length in (("feature_names", self.n_features), ("query_names", self.n_queries)):
            object.__setattr__(self, name, _names(name, getattr(self, name), length))

    def __repr__(self) -> str:
        labels = f"labels {self.y.min()}..{self.y.max()}" if self.n_documents else "no labels"
        weights = "" if self.weights is None else ", weights of queries"
        return (
            f"RankingData({count(self.n_queries, 'query', 'queries')}, {count(self.n_documents, 'document')}, "
            f"{count(self.n_features, 'feature')}, {labels}{weights})"
        )

    def __len__(self) -> int:
        return self.n_queries

    @property
    def n_queries(self) -> int:
        """Number of queries, Q."""
        return len(self.qids)

    @property
    def n_documents(self) -> int:
        """Number of documents of all queries together, N."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Number of features of a document, d."""
        return self.X.shape[1]

    @cached_property
    def documents_per_query(self) -> NDArray[np.int64]:
        """Number of documents of every query, shape (Q,), read-only."""
        sizes = np.diff(self.offsets)
        sizes.flags.writeable = False
        return sizes

    @property
    def count_alike(self) -> bool:
        """Whether all queries count alike: they have no weights, or equal ones."""
        return self.weights is None or bool(np.all(self.weights == self.weights[:1]))

    @cached_property
    def X64(self) -> NDArray[np.float64]:
        """The features in double precision, in which all optimisation runs; made once, on first use."""
        wide = self.X.astype(np.float64)
        wide.flags.writeable = False
        return wide

    @property
    def judging(self) -> stored_data.Judging:
        """How rankings of the documents are judged: what :func:`pipeline_lib.metrics.per_query` must be told.

        Example
        -------
        >>> data = RankingData.from_arrays([[0.0], [0.0]], [1, 0], [7, 7])
        >>> data.judging._asdict()
        {'ties': 'mean', 'relevant_from': 1}
        """
        return stored_data.Judging(self.ties, self.relevant_from)

    def blocks(self) -> Iterator[tuple[query_blocks.Block, NDArray[np.float64]]]:
        """The queries in blocks, each with its features in double precision: one block, X64, where they are not large.

        Example
        -------
        >>> data = RankingData.from_arrays([[0.0], [1.0], [2.0]], [0, 1, 0], [1, 1, 2])
        >>> [(block.rows, X.shape) for block, X in data.blocks()]
        [(slice(0, 3, None), (3, 1))]
        """
        is_large = query_blocks.is_large(self.n_documents, self.n_features)
        for block in query_blocks.of(self.offsets, self.n_features):
            yield block, self.X[block.rows].astype(np.float64) if is_large else self.X64

    @classmethod
    def from_arrays(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike,
        *,
        feature_names: Sequence[str] | None = None,
        weight: ArrayLike | None = None,
        missing: stored_data.Missing = "refuse",
    ) -> Self:
        """Build a data set from a feature matrix, labels and one query name per document.

        Parameters
        ----------
        X : array-like or sparse matrix of scipy, shape (N, d)
            Finite features; stored as float32, a sparse matrix with all its zeros, which take 4 N d bytes.
        y : array-like, shape (N,)
            Whole numbers in 0..255.
        qid : array-like, shape (N,)
            Whole numbers or texts; equal ones must stand together.
        feature_names : sequence of d str, optional
        weight : array-like, shape (N,), optional
            For every document the weight of its query, a number above 0 that all documents of the query share.
        missing : {"refuse", "zero", "mean", "flag"}
            Missing values (NaN, also a stored one of a sparse matrix, and None) are an error, 0, or the mean of the
            other documents of the query, and 0 where none has a value. ``flag`` takes this mean, and adds a feature
            (``bm25 missing``) that is 1 there for each one that lacks values; it needs ``feature_names``.

        Raises
        ------
        DataError
            When shapes differ, a value is not finite, a label is negative or not whole, the documents of a query
            are not contiguous, or they have several weights. The message names the first offending row.
            Also when features without names are to be marked, and when a sparse matrix would take more than 4 GB.

        Example
        -------
        >>> RankingData.from_arrays([[0.], [1.], [2.]], [0, 1, 0], [1, 1, 2], weight=[3.0, 3.0, 1.0]).weights
        array([3., 1.])
        >>> RankingData.from_arrays([[1.0], [np.nan]], [0, 1], [1, 1], missing="mean").X.tolist()
        [[1.0], [1.0]]
        >>> RankingData.from_arrays([[0.], [1.], [2.]], [0, 1, 0], [1, 2, 1])
        Traceback (most recent call last):
        ...
        pipeline_lib.core.errors.DataError: qid: row 2: query 1 appears again after other queries; sort the \
rows by query
        """
        checks.one_of("missing", missing, get_args(stored_data.Missing))
        features = single(X, missing)
        labels, names = checks.labels("y", y), _query_names(qid)
        if not len(features) == len(labels) == len(names):
            raise DataError(
                f"X, y and qid: expected one row per document in each, found {len(features)}, "
                f"{len(labels)} and {len(names)}"
            )
        starts = np.flatnonzero(np.r_[True, names[1:] != names[:-1]]) if len(names) else np.zeros(0, np.int64)
        first = np.unique(names[starts], return_index=True)[1]
        if len(first) < len(starts):
            row = starts[np.setdiff1d(np.arange(len(starts)), first)[0]]
            raise DataError(
                f"qid: row {row}: query {names[row]} appears again after other queries; sort the rows by query"
            )
        offsets = np.r_[starts, len(names)].astype(np.int64)
        begun = names[starts]
        texts = None if begun.dtype.kind == "i" else tuple(map(str, begun))
        numbers = begun if texts is None else np.arange(len(begun))
        of_queries = None if weight is None else _weights_of_queries(weight, offsets, begun)
        called = _names("feature_names", feature_names)
        columns = None
        if missing != "refuse":
            features, called = _by_name("data.derived").completed_arrays(features, called, starts, missing)
            columns = stored_data.Columns(missing=missing)
        return cls(features, np.array(labels), offsets, numbers, called, texts, columns, weights=of_queries)

    @classmethod
    def from_groups(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        groups: ArrayLike,
        *,
        feature_names: Sequence[str] | None = None,
        missing: stored_data.Missing = "refuse",
    ) -> Self:
        """Build a data set from a feature matrix, labels and the number of documents of every query.

        LightGBM and XGBoost describe queries so. The queries are numbered from 0.

        Parameters
        ----------
        X, y, feature_names, missing
            As in :meth:`from_arrays`.
        groups : array-like, shape (Q,)
            Whole numbers of at least 1, which add up to N.

        Raises
        ------
        DataError
            What :meth:`from_arrays` raises, and when the groups do not add up to the documents.

        Example
        -------
        >>> RankingData.from_groups([[0.], [1.], [2.]], [0, 1, 0], [1, 2]).offsets
        array([0, 1, 3])
        """
        sizes = checks.whole_numbers("groups", groups, 1)
        checks.one_of("missing", missing, get_args(stored_data.Missing))
        features = single(X, missing)
        if sizes.sum() != len(features):
            raise DataError(
                f"groups: expected sizes that add up to the {len(features):,} rows of X, found a sum of {sizes.sum():,}"
            )
        queries = np.repeat(np.arange(len(sizes)), sizes)
        return cls.from_arrays(features, y, queries, feature_names=feature_names, missing=missing)

    @classmethod
    @checked
    def from_frame(
        cls,
        frame: Any,
        *,
        label: str | None = None,
        query: str | None = None,
        ignore: Sequence[str] = (),
        weight: str | None = None,
        one_hot: Sequence[str] = (),
        missing: stored_data.Missing = "refuse",
    ) -> Self:
        """Build a data set from a data frame of pandas or polars, or from a table of Arrow.

        Parameters
        ----------
        frame : data frame
            A row a document; the documents of a query stand together.
        label : str, optional
            The column of labels, whole numbers in 0..255; by default the one named label, relevance, rel, grade or y.
        query : str, optional
            The column of queries, whole numbers or text; by default the one named qid, query_id, query or topic.
        ignore : sequence of str
            Columns that are no features. All others are, and keep their names.
        weight : str, optional
            The column of the queries' weights, numbers above 0 that all documents of a query share.
        one_hot : sequence of str
            Columns of categories: texts, or numbers, truth values and dates by their texts, of at most 1,000 different
            values. For each value there is a feature (``brand = acme``) that is 1 for documents with this value and 0
            for all others; these features stand after the other columns, sorted by value. A document without a value
            (null, NaN, an empty text or one such as ``NA``) has 0 in all.
        missing : {"refuse", "zero", "mean", "flag"}
            Missing values of features (null and NaN): see :meth:`from_arrays`. Marks are the last features.

        Raises
        ------
        DataError
            When a column is missing, a value is not a finite number, a label is not whole or out of range, the
            documents of a query do not stand together, or they have several weights. The message names the row,
            counted from 0, and the column. Also when a column is to be encoded that has too many values or another
            role, or the name of a feature that is made is that of a column.

        Example
        -------
        >>> import polars as pl
        >>> frame = pl.DataFrame({"query": ["a", "a", "b"], "label": [0, 2, 1], "bm25": [0.5, 1.5, 1.0]})
        >>> data = RankingData.from_frame(frame)
        >>> data.feature_names, data.query_names, data.y.tolist()
        (('bm25',), ('a', 'b'), [0, 2, 1])
        >>> frame = frame.with_columns(brand=pl.Series(["acme", None, "zeta"]))
        >>> RankingData.from_frame(frame, one_hot=["brand"]).feature_names
        ('bm25', 'brand = acme', 'brand = zeta')
        """
        return cls(**_by_name("data.columns").fields(frame, label, query, ignore, weight, one_hot, missing))

    @classmethod
    @checked
    def from_letor(
        cls,
        path: str | os.PathLike[str],
        *,
        labels: PolicyOrNone = "whole",
        extreme: stored_data.Extreme = "refuse",
        missing: stored_data.TextMissing = "refuse",
        repeated_features: stored_data.Repeated = "refuse",
    ) -> Self:
        """Read a file of LETOR (SVMlight) text: ``label qid:Q id:value id:value ... # comment``.

        Beside what :func:`pipeline_lib.sources.letor.read` takes, queries may be named by text, labels may be written
        ``1.0``, features may count from 0, the text may be compressed (gzip, bzip2, Zstandard), and the queries may
        stand in a file of group sizes next to it, ``NAME.query`` or ``NAME.group``, as LightGBM and XGBoost have them.
        The names of features may stand next to it, too, in ``NAME.features.json`` or ``NAME.features.tsv``, and the
        weights of queries in ``NAME.weight``, one for each query or an equal one for each of its documents.
        ``labels="rounded"`` takes real labels, too, and rounds halves up, ``"doubled"`` takes halves and doubles all
        labels, ``"shifted"`` counts from -1 and adds 1, ``"lowered"`` counts from 1 and subtracts 1, and ``"clipped"``
        takes negative labels for 0; ``"ignored"``
        takes documents without labels, which then are 0. Of values beyond the range of float32, which are errors,
        ``extreme="clip"`` takes the nearest that float32 can hold, and ``"missing"`` none. For values that are missing,
        such as ``nan``, ``missing="zero"`` takes 0 and ``"mean"`` the mean of the other documents of the query. Of a
        feature that stands several times in a line, ``repeated_features="last"`` takes the last value.

        Raises
        ------
        DataError
            ``file:line: expected ..., found ...`` when the text breaks the format, one line for each problem.

        Example
        -------
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "some.txt"
        >>> _ = path.write_text("2.0 qid:cats 1:0.5\\n0.0 qid:dogs 2:1\\n")
        >>> data = RankingData.from_letor(path); data.y.tolist(), data.query_names
        ([2, 0], ('cats', 'dogs'))
        """
        return _by_name("sources.readers").read(path, labels, extreme, missing, repeated_features)

    def to_pandas(self) -> Any:
        """The documents as a data frame of pandas: columns ``qid`` and ``label``, and one for each feature.

        A column ``weight`` follows ``label`` where queries have weights. Features without names are called ``1``,
        ``2``, ... as in LETOR text. :meth:`from_frame` reads the frame; if there are weights, with ``weight="weight"``.

        Raises
        ------
        DataError
            When a feature is called like another of these columns, or like one that holds the ids of documents.

        Example
        -------
        >>> RankingData.from_arrays([[0.5], [1.0]], [0, 2], ["a", "a"], feature_names=["bm25"]).to_pandas()
          qid  label  bm25
        0   a      0   0.5
        1   a      2   1.0
        """
        import pandas as pd

        names = self.feature_names or tuple(str(number) for number in range(1, self.n_features + 1))
        others = ["qid", "label", *(["weight"] if self.weights is not None else [])]
        if taken := set(others) & set(names):
            raise DataError(f"feature_names: expected other names than {listed(others)}, found {sorted(taken)[0]!r}")
        if ids := [name for name in names if name.lower() in _by_name("data.columns").DOCUMENTS]:
            raise DataError(
                f"feature_names: expected other names than those of ids, found {ids[0]!r}, which from_frame would take "
                "for the ids of documents; rename it"
            )
        queries = self.qids if self.query_names is None else np.array(self.query_names, dtype=object)
        frame = pd.DataFrame(self.X, columns=list(names))
        frame.insert(0, "qid", np.repeat(queries, self.documents_per_query))
        frame.insert(1, "label", self.y)
        if self.weights is not None:
            frame.insert(2, "weight", np.repeat(self.weights, self.documents_per_query))
        return frame

    def take(self, indices: ArrayLike) -> Self:
        """Take queries by index, in the order given (an index may occur more than once).

        Raises
        ------
        DataError
            When an index is outside 0..Q-1.

        Example
        -------
        >>> data = RankingData.from_arrays([[0.], [1.], [2.]], [0, 1, 2], [5, 6, 6])
        >>> data.take([1]).y
        array([1, 2], dtype=int32)
        """
        chosen = checks.query_indices("indices", np.atleast_1d(checks.array("indices", indices)), self.n_queries)
        offsets, rows = stored_data.rows_of(self.offsets, chosen)
        names = None if self.query_names is None else tuple(self.query_names[q] for q in chosen)
        weights = None if self.weights is None else self.weights[chosen]
        fields = {"X": self.X[rows], "y": self.y[rows], "offsets": offsets, "qids": self.qids[chosen]}
        return replace(self, **fields, query_names=names, weights=weights)  # type: ignore[arg-type]

    def in_role(self, *roles: Role) -> Self:
        """The data themselves, where they were drawn for one of the roles.

        Raises
        ------
        DataError
            When they were drawn for something else, or nobody said what for.

        Example
        -------
        >>> data = RankingData.from_arrays([[0.], [1.], [2.]], [0, 1, 2], [5, 6, 6])
        >>> data.divided(train=[0], test=[1])["train"].in_role("test")
        Traceback (most recent call last):
        ...
        pipeline_lib.core.errors.DataError: queries: expected to be drawn for test, found train
        """
        seeds.required("queries", self.role, *roles)
        return self

    def divided(self, **queries: ArrayLike) -> "dict[str, RankingData]":
        """Parts of the queries, by the role that each is for.

        Raises
        ------
        DataError
            When a query is in two parts, or an index is outside 0..Q-1.

        Example
        -------
        >>> data = RankingData.from_arrays([[0.], [1.], [2.]], [0, 1, 2], [5, 6, 6])
        >>> [(role, part.qids.tolist()) for role, part in data.divided(train=[1], test=[0]).items()]
        [('train', [6]), ('test', [5])]
        """
        used = np.concatenate([np.unique(np.asarray(part)) for part in queries.values()])
        if len(np.unique(used)) < len(used):
            raise DataError(f"{', '.join(queries)}: expected parts that share no query, found some that do")
        return {role: replace(self.take(part), role=role) for role, part in queries.items()}  # type: ignore[arg-type]

    def with_binary_labels(self) -> Self:
        """The same documents, labelled 1 where they are relevant and 0 elsewhere.

        Example
        -------
        >>> RankingData.from_arrays([[0.], [1.], [2.]], [0, 1, 2], [5, 6, 6]).with_binary_labels().y
        array([0, 1, 1], dtype=int32)
        """
        return replace(self, y=(self.y >= self.relevant_from).astype(np.int32), relevant_from=1)

    @checked
    def labels_for(self, *, binary: bool) -> NDArray[np.int32]:
        """The labels from which a loss or a measure is computed: 1 for relevant documents if it is ``binary``.

        Where documents are relevant from the label 1 on, they stay as they are: such a loss knows this itself.

        Example
        -------
        >>> stars = replace(RankingData.from_arrays([[0.], [1.], [2.]], [1, 3, 5], [6, 6, 6]), relevant_from=4)
        >>> stars.labels_for(binary=True).tolist(), stars.labels_for(binary=False).tolist()
        ([0, 0, 1], [1, 3, 5])
        """
        return self.with_binary_labels().y if binary and self.relevant_from > 1 else self.y

    @checked
    def subsample_documents(self, m: Count, rng: np.random.Generator) -> Self:
        """Keep at most ``m`` documents of every query, drawn without replacement, in their old order.

        Raises
        ------
        DataError
            When ``m`` is less than 1.

        Example
        -------
        >>> data = RankingData.from_arrays(np.zeros((5, 1)), [0, 1, 0, 1, 2], [1, 1, 1, 1, 2])
        >>> data.subsample_documents(2, np.random.default_rng(0)).documents_per_query
        array([2, 1])
        """
        query = np.repeat(np.arange(self.n_queries), self.documents_per_query)
        # The m smallest of i.i.d. uniform keys within a query are a uniform draw without replacement.
        order = np.lexsort((rng.random(self.n_documents), query))
        rank = np.arange(self.n_documents) - np.repeat(self.offsets[:-1], self.documents_per_query)
        rows = np.sort(order[rank < m])
        offsets = np.r_[0, np.cumsum(np.minimum(self.documents_per_query, m))].astype(np.int64)
        return replace(self, X=self.X[rows], y=self.y[rows], offsets=offsets)

    @checked
    def write_parquet(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the data set as Parquet: ``qid`` int64, ``label`` uint8, ``features`` FixedSizeList<float32>[d].

        Names of features stand in the footer, those of queries in a column ``query``, and weights of queries in a
        column ``weight``. The file appears under its name only when complete; it carries checksums
        (:mod:`pipeline_lib.core.storage`).

        Raises
        ------
        StorageError
            When it cannot be written, or without ``force`` there is a file that this project did not store.
        """
        check_replaceable(path, storage.is_stored, force=force)
        parts = [{"name": "all", "rows": self.n_documents, "queries": self.n_queries}]
        schema = stored_data.parquet_schema(
            self.n_features, named_queries=self.query_names is not None, weighted=self.weights is not None
        )
        query = np.repeat(np.arange(self.n_queries), self.documents_per_query)
        with stored_data.parquet_writer(path, schema) as writer:
            writer.add_key_value_metadata(
                stored_data.parquet_metadata(parts, {}, self.feature_names, columns=self.columns, judging=self.judging)
            )
            step = stored_data.rows_per_group(self.n_features)
            for start in range(0, self.n_documents, step):
                rows = slice(start, start + step)
                names = [self.query_names[q] for q in query[rows]] if self.query_names is not None else None
                block = (self.qids[query[rows]], self.y[rows], self.X[rows])
                weights = None if self.weights is None else self.weights[query[rows]]
                writer.write_table(stored_data.parquet_table(*block, schema, names, weights))

    @classmethod
    @checked
    def read_parquet(
        cls, path: str | os.PathLike[str], queries: ArrayLike | None = None, *, stored: bool = False
    ) -> Self:
        """Read a data set from Parquet, whole or only some queries (by index, in the order given).

        Only the row groups that hold the wanted queries are read. What the file says of its own checksum is checked;
        files of other programs, which say nothing, are taken as they are unless ``stored`` asks for a file of ours.

        Raises
        ------
        DataError
            When the file is not such a Parquet file, or an index is outside it.
        DamagedFileError
            When its bytes are not those that its checksums state, or it is ``stored`` and states none.
        """
        found, order = stored_data.read(path, queries, stored=stored)
        try:
            data = cls(*found)
        except DataError as error:
            raise DataError(f"{path}: {error}") from error
        return data if order is None else data.take(order)


@checked
@dataclass(frozen=True, eq=False)
class Standardisation:
    """The affine map of features x -> (x - mean) / scale, learned on one data set and applied to others.

    ``mean`` and ``scale`` are float64 arrays of shape (d,); a feature that is constant in training gets scale 1, so
    that it becomes 0 there and nothing is divided by zero.

    Example
    -------
    >>> data = RankingData.from_arrays([[0., 5.], [2., 5.]], [0, 1], [1, 1])
    >>> Standardisation.of(data).apply(data).X.tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def of(cls, data: RankingData) -> "Standardisation":
        """Learn mean and standard deviation (divisor N) of every feature over all documents of ``data``.

        Where queries have weights, their documents do.
        """
        if not data.n_documents:
            raise DataError("data: expected at least one document, found none")
        if data.weights is not None:
            mean, scale = _weighted_moments(data, data.weights)
            return cls(mean, np.where(_is_constant(data, scale), 1.0, scale))
        mean = data.X.mean(axis=0, dtype=np.float64)
        if query_blocks.is_large(data.n_documents, data.n_features):
            squares = query_blocks.total(((X - mean) ** 2).sum(axis=0) for _, X in data.blocks())
            scale = np.sqrt(squares / data.n_documents)
        else:
            scale = data.X.std(axis=0, dtype=np.float64)
        return cls(mean, np.where(_is_constant(data, scale), 1.0, scale))

    def apply(self, data: RankingData) -> RankingData:
        """Map the features of ``data``; labels and queries stay.

        Raises
        ------
        DataError
            When ``data`` has another number of features, or a result is beyond the range of float32.
        """
        if data.n_features != len(self.mean):
            raise DataError(f"data: expected {len(self.mean)} features, found {data.n_features}")
        X = np.empty_like(data.X)
        for start in range(0, len(X), ROWS_AT_ONCE):  # all at once, twice as many numbers would be in memory
            rows = slice(start, start + ROWS_AT_ONCE)
            try:
                with np.errstate(over="raise"):
                    X[rows] = (data.X[rows] - self.mean) / self.scale
            except FloatingPointError as error:
                raise DataError("data: expected features that float32 can hold when they are standardised") from error
        return replace(data, X=X)


def _weighted_moments(
    data: RankingData, weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of every feature over documents that have the weights of their queries."""
    rows = np.repeat(weights / weights.max(), data.documents_per_query)  # no sum of them overflows
    rows /= rows.sum()
    mean = query_blocks.total(rows[block.rows] @ X for block, X in data.blocks())
    return mean, np.sqrt(query_blocks.total(rows[block.rows] @ (X - mean) ** 2 for block, X in data.blocks()))


def _is_constant(data: RankingData, scale: NDArray[np.float64]) -> NDArray[np.bool_]:
    # Rounding leaves a tiny deviation in constant columns: anything below float32's resolution is constant.
    found: NDArray[np.bool_] = scale <= np.finfo(np.float32).eps * np.maximum(data.X.max(axis=0), -data.X.min(axis=0))
    return found


def _weights(given: Any, queries: NDArray[Any]) -> NDArray[np.float64]:
    """One weight above 0 for every query."""
    if not len(queries):
        return checks.floats("weights", given, shape=(0,))
    weights = checks.weights("weights", given, len(queries))
    if len(zero := np.flatnonzero(weights == 0.0)):
        raise DataError(
            f"weights: expected a number above 0 for query {queries[zero[0]]}, found 0; leave the query out if it is "
            "not to count"
        )
    return weights


def _weights_of_queries(given: ArrayLike, offsets: NDArray[np.int64], queries: NDArray[Any]) -> NDArray[np.float64]:
    """The weights of queries, from those of their documents."""
    rows = checks.floats("weight", given, shape=(int(offsets[-1]),))
    weights = rows[offsets[:-1]]
    if len(other := np.flatnonzero(rows != np.repeat(weights, np.diff(offsets)))):
        row = int(other[0])
        q = int(np.searchsorted(offsets, row, side="right")) - 1
        raise DataError(
            f"weight: row {row}: expected one weight for all documents of query {queries[q]}, found {rows[row]:g} "
            f"after {weights[q]:g}; weights are those of queries"
        )
    return _weights(weights, queries)


def _names(name: str, given: Any, count: int | None = None) -> tuple[str, ...] | None:
    """A list of names as a tuple, or None where there is none; a DataError when it is none or not of that length."""
    if given is None:
        return None
    names = tuple(checks.texts(name, given))
    if count is not None and len(names) != count:
        raise DataError(f"{name}: expected {count} names, found {len(names)}")
    return tuple(map(str, names))


def dense(X: Any) -> Any:
    """A sparse matrix of scipy with its zeros, in float32; anything else as it is.

    The memory that it then takes, 4 bytes a number, is logged before it is taken.

    Raises
    ------
    DataError
        When it would take more than :data:`LARGEST_DENSE` bytes.

    Example
    -------
    >>> import scipy.sparse
    >>> dense(scipy.sparse.csr_array([[0.0, 1.5]])).tolist(), dense([[1.0]])
    ([[0.0, 1.5]], [[1.0]])
    """
    if not (hasattr(X, "toarray") and hasattr(X, "nnz")):
        return X
    if (size := 4 * math.prod(X.shape)) > LARGEST_DENSE:
        raise DataError(
            f"X: expected a sparse matrix that takes at most {LARGEST_DENSE / 1e9:.0f} GB with its zeros, found one of "
            f"{X.shape[0]:,} rows and {X.shape[1]:,} columns, which takes {size / 1e9:,.1f} GB; choose columns first, "
            "or pass X.toarray() if that fits into memory"
        )
    _LOG.info(
        f"X: a sparse matrix of {X.shape[0]:,} rows and {X.shape[1]:,} columns with {X.nnz:,} values; with its zeros "
        f"it takes {size / 1e6:,.1f} MB"
    )
    with np.errstate(over="ignore"):
        return X.astype(np.float32).toarray()


def read_as_trained(frame: Any, trained: stored_data.Columns, features: Sequence[str]) -> RankingData:
    """The documents of a data frame without labels, as one query, read as those were with which a ranker was trained.

    The frame has the columns of training, of which its features are made, or all its ``features`` by their names.

    Raises
    ------
    DataError
        When a column of training is missing, or holds something else.

    Example
    -------
    >>> import polars as pl
    >>> trained = stored_data.Columns("label", "qid", one_hot=("brand",))
    >>> read_as_trained(pl.DataFrame({"brand": ["zeta", "acme"]}), trained, ["brand = acme", "brand = zeta"]).X.tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return RankingData(**_by_name("data.columns").fields_as_trained(frame, trained, features))


def single(X: Any, missing: stored_data.Missing) -> NDArray[np.float32]:
    """A matrix of features in float32, with NaN for what is missing unless that is refused; internal.

    Raises
    ------
    DataError
        When it is no matrix, or a number is not finite in float32.

    Example
    -------
    >>> single([[1.0, None]], "mean")
    array([[ 1., nan]], dtype=float32)
    """
    X = dense(X)
    absent = None
    if missing != "refuse":
        X, absent = _by_name("data.derived").without_missing(X)
    ways = "; missing='zero' takes 0 for it, and missing='mean' the mean of the query"
    with np.errstate(over="ignore"):  # what overflows becomes infinite and is refused as such
        features = np.array(checks.array("X", X, ndim=2, if_nan=ways), dtype=np.float32)
    checks.array("X (in float32)", features)
    if absent is not None:
        features[absent] = np.nan
    return features


def _query_names(qid: ArrayLike) -> NDArray[Any]:
    """The query of every document: whole numbers, or texts."""
    given = np.asarray(qid)
    listed = given.dtype == object and given.size and all(map(_is_text, given.flat))
    if given.ndim == 1 and (listed or given.dtype.kind == "U"):
        return given.astype(object)
    return checks.whole_numbers("qid", qid)


def _is_text(one: Any) -> bool:
    return isinstance(one, str) and one != ""


def _by_name(module: str) -> Any:
    """A module that no job on stored data uses: such jobs do not depend on how text and tables are read."""
    return importlib.import_module(f"pipeline_lib.{module}")
