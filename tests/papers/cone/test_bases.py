"""Are the cones of Figure 3, and the rankers next to them, chosen, measured and compared as they should be?"""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline_lib import RankingData
from pipeline_lib.data.ranking_data import Standardisation
from pipeline_lib.learners import cone
from pipeline_lib.papers.cone.bases import components
from pipeline_lib.papers.cone.bases import experiment as bases
from pipeline_lib.papers.cone.bases.experiment import BasisOfFold, ComparedOfFold, ShareOfFold, VotesOfFold
from pipeline_lib.papers.cone.bases.rankings import agreement, means, signs
from pipeline_lib.papers.cone.bases.votes import printed_votes
from tests import readings
from tests.papers.cone.samples import fold as fold_of_queries
from tests.papers.cone.samples import sample
from tests.papers.jobs import of, tables
from tests.small_settings import small


def basis(**changed: Any) -> BasisOfFold:
    """A row of Figure 3 with some values of its own."""
    given = {"dataset": "sim", "fold": 1, "K": 1, "start": 0}
    given |= {"fold_in": "gradient", "passes": 1, "validation": 0.5, "map": 0.5, "ndcg": 0.5}
    return BasisOfFold(**{**given, **changed})


def test_a_fold_of_bases(tmp_path: Path) -> None:
    found = list(bases.of_fold(small("cone", "bases", methods=["sg", "eg"]), "sim", 1, fold_of_queries(), 5))
    rows, compared, shares = (of(kind, found) for kind in (BasisOfFold, ComparedOfFold, ShareOfFold))
    assert {row.family for row in compared if row.chosen} >= {"published", "mean difference"}
    assert {row.what for row in shares} > {"risk and map", "signs, gradient"}
    assert [(row.K, row.fold_in) for row in rows] == [(K, how) for K in (1, 2) for how in ("gradient", "least-squares")]
    votes = readings.trials("cone-alg2-linear-corrected", tables(found))
    assert [trial.setting["fold_in"] for trial in votes] == ["gradient", "least-squares"]
    # Twelve queries for each of two methods; other votes give other orders on almost all of them.
    for trial in votes:
        assert (trial.values["queries_in_another_order"], trial.values["queries"]) == (0, 24)
        assert min(float(trial.values[name]) for name in ("as_printed", "reversed")) > 12
    assert list(bases.groups(rows)) == []
    assert readings.judged("cone-fig3", {"cone-figure3-groups": []}, {}, tmp_path).status == "not-run"


def test_the_pass_that_is_best_on_the_validation_part_is_chosen() -> None:
    settings = small("cone", "bases", methods=["exact"], passes=3, starts=2)
    rows = of(BasisOfFold, bases.of_fold(settings, "sim", 1, fold_of_queries(), 5))
    standard = Standardisation.of(fold_of_queries()[0])
    train, validation, test = (standard.apply(part) for part in fold_of_queries())
    chosen = set()
    for row in (row for row in rows if row.fold_in == "gradient"):
        seed = (5, "cone-bases", "sim", 1, row.K, row.start)
        path = cone.fit(train, row.K, method="exact", passes=3, traced=False, seed=seed).path
        values = [means(U.sum(axis=1), validation)[1] for U in path]
        best = values.index(max(values))
        assert (row.passes, row.validation) == (best, pytest.approx(max(values)))
        assert (row.map, row.ndcg) == pytest.approx(means(path[best].sum(axis=1), test))
        chosen.add(best)
    assert {1, 2} <= chosen  # neither the first nor the last


def test_figure_3_is_read_by_data_set() -> None:
    rows = [
        basis(dataset=name, K=K, fold=fold, map=value + K / 1000, ndcg=value)
        for name, value in (("MQ2007", 0.3), ("MQ2008", 0.4), ("sim", 0.9))
        for K in (2, 10, 30)
        for fold in (1, 2)
    ]
    trials = readings.trials("cone-fig3", tables(bases.groups(rows)))
    found = {(one.setting["dataset"], one.setting["measure"]): one.values["near_ten"] for one in trials}
    expected = {("MQ2007", "MAP"): 0.31, ("MQ2007", "NDCG"): 0.3, ("MQ2008", "MAP"): 0.41, ("MQ2008", "NDCG"): 0.4}
    assert found == pytest.approx(expected)


