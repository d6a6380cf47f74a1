"""What can every trained ranker do, whichever learner made it? It scores documents, and it is saved.

Three things are rankers: a :class:`Model`, which is nothing but the map from documents to scores; a :class:`Trained`,
which is a model with the record of its training, as ``learners.create(...).fit(data)`` and ``learners.load`` give it;
and a :class:`Result`, which is what a learner's own function (``erm.fit``, ``perceptron.run``, ...) found. All have
``predict(X)`` and ``save(path)``.

A saved ranker is one JSON document with a checksum (:mod:`pipeline_lib.core.storage`). It holds numbers and texts only,
so that reading it executes nothing. The workflow stores its models in the same form.
"""

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks, seeds, storage
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Seed, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.files import check_replaceable
from pipeline_lib.data.ranking_data import RankingData, dense, read_as_trained, single
from pipeline_lib.data.stored_data import Columns, Missing


def axes_of(seed: Seed) -> tuple[seeds.Axis, ...]:
    """The axes of a seed; a number is the only one.

    Example
    -------
    >>> axes_of(7), axes_of((7, "fold"))
    ((7,), (7, 'fold'))
    """
    return seed if isinstance(seed, tuple) else (seed,)


@dataclass(frozen=True, eq=False, repr=False)
class Model(ABC):
    """A map from documents to scores; larger scores come first.

    Attributes
    ----------
    kind : str
        By which :func:`pipeline_lib.learners.models.from_dict` knows its form.
    needs_labels : bool
        Whether scores depend on the labels of the documents, as those of the ideal order do.
    feature_names : tuple of str or None
        What the features were called in training, where that is known.
    """

    kind: ClassVar[str]
    needs_labels: ClassVar[bool] = False
    feature_names: tuple[str, ...] | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        names, expected = self.feature_names, self.n_inputs()
        if names is not None and len(names) != expected:
            raise DataError(f"feature_names: expected a name for each of {expected} features, found {len(names)}")

    def predict(self, X: RankingData | ArrayLike) -> Floats:
        """A score for every document, shape (N,).

        Parameters
        ----------
        X : RankingData, or shape (N, d)
            The documents; a matrix, which may be a sparse one of scipy, is rounded to single precision, in which
            features are stored, and counts as the documents of one query. Where the features of training have names,
            those columns of a data frame are taken, in whatever order and among whatever others they stand.

        Raises
        ------
        DataError
            When there are more or fewer features than in training, or other ones; or a feature is not finite.
        """
        data = documents(_of_training(dense(X), self.feature_names))
        _check_names(self.feature_names, data.feature_names)
        expected = self.n_inputs()
        if expected is not None and data.n_features != expected:
            raise DataError(
                f"X: the {self.kind} model was trained with {expected} features, found documents with {data.n_features}"
            )
        return self._scores(data)

    def __repr__(self) -> str:
        inputs = self.n_inputs()
        return f"{type(self).__name__}({'any features' if inputs is None else f'{inputs} features'})"

    def n_inputs(self) -> int | None:
        """The number of features that a document must have; None when it makes no difference."""
        return getattr(self, "n_features", None)

    @abstractmethod
    def _scores(self, data: RankingData) -> Floats:
        """The scores of documents whose features were compared with those of training."""

    def to_dict(self) -> dict[str, Any]:
        """All of the model in plain JSON types, with its ``kind``; the names of features where there are any."""
        of_class = [part.name for part in fields(self) if part.name != "feature_names"]
        values = {name: getattr(self, name) for name in (*of_class, "feature_names")}
        return {"kind": self.kind, **{name: _plain(value) for name, value in values.items() if value is not None}}

    @checked
    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the model to a file; see :meth:`Trained.save`."""
        Trained(self).save(path, force=force)


@dataclass(frozen=True)
class Trained:
    """A model and the record of its training.

    Attributes
    ----------
    model : Model
    record : dict
        How the model came about, in plain JSON types: its settings, what was tried and what was chosen.
    about : dict
        What else its file says: the learner and the settings given, and in the workflow the data set and the fold.
    """

    model: Model
    record: dict[str, Any] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        learner = self.about.get("algorithm", "no learner named")
        return f"Trained({learner}: a {self.model.kind} model, record of {', '.join(self.record) or 'nothing'})"

    def predict(self, X: RankingData | ArrayLike) -> Floats:
        """As :meth:`Model.predict`, with categories and missing values as in training.

        Columns of a data frame are encoded as in training (``one_hot``), so that a value that training did not have
        counts as none, and missing values are taken in the same way (``missing``). Their mean is that of a query where
        the frame has the column of the queries, and that of all documents otherwise. Of a matrix, whose features have
        no names, none can be encoded or marked.

        Raises
        ------
        DataError
            What :meth:`Model.predict` raises, and when a column of training is missing.
        """
        return self.model.predict(self._as_trained(X))

    def _as_trained(self, X: Any) -> Any:
        how = Columns.of("about: columns", self.about.get("columns"))
        if how is None or isinstance(X, RankingData) or self.model.needs_labels:
            return X
        expected = self.model.feature_names
        if expected is not None and names_of(X) is not None and (how.one_hot or how.missing != "refuse"):
            return read_as_trained(X, how, expected)
        if how.missing in ("zero", "mean"):
            return _one_query(single(X, how.missing), how.missing)
        return X

    @checked
    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the ranker to a file, which :func:`pipeline_lib.learners.load` reads.

        Raises
        ------
        StorageError
            When it cannot be written, or without ``force`` there is a file that this project did not store.
        """
        check_replaceable(path, storage.is_stored, force=force)
        storage.write_json(path, {**self.about, "trained": self.model.to_dict(), "record": self.record})


