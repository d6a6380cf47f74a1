"""AdaRank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from pipeline_lib.learners.declaration import IMPORTS, Learner, PlainFeatures, RankingMeasure, Selecting
from pipeline_lib.settings import Whole

if TYPE_CHECKING:
    from pipeline_lib.cost import Size
    from pipeline_lib.learners.ranker import Trained
    from pipeline_lib.ranking_data import RankingData


class AdaRankSettings(Selecting):
    """AdaRank, with single features as weak rankers."""

    measure: RankingMeasure = Field("map", description="the measure that is boosted: map, ndcg or ndcg@K")
    rounds: Whole = Field(100, description="largest number of rounds; the best number is chosen on the validation part")
    repeats: Whole | None = Field(
        1, description="how often a feature may be chosen; null means without limit, as printed"
    )
    features: PlainFeatures = Field("raw", description="raw or standardised")

    def chooses(self) -> bool:
        """Whether there are several numbers of rounds."""
        return self.rounds > 1


def _train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Any) -> Trained:
    from pipeline_lib.learners import adarank

    return adarank.train(train, validation, settings, seed)


def _seconds(settings: AdaRankSettings, size: Size) -> float:
    # Every feature is measured once; a round weighs the queries' measures and predicts the validation part.
    return (
        IMPORTS
        + 4e-7 * size.cells
        + 1e-9 * settings.rounds * size.queries * size.features
        + (3e-8 * settings.rounds * size.documents)
    )


LEARNER = Learner(
    _train,
    AdaRankSettings,
    formula=(
        r"s \leftarrow s + \alpha_t x_{k_t}, \quad "
        r"\sum_q P_t(q)\, E(x_{k_t}, y_q) = \max_k \sum_q P_t(q)\, E(x_k, y_q), \quad "
        r"P_t(q) \propto e^{-E(s, y_q)}"
    ),
    seconds=_seconds,
)
