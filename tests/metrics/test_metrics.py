"""Do the measures equal their definitions, written out in plain Python?"""

import itertools
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_lib import RankingData, learners, metrics
from pipeline_lib.core.errors import ConfigurationError, DataError

# --- the definitions, one query at a time -------------------------------------------------------------------------


def ranked(scores, y):
    return [y[i] for i in sorted(range(len(y)), key=lambda i: (-scores[i], i))]


def dcg(labels, k, discount):
    return sum((2**label - 1) * discount(rank) for rank, label in enumerate(labels[:k], 1))


def standard_discount(rank):
    return 1 / math.log2(rank + 1)


def letor4_discount(rank):
    return 1.0 if rank <= 2 else 1 / math.log2(rank)


def plain_linear_ndcg(scores, y, k=None):
    k = len(y) if k is None else k

    def of(labels):
        return sum(label * standard_discount(rank) for rank, label in enumerate(labels[:k], 1))

    return of(ranked(scores, y)) / of(sorted(y, reverse=True)) if any(y) else 0.0


def plain_recall(scores, y, k):
    relevant = sum(label >= 1 for label in y)
    return sum(label >= 1 for label in ranked(scores, y)[:k]) / relevant if relevant else 0.0


def plain_rr(scores, y, k=None):
    return next((1 / rank for rank, label in enumerate(ranked(scores, y)[:k], 1) if label >= 1), 0.0)


def plain_ndcg(scores, y, k=None, discount=standard_discount):
    k = len(y) if k is None else k
    ideal = dcg(sorted(y, reverse=True), k, discount)
    return dcg(ranked(scores, y), k, discount) / ideal if ideal else 0.0


def plain_ap(scores, y):
    hits = [rank for rank, label in enumerate(ranked(scores, y), 1) if label >= 1]
    return sum(n / rank for n, rank in enumerate(hits, 1)) / len(hits) if hits else 0.0


def plain_precision(scores, y, k):
    return sum(label >= 1 for label in ranked(scores, y)[:k]) / k


def plain_err(scores, y, y_max, k=None):
    total, reading = 0.0, 1.0
    for rank, label in enumerate(ranked(scores, y)[:k], 1):
        stop = (2**label - 1) / 2**y_max
        total += reading * stop / rank
        reading *= 1 - stop
    return total


def plain_letor4(scores, y):
    def at(k):
        return plain_ndcg(scores, y, k, letor4_discount)

    table = {f"ndcg@{k}": at(k) if k <= len(y) else 0.0 for k in range(1, 11)}
    table["mean_ndcg"] = sum(at(k) for k in range(1, len(y) + 1)) / len(y)
    table |= {f"p@{k}": plain_precision(scores, y, k) for k in range(1, 11)}
    table["map"] = plain_ap(scores, y)
    return table


# Scores from a small grid make ties frequent; lists longer than 10 pass the LETOR cutoffs.
query = st.integers(1, 14).flatmap(
    lambda m: st.tuples(
        st.lists(st.sampled_from([-1.5, -0.0, 0.0, 0.25, 1.0, 1e300]), min_size=m, max_size=m),
        st.lists(st.integers(0, 4), min_size=m, max_size=m),
    )
)
query_lists = st.lists(query, min_size=1, max_size=5)


def stacked(queries):
    scores = np.array([s for q in queries for s in q[0]])
    y = np.array([label for q in queries for label in q[1]])
    return scores, y, np.cumsum([0] + [len(q[1]) for q in queries])


# --- definitions --------------------------------------------------------------------------------------------------


