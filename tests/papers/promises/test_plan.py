"""Are plans judged that `plan_labels` makes, and are standard deviations of laws right?"""

from typing import Any

import numpy as np
import pytest

from pipeline_lib.core.seeds import generator
from pipeline_lib.evaluation import pilot, plan_labels
from pipeline_lib.experiment import Job
from pipeline_lib.papers.promises.plan import experiment
from tests import readings
from tests.papers.jobs import tables

SETTINGS = experiment.PlanSettings()


@pytest.fixture(scope="module")
def found() -> dict[str, list[dict[str, Any]]]:
    return tables(experiment.measure(Job(SETTINGS, 1)))


def test_the_claim_is_decided_and_what_is_planted_is_caught(found, tmp_path) -> None:
    assert readings.decided("promises-plan", found, SETTINGS.plain(), tmp_path) == ("verified", [])


def test_plans_by_the_estimate_are_refuted(found, tmp_path) -> None:
    largest = dict.fromkeys(("exceeded", "exceeded_low", "exceeded_high"), 1.0)  # of which what is broken is a part
    rows = [
        row | {f"broken{end}": row[f"estimated{end}"] for end in ("", "_low", "_high")} | largest
        for row in found["promises-plan"]
    ]
    assert readings.judged("promises-plan", {"promises-plan": rows}, SETTINGS.plain(), tmp_path).status == "refuted"


@pytest.mark.parametrize("law", experiment.LAWS)
def test_standard_deviations_are_those_of_the_laws(law: str) -> None:
    draw, sd = experiment.LAWS[law]
    assert np.asarray(draw(generator(1, law), 200_000), float).std() == pytest.approx(sd, rel=0.01)


def test_plans_are_those_of_plan_labels() -> None:
    ones = generator(4, "pilot").random(40) < 0.6
    qrels = {f"q{k:02}": {"a": 1, "b": 0} for k in range(40)}
    run = {q: {"a" if one else "b": 1.0} for q, one in zip(qrels, ones, strict=True)}
    [stated] = plan_labels(run, qrels, "RR", within=0.05).quantities
    width = pilot.half_width(0.5, stated.queries_for_width)
    broken, _, exceeded = experiment._planned(1.0 * ones, 0.5, 0.05)
    assert (broken, exceeded) == (width > 1.1 * 0.05, width > 0.05)