def test_printed_votes_depend_on_which_document_is_first() -> None:
    rng = np.random.default_rng(0)
    X, U = rng.standard_normal((6, 3)), rng.standard_normal((3, 2))
    points = printed_votes(X, U, step=0.001, alpha=1.0, rho=1.0, rng=rng)
    # The coefficients keep their sign, so that the first document of every pair wins.
    assert points.tolist() == [5, 4, 3, 2, 1, 0]
    longer = printed_votes(X, U, step=1.0, alpha=1.0, rho=1.0, rng=rng)
    assert longer.sum() == 15


def test_figure_3_chooses_on_the_validation_part_and_compares_fold_by_fold() -> None:
    test = {2: (0.30, 0.60), 3: (0.50, 0.80), 5: (0.40, 0.72), 10: (0.44, 0.76), 46: (0.35, 0.66)}
    # On the validation part, 3 is worse than 2 in the second fold; 5 and 46 have no second K to match 3 and 2.
    held = {2: (0.3, 0.9), 3: (0.4, 0.8), 5: (0.9, 0.9), 10: (0.5, 0.95), 46: (0.35, 0.66)}
    rows = [
        basis(K=K, fold=fold, ndcg=test[K][fold - 1], validation=held[K][fold - 1]) for K in test for fold in (1, 2)
    ]
    [found] = bases.figure_3(rows, "ndcg")
    # Of each group the K nearest to ten is taken, because one group has no other: 3, 10 and 46.
    assert [found.fewer, found.near_ten, found.more] == pytest.approx([0.65, 0.60, 0.505])
    more = found.near_ten_minus_more
    assert more.value == pytest.approx(0.095)
    # The folds lie .3 apart, the differences of one K from another .01 to .02.
    assert more.low > 0.0
    assert more.high - more.low == pytest.approx(2 * 12.706 * 0.005, rel=1e-3)
    assert found.best_k == 5
    assert list(bases.figure_3([row for row in rows if row.K != 46], "ndcg")) == []
    rows += [row.model_copy(update={"K": 30}) for row in rows if row.K == 46]
    [several] = bases.figure_3(rows, "ndcg")
    # Now each group has two; the validation part prefers 3 in the first fold, and 2 in the second; 5 and then 10.
    assert [several.fewer, several.near_ten] == pytest.approx([(0.50 + 0.60) / 2, (0.40 + 0.76) / 2])


def test_the_sizes_nearest_to_ten_are_so_by_ratio() -> None:
    # 6 differs less from ten than 15 does.
    assert bases.equal_groups([1, 6, 15, 21]) == {"fewer": [1], "near_ten": [15], "more": [21]}


def test_figure_3_averages_starts_and_then_folds() -> None:
    rows = [basis(fold=fold, map=value) for fold, value in ((1, 0.1), (1, 0.3), (2, 0.6))]
    by = {(point.measure, point.folds): point for point in bases.curves(rows)}
    point = by["map", 2]
    assert point.mean == pytest.approx(0.4)
    assert (point.low or 1.0) < 0.4 < (point.high or 0.0)
    [single, _] = bases.curves(rows[:1])
    assert (single.mean, single.low, single.high) == (pytest.approx(0.1), None, None)


def test_printed_votes_by_loops_over_pairs() -> None:
    rng = np.random.default_rng(0)
    X, U = 3.0 * rng.standard_normal((6, 3)), rng.standard_normal((3, 2))
    points, starts = [0] * 6, np.random.default_rng(4).random((15, 2)).tolist()
    for (l, m), start in zip(itertools.combinations(range(6), 2), starts, strict=True):
        z = X[l] - X[m]
        z = 2.0 * z / (0.5 + np.sqrt(z @ z))
        w = [one / sum(start) for one in start]
        for _ in range(10):
            rest = z - w[0] * U[:, 0] - w[1] * U[:, 1]
            after = [w[k] + 0.1 * 2.0 * float(U[:, k] @ rest) for k in (0, 1)]
            after = [one / (abs(after[0]) + abs(after[1])) for one in after]
            moved, w = abs(after[0] - w[0]) + abs(after[1] - w[1]), after
            if moved <= 1e-3:
                break
        points[l if sum(w) > 0.0 else m] += 1
    found = printed_votes(X, U, step=0.1, alpha=0.5, rho=2.0, rng=np.random.default_rng(4))
    assert found.tolist() == points


def test_components_and_regression_on_them() -> None:
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((4, 30)) + 0.5
    V, values = components.components(Z)
    np.testing.assert_allclose(V @ np.diag(values) @ V.T, Z @ Z.T / 30, atol=1e-12)
    assert (V.T @ Z.mean(axis=1) >= 0.0).all()
    # Least squares on all components is least squares.
    a = np.linalg.lstsq(Z.T, np.ones(30), rcond=None)[0]
    np.testing.assert_allclose(components.regression(Z, V, values), a, atol=1e-9)


