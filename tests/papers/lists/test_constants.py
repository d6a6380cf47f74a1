"""Do the claims about constants get their evidence, and is a constant that a surrogate understates noticed?"""

from pathlib import Path
from typing import Any

import pytest

from pipeline_lib import surrogates
from pipeline_lib.claims.trials import Trial
from pipeline_lib.data.rows import Row
from pipeline_lib.experiment import Job
from pipeline_lib.papers.lists.constants import experiment as constants
from pipeline_lib.papers.lists.constants.experiment import Constant
from tests import readings
from tests.papers.jobs import of, tables
from tests.small_settings import small

SETTING = small("lists", "constants", listnet_lengths=[3, 200], largest_labels=[2])


def trials(claim: str, rows: list[Row]) -> list[Trial]:
    return readings.trials(claim, tables(rows), SETTING.plain())


@pytest.fixture(scope="module")
def results() -> list[Row]:
    return list(constants.measure(Job(SETTING, 1)))


def test_every_claim_gets_evidence(results: list[Row]) -> None:
    found = of(Constant, results)
    assert [trial.setting["m"] for trial in trials("lists-prop1", results)] == [3, 200]
    assert all(
        trial.values["dimension"] == trial.values["twice_the_features"] for trial in trials("lists-thm3", results)
    )
    [trial] = trials("lists-ranksvm", results)
    exponent: Any = trial.values["exponent_in_m"]
    assert (exponent.value, exponent.freedom) == (pytest.approx(2.0, abs=1e-6), len(SETTING.ranksvm_lengths) - 2)
    assert {row.surrogate for row in found} == set(surrogates.NAMES)
    assert all(row.searched <= row.stated * (1.0 + 1e-9) for row in found)


@pytest.mark.parametrize(("share", "status"), [(1.0, "verified"), (0.9, "refuted")])
def test_a_lipschitz_constant_that_listnet_understates_is_noticed(
    share: float, status: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kind = type(surrogates.create("listnet"))
    declared = kind.lipschitz
    monkeypatch.setattr(kind, "lipschitz", lambda *given, **named: share * declared(*given, **named))
    rows = tables(constants.proposition_1(SETTING, 1))
    assert readings.judged("lists-prop1", rows, SETTING.plain(), tmp_path).status == status
