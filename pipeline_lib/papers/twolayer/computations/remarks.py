"""How large are Rademacher averages of the losses themselves, and are they as the remark after Theorem 1 has it?

`twolayer` states D(k) = c2 B phi'(B) sqrt(V/k) for a surrogate phi and scores in [-B, B]. For one feature, V = 1, the
supremum over |w| <= W of |sum_j sigma_j phi(-w d_j)| is found by trying a grid of w, and the mean over all signs is
exact. For the hinge the sum is linear between its kinks, which are tried as well, so that the supremum is exact; for
the smooth losses the grid makes it too small, by less than a thousandth.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.seeds import generator
from pipeline_lib.theory import pair_losses
from pipeline_lib.theory import two_layer_rademacher as rademacher
from pipeline_lib.theory.pair_losses import PairLoss

if TYPE_CHECKING:
    from pipeline_lib.papers.twolayer.experiments.statements import StatementsSettings

LOSSES = ("hinge", "logistic", "exponential")
# Weights that are tried, apart from the kinks of the hinge.
WEIGHTS = 401
RANDOM_PAIRS = 10


def rows(settings: StatementsSettings, seed: int) -> list[dict[str, Any]]:
    """For every loss, sample of pairs and B: the average, that of the centred loss, and what is said to bound it."""
    rng = generator(seed, "twolayer-statements", "remarks")
    samples = {
        "one pair": np.ones(1),
        "two opposite pairs": np.array([1.0, -1.0]),
        f"{RANDOM_PAIRS} equal pairs": np.ones(RANDOM_PAIRS),
        f"{RANDOM_PAIRS} random pairs": rng.uniform(-1.0, 1.0, RANDOM_PAIRS),
    }
    # Features in [-1/2, 1/2]: differences d are in [-1, 1], and |w| <= 2 B keeps scores in [-B, B].
    return [
        {"loss": name, "case": case, "steps_below": step, **_row(pair_losses.get(name), differences, score_bound)}
        for name in LOSSES
        for case, differences in samples.items()
        for step, score_bound in enumerate(sorted(settings.score_bounds, reverse=True))
    ]


def _row(loss: PairLoss, differences: Floats, score_bound: float) -> dict[str, Any]:
    k, radius = len(differences), 2.0 * score_bound
    linear = rademacher.exactly(differences[:, None], np.full(k, 2.0 / k), radius)
    constant = rademacher.contracted(0.0, k, loss, score_bound)
    contracted = rademacher.contracted(linear, k, loss, score_bound)
    # sqrt(V/k) phi'(B) B; phi' of the hinge is 1 on the positive half-line.
    printed = score_bound * float(loss.derivative(np.array([score_bound]))[0]) / np.sqrt(k)
    return {
        "pairs": k,
        "score_bound": score_bound,
        "average": average(loss, differences, radius, 0.0),
        "centred_average": average(loss, differences, radius, loss.at_zero),
        "linear": linear,
        "contracted": contracted,
        "without_constant": contracted - constant,
        "with_half_the_constant": contracted - constant / 2.0,
        "printed": float(printed),
        "largest": 2.0 * loss.largest(score_bound),
    }


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
