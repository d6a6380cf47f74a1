"""The control ranker that puts documents in a random order."""

from collections.abc import Mapping
from typing import Any

from pipeline_lib.core.checks import Seed, checked
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import completed
from pipeline_lib.learners.learner import Learner, NoSettings
from pipeline_lib.learners.models import RandomModel
from pipeline_lib.learners.ranker import Trained, axes_of


@checked
def train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
    """A ranker that uses no information; it has no settings."""
    completed("random", settings)
    axes = axes_of(seed)
    return Trained(RandomModel(axes), {"seed": list(axes)})


LEARNER = Learner(
    train, NoSettings, formula=r"s_i \text{ uniform on } [0, 1], \text{ independent}", control=True, weighs=True
)
