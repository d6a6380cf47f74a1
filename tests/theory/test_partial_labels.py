"""Do the labels of k documents determine the NDCG-optimal order exactly where the theorem says?"""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_lib.core.errors import DataError
from pipeline_lib.theory import partial_labels

CASES = [(m, g, k) for m in (2, 3, 4, 5) for g in (2, 3, 4) if g**m <= 300 for k in range(1, m + 1)]


def joint_laws(law: np.ndarray, m: int, grades: int, k: int) -> np.ndarray:
    """The joint laws of every k labels, by counting."""
    vectors = partial_labels.label_vectors(m, grades)
    found = []
    for documents in itertools.combinations(range(m), k):
        cells = dict.fromkeys(itertools.product(range(grades), repeat=k), 0.0)
        for vector, chance in zip(vectors, law, strict=True):
            cells[tuple(vector[list(documents)])] += chance
        found += list(cells.values())
    return np.array(found)


@pytest.mark.parametrize(("m", "grades", "k"), CASES)
def test_pairs_of_laws_exist_exactly_where_ndcg_cannot_be_learned(m: int, grades: int, k: int) -> None:
    explicit, hardest = partial_labels.law_pair(m, grades, k), partial_labels.hardest_pair(m, grades, k)
    if partial_labels.learnable(m, grades, k):
        assert explicit.gap == 0.0
        assert hardest.gap < 1e-9
        return
    values = partial_labels.relevances(m, grades)
    assert hardest.gap >= explicit.gap > 1e-4
    for pair in (explicit, hardest):
        for law, sign in ((pair.p, 1), (pair.q, -1)):
            assert law.min() >= 0
            assert law.sum() == pytest.approx(1)
            relevance = law @ values
            assert sign * (relevance[0] - relevance[1]) >= pair.gap - 1e-9
        np.testing.assert_allclose(joint_laws(pair.p, m, grades, k), joint_laws(pair.q, m, grades, k), atol=1e-9)
        assert partial_labels.linear_rate(pair.p, pair.q, m, grades) > 1e-4


@pytest.mark.parametrize(
    ("m", "k", "grades", "gap"),
    [(3, 1, 2, 0.193), (4, 2, 2, 0.061), (5, 2, 2, 0.092), (5, 3, 2, 0.022), (3, 2, 3, 0.086), (4, 3, 3, 0.041)],
)
def test_the_largest_gaps(m: int, k: int, grades: int, gap: float) -> None:
    assert partial_labels.hardest_pair(m, grades, k).gap == pytest.approx(gap, abs=6e-4)


