"""How do some queries count more than others? Their losses are multiplied by weights.

c_q phi(X_q w, y_q) with mean(c) = 1 puts sum_q p_q phi(X_q w, y_q), p_q = c_q / Q, in place of the mean over queries:
the mean loss over rounds in which query q has the share p_q. Convexity, smoothness and smoothability are preserved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.arrays import Floats
from pipeline_lib.surrogates.base import (
    AnnealableSurrogate,
    MinorantSurrogate,
    Norm,
    SmoothableSurrogate,
    SmoothSurrogate,
    Surrogate,
)

if TYPE_CHECKING:
    from pipeline_lib.surrogates.linear_programme import LinearProgramme

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.checks)


def weighted(surrogate: Surrogate, weights: Floats) -> Surrogate:
    """The surrogate whose value for query q is c_q phi, c = weights / mean(weights), on data of exactly these queries.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> loss = weighted(surrogates.create("listnet"), np.array([1.0, 3.0]))
    >>> (loss.value([0, 1, 0, 1], [0, 1, 0, 1], [0, 2, 4]) / surrogates.create("listnet").value([0, 1], [0, 1], [0, 2]))
    array([0.5, 1.5])
    """
    factors = weights / weights.mean()
    if isinstance(surrogate, MinorantSurrogate):
        return _WeightedMinorant(surrogate, factors)
    if isinstance(surrogate, SmoothSurrogate):
        return _WeightedSmooth(surrogate, factors)
    if isinstance(surrogate, SmoothableSurrogate):
        return _WeightedSmoothable(surrogate, factors)
    if isinstance(surrogate, AnnealableSurrogate):
        return _WeightedAnnealable(surrogate, factors)
    return _Weighted(surrogate, factors)


class _Weighted(Surrogate):
    def __init__(self, inner: Surrogate, factors: Floats) -> None:
        self.inner, self.factors = inner, factors
        # Attributes of the instance, because they are those of the inner surrogate and not of this class.
        self.name, self.convex = inner.name, inner.convex  # type: ignore[misc]
        self.smooth, self.shift_invariant = inner.smooth, inner.shift_invariant  # type: ignore[misc]

    def unchecked(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        values, gradient = self.inner.unchecked(scores, y, offsets)
        return self.factors * values, self._of_documents(offsets) * gradient

    def of_queries(self, queries: slice) -> Self:
        return type(self)(self.inner.of_queries(queries), self.factors[queries])

    def programme(self, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> LinearProgramme | None:
        inner = self.inner.programme(y, offsets)
        return None if inner is None else inner.scaled(self.factors)

    def lipschitz(self, m: int, y_max: int, norm: Norm = "linf", *, score_bound: float | None = None) -> float:
        return float(self.factors.max()) * self.inner.lipschitz(m, y_max, norm, score_bound=score_bound)

    def smoothness(self, m: int, y_max: int, *, score_bound: float | None = None) -> float:
        return float(self.factors.max()) * self.inner.smoothness(m, y_max, score_bound=score_bound)

    def _of_documents(self, offsets: NDArray[np.int64]) -> Floats:
        return np.repeat(self.factors, np.diff(offsets))


class _WeightedSmooth(_Weighted, SmoothSurrogate):
    inner: SmoothSurrogate

    def __init__(self, inner: SmoothSurrogate, factors: Floats) -> None:
        super().__init__(inner, factors)
        # |c D^3 phi| <= M c D^2 phi: a factor does not change the ratio of the two sides.
        self.third_order = inner.third_order  # type: ignore[misc]

    def hessian_product(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64], V: Floats) -> Floats:
        return self._of_documents(offsets)[:, None] * self.inner.hessian_product(scores, y, offsets, V)


class _WeightedMinorant(_WeightedSmooth, MinorantSurrogate):
    inner: MinorantSurrogate

    def minorant(
        self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]
    ) -> tuple[Floats, Floats, Floats]:
        values, gradient, intercepts = self.inner.minorant(scores, y, offsets)
        return self.factors * values, self._of_documents(offsets) * gradient, self.factors * intercepts

    def interior(self, fraction: float) -> SmoothSurrogate:
        return _WeightedSmooth(self.inner.interior(fraction), self.factors)

    @property
    def dual_width(self) -> float:
        return self.inner.dual_width


class _WeightedSmoothable(_Weighted, SmoothableSurrogate):
    inner: SmoothableSurrogate

    def smoothed(self, width: float) -> MinorantSurrogate:
        return _WeightedMinorant(self.inner.smoothed(width), self.factors)


class _WeightedAnnealable(_Weighted, AnnealableSurrogate):
    inner: AnnealableSurrogate

    def smoother(self, factor: float) -> AnnealableSurrogate:
        return _WeightedAnnealable(self.inner.smoother(factor), self.factors)
