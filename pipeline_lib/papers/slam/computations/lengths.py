"""How do the perceptron's loss and its two bounds grow with the length of the lists?

On separable streams of lists of m documents, with two features or with an axis for every query, Algorithm 1 and the
perceptron that updates on misordered documents only play with the step of their bounds. The constant C of Theorem 5 and
Corollary 6 is 4 m R_X^2 v_max for the first and 4 R_X^2 for the second (docs/a-bound-free-of-the-list-length.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib.learners import perceptron
from pipeline_lib.papers.slam.computations import streams
from pipeline_lib.papers.slam.computations.players import ACTIVE
from pipeline_lib.papers.slam.computations.streams import Stream
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import perceptron_bounds

if TYPE_CHECKING:
    from pipeline_lib.papers.slam.experiments.lengths import ListLengthsSettings

MEASURES = ("ndcg", "map")
SEPARABLE, ORTHOGONAL = "separable", "orthogonal"
SHARES = (0.6, 0.3, 0.1)
TOL = 1e-6

Row = dict[str, Any]


def run(settings: ListLengthsSettings, seed: int) -> list[Row]:
    """One row for every stream, length, measure and active set, after all rounds.

    Returns
    -------
    rows
        stream, measure, active, m, T, cumulative_loss, bound (the right side of Theorem 5 with this active set's C at
        the best comparator) with its gap, margin_bound (C / gamma^2), largest_loss (of the reversed orders),
        reversed_loss and never_loss (of rankers that sort by minus the last w, and by w = 0, over all rounds),
        share_of_printed (the margin bound as a share of the one printed), factor (C), feature_norm (R_X) and gamma.
    """
    rows = []
    for m, stream in _streams(settings, seed):
        for measure in MEASURES:
            gamma = stream.gamma(measure)
            assert gamma is not None, "the streams are separable"
            printed = perceptron.norm_factor(stream.data, stream.order, measure)
            for active in ACTIVE:
                found = _played(stream, measure, active)
                shares = {"margin_bound": found["factor"] / gamma**2, "share_of_printed": found["factor"] / printed}
                rows.append({"m": m, "gamma": gamma, **found, **shares})
    return rows


def _streams(settings: ListLengthsSettings, seed: int) -> Iterator[tuple[int, Stream]]:
    T, queries = settings.rounds, settings.queries
    for m in settings.lengths:
        rng = generator(seed, "slam-lengths", m)
        population = Population(
            PopulationSettings(
                features=2, documents=m, label_shares=SHARES, noise=0.0, query_noise=0.0, margin=settings.margin
            )
        )
        data = population.draw(queries, rng)
        yield m, Stream(SEPARABLE, 0, data, rng.integers(0, queries, T), True)
        data = streams.orthogonal(queries, m, 1.0)
        yield m, Stream(ORTHOGONAL, 0, data, np.arange(T) % queries, True, 2.0 / queries**0.5)


def _played(stream: Stream, measure: str, active: perceptron.Active) -> Row:
    data, order = stream.data, stream.order
    result = perceptron.run(data, order, measure, "theory", active)
    factor = perceptron.norm_factor(data, order, measure, active)
    side = perceptron_bounds.right_side(data, order[result.mistakes], factor, measure, TOL)
    losses = {
        "largest_loss": streams.largest_losses(data, measure),
        "reversed_loss": streams.losses(-(data.X64 @ result.w), data, measure),
        "never_loss": streams.losses(np.zeros(data.n_documents), data, measure),
    }
    return {
        "stream": stream.name,
        "measure": measure,
        "active": active,
        "T": len(order),
        "cumulative_loss": float(result.losses.sum()),
        "bound": side.bound,
        "gap": side.gap,
        **{name: float(own[order].sum()) for name, own in losses.items()},
        "factor": factor,
        "feature_norm": float(np.sqrt(np.einsum("ij,ij->i", data.X64, data.X64).max())),
    }