@settings(max_examples=200)
@given(query_lists, st.integers(1, 15))
def test_measures_equal_their_definitions(queries, k):
    scores, y, offsets = stacked(queries)
    expected = {
        "ndcg": [plain_ndcg(s, t) for s, t in queries],
        f"ndcg@{k}": [plain_ndcg(s, t, k) for s, t in queries],
        "linear_ndcg": [plain_linear_ndcg(s, t) for s, t in queries],
        f"linear_ndcg@{k}": [plain_linear_ndcg(s, t, k) for s, t in queries],
        "map": [plain_ap(s, t) for s, t in queries],
        f"p@{k}": [plain_precision(s, t, k) for s, t in queries],
        f"recall@{k}": [plain_recall(s, t, k) for s, t in queries],
        "recall@999999999": [float(any(t)) for s, t in queries],
        "rr": [plain_rr(s, t) for s, t in queries],
        f"rr@{k}": [plain_rr(s, t, k) for s, t in queries],
        "err": [plain_err(s, t, 4) for s, t in queries],
        f"err@{k}": [plain_err(s, t, 4, k) for s, t in queries],
        f"letor4_ndcg@{k}": [plain_ndcg(s, t, k, letor4_discount) if k <= len(t) else 0.0 for s, t in queries],
        "letor4_mean_ndcg": [plain_letor4(s, t)["mean_ndcg"] for s, t in queries],
    }
    found = metrics.per_query(list(expected), scores, y, offsets, y_max=4)
    assert list(found) == list(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-12, atol=1e-15, err_msg=name)
    functions = {
        f"linear_ndcg@{k}": metrics.linear_ndcg(scores, y, offsets, k),
        f"recall@{k}": metrics.recall(scores, y, offsets, k),
        "rr": metrics.reciprocal_rank(scores, y, offsets),
        f"rr@{k}": metrics.reciprocal_rank(scores, y, offsets, k),
        f"err@{k}": metrics.expected_reciprocal_rank(scores, y, offsets, 4, k),
    }
    for name, values in functions.items():
        np.testing.assert_array_equal(values, found[name], err_msg=name)


@given(query_lists)
def test_letor4_equals_its_description(queries):
    found = metrics.letor4_per_query(*stacked(queries))
    expected = [plain_letor4(s, t) for s, t in queries]
    assert list(found) == list(expected[0])
    for name, values in found.items():
        np.testing.assert_allclose(values, [table[name] for table in expected], rtol=1e-12, atol=1e-15, err_msg=name)
    means = metrics.letor4(*stacked(queries))
    assert means == pytest.approx({name: np.mean([table[name] for table in expected]) for name in found})


def test_hand_worked_query():
    # Ranked by score the labels read 0, 2, 1, 0.
    scores, y, offsets = [0.1, 0.9, 0.5, 0.3], [0, 0, 2, 1], [0, 4]
    dcg_here, ideal = 3 / math.log2(3) + 1 / 2, 3 + 1 / math.log2(3)
    assert metrics.ndcg(scores, y, offsets) == pytest.approx(dcg_here / ideal)
    assert metrics.ndcg(scores, y, offsets, 2) == pytest.approx(3 / math.log2(3) / ideal)
    assert metrics.ndcg(scores, y, offsets, 1) == 0.0
    assert metrics.average_precision(scores, y, offsets) == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert metrics.precision(scores, y, offsets, 3) == pytest.approx(2 / 3)
    assert metrics.precision(scores, y, offsets, 8) == pytest.approx(2 / 8)
    # R = 0, 3/4, 1/4, 0 with y_max = 2.
    assert metrics.expected_reciprocal_rank(scores, y, offsets, 2) == pytest.approx(3 / 4 / 2 + 1 / 4 * 1 / 4 / 3)
    letor = metrics.letor4(scores, y, offsets)
    by_cutoff = [0, 3 / 4, (3 + 1 / math.log2(3)) / 4, (3 + 1 / math.log2(3)) / 4]
    assert [letor[f"ndcg@{k}"] for k in range(1, 6)] == pytest.approx([*by_cutoff, 0.0])
    assert letor["mean_ndcg"] == pytest.approx(sum(by_cutoff) / 4)
    assert letor["p@10"] == pytest.approx(2 / 10)


