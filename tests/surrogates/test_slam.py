import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranking_losses import (
    compared,
    in_own_order,
    label_vectors,
    listwise_loss,
    one_minus_ap,
    one_minus_ndcg,
    printed_weights,
    queries,
    stacked,
)

from pipeline_lib import surrogates
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.surrogates import slam

KINDS = ("ndcg", "map", "ndcg@1", "ndcg@3", "ndcg@10")
LOSSES = {
    "ndcg": slam.SlamNDCG(),
    "map": slam.SlamMAP(),
    "ndcg@1": slam.SlamNDCGAt(1),
    "ndcg@3": slam.SlamNDCGAt(3),
    "ndcg@10": slam.SlamNDCGAt(10),
    "tight": slam.SlamNDCG(weights="tight"),
}


def tight(y):
    return slam.tight_weights_of_all(y, [0, len(y)])


def phi(s, y, v, margin=1.0):
    """(5), term by term."""
    total = 0.0
    for i in range(len(y)):
        total += v[i] * max([0.0] + [margin + s[j] - s[i] for j in range(len(y)) if y[j] < y[i]])
    return total


def rankings(m, y_max):
    """Every label vector of m documents with every ranking of them, as scores a hair apart."""
    scores = [-1e-9 * np.argsort(order) for order in itertools.permutations(range(m))]
    return [(s, np.array(y)) for y in label_vectors(m, y_max) for s in scores]


