"""Does stability measure what leaving out a query changes?"""

from typing import Any

import numpy as np
import pytest

from pipeline_lib.papers.cone.stability import experiment as stability
from pipeline_lib.papers.cone.stability.experiment import Exponent, StabilitySettings
from tests.papers.jobs import Given
from tests.small_settings import SETTINGS

STABILITY: dict[str, Any] = {**SETTINGS["cone"]["stability"], "test_queries": 50, "compared_queries": 5}


def test_stability_measures_what_leaving_out_changes() -> None:
    settings = StabilitySettings.parse(STABILITY)
    rows = [row for P in settings.queries for row in stability.retrain(Given(settings, 3, {"queries": str(P)}))]
    assert len(rows) == 6
    for row in rows:
        assert 0 < row.s_mean <= row.s_max
        assert 0 < row.beta <= row.beta_bound
        assert row.largest_ratio <= 1
        assert row.empirical_risk < row.bound <= row.bound_by_theorem_2
    exponents = [row for row in stability.join(Given(settings, 3, earlier=rows)) if isinstance(row, Exponent)]
    slope = next(row for row in exponents if row.statistic == "s_max")
    grid = np.log(settings.queries)
    means = np.log([np.mean([row.s_max for row in rows if row.P == P]) for P in settings.queries])
    assert slope.slope.value == pytest.approx(np.polyfit(grid, means, 1)[0])
