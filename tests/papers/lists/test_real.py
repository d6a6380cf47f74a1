"""Are samples of a data set apart from the queries on which risks are measured?"""

from typing import Any

import numpy as np
import pytest

from pipeline_lib.core.errors import DataError
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.papers.lists.real import experiment as real
from pipeline_lib.papers.lists.real.experiment import RealSettings
from tests.papers.jobs import Given
from tests.papers.lists.samples import small
from tests.small_settings import SETTINGS

REAL: dict[str, Any] = {**SETTINGS["lists"]["real"], "queries": [10, 20, 400]}


def test_real_samples_and_held_out_queries_do_not_overlap():
    asked, data = RealSettings.parse(REAL), small(n=50)
    rows = list(real.measure(Given(asked, 1, data={"made": data})))
    assert sorted({row.n for row in rows}) == [10, 20]
    assert [row.learner for row in rows] == ["erm", "worst", "rerm", "ogd"] * 4
    assert all(row.gap == pytest.approx(row.risk - row.empirical) for row in rows)
    assert all(row.certified_gap <= 1e-4 for row in rows if row.learner in ("erm", "rerm"))
    assert all(row.excess <= row.excess_bound for row in rows if row.learner != "worst")
    few = Given(asked, 1, data={"made": data.take(np.arange(15))})
    assert list(real.measure(few)) == []


def test_scaled_documents_fit_the_unit_ball():
    norms = np.linalg.norm(real.scaled(small()).X64, axis=1)
    assert norms.max() == pytest.approx(1.0, rel=1e-6)
    with pytest.raises(DataError, match="constant"):
        real.scaled(RankingData.from_arrays([[1.0], [1.0]], [0, 1], [1, 1]))
