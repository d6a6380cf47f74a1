"""How are gradient-boosted trees trained with the lambdas of LambdaMART? By LightGBM.

LightGBM grows the trees, on one thread and deterministically; they are stored and evaluated by
:class:`~pipeline_lib.learners.trees.TreesModel`, so that a stored model needs LightGBM no more.

References
----------
Burges 2010 (LambdaMART); Ke et al. 2017 (LightGBM).
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pipeline_lib.checks import checked
from pipeline_lib.errors import ConfigurationError
from pipeline_lib.installed import why_unusable
from pipeline_lib.learners import completed, selection
from pipeline_lib.learners.ranker import Seed, Trained, names_of
from pipeline_lib.learners.trees import TreesModel
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator

_LOG = logging.getLogger(__name__)

# LightGBM refuses labels without a gain; these are the gains 2^y - 1 as long as float64 has them exactly.
LARGEST_LABEL = 52


@checked
def train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
    """Grow ``trees`` trees on ``train``; keep the number of trees that is best on ``validation``.

    Parameters
    ----------
    settings : mapping
        Those of :class:`pipeline_lib.learners.declared.lambdamart.LambdaMARTSettings`; what is missing has its default.
        Ties go to fewer trees.
    seed
        Of LightGBM's samples, of which the default settings draw none.

    Returns
    -------
    Trained
        The record holds the settings, LightGBM's version, the number of ``trees`` kept, and ``tried``: the validation
        value after every tree.

    Raises
    ------
    ConfigurationError
        When LightGBM cannot be used here, or a setting is missing, unknown or has no such value.
    """
    chosen = completed("lambdamart", settings)
    selection.check_queries("lambdamart", train, validation, "the number of trees")
    try:
        lightgbm = importlib.import_module("lightgbm")
    except (ImportError, OSError) as error:
        raise ConfigurationError(f"lambdamart: {why_unusable('lightgbm') or error}") from error
    parameters = {
        "objective": "lambdarank",
        "num_leaves": chosen["leaves"],
        "learning_rate": chosen["step"],
        "min_data_in_leaf": chosen["least_documents"],
        "lambdarank_truncation_level": chosen["truncation"],
        "label_gain": (2.0 ** np.arange(LARGEST_LABEL + 1) - 1.0).tolist(),
        "feature_pre_filter": False,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "verbosity": -1,
        "seed": int(generator(*(seed if isinstance(seed, tuple) else (seed,)), "lambdamart").integers(2**31)),
    }
    documents = lightgbm.Dataset(train.X64, train.y, group=np.diff(train.offsets), params={"verbosity": -1})
    booster = lightgbm.train(parameters, documents, num_boost_round=chosen["trees"])
    whole = _model_of(booster.dump_model(), train.n_features, names_of(train))
    return _kept(whole, validation, {**chosen}, lightgbm.__version__)


def _model_of(dump: Mapping[str, Any], n_features: int, feature_names: Sequence[str] | None) -> TreesModel:
    # From what a booster's dump_model() gives, whose nodes compare a number with a threshold.
    nodes: list[tuple[int, float, int, int, float]] = []

    def add(node: Mapping[str, Any]) -> int:
        place = len(nodes)
        if "split_feature" not in node:
            nodes.append((-1, 0.0, 0, 0, float(node["leaf_value"])))
            return place
        assert node["decision_type"] == "<=", node
        nodes.append((0, 0.0, 0, 0, 0.0))
        lower, upper = add(node["left_child"]), add(node["right_child"])
        nodes[place] = int(node["split_feature"]), float(node["threshold"]), lower, upper, 0.0
        return place

    roots = [add(tree["tree_structure"]) for tree in dump["tree_info"]]
    features, thresholds, lower, upper, values = zip(*nodes, strict=True)
    return TreesModel.of(roots, features, thresholds, lower, upper, values, n_features, feature_names)


def _kept(whole: TreesModel, validation: RankingData, chosen: dict[str, Any], version: str) -> Trained:
    # LightGBM stops where no tree would improve anything: there may be fewer trees than requested, but there is one.
    sums = whole.sums(validation)
    values = [selection.mean_measure(sums[:, t], validation, chosen["selection"]) for t in range(len(whole.roots))]
    best = int(np.argmax(values))
    _LOG.info(f"{best + 1} of {len(values)} trees kept; validation {chosen['selection']} {values[best]:.4f}")
    record = {"settings": chosen, "lightgbm": version, "trees": best + 1, "validation": values[best], "tried": values}
    return Trained(whole.first(best + 1), record)
