"""Are the names that other people's scripts rely on there after one import, and is nothing imported before its use?"""

from __future__ import annotations

import subprocess
import sys

import pytest

from pipeline_lib import learners, sources, surrogates, theory

NAMES = [
    "RankingData.from_arrays",
    "RankingData.read_parquet",
    "learners.cone.fit",
    "learners.create",
    "learners.erm.fit",
    "learners.perceptron.run",
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


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_needs_one_import(name: str) -> None:
    assert _printed(f"from pipeline_lib import {name.partition('.')[0]}; print(callable({name}))") == "True"


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
    from pipeline_lib import submodules

    with pytest.raises(ModuleNotFoundError, match="a_library_that_is_not_installed"):
        submodules.load("made_package", [str(folder)], "needy")
