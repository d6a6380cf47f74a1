"""SLAM's learners and all others, perceptrons with and without a kernel or a mean of iterates, and repaired ones."""

from __future__ import annotations

from pipeline_lib.experiment import ALL_MODELS, Experiment, Job, Outcome, Step
from pipeline_lib.settings import Settings


class PracticeSettings(Settings):
    """SLAM's learners compared with all others of the study; this experiment has no settings."""


def _run(job: Job) -> Outcome:
    from pipeline_lib import storage
    from pipeline_lib.papers.slam.computations import practice

    [models] = job.files
    compared = [practice.Model.from_entry(entry) for entry in storage.read_json(models)["models"]]
    statistics = job.facts["statistics"]
    found = practice.per_query(job.evaluations)
    return Outcome([practice.run(compared, *found, statistics["level"], statistics["resamples"], job.seed)])


EXPERIMENT = Experiment(
    PracticeSettings,
    (
        Step(
            "practice",
            _run,
            evaluations=ALL_MODELS,
            files=["results/models.json"],
            facts=["statistics"],
            tables={
                "tables/slam-practice": {
                    **dict.fromkeys(("dataset", "question", "model", "title"), str),
                    "value": float,
                    **dict.fromkeys(("other", "other_title"), str),
                    **dict.fromkeys(("other_value", "difference", "low", "high"), float),
                    "n_queries": int,
                    "p_holm": float,
                    "unlearned": str,
                    "file_order": float,
                    **dict.fromkeys(("worst_fold", "worst_fold_low", "worst_fold_high"), float),
                }
            },
        ),
    ),
)
