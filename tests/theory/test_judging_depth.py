"""Is the variance of averages over pairs the one stated, are its parts found, and do trained rankers follow it?"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pipeline_lib.errors import DataError
from pipeline_lib.theory import judging_depth


def test_the_variance_of_the_training_risk_is_the_one_stated():
    # Losses of pairs L(a, b) of documents a, b in {0, 1, 2}, whose law depends on the query: everything enumerated.
    table = np.array([[0.1, 0.7, 0.4], [0.7, 0.0, 0.9], [0.4, 0.9, 0.3]])
    laws = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    means = np.array([p @ table @ p for p in laws])
    v = means.var()
    s1 = np.mean([p @ (table @ p) ** 2 - mean**2 for p, mean in zip(laws, means, strict=True)])
    s2 = np.mean([p @ table**2 @ p - mean**2 for p, mean in zip(laws, means, strict=True)])
    for m in (2, 3, 5):
        first = second = 0.0
        for p in laws:
            for documents in itertools.product(range(3), repeat=m):
                chance = np.prod(p[list(documents)]) / len(laws)
                risk = np.mean([table[a, b] for a, b in itertools.permutations(documents, 2)])
                first, second = first + chance * risk, second + chance * risk**2
        stated = v + 2 / (m * (m - 1)) * (2 * (m - 2) * s1 + s2)
        assert second - first**2 == pytest.approx(stated)
        assert m * stated == pytest.approx(v * m + 4 * s1 + 2 * (s2 - 2 * s1) / (m - 1))


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
        (lambda: judging_depth.moments(np.full((2, 6, 1), np.nan), 4), "finite"),
        (lambda: judging_depth.moments([[[1.0]] * 5], 4), "expected shape"),
        (lambda: judging_depth.best_documents(np.zeros((1, 3))), "at least two queries"),
        (lambda: judging_depth.best_documents([[9.0, 1.0]] * 5), "at least two queries, shape"),
        (lambda: judging_depth.best_documents(np.full((3, 3), np.nan)), "of_queries.*: expected a finite"),
    ],
)
def test_errors(call, message):
    with pytest.raises(DataError, match=message):
        call()
