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

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal

from pipeline_lib import surrogates
from pipeline_lib.core.checks import AtLeast1, Count, Extended, Label, NonNegative, Positive, Probability, checked
from pipeline_lib.core.errors import ConfigurationError, DataError, hint
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import entropy as entropies
from pipeline_lib.theory import list_lengths
from pipeline_lib.theory.constants import constants as constants_of

Entropy = Literal["closed-form", "integral"]

MEANINGS = {
    "lipschitz": "G in the maximum norm of scores",
    "lipschitz_l2": "G in the Euclidean norm of scores",
    "smoothness": "H in the maximum norm of scores",
    "average": "the Rademacher average of one query, whatever the length of its list",
    "d": "the number of features",
    "loss_bound": "the bound B on the loss over the class",
    "delta": "the probability with which the bound may fail",
    "optimal_risk": "the smallest risk L* in the class",
    "empirical_risk": "the empirical risk Lhat",
}


@dataclass(frozen=True)
class Statement:
    """The place of a bound in the paper, the constants that its formula needs, and the losses for which it holds.

    The ``formula`` is a function of all constants, of which those that it ``needs`` are given; n, m, radius and
    feature_norm always are, and so is ``entropy``. ``ball`` is the norm of the ball for all of whose rankers the bound
    holds at once; a bound for the one ranker that a learner gives has none. With ``unit_losses`` the statement is for
    losses in [0, 1]. One of our ``own`` is left out of what is measured for the paper, and certificates have it within
    `contraction`.
    """

    place: str
    needs: tuple[str, ...]
    formula: Callable[[SimpleNamespace], float]
    convex: bool = False
    non_negative: bool = False
    ball: Literal["", "l2", "l1"] = ""
    unit_losses: bool = False
    own: bool = False


def _chapelle_wu(g: SimpleNamespace) -> float:
    return complexity_of_chapelle_wu(**_ball(g), lipschitz_l2=g.lipschitz_l2) + math.sqrt(
        8.0 * math.log(1.0 / g.delta) / g.n
    )


@checked
def complexity_of_chapelle_wu(
    *, n: AtLeast1, m: AtLeast1, lipschitz_l2: NonNegative, radius: NonNegative, feature_norm: NonNegative
) -> float:
    """3 G^CW W2 R_X sqrt(m/n): the part of Chapelle and Wu's bound that grows with the list.

    Example
    -------
    >>> complexity_of_chapelle_wu(n=4, m=16, lipschitz_l2=1.0, radius=1.0, feature_norm=1.0)
    6.0
    """
    return 3.0 * lipschitz_l2 * radius * feature_norm * math.sqrt(m / n)


def _ogd(g: SimpleNamespace) -> float:
    return float(g.lipschitz * g.radius * g.feature_norm * math.sqrt(2.0 / g.n))


def _rerm(g: SimpleNamespace) -> float:
    return float(2.0 * g.lipschitz * g.feature_norm * g.radius * (8.0 / g.n + math.sqrt(2.0 / g.n)))


def _erm(g: SimpleNamespace) -> float:
    if g.entropy == "closed-form":
        average = entropies.corollary_8(**_ball(g), lipschitz=g.lipschitz, loss_bound=g.loss_bound)
    else:
        average = entropies.integral(
            entropies.proposition_7(**_ball(g), lipschitz=g.lipschitz), g.n, g.loss_bound
        ).value
    return _uniform(g, average)


def _erm_l1(g: SimpleNamespace) -> float:
    if g.entropy == "closed-form":
        average = entropies.corollary_11(**_ball(g), d=g.d, lipschitz=g.lipschitz, loss_bound=g.loss_bound)
    else:
        covering = entropies.proposition_10(**_ball(g), d=g.d, lipschitz=g.lipschitz)
        average = entropies.integral(covering, g.n, g.loss_bound).value
    return _uniform(g, average)


def _uniform(g: SimpleNamespace, average: float) -> float:
    return float(2.0 * average + 3.0 * g.loss_bound * math.sqrt(math.log(2.0 / g.delta) / (2.0 * g.n)))


def _smooth_ogd(g: SimpleNamespace) -> float:
    x = g.feature_norm**2 * g.smoothness * g.radius**2 / g.n
    return 2.0 * math.sqrt(2.0 * x * g.optimal_risk) + 8.0 * x


