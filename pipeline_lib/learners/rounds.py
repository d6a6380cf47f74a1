"""Which query does an online learner process in which round?"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks
from pipeline_lib.core.checks import Count, Natural, Seed, checked
from pipeline_lib.core.errors import DataError, UnlearnableError
from pipeline_lib.core.seeds import generator
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners.ranker import axes_of


@checked
def of_order(data: RankingData, order: ArrayLike | None) -> NDArray[np.int64]:
    """The queries of ``order`` by position, shape (T,); without an order, every query once, in the order of the data.

    Raises
    ------
    DataError
        When the order is not a list of whole numbers or names a query that does not exist, or queries have weights.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [7, 8])
    >>> of_order(data, None).tolist(), of_order(data, [1, 1, 0]).tolist()
    ([0, 1], [1, 1, 0])
    """
    _check_unweighted(data)
    if order is None:
        return np.arange(data.n_queries)
    return checks.query_indices("order", order, data.n_queries)


@checked
def random_passes(n_queries: Natural, passes: Count, seed: Seed) -> NDArray[np.int64]:
    """Every query once per pass, in a new random order each time, shape (passes * n_queries,).

    Example
    -------
    >>> sorted(random_passes(3, 2, 7)[:3].tolist())
    [0, 1, 2]
    """
    rng = generator(*axes_of(seed), "order")
    return np.concatenate([rng.permutation(n_queries) for _ in range(passes)])


@checked
def of_game(data: RankingData, T: Count, order: ArrayLike | None, seed: Seed) -> NDArray[np.int64]:
    """The queries of T rounds by position, shape (T,): those of ``order``, or random passes cut off after T rounds.

    Raises
    ------
    DataError
        When T is not a whole number >= 1, the order has another length, or there are no queries; as :func:`of_order`.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [7, 8])
    >>> of_game(data, 3, [1, 1, 0], 5).tolist(), sorted(of_game(data, 2, None, 5).tolist())
    ([1, 1, 0], [0, 1])
    """
    _check_unweighted(data)
    if not data.n_queries:
        raise UnlearnableError("data: expected at least one query to play with, found none")
    if order is None:
        return random_passes(data.n_queries, -(-int(T) // data.n_queries), seed)[:T]
    queries = of_order(data, order)
    if len(queries) != T:
        raise DataError(f"order: expected one query for each of {T} rounds, found {len(queries)}")
    return queries


def _check_unweighted(data: RankingData) -> None:
    if not data.count_alike:
        raise UnlearnableError(
            "data: expected queries without weights, as every round counts alike, found some; leave the weights out "
            "(`dataclasses.replace(data, weights=None)`) and name queries several times in `order`, or use a learner "
            "that takes weights, such as erm"
        )
