"""Rankers of this library and gradient-boosted trees on MQ2008 and OHSUMED

The published five folds: every ranker learns from the training part, and whatever its settings leave open is chosen on
the validation part by the mean NDCG of LETOR 4.0. What is tried is as follows. The linear rankers that minimise a
surrogate try seven l2, and the others of ours what the defaults of the workflow say, ConeRank with 15 passes and one
start. LightGBM (`lambdarank`) and XGBoost (`rank:ndcg` and `rank:pairwise`) try 7 and 15 leaves with steps of 0.05 and
0.1, at least 20 documents in a leaf or the corresponding weight, and 10, 20, ..., 200 trees. No setting was chosen on a
test part.

Quality is measured on the test parts, in which every query occurs once, with the mean NDCG and the MAP of LETOR 4.0;
intervals are bootstrap intervals (95 %) over queries. The last column is the difference in mean NDCG from ListNet,
query by query; where its interval excludes 0, the difference is more than chance. Where a ranker gives all documents
of a test part the same score, as SLAM-NDCG does where w = 0 minimises its risk, its row says in how many folds; its
quality is then that of the order of the file. Trees are sums of hundreds of
non-linear functions of the features; ListNet, RankNet, RankSVM, SLAM-NDCG, AdaRank and ConeRank rank by a linear
function (ConeRank by a cone's distance), and RankBoost by a sum of thresholds of single features.

Times are those of training on a fold, including all that is tried and the choice; ratios and their intervals are over
the five folds.
"""

import importlib
import itertools
import os
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import training_times
from benchmarks.timing import Table, Timing, not_measured, processor_seconds
from pipeline_lib import learners, metrics, statistics
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import selection
from pipeline_lib.sources import folds, mirrors

DATA_SETS, FOLDS = ("MQ2008", "OHSUMED"), (1, 2, 3, 4, 5)
OURS: dict[str, tuple[str, dict[str, Any]]] = {
    "ListNet": ("erm", {"surrogate": "listnet"}),
    "RankNet": ("erm", {"surrogate": "ranknet", "options": {"normalisation": "mean"}}),
    "RankSVM": ("erm", {"surrogate": "ranksvm", "options": {"normalisation": "mean"}}),
    "SLAM-NDCG": ("erm", {"surrogate": "slam-ndcg"}),
    "SLAM perceptron": ("perceptron", {}),
    "ConeRank-SG": ("cone", {"passes": 15, "restarts": 1}),
    "AdaRank-MAP": ("adarank", {}),
    "RankBoost": ("rankboost", {}),
}
"""The first is what the others are compared with."""
LEAVES, STEPS, TREES, EVERY, LEAST = (7, 15), (0.05, 0.1), 200, 10, 20
CHOICE, MEASURES, EQUAL = "letor4_mean_ndcg", ("letor4_mean_ndcg", "map"), "equal"

Scores = NDArray[np.float64]
Predict = Callable[[RankingData], Scores]
Learn = Callable[[RankingData, RankingData], Predict]
Grown = Callable[[RankingData, int], Scores]
"""Scores by the first so many trees."""


def ours(name: str, settings: dict[str, Any], train: RankingData, validation: RankingData) -> Predict:
    """A learner of this library."""
    return learners.create(name, **settings).fit(train, validation, seed=2026).predict


def lightgbm(train: RankingData, leaves: int, step: float) -> Grown:
    """LightGBM's lambdarank."""
    library = importlib.import_module("lightgbm")
    parameters = {
        "objective": "lambdarank",
        "num_leaves": leaves,
        "learning_rate": step,
        "min_data_in_leaf": LEAST,
        "num_threads": 1,
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
    }
    documents = library.Dataset(train.X, train.y, group=train.documents_per_query, params={"verbosity": -1})
    booster = library.train(parameters, documents, num_boost_round=TREES)
    return lambda data, trees: booster.predict(data.X, num_iteration=trees, num_threads=1)


def xgboost(objective: str, train: RankingData, leaves: int, step: float) -> Grown:
    """XGBoost's rankers; trees grow by leaves, as LightGBM's do."""
    library = importlib.import_module("xgboost")
    parameters = {
        "objective": objective,
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": leaves,
        "max_depth": 0,
        "eta": step,
        "nthread": 1,
        "verbosity": 0,
    }
    documents = library.DMatrix(train.X, train.y, nthread=1)
    documents.set_group(train.documents_per_query)
    booster = library.train(parameters, documents, num_boost_round=TREES)

    def scores(data: RankingData, trees: int) -> Scores:
        return np.asarray(booster.predict(library.DMatrix(data.X, nthread=1), iteration_range=(0, trees)), np.float64)

    return scores


def trees(grow: Callable[[RankingData, int, float], Grown], train: RankingData, validation: RankingData) -> Predict:
    """The leaves, the step and the number of trees that are best on the validation part; the first of equal ones."""
    best: tuple[float, Grown, int] | None = None
    for leaves, step in itertools.product(LEAVES, STEPS):
        grown = grow(train, leaves, step)
        for n in range(EVERY, TREES + 1, EVERY):
            value = selection.mean_measure(grown(validation, n), validation, CHOICE)
            if best is None or value > best[0]:
                best = value, grown, n
    assert best is not None
    return partial(_scored, best[1], best[2])


