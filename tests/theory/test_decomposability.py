"""Do gradients decompose over as many labels as `topk` says, and no fewer?"""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_lib import surrogates
from pipeline_lib.core.errors import DataError
from pipeline_lib.theory.decomposability import estimation_error, interactions, order

SCORES = np.array([0.31, -0.22, 0.13, -0.54])


def test_lemmas_2_and_3():
    # The paper's own cases: s = (1, 0, 0) for RankSVM, whose order is exactly 2; ListNet takes any labels together.
    ranksvm, listnet = surrogates.create("ranksvm"), surrogates.create("listnet")
    sizes = interactions(lambda y: ranksvm.gradient([1.0, 0.0, 0.0], y, [0, 3]), 3, 2)
    assert sizes[2] > 0.5
    assert sizes[3] == 0.0
    assert interactions(lambda y: listnet.gradient(SCORES, y, [0, 4]), 4, 2)[2:].min() > 1e-3


def test_interactions_rebuild_the_function():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(3, 3, 3))
    sizes = interactions(lambda y: table[tuple(y)], 3, 2)
    expected = [0.0] * 4
    for y in itertools.product(range(3), repeat=3):
        documents = [i for i in range(3) if y[i]]
        term = 0.0
        for kept in itertools.product((0, 1), repeat=len(documents)):
            point = np.zeros(3, int)
            point[documents] = np.array(kept) * np.array(y)[documents]
            term += (-1) ** (len(documents) - sum(kept)) * table[tuple(point)]
        expected[len(documents)] = max(expected[len(documents)], abs(term))
    np.testing.assert_allclose(sizes, expected, rtol=1e-12)


def test_a_sum_over_pairs_decomposes_over_two():
    rng = np.random.default_rng(1)
    tables = rng.normal(size=(5, 5, 3, 3))
    assert order(lambda y: sum(tables[i, j, y[i], y[j]] for i in range(5) for j in range(i)), 5, 2) == 2
    assert order(lambda y: 3.0, 4, 1) == 0


def test_bad_arguments_are_refused():
    with pytest.raises(DataError, match="label vectors"):
        interactions(lambda y: y, 30, 1)


@settings(max_examples=20)
@given(st.integers(2, 4), st.integers(1, 3), st.integers(0, 10**6))
def test_an_estimator_exists_exactly_where_a_function_decomposes(m: int, size: int, seed: int) -> None:
    # A random sum of functions of `size` labels each: estimable from k labels if and only if k >= size.
    rng = np.random.default_rng(seed)
    size = min(size, m)
    sets = list(itertools.combinations(range(m), size))
    terms = {documents: rng.normal(size=(2,) * size) for documents in sets}
    function = lambda y: sum(float(terms[A][tuple(y[list(A)])]) for A in sets)  # noqa: E731
    for k in range(1, m + 1):
        error = estimation_error(function, m, 1, k, 0.2)
        assert (error < 1e-9) == (interactions(function, m, 1)[k + 1 :].max(initial=0.0) < 1e-9)
        assert k < size or error < 1e-9


def test_what_is_never_shown_cannot_be_estimated() -> None:
    assert estimation_error(lambda y: float(y[0]), 3, 2, 1, 0.0) < 1e-12
    assert estimation_error(lambda y: float(y[1]), 3, 2, 1, 0.0) == pytest.approx(0.5)
    assert estimation_error(lambda y: float(y[1]), 3, 2, 1, 1e-3) < 1e-9


@pytest.mark.parametrize(("k", "gamma"), [(4, 0.1), (1, 1.5)])
def test_impossible_estimation_is_refused(k: int, gamma: float) -> None:
    with pytest.raises(DataError, match="gamma"):
        estimation_error(lambda y: 0.0, 3, 1, k, gamma)


def test_estimation_from_too_many_outcomes_is_refused() -> None:
    with pytest.raises(DataError, match="m = 6, labels = 6"):  # 6! orders of 2^6 outcomes, for 2^6 label vectors
        estimation_error(lambda y: 0.0, 6, 1, 6, 0.1)
    with pytest.raises(DataError, match="m = 100, labels = 1"):  # before their orders are listed
        estimation_error(lambda y: 0.0, 100, 0, 1, 0.1)
