"""Are the order, the ranks and the ideal DCG those of their definitions, in whatever way they are computed?"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pipeline_lib import ranking
from pipeline_lib.core.errors import DataError


@given(hnp.arrays(np.float64, st.integers(1, 300), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_ascending_is_a_stable_sort(s: np.ndarray) -> None:
    s[::3] = np.round(s[::3] / 1e300)  # ties, and zeros of either sign
    np.testing.assert_array_equal(ranking.ascending(s), np.argsort(s, kind="stable"))


@pytest.mark.parametrize("m", [1, 7, ranking.LONG, ranking.LONG + 1, 300])
def test_equal_scores_keep_the_order_of_the_documents(m: int) -> None:
    scores = np.random.default_rng(m).integers(0, 5, m).astype(float)
    ranked = np.full(m + 3, -1, np.int64)
    ranking.order_by_score(scores, ranked)
    assert ranked[:m].tolist() == sorted(range(m), key=lambda i: -scores[i])
    assert ranked[m:].tolist() == [-1] * 3


@pytest.mark.parametrize("k", [1, 4, 30])
def test_the_ideal_dcg_is_that_of_falling_labels(k: int) -> None:
    y = np.random.default_rng(k).integers(0, 6, 20)
    D = ranking.discounts(k)
    falling = [ranking.GAINS[label] * discount for label, discount in zip(sorted(y, reverse=True), D, strict=False)]
    assert ranking.ideal_dcg(y, D) == pytest.approx(sum(falling), rel=1e-14)
    by_rank = ranking.ideal_ranks(y, np.array([0, 20]))
    assert y[np.argsort(by_rank)].tolist() == sorted(y, reverse=True)


def test_gains_are_exact() -> None:
    assert all(int(gain) == 2**label - 1 for label, gain in enumerate(ranking.GAINS[:54]))


def queries(least: int = 1) -> st.SearchStrategy[tuple[np.ndarray, np.ndarray]]:
    """Scores with ties and labels of one query."""
    documents = st.lists(
        st.tuples(st.sampled_from([-1.0, -0.0, 0.0, 0.5]), st.integers(0, 4)), min_size=least, max_size=9
    )
    return documents.map(lambda pairs: (np.array([s for s, _ in pairs]), np.array([y for _, y in pairs], np.int32)))


def in_order(scores: np.ndarray) -> list[int]:
    ranked = np.empty(len(scores), np.int64)
    ranking.order_by_score(scores, ranked)
    return ranked.tolist()


@given(queries())
def test_tops_are_those_of_the_order(query: tuple[np.ndarray, np.ndarray]) -> None:
    scores, _ = query
    order = in_order(scores)
    for n in range(1, len(scores) + 1):
        top = np.empty(n, np.int64)
        ranking.top_by_score(scores, n, top)
        assert top.tolist() == order[:n]


@given(queries(), st.booleans())
def test_sorted_groups_are_the_extreme_orders_the_scores_allow(
    query: tuple[np.ndarray, np.ndarray], falling: bool
) -> None:
    scores, y = query
    labels, groups = ranking.tie_groups(scores, y.astype(np.uint8), np.array([0, len(y)]))
    ranking.sort_groups(labels, groups, falling)
    sign = -1 if falling else 1
    assert labels.tolist() == [y[i] for i in sorted(range(len(y)), key=lambda i: (-scores[i], sign * y[i]))]


@given(queries())
def test_the_best_document_below_a_label_is_the_first_in_the_order(query: tuple[np.ndarray, np.ndarray]) -> None:
    scores, y = query
    best = np.full(ranking.MAX_LABEL + 2, -1, np.int64)
    top = ranking.best_below(scores, y, best)
    assert top == y.max()
    for label in range(1, top + 1):
        assert best[label] == next((i for i in in_order(scores) if y[i] < label), -1)


@given(st.lists(st.lists(st.sampled_from([-0.0, 0.0, 1.0]), min_size=1, max_size=4), min_size=1, max_size=5))
def test_values_are_equal_where_there_is_one_of_them(values: list[list[float]]) -> None:
    offsets = np.cumsum([0, *map(len, values)])
    found = ranking.all_equal(np.concatenate(values), offsets)
    assert found.tolist() == [len(set(one)) == 1 for one in values]


@given(queries(), st.integers(1, 12))
def test_the_ideal_dcg_is_the_same_however_it_is_added(query: tuple[np.ndarray, np.ndarray], k: int) -> None:
    _, y = query
    m, offsets, D = len(y), np.array([0, len(y)]), ranking.discounts(k)
    ideal, ranks = ranking.ideal_dcg(y, D), ranking.ideal_ranks(y, offsets)
    assert ranking.ideal_dcg_in_data_order(y, ranks, D) == pytest.approx(ideal, rel=1e-14)
    assert ranking.ideal_dcgs(y, offsets, k) == pytest.approx(ideal, rel=1e-14)
    n, labels, count = min(k, m), np.empty(m, np.int64), np.zeros(5, np.int64)
    ranking.largest_labels(y, n, count, labels)
    assert labels[:n].tolist() == sorted(y, reverse=True)[:n]
    assert not count.any()
    whole = ranking.ideal_dcg(y, ranking.discounts(m))
    shares = ranking.normalised_gains(y, offsets, ranking.discount_sums(m))
    np.testing.assert_allclose(shares, ranking.GAINS[y] / whole if whole else np.zeros(m), rtol=1e-14)


def test_gains_of_labels_stored_as_floats_are_the_same_bits() -> None:
    assert [ranking.gain(float(label)) for label in range(ranking.MAX_LABEL + 1)] == ranking.GAINS.tolist()


def test_a_rank_below_1_has_no_discount() -> None:
    with pytest.raises(DataError, match="ranks"):
        ranking.inverse_discounts([1.0, 0.5])
