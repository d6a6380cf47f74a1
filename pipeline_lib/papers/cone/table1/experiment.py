"""Do seven methods reach the numbers of Table 1, to which fold do these belong, and what do AdaRank's rows depend on?

Table 1 of `cone` gives MAP and NDCG (MeanNDCG of the LETOR 4.0 evaluation) on MQ2007 and MQ2008. The models are trained
and measured as all others of the study; the key ``published`` of a model names the row that it reproduces.

The AdaRank rows come from another implementation, whose rule for stopping is not known. Five rules are measured here on
the same boosting runs, among them that of Xu and Li (2007, section 4: stop when the training measure no longer
increases); the one that is best on the test part bounds what any rule could reach. Resampling the validation queries
measures how much the choice on the validation part depends on the queries in it.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pipeline_lib import metrics
from pipeline_lib.core import storage
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Settings
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Field, Interval, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.learners import adarank
from pipeline_lib.metrics import seed_axis
from pipeline_lib.statistics import bootstrap_interval, over_folds

OTHER = {"MQ2008": "MQ2007", "MQ2007": "MQ2008"}
"""The data sets of Table 1, each with the other one."""
MEASURES = {"map": "MAP", "letor4_mean_ndcg": "NDCG"}
TOLERANCE = 0.015
FOLD = 1

ROUNDS = 100
BOOSTED = ("map", "ndcg")
REPEATS = (None, 1)
SELECTION = {"map": "map", "ndcg": "letor4_mean_ndcg"}

Values = Mapping[int, Floats]
"""One measure of one model: fold -> values of its test queries."""


class Table1Settings(Settings):
    """The seven methods of Table 1; this experiment has no settings."""


class Cell(Row, table="tables/cone-table1"):
    """A cell of Table 1, as a model of the study has it; all numbers are means of one measure over test queries."""

    dataset: str = Field(description="data set: MQ2007 or MQ2008")
    method: str = Field(description="row of Table 1")
    model: str = Field(description="model of the study that reproduces it")
    measure: str = Field(description="MAP or NDCG, the MeanNDCG of the LETOR 4.0 evaluation")
    published: float = Field(description="the printed number")
    fold1: Interval = Field(description="that of the model on fold 1, with a bootstrap interval over queries")
    five_fold_mean: float | None = Field(description="mean over folds; missing for a single fold")
    five_fold_sd: float | None = Field(description="standard deviation over folds; missing for a single fold")
    five_fold_low: float | None = Field(description="lower end of the 95 % t interval over folds")
    five_fold_high: float | None = Field(description="upper end of the 95 % t interval over folds")
    delta: float = Field(description="fold1 - published")
    status: str = Field(description="verified if fold 1 is within .015 of the published number, else deviates")
    published_other_measure: float | None = Field(description="printed number of the other measure")
    published_other_dataset: float | None = Field(description="printed number on the other data set")


class Published(Row, table="tables/cone-published"):
    """A number that Table 1 prints."""

    dataset: str = Field(description="data set: MQ2007 or MQ2008")
    method: str = Field(description="row of Table 1")
    measure: str = Field(description="MAP or NDCG")
    published: float = Field(description="the printed number")
    best: float = Field(description="largest number of its column, over all methods")
    other_dataset: float | None = Field(description="printed number of the same method on the other data set")


class Boosted(Row, table="tables/cone-adarank"):
    """What AdaRank reaches on the test part of one fold by one rule for stopping."""

    dataset: str = Field(description="data set: MQ2007 or MQ2008")
    fold: int = Field(description="fold, from 1")
    measure: str = Field(description="measure that is boosted: map or ndcg")
    repeats: int | None = Field(description="how often a feature may be chosen; missing means any number of times")
    stop: str = Field(description="rule for the last round: validation, training, no gain, last or best on test")
    rounds: int = Field(description="number of rounds up to that one")
    features: int = Field(description="number of different features chosen in them")
    map: float = Field(description="MAP on the test part")
    map_low: float | None = Field(None, description="2.5 % quantile over resampled validation queries, if these choose")
    map_high: float | None = Field(None, description="97.5 % quantile of the same")
    ndcg: float = Field(description="MeanNDCG on the test part")
    ndcg_low: float | None = Field(None, description="2.5 % quantile over the same resamples")
    ndcg_high: float | None = Field(None, description="97.5 % quantile of the same")


def compare(job: Job) -> Iterator[Cell | Published]:
    """The cells of the table for which a model of the study was measured on fold 1, and all printed numbers.

    Evaluations are the files DATASET/MODEL.parquet with one row per query.
    """
    [transcribed] = job.files
    published = pl.read_csv(transcribed, comment_prefix="#").to_dicts()
    printed = {(entry["dataset"], entry["row"], entry["measure"]): entry["value"] for entry in published}
    for (dataset, method, measure), path in product(printed, job.evaluations):
        if dataset == path.parent.name and job.facts["reproduces"].get(path.stem) == method:
            values = _by_fold(path, measure)
            if FOLD in values:
                names = (dataset, method, path.stem, measure)
                yield cell(names, printed, values, job.seed, job.facts["statistics"]["resamples"])
    yield from as_published(printed)


Printed = Mapping[tuple[str, str, str], float]
"""Data set, method and measure -> the printed number."""


def _by_fold(path: Path, measure: str) -> Values:
    parts = storage.read_table(path, columns=["fold", measure]).partition_by("fold", as_dict=True)
    return {fold: part[measure].to_numpy() for (fold,), part in sorted(parts.items())}


def as_published(printed: Printed) -> Iterator[Published]:
    """Every published number, with the best of its column and that of the same method on the other data set.

    Example
    -------
    >>> key = ("MQ2007", "ListNet", "map")
    >>> next(as_published({key: 0.5, ("MQ2008", *key[1:]): 0.4})).other_dataset
    0.4
    """
    for (dataset, method, measure), value in printed.items():
        yield Published(
            dataset=dataset,
            method=method,
            measure=MEASURES[measure],
            published=value,
            best=max(of for (other, _, same), of in printed.items() if (other, same) == (dataset, measure)),
            other_dataset=printed.get((OTHER[dataset], method, measure)),
        )


def cell(names: tuple[str, str, str, str], printed: Printed, values: Values, seed: int, resamples: int) -> Cell:
    """One cell: fold 1 with its interval over queries, the mean over folds with its spread, and the difference.

    ``names`` are data set, method, model and measure.
    """
    dataset, method, model, measure = names
    first, published = values[FOLD], printed[dataset, method, measure]
    rng = generator(seed, "cone-table1", dataset, model, seed_axis(measure))
    low, high = bootstrap_interval(first, resamples=resamples, rng=rng)
    folds = over_folds([float(of_queries.mean()) for of_queries in values.values()]) if len(values) > 1 else None
    mean = float(first.mean())
    [other_measure] = (one for one in MEASURES if one != measure)
    return Cell(
        dataset=dataset,
        method=method,
        model=model,
        measure=MEASURES[measure],
        published=published,
        fold1=Interval(mean, min(low, mean), max(high, mean)),
        **{f"five_fold_{part}": getattr(folds, part, None) for part in ("mean", "sd", "low", "high")},
        delta=mean - published,
        status="verified" if abs(mean - published) <= TOLERANCE * (1.0 + 1e-9) else "deviates",
        published_other_measure=printed.get((dataset, method, other_measure)),
        published_other_dataset=printed.get((OTHER.get(dataset, ""), method, measure)),
    )


def boost(job: Job) -> Iterator[Boosted]:
    """AdaRank on every fold of both data sets."""
    for path in job.documents:
        dataset = path.parent.name
        for fold in job.facts["folds"][dataset]:
            parts = job.parts(dataset, fold, ("train", "validation", "test"))
            yield from boosted(dataset, fold, parts, job.seed, job.facts["statistics"]["resamples"])


def boosted(dataset: str, fold: int, parts: Sequence[RankingData], seed: int, resamples: int) -> Iterator[Boosted]:
    """Boost on the training part of one fold; one row for every measure, limit of repeats, and rule for stopping.

    The rule "validation" is given with the range (2.5 to 97.5 %) of its test measures over ``resamples`` bootstrap
    samples of the validation queries, for the same boosting run; the other rules have none.
    """
    train, validation, test = parts
    train, validation, test = train.in_role("train"), validation.in_role("validation"), test.in_role("test")
    for measure, repeats in product(BOOSTED, REPEATS):
        run = adarank.run(train, measure, rounds=ROUNDS, repeats=repeats)
        held = np.stack([_values(w, validation)[SELECTION[measure]] for w in run.weights])
        tested = [{name: float(values.mean()) for name, values in _values(w, test).items()} for w in run.weights]
        stops = {
            "validation": int(np.argmax(held.mean(axis=1))),
            "training": int(np.argmax(run.values)),
            "no gain": first_without_gain(run.values),
            "last": len(tested) - 1,
            "best on test": int(np.argmax([values["map"] for values in tested])),
        }
        rng = generator(seed, "cone-adarank", dataset, fold, measure, 0 if repeats is None else repeats)
        drawn = best_on_resamples(held, resamples, rng)
        for stop, after in stops.items():
            found: dict[str, Any] = {name: tested[after][key] for name, key in SELECTION.items()}
            if stop == "validation":
                for name, key in SELECTION.items():
                    low, high = map(float, np.quantile([tested[t][key] for t in drawn], [0.025, 0.975]))
                    found |= {f"{name}_low": low, f"{name}_high": high}
            of_run: dict[str, Any] = {"dataset": dataset, "fold": fold, "measure": measure, "repeats": repeats}
            features = len(set(run.features[: after + 1].tolist()))
            yield Boosted(**of_run, stop=stop, rounds=after + 1, features=features, **found)


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


EXPERIMENT = Experiment(
    Table1Settings,
    (
        Step(
            "table1",
            compare,
            evaluations=tuple(OTHER),
            files=["workflow/published/cone-table1.csv"],
            facts=["reproduces", "statistics"],
            rows=(Cell, Published),
            cost=Cost(1.0),
        ),
        Step(
            "adarank",
            boost,
            documents=tuple(OTHER),
            with_folds=True,
            facts=["folds", "statistics"],
            rows=(Boosted,),
        ),
    ),
)