@pytest.mark.parametrize("name", ["rr", "rr@2", "recall@2", "linear_ndcg", "linear_ndcg@3"])
def test_settings_are_selected_by_them(name):
    rng = np.random.default_rng(0)
    X, y, qid = rng.normal(size=(60, 4)), rng.integers(0, 3, 60), np.repeat(np.arange(10), 6)
    data = RankingData.from_arrays(X, y, qid)
    values = [sign * data.X[:, j].astype(float) for j in range(4) for sign in (1, -1)]
    best = max(metrics.per_query([name], one, data.y, data.offsets)[name].mean() for one in values)
    assert learners.create("best-feature", selection=name).fit(data).record["value"] == best
    record = learners.create("ogd", surrogate="squared", step=[0.01, 1.0], passes=1, selection=name).fit(data).record
    assert record["validation"] == max(tried["validation"] for tried in record["tried"])


# --- properties ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("y", [[2], [0, 1], [2, 1, 0], [1, 1, 0], [3, 0, 2, 1], [4, 4, 1, 0, 0]])
def test_over_all_rankings_the_largest_value_is_one_and_reached_by_the_ideal_ranking(y):
    m = len(y)
    rankings = np.array(list(itertools.permutations(range(m))), float)
    offsets = np.arange(0, rankings.size + 1, m)
    labels = np.tile(y, len(rankings))
    ideal = np.array([all(a >= b for a, b in itertools.pairwise(ranked(s, y))) for s in rankings])
    binary = [min(label, 1) for label in y]
    binary_ideal = np.array([all(a >= b for a, b in itertools.pairwise(ranked(s, binary))) for s in rankings])
    for k in [None, *range(1, m + 1)]:
        values = metrics.ndcg(rankings.ravel(), labels, offsets, k)
        assert values.max() == 1.0
        assert (values[ideal] == 1.0).all()
    # Without a cutoff the discount falls strictly, so nothing but an ideal ranking reaches 1.
    np.testing.assert_array_equal(metrics.ndcg(rankings.ravel(), labels, offsets) == 1.0, ideal)
    np.testing.assert_array_equal(
        np.isclose(metrics.average_precision(rankings.ravel(), labels, offsets), 1.0, rtol=1e-14), binary_ideal
    )


@pytest.mark.parametrize("relevant_share", [0.01, 0.5, 1.0])
@pytest.mark.parametrize("distinct_scores", [3, 10**9])
def test_counting_and_sorting_rank_alike(relevant_share, distinct_scores):
    # 2,000 documents: with few relevant ones ranks are counted, with many they are sorted.
    rng = np.random.default_rng(5)
    scores = rng.integers(0, distinct_scores, 2000).astype(float)
    y = (rng.random(2000) < relevant_share) * rng.integers(1, 5, 2000)
    labels = metrics.kernels.labels_by_rank(scores, y.astype(np.uint8), np.array([0, 2000]))
    np.testing.assert_array_equal(labels, y[np.argsort(-scores, kind="stable")])


@settings(max_examples=60)
@given(query_lists)
def test_a_query_alone_gets_the_value_it_gets_among_others(queries):
    names = ["ndcg", "ndcg@5", "map", "err", "p@3", "letor4_ndcg@2", "letor4_mean_ndcg", "rr@3", "recall@3"]
    together = metrics.per_query(names, *stacked(queries), y_max=4)
    for q, one in enumerate(queries):
        alone = metrics.per_query(names, *stacked([one]), y_max=4)
        for name in names:
            assert alone[name][0] == together[name][q]


