"""Do the perceptron's loss bounds hold round by round, does its step size matter, and do the bounds tell it apart?

The claims are those of `slam` on (16), Theorem 5, Corollaries 6 and 7, v_max after (18), and the remark before
Algorithm 1 that eta does not matter.

Long streams come from a noisy and a separable population, from an adversary who always presents the query that is
ranked worst, and from the data sets of the study. The constants of the bounds exceed the number of rounds there. Short
streams in few dimensions bring the perceptron close to its bounds (:mod:`pipeline_lib.papers.slam.streams`):

- ``orthogonal-m``: lists of m documents, with another axis in every query;
- ``zigzag``: x = (g, q) and x = (g, -q) in turn, with q^2 = 1 - g^2, after x = (g, 1/2). Every update along the second
  axis is too long, so that the next query is ranked wrongly, until the first coordinate of w, which grows by g at a
  time, outweighs the second: about 1 / (2 g^2) mistakes.
- ``noisy-zigzag``: the same, and from time to time x = (-1, 0), which undoes 1/g of these updates;
- ``pairs`` and ``short``: separable populations of lists of two, and of two to four, documents with two features;
- ``stalled``: a single query of three documents with small features.

On the short streams, rankers play as well that never change: w = 0, the perceptron's last w with the opposite sign, its
w after the first mistake, and the last w of a perceptron that was shown permuted labels. Their losses over all rounds
are set against the same bounds, with f_t by the mistakes that they make themselves. And the perceptron's losses are set
against wrong right sides: the least over u of

    sum_t f_t(u) + C ||u||^2,    2 sum_t f_t(u) + C/2 ||u||^2,    2 sum_t f_t(u) + C/R_X ||u||^2.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Annotated, Final, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from pydantic import AfterValidator

from pipeline_lib import surrogates
from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import (
    Names,
    Positive,
    Positives,
    Range,
    Rising,
    Settings,
    Several,
    Text,
    Whole,
    at_least,
)
from pipeline_lib.data.ranking_data import RankingData, Standardisation
from pipeline_lib.data.rows import Count, Field, FromOne, FromZero, Row
from pipeline_lib.experiment import EVERY, Experiment, Job, Step
from pipeline_lib.learners import perceptron, rounds
from pipeline_lib.papers.slam import streams
from pipeline_lib.papers.slam.perceptron import worst_rounds
from pipeline_lib.papers.slam.streams import ACTIVE, Stream
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.surrogates.slam import v_max_of_all
from pipeline_lib.theory import perceptron_bounds

NOISY, SEPARABLE, ADVERSARIAL = "noisy", "separable", "adversary"
SHORT_MEASURES = ("ndcg", "map", "ndcg@1")
ORTHOGONAL = {2: 5.0, 20: 0.5}
"""The lengths of the lists of orthogonal streams, and the norms of their documents."""
NARROW = 0.05
"""The margin g of the zigzag."""
FLIP_EVERY = 100
TIGHT = 1e-8
"""The relative gap of right sides on short streams."""
STEPS = ("theory", "1")
"""The steps of the runs whose bound is computed: as the theorem requires, and as printed."""
FIRST_CHECKPOINT = 100
LISTNET: Final = "listnet"
LISTNET_ROUNDS = 2000
PERCEPTRON, AS_PRINTED = "perceptron", "as-printed"
LARGEST_LABEL = 2
"""Of the table of v_max."""
CUTOFFS = tuple(2**power - 1 for power in range(2, 11))
"""The values of k for which v_max is compared with O(log k): k + 1 doubles."""


def _both_kinds(measures: tuple[str, ...]) -> tuple[str, ...]:
    for kind, present in (("ndcg", "ndcg" in measures), ("ndcg@K", any(one.startswith("ndcg@") for one in measures))):
        if not present:
            raise ValueError(f"expected {kind} among them, found {list(measures)}")
    return measures


RankingLoss = Annotated[Text, Field(pattern=r"^(ndcg|map|ndcg@[1-9][0-9]*)$")]
RankingLosses = Annotated[tuple[RankingLoss, ...], *Names.__metadata__, AfterValidator(_both_kinds)]


class PerceptronSettings(Settings):
    """The perceptron's cumulative loss and its bounds, over streams from populations, an adversary and data sets."""

    rounds: Annotated[Whole, Ge(200)] = Field(20000, description="T, the number of rounds in a stream")
    adversarial_rounds: Annotated[Whole, Ge(100)] = Field(
        200, description="T where an adversary presents the query that is ranked worst"
    )
    queries: Several = Field(200, description="different queries in a stream drawn from a population")
    documents: Range = Field((5, 15), description="smallest and largest number of documents per query")
    features: Whole = Field(10, description="features in the populations")
    margin: Positive = Field(0.02, description="gap between neighbouring grades of the separable population")
    repetitions: Whole = Field(2, description="random orders of every stream")
    measures: RankingLosses = Field(
        ("ndcg", "map", "ndcg@10"),
        description="measures whose ranking losses are bounded; ndcg and one ndcg@K are required",
    )
    etas: Positives = Field((1e-3, 0.1, 10.0), description="step sizes compared with eta = 1, and that of Theorem 5")
    checkpoints: Several = Field(5, description="values of T at which the best comparator is computed")
    short_rounds: Annotated[Whole, Ge(200)] = Field(5000, description="T in streams that come close to the bounds")
    orthogonal_queries: Several = Field(50, description="different queries, and features, in the orthogonal streams")
    v_max_lengths: Annotated[Rising, at_least(3)] = Field(
        (3, 10, 30, 100, 300, 1000), description="values of m in the table of v_max"
    )


