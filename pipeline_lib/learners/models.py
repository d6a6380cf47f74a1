"""What kinds of models are there, and how are they read back from JSON?

Every kind is a :class:`~pipeline_lib.learners.ranker.Model`. :func:`from_dict` reads any of them back exactly (JSON
writes every float64 such that it is read back unchanged), and :func:`load` reads a file.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks, seeds, storage
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Natural, Positive, SeedAxes, checked
from pipeline_lib.core.compiled import njit
from pipeline_lib.core.errors import (
    ArgumentError,
    ConfigurationError,
    DataError,
    UnlearnableError,
    UnsignedFileError,
    hint,
)
from pipeline_lib.core.files import is_made_by_runs
from pipeline_lib.data.ranking_data import RankingData, Standardisation
from pipeline_lib.learners.kernel import RandomFourier
from pipeline_lib.learners.ranker import Model, Result, Trained


@checked
@dataclass(frozen=True, eq=False, repr=False)
class LinearModel(Model):
    """Scores <w, (x - mean) / scale>; the standardisation of its training is part of the model.

    Attributes
    ----------
    w, mean, scale : float64, shape (d,)
    feature_names : tuple of str or None

    Example
    -------
    >>> data = RankingData.from_arrays([[1.0, 2.0], [3.0, 6.0]], [0, 1], [1, 1])
    >>> LinearModel.of([1.0, -1.0], mean=[2.0, 4.0], scale=[1.0, 2.0]).predict(data)
    array([0., 0.])
    """

    kind: ClassVar[str] = "linear"
    w: Floats
    mean: Floats
    scale: Floats

    def __post_init__(self) -> None:
        if self.w.ndim != 1:
            raise DataError(f"w: expected one weight for each feature, found shape {self.w.shape}")
        super().__post_init__()

    @property
    def n_features(self) -> int:
        """d."""
        return len(self.w)

    @classmethod
    def of(
        cls,
        w: ArrayLike,
        mean: ArrayLike | None = None,
        scale: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> "LinearModel":
        """A model from array-likes; without mean and scale, of the features as they are.

        Raises
        ------
        DataError
            When shapes differ, a number is not finite or a scale is not positive.
        """
        weights = checks.floats("w", w, ndim=1)
        shift = np.zeros_like(weights) if mean is None else checks.floats("mean", mean, shape=weights.shape)
        unit = np.ones_like(weights) if scale is None else checks.floats("scale", scale, shape=weights.shape)
        if not (unit > 0.0).all():
            raise DataError(f"scale: expected numbers > 0, found {unit.min():g}")
        return cls(weights, shift, unit, feature_names=_names(feature_names))

    def _scores(self, data: RankingData) -> Floats:
        # Every document's sum is taken in the same order, so that equal documents have equal scores wherever they
        # stand (a matrix product does not promise that, and would break ties by rounding).
        weights = self.w / self.scale
        scores = np.concatenate([np.einsum("ij,j->i", X, weights) for _, X in data.blocks()])
        return scores - np.einsum("j,j->", self.mean, weights)


@checked
@dataclass(frozen=True, eq=False, repr=False)
class RandomFourierModel(Model):
    """Scores <w, z((x - mean) / scale)> with random features z of a kernel, whose bandwidth and seed are stored.

    Attributes
    ----------
    w : float64, shape (D,)
    mean, scale : float64, shape (d,)
    bandwidth : float
    seed : tuple of axes
    feature_names : tuple of str or None

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 1])
    >>> model = RandomFourierModel.of(np.ones(3), np.zeros(1), np.ones(1), 1.0, (5,))
    >>> again = from_dict(model.to_dict())
    >>> bool((again.predict(data) == model.predict(data)).all())
    True
    """

    kind: ClassVar[str] = "random-fourier"
    w: Floats
    mean: Floats
    scale: Floats
    bandwidth: Positive
    seed: SeedAxes

    def __post_init__(self) -> None:
        if self.mean.ndim != 1:
            raise DataError(f"mean: expected one number for each feature, found shape {self.mean.shape}")
        super().__post_init__()

    @property
    def n_features(self) -> int:
        """d."""
        return len(self.mean)

    @classmethod
    def of(
        cls,
        w: ArrayLike,
        mean: ArrayLike,
        scale: ArrayLike,
        bandwidth: Positive,
        seed: SeedAxes,
        feature_names: Sequence[str] | None = None,
    ) -> "RandomFourierModel":
        """A model from array-likes.

        Raises
        ------
        DataError
            When shapes differ, a number is not finite, or a scale or the bandwidth is not positive.
        """
        weights, shift = checks.floats("w", w, ndim=1), checks.floats("mean", mean, ndim=1)
        linear = LinearModel.of(np.zeros_like(shift), shift, scale)
        return cls(weights, linear.mean, linear.scale, float(bandwidth), seed, feature_names=_names(feature_names))

    def _scores(self, data: RankingData) -> Floats:
        # In blocks: the random features are never all in memory.
        inside = Standardisation(self.mean, self.scale).apply(data)
        random = RandomFourier(self.n_features, len(self.w), self.bandwidth, self.seed)
        scores = np.empty(data.n_documents)
        for begin, block in random.blocks(inside.X):
            # As in LinearModel: every document's sum in the same order.
            scores[begin : begin + len(block)] = np.einsum("ij,j->i", block, self.w)
        return scores


@checked
@dataclass(frozen=True)
class RandomModel(Model):
    """Scores uniform on [0, 1), always the same for the same seed and the same queries.

    The generator is seeded by the model's seed and a digest of the queries' names and list lengths.

    Example
    -------
    >>> data = RankingData.from_arrays(np.zeros((3, 1)), [0, 1, 0], [4, 4, 5])
    >>> model = RandomModel((1, "random"))
    >>> bool((model.predict(data) == model.predict(data)).all())
    True
    """

    kind: ClassVar[str] = "random"
    seed: SeedAxes

    def _scores(self, data: RankingData) -> Floats:
        digest = hashlib.sha256(data.qids.astype("<i8").tobytes() + data.offsets.astype("<i8").tobytes()).hexdigest()
        return seeds.generator(*self.seed, "random-ranker", digest).random(data.n_documents)


@checked
@dataclass(frozen=True)
class IdealModel(Model):
    """Scores every document by its label, which gives the best possible ranking. It needs a RankingData with labels.

    Example
    -------
    >>> IdealModel().predict(RankingData.from_arrays([[0.0], [0.0]], [0, 2], [1, 1]))
    array([0., 2.])
    """

    kind: ClassVar[str] = "ideal"
    needs_labels: ClassVar[bool] = True

    def predict(self, X: RankingData | ArrayLike) -> Floats:
        """The labels.

        Raises
        ------
        ArgumentError
            When X is no RankingData: a matrix has no labels.
        """
        if not isinstance(X, RankingData):
            raise ArgumentError(f"X: the ideal order needs labels: expected RankingData, found {checks.shown(X)}")
        return super().predict(X)

    def _scores(self, data: RankingData) -> Floats:
        return data.y.astype(np.float64)


@checked
@dataclass(frozen=True, eq=False, repr=False)
class TreesModel(Model):
    """Scores that are sums of the leaves that a document reaches in T trees.

    The nodes of all trees are numbered together. At an inner node n, a document with x_k <= theta, k = features[n] and
    theta = thresholds[n], goes to lower[n], others to upper[n], both larger than n. A leaf has features[n] = -1.

    Attributes
    ----------
    roots : int64, shape (T,)
    features, lower, upper : int64, shape (n,)
    thresholds, values : float64, shape (n,)
    n_features : int
    feature_names : tuple of str or None

    Example
    -------
    >>> model = TreesModel.of([0], [0, -1, -1], [1.5, 0, 0], [1, 0, 0], [2, 0, 0], [0, -1.0, 2.0], n_features=1)
    >>> model.predict([[1.5], [1.6]])
    array([-1.,  2.])
    """

    kind: ClassVar[str] = "trees"
    roots: NDArray[np.int64]
    features: NDArray[np.int64]
    thresholds: Floats
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    values: Floats
    n_features: Natural

    @classmethod
    def of(
        cls,
        roots: ArrayLike,
        features: ArrayLike,
        thresholds: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        values: ArrayLike,
        n_features: Natural,
        feature_names: Sequence[str] | None = None,
    ) -> "TreesModel":
        """A model from array-likes.

        Raises
        ------
        DataError
            When shapes differ, a number is not finite, or a feature or a node does not exist or leads back.
        """
        which = checks.whole_numbers("features", features, -1, n_features - 1)
        last = len(which) - 1
        theta = checks.floats("thresholds", thresholds, shape=which.shape)
        leaves = checks.floats("values", values, shape=which.shape)
        first = checks.whole_numbers("roots", roots, 0, last)
        below = checks.whole_numbers("lower", lower, 0, max(last, 0))
        above = checks.whole_numbers("upper", upper, 0, max(last, 0))
        inner = which >= 0
        for name, nodes in (("lower", below), ("upper", above)):
            if nodes.shape != which.shape or (nodes[inner] <= np.flatnonzero(inner)).any():
                raise DataError(f"{name}: expected a later node for every inner node")
        return cls(first, which, theta, below, above, leaves, n_features, feature_names=_names(feature_names))

    @checked
    def first(self, trees: Count) -> "TreesModel":
        """The model of the first ``trees`` trees.

        Example
        -------
        >>> model = TreesModel.of([0, 1], [-1, -1], [0, 0], [0, 0], [0, 0], [1.0, 2.0], n_features=1)
        >>> model.predict([[0.0]]), model.first(1).predict([[0.0]])
        (array([3.]), array([1.]))
        """
        end = int(self.roots[trees]) if trees < len(self.roots) else len(self.features)
        parts = ("features", "thresholds", "lower", "upper", "values")
        return replace(self, roots=self.roots[:trees], **{name: getattr(self, name)[:end] for name in parts})

    def _scores(self, data: RankingData) -> Floats:
        return self.sums(data)[:, -1] if len(self.roots) else np.zeros(data.n_documents)

    @checked
    def sums(self, data: RankingData) -> Floats:
        """The scores after every tree, shape (N, T).

        Raises
        ------
        DataError
            When there are more or fewer features than in training.
        """
        if data.n_features != self.n_features:
            raise DataError(f"data: expected {self.n_features} features as in training, found {data.n_features}")
        return _sums(data.X64, self.roots, self.features, self.thresholds, self.lower, self.upper, self.values)


@njit
def _sums(X, roots, features, thresholds, lower, upper, values):  # type: ignore[no-untyped-def]
    sums = np.empty((len(X), len(roots)))
    for i in range(len(X)):
        total = 0.0
        for t in range(len(roots)):
            n = roots[t]
            while features[n] >= 0:
                n = lower[n] if X[i, features[n]] <= thresholds[n] else upper[n]
            total += values[n]
            sums[i, t] = total
    return sums


@dataclass(frozen=True, eq=False)
class LinearResult(Result):
    """What the function of a linear learner found, with the weights w, shape (d,), of its ranker."""

    w: Floats
    feature_names: tuple[str, ...] | None = field(default=None, kw_only=True)

    @property
    def model(self) -> LinearModel:
        """The ranker w."""
        return LinearModel.of(self.w, feature_names=self.feature_names)


@dataclass(frozen=True, eq=False)
class AveragedResult(LinearResult):
    """What an online learner found, whose ranker is the mean of its iterates.

    Attributes
    ----------
    w : float64, shape (d,)
        After the last round, w_(T+1).
    average : float64, shape (d,)
        (w_1 + ... + w_T) / T.
    losses : shape (T,)
        The loss of every round.
    """

    average: Floats
    losses: NDArray[Any]

    @property
    def model(self) -> LinearModel:
        """The ranker that is the mean of all iterates."""
        return LinearModel.of(self.average, feature_names=self.feature_names)


KINDS: Mapping[str, type[Model]] = {
    model.kind: model for model in (LinearModel, RandomFourierModel, TreesModel, RandomModel, IdealModel)
}


@checked
def from_dict(stored: Mapping[str, Any]) -> Model:
    """Read back what ``to_dict`` wrote.

    Raises
    ------
    ConfigurationError, DataError
        When the kind is unknown, or the fields are not that kind's or have no such values.

    Example
    -------
    >>> from_dict(RandomModel((7, "fold", 1)).to_dict())
    RandomModel(seed=(7, 'fold', 1))
    """
    if "kind" not in stored:
        raise ConfigurationError(f"stored: expected a model with its kind, found the keys {sorted(map(str, stored))}")
    kind = stored["kind"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise ConfigurationError(f"kind: unknown model {kind!r}; {hint(kind, sorted(KINDS))}")
    model: Any = KINDS[kind]
    parts, expected = {**stored}, {part.name for part in fields(model)} - {"feature_names"}
    if parts.keys() - {"feature_names"} != {"kind", *expected}:
        raise ConfigurationError(
            f"{kind} model: expected the fields {sorted(expected)}, found {sorted(parts.keys() - {'kind'})}"
        )
    del parts["kind"]
    if "seed" in parts:
        parts["seed"] = checks.seed("seed", tuple(checks.instance("seed", parts["seed"], list)))
    return getattr(model, "of", model)(**parts)


@checked
def load(path: str | os.PathLike[str]) -> Trained:
    """Read a ranker that ``save`` wrote, or a model that the workflow stored. Nothing in the file is executed.

    Raises
    ------
    DataError
        When there is no such file, or it holds no model; the message says what a file of another kind is.
    UnlearnableError
        When the file says why a run could not train the model.
    DamagedFileError
        When it does not have the checksum that it states, or states none where runs store models.

    Example
    -------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> LinearModel.of([1.0, -1.0]).save(path)
    >>> load(path).predict([[3.0, 1.0]])
    array([2.])
    """
    try:
        content = storage.read_json(path)
    except UnsignedFileError as error:
        if is_made_by_runs(Path(path)):
            raise
        raise DataError(f"{path}: {error.difference}") from error
    if "untrained" in content:
        raise UnlearnableError(f"{path}: {content.get('model')} could not be trained: {content['untrained']}")
    if not isinstance(content.get("trained"), Mapping):
        raise DataError(
            f"{path}: expected a trained model under the key 'trained', found another document that this project "
            f"stored, with the keys {', '.join(sorted(content)[:8])}"
        )
    try:
        model = from_dict(content["trained"])
    except (ConfigurationError, DataError) as error:
        raise DataError(f"{path}: {error}") from error
    about = {name: value for name, value in content.items() if name not in ("trained", "record")}
    return Trained(model, dict(content.get("record", {})), about)


def _names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(checks.texts("feature_names", names))
