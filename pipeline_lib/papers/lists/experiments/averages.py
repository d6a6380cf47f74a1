"""Covering numbers, entropy integrals and Rademacher averages: Propositions 7 and 10, Corollaries 8, 11 and 16."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.papers.lists.losses import LOSS
from pipeline_lib.settings import Positive, Positives, Rising, Settings, Whole, at_least


class AveragesSettings(Settings):
    """Covering numbers, entropy integrals and Rademacher averages (Propositions 7, 10; Corollaries 8, 11, 16)."""

    queries: Annotated[Rising, at_least(2)] = Field(
        (30, 120), description="values of n, the number of queries in a sample"
    )
    documents: Annotated[Rising, at_least(2)] = Field(
        (5, 50), description="values of m, the number of documents per query"
    )
    features: Whole = Field(10, ge=2, description="d, the number of features")
    radius: Positive = Field(2.5, description="W2 and W1, the radii of the classes")
    draws: Whole = Field(50, ge=2, description="number of draws of random signs")
    scales: Positives = Field((0.05, 0.1, 0.2, 0.5), description="values of eps for the packings")
    candidates: Whole = Field(2000, description="number of rankers among which packings are sought")
    integral_queries: Annotated[Rising, at_least(2)] = Field(
        (100, 10000, 1000000, 1000000000, 1000000000000),
        description="values of n at which closed forms are compared with integrals",
    )
    integral_documents: Annotated[Rising, at_least(2)] = Field(
        (5, 50, 1000), description="values of m for that comparison"
    )
    radii: Positives = Field((0.1, 1.0, 2.5, 10.0), description="values of W2 for that comparison")


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.lists.computations import averages

    results = averages.run(job.settings, job.seed)
    return Outcome([results.averages, results.coverings, results.closed_forms])


EXPERIMENT = Experiment(
    AveragesSettings,
    (
        Step(
            "averages",
            _run,
            tables={
                "tables/lists-rademacher": {
                    "class": str,
                    **dict.fromkeys(("n", "m"), int),
                    **dict.fromkeys(("linear", "linear_error", "found", "found_error"), float),
                    **dict.fromkeys(("integral", "cut_integral", "closed_form", "loss_bound"), float),
                },
                "tables/lists-coverings": {
                    "class": str,
                    **dict.fromkeys(("n", "m"), int),
                    **dict.fromkeys(("eps", "log2_packing_found", "log2_covering_bound", "log2_candidates"), float),
                },
                "tables/lists-closed-forms": {
                    "corollary": int,
                    "radius": float,
                    **dict.fromkeys(("n", "m"), int),
                    **dict.fromkeys(("loss_bound", "closed_form", "integral", "cut_integral", "alpha"), float),
                },
            },
            surrogates=(LOSS,),
            cost=Cost(1.0),
            seconds=lambda settings, cell: 1e-5 * settings.draws * sum(settings.queries) * sum(settings.documents),
        ),
    ),
)
