"""What kinds of models are there, and how are they read back from JSON?

Every kind is a :class:`~pipeline_lib.learners.ranker.Model`. :func:`from_dict` reads any of them back exactly (JSON
writes every float64 such that it is read back unchanged), and :func:`load` reads a file.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib import checks, seeds, storage
from pipeline_lib.arrays import Floats
from pipeline_lib.checks import checked
from pipeline_lib.errors import ArgumentError, ConfigurationError, DataError, hint
from pipeline_lib.learners import trees
from pipeline_lib.learners.kernel import RandomFourier
from pipeline_lib.learners.ranker import Model, Trained
from pipeline_lib.ranking_data import RankingData, Standardisation


@checked
@dataclass(frozen=True, eq=False)
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
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.w.ndim != 1:
            raise DataError(f"w: expected one weight for each feature, found shape {self.w.shape}")
        _check_as_many(self.feature_names, len(self.w))

    @classmethod
    def of(
        cls,
        w: ArrayLike,
        mean: ArrayLike | None = None,
        scale: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> LinearModel:
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
        return cls(weights, shift, unit, _names(feature_names))

    def _scores(self, data: RankingData) -> Floats:
        # Every document's sum is taken in the same order, so that equal documents have equal scores wherever they
        # stand (a matrix product does not promise that, and would break ties by rounding).
        weights = self.w / self.scale
        scores = np.concatenate([np.einsum("ij,j->i", X, weights) for _, X in data.blocks()])
        return scores - np.einsum("j,j->", self.mean, weights)

    def to_dict(self) -> dict[str, Any]:
        """See :class:`Model`."""
        numbers = {"w": self.w.tolist(), "mean": self.mean.tolist(), "scale": self.scale.tolist()}
        return {"kind": self.kind, **numbers, **self._named()}

    def n_inputs(self) -> int:
        """See :class:`Model`."""
        return len(self.w)


@checked
@dataclass(frozen=True, eq=False)
class RandomFourierModel(Model):
    """Scores <w, z((x - mean) / scale)> with random features z of a kernel, whose parameters and seed are stored.

    Attributes
    ----------
    w : float64, shape (D,)
    mean, scale : float64, shape (d,)
    random : RandomFourier
    feature_names : tuple of str or None

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 1])
    >>> model = RandomFourierModel.of(np.ones(3), np.zeros(1), np.ones(1), RandomFourier(1, 3, 1.0, (5,)))
    >>> again = from_dict(model.to_dict())
    >>> bool((again.predict(data) == model.predict(data)).all())
    True
    """

    kind: ClassVar[str] = "random-fourier"
    w: Floats
    mean: Floats
    scale: Floats
    random: RandomFourier
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        _check_as_many(self.feature_names, self.random.n_features)

    @classmethod
    def of(
        cls,
        w: ArrayLike,
        mean: ArrayLike,
        scale: ArrayLike,
        random: RandomFourier,
        feature_names: Sequence[str] | None = None,
    ) -> RandomFourierModel:
        """A model from array-likes.

        Raises
        ------
        DataError
            When shapes differ, a number is not finite or a scale is not positive.
        """
        weights = checks.floats("w", w, shape=(random.components,))
        linear = LinearModel.of(np.zeros(random.n_features), mean, scale)
        return cls(weights, linear.mean, linear.scale, random, _names(feature_names))

    def _scores(self, data: RankingData) -> Floats:
        # In blocks: the random features are never all in memory.
        inside = Standardisation(self.mean, self.scale).apply(data)
        scores = np.empty(data.n_documents)
        for begin, block in self.random.blocks(inside.X):
            # As in LinearModel: every document's sum in the same order.
            scores[begin : begin + len(block)] = np.einsum("ij,j->i", block, self.w)
        return scores

    def to_dict(self) -> dict[str, Any]:
        """See :class:`Model`."""
        return {
            "kind": self.kind,
            "w": self.w.tolist(),
            "mean": self.mean.tolist(),
            "scale": self.scale.tolist(),
            "bandwidth": self.random.bandwidth,
            "seed": list(self.random.seed),
            **self._named(),
        }

    def n_inputs(self) -> int:
        """See :class:`Model`."""
        return self.random.n_features


@checked
@dataclass(frozen=True, eq=False)
class ThresholdModel(Model):
    """Scores sum_t alpha_t [x_k(t) > theta_t], the result of boosting.

    Attributes
    ----------
    features : int64, shape (T,), in 0..n_features - 1
    thresholds, alphas : float64, shape (T,)
    n_features : int
    feature_names : tuple of str or None

    Example
    -------
    >>> data = RankingData.from_arrays([[1.0], [3.0]], [0, 1], [1, 1])
    >>> ThresholdModel.of([0, 0], [2.0, 5.0], [0.5, 1.0], n_features=1).predict(data)
    array([0. , 0.5])
    """

    kind: ClassVar[str] = "thresholds"
    features: NDArray[np.int64]
    thresholds: Floats
    alphas: Floats
    n_features: int
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        _check_as_many(self.feature_names, self.n_features)

    @classmethod
    def of(
        cls,
        features: ArrayLike,
        thresholds: ArrayLike,
        alphas: ArrayLike,
        n_features: int,
        feature_names: Sequence[str] | None = None,
    ) -> ThresholdModel:
        """A model from array-likes.

        Raises
        ------
        DataError
            When shapes differ, a number is not finite or a feature does not exist.
        """
        which = checks.whole_numbers("features", features, 0, n_features - 1)
        theta = checks.floats("thresholds", thresholds, shape=which.shape)
        alpha = checks.floats("alphas", alphas, shape=which.shape)
        return cls(which, theta, alpha, n_features, _names(feature_names))

    def _scores(self, data: RankingData) -> Floats:
        scores = np.zeros(data.n_documents)
        for k, theta, alpha in zip(self.features, self.thresholds, self.alphas, strict=True):
            scores += alpha * (data.X[:, k].astype(np.float64) > theta)
        return scores

    def to_dict(self) -> dict[str, Any]:
        """See :class:`Model`."""
        return {
            "kind": self.kind,
            "features": self.features.tolist(),
            "thresholds": self.thresholds.tolist(),
            "alphas": self.alphas.tolist(),
            "n_features": self.n_features,
            **self._named(),
        }

    def n_inputs(self) -> int:
        """See :class:`Model`."""
        return self.n_features


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
    seed: tuple[seeds.Axis, ...]

    def _scores(self, data: RankingData) -> Floats:
        digest = hashlib.sha256(data.qids.astype("<i8").tobytes() + data.offsets.astype("<i8").tobytes()).hexdigest()
        return seeds.generator(*self.seed, "random-ranker", digest).random(data.n_documents)

    def to_dict(self) -> dict[str, Any]:
        """See :class:`Model`."""
        return {"kind": self.kind, "seed": list(self.seed)}

    def n_inputs(self) -> None:
        """See :class:`Model`."""
        return None  # noqa: RET501


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

    def to_dict(self) -> dict[str, Any]:
        """See :class:`Model`."""
        return {"kind": self.kind}

    def n_inputs(self) -> None:
        """See :class:`Model`."""
        return None  # noqa: RET501


FIELDS: Mapping[str, frozenset[str]] = {
    "linear": frozenset({"w", "mean", "scale"}),
    "random-fourier": frozenset({"w", "mean", "scale", "bandwidth", "seed"}),
    "thresholds": frozenset({"features", "thresholds", "alphas", "n_features"}),
    "trees": frozenset(trees.FIELDS),
    "random": frozenset({"seed"}),
    "ideal": frozenset(),
}
"""What a model of each kind consists of, besides ``feature_names``, which those of features may have."""


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
    if not isinstance(kind, str) or kind not in FIELDS:
        raise ConfigurationError(f"kind: unknown model {kind!r}; {hint(kind, sorted(FIELDS))}")
    others = ("kind",) if kind in ("random", "ideal") else ("kind", "feature_names")
    fields, names = {name: stored[name] for name in stored if name not in others}, stored.get("feature_names")
    if set(fields) != FIELDS[kind]:
        raise ConfigurationError(f"{kind} model: expected the fields {sorted(FIELDS[kind])}, found {sorted(fields)}")
    if kind == "linear":
        return LinearModel.of(**fields, feature_names=names)
    if kind == "thresholds":
        return ThresholdModel.of(**fields, feature_names=names)
    if kind == "trees":
        return trees.TreesModel.of(**fields, feature_names=names)
    if kind == "ideal":
        return IdealModel()
    seed = checks.seed("seed", tuple(checks.instance("seed", fields["seed"], list)))
    if kind == "random":
        return RandomModel(seed)
    w, mean = (checks.floats(name, fields[name], ndim=1) for name in ("w", "mean"))
    bandwidth = checks.real("bandwidth", fields["bandwidth"], checks.POSITIVE)
    random = RandomFourier(len(mean), len(w), float(bandwidth), seed)
    return RandomFourierModel.of(w, mean, fields["scale"], random, names)


@checked
def load(path: str | os.PathLike[str]) -> Trained:
    """Read a ranker that ``save`` wrote, or a model that the workflow stored. Nothing in the file is executed.

    Raises
    ------
    DataError
        When there is no such file, or it holds no model.
    DamagedFileError
        When it does not have the checksum that it states, or states none.

    Example
    -------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> LinearModel.of([1.0, -1.0]).save(path)
    >>> load(path).predict([[3.0, 1.0]])
    array([2.])
    """
    content = storage.read_json(path)
    if not isinstance(content.get("trained"), Mapping):
        raise DataError(f"{path}: expected a trained model under the key 'trained', found the keys {sorted(content)}")
    try:
        model = from_dict(content["trained"])
    except (ConfigurationError, DataError) as error:
        raise DataError(f"{path}: {error}") from error
    about = {name: value for name, value in content.items() if name not in ("trained", "record")}
    return Trained(model, dict(content.get("record", {})), about)


def _names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(checks.texts("feature_names", names))


def _check_as_many(names: tuple[str, ...] | None, n_features: int) -> None:
    if names is not None and len(names) != n_features:
        raise DataError(f"feature_names: expected a name for each of {n_features} features, found {len(names)}")
