"""The perceptron on pairs of documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from pipeline_lib.learners.declaration import IMPORTS, Features, Learner, Selecting, seen_by
from pipeline_lib.settings import Whole

if TYPE_CHECKING:
    from pipeline_lib.cost import Size
    from pipeline_lib.learners.ranker import Trained
    from pipeline_lib.ranking_data import RankingData


class PairwisePerceptronSettings(Selecting):
    """The perceptron on pairs of documents, over the training queries in random order."""

    passes: Whole = Field(10, description="largest number of passes; the best number is chosen on the validation part")
    average: bool = Field(True, description="whether the mean of all iterates is the ranker; if false, the last one is")
    features: Features = Field("standardised", description="as for erm")

    def chooses(self) -> bool:
        """Whether there are several numbers of passes."""
        return self.passes > 1


def _train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Any) -> Trained:
    from pipeline_lib.learners import pairwise_perceptron

    return pairwise_perceptron.train(train, validation, settings, seed)


def _seconds(settings: PairwisePerceptronSettings, size: Size) -> float:
    # Every number of passes up to the largest is run from the start.
    inside = seen_by(settings.features, size)
    runs = settings.passes * (settings.passes + 1) / 2
    return IMPORTS + 0.5 + 1.5e-9 * runs * inside.cells + 2e-9 * runs * size.documents**2 / size.queries


LEARNER = Learner(
    _train,
    PairwisePerceptronSettings,
    formula=(
        r"w \leftarrow w + \frac{1}{P_q} \sum_{i, j:\, y_i > y_j,\, s_i \le s_j} (x_i - x_j), "
        r"\quad P_q \text{ pairs } y_i > y_j"
    ),
    seconds=_seconds,
)
