"""SLAM's perceptron: the compiled loop is Algorithm 1, its bounds hold, and what eta does and does not change."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import perceptron
from pipeline_lib.surrogates import slam
from tests.samples import drawn
from tests.surrogates.ranking_losses import listwise_loss

MEASURES = ["ndcg", "map", "ndcg@3"]
ACTIVE = ["margin", "misordered"]
ETAS = [1.0, 0.37, "theory"]


def plain(data, order, measure, eta, active):
    """Algorithm 1 in plain Python."""
    w, total = np.zeros(data.n_features), np.zeros(data.n_features)
    losses, surrogate_losses, squared_norms = [], [], []
    for q in order:
        rows = slice(data.offsets[q], data.offsets[q + 1])
        X, y = data.X64[rows], data.y[rows].astype(int)
        if measure == "map":
            y = np.minimum(y, 1)
        s, v = X @ w, slam.weights(y, measure)
        total += w
        losses.append(listwise_loss(measure, s, y))
        z, phi = np.zeros(len(w)), 0.0
        if losses[-1]:
            for i in range(len(y)):
                lower = [j for j in range(len(y)) if y[j] < y[i]]
                if lower:
                    k = max(lower, key=lambda j: (s[j], -j))
                    if 1 + s[k] - s[i] > 0:
                        phi += v[i] * (1 + s[k] - s[i])
                        if active == "margin" or s[k] >= s[i]:
                            z += v[i] * (X[k] - X[i])
        surrogate_losses.append(phi)
        squared_norms.append(z @ z)
        w = w - eta * z
    return w, total / len(order), losses, surrogate_losses, squared_norms


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("active", ACTIVE)
@pytest.mark.parametrize("eta", ETAS)
def test_the_compiled_loop_is_algorithm_1(measure, active, eta):
    for seed in range(6):
        data = drawn(8, (1, 7 if seed % 2 else 70), seed=seed, ties=0.1)
        order = np.random.default_rng(seed).integers(0, data.n_queries, 60)
        found = perceptron.run(data, order, measure, eta, active)
        w, average, losses, surrogate_losses, squared_norms = plain(data, order, measure, found.eta, active)
        for ours, theirs in (
            (found.w, w),
            (found.average, average),
            (found.losses, losses),
            (found.surrogate_losses, surrogate_losses),
            (found.squared_norms, squared_norms),
        ):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
        assert found.mistakes.tolist() == [loss != 0.0 for loss in losses]


@given(st.integers(0, 2**32 - 1), st.sampled_from(MEASURES), st.sampled_from(ETAS))
def test_equation_16_holds_in_every_round(seed, measure, eta):
    data = drawn(seed=seed, ties=0.1)
    found = perceptron.run(data, np.random.default_rng(seed).integers(0, data.n_queries, 50), measure, eta)
    labels = data.y.astype(np.int32)
    v_max = slam.v_max_of_all(labels, data.offsets, measure).max()
    m, longest = np.diff(data.offsets).max(), np.square(data.X64).sum(axis=1).max()
    assert (found.squared_norms <= 4 * m * longest * v_max * found.surrogate_losses * (1 + 1e-9) + 1e-15).all()
    assert (found.surrogate_losses >= found.losses - 1e-12).all()


def worst_first(data, measure, rounds):
    """The order of an adversary who, at the step of the theory, always shows the query with the largest loss."""
    step, order = perceptron.theory_step(data, None, measure), []
    for _ in range(rounds):
        now = [perceptron.run(data, [*order, q], measure, step).losses[-1] for q in range(data.n_queries)]
        order.append(int(np.argmax(now)))
    return np.array(order)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(MEASURES),
    st.sampled_from([0.0, 1.0, 5.0]),
    st.sampled_from([0.1, 1.0, 30.0]),
)
@settings(max_examples=200)
def test_theorem_5_holds_for_the_step_of_the_theory(seed, measure, noise, scale):
    rng = np.random.default_rng(seed)
    data = drawn(seed=seed, noise=noise, ties=0.1)
    # In turn: random queries; two again and again; and an adversary's, who shows what is ranked worst.
    order = [
        lambda: rng.integers(0, data.n_queries, 40),
        lambda: np.resize(rng.permutation(data.n_queries)[:2], 40),
        lambda: worst_first(data, measure, 15),
    ][seed % 3]()
    found = perceptron.run(
        data, order, measure, "theory" if seed % 3 < 2 else perceptron.theory_step(data, None, measure)
    )
    labels = np.minimum(data.y, 1) if measure == "map" else data.y
    loss = {"ndcg": slam.SlamNDCG(), "map": slam.SlamMAP(), "ndcg@3": slam.SlamNDCGAt(3)}[measure]
    for u in (np.zeros(3), scale * np.arange(1, 4) / 4, scale * rng.standard_normal(3), found.w, 10 * found.average):
        per_query = loss.value(data.X64 @ u, labels, data.offsets)
        comparator = per_query[order[found.mistakes]].sum()
        # 4 ||u||^2 m R_X^2 v_max = ||u||^2 / eta
        assert found.losses.sum() <= 2 * comparator + u @ u / found.eta + 1e-9


def test_misordered_mistakes_do_not_depend_on_eta_and_margin_mistakes_do():
    data = drawn(30, seed=5, ties=0.1)
    order = np.random.default_rng(1).integers(0, 30, 400)
    for measure in MEASURES:
        # powers of two: scaling w by them is exact, so that not even rounding differs
        rounds = [perceptron.run(data, order, measure, eta, "misordered").mistakes for eta in (1.0, 2.0**-4, 2.0**-10)]
        assert np.array_equal(rounds[0], rounds[1])
        assert np.array_equal(rounds[0], rounds[2])
    rounds = [perceptron.run(data, order, "ndcg", eta, "margin").mistakes for eta in (1.0, 2.0**-4, 2.0**-10)]
    assert not np.array_equal(rounds[0], rounds[1])
    assert not np.array_equal(rounds[0], rounds[2])


def test_undefined_measures_cost_nothing_and_teach_nothing():
    data = RankingData.from_arrays([[1.0], [2.0], [3.0]], [0, 0, 1], [1, 1, 2])
    for measure in MEASURES:
        found = perceptron.run(data, [0, 1, 0], measure)
        assert found.losses.tolist() == [0.0, 0.0, 0.0]
        assert found.w.tolist() == [0.0]
