"""Bandit gradient descent, which sees nothing but its loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from pipeline_lib.learners.declaration import IMPORTS, Features, Learner, Selecting, Steps, listed, seen_by, several
from pipeline_lib.settings import Positive, Whole

if TYPE_CHECKING:
    from pipeline_lib.cost import Size
    from pipeline_lib.learners.ranker import Trained
    from pipeline_lib.ranking_data import RankingData


class BanditSettings(Selecting):
    """Bandit gradient descent over T rounds, with the step c T^(-1/2), which sees its loss and no label."""

    step: Steps = Field(
        (1e-4, 1e-3, 1e-2, 1e-1), description="c, or several values, of which the best is chosen on the validation part"
    )
    passes: Whole = Field(50, description="number of times that every query is visited")
    delta: Positive = Field(
        1.0, description="rankers are played at the distance delta T^(-1/4) from w, or half of the radius if it is less"
    )
    radius: Positive = Field(10.0, description="largest ||w|| of the rankers that are played")
    features: Features = Field("standardised", description="as for erm")

    def chooses(self) -> bool:
        """Whether there are several steps."""
        return several(self.step)


def _train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Any) -> Trained:
    from pipeline_lib.learners import bandit

    return bandit.train(train, validation, settings, seed)


def _seconds(settings: BanditSettings, size: Size) -> float:
    # A round has a fixed cost besides that of reading the query's features.
    rounds = settings.passes * len(listed(settings.step))
    return IMPORTS + rounds * (6e-7 * size.queries + 6e-10 * seen_by(settings.features, size).cells)


LEARNER = Learner(
    _train,
    BanditSettings,
    formula=(
        r"w \leftarrow \Pi\bigl( w - \eta\, \varphi(X_q (w + \delta u), y_q)\, u \bigr), \quad "
        r"u \text{ uniform on the sphere}, \quad \eta = \frac{c}{\sqrt{T}}"
    ),
    with_surrogate=True,
    seconds=_seconds,
)
