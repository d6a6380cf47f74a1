"""By which steps do Theorems 1 and 2 of `cone` lead from measured gaps and stability to what they state?

Some queries of a data set, with short lists, are the whole population (:mod:`pipeline_lib.papers.cone.kinds`). From
every gap the one of the cone that is trained on the whole population is subtracted, whose mean is 0.
"""

import logging
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Positive, Several, Sizes, Whole
from pipeline_lib.data.ranking_data import RankingData, Standardisation
from pipeline_lib.data.rows import Field
from pipeline_lib.experiment import EVERY, Experiment, Job, Step
from pipeline_lib.learners import cone
from pipeline_lib.papers.chains import ChainLink, ChainSettings
from pipeline_lib.papers.cone.common import without
from pipeline_lib.papers.cone.kinds import RHO, Kinds, trained, worst_change
from pipeline_lib.theory import chains, cones, stability
from pipeline_lib.theory.chains import Chain, Link

_LOG = logging.getLogger(__name__)


class ConeChainSettings(ChainSettings):
    """What every step of the proofs costs, on samples of some queries of every available data set."""

    queries: Sizes = Field((100, 1000, 10000), description="values of P, queries of a sample, drawn with replacement")
    repetitions: Whole = Field(5, ge=2, description="samples in the mean of every measured link")
    kinds: Several = Field(10, description="queries of the data set that are the population")
    documents: Several = Field(6, description="longer lists are cut to so many documents at random")
    basis: Whole = Field(2, description="K, the number of basis vectors")
    c: Positive = Field(1.0, description="largest norm of a basis vector, in units of rho")


class ConeLink(ChainLink, table="tables/cone-chain"):
    """One link of the chain of Theorem 1 or 2, in the mean over samples of P queries."""


def measure(job: Job) -> Iterator[ConeLink]:
    """The links of every chain."""
    settings = job.settings
    for dataset, documents in job.datasets().items():
        axes = (job.seed, "cone-chain", dataset)
        kinds = population(settings, documents, axes)
        if kinds is None:
            _LOG.info(f"{dataset}: no query with two different labels")
            continue
        whole = trained(kinds, kinds.shares, _start(kinds, axes))
        for P in progress.counted(settings.queries, f"sizes on {dataset},"):
            samples = [_measured(kinds, whole, P, axes, repetition) for repetition in range(settings.repetitions)]
            for chain in all_chains(settings, kinds, P, samples):
                yield from map(ConeLink.of, chain.rows(dataset=dataset, loss="cone", n=P))


def population(settings: ConeChainSettings, documents: RankingData, axes: tuple[Any, ...]) -> Kinds | None:
    """Some queries with pairs of a data set, standardised, with at most so many documents each; None without pairs."""
    rng = generator(*axes, "queries")
    short = Standardisation.of(documents).apply(documents).subsample_documents(settings.documents, rng)
    with_pairs = np.flatnonzero(cones.pairs_of(short))
    if not len(with_pairs):
        return None
    chosen = np.sort(rng.permutation(with_pairs)[: settings.kinds])
    shares = np.full(len(chosen), 1.0 / len(chosen))
    return Kinds("data", short.take(chosen), shares, settings.basis, settings.c * RHO)


def _start(kinds: Kinds, axes: tuple[Any, ...]) -> Floats:
    return cone.started(kinds.data.n_features, kinds.K, kinds.problem, (*axes, "start"))


def _measured(kinds: Kinds, whole: Floats, P: int, axes: tuple[Any, ...], repetition: int) -> dict[str, float]:
    # The terms of the links for one sample.
    data, problem = kinds.data, kinds.problem
    counts = generator(*axes, P, repetition).multinomial(P, kinds.shares).astype(np.float64)
    start = _start(kinds, axes)
    U = trained(kinds, counts, start)
    each, of_whole = (cone.losses(data, B, problem)[0] for B in (U, whole))
    pairs = cone.pair_losses(data, U, problem)
    own = others = s_max = 0.0
    largest: dict[str, float] = dict.fromkeys(("query_change", "pair_change", "ball_change", "by_norms"), 0.0)
    for kind in np.flatnonzero(counts):
        V = trained(kinds, without(counts, kind), start)
        change = cone.losses(data, V, problem)[0] - each
        own += counts[kind] / P * change[kind]
        others += counts[kind] / P * float(kinds.shares @ np.abs(change))
        s, norm = float(np.linalg.norm(V - U, ord=2)), max(float(np.linalg.norm(B, ord=2)) for B in (U, V))
        s_max = max(s_max, s)
        found = {
            "query_change": float(np.abs(change).max()),
            "pair_change": float(np.abs(cone.pair_losses(data, V, problem) - pairs).max()),
            "ball_change": worst_change(U, V, RHO, (*axes, P, repetition)),
            "by_norms": 2.0 * s * (RHO + norm) + s**2,
        }
        largest = {name: max(value, found[name]) for name, value in largest.items()}
    # What is found by search is at least what occurs.
    for name, less in (("ball_change", "pair_change"), ("by_norms", "ball_change")):
        largest[name] = max(largest[name], largest[less])
    return {
        "gap": float((kinds.shares - counts / P) @ (each - of_whole)),
        "mean_change": own + others,
        **largest,
        "by_theorem_2": stability.bound_on_beta(s_max, K=kinds.K, rho=RHO, c=kinds.c, largest_sum=1.0),
        "gamma": float(pairs.max()),
    }