@checked
def optimistic_terms(
    *,
    n: AtLeast1,
    m: AtLeast1,
    radius: NonNegative,
    feature_norm: NonNegative,
    smoothness: NonNegative,
    loss_bound: Positive,
    delta: Probability,
    entropy: Entropy = "closed-form",
) -> tuple[float, float]:
    """r* and r0 of Theorem 17; r0 = B (log(1/delta) + log log n) / n.

    Example
    -------
    >>> given = dict(m=10, radius=1.0, feature_norm=1.0, smoothness=2.0, loss_bound=4.0, delta=0.05)
    >>> [f"{term:.2g}" for term in optimistic_terms(n=10**12, **given)]
    ['1.3e-05', '2.5e-11']
    """
    given = {"n": n, "m": m, "smoothness": smoothness, "radius": radius, "feature_norm": feature_norm}
    # psi(r) = sqrt(r) psi(1), so the fixed point r* = psi(r*) is psi(1)^2.
    if entropy == "closed-form":
        average = entropies.corollary_16(loss_bound=loss_bound, **given)
    else:
        average = entropies.integral(entropies.proposition_15(**given), n, math.sqrt(loss_bound)).value
    # log log n is negative below n = e.
    return average**2, loss_bound * (math.log(1.0 / delta) + math.log(math.log(max(n, math.e)))) / n


@checked
def optimistic_deviation(r_star: Extended, r_0: Extended, empirical_risk: Extended) -> float:
    """L - Lhat for L = Lhat + 45 r* + sqrt(8 r* L) + sqrt(4 r0 L) + 20 r0, the largest L that Theorem 17 allows.

    Example
    -------
    >>> optimistic_deviation(0.0, 0.25, 1.0)                        # L = 9 solves L = 1 + sqrt(L) + 5
    8.0
    """
    slope = math.sqrt(8.0 * r_star) + math.sqrt(4.0 * r_0)
    free = 45.0 * r_star + 20.0 * r_0
    # L = Lhat + free + slope sqrt(L): sqrt(L) = (slope + sqrt(slope^2 + 4 (Lhat + free))) / 2, so that the gap is not a
    # difference of large numbers: free + slope sqrt(L).
    return free + slope * 0.5 * (slope + math.sqrt(slope**2 + 4.0 * (empirical_risk + free)))


def _optimistic(g: SimpleNamespace) -> float:
    terms = optimistic_terms(
        **_ball(g), smoothness=g.smoothness, loss_bound=g.loss_bound, delta=g.delta, entropy=g.entropy
    )
    return optimistic_deviation(*terms, g.empirical_risk)


def _length_free(g: SimpleNamespace) -> float:
    return list_lengths.deviation(g.average / math.sqrt(g.n), n=g.n, spread=g.loss_bound, delta=g.delta)


def _chain(g: SimpleNamespace) -> float:
    average = list_lengths.by_chain(n=g.n, m=g.m, lipschitz=g.lipschitz, scores=g.radius * g.feature_norm)
    return list_lengths.deviation(average, n=g.n, spread=g.loss_bound, delta=g.delta)


def _ball(g: SimpleNamespace) -> dict[str, float]:
    return {"n": g.n, "m": g.m, "radius": g.radius, "feature_norm": g.feature_norm}


STATEMENTS = {
    "chapelle-wu": Statement(
        "Chapelle and Wu 2010", ("lipschitz_l2", "delta"), _chapelle_wu, ball="l2", unit_losses=True
    ),
    "ogd": Statement("Theorem 5", ("lipschitz",), _ogd, convex=True),
    "rerm": Statement("Theorem 6", ("lipschitz",), _rerm, convex=True),
    "erm": Statement("Theorem 9", ("lipschitz", "loss_bound", "delta"), _erm, ball="l2"),
    "erm-l1": Statement("Theorem 12", ("lipschitz", "d", "loss_bound", "delta"), _erm_l1, ball="l1"),
    "smooth-ogd": Statement("equation 8", ("smoothness", "optimal_risk"), _smooth_ogd, convex=True, non_negative=True),
    "optimistic": Statement(
        "Theorem 17", ("smoothness", "loss_bound", "delta", "empirical_risk"), _optimistic, non_negative=True, ball="l2"
    ),
    "length-free": Statement(list_lengths.PLACE, ("average", "loss_bound", "delta"), _length_free, ball="l2", own=True),
    "chain": Statement(list_lengths.PLACE, ("lipschitz", "loss_bound", "delta"), _chain, ball="l2", own=True),
}
NAMES: tuple[str, ...] = tuple(STATEMENTS)
PRINTED: tuple[str, ...] = tuple(name for name, statement in STATEMENTS.items() if not statement.own)
"""The bounds that the paper states."""
MOST_QUERIES = 10**15
"""The end of the search for the n from which a bound is not vacuous."""
_checked: set[str | Statement] = set()
"""The statements that were given in place of a name, and checked."""


