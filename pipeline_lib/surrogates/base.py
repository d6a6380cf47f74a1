"""What does every surrogate phi(s, y) offer, and what does it ask of its input?

A surrogate works on all queries at once: ``scores`` and ``y`` hold the documents of all queries below each other, and
query q owns the rows ``offsets[q]:offsets[q + 1]``. Checks stand here, once; what is checked goes to the method
``unchecked``, which solvers call directly in their inner loops.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.errors import DataError

Floats = NDArray[np.float64]
Norm = Literal["linf", "l2"]
MAX_LABEL = 255


class Surrogate(ABC):
    """A loss phi(s, y) of the scores s and labels y of one query.

    A subclass states its formula, sets the class attributes and gives ``unchecked``, ``lipschitz`` and ``smoothness``.

    Attributes
    ----------
    name : str
        The name in the registry.
    formula : str
        phi as the report shows it: s scores, y labels, G(r) = 2^r - 1, D(i) = 1/log2(i + 1); ``_`` lowers and ``^``
        raises.
    convex : bool
        Is phi convex in s for every y?
    smooth : bool
        Is phi differentiable in s with a Lipschitz gradient on bounded sets? A smooth surrogate derives from
        :class:`SmoothSurrogate`.
    shift_invariant : bool
        Is phi(s + c 1, y) = phi(s, y) for every number c?
    """

    name: ClassVar[str]
    formula: ClassVar[str]
    convex: ClassVar[bool] = True
    smooth: ClassVar[bool] = False
    shift_invariant: ClassVar[bool] = False

    def value(self, scores: ArrayLike, y: ArrayLike, offsets: ArrayLike) -> Floats:
        """phi of every query, shape (Q,).

        Parameters
        ----------
        scores : shape (N,), finite
        y : shape (N,), whole labels in 0..255
        offsets : shape (Q + 1,), rising strictly from 0 to N

        Raises
        ------
        DataError
            When the input is not of this form.
        """
        return self.unchecked(*checked(scores, y, offsets))[0]

    def gradient(self, scores: ArrayLike, y: ArrayLike, offsets: ArrayLike) -> Floats:
        """Gradient of every query's phi in its own scores, shape (N,); at a kink, a subgradient. Input as in value."""
        return self.unchecked(*checked(scores, y, offsets))[1]

    def value_and_gradient(self, scores: ArrayLike, y: ArrayLike, offsets: ArrayLike) -> tuple[Floats, Floats]:
        """Both, in one pass: shapes (Q,) and (N,). Input as in value."""
        return self.unchecked(*checked(scores, y, offsets))

    @abstractmethod
    def unchecked(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Values (Q,) and gradients (N,) of input that is known to be good: contiguous float64, int32 and int64."""

    @abstractmethod
    def lipschitz(self, m: int, y_max: int, norm: Norm = "linf", *, score_bound: float | None = None) -> float:
        """The Lipschitz constant over lists of at most ``m`` documents with labels in 0..``y_max``.

        With ``norm="linf"``, G = sup ||grad_s phi||_1 (Lipschitz with respect to the maximum norm of scores); with
        ``norm="l2"``, sup ||grad_s phi||_2. ``score_bound`` restricts the supremum to ||s||_inf <= score_bound, which
        a surrogate that is not globally Lipschitz needs and others ignore.

        Raises
        ------
        DataError
            When a needed ``score_bound`` is missing or an argument is out of range.
        """

    @abstractmethod
    def smoothness(self, m: int, y_max: int, *, score_bound: float | None = None) -> float:
        """The smoothness constant H with respect to l_inf: ||grad phi(s) - grad phi(s')||_1 <= H ||s - s'||_inf.

        For a convex phi this is sup over s and ||u||_inf <= 1 of u' D^2 phi(s) u.

        Raises
        ------
        DataError
            When the surrogate is not smooth, a needed ``score_bound`` is missing or an argument is out of range.
        """


class SmoothSurrogate(Surrogate):
    """A surrogate with second derivatives, which Newton's method and its certificate use.

    ``third_order`` is the constant M of |D^3 phi(s)[u, u, u]| <= M ||u||_inf D^2 phi(s)[u, u] for all s and u (for a
    shift-invariant phi, u may be shifted before its norm is taken). It is 0 for a quadratic.
    """

    smooth: ClassVar[bool] = True
    third_order: ClassVar[float]

    @abstractmethod
    def hessian_product(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64], V: Floats) -> Floats:
        """D^2 phi(s) V, query by query, for V of shape (N, k); the input is not checked."""


class AnnealableSurrogate(Surrogate):
    """A surrogate that is not convex and can be made smoother, so that it has fewer local minima."""

    @abstractmethod
    def smoother(self, factor: float) -> AnnealableSurrogate:
        """The same with ``factor`` times the smoothing; itself for 1."""


class SmoothableSurrogate(Surrogate):
    """A convex, non-negative surrogate with kinks that comes with smooth approximations from below."""

    @abstractmethod
    def smoothed(self, width: float) -> MinorantSurrogate:
        """The approximation with kinks rounded off over ``width`` > 0 margins; it tends to phi as the width falls."""


class MinorantSurrogate(SmoothSurrogate):
    """A smooth surrogate phi_h whose gradients are slopes of affine functions below another surrogate phi."""

    @abstractmethod
    def minorant(
        self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]
    ) -> tuple[Floats, Floats, Floats]:
        """Values (Q,) and gradient g (N,) of phi_h, and intercepts b (Q,) with phi(s') >= b + <g, s'> for all s'."""

    @abstractmethod
    def interior(self, fraction: float) -> SmoothSurrogate:
        """A surrogate whose second derivative counts only dual variables ``fraction`` or more inside their bounds.

        For phi_h = sum over dual variables alpha in [0, 1] with slopes z: D^2 = sum z z' / h over the alpha in
        (0, 1); that of ``interior`` is the sum over those in (fraction, 1 - fraction), divided by (1 - 2 fraction) h.
        """

    @property
    @abstractmethod
    def dual_width(self) -> float:
        """The h by which the second derivative divides sum z z'."""


def checked(scores: ArrayLike, y: ArrayLike, offsets: ArrayLike) -> tuple[Floats, NDArray[np.int32], NDArray[np.int64]]:
    """Check scores, labels and offsets, and give them in the types that kernels expect (no copy if they have them).

    Raises
    ------
    DataError
        When a shape does not fit, a score is not finite, a label is not a whole number in 0..255 or the offsets do
        not rise strictly from 0 to the number of documents.
    """
    s = np.ascontiguousarray(scores, dtype=np.float64)
    labels, bounds = np.asarray(y), np.asarray(offsets)
    if s.ndim != 1 or labels.shape != s.shape:
        raise DataError(f"expected one score and one label per document, found shapes {s.shape} and {labels.shape}")
    if not np.isfinite(s).all():
        row = np.flatnonzero(~np.isfinite(s))[0]
        raise DataError(f"document {row}: expected a finite score, found {s[row]}")
    return s, _labels(labels), _offsets(bounds, len(s))


def _labels(labels: NDArray[np.generic]) -> NDArray[np.int32]:
    if not (labels.dtype == bool or np.issubdtype(labels.dtype, np.number)):
        raise DataError(f"y: expected whole labels in 0..{MAX_LABEL}, found {labels.dtype}")
    if labels.dtype == bool:
        labels = labels.astype(np.int32)
    numbers: NDArray[np.float64] = labels  # type: ignore[assignment]
    wrong = ~((numbers >= 0) & (numbers <= MAX_LABEL))
    if np.issubdtype(numbers.dtype, np.floating):
        wrong |= numbers != np.floor(numbers)
    if wrong.any():
        row = np.flatnonzero(wrong)[0]
        raise DataError(f"document {row}: expected a whole label in 0..{MAX_LABEL}, found {labels[row]}")
    return np.ascontiguousarray(numbers, dtype=np.int32)


def _offsets(offsets: NDArray[np.generic], n_documents: int) -> NDArray[np.int64]:
    good = offsets.ndim == 1 and len(offsets) > 0 and np.issubdtype(offsets.dtype, np.integer)
    bounds = np.ascontiguousarray(offsets, dtype=np.int64) if good else np.full(1, -1, np.int64)
    if bounds[0] != 0 or bounds[-1] != n_documents or np.any(bounds[1:] <= bounds[:-1]):
        raise DataError(f"offsets: expected whole numbers that rise strictly from 0 to {n_documents}, found {offsets}")
    return bounds


def check_list(m: int, y_max: int, norm: str = "linf") -> None:
    """Check what constants are asked for: lists of m >= 1 documents, labels in 0..y_max, a known norm.

    Raises
    ------
    DataError
        When one of them is not so.
    """
    if not (isinstance(m, int | np.integer) and m >= 1):
        raise DataError(f"m: expected a whole number of documents, at least 1, found {m}")
    if not (isinstance(y_max, int | np.integer) and 0 <= y_max <= MAX_LABEL):
        raise DataError(f"y_max: expected a whole number in 0..{MAX_LABEL}, found {y_max}")
    if norm not in ("linf", "l2"):
        raise DataError(f"norm: expected 'linf' or 'l2', found {norm!r}")


def needed_score_bound(name: str, score_bound: float | None) -> float:
    """The bound on ||s||_inf, or an error saying that ``name`` is Lipschitz on bounded scores only."""
    if score_bound is None or not (math.isfinite(score_bound) and score_bound >= 0):
        raise DataError(
            f"{name} is Lipschitz on bounded scores only: expected a finite score_bound >= 0 with "
            f"||s||_inf <= score_bound, found {score_bound}"
        )
    return float(score_bound)
