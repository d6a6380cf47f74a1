"""Is every defect planted, and is it the plant that the doctor finds?"""

from typing import Any

import pytest

from pipeline_lib.core.seeds import generator
from pipeline_lib.evaluation import examination
from pipeline_lib.evaluation.examination import CHECKS
from pipeline_lib.experiment import Job
from pipeline_lib.papers.promises.doctor import experiment, plants
from tests import readings
from tests.papers.jobs import tables

SETTINGS = experiment.DoctorSettings(plants=2)


@pytest.fixture(scope="module")
def found() -> dict[str, list[dict[str, Any]]]:
    return tables(experiment.measure(Job(SETTINGS, 1)))


def test_the_claim_is_decided_and_what_is_planted_is_caught(found, tmp_path) -> None:
    assert readings.decided("promises-doctor", found, SETTINGS.plain(), tmp_path) == ("verified", [])


def test_one_defect_that_is_overlooked_refutes_the_claim(found, tmp_path) -> None:
    rows = [row | {"found": 0.5 if row["check"] == "units of a feature" else 1.0} for row in found["promises-defects"]]
    judged = readings.judged("promises-doctor", found | {"promises-defects": rows}, SETTINGS.plain(), tmp_path)
    assert judged.status == "refuted"


def test_every_check_has_a_plant() -> None:
    assert tuple(plants.PLANTS) == CHECKS


@pytest.mark.parametrize("check", CHECKS)
def test_a_plant_is_one_defect(check: str, tmp_path) -> None:
    planted = plants.PLANTS[check](generator(3, check), tmp_path)
    assert [one.check for one in examination.doctor(planted.data, difference=planted.difference).found] == [check]
