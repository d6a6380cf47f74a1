"""Are the terms of Theorem 1 and the budget what a plain reading of them gives?"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_lib.core.errors import DataError
from pipeline_lib.theory import two_layer

lengths = st.lists(st.integers(2, 200), min_size=1, max_size=30)


@given(lengths, st.integers(1, 60), st.floats(0.1, 5.0), st.floats(0.1, 50.0), st.floats(0.001, 0.5))
def test_the_four_terms_by_hand(m, v, c1, big, delta):
    n = len(m)
    terms = two_layer.bound(m, two_layer.vc(v, c1), big, delta)
    assert terms.query_complexity == pytest.approx(c1 * math.sqrt(v / n))
    assert terms.query_concentration == pytest.approx(math.sqrt(2 * big**2 * math.log(4 / delta) / n))
    assert terms.document_complexity == pytest.approx(sum(c1 * math.sqrt(v / (one // 2)) for one in m) / n)
    inside = sum(2 * big**2 * math.log(4 / delta) / (one * n**2) for one in m)
    assert terms.document_concentration == pytest.approx(math.sqrt(inside))


@given(lengths, st.floats(0.001, 0.5))
def test_the_theorems_apart_are_theorem_1_at_twice_delta(m, delta):
    complexity = two_layer.sauer_massart(7)
    whole = two_layer.bound(m, complexity, 2.0, delta)
    queries = two_layer.query_layer(len(m), complexity, 2.0, delta / 2)
    documents = two_layer.document_layer(m, complexity, 2.0, delta / 2)
    assert queries.total + documents.total == pytest.approx(whole.total)


def test_pooling_is_one_long_list_of_pairs():
    pooled = two_layer.pooled_document_layer(50, 10, two_layer.vc(4), 1.0, 0.05)
    assert pooled.complexity == pytest.approx(math.sqrt(4 / 250))
    assert pooled.concentration == two_layer.document_layer([10] * 50, two_layer.vc(4), 1.0, 0.05).concentration


def test_sauer_massart_bounds_the_exact_average_of_half_lines():
    # One feature, all thresholds' worth of rankers: w > 0 and w < 0. Exact Rademacher average over all signs.
    rng = np.random.default_rng(0)
    d = rng.normal(size=10)
    losses = np.array([d < 0, d > 0], float)
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * 10)).reshape(10, -1)
    exact = np.abs(2 / 10 * losses @ signs).max(axis=0).mean()
    assert exact <= two_layer.sauer_massart(1)(10)


@settings(max_examples=50)
@given(st.integers(2, 10**6), st.integers(1, 500), st.floats(1e-6, 0.5), st.floats(0.05, 20.0))
def test_the_closed_form_is_the_minimum(documents, v, delta, c1):
    plan = two_layer.budget(documents, v, delta, c1)
    assert plan.queries * plan.documents_per_query == pytest.approx(documents)
    best = two_layer.even_bound(plan.queries, documents, v, delta, c1).total
    for other in np.geomspace(1.0, documents / 2, 100):
        assert best <= two_layer.even_bound(float(other), documents, v, delta, c1).total + 1e-12


def test_the_printed_programme_has_another_minimum():
    # Discussion 3 as printed, for D(k) = c1 sqrt(V/k) and m = C/n: no 1/n before the sum, no term of the queries alone.
    c = 10_000
    n = np.geomspace(1, c / 2, 200_001)
    for v, delta, c1 in ((30, 0.1, 0.7), (5, 0.01, 2.0)):
        concentration = np.sqrt(2 * np.log(2 / delta) / c)
        printed = c1 * np.sqrt(v / n) + concentration + n * c1 * np.sqrt(2 * v * n / c)
        best = n[np.argmin(printed)]
        assert best == pytest.approx((c / 18) ** 0.25, rel=1e-3)  # neither V nor delta enters
        assert best < two_layer.budget(c, v, delta, c1).queries / 10


@pytest.mark.parametrize("seed", range(3))
def test_equal_lengths_are_best(seed):
    rng, complexity = np.random.default_rng(seed), two_layer.vc(12)
    best = two_layer.bound([30] * 7, complexity, 1.0, 0.05).total
    for _ in range(100):
        lengths = 2 * (1 + rng.multinomial(105 - 7, rng.dirichlet(np.ones(7))))
        assert best <= two_layer.bound(lengths, complexity, 1.0, 0.05).total


@pytest.mark.parametrize("m", [2, 3])
def test_twice_as_many_pairs_suffice_for_losses_that_are_not_negative(m):
    # The mean of sup_f (E l - average over the pairs of m documents) against R_2 of Definition 2, all enumerated.
    rng = np.random.default_rng(m)
    for _ in range(30):
        p = rng.dirichlet(np.full(3, 0.5))
        losses = rng.random((4, 3, 3)) * (rng.random((4, 3, 3)) < rng.random())
        risk, excess, average = np.einsum("fab,a,b->f", losses, p, p), 0.0, 0.0
        for drawn in itertools.product(range(3), repeat=m):
            pairs = [losses[:, a, b] for a, b in itertools.permutations(drawn, 2)]
            excess += np.prod(p[list(drawn)]) * (risk - np.mean(pairs, axis=0)).max()
        for a, b, c, d in itertools.product(range(3), repeat=4):
            same, other = (np.abs(losses[:, a, b] + sign * losses[:, c, d]).max() for sign in (1, -1))
            average += p[a] * p[b] * p[c] * p[d] * (same + other) / 2
        assert excess <= average


@pytest.mark.parametrize("m", range(2, 7))
def test_equation_6_holds_for_any_losses(m):
    losses = np.random.default_rng(m).normal(size=(m, m))
    assert two_layer.over_permutations(losses) == pytest.approx(two_layer.over_pairs(losses), abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: two_layer.bound([2], lambda k: math.nan, 1.0, 0.1), "complexity .*: expected a finite number"),
        (lambda: two_layer.vc(3)(0), "k: expected a whole number >= 1, found 0"),
        (lambda: two_layer.even_bound(60, 100, 2, 0.1), "queries: expected 1 to 50"),
        (lambda: two_layer.over_pairs([[1.0]]), "2 to 9 documents"),
    ],
)
def test_errors(call, message):
    with pytest.raises(DataError, match=message):
        call()
