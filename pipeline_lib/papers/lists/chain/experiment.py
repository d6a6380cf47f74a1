"""By which steps do the bounds of `lists` lead from the gaps and excess risks of samples to the numbers they state?

Theorems 5, 6, 9 and 12, on a population that is known: the queries of a data set, drawn with
replacement (:mod:`pipeline_lib.theory.known_population`). The last chain is that of the project's own bound, the
certificate ``contraction``. All chains of a data set and a number of queries have the same samples.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from pipeline_lib import surrogates
from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Positive, Sizes, Whole
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Field
from pipeline_lib.experiment import EVERY, Experiment, Job, Step
from pipeline_lib.learners import erm, ogd
from pipeline_lib.learners.balls import Ball
from pipeline_lib.papers.chains import ChainLink, ChainSettings
from pipeline_lib.papers.lists.losses import LOSS, Losses, LossSettings
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import chains, contraction, entropy, list_bounds, regularised_links
from pipeline_lib.theory.chains import Chain, Link
from pipeline_lib.theory.known_population import Counts, KnownPopulation, scaled
from pipeline_lib.theory.ranker_facts import effective

Constants = dict[str, Any]
CERTIFICATE = "contraction"
"""The name of the chain of the project's own bound."""


class ListsChainSettings(ChainSettings):
    """What every step of the proofs costs, on samples of the queries of every available data set."""

    queries: Sizes = Field((100, 1000, 10000), description="values of n, of queries drawn with replacement")
    radius: Positive = Field(2.5, description="W2 in ||w||_2 <= W2 and W1 in ||w||_1 <= W1, for ||x||_2 <= 1")
    ascent_steps: Whole = Field(20, description="steps of every search for a supremum")
    starts: Whole = Field(2, description="random points where such a search begins, besides the centre")
    replaced: Whole = Field(3, description="queries of every sample that are replaced, one at a time")
    losses: Losses = Field(
        (LossSettings(name=LOSS, surrogate=LOSS),), description="the losses; `options` are passed to the surrogate"
    )


class ListsLink(ChainLink, table="tables/lists-chain"):
    """One link of the chain of a theorem or the certificate, in the mean over samples of n queries."""


def measure(job: Job) -> Iterator[ListsLink]:
    """The links of every chain."""
    settings, seed = job.settings, job.seed
    for dataset, documents in job.datasets().items():
        data = scaled(documents)
        for entry in settings.losses:
            loss = surrogates.create(entry.surrogate, **entry.options)
            for n in progress.counted(settings.queries, f"sizes, {entry.name} on {dataset},"):
                measured = Measured(settings, data, loss, n, (seed, "lists-chain", dataset, entry.name, n))
                for chain in all_chains(measured, entry.name):
                    yield from map(ListsLink.of, chain.rows(dataset=dataset, loss=entry.name, n=n))


def all_chains(measured: "Measured", name: str) -> Iterator[Chain]:
    """The chain of every statement whose assumptions the loss fulfils."""
    makers: dict[str, Callable[[Measured, Constants], Iterator[Link]]] = {
        "ogd": _descent,
        "rerm": _regularised,
        "erm": partial(_by_entropy, ball="l2"),
        "erm-l1": partial(_by_entropy, ball="l1"),
        CERTIFICATE: _contracted,
    }
    if measured.data.n_features < 2:  # Corollary 11 contains log d
        del makers["erm-l1"]
    for bound, links in makers.items():
        place = "certificate" if bound == CERTIFICATE else list_bounds.place(bound)
        try:
            constants = measured.constants("erm" if bound == CERTIFICATE else bound)
        except DataError:  # not convex, or not smooth
            continue
        setting = f"{name}, n = {measured.n:,}, m = {measured.m}, W = {measured.settings.radius:g}"
        yield chains.of(bound, place, setting, constants["loss_bound"], links(measured, constants))


class OfBall(NamedTuple):
    """What is measured over a ball, one number for every sample."""

    trained: Floats
    worst: Floats
    average: Floats


