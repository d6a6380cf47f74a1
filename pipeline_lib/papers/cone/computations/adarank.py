"""How do AdaRank's numbers depend on the round at which boosting stops, and on whether a feature is chosen repeatedly?

The AdaRank rows of Table 1 of `cone` come from another implementation, whose rule for stopping is not known. Five rules
are measured here on the same boosting runs, among them that of Xu and Li (2007, section 4: stop when the training
measure no longer increases); the one that is best on the test part bounds what any rule could reach. Resampling the
validation queries measures how much the choice on the validation part depends on the queries in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import metrics
from pipeline_lib.arrays import Floats
from pipeline_lib.learners import adarank
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator

ROUNDS = 100
MEASURES = ("map", "ndcg")
REPEATS = (None, 1)
SELECTION = {"map": "map", "ndcg": "letor4_mean_ndcg"}


def run_fold(dataset: str, fold: int, parts: Sequence[RankingData], seed: int, resamples: int) -> list[dict[str, Any]]:
    """Boost on the training part of one fold; one row for every measure, limit of repeats, and rule for stopping.

    The rule "validation" is given with the range (2.5 to 97.5 %) of its test measures over ``resamples`` bootstrap
    samples of the validation queries, for the same boosting run; the other rules have none.
    """
    train, validation, test = parts
    train, validation, test = train.in_role("train"), validation.in_role("validation"), test.in_role("test")
    rows = []
    for measure in MEASURES:
        for repeats in REPEATS:
            boosted = adarank.run(train, measure, rounds=ROUNDS, repeats=repeats)
            held = np.stack([_values(w, validation)[SELECTION[measure]] for w in boosted.weights])
            tested = [
                {name: float(values.mean()) for name, values in _values(w, test).items()} for w in boosted.weights
            ]
            stops = {
                "validation": int(np.argmax(held.mean(axis=1))),
                "training": int(np.argmax(boosted.values)),
                "no gain": first_without_gain(boosted.values),
                "last": len(tested) - 1,
                "best on test": int(np.argmax([values["map"] for values in tested])),
            }
            rng = generator(seed, "cone-adarank", dataset, fold, measure, 0 if repeats is None else repeats)
            drawn = best_on_resamples(held, resamples, rng)
            for stop, after in stops.items():
                setting = {"dataset": dataset, "fold": fold, "measure": measure, "repeats": repeats, "stop": stop}
                features = len(set(boosted.features[: after + 1].tolist()))
                row = {**setting, "rounds": after + 1, "features": features}
                for name, key in SELECTION.items():
                    ends = (
                        np.quantile([tested[t][key] for t in drawn], [0.025, 0.975]) if stop == "validation" else None
                    )
                    row[name] = tested[after][key]
                    row[f"{name}_low"], row[f"{name}_high"] = (None, None) if ends is None else map(float, ends)
                rows.append(row)
    return rows


def first_without_gain(values: Floats) -> int:
    """The last round, counted from 0, up to which every round raised the training measure.

    Example
    -------
    >>> first_without_gain(np.array([0.2, 0.3, 0.3, 0.4]))
    1
    """
    flat = np.flatnonzero(np.diff(values) <= 0.0)
    return int(flat[0]) if len(flat) else len(values) - 1


def best_on_resamples(held: Floats, resamples: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The round that is best on each bootstrap sample of the validation queries, shape (resamples,).

    ``held``, of shape (rounds, Q), has the measure of every validation query after every round.

    Example
    -------
    >>> best_on_resamples(np.array([[0.1, 0.2], [0.3, 0.4]]), 3, np.random.default_rng(0))
    array([1, 1, 1])
    """
    n_queries = held.shape[1]
    times = rng.multinomial(n_queries, np.full(n_queries, 1.0 / n_queries), size=resamples)
    # einsum gives the same sums on every machine, whatever its BLAS.
    return np.argmax(np.einsum("rq,tq->rt", times.astype(np.float64), held), axis=1)


def _values(w: Floats, data: RankingData) -> dict[str, Floats]:
    scores = np.einsum("ij,j->i", data.X64, w)
    return metrics.per_query(tuple(SELECTION.values()), scores, data.y, data.offsets)
