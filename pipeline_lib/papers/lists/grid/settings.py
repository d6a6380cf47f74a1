"""What is asked of the grid of `lists`, and what are the rows of its tables?"""

from collections.abc import Sequence
from typing import Self

from pydantic import model_validator

from pipeline_lib import surrogates
from pipeline_lib.core.errors import hint
from pipeline_lib.core.settings import Jobs, Positive, Settings, Sizes, Text, Whole
from pipeline_lib.data.rows import Count, Field, FromOne, FromZero, Interval, OnlyInterval, Row
from pipeline_lib.papers.lists.losses import Losses, LossSettings
from pipeline_lib.papers.lists.trained import TrainingSettings
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.sources.population_settings import WithoutDocuments
from pipeline_lib.surrogates.base import Surrogate


class PopulationsSettings(Settings):
    """The two populations, as overrides of the defaults (docs/population.md); lengths are set by the grid."""

    noisy: WithoutDocuments = Field({"features": 10}, description="population on which all losses are measured")
    realisable: WithoutDocuments = Field(
        {"features": 10, "noise": 0, "query_noise": 0, "margin": 0.4999},
        description="population on which ListNet reaches L* = 0",
    )


class GridSettings(TrainingSettings):
    """Gap and excess risk for every loss over a grid of n and m, on a population of known risks."""

    queries: Sizes = Field((50, 200, 800, 3200), description="values of n, the number of queries")
    lengths: Sizes = Field((5, 20, 80, 320), description="values of m, the number of documents per query")
    documents_at_most: Whole = Field(16000, description="cells (n, m) with more documents, n m, are left out")
    repetitions: Whole = Field(20, ge=2, description="samples for every cell (n, m)")
    rate_repetitions: Whole = Field(40, ge=2, description="so many for the shortest lists, where rates in n are fitted")
    held_out_documents: Whole = Field(300000, description="documents on which all rankers are measured, for every m")
    held_out_queries_at_least: Whole = Field(1250, ge=2, description="smallest number of held-out queries, for every m")
    best_ranker_documents: Whole = Field(3000000, description="documents on which the best ranker alone is measured")
    radius: Positive = Field(2.5, description="W2 in ||w||_2 <= W2")
    reference_documents: Whole = Field(
        100000,
        description="documents that stand for the population in that search; if that is fewer than twice as "
        "many queries as in the sample, so many",
    )
    populations: PopulationsSettings = Field(
        PopulationsSettings(),
        description="overrides of the population's defaults (docs/population.md); the grid sets the documents",
    )
    realisable_lengths: Sizes = Field((5,), description="values of m on the realisable population")
    parts: Jobs = Field(1, description="jobs among which the lengths for one loss are divided")
    realisable_losses: tuple[Text, ...] = Field(("listnet",), description="losses measured on that population")
    losses: Losses = Field(
        (
            LossSettings(name="listnet", surrogate="listnet"),
            LossSettings(name="smooth-dcg", surrogate="smooth-dcg", options={"sign": "regret"}),
            LossSettings(name="slam", surrogate="slam-ndcg"),
            LossSettings(name="ranksvm-sum", surrogate="ranksvm"),
            LossSettings(name="ranksvm-mean", surrogate="ranksvm", options={"normalisation": "mean"}),
            LossSettings(name="squared", surrogate="squared"),
        ),
        description="the losses; `options` are passed to the surrogate",
    )

    @model_validator(mode="after")
    def _best_ranker_is_measured_longest(self) -> Self:
        if self.best_ranker_documents < self.held_out_documents:
            raise ValueError(
                f"best_ranker_documents: expected no fewer than the {self.held_out_documents} of held_out_documents, "
                f"found {self.best_ranker_documents}"
            )
        return self

    @model_validator(mode="after")
    def _realisable_losses_are_measured(self) -> Self:
        names = [loss.name for loss in self.losses]
        for name in self.realisable_losses:
            if name not in names:
                raise ValueError(f"realisable_losses: unknown loss {name!r}; {hint(name, names)}")
        return self

    def of_part(self, lengths: Sequence[int], part: int) -> Sequence[int]:
        """The lengths of one part: every ``parts``-th of them."""
        return lengths[part :: self.parts]

    def queries_of(self, m: int) -> list[int]:
        """The n of the grid that lists of m documents are measured with."""
        return [n for n in self.queries if n * m <= self.documents_at_most]

    def repetitions_of(self, m: int) -> int:
        """Samples of every cell with lists of m documents."""
        return self.rate_repetitions if m == self.lengths[0] else self.repetitions

    def held_out_queries(self, m: int) -> int:
        """Queries of the sample on which all rankers are measured."""
        return max(self.held_out_queries_at_least, self.held_out_documents // m)

    def reference_queries(self, m: int, n: int) -> int:
        """Queries of the sample that stands for the population in the search for the worst gap on n queries."""
        return max(2 * n, self.reference_documents // m)

    def best_ranker_queries(self, m: int) -> int:
        """Queries of the sample on which the best ranker is measured."""
        return max(self.held_out_queries_at_least, self.best_ranker_documents // m)

    def loss(self, name: str) -> Surrogate:
        """The surrogate of the loss called ``name``."""
        [entry] = [entry for entry in self.losses if entry.name == name]
        return surrogates.create(entry.surrogate, **entry.options)

    def population(self, kind: str) -> Population:
        """The population ``noisy`` or ``realisable``."""
        return Population(PopulationSettings.from_mapping(getattr(self.populations, kind)))


class Cell(Row):
    """A loss, a population, and a size of samples."""

    loss: str = Field(description="name of the loss in the settings")
    population: str = Field(description="noisy or realisable")
    m: FromOne = Field(description="documents of each query")
    n: FromOne = Field(description="queries of the sample")


class Measured(
    Cell, table="slices/lists-grid/{loss}-{part}", key=("loss", "population", "m", "n", "repetition", "learner")
):
    """One ranker of one repetition. From every loss its smallest value is subtracted."""

    repetition: Count = Field(description="the repetition, from 0")
    learner: str = Field(description="erm, worst (by search for the largest gap), rerm, ogd or smooth-ogd")
    empirical: FromZero = Field(description="mean loss on the sample")
    risk: float = Field(description="risk, on the held-out sample with its controls")
    risk_error: FromZero = Field(description="standard error of the risk")
    excess: float = Field(description="risk less that of the best known ranker of the ball, on the same queries")
    excess_error: FromZero = Field(description="standard error of that difference")
    optimal_risk: float = Field(description="risk of the best known ranker of the ball")
    optimal_risk_error: FromZero = Field(description="its standard error")
    certified_gap: FromZero | None = Field(description="certified relative gap to the minimum, for convex losses")

    @property
    def gap(self) -> float:
        """L - Lhat."""
        return self.risk - self.empirical


class CellSummary(
    Cell,
    table="tables/lists-cells",
    key=("loss", "population", "m", "n", "learner"),
    always=(
        "0 - gap_size <= gap <= gap_size",
        "gap <= largest_gap",
        "excess <= largest_excess",
        "loss_bound = MIN(loss_bound) OVER (PARTITION BY loss, population, m)",
        "optimal_risk = MIN(optimal_risk) OVER (PARTITION BY loss, population, m, n)",
    ),
):
    """What one learner does in one cell, over the repetitions, and the bounds there.

    Intervals of means combine Student's over repetitions with the error of the held-out sample; those of a largest
    number are that of its own standard error.
    """

    learner: str = Field(description="erm, worst (by search for the largest gap), rerm, ogd or smooth-ogd")
    repetitions: FromOne = Field(description="samples in the means")
    gap: Interval = Field(description="mean of L - Lhat with its 95 % interval")
    gap_size: Interval = Field(description="mean of |L - Lhat| with its 95 % interval")
    largest_gap: Interval = Field(description="largest L - Lhat of a repetition with its 95 % interval")
    excess: Interval = Field(description="mean excess risk with its 95 % interval")
    optimal_risk: FromZero = Field(description="risk of the best known ranker of the ball, at least 0")
    optimal_risk_error: FromZero = Field(description="its standard error")
    risk_error: FromZero = Field(description="largest standard error of a risk")
    relative_risk_error: FromZero | None = Field(description="largest of these over its risk; none if all risks are 0")
    largest_certified_gap: FromZero | None = Field(description="largest certified relative gap of a minimiser")
    loss_bound: FromZero = Field(description="B, the largest loss of the class")
    chapelle_wu: FromZero | None = Field(description="Chapelle and Wu's bound")
    bound_ogd: FromZero | None = Field(description="Theorem 5, for convex losses")
    bound_rerm: FromZero | None = Field(description="Theorem 6, for convex losses")
    bound_erm: FromZero = Field(description="Theorem 9, closed form")
    bound_erm_integral: FromZero = Field(description="Theorem 9 by the entropy integral")
    bound_smooth_ogd: FromZero | None = Field(description="equation 8, for smooth convex losses")
    bound_optimistic: FromZero | None = Field(description="Theorem 17 at the mean empirical risk, for smooth losses")
    largest_excess: Interval = Field(description="largest excess risk of a repetition with its 95 % interval")
    excess_bound_erm: FromZero = Field(description="second half of Theorem 9, closed form")
    excess_bound_erm_integral: FromZero = Field(description="second half of Theorem 9 by the entropy integral")
    nearest_gap: Interval | None = Field(description="gap nearest to Theorem 17 at its own empirical risk")
    nearest_optimistic: FromZero | None = Field(description="Theorem 17 there")


class PowerLaw(
    Row, table="tables/lists-exponents", key=("axis", "loss", "population", "learner", "statistic", "fixed")
):
    """A power of m or n fitted to measured gaps, excess risks, or a term of a bound."""

    axis: str = Field(description="what grows: m or n")
    loss: str = Field(description="name of the loss in the settings")
    population: str = Field(description="noisy or realisable")
    learner: str = Field(description="learner whose rankers are measured; empty for a bound")
    statistic: str = Field(description="gap (mean |L - Lhat|), excess risk, or Chapelle-Wu term")
    fixed: FromOne = Field(description="the number that stays: n along m, m along n")
    points: str = Field(description="values of m or n, with commas between them and between thousands")
    slope: OnlyInterval = Field(description="exponent with its 95 % interval, held-out error included")
