"""What holds for every registered surrogate, also for one that is registered tomorrow?"""

import functools
import inspect
import itertools
import typing

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ranking_losses import phi, queries, rising_label_vectors, several_queries, some_queries, stacked

from pipeline_lib import metrics, surrogates
from pipeline_lib.core import checks, seeds
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.surrogates.base import SmoothSurrogate
from pipeline_lib.surrogates.checking import PARTS
from pipeline_lib.surrogates.pairwise import RankSVM
from pipeline_lib.theory.decomposability import order

# With its default options, and with others that change what is computed.
CASES = [(name, {}) for name in surrogates.NAMES] + [
    ("rankboost", {"normalisation": "mean"}),
    ("rankboost", {"normalisation": "all-pairs"}),
    ("ranknet", {"normalisation": "mean"}),
    ("ranknet", {"normalisation": "all-pairs"}),
    ("ranksvm", {"normalisation": "mean", "margin": 0.5}),
    ("ranksvm", {"normalisation": "all-pairs"}),
    ("slam-ndcg", {"weights": "tight"}),
    ("slam-ndcg@k", {"k": 3}),
    ("smooth-dcg", {"sigma": 0.3, "sign": "as-printed"}),
    ("smooth-dcg", {"sigma": 0.7, "sign": "regret"}),
]
IDS = ["-".join(map(str, [name, *options.values()])) for name, options in CASES]
# Surrogates that compare documents of different labels only: nothing to lose where there are none.
COMPARING = ("rankboost", "ranknet", "ranksvm", "slam-map", "slam-ndcg", "slam-ndcg@k", "structured-ndcg", "svm-map")
# Where several rankings are best, any of them gives a subgradient, and rounding decides which.
OVER_RANKINGS = ("structured-ndcg", "svm-map")
# How many labels at a time the gradient takes, for lists of four documents.
LABELS_AT_ONCE = {"squared": 1, "kl": 1, "smooth-dcg": 1, "ranksvm": 2, "ranknet": 2, "rankboost": 2, "listnet": 4}
LABELS_AT_ONCE |= dict.fromkeys(("squared-ndcg", "slam-ndcg", "slam-map", "structured-ndcg", "svm-map"), 4)
# The measure by which 1 - measure is a lower bound of the loss, whatever the scores.
RANKING_LOSSES = {"slam-ndcg": "ndcg", "slam-map": "map", "slam-ndcg@k": "ndcg@k"}
RANKING_LOSSES |= {"structured-ndcg": "ndcg", "svm-map": "map"}

every_case = pytest.mark.parametrize("loss", [surrogates.create(name, **options) for name, options in CASES], ids=IDS)


def chosen(wanted):
    """The cases of which ``wanted`` is true, as a parameter."""
    made = {i: surrogates.create(name, **options) for i, (name, options) in zip(IDS, CASES, strict=True)}
    kept = {i: loss for i, loss in made.items() if wanted(loss)}
    return pytest.mark.parametrize("loss", kept.values(), ids=kept)


written_out = chosen(lambda loss: phi(loss, np.zeros(2), np.array([1, 0])) is not None)


@functools.cache  # and not at once, because every process that collects tests would compile all surrogates
def exponential():
    """The surrogates that exceed the range of float64 at some finite scores."""
    far = checks.ranking([-800.0, 800.0], [1, 0], [0, 2])
    return [name for name in surrogates.NAMES if surrogates.create(name).unchecked(*far)[0][0] == np.inf]


def bounded(loss, scores, by=50.0):
    """Scores within what float64 can hold of surrogates that grow exponentially."""
    return np.clip(scores, -by, by) if loss.name in exponential() else scores


def needs_score_bound(loss):
    try:
        loss.lipschitz(2, 1)
    except DataError as error:
        return "score_bound" in str(error)
    return False


# --- The gradient, and what the class says of phi ---------------------------------------------------------------------


@written_out
@settings(max_examples=40)
@given(drawn=several_queries())
def test_value_follows_the_formula(loss, drawn):
    scores, y, offsets = drawn
    # Plain formulas of exponentials stay finite, and those that go through all rankings or sets come to an end.
    y, scores = np.minimum(y, 20), bounded(loss, scores, 20.0)
    longest = 5 if loss.name in OVER_RANKINGS else 60
    parts = [(scores[a:b][:longest], y[a:b][:longest]) for a, b in itertools.pairwise(offsets)]
    expected = np.array([phi(loss, *part) for part in parts])
    scale = np.array([1.0 + np.abs(s).max() * len(s) ** 2 + 2.0 ** labels.max() * len(s) for s, labels in parts])
    scale *= np.e ** y.max() if loss.name == "kl" else 1.0  # where e^y and e^s nearly cancel
    values = loss.value(*stacked(parts))
    assert np.all(np.abs(values - expected) <= 1e-11 * (np.abs(expected) + scale))


