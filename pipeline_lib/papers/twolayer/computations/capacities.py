"""Do larger classes call for fewer queries with more documents each, if the worst gap is measured?

`twolayer`, discussion 3, advises so because n* falls with the capacity. Here the class is so simple that its worst gap
is known on every sample: rankers <w, x> with w in {-1, 1}^d, of capacity d. A query concerns one feature, all of them
with the same probability. Its documents have that feature with probability 1/2 each, and no other: x_j is 0 or 1. In
most queries documents with the feature are relevant, and in a share of them those without it; some labels are wrong.
The gap of w is a sum over features, and the worst ranker has the worse sign for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.papers.twolayer.computations.intervals import columns, mean_interval
from pipeline_lib.seeds import generator
from pipeline_lib.theory import two_layer

if TYPE_CHECKING:
    from pipeline_lib.papers.twolayer.experiments.capacities import CapacitiesSettings


def rows(settings: CapacitiesSettings, seed: int) -> Iterator[dict[str, Any]]:
    """The worst gap of every class with the numbers of queries planned for every capacity, and over a grid."""
    plan = (settings.delta, settings.c1)
    planned = {v: round(two_layer.budget(settings.budget, v, *plan).queries) for v in settings.capacities}
    for capacity in settings.capacities:
        splits = [*planned.items(), *((None, settings.budget // m) for m in settings.documents)]
        for planned_for, n in splits:
            rng = generator(seed, "twolayer-capacities", capacity, n)
            gaps = worst_gaps(settings, capacity, n, rng)
            yield {
                "budget": settings.budget,
                "capacity": capacity,
                "planned_for": planned_for,
                "queries": n,
                **columns("gap", mean_interval(gaps)),
                "bound": two_layer.even_bound(n, settings.budget, capacity, *plan).total,
            }


def worst_gaps(settings: CapacitiesSettings, capacity: int, n: int, rng: np.random.Generator) -> Floats:
    """The worst gap on every one of the repetitions: samples of the budget's documents over n queries, evenly."""
    share, noise = settings.turned_share, settings.noise
    # A pair counts if features and labels differ: half of all pairs, and of these both labels true, or both false.
    true, false = (1.0 - noise) ** 2 / 2.0, noise**2 / 2.0
    expected = np.array([(1.0 - share) * false + share * true, (1.0 - share) * true + share * false]) / capacity
    lengths = settings.budget // n + (np.arange(n) < settings.budget % n)
    # Documents with and without the feature, relevant or not: (1, 1), (1, 0), (0, 1), (0, 0).
    straight = np.array([1.0 - noise, noise, noise, 1.0 - noise]) / 2.0
    found = np.empty(settings.repetitions)
    for repetition in range(settings.repetitions):
        feature, turned = rng.integers(0, capacity, n), rng.random(n) < share
        counts = rng.multinomial(lengths, np.where(turned[:, None], straight[[1, 0, 3, 2]], straight)).astype(
            np.float64
        )
        # Wrong pairs of the weights 1 and -1.
        wrong = np.column_stack([counts[:, 1] * counts[:, 2], counts[:, 0] * counts[:, 3]])
        wrong /= (lengths * (lengths - 1) / 2.0)[:, None]
        training = np.column_stack([np.bincount(feature, column, capacity) for column in wrong.T]) / n
        found[repetition] = (expected - training).max(axis=1).sum()
    return found
