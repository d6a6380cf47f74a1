"""Is everything refused that is no trial?"""

import math

import pytest

from pipeline_lib.claims.trials import Trial
from pipeline_lib.core.errors import DataError
from pipeline_lib.statistics import Interval

TABLE = "tables/slam.parquet"


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, None, "0.5", True])
def test_a_number_that_is_none_is_refused(bad: object) -> None:
    with pytest.raises(DataError, match="finite number for 'a'"):
        Trial({"m": 5}, {"a": bad}, TABLE)  # type: ignore[dict-item]
    with pytest.raises(DataError):
        Interval(bad, bad, bad)  # type: ignore[arg-type]
    if bad is not None:
        with pytest.raises(DataError, match="degrees of freedom"):
            Interval(1.0, 0.0, 2.0, freedom=0 if bad is True else bad)  # type: ignore[arg-type]


def test_a_trial_has_values_and_plain_labels() -> None:
    with pytest.raises(DataError, match="at least one number"):
        Trial({}, {}, TABLE)
    for label in ([1], True, None, math.nan):
        with pytest.raises(DataError, match="text or a finite number for 'm'"):
            Trial({"m": label}, {"a": 1.0}, TABLE)  # type: ignore[dict-item]
