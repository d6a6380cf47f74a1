"""Learning from the labels of the documents shown at the top (topk, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from pipeline_lib.learners.declaration import (
    IMPORTS,
    Features,
    Learner,
    Radius,
    Selecting,
    Steps,
    listed,
    seen_by,
    several,
)
from pipeline_lib.settings import Probability, Whole

if TYPE_CHECKING:
    from pipeline_lib.cost import Size
    from pipeline_lib.learners.ranker import Trained
    from pipeline_lib.ranking_data import RankingData


class TopKFeedbackSettings(Selecting):
    """Algorithm 1 of topk, which sees the labels of the k documents it shows first.

    eta = c T^(-2/3) over T rounds.
    """

    k: Whole = Field(2, description="number of labels that are seen; pairwise surrogates need at least 2")
    step: Steps = Field(
        (1e-3, 1e-2, 1e-1, 1.0), description="c, or several values, of which the best is chosen on the validation part"
    )
    passes: Whole = Field(50, description="number of times that every query is visited")
    gamma: Literal["theory"] | Probability = Field(
        "theory", description="probability of a random order: a number, or theory for T^(-1/3)"
    )
    radius: Radius = Field(10.0, description="largest ||w||; null means no limit")
    probabilities: Literal["correct", "as-printed"] = Field(
        "correct", description="correct, or as-printed, which biases the estimates"
    )
    features: Features = Field("standardised", description="as for erm")

    def chooses(self) -> bool:
        """Whether there are several steps."""
        return several(self.step)


def _train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Any) -> Trained:
    from pipeline_lib.learners import top_k_feedback

    return top_k_feedback.train(train, validation, settings, seed)


def _seconds(settings: TopKFeedbackSettings, size: Size) -> float:
    # A round has a fixed cost besides that of reading the query's features.
    rounds = settings.passes * len(listed(settings.step))
    return IMPORTS + rounds * (6e-7 * size.queries + 3e-10 * seen_by(settings.features, size).cells)


LEARNER = Learner(
    _train,
    TopKFeedbackSettings,
    formula=(
        r"w \leftarrow \Pi(w - \eta z_q), \quad \mathbb{E}\, z_q = X_q^\top \nabla_s \varphi(X_q w, y_q), "
        r"\text{ from the labels of the } k \text{ documents shown}"
    ),
    with_surrogate=True,
    seconds=_seconds,
)
