"""Table 1: the seven methods on fold 1 and on all folds, their published values, and what AdaRank's rows depend on."""

from __future__ import annotations

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.settings import Settings

DATASETS = ("MQ2008", "MQ2007")
"""The data sets of Table 1."""


class Table1Settings(Settings):
    """The seven methods of Table 1; this experiment has no settings."""


def _compare(job: Job) -> Outcome:
    import polars as pl

    from pipeline_lib.papers.cone.computations import table1

    [transcribed] = job.files
    published = pl.read_csv(transcribed, comment_prefix="#").to_dicts()
    rows = table1.cells(
        published, job.evaluations, job.facts["reproduces"], job.seed, job.facts["statistics"]["resamples"]
    )
    return Outcome([rows, table1.as_published(published)])


def _boost(job: Job) -> Outcome:
    from pipeline_lib.papers.cone.computations import adarank

    rows = []
    for path in job.documents:
        dataset = path.parent.name
        for fold in job.facts["folds"][dataset]:
            parts = job.parts(dataset, fold, ("train", "validation", "test"))
            rows += adarank.run_fold(dataset, fold, parts, job.seed, job.facts["statistics"]["resamples"])
    return Outcome([rows])


EXPERIMENT = Experiment(
    Table1Settings,
    (
        Step(
            "table1",
            _compare,
            evaluations=DATASETS,
            files=["workflow/published/cone-table1.csv"],
            facts=["reproduces", "statistics"],
            tables={
                "tables/cone-table1": {
                    **dict.fromkeys(("dataset", "method", "model", "measure"), str),
                    **dict.fromkeys(("published", "fold1", "fold1_low", "fold1_high", "five_fold_mean"), float),
                    **dict.fromkeys(("five_fold_sd", "five_fold_low", "five_fold_high", "delta"), float),
                    "status": str,
                    **dict.fromkeys(("published_other_measure", "published_other_dataset"), float),
                },
                "tables/cone-published": {
                    **dict.fromkeys(("dataset", "method", "measure"), str),
                    **dict.fromkeys(("published", "best", "other_dataset"), float),
                },
            },
            cost=Cost(1.0),
        ),
        Step(
            "adarank",
            _boost,
            documents=DATASETS,
            with_folds=True,
            facts=["folds", "statistics"],
            tables={
                "tables/cone-adarank": {
                    "dataset": str,
                    "fold": int,
                    "measure": str,
                    "repeats": int,
                    "stop": str,
                    **dict.fromkeys(("rounds", "features"), int),
                    **dict.fromkeys(("map", "map_low", "map_high", "ndcg", "ndcg_low", "ndcg_high"), float),
                }
            },
        ),
    ),
)
