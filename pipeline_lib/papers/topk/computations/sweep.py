"""What are more labels worth in the experiment of Figure 1, and does the order of documents in the file matter?

**Labels.** Algorithm 1 as in the third panel (:mod:`pipeline_lib.papers.topk.computations.figure`: unbiased, features
scaled, the U and the step chosen for each loss) with k = 1, 2, ... labels, on the queries with at least as many
documents as the largest k that a query with a relevant document allows. With k = 0 no label is seen: bandit gradient
descent, whose step is the best in hindsight among multiples of that of its theorem, learns from the loss alone.

**Ties.** In the first round all scores are 0, and SmoothDCG with a small epsilon hardly moves scores that it has once
set apart. Equal scores are ranked in the order of the file. Here the same games are also played on documents that are
put in a random order within their queries, which breaks ties at random.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.learners import bandit, loss_ranges, top_k_feedback
from pipeline_lib.papers.topk.computations import figure
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import Axis, generator
from pipeline_lib.statistics import over_folds

if TYPE_CHECKING:
    from pipeline_lib.papers.topk.experiments.figure import FigureSettings

Row = dict[str, Any]


@dataclass(frozen=True)
class Results:
    """Rows of the two tables."""

    labels: list[Row]
    ties: list[Row]


def measure(
    settings: FigureSettings, dataset: str, documents: RankingData, repair: Sequence[Mapping[str, Any]], seed: int
) -> Results:
    """Play all games of one data set; ``repair`` holds the chosen rows of :func:`figure.choose`."""
    short = settings.model_copy(update={"rounds": settings.sweep_rounds, "points": 2})
    data = figure.playable(documents, dataset)
    chosen = {row["surrogate"]: row for row in repair if row["chosen"]}
    return Results(_labels(short, dataset, data, chosen, seed), _ties(short, dataset, data, seed))


def _labels(
    settings: FigureSettings, dataset: str, data: RankingData, chosen: Mapping[str, Mapping[str, Any]], seed: int
) -> list[Row]:
    lengths, relevant = data.documents_per_query, np.maximum.reduceat(data.y, data.offsets[:-1]) > 0
    longest = int(lengths[relevant].max())
    values = [k for k in settings.sweep_labels if k <= longest]
    most = max([figure.FEWEST_DOCUMENTS, *values])
    small = figure.scaled(data.take(np.flatnonzero(lengths >= most)))
    about = {"queries": small.n_queries, "T": settings.rounds, "seeds": settings.sweep_seeds}
    rows = []
    for name in figure.REPAIRED:
        radius, factor = chosen[name]["radius"], chosen[name]["factor"]
        played = {0: _bandit(settings, small, name, radius, (seed, "topk-sweep", dataset))}
        fewest = top_k_feedback.ORDERS[name]
        for k in [k for k in values if k >= fewest] or [fewest]:
            axes = [(seed, "topk-sweep", dataset, k, number) for number in range(settings.sweep_seeds)]
            runs = [figure.repaired_game(settings, small, name, radius, factor, one, k) for one in axes]
            played[k] = np.array([run.ndcg[-1] for run in runs])
        for k, ends in played.items():
            summary = over_folds(ends)
            row = {"dataset": dataset, "surrogate": name, "k": k, **about}
            rows.append({**row, "ndcg": summary.mean, "low": summary.low, "high": summary.high})
    return rows


def _bandit(settings: FigureSettings, data: RankingData, name: str, radius: float, axes: tuple[Axis, ...]) -> Floats:
    """The average NDCG@10 of bandit gradient descent for every seed, with the best step in hindsight."""
    if not loss_ranges.largest(data, name, radius).any():  # no two labels differ, and nothing is to be learned
        of_theorem = bandit.Parameters(1.0, radius / 2.0, math.inf)
    else:
        of_theorem = bandit.theorem_parameters(data, name, radius, settings.rounds)
    ends = []
    for factor in settings.bandit_factors:
        runs = [
            bandit.run(
                *(data, name, settings.rounds, factor * of_theorem.step, of_theorem.delta, radius),
                seed=(*axes, "bandit", name, number),
                checkpoints=[settings.rounds],
                losses=False,
            )
            for number in range(settings.sweep_seeds)
        ]
        ends.append([run.ndcg[-1] for run in runs])
    return np.array(max(ends, key=np.mean))


def _ties(settings: FigureSettings, dataset: str, data: RankingData, seed: int) -> list[Row]:
    ends: dict[str, list[tuple[float, float]]] = {}
    for number in range(settings.sweep_seeds):
        axes = (seed, "topk-ties", dataset, number)
        other = shuffled(data, axes)
        for learner in figure.SHOWN:
            pair = [figure.game(settings, one, learner, "as-printed", axes).ndcg[-1] for one in (data, other)]
            ends.setdefault(learner, []).append((float(pair[0]), float(pair[1])))
    rows = []
    for learner, pairs in ends.items():
        in_order, random = np.array(pairs).T
        summary = over_folds(in_order - random)
        row = {"dataset": dataset, "learner": learner, "in_order": float(in_order.mean())}
        row |= {"shuffled": float(random.mean()), "gap": summary.mean}
        rows.append({**row, "low": summary.low, "high": summary.high})
    return rows


def shuffled(data: RankingData, axes: tuple[Axis, ...]) -> RankingData:
    """The same queries with their documents in a random order.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0], [2.0], [9.0]], [0, 1, 2, 0], [1, 1, 1, 2])
    >>> other = shuffled(data, (1,))
    >>> sorted(other.X[:3, 0].tolist()), bool((other.X[:3, 0] == other.y[:3]).all()), other.X[3, 0].item()
    ([0.0, 1.0, 2.0], True, 9.0)
    """
    keys = generator(*axes, "shuffled").random(data.n_documents)
    queries = np.repeat(np.arange(data.n_queries), data.documents_per_query)
    order = np.lexsort((keys, queries))
    return replace(data, X=data.X[order], y=data.y[order])
