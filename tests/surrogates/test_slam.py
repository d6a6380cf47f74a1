import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_losses import label_vectors, one_minus_ap, one_minus_ndcg, queries, stacked
from scipy.optimize import linprog

from pipeline_lib import surrogates
from pipeline_lib.errors import ConfigurationError, DataError
from pipeline_lib.surrogates import slam

KINDS = ("ndcg", "map", "ndcg@1", "ndcg@3", "ndcg@10")
LOSSES = {
    "ndcg": slam.SlamNDCG(),
    "map": slam.SlamMAP(),
    "ndcg@1": slam.SlamNDCGAt(1),
    "ndcg@3": slam.SlamNDCGAt(3),
    "ndcg@10": slam.SlamNDCGAt(10),
}


def ranking_loss(kind, s, y):
    if kind == "map":
        return one_minus_ap(s, y)
    return one_minus_ndcg(s, y, int(kind[5:]) if "@" in kind else None)


def compared(kind, y):
    """The labels by which documents are compared."""
    return np.minimum(y, 1) if kind == "map" else np.asarray(y)


def weights_as_printed(y, kind):
    """(6), (9), (31) for labels that fall."""
    G = [2.0**label - 1 for label in y]
    D = [1 / math.log2(i + 1) for i in range(1, len(y) + 1)]
    m = len(y)
    if kind == "map":
        r = sum(label >= 1 for label in y)
        return [1 / r - i / (r * (m - r + i)) if i <= r else 0.0 for i in range(1, m + 1)]
    if kind == "ndcg":
        Z = sum(g * d for g, d in zip(G, D, strict=True))
        return [(g - G[-1]) * (d - D[-1]) / Z if Z else 0.0 for g, d in zip(G, D, strict=True)]
    k = min(int(kind[5:]), m)
    Z = sum(G[i] * D[i] for i in range(k))
    return [G[i] * D[i] / Z if i < k and Z else 0.0 for i in range(m)]


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


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_the_printed_ones_in_the_documents_own_order(kind):
    for m in range(1, 6):
        for y in label_vectors(m, 2):
            falling = sorted(range(m), key=lambda i: (-compared(kind, y)[i], i))
            expected = np.empty(m)
            expected[falling] = weights_as_printed([y[i] for i in falling], kind)
            np.testing.assert_allclose(slam.weights(y, kind), expected, atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_all_queries_are_those_of_each(kind):
    rng = np.random.default_rng(3)
    offsets = np.r_[0, np.cumsum(rng.integers(1, 30, size=40))]
    y = rng.integers(0, 5, size=offsets[-1])
    each = [slam.weights(y[a:b], kind) for a, b in itertools.pairwise(offsets)]
    np.testing.assert_array_equal(slam.weights_of_all(y, offsets, kind), np.concatenate(each))


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


@given(queries(), st.sampled_from(KINDS), st.sampled_from([0.5, 1.0, 2.0]))
@settings(max_examples=60)
def test_value_is_the_optimum_of_the_linear_programme(query, kind, margin):
    s, y = query
    labels, v, m = compared(kind, y), slam.weights(y, kind), len(y)
    # (3): min <v, delta>, delta >= 0, delta_i >= margin + s_j - s_i for y_i > y_j
    pairs = [(i, j) for i in range(m) for j in range(m) if labels[i] > labels[j]]
    matrix = np.zeros((max(len(pairs), 1), m))
    bound = np.zeros(max(len(pairs), 1))
    for row, (i, j) in enumerate(pairs):
        matrix[row, i], bound[row] = -1.0, -(margin + s[j] - s[i])
    optimum = linprog(v, A_ub=matrix, b_ub=bound, bounds=(0, None)).fun
    loss = type(LOSSES[kind])(**({"k": int(kind[5:])} if "@" in kind else {}), margin=margin)
    assert loss.value(s, y, [0, m])[0] == pytest.approx(optimum, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_the_ranking_loss_at_every_ranking(kind):
    for m, y_max in ((1, 2), (2, 3), (3, 3), (4, 2), (5, 2)):
        batch = rankings(m, y_max)
        values = LOSSES[kind].value(*stacked(batch))
        assert all(v >= ranking_loss(kind, s, y) - 1e-7 for v, (s, y) in zip(values, batch, strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_the_ranking_loss_at_ties_however_broken(kind):
    batch = [
        (np.array(s, float), np.array(y)) for y in label_vectors(4, 2) for s in itertools.product((0.0, 1.0), repeat=4)
    ]
    values = LOSSES[kind].value(*stacked(batch))
    for value, (s, y) in zip(values, batch, strict=True):
        worst = ranking_loss(kind, s - 1e-9 * y, y)  # the less relevant of equal scores on top
        assert value >= max(worst, ranking_loss(kind, s, y)) - 1e-12


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


@given(queries(), st.sampled_from(KINDS), st.randoms(use_true_random=False))
def test_moving_documents_past_others_of_different_labels_moves_the_gradient_along(query, kind, random):
    # What is invariant: any reordering that keeps documents of equal label in their order. With distinct labels that is
    # every reordering; equal labels carry weights by document order, and exchanging them may change the value.
    s, y = query
    labels = compared(kind, y)
    slots = labels.tolist()
    random.shuffle(slots)
    waiting = {label: iter(np.flatnonzero(labels == label)) for label in set(slots)}
    order = np.array([next(waiting[label]) for label in slots])
    value, gradient = LOSSES[kind].value_and_gradient(s, y, [0, len(y)])
    moved, moved_gradient = LOSSES[kind].value_and_gradient(s[order], y[order], [0, len(y)])
    np.testing.assert_allclose(moved, value, rtol=1e-12, atol=1e-12)
    if len(set(s.tolist())) == len(s):  # of equal scores, the first document is k(i)
        np.testing.assert_allclose(moved_gradient, gradient[order], atol=1e-12)


def test_exchanging_equal_labels_may_change_the_value():
    one, other = LOSSES["map"].value([0.0, 3.0, 1.0, 3.0, 0.0, 1.0], [1, 1, 0, 1, 1, 0], [0, 3, 6])
    assert one == pytest.approx(0.5)
    assert other == pytest.approx(1 / 3)


@given(queries(), st.sampled_from(KINDS))
def test_gradient_norms(query, kind):
    s, y = query
    gradient = LOSSES[kind].gradient(s, y, [0, len(y)])
    assert np.abs(gradient).sum() <= 2 * slam.weights(y, kind).sum() + 1e-12
    assert abs(gradient.sum()) <= 1e-12


@given(queries(), st.sampled_from(KINDS))
def test_gradient_is_small_where_the_surrogate_is(query, kind):
    # Proposition 4 in score space: ||g||_1^2 <= 4 m v_max phi on rounds with a ranking loss; k for m with NDCG@k.
    s, y = query
    value, gradient = LOSSES[kind].value_and_gradient(s, y, [0, len(y)])
    if ranking_loss(kind, s, y) > 1e-12:
        size = min(int(kind[5:]), len(y)) if "@" in kind else len(y)
        assert np.abs(gradient).sum() ** 2 <= 4 * size * slam.v_max(y, kind) * value[0] + 1e-12


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("y_max", [1, 2, 3])
def test_lipschitz_constants_are_the_suprema(kind, y_max):
    largest = {"linf": 0.0, "l2": 0.0}
    for m in range(1, 5):
        batch = [
            (np.array(s), np.array(y))
            for y in label_vectors(m, y_max)
            for s in itertools.product((0.0, 0.6, 5.0), repeat=m)
        ]
        scores, y, offsets = stacked(batch)
        gradient = LOSSES[kind].gradient(scores, y, offsets)
        largest["linf"] = max(largest["linf"], np.add.reduceat(np.abs(gradient), offsets[:-1]).max())
        largest["l2"] = max(largest["l2"], math.sqrt(np.add.reduceat(gradient**2, offsets[:-1]).max()))
        for norm, seen in largest.items():
            assert LOSSES[kind].lipschitz(m, y_max, norm) == pytest.approx(seen, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("score_bound", [0.0, 0.1, 3.0])
def test_no_value_exceeds_the_bound(kind, score_bound):
    for y in ([1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]):
        for scores in itertools.product((-score_bound, score_bound), repeat=4):
            assert LOSSES[kind].value(scores, y, [0, 4])[0] <= LOSSES[kind].bound(4, 1, score_bound) * (1.0 + 1e-12)


@pytest.mark.parametrize("kind", ["ndcg", "map", "ndcg@3"])
def test_constants_of_long_lists(kind):
    expected = {"ndcg": 1 - 1 / math.log2(1001), "map": 1 - 1 / 1000, "ndcg@3": 1.0}[kind]
    assert LOSSES[kind].lipschitz(1000, 4) == pytest.approx(2 * expected)
    assert LOSSES[kind].lipschitz(1000, 4, "l2") == pytest.approx(math.sqrt(2) * expected)
    assert LOSSES[kind].lipschitz(1000, 0) == 0.0


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("y", [[0], [3], [0, 0, 0], [2, 2, 2]])
def test_queries_in_which_nothing_can_go_wrong_cost_nothing(kind, y):
    value, gradient = LOSSES[kind].value_and_gradient(np.arange(len(y)), y, [0, len(y)])
    assert value.tolist() == [0.0]
    assert not gradient.any()


@pytest.mark.parametrize("kind", KINDS)
def test_long_lists_and_large_scores(kind):
    rng = np.random.default_rng(7)
    m = 10_000
    y = rng.integers(0, 5, size=m)
    s = rng.uniform(-1e4, 1e4, size=m)
    labels, v = compared(kind, y), slam.weights(y, kind)
    below = np.array([s[labels < level].max(initial=-np.inf) for level in range(6)])
    expected = (v * np.maximum(0, 1 + below[labels] - s)).sum()
    value, gradient = LOSSES[kind].value_and_gradient(s, y, [0, m])
    assert value[0] == pytest.approx(expected, rel=1e-12)
    assert np.abs(gradient).sum() <= 2


def test_what_cannot_be():
    for kind in ("mrr", "ndcg@0", "ndcg@-1", "ndcg@", "map@3"):
        with pytest.raises(ConfigurationError, match="kind: "):
            slam.weights([0, 1], kind)
    with pytest.raises(DataError, match="k: "):
        slam.SlamNDCGAt(0)
    for margin in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(DataError, match="margin"):
            slam.SlamMAP(margin)
    with pytest.raises(DataError, match="whole number"):
        slam.weights([0.5, 1])
    with pytest.raises(DataError):
        slam.weights([])
    with pytest.raises(DataError, match="scores"):
        slam.SlamNDCG().value([math.nan], [1], [0, 1])


def test_a_cut_off_can_be_part_of_the_name():
    named = surrogates.create("slam-ndcg@3")
    assert (type(named), named.k) == (slam.SlamNDCGAt, 3)
    assert surrogates.target_of("slam-ndcg@3") == "pipeline_lib.surrogates.slam:SlamNDCGAt"
    assert surrogates.registered("slam-ndcg@3") == "slam-ndcg@k"
    assert surrogates.create("slam-ndcg@3", k=3).k == 3
    with pytest.raises(ConfigurationError, match="its name says k = 3, the option k = 5"):
        surrogates.create("slam-ndcg@3", k=5)
    with pytest.raises(ConfigurationError, match="did you mean"):
        surrogates.create("slam-ndcg@0")
