"""Regret of learning from the labels on top against the best fixed ranker, and Theorem 4.1 and equation 4."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.settings import Jobs, Positive, Positives, Rising, Settings, Whole, at_least, no_fewer_than
from pipeline_lib.sources.population_settings import Overrides

SLICES = "slices/topk-regret/{slice}"
SURROGATES = ("squared", "kl", "ranksvm")


class RegretSettings(Settings):
    """Theorem 4.1 and eq. 4: regret against the best fixed ranker, eta = T^(-2/3), gamma = T^(-1/3)."""

    queries: Annotated[Whole, Ge(2)] = Field(200, description="number of queries from which the rounds are drawn")
    population: Overrides = Field(
        {"features": 5, "documents": 5}, description="overrides of the population's defaults (docs/population.md)"
    )
    radius: Positive = Field(3.0, description="U, the radius of the learner")
    rounds: Annotated[Rising, at_least(100), no_fewer_than(3, "for an exponent")] = Field(
        (1000, 3000, 10000, 30000, 100000, 300000, 1000000), description="values of T from which the exponent is fitted"
    )
    seeds: Annotated[Whole, Ge(2)] = Field(5, description="number of runs for every T")
    short_rounds: Whole = Field(10000, description="values of T up to this one are played by more seeds, for eq. 4")
    short_seeds: Annotated[Whole, Ge(2)] = Field(100, description="number of runs for these T, at least `seeds`")
    bandit_rounds: Annotated[Whole, Ge(100)] = Field(
        100000, description="values of T up to this one are played by bandit gradient descent"
    )
    bandit_seeds: Annotated[Whole, Ge(2)] = Field(8, description="number of its runs for every T")
    bandit_factors: Positives = Field(
        (1.0, 10.0), description="its steps, in units of that of its theorem; the best in hindsight counts"
    )
    slices: Jobs = Field(2, description="number of jobs among which the runs are divided")


def _rounds(settings: RegretSettings) -> int:
    short = sum(T for T in settings.rounds if settings.short_rounds >= T)
    return sum(settings.rounds) * settings.seeds + short * settings.short_seeds


def _bandit_rounds(settings: RegretSettings) -> tuple[int, ...]:
    return tuple(T for T in settings.rounds if settings.bandit_rounds >= T) or settings.rounds[:1]


def _play(job: Job) -> Outcome:
    from pipeline_lib.papers.topk.computations import regret

    return Outcome([regret.measure(job.settings, job.seed, int(job.cell["slice"]))])


def _join(job: Job) -> Outcome:
    from pipeline_lib.papers.topk.computations import bandit, regret

    found = regret.join(job.settings, job.rows(SLICES), job.seed)
    alone = bandit.rows(job.settings, found.regret, job.seed)
    return Outcome([found.regret, found.exponents, found.exploration, alone])


EXPERIMENT = Experiment(
    RegretSettings,
    (
        Step(
            "regret_slice",
            _play,
            divided={"slice": lambda settings: range(settings.slices)},
            tables={
                SLICES: {
                    **dict.fromkeys(("data", "player"), str),
                    "seed": int,
                    "surrogate": str,
                    "T": int,
                    **dict.fromkeys(("loss", "own_loss", "squared_norm"), float),
                },
            },
            surrogates=SURROGATES,
            seconds=lambda settings, cell: 1e-6 * _rounds(settings) / settings.slices,
        ),
        Step(
            "regret",
            _join,
            reads=[SLICES],
            tables={
                "tables/topk-regret": {
                    **dict.fromkeys(("data", "player", "surrogate"), str),
                    "T": int,
                    **dict.fromkeys(("regret", "low", "high", "exploration", "best_fixed_loss"), float),
                    "squared_norm": float,
                    "seeds": int,
                    **dict.fromkeys(("expected_loss", "expected_loss_low", "expected_loss_high"), float),
                    **dict.fromkeys(("distance_term", "noise_term", "largest_loss"), float),
                    **dict.fromkeys(("loss_minus_bound", "loss_minus_bound_low", "loss_minus_bound_high"), float),
                },
                "tables/topk-exponents": {
                    **dict.fromkeys(("data", "player", "surrogate"), str),
                    **dict.fromkeys(("slope", "low", "high"), float),
                },
                "tables/topk-exploration": {
                    **dict.fromkeys(("data", "surrogate"), str),
                    **dict.fromkeys(("T", "seeds"), int),
                    **dict.fromkeys(("extra", "low", "high", "random_loss", "gamma"), float),
                },
                "tables/topk-bandit": {
                    "surrogate": str,
                    "T": int,
                    **dict.fromkeys(("regret", "low", "high", "bound", "largest_regret", "factor", "delta"), float),
                    **dict.fromkeys(("lead", "lead_low", "lead_high", "slope", "slope_low", "slope_high"), float),
                },
            },
            surrogates=SURROGATES,
            seconds=lambda settings, cell: (
                3e-6 * len(settings.bandit_factors) * settings.bandit_seeds * sum(_bandit_rounds(settings))
            ),
        ),
    ),
)
