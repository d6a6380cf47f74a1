"""What holds for every registered surrogate, also for one that is registered tomorrow?"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_losses import EXPONENTIAL, queries, several_queries, some_queries

from pipeline_lib import checks, surrogates
from pipeline_lib.errors import DataError

# Surrogates that compare documents of different labels only: nothing to lose where there are none.
COMPARING = ("rankboost", "ranknet", "ranksvm", "slam-map", "slam-ndcg", "slam-ndcg@k", "structured-ndcg", "svm-map")
# Where several rankings are best, any of them gives a subgradient, and rounding decides which.
OVER_RANKINGS = ("structured-ndcg", "svm-map")
SHIFT_INVARIANT = tuple(name for name in surrogates.NAMES if surrogates.create(name).shift_invariant)
# Every surrogate, also those registered later, with its default options; and some with others.
CASES = [
    *((name, {}) for name in surrogates.NAMES),
    ("rankboost", {"normalisation": "mean"}),
    ("smooth-dcg", {"sigma": 0.3, "sign": "as-printed"}),
    ("smooth-dcg", {"k": 3, "sigma": 0.7, "sign": "regret"}),
]
every_case = pytest.mark.parametrize(
    ("name", "options"), CASES, ids=["-".join(map(str, [name, *options.values()])) for name, options in CASES]
)


def bounded(name, scores, by=50.0):
    """Scores within what float64 can hold of surrogates that grow exponentially."""
    return np.clip(scores, -by, by) if name in EXPONENTIAL else scores


@pytest.mark.parametrize("name", SHIFT_INVARIANT)
@settings(deadline=None, max_examples=40)
@given(query=queries(max_m=40), shift=st.sampled_from([-1e4, -3.25, 0.5, 1e4]))
def test_adding_a_constant_changes_nothing(name, query, shift):
    scores, y = bounded(name, query[0]), query[1]
    scores = np.round(scores * 1024.0) / 1024.0  # so that nothing is rounded when the constant is added
    loss, offsets = surrogates.create(name), [0, len(y)]
    value, gradient = loss.value_and_gradient(scores, y, offsets)
    moved, moved_gradient = loss.value_and_gradient(scores + shift, y, offsets)
    size = 1.0 + np.abs(gradient).max()
    assert moved[0] == pytest.approx(value[0], rel=1e-9, abs=1e-9 * size * (1.0 + np.abs(scores).max()))
    if name not in OVER_RANKINGS:
        np.testing.assert_allclose(moved_gradient, gradient, atol=1e-9 * size)


@pytest.mark.parametrize("name", [name for name in surrogates.NAMES if name not in SHIFT_INVARIANT])
def test_others_change(name):
    loss = surrogates.create(name)
    assert loss.value([1.0, 2.0], [0, 1], [0, 2])[0] != loss.value([1.5, 2.5], [0, 1], [0, 2])[0]


@every_case
@settings(deadline=None, max_examples=40)
@given(query=queries(max_m=30), seed=st.integers(0, 2**32))
def test_the_gradient_moves_with_the_documents(name, options, query, seed):
    scores, y = bounded(name, query[0]), query[1]
    # A reordering that keeps documents of equal label in their order, which some surrogates look at.
    places = np.random.default_rng(seed).permutation(len(y))
    order = np.empty(len(y), np.int64)
    levels = np.minimum(y, 1) if name.endswith("-map") else y
    for level in set(levels.tolist()):
        order[np.sort(places[levels == level])] = np.flatnonzero(levels == level)
    if len(set(scores.tolist())) < len(scores) and name.startswith("slam"):
        scores = scores + 1e-3 * np.arange(len(scores))  # of equal scores, the first carries the subgradient
    loss, offsets = surrogates.create(name, **options), [0, len(y)]
    value, gradient = loss.value_and_gradient(scores, y, offsets)
    moved, moved_gradient = loss.value_and_gradient(scores[order], y[order], offsets)
    size = 1.0 + np.abs(gradient).max()
    assert moved[0] == pytest.approx(value[0], rel=1e-9, abs=1e-9 * size * (1.0 + np.abs(scores).max()))
    if name not in OVER_RANKINGS:
        np.testing.assert_allclose(moved_gradient, gradient[order], atol=1e-9 * size)


@pytest.mark.parametrize("name", surrogates.NAMES)
@settings(deadline=None, max_examples=60)
@given(query=queries(max_m=20))
def test_gradient_norms_stay_below_the_constants(name, query):
    loss, y = surrogates.create(name), query[1]
    scores = np.clip(query[0], -3.0, 3.0) if name in (*EXPONENTIAL, "squared", "squared-ndcg") else query[0]
    gradient = loss.gradient(scores, y, [0, len(y)])
    bound = float(np.abs(scores).max())
    for norm, order in (("linf", 1), ("l2", 2)):
        constant = loss.lipschitz(len(y), 3, norm, score_bound=bound)
        assert np.linalg.norm(gradient, order) <= constant * (1.0 + 1e-9) + 1e-12


@pytest.mark.parametrize("name", surrogates.NAMES)
@pytest.mark.parametrize("label", [0, 1, 4])
def test_one_document(name, label):
    loss = surrogates.create(name)
    value, gradient = loss.value_and_gradient([0.7], [label], [0, 1])
    assert np.isfinite(value).all()
    if loss.shift_invariant:
        assert gradient[0] == 0.0
    if name in COMPARING:
        assert (value[0], gradient[0]) == (0.0, 0.0)


@pytest.mark.parametrize("name", surrogates.NAMES)
@pytest.mark.parametrize("label", [0, 2])
def test_equal_labels(name, label):
    """Also: no relevant document, for label 0."""
    value, gradient = surrogates.create(name).value_and_gradient([3.0, -1.0, 0.5, 3.0], [label] * 4, [0, 4])
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()
    if name in COMPARING:
        assert value[0] == 0.0
        np.testing.assert_array_equal(gradient, 0.0)


@pytest.mark.parametrize("name", SHIFT_INVARIANT)
@pytest.mark.parametrize("m", [1, 3, 7, 49])
def test_equal_labels_and_equal_scores_leave_nothing_to_do(name, m):
    if name == "structured-ndcg":  # it wants equal labels in document order, but not where all are equal
        assert surrogates.create(name).value(np.zeros(m), np.ones(m), [0, m])[0] == 0.0
    gradient = surrogates.create(name).gradient(np.full(m, 1.5), np.full(m, 1), [0, m])
    np.testing.assert_array_equal(gradient, 0.0)


@pytest.mark.parametrize("name", surrogates.NAMES)
@pytest.mark.parametrize("labels", [[0, 3, 1, 3, 0, 2], [0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 1]])
def test_scores_up_to_1e4(name, labels):
    loss = surrogates.create(name)
    for signs in itertools.product((-1e4, 0.0, 1e4), repeat=3):
        scores = [*signs, 5e3, -5e3, 1.0]
        if name in EXPONENTIAL and loss.unchecked(*checks.ranking(scores, labels, [0, 6]))[0][0] == np.inf:
            with pytest.raises(DataError, match="range of float64"):
                loss.value_and_gradient(scores, labels, [0, 6])
            continue
        value, gradient = loss.value_and_gradient(scores, labels, [0, 6])
        assert np.isfinite(value).all()
        assert np.isfinite(gradient).all()


@pytest.mark.parametrize("name", surrogates.NAMES)
@pytest.mark.parametrize("levels", [2, 5, 40])
def test_ten_thousand_documents_in_one_query_and_in_many(name, levels):
    rng = np.random.default_rng(4)
    scores, y = rng.normal(size=10_000), rng.integers(0, levels, 10_000)
    loss = surrogates.create(name)
    one, gradient = loss.value_and_gradient(scores, y, [0, 10_000])
    assert np.isfinite(one).all()
    assert np.isfinite(gradient).all()
    if loss.shift_invariant:
        assert abs(gradient.sum()) <= 1e-9 * np.abs(gradient).sum()
    offsets = np.r_[0, np.sort(rng.choice(np.arange(1, 10_000), 99, replace=False)), 10_000]
    values, gradient = loss.value_and_gradient(scores, y, offsets)
    for q in (0, 17, 50, 99):
        a, b = offsets[q], offsets[q + 1]
        alone, own = loss.value_and_gradient(scores[a:b], y[a:b], [0, b - a])
        assert alone[0] == values[q]
        np.testing.assert_array_equal(own, gradient[a:b])


@every_case
def test_gradients_match_finite_differences(name, options):
    scores, y, offsets = some_queries(np.random.default_rng(3), spread=2.0)
    loss = surrogates.create(name, **options)
    gradient = loss.gradient(scores, y, offsets)
    for i in range(len(scores)):
        step = 1e-6 * (np.arange(len(scores)) == i)
        slope = (loss.value(scores + step, y, offsets) - loss.value(scores - step, y, offsets)).sum() / 2e-6
        assert gradient[i] == pytest.approx(slope, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("name", "options"), [case for case in CASES if surrogates.create(case[0], **case[1]).convex])
@settings(deadline=None, max_examples=40)
@given(several_queries(), st.integers(0, 2**32))
def test_gradients_of_convex_surrogates_are_subgradients(name, options, drawn, seed):
    loss = surrogates.create(name, **options)
    scores, y, offsets = bounded(name, drawn[0]), drawn[1], drawn[2]
    other = scores + np.random.default_rng(seed).normal(size=len(scores)) * max(1.0, np.abs(scores).max())
    here, gradient = loss.value_and_gradient(scores, y, offsets)
    there = loss.value(other, y, offsets)
    linear = np.add.reduceat(gradient * (other - scores), offsets[:-1])
    assert np.all(there - here - linear >= -1e-9 * (1.0 + np.abs(there) + np.abs(here) + np.abs(linear)))


@every_case
def test_a_query_alone_equals_itself_among_others(name, options):
    loss = surrogates.create(name, **options)
    scores, y, offsets = some_queries(np.random.default_rng(5), n_queries=9, largest=80)
    values, gradient = loss.value_and_gradient(scores, y, offsets)
    for q, (a, b) in enumerate(itertools.pairwise(offsets)):
        alone, own = loss.value_and_gradient(scores[a:b], y[a:b], [0, b - a])
        assert alone[0] == values[q]
        np.testing.assert_array_equal(own, gradient[a:b])


@every_case
def test_no_queries_and_the_largest_labels(name, options):
    loss = surrogates.create(name, **options)
    values, gradient = loss.value_and_gradient([], [], np.array([0]))
    assert values.shape == gradient.shape == (0,)
    values, gradient = loss.value_and_gradient([0.5, -0.5, 0.0], [255, 0, 254], [0, 3])
    assert np.isfinite(values).all()
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("name", surrogates.NAMES)
def test_constants_reject_wrong_lists(name):
    loss = surrogates.create(name)
    for m, y_max, norm in ((0, 1, "linf"), (3, -1, "linf"), (3, 1, "l1")):
        with pytest.raises(DataError):
            loss.lipschitz(m, y_max, norm, score_bound=1.0)


@pytest.mark.parametrize("name", surrogates.NAMES)
@pytest.mark.parametrize(
    ("scores", "y", "offsets", "said"),
    [
        ([1.0, math.nan], [0, 1], [0, 2], r"scores\[1\]"),
        ([1.0, math.inf], [0, 1], [0, 2], r"scores\[1\]"),
        ([1.0, 2.0], [0, -1], [0, 2], r"y\[1\]"),
        ([1.0, 2.0], [0, 0.5], [0, 2], r"y\[1\]"),
        ([1.0, 2.0], [0, 256], [0, 2], r"y\[1\]"),
        ([1.0, 2.0], [0, math.nan], [0, 2], r"y\[1\]"),
        ([1.0, 2.0], [0], [0, 2], "y"),
        ([1.0, 2.0], [0, 1], [0, 1], "offsets"),
        ([1.0, 2.0], [0, 1], [0, 1, 1, 2], "offsets"),
        ([1.0, 2.0], [0, 1], [1, 2], "offsets"),
        ([1.0, 2.0], [0, 1], [], "offsets"),
        ([1.0, 2.0], [0, 1], [0.0, 2.0], "offsets"),
    ],
)
def test_bad_input_is_refused(name, scores, y, offsets, said):
    for method in ("value", "gradient", "value_and_gradient"):
        with pytest.raises(DataError, match=said):
            getattr(surrogates.create(name), method)(scores, y, offsets)


@pytest.mark.parametrize("name", surrogates.NAMES)
def test_input_is_left_alone(name):
    arrays = some_queries(np.random.default_rng(0))
    before = [array.copy() for array in arrays]
    surrogates.create(name).value_and_gradient(*arrays)
    for kept, array in zip(before, arrays, strict=True):
        np.testing.assert_array_equal(kept, array)