@pytest.mark.parametrize("kind", [*KINDS, "tight"])
def test_weights_are_the_printed_ones_in_the_documents_own_order(kind):
    for y in (y for m in range(1, 6) for y in label_vectors(m, 3)):
        labels = compared(kind, y).tolist()
        printed = {"kind": "ndcg", "weights": "tight"} if kind == "tight" else {"kind": kind}
        expected = in_own_order(labels, printed_weights(sorted(labels, reverse=True), **printed))
        np.testing.assert_allclose(tight(y) if kind == "tight" else slam.weights(y, kind), expected, atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_all_queries_are_those_of_each(kind):
    rng = np.random.default_rng(3)
    offsets = np.r_[0, np.cumsum(rng.integers(1, 30, size=40))]
    y = rng.integers(0, 5, size=offsets[-1])
    each = [slam.weights(y[a:b], kind) for a, b in itertools.pairwise(offsets)]
    np.testing.assert_array_equal(slam.weights_of_all(y, offsets, kind), np.concatenate(each))
    each = [tight(y[a:b]) for a, b in itertools.pairwise(offsets)]
    np.testing.assert_array_equal(slam.tight_weights_of_all(y, offsets), np.concatenate(each))


@given(queries(max_m=30, y_max=6))
def test_sums_of_weights(query):
    y = query[1]
    relevant = int((y >= 1).sum())
    for kind in KINDS:
        v = slam.weights(y, kind)
        assert (v >= 0).all()
        assert v.sum() <= 1 + 1e-12
        if "@" in kind:
            assert v.sum() == pytest.approx(1.0 if relevant else 0.0)
        elif len(set(compared(kind, y).tolist())) == 1:
            assert not v.any()
    v = tight(y)
    assert (v >= 0.0).all()
    assert (v <= slam.weights(y, "ndcg") + 1e-12).all()
    assert v.sum() == pytest.approx(one_minus_ndcg(-np.asarray(y, float), y) if relevant else 0.0, abs=1e-9)


@pytest.mark.parametrize("kind", LOSSES)
def test_bounds_the_ranking_loss_at_every_ranking(kind):
    for m, y_max in ((1, 2), (2, 3), (3, 3), (4, 2), (5, 2)):
        batch = rankings(m, y_max)
        values = LOSSES[kind].value(*stacked(batch))
        assert all(v >= listwise_loss(kind, s, y) - 1e-7 for v, (s, y) in zip(values, batch, strict=True))


@pytest.mark.parametrize("kind", LOSSES)
def test_bounds_the_ranking_loss_at_ties_however_broken(kind):
    batch = [
        (np.array(s, float), np.array(y)) for y in label_vectors(4, 2) for s in itertools.product((0.0, 1.0), repeat=4)
    ]
    values = LOSSES[kind].value(*stacked(batch))
    for value, (s, y) in zip(values, batch, strict=True):
        worst = listwise_loss(kind, s - 1e-9 * y, y)  # the less relevant of equal scores on top
        assert value >= max(worst, listwise_loss(kind, s, y)) - 1e-12


def staircase(m, r, t):
    """Relevant documents 1..t-1 on top, then all others, then the rest of the relevant ones a hair below."""
    return np.r_[np.full(t - 1, 2.0), np.full(r - t + 1, -1e-9), np.zeros(m - r)], np.r_[np.ones(r), np.zeros(m - r)]


def test_map_weights_are_tight_at_the_staircase():
    for m in range(2, 9):
        for r in range(1, m):
            batch = [staircase(m, r, t) for t in range(1, r + 1)]
            values = LOSSES["map"].value(*stacked(batch))
            np.testing.assert_allclose(values, [one_minus_ap(s, y) for s, y in batch], atol=1e-7)


def bounds_ap_everywhere(v, y):
    """Does phi^v bound 1 - AP? Enough: open hinges of 1 at every ranking of the documents."""
    batch = [s for s, _ in rankings(len(y), 0)]
    return all(phi(s, y, v) >= one_minus_ap(s, y) - 1e-6 for s in batch)


def test_no_valid_map_weights_lie_below_the_map_weights():
    for m in range(2, 6):
        for r in range(1, m):
            y = np.r_[np.ones(r, int), np.zeros(m - r, int)]
            v = slam.weights(y, "map")
            assert bounds_ap_everywhere(v, y)
            assert not any(bounds_ap_everywhere(v - 0.01 * v[i] * np.eye(m)[i], y) for i in range(r))


def test_map_weights_do_not_lie_below_all_valid_weights():
    # (8) as printed: v^MAP <= v for every valid v. Permuted, or evened out, the same sum is valid, too.
    for m in range(3, 6):
        for r in range(2, m):
            y = np.r_[np.ones(r, int), np.zeros(m - r, int)]
            v = slam.weights(y, "map")
            for other in (np.r_[v[:r][::-1], v[r:]], np.r_[np.full(r, v.sum() / r), v[r:]]):
                assert bounds_ap_everywhere(other, y)
                assert (other < v - 1e-3).any()


def test_giving_positions_by_score_would_break_convexity():
    y = np.array([1, 1, 0])
    v = slam.weights(y, "map")

    def by_score(s):
        return min(phi(s, y, [v[0], v[1], 0.0]), phi(s, y, [v[1], v[0], 0.0]))

    a, b = np.array([0.0, -4.0, 0.0]), np.array([-4.0, 0.0, 0.0])
    assert by_score((a + b) / 2) > (by_score(a) + by_score(b)) / 2 + 0.1


def test_kinks_take_the_first_document_and_closed_hinges():
    loss = LOSSES["map"]
    assert loss.gradient([0.0, 0.0, 0.0], [1, 0, 0], [0, 3]).tolist() == pytest.approx([-2 / 3, 2 / 3, 0.0])
    assert loss.gradient([0.0, 0.0, 0.0], [0, 2, 1], [0, 3])[0] > 0
    assert not loss.gradient([1.0, 0.0], [1, 0], [0, 2]).any()
    v = slam.weights([0, 1, 2])
    assert LOSSES["ndcg"].gradient([0.0] * 3, [0, 1, 2], [0, 3]).tolist() == pytest.approx([v.sum(), -v[1], -v[2]])
    v = slam.weights([1, 0, 2])
    assert LOSSES["ndcg"].gradient([0.0] * 3, [1, 0, 2], [0, 3]).tolist() == pytest.approx([v[2] - v[0], v[0], -v[2]])


@given(queries(), st.sampled_from(KINDS))
def test_gradient_is_small_where_the_surrogate_is(query, kind):
    # Proposition 4 in score space: ||g||_1^2 <= 4 m v_max phi on rounds with a ranking loss; k for m with NDCG@k.
    s, y = query
    value, gradient = LOSSES[kind].value_and_gradient(s, y, [0, len(y)])
    if listwise_loss(kind, s, y) > 1e-12:
        size = min(int(kind[5:]), len(y)) if "@" in kind else len(y)
        assert np.abs(gradient).sum() ** 2 <= 4 * size * slam.v_max(y, kind) * value[0] + 1e-12


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("y_max", [0, 1, 2, 3])
def test_v_max_supremum_is_the_supremum(kind, y_max):
    largest = 1.0
    for m in range(1, 6):
        largest = max([largest] + [slam.v_max(y, kind) for y in label_vectors(m, y_max)])
        assert slam.v_max_supremum(m, y_max, kind) == pytest.approx(largest, rel=1e-9)


def test_v_max_of_the_paper():
    for m in range(2, 9):
        for r in range(1, m):
            assert slam.v_max([1] * r + [0] * (m - r), "map") == pytest.approx(m / (m - r + 1))
    assert slam.v_max([0, 0, 0]) == slam.v_max([2, 2], "map") == 1.0
    np.testing.assert_allclose(slam.v_max_of_all([1, 1, 1, 0, 0, 0], [0, 4, 6], "map"), [2.0, 1.0])
    for m in (10, 100, 1000, 10_000):
        assert slam.v_max_supremum(m, 1) <= m * math.log2(m + 1) ** 2
        assert slam.v_max_supremum(m, 1, "map") <= m / 2


def test_unknown_kinds_are_refused():
    for kind in ("mrr", "ndcg@0", "ndcg@-1", "ndcg@", "map@3"):
        with pytest.raises(ConfigurationError, match="kind: "):
            slam.weights([0, 1], kind)
    for labels in ([], [0, 256], [0, -1]):
        with pytest.raises(DataError):
            slam.weights(labels)


def test_a_cut_off_can_be_part_of_the_name():
    named = surrogates.create("slam-ndcg@3")
    assert (type(named), named.k) == (slam.SlamNDCGAt, 3)
    assert surrogates.target_of("slam-ndcg@3") == "pipeline_lib.surrogates.slam:SlamNDCGAt"
    assert surrogates.create("slam-ndcg@3", k=3).k == 3
    with pytest.raises(ConfigurationError, match="its name says k = 3, the option k = 5"):
        surrogates.create("slam-ndcg@3", k=5)
    with pytest.raises(ConfigurationError, match="did you mean"):
        surrogates.create("slam-ndcg@0")
