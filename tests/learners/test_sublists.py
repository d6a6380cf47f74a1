"""Lists that are cut into short ones for training."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_lib import learners
from pipeline_lib.core.errors import DataError
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import sublists


def data(lengths: list[int], d: int = 1) -> RankingData:
    rng = np.random.default_rng(sum(lengths))
    N = sum(lengths)
    X = np.column_stack([np.arange(N), rng.standard_normal((N, d - 1))])
    return RankingData.from_arrays(X, rng.integers(0, 3, N), np.repeat(np.arange(len(lengths)), lengths))


@given(st.lists(st.integers(1, 17), min_size=1, max_size=6), st.integers(1, 9), st.integers(0, 99))
@settings(max_examples=60)
def test_every_document_is_in_one_list_of_its_query(lengths, m, seed):
    whole = data(lengths)
    cut = sublists.cut(whole, m, np.random.default_rng(seed))
    rows = cut.X[:, 0].astype(int)
    assert sorted(rows.tolist()) == list(range(whole.n_documents))
    np.testing.assert_array_equal(cut.y, whole.y[rows])
    query = np.repeat(np.arange(whole.n_queries), whole.documents_per_query)
    parents = np.repeat(cut.qids, cut.documents_per_query)
    np.testing.assert_array_equal(parents, whole.qids[query[rows]])
    for q, length in enumerate(lengths):
        sizes = cut.documents_per_query[cut.qids == whole.qids[q]]
        assert len(sizes) == max(length // m, 1)
        assert sizes.max() - sizes.min() <= 1
    for own in np.split(rows, cut.offsets[1:-1]):
        assert (np.diff(own) > 0).all()


def test_lists_are_cut_at_random_and_the_same_for_a_seed():
    whole = data([12])
    cuts = [sublists.cut(whole, 3, np.random.default_rng(seed)).X[:, 0].tolist() for seed in (1, 1, 2)]
    assert cuts[0] == cuts[1] != cuts[2]
    with pytest.raises(DataError):
        sublists.cut(whole, 0, np.random.default_rng(0))


def test_a_learner_trains_on_short_lists_and_scores_whole_ones():
    rng = np.random.default_rng(5)
    y = rng.permuted(np.tile((np.arange(40) < 4).astype(int), (30, 1)), axis=1).ravel()
    X = rng.standard_normal((1200, 2)) + 1.2 * y[:, None] * np.array([1.0, 0.0])
    train = RankingData.from_arrays(X, y, np.repeat(np.arange(30), 40))
    settings_of = {"surrogate": "slam-ndcg", "l2": 0.01}
    whole = learners.create("erm", **settings_of).fit(train, seed=1)
    short = learners.create("erm", **settings_of, sublists=4).fit(train, seed=1)
    assert not whole.predict(train).any()
    scores = short.predict(train)
    assert scores[y == 1].mean() > scores[y == 0].mean() + 0.1
    assert short.record["settings"]["sublists"] == 4