@dataclass(frozen=True, eq=False)
class Measured:
    """All samples of n queries of a data set, and what is measured of them."""

    settings: ListsChainSettings
    data: RankingData
    loss: Surrogate
    n: int
    axes: tuple[Any, ...]

    @cached_property
    def population(self) -> KnownPopulation:
        """The population, with the l2 ball."""
        return KnownPopulation(self.data, self.loss, self.settings.radius)

    @cached_property
    def samples(self) -> list[Counts]:
        """How often every query is drawn."""
        rng = generator(*self.axes, "samples")
        return [self.population.sample(self.n, rng) for _ in range(self.settings.repetitions)]

    @cached_property
    def best(self) -> Floats:
        """The best ranker of the l2 ball."""
        return self.population.fitted(np.ones(self.data.n_queries, np.int64), tol=1e-9)

    @cached_property
    def m(self) -> int:
        """The length of the longest list."""
        return int(self.data.documents_per_query.max())

    def constants(self, bound: str) -> Constants:
        """The arguments of :func:`pipeline_lib.theory.list_bounds.evaluate` for a statement; DataError without it."""
        norm = float(np.abs(self.data.X64).max()) if bound == "erm-l1" else 1.0
        given: Constants = {"m": self.m, "radius": self.settings.radius, "feature_norm": norm}
        own = list_bounds.of_surrogate(bound, self.loss, y_max=int(self.data.y.max()), **given)
        return {"n": self.n, **given, **own, "delta": self.settings.delta, "d": self.data.n_features}

    @cached_property
    def of_l2(self) -> OfBall:
        """Gaps and Rademacher averages over the l2 ball."""
        return self._of(self.population)

    @cached_property
    def of_l1(self) -> OfBall:
        """The same over the l1 ball."""
        return self._of(replace(self.population, ball="l1"))

    def _of(self, population: KnownPopulation) -> OfBall:
        rng, steps, found = generator(*self.axes, population.ball), self.settings.ascent_steps, []
        at_zero = population.losses(np.zeros(self.data.n_features))
        best = population.losses(population.fitted(np.ones(self.data.n_queries, np.int64)))
        for counts in self.samples:
            trained = population.fitted(counts)
            gap = population.gap_weights(counts)
            starts = [trained, *population.corners(rng, self.settings.starts)]
            worst, _ = population.supremum(gap, starts, steps)
            signs = population.signed(counts, rng) / self.n
            largest, _ = population.supremum(signs, population.corners(rng, self.settings.starts), steps)
            # Less its value at 0, whose mean is 0.
            average = max(0.0, largest - float(signs @ at_zero))
            # Less that of the best ranker, whose mean is 0 as well: neither can then be below 0.
            of_best = float(gap @ best)
            found.append((float(gap @ population.losses(trained)) - of_best, worst - of_best, average))
        return OfBall(*np.array(found).T)


def _symmetrised(of: OfBall) -> Iterator[Link]:
    yield chains.gap_of_minimiser(of.trained)
    says = "The worst ranker of the ball, found by ascent, takes the place of the minimiser."
    yield chains.estimated("worst", "worst gap", says, of.worst)
    says = "Symmetrisation: twice the Rademacher average of the losses, found by ascent."
    yield chains.estimated("symmetrised", "symmetrisation", says, 2.0 * of.average)


def _by_entropy(measured: Measured, given: Constants, ball: Ball) -> Iterator[Link]:
    """Theorem 9 for the l2 ball, and Theorem 12 for the l1 ball."""
    n, B, delta = measured.n, given["loss_bound"], given["delta"]
    common = {name: given[name] for name in ("n", "m", "lipschitz", "radius", "feature_norm")}
    if ball == "l2":
        covering = entropy.proposition_7(**common)
        closed = entropy.corollary_8(loss_bound=B, **common)
        names = ("Proposition 7", "Corollary 8")
    else:
        covering = entropy.proposition_10(d=given["d"], **common)
        closed = entropy.corollary_11(d=given["d"], loss_bound=B, **common)
        names = ("Proposition 10", "Corollary 11")
    scale = given["lipschitz"] * given["radius"] * given["feature_norm"]
    printed = entropy.integral(covering, n, B).value
    smallest = min(printed, entropy.smallest_integral(covering, scale, given["d"], n, B))
    yield from _symmetrised(measured.of_l2 if ball == "l2" else measured.of_l1)
    says = "The entropy integral (6) with the smallest covers known."
    yield chains.exact("chained", "entropy integral", says, 2.0 * smallest)
    yield chains.exact("covered", names[0], f"The covering numbers of {names[0]}.", 2.0 * printed)
    yield chains.exact("closed", names[1], f"The closed form of {names[1]}.", 2.0 * closed, proved=False)
    deviation = B * math.sqrt(math.log(2.0 / delta) / (2.0 * n))
    yield chains.added("probable", "McDiarmid", "McDiarmid's inequality for the supremum.", deviation)
    says = "McDiarmid's inequality for the empirical Rademacher average."
    yield chains.added("empirical", "McDiarmid again", says, 2.0 * deviation)


