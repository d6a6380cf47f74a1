"""Which constants of a surrogate do the bounds need, and how large are they exactly?

A surrogate's class states them: its Lipschitz and smoothness constants, a bound B on the loss over a class of rankers,
and which of them are exact. This module collects them for the theorems. ``search`` finds lower estimates of the same
suprema.

A class {||w||_2 <= W2} with documents ||x||_2 <= R_X (or ||w||_1 <= W1, ||x||_inf <= Rbar_X) has scores
||s||_inf <= S = W2 R_X (W1 Rbar_X), attained for suitable documents: this S is the ``score_bound``.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import surrogates
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Label, NonNegative, checked
from pipeline_lib.core.compiled import njit
from pipeline_lib.core.errors import DataError
from pipeline_lib.surrogates.base import Surrogate, What, needed_score_bound

# The range of scores if no bound is given: beyond all margins, and where every softmax is saturated.
REACH = 1000.0
# Gradients are compared at s + h u and s - h u: a quotient of differences is a lower estimate for every h.
STEP = 1e-4
ALTERNATIONS = 4
SHORT = 64
LABEL_VECTORS = 70
ROUNDS = {"short": 60, "long": 8}
PROPOSALS = 8
DOCUMENTS_AT_ONCE = 1_000_000
NEAR = np.array([-1.5, -1e-3, 0.0, 1e-3, 1.5])
"""How far from the score of another document a score is put: ties, and both sides of a margin of 1."""


@dataclass(frozen=True)
class Constants:
    """The constants of one surrogate over lists of at most m documents with labels in 0..y_max.

    Attributes
    ----------
    lipschitz, lipschitz_l2 : float
        G with respect to l_inf and G^CW with respect to l_2.
    smoothness : float or None
        H with respect to l_inf; None where the surrogate has kinks.
    bound : float or None
        B >= sup |phi| over ||s||_inf <= S; None without S, or if it is not known.
    excess_bound : float or None
        B >= sup of phi(s, y) - inf over all s' of phi(s', y): the B of the loss after its infimum has been subtracted.
    """

    lipschitz: float
    lipschitz_l2: float
    smoothness: float | None
    bound: float | None
    excess_bound: float | None


@checked
def constants(
    surrogate: str | Surrogate, m: Count, y_max: Label, *, score_bound: NonNegative | None = None
) -> Constants:
    """All constants of ``surrogate`` that the bounds need.

    Parameters
    ----------
    surrogate : str or Surrogate
        A name of ``surrogates.NAMES`` (then with default options) or an object.
    m : int >= 1
        The longest list.
    y_max : int in 0..255
        The largest label.
    score_bound : float >= 0, optional
        The S of ||s||_inf <= S.

    Raises
    ------
    DataError
        When an argument is out of range, or the surrogate has no global constants and ``score_bound`` is missing.

    Example
    -------
    >>> known = constants("ranksvm", 10, 1, score_bound=2.0)
    >>> known.lipschitz, known.bound, known.smoothness
    (50.0, 125.0, None)
    """
    loss = surrogates.create(surrogate) if isinstance(surrogate, str) else surrogate
    return Constants(
        lipschitz=loss.lipschitz(m, y_max, "linf", score_bound=score_bound),
        lipschitz_l2=loss.lipschitz(m, y_max, "l2", score_bound=score_bound),
        smoothness=loss.smoothness(m, y_max, score_bound=score_bound) if loss.smooth else None,
        bound=None if score_bound is None else loss.bound(m, y_max, score_bound),
        excess_bound=None if score_bound is None else loss.excess_bound(m, y_max, score_bound),
    )


@checked
def supremum(
    surrogate: str | Surrogate, m: Count, y_max: Label, what: What, *, score_bound: NonNegative | None = None
) -> float | None:
    """The exact supremum that a constant bounds, if it is known; otherwise None. Arguments as in ``constants``.

    Published constants can be larger: ListNet's is 2 instead of 2 - 2 / (1 + (m - 1) e^y_max), SmoothDCG's is four
    times the supremum. Where the surrogate has global constants, the supremum is over all scores.

    Example
    -------
    >>> supremum("smooth-dcg", 10, 1, "lipschitz-linf"), constants("smooth-dcg", 10, 1).lipschitz
    (0.5, 2.0)
    """
    loss = surrogates.create(surrogate) if isinstance(surrogate, str) else surrogate
    if what == "bound":
        needed_score_bound(f"the value of {loss.name}", score_bound)
    return loss.supremum(what, m, y_max, score_bound=score_bound)


@dataclass(frozen=True, eq=False)
class Found:
    """The largest value that :func:`search` found, and where.

    Attributes
    ----------
    value : float
        The quantity searched for, recomputed at the point below; the supremum is at least this.
    scores : float64, shape (size,), with size <= m
    y : int32, shape (size,)
    others : float64, shape (size,), or None
        For the smoothness, the second score vector: value = ||grad phi(scores) - grad phi(others)||_1 /
        ||scores - others||_inf.
    """

    value: float
    scores: Floats
    y: NDArray[np.int32]
    others: Floats | None = None


@checked
def search(
    surrogate: str | Surrogate,
    m: Count,
    y_max: Label,
    what: What,
    *,
    rng: np.random.Generator,
    restarts: Count = 8,
    score_bound: NonNegative | None = None,
    shorter: Found | None = None,
) -> Found:
    """Look for the supremum over lists of at most ``m`` documents, labels in 0..y_max and ||s||_inf <= score_bound.

    Label vectors are enumerated (short lists) or chosen among those that theory suggests (one, half or all documents
    relevant, levels filled equally); scores start where suprema of ranking losses are usually attained: all equal,
    ordered by label and in reverse, two groups far apart. From the ``restarts`` best starts, random changes of single
    scores, labels, scale and all scores at once are kept if they increase the value. Lists of 1 to 4 documents are
    searched as well, unless it is given what a search among shorter lists found.

    Parameters
    ----------
    surrogate : str or Surrogate
        A name of ``surrogates.NAMES`` (then with default options) or an object.
    m, y_max : int
    what : str
        "lipschitz-linf": sup ||grad phi||_1; "lipschitz-l2": sup ||grad phi||_2; "smoothness":
        sup ||grad phi(s) - grad phi(s')||_1 / ||s - s'||_inf; "bound": sup |phi|.
    rng : numpy Generator
    restarts : int >= 1
        The number of points that are improved, for every length of list; about 5,000 evaluations each for short lists,
        fewer for long ones.
    score_bound : float > 0, optional
        Needed for "bound" and by surrogates without global constants; else scores go to 1,000.
    shorter : Found, optional
        What was found for fewer documents and the same other arguments: lists of ``m`` documents are searched, and the
        better of both is returned.

    Returns
    -------
    Found
        Always a lower estimate: ``value`` is attained at the point returned (up to rounding).

    Raises
    ------
    DataError
        When an argument is out of range, a needed ``score_bound`` is missing, or the smoothness of a surrogate with
        kinks is requested.

    Example
    -------
    >>> local = search("ranksvm", 6, 1, "lipschitz-linf", rng=np.random.default_rng(0))
    >>> local.value, local.y.sum()
    (18.0, np.int64(3))
    """
    loss = surrogates.create(surrogate) if isinstance(surrogate, str) else surrogate
    reach = _reach(loss, m, y_max, what, score_bound)
    best = shorter
    for size in [m] if shorter else sorted({m, *range(1, min(m, 5))}):
        points = _climb(loss, what, reach, y_max, _starts(loss, what, size, y_max, reach, restarts, rng), rng)
        local = _recomputed(loss, what, reach, points)
        if best is None or local.value > best.value:
            best = local
    assert best is not None
    return best


@dataclass
class _Points:
    # P candidates: scores, labels and, for the smoothness, directions, each (P, size); and their values (P,).
    scores: Floats
    y: NDArray[np.int32]
    directions: Floats
    values: Floats

    def take(self, rows: NDArray[np.intp]) -> "_Points":
        return _Points(self.scores[rows], self.y[rows], self.directions[rows], self.values[rows])


def _reach(loss: Surrogate, m: int, y_max: int, what: What, score_bound: float | None) -> float:
    # Requesting the constant raises the surrogate's own error if it has none or needs a bound.
    if what == "smoothness":
        loss.smoothness(m, y_max, score_bound=score_bound)
    elif what != "bound":
        loss.lipschitz(m, y_max, "linf" if what == "lipschitz-linf" else "l2", score_bound=score_bound)
    if score_bound is None and what != "bound":
        return REACH
    reach = needed_score_bound(f"the value of {loss.name}" if what == "bound" else loss.name, score_bound)
    if reach == 0.0:
        raise DataError("score_bound: expected a number > 0 to search in, found 0")
    return reach


def _evaluated(loss: Surrogate, what: What, reach: float, points: _Points) -> _Points:
    n, size = points.scores.shape
    rows = max(1, DOCUMENTS_AT_ONCE // size)
    for begin in range(0, n, rows):
        part = slice(begin, begin + rows)
        if what == "smoothness":
            points.scores[part], points.directions[part], points.values[part] = _bend(
                loss, reach, points.scores[part], points.y[part], points.directions[part]
            )
            continue
        values, gradient = _at(loss, points.scores[part], points.y[part])
        if what == "bound":
            points.values[part] = np.abs(values)
        else:
            points.values[part] = np.linalg.norm(gradient, 1 if what == "lipschitz-linf" else 2, axis=1)
    return points


def _at(loss: Surrogate, scores: Floats, y: NDArray[np.int32]) -> tuple[Floats, Floats]:
    n, size = scores.shape
    offsets = np.arange(0, n * size + 1, size, dtype=np.int64)
    values, gradient = loss.unchecked(np.ascontiguousarray(scores).ravel(), np.ascontiguousarray(y).ravel(), offsets)
    return values, gradient.reshape(n, size)


def _bend(
    loss: Surrogate, reach: float, scores: Floats, y: NDArray[np.int32], directions: Floats
) -> tuple[Floats, Floats, Floats]:
    # u <- sign(M u) for the symmetric second derivative M: ||M u||_1 never decreases, because with v = sign(M u)
    # ||M v||_1 >= u' M v = v' M u = ||M u||_1.
    h = STEP * min(1.0, reach)
    centres = np.clip(scores, h - reach, reach - h)
    best, best_directions = np.full(len(scores), -1.0), directions
    for _ in range(ALTERNATIONS):
        ahead, behind = centres + h * directions, centres - h * directions
        change = _at(loss, ahead, y)[1] - _at(loss, behind, y)[1]
        quotient = np.abs(change).sum(axis=1) / np.abs(ahead - behind).max(axis=1)
        better = quotient > best
        best = np.where(better, quotient, best)
        best_directions = np.where(better[:, None], directions, best_directions)
        directions = np.where(change == 0.0, directions, np.sign(change))
    return centres, best_directions, best


def _starts(
    loss: Surrogate, what: What, size: int, y_max: int, reach: float, keep: int, rng: np.random.Generator
) -> _Points:
    pairs = [(s, y) for y in _label_vectors(size, y_max, rng) for s in _score_vectors(size, y, reach, rng)]
    scores, labels = np.array([s for s, _ in pairs]), np.array([y for _, y in pairs], np.int32)
    directions = rng.choice([-1.0, 1.0], scores.shape)
    directions[::2] = np.where(np.arange(size) < (size + 1) // 2, 1.0, -1.0)
    points = _evaluated(loss, what, reach, _Points(scores, labels, directions, np.zeros(len(pairs))))
    return points.take(np.argsort(-points.values, kind="stable")[:keep])


def _label_vectors(size: int, y_max: int, rng: np.random.Generator) -> Iterator[NDArray[np.int32]]:
    # Sorted by decreasing label: a surrogate does not depend on the order of documents.
    if math.comb(size + y_max, y_max) <= LABEL_VECTORS:
        for labels in itertools.combinations_with_replacement(range(y_max, -1, -1), size):
            yield np.array(labels, np.int32)
        return
    position = np.arange(size)
    counts = {1, size // 2, size - 1, size} | ({2, size // 4, size - size // 4} if size <= SHORT else set())
    for high, n_high in itertools.product({1, y_max}, sorted(counts)):
        yield np.where(position < n_high, high, 0).astype(np.int32)
    yield np.where(position < 1, y_max, y_max - 1).astype(np.int32)
    for levels in sorted({min(3, y_max + 1), min(y_max + 1, size)}):
        yield (y_max - position * levels // size).astype(np.int32)
    for _ in range(4 if size <= SHORT else 1):
        yield -np.sort(-rng.integers(0, y_max + 1, size)).astype(np.int32)


def _score_vectors(size: int, y: NDArray[np.int32], reach: float, rng: np.random.Generator) -> Iterator[Floats]:
    position = np.arange(size)
    borders = np.flatnonzero(y[1:] != y[:-1]) + 1
    cuts = sorted({1, size // 2, size - 1, *(borders if size <= SHORT else borders[:1]).tolist()} & set(range(size)))
    yield np.zeros(size)
    for length in sorted({reach, min(reach, 1.0), min(reach, 30.0)} if size <= SHORT else {reach, min(reach, 1.0)}):
        staircase = length * np.linspace(1.0, -1.0, size)
        yield from (staircase, -staircase, np.full(size, length), np.full(size, -length))
        for cut in cuts:
            groups = np.where(position < cut, -length, length)
            yield from (groups, -groups)
        if size > 2:
            yield np.where((position == 0) | (position == size - 1), length, -length)
        yield np.clip(length * rng.normal(size=size) / 3.0, -length, length)


def _climb(loss: Surrogate, what: What, reach: float, y_max: int, points: _Points, rng: np.random.Generator) -> _Points:
    n, size = points.scores.shape
    for _ in range(ROUNDS["short" if size <= SHORT else "long"]):
        tried = points.take(np.repeat(np.arange(n), PROPOSALS))
        _change(tried.scores, tried.y, tried.directions, reach, y_max, rng)
        tried = _evaluated(loss, what, reach, tried)
        best = tried.values.reshape(n, PROPOSALS).argmax(axis=1) + PROPOSALS * np.arange(n)
        better = tried.values[best] > points.values
        for own, other in zip(np.flatnonzero(better), best[better], strict=True):
            points.scores[own], points.y[own] = tried.scores[other], tried.y[other]
            points.directions[own], points.values[own] = tried.directions[other], tried.values[other]
    return points


@njit
def _change(scores, y, directions, reach, y_max, rng):  # type: ignore[no-untyped-def]
    # One random change of every candidate in place, kept inside the box
    n, size = scores.shape
    for row in range(n):
        s = scores[row]
        i, j = rng.integers(0, size), rng.integers(0, size)
        spread = 10.0 ** rng.uniform(-3.0, 0.5)
        kind = rng.integers(0, 7)
        if kind == 0:
            s[i] = reach if rng.integers(0, 2) else -reach
        elif kind == 1:
            s[i] = s[j] + NEAR[rng.integers(0, len(NEAR))]
        elif kind == 2:
            s[i] += spread * rng.normal()
        elif kind == 3:
            for k in range(size):
                s[k] += spread * rng.normal()
        elif kind == 4:
            s *= math.exp(rng.normal())
        elif kind == 5:
            y[row, i] = rng.integers(0, y_max + 1)
        else:
            directions[row, i] = -directions[row, i]
        for k in range(size):
            s[k] = min(max(s[k], -reach), reach)


def _recomputed(loss: Surrogate, what: What, reach: float, points: _Points) -> Found:
    # Once more, separately and with checked arguments.
    row = int(np.argmax(points.values))
    scores, y, offsets = points.scores[row].copy(), points.y[row].copy(), [0, points.scores.shape[1]]
    if what == "bound":
        return Found(abs(float(loss.value(scores, y, offsets)[0])), scores, y)
    if what == "smoothness":
        step = STEP * min(1.0, reach) * points.directions[row]
        ahead, behind = scores + step, scores - step
        change = loss.gradient(ahead, y, offsets) - loss.gradient(behind, y, offsets)
        return Found(float(np.abs(change).sum() / np.abs(ahead - behind).max()), ahead, y, behind)
    order = 1 if what == "lipschitz-linf" else 2
    return Found(float(np.linalg.norm(loss.gradient(scores, y, offsets), order)), scores, y)
