"""The constants of every surrogate, stated beside searched, and the lemmas that the bounds rest on."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pipeline_lib import surrogates
from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.settings import Positive, Positives, Rising, Settings, Whole, at_least, no_fewer_than

LargestLabels = Annotated[tuple[Annotated[Whole, Field(le=30)], ...], *Rising.__metadata__]


class ConstantsSettings(Settings):
    """The constants of every surrogate, stated beside searched, and Lemmas 4 and 14."""

    listnet_lengths: Rising = Field((10, 100, 1000, 10000), description="the m of Proposition 1")
    lengths: Annotated[Rising, at_least(2)] = Field(
        (5, 20, 100), description="the m of the searches for all surrogates"
    )
    ranksvm_lengths: Annotated[Rising, at_least(2), no_fewer_than(3, "to fit an exponent")] = Field(
        (5, 10, 20, 50, 100, 200, 500, 1000), description="the m to which RankSVM's exponent is fitted"
    )
    largest_labels: LargestLabels = Field((1, 4), description="the y_max of all searches")
    widths: Positives = Field((0.1, 1.0), description="sigma of SmoothDCG")
    cutoffs: Rising = Field((1, 5), description="k of SmoothDCG; 1 is the published loss")
    score_bound: Positive = Field(2.0, description="||s||_inf at most this, for constants that need a bound on scores")
    restarts: Whole = Field(1, description="of each search")
    matrices: Whole = Field(20, description="for every p of Lemma 4")
    starts: Whole = Field(100, description="ascents for every matrix")
    lists: Whole = Field(200, ge=2, description="pairs of score vectors for every loss, m and y_max of Lemma 14")


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.lists.computations import constants

    found = constants.run(job.settings, job.seed)
    return Outcome([found.constants, found.checks], found.evidence)


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
            claims=(
                *("lists-prop1", "lists-prop2", "lists-ranksvm", "lists-g-relation"),
                *("lists-thm3", "lists-lemma4", "lists-lemma14"),
            ),
            surrogates=surrogates.NAMES,
            cost=Cost(5.0, start_mb=800.0),
            seconds=lambda settings, cell: 0.1 * sum(settings.lengths) * settings.restarts,
        ),
    ),
)