def test_differences_are_those_of_all_pairs_or_drawn_from_them() -> None:
    data = sample(6, 3)
    Z = components.differences(data, cone.Problem(), 10**6, (1,))
    # With a basis vector 0, the loss of a pair is the square of the norm of its difference.
    squares = cone.pair_losses(data, np.zeros((4, 1)), cone.Problem(weighted=False))
    np.testing.assert_allclose(np.sort((Z**2).sum(axis=0)), np.sort(squares), atol=1e-9)
    every, half = {tuple(z) for z in Z.T}, Z.shape[1] // 2
    drawn = [{tuple(z) for z in components.differences(data, cone.Problem(), half, (seed,)).T} for seed in (1, 2)]
    assert [len(some) for some in drawn] == [half, half]  # without replacement
    assert drawn[0] < every
    assert drawn[0] != drawn[1]


def test_the_size_that_is_best_on_the_validation_part_is_chosen() -> None:
    settings = small("cone", "bases", components=[1, 2])
    parts = [sample(12, seed) for seed in (1, 2, 3)]
    fit = cone.fit(parts[0], 2, passes=2, traced=False, seed=1)
    rows = list(bases.compared(settings, parts, fit.path[2], {"dataset": "sim", "fold": 1}, 1))
    for family in {row.family for row in rows}:
        here = [row for row in rows if row.family == family]
        [chosen] = [row for row in here if row.chosen]
        assert chosen.validation == max(row.validation for row in here)
    # All components rank as least squares does, whether one counts from the first or from the last.
    of = {row.family: row.ndcg for row in rows if row.size == 4}
    assert of["regression on components"] == of["regression on the last components"]
    [published] = [row for row in rows if row.family == bases.PUBLISHED]
    assert published.ndcg == means(fit.path[2].sum(axis=1), parts[2])[1]


def test_a_fold_is_chosen_on_its_validation_part_and_compared_on_its_test_part() -> None:
    settings = small("cone", "bases", methods=["eg", "sg"], passes=5, components=[1, 2])
    found = list(bases.of_fold(settings, "sim", 1, fold_of_queries(), 7))
    standard = Standardisation.of(fold_of_queries()[0])
    train, validation, test = (standard.apply(part) for part in fold_of_queries())
    seed = (7, "cone-bases", "sim", 1, 2, 0)
    fits = {method: cone.fit(train, 2, method=method, passes=5, traced=False, seed=seed) for method in ("eg", "sg")}
    # SG, which need not be the first method, after the pass that is best on the validation part.
    values = [means(U.sum(axis=1), validation).ndcg for U in fits["sg"].path]
    published = fits["sg"].path[values.index(max(values))]
    Z = np.array([z for z, _ in pairs_of(train)])
    V = np.linalg.svd(Z.T)[0]
    V *= np.sign(V.T @ Z.mean(axis=0))
    rankers = {("published", 2): published.sum(axis=1), ("mean difference", 1): Z.mean(axis=0)}
    for K in (1, 2, 4):
        rankers["principal components", K] = V[:, :K].sum(axis=1)
        for family, among in (("regression on components", V[:, :K]), ("regression on the last components", V[:, -K:])):
            rankers[family, K] = among @ np.linalg.lstsq(Z @ among, np.ones(len(Z)), rcond=None)[0]
    rows = {(row.family, row.size): row for row in of(ComparedOfFold, found)}
    assert rows.keys() == rankers.keys()
    for which, row in rows.items():
        assert row.validation == pytest.approx(means(rankers[which], validation).ndcg), which
        assert (row.map, row.ndcg) == pytest.approx(means(rankers[which], test)), which
    shares = []
    for fit in fits.values():
        measured = [(fit.met[t - 1], *means(fit.path[t].sum(axis=1), test)) for t in (1, 2, 5)]
        for i, name in ((1, "map"), (2, "ndcg")):
            pairs = list(itertools.combinations(measured, 2))
            agree = sum(0.5 + 0.5 * np.sign((b[0] - a[0]) * (a[i] - b[i])) for a, b in pairs)
            shares.append((f"risk and {name}", agree / len(pairs)))
    for name, dual in (("gradient", published), ("least-squares", np.linalg.pinv(published).T)):
        coefficients = np.concatenate([z @ dual for z, _ in pairs_of(test)])
        shares.append((f"signs, {name}", np.mean(coefficients > 0.0)))
    assert [(row.what, row.value) for row in of(ShareOfFold, found)] == [(what, pytest.approx(x)) for what, x in shares]
    assert {row.queries for row in of(VotesOfFold, found)} == {12}


