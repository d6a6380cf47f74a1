"""Is a person told of what makes measures mislead, and is nobody told so for nothing?"""

import numpy as np
import polars as pl
import pytest

from pipeline_lib import RankingData, learners
from pipeline_lib.data import stored_data
from pipeline_lib.learners.selection import mean_measure
from pipeline_lib.sources import conversion, pitfalls
from pipeline_lib.sources.tables import Options


def best_first(path, rng, *, shuffled=False, least=0, queries=40):
    """Sessions of six documents by falling label; `mobile` is constant within a session, as `shop` is everywhere."""
    rows = []
    for q in range(queries):
        labels = sorted(rng.integers(least, least + 3, 6).tolist(), reverse=True)
        if shuffled:
            rng.shuffle(labels)
        rows += [(f"s{q}", q % 2, 1.0, label + float(rng.normal()), label) for label in labels]
    pl.DataFrame(rows, schema=["query", "mobile", "shop", "bm25", "label"], orient="row").write_csv(path)
    return path


def converted(path, **settings):
    target = path.with_suffix(".parquet")
    summary = conversion.convert_own({"all": path}, target, Options(), **settings)
    return summary, RankingData.read_parquet(target)


def test_rows_that_follow_the_labels_and_constant_features_are_named(tmp_path) -> None:
    summary, _ = converted(best_first(tmp_path / "a.csv", np.random.default_rng(0)))
    order, constant = summary.warnings
    assert "best first" in order
    assert "mobile, shop" in constant
    assert summary.to_dict()["warnings"] == [order, constant]
    summary, _ = converted(best_first(tmp_path / "b.csv", np.random.default_rng(0), shuffled=True))
    [constant] = summary.warnings
    assert "mobile" in constant


def test_rows_in_random_order_raise_no_alarm() -> None:
    rng = np.random.default_rng(1)
    alarms = 0
    for repetition in range(600):
        m = rng.integers(1, 12, rng.integers(1, 30))
        offsets = np.r_[0, np.cumsum(m)]
        label = np.minimum(rng.geometric(0.5, offsets[-1]) - 1, 4 if repetition % 2 else 255).astype(np.uint8)
        alarms += pitfalls.follows_labels(label, offsets) != ""
    assert alarms <= 600 * pitfalls.FALSE_ALARMS


@pytest.mark.parametrize(("rising", "queries"), [(False, 15), (True, 40)])
def test_few_sorted_queries_suffice_for_the_alarm(rising, queries) -> None:
    lists = [sorted(np.random.default_rng(q).integers(0, 3, 10), reverse=not rising) for q in range(queries)]
    label, offsets = np.concatenate(lists).astype(np.uint8), np.arange(0, 10 * queries + 1, 10)
    assert pitfalls.follows_labels(label, offsets) == ("worst" if rising else "best")


def test_a_feature_that_differs_across_the_ends_of_blocks_is_not_constant() -> None:
    from pipeline_lib.sources.letor_reader import Block

    within = pitfalls.WithinQueries(3)
    for qid, X in (([1, 1], [[0, 5, 1], [0, 5, 1]]), ([1, 2], [[0, 6, 1], [1, 7, 1]]), ([2], [[1, 7, 1]])):
        block = Block(np.array(qid, np.int64), np.zeros(len(qid), np.uint8), np.array(X, np.float32))
        within.see(block)
    within.end()
    within.see(Block(np.array([2], np.int64), np.zeros(1, np.uint8), np.array([[9, 7, 1]], np.float32)))
    assert within.differ.tolist() == [False, True, False]


def test_a_scale_that_begins_at_1_is_named_with_its_remedy(tmp_path) -> None:
    path = best_first(tmp_path / "stars.csv", np.random.default_rng(0), shuffled=True, least=1)
    summary, data = converted(path)
    assert any("every document is relevant (labels 1 to 3)" in w and "relevant_from" in w for w in summary.warnings)
    assert any("`labels: lowered`" in w for w in summary.warnings)
    assert mean_measure(data.X[:, 0], data, "map") == pytest.approx(1.0)
    summary, data = converted(path, relevant_from=3)
    assert not any("every document" in warning for warning in summary.warnings)
    assert data.judging == stored_data.Judging("mean", 3)
    assert mean_measure(data.X[:, 0], data, "map") < 1.0
    assert data.with_binary_labels().y.tolist() == (data.y >= 3).astype(int).tolist()


def test_own_data_average_over_ties_and_say_so_wherever_they_are_stored(tmp_path) -> None:
    _, data = converted(best_first(tmp_path / "a.csv", np.random.default_rng(0)), relevant_from=2)
    data.take([3, 1]).write_parquet(tmp_path / "again.parquet")
    again = RankingData.read_parquet(tmp_path / "again.parquet")
    assert (again.ties, again.relevant_from) == (data.ties, data.relevant_from) == ("mean", 2)
    text = tmp_path / "some.txt"
    text.write_text("1 qid:1 1:0.5\n0 qid:1 1:0.5\n")
    conversion.convert({"all": text}, tmp_path / "catalogue.parquet")
    catalogue = RankingData.read_parquet(tmp_path / "catalogue.parquet")
    assert catalogue.ties == "file"
    assert mean_measure(np.zeros(2), catalogue, "ndcg@1") == 1.0
    assert mean_measure(np.zeros(2), RankingData.from_letor(text), "ndcg@1") == 0.5