def all_chains(settings: ConeChainSettings, kinds: Kinds, P: int, samples: list[dict[str, float]]) -> Iterator[Chain]:
    """The chains of Theorem 1, with the stability by Theorem 2 at its end, and of Theorem 2 alone."""
    of = {name: np.array([one[name] for one in samples]) for name in samples[0]}
    setting = f"K = {kinds.K}, P = {P:,}, c = {kinds.c:g}, rho = {RHO:g}"
    largest = (RHO + kinds.c) ** 2
    yield chains.of("theorem-1", "Theorems 1 and 2", setting, largest, _theorem_1(of, P, settings.delta))
    values = (of["pair_change"], of["ball_change"], of["by_norms"], of["by_theorem_2"])
    links = [chains.estimated(*words, found) for words, found in zip(THEOREM_2, values, strict=True)]
    yield chains.of("theorem-2", "Theorem 2", setting, largest, links)


THEOREM_1 = (
    ("gap", "gap", "The gap of the trained cone is measured, less that of the population's cone, whose mean is 0."),
    (
        "changes",
        "mean change",
        "The mean gap is at most the mean change of losses when a query is left out: its own, and that of a new query.",
    ),
    ("uniform", "any query", "The largest change of any query's loss, twice."),
    ("beta", "any pair", "The largest change of any pair's loss, twice: 2 beta."),
    ("gamma", "McDiarmid, gamma", "McDiarmid's inequality: the term with the largest loss."),
    ("p-beta", "McDiarmid, P beta", "McDiarmid's inequality: the term with P beta."),
    ("ball", "any difference", "beta as a supremum over all differences with ||z|| <= rho."),
    ("theorem-2", "Theorem 2", "beta by Theorem 2 from the change of the basis."),
)
THEOREM_2 = (
    ("beta", "any pair", "The largest change of any pair's loss is measured: beta."),
    ("ball", "any difference", "The supremum over all differences with ||z|| <= rho."),
    ("norms", "products of norms", "The change is bounded by products of norms, with the measured norm of the basis."),
    ("stated", "norm of the basis", "The norm of the basis is at most sqrt(K) c."),
)
"""Name, label and sentence of every link."""


def _theorem_1(of: dict[str, Floats], P: int, epsilon: float) -> list[Link]:
    root = math.sqrt(math.log(1.0 / epsilon) / (2.0 * P))
    stable, rest, gamma = 2.0 + 4.0 * P * root, of["gamma"] * root, float(of["gamma"].mean()) * root
    values = {
        "gap": of["gap"],
        "changes": of["mean_change"],
        "uniform": 2.0 * of["query_change"],
        "beta": 2.0 * of["pair_change"],
        "p-beta": 2.0 * of["pair_change"] + gamma + 4.0 * P * of["pair_change"] * root,
        "ball": stable * of["ball_change"] + rest,
        "theorem-2": stable * of["by_theorem_2"] + rest,
    }
    return [
        chains.added(*words, gamma) if words[0] == "gamma" else chains.estimated(*words, values[words[0]])
        for words in THEOREM_1
    ]


EXPERIMENT = Experiment(
    ConeChainSettings,
    Step(
        "chain",
        measure,
        rows=(ConeLink,),
        documents=EVERY,
        cost=Cost(1.0, start_mb=500.0),
        seconds=lambda settings, cell: 2e-3 * settings.kinds**2 * settings.repetitions * len(settings.queries),
    ),
)
