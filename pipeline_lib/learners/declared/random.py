"""A random order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pipeline_lib.learners.declaration import Learner, NoSettings

if TYPE_CHECKING:
    from pipeline_lib.learners.ranker import Trained
    from pipeline_lib.ranking_data import RankingData


def _train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Any) -> Trained:
    from pipeline_lib.learners import controls

    return controls.train_random(train, validation, settings, seed)


LEARNER = Learner(_train, NoSettings, formula=r"s_i \text{ uniform on } [0, 1], \text{ independent}", control=True)
