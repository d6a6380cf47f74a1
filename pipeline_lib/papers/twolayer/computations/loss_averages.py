"""How large are the two-layer averages of the losses on lists of unequal lengths, and what bounds them?

`twolayer`, Definition 3, for the 0-1 loss and the surrogates, with all signs and the exact supremum over rankers with
one feature. For the surrogates the bound is the contracted average of linear rankers; for the 0-1 loss it is that of
Massart's lemma, since a ranker with one feature has only two loss vectors that are not 0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.papers.twolayer.computations.complexities import ZERO_ONE
from pipeline_lib.papers.twolayer.computations.remarks import LOSSES, WEIGHTS
from pipeline_lib.seeds import generator
from pipeline_lib.theory import pair_losses
from pipeline_lib.theory import two_layer_rademacher as rademacher
from pipeline_lib.theory.pair_losses import PairLoss

if TYPE_CHECKING:
    from pipeline_lib.papers.twolayer.experiments.definitions import DefinitionsSettings

# Documents of every query.
SAMPLES = {
    "a short and a long list": (2, 12),
    "3 queries": (2, 5, 4),
    "one query": (9,),
    "two documents each": (2,) * 6,
}
# Loss vectors of rankers with one feature, apart from 0.
ORDERS = 2


def rows(settings: DefinitionsSettings, seed: int) -> Iterator[dict[str, Any]]:
    """For every loss, sample and B: the average of Definition 3, its bound, and other readings of the definition."""
    for case, lengths in SAMPLES.items():
        rng = generator(seed, "twolayer-definitions", case)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        # Features in [-1/2, 1/2], and labels that differ in every pair.
        X, y = rng.uniform(-0.5, 0.5, (offsets[-1], 1)), rng.permutation(offsets[-1])
        pairs = rademacher.disjoint_pairs(X, y, offsets)
        for name in (ZERO_ONE, *LOSSES):
            for score_bound in settings.score_bounds:
                yield {"loss": name, "case": case, **_row(pair_losses.get(name), pairs, score_bound)}


def _row(loss: PairLoss, pairs: rademacher.Pairs, score_bound: float) -> dict[str, Any]:
    # |w| <= 2 B keeps scores in [-B, B].
    differences, radius, weights = pairs.differences[:, 0], 2.0 * score_bound, pairs.weights
    equal = np.full(len(weights), 2.0 / len(weights))
    return {
        "score_bound": score_bound,
        "pairs": len(weights),
        "average": average(loss, differences, weights, radius),
        "contracted": _bound(loss, pairs.differences, weights, score_bound),
        "with_equal_weights": _bound(loss, pairs.differences, equal, score_bound),
        "constant": loss.at_zero * rademacher.exactly(np.ones((len(weights), 1)), weights, 1.0),
        "largest": 2.0 * loss.largest(score_bound),
    }


def _bound(loss: PairLoss, differences: Floats, weights: Floats, score_bound: float) -> float:
    if loss.surrogate is None:
        return float(np.linalg.norm(weights)) * math.sqrt(2.0 * math.log(2.0 * ORDERS))
    linear = rademacher.exactly(differences, weights, 2.0 * score_bound)
    return rademacher.contracted_sample(linear, weights, loss, score_bound)


def average(loss: PairLoss, differences: Floats, weights: Floats, radius: float) -> float:
    """E max over |w| <= radius of |sum_j sigma_j weights_j l(-w d_j)|, over all signs.

    Example
    -------
    >>> average(pair_losses.get("hinge"), np.ones(1), np.array([2.0]), 1.0)         # 2 max phi
    4.0
    """
    kinks = 1.0 / differences[np.abs(differences) * radius > 1.0]
    w = np.concatenate([np.linspace(-radius, radius, WEIGHTS), kinks])
    losses = loss.of_difference(-np.outer(differences, w)) * weights[:, None]
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=len(differences))))
    return float(np.abs(signs @ losses).max(axis=1).mean())
