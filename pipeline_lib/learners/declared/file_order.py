"""The order of the documents in their file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pipeline_lib.learners.declaration import Learner, NoSettings

if TYPE_CHECKING:
    from pipeline_lib.learners.ranker import Trained
    from pipeline_lib.ranking_data import RankingData


def _train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Any) -> Trained:
    from pipeline_lib.learners import controls

    return controls.train_file_order(train, validation, settings, seed)


LEARNER = Learner(
    _train, NoSettings, formula=r"w = 0 \quad \text{(documents stay in the order of the file)}", control=True
)
