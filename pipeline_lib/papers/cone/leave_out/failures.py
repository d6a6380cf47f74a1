"""How often does Theorem 1 of `cone` fail, computed exactly where all samples can be counted?

Theorem 1 bounds the risk with probability at least 1 - epsilon over the draw of P queries. In these populations the
probability that it fails is a finite sum:

- *Tails*: one feature and K = 1, with all differences z at c or beyond it. Every sample then gives u = c, so that beta
  is 0 whatever the sample, and the theorem is the concentration of a mean of independent losses 0 and gamma. The share
  of the lossy kind is the one, of a grid, with which the theorem fails most often.
- *Twins*: kinds of queries whose differences are orthogonal and of equal length. A sample in which all queries are of
  one kind gives u = z with no loss, and leaving any query out changes nothing. The beta of (12), which is that of the
  sample at hand, is 0 there, whereas the proof that Theorem 1 cites needs the supremum over samples (Bousquet and
  Elisseff, 2002, definition 6). If there are far more kinds than queries, nearly all samples have only different ones,
  and u is in their middle: the risk exceeds the empirical risk by about 2/P, which is more than the root allows
  without the terms in beta. With c = 1/sqrt(P), which is the norm of that middle, no sample has a much larger loss.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from pipeline_lib.core.arrays import Floats
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import cone
from pipeline_lib.papers.cone.kinds import largest_change


@dataclass(frozen=True)
class Twins:
    """So many kinds of queries, of which P are drawn, the bound c on the norm of u, and epsilon."""

    kinds: int
    P: int
    c: float
    epsilon: float


TWINS = (
    *(Twins(kinds, P, 2.0, epsilon) for kinds, P, epsilon in ((2, 2, 0.4), (4, 3, 0.05), (19, 2, 0.05))),
    *(Twins(100, 3, 3**-0.5, epsilon) for epsilon in (0.25, 0.999)),
    *(Twins(1000, 12, 12**-0.5, epsilon) for epsilon in (0.6, 0.999)),
)
"""In the second and third line, epsilon is so large that the root alone does not cover the excess of the risk."""
GAMMA = 0.25
"""The loss of a difference of norm rho = 1 with u = c = 1/2."""


def failure(P: int, margin: float) -> float:
    """The largest probability that the risk exceeds the empirical risk by more than ``margin``.

    The risk is p gamma for the share p of lossy queries, the empirical risk gamma times their share in the sample.

    Example
    -------
    One query, lossy with probability 95 %: the risk is .2375, and a sample without loss has probability 5 %.

    >>> round(failure(1, 0.2374), 12)
    0.05
    """
    shares = np.arange(1, 20) / 20
    # Numbers of lossy queries below P (p - margin / gamma).
    most = np.ceil(P * (shares - margin / GAMMA) - 1e-9) - 1
    return float(np.max(binom.cdf(most, P, shares)))


class Sample(NamedTuple):
    """What Theorem 1 needs to know of a sample, and its probability."""

    probability: float
    beta: float
    mean_beta: float
    gamma: float
    risk: float
    empirical_risk: float


def samples(case: Twins) -> list[Sample]:
    """All samples of a population of twins.

    Kinds may be exchanged: what matters of a sample is how many of its queries are of the same kind. Each is trained by
    exact blocks, and without each of its queries.
    """
    return [_sample(case, parts) for parts in _partitions(case.P, case.P) if len(parts) <= case.kinds]


def _partitions(total: int, most: int) -> Iterator[tuple[int, ...]]:
    # All falling tuples of whole numbers from 1 to ``most`` with this sum.
    if total == 0:
        yield ()
    for first in range(min(total, most), 0, -1):
        yield from ((first, *rest) for rest in _partitions(total - first, first))


def _sample(case: Twins, parts: tuple[int, ...]) -> Sample:
    # A sample with so many queries of each of its kinds: its probability, and what Theorem 1 needs to know of it.
    # One feature more stands for the kinds that the sample lacks, which are all alike to it.
    problem, seen = cone.Problem(alpha=1.0, rho=2.0, c=case.c, weighted=False), len(parts)
    rest = case.kinds - seen
    population = _queries(range(seen + (rest > 0)), seen + 1)
    shares = np.array([1.0] * seen + [float(rest)] * (rest > 0)) / case.kinds
    U = _trained(parts, problem)
    others = [_trained((*parts[:k], parts[k] - 1, *parts[k + 1 :]), problem) for k in range(seen)]
    every = cone.pair_losses(population, U, problem)
    changes = [shares @ np.abs(cone.pair_losses(population, V, problem) - every) for V in others]
    kinds_of_size = [parts.count(size) for size in set(parts)]
    ways = math.perm(case.kinds, seen) // math.prod(map(math.factorial, kinds_of_size))
    orders = math.factorial(case.P) // math.prod(map(math.factorial, parts))
    return Sample(
        probability=ways * orders / case.kinds**case.P,
        beta=largest_change(population, [U] * seen, others, problem),
        mean_beta=float(np.array(parts) @ changes) / case.P,
        gamma=float(every.max()),
        risk=float(shares @ every),
        empirical_risk=float(np.array(parts) @ every[:seen]) / case.P,
    )


def _trained(parts: Sequence[int], problem: cone.Problem) -> Floats:
    chosen = np.repeat(np.arange(len(parts)), parts)
    start = np.zeros((len(parts) + 1, 1))
    return cone.fit(_queries(chosen, len(start)), 1, method="exact", problem=problem, passes=2, start=start).U


def _queries(chosen: Sequence[int] | NDArray[np.int64], features: int) -> RankingData:
    # For every kind k a query of two documents, with the k-th unit vector as z because alpha = 1 and rho = 2.
    X = np.zeros((2 * len(chosen), features))
    X[2 * np.arange(len(chosen)) + 1, list(chosen)] = 1.0
    return RankingData.from_arrays(X, [0, 1] * len(chosen), np.repeat(np.arange(len(chosen)), 2))