@pytest.mark.parametrize("learner", ["best-feature", "adarank", "perceptron", "rankboost"])
def test_rows_that_stand_best_first_choose_no_ranker_of_equal_scores(tmp_path, learner) -> None:
    path = best_first(tmp_path / "a.csv", np.random.default_rng(0))
    data = RankingData.from_frame(pl.read_csv(path))
    order = np.concatenate(
        [np.random.default_rng(q).permutation(np.arange(*data.offsets[q : q + 2])) for q in range(data.n_queries)]
    )
    shuffled = RankingData.from_arrays(data.X[order], data.y[order], np.repeat(data.qids, 6))
    rankers = {one: learners.create(learner).fit(one) for one in (data, shuffled)}
    values = [mean_measure(ranker.predict(one), one, "ndcg@10") for one, ranker in rankers.items()]
    assert max(values) < 0.99
    if learner != "perceptron":  # it makes no mistake on rows that stand best first, and learns nothing
        assert values[0] == pytest.approx(values[1], rel=1e-6)


def test_conversion_tells_of_lists_on_which_all_rankers_are_alike(tmp_path) -> None:
    path = tmp_path / "some.txt"
    path.write_text("2 qid:1 1:1\n0 qid:1 1:2\n1 qid:2 1:1\n1 qid:3 1:1\n1 qid:3 1:2\n0 qid:4 1:1\n0 qid:4 1:2\n")
    summary = conversion.convert_own({"all": path}, tmp_path / "some.parquet", Options())
    assert [warning.partition(":")[0] for warning in summary.warnings] == [
        "1 of 4 lists has one document",
        "1 of 4 lists has the same label for all documents",
    ]
    assert summary.queries_without_relevant == 1  # of which the description of the data set tells


@pytest.mark.parametrize(("rows", "fewest", "words"), [([1, 0], 20, "best"), ([0, 1], 32, "worst")])
def test_the_alarm_begins_where_the_bound_of_bennett_reaches_half_of_the_level(rows, fewest, words) -> None:
    # Two documents have NDCG 1 or 1 / log2(3), each in half of the orders.
    low = 1.0 / np.log2(3.0)
    variance, away = ((1.0 - low) / 2.0) ** 2, (1.0 - low) / 2.0
    largest = away if words == "best" else (1.0 + low) / 2.0
    u = largest * away / variance
    each = variance / largest**2 * ((1.0 + u) * np.log1p(u) - u)
    assert (fewest - 1) * each < np.log(2.0 / pitfalls.FALSE_ALARMS) <= fewest * each
    for queries in (fewest - 1, fewest):
        label, offsets = np.array(rows * queries, np.uint8), np.arange(0, 2 * queries + 1, 2)
        assert pitfalls.follows_labels(label, offsets) == (words if queries == fewest else "")


def test_the_bound_rests_on_the_largest_deviation_of_any_query() -> None:
    # A query whose rows could have gained much more than those of the others makes an alarm need more than they say.
    label = np.array([*[1, 0] * 28, *[0] * 11, 1], np.uint8)
    offsets = np.r_[np.arange(0, 57, 2), 68]
    assert pitfalls.follows_labels(label[:56], offsets[:29]) == "best"
    found = pitfalls.orders(label, offsets)
    bounds = []
    for largest in ((1.0 - found.means).mean(), (1.0 - found.means).max()):
        total, variance = (found.in_rows - found.means).sum(), found.variances.sum()
        u = largest * total / variance
        bounds.append(variance / largest**2 * ((1.0 + u) * np.log1p(u) - u))
    assert bounds[0] > np.log(2.0 / pitfalls.FALSE_ALARMS) > bounds[1]
    assert pitfalls.follows_labels(label, offsets) == ""


@pytest.mark.parametrize(("counts", "is_gap"), [((50, 0, 50), True), ((50, 0, 3), False), ((3, 0, 50), False)])
def test_a_label_that_nobody_has_is_a_gap_only_between_two_frequent_ones(counts, is_gap) -> None:
    label = np.repeat(np.arange(3, dtype=np.uint8), counts)
    offsets = np.array([0, len(label)])
    found = pitfalls.found(label, offsets, np.ones(1, np.bool_), None, 1)
    assert ("gaps of the scale" in [one.check for one in found]) is is_gap


@pytest.mark.parametrize(("counts", "proposed"), [((4, 3, 3), 3), ((6, 2, 2), 2), ((1, 1, 8), 3), ((0, 6, 4), 3)])
def test_the_label_that_is_proposed_for_relevance_lies_above_that_of_the_median(counts, proposed) -> None:
    label = np.repeat(np.arange(1, 4, dtype=np.uint8), counts)
    found = pitfalls.found(label, np.array([0, 10]), np.ones(1, np.bool_), None, 1)
    [scale] = [one for one in found if one.check == "scale of labels"]
    assert f"`relevant_from: {proposed}`" in scale.remedy
