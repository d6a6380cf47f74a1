"""Are the limits of `certify` judged that it states, and is the worst mean found?"""

from typing import Any

import numpy as np
import pytest

from pipeline_lib.core.seeds import generator
from pipeline_lib.evaluation import certify
from pipeline_lib.experiment import Job
from pipeline_lib.papers.promises.certify import experiment
from tests import readings
from tests.papers.jobs import tables

SETTINGS = experiment.CertifySettings()


@pytest.fixture(scope="module")
def found() -> dict[str, list[dict[str, Any]]]:
    return tables(experiment.measure(Job(SETTINGS, 1)))


def test_the_claim_is_decided_and_what_is_planted_is_caught(found, tmp_path) -> None:
    assert readings.decided("promises-certify", found, SETTINGS.plain(), tmp_path) == ("verified", [])


def test_limits_that_are_not_corrected_are_refuted(found, tmp_path) -> None:
    uncorrected = [
        row | {f"missed{end}": row[f"uncorrected{end}"] for end in ("", "_low", "_high")}
        for row in found["promises-certify"]
    ]
    wrong = found | {"promises-certify": uncorrected}
    assert readings.judged("promises-certify", wrong, SETTINGS.plain(), tmp_path).status == "refuted"


@pytest.mark.parametrize("runs", [1, 3])
def test_limits_are_those_of_certify(runs: int) -> None:
    values = 1.0 * (generator(5, "values").random((runs, 20)) < 0.8)
    qrels = {f"q{k:02}": {"a": 1, "b": 0} for k in range(20)}

    def run(of_queries: np.ndarray) -> dict[str, Any]:  # of one relevant document, which is first or missing
        return {q: {"a" if one else "b": 1.0} for q, one in zip(qrels, of_queries, strict=True)}

    stated = certify({str(k): run(one) for k, one in enumerate(values)}, qrels, "RR")
    np.testing.assert_array_equal(stated.values.values, values)
    assert [experiment.limit(one, runs) for one in values] == pytest.approx(stated.lower.tolist(), abs=0)


def test_no_mean_is_missed_more_often_than_the_worst() -> None:
    limits = np.array([[0.0], [0.1], [0.3], [0.35]])
    mean, missed = experiment._worst(limits)
    p = np.linspace(0.0, 1.0, 10_001)
    ways = np.array([1.0, 3.0, 3.0, 1.0])
    of_counts = np.stack([w * p**k * (1.0 - p) ** (3 - k) for k, w in enumerate(ways)])
    every = (of_counts * (limits > p)).sum(axis=0)
    assert missed == pytest.approx(every.max(), abs=1e-3)
    assert missed >= every.max()
    assert mean == pytest.approx(p[np.argmax(every)], abs=1e-3)
