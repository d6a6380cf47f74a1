"""Are the smaller statements and the open questions of ConeRank judged by what is computed, and are errors caught?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from pipeline_lib import RankingData
from pipeline_lib.learners import cone
from pipeline_lib.papers.cone.computations import factors, plane, practice, steps, table1, ties, tradeoff
from pipeline_lib.papers.cone.experiments.bases import BasesSettings
from pipeline_lib.papers.cone.experiments.geometry import GeometrySettings
from pipeline_lib.papers.cone.experiments.leave_out import LeaveOutSettings
from pipeline_lib.sources.population import Population, PopulationSettings
from tests import readings
from tests.small_settings import SETTINGS

PUBLISHED = Path(__file__).parents[2] / "workflow/published/cone-table1.csv"
GEOMETRY = GeometrySettings.parse(
    {**SETTINGS["cone"]["geometry"], "bases": [2, 3], "plane_samples": 2, "differences": 6, "draws": 4}
)
LEAVE_OUT = LeaveOutSettings.parse(
    {**SETTINGS["cone"]["leave_out"], "tied_queries": [5, 50], "tied_features": [2, 3], "tied_sums": [1.5, 3.0]}
)


@pytest.fixture(scope="module")
def tables() -> dict[str, list[dict[str, Any]]]:
    """The tables that need no data, with small settings."""
    return {
        "cone-steps": steps.run(GEOMETRY, 1),
        "cone-plane": plane.sizes(GEOMETRY, 1),
        "cone-nested": plane.nested(GEOMETRY, 1),
        "cone-surface": plane.surfaces(GEOMETRY, 1),
        "cone-ties": ties.run(LEAVE_OUT),
        "cone-tradeoff": tradeoff.run(LEAVE_OUT),
        "cone-published": table1.as_published(pl.read_csv(PUBLISHED, comment_prefix="#").to_dicts()),
    }


HOLD = ("unique", "inequality", "blocks", "eg-sum", "eg-rate", "fig1", "fig2", "size-corrected")
HOLD += ("larger", "relaxation", "smax-ties", "tradeoff-corrected", "margins", "larger-set")
FAIL = ("check", "size", "tradeoff")


@pytest.mark.parametrize(
    ("claim", "status"), [*((one, "verified") for one in HOLD), *((one, "refuted") for one in FAIL)]
)
def test_smaller_statements_and_what_is_planted_in_them(
    claim: str, status: str, tables: dict[str, list[dict[str, Any]]], tmp_path: Path
) -> None:
    judgement = readings.judged(f"cone-{claim}", tables, {}, tmp_path)
    assert judgement.status == status, judgement
    assert all(plant.caught for plant in judgement.severity.planted)


def sample(queries: int, seed: int, features: int = 4) -> RankingData:
    return Population(PopulationSettings(features=features, documents=5)).draw(queries, np.random.default_rng(seed))


def test_components_and_semi_nmf() -> None:
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((4, 30)) + 0.5
    V, values = factors.components(Z)
    np.testing.assert_allclose(V @ np.diag(values) @ V.T, Z @ Z.T / 30, atol=1e-12)
    assert (V.T @ Z.mean(axis=1) >= 0.0).all()
    # Least squares on all components is least squares.
    a = np.linalg.lstsq(Z.T, np.ones(30), rcond=None)[0]
    np.testing.assert_allclose(factors.regression(Z, V, values), a, atol=1e-9)
    errors = []
    for rounds in range(6):
        U, W = factors.semi_nmf(Z, 2, rounds, (1,))
        assert (W >= 0.0).all()
        errors.append(float(((Z - U @ W) ** 2).sum()))
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.9 * errors[0]
    # Differences in a cone of two vectors are found without error.
    inside = rng.standard_normal((4, 2)) @ rng.exponential(size=(2, 30))
    U, W = factors.semi_nmf(inside, 2, 3000, (1,))
    assert ((inside - U @ W) ** 2).sum() < 1e-6 * (inside**2).sum()


def test_differences_are_those_of_all_pairs_or_drawn_from_them() -> None:
    data = sample(6, 3)
    Z = factors.differences(data, cone.Problem(), 10**6, (1,))
    # With a basis vector 0, the loss of a pair is the square of the norm of its difference.
    squares = cone.pair_losses(data, np.zeros((4, 1)), cone.Problem(weighted=False))
    np.testing.assert_allclose(np.sort((Z**2).sum(axis=0)), np.sort(squares), atol=1e-9)
    drawn = factors.differences(data, cone.Problem(), 5, (1,))
    assert drawn.shape == (4, 5)
    assert {tuple(z) for z in drawn.T} < {tuple(z) for z in Z.T}


def test_the_size_that_is_best_on_the_validation_part_is_chosen() -> None:
    settings = BasesSettings.parse({**SETTINGS["cone"]["bases"], "components": [1, 2], "converged": [1, 2]})
    parts = [sample(12, seed) for seed in (1, 2, 3)]
    fit = cone.fit(parts[0], 2, passes=2, traced=False, seed=1)
    ranksvm = {"validation": None, "map": 0.5, "ndcg": 0.5}
    rows = practice.run_fold(settings, parts, (fit, 2), ranksvm, (1,))
    for family in {row["family"] for row in rows}:
        here = [row for row in rows if row["family"] == family]
        [chosen] = [row for row in here if row["chosen"]]
        assert chosen["validation"] == (None if family == "RankSVM" else max(row["validation"] for row in here))
    # All components rank as least squares does, whether one counts from the first or from the last.
    of = {row["family"]: row["ndcg"] for row in rows if row["size"] == 4}
    assert of["regression on components"] == of["regression on the last components"]
    # Without weights, the converged vector for K = 1 is the mean of the differences of queries.
    [published] = [row for row in rows if row["family"] == practice.PUBLISHED]
    assert published["ndcg"] == practice.means(fit.path[2].sum(axis=1), parts[2])[1]


def test_signs_are_those_of_the_coefficients_of_every_pair() -> None:
    X, y = [[0.0, 0.0], [1.0, -1.0], [2.0, 1.0], [0.0, 3.0], [1.0, 0.5]], [1, 2, 0, 1, 0]
    data = RankingData.from_arrays(X, y, [1, 1, 1, 2, 2])
    U = np.array([[2.0, 1.0], [0.0, 1.0]])
    found = {row["what"]: row["value"] for row in practice.signs(U, data)}
    for what, dual in (("signs, gradient", U), ("signs, least-squares", np.linalg.inv(U).T)):
        signs = []
        for i, j in ((0, 2), (1, 0), (1, 2), (3, 4)):
            for k in range(2):
                w = sum((X[i][c] - X[j][c]) * dual[c, k] for c in range(2))
                if w:
                    signs.append(w > 0)
        assert found[what] == pytest.approx(sum(signs) / len(signs))
    assert len(set(found.values())) == 2


def test_signs_change_with_the_order_and_risks_are_compared_with_measures() -> None:
    test = sample(10, 4)
    fit = cone.fit(sample(20, 5), 2, passes=10, traced=False, seed=1)
    forwards, backwards = (practice.signs(sign * fit.U, test) for sign in (1.0, -1.0))
    for one, other in zip(forwards, backwards, strict=True):
        assert one["value"] + other["value"] == pytest.approx(1.0)
    assert {row["what"] for row in practice.agreement(fit, test)} == {"risk and map", "risk and ndcg"}
    assert practice.concordance([2.0, 1.0, 1.0], [0.1, 0.1, 0.3]) == 0.75


def compared(fold: int, family: str, size: int | None, ndcg: float, chosen: bool = True) -> dict[str, Any]:
    return {"dataset": "sim", "fold": fold, "family": family, "size": size, "chosen": chosen} | {
        "validation": ndcg,
        "map": ndcg,
        "ndcg": ndcg,
    }


def test_differences_are_taken_fold_by_fold(tmp_path: Path) -> None:
    ndcg = {1: 0.3, 2: 0.5, 3: 0.7}
    rows = []
    for fold, value in ndcg.items():
        rows += [compared(fold, practice.PUBLISHED, 10, value), compared(fold, "mean difference", 1, value + 0.02)]
        rows += [compared(fold, "principal components", 1, value + 0.01)]
        rows += [compared(fold, "principal components", 10, value - 0.1, chosen=False)]
    found = practice.summary(rows)
    [chosen] = [row for row in found if row["family"] == "mean difference" and row["size"] is None]
    assert (chosen["more_ndcg"], chosen["more_ndcg_low"]) == (pytest.approx(0.02), pytest.approx(0.02))
    assert chosen["ndcg_high"] - chosen["ndcg_low"] > 0.5
    judgement = readings.judged("cone-mean-difference", {"cone-practice": found}, {}, tmp_path)
    assert (judgement.status, [plant.caught for plant in judgement.severity.planted]) == ("verified", [True])
    # One fold has no interval, and decides nothing.
    single = practice.summary([row for row in rows if row["fold"] == 1])
    assert not readings.trials("cone-mean-difference", {"cone-practice": single})


def test_the_informative_dimension_is_the_least_number_that_is_nearly_best() -> None:
    sizes = {1: 0.40, 2: 0.496, 3: 0.47, 5: 0.50, 10: 0.45}
    family = "regression on components"
    rows = [compared(1, practice.PUBLISHED, 10, 0.5)]
    rows += [compared(1, family, size, value, chosen=size == 5) for size, value in sizes.items()]
    [trial] = readings.trials("cone-dimension", {"cone-practice": practice.summary(rows)})
    assert trial.values == {"components": 2, "share_of_features": pytest.approx(0.2), "best_number": 5}


def test_shares_average_folds_and_compare_numbers_of_vectors() -> None:
    measured = [
        {"dataset": "sim", "fold": fold, "start": 0, "part": "basis", "fold_in": "gradient", "K": K}
        | {"objective": 10.0 / K, "map": 0.1 * K * sign, "ndcg": 0.5}
        for fold, sign in ((1, 1.0), (2, -1.0))
        for K in (1, 2, 5)
    ]
    shares = ((1, 1.0), (2, 0.5))
    rows = [{"dataset": "sim", "fold": fold, "what": "risk and map", "value": value} for fold, value in shares]
    found = {row["what"]: row["share"] for row in practice.shares(rows, measured)}
    assert found == pytest.approx({"risk and map": 0.75, "K and map": 0.5, "K and ndcg": 0.5})
