"""How large are Rademacher averages of the losses themselves, and are they as the remark after Theorem 1 has it?

`twolayer` states D(k) = c2 B phi'(B) sqrt(V/k) for a surrogate phi and scores in [-B, B]. For one feature, V = 1, the
supremum over |w| <= W of |sum_j sigma_j phi(-w d_j)| is found by trying a grid of w, and the mean over all signs is
exact. For the hinge the sum is linear between its kinks, which are tried as well, so that the supremum is exact; for
the smooth losses the grid makes it too small, by less than a thousandth.

For a two-layer sample of the population, whose lists all have the same length, the average of Definition 3 is that of
its pairs. The suprema over ||w|| <= W are found by ascent for every draw of signs, which can only make them too small.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import pair_losses
from pipeline_lib.theory import two_layer_rademacher as rademacher
from pipeline_lib.theory.pair_losses import PairLoss

if TYPE_CHECKING:
    from pipeline_lib.papers.twolayer.experiments.statements import StatementsSettings

LOSSES = ("hinge", "logistic", "exponential")
# Weights that are tried, apart from the kinks of the hinge.
WEIGHTS = 401
RANDOM_PAIRS = 10
# The two-layer sample.
QUERIES, DOCUMENTS = 10, 8
# Draws of signs for which suprema are searched for, steps of every search, and how far linear averages are raised.
MOST_ASCENTS, STEPS, SAFETY = 2000, 20, 3.0


def rows(settings: StatementsSettings, seed: int) -> list[dict[str, Any]]:
    """For every loss, sample of pairs and B: the average, that of the centred loss, and what is said to bound it."""
    rng, bounds = generator(seed, "twolayer-statements", "remarks"), sorted(settings.score_bounds, reverse=True)
    samples = {
        "one pair": np.ones(1),
        "two opposite pairs": np.array([1.0, -1.0]),
        f"{RANDOM_PAIRS} equal pairs": np.ones(RANDOM_PAIRS),
        f"{RANDOM_PAIRS} random pairs": rng.uniform(-1.0, 1.0, RANDOM_PAIRS),
    }
    exact = [
        {"loss": name, "case": case, "steps_below": step, **_of_one_feature(pair_losses.get(name), d, score_bound)}
        for name in LOSSES
        for case, d in samples.items()
        for step, score_bound in enumerate(bounds)
    ]
    population = Population(PopulationSettings())
    data = population.draw(QUERIES, rng, DOCUMENTS)
    differences = rademacher.disjoint_pairs(data.X64, data.y, data.offsets).differences
    case = f"{QUERIES} queries of {DOCUMENTS} documents"
    return exact + [
        {"loss": name, "case": case, "steps_below": step}
        | _of_sample(pair_losses.get(name), differences, score_bound, population.feature_norm, settings.draws, rng)
        for name in LOSSES
        for step, score_bound in enumerate(bounds)
    ]


def _of_one_feature(loss: PairLoss, differences: Floats, score_bound: float) -> dict[str, Any]:
    # Features in [-1/2, 1/2]: differences d are in [-1, 1], and |w| <= 2 B keeps scores in [-B, B].
    radius = 2.0 * score_bound
    linear = rademacher.exactly(differences[:, None], np.full(len(differences), 2.0 / len(differences)), radius)
    return {
        "average": average(loss, differences, radius, 0.0),
        "average_error": 0.0,
        "centred_average": average(loss, differences, radius, loss.at_zero),
        **_bounds(loss, len(differences), 1, linear, score_bound),
    }


def _of_sample(
    loss: PairLoss, differences: Floats, score_bound: float, norm: float, draws: int, rng: np.random.Generator
) -> dict[str, Any]:
    radius, features = score_bound / norm, differences.shape[1]
    linear = rademacher.ordinary(differences, radius, draws, rng)
    plain = ascended(loss, differences, radius, 0.0, min(draws, MOST_ASCENTS), rng)
    centred = ascended(loss, differences, radius, loss.at_zero, min(draws, MOST_ASCENTS), rng)
    return {
        "average": plain.estimate,
        "average_error": plain.standard_error,
        "centred_average": centred.estimate,
        **_bounds(loss, len(differences), features, linear.estimate + SAFETY * linear.standard_error, score_bound),
    }


def _bounds(loss: PairLoss, k: int, v: int, linear: float, score_bound: float) -> dict[str, Any]:
    constant = rademacher.contracted(0.0, k, loss, score_bound)
    contracted = rademacher.contracted(linear, k, loss, score_bound)
    # phi' of the hinge is 1 on the positive half-line.
    printed = score_bound * float(loss.derivative(np.array([score_bound]))[0]) * math.sqrt(v / k)
    return {
        "pairs": k,
        "score_bound": score_bound,
        "linear": linear,
        "contracted": contracted,
        "without_constant": contracted - constant,
        "with_half_the_constant": contracted - constant / 2.0,
        "printed": printed,
        "largest": 2.0 * loss.largest(score_bound),
    }


def ascended(
    loss: PairLoss, differences: Floats, radius: float, centre: float, draws: int, rng: np.random.Generator
) -> rademacher.Estimate:
    """(2/k) E max over ||w|| <= radius of |sum_j sigma_j (phi(-<w, d_j>) - centre)|, by random signs and ascent.

    Ascent of the sum and of its negative starts at the ranker that is best for a linear loss, at its opposite and at 0.

    Example
    -------
    >>> found = ascended(pair_losses.get("hinge"), np.ones((1, 1)), 1.0, 0.0, 10, np.random.default_rng(0))
    >>> round(found.estimate, 9), found.standard_error                  # as by average
    (4.0, 0.0)
    """
    k = len(differences)
    signs = rng.integers(0, 2, (draws, k)) * 2.0 - 1.0
    best = np.zeros(draws)
    for side in (signs, -signs):
        linear = _onto_sphere(side @ differences, radius)
        for start in (linear, -linear, np.zeros_like(linear)):
            w = start
            for step in range(STEPS):
                t = -(w @ differences.T)
                best = np.maximum(best, (side * (loss.of_difference(t) - centre)).sum(axis=1))
                slope = -(side * loss.derivative(t)) @ differences
                w = w + _onto_sphere(slope, radius / (1.0 + step))
                lengths = np.linalg.norm(w, axis=1, keepdims=True)
                w = w * (radius / np.maximum(lengths, radius))
    # The value at w = 0, whose mean over all signs is known, varies most.
    at_zero = abs(loss.at_zero - centre)
    more = 2.0 / k * (best - at_zero * np.abs(signs.sum(axis=1)))
    known = at_zero / loss.at_zero * rademacher.contracted(0.0, k, loss, 0.0)
    return rademacher.Estimate(known + float(more.mean()), float(more.std(ddof=1) / math.sqrt(draws)))


def _onto_sphere(vectors: Floats, radius: float) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors * np.divide(radius, lengths, out=np.zeros_like(lengths), where=lengths > 0.0))


def average(loss: PairLoss, differences: Floats, radius: float, centre: float) -> float:
    """(2/k) E max over |w| <= radius of |sum_j sigma_j (phi(-w d_j) - centre)|, over all signs.

    Example
    -------
    >>> average(pair_losses.get("hinge"), np.ones(1), 1.0, 0.0)         # 2 max phi
    4.0
    """
    kinks = 1.0 / differences[np.abs(differences) * radius > 1.0]
    w = np.concatenate([np.linspace(-radius, radius, WEIGHTS), kinks])
    losses = loss.of_difference(-np.outer(differences, w)) - centre
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=len(differences))))
    return 2.0 / len(differences) * float(np.abs(signs @ losses).max(axis=1).mean())
