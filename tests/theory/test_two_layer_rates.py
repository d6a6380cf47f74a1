"""Has the average over the pairs of a list the stated variance, and does the bound with the true rates hold?"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline_lib.core.errors import DataError
from pipeline_lib.papers.twolayer.sign_rankers import Signs, even_lists
from pipeline_lib.theory import two_layer, two_layer_rates
from pipeline_lib.theory.two_layer_rates import Variances

variances = st.builds(
    lambda v, s1, rest: Variances(v, s1, 2.0 * s1 + rest), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)
)
# Queries with their probabilities; each has documents (feature, label) with theirs.
POPULATION = [
    (Fraction(1, 4), {(0, 0): Fraction(1, 2), (1, 0): Fraction(1, 6), (1, 1): Fraction(1, 3)}),
    (Fraction(3, 4), {(0, 1): Fraction(1, 5), (1, 0): Fraction(1, 5), (2, 1): Fraction(3, 5)}),
]


def loss(a: tuple[int, int], b: tuple[int, int]) -> int:
    return int((a[0] - b[0]) * (a[1] - b[1]) < 0)


def exact_variances() -> Variances:
    """v, s1 and s2 by their definitions."""
    means, documents, pairs = [], Fraction(0), Fraction(0)
    for share, kinds in POPULATION:
        of_document = {a: sum(p * loss(a, b) for b, p in kinds.items()) for a in kinds}
        mean = sum(kinds[a] * of_document[a] for a in kinds)
        means.append((share, mean))
        documents += share * sum(kinds[a] * (of_document[a] - mean) ** 2 for a in kinds)
        pairs += share * sum(kinds[a] * kinds[b] * (loss(a, b) - mean) ** 2 for a in kinds for b in kinds)
    mean = sum(share * one for share, one in means)
    return Variances(float(sum(share * (one - mean) ** 2 for share, one in means)), float(documents), float(pairs))


@pytest.mark.parametrize("m", [2, 3, 4])
def test_the_variance_of_a_list_by_enumeration(m):
    first = second = Fraction(0)
    for share, kinds in POPULATION:
        for drawn in itertools.product(kinds, repeat=m):
            weight = share * math.prod(kinds[one] for one in drawn)
            average = Fraction(sum(loss(a, b) for a, b in itertools.combinations(drawn, 2)), m * (m - 1) // 2)
            first += weight * average
            second += weight * average**2
    assert float(exact_variances().of_average(m)) == pytest.approx(float(second - first**2), rel=1e-12)


@pytest.mark.parametrize("m", [2, 3, 5])
@pytest.mark.parametrize("signs", [Signs(1, 0.0, 0.1), Signs(2, 0.3, 0.1)])
def test_variances_of_sign_rankers_by_enumeration(signs, m):
    straight = np.array([1 - signs.noise, signs.noise, signs.noise, 1 - signs.noise]) / 2
    for k, found in enumerate(signs.variances()):
        first = second = 0.0
        for feature, turned in itertools.product(range(signs.capacity), (False, True)):
            weight = (signs.turned_share if turned else 1 - signs.turned_share) / signs.capacity
            kinds = straight[[1, 0, 3, 2]] if turned else straight
            # With the weight 1 the pairs of kinds 1 and 2 are wrong, with -1 those of kinds 0 and 3.
            a, b = (0, 3) if feature < k else (1, 2)
            for drawn in itertools.product(range(4), repeat=m):
                share = weight * math.prod(kinds[one] for one in drawn)
                average = drawn.count(a) * drawn.count(b) / (m * (m - 1) / 2)
                first, second = first + share * average, second + share * average**2
        assert float(found.of_average(m)) == pytest.approx(second - first**2)


def test_rounding_of_exact_variances_is_no_error():
    assert Variances(0.0, 0.3, 0.6 * (1.0 - 1e-13)).rest == 0.0
    with pytest.raises(DataError, match="pairs: expected at least twice"):
        Variances(0.0, 0.3, 0.6 * (1.0 - 1e-11))


def test_the_bound_holds_with_the_stated_probability():
    # One ranker that errs on all pairs of every query with probability 1/2: the gap is 1/2 - K/n, K binomial.
    for n, delta in itertools.product((1, 2, 5, 20, 100), (0.5, 0.1, 1e-3, 1e-6)):
        bound = two_layer_rates.bound([2] * n, [two_layer_rates.worst_case()], 0.0, delta).total
        failing = sum(math.comb(n, k) for k in range(n + 1) if 0.5 - k / n > bound)
        assert failing / 2**n <= delta
        # Without the second term it fails where the first is exact.
    assert two_layer_rates.bound([9], [Variances(0, 0, 0)], 0.0, 0.1, 2.0).total == pytest.approx(2 * math.log(10) / 3)


def test_the_deviation_is_that_of_single_rankers_up_to_the_logarithm():
    # Both rates: as many standard deviations of the gap of one ranker at every n and m.
    one = exact_variances()
    for n, m in itertools.product((10, 1000), (2, 3, 50, 10**6)):
        standard = math.sqrt(float(one.of_average(m)) / n)
        found = two_layer_rates.bound([m] * n, [one], math.log(64), 0.05)
        assert found.deviation == pytest.approx(standard * math.sqrt(2 * math.log(64 / 0.05)))


@given(variances, st.integers(2, 200))
def test_more_documents_never_do_harm(one, m):
    few, more = one.of_average(np.array([m, m + 1]))
    assert more <= few * (1 + 1e-12)


@given(variances, st.integers(4, 60), st.integers(1, 20), st.data())
def test_even_lists_are_best(one, documents, queries, data):
    queries = min(queries, documents // 2)
    cuts = data.draw(st.lists(st.integers(0, documents - 2 * queries), min_size=queries - 1, max_size=queries - 1))
    edges = [0, *sorted(cuts), documents - 2 * queries]
    uneven = [2 + b - a for a, b in itertools.pairwise(edges)]
    even = two_layer_rates.bound(even_lists(documents, queries), [one], 1.0, 0.1).total
    assert even <= two_layer_rates.bound(uneven, [one], 1.0, 0.1).total * (1 + 1e-9)
    assert two_layer_rates.of_even_lists(queries, documents, [one], 1.0, 0.1).total == pytest.approx(even)


@example(Variances(0.0, 0.0, 5e-324))
@given(variances)
def test_the_best_depth_is_the_minimum_of_the_variance_of_a_budget(one):
    m = np.arange(2, 3000)
    depth = min(two_layer_rates.best_depth(one), float(m[-1]))
    # A power of two changes the depth of no variances, and makes the least of them large enough for exact sums.
    exponent = -math.frexp(max(one.queries, one.pairs))[1]
    scaled = Variances(*(math.ldexp(value, exponent) for value in (one.queries, one.documents, one.pairs)))
    variance = m * scaled.of_average(m)
    assert min(variance[near - 2] for near in (math.floor(depth), math.ceil(depth))) <= variance.min() * (1 + 1e-9)


@pytest.mark.parametrize(
    "kinds", [[Variances(0.02, 0.01, 0.2)], [Variances(0.0, 0.01, 0.3), Variances(0.05, 0.0, 0.0)]]
)
def test_the_budget_by_trying_every_number_of_queries(kinds):
    lengths, found = two_layer_rates.budget(301, kinds, 2.0, 0.05)
    totals = [two_layer_rates.bound(even_lists(301, n), kinds, 2.0, 0.05).total for n in range(1, 151)]
    assert (len(lengths), lengths.sum()) == (1 + int(np.argmin(totals)), 301)
    assert found.total == min(totals)


def test_large_budgets_are_searched_closely():
    one, documents = [Variances(0.001, 0.01, 0.3)], 10**7
    lengths, found = two_layer_rates.budget(documents, one, 5.0, 0.05)
    # Lists of a whole number of documents are best, next to the best real number.
    assert abs(documents / len(lengths) - two_layer_rates.best_depth(one[0])) < 2
    for factor in (0.98, 1.02):
        other = two_layer_rates.of_even_lists(round(len(lengths) * factor), documents, one, 5.0, 0.05)
        assert found.total <= other.total


def test_the_bound_of_theorem_1_is_larger_in_the_worst_case():
    # For any variances of losses in [0, 1], and a class of 2^8.
    for n, m in itertools.product((100, 10_000), (2, 100)):
        printed = two_layer.bound([m] * n, two_layer.massart(8 * math.log(2)), 1.0, 0.05).total
        assert two_layer_rates.bound([m] * n, [two_layer_rates.worst_case()], 8 * math.log(2), 0.05).total < printed


def test_massart_bounds_the_average_of_a_finite_class():
    # All 2^k loss vectors of k pairs: the average is (2/k) E max(number of plus signs, number of minus signs).
    for k in range(1, 10):
        average = 2 / k * sum(math.comb(k, plus) * max(plus, k - plus) for plus in range(k + 1)) / 2**k
        assert average <= two_layer.massart(k * math.log(2))(k)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: two_layer_rates.bound([], [Variances(0, 0, 1)], 0.0, 0.1), "at least one of each, found none"),
        (lambda: two_layer_rates.budget(9, [], 0.0, 0.1), "variances: expected those of at least one ranker"),
        (
            lambda: two_layer_rates.budget(2**31, [Variances(0.01, 0.02, 0.2)], 3.0, 0.05),
            "documents: expected a budget whose best plan has at most 10,000,000 queries",
        ),
        (lambda: two_layer_rates.of_even_lists(3, 5, [Variances(0, 0, 1)], 0.0, 0.1), "queries: expected 1 to 2"),
        (lambda: two_layer.massart(1.0)(0), "k: expected a whole number >= 1, found 0"),
    ],
)
def test_errors(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_the_second_term_can_multiply_the_queries_of_a_small_budget() -> None:
    # The plans of the page on the two-layer gap, beside those of the leading term alone, C / m*.
    one = Variances(0.0005, 0.02, 0.2)
    for budget, queries, leading in ((480, 160, 18), (480_000, 34_286, 18_252)):
        lengths, _ = two_layer_rates.budget(budget, [one], 46 * math.log(2), 0.05)
        assert (len(lengths), round(budget / two_layer_rates.best_depth(one))) == (queries, leading)