class OnStream(Row):
    """A stream of queries, and the measure whose ranking losses are added."""

    stream: str = Field(description="noisy, separable, adversary, a data set, or the name of a short stream")
    measure: str = Field(description="measure whose ranking loss counts: ndcg, map or ndcg@K")
    repetition: Count = Field(description="the random order of a long stream, from 0; 0 for a short one")


class Run(OnStream):
    """A run of an online learner."""

    eta: str = Field(description="step size: a number, or theory for that of the bound")


class Bounded(
    Run,
    table="tables/slam-perceptron",
    key=("stream", "measure", "repetition", "eta", "T"),
    always=(
        "cumulative_loss <= mistakes <= T",
        "cumulative_loss <= largest_loss <= T",
        "bound = 2 * comparator_loss + constant",
        "gap <= bound",
    ),
):
    """Both sides of Theorem 5 after the first T rounds of a run of Algorithm 1."""

    T: FromOne = Field(description="rounds so far")
    cumulative_loss: FromZero = Field(description="sum of their ranking losses")
    mistakes: Count = Field(description="rounds among them with a ranking loss")
    comparator_loss: FromZero = Field(description="sum of f_t(u) over the mistakes, at the best comparator u")
    constant: FromZero = Field(description="C ||u||^2, C = 4 m R_X^2 v_max")
    bound: FromZero = Field(description="right side of Theorem 5 at u: twice the comparator's loss and the constant")
    gap: FromZero = Field(description="how far the bound may lie above the least right side")
    gamma: FromZero | None = Field(description="largest margin of a unit vector; missing where none may separate")
    margin_bound: FromZero | None = Field(description="C / gamma^2, Corollary 6; missing where gamma is")
    largest_loss: FromZero = Field(description="sum of the losses of the reversed orders")


class Influence(
    Run,
    table="tables/slam-eta",
    key=("stream", "measure", "repetition", "eta", "active"),
    always=(
        "cumulative_loss <= mistakes <= rounds",
        "mistakes_at_eta_one <= rounds",
        "ABS(mistakes - mistakes_at_eta_one) <= rounds_that_differ <= mistakes + mistakes_at_eta_one",
        "rounds_that_differ <= rounds",
    ),
):
    """A run of an online learner with one step size, compared with that of eta = 1."""

    active: str = Field(description="documents that are updated on: margin, as printed, misordered only, or listnet")
    step: FromZero = Field(description="eta as a number")
    rounds: FromOne = Field(description="rounds of the run")
    mistakes: Count = Field(description="rounds with a ranking loss")
    mistakes_at_eta_one: Count = Field(description="rounds with a ranking loss in the run with eta = 1")
    rounds_that_differ: Count = Field(description="rounds with a ranking loss in exactly one of the two runs")
    cumulative_loss: FromZero = Field(description="sum of the ranking losses")


