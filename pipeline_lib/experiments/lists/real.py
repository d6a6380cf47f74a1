"""Does the gap behave on real queries as it does on made ones?

Queries and documents of a data set are subsampled; all queries that are not in the sample, with lists cut to the same
length, stand for the truth, with the standard error that comes of their number. Features are standardised on the whole
data set and scaled so that the longest document vector has length 1 = R_X.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline_lib import surrogates
from pipeline_lib.errors import ConfigurationError, DataError
from pipeline_lib.experiments import settings
from pipeline_lib.experiments.lists import held_out
from pipeline_lib.learners import erm
from pipeline_lib.ranking_data import RankingData, Standardisation
from pipeline_lib.seeds import generator
from pipeline_lib.theory import list_bounds


@dataclass(frozen=True)
class Settings:
    """What is sampled.

    Attributes
    ----------
    queries, lengths : rising ints
        n and m; n of more than half of a data set's queries are left out.
    repetitions : int >= 2
    radius : number > 0
        W2.
    tol : number > 0
        Relative gap to which minimisers are certified.
    delta : number in (0, 1)
    losses : tuple of mappings
        ``name``, ``surrogate`` and ``options``; convex ones.
    """

    queries: tuple[int, ...]
    lengths: tuple[int, ...]
    repetitions: int
    radius: float
    tol: float
    delta: float
    losses: tuple[Mapping[str, Any], ...]

    def __post_init__(self) -> None:
        where = "lists.real"
        settings.wholes(f"{where}.queries", self.queries, 2)
        settings.wholes(f"{where}.lengths", self.lengths, 2)
        settings.whole(f"{where}.repetitions", self.repetitions, 2)
        settings.positives(f"{where}.radius", (self.radius,))
        settings.positives(f"{where}.tol", (self.tol,))
        if not 0.0 < self.delta < 1.0:
            raise ConfigurationError(f"{where}.delta: expected a number in (0, 1), found {self.delta}")

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> Settings:
        """Parse the section ``experiments: lists: real:``; ConfigurationError if it is wrong."""
        return settings.parse(cls, mapping, "lists.real")


def scaled(data: RankingData) -> RankingData:
    """Standardised features, divided by the largest length of a document's vector.

    Raises
    ------
    DataError
        When all features are constant.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0], [5.0]], [0, 1, 1], [1, 1, 2])
    >>> float(np.abs(scaled(data).X).max())
    1.0
    """
    standard = Standardisation.of(data).apply(data)
    longest = float(np.sqrt(np.max(np.einsum("ij,ij->i", standard.X64, standard.X64))))
    if longest == 0.0:
        raise DataError("data: expected a feature that is not constant, found none")
    return RankingData(standard.X / np.float32(longest), standard.y, standard.offsets, standard.qids)


def run(asked: Settings, data: RankingData, dataset: str, seed: int) -> list[dict[str, Any]]:
    """Rows of the table: one a loss, m, n and repetition.

    Raises
    ------
    DataError
        When no n of the settings is at most half of the queries.
    """
    inside = scaled(data)
    sizes = [n for n in asked.queries if 2 * n <= data.n_queries]
    if not sizes:
        raise DataError(
            f"{dataset}: expected at least {2 * asked.queries[0]} queries for lists.real.queries, "
            f"found {data.n_queries}"
        )
    rows = []
    for m in asked.lengths:
        for repetition in range(asked.repetitions):
            cut = inside.subsample_documents(m, generator(seed, "lists-real", dataset, m, repetition, "documents"))
            order = generator(seed, "lists-real", dataset, repetition, "queries").permutation(data.n_queries)
            for n in sizes:
                sample, rest = cut.take(np.sort(order[:n])), cut.take(np.sort(order[n:]))
                axes = {"dataset": dataset, "m": m, "n": n, "repetition": repetition}
                rows += [_row(asked, entry, sample, rest, axes) for entry in asked.losses]
    return rows


def _row(
    asked: Settings, entry: Mapping[str, Any], sample: RankingData, rest: RankingData, axes: Mapping[str, Any]
) -> dict[str, Any]:
    loss = surrogates.create(entry["surrogate"], **entry["options"])
    found = erm.fit(sample, loss, l2=0.0, radius=asked.radius, tol=asked.tol)
    empirical, true = (held_out.losses(loss, part, found.w) for part in (sample, rest))
    y_max = int(max(sample.y.max(), rest.y.max()))
    given = {"m": axes["m"], "radius": asked.radius, "feature_norm": 1.0}
    constants = list_bounds.of_surrogate("erm", loss, y_max=y_max, **given)
    bound = list_bounds.evaluate("erm", n=axes["n"], delta=asked.delta, **given, **constants)
    return {
        **axes,
        "loss": entry["name"],
        "empirical": float(empirical.mean()),
        "risk": float(true.mean()),
        "risk_error": float(true.std(ddof=1) / np.sqrt(len(true))),
        "gap": float(true.mean() - empirical.mean()),
        "certified_gap": found.relative_gap,
        "bound": bound,
        "loss_bound": constants["loss_bound"],
    }