@written_out
@pytest.mark.parametrize("levels", [2, 200])
def test_value_and_slope_of_a_long_list(loss, levels):
    rng = np.random.default_rng(0)
    scores, y, u = rng.normal(size=1500), rng.integers(0, levels, 1500), rng.normal(size=1500)
    if loss.name not in OVER_RANKINGS:
        y_ = np.minimum(y, 20) if loss.name in ("kl", "listnet") else y
        assert loss.value(scores, y_, [0, 1500])[0] == pytest.approx(phi(loss, scores, y_), rel=1e-10)
    step = 1e-6 * u / np.abs(u).max()
    change = np.subtract(*(loss.value(scores + sign * step, y, [0, 1500])[0] for sign in (1, -1)))
    gradient = loss.gradient(scores, y, [0, 1500])
    assert change / 2.0 == pytest.approx(gradient @ step, abs=1e-5 * np.abs(gradient) @ np.abs(step))


def largest_seen(loss, m, y_max, reach):
    """The largest ||g||_1, ||g||_2, ||D^2 phi u||_1 for signs u, |phi| and phi less its least value, on short lists.

    The scores are corners of a cube, its centre, and orders of documents far apart, where suprema are attained.
    """
    seen = np.zeros(5)
    for size in range(1, m + 1):
        apart = [np.array(s) for s in itertools.permutations(np.linspace(-reach, reach, size))]
        corners = [np.array(s) for s in itertools.product((-reach, 0.0, reach), repeat=size)]
        batch = [(s, y) for y in rising_label_vectors(size, y_max) for s in apart + corners]
        scores, y, offsets = stacked(batch)
        values, gradient = loss.value_and_gradient(scores, y, offsets)
        size_1 = np.add.reduceat(np.abs(gradient), offsets[:-1])
        size_2 = np.sqrt(np.add.reduceat(gradient**2, offsets[:-1]))
        bent = 0.0
        if isinstance(loss, SmoothSurrogate):
            signs = np.tile(np.array(list(itertools.product((-1.0, 1.0), repeat=size))).T, (len(batch), 1))
            product = loss.hessian_product(scores, y.astype(np.int32), offsets, signs)
            bent = np.add.reduceat(np.abs(product), offsets[:-1], axis=0).max()
        excess = (values - loss.least(y, offsets)).max()
        seen = np.maximum(seen, [size_1.max(), size_2.max(), bent, np.abs(values).max(), excess])
    return seen


# At equal scores, every pair of the rounded ones is in the middle of the rounded part.
ROUNDED = [RankSVM(n, margin=0.5).smoothed(2.0) for n in ("sum", "mean", "all-pairs")]
ROUNDED_IDS = [f"rounded-{loss.normalisation}" for loss in ROUNDED]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "loss", [*(surrogates.create(name, **options) for name, options in CASES), *ROUNDED], ids=[*IDS, *ROUNDED_IDS]
)
def test_what_the_class_states_is_so(loss, part):
    PARTS[part](loss, seeds.generator("surrogates", "check", part))


@pytest.mark.parametrize("loss", [*(surrogates.create(name, **options) for name, options in CASES), *ROUNDED])
@pytest.mark.parametrize(("m", "y_max"), [(1, 2), (2, 1), (3, 3), (4, 0), (4, 1), (4, 2)])
def test_constants_are_upper_bounds_and_suprema_are_attained(loss, m, y_max):
    for score_bound in (0.3, 2.0):
        reach = score_bound if needs_score_bound(loss) else 60.0
        seen = largest_seen(loss, m, y_max, reach)
        within = largest_seen(loss, m, y_max, score_bound)
        known = {
            "lipschitz-linf": (seen[0], loss.lipschitz(m, y_max, score_bound=reach)),
            "lipschitz-l2": (seen[1], loss.lipschitz(m, y_max, "l2", score_bound=reach)),
            "bound": (within[3], loss.bound(m, y_max, score_bound)),
        }
        if isinstance(loss, SmoothSurrogate):
            known["smoothness"] = seen[2], loss.smoothness(m, y_max, score_bound=reach)
        excess = loss.excess_bound(m, y_max, score_bound)
        assert excess is None or within[4] <= excess * (1.0 + 1e-9)
        for what, (largest, constant) in known.items():
            exact = loss.supremum(what, m, y_max, score_bound=score_bound if what == "bound" else reach)
            assert constant is None or largest <= constant * (1.0 + 1e-9) + 1e-12, what
            assert exact is None or largest == pytest.approx(exact, rel=1e-9, abs=1e-12), what
            assert exact is None or exact <= constant * (1.0 + 1e-12), what