def pairs_of(data: RankingData) -> list[tuple[Any, int]]:
    """The differences (5) of all pairs, with their queries, by loops."""
    found = []
    for q, (begin, end) in enumerate(itertools.pairwise(data.offsets.tolist())):
        for l, m in itertools.product(range(begin, end), repeat=2):
            if data.y[l] > data.y[m]:
                x = data.X64[l] - data.X64[m]
                found.append((np.sqrt(len(x)) * x / (1.0 + np.sqrt(x @ x)), q))
    return found


def test_signs_are_those_of_the_coefficients_of_every_pair() -> None:
    X, y = [[0.0, 0.0], [1.0, -1.0], [2.0, 1.0], [0.0, 3.0], [1.0, 0.5]], [1, 2, 0, 1, 0]
    data = RankingData.from_arrays(X, y, [1, 1, 1, 2, 2])
    U = np.array([[2.0, 1.0], [0.0, 1.0]])
    found = dict(signs(U, data))
    for what, dual in (("signs, gradient", U), ("signs, least-squares", np.linalg.inv(U).T)):
        positive = []
        for i, j in ((0, 2), (1, 0), (1, 2), (3, 4)):
            for k in range(2):
                w = sum((X[i][c] - X[j][c]) * dual[c, k] for c in range(2))
                if w:
                    positive.append(w > 0)
        assert found[what] == pytest.approx(sum(positive) / len(positive))
    assert len(set(found.values())) == 2


def compared(fold: int, family: str, size: int, ndcg: float, chosen: bool = True) -> ComparedOfFold:
    return ComparedOfFold(
        dataset="sim", fold=fold, family=family, size=size, chosen=chosen, validation=ndcg, map=ndcg, ndcg=ndcg
    )


def test_differences_are_taken_fold_by_fold(tmp_path: Path) -> None:
    ndcg = {1: 0.3, 2: 0.5, 3: 0.7}
    rows = []
    for fold, value in ndcg.items():
        rows += [compared(fold, bases.PUBLISHED, 10, value), compared(fold, "mean difference", 1, value + 0.02)]
        rows += [compared(fold, "principal components", 1, value + 0.01)]
        rows += [compared(fold, "principal components", 10, value - 0.1, chosen=False)]
    found = list(bases.summary(rows))
    [chosen] = [row for row in found if row.family == "mean difference" and row.size is None]
    assert (chosen.more_ndcg, chosen.more_ndcg_low) == (pytest.approx(0.02), pytest.approx(0.02))
    assert (chosen.ndcg_high or 0.0) - (chosen.ndcg_low or 0.0) > 0.5
    assert (chosen.mean_size, chosen.mean_validation) == (1.0, pytest.approx(0.52))
    assert readings.decided("cone-mean-difference", tables(found), {}, tmp_path) == ("verified", [])
    # One fold has no interval, and decides nothing.
    single = bases.summary([row for row in rows if row.fold == 1])
    assert not readings.trials("cone-mean-difference", tables(single))


def test_the_informative_dimension_is_the_least_number_that_is_nearly_best() -> None:
    sizes = {1: 0.40, 2: 0.496, 3: 0.47, 5: 0.50, 10: 0.45}
    family = "regression on components"
    rows = [compared(1, bases.PUBLISHED, 10, 0.5)]
    rows += [compared(1, family, size, value, chosen=size == 5) for size, value in sizes.items()]
    [trial] = readings.trials("cone-dimension", tables(bases.summary(rows)))
    assert trial.values == {"components": 2, "share_of_features": pytest.approx(0.2), "best_number": 5}


def test_shares_average_folds() -> None:
    shares = ((1, 1.0), (2, 0.5))
    rows = [ShareOfFold(dataset="sim", fold=fold, what="risk and map", value=value) for fold, value in shares]
    [found] = bases.shares(rows)
    assert (found.what, found.share, found.folds) == ("risk and map", pytest.approx(0.75), 2)


def test_the_risk_beside_a_ranking_is_that_of_the_pass_that_led_to_it() -> None:
    data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 1])
    # After pass 1 the ranking is right, and after pass 2 wrong; the risks that were met fall, and rise later.
    path = np.array([[[-1.0]], [[1.0]], [[-1.0]], [[-1.0]]])
    fit = cone.Fit(path[-1], path, np.zeros(2), np.array([0.2, 0.1, 0.9]), False, 0.0, 0.0)
    assert dict(agreement(fit, data)) == {"risk and map": 0.0, "risk and ndcg": 0.0}