class VMax(Row, table="tables/slam-vmax", key=("m",), always=("half_m = m / 2",)):
    """The largest v_max over lists of m documents; labels are at most 2."""

    m: FromOne = Field(description="documents of the lists")
    v_max_map: FromZero = Field(description="largest v_max of MAP's weights")
    half_m: float = Field(description="m / 2")
    v_max_ndcg: FromZero = Field(description="largest v_max of NDCG's weights")
    v_max_ndcg_limit: FromZero = Field(description="log(2) (2^2 - 1) (m + 1) log2(m + 1)^2")


class Play(
    OnStream,
    table="tables/slam-players",
    key=("stream", "measure", "repetition", "player", "statement"),
    always=(
        "loss_at_half <= cumulative_loss <= mistakes <= T",
        "cumulative_loss <= largest_loss <= T",
        "gap <= bound",
        "largest_loss = MIN(largest_loss) OVER (PARTITION BY stream, measure, repetition)",
        "cumulative_loss = MIN(cumulative_loss) OVER (PARTITION BY stream, measure, repetition, player)",
    ),
):
    """The losses of one player over a whole short stream, and one right side of Theorem 5."""

    player: str = Field(description="perceptron, or an unchanging ranker: reversed, never, first-mistake, permuted")
    statement: str = Field(description="right side: as-printed, or wrong: loss-once, half-constant, norm-not-squared")
    T: FromOne = Field(description="rounds of the stream")
    cumulative_loss: FromZero = Field(description="sum of the player's ranking losses")
    loss_at_half: FromZero = Field(description="the same after half of the rounds, rounded down")
    largest_loss: FromZero = Field(description="sum of the losses of the reversed orders")
    mistakes: Count = Field(description="rounds with a ranking loss of the player")
    comparator_loss: FromZero = Field(description="sum of f_t(u) over these, at the best comparator u")
    constant: FromZero = Field(description="term of the right side with ||u||^2")
    bound: FromZero = Field(description="right side at u")
    gap: FromZero = Field(description="how far the bound may lie above the least right side")
    margin_bound: FromZero | None = Field(description="right side of Corollary 6; missing where no vector may separate")


class WorstRound(
    Row, table="tables/slam-subgradients", key=("measure", "m"), always=("relevant <= m", "length <= m", "1 <= v_max")
):
    """The round in which the two sides of (16) are closest, for one measure and length."""

    measure: str = Field(description="measure whose weights are used")
    m: FromOne = Field(description="documents of the list")
    relevant: FromOne = Field(description="documents with a positive label")
    length: FromOne = Field(description="factor of (16): m, for NDCG@k the smaller of m and k")
    feature_norm: FromZero = Field(description="R_X, the norm of the documents")
    v_max: float = Field(description="largest weight over the smallest positive one")
    surrogate_loss: FromZero = Field(description="phi")
    squared_norm: FromZero = Field(description="||z||^2, the left side of (16)")
    ratio: FromZero = Field(description="left side over right side of (16)")


class AtCutoff(Row, table="tables/slam-cutoffs", key=("k",)):
    """The largest v_max of NDCG@k, with what doubling k + 1 adds to it; lists of 2 k + 1 documents attain both."""

    k: FromOne = Field(description="cutoff of NDCG@k")
    v_max: FromZero = Field(description="largest v_max over lists of k + 1 documents with labels of at most 2")
    v_max_limit: FromZero = Field(description="(2^2 - 1) log2(k + 1)")
    added_by_doubling: float = Field(description="v_max at 2 k + 1 minus that at k")
    added_to_share_of_log: float = Field(description="the same difference of v_max / log2(k + 1)")