def test_constants_of_some_need_a_score_bound():
    needing = [name for name in surrogates.NAMES if needs_score_bound(surrogates.create(name))]
    assert {"kl", "rankboost", "squared", "squared-ndcg"} <= set(needing)
    assert surrogates.create("kl").smoothness(4, 1, score_bound=1e4) == np.inf
    rankboost = surrogates.create("rankboost")
    assert [rankboost.lipschitz(m, 1, score_bound=400.0) for m in (4, 1)] == [np.inf, 0.0]
    assert rankboost.smoothness(4, 0, score_bound=400.0) == 0.0


def aims(y):
    """Scores at which, or towards which, the surrogates are least on one query."""
    ranks = -np.argsort(np.argsort(-y, kind="stable")).astype(float)  # of equal labels, the first is on top
    gains, places = 2.0**y - 1.0, 1.0 / np.log2(np.arange(2, len(y) + 2))
    ideal = np.sort(gains)[::-1] @ places
    yield from (y.astype(float), 30.0 * y, 30.0 * ranks, -30.0 * ranks, gains / ideal if ideal > 0.0 else gains)


@every_case
def test_the_least_value_is_approached_and_never_passed(loss):
    scores, y, offsets = some_queries(np.random.default_rng(5), spread=2.0)
    least = loss.least(y, offsets)
    assert (loss.value(scores, y, offsets) >= least - 1e-9).all()
    for own, expected in zip(np.split(y, offsets[1:-1]), least, strict=True):
        values = [loss.value(aim - aim.max(), own, [0, len(own)])[0] for aim in aims(own)]
        values += [loss.value(aim, own, [0, len(own)])[0] for aim in aims(own) if aim.max() < 50.0]
        assert min(values) == pytest.approx(expected, abs=1e-6)


@chosen(lambda loss: loss.convex)
@settings(max_examples=40)
@given(query=queries(max_m=30), seed=st.integers(0, 2**32))
def test_convex_ones_lie_above_their_tangents(loss, query, seed):
    scores, y = bounded(loss, query[0]), query[1]
    other = scores + np.random.default_rng(seed).normal(size=len(scores)) * max(1.0, np.abs(scores).max())
    here, gradient = loss.value_and_gradient(scores, y, [0, len(y)])
    there = loss.value(other, y, [0, len(y)])
    linear = gradient @ (other - scores)
    assert there[0] - here[0] - linear >= -1e-9 * (1.0 + abs(there[0]) + abs(here[0]) + abs(linear))


@chosen(lambda loss: not loss.convex)
def test_others_lie_below_a_tangent_somewhere(loss):
    rng = np.random.default_rng(0)
    lowest = 0.0
    for _ in range(200):
        scores, other = rng.normal(scale=3.0, size=(2, 3))
        here, gradient = loss.value_and_gradient(scores, [2, 0, 1], [0, 3])
        lowest = min(lowest, loss.value(other, [2, 0, 1], [0, 3])[0] - here[0] - gradient @ (other - scores))
    assert lowest < -0.01


@every_case
def test_the_gradient_jumps_where_the_class_says_that_phi_is_not_smooth(loss):
    # Whole scores in steps of half a margin, so that hinges and ties among rankings are met.
    step, y, largest = 1e-7, [2, 0, 1, 0], 0.0
    for scores in itertools.product((-1.0, -0.5, 0.0, 0.5, 1.0), repeat=4):
        for i in range(4):
            nudge = step * (np.arange(4) == i)
            jump = loss.gradient(scores + nudge, y, [0, 4]) - loss.gradient(scores - nudge, y, [0, 4])
            largest = max(largest, float(np.abs(jump).max()))
    if loss.smooth:
        assert largest <= 2 * step * loss.smoothness(4, 2, score_bound=1.1)
    else:
        assert largest > 1e-3
        with pytest.raises(DataError, match="not smooth"):
            loss.smoothness(4, 2)


