"""What do the bounds of `lists` certify of one trained ranker: how large can its risk on new queries be?

The bounds hold for all rankers of a ball at once, of a radius that is fixed before the data are seen. A trained ranker
may lie anywhere, so the balls of radius W_j = 2^j / R_X, j = 0, 1, 2, ..., are taken, and the one that the ranker lies in
is given the probability delta / ((j + 1)(j + 2)) of failing. The probabilities sum to delta, and for every ranker w, with
W_j the smallest of these radii that is at least ||w||,

    L(w) <= Lhat(w) + bound(n; W_j, delta / ((j + 1)(j + 2)))        with probability 1 - delta

(structural risk minimisation over the norm). Of several bounds each is given an equal share of delta, so that the least
of them holds with probability 1 - delta as well.

R_X, the largest norm of a document, the length m of the longest list and the largest label are taken from the data and
treated as if they had been known beforehand, as is the standardisation of the features. phi is taken less its smallest
value over all scores, so that it is not negative; B is its largest value over the ball.

A test sample certifies the risk of the one ranker without any class, by Hoeffding's inequality: see :func:`on_test`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.checks import checked
from pipeline_lib.errors import DataError
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import list_bounds
from pipeline_lib.theory.list_statements import STATEMENTS

UNIFORM = {name: statement.ball for name, statement in STATEMENTS.items() if statement.ball}
"""The bounds that hold for all rankers of a ball at once, and the norm of the ball."""


class Facts(NamedTuple):
    """What a certificate needs to know of a linear ranker and of the queries on which it was trained.

    ``n`` queries of at most ``m`` documents with ``d`` features and labels up to ``y_max``; the norms ``l2`` and ``l1``
    of the weights; the largest ``feature_l2`` norm of a document and its largest feature in size, ``feature_linf``; and
    the training risk ``empirical_risk`` of the loss less its smallest value.
    """

    n: int
    m: int
    d: int
    y_max: int
    l2: float
    l1: float
    feature_l2: float
    feature_linf: float
    empirical_risk: float


@dataclass(frozen=True)
class Certificate:
    """What one bound says of a ranker.

    Attributes
    ----------
    name, place : str
        The bound, and where it is stated.
    radius : float
        Of the ball in which the ranker lies, W_j.
    deviation : float
        What the bound adds to the training risk.
    risk : float
        The training risk plus the deviation: what the true risk does not exceed, with probability 1 - delta.
    largest_loss : float
        B, the largest loss of any ranker of the ball.
    informative_from : int or None
        The number of queries from which ``risk`` is below ``largest_loss``, at the same training risk; None beyond
        10^15.
    """

    name: str
    place: str
    radius: float
    deviation: float
    risk: float
    largest_loss: float
    informative_from: int | None

    @property
    def informative(self) -> bool:
        """Whether the certificate says more than that no loss exceeds B."""
        return self.risk < self.largest_loss


@checked
def facts(data: RankingData, w: Floats, surrogate: Surrogate) -> Facts:
    """What :func:`certify` needs to know of the ranker with weights ``w``, trained on ``data``.

    Raises
    ------
    DataError
        When ``w`` has another length than documents have features.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> data = RankingData.from_arrays([[3.0, 4.0], [0.0, 1.0]], [1, 0], [1, 1])
    >>> found = facts(data, np.array([1.0, -1.0]), surrogates.create("squared"))
    >>> found.feature_l2, found.feature_linf, found.l1, found.m
    (5.0, 4.0, 2.0, 2)
    """
    if w.shape != (data.n_features,):
        raise DataError(f"w: expected {data.n_features} weights, one for each feature, found shape {w.shape}")
    X = data.X64
    losses = surrogate.unchecked(X @ w, data.y, data.offsets)[0] - surrogate.least(data.y, data.offsets)
    return Facts(
        n=data.n_queries,
        m=int(data.documents_per_query.max()),
        d=data.n_features,
        y_max=int(data.y.max()),
        l2=float(np.linalg.norm(w)),
        l1=float(np.abs(w).sum()),
        feature_l2=float(np.sqrt(np.einsum("ij,ij->i", X, X).max())),
        feature_linf=float(np.abs(X).max()),
        empirical_risk=float(losses.mean()),
    )


@checked
def certify(found: Facts, surrogate: Surrogate, *, delta: float = 0.05) -> list[Certificate]:
    """What every bound that holds for the loss says of a ranker, the least risk first.

    Bounds whose assumptions the loss does not meet (:func:`unmet` says which) are left out; the list is empty where none
    is left, or where all features are 0.

    Raises
    ------
    DataError
        When delta is not in (0, 1).

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> known = Facts(10**9, 10, 20, 2, 0.5, 1.0, 1.0, 1.0, 0.3)
    >>> first = certify(known, surrogates.create("listnet"))[0]
    >>> first.name, first.radius, round(first.risk, 3), first.informative
    ('chapelle-wu', 1.0, 0.301, True)
    """
    if not 0.0 < delta < 1.0:
        raise DataError(f"delta: expected a number in (0, 1), found {delta}")
    holding = [name for name in UNIFORM if not unmet(name, surrogate, found)]
    certificates = [_certificate(name, found, surrogate, delta / len(holding)) for name in holding]
    return sorted(certificates, key=lambda one: one.risk)


@checked
def unmet(name: str, surrogate: Surrogate, found: Facts) -> str:
    """Why a bound says nothing of a ranker of this loss; empty where it does."""
    _, feature_norm, _ = _class(name, found)
    if feature_norm == 0.0:
        return f"{name} ({list_bounds.place(name)}): expected a feature that is not 0, found none"
    try:
        list_bounds.of_surrogate(name, surrogate, m=found.m, y_max=max(found.y_max, 1), radius=1.0, feature_norm=1.0)
    except DataError as error:
        return str(error)
    return ""


@checked
def on_test(losses: Floats, *, largest_loss: float, delta: float = 0.05) -> float:
    """The risk that a ranker does not exceed, by its losses on queries that took no part in its training.

    By Hoeffding's inequality, mean + B sqrt(log(1/delta) / (2 n)), with probability 1 - delta.

    Example
    -------
    >>> round(on_test(np.array([0.5] * 50), largest_loss=1.0, delta=math.exp(-1.0)), 6)
    0.6
    """
    return float(losses.mean()) + largest_loss * math.sqrt(math.log(1.0 / delta) / (2.0 * len(losses)))


def _class(name: str, found: Facts) -> tuple[float, float, float]:
    """Norm of the ranker, feature norm, and radius of the smallest ball of the sequence."""
    norm, feature_norm = (found.l1, found.feature_linf) if UNIFORM[name] == "l1" else (found.l2, found.feature_l2)
    return norm, feature_norm, 1.0 / feature_norm if feature_norm > 0.0 else math.inf


def _certificate(name: str, found: Facts, surrogate: Surrogate, delta: float) -> Certificate:
    norm, feature_norm, least = _class(name, found)
    step = max(0, math.ceil(math.log2(norm / least))) if norm > 0.0 else 0
    radius = least * 2.0**step
    given: dict[str, Any] = {"m": found.m, "radius": radius, "feature_norm": feature_norm}
    constants = list_bounds.of_surrogate(name, surrogate, y_max=max(found.y_max, 1), **given)
    given |= constants
    given |= {"d": found.d, "delta": delta / ((step + 1) * (step + 2)), "empirical_risk": found.empirical_risk}
    largest = constants["loss_bound"]

    def deviation(n: int) -> float:
        if not STATEMENTS[name].unit_losses:
            return list_bounds.evaluate(name, n=n, **given)
        # The statement is for losses in [0, 1]: it is applied to phi / B.
        scaled = {**given, "lipschitz_l2": given["lipschitz_l2"] / largest, "loss_bound": 1.0}
        return largest * list_bounds.evaluate(name, n=n, **scaled)

    value = deviation(found.n)
    return Certificate(
        name=name,
        place=list_bounds.place(name),
        radius=radius,
        deviation=value,
        risk=found.empirical_risk + value,
        largest_loss=largest,
        informative_from=list_bounds.first_below(deviation, lambda n: largest - found.empirical_risk),
    )
