"""Which queries does the perceptron meet, and in which order?

Long lists come from a noisy and a separable population, from an adversary who always presents the query that is ranked
worst, and from the data sets of the study. The constants of the bounds exceed the number of rounds there. Short streams
in few dimensions bring the perceptron close to its bounds; in most of them every list has two documents, at -x/2 and
x/2, of which the second is relevant, so that Algorithm 1 is the perceptron of classification on the points x:

- ``orthogonal-m``: lists of m documents, the relevant one at R e_t, all others at -R e_t, with another axis in every
  query. Nothing learned on one query helps on another, so that each is ranked wrongly once.
- ``zigzag``: x = (g, q) and x = (g, -q) in turn, with q^2 = 1 - g^2, after x = (g, 1/2). Every update along the second
  axis is too long, so that the next query is ranked wrongly, until the first coordinate of w, which grows by g at a
  time, outweighs the second: about 1 / (2 g^2) mistakes.
- ``noisy-zigzag``: the same, and from time to time x = (-1, 0), which undoes 1/g of these updates.
- ``pairs`` and ``short``: separable populations of lists of two, and of two to four, documents with two features.
- ``stalled``: a single query of three documents with small features, in which the weight of one relevant document leads
  the perceptron away from the other as long as its hinge is active.

Where scores are equal, documents are ranked in the order of the data, and the irrelevant ones come first in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import metrics
from pipeline_lib.arrays import Floats
from pipeline_lib.learners import perceptron, rounds
from pipeline_lib.ranking_data import RankingData, Standardisation
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import perceptron_bounds

if TYPE_CHECKING:
    from pipeline_lib.papers.slam.experiments.perceptron import PerceptronSettings

NOISY, SEPARABLE, ADVERSARIAL = "noisy", "separable", "adversary"
SHORT_MEASURES = ("ndcg", "map", "ndcg@1")
LENGTHS = {2: 5.0, 20: 0.5}
"""The lengths of the lists of orthogonal streams, and the norms R of their documents."""
NARROW = 0.05
"""The margin g of the zigzag."""
FLIP_EVERY = 100
PAIR_MARGIN, SHORT_MARGIN = 0.1, 0.2
SMALL = 0.02
"""The norm of the documents of the stalled stream."""
TIGHT = 1e-8


@dataclass(frozen=True, eq=False)
class Stream:
    """Queries in the order in which they are met.

    ``separable`` streams have a linear ranker without mistakes, and ``margin`` is the largest margin of a unit vector
    where it is known. ``tol`` is the relative gap to which right sides are solved.
    """

    name: str
    repetition: int
    data: RankingData
    order: NDArray[np.int64]
    separable: bool = False
    margin: float | None = None
    tol: float = 1e-4

    def gamma(self, measure: str) -> float | None:
        """The margin of a unit vector for the queries that are met, or None where there may be none."""
        if not self.separable or self.margin is not None:
            return self.margin
        return perceptron_bounds.largest_margin(self.data.take(np.unique(self.order)), measure).gamma


def long(
    settings: PerceptronSettings, datasets: Mapping[str, RankingData], measure: str, repetition: int, seed: int
) -> Iterator[Stream]:
    """The streams of populations, of the adversary and of the data sets, in one random order."""
    # All measures have the same data and orders, except those of the adversary, which depend on the measure's losses.
    noise = PopulationSettings().noise
    pools = {
        NOISY: Population(_population(settings, noise, 0.0)),
        SEPARABLE: Population(_population(settings, 0.0, settings.margin)),
    }
    for name, population in pools.items():
        rng = generator(seed, "slam-perceptron", name, repetition)
        data = population.draw(settings.queries, rng)
        yield Stream(name, repetition, data, rng.integers(0, settings.queries, settings.rounds), name == SEPARABLE)
    rng = generator(seed, "slam-perceptron", ADVERSARIAL, repetition)
    data = pools[NOISY].draw(min(settings.queries, settings.adversarial_rounds // 2), rng)
    yield Stream(ADVERSARIAL, repetition, data, adversarial_order(data, settings.adversarial_rounds, measure))
    for name, raw in datasets.items():
        passes = math.ceil(settings.rounds / raw.n_queries)
        order = rounds.random_passes(raw.n_queries, passes, (seed, "slam-perceptron", name, repetition))
        yield Stream(name, repetition, Standardisation.of(raw).apply(raw), order[: settings.rounds])


def short(settings: PerceptronSettings, seed: int) -> Iterator[Stream]:
    """The streams that come close to the bounds; they are the same for all measures.

    Example
    -------
    >>> from pipeline_lib.papers.slam.experiments.perceptron import PerceptronSettings
    >>> [stream.name for stream in short(PerceptronSettings(), 0)][:4]
    ['orthogonal-2', 'orthogonal-20', 'zigzag', 'noisy-zigzag']
    """
    for stream in _short(settings, seed):
        yield replace(stream, tol=TIGHT)


def _short(settings: PerceptronSettings, seed: int) -> Iterator[Stream]:
    T = settings.short_rounds
    for m, norm in LENGTHS.items():
        axes = settings.orthogonal_queries
        yield Stream(f"orthogonal-{m}", 0, orthogonal(axes, m, norm), np.arange(T) % axes, True, 2 * norm / axes**0.5)
    points = [(NARROW, 0.5), *((NARROW, side * math.sqrt(1.0 - NARROW**2)) for side in (-1.0, 1.0)), (-1.0, 0.0)]
    in_turn = np.r_[0, 1 + np.arange(T - 1) % 2]
    yield Stream("zigzag", 0, of_points(points[:3]), in_turn, True, NARROW)
    yield Stream("noisy-zigzag", 0, of_points(points), np.where(np.arange(1, T + 1) % FLIP_EVERY, in_turn, 3))
    populations = {
        "pairs": PopulationSettings(
            features=2, documents=2, label_shares=(0.5, 0.5), noise=0.0, query_noise=0.0, margin=PAIR_MARGIN
        ),
        "short": PopulationSettings(
            features=2, documents=(2, 4), label_shares=(0.4, 0.3, 0.3), noise=0.0, query_noise=0.0, margin=SHORT_MARGIN
        ),
    }
    for name, population in populations.items():
        rng = generator(seed, "slam-perceptron", name)
        data = Population(population).draw(settings.queries, rng)
        yield Stream(name, 0, data, rng.integers(0, settings.queries, T), True)
    yield stalled(T)


def orthogonal(axes: int, m: int, norm: float) -> RankingData:
    """One query for each axis: m - 1 irrelevant documents at -norm e_t, and a relevant one at norm e_t."""
    signs = np.r_[-np.ones(m - 1), 1.0]
    X = norm * (signs[:, None] * np.eye(axes)[:, None, :]).reshape(-1, axes)
    return RankingData.from_arrays(X, np.tile(signs > 0, axes).astype(int), np.repeat(np.arange(axes), m))


def of_points(points: list[tuple[float, float]]) -> RankingData:
    """A query for each point x: an irrelevant document at -x/2 and a relevant one at x/2.

    Example
    -------
    >>> of_points([(1.0, 0.0)]).X.tolist()
    [[-0.5, -0.0], [0.5, 0.0]]
    """
    halves = np.array(points)[:, None, :] / 2.0
    X = np.concatenate([-halves, halves], axis=1).reshape(-1, 2)
    return RankingData.from_arrays(X, np.tile([0, 1], len(points)), np.repeat(np.arange(len(points)), 2))


def stalled(T: int) -> Stream:
    """T rounds of one query: documents 0, (e, 0) and (-e/2, 3e/5) with e = SMALL, the last two relevant.

    While all hinges are active, w is a multiple of v_1 (1, 0) + v_2 (-1/2, 3/5), which ranks the third document below
    the first one where v_1 / 2 > (1/4 + 9/25) v_2. Both relevant documents have the margin g if w = g/e (1, 5/2), so
    that the largest margin is e / sqrt(1 + 25/4).
    """
    X = SMALL * np.array([[0.0, 0.0], [1.0, 0.0], [-0.5, 0.6]])
    data = RankingData.from_arrays(X, [0, 1, 1], [0, 0, 0])
    return Stream("stalled", 0, data, np.zeros(T, np.int64), True, SMALL / math.sqrt(7.25))


def adversarial_order(data: RankingData, length: int, measure: str) -> NDArray[np.int64]:
    """Every query once, and then always the one that the perceptron with the theoretical step size ranks worst."""
    order = list(range(data.n_queries))[:length]
    step = perceptron.theory_step(data, order, measure)
    while len(order) < length:
        w = perceptron.run(data, order, measure, step).w
        order.append(int(np.argmax(losses(data.X64 @ w, data, measure))))
    return np.array(order, np.int64)


def losses(scores: Floats, data: RankingData, measure: str) -> Floats:
    """1 - NDCG, 1 - AP or 1 - NDCG@k of every query, shape (Q,); 0 where no document is relevant."""
    if measure == "map":
        return 1.0 - metrics.average_precision(scores, data.y, data.offsets, no_relevant=1.0)
    k = measure.partition("@")[2]
    return 1.0 - metrics.ndcg(scores, data.y, data.offsets, int(k) if k else None, no_relevant=1.0)


def largest_losses(data: RankingData, measure: str) -> Floats:
    """The loss of every query when its documents are ranked by falling label reversed: no order loses more."""
    return losses(-data.y.astype(np.float64), data, measure)


def _population(settings: PerceptronSettings, noise: float, margin: float) -> PopulationSettings:
    return PopulationSettings(
        features=settings.features, documents=settings.documents, noise=noise, query_noise=noise, margin=margin
    )