def _scored(grown: Grown, n: int, data: RankingData) -> Scores:
    return grown(data, n)


def rankers() -> tuple[dict[str, Learn], dict[str, str]]:
    """All that can be trained here, and why the others cannot."""
    found: dict[str, Learn] = {name: partial(ours, *declared) for name, declared in OURS.items()}
    missing = {}
    for name, library, grow in (
        ("LightGBM, lambdarank", "lightgbm", lightgbm),
        ("XGBoost, rank:ndcg", "xgboost", partial(xgboost, "rank:ndcg")),
        ("XGBoost, rank:pairwise", "xgboost", partial(xgboost, "rank:pairwise")),
    ):
        try:
            importlib.import_module(library)
        except (ImportError, OSError) as error:
            missing[name] = f"not installed: {error}"
        else:
            found[name] = partial(trees, grow)
    return found, missing


def parts(data: Path, fold: int) -> list[RankingData]:
    """The training, the validation and the test part of a fold."""
    wanted = [folds.queries(data / "folds.parquet", fold, part) for part in ("train", "validation", "test")]
    return [RankingData.read_parquet(data / "documents.parquet", queries, stored=True) for queries in wanted]


@cache
def folder() -> tempfile.TemporaryDirectory[str]:
    """Where data are converted; it goes when the process ends."""
    return tempfile.TemporaryDirectory()


@cache
def converted(data_set: str) -> tuple[Path, str]:
    """The folder of the converted data set, and why there is none; empty where there is."""
    work = Path(folder().name)
    if mirrors.VARIABLE not in os.environ:
        return work, f"{mirrors.VARIABLE} names no folder with the archive"
    try:
        return training_times.converted(data_set, work), ""
    except subprocess.CalledProcessError as error:
        return work, f"could not be converted: {error}"


@cache
def trained(data_set: str) -> tuple[dict[str, list[float]], dict[str, dict[str, Scores]]]:
    """Seconds of every fold, and the measures of every test query, of every ranker; and whether all scores are equal.

    The measures have an entry :data:`EQUAL` for every fold: 1 where all scores of the test part are equal, else 0.
    """
    found, _ = rankers()
    seconds: dict[str, list[float]] = {name: [] for name in found}
    values: dict[str, list[dict[str, Scores]]] = {name: [] for name in found}
    data, _ = converted(data_set)
    for fold in FOLDS:
        train, validation, test = parts(data, fold)
        for name, learn in found.items():
            if fold == FOLDS[0]:  # the first call may compile
                few = np.arange(min(30, train.n_queries))
                learn(train.take(few), validation)
            spent, predict = processor_seconds(partial(learn, train, validation))
            seconds[name].append(spent)
            scores = predict(test)
            of_fold = metrics.per_query(list(MEASURES), scores, test.y, test.offsets)
            values[name].append(of_fold | {EQUAL: np.array([float(np.ptp(scores) == 0.0)])})
    return seconds, {
        name: {measure: np.concatenate([one[measure] for one in every]) for measure in (*MEASURES, EQUAL)}
        for name, every in values.items()
    }


def measure() -> list[Timing]:
    """The seconds of training."""
    timings = []
    for data_set in DATA_SETS:
        work = f"{data_set}, a fold"
        _, missing = converted(data_set)
        if missing:
            timings.append(not_measured(work, "all", "folds", missing))
            continue
        timings += [Timing(work, name, tuple(spent), "folds", 1.0) for name, spent in trained(data_set)[0].items()]
        timings += [not_measured(work, name, "folds", reason) for name, reason in rankers()[1].items()]
    return timings


def tables() -> list[Table]:
    """The quality on the test parts, a table a data set."""
    return [quality(name) for name in DATA_SETS if not converted(name)[1]]


def quality(data_set: str) -> Table:
    """Means over test queries with their intervals, and differences from the first ranker."""
    values = trained(data_set)[1]
    first = next(iter(values))
    rows = []
    for name, found in values.items():
        cells = [_interval(found[measure]) for measure in MEASURES]
        equal = int(found[EQUAL].sum())
        label = f"{name} (all scores equal in {equal} folds)" if equal else name
        rows.append((label, *cells, "" if name == first else _difference(found[CHOICE], values[first][CHOICE])))
    n = len(values[first][CHOICE])
    return Table((f"{data_set}, {n} queries", "mean NDCG", "MAP", f"mean NDCG minus that of {first}"), tuple(rows))


def _interval(values: Scores) -> str:
    low, high = statistics.bootstrap_interval(values, rng=np.random.default_rng(2026))
    return f"{values.mean():.3f} ({low:.3f} to {high:.3f})"


def _difference(a: Scores, b: Scores) -> str:
    low, high = statistics.bootstrap_interval(a - b, rng=np.random.default_rng(2026))
    return f"{np.mean(a - b):+.3f} ({low:+.3f} to {high:+.3f})"