@every_case
@settings(max_examples=40)
@given(query=queries(max_m=40), shift=st.sampled_from([-1e4, -3.25, 0.5, 1e4]))
def test_adding_a_constant_changes_nothing_where_the_class_says_so(loss, query, shift):
    if not loss.shift_invariant:
        assert loss.value([1.0, 2.0], [0, 1], [0, 2])[0] != loss.value([1.5, 2.5], [0, 1], [0, 2])[0]
        return
    scores, y = bounded(loss, query[0]), query[1]
    scores = np.round(scores * 1024.0) / 1024.0  # so that nothing is rounded when the constant is added
    offsets = [0, len(y)]
    value, gradient = loss.value_and_gradient(scores, y, offsets)
    moved, moved_gradient = loss.value_and_gradient(scores + shift, y, offsets)
    size = 1.0 + np.abs(gradient).max()
    assert moved[0] == pytest.approx(value[0], rel=1e-9, abs=1e-9 * size * (1.0 + np.abs(scores).max()))
    if loss.name not in OVER_RANKINGS:
        np.testing.assert_allclose(moved_gradient, gradient, atol=1e-9 * size)


@pytest.mark.parametrize("name", LABELS_AT_ONCE)
def test_the_gradient_takes_as_many_labels_at_a_time_as_its_formula(name):
    loss, scores = surrogates.create(name), np.array([0.31, -0.22, 0.13, -0.54])
    assert order(lambda y: loss.gradient(scores, y, [0, 4]), 4, 2) == LABELS_AT_ONCE[name]


@chosen(lambda loss: loss.name in RANKING_LOSSES)
@settings(max_examples=60)
@given(query=queries(max_m=15))
def test_the_loss_is_never_below_its_ranking_loss(loss, query):
    scores, y = query
    measure = RANKING_LOSSES[loss.name].replace("@k", f"@{getattr(loss, 'k', '')}")
    value = metrics.per_query([measure], scores, y, [0, len(y)], no_relevant=1.0)[measure][0]
    slack = 1e-12 * (1.0 + np.abs(scores).max()) * len(y)
    assert loss.value(scores, y, [0, len(y)])[0] >= 1.0 - value - slack


@pytest.mark.parametrize("name", surrogates.NAMES)
def test_every_option_has_a_range_and_keeps_to_it(name):
    kind = type(surrogates.create(name))
    kinds = typing.get_type_hints(inspect.unwrap(kind.__init__), include_extras=True)
    for option in inspect.signature(kind).parameters:
        numbers = next((one for one in typing.get_args(kinds[option]) if isinstance(one, checks.Range)), None)
        assert numbers is not None or typing.get_origin(kinds[option]) is typing.Literal
        for wrong in ("nonsense", None, np.nan, *(() if numbers is None else (numbers.low - 1, numbers.high * 2))):
            with pytest.raises((ConfigurationError, DataError), match=option):
                surrogates.create(name, **{option: wrong})


# --- The company of others --------------------------------------------------------------------------------------------


@every_case
@settings(max_examples=40)
@given(query=queries(max_m=30), seed=st.integers(0, 2**32))
def test_the_gradient_moves_with_the_documents(loss, query, seed):
    scores, y = bounded(loss, query[0]), query[1]
    # A reordering that keeps documents of equal label in their order, which some surrogates look at.
    places = np.random.default_rng(seed).permutation(len(y))
    moved_order = np.empty(len(y), np.int64)
    levels = np.minimum(y, 1) if loss.name.endswith("-map") else y
    for level in set(levels.tolist()):
        moved_order[np.sort(places[levels == level])] = np.flatnonzero(levels == level)
    if len(set(scores.tolist())) < len(scores) and loss.name.startswith("slam"):
        scores = scores + 1e-3 * np.arange(len(scores))  # of equal scores, the first carries the subgradient
        assume(len(set(scores.tolist())) == len(scores))
    offsets = [0, len(y)]
    value, gradient = loss.value_and_gradient(scores, y, offsets)
    moved, moved_gradient = loss.value_and_gradient(scores[moved_order], y[moved_order], offsets)
    size = 1.0 + np.abs(gradient).max()
    assert moved[0] == pytest.approx(value[0], rel=1e-9, abs=1e-9 * size * (1.0 + np.abs(scores).max()))
    if loss.name not in OVER_RANKINGS:
        np.testing.assert_allclose(moved_gradient, gradient[moved_order], atol=1e-9 * size)


