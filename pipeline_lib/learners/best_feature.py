"""The control ranker that ranks by one feature: the one that, with a sign, ranks the training part best."""

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np

from pipeline_lib.core import progress
from pipeline_lib.core.checks import Seed, checked
from pipeline_lib.core.errors import UnlearnableError
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import completed, selection
from pipeline_lib.learners.learner import IMPORTS, Learner, Selecting
from pipeline_lib.learners.models import LinearModel
from pipeline_lib.learners.ranker import Trained, names_of

_LOG = logging.getLogger(__name__)


class BestFeatureSettings(Selecting):
    """The single feature, with a sign, that ranks the training part best."""

    def chooses(self) -> bool:
        """Whether anything is chosen on the validation part: nothing is."""
        return False


@checked
def train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
    """The one feature, with a sign, that ranks the training queries best.

    Parameters
    ----------
    settings : mapping
        ``selection``: a measure of ``metrics.per_query``, averaged over the training queries; it has a default. Ties
        go to the feature of lowest index, and to the plus sign.

    Returns
    -------
    Trained
        The record holds ``feature`` (index from 0), ``sign`` and ``value``.

    Raises
    ------
    ConfigurationError, DataError
        When there are other settings, or there is no training query or no feature.
    """
    measure = completed("best-feature", settings)["selection"]
    if not train.n_queries or not train.n_features:
        raise UnlearnableError("train: expected at least one training query and one feature, found none")
    best = (-np.inf, 0, 1)
    found = progress.counted(
        range(train.n_features), "features", state=lambda: f"feature {best[1]} has {measure} {best[0]:.4f}"
    )
    for feature in found:
        column = np.ascontiguousarray(train.X[:, feature], dtype=np.float64)
        for sign in (1, -1):
            value = selection.mean_measure(sign * column, train, measure)
            if value > best[0] + selection.ROUNDING:
                best = (value, feature, sign)
    value, feature, sign = best
    _LOG.info(
        f"best of {train.n_features} features: number {feature}, {'higher' if sign > 0 else 'lower'} is better; "
        f"training {measure} {value:.4f}"
    )
    w = np.zeros(train.n_features)
    w[feature] = sign
    return Trained(LinearModel.of(w, feature_names=names_of(train)), {"feature": feature, "sign": sign, "value": value})


LEARNER = Learner(
    train,
    BestFeatureSettings,
    formula=r"s = \pm x_k, \text{ the feature and the sign that rank the training queries best}",
    control=True,
    weighs=True,
    # Every feature is ranked by, with both signs.
    seconds=lambda settings, size: IMPORTS + 2e-7 * size.cells,
)