# --- edges --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("no_relevant", [0.0, 1.0, 0.5, "skip"])
def test_queries_without_a_relevant_document(no_relevant):
    scores, y, offsets = [1.0, 2.0, 3.0, 4.0, 5.0], [0, 0, 1, 0, 0], [0, 2, 4, 5]
    instead = math.nan if no_relevant == "skip" else no_relevant
    expected = [instead, plain_ndcg([3.0, 4.0], [1, 0]), instead]
    np.testing.assert_array_equal(metrics.ndcg(scores, y, offsets, no_relevant=no_relevant), expected)
    np.testing.assert_array_equal(metrics.ndcg(scores, y, offsets, 5, no_relevant=no_relevant), expected)
    expected[1] = 1 / 2
    np.testing.assert_array_equal(metrics.average_precision(scores, y, offsets, no_relevant=no_relevant), expected)
    table = metrics.per_query(["map", "p@1", "rr", "recall@2"], scores, y, offsets, no_relevant=no_relevant)
    np.testing.assert_array_equal(table["map"], expected)
    np.testing.assert_array_equal(table["p@1"], [0.0, 0.0, 0.0])
    np.testing.assert_array_equal(table["rr"], [0.0, 1 / 2, 0.0])
    np.testing.assert_array_equal(table["recall@2"], [instead, 1.0, instead])


def test_large_labels_do_not_overflow():
    assert metrics.ndcg([2.0, 1.0], [255, 254], [0, 2]) == 1.0


def test_no_query_gives_no_value_and_no_mean():
    empty = np.zeros(0)
    assert metrics.ndcg(empty, empty.astype(int), [0]).shape == (0,)
    assert metrics.average_precision(empty, empty.astype(int), [0], no_relevant=1.0).shape == (0,)
    with pytest.raises(DataError, match="at least one query"):
        metrics.letor4(empty, empty.astype(int), [0])


def test_narrow_read_only_and_strided_input_is_accepted_and_left_alone():
    scores = np.array([0.25, 9.0, 0.5, 9.0, 0.75, 9.0], np.float32)
    y = np.array([0, 1, 2], np.int8)
    offsets = np.array([0, 3], np.int32)
    for array in (scores, y, offsets):
        array.flags.writeable = False
    expected = plain_ndcg([0.25, 0.5, 0.75], [0, 1, 2])
    assert metrics.ndcg(scores[::2], y, offsets) == pytest.approx(expected)
    assert metrics.ndcg(scores[::2], y.astype(float), offsets.tolist()) == pytest.approx(expected)
    assert metrics.average_precision([1.0, 2.0], [True, False], [0, 2]) == 0.5


# --- errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "y", "offsets", "message"),
    [
        ([0.0, math.nan], [0, 1], [0, 2], r"scores\[1\]: .*found nan"),
        ([0.0, 1.0], [0, 1, 1], [0, 2], "y: .*2 scores, found 3"),
        ([[0.0, 1.0]], [[0, 1]], [0, 2], "scores:"),
        (np.ma.array([0.0, 1.0], mask=[True, False]), [0, 1], [0, 2], "scores:"),
        ([0.0, 1.0], np.ma.array([0, 1], mask=[True, False]), [0, 2], "y:"),
        ([0.0, 1.0], [0, 1], [0, 1], "offsets: .*rise strictly"),
        ([0.0, 1.0], [0, 1], [0, 2, 1, 2], "offsets: .*rise strictly"),
        ([0.0, 1.0], [0, 1], [], "offsets:"),
        ([0.0, 1.0], [0, -1], [0, 2], r"y\[1\]: .*0 to 255, found -1"),
        ([0.0, 1.0], [0, 0.5], [0, 2], r"y\[1\]:"),
        ([0.0, 1.0], ["a", "b"], [0, 2], "y:"),
    ],
)
def test_bad_input_is_rejected(scores, y, offsets, message):
    for measure in (metrics.ndcg, metrics.average_precision, metrics.letor4):
        with pytest.raises(DataError, match=message):
            measure(scores, y, offsets)


