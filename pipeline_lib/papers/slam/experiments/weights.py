"""The smallest weights with which SLAM bounds 1 - NDCG, and for which data its risk is smallest at w = 0."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Le
from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import EVERY, Experiment, Job, Outcome, Step
from pipeline_lib.settings import Positive, Positives, Rising, Settings, Whole, at_least


class WeightsSettings(Settings):
    """The tightest weights of SLAM, and for which data its risk is smallest at w = 0."""

    enumerated: Annotated[Rising, at_least(2)] = Field(
        (2, 3, 4), description="values of m for which all label vectors are enumerated"
    )
    enumerated_label: Annotated[Whole, Le(4)] = Field(2, description="largest label of these vectors")
    lengths: Annotated[Rising, at_least(3)] = Field(
        (5, 10, 20, 50), description="documents per query in the simulated samples"
    )
    documents: Whole = Field(10000, description="documents in a simulated sample, over all queries")
    noises: Positives = Field((0.05, 0.15, 0.5), description="noise of labels in the population, in units of the merit")
    sublists: Annotated[Rising, at_least(2)] = Field(
        (5, 10), description="documents per list into which the lists of data sets are cut"
    )
    margins: Positives = Field((0.1, 10.0), description="margins of SLAM's hinges with which every risk is minimised")
    l2: Positive = Field(0.001, description="l2 with which every risk is minimised")
    trained_sublists: Annotated[Whole, Field(ge=2)] = Field(
        3, description="documents per list on which rankers are trained that are compared with those of whole lists"
    )
    trained_l2: Positive = Field(0.01, description="l2 of these rankers")


def _phases(job: Job) -> Outcome:
    from pipeline_lib.papers.slam.computations import phases, tight_weights

    datasets = job.datasets()
    exact = tight_weights.enumerated(job.settings.enumerated, job.settings.enumerated_label)
    sums = tight_weights.sums(job.settings, datasets, job.seed)
    return Outcome([exact, sums, phases.run(job.settings, datasets, job.seed)])


def _short_lists(job: Job) -> Outcome:
    from pipeline_lib.papers.slam.computations import short_lists

    rows = []
    for path in job.documents:
        dataset = path.parent.name
        folds = {fold: job.parts(dataset, fold, ("train", "test")) for fold in job.facts["folds"][dataset]}
        rows += short_lists.run(job.settings, dataset, folds, job.facts["statistics"], job.seed)
    return Outcome([rows])


EXPERIMENT = Experiment(
    WeightsSettings,
    (
        Step(
            "weights",
            _phases,
            documents=EVERY,
            tables={
                "tables/slam-tight-weights": {
                    "labels": str,
                    "m": int,
                    **dict.fromkeys(("printed_sum", "tight_sum", "least_sum", "worst_loss"), float),
                    **dict.fromkeys(("smallest_slack", "largest_excess", "slack_one_rank_off"), float),
                    **dict.fromkeys(("slack_without_thresholds", "slack_of_nine_tenths"), float),
                },
                "tables/slam-tight-sums": {
                    "source": str,
                    "m": int,
                    "queries": int,
                    **dict.fromkeys(("printed", "tight", "largest_ratio"), float),
                },
                "tables/slam-phases": {
                    **dict.fromkeys(("source", "kind"), str),
                    **dict.fromkeys(("m", "relevant"), int),
                    **dict.fromkeys(("noise", "separation", "threshold", "lead", "spread", "ratio"), float),
                    **dict.fromkeys(("margin", "l2", "norm"), float),
                    "certified": bool,
                },
            },
            surrogates=("slam-ndcg", "slam-map"),
            cost=Cost(3.0, start_mb=500.0),
            seconds=lambda settings, cell: 2e-5 * settings.documents * len(settings.lengths) * len(settings.noises),
        ),
        Step(
            "short_lists",
            _short_lists,
            documents=EVERY,
            with_folds=True,
            facts=["folds", "statistics"],
            tables={
                "tables/slam-short-lists": {
                    **dict.fromkeys(("dataset", "weights", "lists"), str),
                    "n_queries": int,
                    **dict.fromkeys(("ndcg", "largest_norm"), float),
                    **dict.fromkeys(("over_printed", "over_printed_low", "over_printed_high"), float),
                    **dict.fromkeys(("over_whole", "over_whole_low", "over_whole_high"), float),
                    "file_order": float,
                }
            },
            surrogates=("slam-ndcg",),
            cost=Cost(4.0, start_mb=500.0),
        ),
    ),
)