class Result(ABC):
    """What a learner's own function found: numbers about its way, and a model."""

    @property
    @abstractmethod
    def model(self) -> Model:
        """What was found, as a model."""

    def predict(self, X: RankingData | ArrayLike) -> Floats:
        """See :meth:`Model.predict`."""
        return self.model.predict(X)

    @checked
    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the model to a file; see :meth:`Trained.save`."""
        self.model.save(path, force=force)


@checked
def documents(X: RankingData | ArrayLike) -> RankingData:
    """The documents as they are, or those of a matrix (N, d) as one query without labels.

    Raises
    ------
    DataError
        When X is not a matrix of finite numbers.

    Example
    -------
    >>> documents([[0.0, 1.0], [1.0, 2.0]])
    RankingData(1 query, 2 documents, 2 features, labels 0..0)
    """
    if isinstance(X, RankingData):
        return X
    return _one_query(checks.array("X", X, ndim=2))


def _one_query(X: NDArray[Any], missing: Missing = "refuse") -> RankingData:
    # By rows: sums over features would be taken in another order where features lie column by column.
    nothing = np.zeros(len(X), np.int64)
    return RankingData.from_arrays(np.ascontiguousarray(X), nothing, nothing, missing=missing)


def names_of(X: Any) -> tuple[str, ...] | None:
    """What the features of documents are called; None where they have no names.

    Example
    -------
    >>> import polars as pl
    >>> names_of(pl.DataFrame({"bm25": [0.5], "length": [3]})), names_of(np.zeros((1, 2)))
    (('bm25', 'length'), None)
    """
    if isinstance(X, RankingData):
        return getattr(X, "feature_names", None)
    columns = getattr(X, "columns", None)
    try:
        names = None if columns is None else tuple(columns)
    except TypeError:
        return None
    return names if names and all(isinstance(name, str) for name in names) else None


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


@checked
def trained_with(data: RankingData) -> dict[str, Any]:
    """What a ranker says of the file that it was trained on: how it was read, under ``columns``.

    Example
    -------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"session": ["a"], "stars": [2], "bm25": [0.5]})
    >>> list(trained_with(RankingData.from_frame(frame, label="stars", query="session"))["columns"].items())[:3]
    [('label', 'stars'), ('query', 'session'), ('ignore', ())]
    """
    return {} if data.columns is None else {"columns": data.columns.plain()}


def _of_training(X: Any, expected: tuple[str, ...] | None) -> Any:
    """Of a data frame the features of training; anything else as it is."""
    found = None if isinstance(X, RankingData) else names_of(X)
    if expected is None or found is None:
        return X
    checks.features_of_training("X", expected, found)
    return X if found == expected else X[list(expected)]


def _check_names(expected: tuple[str, ...] | None, found: tuple[str, ...] | None) -> None:
    if expected is None or found is None or expected == found:
        return
    checks.features_of_training("X", expected, found)
    if more := sorted(set(found) - set(expected)):
        raise DataError(f"X: expected the features of training alone, found {more[0]!r} as well")
    place = next(k for k, names in enumerate(zip(expected, found, strict=True)) if names[0] != names[1])
    raise DataError(
        f"X: feature {place + 1}: expected {expected[place]!r} as in training, found {found[place]!r}; bring the "
        "columns into that order"
    )
