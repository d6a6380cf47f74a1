"""By which steps is the excess risk of regularised risk minimisation bounded: `slam`, Theorem 8; `lists`, Theorem 6?

For w_hat, the minimiser of Lhat(w) + lambda/2 ||w||^2 over ||w|| <= W, and the best ranker w* of the ball,

    L(w_hat) - L(w*) <= L(w_hat) - Lhat(w_hat) + lambda/2 (||w*||^2 - ||w_hat||^2) + Lhat(w*) - L(w*),

where the last difference has the mean 0. The mean of the gap is that of the change of a query's loss when the query is
replaced by another one. If phi is L-Lipschitz in w, the minimiser moves by at most 2 L / (lambda n), since Lhat +
lambda/2 ||w||^2 is lambda-strongly convex: the gap is at most 2 L^2 / (lambda n). The papers cite 4 (lambda W + L)^2 /
(lambda n) in its place, and round their lambda's value up to 2 L W (8/n + sqrt(2/n)).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.theory import chains, list_bounds
from pipeline_lib.theory.chains import Link
from pipeline_lib.theory.known_population import Counts, KnownPopulation

__all__: list[str] = []  # internal: the experiments hand in what they have checked


@dataclass(frozen=True)
class Sample:
    """What is measured of one sample: the terms of the links."""

    excess: float
    decomposed: float
    replaced: float
    bias: float
    largest_change: float
    largest_move: float


def measured(
    population: KnownPopulation, counts: Counts, best: Floats, l2: float, replaced: int, rng: np.random.Generator
) -> Sample:
    """Train on a sample, and again with each of some of its queries replaced by one of the population."""
    n, Q = int(counts.sum()), population.data.n_queries
    w = population.fitted(counts, l2, tol=1e-9)
    losses, of_best = population.losses(w), population.losses(best)
    bias = 0.5 * l2 * float(best @ best - w @ w)
    gap = float(population.gap_weights(counts) @ losses)
    own, largest_change, largest_move = [], 0.0, 0.0
    for left_out in rng.choice(Q, size=replaced, p=counts / n):
        others = counts.copy()
        others[left_out] -= 1
        others[rng.integers(Q)] += 1
        other = population.fitted(others, l2, tol=1e-9)
        change = population.losses(other) - losses
        own.append(change[left_out])
        largest_change = max(largest_change, float(np.abs(change).max()))
        largest_move = max(largest_move, float(np.linalg.norm(other - w)))
    return Sample(
        excess=float(np.mean(losses - of_best)),
        decomposed=gap + bias - float(population.gap_weights(counts) @ of_best),
        replaced=float(np.mean(own)) + bias,
        bias=bias,
        largest_change=largest_change + bias,
        largest_move=largest_move,
    )


def links(samples: list[Sample], n: int, l2: float, radius: float, lipschitz: float) -> Iterator[Link]:
    """The links; ``lipschitz`` is L = G R_X, the constant of the loss in w."""
    excess, decomposed, own, change, move, bias = (
        np.array([getattr(sample, name) for sample in samples])
        for name in ("excess", "decomposed", "replaced", "largest_change", "largest_move", "bias")
    )
    movement, pull = 2.0 * lipschitz**2 / (l2 * n), 0.5 * l2 * radius**2
    yield chains.estimated("excess", "excess risk", "The excess risk of the regularised minimiser is measured.", excess)
    yield chains.estimated(
        "decomposed",
        "gap and bias",
        "The minimiser's objective is no larger than the best ranker's: the excess is at most the gap plus the bias.",
        decomposed,
    )
    yield chains.estimated(
        "replaced",
        "own query replaced",
        "The mean gap is the mean change of a query's loss when this query is replaced.",
        own,
    )
    yield chains.estimated(
        "uniform", "uniform stability", "The largest change of any query's loss takes the place of the own one.", change
    )
    yield chains.estimated(
        "moved",
        "Lipschitz constant",
        "A loss changes by at most its Lipschitz constant times the movement of the weights.",
        lipschitz * move + bias,
    )
    yield chains.estimated(
        "convexity", "strong convexity", "The movement is at most 2 L / (lambda n).", movement + bias
    )
    yield chains.exact("radius", "radius", "The bias is at most lambda W^2 / 2.", movement + pull)
    yield chains.exact(
        "cited",
        "cited theorem",
        "The cited theorem has 4 (lambda W + L)^2 in place of 2 L^2.",
        4.0 * (l2 * radius + lipschitz) ** 2 / (l2 * n) + pull,
    )
    stated = list_bounds.evaluate("rerm", n=n, m=1, lipschitz=lipschitz, radius=radius, feature_norm=1.0)
    yield chains.exact("stated", "closed form", "The root of a sum is bounded by the sum of roots.", stated)
