"""Bounds, convexity, weights and constants of SLAM's losses, on random and adversarial lists and on data sets."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import EVERY, Experiment, Job, Outcome, Step
from pipeline_lib.settings import NotNegative, Rising, Settings, Whole, at_least, no_fewer_than


class LossesSettings(Settings):
    """Bounds, convexity, gradient and weights of SLAM's losses, and the constants of section 6.1."""

    lists: Annotated[Whole, Ge(2)] = Field(
        1000, description="number of lists of scores and labels for every m, y_max and kind of weights"
    )
    lengths: Annotated[Rising, at_least(2)] = Field(
        (2, 3, 5, 10, 30, 100, 300), description="values of m for these lists"
    )
    largest_labels: Rising = Field(
        (1, 4), description="values of y_max for these lists; the table of constants uses the last one"
    )
    descent_rounds: NotNegative = Field(
        60, description="rounds of descent on the slack of a bound, started from the lists with the least slack"
    )
    programmes: Whole = Field(30, description="number of linear programmes (equation 3) for every kind of weights")
    directions: Whole = Field(
        4, description="number of random linear rankers on every data set, for the gradient bound"
    )
    table_lengths: Annotated[Rising, at_least(2), no_fewer_than(3, "for an exponent")] = Field(
        (5, 10, 20, 50, 100, 200, 500), description="values of m in the table of section 6.1"
    )
    restarts: Whole = Field(4, description="number of restarts in the search for each supremum of that table")


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.slam.computations import losses

    results = losses.run(job.settings, job.datasets(), job.seed)
    return Outcome([results.checks, results.constants, results.growth, results.example, results.valid_weights])


EXPERIMENT = Experiment(
    LossesSettings,
    (
        Step(
            "losses",
            _run,
            documents=EVERY,
            tables={
                "tables/slam-losses": {
                    "claim": str,
                    "kind": str,
                    **dict.fromkeys(("m", "y_max", "d"), int),
                    **dict.fromkeys(("inputs", "list", "statistic"), str),
                    "value": float,
                },
                "tables/slam-constants": {
                    "surrogate": str,
                    **dict.fromkeys(("m", "y_max"), int),
                    **dict.fromkeys(("exact", "searched"), float),
                    "published": str,
                },
                "tables/slam-growth": {"surrogate": str, "exponent": float, "searched_exponent": float},
                "tables/slam-weights": {"position": int, "label": int, "kind": str, "weight": float},
                "tables/slam-valid-weights": {
                    "kind": str,
                    **dict.fromkeys(("m", "relevant"), int),
                    **dict.fromkeys(("printed_sum", "sum_below", "least_sum", "largest_excess"), float),
                },
            },
            surrogates=("ranksvm", "structured-ndcg", "svm-map", "listnet", "slam-ndcg", "slam-map", "slam-ndcg@k"),
            cost=Cost(6.0, start_mb=800.0),
            seconds=lambda settings, cell: 10e-3 * settings.lists,
        ),
    ),
)
