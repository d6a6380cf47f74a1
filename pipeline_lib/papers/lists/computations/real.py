"""Does the gap behave on the queries of a data set as it does on a population's?

Queries and documents of a data set are subsampled. All queries that are not in the sample, with lists cut to the same
length, represent the population; their number determines the standard error. The worst ranker is sought on one half
of them and measured on the other. Excess risks are relative to the minimiser over all queries of the data set, sample
and rest. Features are standardised on the whole data set and scaled so that the longest document vector has length
1 = R_X.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import progress, surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.learners import erm, ogd
from pipeline_lib.papers.lists.computations import held_out, worst_gap
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import list_bounds
from pipeline_lib.theory.known_population import scaled

if TYPE_CHECKING:
    from pipeline_lib.papers.lists.experiments.real import RealSettings

_LOG = logging.getLogger(__name__)


def run(settings: RealSettings, data: RankingData, dataset: str, seed: int) -> list[dict[str, Any]]:
    """One row for every loss, m, n, repetition and ranker; none where all n are above half of the queries."""
    inside = scaled(data)
    sizes = [n for n in settings.queries if 2 * n <= data.n_queries]
    rows: list[dict[str, Any]] = []
    if not sizes:
        return rows
    for m in settings.lengths:
        for repetition in progress.counted(range(settings.repetitions), _LOG, f"repetitions for m = {m}"):
            cut = inside.subsample_documents(m, generator(seed, "lists-real", dataset, m, repetition, "documents"))
            order = generator(seed, "lists-real", dataset, repetition, "queries").permutation(data.n_queries)
            axes = {"dataset": dataset, "m": m, "repetition": repetition}
            for entry in settings.losses:
                loss = surrogates.create(entry.surrogate, **entry.options)
                best = erm.fit(cut, loss, l2=0.0, radius=settings.radius, tol=settings.tol).w
                for n in sizes:
                    parts = cut.divided(train=order[:n], test=order[n:])
                    part = _Part(settings, loss, m, int(data.y.max()), parts["train"], parts["test"], best)
                    axes = {"dataset": dataset, "m": m, "n": n, "repetition": repetition, "loss": entry.name}
                    rows += [{**axes, **row} for row in part.rows()]
    return rows


@dataclass(frozen=True)
class _Part:
    # One sample, all other queries, and the best ranker on both.
    settings: RealSettings
    loss: Surrogate
    m: int
    y_max: int
    sample: RankingData
    rest: RankingData
    best: Floats

    def rows(self) -> list[dict[str, Any]]:
        settings, loss, sample, n = self.settings, self.loss, self.sample, self.sample.n_queries
        given: dict[str, Any] = {"m": self.m, "radius": settings.radius, "feature_norm": 1.0}
        given |= list_bounds.of_surrogate("erm", loss, y_max=self.y_max, **given)
        bound = list_bounds.evaluate("erm", n=n, delta=settings.delta, **given)
        common = {"bound": bound, "loss_bound": given["loss_bound"]}
        of_minimiser = list_bounds.excess_of_minimiser(bound, n=n, loss_bound=given["loss_bound"], delta=settings.delta)

        least = erm.fit(sample, loss, l2=0.0, radius=settings.radius, tol=settings.tol)
        gap = least.relative_gap if loss.convex else None
        rows = [self._row("erm", least.w, self.rest, gap, of_minimiser)]
        reference, truth = np.split(np.arange(self.rest.n_queries), [self.rest.n_queries // 2])
        halves = self.rest.divided(reference=reference, test=truth)
        worst = worst_gap.search(loss, sample, halves["reference"], settings.radius, settings.ascent_steps)
        rows.append(self._row("worst", worst, halves["test"], None, None))
        if loss.convex:
            steep = {"radius": settings.radius, "lipschitz": given["lipschitz"], "feature_norm": 1.0}
            l2 = list_bounds.rerm_l2(n, **steep)
            steady = erm.fit(sample, loss, l2=l2, radius=settings.radius, tol=settings.tol)
            of_rerm, of_ogd = (list_bounds.evaluate(name, n=n, **given) for name in ("rerm", "ogd"))
            rows.append(self._row("rerm", steady.w, self.rest, steady.relative_gap, of_rerm))
            average = ogd.run(sample, loss, step=ogd.lipschitz_step(n, **steep), radius=settings.radius).average
            rows.append(self._row("ogd", average, self.rest, None, of_ogd))
        return [{**row, **common} for row in rows]

    def _row(
        self, learner: str, w: Floats, truth: RankingData, certified: float | None, excess_bound: float | None
    ) -> dict[str, Any]:
        empirical = float(held_out.losses(self.loss, self.sample.in_role("train"), w).mean())
        true = held_out.losses(self.loss, truth.in_role("test"), w)
        above = true - held_out.losses(self.loss, truth, self.best)
        risk, root = float(true.mean()), math.sqrt(truth.n_queries)
        return {
            "learner": learner,
            "empirical": empirical,
            "risk": risk,
            "risk_error": float(true.std(ddof=1)) / root,
            "gap": risk - empirical,
            "excess": float(above.mean()),
            "excess_error": float(above.std(ddof=1)) / root,
            "certified_gap": certified,
            "excess_bound": excess_bound,
        }
