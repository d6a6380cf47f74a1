"""The perceptron of SLAM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from pipeline_lib.learners.declaration import IMPORTS, Learner, Passing, RankingMeasure, seen_by
from pipeline_lib.settings import Positive

if TYPE_CHECKING:
    from pipeline_lib.cost import Size
    from pipeline_lib.learners.ranker import Trained
    from pipeline_lib.ranking_data import RankingData


class PerceptronSettings(Passing):
    """The perceptron of SLAM, over the training queries in random order."""

    measure: RankingMeasure = Field("ndcg", description="the ranking loss and its weights: ndcg, map or ndcg@K")
    step: Literal["theory"] | Positive = Field(1.0, description='the step size: a number, or "theory"')
    active: Literal["margin", "misordered"] = Field(
        "margin", description="which hinges are active: margin (as printed) or misordered"
    )


def _train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Any) -> Trained:
    from pipeline_lib.learners import perceptron

    return perceptron.train(train, validation, settings, seed)


def _seconds(settings: PerceptronSettings, size: Size) -> float:
    inside, runs = seen_by(settings.features, size), settings.passes_run()
    return IMPORTS + 1e-9 * runs * inside.cells + settings.passes * 1e-7 * size.documents


LEARNER = Learner(
    _train,
    PerceptronSettings,
    formula=(
        r"w \leftarrow w - \eta X_q^\top \nabla_s \varphi(X_q w, y_q) "
        r"\quad \text{where } X_q w \text{ ranks with a loss } (\varphi \text{ of SLAM})"
    ),
    seconds=_seconds,
)
