"""Does SLAM rank better with its tightest weights, or when it is trained on short lists?

On every fold, SLAM-NDCG is trained with the printed and with the tight weights, on whole lists and on lists that are
cut at random into short ones. NDCG@10 on the test queries of all folds is compared query by query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import metrics
from pipeline_lib.arrays import Floats
from pipeline_lib.learners import erm, sublists
from pipeline_lib.papers.slam.computations import paired_differences
from pipeline_lib.ranking_data import RankingData, Standardisation
from pipeline_lib.seeds import generator
from pipeline_lib.surrogates.slam import SlamNDCG, Weights

if TYPE_CHECKING:
    from pipeline_lib.papers.slam.experiments.weights import WeightsSettings

WEIGHTS: tuple[Weights, ...] = ("printed", "tight")
LISTS = ("whole", "short")
CUTOFF = 10
TOL = 1e-3

Row = dict[str, Any]


def run(
    settings: WeightsSettings,
    dataset: str,
    folds: Mapping[int, Sequence[RankingData]],
    level: Mapping[str, Any],
    seed: int,
) -> list[Row]:
    """Train on the first part of every fold, and compare on the second.

    Returns
    -------
    rows
        dataset, weights ("printed" or "tight"), lists ("whole" or "short"), n_queries, ndcg,
        largest_norm of the rankers over folds, the differences from the printed weights on the same lists
        (over_printed) and from whole lists with the same weights (over_whole) with intervals, and file_order, the
        NDCG@10 of the order of the file.
    """
    values: dict[tuple[Weights, str], list[Floats]] = {(w, lists): [] for w in WEIGHTS for lists in LISTS}
    norms = dict.fromkeys(values, 0.0)
    unranked: list[Floats] = []
    for fold, (train, test) in folds.items():
        standard = Standardisation.of(train)
        inside, outside = standard.apply(train.in_role("train")), standard.apply(test.in_role("test"))
        rng = generator(seed, "slam-weights", "short-lists", dataset, fold)
        trained_on = {"whole": inside, "short": sublists.cut(inside, settings.trained_sublists, rng)}
        unranked.append(_ndcg(np.zeros(test.n_documents), test))
        for (kind, lists), found in values.items():
            loss = SlamNDCG(weights=kind)
            w = erm.fit(trained_on[lists], loss, l2=settings.trained_l2, tol=TOL).w
            norms[kind, lists] = max(norms[kind, lists], float(np.linalg.norm(w)))
            found.append(_ndcg(outside.X64 @ w, outside))
    joined = {key: np.concatenate(found) for key, found in values.items()}
    rows = []
    for (kind, lists), own in joined.items():
        setting = {"dataset": dataset, "weights": kind, "lists": lists, "n_queries": len(own)}
        others = {"over_printed": joined["printed", lists], "over_whole": joined[kind, "whole"]}
        row: Row = {**setting, "ndcg": float(own.mean())}
        for name, other in others.items():
            axes = (seed, *setting.values(), name, "slam-short-lists")
            row |= paired_differences.compared(name, own, other, level, axes)
        norm, order = norms[kind, lists], float(np.concatenate(unranked).mean())
        rows.append({**row, "largest_norm": norm, "file_order": order})
    return rows


def _ndcg(scores: Floats, data: RankingData) -> Floats:
    return metrics.ndcg(scores, data.y, data.offsets, CUTOFF)
