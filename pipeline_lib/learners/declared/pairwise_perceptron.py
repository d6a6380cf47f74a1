"""The perceptron on pairs of documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pipeline_lib.learners.declaration import IMPORTS, Learner, Passing, seen_by

if TYPE_CHECKING:
    from pipeline_lib.cost import Size
    from pipeline_lib.learners.ranker import Trained
    from pipeline_lib.ranking_data import RankingData


class PairwisePerceptronSettings(Passing):
    """The perceptron on pairs of documents, over the training queries in random order."""


def _train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Any) -> Trained:
    from pipeline_lib.learners import pairwise_perceptron

    return pairwise_perceptron.train(train, validation, settings, seed)


def _seconds(settings: PairwisePerceptronSettings, size: Size) -> float:
    inside, runs = seen_by(settings.features, size), settings.passes_run()
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
