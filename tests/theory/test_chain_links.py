"""Do chains multiply and add as they say, and is what is computed of a known population right?"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_lib import RankingData, surrogates
from pipeline_lib.core.errors import DataError
from pipeline_lib.theory import chains, contraction, entropy, list_bounds, ranker_facts, regularised_links
from pipeline_lib.theory.known_population import KnownPopulation

FACTORS = st.lists(st.tuples(st.floats(0.1, 10.0), st.booleans()), min_size=2, max_size=6)


@settings(max_examples=30)
@given(start=st.floats(0.1, 10.0), steps=FACTORS)
def test_without_a_step_the_others_multiply_and_add_as_before(start: float, steps: list[tuple[float, bool]]) -> None:
    value, links = start, [chains.exact("0", "", "", start)]
    for k, (number, added) in enumerate(steps, 1):
        value = value + number if added else value * number
        links.append(chains.added(f"{k}", "", "", number) if added else chains.exact(f"{k}", "", "", value))
    chain = chains.of("t", "", "", 1.0, links)
    assert chain.stated == pytest.approx(value)
    assert math.prod(chain.factors()) == pytest.approx(value / start)
    for left_out in range(1, len(links)):
        rest = start
        for k, (number, added) in enumerate(steps, 1):
            if k != left_out:
                rest = rest + number if added else rest * number
        assert chain.without(left_out) == pytest.approx(rest)
    rows = chain.rows(n=1)
    assert [row["previous"] for row in rows[1:]] == [row["value"] for row in rows[:-1]]
    assert sum(row["costliest"] for row in rows) == 1
    # Without noise every factor is known, and the largest one leads unless it is there twice.
    assert [row["factor_low"] for row in rows[1:]] == pytest.approx([row["factor"] for row in rows[1:]])
    assert [row["factor_high"] for row in rows[1:]] == pytest.approx([row["factor"] for row in rows[1:]])
    largest = sorted(chain.factors())
    if largest[-1] > 1.001 * largest[-2]:
        assert [row["leads"] for row in rows] == [row["costliest"] for row in rows]


def test_a_step_leads_where_its_factor_is_largest_whatever_the_links_are_within_their_intervals() -> None:
    def chain(noise: float) -> chains.Chain:
        values = (1.0, 4.0, 8.0)
        links = [chains.Link(f"{v:g}", "", "", v, v * (1 - noise), v * (1 + noise)) for v in values]
        return chains.of("t", "", "", 1.0, [*links, chains.added("d", "", "", 2.0)])

    # Factors 4 and 2: apart if 4 (1 - r)/(1 + r) > 2 (1 + r)/(1 - r), which is r < (sqrt 2 - 1)/(sqrt 2 + 1) = .172.
    assert chain(0.15).leads()
    assert not chain(0.19).leads()
    low, high = chain(0.15).factor_ends(3)
    assert (low, high) == pytest.approx((1 + 2 / 9.2, 1 + 2 / 6.8))
    above = chain(1.5).rows(n=1)
    assert [row["factor_high"] for row in above] == [None] * 4
    assert above[1]["factor_low"] == 0.0


def test_a_chain_needs_links_of_different_names() -> None:
    with pytest.raises(DataError, match="links"):
        chains.of("t", "", "", 1.0, [chains.exact("a", "", "", 1.0)] * 2)


@pytest.fixture(scope="module")
def population() -> KnownPopulation:
    rng = np.random.default_rng(3)
    X, y = rng.uniform(-0.7, 0.7, (60, 2)), rng.integers(0, 3, 60)
    data = RankingData.from_arrays(X, y, np.repeat(np.arange(15), 4))
    return KnownPopulation(data, surrogates.create("listnet"), 3.0)


@pytest.mark.parametrize("ball", ["l2", "l1"])
def test_the_supremum_is_that_of_a_grid(population: KnownPopulation, ball: str) -> None:
    part, rng = KnownPopulation(population.data, population.loss, 3.0, ball), np.random.default_rng(0)  # type: ignore[arg-type]
    corners = [np.array([math.cos(t), math.sin(t)]) for t in np.linspace(0.0, 2.0 * math.pi, 60, endpoint=False)]
    scale = {"l2": 1.0, "l1": 2.0}[ball]
    points = [
        3.0 * r * c / (np.abs(c).sum() if scale == 2.0 else 1.0) for r in np.linspace(0.05, 1.0, 12) for c in corners
    ]
    losses = np.array([part.losses(w) for w in [np.zeros(2), *points]])
    for _ in range(3):
        counts = part.sample(30, rng)
        for weights in (part.gap_weights(counts), part.signed(counts, rng) / 30):
            found, where = part.supremum(weights, part.corners(rng, 4), 30)
            assert found >= (losses @ weights).max() - 2e-3
            assert found == pytest.approx(weights @ part.losses(where))
            assert np.linalg.norm(where, 2 if ball == "l2" else 1) <= 3.0 + 1e-9


@pytest.mark.parametrize(("d", "n"), [(2, 100), (2, 10**6), (30, 10**4)])
def test_the_integral_with_small_covers_is_that_of_a_riemann_sum(d: int, n: int) -> None:
    A, B = 2.0, 5.0
    covering = entropy.proposition_7(n=n, m=10, lipschitz=A, radius=1.0, feature_norm=1.0)
    eps = np.linspace(1e-5, B, 200_000)
    smaller = np.minimum(covering.log2(eps), np.where(eps >= A, 0.0, d * np.log2(1.0 + 2.0 * A / eps)))
    areas = np.cumsum(np.sqrt(smaller / n)[::-1])[::-1] * (eps[1] - eps[0])
    assert entropy.smallest_integral(covering, A, d, n, B) == pytest.approx(
        float(np.min(4.0 * eps + 10.0 * areas)), rel=0.01
    )


def test_the_integral_refuses_losses_whose_steps_float64_cannot_hold() -> None:
    with pytest.raises(DataError, match="reach: expected at least 1e-299, found 1e-310"):
        entropy.smallest_integral(entropy.Covering(1.0, 1e6), 1.0, 2, 10**6, 1e-310)


@pytest.mark.parametrize(("n", "p", "delta"), [(10, 0.3, 0.05), (50, 0.05, 0.2), (200, 0.9, 0.01)])
def test_the_mean_exceeds_its_bound_with_at_most_the_stated_probability(n: int, p: float, delta: float) -> None:
    fails = sum(
        math.comb(n, k) * p**k * (1.0 - p) ** (n - k)
        for k in range(n + 1)
        if contraction.mean_at_most(4.0 * k / n, 4.0, n, delta) < 4.0 * p
    )
    assert fails <= delta
    # With a tenth of the exponent it would fail more often.
    too_small = [
        k
        for k in range(n + 1)
        if 4.0 * k / n + 0.1 * (contraction.mean_at_most(4.0 * k / n, 4.0, n, delta) - 4.0 * k / n) < 4.0 * p
    ]
    assert sum(math.comb(n, k) * p**k * (1.0 - p) ** (n - k) for k in too_small) > fails


def test_documents_relative_to_their_list_have_the_same_losses(population: KnownPopulation) -> None:
    data, loss, w = population.data, population.loss, np.array([1.0, -2.0])
    X = ranker_facts.effective(data, loss)
    assert np.allclose(np.add.reduceat(X, data.offsets[:-1]), 0.0)
    assert not np.allclose(X, data.X64)
    np.testing.assert_allclose(loss.value(X @ w, data.y, data.offsets), loss.value(data.X64 @ w, data.y, data.offsets))
    assert ranker_facts.effective(data, surrogates.create("squared")) is data.X64


@pytest.mark.parametrize("name", ["listnet", "ranksvm", "smooth-dcg", "squared"])
def test_the_comparison_with_linear_rankers_holds_by_enumeration(name: str) -> None:
    options = {"ranksvm": {"normalisation": "mean"}, "smooth-dcg": {"sign": "regret"}}.get(name, {})
    loss, rng = surrogates.create(name, **options), np.random.default_rng(5)
    X, y = rng.uniform(-1.0, 1.0, (9, 2)), [2, 0, 1, 0, 1, 0, 1, 2, 0]
    data = RankingData.from_arrays(X, y, np.repeat([1, 2, 3], 3))
    ball = [r * np.array([math.cos(t), math.sin(t)]) for r in (0.0, 0.5, 1.0) for t in np.linspace(0.0, 6.3, 80)]
    losses = np.array([loss.value(data.X64 @ w, data.y, data.offsets) for w in ball])
    average = np.mean([(losses @ np.array(signs)).max() for signs in itertools.product((-1, 1), repeat=3)])
    X = ranker_facts.effective(data, loss)
    lengths = np.linalg.norm(rng.normal(size=(4000, 9)) @ X, axis=1)
    constant = math.sqrt(math.pi / 2.0) * loss.lipschitz(3, 2, "l2", score_bound=math.sqrt(2.0))
    assert average <= constant * float(np.mean(lengths))
    assert float(np.mean(lengths)) <= math.sqrt(contraction.squared_norms(data, loss).sum())


def test_the_certificate_holds_for_the_worst_ranker_of_most_samples(population: KnownPopulation) -> None:
    rng, n, delta = np.random.default_rng(2), 60, 0.2
    data, loss = population.data, population.loss
    B = loss.excess_bound(4, 2, 3.0)
    given_ = {"lipschitz_l2": loss.lipschitz(4, 2, "l2"), "radius": 3.0, "loss_bound": B, "delta": delta}
    squares, largest = contraction.squared_norms(data, loss), 4.0 * float((data.X64**2).sum(axis=1).max())
    gaps, bounds = [], []
    for _ in range(20):
        counts = population.sample(n, rng)
        gaps.append(population.supremum(population.gap_weights(counts), population.corners(rng, 3), 20)[0])
        bounds.append(contraction.deviation(n, square=float(counts @ squares) / n, largest=largest, **given_))
    assert np.mean(np.array(gaps) > np.array(bounds)) <= delta
    assert max(bounds) < B


def two_points(radius: float) -> KnownPopulation:
    """Two queries that differ in their labels; RankSVM's loss 1 -+ w/2 is linear on the ball."""
    data = RankingData.from_arrays([[0.25], [-0.25]] * 2, [1, 0, 0, 1], [1, 1, 2, 2])
    return KnownPopulation(data, surrogates.create("ranksvm"), radius)


