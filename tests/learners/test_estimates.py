"""The seconds and the memory that learners declare: positive, growing with the work, and near what was measured."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks import rows, training_times
from pipeline_lib import learners, surrogates
from pipeline_lib.core.cost import Size
from pipeline_lib.sources import catalog, sizes

SIZE = Size(documents=20_000.0, queries=500.0, features=100.0)
MORE: dict[str, dict[str, Any]] = {
    "adarank": {"rounds": 1_000},
    "cone": {"basis": [10, 20]},
    "erm": {"l2": [10.0**k for k in range(-9, 3)]},
    "lambdamart": {"trees": 3_000},
    "ogd": {"passes": 50},
    "perceptron": {"passes": 100},
    "rankboost": {"rounds": 3_000},
    "top-k-feedback": {"step": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]},
}
CONTROLS = {name for name in learners.NAMES if learners.get(name).control}
SIMULATION = {"queries": 200, "population": {"features": 300, "documents": [20, 40]}}


def declared(what: str, name: str, size: Size, **settings: Any) -> float:
    learner = learners.get(name)
    chosen = {"surrogate": "listnet"} if learner.with_surrogate else {}
    return float(getattr(learner, what)(learners.completed(name, {**chosen, **settings}), size))


estimate, memory = partial(declared, "estimate"), partial(declared, "memory")


@pytest.mark.parametrize("name", learners.NAMES)
def test_estimates_are_positive_and_grow_with_the_data(name: str) -> None:
    usual = estimate(name, SIZE)
    assert usual > 0.0
    assert estimate(name, replace(SIZE, documents=40_000.0, queries=1_000.0)) > usual
    assert estimate(name, replace(SIZE, features=200.0)) > usual


def test_estimates_grow_with_the_settings() -> None:
    for name, settings in MORE.items():
        assert estimate(name, SIZE, **settings) > estimate(name, SIZE)
    # A learner of the project without an entry has no setting that repeats its work; added ones may have one.
    assert {training.algorithm for training in training_times.read()} - set(MORE) == CONTROLS


LARGE = Size(documents=3_771_125.0, queries=31_531.0, features=136.0)


@pytest.mark.parametrize("name", learners.NAMES)
def test_memory_holds_the_documents_and_stays_below_8_gb_on_the_largest_data(name: str) -> None:
    stored = 4e-6 * 0.8 * LARGE.cells
    assert stored < memory(name, LARGE) < 8_000.0 - 900.0
    assert 0.0 < memory(name, SIZE) < memory(name, LARGE)


def test_memory_grows_with_what_is_held() -> None:
    features = {"kernel": "gaussian", "components": 1_000}
    assert memory("erm", LARGE, features=features) > memory("erm", LARGE) + 4e-6 * 0.6 * 800 * LARGE.documents
    assert memory("cone", LARGE, queries=1_000) < memory("cone", LARGE)
    assert memory("rankboost", LARGE) > memory("erm", LARGE)


@pytest.mark.parametrize("name", ["erm", "ogd", "perceptron", "top-k-feedback"])
def test_random_features_count_in_place_of_those_of_the_data(name: str) -> None:
    features = {"kernel": "gaussian", "components": 1_000}
    assert estimate(name, SIZE, features=features) > estimate(name, SIZE)
    assert estimate(name, replace(SIZE, features=7.0), features=features) == estimate(name, SIZE, features=features)


@pytest.mark.parametrize("surrogate", [name.replace("@k", "@10") for name in surrogates.NAMES])
def test_estimates_follow_the_surrogate(surrogate: str) -> None:
    loss = surrogates.get(surrogate)
    assert loss.effort >= 1.0 <= loss.repeats
    slower = loss.effort * loss.repeats > 1.0
    assert slower == (estimate("erm", SIZE, surrogate=surrogate) > estimate("erm", SIZE))


@pytest.mark.parametrize(
    "training", training_times.read(), ids=lambda training: f"{training.data_set}-{training.model}"
)
def test_estimates_are_within_a_factor_of_two_of_what_was_measured(training: training_times.Training) -> None:
    assert 0.5 <= training.ratio <= 2.0


@pytest.mark.parametrize("data_set", ["MQ2008", "OHSUMED"])
def test_every_learner_was_measured(data_set: str) -> None:
    measured = {training.algorithm for training in training_times.read() if training.data_set == data_set}
    assert {*MORE, *CONTROLS} <= measured <= set(learners.NAMES)


def test_the_rows_are_what_was_measured() -> None:
    made = rows.files("training_times", training_times.section(training_times.read()))
    assert all((rows.FOLDER / file).read_text(encoding="utf-8") == text for file, text in made.items())


def test_counts_and_the_settings_of_a_simulation_give_the_size(tmp_path: Path) -> None:
    none = tmp_path / "none.json"
    known = catalog.get("MQ2008")
    assert sizes.size(known, SIMULATION, none) == Size(15_211, 784, 46)
    assert sizes.size(catalog.get("letor-sim"), SIMULATION, none) == Size(6_000.0, 200, 300)


def test_a_summary_of_converted_data_gives_the_size(tmp_path: Path) -> None:
    unknown = catalog.get("MQ2008").model_copy(update={"counts": None, "n_features": None})
    summary = tmp_path / "summary.json"
    assert sizes.size(unknown, SIMULATION, summary).cells == unknown.n_cells
    guessed = sizes.size(unknown.model_copy(update={"about_cells": 10**6}), SIMULATION, summary)
    assert guessed.cells == 10**6
    assert 10 < guessed.documents_per_query < 100
    summary.write_text(json.dumps({"rows": 30, "queries": 4, "features": 5}))
    assert sizes.size(unknown, SIMULATION, summary) == Size(30, 4, 5)
    summary.write_text("[]")
    assert sizes.size(unknown, SIMULATION, summary).cells == unknown.n_cells