@given(st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_a_split_is_orthogonal_and_determined(k: int, seed: int) -> None:
    m, grades = 4, 2
    values = np.random.default_rng(seed).normal(size=grades**m)
    determined, free = partial_labels.split(values, m, grades, k)
    np.testing.assert_allclose(determined + free, values, atol=1e-12)
    # What is left has no joint law of k labels, so that every function of k labels is orthogonal to it.
    np.testing.assert_allclose(joint_laws(free, m, grades, k), 0.0, atol=1e-12)
    assert partial_labels.split(determined, m, grades, k)[1] == pytest.approx(0.0, abs=1e-12)


def advancing(values: list[Fraction]) -> list[Fraction]:
    """The differences of all orders at the first value."""
    found = []
    while values:
        found.append(values[0])
        values = [b - a for a, b in itertools.pairwise(values)]
    return found


@given(st.integers(2, 5), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_binary_labels_determine_a_difference_up_to_the_degree_of_its_factor(m: int, degree: int, seed: int) -> None:
    """The criterion of docs/feedback-on-top.md, for polynomials of the number of relevant documents."""
    drawn = [Fraction(int(c)) for c in np.random.default_rng(seed).integers(-3, 4, size=degree + 1)]
    factor = [sum((c * s**power for power, c in enumerate(drawn)), Fraction(0)) for s in range(m - 1)]
    y = partial_labels.label_vectors(m, 2)
    values = (y[:, 0] - y[:, 1]) * np.array([float(one) for one in factor])[y[:, 2:].sum(axis=1)]
    orders = [order for order, difference in enumerate(advancing(factor)) if difference != 0]
    for k in range(1, m + 1):
        determined = np.abs(partial_labels.split(values, m, 2, k)[1]).max() < 1e-9
        assert determined == all(order < k for order in orders)


@pytest.mark.parametrize("m", range(2, 40))
def test_the_differences_of_the_factor_of_auc_by_their_formulas(m: int) -> None:
    found = advancing([Fraction(1, (s + 1) * (m - 1 - s)) for s in range(m - 1)])
    for n, difference in enumerate(found):
        above = Fraction(1, (m - 1 - n) * math.comb(m - 1, n))
        assert difference == Fraction(1, m) * (Fraction((-1) ** n, n + 1) + above)


def test_the_quantities_of_the_proof_do_not_vanish() -> None:
    with localcontext() as context:
        context.prec = 80
        half = Decimal(2).ln()
        discounts = [half / Decimal(i + 1).ln() for i in range(1, 43)]
        sums = list(itertools.accumulate(discounts, initial=Decimal(0)))
        third = Decimal(1) / 3
        U = [(1 - third) * a + third * b for a, b in itertools.pairwise(sums)]
        for n in range(39):
            terms = [third / U[j] + (1 - third) / U[j + 1] - 1 / sums[j + 1] for j in range(n + 1)]
            assert sum((-1) ** j * math.comb(n, j) * term for j, term in enumerate(terms)) > 0
            assert sum((-1) ** j * math.comb(n, j) / sums[j + 1] for j in range(n + 1)) > 0


def test_the_two_numbers_by_which_three_grades_need_all_labels() -> None:
    """The enclosures at the end of the proof of Lemma 3 in docs/feedback-on-top.md, whose margins exceed rounding."""
    N = 100_000

    def D(x: float) -> float:
        return math.log(2.0) / math.log1p(x)

    def U(z: float) -> tuple[float, float]:
        head = math.fsum(D(i) - D(i + z) for i in range(1, N + 1))
        low, high = (head + z * D(n) + D(1 + z) / 3.0 for n in (N, N + 1))
        return low, high

    assert U(-0.2371)[1] < 0.0 < U(-0.2370)[0]
    assert (U(-0.2371)[1] - U(-0.25)[0]) / 0.0129 < 1.66
    assert 1.0 / 3.0 / 1.66 / (0.2371 * 1.2371) > 0.68 > 0.38686 > 1.0 - 1.0 / (1.0 + D(2.0))


def test_the_instance_on_four_grades_that_can_be_checked_by_hand() -> None:
    values = partial_labels.relevances(3, 4)
    vectors = [tuple(vector) for vector in partial_labels.label_vectors(3, 4)]
    found = []
    for parity in (0, 1):
        upper = [bits for bits in itertools.product((0, 1), repeat=3) if sum(bits) % 2 == parity]
        rows = [vectors.index(((1, 2)[a], (0, 3)[b], (1, 2)[c])) for a, b, c in upper]
        relevance = values[rows].mean(axis=0)
        found.append(round(float(relevance[0] - relevance[1]), 4))
    assert found == [0.0404, -0.0053]


@pytest.mark.parametrize(("m", "rate"), [(3, 0.0357), (7, 0.0007)])
def test_the_regret_per_round_that_no_learner_avoids(m: int, rate: float) -> None:
    pair = partial_labels.hardest_pair(m, 2, m - 2)
    assert partial_labels.linear_rate(pair.p, pair.q, m, 2) == pytest.approx(rate, abs=5e-5)


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(DataError, match="at most 100,000 label vectors"):
        partial_labels.label_vectors(20, 3)
    for pair in (partial_labels.law_pair, partial_labels.hardest_pair, partial_labels.unseen_by_neighbours):
        with pytest.raises(DataError, match="m: expected at least two documents"):
            pair(1, 2, 1)
    with pytest.raises(DataError, match=r"labels in 1\.\.m"):
        partial_labels.law_pair(3, 2, 4)


@pytest.mark.parametrize(("m", "grades", "k"), [case for case in CASES if case[1] ** case[0] <= 81])
def test_the_rate_follows_from_what_neighbouring_orders_show(m: int, grades: int, k: int) -> None:
    unseen = partial_labels.unseen_by_neighbours(m, grades, k)
    exponent = partial_labels.regret_exponent(m, grades, k)
    assert (exponent == 0.5) == (unseen < 1e-9)
    assert (exponent == 1.0) == (partial_labels.law_pair(m, grades, k).gap > 1e-9)


@pytest.mark.parametrize(("m", "k"), [(3, 2), (4, 3), (3, 1)])
def test_what_neighbouring_orders_leave_open_by_enumeration(m: int, k: int) -> None:
    # The nearest sum of functions of both tops, for every pair of orders that exchange documents 1 and 2 side by side.
    vectors = list(itertools.product(range(2), repeat=m))
    values = partial_labels.relevances(m, 2)
    target = values[:, 0] - values[:, 1]
    worst = 0.0
    for order in itertools.permutations(range(m)):
        rank = order.index(0)
        if rank + 1 < m and order[rank + 1] == 1:
            other = [1 if i == 0 else 0 if i == 1 else i for i in order]
            columns = []
            for top in (order[:k], other[:k]):
                columns += [
                    [float(all(y[i] == v for i, v in zip(top, labels, strict=True))) for y in vectors]
                    for labels in itertools.product(range(2), repeat=k)
                ]
            design = np.array(columns).T
            fitted = design @ np.linalg.pinv(design) @ target
            worst = max(worst, float(np.abs(target - fitted).max()))
    assert partial_labels.unseen_by_neighbours(m, 2, k) == pytest.approx(worst, abs=1e-9)


@pytest.mark.parametrize("law", [[0.5, 0.0, 0.0], 0.5, [[0.125] * 8]])
def test_a_law_has_a_probability_for_every_label_vector(law: object) -> None:
    with pytest.raises(DataError, match=r"q: expected .*8"):
        partial_labels.linear_rate(np.full(8, 0.125), law, 3, 2)  # type: ignore[arg-type]