def test_the_minimiser_moves_as_far_as_strong_convexity_allows() -> None:
    # L = 1/2: w = mean of +-1/2 over l2, and one of n queries replaced moves it by 1 / (n l2) = 2 L / (n l2).
    n, l2 = 10, 0.5
    population, counts = two_points(1.9), np.array([6, 4])
    w, other = population.fitted(counts, l2, tol=1e-9), population.fitted(np.array([5, 5]), l2, tol=1e-9)
    assert abs(float(w[0] - other[0])) == pytest.approx(2.0 * 0.5 / (l2 * n), rel=1e-4)
    sample = regularised_links.measured(population, counts, np.zeros(1), l2, 8, np.random.default_rng(0))
    assert sample.largest_move == pytest.approx(2.0 * 0.5 / (l2 * n), rel=1e-4)


def test_the_mean_gap_is_the_mean_change_of_the_query_that_is_replaced() -> None:
    # All samples of three queries, all replaced queries and all that replace them, each equally likely.
    population, l2, gaps, changes = two_points(1.0), 0.5, [], []
    for drawn in itertools.product((0, 1), repeat=3):
        counts = np.bincount(drawn, minlength=2)
        losses = population.losses(population.fitted(counts, l2, tol=1e-9))
        gaps.append(float(population.gap_weights(counts) @ losses))
        for left_out, new in itertools.product(range(3), (0, 1)):
            others = counts - np.eye(2, dtype=np.int64)[drawn[left_out]] + np.eye(2, dtype=np.int64)[new]
            other = population.losses(population.fitted(others, l2, tol=1e-9))
            changes.append(float(other[drawn[left_out]] - losses[drawn[left_out]]))
    assert np.mean(gaps) == pytest.approx(np.mean(changes), abs=1e-6)
    assert np.mean(gaps) > 0.01


@pytest.mark.parametrize("n", [1, 10, 1000])
def test_twice_the_squared_constant_would_do_in_the_cited_theorem(n: int) -> None:
    # 2 L^2 / (l2 n) + l2 B^2 / 2 is 2 L B / sqrt(n) at its best l2, and below the stated number.
    L, B = 1.5, 2.0
    l2 = 2.0 * L / (B * math.sqrt(n))
    assert 2.0 * L**2 / (l2 * n) + 0.5 * l2 * B**2 == pytest.approx(2.0 * L * B / math.sqrt(n))
    stated = list_bounds.evaluate("rerm", n=n, m=1, lipschitz=L, radius=B, feature_norm=1.0)
    assert stated > math.sqrt(2.0) * 2.0 * L * B / math.sqrt(n)
