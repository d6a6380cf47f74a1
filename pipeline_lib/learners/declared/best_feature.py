"""The single feature, with a sign, that ranks the training part best."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pipeline_lib.learners.declaration import IMPORTS, Learner, Selecting

if TYPE_CHECKING:
    from pipeline_lib.cost import Size
    from pipeline_lib.learners.ranker import Trained
    from pipeline_lib.ranking_data import RankingData


class BestFeatureSettings(Selecting):
    """The single feature, with a sign, that ranks the training part best."""

    def chooses(self) -> bool:
        """Whether anything is chosen on the validation part: nothing is."""
        return False


def _train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Any) -> Trained:
    from pipeline_lib.learners import controls

    return controls.train_best_feature(train, validation, settings, seed)


def _seconds(settings: BestFeatureSettings, size: Size) -> float:
    # Every feature is ranked by, with both signs.
    return IMPORTS + 2e-7 * size.cells


LEARNER = Learner(
    _train,
    BestFeatureSettings,
    formula=r"s = \pm x_k, \text{ the feature and the sign that rank the training queries best}",
    control=True,
    seconds=_seconds,
)
