"""LambdaMART."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from pipeline_lib.learners.declaration import IMPORTS, TRAINING, Learner, Selecting, megabytes
from pipeline_lib.settings import Positive, Whole

if TYPE_CHECKING:
    from pipeline_lib.cost import Size
    from pipeline_lib.learners.ranker import Trained
    from pipeline_lib.ranking_data import RankingData


class LambdaMARTSettings(Selecting):
    """LambdaMART: gradient-boosted trees, grown by LightGBM."""

    trees: Whole = Field(
        300, le=100_000, description="largest number of trees; the best number is chosen on the validation part"
    )
    leaves: Whole = Field(15, ge=2, le=131_072, description="largest number of leaves of a tree")
    step: Positive = Field(0.05, description="the factor of every tree")
    least_documents: Whole = Field(20, le=10**9, description="smallest number of documents in a leaf")
    truncation: Whole = Field(30, le=10**9, description="lambdas are those of NDCG cut off at this rank")

    def chooses(self) -> bool:
        """Whether there are several numbers of trees."""
        return self.trees > 1


def _train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Any) -> Trained:
    from pipeline_lib.learners import lambdamart

    return lambdamart.train(train, validation, settings, seed)


def _seconds(settings: LambdaMARTSettings, size: Size) -> float:
    # A tree passes over all features; its lambdas take the first documents with all others.
    passes = 6e-9 * size.cells + 1e-9 * settings.truncation * size.documents
    return IMPORTS + 0.5 + settings.trees * (2e-4 * settings.leaves + passes)


def _megabytes(settings: LambdaMARTSettings, size: Size) -> float:
    # LightGBM is given all features in double precision, and makes integers of them.
    return megabytes(settings, size) + 10e-6 * TRAINING * size.cells


LEARNER = Learner(
    _train,
    LambdaMARTSettings,
    formula=(
        r"s \leftarrow s + \eta\, \text{tree}(\lambda), \quad \lambda_i = \sum_{j:\, y_i > y_j} "
        r"\frac{\lvert \Delta \mathrm{NDCG}_{ij} \rvert}{1 + \exp(s_i - s_j)} - \sum_{j:\, y_j > y_i} "
        r"\frac{\lvert \Delta \mathrm{NDCG}_{ij} \rvert}{1 + \exp(s_j - s_i)}"
    ),
    requires="lightgbm",
    seconds=_seconds,
    megabytes=_megabytes,
)
