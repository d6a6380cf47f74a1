"""What is a ranker that sums up regression trees, and how is it evaluated and stored?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib import checks
from pipeline_lib.arrays import Floats
from pipeline_lib.checks import checked
from pipeline_lib.compiled import njit
from pipeline_lib.errors import DataError
from pipeline_lib.learners.ranker import Model
from pipeline_lib.ranking_data import RankingData

FIELDS = ("roots", "features", "thresholds", "lower", "upper", "values", "n_features")


@checked
@dataclass(frozen=True, eq=False)
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
    n_features: int
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        names = self.feature_names
        if names is not None and len(names) != self.n_features:
            raise DataError(
                f"feature_names: expected a name for each of {self.n_features} features, found {len(names)}"
            )

    @classmethod
    def of(
        cls,
        roots: ArrayLike,
        features: ArrayLike,
        thresholds: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        values: ArrayLike,
        n_features: int,
        feature_names: Sequence[str] | None = None,
    ) -> TreesModel:
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
        sides = []
        for name, side in (("lower", lower), ("upper", upper)):
            nodes = checks.whole_numbers(name, side, 0, max(last, 0))
            inner = which >= 0
            if nodes.shape != which.shape or (nodes[inner] <= np.flatnonzero(inner)).any():
                raise DataError(f"{name}: expected a later node for every inner node")
            sides.append(nodes)
        names = None if feature_names is None else tuple(checks.texts("feature_names", feature_names))
        return cls(first, which, theta, sides[0], sides[1], leaves, n_features, names)

    @checked(trees=checks.COUNT)
    def first(self, trees: int) -> TreesModel:
        """The model of the first ``trees`` trees.

        Example
        -------
        >>> model = TreesModel.of([0, 1], [-1, -1], [0, 0], [0, 0], [0, 0], [1.0, 2.0], n_features=1)
        >>> model.predict([[0.0]]), model.first(1).predict([[0.0]])
        (array([3.]), array([1.]))
        """
        end = int(self.roots[trees]) if trees < len(self.roots) else len(self.features)
        return replace(
            self,
            roots=self.roots[:trees],
            features=self.features[:end],
            thresholds=self.thresholds[:end],
            lower=self.lower[:end],
            upper=self.upper[:end],
            values=self.values[:end],
        )

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

    def to_dict(self) -> dict[str, Any]:
        """See :class:`Model`."""
        arrays = {name: getattr(self, name).tolist() for name in FIELDS[:-1]}
        return {"kind": self.kind, **arrays, "n_features": self.n_features, **self._named()}

    def n_inputs(self) -> int:
        """See :class:`Model`."""
        return self.n_features


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
