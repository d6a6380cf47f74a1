"""Figure 1, with the printed, the correct and repaired probabilities, on every data set."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import FIRST, Experiment, Job, Outcome, Step
from pipeline_lib.settings import Positive, Positives, Rising, Settings, Whole

LABELS, TIES = "slices/topk-sweep/{dataset}", "slices/topk-ties/{dataset}"
CURVES, GAPS, REPAIR = "slices/topk-curves/{dataset}", "slices/topk-gaps/{dataset}", "tables/topk-repair"


class FigureSettings(Settings):
    """Figure 1, with the printed, the correct and repaired probabilities.

    The repair is chosen on the first data set.
    """

    rounds: Annotated[Whole, Ge(1000)] = Field(100000, description="T, the number of rounds; 250000 in the paper")
    seeds: Annotated[Whole, Ge(2)] = Field(
        5, description="number of games for every learner, over which the bands are computed"
    )
    points: Annotated[Whole, Ge(2)] = Field(
        40, description="number of rounds at which the curves are evaluated, on a logarithmic scale"
    )
    radius: Positive = Field(100.0, description="U, the radius in the first two panels")
    smoothing: Positive = Field(0.01, description="epsilon, the smoothing of SmoothDCG")
    repair_radii: Positives = Field(
        (1.0, 3.0, 10.0, 30.0), description="values of U tried for the third panel, with features scaled to R_D = 1"
    )
    repair_factors: Positives = Field(
        (0.25, 1.0, 4.0, 16.0, 64.0), description="values of c tried for the third panel, eta = c U sqrt(gamma / (C T))"
    )
    repair_seeds: Annotated[Whole, Ge(2)] = Field(2, description="number of games for each of these values")
    sweep_labels: Rising = Field((1, 2, 3, 5, 10), description="values of k, the number of labels that are seen")
    sweep_rounds: Annotated[Whole, Ge(1000)] = Field(20000, description="T for these k and for the order of ties")
    sweep_seeds: Annotated[Whole, Ge(2)] = Field(3, description="number of games for each of them")
    bandit_factors: Positives = Field(
        (1.0, 10.0, 100.0),
        description="steps of bandit gradient descent, in units of that of its theorem; the best in hindsight counts",
    )


def _choose(job: Job) -> Outcome:
    from pipeline_lib.papers.topk.computations import figure

    [(name, data)] = job.datasets().items()
    return Outcome([figure.choose(job.settings, name, data, job.seed)])


def _play(job: Job) -> Outcome:
    from pipeline_lib.papers.topk.computations import figure, sweep

    [(name, data)] = job.datasets().items()
    found = figure.measure(job.settings, name, data, job.rows(REPAIR), job.seed)
    more = sweep.measure(job.settings, name, data, job.rows(REPAIR), job.seed)
    return Outcome([found.curves, found.gaps, more.labels, more.ties])


def _join(job: Job) -> Outcome:
    return Outcome([job.rows(CURVES), job.rows(GAPS), job.rows(LABELS), job.rows(TIES)])


_SURROGATES = ("squared", "kl", "ranksvm")
_CURVES = {
    **dict.fromkeys(("dataset", "panel", "learner"), str),
    "round": int,
    **dict.fromkeys(("ndcg", "low", "high"), float),
    "seeds": int,
}
_GAPS = {
    **dict.fromkeys(("dataset", "panel", "greater", "lesser"), str),
    **dict.fromkeys(("gap", "low", "high"), float),
}
_LABELS = {
    **dict.fromkeys(("dataset", "surrogate"), str),
    "k": int,
    **dict.fromkeys(("ndcg", "low", "high"), float),
    **dict.fromkeys(("queries", "T", "seeds"), int),
}
_TIES = {
    **dict.fromkeys(("dataset", "learner"), str),
    **dict.fromkeys(("in_order", "shuffled", "gap", "low", "high"), float),
}

EXPERIMENT = Experiment(
    FigureSettings,
    (
        Step(
            "repair",
            _choose,
            documents=FIRST,
            tables={
                REPAIR: {
                    "surrogate": str,
                    **dict.fromkeys(("radius", "factor"), float),
                    "dataset": str,
                    "ndcg": float,
                    "chosen": bool,
                }
            },
            surrogates=_SURROGATES,
            cost=Cost(2.0, 10.0, 500.0, 20.0),
            seconds=lambda settings, cell: (
                4e-6
                * settings.rounds
                * settings.repair_seeds
                * len(settings.repair_factors)
                * len(settings.repair_radii)
            ),
        ),
        Step(
            "figure",
            _play,
            reads=[REPAIR],
            tables={CURVES: _CURVES, GAPS: _GAPS, LABELS: _LABELS, TIES: _TIES},
            surrogates=(*_SURROGATES, "smooth-dcg", "listnet"),
            cost=Cost(2.0, 20.0, 500.0, 20.0),
            seconds=lambda settings, cell: (
                2e-5 * settings.rounds * settings.seeds
                + 5e-6 * settings.sweep_rounds * settings.sweep_seeds * (len(settings.sweep_labels) + 10)
            ),
        ),
        Step(
            "order",
            _join,
            reads=[CURVES, GAPS, LABELS, TIES],
            tables={
                "tables/topk-curves": _CURVES,
                "tables/topk-gaps": _GAPS,
                "tables/topk-sweep": _LABELS,
                "tables/topk-ties": _TIES,
            },
        ),
    ),
)
