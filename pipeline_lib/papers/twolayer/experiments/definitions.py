"""Definition 3 for the losses, and what the analyses cited average over, by exact computation."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.settings import Positives, Rising, Settings, at_least


class DefinitionsSettings(Settings):
    """Definition 3 for the losses on lists of unequal lengths, and the empirical risks of section 2."""

    score_bounds: Positives = Field((0.01, 0.1, 1.0), description="values of B, the bound on the scores")
    queries: Annotated[Rising, at_least(2)] = Field(
        (2, 10, 100), description="values of n, for the risk over all pairs of documents"
    )
    documents: Annotated[Rising, at_least(2)] = Field((2, 10, 100), description="values of m there")


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.twolayer.computations import cited, loss_averages

    averages = list(loss_averages.rows(job.settings, job.seed))
    return Outcome([averages, list(cited.all_pairs(job.settings)), list(cited.elements())])


EXPERIMENT = Experiment(
    DefinitionsSettings,
    (
        Step(
            "definitions",
            _run,
            tables={
                "tables/twolayer-loss-averages": {
                    "loss": str,
                    "case": str,
                    "score_bound": float,
                    "pairs": int,
                    **dict.fromkeys(("average", "contracted", "with_equal_weights", "constant", "largest"), float),
                },
                "tables/twolayer-all-pairs": {
                    **dict.fromkeys(("queries", "documents"), int),
                    **dict.fromkeys(("within_queries", "over_all_pairs", "over_all_pairs_if_comparable"), float),
                },
                "tables/twolayer-elements": dict.fromkeys(
                    ("first", "second", "in_one_row", "in_two_rows", "given_the_task"), float
                ),
            },
            surrogates=("ranksvm", "ranknet", "rankboost"),
            cost=Cost(1.0, start_mb=500.0),
        ),
    ),
)
