"""How large may the perceptron's cumulative ranking loss be, according to the best comparator?

`slam`, Theorem 5: with the step 1/C, over the rounds of a run of Algorithm 1 and for every u,

    sum_t RML_t <= 2 sum_t f_t(u) + C ||u||^2,     C = 4 m R_X^2 v_max,                                 (17), (18)

where f_t is SLAM's loss on rounds with a mistake and 0 on others. The right side is convex in u, so its minimum is
found by a certified solve. Corollary 6: if a unit u has <u, x_i - x_j> >= gamma for all pairs y_i > y_j of a query,
then u / gamma has no loss, and sum_t RML_t <= C / gamma^2 for every T. Corollary 7: min(k, m) for m with NDCG@k.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import MAX_LABEL, Positive, checked
from pipeline_lib.core.compiled import njit
from pipeline_lib.core.errors import DataError
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import bundle, erm, rounds
from pipeline_lib.learners.perceptron import Run, norm_factor
from pipeline_lib.learners.problem import Problem
from pipeline_lib.ranking import best_below
from pipeline_lib.surrogates import slam
from pipeline_lib.surrogates.base import Surrogate


@dataclass(frozen=True, eq=False)
class RightSide:
    """The right side of Theorem 5 at the comparator that minimises it.

    Attributes
    ----------
    u : float64, shape (d,)
        The comparator.
    comparator_loss : float
        sum_t f_t(u).
    factor : float
        C, the factor of ||u||^2.
    bound : float
        2 comparator_loss + C ||u||^2: valid whether or not the solve was certified.
    gap : float
        An upper bound on what another u could gain.
    certified : bool
        Whether the gap is at most ``tol`` times the bound.
    """

    u: Floats
    comparator_loss: float
    factor: float
    bound: float
    gap: float
    certified: bool


@checked
def ratios(data: RankingData, order: ArrayLike, result: Run, measure: str = "ndcg") -> Floats:
    """||z_t||^2 / (4 m R_X^2 v_max^t f_t(w_t)) of every round with a mistake: at most 1 by (16).

    m is the length of the longest list and R_X the largest norm of a document in the rounds, v_max^t that of the
    round's own query; for NDCG@k, min(k, m) takes the place of m. A round whose subgradient is 0 has the ratio 0.

    Parameters
    ----------
    data, order, measure
        The arguments of the run that gave ``result``.

    Returns
    -------
    float64, shape (number of mistakes,)

    Raises
    ------
    DataError
        When the order names a query that does not exist, or is not as long as the run.

    Example
    -------
    >>> from pipeline_lib.learners import perceptron
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [7, 7])
    >>> ratios(data, [0, 0], perceptron.run(data, [0, 0])).round(3).tolist()
    [0.046]
    """
    queries = rounds.of_order(data, order)
    if len(queries) != len(result.mistakes):
        raise DataError(f"order: expected the {len(result.mistakes)} rounds of the run, found {len(queries)}")
    mistaken = queries[result.mistakes]
    if not len(mistaken):
        return np.zeros(0)
    factor = norm_factor(data, queries, measure)
    v_max = slam.v_max_of_all(data.labels_for(binary=measure == "map"), data.offsets, measure)
    # norm_factor has the largest v_max of the rounds; (16) that of the round.
    right = factor * v_max[mistaken] / v_max[queries].max() * result.surrogate_losses[result.mistakes]
    left = result.squared_norms[result.mistakes]
    return np.divide(left, right, out=np.zeros_like(left), where=left > 0.0)


@checked
def right_side(
    data: RankingData, mistaken: ArrayLike, factor: Positive, measure: str = "ndcg", tol: float = 1e-4
) -> RightSide:
    """Minimise 2 sum_t f_t(u) + C ||u||^2 over u, f_t being SLAM's loss on the queries ``mistaken``.

    With k mistakes it is 2 k times the regularised mean loss with l2 = C / k, every query weighted by the number of its
    mistakes.

    Parameters
    ----------
    data : RankingData
    mistaken : integers, shape (k,)
        The queries of the rounds with a mistake, by position, repeats included.
    factor : float > 0
        C: :func:`pipeline_lib.learners.perceptron.norm_factor`.
    measure : "ndcg", "map" or "ndcg@K"
    tol : float > 0
        The required relative gap.

    Raises
    ------
    DataError
        When a query does not exist or the factor is not positive and finite (with at least one mistake).

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [7, 7])
    >>> side = right_side(data, [0], norm_factor(data))
    >>> round(side.bound, 4), side.certified
    (0.7211, True)
    """
    slam.cutoff(measure, "measure")
    queries = checks.query_indices("mistaken", mistaken, data.n_queries)
    if not len(queries):
        return RightSide(np.zeros(data.n_features), 0.0, factor, 0.0, 0.0, True)
    counts = np.bincount(queries, minlength=data.n_queries)
    # MAP only distinguishes relevant from irrelevant; its surrogate expects no other labels.
    labelled = data.with_binary_labels() if measure == "map" else data
    fit = erm.fit(labelled, f"slam-{measure}", l2=factor / len(queries), weights=counts, tol=tol)
    scale = 2.0 * len(queries)
    bound = scale * fit.objective
    loss = 0.5 * (bound - factor * float(fit.w @ fit.w))
    return RightSide(fit.w, loss, factor, bound, scale * fit.gap, fit.certified)


@dataclass(frozen=True, eq=False)
class Margin:
    """The largest margin of a unit vector ``u``: ``gamma``, which is at most ``gap`` below the supremum."""

    u: Floats
    gamma: float
    gap: float


@checked
def largest_margin(data: RankingData, measure: str = "ndcg", tol: float = 1e-3) -> Margin:
    """Maximise over ||u||_2 <= 1 the smallest <u, x_i - x_j> over pairs y_i > y_j of a query (Corollary 6).

    For MAP, labels count as 0 and 1.

    It is the minimum of a convex function, the largest violation, and is found by cutting planes with a certified gap.

    Returns
    -------
    Margin
        With gamma <= 0 when no linear ranker separates the data; then u is 0 or meaningless.

    Raises
    ------
    DataError
        When no query has two different labels.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0, 1.0], [3.0, 5.0]], [0, 1], [7, 7])
    >>> round(largest_margin(data).gamma, 3)
    5.0
    """
    labels = (data.with_binary_labels() if measure == "map" else data).y.astype(np.int32)
    if not (np.maximum.reduceat(labels, data.offsets[:-1]) > np.minimum.reduceat(labels, data.offsets[:-1])).any():
        raise DataError("data: expected a query with two different labels, found none")
    problem = Problem(data.X64, labels, data.offsets, _LargestViolation(), 0.0, 1.0)
    solution = bundle.minimise(problem, np.zeros(data.n_features), tol)
    violation, _ = problem.loss(data.X64 @ solution.w)
    return Margin(solution.w, -violation, solution.gap)


class _LargestViolation(Surrogate):
    """max over queries and pairs y_i > y_j of s_j - s_i: one number for all queries together."""

    name = "largest-violation"

    def unchecked(self, scores: Floats, y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[Floats, Floats]:
        i, j = _worst_pair(scores, y, offsets)
        gradient = np.zeros(len(scores))
        gradient[j], gradient[i] = 1.0, -1.0
        return np.array([scores[j] - scores[i]]), gradient


@njit
def _worst_pair(s, y, offsets):  # type: ignore[no-untyped-def]
    # argmax of s_j - s_i over pairs y_i > y_j of a query
    best = np.full(MAX_LABEL + 2, -1, np.int64)
    worst, largest = (0, 0), -np.inf
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        top = best_below(s[begin:end], y[begin:end], best)
        for i in range(begin, end):
            j = begin + best[y[i]]
            if j >= begin and s[j] - s[i] > largest:
                worst, largest = (i, j), s[j] - s[i]
        best[: top + 2] = -1
    return worst
