"""What do the bounds of `lists` on generalisation and excess risk say in numbers?

n queries of m documents; phi has the Lipschitz constants G (with respect to the maximum norm of scores) and G^CW (the
Euclidean norm) and, where it is smooth, the smoothness constant H_phi; ||w||_2 <= W2 and ||x||_2 <= R_X (``erm-l1``:
||w||_1 <= W1 and ||x||_inf <= Rbar_X).

| name | statement | what it adds |
|---|---|---|
| ``chapelle-wu`` | Section 4 | 3 G^CW W2 R_X sqrt(m/n) + sqrt(8 log(1/delta)/n), as printed, for losses in [0, 1] |
| ``ogd`` | Theorem 5 | G W2 R_X sqrt(2/n) |
| ``rerm`` | Theorem 6 | 2 G R_X W2 (8/n + sqrt(2/n)) |
| ``erm`` | Theorem 9 | 2 Rad + 3 B sqrt(log(2/delta)/(2n)), Rad by Corollary 8 |
| ``erm-l1`` | Theorem 12 | the same, Rad from Proposition 10 |
| ``smooth-ogd`` | (8) | 2 sqrt(2 H W2^2 L*/n) + 8 H W2^2/n, H = R_X^2 H_phi |
| ``optimistic`` | Theorem 17 | L <= Lhat + 45 r* + sqrt(8 r* L) + sqrt(4 r0 L) + 20 r0, solved for L |
| ``length-free`` | ours | 2 Rad + B sqrt(log(1/delta)/(2n)), Rad without m, for ListNet and SmoothDCG@1 |
| ``chain`` | ours | the same, Rad by a chain of coverings, which grows as sqrt(log m), for every loss |

``ogd``, ``rerm`` and ``smooth-ogd`` need a convex loss and bound the expected excess risk L - L* of a learner: the mean
iterate of online gradient descent (with the step W2/(G R_X sqrt(2n)), or that of (7) for a non-negative smooth loss),
and the regularised minimiser. The others hold for all w of the class at once with probability 1 - delta and bound
L - Lhat, also for losses that are not convex; ``optimistic`` needs a smooth and non-negative one.

The constants inside Theorems 9 and 12 are those of the standard argument (McDiarmid's inequality for the deviation and
again for the empirical Rademacher average), which the paper leaves to the reader. The two bounds of our own are those
of :mod:`pipeline_lib.theory.list_lengths`, whose averages hold for every sample, so that McDiarmid's inequality is
applied once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

from pipeline_lib.checks import checked
from pipeline_lib.errors import ConfigurationError, DataError, hint
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import list_lengths
from pipeline_lib.theory.list_statements import (
    MEANINGS,
    NAMES,
    STATEMENTS,
    Entropy,
    Statement,
    complexity_of_chapelle_wu,
)

__all__ = [
    "MEANINGS",
    "NAMES",
    "PRINTED",
    "Assessment",
    "Entropy",
    "assess",
    "complexity_of_chapelle_wu",
    "evaluate",
    "excess_of_minimiser",
    "first_below",
    "of_surrogate",
    "place",
    "rerm_l2",
]

PRINTED: tuple[str, ...] = tuple(name for name, statement in STATEMENTS.items() if not statement.own)
"""The bounds that the paper states."""
MOST_QUERIES = 10**15
"""The end of the search for the n from which a bound is not vacuous."""


@checked
def evaluate(
    name: str,
    *,
    n: float,
    m: float,
    lipschitz: float | None = None,
    lipschitz_l2: float | None = None,
    smoothness: float | None = None,
    average: float | None = None,
    radius: float,
    feature_norm: float,
    d: int | None = None,
    loss_bound: float | None = None,
    delta: float | None = None,
    optimal_risk: float | None = None,
    empirical_risk: float | None = None,
    convex: bool = True,
    entropy: Entropy | None = None,
) -> float:
    """What the statement ``name`` adds to the empirical or to the optimal risk.

    Parameters
    ----------
    name : str
        One of NAMES; the module's table has the formulas.
    n, m : float >= 1
        Queries, and documents of each; up to 10^12 and beyond.
    lipschitz, lipschitz_l2, smoothness : float > 0, optional
        G, G^CW and H_phi, as far as the statement needs them.
    average : float > 0, optional
        sqrt(n) Rad, for ``length-free``; :func:`pipeline_lib.theory.list_lengths.of_loss` gives it.
    radius, feature_norm : float > 0
        W2 and R_X; for ``erm-l1`` W1 and Rbar_X.
    d : int >= 1, optional
        Features; for ``erm-l1``.
    loss_bound : float > 0, optional
        B, the largest loss over the class.
    delta : float in (0, 1), optional
        The bound fails with at most this probability.
    optimal_risk, empirical_risk : float >= 0, optional
        L*, for ``smooth-ogd``, and Lhat, for ``optimistic``.
    convex : bool
        Whether phi is convex, which three statements require.
    entropy : "closed-form" or "integral", optional
        How ``erm``, ``erm-l1`` and ``optimistic`` bound the Rademacher average: by Corollary 8, 11 or 16, or by the
        entropy integral minimised numerically. The default is the closed form, except for ``erm-l1``, whose closed form
        is far larger than the integral and does not scale with the loss.

    Raises
    ------
    ConfigurationError
        When there is no such statement.
    DataError
        When an argument is out of range, a constant that the statement needs is missing, or phi is not convex and the
        statement is for convex losses only; the message names the assumption.

    Example
    -------
    >>> given = dict(n=800, m=50, radius=1.0, feature_norm=1.0)
    >>> evaluate("ogd", lipschitz=2.0, **given)
    0.1
    >>> round(evaluate("chapelle-wu", lipschitz_l2=1.0, delta=0.1, **given), 4)
    0.9017
    >>> evaluate("ogd", **given)
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.DataError: ogd (Theorem 5): expected lipschitz, G in the maximum norm of scores, found none
    """
    statement = _statement(name)
    values = {
        "lipschitz": lipschitz,
        "lipschitz_l2": lipschitz_l2,
        "smoothness": smoothness,
        "average": average,
        "d": d,
        "loss_bound": loss_bound,
        "delta": delta,
        "optimal_risk": optimal_risk,
        "empirical_risk": empirical_risk,
    }
    where = f"{name} ({statement.place})"
    for key, number in {"n": n, "m": m, "radius": radius, "feature_norm": feature_norm}.items():
        _check(where, key, number)
    for key in statement.needs:
        if values[key] is None:
            raise DataError(f"{where}: expected {key}, {MEANINGS[key]}, found none")
    for key, value in values.items():
        if value is not None:
            _check(where, key, value)
    if statement.convex and not convex:
        raise DataError(f"{where}: expected a convex loss, which its proof needs, found one that is not convex")
    if entropy not in (None, "closed-form", "integral"):
        raise DataError(f"entropy: expected 'closed-form' or 'integral', found {entropy!r}")
    common = {"n": float(n), "m": float(m), "radius": float(radius), "feature_norm": float(feature_norm)}
    needed: dict[str, Any] = {key: values[key] for key in statement.needs}
    if statement.by_entropy:
        needed["entropy"] = entropy or ("integral" if name == "erm-l1" else "closed-form")
    return statement.formula(**common, **needed)


@dataclass(frozen=True)
class Assessment:
    """A bound compared with the largest loss of the class.

    ``value`` is what :func:`evaluate` gives; ``loss_bound`` B; ``vacuous`` whether value >= B, so that the bound
    excludes nothing; ``not_vacuous_from`` the smallest n for which the bound is not vacuous (None beyond 10^15).
    """

    value: float
    loss_bound: float
    vacuous: bool
    not_vacuous_from: int | None


@checked
def assess(name: str, *, n: float, loss_bound: float, **constants: Any) -> Assessment:
    """Evaluate a bound, and determine whether it is vacuous and from which n it is not.

    Arguments and errors as in :func:`evaluate`, with ``loss_bound`` always given.

    Example
    -------
    >>> assessment = assess("ogd", n=2, m=10, lipschitz=2.0, radius=1.0, feature_norm=1.0, loss_bound=0.5)
    >>> assessment.value, assessment.vacuous, assessment.not_vacuous_from
    (2.0, True, 33)
    """
    _check(f"{name} ({place(name)})", "loss_bound", loss_bound)
    value = evaluate(name, n=n, loss_bound=loss_bound, **constants)
    first = first_below(lambda k: evaluate(name, n=k, loss_bound=loss_bound, **constants), lambda k: loss_bound)
    return Assessment(value, loss_bound, value >= loss_bound, first)


@checked
def first_below(left: Callable[[int], float], right: Callable[[int], float]) -> int | None:
    """The smallest n <= 10^15 from which left(n) < right(n), for sides whose order changes at most once; None if none.

    Example
    -------
    >>> first_below(lambda n: 1.0 / n, lambda n: 0.01), first_below(lambda n: 1.0, lambda n: 0.5)
    (101, None)
    """
    if left(1) < right(1):
        return 1
    low, high = 1, 2
    while not left(high) < right(high):
        if high >= MOST_QUERIES:
            return None
        low, high = high, min(2 * high, MOST_QUERIES)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if left(middle) < right(middle) else (middle, high)
    return high


@checked
def of_surrogate(
    name: str, surrogate: str | Surrogate, *, m: int, y_max: int, radius: float, feature_norm: float
) -> dict[str, Any]:
    """The constants that ``surrogate`` supplies to the statement ``name``, as arguments of :func:`evaluate`.

    ``surrogate`` is a registry name (then with default options) or an object. Scores lie in [-S, S], S = radius
    feature_norm. B is that of the loss minus its smallest value over all scores (for ListNet the entropy of the labels,
    so that the difference is a divergence). This changes no gradient and no excess risk, and makes the loss
    non-negative.

    Raises
    ------
    DataError
        When the statement needs smoothness or convexity, which the surrogate does not have.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> known = of_surrogate("ogd", surrogates.create("listnet"), m=10, y_max=2, radius=1.0, feature_norm=1.0)
    >>> known["lipschitz"], known["loss_bound"]
    (2.0, 4.0)
    >>> of_surrogate("ogd", surrogates.create("smooth-dcg"), m=10, y_max=2, radius=1.0, feature_norm=1.0)
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.DataError: ogd (Theorem 5): expected a convex loss, which smooth-dcg is not
    """
    from pipeline_lib import surrogates
    from pipeline_lib.theory.constants import constants

    statement = _statement(name)
    loss = surrogates.create(surrogate) if isinstance(surrogate, str) else surrogate
    known = constants(loss, m, y_max, score_bound=radius * feature_norm)
    where = f"{name} ({statement.place})"
    if statement.convex and not known.convex:
        raise DataError(f"{where}: expected a convex loss, which {loss.name} is not")
    if "smoothness" in statement.needs and known.smoothness is None:
        raise DataError(f"{where}: expected a smooth loss; {loss.name} has kinks")
    if statement.non_negative and getattr(loss, "sign", "regret") != "regret":
        raise DataError(
            f"{where}: expected a non-negative loss; {loss.name} with sign {getattr(loss, 'sign', '')!r} is "
            "not, use sign 'regret'"
        )
    if known.excess_bound is None:
        raise DataError(f"{where}: expected a bound on the loss, none is known for {loss.name}")
    own: dict[str, Any] = {}
    if "average" in statement.needs:
        own["average"] = list_lengths.of_loss(loss, scores=radius * feature_norm, y_max=y_max)
        if own["average"] is None:
            raise DataError(f"{where}: expected listnet, or smooth-dcg with k = 1; nothing is known of {loss.name}")
    return {
        **own,
        "lipschitz": known.lipschitz,
        "lipschitz_l2": known.lipschitz_l2,
        "smoothness": known.smoothness,
        "loss_bound": known.excess_bound,
        "convex": known.convex,
    }


@checked
def excess_of_minimiser(deviation: float, *, n: float, loss_bound: float, delta: float) -> float:
    """Excess risk of the empirical minimiser, with probability 1 - 2 delta: the second half of Theorems 9 and 12.

    L(w_hat) <= Lhat(w_hat) + deviation <= Lhat(w*) + deviation, and by Hoeffding's inequality for the one ranker w*
    Lhat(w*) <= L* + B sqrt(log(1/delta) / (2n)).

    Parameters
    ----------
    deviation : float
        What :func:`evaluate` gives for ``erm`` or ``erm-l1``.
    n, loss_bound, delta : float
        As there.

    Example
    -------
    >>> excess_of_minimiser(0.5, n=200, loss_bound=2.0, delta=math.exp(-1.0))
    0.6
    """
    return deviation + loss_bound * math.sqrt(math.log(1.0 / delta) / (2.0 * n))


@checked
def place(name: str) -> str:
    """The place of the statement ``name`` in the paper.

    Example
    -------
    >>> place("erm")
    'Theorem 9'
    """
    return _statement(name).place


@checked
def rerm_l2(n: int, *, radius: float, lipschitz: float, feature_norm: float) -> float:
    """The lambda of Theorem 6: sqrt( (4 G^2/n) / (W2^2/2 + 4 W2^2/n) ) with G R_X as the constant in w (Theorem 18).

    Example
    -------
    >>> rerm_l2(8, radius=1.0, lipschitz=2.0, feature_norm=1.0).__round__(4)
    1.4142
    """
    return math.sqrt(4.0 * (lipschitz * feature_norm) ** 2 / n / (radius**2 * (0.5 + 4.0 / n)))


def _statement(name: str) -> Statement:
    if name not in STATEMENTS:
        raise ConfigurationError(f"unknown bound {name!r}; {hint(name, NAMES)}")
    return STATEMENTS[name]


def _is_finite(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def _check(where: str, key: str, value: Any) -> None:
    if not _is_finite(value):
        raise DataError(f"{where}: expected a finite number as {key}, found {value!r}")
    if key == "delta" and not 0.0 < value < 1.0:
        raise DataError(f"{where}: expected delta in (0, 1), found {value}")
    if key in ("n", "m", "d") and value < 1:
        raise DataError(f"{where}: expected {key} >= 1, found {value}")
    if key in ("optimal_risk", "empirical_risk") and value < 0.0:
        raise DataError(f"{where}: expected {key} >= 0, because the loss must not be negative, found {value}")
    positive = ("radius", "feature_norm", "loss_bound", "lipschitz", "lipschitz_l2", "smoothness", "average")
    if key in positive and not value > 0.0:
        raise DataError(f"{where}: expected {key} > 0, found {value}")
