"""How do the perceptron's loss and its two bounds grow with the length of the lists?

On separable streams of lists of m documents, with two features or with an axis for every query, Algorithm 1 and the
perceptron that updates on misordered documents only play with the step of their bounds. The constant C of Theorem 5 and
Corollary 6 is 4 m R_X^2 v_max for the first and 4 R_X^2 for the second (docs/a-bound-free-of-the-list-length.md).

Algorithm 1 itself has a bound without m for every fixed step eta, with C = 2/eta + Delta^2 where Delta is the largest
distance of two documents of a list. Its step in Theorem 5, 1/(4 m R_X^2 v_max), becomes small on long lists. What it
then loses is seen on a list that is met again and again (:func:`pipeline_lib.papers.slam.streams.opposed`), on which
two kinds of relevant documents pull in opposite directions.
"""

from collections.abc import Iterator
from itertools import product
from typing import Annotated

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Positive, Rising, Settings, Several, Sizes, at_least
from pipeline_lib.data.rows import Count, Field, FromOne, FromZero, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.learners import perceptron
from pipeline_lib.papers.slam import streams
from pipeline_lib.papers.slam.streams import ACTIVE, Stream
from pipeline_lib.theory import perceptron_bounds

MEASURES = ("ndcg", "map")
SHARES = (0.6, 0.3, 0.1)
TOL = 1e-6
THEORY, ONE = "theory", "1"
PLAYERS: tuple[tuple[perceptron.Active, str], ...] = (("margin", THEORY), ("margin", ONE), ("misordered", ONE))
"""Who plays on the opposed lists, with which step; for updates on misordered documents only it does not matter."""


class ListLengthsSettings(Settings):
    """The perceptron's loss bounds with and without the length of the lists, on short and on long lists."""

    lengths: Sizes = Field((5, 10, 30, 100, 300, 1000), description="values of m, the documents per query")
    rounds: Several = Field(1000, description="T, the number of rounds in a stream")
    queries: Several = Field(20, description="different queries in a stream")
    opposed: Annotated[Rising, at_least(3)] = Field(
        (3, 5, 8, 12, 16), description="values of m of the list with opposed documents, which is met 5 m^4 times"
    )
    margin: Positive = Field(0.2, description="gap between neighbouring grades of the separable population")


class Played(
    Row,
    table="tables/slam-lengths",
    key=("stream", "measure", "active", "m"),
    always=(
        "cumulative_loss <= largest_loss <= T",
        "reversed_loss <= largest_loss",
        "never_loss <= largest_loss",
        "gap <= bound",
        "margin_bound = factor / (gamma * gamma)",
    ),
):
    """The loss of one perceptron over a whole stream of lists of m documents, and its bounds."""

    stream: str = Field(description="separable, of a population with two features, or orthogonal, an axis a query")
    measure: str = Field(description="measure whose ranking loss counts: ndcg or map")
    active: str = Field(description="documents that are updated on: margin, as printed, or misordered only")
    m: FromOne = Field(description="documents of every query")
    T: FromOne = Field(description="rounds of the stream")
    cumulative_loss: FromZero = Field(description="sum of the ranking losses of all rounds")
    bound: FromZero = Field(description="right side of Theorem 5 at the best comparator, with the C of these updates")
    gap: FromZero = Field(description="how far the bound may lie above the least right side")
    margin_bound: FromZero = Field(description="C / gamma^2, Corollary 6")
    largest_loss: FromZero = Field(description="sum of the losses of the reversed orders")
    reversed_loss: FromZero = Field(description="sum of the losses of a ranker that sorts by minus the last w")
    never_loss: FromZero = Field(description="sum of the losses of w = 0")
    factor: FromZero = Field(description="C: 4 m R_X^2 v_max with margin, 4 R_X^2 with misordered documents")
    feature_norm: FromZero = Field(description="R_X, the largest norm of a document")
    gamma: FromZero = Field(description="largest margin of a unit vector")


