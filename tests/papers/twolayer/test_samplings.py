"""Do gaps under several samplings differ in what they are said to differ in?"""

import numpy as np
import pytest

from pipeline_lib.papers.twolayer.samplings import experiment as samplings
from pipeline_lib.papers.twolayer.samplings.experiment import SamplingsSettings
from pipeline_lib.statistics import Interval
from tests import readings
from tests.papers.jobs import Given
from tests.papers.twolayer.test_gaps import POPULATION


def test_samplings_differ_in_what_they_say():
    asked = SamplingsSettings.parse(
        {
            "population": POPULATION,
            "radius": 2.0,
            "loss": "logistic",
            "queries": [6],
            "documents": [4],
            "repetitions": 5,
            "risk_queries": 500,
            "reference_queries": 200,
        }
    )
    rows = [row.plain() for row in samplings.measure(Given(asked, 1))]
    values = {row["what"]: row["value"] for row in rows}
    assert list(values) == [samplings.TWO_LAYER, samplings.UNEVEN, samplings.INDEPENDENT, "lengths", "dependence"]
    assert values["lengths"] == pytest.approx(values[samplings.UNEVEN] - values[samplings.TWO_LAYER])
    assert values["dependence"] == pytest.approx(values[samplings.TWO_LAYER] - values[samplings.INDEPENDENT])
    trials = readings.trials("twolayer-nm-sampling", {"twolayer-samplings": rows})
    assert [trial.setting for trial in trials] == [
        {"difference": name, "n": 6, "m": 4} for name in samplings.DIFFERENCES
    ]
    for trial, (name, (two_layer, nm)) in zip(trials, samplings.DIFFERENCES.items(), strict=True):
        compared = {"difference": name, "gap_two_layer": two_layer, "gap_nm": nm}
        for value, what in compared.items():
            [row] = [row for row in rows if row["what"] == what]
            freedom = row["repetitions"] - 1
            assert trial.values[value] == Interval(row["value"], row["low"], row["high"], freedom)
    target = samplings.Target(asked, samplings.UNEVEN, 1)
    lengths = target.draw(3000, 4, np.random.default_rng(0), samplings.UNEVEN).documents_per_query
    assert (lengths.min(), lengths.max()) == (2, 6)
    assert lengths.mean() == pytest.approx(4.0, abs=0.1)
    assert (target.draw(3, 4, np.random.default_rng(0), samplings.INDEPENDENT).documents_per_query == 4).all()
