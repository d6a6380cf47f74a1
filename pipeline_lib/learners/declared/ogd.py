"""Online gradient descent over the training queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from pipeline_lib.learners.declaration import (
    IMPORTS,
    Ball,
    Features,
    Learner,
    Radius,
    Selecting,
    Steps,
    listed,
    seen_by,
    several,
)
from pipeline_lib.settings import Truth, Whole

if TYPE_CHECKING:
    from pipeline_lib.cost import Size
    from pipeline_lib.learners.ranker import Trained
    from pipeline_lib.ranking_data import RankingData


class OgdSettings(Selecting):
    """Online gradient descent, eta_t = c / sqrt(t) over the training queries in random order."""

    step: Steps = Field(
        (1e-3, 1e-2, 1e-1, 1.0), description="c, or several values, of which the best is chosen on the validation part"
    )
    passes: Whole = Field(5, description="number of times that every query is visited")
    radius: Radius = Field(None, description="largest ||w||; null means no limit")
    ball: Ball = Field("l2", description="the norm that the radius limits: l2 or l1")
    average: Truth = Field(
        True, description="whether the mean of all iterates is the ranker; if false, the last one is"
    )
    features: Features = Field("standardised", description="as for erm")

    def chooses(self) -> bool:
        """Whether there are several steps."""
        return several(self.step)


def _train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Any) -> Trained:
    from pipeline_lib.learners import ogd

    return ogd.train(train, validation, settings, seed)


def _seconds(settings: OgdSettings, size: Size) -> float:
    # A round has a fixed cost besides that of reading the query's features.
    rounds = settings.passes * len(listed(settings.step))
    return IMPORTS + rounds * (4e-5 * size.queries + 1e-9 * seen_by(settings.features, size).cells)


LEARNER = Learner(
    _train,
    OgdSettings,
    formula=(
        r"w \leftarrow \Pi\bigl( w - \eta_t X_q^\top \nabla_s \varphi(X_q w, y_q) \bigr), \quad "
        r"\eta_t = \frac{c}{\sqrt{t}}"
    ),
    with_surrogate=True,
    seconds=_seconds,
)
