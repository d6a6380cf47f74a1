"""Measures of some test queries, by their definitions, from the models and documents that a study stored.

Of linear models, the documents of the first test queries of every fold are scored and ranked again, and their measures
computed in plain Python. What breaks ties by the mean over orders, and what has weights, is left out.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from pipeline_lib.core import storage
from pipeline_lib.recompute.comparison import Comparison
from pipeline_lib.recompute.study import Study

QUERIES = 10
"""So many test queries of every fold are measured again."""
NEAR = 1e-9
"""Scores that differ by less than this share of the largest are ordered by rounding: such a query is left out."""
NOT_AGAIN = "measures of models that are not linear, with ties that are averaged, weights, or documents not at hand"
KEYS = ("dataset", "model", "fold", "query", "qid")


def compare(study: Study, found: Comparison) -> None:
    """Compare the measures of some test queries of every linear model."""
    for frame in study.evaluations():
        dataset, model = frame["dataset"][0], frame["model"][0]
        documents = study.results.resolve().parents[1] / "data/parquet" / dataset / "documents.parquet"
        held_out = study.results / "evaluation" / dataset / f"{model}.held-out.json"
        averaged = held_out.is_file() and any("ties" in one for one in storage.read_json(held_out)["folds"])
        stored = sorted((study.results / "models" / dataset / model).glob("fold-*.json"))
        trained = {content["fold"]: content["trained"] for content in map(storage.read_json, stored)}
        linear = bool(trained) and all(one["kind"] == "linear" for one in trained.values())
        if averaged or not linear or not documents.is_file() or "weight" in frame.columns:
            found.leave(NOT_AGAIN, f"evaluation of {model} on {dataset}")
            continue
        for fold, ranker in sorted(trained.items()):
            part = frame.filter(pl.col("fold") == fold).sort("query").head(QUERIES)
            _compare(found, part, ranker, documents)


def _compare(found: Comparison, part: pl.DataFrame, ranker: Mapping[str, Any], path: Path) -> None:
    queries, largest = _queries(path)
    for row in part.iter_rows(named=True):
        start, labels = queries[row["query"]]
        ranked = _ranked(ranker, _features(path, start, len(labels)), labels)
        if ranked is None:
            continue
        name = f"evaluation of {row['model']} on {row['dataset']}"
        for measure in (one for one in row if one not in KEYS):
            again = value(measure, ranked, largest)
            if again is not None:
                found.cell(name, f"fold {row['fold']}, query {row['query']}", measure, row[measure], again)


@lru_cache(maxsize=2)
def _queries(path: Path) -> tuple[list[tuple[int, list[int]]], int]:
    """Where the documents of every query begin, and their labels; and the largest label."""
    stored = pl.read_parquet(path, columns=["qid", "label"])
    found: list[tuple[int, list[int]]] = []
    last = None
    for place, (name, label) in enumerate(stored.iter_rows()):
        if name != last:
            found.append((place, []))
        found[-1][1].append(label)
        last = name
    return found, int(stored["label"].max())  # type: ignore[arg-type]


@lru_cache(maxsize=1000)
def _features(path: Path, start: int, number: int) -> list[list[float]]:
    """The features of so many documents, without all others."""
    found = pl.scan_parquet(path).slice(start, number).select("features").collect()
    return found["features"].to_list()


def _ranked(ranker: Mapping[str, Any], rows: Sequence[Sequence[float]], labels: Sequence[int]) -> list[int] | None:
    """The labels in the order of falling scores, equal ones in their order; None where rounding decides the order."""
    about = list(zip(ranker["w"], ranker["mean"], ranker["scale"], strict=True))
    scores = [math.fsum(w * (x - mean) / scale for x, (w, mean, scale) in zip(row, about, strict=True)) for row in rows]
    order = sorted(range(len(rows)), key=lambda i: -scores[i])
    near = NEAR * max(map(abs, scores))
    for one, other in pairwise(order):
        if rows[one] != rows[other] and scores[one] - scores[other] <= near and labels[one] != labels[other]:
            return None
    return [labels[i] for i in sorted(order, key=lambda i: (-scores[i], i))]


def value(name: str, labels: Sequence[int], largest: int) -> float | None:
    """A measure of labels in the order of a ranking; None for one of which no definition is known here.

    Example
    -------
    >>> value("ndcg@1", [0, 1], 1), value("map", [0, 1], 1), value("letor4_ndcg@3", [1, 0], 1), value("mine", [0], 1)
    (0.0, 0.5, 0.0, None)
    """
    family, _, rank = name.partition("@")
    if family not in DEFINITIONS or (rank and not rank.isdecimal()):
        return None
    return DEFINITIONS[family](labels, int(rank) if rank else len(labels), largest)


def _discounted(gains: Sequence[float], k: int, discount: Callable[[int], float]) -> float:
    best = math.fsum(gain * discount(i) for i, gain in enumerate(sorted(gains, reverse=True)[:k], 1))
    return math.fsum(gain * discount(i) for i, gain in enumerate(gains[:k], 1)) / best if best else 0.0


def _by_log(i: int) -> float:
    return 1 / math.log2(i + 1)


def _of_letor(i: int) -> float:
    return 1.0 if i < 3 else 1 / math.log2(i)


def _ndcg(labels: Sequence[int], k: int, largest: int, discount: Callable[[int], float] = _by_log) -> float:
    return _discounted([2.0**label - 1 for label in labels], k, discount)


def _linear(labels: Sequence[int], k: int, largest: int) -> float:
    return _discounted([float(label) for label in labels], k, _by_log)


def _letor(labels: Sequence[int], k: int, largest: int) -> float:
    return _ndcg(labels, k, largest, _of_letor) if k <= len(labels) else 0.0


def _letor_mean(labels: Sequence[int], k: int, largest: int) -> float:
    return math.fsum(_letor(labels, i, largest) for i in range(1, len(labels) + 1)) / len(labels)


def _average_precision(labels: Sequence[int], k: int, largest: int) -> float:
    ranks = list(_relevant(labels))
    return math.fsum(n / rank for n, rank in enumerate(ranks, 1)) / len(ranks) if ranks else 0.0


def _precision(labels: Sequence[int], k: int, largest: int) -> float:
    return sum(rank <= k for rank in _relevant(labels)) / k


def _recall(labels: Sequence[int], k: int, largest: int) -> float:
    ranks = list(_relevant(labels))
    return sum(rank <= k for rank in ranks) / len(ranks) if ranks else 0.0


def _reciprocal(labels: Sequence[int], k: int, largest: int) -> float:
    first = next(_relevant(labels), math.inf)
    return 1 / first if first <= k else 0.0


def _expected_reciprocal(labels: Sequence[int], k: int, largest: int) -> float:
    total, reading = 0.0, 1.0
    for i, label in enumerate(labels[:k], 1):
        stops = (2.0**label - 1) / 2.0**largest
        total, reading = total + reading * stops / i, reading * (1 - stops)
    return total


def _relevant(labels: Sequence[int]) -> Iterator[int]:
    return (rank for rank, label in enumerate(labels, 1) if label > 0)


DEFINITIONS: Mapping[str, Callable[[Sequence[int], int, int], float]] = {
    "ndcg": _ndcg,
    "linear_ndcg": _linear,
    "letor4_ndcg": _letor,
    "letor4_mean_ndcg": _letor_mean,
    "map": _average_precision,
    "p": _precision,
    "recall": _recall,
    "rr": _reciprocal,
    "err": _expected_reciprocal,
}
"""Measure -> its value by labels in the order of the ranking, the cutoff, and the largest label of the scale."""