@checked
def evaluate(
    name: str | Statement,
    *,
    n: AtLeast1,
    m: AtLeast1,
    lipschitz: Positive | None = None,
    lipschitz_l2: Positive | None = None,
    smoothness: Positive | None = None,
    average: Positive | None = None,
    radius: Positive,
    feature_norm: Positive,
    d: Count | None = None,
    loss_bound: Positive | None = None,
    delta: Probability | None = None,
    optimal_risk: NonNegative | None = None,
    empirical_risk: NonNegative | None = None,
    convex: bool = True,
    entropy: Entropy | None = None,
) -> float:
    """What a bound adds to the empirical or to the optimal risk.

    Parameters
    ----------
    name : str or Statement
        One of NAMES, of which the module's table has the formulas, or a statement that is declared elsewhere.
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
    pipeline_lib.core.errors.DataError: ogd (Theorem 5): expected lipschitz, G in the maximum norm of scores, found none
    """
    given = SimpleNamespace(**locals())  # all constants, by the names of the arguments
    given.n, given.m, given.radius, given.feature_norm = float(n), float(m), float(radius), float(feature_norm)
    given.entropy = entropy or ("integral" if name == "erm-l1" else "closed-form")
    statement, where = _stated(name)
    for key in statement.needs:
        if getattr(given, key) is None:
            raise DataError(f"{where}: expected {key}, {MEANINGS[key]}, found none")
    if statement.convex and not convex:
        raise DataError(f"{where}: expected a convex loss, which its proof needs, found one that is not convex")
    if isinstance(name, Statement) and name not in _checked:
        check(name)
    return statement.formula(given)


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
def assess(
    name: str | Statement,
    *,
    n: AtLeast1,
    m: AtLeast1,
    radius: Positive,
    feature_norm: Positive,
    loss_bound: Positive,
    **constants: Any,
) -> Assessment:
    """Evaluate a bound, and determine whether it is vacuous and from which n it is not.

    Arguments and errors as in :func:`evaluate`, with ``loss_bound`` always given.

    Example
    -------
    >>> assessment = assess("ogd", n=2, m=10, lipschitz=2.0, radius=1.0, feature_norm=1.0, loss_bound=0.5)
    >>> assessment.value, assessment.vacuous, assessment.not_vacuous_from
    (2.0, True, 33)
    """
    constants |= {"m": m, "radius": radius, "feature_norm": feature_norm, "loss_bound": loss_bound}
    value = evaluate(name, n=n, **constants)
    first = first_below(lambda k: evaluate(name, n=k, **constants), lambda k: loss_bound)
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
    name: str, surrogate: str | Surrogate, *, m: Count, y_max: Label, radius: NonNegative, feature_norm: NonNegative
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
    pipeline_lib.core.errors.DataError: ogd (Theorem 5): expected a convex loss, which smooth-dcg is not
    """
    statement, where = _stated(name)
    loss = surrogates.create(surrogate) if isinstance(surrogate, str) else surrogate
    known = constants_of(loss, m, y_max, score_bound=radius * feature_norm)
    if statement.convex and not loss.convex:
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
            raise DataError(f"{where}: expected listnet or smooth-dcg; nothing is known of {loss.name}")
    return {
        **own,
        "lipschitz": known.lipschitz,
        "lipschitz_l2": known.lipschitz_l2,
        "smoothness": known.smoothness,
        "loss_bound": known.excess_bound,
        "convex": loss.convex,
    }


@checked
def excess_of_minimiser(deviation: float, *, n: AtLeast1, loss_bound: Positive, delta: Probability) -> float:
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
    return _stated(name)[0].place


RISKS = {"optimal_risk", "empirical_risk"}
_CONSTANTS: dict[str, Any] = {
    "lipschitz": 2.0,
    "lipschitz_l2": 1.4,
    "smoothness": 1.5,
    "average": 5.0,
    "d": 50,
    "loss_bound": 3.0,
    "delta": 0.05,
    "optimal_risk": 0.2,
    "empirical_risk": 0.1,
}


@checked
def check(bound: str | Statement) -> None:
    """Compare a bound with what every bound has to be, for 10 to 10^12 queries and small and large constants.

    It is a finite number > 0, does not grow with n, falls below B, and does not fall where a loss, a class, a list or
    the confidence becomes larger. One that holds with probability 1 - delta and is not given a risk is tried on coins
    as well: for rankers that all lose B or 0 with probability 1/2 each, L - Lhat may exceed it no more often than that,
    which is computed exactly. This refutes bounds that fall too fast, and proves none. A statement that is given in
    place of a name is checked when it is first evaluated.

    Raises
    ------
    DataError
        When one of these is not so; the message says which, and for which numbers.

    Example
    -------
    >>> check("erm")
    >>> check(Statement("a guess", ("loss_bound", "delta"), lambda g: g.loss_bound * math.log(1.0 / g.delta) / g.n))
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: a guess: expected L - Lhat <= the bound with probability >= 0.95, found \
0.945312 for a loss that is 3 or 0 with probability 1/2 each, at n = 10, delta = 0.05
    """
    if isinstance(bound, Statement):
        _checked.add(bound)  # before, because it is evaluated
    try:
        _compare(bound)
    except DataError:
        _checked.discard(bound)
        raise


def _compare(bound: str | Statement) -> None:
    statement, where = _stated(bound)
    needed = {key: _CONSTANTS[key] for key in statement.needs}
    base = {"m": 30.0, "radius": 1.2, "feature_norm": 0.8, **needed}
    for n in (10.0, 100.0, 1e4, 1e8, 1e12):
        value = _finite(bound, where, n, base)
        for key in base:
            larger = {**base, key: min(2 * base[key], 0.9) if key == "delta" else 2 * base[key]}
            found = _finite(bound, where, n, larger)
            if (found > value if key == "delta" else found < value) and not math.isclose(found, value, rel_tol=1e-9):
                way = "not to grow" if key == "delta" else "not to fall"
                told = f"{value:.6g} at {base[key]:g} and {found:.6g} at {larger[key]:g}"
                raise DataError(f"{where}: expected {way} with {key}, found {told}, for n = {n:g}")
        if (more := _finite(bound, where, 10.0 * n, base)) > value * (1.0 + 1e-9):
            raise DataError(
                f"{where}: expected not to grow with n, found {value:.6g} at n = {n:g} and {more:.6g} later"
            )
        if {"delta", "loss_bound"} <= needed.keys() and not RISKS & needed.keys() and n <= 1e4:
            _try_on_coins(where, value, int(n), needed)
    if value >= _CONSTANTS["loss_bound"]:
        raise DataError(
            f"{where}: expected less than B = {_CONSTANTS['loss_bound']:g} for n = {n:g}, found {value:.6g}"
        )


def _finite(bound: str | Statement, where: str, n: float, given: dict[str, Any]) -> float:
    try:
        value = evaluate(bound, n=n, **given)
    except Exception as error:  # whatever a formula from elsewhere may raise
        raise DataError(f"{where}: expected a number, found {type(error).__name__}: {error}, at n = {n:g}") from error
    if not (isinstance(value, int | float) and math.isfinite(value) and value > 0.0):
        raise DataError(f"{where}: expected a finite number > 0, found {value!r}, at n = {n:g}")
    return value


def _try_on_coins(where: str, value: float, n: int, known: dict[str, Any]) -> None:
    # Lhat = B K / n with K heads of n: L - Lhat > value for K < n (1/2 - value / B).
    largest, delta = known["loss_bound"], known["delta"]
    fewest = math.ceil(n * (0.5 - value / largest) - 1e-9) - 1
    logs = [
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2) for k in range(fewest + 1)
    ]
    holds = 1.0 - math.fsum(map(math.exp, logs))
    if holds < 1.0 - delta - 1e-9:
        told = (
            f"{holds:.6g} for a loss that is {largest:g} or 0 with probability 1/2 each, at n = {n}, delta = {delta:g}"
        )
        raise DataError(f"{where}: expected L - Lhat <= the bound with probability >= {1.0 - delta:g}, found {told}")


def _stated(bound: str | Statement) -> tuple[Statement, str]:
    # And what errors call it.
    if isinstance(bound, Statement):
        return bound, bound.place
    if bound not in STATEMENTS:
        raise ConfigurationError(f"unknown bound {bound!r}; {hint(bound, NAMES)}")
    return STATEMENTS[bound], f"{bound} ({STATEMENTS[bound].place})"
