"""The control ranker that leaves documents in the order of their file."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pipeline_lib.core.checks import Seed, checked
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import completed
from pipeline_lib.learners.learner import Learner, NoSettings
from pipeline_lib.learners.models import LinearModel
from pipeline_lib.learners.ranker import Trained, names_of


@checked
def train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
    """A ranker with w = 0, which leaves documents in the order of the file, as every tie does; it has no settings.

    Files need not list documents in random order: this is the value of a learner that ends at w = 0.
    """
    completed("file-order", settings)
    return Trained(LinearModel.of(np.zeros(train.n_features), feature_names=names_of(train)), {})


LEARNER = Learner(
    train,
    NoSettings,
    formula=r"w = 0 \quad \text{(documents stay in the order of the file)}",
    control=True,
    weighs=True,
)
