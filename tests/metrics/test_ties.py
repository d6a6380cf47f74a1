"""Are the means and the ranges over all orders that equal scores allow those of an enumeration of these orders?"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_lib import metrics, ranking
from pipeline_lib.core.errors import DataError

NAMES = [name.replace("@K", f"@{k}") for name in metrics.NAMES for k in ((1, 2, 4, 20) if "@K" in name else (1,))]
"""Every measure that has a name, of every module of the package."""
Y_MAX = 4

documents = st.tuples(st.sampled_from([-1.5, -0.0, 0.0, 1.0]), st.integers(0, Y_MAX))
tied_queries = st.lists(documents, min_size=1, max_size=6)
query_lists = st.lists(tied_queries, min_size=1, max_size=4)


def stacked(queries):
    scores = np.array([score for query in queries for score, _ in query])
    y = np.array([label for query in queries for _, label in query])
    return scores, y, np.cumsum([0, *map(len, queries)])


def orders(query):
    """The labels of one query in every order that its scores allow, each order of documents once."""
    by_score = {}
    for score, label in query:
        by_score.setdefault(score + 0.0, []).append(label)
    groups = [by_score[score] for score in sorted(by_score, reverse=True)]
    return [list(itertools.chain(*order)) for order in itertools.product(*map(itertools.permutations, groups))]


def in_every_order(names, query, **settings):
    """The values of measures in every order, by the measures that know no ties."""
    labels = np.array(orders(query))
    falling = np.tile(-np.arange(len(query), dtype=float), len(labels))
    offsets = np.arange(0, labels.size + 1, len(query))
    return metrics.per_query(names, falling, labels.ravel(), offsets, Y_MAX, **settings)


@settings(max_examples=150)
@given(query_lists, st.sampled_from([0.0, 1.0]), st.integers(1, Y_MAX))
def test_mean_best_and_worst_are_those_of_all_orders(queries, no_relevant, relevant_from):
    how = {"no_relevant": no_relevant, "relevant_from": relevant_from}
    found = {
        ties: metrics.per_query(NAMES, *stacked(queries), Y_MAX, ties=ties, **how) for ties in ("mean", "best", "worst")
    }
    for q, query in enumerate(queries):
        for name, values in in_every_order(NAMES, query, **how).items():
            expected = {"mean": math.fsum(values) / len(values), "best": max(values), "worst": min(values)}
            for ties, value in expected.items():
                assert found[ties][name][q] == pytest.approx(value, rel=1e-13, abs=1e-15), (name, ties, query)


@settings(max_examples=100)
@given(query_lists, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_decides_nothing(queries, random):
    shuffled = [random.sample(query, len(query)) for query in queries]
    for ties in ("mean", "best", "worst"):
        values = metrics.per_query(NAMES, *stacked(queries), Y_MAX, ties=ties)
        others = metrics.per_query(NAMES, *stacked(shuffled), Y_MAX, ties=ties)
        for name in NAMES:
            np.testing.assert_allclose(others[name], values[name], rtol=1e-14, atol=1e-16, err_msg=name)


@given(st.lists(st.lists(st.integers(0, Y_MAX), min_size=1, max_size=12), min_size=1, max_size=4))
def test_without_equal_scores_all_are_the_same_to_the_last_bit(labels):
    queries = [[(float(rank), label) for rank, label in enumerate(query)] for query in labels]
    expected = metrics.per_query(NAMES, *stacked(queries), Y_MAX)
    for ties in ("mean", "best", "worst"):
        found = metrics.per_query(NAMES, *stacked(queries), Y_MAX, ties=ties)
        for name in NAMES:
            np.testing.assert_array_equal(found[name], expected[name], err_msg=f"{name} {ties}")


@given(st.lists(st.integers(0, 255), min_size=1, max_size=9))
def test_an_order_in_which_only_equal_labels_tie_is_ideal(labels):
    # Scores that are the labels: every order of equal ones is ideal, and NDCG is 1 in each.
    for name in ("ndcg", "ndcg@3", "linear_ndcg"):
        values = metrics.per_query([name], np.array(labels, float), labels, [0, len(labels)], ties="mean")
        assert values[name].tolist() == [float(max(labels) > 0)]


@settings(max_examples=100)
@given(query_lists, st.integers(1, 7))
def test_linear_ndcg_is_that_of_scikit_learn(queries, k):
    sklearn_metrics = pytest.importorskip("sklearn.metrics")
    scores, y, offsets = stacked(queries)
    for name, cutoff in (("linear_ndcg", None), (f"linear_ndcg@{k}", k)):
        found = metrics.per_query([name], scores, y, offsets, ties="mean")[name]
        for q in np.flatnonzero(np.diff(offsets) > 1):  # scikit-learn refuses single documents
            rows = slice(offsets[q], offsets[q + 1])
            expected = sklearn_metrics.ndcg_score(y[None, rows], scores[None, rows], k=cutoff)
            assert found[q] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("relevant_share", [0.01, 0.5, 1.0])
@pytest.mark.parametrize("distinct_scores", [1, 3, 10**9])
def test_counting_and_sorting_find_the_same_groups(relevant_share, distinct_scores):
    # 2,000 documents: with few relevant ones ranks are counted, with many they are sorted.
    rng = np.random.default_rng(5)
    scores = rng.integers(0, distinct_scores, 2000).astype(float)
    y = (rng.random(2000) < relevant_share) * rng.integers(1, 5, 2000)
    labels, groups = ranking.tie_groups(scores, y.astype(np.uint8), np.array([0, 2000]))
    order = np.argsort(-scores, kind="stable")
    np.testing.assert_array_equal(labels, y[order])
    assert (groups[0], groups[-1]) == (0, 2000)
    assert (np.diff(groups) > 0).all()
    ends, falling = np.isin(np.arange(1, 2000), groups), scores[order]
    relevant = np.isin(falling, falling[y[order] > 0])  # ranks whose score a relevant document has
    assert not (ends & (falling[1:] == falling[:-1]))[relevant[1:]].any()
    assert ends[(falling[1:] != falling[:-1]) & (relevant[1:] | relevant[:-1])].all()


def test_long_lists_of_equal_scores_keep_precision():
    # The mean of P@k is k times the share of relevant documents, that of RR sums hypergeometric terms.
    m, r = 3000, 700
    y = np.r_[np.ones(r, int), np.zeros(m - r, int)]
    found = metrics.per_query(["p@10", "recall@30", "rr", "err", "map"], np.zeros(m), y, [0, m], 1, ties="mean")
    assert found["p@10"] == pytest.approx(r / m, rel=1e-14)
    assert found["recall@30"] == pytest.approx(30 / m, rel=1e-14)
    rr, none_before = 0.0, 1.0
    for j in range(1, m - r + 2):
        rr += none_before * r / (m - j + 1) / j
        none_before *= 1.0 - r / (m - j + 1)
    assert found["rr"] == pytest.approx(rr, rel=1e-12)
    # A reader who stops at a relevant document with probability 1/2: i of the first j - 1 are relevant.
    from scipy.stats import hypergeom

    err = math.fsum(
        (0.5 ** np.arange(j) * hypergeom.pmf(np.arange(j), m, r, j - 1) * (r - np.arange(j)).clip(0)).sum()
        / (2 * (m - j + 1) * j)
        for j in range(1, 200)
    )
    assert found["err"] == pytest.approx(err, rel=1e-9)
    assert found["map"] == pytest.approx(
        sum((1 + (j - 1) * (r - 1) / (m - 1)) / j for j in range(1, m + 1)) / m, rel=1e-12
    )


def test_a_ranker_of_equal_scores_is_not_perfect_where_rows_stand_best_first():
    y, offsets = [2, 1, 0, 2, 0, 0], [0, 3, 6]
    assert metrics.ndcg(np.zeros(6), y, offsets).tolist() == [1.0, 1.0]
    mean = metrics.ndcg(np.zeros(6), y, offsets, ties="mean")
    assert (mean < 0.8).all()
    np.testing.assert_allclose(metrics.ndcg(np.zeros(6), y[::-1], offsets, ties="mean"), mean[::-1])


def test_documents_are_relevant_from_the_label_that_is_said():
    scores, y, offsets = [3.0, 2.0, 1.0], [1, 3, 2], [0, 3]
    assert metrics.average_precision(scores, y, offsets, relevant_from=2) == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert metrics.precision(scores, y, offsets, 2, relevant_from=3) == 0.5
    assert metrics.recall(scores, y, offsets, 2, relevant_from=2) == 0.5
    assert metrics.reciprocal_rank(scores, y, offsets, relevant_from=2) == 0.5
    graded = ["ndcg", "err", "letor4_mean_ndcg"]
    expected = metrics.per_query(graded, scores, y, offsets, 3)
    assert metrics.per_query(graded, scores, y, offsets, 3, relevant_from=3) == expected
    assert metrics.average_precision(scores, y, offsets, relevant_from=4, no_relevant=1.0).tolist() == [1.0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"ties": "average"}, "ties: expected one of file, mean, best, worst"), ({"relevant_from": 0}, "relevant_from")],
)
def test_bad_settings_are_rejected(settings, message):
    with pytest.raises(DataError, match=message):
        metrics.average_precision([0.0], [1], [0, 1], **settings)
