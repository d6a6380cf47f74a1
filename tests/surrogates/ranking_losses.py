"""Which queries do the tests of surrogates draw, and what are NDCG and AP of one query by their definitions?"""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


def order(scores):
    """Documents from the top rank down; equal scores in document order."""
    return sorted(range(len(scores)), key=lambda i: (-scores[i], i))


def one_minus_ndcg(scores, y, k=None):
    k = len(y) if k is None else k
    dcg = sum((2.0 ** y[i] - 1) / np.log2(rank + 2) for rank, i in enumerate(order(scores)[:k]))
    ideal = sum((2.0**label - 1) / np.log2(rank + 2) for rank, label in enumerate(sorted(y, reverse=True)[:k]))
    return 1 - dcg / ideal if ideal > 0 else 0.0


def one_minus_ap(scores, y):
    hits, total = 0, 0.0
    for rank, i in enumerate(order(scores), start=1):
        if y[i] >= 1:
            hits += 1
            total += hits / rank
    return 1 - total / hits if hits else 0.0


def label_vectors(m, y_max):
    return [list(y) for y in itertools.product(range(y_max + 1), repeat=m)]


def rising_label_vectors(m, y_max):
    return [np.array(y, np.int32) for y in itertools.combinations_with_replacement(range(y_max + 1), m)]


def stacked(queries):
    """(scores, y, offsets) of a list of (scores, y)."""
    offsets = np.cumsum([0] + [len(y) for _, y in queries])
    return np.concatenate([s for s, _ in queries]).astype(float), np.concatenate([y for _, y in queries]), offsets


def ranking_loss(name, s, y):
    """That the large-margin surrogate of this name bounds."""
    return one_minus_ndcg(s, y) if name == "structured-ndcg" else one_minus_ap(s, y)


def compared(name, y):
    """Labels as the surrogate takes them."""
    return np.minimum(y, 1) if name == "svm-map" else np.asarray(y)


def features(name, order, y):
    """A(pi) or Psi(pi) of the ranking that lists the documents in this order."""
    m = len(y)
    rank = np.empty(m, int)
    rank[list(order)] = np.arange(1, m + 1)
    if name == "structured-ndcg":
        return (m - rank).astype(float)
    above = np.sign(rank[None, :] - rank[:, None])  # [i, j] = 1 where i stands above j
    pairs = np.outer(y >= 1, y == 0) * above
    return (pairs.sum(axis=1) - pairs.sum(axis=0)) / np.outer(y >= 1, y == 0).sum()


def margins(name, y):
    """(loss, slope) of every ranking: the affine functions of s whose maximum the surrogate is."""
    m = len(y)
    ideal = features(name, sorted(range(m), key=lambda i: (-compared(name, y)[i], i)), y)
    rows = []
    for order in itertools.permutations(range(m)):
        place = np.empty(m)
        place[list(order)] = -np.arange(m)
        rows.append((ranking_loss(name, place, y), features(name, order, y) - ideal))
    return np.array([loss for loss, _ in rows]), np.array([slope for _, slope in rows])


@st.composite
def queries(draw, max_m=8, y_max=3):
    """Scores and labels of one query: ties, scores near the labels' order or against it, and large gaps among them."""
    m = draw(st.integers(1, max_m))
    y = draw(hnp.arrays(np.int64, m, elements=st.integers(0, y_max)))
    ties = hnp.arrays(np.float64, m, elements=st.integers(-2, 2).map(float))
    spread = hnp.arrays(np.float64, m, elements=st.floats(-3, 3, width=32))
    s = draw(st.one_of(ties, spread)) * draw(st.sampled_from([1e-6, 0.01, 1.0, 1e4]))
    return s + draw(st.sampled_from([0.0, 0.0, -1.0, 1e-3, 1.0])) * y, y


def some_queries(rng, n_queries=6, largest=12, levels=4, spread=1.0):
    """(scores, y, offsets) of queries that are drawn."""
    sizes = rng.integers(1, largest + 1, n_queries)
    offsets = np.r_[0, np.cumsum(sizes)].astype(np.int64)
    return spread * rng.normal(size=offsets[-1]), rng.integers(0, levels, offsets[-1]).astype(np.int32), offsets


@st.composite
def several_queries(draw, largest=(1, 3, 12, 60), levels=(1, 2, 5, 200), spreads=(1e-3, 1.0, 30.0, 1e4)):
    """(scores, y, offsets) of queries short and long, with few labels or many, and scores close or far apart."""
    return some_queries(
        np.random.default_rng(draw(st.integers(0, 2**32))),
        n_queries=draw(st.integers(1, 5)),
        largest=draw(st.sampled_from(largest)),
        levels=draw(st.sampled_from(levels)),
        spread=draw(st.sampled_from(spreads)),
    )
