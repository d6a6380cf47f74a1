"""The constants of every surrogate, as stated and as obtained by search, and the lemmas on which the bounds rest."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pipeline_lib import surrogates
from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.settings import Positive, Positives, Rising, Settings, Whole, at_least, no_fewer_than

LargestLabels = Annotated[tuple[Annotated[Whole, Field(le=30)], ...], *Rising.__metadata__]


class ConstantsSettings(Settings):
    """The constants of every surrogate, as stated and as obtained by search, and Lemmas 4 and 14."""

    listnet_lengths: Rising = Field((10, 100, 1000, 10000), description="values of m for Proposition 1")
    lengths: Annotated[Rising, at_least(2)] = Field(
        (5, 20, 100), description="values of m in the searches for all surrogates"
    )
    ranksvm_lengths: Annotated[Rising, at_least(2), no_fewer_than(3, "to fit an exponent")] = Field(
        (5, 10, 20, 50, 100, 200, 500, 1000), description="values of m from which RankSVM's exponent is fitted"
    )
    largest_labels: LargestLabels = Field((1, 4), description="values of y_max in all searches")
    widths: Positives = Field((0.1, 1.0), description="values of sigma for SmoothDCG")
    cutoffs: Rising = Field((1, 5), description="values of k for SmoothDCG; 1 gives the published loss")
    score_bound: Positive = Field(
        2.0, description="largest ||s||_inf, for constants that depend on a bound on the scores"
    )
    restarts: Whole = Field(1, description="number of restarts of each search")
    matrices: Whole = Field(20, description="number of matrices for every p of Lemma 4")
    starts: Whole = Field(100, description="number of ascents for every matrix")
    lists: Whole = Field(
        200, ge=2, description="number of pairs of score vectors for every loss, m and y_max in Lemma 14"
    )


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.lists.computations import constants

    results = constants.run(job.settings, job.seed)
    return Outcome([results.constants, results.checks], results.evidence)


EXPERIMENT = Experiment(
    ConstantsSettings,
    (
        Step(
            "constants",
            _run,
            tables={
                "tables/lists-constants": {
                    **dict.fromkeys(("part", "surrogate"), str),
                    "sigma": float,
                    **dict.fromkeys(("k", "m", "y_max"), int),
                    "constant": str,
                    **dict.fromkeys(("score_bound", "stated", "exact", "searched"), float),
                },
                "tables/lists-identities": {
                    **dict.fromkeys(("claim", "case"), str),
                    **dict.fromkeys(("m", "d"), int),
                    "statistic": str,
                    "value": float,
                },
            },
            claims=("lists-ranksvm", "lists-lemma14"),
            surrogates=surrogates.NAMES,
            cost=Cost(5.0, start_mb=800.0),
            seconds=lambda settings, cell: 0.1 * sum(settings.lengths) * settings.restarts,
        ),
    ),
)
