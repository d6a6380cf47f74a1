"""How often is a limit of `certify` above the mean that it is a lower limit of?

A law of values in [0, 1] with a known mean is drawn from; a data set's law is that of the NDCG@10 of its best feature
on its queries, drawn with replacement. A limit misses if it is above the mean. Of several runs on values of the same
law, the one with the largest measured mean is taken, as `--chosen-from` allows; limits that are not corrected for the
choice, and those of the normal approximation, mean - z sd / sqrt(n), are what a careless author would print.

Of values that are 0 or 1, the probability of a miss is computed for the worst of all means,

    max over p of sum_k C(n, k) p^k (1 - p)^(n - k) P(limit > p | k ones),

where the last probability is that over some random arrangements of the ones, on which limits hardly depend. The largest
value is just below one of the limits, since between two of them the sum rises with p.
"""

import math
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Rising, Settings, Several, Whole
from pipeline_lib.data.rows import Field, FromOne, Proportion, ProportionInterval, Row
from pipeline_lib.evaluation import betting
from pipeline_lib.experiment import EVERY, Experiment, Job, Step
from pipeline_lib.papers.promises.laws import ALL, Law, like_ndcg, of_data_sets
from pipeline_lib.papers.promises.shares import share
from pipeline_lib.statistics import LEVEL

Counts = NDArray[np.int64]

LAWS: Mapping[str, tuple[Law, float]] = {
    "0 or 1, evenly": (lambda rng, shape: 1.0 * (rng.random(shape) < 0.5), 0.5),
    "0 or 1, rarely 1": (lambda rng, shape: 1.0 * (rng.random(shape) < 0.1), 0.1),
    "0 or 1, rarely 0": (lambda rng, shape: 1.0 * (rng.random(shape) < 0.9), 0.9),
    "uniform": (lambda rng, shape: rng.random(shape), 0.5),
    "Beta(1/2, 1/2)": (lambda rng, shape: rng.beta(0.5, 0.5, shape), 0.5),
    "Beta(5, 1)": (lambda rng, shape: rng.beta(5.0, 1.0, shape), 5.0 / 6.0),
    "Beta(10, 30)": (lambda rng, shape: rng.beta(10.0, 30.0, shape), 0.25),
    "like NDCG": (like_ndcg, 0.2 * 0.7 + 0.8 * 2.0 / 3.0),
}
"""Laws of values in [0, 1], with their means."""
LOWER_LEVEL = 0.9
"""The level that is planted in the place of that of the limits."""


class CertifySettings(Settings):
    """How often a lower limit of `certify` is above the mean."""

    queries: Rising = Field((20,), description="queries of a draw")
    draws: Whole = Field(20, description="for every law and number of queries")
    runs: Several = Field(50, description="runs of which the best is chosen")
    two_values: Rising = Field((10, 20), description="queries for which values are 0 or 1, with all means")
    arrangements: Whole = Field(5, description="of the ones among the queries")


class Missed(Row, table="tables/promises-certify", key=("law", "queries", "runs"), always=("missed <= uncorrected",)):
    """How often a limit was above the mean of the law."""

    law: str = Field(description="law of a query's value, a data set, or all laws together")
    queries: FromOne = Field(description="queries of a draw, n")
    runs: FromOne = Field(description="runs of which the best was chosen, by its mean on these queries")
    draws: FromOne = Field(description="draws of the queries")
    missed: ProportionInterval = Field(description="share of draws with a limit above the mean (Clopper and Pearson)")
    uncorrected: ProportionInterval = Field(description="the same for limits that are not corrected for the choice")
    normal: ProportionInterval = Field(
        description="the same for those of the normal approximation, corrected for the choice"
    )


class TwoValues(Row, table="tables/promises-two-values", key=("queries",)):
    """The largest probability of a miss where values are 0 or 1."""

    queries: FromOne = Field(description="queries, n")
    mean: Proportion = Field(description="the mean with the largest probability")
    missed: Proportion = Field(description="the largest probability, over all means, that the limit is above the mean")
    at_lower_level: Proportion = Field(description="the same for limits of the level 0.9")
    normal: Proportion = Field(description="the same for limits of the normal approximation")


