"""Are the parts of the variance of averages over pairs found, and the depth that is best with them?"""

import itertools

import numpy as np
import pytest

from pipeline_lib.core.errors import DataError
from pipeline_lib.theory import judging_depth


@pytest.mark.parametrize("m", [4, 5, 7])
def test_moments_are_the_averages_they_are_said_to_be(m):
    rng = np.random.default_rng(m)
    pairs = list(itertools.combinations(range(m), 2))
    g = rng.normal(size=(2, len(pairs), 3))
    found = judging_depth.moments(g, m)
    for q in range(2):
        products = {0: [], 1: [], 2: []}
        for (a, first), (b, second) in itertools.product(enumerate(pairs), repeat=2):
            products[len(set(first) & set(second))].append(g[q, a] @ g[q, b])
        assert found[q] == pytest.approx([np.mean(products[shared]) for shared in (2, 1, 0)])


def drawn(queries: int, m: int, query: float, document: float, pair: float, rng: np.random.Generator) -> np.ndarray:
    """g = a + b_j + b_k + c_jk with these standard deviations: v = a^2, s1 = b^2, s2 = 2 b^2 + c^2."""
    first, second = np.triu_indices(m, 1)
    b = document * rng.normal(size=(queries, m))
    g = query * rng.normal(size=(queries, 1)) + b[:, first] + b[:, second]
    return (g + pair * rng.normal(size=g.shape))[..., None]


def test_the_parts_and_the_best_depth_are_found():
    of_queries = judging_depth.moments(drawn(100_000, 6, 0.5, 1.0, 2.0, np.random.default_rng(0)), 6)
    errors = of_queries.std(axis=0) / np.sqrt(len(of_queries))
    assert (abs(of_queries.mean(axis=0) - [0.25 + 2 + 4, 0.25 + 1, 0.25]) < 4 * errors).all()
    found = judging_depth.best_documents(of_queries)
    assert found is not None
    assert abs(found.estimate - (1 + np.sqrt(2 * 4 / 0.25))) < 4 * found.standard_error


def test_the_standard_error_is_that_of_repetitions():
    rng = np.random.default_rng(1)
    found = [judging_depth.best_documents(judging_depth.moments(drawn(2000, 5, 1, 1, 2, rng), 5)) for _ in range(200)]
    spread = np.std([one.estimate for one in found if one])
    assert np.mean([one.standard_error for one in found if one]) == pytest.approx(spread, rel=0.2)


def test_where_no_depth_is_best_none_is_given():
    assert judging_depth.best_documents(np.array([[1.0, 0.5, 0.0]] * 3)) is None  # queries do not differ
    assert judging_depth.best_documents(np.array([[1.0, 1.0, 1.0]] * 3)) is None  # documents tell nothing more


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: judging_depth.moments(np.zeros((2, 3, 1)), 3), "at least 4 of every query, found 3"),
        (lambda: judging_depth.moments(np.zeros((2, 5, 1)), 4), "expected shape"),
        (lambda: judging_depth.best_documents(np.zeros((1, 3))), "at least two queries"),
        (lambda: judging_depth.best_documents([[9.0, 1.0]] * 5), "at least two queries, shape"),
    ],
)
def test_errors(call, message):
    with pytest.raises(DataError, match=message):
        call()
