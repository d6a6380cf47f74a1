"""The constants of all surrogates and the lemmas, on small settings and by the slowest obvious computation."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline_lib import surrogates
from pipeline_lib.claims.trials import Trial
from pipeline_lib.data.rows import Row
from pipeline_lib.experiment import Job
from pipeline_lib.papers.lists.constants import experiment as constants
from pipeline_lib.papers.lists.constants.experiment import Constant, ConstantsSettings
from pipeline_lib.theory import operator_norms
from tests import readings
from tests.papers.jobs import tables
from tests.small_settings import SETTINGS

SMALL: dict[str, Any] = {
    **SETTINGS["lists"]["constants"],
    "listnet_lengths": [3, 200],
    "largest_labels": [2],
    "lists": 50,
}


SETTING = ConstantsSettings.parse(SMALL)


def trials(claim: str, rows: list[Row]) -> list[Trial]:
    return readings.trials(claim, tables(rows), SETTING.plain())


@pytest.fixture(scope="module")
def results() -> list[Row]:
    return list(constants.measure(Job(SETTING, 1)))


def test_every_claim_gets_evidence(results: list[Row]) -> None:
    found = [row for row in results if isinstance(row, Constant)]
    relations = trials("lists-g-relation", results)
    assert {trial.setting["surrogate"] for trial in relations} == set(surrogates.NAMES)
    for trial in relations:
        rows = {
            row.constant: row
            for row in found
            if row.part == "all" and all(getattr(row, axis) == label for axis, label in trial.setting.items())
        }
        linf, l2 = rows["lipschitz-linf"], rows["lipschitz-l2"]
        largest = max(linf.searched, linf.exact or 0.0)
        assert trial.values["largest_ratio"] == pytest.approx(
            largest / (math.sqrt(linf.m) * (l2.exact or l2.stated)), rel=1e-12
        )
    assert [trial.setting["m"] for trial in trials("lists-prop1", results)] == SMALL["listnet_lengths"]
    assert all(
        trial.values["dimension"] == trial.values["twice_the_features"] for trial in trials("lists-thm3", results)
    )
    [trial] = trials("lists-ranksvm", results)
    exponent: Any = trial.values["exponent_in_m"]
    assert (exponent.value, exponent.freedom) == (pytest.approx(2.0, abs=1e-6), len(SETTING.ranksvm_lengths) - 2)
    [trial] = trials("lists-prop2", results)
    assert trial.values["largest_ratio"] == pytest.approx(0.25, abs=0.01)
    assert all(row.searched <= row.stated * (1.0 + 1e-9) for row in found)


@pytest.mark.parametrize(
    ("surrogate", "share", "claim", "status"),
    [
        ("listnet", 1.0, "lists-prop1", "verified"),
        ("listnet", 0.9, "lists-prop1", "refuted"),
        ("smooth-dcg", 1.0, "lists-prop2", "consistent"),  # the supremum is a quarter of what is stated
        ("smooth-dcg", 0.7, "lists-prop2", "refuted"),
    ],
)
def test_a_lipschitz_constant_that_a_surrogate_understates_is_noticed(
    surrogate: str, share: float, claim: str, status: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kind = type(surrogates.create(surrogate))
    declared = kind.lipschitz
    monkeypatch.setattr(kind, "lipschitz", lambda *given, **named: share * declared(*given, **named))
    rows = tables([*constants.proposition_1(SETTING, 1), *constants.proposition_2(SETTING, 1)])
    assert readings.judged(claim, rows, SETTING.plain(), tmp_path).status == status


def test_lemmas_13_and_14_are_tried_on_random_smooth_losses(results: list[Row]) -> None:
    tried = trials("lists-lemma14", results)
    waves = {trial.setting["m"]: trial for trial in tried if trial.setting["loss"] == constants.WAVES}
    assert set(waves) == {1, *SMALL["lengths"]}  # type: ignore[misc]
    assert all(("y_max" in trial.setting) == (trial.setting["loss"] != constants.WAVES) for trial in tried)
    for trial in waves.values():
        # f'^2 <= 2 h f is sharp for one wave, so that ratios come near 1/6 for near points.
        assert 0.12 < trial.values["largest_ratio"] < 1.0  # type: ignore[operator]


def test_a_wrong_norm_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operator_norms, "largest_row", lambda X, p: float(np.linalg.norm(X, p, axis=1).mean()))
    compared = trials("lists-lemma4", list(constants.lemma_4(SETTING, 1)))
    assert [trial.setting["p"] for trial in compared] == ["1", "1.5", "2", "3", "inf"]
    assert all(trial.values["largest_relative_difference"] > 0.01 for trial in compared)  # type: ignore[operator]
