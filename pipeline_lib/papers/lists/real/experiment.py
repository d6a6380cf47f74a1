"""Does the gap behave on the queries of a data set as it does on a population's?

Queries and documents of a data set are subsampled. All queries that are not in the sample, with lists cut to the same
length, represent the population; their number determines the standard error. The worst ranker is sought on one half
of them and measured on the other. Excess risks are relative to the minimiser over all queries of the data set, sample
and rest. Features are standardised on the whole data set and scaled so that the longest document vector has length
1 = R_X.
"""

import logging
import math
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from pipeline_lib import surrogates
from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Positive, Rising, Sizes, Whole, at_least
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Field, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.learners import erm
from pipeline_lib.papers.lists import held_out, trained
from pipeline_lib.papers.lists.losses import Losses, LossSettings
from pipeline_lib.papers.lists.trained import TrainingSettings
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import list_bounds
from pipeline_lib.theory.known_population import scaled

_LOG = logging.getLogger(__name__)


class RealSettings(TrainingSettings):
    """Gap and excess risk on subsampled queries and documents of every available data set.

    The queries that are not in the sample represent the population.
    """

    queries: Annotated[Rising, at_least(4)] = Field(
        (25, 50, 100, 200, 400), description="values of n; those above half of a data set's queries are left out"
    )
    lengths: Sizes = Field((5, 10, 20), description="values of m; longer lists are subsampled at random")
    repetitions: Whole = Field(20, ge=2, description="number of samples for every n and m")
    radius: Positive = Field(10.0, description="W2 in ||w||_2 <= W2, for documents scaled to ||x||_2 <= 1")
    losses: Losses = Field(
        (
            LossSettings(name="listnet", surrogate="listnet"),
            LossSettings(name="ranksvm-mean", surrogate="ranksvm", options={"normalisation": "mean"}),
        ),
        description="the losses; `options` are passed to the surrogate",
    )


class RealRanker(Row, table="tables/lists-real-{dataset}"):
    """One ranker, trained on one sample of n queries of a data set, its gap and excess risk, and their bounds."""

    dataset: str = Field(description="data set whose queries are sampled")
    m: int = Field(description="documents to which longer lists are subsampled")
    n: int = Field(description="queries of the sample")
    repetition: int = Field(description="number of the sample, from 0")
    loss: str = Field(description="loss of the training")
    learner: str = Field(description="erm, rerm (regularised), ogd, or worst (largest gap that was found)")
    empirical: float = Field(description="mean loss on the sample, above the smallest possible one")
    risk: float = Field(description="mean loss on the queries outside the sample, for worst on the second half of them")
    risk_error: float = Field(description="standard error of the risk")
    gap: float = Field(description="risk minus empirical risk")
    excess: float = Field(description="risk minus that of the minimiser over all queries of the data set")
    excess_error: float = Field(description="standard error of the excess risk")
    certified_gap: float | None = Field(description="certified relative gap of erm and rerm to the minimum, if convex")
    excess_bound: float | None = Field(description="bound on the learner's excess risk; missing for worst")
    bound: float = Field(description="Theorem 9 for the gap of every ranker")
    loss_bound: float = Field(description="B, the largest loss")


def measure(job: Job) -> Iterator[RealRanker]:
    """One row for every loss, m, n, repetition and ranker; none where all n are above half of the queries."""
    settings, seed = job.settings, job.seed
    [(dataset, data)] = job.datasets().items()
    inside, y_max = scaled(data), int(data.y.max())
    sizes = [n for n in settings.queries if 2 * n <= data.n_queries]
    if not sizes:
        return
    for m in settings.lengths:
        for repetition in progress.counted(range(settings.repetitions), _LOG, f"repetitions for m = {m}"):
            cut = inside.subsample_documents(m, generator(seed, "lists-real", dataset, m, repetition, "documents"))
            order = generator(seed, "lists-real", dataset, repetition, "queries").permutation(data.n_queries)
            for entry in settings.losses:
                loss = surrogates.create(entry.surrogate, **entry.options)
                best = erm.fit(cut, loss, l2=0.0, radius=settings.radius, tol=settings.tol).w
                for n in sizes:
                    parts = cut.divided(train=order[:n], test=order[n:])
                    axes = {"dataset": dataset, "m": m, "n": n, "repetition": repetition, "loss": entry.name}
                    for row in _measured(settings, loss, m, y_max, parts["train"], parts["test"], best):
                        yield RealRanker(**axes, **row)


def _measured(
    settings: RealSettings, loss: Surrogate, m: int, y_max: int, sample: RankingData, rest: RankingData, best: Floats
) -> Iterator[dict[str, Any]]:
    """The columns of every ranker on one sample, with all other queries and the best ranker on both."""
    n = sample.n_queries
    given: dict[str, Any] = {"m": m, "radius": settings.radius, "feature_norm": 1.0}
    given |= list_bounds.of_surrogate("erm", loss, y_max=y_max, **given)
    loss_bound = given["loss_bound"]
    bound = list_bounds.evaluate("erm", n=n, delta=settings.delta, **given)
    bounds = {"erm": list_bounds.excess_of_minimiser(bound, n=n, loss_bound=loss_bound, delta=settings.delta)}
    if loss.convex:
        bounds |= {name: list_bounds.evaluate(name, n=n, **given) for name in ("rerm", "ogd")}
    half = rest.n_queries // 2
    halves = rest.divided(reference=np.arange(half), test=np.arange(half, rest.n_queries))
    shape = {"radius": settings.radius, "lipschitz": given["lipschitz"]}
    for ranker in trained.rankers(loss, sample, halves["reference"], settings, **shape):
        fresh = (halves["test"] if ranker.learner == "worst" else rest).in_role("test")
        true = held_out.losses(loss, fresh, ranker.w)
        above = true - held_out.losses(loss, fresh, best)
        risk, root = float(true.mean()), math.sqrt(fresh.n_queries)
        yield {
            "learner": ranker.learner,
            "empirical": ranker.empirical,
            "risk": risk,
            "risk_error": float(true.std(ddof=1)) / root,
            "gap": risk - ranker.empirical,
            "excess": float(above.mean()),
            "excess_error": float(above.std(ddof=1)) / root,
            "certified_gap": ranker.certified_gap,
            "excess_bound": bounds.get(ranker.learner),
            "bound": bound,
            "loss_bound": loss_bound,
        }


EXPERIMENT = Experiment(
    RealSettings,
    (
        Step(
            "real",
            measure,
            rows=(RealRanker,),
            surrogates=lambda settings: [loss.surrogate for loss in settings.losses],
            cost=Cost(2.0, 5.0, 800.0, 20.0),
            seconds=lambda settings, cell: 4e-4 * settings.repetitions * sum(settings.queries),
        ),
    ),
)