def test_labels_above_the_scale_and_a_missing_scale_are_rejected():
    with pytest.raises(DataError, match="at most y_max = 2, found 3"):
        metrics.expected_reciprocal_rank([0.0], [3], [0, 1], 2)
    with pytest.raises(DataError, match="err: expected y_max"):
        metrics.per_query(["err"], [0.0], [3], [0, 1])


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "3"])
def test_bad_cutoffs_are_rejected(k):
    with pytest.raises(DataError, match="k:"):
        metrics.ndcg([0.0], [1], [0, 1], k)


@pytest.mark.parametrize("no_relevant", ["drop", -0.1, 1.5, math.nan])
def test_bad_no_relevant_is_rejected(no_relevant):
    with pytest.raises(DataError, match="no_relevant"):
        metrics.ndcg([0.0], [1], [0, 1], no_relevant=no_relevant)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("ncdg@5", "ndcg@5"),
        ("ap@5", "map"),
        ("p", "p@10"),
        ("map@3", "map"),
        ("letor_mean_ndcg", "letor4_mean_ndcg"),
        ("mrr@05", "rr@5"),
        ("recip_rank", "rr"),
        ("rr@K", "rr@10"),
        ("recall", "recall@10"),
        ("precision@3", "p@3"),
        ("ndcg_linear@3", "linear_ndcg@3"),
        ("NDCG@010", "ndcg@10"),
        ("ndcg@0", "ndcg@1"),
        ("P_5", "p@5"),
        ("ndcg_cut_10", "linear_ndcg@10"),
        ("ndcg_cut.10", "linear_ndcg@10"),
        ("P(rel=2)@5", "p@5"),
        ("nDCG(dcg='log2')@10", "linear_ndcg@10"),
        ("nDCG(dcg='exp-log2')@10", "ndcg@10"),
    ],
)
def test_an_unknown_measure_names_the_nearest(name, nearest):
    with pytest.raises(ConfigurationError, match=f"{re.escape(name)}.*did you mean '{nearest}'"):
        metrics.per_query([name], [0.0], [1], [0, 1])


# Somebody may have added success, as docs/adding-a-measure.md does; then these names are hints to it, or the measure.
SUCCESS = [] if "success@K" in metrics.NAMES else ["hit@5", "success", "Success@1"]


@pytest.mark.parametrize("name", [*SUCCESS, "RBP(p=0.8)", "Bpref", "Rprec"])
def test_a_measure_that_is_not_computed_is_taken_for_no_other(name):
    with pytest.raises(ConfigurationError, match=f"{re.escape(name)}.*not computed here; known are .*ndcg@K"):
        metrics.per_query([name], [0.0], [1], [0, 1])


def test_names_of_an_added_measure_are_never_denied(monkeypatch):
    added = replace(metrics.get("p@1"), names=("success@K",))
    measures = {**metrics._measures(), "success@K": ("somewhere", added)}
    monkeypatch.setattr(metrics, "_measures", lambda: measures)
    assert metrics.parse("Success@3") == ("success", 3)
    for name, nearest in (("success", "success@10"), ("hit@5", "success@5")):
        with pytest.raises(ConfigurationError, match=f"did you mean '{nearest}'"):
            metrics.parse(name)


def test_spellings_of_other_programs_name_the_same_measures():
    given = ([3.0, 2.0, 1.0], [0, 2, 1], [0, 3])
    spelled = {
        "nDCG@10": "ndcg@10",
        "P@5": "p@5",
        "AP": "map",
        "MAP": "map",
        "MRR": "rr",
        "RR@3": "rr@3",
        "R@10": "recall@10",
    }
    values, known = metrics.per_query(list(spelled), *given), metrics.per_query(list(set(spelled.values())), *given)
    for name, ours in spelled.items():
        np.testing.assert_array_equal(values[name], known[ours])
        assert (metrics.canonical(name), metrics.seed_axis(name)) == (ours, metrics.seed_axis(ours))


def test_a_single_name_is_not_taken_for_a_list_of_letters():
    with pytest.raises(ConfigurationError, match=r"names: .*list of measures"):
        metrics.per_query("map", [0.0], [1], [0, 1])
