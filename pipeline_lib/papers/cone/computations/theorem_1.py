"""How often does Theorem 1 of `cone` fail, computed exactly where all samples can be counted?

Theorem 1 bounds the risk with probability at least 1 - epsilon over the draw of P queries. In two populations the
probability that it fails is a finite sum:

- *Tails*: one feature and K = 1, with all differences z at c or beyond it. Every sample then gives u = c, so that beta
  is 0 whatever the sample, and the theorem is the concentration of a mean of independent losses 0 and gamma. The share
  of the lossy kind is the one, of a grid, with which the theorem fails most often.
- *Twins*: kinds of queries whose differences are orthogonal and of equal length. A sample in which all queries are of
  one kind gives u = z with no loss, and leaving any query out changes nothing. The beta of (12), which is that of the
  sample at hand, is 0 there, whereas the proof that Theorem 1 cites needs the supremum over samples (Bousquet and
  Elisseff, 2002, definition 6).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.learners import cone
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.theory import stability

if TYPE_CHECKING:
    from pipeline_lib.papers.cone.experiments.leave_out import LeaveOutSettings

Row = dict[str, Any]

TWINS = ((2, 2, 0.4), (4, 3, 0.05), (19, 2, 0.05))
"""Kinds of queries, P, and epsilon."""
SHARES = tuple(k / 20 for k in range(1, 20))
"""Probabilities of the kind with a loss, among which the worst is sought."""
GAMMA = 0.25
"""The loss of a difference of norm rho = 1 with u = c = 1/2."""


def tails(settings: LeaveOutSettings) -> list[Row]:
    """One row for every P and epsilon: the largest probability that the theorem fails, and that misprints of it do."""
    return [
        {
            "P": P,
            "epsilon": epsilon,
            "failure": failure(P, stability.risk_bound(0.0, 0.0, GAMMA, P, epsilon)),
            "failure_of_half": failure(P, stability.risk_bound(0.0, 0.0, GAMMA / 2.0, P, epsilon)),
            "failure_of_root": failure(P, GAMMA * math.sqrt(-math.log(epsilon)) / (2.0 * P)),
            "failure_of_decimal": failure(P, GAMMA * math.sqrt(-math.log10(epsilon) / (2.0 * P))),
        }
        for P in settings.tail_queries
        for epsilon in settings.tail_epsilons
    ]


def failure(P: int, margin: float) -> float:
    """The largest probability that the risk exceeds the empirical risk by more than ``margin``.

    The risk is p gamma for the share p of lossy queries, the empirical risk gamma times their share in the sample.

    Example
    -------
    One query, lossy with probability 95 %: the risk is .2375, and a sample without loss has probability 5 %.

    >>> round(failure(1, 0.2374), 12)
    0.05
    """
    from scipy.stats import binom

    worst = 0.0
    for p in SHARES:
        # Numbers of lossy queries below P (p - margin / gamma).
        most = math.ceil(P * (p - margin / GAMMA) - 1e-9) - 1
        if most >= 0:
            worst = max(worst, float(binom.cdf(most, P, p)))
    return worst


def twins(cases: Sequence[tuple[int, int, float]] = TWINS) -> list[Row]:
    """One row for every number of kinds: how often Theorem 1 fails with the beta of each sample, and of the worst one.

    Samples are enumerated as multisets of kinds; each is trained by exact blocks, and without each of its queries.
    """
    rows = []
    for kinds, P, epsilon in cases:
        samples = [_sample(kinds, chosen) for chosen in itertools.combinations_with_replacement(range(kinds), P)]
        largest = max(sample["beta"] for sample in samples)
        failures = {"failure_with_own_beta": 0.0, "failure_with_largest_beta": 0.0}
        for sample in samples:
            for name, beta in (("own", sample["beta"]), ("largest", largest)):
                bound = stability.risk_bound(sample["empirical_risk"], beta, sample["gamma"], P, epsilon)
                if sample["risk"] > bound + 1e-12:
                    failures[f"failure_with_{name}_beta"] += sample["probability"]
        rows.append({"kinds": kinds, "P": P, "epsilon": epsilon, "largest_beta": largest, **failures})
    return rows


def _sample(kinds: int, chosen: Sequence[int]) -> Row:
    # One sample: its probability, and what Theorem 1 needs to know of it.
    problem = cone.Problem(alpha=1.0, rho=2.0, c=2.0, weighted=False)
    population = _queries(range(kinds), kinds)
    U = _trained(chosen, kinds, problem)
    others = [_trained([*chosen[:i], *chosen[i + 1 :]], kinds, problem) for i in range(len(chosen))]
    every = cone.pair_losses(population, U, problem)
    orders = math.factorial(len(chosen))
    for kind in set(chosen):
        orders //= math.factorial(list(chosen).count(kind))
    return {
        "probability": orders / kinds ** len(chosen),
        "beta": max(float(np.abs(cone.pair_losses(population, V, problem) - every).max()) for V in others),
        "gamma": float(every.max()),
        "risk": float(every.mean()),
        "empirical_risk": float(every[list(chosen)].mean()),
    }


def _trained(chosen: Sequence[int], kinds: int, problem: cone.Problem) -> Floats:
    start = np.zeros((kinds, 1))
    return cone.fit(_queries(chosen, kinds), 1, method="exact", problem=problem, passes=2, start=start).U


def _queries(chosen: Sequence[int], kinds: int) -> RankingData:
    # For every kind k a query of two documents, with the k-th unit vector as z because alpha = 1 and rho = 2.
    X = np.zeros((2 * len(chosen), kinds))
    X[2 * np.arange(len(chosen)) + 1, list(chosen)] = 1.0
    return RankingData.from_arrays(X, [0, 1] * len(chosen), np.repeat(np.arange(len(chosen)), 2))
