"""Are risks on a held-out sample those of plain means and regressions, and their standard errors honest?"""

from dataclasses import replace

import numpy as np
import pytest

from pipeline_lib import surrogates
from pipeline_lib.core.errors import DataError
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.papers.lists import held_out
from pipeline_lib.sources.population import Population, PopulationSettings
from tests.samples import unrelated


def held(n: int) -> RankingData:
    return replace(unrelated(n), role="test")


@pytest.mark.parametrize("name", ["listnet", "ranksvm"])
@pytest.mark.parametrize("with_levels", [False, True])
@pytest.mark.parametrize("known", [None, held_out.Known(0.7, 0.01)])
def test_risks_by_blocks_are_the_intercepts_of_a_regression(name, with_levels, known, monkeypatch):
    # On the Legendre polynomials of the level and the reference's loss; on a column of ones, plain means.
    n, rng = 150, np.random.default_rng(1)
    data, loss, W, w = held(n), surrogates.create(name), rng.normal(size=(3, 2)), rng.normal(size=3)
    levels = rng.uniform(-1, 1, n) if with_levels else None
    monkeypatch.setattr(held_out, "DOCUMENTS_PER_BLOCK", 17)
    measured = held_out.risks(loss, data, W, w, levels, known)
    A = np.polynomial.legendre.legvander(levels, 8) if with_levels else np.ones((n, 1))
    reference = held_out.losses(loss, data, w)

    def regressed(values, A, error):
        slopes, _, _, _ = np.linalg.lstsq(A, values, rcond=None)
        rest = values - A @ slopes
        own = np.sqrt(rest @ rest / (n - A.shape[1]) * np.linalg.inv(A.T @ A)[0, 0])
        return slopes[0], np.hypot(own, error * slopes[-1])

    for k in range(2):
        values = held_out.losses(loss, data, W[:, k])
        with_known = A if known is None else np.column_stack([A, reference - known.value])
        expected = regressed(values, with_known, known.standard_error if known else 0.0)
        assert (measured.value[k], measured.standard_error[k]) == pytest.approx(expected, rel=1e-6)
        # Differences are those without it.
        apart = regressed(values - reference, A, 0.0)
        assert (measured.difference[k], measured.difference_error[k]) == pytest.approx(apart, rel=1e-6, abs=1e-12)


def test_too_few_queries_or_levels_are_refused():
    data, loss, W, w = held(40), surrogates.create("ranksvm"), np.ones((3, 1)), np.zeros(3)
    with pytest.raises(DataError, match="at least 90 queries with levels, found 40"):
        held_out.risks(loss, data, W, w, np.zeros(40))
    with pytest.raises(DataError, match="one for each of 40 queries"):
        held_out.risks(loss, data, W, w, np.zeros(39))
    with pytest.raises(DataError, match="at least two queries, found 1"):
        held_out.risks(loss, held(1), W, w)


@pytest.mark.parametrize("levels", [None, np.linspace(-1, 1, 100)])
def test_the_reference_itself_has_the_risk_that_is_known(levels):
    data, w, loss = held(100), np.ones(3), surrogates.create("listnet")
    measured = held_out.risks(loss, data, w[:, None], w, levels, held_out.Known(0.7, 0.01))
    assert measured.value[0] == pytest.approx(0.7, rel=1e-9)
    assert measured.standard_error[0] == pytest.approx(0.01, rel=1e-6)


def test_a_reference_whose_loss_never_changes_changes_nothing():
    # RankSVM's loss at w = 0 is the number of pairs, the same for all queries.
    y = np.tile([0, 1], 100)
    X, names = np.random.default_rng(3).normal(size=(200, 2)), np.repeat(np.arange(100), 2)
    data = replace(RankingData.from_arrays(X, y, names), role="test")
    loss, W, levels = surrogates.create("ranksvm"), np.ones((2, 1)), np.linspace(-1, 1, 100)
    plain = held_out.risks(loss, data, W, np.zeros(2), levels)
    known = held_out.risks(loss, data, W, np.zeros(2), levels, held_out.Known(1.0, 0.0))
    np.testing.assert_allclose(known.value, plain.value, rtol=1e-9)
    np.testing.assert_allclose(known.standard_error, plain.standard_error, rtol=0.01)


def test_a_known_reference_makes_risks_surer_and_their_errors_stay_honest():
    population, rng = Population(PopulationSettings(features=3, documents=5)), np.random.default_rng(6)
    loss, best = surrogates.create("listnet"), 2.0 * population.utility
    near, other = best + 0.3 * np.eye(3)[0], -best
    found, errors, plain = [], [], []
    for _ in range(60):
        samples = []
        for n, role in ((200, "test"), (4_000, "truth")):
            queries = population.draw_queries(n, rng)
            samples.append((replace(population.draw_documents(queries, 5, rng), role=role), queries.level))
        (data, levels), (large, their_levels) = samples
        block = held_out.Scored((large.X64 @ best)[None, :], large.y, large.offsets, large.role, their_levels)
        known = held_out.risk_of_one(loss, [block])
        W = np.column_stack([near, other])
        measured = held_out.risks(loss, data, W, best, levels, known)
        found.append(measured.value)
        errors.append(measured.standard_error)
        plain.append(held_out.risks(loss, data, W, best, levels).standard_error)
    assert np.mean(errors, axis=0)[0] < 0.4 * np.mean(plain, axis=0)[0]
    assert np.mean(errors, axis=0)[1] < 1.05 * np.mean(plain, axis=0)[1]
    # The spread of 60 estimates is within 28 % of what they say of themselves (3 of its standard errors).
    np.testing.assert_allclose(np.std(found, axis=0, ddof=1), np.mean(errors, axis=0), rtol=0.28)
