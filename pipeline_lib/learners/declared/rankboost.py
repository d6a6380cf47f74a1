"""RankBoost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from pipeline_lib.learners.declaration import IMPORTS, TRAINING, Learner, Selecting, megabytes
from pipeline_lib.settings import Whole

if TYPE_CHECKING:
    from pipeline_lib.cost import Size
    from pipeline_lib.learners.ranker import Trained
    from pipeline_lib.ranking_data import RankingData


class RankBoostSettings(Selecting):
    """RankBoost, with thresholds of single features as weak rankers."""

    rounds: Whole = Field(300, description="largest number of rounds; the best number is chosen on the validation part")
    pairs: Literal["alike", "queries-alike"] = Field(
        "alike", description="whether all pairs have equal weight (alike) or all queries (queries-alike)"
    )

    def chooses(self) -> bool:
        """Whether there are several numbers of rounds."""
        return self.rounds > 1


def _train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Any) -> Trained:
    from pipeline_lib.learners import rankboost

    return rankboost.train(train, validation, settings, seed)


def _seconds(settings: RankBoostSettings, size: Size) -> float:
    # A round passes over all documents in the order of every feature.
    return IMPORTS + 1.5e-9 * settings.rounds * size.cells + 1e-7 * settings.rounds * size.documents


def _megabytes(settings: RankBoostSettings, size: Size) -> float:
    # The order of the documents by every feature, in 32 bits, and where its value changes
    return megabytes(settings, size) + 5e-6 * TRAINING * size.cells


LEARNER = Learner(
    _train,
    RankBoostSettings,
    formula=(
        r"s \leftarrow s + \alpha_t\, \mathbb{1}[x_{k_t} > \theta_t], \quad "
        r"\text{pairs with } y_i > y_j \text{ weighted by } e^{s_j - s_i}"
    ),
    seconds=_seconds,
    megabytes=_megabytes,
)
