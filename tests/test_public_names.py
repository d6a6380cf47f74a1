"""Are the names that other people's scripts rely on there after one import, and is nothing imported before its use?"""

import inspect
import operator
import subprocess
import sys

import pytest

import pipeline_lib
from pipeline_lib import evaluation, learners, sources, surrogates, theory

NAMES = {
    "RankingData.from_arrays": "X y qid",
    "RankingData.read_parquet": "path",
    "evaluation.certify_training": "model data measure * level scales draws seed",
    "evaluation.compare": "runs qrels measure * baseline level resamples correction seed",
    "evaluation.values": "runs qrels measure * ties relevant_from no_relevant missing",
    "learners.cone.Fit.score": "self X * fold_in",
    "learners.cone.fit": "data K * method",
    "learners.completed": "name settings",
    "learners.create": "name",
    "learners.erm.fit": "data surrogate * l2 radius tol",
    "learners.load": "path",
    "learners.perceptron.run": "data order measure eta active",
    "learners.rankboost.run": "data * rounds",
    "learners.top_k_feedback.estimate": "surrogate s shown labels_shown exploit gamma k",
    "learners.top_k_feedback.run": "data surrogate k rounds eta gamma radius seed",
    "metrics.average_precision": "scores y offsets",
    "metrics.expected_reciprocal_rank": "scores y offsets y_max k",
    "metrics.letor4": "scores y offsets",
    "metrics.ndcg": "scores y offsets k",
    "results.names": "study",
    "results.table": "study name",
    "sources.letor.read": "path",
    "surrogates.create": "name",
    "surrogates.slam.weights": "y kind",
    "theory.list_bounds.evaluate": "name * n m lipschitz lipschitz_l2 smoothness radius feature_norm d loss_bound "
    "delta optimal_risk empirical_risk",
    "theory.rademacher.linear": "data radius draws seed",
    "theory.two_layer.bound": "documents_per_query complexity loss_bound delta",
    "theory.two_layer.budget": "documents vc_dimension delta c1",
}
"""What scripts call, and the arguments that they give: those with a position in their order, and others after *."""
PACKAGES = [evaluation, learners, sources, surrogates, theory]


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


@pytest.mark.parametrize("name", NAMES)
def test_public_functions_take_their_arguments_in_this_order(name: str) -> None:
    parameters = inspect.signature(operator.attrgetter(name)(pipeline_lib)).parameters
    ordered, _, named = (part.split() for part in NAMES[name].partition(" * "))
    assert [*parameters][: len(ordered)] == ordered
    assert {parameters[one].kind for one in ordered} == {inspect.Parameter.POSITIONAL_OR_KEYWORD}
    assert {*named} <= parameters.keys()


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
