"""Are the bounds of `lists`, and two of our own, what they state, in every range, and refused without assumptions?"""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_lib import surrogates
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.learners import erm
from pipeline_lib.theory import entropy, list_bounds, list_lengths

BOUNDS = [*list_bounds.NAMES]
GIVEN = {
    "n": 4000,
    "m": 30,
    "lipschitz": 2.0,
    "lipschitz_l2": 1.4,
    "smoothness": 1.5,
    "average": 5.0,
    "radius": 1.2,
    "feature_norm": 0.8,
    "d": 50,
    "loss_bound": 3.0,
    "delta": 0.05,
    "optimal_risk": 0.2,
    "empirical_risk": 0.1,
}


def test_statements_by_hand():
    n, a = 4000, 1.2 * 0.8
    x = 0.8**2 * 1.5 * 1.2**2 / n
    rademacher = entropy.corollary_8(n=n, m=30, lipschitz=2.0, radius=1.2, feature_norm=0.8, loss_bound=3.0)
    covering = entropy.proposition_10(n=n, m=30, d=50, lipschitz=2.0, radius=1.2, feature_norm=0.8)
    deviation = 3 * 3.0 * math.sqrt(math.log(2 / 0.05) / (2 * n))
    deviation_once = 3.0 * math.sqrt(math.log(1 / 0.05) / (2 * n))
    expected = {
        "chapelle-wu": 3 * 1.4 * a * math.sqrt(30 / n) + math.sqrt(8 * math.log(20) / n),
        "ogd": 2.0 * a * math.sqrt(2 / n),
        "rerm": 2 * 2.0 * a * (8 / n + math.sqrt(2 / n)),
        "erm": 2 * rademacher + deviation,
        "erm-l1": 2 * entropy.integral(covering, n, 3.0).value + deviation,
        "smooth-ogd": 2 * math.sqrt(2 * x * 0.2) + 8 * x,
        "length-free": 2 * 5.0 / math.sqrt(n) + 3.0 * math.sqrt(math.log(20) / (2 * n)),
        "chain": 2 * list_lengths.by_chain(n=n, m=30, lipschitz=2.0, scores=a) + deviation_once,
    }
    for name, value in expected.items():
        assert list_bounds.evaluate(name, **GIVEN) == pytest.approx(value, rel=1e-12), name


def test_optimistic_solves_its_inequality():
    found = list_bounds.evaluate("optimistic", **{**GIVEN, "n": 10**9})
    C = 5 * math.sqrt(3) * 1.2 * 0.8 * math.sqrt(1.5 * math.log2(3 * 30 * 1e9) / 1e9)
    r_star = (4 * C * math.log(3 * math.sqrt(3.0) / C)) ** 2
    r_0 = 3.0 * (math.log(20) + math.log(math.log(1e9))) / 1e9
    L = 0.1 + found
    right = 0.1 + 45 * r_star + math.sqrt(8 * r_star * L) + math.sqrt(4 * r_0 * L) + 20 * r_0
    assert right == pytest.approx(L, rel=1e-12)


def test_the_step_and_the_regularisation_of_the_theorems():
    G = 2.0 * 0.8
    n, W = 4000, 1.2
    l2 = erm.lipschitz_l2(n, radius=W, lipschitz=2.0, feature_norm=0.8)

    def bound(value):
        # appendix F: lambda W^2/2 + 4 (lambda W + G)^2 / (lambda n)
        return value * W**2 / 2 + 4 * (value * W + G) ** 2 / (value * n)

    assert bound(l2) <= min(bound(0.99 * l2), bound(1.01 * l2))
    assert bound(l2) <= list_bounds.evaluate("rerm", **GIVEN) * (1 + 1e-12)


@settings(max_examples=150)
@given(
    st.sampled_from(BOUNDS),
    st.floats(1.0, 1e12),
    st.floats(1.0, 1e6),
    st.floats(1e-2, 1e2),
    st.floats(1e-2, 1e2),
    st.floats(1e-3, 0.5),
    st.floats(1.01, 100.0),
)
def test_monotone_in_every_argument(name, n, m, radius, loss_bound, delta, factor):
    base = {**GIVEN, "n": n, "m": m, "radius": radius, "loss_bound": loss_bound, "delta": delta}
    value, allowed = list_bounds.evaluate(name, **base), 1.0 + 1e-6
    assert math.isfinite(value)
    assert value > 0.0
    for key in ("m", "lipschitz", "lipschitz_l2", "smoothness", "radius", "feature_norm", "loss_bound", "d"):
        larger = base[key] * factor if key != "d" else 500
        assert list_bounds.evaluate(name, **{**base, key: larger}) * allowed >= value, key
    for key in ("optimal_risk", "empirical_risk"):
        assert list_bounds.evaluate(name, **{**base, key: base[key] * factor}) * allowed >= value, key
    assert list_bounds.evaluate(name, **{**base, "delta": min(0.999, delta * factor)}) <= value * allowed
    # log log n grows where it begins (n = e); from there on B log log n / n has to fall again.
    if name != "optimistic" or n >= 20.0:
        assert list_bounds.evaluate(name, **{**base, "n": n * factor}) <= value * allowed