class Opposed(
    Row,
    table="tables/slam-lengths-opposed",
    key=("active", "step", "m"),
    always=("cumulative_loss <= last_mistake <= T", "stepless_bound <= free_bound"),
):
    """The loss for MAP of one perceptron on one list with opposed documents that is met again and again."""

    active: str = Field(description="documents that are updated on: margin, as printed, or misordered only")
    step: str = Field(description="step size: theory, that of Theorem 5, or 1")
    m: FromOne = Field(description="documents of the list")
    T: FromOne = Field(description="rounds")
    eta: FromZero = Field(description="step size")
    cumulative_loss: FromZero = Field(description="sum of the ranking losses of all rounds")
    last_mistake: Count = Field(description="the last round with a ranking loss, from 1")
    printed_bound: FromZero = Field(description="C ||u||^2 with the C of Theorem 5, at a comparator u without loss")
    free_bound: FromZero = Field(description="||u||^2 (2/eta + Delta^2), without 2/eta for misordered documents only")
    stepless_bound: FromZero = Field(description="||u||^2 Delta^2")


def measure(job: Job) -> Iterator[Played | Opposed]:
    """One row for every stream, length, measure and active set, after all rounds."""
    for m, (active, step) in product(job.settings.opposed, PLAYERS):
        yield _opposed(m, active, step)
    for m in job.settings.lengths:
        for stream, measure in product(streams_of(job.settings, m, job.seed), MEASURES):
            yield from _played(stream, m, measure)


def streams_of(settings: ListLengthsSettings, m: int, seed: int) -> Iterator[Stream]:
    """The two streams of lists of m documents."""
    T, queries = settings.rounds, settings.queries
    rng = generator(seed, "slam-lengths", m, role="alone")
    population = streams.separable(documents=m, label_shares=SHARES, margin=settings.margin)
    data = population.draw(queries, rng)
    yield Stream("separable", 0, data, rng.integers(0, queries, T), True)
    data = streams.orthogonal(queries, m, 1.0)
    yield Stream("orthogonal", 0, data, np.arange(T) % queries, True, 2.0 / queries**0.5)


def _played(stream: Stream, m: int, measure: str) -> Iterator[Played]:
    data, order, gamma = stream.data, stream.order, stream.gamma(measure)
    assert gamma is not None, "the streams are separable"

    def loss(scores: Floats) -> float:
        return float(streams.losses(scores, data, measure)[order].sum())

    for active in ACTIVE:
        result = perceptron.run(data, order, measure, "theory", active)
        factor = perceptron.norm_factor(data, order, measure, active)
        side = perceptron_bounds.right_side(data, order[result.mistakes], factor, measure, TOL)
        yield Played(
            stream=stream.name,
            measure=measure,
            active=active,
            m=m,
            T=len(order),
            cumulative_loss=float(result.losses.sum()),
            bound=side.bound,
            gap=side.gap,
            margin_bound=factor / gamma**2,
            largest_loss=float(streams.largest_losses(data, measure)[order].sum()),
            reversed_loss=loss(-(data.X64 @ result.w)),
            never_loss=loss(np.zeros(data.n_documents)),
            factor=factor,
            feature_norm=float(np.sqrt(np.einsum("ij,ij->i", data.X64, data.X64).max())),
            gamma=gamma,
        )


def _opposed(m: int, active: perceptron.Active, step: str) -> Opposed:
    data, u = streams.opposed(m)
    order = np.zeros(5 * m**4, np.int64)
    printed = perceptron.norm_factor(data, order, "map")
    eta = 1.0 / printed if step == THEORY else 1.0
    losses = perceptron.run(data, order, "map", eta, active).losses
    squared = float(u @ u)
    apart = data.X64[:, None, :] - data.X64[None, :, :]
    stepless = squared * float(np.einsum("ijk,ijk->ij", apart, apart).max())
    return Opposed(
        active=active,
        step=step,
        m=m,
        T=len(order),
        eta=eta,
        cumulative_loss=float(losses.sum()),
        last_mistake=int(np.flatnonzero(losses)[-1]) + 1,
        printed_bound=squared * printed,
        free_bound=stepless + (2.0 * squared / eta if active == "margin" else 0.0),
        stepless_bound=stepless,
    )


EXPERIMENT = Experiment(
    ListLengthsSettings,
    Step(
        "lengths",
        measure,
        rows=(Played, Opposed),
        surrogates=("slam-ndcg", "slam-map"),
        cost=Cost(3.0, start_mb=500.0),
        seconds=lambda settings, cell: (
            3e-7 * settings.rounds * sum(settings.lengths) + 2e-6 * sum(m**4 for m in settings.opposed)
        ),
    ),
)