def _contracted(measured: Measured, given: Constants) -> Iterator[Link]:
    """The certificate ``contraction``."""
    of, n, data = measured.of_l2, measured.n, measured.data
    rng, linear, squares = generator(*measured.axes, "linear"), [], []
    per_query, X = contraction.squared_norms(data, measured.loss), effective(data, measured.loss)
    factor = contraction.FACTOR * given["lipschitz_l2"] * given["radius"]
    for counts in measured.samples:
        # The sum of the Gaussian numbers that all copies of a document have.
        sums = np.sqrt(np.repeat(counts, data.documents_per_query)) * rng.normal(size=len(X))
        linear.append(float(np.linalg.norm(sums @ X)) / n)
        squares.append(float(counts @ per_query) / n)
    mean_square = float(np.mean(per_query))
    yield from _symmetrised(of)
    says = "Contraction: linear rankers with a Gaussian number for each document, times sqrt(pi/2) and the l2 constant."
    yield chains.estimated("contracted", "contraction", says, factor * np.array(linear))
    trace = factor * math.sqrt(mean_square / n)
    yield chains.exact("trace", "Jensen", "The mean length of the sum is at most the root of its mean square.", trace)
    at_most = np.array([contraction.mean_at_most(one, measured.m, n, 0.5 * given["delta"]) for one in squares])
    says = "The mean square is bounded from the documents of the sample."
    yield chains.estimated("sampled", "unknown documents", says, factor * np.sqrt(at_most / n))
    deviation = given["loss_bound"] * math.sqrt(math.log(2.0 / given["delta"]) / (2.0 * n))
    yield chains.added("probable", "McDiarmid", "McDiarmid's inequality for the supremum.", deviation)


def _regularised(measured: Measured, given: Constants) -> Iterator[Link]:
    """Theorem 6."""
    n, radius, lipschitz = measured.n, given["radius"], given["lipschitz"] * given["feature_norm"]
    l2 = erm.lipschitz_l2(n, radius=radius, lipschitz=lipschitz, feature_norm=1.0)
    rng = generator(*measured.axes, "replaced")
    samples = [
        regularised_links.measured(measured.population, counts, measured.best, l2, measured.settings.replaced, rng)
        for counts in measured.samples
    ]
    yield from regularised_links.links(samples, n, l2, radius, lipschitz)


def _descent(measured: Measured, given: Constants) -> Iterator[Link]:
    """Theorem 5."""
    n, radius, lipschitz = measured.n, given["radius"], given["lipschitz"]
    step = ogd.lipschitz_step(n, radius=radius, lipschitz=lipschitz, feature_norm=1.0)
    population, best, rng, found = measured.population, measured.best, generator(*measured.axes, "orders"), []
    of_best, least = population.losses(best), float(np.mean(population.losses(best)))
    orders = [rng.permutation(np.repeat(np.arange(measured.data.n_queries), counts)) for counts in measured.samples]
    runs = ogd.runs(measured.data, measured.loss, step=step, orders=orders, radius=radius)
    for order, run in zip(orders, runs, strict=True):
        regret = float(np.mean(run.losses - population.least[order] - of_best[order]))
        excess = float(np.mean(population.losses(run.average))) - least
        found.append((excess, regret, float(run.gradient_norms @ run.gradient_norms) / n))
    excesses, regrets, squares = np.transpose(found)
    yield chains.estimated("excess", "excess risk", "The excess risk of the mean iterate is measured.", excesses)
    says = "Jensen's inequality, and online-to-batch conversion: the mean regret against the best ranker."
    yield chains.estimated("online", "online to batch", says, regrets)
    says = "The regret is at most ||w*||^2 / (2 eta) plus eta/2 times the sum of squared gradients."
    nearest = float(best @ best)
    yield chains.estimated("gradients", "regret bound", says, nearest / (2.0 * step * n) + 0.5 * step * squares)
    at_radius = radius**2 / (2.0 * step * n) + 0.5 * step * squares
    yield chains.estimated("radius", "radius", "The radius W takes the place of ||w*||.", at_radius)
    at_most = radius**2 / (2.0 * step * n) + 0.5 * step * lipschitz**2
    says = "The Lipschitz constant takes the place of the gradients."
    yield chains.exact("lipschitz", "Lipschitz constant", says, at_most)
    stated = list_bounds.evaluate("ogd", n=n, m=measured.m, lipschitz=lipschitz, radius=radius, feature_norm=1.0)
    yield chains.exact("stated", "eta for eta/2", "The paper has eta in place of eta/2 before the gradients.", stated)


EXPERIMENT = Experiment(
    ListsChainSettings,
    Step(
        "chain",
        measure,
        rows=(ListsLink,),
        documents=EVERY,
        surrogates=lambda settings: [loss.surrogate for loss in settings.losses],
        cost=Cost(0.5, start_mb=500.0),
        seconds=lambda settings, cell: 5e-5 * settings.repetitions * len(settings.losses) * sum(settings.queries),
    ),
)
