"""What does a trained ranker look like, in memory and as JSON?

Every model has ``score(data) -> float64 (N,)``, ``to_dict()`` and a ``kind``; :func:`from_dict` reads any of them back
exactly (JSON writes every float64 so that it is read back unchanged).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib import checks, seeds
from pipeline_lib.arrays import Floats
from pipeline_lib.checks import checked
from pipeline_lib.errors import ConfigurationError, DataError, hint
from pipeline_lib.learners.kernel import RandomFourier
from pipeline_lib.ranking_data import RankingData, Standardisation

Seed = int | tuple[seeds.Axis, ...]


class Model(Protocol):
    """A ranker: larger scores come first."""

    kind: ClassVar[str]

    def score(self, data: RankingData) -> Floats:
        """A score for every document, shape (N,)."""

    def to_dict(self) -> dict[str, Any]:
        """All of the model in plain JSON types, with its ``kind``."""


@dataclass(frozen=True)
class Trained:
    """A model and the record of its training (plain JSON types)."""

    model: Model
    record: dict[str, Any]


class Train(Protocol):
    """The signature of every learner's function that trains."""

    def __call__(self, train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
        """Train on ``train``, and choose settings on ``validation``."""


@checked
@dataclass(frozen=True, eq=False)
class LinearModel:
    """Scores <w, (x - mean) / scale>; the standardisation of its training is part of the model.

    Attributes
    ----------
    w, mean, scale : float64, shape (d,)

    Example
    -------
    >>> data = RankingData.from_arrays([[1.0, 2.0], [3.0, 6.0]], [0, 1], [1, 1])
    >>> LinearModel.of([1.0, -1.0], mean=[2.0, 4.0], scale=[1.0, 2.0]).score(data)
    array([0., 0.])
    """

    kind: ClassVar[str] = "linear"
    w: Floats
    mean: Floats
    scale: Floats

    @classmethod
    def of(cls, w: ArrayLike, mean: ArrayLike | None = None, scale: ArrayLike | None = None) -> LinearModel:
        """A model from array-likes; without mean and scale, features are not standardised.

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
        return cls(weights, shift, unit)

    def score(self, data: RankingData) -> Floats:
        """<w, (x - mean) / scale> of every document.

        Every document's sum is taken in the same order, so that equal documents have equal scores wherever they are in
        the data (a matrix product does not guarantee this, and would break ties by rounding).

        Raises
        ------
        DataError
            When ``data`` has another number of features.
        """
        if data.n_features != len(self.w):
            raise DataError(f"data: the linear model expects {len(self.w)} features, found {data.n_features}")
        weights = self.w / self.scale
        scores: Floats = np.einsum("ij,j->i", data.X64, weights) - np.einsum("j,j->", self.mean, weights)
        return scores

    def to_dict(self) -> dict[str, Any]:
        """See :class:`Model`."""
        return {"kind": self.kind, "w": self.w.tolist(), "mean": self.mean.tolist(), "scale": self.scale.tolist()}


@checked
@dataclass(frozen=True, eq=False)
class RandomFourierModel:
    """Scores <w, z((x - mean) / scale)> with random features z of a kernel, whose parameters and seed are stored.

    Attributes
    ----------
    w : float64, shape (D,)
    mean, scale : float64, shape (d,)
    random : RandomFourier

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 1])
    >>> model = RandomFourierModel.of(np.ones(3), np.zeros(1), np.ones(1), RandomFourier(1, 3, 1.0, (5,)))
    >>> again = from_dict(model.to_dict())
    >>> bool((again.score(data) == model.score(data)).all())
    True
    """

    kind: ClassVar[str] = "random-fourier"
    w: Floats
    mean: Floats
    scale: Floats
    random: RandomFourier

    @classmethod
    def of(cls, w: ArrayLike, mean: ArrayLike, scale: ArrayLike, random: RandomFourier) -> RandomFourierModel:
        """A model from array-likes.

        Raises
        ------
        DataError
            When shapes differ, a number is not finite or a scale is not positive.
        """
        weights = checks.floats("w", w, shape=(random.components,))
        linear = LinearModel.of(np.zeros(random.n_features), mean, scale)
        return cls(weights, linear.mean, linear.scale, random)

    def score(self, data: RankingData) -> Floats:
        """<w, z((x - mean) / scale)> of every document, in blocks: the random features are never all in memory."""
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
        }


@checked
@dataclass(frozen=True, eq=False)
class ThresholdModel:
    """Scores sum_t alpha_t [x_k(t) > theta_t], the result of boosting.

    Attributes
    ----------
    features : int64, shape (T,), in 0..n_features - 1
    thresholds, alphas : float64, shape (T,)
    n_features : int

    Example
    -------
    >>> data = RankingData.from_arrays([[1.0], [3.0]], [0, 1], [1, 1])
    >>> ThresholdModel.of([0, 0], [2.0, 5.0], [0.5, 1.0], n_features=1).score(data)
    array([0. , 0.5])
    """

    kind: ClassVar[str] = "thresholds"
    features: NDArray[np.int64]
    thresholds: Floats
    alphas: Floats
    n_features: int

    @classmethod
    def of(cls, features: ArrayLike, thresholds: ArrayLike, alphas: ArrayLike, n_features: int) -> ThresholdModel:
        """A model from array-likes.

        Raises
        ------
        DataError
            When shapes differ, a number is not finite or a feature does not exist.
        """
        which = checks.whole_numbers("features", features, 0, n_features - 1)
        theta = checks.floats("thresholds", thresholds, shape=which.shape)
        alpha = checks.floats("alphas", alphas, shape=which.shape)
        return cls(which, theta, alpha, n_features)

    def score(self, data: RankingData) -> Floats:
        """The weighted vote on every document.

        Raises
        ------
        DataError
            When ``data`` has another number of features.
        """
        if data.n_features != self.n_features:
            raise DataError(f"data: the threshold model expects {self.n_features} features, found {data.n_features}")
        scores = np.zeros(data.n_documents)
        for k, theta, alpha in zip(self.features, self.thresholds, self.alphas, strict=True):
            scores += alpha * (data.X64[:, k] > theta)
        return scores

    def to_dict(self) -> dict[str, Any]:
        """See :class:`Model`."""
        return {
            "kind": self.kind,
            "features": self.features.tolist(),
            "thresholds": self.thresholds.tolist(),
            "alphas": self.alphas.tolist(),
            "n_features": self.n_features,
        }


@checked
@dataclass(frozen=True)
class RandomModel:
    """Scores uniform on [0, 1), always the same for the same seed and the same queries.

    The generator is seeded by the model's seed and a digest of the queries' names and list lengths.

    Example
    -------
    >>> data = RankingData.from_arrays(np.zeros((3, 1)), [0, 1, 0], [4, 4, 5])
    >>> model = RandomModel((1, "random"))
    >>> bool((model.score(data) == model.score(data)).all())
    True
    """

    kind: ClassVar[str] = "random"
    seed: tuple[seeds.Axis, ...]

    def score(self, data: RankingData) -> Floats:
        """Uniform numbers."""
        digest = hashlib.sha256(data.qids.astype("<i8").tobytes() + data.offsets.astype("<i8").tobytes()).hexdigest()
        return seeds.generator(*self.seed, "random-ranker", digest).random(data.n_documents)

    def to_dict(self) -> dict[str, Any]:
        """See :class:`Model`."""
        return {"kind": self.kind, "seed": list(self.seed)}


@checked
@dataclass(frozen=True)
class IdealModel:
    """Scores every document by its label, which gives the best possible ranking.

    Example
    -------
    >>> IdealModel().score(RankingData.from_arrays([[0.0], [0.0]], [0, 2], [1, 1]))
    array([0., 2.])
    """

    kind: ClassVar[str] = "ideal"

    def score(self, data: RankingData) -> Floats:
        """The labels."""
        return data.y.astype(np.float64)

    def to_dict(self) -> dict[str, Any]:
        """See :class:`Model`."""
        return {"kind": self.kind}


@checked
def from_dict(stored: Mapping[str, Any]) -> Model:
    """Read back what ``to_dict`` wrote.

    Raises
    ------
    ConfigurationError
        When the kind is unknown or the fields are not those of that kind.

    Example
    -------
    >>> from_dict(RandomModel((7, "fold", 1)).to_dict())
    RandomModel(seed=(7, 'fold', 1))
    """
    if "kind" not in stored:
        raise ConfigurationError(f"stored: expected a model with its kind, found the keys {sorted(map(str, stored))}")
    kind = stored["kind"]
    fields = {name: value for name, value in stored.items() if name != "kind"}
    expected: dict[str, set[str]] = {
        "linear": {"w", "mean", "scale"},
        "random-fourier": {"w", "mean", "scale", "bandwidth", "seed"},
        "thresholds": {"features", "thresholds", "alphas", "n_features"},
        "random": {"seed"},
        "ideal": set(),
    }
    if not isinstance(kind, str) or kind not in expected:
        raise ConfigurationError(f"kind: unknown model {kind!r}; {hint(kind, sorted(expected))}")
    if set(fields) != expected[kind]:
        raise ConfigurationError(f"{kind} model: expected the fields {sorted(expected[kind])}, found {sorted(fields)}")
    if kind == "linear":
        return LinearModel.of(**fields)
    if kind == "thresholds":
        return ThresholdModel.of(**fields)
    if kind == "random-fourier":
        w, mean, scale = (fields[name] for name in ("w", "mean", "scale"))
        random = RandomFourier(len(mean), len(w), fields["bandwidth"], tuple(fields["seed"]))
        return RandomFourierModel.of(w, mean, scale, random)
    return RandomModel(tuple(fields["seed"])) if kind == "random" else IdealModel()
