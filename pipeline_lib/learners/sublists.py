"""How are long lists of documents cut into short ones, on which a listwise loss is easier to learn from?

SLAM compares every document with the best of all less relevant ones, and on long lists that is too much to ask of any
linear ranker: the risk is then smallest at w = 0 (docs/weights-of-slam.md). On lists that are cut at random into parts
of a few documents it is not. A ranker that is trained on the parts scores documents of whole lists as usual; what is
lost is that the training loss bounds the ranking loss of the whole list.
"""

from dataclasses import replace

import numpy as np

from pipeline_lib.core.checks import Count, checked
from pipeline_lib.data.ranking_data import RankingData


@checked
def cut(data: RankingData, m: Count, rng: np.random.Generator) -> RankingData:
    """Divide every query at random into lists of about ``m`` documents, each of which is a query with the same name
    and weight.

    A query of n documents becomes n // m lists (at least one) whose lengths differ by at most one. No
    document is lost, and documents keep their order within a list.

    Raises
    ------
    DataError
        When ``m`` is less than 1.

    Example
    -------
    >>> data = RankingData.from_arrays(np.zeros((5, 1)), [0, 1, 0, 1, 2], [1, 1, 1, 1, 2])
    >>> cut(data, 2, np.random.default_rng(0)).documents_per_query
    array([2, 2, 1])
    """
    sizes = data.documents_per_query
    query = np.repeat(np.arange(data.n_queries), sizes)
    lists = np.maximum(sizes // m, 1)
    place = np.empty(data.n_documents, np.int64)
    place[np.lexsort((rng.random(data.n_documents), query))] = np.arange(data.n_documents)
    number = (place - data.offsets[query]) % lists[query] + np.r_[0, np.cumsum(lists)][query]
    rows = np.argsort(number, kind="stable")
    offsets = np.r_[0, np.cumsum(np.bincount(number))].astype(np.int64)
    parents = np.repeat(np.arange(data.n_queries), lists)
    names = None if data.query_names is None else tuple(data.query_names[q] for q in parents)
    weights = None if data.weights is None else data.weights[parents]
    queries = {"qids": data.qids[parents], "query_names": names, "weights": weights}
    return replace(data, X=data.X[rows], y=data.y[rows], offsets=offsets, **queries)  # type: ignore[arg-type]
