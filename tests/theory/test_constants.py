"""Are the constants true, attained where they are said to be, and consistent with each other?"""

import dataclasses
import math

import numpy as np
import pytest

from pipeline_lib import surrogates
from pipeline_lib.core.errors import DataError
from pipeline_lib.theory.constants import constants, search, supremum

WHATS = ("lipschitz-linf", "lipschitz-l2", "smoothness", "bound")
VARIANTS = [
    ("ranksvm", {"normalisation": "mean"}),
    ("ranksvm", {"margin": 0.5}),
    ("ranknet", {"normalisation": "all-pairs"}),
    ("ranknet", {"normalisation": "mean"}),
    ("rankboost", {"normalisation": "mean"}),
    ("smooth-dcg", {"sigma": 0.1, "sign": "as-printed"}),
    ("smooth-dcg", {"sign": "regret"}),
]
# Every surrogate, also those registered later, with its default options; and some with others.
CASES = [(name, {}) for name in surrogates.NAMES] + VARIANTS
LISTS = [(1, 1), (4, 2), (5, 1)]


def score_bound_needed(loss):
    try:
        loss.lipschitz(2, 1)
    except DataError:
        return True
    return False


def analytic(loss, m, y_max, what, bound):
    found = constants(loss, m, y_max, score_bound=bound)
    return {
        "lipschitz-linf": found.lipschitz,
        "lipschitz-l2": found.lipschitz_l2,
        "smoothness": found.smoothness,
        "bound": found.bound,
    }[what]


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.parametrize("what", WHATS)
def test_search_stays_below_the_constant_and_reaches_the_supremum(name, options, what):
    loss = surrogates.create(name, **options)
    if what == "smoothness" and not loss.smooth:
        with pytest.raises(DataError, match="not smooth"):
            search(loss, 4, 1, what, rng=np.random.default_rng(0))
        return
    for m, y_max in LISTS:
        bound = 1.3 if what == "bound" or score_bound_needed(loss) else None
        found = search(loss, m, y_max, what, rng=np.random.default_rng(1), restarts=2, score_bound=bound)
        assert len(found.scores) == len(found.y) <= m
        assert found.y.min() >= 0
        assert found.y.max() <= y_max
        assert bound is None or np.abs(found.scores).max() <= bound * (1.0 + 1e-12)
        constant = analytic(loss, m, y_max, what, bound)
        if constant is not None:
            assert found.value <= constant * (1.0 + 1e-8)
        exact = supremum(loss, m, y_max, what, score_bound=bound)
        if exact is not None:
            assert constant is None or exact <= constant * (1.0 + 1e-12)
            assert exact * 0.99 <= found.value <= exact * (1.0 + 1e-8)


@pytest.mark.parametrize("name", surrogates.NAMES)
def test_norms_of_gradients_are_related(name):
    # `lists`, section 3: G <= sqrt(m) G^CW; and G^CW <= G, because ||.||_2 <= ||.||_1
    loss = surrogates.create(name)
    for m, y_max in ((1, 1), (2, 1), (7, 2), (100, 4)):
        found = constants(loss, m, y_max, score_bound=0.7)
        assert found.lipschitz <= math.sqrt(m) * found.lipschitz_l2 * (1.0 + 1e-12) or supremum_related(loss, m, y_max)
        assert found.lipschitz_l2 <= found.lipschitz * (1.0 + 1e-12)


