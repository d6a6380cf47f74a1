"""Does the population draw what its formulas say?"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.sources.population_settings import LogNormalLengths


def rng(seed=0):
    return np.random.default_rng(seed)


settings_ = st.builds(
    PopulationSettings,
    features=st.integers(1, 30),
    label_shares=st.sampled_from([(0.5, 0.5), (0.78, 0.14, 0.08), (0.1, 0.2, 0.3, 0.3, 0.1), (0.001, 0.999)]),
    documents=st.sampled_from([1, 7, (1, 12), LogNormalLengths(mean=5.0, low=1, high=20, spread=0.7)]),
    noise=st.sampled_from([0, 0.05, 1.0]),
    query_noise=st.sampled_from([0, 0.3]),
    query_spread=st.sampled_from([0, 0.45, 0.9]),
    signal=st.sampled_from([0.1, 0.5, 1]),
    margin=st.sampled_from([0, 0.01, 0.04]),
    feature_norm=st.sampled_from([1.0, 2.5, 100.0]),
    seed=st.integers(0, 5),
)


# --- bounds and margin --------------------------------------------------------------------------------------------


@settings(max_examples=80)
@given(settings_)
def test_bounds_margin_and_shape_hold_for_all_settings(chosen):
    population = Population(chosen)
    data = population.draw(60, rng(3))
    assert (data.n_queries, data.n_features) == (60, chosen.features)
    m = chosen.documents
    low, high = (m.low, m.high) if isinstance(m, LogNormalLengths) else (m, m) if isinstance(m, int) else m
    assert low <= data.documents_per_query.min() <= data.documents_per_query.max() <= high
    assert low <= chosen.mean_documents <= high
    assert np.linalg.norm(population.utility) == pytest.approx(1.0)
    assert np.linalg.norm(data.X64, axis=1).max() <= chosen.feature_norm
    assert np.abs(data.X64).max() <= population.feature_norm_inf <= chosen.feature_norm
    assert data.y.min() >= 0
    assert data.y.max() <= chosen.y_max
    if chosen.realisable and chosen.margin > 0:
        along = data.X64 @ population.utility
        top = np.array([along[data.y == grade].max(initial=-np.inf) for grade in range(chosen.y_max + 1)])
        bottom = np.array([along[data.y == grade].min(initial=np.inf) for grade in range(chosen.y_max + 1)])
        for low_grade in range(chosen.y_max + 1):
            for high_grade in range(low_grade + 1, chosen.y_max + 1):
                gap = bottom[high_grade] - top[low_grade]
                assert gap >= chosen.margin * (high_grade - low_grade)


def test_the_margin_is_reached_and_the_bound_along_u_is_tight():
    chosen = PopulationSettings(features=4, noise=0, query_noise=0, margin=0.2, documents=50)
    population = Population(chosen)
    data = population.draw(20_000, rng(1))
    along = data.X64 @ population.utility
    for grade in (0, 1):
        gap = along[data.y == grade + 1].min() - along[data.y == grade].max()
        assert 0.2 <= gap < 0.201
    assert 0.49 < np.abs(along).max() <= 0.5


# --- labels -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"noise": 0, "query_noise": 0, "margin": 0.1},
        {"noise": 1.5},
        {"query_noise": 2.0, "query_spread": 0.0},
        {"query_spread": 0.9, "label_shares": (0.1, 0.2, 0.4, 0.2, 0.1)},
    ],
)
def test_label_shares_are_as_set(changes):
    chosen = PopulationSettings(features=3, documents=4, **changes)
    data = Population(chosen).draw(100_000, rng(5))
    # The query is the unit that is drawn independently: its own shares tell the standard error.
    for label, share in enumerate(chosen.label_shares):
        of_query = np.add.reduceat(data.y == label, data.offsets[:-1]) / 4
        assert of_query.mean() == pytest.approx(share, abs=5 * of_query.std() / np.sqrt(100_000) + 2e-5)


def test_as_many_features_have_a_weight_as_are_active():
    for seed in range(5):
        utility = Population(PopulationSettings(features=6, active=2, seed=seed)).utility
        assert np.count_nonzero(utility) == 2
        assert np.linalg.norm(utility) == pytest.approx(1.0)


def test_thresholds_by_hand():
    # Without noise and spread z = a is uniform on [-1, 1].
    plain = PopulationSettings(label_shares=(0.5, 0.25, 0.25), noise=0, query_noise=0, query_spread=0)
    np.testing.assert_allclose(Population(plain).thresholds, [0.0, 0.5], atol=1e-12)
    # z = b/2 + a/2 has the triangular density 1 - |z|: P(z > s) = (1 - s)^2 / 2.
    triangular = plain.model_copy(update={"query_spread": 0.5, "label_shares": (0.875, 0.125)})
    np.testing.assert_allclose(Population(triangular).thresholds, [0.5], atol=1e-4)


# --- two layers ---------------------------------------------------------------------------------------------------


def intraclass(values):
    """Share of the variance that lies between queries, values of shape (queries, documents)."""
    within = values.var(axis=1, ddof=1).mean()
    between = values.mean(axis=1).var(ddof=1) - within / values.shape[1]
    return between / (between + within)


def test_documents_of_a_query_share_its_level_and_centre():
    spread = 0.45
    expected = spread**2 / (spread**2 + (1 - spread) ** 2)
    population = Population(PopulationSettings(features=5, documents=50, query_spread=spread))
    data = population.draw(4000, rng(7))
    along = (data.X64 @ population.utility).reshape(4000, 50)
    assert intraclass(along) == pytest.approx(expected, abs=0.02)
    across = np.linalg.qr(np.c_[population.utility, rng(0).random((5, 4))])[0][:, 1]
    assert intraclass((data.X64 @ across).reshape(4000, 50)) == pytest.approx(expected, abs=0.03)


def test_lists_of_different_lengths_keep_to_their_own_query():
    population = Population(PopulationSettings(features=5, query_spread=0.9))
    queries, lengths = population.draw_queries(500, rng(1)), rng(2).integers(1, 60, 500)
    data = population.draw_documents(queries, lengths, rng(3))
    along = data.X64 @ population.utility
    means = np.add.reduceat(along, data.offsets[:-1]) / lengths
    # Given its query a document's merit is within 1 - rho of rho b, and its utility is half of that.
    np.testing.assert_allclose(means, 0.5 * 0.9 * queries.level, atol=0.5 * 0.1)


def test_documents_are_independent_given_their_query():
    # Of one fixed query: neighbouring documents are uncorrelated in utility, features and labels.
    population = Population(PopulationSettings(features=4, margin=0.05))
    query = population.draw_queries(1, rng(11))
    data = population.draw_documents(query, 200_000, rng(12))
    columns = np.c_[data.X64 @ population.utility, data.X64, data.y]
    first, second = columns[0::2], columns[1::2]
    correlations = np.corrcoef(first.T, second.T)[:6, 6:]
    assert np.nanmax(np.abs(correlations)) < 5 / np.sqrt(100_000)


@pytest.mark.parametrize(("signal", "query_spread"), [(0.6, 0.3), (0.9, 0.7)])
def test_what_is_orthogonal_to_the_utility_has_the_size_of_the_formula(signal, query_spread):
    chosen = PopulationSettings(features=5, signal=signal, query_spread=query_spread, feature_norm=2.0, documents=4)
    population = Population(chosen)
    X = population.draw(20_000, rng(13)).X64
    rest = X - np.outer(X @ population.utility, population.utility)
    # Four of five coordinates of sqrt((1 - kappa^2) / d) R (rho c + (1 - rho) xi); that of c or xi has variance 1/3.
    across = (1.0 - signal**2) / 5 * 4.0 * (query_spread**2 + (1.0 - query_spread) ** 2) / 3.0
    assert (rest**2).sum(axis=1).mean() == pytest.approx(4 * across, rel=0.02)


def test_a_query_teaches_its_taste():
    # Regressing labels within one query finds weight on its own feature, with its own sign.
    population = Population(PopulationSettings(features=6, query_noise=0.5, noise=0.1, label_shares=(0.5, 0.5)))
    queries = population.draw_queries(40, rng(4))
    # A query at an end of the scale has nearly one label only.
    queries = queries.take(np.flatnonzero(np.abs(queries.level) < 0.5))
    data = population.draw_documents(queries, 3000, rng(5))
    for q in range(len(queries)):
        rows = slice(data.offsets[q], data.offsets[q + 1])
        X = data.X64[rows] - data.X64[rows].mean(axis=0)
        w = np.linalg.lstsq(X, data.y[rows] - data.y[rows].mean(), rcond=None)[0]
        w -= (w @ population.utility) * population.utility
        expected = np.zeros(6)
        expected[queries.taste[q]] = queries.sign[q]
        expected -= (expected @ population.utility) * population.utility
        assert w @ expected > 0.8 * np.linalg.norm(w) * np.linalg.norm(expected)


# --- drawing ------------------------------------------------------------------------------------------------------


def test_list_lengths():
    population = Population(PopulationSettings(features=2, documents=(3, 5)))
    lengths = population.draw(3000, rng()).documents_per_query
    assert set(lengths) == {3, 4, 5}
    np.testing.assert_allclose(np.bincount(lengths)[3:] / 3000, 1 / 3, atol=0.05)
    assert population.draw(4, rng(), documents=7).documents_per_query.tolist() == [7] * 4
    assert population.draw(3, rng(), documents=[1, 5, 2]).documents_per_query.tolist() == [1, 5, 2]
    assert population.draw(0, rng()).n_queries == 0


# --- settings -----------------------------------------------------------------------------------------------------


LAW = {"mean": 3, "low": 1, "high": 9, "spread": 1}


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"feature": 3}, "unknown key 'feature'; did you mean 'features'"),
        ({"documents": {**LAW, "hihg": 9}}, "did you mean 'high'"),
        ({"documents": {"mean": 3, "low": 1, "high": 9}}, "expected the key 'spread'"),
        ({"label_shares": [0.5, 0.4]}, "sum to 1"),
        ({"active": 21}, "active: expected at most features = 20, found 21"),
        ({"margin": 0.5}, r"margin: expected a number in \[0, 0.5\)"),
        *(({"features": value}, "features: .*found") for value in (0, True, 2.0)),
        *(({"label_shares": value}, "label_shares") for value in ([1.0], [1.0, 0.0], [0.5, "0.5"], 0.5)),
        *(({"documents": value}, "documents: .*found") for value in (0, [9, 3], [1, 2, 3], 2.5)),
        *(({"documents": {**LAW, **wrong}}, "documents") for wrong in ({"mean": 10}, {"low": 5}, {"spread": 0})),
        *(({key: -1}, f"{key}: .*found -1") for key in ("noise", "margin", "feature_norm", "seed", "signal")),
        *(({"query_noise": value}, "query_noise") for value in ("much", float("nan"))),
        ({"query_spread": 1.0}, "query_spread"),
        ({"signal": 1.1}, "signal"),
    ],
)
def test_wrong_settings_are_rejected(mapping, message):
    with pytest.raises(ConfigurationError, match=message):
        PopulationSettings.from_mapping(mapping)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p.draw(-1, rng()), "n_queries: .*found -1"),
        (lambda p: p.draw(2.5, rng()), "n_queries"),
        (lambda p: p.draw(2, rng(), documents=0), "documents: .*found 0"),
        (lambda p: p.draw(2, rng(), documents=[1, 2, 3]), "one for each of 2 queries"),
        (lambda p: p.draw(2, rng(), documents=1.5), "documents: expected a whole number"),
    ],
)
def test_wrong_draws_are_rejected(call, message):
    with pytest.raises(DataError, match=message):
        call(Population(PopulationSettings(features=2)))
