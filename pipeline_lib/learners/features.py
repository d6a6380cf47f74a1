"""With which features of the documents does a learner work, and how does its ranker score the original documents?

A learner fits the map, ``features = fitted(setting, train, seed)``, learns w on ``features.apply(train)``, and returns
``features.model(w)``, which ranks documents with their original features.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Natural, Seed, checked
from pipeline_lib.core.errors import ConfigurationError, UnlearnableError
from pipeline_lib.data.ranking_data import RankingData, Standardisation
from pipeline_lib.learners.kernel import RandomFourier
from pipeline_lib.learners.models import LinearModel, RandomFourierModel
from pipeline_lib.learners.ranker import names_of

KERNEL_KEYS = ("kernel", "components", "bandwidth")


@checked
@dataclass(frozen=True, eq=False)
class Features:
    """The map to the features that a learner uses: optionally standardised, then optionally random features."""

    standard: Standardisation | None
    random: RandomFourier | None
    n_features: Natural
    feature_names: tuple[str, ...] | None = None

    def apply(self, data: RankingData) -> RankingData:
        """The documents with the features that the learner uses."""
        inside = data if self.standard is None else self.standard.apply(data)
        return inside if self.random is None else self.random.apply(inside)

    def model(self, w: Floats) -> LinearModel | RandomFourierModel:
        """The model that scores documents with their original features by <w, mapped features>."""
        d = self.n_features
        mean, scale = (np.zeros(d), np.ones(d)) if self.standard is None else (self.standard.mean, self.standard.scale)
        checks.floats("w", w, shape=(d if self.random is None else self.random.components,))
        if self.random is None:
            return LinearModel.of(w, mean, scale, self.feature_names)
        return RandomFourierModel.of(w, mean, scale, self.random.bandwidth, self.random.seed, self.feature_names)


@checked
def fitted(setting: str | Mapping[str, Any], train: RankingData, seed: Seed) -> Features:
    """Learn the map from the training documents.

    Parameters
    ----------
    setting : "standardised", "raw" or mapping
        Standardised by mean and deviation of the training documents; unchanged; or ``{"kernel": "gaussian",
        "components": D, "bandwidth": b or "median"}``: standardised, then D random features of the Gaussian kernel.
    train : RankingData
    seed
        Of the random features.

    Raises
    ------
    ConfigurationError
        When the setting is none of these.
    DataError
        When there is no document whose features can be standardised, or queries have weights and the bandwidth is
        "median", which does not know them.

    Example
    -------
    >>> train = RankingData.from_arrays([[0.0], [2.0]], [0, 1], [1, 1])
    >>> features = fitted("standardised", train, 0)
    >>> features.apply(train).X.tolist(), features.model(np.array([3.0])).predict(train).tolist()
    ([[-1.0], [1.0]], [-3.0, 3.0])
    """
    inputs = (train.n_features, names_of(train))
    if setting == "raw":
        return Features(None, None, *inputs)
    if not train.n_documents:
        raise UnlearnableError("train: expected at least one document, found none")
    if setting == "standardised":
        return Features(Standardisation.of(train), None, *inputs)
    if not isinstance(setting, Mapping) or set(setting) != set(KERNEL_KEYS) or setting["kernel"] != "gaussian":
        raise ConfigurationError(
            "features: expected 'standardised', 'raw' or the keys kernel: gaussian, components and bandwidth, found "
            f"{setting!r}"
        )
    if not train.count_alike and setting["bandwidth"] == "median":
        raise UnlearnableError(
            "train: expected a number as the bandwidth where queries have weights, which the median distance would not "
            "see, found 'median'"
        )
    standard = Standardisation.of(train)
    random = RandomFourier.of(standard.apply(train), setting["components"], setting["bandwidth"], seed)
    return Features(standard, random, *inputs)
