"""Where do AdaRank's numbers of Table 1 depend on when boosting stops, and on whether a feature may be chosen again?

`cone`, Table 1: its AdaRank rows come from another implementation, whose rule for stopping is not known. Every rule is
measured here on the same boosting runs; the one that is best on the test part bounds what any rule could reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pipeline_lib import metrics
from pipeline_lib.learners import adarank
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.surrogates.base import Floats

TABLE = "tables/cone-adarank.parquet"
ROUNDS = 100
MEASURES = ("map", "ndcg")
REPEATS = (None, 1)
SELECTION = {"map": "ap", "ndcg": "letor4_mean_ndcg"}


def run_fold(dataset: str, fold: int, parts: Sequence[RankingData]) -> list[dict[str, Any]]:
    """Boost on the training part of one fold; a row for every measure, limit of repeats, and rule for stopping."""
    train, validation, test = parts
    rows = []
    for measure in MEASURES:
        for repeats in REPEATS:
            found = adarank.run(train, measure, rounds=ROUNDS, repeats=repeats)
            held = [_means(w, validation)[SELECTION[measure]] for w in found.weights]
            tested = [_means(w, test) for w in found.weights]
            stops = {
                "validation": int(np.argmax(held)),
                "training": int(np.argmax(found.values)),
                "last": len(tested) - 1,
                "best on test": int(np.argmax([values["ap"] for values in tested])),
            }
            for stop, after in stops.items():
                place = {"dataset": dataset, "fold": fold, "measure": measure, "repeats": repeats, "stop": stop}
                values = {"map": tested[after]["ap"], "ndcg": tested[after]["letor4_mean_ndcg"]}
                features = len(set(found.features[: after + 1].tolist()))
                rows.append({**place, "rounds": after + 1, "features": features, **values})
    return rows


def _means(w: Floats, data: RankingData) -> dict[str, float]:
    scores = np.einsum("ij,j->i", data.X64, w)
    measured = metrics.per_query(tuple(SELECTION.values()), scores, data.y, data.offsets)
    return {name: float(values.mean()) for name, values in measured.items()}
