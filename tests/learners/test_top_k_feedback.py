"""Learning from the labels on top: the compiled loop is Algorithm 1, its estimates are unbiased, errors come early."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_lib import learners, metrics, surrogates
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.seeds import generator
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import ogd, top_k_moments
from pipeline_lib.learners import top_k_feedback as top_k
from pipeline_lib.learners import top_k_kernels as kernels
from pipeline_lib.learners.rounds import random_passes
from tests import samples

NAMES = tuple(top_k.ORDERS)


def created(name):
    return surrogates.create(name, **({"sigma": 0.5, "sign": "as-printed"} if name == "smooth-dcg" else {}))


def drawn(seed: int, n: int = 10, m: tuple[int, int] = (3, 15), d: int = 4) -> RankingData:
    return samples.drawn(n, m, d, seed, levels=4, ties=0.1)


class SplitMix64:
    """The generator, in whole numbers of any size."""

    def __init__(self, state: int) -> None:
        self.state = state

    def __call__(self) -> float:
        mask = 2**64 - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return ((z ^ (z >> 31)) >> 11) / 2**53


def algorithm_1(data, loss, k, rounds, eta, gamma, radius, seed, order, probabilities):
    """Algorithm 1 in numpy, as the paper writes it, with the same random numbers."""
    uniform = SplitMix64(int(generator(seed).integers(0, 2**64, size=1, dtype=np.uint64)[0]))
    w, qualities, losses, own, norms, explored = np.zeros(data.n_features), [], [], [], [], 0
    for q in order[:rounds]:
        rows = slice(data.offsets[q], data.offsets[q + 1])
        X, y = data.X64[rows], data.y[rows]
        s = X @ w
        shown_scores = s
        if uniform() < gamma:
            shown_scores, explored = np.array([uniform() for _ in y]), explored + 1
        shown, exploit = (np.argsort(-by, kind="stable") for by in (shown_scores, s))
        offsets = [0, len(y)]
        if y.any():
            qualities.append(metrics.ndcg(shown_scores, y, np.array(offsets), k=10)[0])
        losses.append(loss.value(shown_scores, y, offsets)[0])
        own.append(loss.value(s, y, offsets)[0])
        f = top_k.estimate(loss, s, shown, y[shown[:k]], exploit, gamma, k, probabilities=probabilities)
        z = X.T @ f
        norms.append(z @ z)
        w = w - eta * z
        w = w * min(1.0, radius / max(np.linalg.norm(w), 1e-300))
    return w, np.mean(qualities), np.mean(losses), np.mean(own), np.mean(norms), explored


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("probabilities", ["correct", "as-printed"])
def test_the_compiled_loop_is_algorithm_1(name, probabilities):
    data, loss = drawn(1), created(name)
    order = np.random.default_rng(2).integers(0, data.n_queries, 200)
    for k in range(top_k.ORDERS[name], 4):
        setting = {"order": order, "probabilities": probabilities}
        found = top_k.run(data, loss, k, 200, 0.02, 0.3, 1.5, 5, **setting, checkpoints=[200])
        w, *averages, explored = algorithm_1(data, loss, k, 200, 0.02, 0.3, 1.5, 5, **setting)
        np.testing.assert_allclose(found.w, w, rtol=1e-9, atol=1e-12)
        measured = [found.ndcg[0], found.losses[0], found.own_losses[0], found.squared_norms[0]]
        np.testing.assert_allclose(measured, averages, rtol=1e-9)
        assert found.explored == explored
        assert 30 < explored < 90


@pytest.mark.parametrize("name", [*NAMES, "listnet", "squared-ndcg"])
def test_with_all_labels_it_is_online_gradient_descent(name):
    data, loss = drawn(3), created(name)
    order = np.random.default_rng(4).integers(0, data.n_queries, 150)
    found = top_k.with_all_labels(data, loss, 150, eta=0.03, radius=1.0, order=order, checkpoints=[150])
    expected = ogd.run(data, loss, step=0.03, order=order, radius=1.0)
    np.testing.assert_allclose(found.w, expected.w, rtol=1e-9, atol=1e-12)
    assert found.losses[0] == pytest.approx(expected.losses.mean(), rel=1e-9)
    assert found.squared_norms[0] == pytest.approx((expected.gradient_norms**2).mean(), rel=1e-9)


@pytest.mark.parametrize("d", [1, 15, 17, 46])
def test_lists_shorter_than_what_is_asked_of_memory_in_advance(d):
    data = drawn(11, 30, (1, 3), d)
    order = np.append(np.random.default_rng(12).integers(0, data.n_queries, 99), data.n_queries - 1)
    found = top_k.with_all_labels(data, "kl", 100, eta=0.01, radius=1.0, order=order)
    expected = ogd.run(data, "kl", step=0.01, order=order, radius=1.0)
    np.testing.assert_allclose(found.w, expected.w, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("d", [1, 7, 46, 700])
def test_equal_documents_get_equal_scores_and_stay_in_their_order(d):
    x, w = np.random.default_rng(d).standard_normal((2, d))
    X, s = np.tile(x.astype(np.float32), (13, 1)), np.empty(13)
    kernels.score(X, w, s)
    assert s[0] == pytest.approx(float(X[0].astype(np.float64) @ w))
    assert (s == s[0]).all()


@st.composite
def cases(draw, largest=6):
    name = draw(st.sampled_from(NAMES))
    k = draw(st.integers(top_k.ORDERS[name], 3))
    m = draw(st.integers(max(k, 2), largest))
    scores = draw(st.lists(st.sampled_from([-1.5, -0.4, 0.0, 0.3, 1.0, 2.2]), min_size=m, max_size=m))
    y = draw(st.lists(st.integers(0, 4), min_size=m, max_size=m))
    return name, k, np.array(scores), np.array(y), draw(st.floats(0.02, 0.98))


@given(cases())
@settings(max_examples=60)
def test_estimates_are_unbiased_exactly(case):
    name, k, scores, y, gamma = case
    loss = created(name)
    truth = loss.gradient(scores, y, [0, len(y)])
    mean = top_k_moments.mean_estimate(loss, scores, y, k, gamma)
    assert top_k_moments.relative_bias(mean, truth) < 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_printed_probabilities_bias_the_estimates(name):
    loss, scores, y = created(name), np.array([0.5, 0.1, -0.2, 0.3]), np.array([0, 2, 1, 3])
    truth = loss.gradient(scores, y, [0, 4])
    mean = top_k_moments.mean_estimate(loss, scores, y, top_k.ORDERS[name], 0.1, "as-printed")
    assert top_k_moments.relative_bias(mean, truth) > 0.1


@pytest.mark.parametrize("name", ["squared", "ranksvm"])
@pytest.mark.parametrize(("m", "k"), [(1100, 1100), (1200, 600)])
def test_lists_with_more_tops_than_a_float_can_count(name, m, k):
    # C(m, k), or what it passes through, is beyond 1e308. An exploit round weighs 1 / C(m - l, k - l) there: nothing.
    loss, rng = surrogates.create(name), np.random.default_rng(m)
    s, y, gamma = rng.normal(size=m), rng.integers(0, 3, m), 0.2
    exploit, truth = np.argsort(-s), loss.gradient(s, y, [0, m])
    shown = exploit if k == m else exploit[::-1]
    found = top_k.estimate(name, s, shown, y[shown[:k]], exploit, gamma, k)
    part = np.zeros(m)
    part[shown[:k]] = loss.gradient(s[shown[:k]], y[shown[:k]], [0, k])
    size = top_k.ORDERS[name]
    weight = 1.0 if k == m else math.comb(m, size) / math.comb(k, size) / gamma
    expected = truth if k == m else weight * part
    if name == "squared" and k < m:
        expected = 2.0 * s
        expected[shown[:k]] -= 2.0 * weight * y[shown[:k]]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert np.isfinite(top_k.estimate(name, s, exploit, y[exploit[:k]], exploit, gamma, k)).all()


@pytest.mark.parametrize("name", ["squared", "ranksvm"])
@pytest.mark.parametrize("k", [2, 3])
def test_a_set_is_shown_as_often_as_its_orders_together(name, k):
    scores, gamma, m = [0.3, 0.9, -1.0, 0.5], 0.3, 4
    sums: dict[frozenset[int], float] = {}
    for top, p in top_k_moments.ordered_tops(scores, k, gamma):
        sums[frozenset(top)] = sums.get(frozenset(top), 0.0) + p
    best = frozenset(np.argsort(scores)[::-1][:k].tolist())
    for documents, p in sums.items():
        assert top_k.show_probability(m, k, gamma, top=documents == best) == pytest.approx(p)
        weight = kernels.inverse_weight(m, k, top_k.ORDERS[name], gamma, documents == best)
        size = top_k.ORDERS[name]
        assert weight == pytest.approx(1.0 / (math.comb(m - size, k - size) * p))


def test_the_four_estimators_are_those_of_the_paper():
    s, gamma, m, exploit = np.array([0.2, -0.3, 0.9]), 0.3, 3, [2, 0, 1]
    p = {2: 1 - gamma + gamma / m, 0: gamma / m}
    for a, seen in ((2, 1), (0, 3)):
        expected = 2.0 * s
        expected[a] -= 2.0 * seen / p[a]
        np.testing.assert_allclose(top_k.estimate("squared", s, [a], [seen], exploit, gamma, 1), expected)
        expected = np.zeros(m)
        expected[a] = (math.exp(s[a]) - math.exp(seen)) / p[a]
        np.testing.assert_allclose(top_k.estimate("kl", s, [a], [seen], exploit, gamma, 1), expected)
        pi = np.exp(s / 0.5) / np.exp(s / 0.5).sum()
        expected = (2**seen - 1) * pi[a] / 0.5 * (np.eye(m)[a] - pi) / p[a]
        np.testing.assert_allclose(top_k.estimate(created("smooth-dcg"), s, [a], [seen], exploit, gamma, 1), expected)
    # documents 1 (label 2) and 2 (label 0): 1 + s_2 - s_1 > 0, and {1, 2} is not the top two
    expected = np.array([0.0, -1.0, 1.0]) / (2 * gamma / (m * (m - 1)))
    np.testing.assert_allclose(top_k.estimate("ranksvm", s, [2, 1], [0, 2], exploit, gamma, 2), expected)


def test_smooth_dcg_descends_on_its_gain_as_printed_and_climbs_it_otherwise():
    scores = [0.1, 0.2, 0.0]
    both = [
        top_k.estimate(surrogates.create("smooth-dcg", sigma=0.5, sign=sign), scores, [1], [2], [1, 0, 2], 0.2, 1)
        for sign in ("as-printed", "ascent")
    ]
    np.testing.assert_allclose(both[0], -both[1])
    assert both[0].any()


def test_checkpoints_are_averages_up_to_them_and_change_nothing():
    data, order = drawn(6), np.random.default_rng(0).integers(0, 10, 300)
    setting = {"k": 1, "gamma": 0.2, "eta": 0.01, "seed": 1}
    whole = top_k.run(data, "kl", rounds=300, **setting, order=order, checkpoints=[1, 100, 300])
    part = top_k.run(data, "kl", rounds=100, **setting, order=order[:100], checkpoints=[100])
    np.testing.assert_array_equal(whole.path[1], part.w)
    for name in ("ndcg", "losses", "own_losses", "squared_norms"):
        assert getattr(whole, name)[1] == getattr(part, name)[0]
    assert whole.rounds.tolist() == [1, 100, 300]


def test_a_judge_takes_the_place_of_the_loss():
    data = drawn(7)
    goals = np.linspace(-1.0, 1.0, data.n_documents)
    setting = {"k": 1, "rounds": 10, "gamma": 0.2, "eta": 0.01, "seed": 3, "order": range(10)}
    judged = top_k.run(data, "kl", **setting, judge=goals, checkpoints=[1, 10])
    first = goals[: data.offsets[1]]
    assert judged.own_losses[0] == pytest.approx(first @ first)  # w = 0
    assert (judged.w == top_k.run(data, "kl", **setting).w).all()


def test_random_order_is_uniform():
    data = RankingData.from_arrays(np.ones((4, 1)), [1, 0, 0, 0], [1, 1, 1, 1])
    found = top_k.in_random_order(data, 20_000, 8, checkpoints=[20_000])
    mean = np.mean(1.0 / np.log2(np.arange(2, 6)))
    spread = np.std(1.0 / np.log2(np.arange(2, 6))) / math.sqrt(20_000)
    assert abs(found.ndcg[0] - mean) < 4 * spread
    assert found.explored == 20_000
    assert not found.w.any()


def test_queries_without_a_relevant_document_do_not_count():
    data = RankingData.from_arrays([[1.0], [0.0], [1.0], [0.0]], [1, 0, 0, 0], [1, 1, 2, 2])
    assert math.isnan(top_k.in_random_order(data, 2, order=[1, 1]).ndcg[-1])
    alone = top_k.with_all_labels(data, "listnet", 3, eta=0.1, order=[1, 0, 1], checkpoints=[1, 2, 3])
    assert math.isnan(alone.ndcg[0])
    assert alone.ndcg[1] == alone.ndcg[2] == 1.0


def test_scores_too_large_for_an_exponential_end_at_the_surface_of_the_ball():
    data = RankingData.from_arrays([[900.0], [-900.0]], [1, 0], [1, 1])
    found = top_k.run(data, "kl", k=1, rounds=100, eta=1.0, gamma=0.5, radius=2.0)
    assert abs(found.w[0]) == pytest.approx(2.0)


def test_steps_whose_squares_overflow_are_an_error_and_not_the_centre_of_the_ball():
    with pytest.raises(DataError, match="scores overflowed; give smaller steps"):
        top_k.run(drawn(1), "squared", 1, 20, 1e200, 0.1, radius=3.0)


GOOD = {"surrogate": "squared", "k": 1, "rounds": 10, "gamma": 0.1, "eta": 0.1}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"k": 4}, "k: expected at most the length of the shortest list, 3, found 4"),
        ({"surrogate": "ranksvm"}, r"ranksvm: expected k >= 2.*Lemma 2"),
        ({"surrogate": "listnet", "k": 2}, r"listnet.*Lemma 3.*k = 2"),
        ({"surrogate": "svm-map"}, "surrogate: expected one of squared"),
        ({"surrogate": surrogates.create("ranksvm", normalisation="mean"), "k": 2}, "normalisation 'sum'"),
        ({"surrogate": surrogates.create("smooth-dcg", sign="regret")}, "published gain"),
        ({"order": []}, "order: expected one query for each of 10 rounds, found 0"),
        ({"order": [99] * 10}, r"order\[0\]: .*from 0 to 9"),
        ({"checkpoints": [2, 1]}, "checkpoints: expected rising whole numbers in 1..10"),
        ({"checkpoints": [11]}, "checkpoints"),
        ({"checkpoints": []}, "checkpoints"),
    ],
)
def test_bad_input_is_one_clear_error_before_any_round(wrong, message):
    data = RankingData.from_arrays(np.ones((30, 2)), [0, 1, 2] * 10, np.repeat(np.arange(10), 3))
    with pytest.raises(DataError, match=message):
        top_k.run(data, **{**GOOD, **wrong})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"shown": [5]}, r"shown: expected at least k = 1 distinct positions in 0\.\.1, found \[5\]"),
        ({"shown": [0, 0]}, "shown"),
        ({"shown": []}, "shown"),
        ({"exploit": [-1]}, "exploit"),
        ({"labels_shown": [1, 2]}, r"labels_shown: expected k = 1 labels, found 2"),
        ({"k": 3}, "shown: expected at least k = 3"),
    ],
)
def test_bad_estimates_are_refused(wrong, message):
    good = {"s": [0.0, 1.0], "shown": [1, 0], "labels_shown": [2], "exploit": [1, 0], "gamma": 0.1, "k": 1}
    top_k.estimate("squared", **good)
    with pytest.raises(DataError, match=message):
        top_k.estimate("squared", **{**good, **wrong})


def test_without_an_order_every_query_is_met_once_a_pass():
    data = drawn(13)
    found = top_k.run(data, "squared", k=1, rounds=25, eta=0.01, gamma=0.1, radius=1.0, seed=3)
    order = random_passes(data.n_queries, 3, 3)[:25]
    same = top_k.run(data, "squared", k=1, rounds=25, eta=0.01, gamma=0.1, radius=1.0, seed=3, order=order)
    assert (found.w == same.w).all()
    assert found.rounds.tolist() == [25]
    assert top_k.run(data, "squared", 1, 2000, 0.01, 0.1).rounds.tolist() == top_k.log_checkpoints(2000).tolist()


def test_the_last_round_is_always_a_checkpoint():
    assert top_k.log_checkpoints(10_000, 1).tolist() == [100, 10_000]
    assert top_k.log_checkpoints(1).tolist() == [1]


def test_training_needs_lists_that_are_long_enough():
    data = drawn(12)
    with pytest.raises(DataError, match="expected training queries with at least k = 30 documents, found none"):
        learners.get("top-k-feedback").train(data, data, {"surrogate": "kl", "k": 30}, 0)


def test_every_pass_has_an_order_of_its_own():
    passes = random_passes(50, 3, 1).reshape(3, 50)
    assert [sorted(one) for one in passes.tolist()] == [list(range(50))] * 3
    for one, other in itertools.combinations(passes, 2):
        assert (one == other).sum() < 10
