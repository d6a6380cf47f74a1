"""Is what the class of a surrogate says of it true?

Solvers and bounds believe what a class states: a certificate is computed from gradients, so that a gradient of zeros
would prove every ranker optimal. :func:`check` therefore compares the statements of the table with the values of its
loss on short lists, and one of twelve documents:

| statement | how it is tried |
|---|---|
| values (Q,) and gradients (N,) | shapes; finite at |s| <= 3, at ties, for labels up to 255; the input is left alone |
| a query's value is its own | alone, with no query at all, and evaluated again and again (``on``) |
| the gradient is that of the value | differences at |s| <= 3, ties; its integral along segments |
| ``convex`` | phi(s') >= phi(s) + <g(s), s' - s> for pairs of orders, ties and random scores, near and far |
| ``least`` | no value is smaller |
| ``lipschitz``, ``smoothness``, ``bound``, ``excess_bound`` | corners, orders, random scores, then ascent |
| ``hessian_product``, ``third_order`` | differences of gradients; growth along random directions, near and far |
| ``smooth`` | the gradient does not jump at ties and half margins |
| ``shift_invariant``, no order of documents | shifted scores; reordered documents |
| ``smoothed``, ``programme`` | affine functions that have to lie below phi |

A statement that passes is not proved: a constant can be too small on longer lists, or where no search has been.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import seeds
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.surrogates.base import SmoothableSurrogate, SmoothSurrogate, Surrogate

__all__ = ["PARTS", "check"]

STEP = 1e-6
"""By which scores move in differences of values: rounding and curvature weigh the same at scores near 1."""
CURVED_STEP = 1e-5
PIECES, CUTS = 64, 4
"""Into how many pieces the way from one point to another is cut, and how often one of them again."""
REACH = 60.0
"""Scores that count as unbounded: beyond all margins, and where every softmax is saturated."""
SCORE_BOUND = 2.0
ROUNDS, PROPOSALS = 25, 40
"""Of the ascent: a constant that is too small by a tenth is found by far fewer."""
MOST_SHOWN = 12

Labels = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class _Lists:
    # Score vectors (K, m) of queries that have the same labels (m,), and what the surrogate says of each.
    scores: Floats
    y: Labels
    values: Floats
    gradient: Floats


@checked
def check(surrogate: Surrogate) -> None:
    """Compare what solvers and bounds believe of the class of ``surrogate`` with the values of its loss.

    What is tried, and how, is the table of :mod:`pipeline_lib.surrogates.checking`. Everything that is drawn comes from
    one seed, so that two calls agree. A learner calls this once for each class that the tests of the package do not
    check, and for each choice of its options, before it trains.

    Raises
    ------
    DataError
        When a statement is false; the message says which, and shows scores and labels for which it is.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> from pipeline_lib.surrogates.pointwise import Squared
    >>> surrogates.check(surrogates.create("listnet"))
    >>> class Flat(Squared):
    ...     def unchecked(self, scores, y, offsets):
    ...         return super().unchecked(scores, y, offsets)[0], np.zeros(len(scores))
    >>> surrogates.check(Flat())
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: squared: expected the gradient of its value, found 0 for document 0, where the \
value changes by 0.029961 per unit of its score, at scores [0.0149805] with labels [0]
    """
    for name, part in PARTS.items():
        part(surrogate, seeds.generator("surrogates", "check", name))


# --- Lists, and their values ------------------------------------------------------------------------------------------


def _evaluated(loss: Surrogate, bundles: list[tuple[Floats, Labels]]) -> list[_Lists]:
    # All at once, in one call; what it returns is checked here and nowhere else.
    lengths = np.concatenate([np.full(len(scores), len(y), np.int64) for scores, y in bundles])
    offsets = np.r_[0, np.cumsum(lengths)]
    s = np.concatenate([scores.ravel() for scores, _ in bundles])
    y = np.concatenate([np.tile(labels, len(scores)) for scores, labels in bundles]).astype(np.int32)
    before = s.copy()
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            values, gradient = loss.unchecked(s, y, offsets)
    except Exception as error:  # whatever a class from elsewhere may raise
        raise _false(loss, "values and gradients", f"{type(error).__name__}: {error}", s[: offsets[1]], y) from error
    shapes = np.shape(values), np.shape(gradient)
    if shapes != ((len(lengths),), (len(s),)):
        told = f"shapes {shapes[0]} and {shapes[1]}"
        raise DataError(
            f"{loss.name}: expected values of shape ({len(lengths)},) and a gradient of shape ({len(s)},) for "
            f"{len(lengths)} queries of {len(s)} documents, found {told}"
        )
    if not np.array_equal(s, before):
        raise DataError(f"{loss.name}: expected that unchecked leaves the scores alone, found that it changed them")
    found, query, document = [], 0, 0
    for scores, labels in bundles:
        K, m = scores.shape
        own = _Lists(scores, labels, values[query : query + K], gradient[document : document + K * m].reshape(K, m))
        wrong = ~(np.isfinite(own.values) & np.isfinite(own.gradient).all(axis=1))
        if wrong.any():
            row = int(np.argmax(wrong))
            what = f"{own.values[row]:g} with the gradient {_numbers(own.gradient[row])}"
            raise _false(loss, "finite numbers", what, scores[row], labels)
        found.append(own)
        query, document = query + K, document + K * m
    return found


def _false(loss: Surrogate, expected: str, found: str, scores: Floats, y: Labels, also: str = "") -> DataError:
    place = f"scores {_numbers(scores)} with labels {y[: len(scores)].tolist()}{also}"
    return DataError(f"{loss.name}: expected {expected}, found {found}, at {place}")


def _numbers(values: ArrayLike) -> str:
    return f"[{', '.join(f'{value:.6g}' for value in np.ravel(values)[:MOST_SHOWN])}]"


def _label_vectors(rng: np.random.Generator) -> Iterator[Labels]:
    # From one document to eight, with none, one, some and all of them relevant.
    for m in (1, 2, 3, 5, 8):
        yield from (np.zeros(m, np.int32), np.ones(m, np.int32), (np.arange(m) == m // 2).astype(np.int32))
        for y_max in (1, 3):
            yield rng.integers(0, y_max + 1, m).astype(np.int32)


def _bundles(rng: np.random.Generator) -> list[tuple[Floats, Labels]]:
    # Random scores near and far from 0, and scores in steps of half a margin, so that ties and kinks are met.
    found = []
    for y in _label_vectors(rng):
        m = len(y)
        near, far = rng.normal(size=(3, m)), rng.uniform(-3.0, 3.0, (3, m))
        found.append((np.vstack([near * [[0.03], [0.3], [1.0]], far, rng.integers(-2, 3, (4, m)) / 2.0]), y))
    return found


# --- What is tried ----------------------------------------------------------------------------------------------------


def _forms(loss: Surrogate, rng: np.random.Generator) -> None:
    bundles = _bundles(rng)
    together = _evaluated(loss, [*bundles, (np.array([[0.5, -0.5, 0.0]]), np.array([255, 0, 254], np.int32))])
    for lists, (scores, y) in zip(together, bundles, strict=False):
        alone = _evaluated(loss, [(scores[-1:], y)])[0]
        _equal(loss, "a query alone", lists.values[-1:], lists.gradient[-1], alone, scores[-1], y)
        offsets = np.array([0, len(y)])
        again = loss.on(y, offsets)
        for s in (scores[0], scores[-1]):
            values, gradient = again(np.ascontiguousarray(s))
        _equal(loss, "a query evaluated by `on`", values, gradient, alone, scores[-1], y)
    nothing = np.zeros(0), np.zeros(0, np.int32), np.zeros(1, np.int64)
    try:
        shapes = tuple(np.shape(array) for array in loss.unchecked(*nothing))
    except Exception as error:
        raise DataError(
            f"{loss.name}: expected no values for no queries, found {type(error).__name__}: {error}"
        ) from error
    if shapes != ((0,), (0,)):
        raise DataError(f"{loss.name}: expected no values for no queries, found shapes {shapes[0]} and {shapes[1]}")


def _equal(
    loss: Surrogate, what: str, values: Floats, gradient: Floats, alone: _Lists, scores: Floats, y: Labels
) -> None:
    both = np.r_[values, gradient], np.r_[alone.values, alone.gradient[0]]
    if not np.allclose(*both, rtol=1e-9, atol=1e-9 * (1.0 + np.abs(both[1]).max())):
        told = f"{_numbers(both[0])} and {_numbers(both[1])}"
        raise _false(loss, f"the same value and gradient of {what} as among others", told, scores, y)


def _gradient(loss: Surrogate, rng: np.random.Generator) -> None:
    # Where a kink lies between the two scores, the quotient is between the slopes at both.
    bundles = [(scores, y) for scores, y in _bundles(rng)]
    moved = [
        (np.vstack([row, row - STEP * np.eye(len(y)), row + STEP * np.eye(len(y))]), y) for s, y in bundles for row in s
    ]
    for lists in _evaluated(loss, moved):
        m, on_grid = len(lists.y), bool(np.all(2.0 * lists.scores[0] == np.round(2.0 * lists.scores[0])))
        slopes = (lists.values[m + 1 :] - lists.values[1 : m + 1]) / (2.0 * STEP)
        sides = [np.diag(lists.gradient[1 : m + 1]), np.diag(lists.gradient[m + 1 :])]
        sides += [lists.gradient[0]] if loss.smooth or not on_grid else []  # at a kink, any subgradient will do
        low, high = np.min(sides, axis=0), np.max(sides, axis=0)
        rounding = 1e-14 * (1.0 + np.abs(lists.values).max()) / STEP
        allowed = 1e-5 * (1.0 + np.abs(slopes)) + rounding
        wrong = (slopes < low - allowed) | (slopes > high + allowed)
        if wrong.any():
            i = int(np.argmax(wrong))
            told = (
                f"{lists.gradient[0][i]:.6g} for document {i}, where the value changes by {slopes[i]:.6g} per unit of "
            )
            raise _false(loss, "the gradient of its value", f"{told}its score", lists.scores[0], lists.y)


def _integral(loss: Surrogate, rng: np.random.Generator) -> None:
    # From s to s', the value changes by the integral of <g, s' - s>: over a short piece, by about its ends. A piece on
    # which it does not is cut again, because a gradient that bends sharply may do without the middle, and a jump not.
    for y in _label_vectors(rng):
        begin, end = rng.normal(size=(2, len(y))) * [[1.0], [3.0]]
        for _ in range(CUTS):
            way = begin + np.linspace(0.0, 1.0, PIECES + 1)[:, None] * (end - begin)
            [lists] = _evaluated(loss, [(way, y)])
            slopes, change = lists.gradient @ (way[1] - way[0]), np.diff(lists.values)
            low, high = np.minimum(slopes[:-1], slopes[1:]), np.maximum(slopes[:-1], slopes[1:])
            bent = 0.0 if loss.convex else (high - low) + 0.05 * np.abs(slopes).max()
            outside = np.maximum(low - change, change - high) - bent - 1e-9 * (1.0 + np.abs(lists.values).max())
            k = int(np.argmax(outside))
            if outside[k] <= 0.0:
                break
            begin, end = way[k], way[k + 1]
        else:
            told = f"a change of {change[k]:.6g} where its gradients allow {low[k]:.6g} to {high[k]:.6g}"
            also = f" on the way to scores {_numbers(end)}"
            raise _false(loss, "a value that changes as its gradient says", told, begin, y, also)


def _convexity(loss: Surrogate, rng: np.random.Generator) -> None:
    if not loss.convex:
        return
    bundles = []
    for y in _label_vectors(rng):
        m = len(y)
        ties, spread = rng.integers(-2, 3, (8, m)) / 2.0, rng.normal(size=(12, m))
        order = rng.permuted(np.tile(np.linspace(-1.0, 1.0, m), (4, 1)), axis=1)
        near = ties + 1e-3 * rng.normal(size=(8, m))
        bundles.append((np.vstack([ties, near, spread * 10.0 ** rng.uniform(-2.0, 1.0, (12, 1)), 8.0 * order]), y))
    for lists in _evaluated(loss, bundles):
        # Row a, column b: from s_a to s_b.
        linear = lists.gradient @ lists.scores.T - np.sum(lists.gradient * lists.scores, axis=1)[:, None]
        sizes = 1.0 + np.abs(lists.values)[:, None] + np.abs(lists.values)
        rounding = 1e-9 * (sizes + np.abs(lists.gradient) @ np.abs(lists.scores).T)
        below = lists.values - lists.values[:, None] - linear + rounding
        if below.min() < 0.0:
            a, b = np.unravel_index(np.argmin(below), below.shape)
            told = f"{lists.values[b]:.6g} below the tangent's {lists.values[a] + linear[a, b]:.6g}"
            also = f", for the tangent at scores {_numbers(lists.scores[a])}"
            what = "no value below a tangent, since the class says convex = True"
            raise _false(loss, what, told, lists.scores[b], lists.y, also)


def _least(loss: Surrogate, rng: np.random.Generator) -> None:
    bundles = [(np.vstack([s, y, 8.0 * y, -8.0 * y]), y) for s, y in _bundles(rng)]
    for lists in _evaluated(loss, bundles):
        least = float(loss.least(lists.y, [0, len(lists.y)])[0])
        k = int(np.argmin(lists.values))
        if lists.values[k] < least - 1e-9 * (1.0 + abs(least)):
            told = f"{lists.values[k]:.6g}"
            raise _false(loss, f"no value below its least, {least:.6g}", told, lists.scores[k], lists.y)


def _kinks(loss: Surrogate, rng: np.random.Generator) -> None:
    if not loss.smooth:
        return
    for y in _label_vectors(rng):
        ties = rng.integers(-2, 3, (12, len(y))) / 2.0
        u = rng.normal(size=ties.shape)
        at = [_evaluated(loss, [(ties + sign * h * u, y)])[0].gradient for h in (1e-7, 1e-4) for sign in (1.0, -1.0)]
        short, long = (np.abs(at[i] - at[i + 1]).max(axis=1) for i in (0, 2))
        # Without a kink, a step that is a thousandth as long changes the gradient by about a thousandth.
        jumps = short > 0.1 * long + 1e-7 * (1.0 + np.abs(at[0]).max(axis=1))
        if jumps.any():
            k = int(np.argmax(jumps))
            told = f"a jump by {short[k]:.6g}"
            raise _false(loss, "a gradient that does not jump, since the class says smooth", told, ties[k], y)


def _second_derivative(loss: Surrogate, rng: np.random.Generator) -> None:
    if not isinstance(loss, SmoothSurrogate):
        return
    for scores, y in _bundles(rng):
        s = scores[:6]
        V = rng.normal(size=s.shape)
        at = [s - CURVED_STEP * V, s, s + CURVED_STEP * V]
        product = [_product(loss, one, y, V) for one in at]
        before, _, after = _evaluated(loss, [(one, y) for one in at])
        change = (after.gradient - before.gradient) / (2.0 * CURVED_STEP)
        low, high = np.min(product, axis=0), np.max(product, axis=0)
        rounding = 1e-14 * (1.0 + np.abs(after.gradient)) / CURVED_STEP
        allowed = 1e-5 * (1.0 + np.abs(change).max(axis=1, keepdims=True)) + rounding
        wrong = ((change < low - allowed) | (change > high + allowed)).any(axis=1)
        if wrong.any():
            k = int(np.argmax(wrong))
            told = f"{_numbers(product[1][k])} in direction {_numbers(V[k])}, where the gradient changes by "
            what = "a hessian_product that is the change of the gradient"
            raise _false(loss, what, f"{told}{_numbers(change[k])}", s[k], y)


def _product(loss: SmoothSurrogate, scores: Floats, y: Labels, V: Floats) -> Floats:
    # D^2 phi(s) v for every row s of the scores and its own v.
    K, m = scores.shape
    offsets = np.arange(0, K * m + 1, m, dtype=np.int64)
    product = loss.hessian_product(np.ascontiguousarray(scores).ravel(), np.tile(y, K), offsets, V.reshape(K * m, 1))
    if np.shape(product) != (K * m, 1):
        told = f"{np.shape(product)}"
        raise _false(loss, f"a hessian_product of shape ({K * m}, 1)", told, scores[0], y)
    return product.reshape(K, m)


def _third_order(loss: Surrogate, rng: np.random.Generator) -> None:
    # u' D^2 phi u changes at most by the factor e^(M ||u||_inf) from s to s + u if and only if M is a third-order
    # constant, kinks of the second derivative included.
    if not (isinstance(loss, SmoothSurrogate) and loss.convex):
        return
    if not isinstance(getattr(loss, "third_order", None), int | float):
        raise DataError(f"{loss.name}: expected a number third_order, which Newton's certificate needs, found none")
    for y in _label_vectors(rng):
        s = rng.normal(size=(30, len(y)))
        u = np.repeat([1e-3, 0.3, 3.0], 10)[:, None] * rng.normal(size=s.shape)
        here, there = (np.sum(u * _product(loss, at, y, u), axis=1) for at in (s, s + u))
        high, low = u.max(axis=1), u.min(axis=1)
        norm = (high - low) / 2.0 if loss.shift_invariant else np.maximum(high, -low)
        rounding = 1e-12 * np.sum(u * u, axis=1) * (1.0 + np.abs(here))
        with np.errstate(over="ignore", invalid="ignore"):  # where M allows everything
            most = np.exp(loss.third_order * norm) * (1.0 + 1e-9)
            wrong = (there > most * here + rounding) | (here > most * there + rounding)
        if wrong.any():
            k = int(np.argmax(wrong))
            told = f"{here[k]:.6g} and {there[k]:.6g} at scores moved by u = {_numbers(u[k])}"
            what = f"u' D^2 phi u that changes at most by e^(M max |u|), with M = third_order = {loss.third_order:g}"
            raise _false(loss, what, told, s[k], y)


def _invariances(loss: Surrogate, rng: np.random.Generator) -> None:
    for y in [*_label_vectors(rng)]:
        s = rng.integers(-1024, 1025, (4, len(y))) / 512.0 + np.arange(len(y)) / 2048.0  # no ties, and no rounding
        y = np.minimum(y, 1)
        # A reordering that keeps documents of equal label in their order, which some surrogates look at.
        places, order = rng.permutation(len(y)), np.empty(len(y), np.int64)
        for level in (0, 1):
            order[np.sort(places[y == level])] = np.flatnonzero(y == level)
        here, moved = _evaluated(loss, [(s, y), (s[:, order], y[order])])
        _same(loss, "a value that does not depend on the order of the documents", here, moved.values)
        if loss.shift_invariant:
            [shifted] = _evaluated(loss, [(s + 3.25, y)])
            _same(
                loss,
                "a value that a shift of all scores does not change, as shift_invariant says",
                here,
                shifted.values,
            )


def _same(loss: Surrogate, what: str, here: _Lists, values: Floats) -> None:
    wrong = ~np.isclose(here.values, values, rtol=1e-9, atol=1e-9 * (1.0 + np.abs(here.gradient).max()))
    if wrong.any():
        k = int(np.argmax(wrong))
        raise _false(loss, what, f"{here.values[k]:.9g} and {values[k]:.9g}", here.scores[k], here.y)


def _below(loss: Surrogate, rng: np.random.Generator) -> None:
    for scores, y in _bundles(rng):
        offsets = np.array([0, len(y)])
        [lists] = _evaluated(loss, [(scores, y)])
        allowed = 1e-9 * (1.0 + np.abs(lists.values) + np.abs(lists.gradient).sum(axis=1))
        if isinstance(loss, SmoothableSurrogate):
            for width, s in itertools.product((0.1, 1.0), scores[::3]):
                _, slope, [intercept] = loss.smoothed(width).minorant(np.ascontiguousarray(s), y, offsets)
                _under(loss, f"minorant of width {width:g}", lists, intercept + scores @ slope, allowed)
        programme = loss.programme(y, offsets)
        if programme is not None and len(programme.heights):
            constant, slope = programme.minorant(programme.feasible(rng.exponential(size=len(programme.heights))))
            _under(loss, "programme", lists, constant + scores @ slope, allowed)


def _under(loss: Surrogate, what: str, lists: _Lists, affine: Floats, allowed: Floats) -> None:
    wrong = affine > lists.values + allowed
    if wrong.any():
        k = int(np.argmax(wrong))
        told = f"{affine[k]:.6g} above {lists.values[k]:.6g}"
        raise _false(loss, f"affine functions of its {what} below its value", told, lists.scores[k], lists.y)


# --- Constants --------------------------------------------------------------------------------------------------------

Quantity = Callable[[Floats, Labels], Floats]
"""From score vectors (K, m) and labels (m,) to what a constant bounds, of every vector."""


def _constants(loss: Surrogate, rng: np.random.Generator) -> None:
    for (m, y_max), reach in itertools.product([(1, 2), (3, 2), (4, 1), (12, 3)], (SCORE_BOUND, REACH)):
        for what, (constant, quantity) in _stated(loss, m, y_max, reach).items():
            scores, y, value = _largest(quantity, m, y_max, reach, rng)
            if value > constant * (1.0 + 1e-6) + 1e-9:
                said = f"{what} at most {constant:.6g} for lists of at most {m} documents, labels up to {y_max} and "
                raise _false(loss, f"{said}scores up to {reach:g}", f"{value:.6g}", scores, y)


def _stated(loss: Surrogate, m: int, y_max: int, reach: float) -> dict[str, tuple[float, Quantity]]:
    # The constants that the class knows. Scores up to REACH stand for all scores where it needs no bound on them.
    bound = reach if reach < REACH else None
    known: list[tuple[str, Callable[[], float | None], Quantity]] = [
        (
            "lipschitz-linf",
            lambda: loss.lipschitz(m, y_max, "linf", score_bound=bound),
            lambda s, y: np.abs(_at(loss, s, y)[1]).sum(axis=1),
        ),
        (
            "lipschitz-l2",
            lambda: loss.lipschitz(m, y_max, "l2", score_bound=bound),
            lambda s, y: np.sqrt(np.sum(_at(loss, s, y)[1] ** 2, axis=1)),
        ),
    ]
    if loss.smooth:
        known.append(("smoothness", lambda: loss.smoothness(m, y_max, score_bound=bound), _bends(loss, reach)))
    if bound is not None:
        known += [
            ("bound", lambda: loss.bound(m, y_max, bound), lambda s, y: np.abs(_at(loss, s, y)[0])),
            (
                "excess_bound",
                lambda: loss.excess_bound(m, y_max, bound),
                lambda s, y: _at(loss, s, y)[0] - loss.least(y, [0, len(y)])[0],
            ),
        ]
    constants = {what: (_or_none(constant), quantity) for what, constant, quantity in known}
    return {what: (constant, quantity) for what, (constant, quantity) in constants.items() if constant is not None}


def _or_none(constant: Callable[[], float | None]) -> float | None:
    try:
        return constant()
    except DataError:  # none is known, or none without a bound on the scores
        return None


def _at(loss: Surrogate, scores: Floats, y: Labels) -> tuple[Floats, Floats]:
    [lists] = _evaluated(loss, [(scores, y)])
    return lists.values, lists.gradient


def _bends(loss: Surrogate, reach: float) -> Quantity:
    # ||g(s + h u) - g(s - h u)||_1 / (2 h) for signs u; u <- signs of the difference never makes it smaller
    h = 1e-3

    def bends(scores: Floats, y: Labels) -> Floats:
        inside = np.clip(scores, h - reach, reach - h)
        signs = np.where((np.arange(len(y)) + np.arange(len(scores))[:, None]) % 2 == 0, 1.0, -1.0)
        for _ in range(3):
            change = _at(loss, inside + h * signs, y)[1] - _at(loss, inside - h * signs, y)[1]
            found, signs = np.abs(change).sum(axis=1) / (2.0 * h), np.where(change < 0.0, -1.0, 1.0)
        return found

    return bends


def _largest(
    quantity: Quantity, m: int, y_max: int, reach: float, rng: np.random.Generator
) -> tuple[Floats, Labels, float]:
    # Corners, orders and random scores for some labels; the best point of all is improved by random changes.
    best = np.zeros(m), np.zeros(m, np.int32), -np.inf
    for y in _labels_of_constants(m, y_max):
        cuts = np.where(np.arange(m) < np.arange(m + 1)[:, None], reach, -reach)
        steps = np.linspace(-reach, reach, m)
        scores = np.vstack([cuts, -cuts, np.zeros(m), steps, -steps, rng.uniform(-reach, reach, (20, m))])
        scores = np.vstack([scores, rng.choice([-reach, 0.0, reach], (20, m)), rng.normal(size=(4, m))])
        scores = np.clip(scores, -reach, reach)
        values = quantity(scores, y)
        k = int(np.argmax(values))
        if values[k] > best[2]:
            best = scores[k], y, float(values[k])
    s, y, value = best
    for _ in range(ROUNDS):
        spread = reach * 10.0 ** rng.uniform(-4.0, 0.0, (PROPOSALS, 1))
        tried = s + spread * rng.normal(size=(PROPOSALS, m)) * (rng.random((PROPOSALS, m)) < 0.5)
        tried = np.clip(tried, -reach, reach)
        values = quantity(tried, y)
        k = int(np.argmax(values))
        if values[k] > value:
            s, value = tried[k], float(values[k])
    return s, y, value


def _labels_of_constants(m: int, y_max: int) -> Iterator[Labels]:
    # All, where lists are short; else some or all documents at the top, and levels filled equally.
    if m <= 4:
        yield from (np.array(y, np.int32) for y in itertools.combinations_with_replacement(range(y_max, -1, -1), m))
        return
    for high, relevant in itertools.product((1, y_max), (1, m // 4, m // 2, m - 1, m)):
        yield np.where(np.arange(m) < relevant, high, 0).astype(np.int32)
    yield (y_max - np.arange(m) * (y_max + 1) // m).astype(np.int32)


PARTS: dict[str, Callable[[Surrogate, np.random.Generator], None]] = {
    "forms": _forms,
    "gradient": _gradient,
    "integral": _integral,
    "convexity": _convexity,
    "least": _least,
    "kinks": _kinks,
    "second derivative": _second_derivative,
    "third order": _third_order,
    "invariances": _invariances,
    "minorants": _below,
    "constants": _constants,
}
"""What is tried, in this order, by name."""
