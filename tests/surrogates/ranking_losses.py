"""Which queries do the tests of surrogates draw, and what are losses of one query by their definitions?"""

import itertools
import math

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


def listwise_loss(measure, s, y):
    """1 - AP, 1 - NDCG or 1 - NDCG@k; exactly 0 for a best ranking, and where it is undefined."""
    return one_minus_ap(s, y) if measure == "map" else one_minus_ndcg(s, y, int(measure[5:] or len(y)))


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
    return np.minimum(y, 1) if name.endswith("map") else np.asarray(y)


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


def discounts(m):
    return 1.0 / np.log2(np.arange(2, m + 2))


def printed_weights(y, kind, weights="printed"):
    """(6), (9) and (31) of `slam`, and the valid weights of the smallest sum, for labels that fall."""
    m, G, D = len(y), 2.0 ** np.asarray(y, float) - 1.0, discounts(len(y))
    if kind == "map":
        r = sum(label >= 1 for label in y)
        return [1 / r - i / (r * (m - r + i)) if i <= r else 0.0 for i in range(1, m + 1)]
    k = min(int(kind[5:]), m) if "@" in kind else m
    Z = G[:k] @ D[:k]
    if Z == 0.0:
        return np.zeros(m)
    if weights == "tight":
        v = np.zeros(m)
        for threshold in range(1, max(y) + 1):
            r = sum(label >= threshold for label in y)
            v[:r] += 2.0 ** (threshold - 1) * (D[:r] - D[m - r :])
        return v / Z
    return (G - G[-1]) * (D - D[-1]) / Z if "@" not in kind else np.where(np.arange(m) < k, G * D / Z, 0.0)


def in_own_order(y, v):
    """What is given for labels that fall, in the documents' own order; equal labels in document order."""
    own = np.empty(len(y))
    own[sorted(range(len(y)), key=lambda i: (-y[i], i))] = v
    return own


def phi(loss, s, y):
    """One query's loss by the formula of its class; None for a class of which it is not written out here."""
    name, m, e = loss.name, len(y), np.exp(s - s.max())
    pairs, apart = y[:, None] > y[None, :], s[None, :] - s[:, None]  # of i above j, and s_j - s_i
    gains = 2.0**y - 1.0
    ideal = np.sort(gains)[::-1] @ discounts(m)
    if name in ("squared", "squared-ndcg"):
        return np.sum((s - (y if name == "squared" else gains / (ideal or 1.0))) ** 2)
    if name == "kl":
        return np.sum(np.exp(y.astype(float)) * (y - s) - np.exp(y.astype(float)) + np.exp(s))
    if name == "listnet":
        target = np.exp(y - y.max())
        return -(target / target.sum()) @ (s - s.max() - math.log(e.sum()))
    if name == "listmle":
        return sum(np.logaddexp.reduce(s[y <= y[i]]) - s[i] for i in range(m))
    if name == "smooth-dcg":
        soft, best = np.average(gains, weights=np.exp((s - s.max()) / loss.sigma)), gains.max()
        return {"as-printed": soft, "ascent": -soft, "regret": best - soft}[loss.sign]
    if name in ("ranksvm", "ranknet", "rankboost"):
        losses = {
            "ranksvm": lambda: np.maximum(0.0, loss.margin + apart[pairs]),
            "ranknet": lambda: np.logaddexp(0.0, apart[pairs]),
            "rankboost": lambda: np.exp(apart[pairs]),
        }[name]().sum()
        return losses / max({"sum": 1, "mean": pairs.sum(), "all-pairs": m * (m - 1) / 2}[loss.normalisation], 1)
    if name in ("structured-ndcg", "svm-map"):
        alone = len(set(compared(name, y).tolist())) == 1
        return 0.0 if alone else max(loss + slope @ s for loss, slope in zip(*margins(name, y), strict=True))
    if not name.startswith("slam-"):
        return None
    labels = np.minimum(y, 1) if loss.kind == "map" else y
    falling, kind = sorted(labels.tolist(), reverse=True), getattr(loss, "weights", "printed")
    v = in_own_order(labels, printed_weights(falling, loss.kind, kind))
    best = [np.max(s[labels < labels[i]], initial=-np.inf) for i in range(m)]
    return v @ np.maximum(0.0, loss.margin + np.array(best) - s)


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