def supremum_related(loss, m, y_max):
    # Published constants that are free of m and not tight (m = 1 has gradient 0) need not obey; exact suprema do.
    exact = supremum(loss, m, y_max, "lipschitz-linf"), supremum(loss, m, y_max, "lipschitz-l2")
    return None not in exact and exact[0] <= math.sqrt(m) * exact[1] * (1.0 + 1e-12)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("squared", {}),
        ("squared-ndcg", {}),
        ("listnet", {}),
        ("ranknet", {}),
        ("ranknet", {"normalisation": "mean"}),
        ("smooth-dcg", {"sign": "regret"}),
        ("smooth-dcg", {"sign": "regret", "sigma": 0.3}),
    ],
)
def test_lemma_14_on_smooth_non_negative_losses(name, options):
    loss = surrogates.create(name, **options)
    rng = np.random.default_rng(0)
    for m in (1, 2, 6):
        n = 2000
        offsets = np.arange(0, n * m + 1, m)
        y = rng.integers(0, 4, n * m)
        scores = rng.normal(size=n * m) * np.repeat(10.0 ** rng.uniform(-2, 1.5, n), m)
        others = scores + rng.normal(size=n * m) * np.repeat(10.0 ** rng.uniform(-2, 1.5, n), m)
        smoothness = supremum(loss, m, 3, "smoothness") or loss.smoothness(m, 3) or 1.0  # 0 for one document
        moved = np.abs(scores - others).reshape(n, m).max(axis=1)
        here, there = (loss.value(s, y, offsets) for s in (scores, others))
        assert np.all((here - there) ** 2 <= 6.0 * smoothness * (here + there) * moved**2)


def test_a_score_bound_is_asked_for_where_it_is_needed():
    rng = np.random.default_rng(0)
    for call in (
        lambda: constants("squared", 5, 1),
        lambda: supremum("listnet", 5, 1, "bound"),
        lambda: search("listnet", 5, 1, "bound", rng=rng),
        lambda: search("kl", 5, 1, "lipschitz-l2", rng=rng),
        lambda: search("kl", 5, 1, "lipschitz-l2", rng=rng, score_bound=0.0),
    ):
        with pytest.raises(DataError, match="score_bound"):
            call()


@pytest.mark.parametrize(("m", "y_max"), [(10, 2), (100, 1)])
def test_the_smoothness_of_ranknet_is_found(m, y_max):
    # At equal scores, half of the documents relevant, and the direction that separates them
    found = search("ranknet", m, y_max, "smoothness", rng=np.random.default_rng(0), restarts=2)
    assert found.value == pytest.approx(m * m / 4, rel=1e-6)


@pytest.mark.parametrize("m", [5, 10, 50, 100, 500])
def test_ranksvm_grows_as_the_square_of_m(m):
    # `slam`, section 6.1 prints O(m) and 2 m; for binary labels it is 2 r (m - r) <= m^2 / 2
    found = search("ranksvm", m, 1, "lipschitz-linf", rng=np.random.default_rng(0), restarts=1)
    assert found.value == m**2 // 2
    assert constants("ranksvm", m, 1).lipschitz == m**2 // 2


@pytest.mark.parametrize("m", [5, 500, 10_000])
def test_listnet_does_not_grow_with_m(m):
    # `lists`, Proposition 1
    rng = np.random.default_rng(0)
    slope = search("listnet", m, 4, "lipschitz-linf", rng=rng, restarts=1)
    assert len(slope.y) == m
    assert slope.value == pytest.approx(2.0 - 2.0 / (1.0 + (m - 1) * math.exp(4)), rel=1e-9)
    curvature = search("listnet", m, 4, "smoothness", rng=rng, restarts=1)
    assert curvature.value == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("m", [2, 9, 1001])
def test_smooth_dcg_reaches_a_quarter_of_proposition_2(m):
    found = search("smooth-dcg", m, 4, "lipschitz-linf", rng=np.random.default_rng(0), restarts=1)
    assert found.value == pytest.approx(constants("smooth-dcg", m, 4).lipschitz / 4.0, rel=1e-9)


def test_a_search_goes_on_from_shorter_lists():
    def found(m, seed, shorter=None):
        rng = np.random.default_rng(seed)
        return search("squared", m, 2, "bound", rng=rng, restarts=1, score_bound=1.0, shorter=shorter)

    longer = found(9, 1, shorter=found(3, 0))
    assert (longer.value, len(longer.y)) == (81.0, 9)
    better = dataclasses.replace(longer, value=1e6)
    assert found(10, 2, shorter=better) is better


def test_search_is_reproducible():
    first, second = (search("ranknet", 5, 2, "smoothness", rng=np.random.default_rng(7), restarts=2) for _ in range(2))
    assert first.value == second.value
    np.testing.assert_array_equal(first.scores, second.scores)