def test_the_constants_of_losses_whose_bound_is_free_of_the_length():
    given = {"y_max": 2, "radius": 2.0, "feature_norm": 0.25}
    for m in (10, 10_000):
        of_listnet = list_bounds.of_surrogate("length-free", "listnet", m=m, **given)
        assert of_listnet["average"] == list_lengths.of_listnet(n=1.0, scores=0.5)
        loss = surrogates.create("smooth-dcg", sigma=0.5, sign="regret")
        of_smooth = list_bounds.of_surrogate("length-free", loss, m=m, **given)
        assert of_smooth["average"] == list_lengths.of_smooth_dcg(n=1.0, scores=1.0, largest_gain=3.0)
    with pytest.raises(DataError, match=r"length-free .*: expected listnet or smooth-dcg"):
        list_bounds.of_surrogate("length-free", "ranknet", m=10, **given)


@pytest.mark.parametrize("name", BOUNDS)
def test_vacuous_up_to_the_n_named(name):
    given_ = {key: value for key, value in GIVEN.items() if key != "n"}
    found = list_bounds.assess(name, n=10, **given_)
    first = found.not_vacuous_from
    assert found.vacuous == (found.value >= 3.0)
    assert first is not None
    assert list_bounds.evaluate(name, n=first, **given_) < 3.0
    assert first == 1 or list_bounds.evaluate(name, n=first - 1, **given_) >= 3.0


@pytest.mark.parametrize("first", [1, 2, 3, 4, 1000, 10**15])
def test_the_first_n_is_found_up_to_10_to_the_15(first):
    assert list_bounds.first_below(lambda n: float(n < first), lambda n: 0.5) == first
    assert list_bounds.first_below(lambda n: float(n < 10**15 + first), lambda n: 0.5) is None


@pytest.mark.parametrize("name", BOUNDS)
def test_every_bound_is_what_a_bound_has_to_be(name):
    list_bounds.check(name)


FALSE = {
    "falls too fast": (lambda g: g.loss_bound * math.log(1.0 / g.delta) / g.n, "with probability >= 0.95, found 0.94"),
    "half of Hoeffding's": (lambda g: 0.5 * hoeffding(g), "with probability >= 0.95"),
    "of the wrong delta": (lambda g: g.loss_bound * math.sqrt(g.delta), "not to grow with delta"),
    "grows with n": (lambda g: g.loss_bound * math.log(1.0 / g.delta) * math.log(g.n), "not to grow with n"),
    "falls with B": (lambda g: math.sqrt(-math.log(g.delta) / g.n) / g.loss_bound, "not to fall with loss_bound"),
    "never below B": (lambda g: 2.0 * g.loss_bound * math.log(1.0 / g.delta), "expected less than B = 3"),
    "no number": (lambda g: math.nan, "expected a number, found OutOfRangeError"),
    "negative": (lambda g: -hoeffding(g), "a finite number > 0, found -"),
    "an error": (lambda g: g.lipschitz * hoeffding(g), "expected a number, found TypeError"),
}


def hoeffding(g):
    return g.loss_bound * math.sqrt(math.log(1.0 / g.delta) / (2.0 * g.n))


@pytest.mark.parametrize("what", FALSE)
def test_a_statement_from_elsewhere_that_is_no_bound_is_refused_before_it_is_evaluated(what):
    formula, said = FALSE[what]
    statement = list_bounds.Statement("a guess", ("loss_bound", "delta"), formula)
    for _ in range(2):
        with pytest.raises(DataError, match=f"^a guess: .*{said}"):
            list_bounds.evaluate(statement, **GIVEN)
    good = list_bounds.Statement("Hoeffding", ("loss_bound", "delta"), hoeffding)
    assert list_bounds.evaluate(good, **GIVEN) == pytest.approx(3.0 * math.sqrt(math.log(20.0) / 8000.0))


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("chapelle-wu", {"delta": None}, "probability with which"),
        ("erm", {"lipschitz": None}, "G in the maximum norm"),
        ("chapelle-wu", {"lipschitz_l2": None}, "G in the Euclidean norm"),
        ("optimistic", {"smoothness": None}, "H in the maximum norm"),
        ("smooth-ogd", {"optimal_risk": None}, "smallest risk"),
        ("erm-l1", {"d": None}, "number of features"),
        ("ogd", {"convex": False}, "Theorem 5.*convex"),
        ("rerm", {"convex": False}, "Theorem 6.*convex"),
        ("smooth-ogd", {"convex": False}, "equation 8.*convex"),
    ],
)
def test_violated_assumptions_are_named(name, change, said):
    with pytest.raises(DataError, match=said):
        list_bounds.evaluate(name, **{**GIVEN, **change})


def test_unknown_names_get_the_nearest():
    with pytest.raises(ConfigurationError, match="optimistic"):
        list_bounds.evaluate("optimist", **GIVEN)


@pytest.mark.parametrize(
    ("name", "surrogate", "options", "said"),
    [
        ("ogd", "smooth-dcg", {}, "convex"),
        ("smooth-ogd", "ranksvm", {}, "smooth"),
        ("optimistic", "smooth-dcg", {"sign": "ascent"}, "non-negative"),
    ],
)
def test_a_surrogate_that_does_not_fit_is_refused(name, surrogate, options, said):
    for loss in (surrogates.create(surrogate, **options), *([surrogate] if not options else [])):
        with pytest.raises(DataError, match=said):
            list_bounds.of_surrogate(name, loss, m=10, y_max=2, radius=1.0, feature_norm=1.0)


def test_surrogates_supply_their_constants():
    loss = surrogates.create("smooth-dcg", sign="regret", sigma=0.5)
    found = list_bounds.of_surrogate("optimistic", loss, m=10, y_max=2, radius=1.0, feature_norm=1.0)
    assert found["lipschitz"] == pytest.approx(2 * 3 / 0.5)
    assert found["loss_bound"] == pytest.approx(3.0)
    assert not found["convex"]
