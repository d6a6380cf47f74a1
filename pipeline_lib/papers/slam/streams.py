"""Which queries does the perceptron meet, and in which order?

Streams for which the bounds on the perceptron's loss are nearly attained. In most of them every list has two documents,
at -x/2 and x/2, of which the second is relevant, so that Algorithm 1 is the perceptron of classification on the points
x. Where scores are equal, documents are ranked in the order of the data, and the irrelevant ones come first in it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import perceptron
from pipeline_lib.papers.slam import ranking_losses
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import perceptron_bounds

ACTIVE: tuple[perceptron.Active, ...] = ("margin", "misordered")
SMALL = 0.02
"""The norm of the documents of the stalled stream."""
SLOPE = 0.375
"""d of the opposed documents, exact in float32."""


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

    def columns(self, measure: str) -> dict[str, Any]:
        """What names a run over the stream in a row."""
        return {"stream": self.name, "measure": measure, "repetition": self.repetition}

    def gamma(self, measure: str) -> float | None:
        """The margin of a unit vector for the queries that are met, or None where there may be none."""
        if not self.separable or self.margin is not None:
            return self.margin
        return perceptron_bounds.largest_margin(self.data.take(np.unique(self.order)), measure).gamma


def separable(**described: Any) -> Population:
    """A population with two features and no noise, which a linear ranker separates with its margin."""
    return Population(PopulationSettings(features=2, noise=0.0, query_noise=0.0, **described))


def orthogonal(axes: int, m: int, norm: float) -> RankingData:
    """One query for each axis: m - 1 irrelevant documents at -norm e_t, and a relevant one at norm e_t.

    Nothing learned on one query helps on another, so that each is ranked wrongly once.
    """
    signs = np.r_[-np.ones(m - 1), 1.0]
    X = norm * (signs[:, None] * np.eye(axes)[:, None, :]).reshape(-1, axes)
    return RankingData.from_arrays(X, np.tile(signs > 0, axes).astype(int), np.repeat(np.arange(axes), m))


def of_points(points: Sequence[tuple[float, float]]) -> RankingData:
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

    The weight of one relevant document leads the perceptron away from the other as long as its hinge is active: while
    all hinges are active, w is a multiple of v_1 (1, 0) + v_2 (-1/2, 3/5), which ranks the third document below the
    first one where v_1 / 2 > (1/4 + 9/25) v_2. Both relevant documents have the margin g if w = g/e (1, 5/2), so that
    the largest margin is e / sqrt(1 + 25/4).
    """
    X = SMALL * np.array([[0.0, 0.0], [1.0, 0.0], [-0.5, 0.6]])
    data = RankingData.from_arrays(X, [0, 1, 1], [0, 0, 0])
    return Stream("stalled", 0, data, np.zeros(T, np.int64), True, SMALL / math.sqrt(7.25))


def opposed(m: int) -> tuple[RankingData, Floats]:
    """A list of m documents, of which one is irrelevant, and a comparator u without loss.

    The irrelevant document, the first one, is at 0; m - 2 relevant ones are at (1, d) and the last one at (-1, d), with
    d = SLOPE. All scores of relevant documents by u = (0, 1/d) are 1. The perceptron has to learn u against the weight
    of the m - 2 documents, which pull w towards (1, 0), where the last document is below the irrelevant one.
    """
    X = np.array([[0.0, 0.0], *[[1.0, SLOPE]] * (m - 2), [-1.0, SLOPE]])
    return RankingData.from_arrays(X, [0, *[1] * (m - 1)], [0] * m), np.array([0.0, 1.0 / SLOPE])


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
    return ranking_losses.losses(measure, scores, data.y, data.offsets)


def largest_losses(data: RankingData, measure: str) -> Floats:
    """The loss of every query when its documents are ranked by falling label reversed: no order loses more."""
    return losses(-data.y.astype(np.float64), data, measure)
