"""What does every surrogate phi(s, y) provide, and what does it require of its input?

A surrogate works on all queries at once: ``scores`` and ``y`` contain the documents of all queries, one query after the
other, and query q owns the rows ``offsets[q]:offsets[q + 1]``. Input is checked here, once (see
``pipeline_lib.core.checks``), and passed to the method ``unchecked``, which solvers call directly in their inner loops.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Label, NonNegative, Positive
from pipeline_lib.core.errors import DataError, OutOfRangeError
from pipeline_lib.surrogates.programmes import LinearProgramme

Norm = Literal["linf", "l2"]
ScoreBound = NonNegative | None
What = Literal["lipschitz-linf", "lipschitz-l2", "smoothness", "bound"]
"""The constants of a surrogate: two of Lipschitz, one of smoothness, and a bound on |phi| for bounded scores."""

Evaluation = Callable[[Floats], tuple[Floats, Floats]]
"""From the scores of some lists to the values of their queries and the gradients of their documents."""
INTERNAL = ("unchecked", "on", "effective", "hessian_product", "minorant", "programme")
"""Methods of a surrogate that solvers call in their inner loops: they check nothing."""


class Surrogate(ABC):
    """A loss phi(s, y) of the scores s and labels y of one query.

    A subclass states its formula, sets the class attributes, and implements ``unchecked`` and, as far as these are
    known, ``lipschitz``, ``smoothness``, ``bound``, ``excess_bound`` and what is exact.
    :func:`pipeline_lib.surrogates.checking.check` tells whether this is true of its values, but for the formula and for
    what is exact.

    Attributes
    ----------
    name : str
        By which configurations and :func:`pipeline_lib.surrogates.create` know it.
    formula : str
        phi in TeX, as the report and the documentation show it: s scores, y labels, m documents, r of them relevant,
        gain G, discount D, ideal DCG Z, margin Delta; sums over i run over all documents.
    convex : bool
        Whether phi is convex in s for every y.
    smooth : bool
        Whether phi is differentiable in s with a Lipschitz gradient on bounded sets. A convex and smooth surrogate
        derives from :class:`SmoothSurrogate`.
    shift_invariant : bool
        Whether phi(s + c 1, y) = phi(s, y) for every number c.
    binary : bool
        Whether phi asks of a label only if the document is relevant, that is, if the label is at least 1. Learners
        give it the labels of :meth:`pipeline_lib.data.ranking_data.RankingData.labels_for`.
    exact : tuple of What
        Which of the constants that the class states are suprema: attained, or approached.
    effort, repeats : float
        How many times as long as with ListNet it takes to minimise phi where features are many, and how many times as
        many passes over the documents: more than one where phi is not convex and is minimised from several starting
        points, or takes long itself. Plans use both; ``python -m benchmarks.training_times`` measures them.
    """

    name: ClassVar[str]
    formula: ClassVar[str]
    convex: ClassVar[bool] = True
    smooth: ClassVar[bool] = False
    shift_invariant: ClassVar[bool] = False
    binary: ClassVar[bool] = False
    exact: ClassVar[tuple[What, ...]] = ()
    effort: ClassVar[float] = 1.0
    repeats: ClassVar[float] = 1.0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Make every public method of a subclass check its arguments, except the internal and the abstract ones."""
        super().__init_subclass__(**kwargs)
        for name in ("unchecked", "on", "hessian_product"):
            if name in vars(cls) and not getattr(vars(cls)[name], "__isabstractmethod__", False):
                setattr(cls, name, _only_reading(vars(cls)[name]))
        checks.guard_methods(cls, INTERNAL)

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
            When the input is not of this form, or a value exceeds the range of float64.
        """
        return self.value_and_gradient(scores, y, offsets)[0]

    def gradient(self, scores: ArrayLike, y: ArrayLike, offsets: ArrayLike) -> Floats:
        """Gradient of every query's phi in its own scores, shape (N,); at a kink, a subgradient. Input as in value."""
        return self.value_and_gradient(scores, y, offsets)[1]

    def value_and_gradient(self, scores: ArrayLike, y: ArrayLike, offsets: ArrayLike) -> tuple[Floats, Floats]:
        """Both, in one pass: shapes (Q,) and (N,). Input as in value."""
        s, labels, bounds = checks.ranking(scores, y, offsets)
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow is reported as an error
            values, gradient = self.unchecked(s, labels, bounds)
        if not (np.isfinite(values).all() and np.isfinite(gradient).all()):
            wrong = ~np.isfinite(np.repeat(values, np.diff(bounds))) | ~np.isfinite(gradient)
            query = int(np.searchsorted(bounds, np.argmax(wrong), side="right")) - 1
            own = s[bounds[query] : bounds[query + 1]]
            raise OutOfRangeError(
                f"scores: in query {query}: {self.name} exceeds 1.8e308, the range of float64, found scores from "
                f"{own.min():g} to {own.max():g}; scale the features or bound the weights"
            )
        return values, gradient

    @abstractmethod
    def unchecked(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Values (Q,) and gradients (N,) of input that has been checked: contiguous float64, int32 and int64.

        Internal: nothing is checked. Scores whose value exceeds the range of float64 have the value inf (and a
        gradient that may be NaN), which a line search takes as "too far".
        """

    def on(self, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Evaluation:
        """:meth:`unchecked` of lists that are evaluated again and again, as a function of their scores alone.

        Internal: nothing is checked. A class whose loss needs more of the labels computes it once here.
        """
        return lambda scores: self.unchecked(scores, y, offsets)

    def effective(self, X: Floats, offsets: NDArray[np.int64]) -> Floats:
        """The documents as the loss sees them, shape (N, d): less the mean of their list if shifts do not matter.

        Internal: nothing is checked, and every list has a document.
        """
        if not self.shift_invariant:
            return X
        lengths = np.diff(offsets)
        means = np.add.reduceat(X, offsets[:-1]) / lengths[:, None]
        return X - np.repeat(means, lengths, axis=0)

    def programme(self, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> LinearProgramme | None:
        """The sum of phi over queries as a linear programme; None where there is none, or it has too many rows.

        Internal: nothing is checked. See :mod:`pipeline_lib.surrogates.programmes`; with it, a surrogate with
        kinks is minimised in fewer steps than with its subgradients alone, where features are many.
        """
        return None

    @checks.checked
    def lipschitz(self, m: Count, y_max: Label, norm: Norm = "linf", *, score_bound: ScoreBound = None) -> float:
        """The Lipschitz constant over lists of at most ``m`` documents with labels in 0..``y_max``.

        With ``norm="linf"``, G = sup ||grad_s phi||_1 (Lipschitz with respect to the maximum norm of scores); with
        ``norm="l2"``, sup ||grad_s phi||_2. ``score_bound`` restricts the supremum to ||s||_inf <= score_bound, which
        a surrogate that is not globally Lipschitz needs and others ignore.

        Raises
        ------
        DataError
            When a needed ``score_bound`` is missing, an argument is out of range, or no constant is known.
        """
        raise DataError(f"{self.name}: no Lipschitz constant is known")

    @checks.checked
    def smoothness(self, m: Count, y_max: Label, *, score_bound: ScoreBound = None) -> float:
        """The smoothness constant H with respect to l_inf: ||grad phi(s) - grad phi(s')||_1 <= H ||s - s'||_inf.

        For a convex phi this is sup over s and ||u||_inf <= 1 of u' D^2 phi(s) u.

        Raises
        ------
        DataError
            When the surrogate is not smooth, a needed ``score_bound`` is missing or an argument is out of range.
        """
        raise DataError(f"{self.name} is not smooth: it has no smoothness constant")

    @checks.checked
    def bound(self, m: Count, y_max: Label, score_bound: NonNegative) -> float | None:
        """B >= sup |phi| over ||s||_inf <= score_bound and lists as in ``lipschitz``; None where it is not known."""
        return None

    @checks.checked
    def excess_bound(self, m: Count, y_max: Label, score_bound: NonNegative) -> float | None:
        """B >= sup of phi(s, y) - inf over all s' of phi(s', y): what ``bound`` is once the infimum counts as 0."""
        return self.bound(m, y_max, score_bound)

    def least(self, y: ArrayLike, offsets: ArrayLike) -> Floats:
        """The smallest value of phi over all scores, or the limit where it is only approached; shape (Q,).

        It is 0 unless a class says otherwise. Input and errors as in ``value``.
        """
        labels = checks.labels("y", y)
        return self._least(labels, checks.offsets("offsets", offsets, len(labels)))

    def _least(self, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Floats:
        return np.zeros(len(offsets) - 1)

    @checks.checked
    def supremum(self, what: What, m: Count, y_max: Label, *, score_bound: ScoreBound = None) -> float | None:
        """The exact supremum behind a constant: what is stated where that is ``exact``; None where it is not known.

        Raises
        ------
        DataError
            When a needed ``score_bound`` is missing or an argument is out of range.
        """
        if what not in self.exact:
            return None
        if what == "bound":
            return self.bound(m, y_max, needed_score_bound(f"the value of {self.name}", score_bound))
        if what == "smoothness":
            return self.smoothness(m, y_max, score_bound=score_bound)
        return self.lipschitz(m, y_max, "linf" if what == "lipschitz-linf" else "l2", score_bound=score_bound)


def _only_reading(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method with labels and offsets that cannot be written to, as those of stored data cannot.

    Numba compiles a function once more for arrays that can, although it only reads them.
    """

    @wraps(method)
    def called(self: Surrogate, *arrays: NDArray[Any]) -> Any:
        return method(self, *[_read_only(array) for array in arrays])

    return called


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    if array.flags.writeable and array.dtype.kind == "i":
        array = array.view()
        array.flags.writeable = False
    return array


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
    def smoother(self, factor: Positive) -> "AnnealableSurrogate":
        """The same with ``factor`` times the smoothing; the surrogate itself for 1."""


class SmoothableSurrogate(Surrogate):
    """A convex, non-negative surrogate with kinks that comes with smooth approximations from below."""

    @abstractmethod
    def smoothed(self, width: Positive) -> "MinorantSurrogate":
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
        """A surrogate whose second derivative includes only dual variables at least ``fraction`` inside their bounds.

        For phi_h = sum over dual variables alpha in [0, 1] with slopes z: D^2 = sum z z' / h over the alpha in
        (0, 1); that of ``interior`` is the sum over those in (fraction, 1 - fraction), divided by (1 - 2 fraction) h.
        """

    @property
    @abstractmethod
    def dual_width(self) -> float:
        """The h by which the second derivative divides sum z z'."""


@checks.checked
def needed_score_bound(name: str, score_bound: ScoreBound) -> float:
    """The bound on ||s||_inf, or an error which states that ``name`` is Lipschitz on bounded scores only."""
    if score_bound is None:
        raise DataError(
            f"score_bound: expected a number with ||s||_inf <= score_bound, because {name} is Lipschitz on bounded "
            "scores only, found none"
        )
    return float(score_bound)
