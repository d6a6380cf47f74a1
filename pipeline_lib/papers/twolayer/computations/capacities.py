"""Do larger classes call for fewer queries with more documents each, if the worst gap is measured?

`twolayer`, discussion 3, advises so because n* falls with the capacity. The rankers with weights -1 and 1
(:mod:`pipeline_lib.papers.twolayer.computations.sign_rankers`) are a class whose worst gap is known on every sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pipeline_lib.papers.twolayer.computations.intervals import columns, mean_interval
from pipeline_lib.papers.twolayer.computations.sign_rankers import Signs, even_lists
from pipeline_lib.seeds import generator
from pipeline_lib.theory import two_layer

if TYPE_CHECKING:
    from pipeline_lib.papers.twolayer.experiments.capacities import CapacitiesSettings


def rows(settings: CapacitiesSettings, seed: int) -> Iterator[dict[str, Any]]:
    """The worst gap of every class with the numbers of queries planned for every capacity, and over a grid."""
    plan = (settings.delta, settings.c1)
    planned = {v: round(two_layer.budget(settings.budget, v, *plan).queries) for v in settings.capacities}
    for capacity in settings.capacities:
        signs = Signs(capacity, settings.turned_share, settings.noise)
        splits = [*planned.items(), *((None, settings.budget // m) for m in settings.documents)]
        for planned_for, n in splits:
            rng = generator(seed, "twolayer-capacities", capacity, n)
            gaps = signs.worst_gaps(even_lists(settings.budget, n), settings.repetitions, rng)
            yield {
                "budget": settings.budget,
                "capacity": capacity,
                "planned_for": planned_for,
                "queries": n,
                **columns("gap", mean_interval(gaps)),
                "bound": two_layer.even_bound(n, settings.budget, capacity, *plan).total,
            }
