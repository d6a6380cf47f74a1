"""With which control rankers are learners compared: random order, ideal order, order of the file, best feature?"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np

from pipeline_lib import progress
from pipeline_lib.checks import checked
from pipeline_lib.errors import DataError
from pipeline_lib.learners import completed, selection
from pipeline_lib.learners.models import IdealModel, LinearModel, RandomModel
from pipeline_lib.learners.ranker import Seed, Trained, names_of
from pipeline_lib.ranking_data import RankingData

_LOG = logging.getLogger(__name__)


@checked
def train_random(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
    """A ranker that uses no information; it has no settings."""
    completed("random", settings)
    axes = seed if isinstance(seed, tuple) else (seed,)
    return Trained(RandomModel(axes), {"seed": list(axes)})


@checked
def train_file_order(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
    """A ranker with w = 0, which leaves documents in the order of the file, as every tie does; it has no settings.

    Files need not list documents in random order: this is the value of a learner that ends at w = 0.
    """
    completed("file-order", settings)
    return Trained(LinearModel.of(np.zeros(train.n_features), feature_names=names_of(train)), {})


@checked
def train_ideal(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
    """A ranker that uses the labels; it has no settings."""
    completed("ideal", settings)
    return Trained(IdealModel(), {})


@checked
def train_best_feature(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
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
        raise DataError("train: expected at least one training query and one feature, found none")
    best = (-np.inf, 0, 1)
    found = progress.counted(
        range(train.n_features), _LOG, "features", state=lambda: f"feature {best[1]} has {measure} {best[0]:.4f}"
    )
    for feature in found:
        column = np.ascontiguousarray(train.X[:, feature], dtype=np.float64)
        for sign in (1, -1):
            value = selection.mean_measure(sign * column, train, measure)
            if value > best[0]:
                best = (value, feature, sign)
    value, feature, sign = best
    _LOG.info(
        f"best of {train.n_features} features: number {feature}, {'higher' if sign > 0 else 'lower'} is better; "
        f"training {measure} {value:.4f}"
    )
    w = np.zeros(train.n_features)
    w[feature] = sign
    return Trained(LinearModel.of(w, feature_names=names_of(train)), {"feature": feature, "sign": sign, "value": value})