def measure(job: Job) -> Iterator[Row]:
    """Run the perceptron over every stream, those of the data sets included."""
    settings, seed, datasets = job.settings, job.seed, job.datasets()
    for measure in progress.counted(settings.measures, "measures"):
        for repetition in progress.counted(range(settings.repetitions), f"repetitions of {measure}"):
            for stream in long(settings, datasets, measure, repetition, seed):
                yield from bounds_of(stream, measure, settings.checkpoints)
                for active in ACTIVE:
                    yield from influence_of_eta(stream, measure, settings.etas, active)
                if (stream.name, measure, repetition) == (NOISY, "ndcg", 0):
                    yield from influence_of_eta(stream, measure, settings.etas, LISTNET)
    for measure, stream in product(SHORT_MEASURES, short(settings, seed)):
        yield from bounds_of(stream, measure, settings.checkpoints)
        yield from played(stream, measure)
    yield from map(v_max_at, settings.v_max_lengths)
    for found in worst_rounds.over_all():
        yield WorstRound(**found)
    yield from map(at_cutoff, CUTOFFS)


def long(
    settings: PerceptronSettings, datasets: Mapping[str, RankingData], measure: str, repetition: int, seed: int
) -> Iterator[Stream]:
    """The streams of populations, of the adversary and of the data sets, in one random order."""
    # All measures have the same data and orders, except those of the adversary, which depend on the measure's losses.
    noise = PopulationSettings().noise
    described = partial(PopulationSettings, features=settings.features, documents=settings.documents)
    pools = {
        NOISY: Population(described(noise=noise, query_noise=noise)),
        SEPARABLE: Population(described(noise=0.0, query_noise=0.0, margin=settings.margin)),
    }
    for name, population in pools.items():
        rng = generator(seed, "slam-perceptron", name, repetition, role="alone")
        data = population.draw(settings.queries, rng)
        yield Stream(name, repetition, data, rng.integers(0, settings.queries, settings.rounds), name == SEPARABLE)
    rng = generator(seed, "slam-perceptron", ADVERSARIAL, repetition, role="alone")
    data = pools[NOISY].draw(min(settings.queries, settings.adversarial_rounds // 2), rng)
    order = streams.adversarial_order(data, settings.adversarial_rounds, measure)
    yield Stream(ADVERSARIAL, repetition, data, order)
    for name, raw in datasets.items():
        passes = math.ceil(settings.rounds / raw.n_queries)
        order = rounds.random_passes(raw.n_queries, passes, (seed, "slam-perceptron", name, repetition))
        yield Stream(name, repetition, Standardisation.of(raw).apply(raw), order[: settings.rounds])


def short(settings: PerceptronSettings, seed: int) -> Iterator[Stream]:
    """The streams that come close to the bounds; they are the same for all measures.

    Example
    -------
    >>> [stream.name for stream in short(PerceptronSettings(), 0)][:4]
    ['orthogonal-2', 'orthogonal-20', 'zigzag', 'noisy-zigzag']
    """
    T, axes = settings.short_rounds, settings.orthogonal_queries
    cycle = np.arange(T) % axes
    found = [
        Stream(f"orthogonal-{m}", 0, streams.orthogonal(axes, m, norm), cycle, True, 2 * norm / axes**0.5)
        for m, norm in ORTHOGONAL.items()
    ]
    points = [(NARROW, 0.5), *((NARROW, side * math.sqrt(1.0 - NARROW**2)) for side in (-1.0, 1.0)), (-1.0, 0.0)]
    in_turn = np.r_[0, 1 + np.arange(T - 1) % 2]
    found.append(Stream("zigzag", 0, streams.of_points(points[:3]), in_turn, True, NARROW))
    flipped = np.where(np.arange(1, T + 1) % FLIP_EVERY, in_turn, 3)
    found.append(Stream("noisy-zigzag", 0, streams.of_points(points), flipped))
    for name, described in {
        "pairs": streams.separable(documents=2, label_shares=(0.5, 0.5), margin=0.1),
        "short": streams.separable(documents=(2, 4), label_shares=(0.4, 0.3, 0.3), margin=0.2),
    }.items():
        rng = generator(seed, "slam-perceptron", name, role="alone")
        data = described.draw(settings.queries, rng)
        found.append(Stream(name, 0, data, rng.integers(0, settings.queries, T), True))
    for stream in (*found, streams.stalled(T)):
        yield replace(stream, tol=TIGHT)


def bounds_of(stream: Stream, measure: str, checkpoints: int) -> Iterator[Bounded]:
    """Both sides of Theorem 5 at growing T, for every step."""
    data, order = stream.data, stream.order
    gamma = stream.gamma(measure)
    largest = streams.largest_losses(data, measure)[order]
    factor = perceptron.norm_factor(data, order, measure)
    for eta in STEPS:
        result = perceptron.run(data, order, measure, "theory" if eta == "theory" else float(eta))
        summed = {"cumulative_loss": result.losses, "mistakes": result.mistakes, "largest_loss": largest}
        so_far = {name: np.cumsum(values) for name, values in summed.items()}
        for T in _checkpoints(len(order), checkpoints):
            side = perceptron_bounds.right_side(data, order[:T][result.mistakes[:T]], factor, measure, stream.tol)
            yield Bounded(
                **stream.columns(measure),
                **{name: values[T - 1].item() for name, values in so_far.items()},
                eta=eta,
                T=T,
                comparator_loss=side.comparator_loss,
                constant=factor * float(side.u @ side.u),
                bound=side.bound,
                gap=side.gap,
                gamma=gamma,
                margin_bound=None if gamma is None else factor / gamma**2,
            )


def _checkpoints(length: int, number: int) -> list[int]:
    # A logarithmic grid that ends with the last round and includes half of all rounds.
    grid = np.unique(np.geomspace(min(FIRST_CHECKPOINT, length), length, number).round().astype(int)).tolist()
    return sorted({*grid, length // 2})


def influence_of_eta(
    stream: Stream, measure: str, etas: Sequence[float], active: perceptron.Active | Literal["listnet"]
) -> Iterator[Influence]:
    """In how many rounds the mistakes differ from those with eta = 1, for one active set, with the total loss.

    ``active`` may be "listnet": gradient descent on ListNet, over at most :data:`LISTNET_ROUNDS` rounds.
    """
    data, order = stream.data, stream.order
    steps = {str(eta): eta for eta in etas}
    if active != LISTNET:
        steps = {"theory": perceptron.theory_step(data, order, measure, active), **steps}

    def losses_with(step: float) -> Floats:
        if active == LISTNET:
            return listnet_losses(data, order[:LISTNET_ROUNDS], measure, step)
        return perceptron.run(data, order, measure, step, active).losses

    at_one = losses_with(1.0) > 0.0
    for eta, step in steps.items():
        losses = losses_with(step)
        mistakes = losses > 0.0
        yield Influence(
            **stream.columns(measure),
            eta=eta,
            active=active,
            step=step,
            rounds=len(losses),
            mistakes=int(mistakes.sum()),
            mistakes_at_eta_one=int(at_one.sum()),
            rounds_that_differ=int((mistakes != at_one).sum()),
            cumulative_loss=float(losses.sum()),
        )


def listnet_losses(data: RankingData, order: NDArray[np.int64], measure: str, eta: float) -> Floats:
    """The ranking losses of every round of gradient descent on ListNet."""
    loss, w = surrogates.create("listnet"), np.zeros(data.n_features)
    queries = [data.take([q]) for q in range(data.n_queries)]
    losses = np.empty(len(order))
    for t, q in enumerate(order):
        own = queries[q]
        scores = own.X64 @ w
        losses[t] = streams.losses(scores, own, measure)[0]
        w -= eta * own.X64.T @ loss.unchecked(scores, own.y.astype(np.int32), own.offsets)[1]
    return losses


def played(stream: Stream, measure: str) -> Iterator[Play]:
    """The losses of every player over the whole stream, and of the perceptron with every right side."""
    data, order = stream.data, stream.order
    gamma = stream.gamma(measure)
    norm = float(np.sqrt(np.square(data.X64).sum(axis=1).max()))
    # The factors of the comparator's loss and of the constant.
    sides = {
        AS_PRINTED: (2.0, 1.0),
        "loss-once": (1.0, 1.0),
        "half-constant": (2.0, 0.5),
        "norm-not-squared": (2.0, 1.0 / norm),
    }
    largest = float(streams.largest_losses(data, measure)[order].sum())
    factor = perceptron.norm_factor(data, order, measure)
    result = perceptron.run(data, order, measure, "theory")
    plays = [(PERCEPTRON, statement, result.losses) for statement in sides]
    for player, w in _unchanging(stream, measure, result.w).items():
        plays.append((player, AS_PRINTED, streams.losses(data.X64 @ w, data, measure)[order]))
    for player, statement, losses in plays:
        times, share = sides[statement]
        # times sum f + c ||u||^2 is times/2 of 2 sum f + 2 c/times ||u||^2.
        scale = times / 2.0
        side = perceptron_bounds.right_side(data, order[losses > 0.0], share * factor / scale, measure, stream.tol)
        yield Play(
            **stream.columns(measure),
            player=player,
            statement=statement,
            T=len(order),
            cumulative_loss=float(losses.sum()),
            loss_at_half=float(losses[: len(order) // 2].sum()),
            largest_loss=largest,
            mistakes=int((losses > 0.0).sum()),
            comparator_loss=side.comparator_loss,
            constant=scale * side.factor * float(side.u @ side.u),
            bound=scale * side.bound,
            gap=scale * side.gap,
            margin_bound=None if gamma is None else share * factor / gamma**2,
        )


def _unchanging(stream: Stream, measure: str, w: Floats) -> dict[str, Floats]:
    data, order = stream.data, stream.order
    # The labels of every second query are reversed.
    y = data.y.copy()
    for begin, end in zip(data.offsets[:-1:2], data.offsets[1::2], strict=True):
        y[begin:end] = y[begin:end][::-1]
    permuted = perceptron.run(replace(data, y=y), order, measure, "theory").w
    first = perceptron.run(data, order[:1], measure, "theory").w
    return {"reversed": -w, "never": np.zeros(len(w)), "first-mistake": first, "permuted": permuted}


def largest_v_max(m: int, y_max: int, kind: str) -> float:
    """The largest v_max over lists of m documents in which r documents are relevant, for r = 1..m.

    Either all r have the label y_max, or one has y_max and the others have 1; all other labels are 0. With binary
    labels these are all lists; with more labels, the supremum is attained by one of them
    (:func:`pipeline_lib.surrogates.slam.v_max_supremum`).

    Example
    -------
    >>> round(largest_v_max(10, 1, "map"), 9), round(largest_v_max(10, 2, "ndcg@3"), 9)
    (5.0, 6.0)
    """
    largest = 0.0
    # All lists together have m^2 labels, which may not fit into memory: a few lists at a time.
    for counts in np.array_split(np.arange(1, m + 1), 1 + m * m // 1_000_000):
        relevant = (np.arange(m) < counts[:, None]).astype(np.int32)
        first_apart = relevant.copy()
        first_apart[:, 0] = y_max
        y = np.concatenate([y_max * relevant, first_apart])
        largest = max(largest, float(v_max_of_all(y.ravel(), np.arange(0, y.size + 1, m), kind).max()))
    return largest


def v_max_at(m: int) -> VMax:
    """The largest v_max of lists of m documents."""
    return VMax(
        m=m,
        v_max_map=largest_v_max(m, 1, "map"),
        half_m=m / 2,
        v_max_ndcg=largest_v_max(m, LARGEST_LABEL, "ndcg"),
        v_max_ndcg_limit=math.log(2.0) * (2**LARGEST_LABEL - 1) * (m + 1) * math.log2(m + 1) ** 2,
    )


def at_cutoff(k: int) -> AtCutoff:
    """v_max at one cutoff."""
    v_max, doubled = (largest_v_max(K + 1, LARGEST_LABEL, f"ndcg@{K}") for K in (k, 2 * k + 1))
    return AtCutoff(
        k=k,
        v_max=v_max,
        v_max_limit=(2**LARGEST_LABEL - 1) * math.log2(k + 1),
        added_by_doubling=doubled - v_max,
        added_to_share_of_log=doubled / math.log2(2 * k + 2) - v_max / math.log2(k + 1),
    )


EXPERIMENT = Experiment(
    PerceptronSettings,
    Step(
        "perceptron",
        measure,
        rows=(Bounded, Influence, VMax, Play, WorstRound, AtCutoff),
        documents=EVERY,
        surrogates=("slam-ndcg", "slam-map", "slam-ndcg@k"),
        cost=Cost(6.0, start_mb=800.0),
        seconds=lambda settings, cell: 1e-4 * settings.rounds * settings.repetitions,
    ),
)
