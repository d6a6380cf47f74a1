"""Is a ranker chosen by what it reaches on the validation queries, and not by how their mean is rounded?"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pipeline_lib import learners
from pipeline_lib.core.arrays import Floats
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import selection

CHOOSING: dict[str, dict[str, Any]] = {
    "erm": {"surrogate": "listnet", "l2": [0.01, 1.0, 100.0]},
    "ogd": {"surrogate": "listnet", "step": [0.01, 0.1, 1.0]},
    "adarank": {"rounds": 6},
    "rankboost": {"rounds": 6},
    "lambdamart": {"trees": 6},
    "cone": {"basis": [1, 2], "restarts": 2, "passes": 4},
    "best-feature": {},
}


def data(seed: int) -> RankingData:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 24)
    X = np.column_stack([y + 0.1 * rng.normal(size=24), rng.normal(size=24), y + 0.2 * rng.normal(size=24)])
    return RankingData.from_arrays(X, y, np.repeat(np.arange(6), 4))


def choice(name: str) -> Any:
    ranker = learners.create(name, **CHOOSING[name]).fit(data(1), data(2))
    kept = {"l2", "step", "rounds", "trees", "basis", "start", "passes", "feature", "sign"}
    return {key: value for key, value in ranker.record.items() if key in kept}


@pytest.mark.parametrize("name", CHOOSING)
def test_how_a_mean_is_rounded_decides_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = choice(name)
    assert expected
    exact = selection.mean_measure

    def signs(seed: int) -> Iterator[float]:
        rng = np.random.default_rng(seed)
        while True:
            yield float(rng.choice([-1e-15, 1e-15]))

    for seed in range(4):
        last = signs(seed)

        def rounded(scores: Floats, data: RankingData, measure: str, last: Iterator[float] = last) -> float:
            return exact(scores, data, measure) + next(last)

        monkeypatch.setattr(selection, "mean_measure", rounded)
        assert choice(name) == expected