@every_case
def test_a_query_alone_equals_itself_among_others(loss):
    scores, y, offsets = some_queries(np.random.default_rng(5), n_queries=9, largest=80, spread=2.0)
    values, gradient = loss.value_and_gradient(scores, y, offsets)
    for q, (a, b) in enumerate(itertools.pairwise(offsets)):
        alone, own = loss.value_and_gradient(scores[a:b], y[a:b], [0, b - a])
        assert alone[0] == values[q]
        np.testing.assert_array_equal(own, gradient[a:b])


# --- The ends of the domain -------------------------------------------------------------------------------------------


@every_case
@pytest.mark.parametrize("label", [0, 1, 4])
@pytest.mark.parametrize("scores", [[0.7], [3.0, -1.0, 0.5, 3.0]])
def test_equal_labels(loss, label, scores):
    """Also: one document, and no relevant document, for label 0."""
    m = len(scores)
    value, gradient = loss.value_and_gradient(scores, [label] * m, [0, m])
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()
    assert m > 1 or not loss.shift_invariant or gradient[0] == 0.0
    if loss.name in COMPARING:
        assert value[0] == loss.lipschitz(m, 0, score_bound=1.0) == 0.0
        np.testing.assert_array_equal(gradient, 0.0)


@chosen(lambda loss: loss.shift_invariant)
@pytest.mark.parametrize("m", [1, 3, 7, 49])
def test_equal_labels_and_equal_scores_leave_nothing_to_do(loss, m):
    if loss.name == "structured-ndcg":  # it wants equal labels in document order, but not where all are equal
        assert loss.value(np.zeros(m), np.ones(m), [0, m])[0] == 0.0
    gradient = loss.gradient(np.full(m, 1.5), np.full(m, 1), [0, m])
    np.testing.assert_array_equal(gradient, 0.0)


@every_case
@pytest.mark.parametrize("labels", [[0, 3, 1, 3, 0, 2], [0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 1]])
def test_scores_up_to_1e4(loss, labels):
    for signs in itertools.product((-1e4, 0.0, 1e4), repeat=3):
        scores = [*signs, 5e3, -5e3, 1.0]
        if loss.name in exponential() and loss.unchecked(*checks.ranking(scores, labels, [0, 6]))[0][0] == np.inf:
            with pytest.raises(DataError, match="range of float64"):
                loss.value_and_gradient(scores, labels, [0, 6])
            continue
        value, gradient = loss.value_and_gradient(scores, labels, [0, 6])
        assert np.isfinite(value).all()
        assert np.isfinite(gradient).all()


# --- Arguments, names and options -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", surrogates.NAMES)
@pytest.mark.parametrize(
    ("scores", "y", "offsets", "said"),
    [
        ([1.0, np.nan], [0, 1], [0, 2], r"scores\[1\]"),
        ([1.0, 2.0], [0, -1], [0, 2], r"y\[1\]"),
        ([1.0, 2.0], [0, 256], [0, 2], r"y\[1\]"),
        ([1.0, 2.0], [0, 1], [0, 1], "offsets"),
    ],
)
def test_bad_input_is_refused(name, scores, y, offsets, said):
    for method in ("value", "gradient", "value_and_gradient"):
        with pytest.raises(DataError, match=said):
            getattr(surrogates.create(name), method)(scores, y, offsets)


def test_input_is_left_alone():
    scores, y, offsets = some_queries(np.random.default_rng(0), spread=2.0)
    before = scores.copy(), y.copy(), offsets.copy()
    for name in surrogates.NAMES:
        surrogates.create(name).value_and_gradient(scores, y, offsets)
    for kept, array in zip(before, (scores, y, offsets), strict=True):
        np.testing.assert_array_equal(kept, array)


@every_case
def test_lists_that_are_evaluated_again_and_again_have_the_same_values(loss):
    scores, y, offsets = some_queries(np.random.default_rng(3))
    given = checks.ranking(scores, y, offsets)
    evaluated = loss.on(*given[1:])
    for s in (given[0], -given[0], given[0]):
        for found, expected in zip(evaluated(s), loss.unchecked(s, *given[1:]), strict=True):
            np.testing.assert_array_equal(found, expected)
