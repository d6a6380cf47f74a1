"""In which features does a learner see the documents, and how are its scores given back on documents as they are?

A learner works inside: ``features = fitted(setting, train, seed)``, ``features.apply(train)``, learn w there, and
``features.model(w)`` ranks documents from outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline_lib import checks
from pipeline_lib.arrays import Floats
from pipeline_lib.checks import checked
from pipeline_lib.errors import ConfigurationError
from pipeline_lib.learners.kernel import RandomFourier
from pipeline_lib.learners.models import LinearModel, RandomFourierModel
from pipeline_lib.learners.ranker import Seed, names_of
from pipeline_lib.ranking_data import RankingData, Standardisation

KERNEL_KEYS = ("kernel", "components", "bandwidth")


@checked
@dataclass(frozen=True, eq=False)
class Features:
    """The map into the features a learner sees: standardised (if asked for), then random features (if asked for)."""

    standard: Standardisation | None
    random: RandomFourier | None
    n_features: int
    feature_names: tuple[str, ...] | None = None

    def apply(self, data: RankingData) -> RankingData:
        """The documents as the learner sees them."""
        inside = data if self.standard is None else self.standard.apply(data)
        return inside if self.random is None else self.random.apply(inside)

    def model(self, w: Floats) -> LinearModel | RandomFourierModel:
        """The model that scores documents as they are with <w, inside features>."""
        d = self.n_features
        mean, scale = (np.zeros(d), np.ones(d)) if self.standard is None else (self.standard.mean, self.standard.scale)
        checks.floats("w", w, shape=(d if self.random is None else self.random.components,))
        if self.random is None:
            return LinearModel.of(w, mean, scale, self.feature_names)
        return RandomFourierModel.of(w, mean, scale, self.random, self.feature_names)


@checked
def fitted(setting: str | Mapping[str, Any], train: RankingData, seed: Seed) -> Features:
    """Learn the map from the training documents.

    Parameters
    ----------
    setting : "standardised", "raw" or mapping
        Standardised by mean and deviation of the training documents; as they are; or
        ``{"kernel": "gaussian", "components": D, "bandwidth": b or "median"}``: standardised, then D random features
        of the Gaussian kernel.
    train : RankingData
    seed
        Of the random features.

    Raises
    ------
    ConfigurationError
        When the setting is none of these.

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
    if setting == "standardised":
        return Features(Standardisation.of(train), None, *inputs)
    if not isinstance(setting, Mapping) or set(setting) != set(KERNEL_KEYS) or setting["kernel"] != "gaussian":
        raise ConfigurationError(
            "features: expected 'standardised', 'raw' or the keys kernel: gaussian, components and bandwidth, found "
            f"{setting!r}"
        )
    standard = Standardisation.of(train)
    random = RandomFourier.of(standard.apply(train), setting["components"], setting["bandwidth"], seed)
    return Features(standard, random, *inputs)
