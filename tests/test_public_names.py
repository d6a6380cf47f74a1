"""Are the names that other people's scripts rely on there after one import, and is nothing imported before its use?"""

import subprocess
import sys

import numpy as np
import pytest

from pipeline_lib import RankingData, learners, metrics, sources, surrogates, theory

NAMES = [
    "RankingData.from_arrays",
    "RankingData.read_parquet",
    "learners.cone.fit",
    "learners.completed",
    "learners.create",
    "learners.erm.fit",
    "learners.load",
    "learners.perceptron.run",
    "learners.rankboost.run",
    "learners.top_k_feedback.estimate",
    "learners.top_k_feedback.run",
    "metrics.average_precision",
    "metrics.expected_reciprocal_rank",
    "metrics.letor4",
    "metrics.ndcg",
    "sources.letor.read",
    "surrogates.create",
    "surrogates.slam.weights",
    "theory.list_bounds.evaluate",
    "theory.rademacher.linear",
    "theory.two_layer.bound",
    "theory.two_layer.budget",
]
PACKAGES = [learners, sources, surrogates, theory]


def _printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize("first", sorted({name.partition(".")[0] for name in NAMES}))
def test_public_names_need_one_import(first: str) -> None:
    names = [name for name in NAMES if name.partition(".")[0] == first]
    each = ", ".join(f"callable({name})" for name in names)
    assert _printed(f"from pipeline_lib import {first}; print([{each}])") == str([True] * len(names))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_importing_a_package_imports_none_of_its_modules(package) -> None:
    name = package.__name__
    assert _printed(f"import sys, {name}; print([n for n in sys.modules if n.startswith('{name}.')])") == "[]"


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
@pytest.mark.parametrize("name", ["lettor", "_private", "__wrapped__"])
def test_what_is_not_there_is_an_attribute_error(package, name: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
        getattr(package, name)


def test_dir_lists_modules_and_functions() -> None:
    assert {"erm", "perceptron", "top_k_feedback", "cone", "create"} <= set(dir(learners))
    assert {"list_bounds", "two_layer", "rademacher"} <= set(dir(theory))


def test_a_missing_library_is_not_taken_for_a_missing_module(tmp_path, monkeypatch) -> None:
    folder = tmp_path / "made_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "needy.py").write_text("import a_library_that_is_not_installed\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    from pipeline_lib.core import submodules

    with pytest.raises(ModuleNotFoundError, match="a_library_that_is_not_installed"):
        submodules.load("made_package", "needy")


@pytest.fixture
def data() -> RankingData:
    rng = np.random.default_rng(1)
    return RankingData.from_arrays(rng.normal(size=(60, 3)), rng.integers(0, 3, 60), np.repeat(np.arange(10), 6))


def test_learners_take_the_documented_arguments_in_their_order(data) -> None:
    fit = learners.erm.fit(data, surrogates.create("listnet"), l2=0.1, radius=None, tol=1e-6)
    assert fit.w.shape == (3,)
    assert 0.0 <= fit.gap <= 1e-6
    assert fit.objective > 0.0
    assert fit.iterations >= 1
    run = learners.perceptron.run(data, np.arange(10), "ndcg", 1.0, "misordered")
    assert run.w.shape == (3,)
    assert run.losses.shape == run.mistakes.shape == (10,)
    game = learners.top_k_feedback.run(data, surrogates.create("kl"), 1, 500, 0.01, 0.1, 2.0, 3)
    assert np.linalg.norm(game.w) <= 2.0 * (1.0 + 1e-12)
    assert game.losses[-1] > 0.0
    assert 0.0 < game.ndcg[-1] < 1.0
    found = learners.top_k_feedback.estimate(surrogates.create("kl"), [0.0, 1.0], [1, 0], [2], [1, 0], 0.1, 1)
    np.testing.assert_allclose(found, [0.0, (np.exp(1.0) - np.exp(2.0)) / 0.95])
    cone = learners.cone.fit(data, 2, method="eg")
    assert cone.U.shape == (3, 2)
    assert cone.score(data.X, fold_in="least-squares").shape == (60,)


def test_theory_and_metrics_take_the_documented_arguments_in_their_order(data) -> None:
    known = {"lipschitz": 2.0, "lipschitz_l2": 1.5, "smoothness": 1.0, "radius": 1.0, "feature_norm": 1.0}
    known |= {"d": 8, "loss_bound": 3.0, "delta": 0.05, "optimal_risk": 0.5, "empirical_risk": 0.5}
    for name in ("chapelle-wu", "ogd", "rerm", "erm", "erm-l1", "smooth-ogd", "optimistic"):
        assert theory.list_bounds.evaluate(name, n=1000, m=20, **known) > 0.0
    bound = theory.two_layer.bound([10] * 100, lambda k: (46 / k) ** 0.5, 1.0, 0.05)
    terms = (bound.query_complexity, bound.query_concentration)
    terms += (bound.document_complexity, bound.document_concentration)
    assert sum(terms) == pytest.approx(bound.total)
    budget = theory.two_layer.budget(50_000, 46, 0.05, c1=1.0)
    assert budget.queries * budget.documents_per_query == pytest.approx(50_000)
    average = theory.rademacher.linear(data, 1.0, 100, 3)
    assert average.estimate > 3.0 * average.standard_error > 0.0
    scores = data.X64[:, 0]
    assert metrics.expected_reciprocal_rank(scores, data.y, data.offsets, 2).shape == (10,)
    keys = {f"{name}@{k}" for name in ("ndcg", "p") for k in range(1, 11)} | {"mean_ndcg", "map"}
    assert set(metrics.letor4(scores, data.y, data.offsets)) == keys
