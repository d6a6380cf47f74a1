"""The control ranker that puts documents in the ideal order."""

from collections.abc import Mapping
from typing import Any

from pipeline_lib.core.checks import Seed, checked
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import completed
from pipeline_lib.learners.learner import Learner, NoSettings
from pipeline_lib.learners.models import IdealModel
from pipeline_lib.learners.ranker import Trained


@checked
def train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
    """A ranker that uses the labels; it has no settings."""
    completed("ideal", settings)
    return Trained(IdealModel(), {})


LEARNER = Learner(
    train, NoSettings, formula=r"s = y \quad \text{(the best any ranking can do)}", control=True, weighs=True
)
