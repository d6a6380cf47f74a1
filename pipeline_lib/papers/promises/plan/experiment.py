"""How often is an interval of the planned size wider than `plan-labels` promised?

A pilot of queries is drawn from a law of values with a known standard deviation sigma, and the number n of queries is
planned for a half-width w, a share of sigma. The planned interval is broken if its half-width there,
t_{n-1} sigma / sqrt(n), is more than 1.1 w. Pilots that are refused, as they say too little, promise nothing: the share
is that of all others. The error of a careless author is to plan with the estimated standard deviation in the place of
its upper limit.

A data set's law is that of the NDCG@10 of its best feature on its queries, drawn with replacement.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core import progress
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Positive, Rising, Settings, Whole, at_least
from pipeline_lib.data.rows import Count, Field, FromOne, ProportionInterval, Row
from pipeline_lib.evaluation import pilot
from pipeline_lib.experiment import EVERY, Experiment, Job, Step
from pipeline_lib.papers.promises.laws import ALL, Law, like_ndcg, of_data_sets
from pipeline_lib.papers.promises.shares import share


def _beta(a: float, b: float) -> tuple[Law, float]:
    return lambda rng, n: rng.beta(a, b, n), (a * b / (a + b + 1.0)) ** 0.5 / (a + b)


RANKS = np.array([1.0, 1 / 2, 1 / 3, 1 / 5, 0.0])
SHARES = np.array([0.4, 0.2, 0.1, 0.1, 0.2])
LAWS: Mapping[str, tuple[Law, float]] = {
    "uniform": _beta(1.0, 1.0),
    "Beta(0.3, 0.7)": _beta(0.3, 0.7),
    "Beta(2, 5)": _beta(2.0, 5.0),
    "Beta(20, 20)": _beta(20.0, 20.0),
    "0 or 1, evenly": (lambda rng, n: 1.0 * (rng.random(n) < 0.5), 0.5),
    "like NDCG": (like_ndcg, (0.2 * 0.7 + 0.8 / 2.0 - (0.2 * 0.7 + 0.8 * 2.0 / 3.0) ** 2) ** 0.5),
    "reciprocal ranks": (
        lambda rng, n: rng.choice(RANKS, n, p=SHARES),
        float(SHARES @ RANKS**2 - (SHARES @ RANKS) ** 2) ** 0.5,
    ),
    "differences, half of them 0": (
        lambda rng, n: (rng.random(n) < 0.5) * rng.uniform(-0.4, 0.6, n),
        ((1.0 / 12.0 + 0.01) / 2.0 - 0.05**2) ** 0.5,
    ),
}
"""Laws of the values of a query, with their standard deviations."""


class PlanSettings(Settings):
    """How often a width that `plan-labels` promised is exceeded."""

    queries: Annotated[Rising, at_least(pilot.FEWEST_QUERIES)] = Field((30,), description="queries of a pilot")
    pilots: Whole = Field(200, description="for every law and size")
    within: Positive = Field(0.1, description="promised half-width, in standard deviations of the law")


class Broken(Row, table="tables/promises-plan", key=("law", "queries"), always=("broken <= exceeded",)):
    """How often an interval of the planned size is more than 10 % wider than promised."""

    law: str = Field(description="law of a query's value, a data set, or all of them together")
    queries: FromOne = Field(description="queries of a pilot")
    refused: Count = Field(description="pilots that say too little, and promise nothing")
    pilots: Count = Field(description="all others")
    broken: ProportionInterval = Field(
        description="share of these whose plan gives a wider interval (Clopper and Pearson)"
    )
    estimated: ProportionInterval = Field(description="the same for plans by the estimated standard deviation")
    exceeded: ProportionInterval = Field(
        description="share whose plan gives an interval wider than promised, without 10 %"
    )


def measure(job: Job) -> Iterator[Broken]:
    """Plan from pilots of every law and data set."""
    laws = dict(LAWS)
    for name, draw, of_queries in of_data_sets(job):
        laws[name] = draw, float(of_queries.std())
    for n in job.settings.queries:
        every: list[list[bool]] = []
        refused = 0
        for law, (draw, sd) in progress.counted([*laws.items()], f"laws, pilots of {n} queries"):
            rng = generator(job.seed, "plan", law, n)
            found = [_planned(draw(rng, n), sd, job.settings.within * sd) for _ in range(job.settings.pilots)]
            kept = [one for one in found if one]
            every, refused = every + kept, refused + len(found) - len(kept)
            if kept:
                yield _row(law, n, len(found) - len(kept), kept)
        if every:
            yield _row(ALL, n, refused, every)


def _planned(values: NDArray[np.float64], sd: float, within: float) -> list[bool]:
    """Whether a plan is broken: that of the command, the wrong one, and the first without the 10 %."""
    try:
        found = pilot.spread(values)
    except DataError:
        return []
    widths = [pilot.half_width(sd, pilot.queries_for_width(one, within)) for one in (found.upper, found.sd.value)]
    return [*(width > pilot.SLACK * within for width in widths), widths[0] > within]


def _row(law: str, queries: int, refused: int, kept: list[list[bool]]) -> Broken:
    broken, estimated, exceeded = (share(sum(times), len(kept)) for times in zip(*kept, strict=True))
    return Broken(
        law=law,
        queries=queries,
        refused=refused,
        pilots=len(kept),
        broken=broken,
        estimated=estimated,
        exceeded=exceeded,
    )


EXPERIMENT = Experiment(
    PlanSettings,
    Step(
        "plan",
        measure,
        rows=(Broken,),
        documents=EVERY,
        cost=Cost(0.5, 1.0),
        seconds=lambda settings, cell: 2e-3 * settings.pilots * len(settings.queries),
    ),
)