def limit(values: Floats, chosen_from: int = 1, level: float = LEVEL) -> float:
    """The lower limit that `certify` states of the best of so many runs."""
    return betting.lower_limit(values, level=1.0 - (1.0 - level) / chosen_from)


def normal(values: Floats, chosen_from: int = 1) -> float:
    """The limit of the normal approximation."""
    z = float(ndtri(1.0 - (1.0 - LEVEL) / chosen_from))
    return float(values.mean() - z * values.std(ddof=1) / math.sqrt(len(values)))


def measure(job: Job) -> Iterator[Missed | TwoValues]:
    """Draw queries from every law and data set, and go through all means of values that are 0 or 1."""
    laws = dict(LAWS)
    for name, draw, of_queries in of_data_sets(job):
        laws[name] = draw, float(of_queries.mean())
    for n in job.settings.queries:
        for runs in (1, job.settings.runs):
            sums = np.zeros(3, np.int64)
            for law, (draw, mean) in progress.counted([*laws.items()], f"laws, {n} queries, {runs} runs"):
                found = _misses(draw, mean, n, runs, job.settings.draws, generator(job.seed, "certify", law, n, runs))
                sums += found
                yield _row(law, n, runs, job.settings.draws, found)
            yield _row(ALL, n, runs, job.settings.draws * len(laws), sums)
    for n in job.settings.two_values:
        yield _two_values(n, job.settings.arrangements, generator(job.seed, "certify", "two values", n))


def _misses(draw: Law, mean: float, n: int, runs: int, draws: int, rng: np.random.Generator) -> Counts:
    """How often the limit of the best run, the one without correction, and the normal one were above the mean."""
    counts = np.zeros(3, np.int64)
    for _ in range(draws):
        values = np.asarray(draw(rng, (runs, n)), np.float64)
        best = values[np.argmax(values.mean(axis=1))]
        corrected = limit(best, runs)
        uncorrected = corrected if runs == 1 else limit(best)
        counts += np.array([corrected, uncorrected, normal(best, runs)]) > mean
    return counts


def _row(law: str, n: int, runs: int, draws: int, counts: Counts) -> Missed:
    missed, uncorrected, by_normal = (share(int(count), draws) for count in counts)
    return Missed(law=law, queries=n, runs=runs, draws=draws, missed=missed, uncorrected=uncorrected, normal=by_normal)


def _two_values(n: int, arrangements: int, rng: np.random.Generator) -> TwoValues:
    samples = [
        [rng.permutation(np.arange(n) < ones).astype(np.float64) for _ in range(arrangements)] for ones in range(n + 1)
    ]
    mean, missed = _worst(np.array([[limit(one) for one in several] for several in samples]))
    lower = _worst(np.array([[limit(one, level=LOWER_LEVEL) for one in several] for several in samples]))
    by_normal = _worst(np.array([[normal(several[0])] for several in samples]))
    return TwoValues(queries=n, mean=mean, missed=missed, at_lower_level=lower[1], normal=by_normal[1])


def _worst(limits: Floats) -> tuple[float, float]:
    """The mean with the largest probability of a miss, and this; row k has limits of samples with k ones."""
    n = len(limits) - 1
    ones = np.arange(n + 1)
    ways = np.array([float(math.comb(n, k)) for k in ones])
    means = np.unique(np.clip(np.nextafter(limits, 0.0), 0.0, 1.0))
    missing = [
        float((ways * p**ones * (1.0 - p) ** (n - ones) * (limits > p).mean(axis=1)).sum()) for p in means.tolist()
    ]
    worst = int(np.argmax(missing))
    return float(means[worst]), missing[worst]


EXPERIMENT = Experiment(
    CertifySettings,
    Step(
        "certify",
        measure,
        rows=(Missed, TwoValues),
        documents=EVERY,
        cost=Cost(2.0, 1.0),
        seconds=lambda settings, cell: (
            30 * settings.draws * sum(2e-4 + 4e-5 * n for n in settings.queries)
            + 2 * settings.arrangements * sum(n * (2e-4 + 4e-5 * n) for n in settings.two_values)
        ),
    ),
)
