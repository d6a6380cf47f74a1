"""What do uniform bounds certify of one trained ranker: how large can its risk on new queries be?

The bounds are those of `lists`, and that of :mod:`pipeline_lib.theory.contraction`, which is usually the tightest.
They hold for all rankers of a ball at once, of a radius that is fixed before the data are seen. A trained ranker may
lie anywhere, so the balls of radius W_j = 2^j / R_X, j = 0, 1, 2, ..., are taken, and the bound for each is applied
with the probability delta / ((j + 1)(j + 2)) of failing. These sum to delta, and for every ranker w, with W_j the
smallest of the radii that is at least ||w||,

    L(w) <= Lhat(w) + bound(n; W_j, delta / ((j + 1)(j + 2)))        with probability 1 - delta

(structural risk minimisation over the norm). Each of the bounds has an equal share of delta, so that all of them, and
therefore the least, hold with probability 1 - delta.

R_X, the largest norm of a document, the length m of the longest list and the largest label are taken from the data and
treated as if they had been known beforehand, as is the standardisation of the features. phi is taken less its smallest
value over all scores, so that it is not negative; B is its largest value over the ball. Chapelle and Wu's bound is for
losses in [0, 1] and is applied to phi / B.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pipeline_lib.core.checks import Positive, Probability, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import contraction, list_bounds, list_lengths
from pipeline_lib.theory.ranker_facts import Facts

UNIFORM: tuple[str, ...] = (
    *(name for name, statement in list_bounds.STATEMENTS.items() if statement.ball and not statement.own),
    contraction.NAME,
)
"""The bounds that hold for all rankers of a ball at once: those of `lists`, and one of our own."""
DELTA = 0.05
"""The probability with which certificates may fail, where none is given."""

LARGEST_SCORE = 1e300
"""Radii are not doubled beyond this, where float64 ends."""


@dataclass(frozen=True)
class Certificate:
    """What one bound says of a ranker.

    Attributes
    ----------
    bound, place : str
        The bound, and where it is stated.
    ball : str
        Its norm: l2 or l1.
    radius : float
        Of the ball in which the ranker lies, W_j.
    empirical_risk : float
        The training risk.
    deviation : float
        What the bound adds to the training risk.
    largest_loss : float
        B, the largest loss of any ranker of the ball.
    zero_risk : float
        The mean loss of the ranker w = 0, which learned nothing, on the same queries.
    at : callable
        n -> the deviation for n queries.
    """

    bound: str
    place: str
    ball: str
    radius: float
    empirical_risk: float
    deviation: float
    largest_loss: float
    zero_risk: float
    at: Callable[[int], float] = field(repr=False, compare=False)

    @property
    def risk(self) -> float:
        """The training risk plus the deviation: what the true risk does not exceed, with probability 1 - delta."""
        return self.empirical_risk + self.deviation

    @property
    def informative(self) -> bool:
        """Whether the certified risk is below the loss of w = 0: not below B alone, which nearly any bound is."""
        return self.risk < self.zero_risk

    @cached_property
    def informative_from(self) -> int | None:
        """The number of queries from which it would be informative at the same training risk; None beyond 10^15."""
        return list_bounds.first_below(self.at, lambda n: self.zero_risk - self.empirical_risk)


@dataclass(frozen=True)
class Certificates:
    """What every bound says: ``holding``, the least risk first, and the ``reasons`` for which others say nothing."""

    holding: tuple[Certificate, ...]
    reasons: dict[str, str]


@checked
def certify(known: Facts, surrogate: Surrogate, *, delta: Probability = DELTA) -> Certificates:
    """What the bounds say of the trained ranker of which ``known`` are the facts.

    Raises
    ------
    DataError
        When delta is not in (0, 1).

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> known = Facts(10**9, 10, 20, 2, 0.5, 1.0, 1.0, 1.0, 0.3, 0.4)
    >>> first = certify(known, surrogates.create("listnet")).holding[0]
    >>> first.bound, first.radius, round(first.risk, 3), first.informative
    ('contraction', 1.0, 0.301, True)
    >>> certify(known, surrogates.create("ranksvm")).reasons
    {'optimistic': 'optimistic (Theorem 17): expected a smooth loss; ranksvm has kinks'}
    """
    return _all(known, surrogate, None, delta)


@checked
def of_class(known: Facts, surrogate: Surrogate, *, radius: Positive, delta: Probability = DELTA) -> Certificates:
    """What the bounds say of all rankers of norm at most ``radius`` at once, for the training risk of ``known``.

    The radius is that of the l2 ball, for ``erm-l1`` of the l1 ball, and must not depend on the data. The norms of the
    weights in ``known`` are not used.

    Raises
    ------
    DataError
        When delta is not in (0, 1), or the radius is not positive.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> known = Facts(1000, 10, 20, 2, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0)
    >>> [one.bound for one in of_class(known, surrogates.create("ranksvm"), radius=1.0).holding]
    ['contraction', 'chapelle-wu', 'erm', 'erm-l1']
    """
    return _all(known, surrogate, radius, delta)


def _all(known: Facts, surrogate: Surrogate, radius: float | None, delta: float) -> Certificates:
    holding, reasons = [], {}
    for name in UNIFORM:
        try:
            holding.append(_certificate(name, known, surrogate, radius, delta / len(UNIFORM)))
        except DataError as error:
            reasons[name] = str(error)
    return Certificates(tuple(sorted(holding, key=lambda one: one.risk)), reasons)


def _certificate(name: str, known: Facts, surrogate: Surrogate, radius: float | None, delta: float) -> Certificate:
    stated = list_bounds.STATEMENTS.get(name)
    place, ball = (stated.place, stated.ball) if stated else (contraction.PLACE, "l2")
    norm, feature_norm = (known.l1, known.feature_linf) if ball == "l1" else (known.l2, known.feature_l2)
    if feature_norm == 0.0:
        raise DataError(f"{name} ({place}): expected a feature that is not 0, found none")
    if radius is None:
        step, radius = _ball_around(norm, feature_norm)
        delta /= (step + 1) * (step + 2)
    deviation, largest = _deviation(name, known, surrogate, radius, feature_norm, delta)
    return Certificate(
        bound=name,
        place=place,
        ball=ball,
        radius=radius,
        empirical_risk=known.empirical_risk,
        deviation=deviation(known.n),
        largest_loss=largest,
        zero_risk=known.zero_risk,
        at=deviation,
    )


def _ball_around(norm: float, feature_norm: float) -> tuple[int, float]:
    """The j and W_j of the smallest ball of the sequence that holds a ranker."""
    if not norm * feature_norm < LARGEST_SCORE:
        raise DataError(
            f"expected scores below {LARGEST_SCORE:g}, found a ranker with scores up to {norm * feature_norm:g}"
        )
    step = max(0, math.ceil(math.log2(norm * feature_norm))) if norm > 0.0 else 0
    # Rounding may take the logarithm of a norm just above a radius for a whole number.
    while 2.0**step / feature_norm < norm:
        step += 1
    return step, 2.0**step / feature_norm


def _deviation(
    name: str, known: Facts, surrogate: Surrogate, radius: float, feature_norm: float, delta: float
) -> tuple[Callable[[int], float], float]:
    """What the bound adds to the training risk, as a function of n, and B."""
    # Constants for lists of two documents and two labels are those of the shortest ones that can be ranked.
    given: dict[str, Any] = {"m": max(known.m, 2), "radius": radius, "feature_norm": feature_norm}
    # Our own bound needs what Theorem 9 needs, and another Lipschitz constant, which all surrogates state.
    of = "erm" if name == contraction.NAME else name
    given |= list_bounds.of_surrogate(of, surrogate, y_max=max(known.y_max, 1), **given)
    given |= {"d": known.d, "delta": delta, "empirical_risk": known.empirical_risk}
    largest = float(given["loss_bound"])
    if name == contraction.NAME:
        bounded = {"largest": known.m * feature_norm**2, "lipschitz_l2": given["lipschitz_l2"], "radius": radius}
        square = bounded["largest"] if known.square is None else known.square
        free = list_lengths.of_loss(surrogate, scores=radius * feature_norm, y_max=max(known.y_max, 1))
        chain = {"m": given["m"], "lipschitz": given["lipschitz"], "scores": radius * feature_norm}

        def deviation(n: int) -> float:
            average = list_lengths.by_chain(n=n, **chain)
            average = average if free is None else min(average, free / math.sqrt(n))
            return contraction.deviation(n, square=square, loss_bound=largest, delta=delta, average=average, **bounded)

        return deviation, largest
    if not list_bounds.STATEMENTS[name].unit_losses:
        return lambda n: list_bounds.evaluate(name, n=n, **given), largest
    scaled = given | {"lipschitz_l2": given["lipschitz_l2"] / largest, "loss_bound": 1.0}
    return lambda n: largest * list_bounds.evaluate(name, n=n, **scaled), largest
