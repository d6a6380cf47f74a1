"""Do seven methods reach the numbers of Table 1, and to which fold do these belong?

Table 1 of `cone` gives MAP and NDCG (MeanNDCG of the LETOR 4.0 evaluation) on MQ2007 and MQ2008. The models are trained
and measured as all others of the study; the key ``published`` of a model names the row that it reproduces.
"""

from collections.abc import Iterator, Mapping
from itertools import product

import polars as pl

from pipeline_lib.core import storage
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Settings
from pipeline_lib.data.rows import Field, FromZero, Interval, Proportion, ProportionInterval, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.metrics import seed_axis
from pipeline_lib.statistics import bootstrap_interval, over_folds

OTHER = {"MQ2008": "MQ2007", "MQ2007": "MQ2008"}
"""The data sets of Table 1, each with the other one."""
MEASURES = {"map": "MAP", "letor4_mean_ndcg": "NDCG"}
TOLERANCE = 0.015
FOLD = 1

Values = Mapping[int, Floats]
"""One measure of one model: fold -> values of its test queries."""


class Table1Settings(Settings):
    """The seven methods of Table 1; this experiment has no settings."""


class Cell(
    Row,
    table="tables/cone-table1",
    key=("dataset", "method", "model", "measure"),
    always=("delta = fold1 - published", "five_fold_low <= five_fold_mean <= five_fold_high"),
):
    """A cell of Table 1, as a model of the study has it; all numbers are means of one measure over test queries."""

    dataset: str = Field(description="data set: MQ2007 or MQ2008")
    method: str = Field(description="row of Table 1")
    model: str = Field(description="model of the study that reproduces it")
    measure: str = Field(description="MAP or NDCG, the MeanNDCG of the LETOR 4.0 evaluation")
    published: Proportion = Field(description="the printed number")
    fold1: ProportionInterval = Field(description="that of the model on fold 1, with a bootstrap interval over queries")
    five_fold_mean: Proportion | None = Field(description="mean over folds; missing for a single fold")
    five_fold_sd: FromZero | None = Field(description="standard deviation over folds; missing for a single fold")
    five_fold_low: float | None = Field(description="lower end of the 95 % t interval over folds")
    five_fold_high: float | None = Field(description="upper end of the 95 % t interval over folds")
    delta: float = Field(description="fold1 - published")
    status: str = Field(description="verified if fold 1 is within .015 of the published number, else deviates")
    published_other_measure: Proportion | None = Field(description="printed number of the other measure")
    published_other_dataset: Proportion | None = Field(description="printed number on the other data set")


class Published(
    Row,
    table="tables/cone-published",
    key=("dataset", "method", "measure"),
    always=("best = MAX(published) OVER (PARTITION BY dataset, measure)",),
):
    """A number that Table 1 prints."""

    dataset: str = Field(description="data set: MQ2007 or MQ2008")
    method: str = Field(description="row of Table 1")
    measure: str = Field(description="MAP or NDCG")
    published: Proportion = Field(description="the printed number")
    best: Proportion = Field(description="largest number of its column, over all methods")
    other_dataset: Proportion | None = Field(description="printed number of the same method on the other data set")


def compare(job: Job) -> Iterator[Cell | Published]:
    """The cells of the table for which a model of the study was measured on fold 1, and all printed numbers.

    Evaluations are the files DATASET/MODEL.parquet with one row per query.
    """
    [transcribed] = job.files
    published = pl.read_csv(transcribed, comment_prefix="#").to_dicts()
    printed = {(entry["dataset"], entry["row"], entry["measure"]): entry["value"] for entry in published}
    for (dataset, method, measure), path in product(printed, job.evaluations):
        if dataset == path.parent.name and job.facts["reproduces"].get(path.stem) == method:
            parts = storage.read_table(path, columns=["fold", measure]).partition_by("fold", as_dict=True)
            values = {fold: part[measure].to_numpy() for (fold,), part in sorted(parts.items())}
            if FOLD in values:
                names = (dataset, method, path.stem, measure)
                yield cell(names, printed, values, job.seed, job.facts["statistics"]["resamples"])
    yield from as_published(printed)


Printed = Mapping[tuple[str, str, str], float]
"""Data set, method and measure -> the printed number."""


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


EXPERIMENT = Experiment(
    Table1Settings,
    Step(
        "table1",
        compare,
        evaluations=tuple(OTHER),
        files=["workflow/published/cone-table1.csv"],
        facts=["reproduces", "statistics"],
        rows=(Cell, Published),
        cost=Cost(0.3),
    ),
)
