"""From which label on should a document count as relevant to SLAM-MAP, where labels have several grades?"""

from __future__ import annotations

from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import EVERY, Experiment, Job, Outcome, Step
from pipeline_lib.settings import Positive, Settings, Whole


class RelevanceSettings(Settings):
    """From which label on should a document count as relevant to SLAM-MAP, where labels have several grades?"""

    l2: Positive = Field(0.01, description="l2 with which SLAM-MAP is minimised")
    sublists: Whole = Field(3, ge=2, description="documents per list where it is minimised on short lists")
    passes: Whole = Field(5, description="passes of the averaged perceptron over the training queries")


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.slam.computations import relevance

    rows = []
    for path in job.documents:
        dataset = path.parent.name
        folds = {fold: job.parts(dataset, fold, ("train", "test")) for fold in job.facts["folds"][dataset]}
        rows += relevance.run(job.settings, dataset, folds, job.facts["statistics"], job.seed)
    return Outcome([rows])


EXPERIMENT = Experiment(
    RelevanceSettings,
    (
        Step(
            "relevance",
            _run,
            documents=EVERY,
            with_folds=True,
            facts=["folds", "statistics"],
            tables={
                "tables/slam-relevance": {
                    **dict.fromkeys(("dataset", "learner"), str),
                    "relevant_from": int,
                    "measure": str,
                    **dict.fromkeys(("counted_from", "n_queries"), int),
                    **dict.fromkeys(("value", "over_first", "over_first_low", "over_first_high"), float),
                    **dict.fromkeys(("file_order", "largest_norm"), float),
                }
            },
            surrogates=("slam-map",),
            cost=Cost(5.0, start_mb=500.0),
        ),
    ),
)
