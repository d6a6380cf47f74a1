"""How are gradient-boosted trees trained with the lambdas of LambdaMART? By LightGBM.

LightGBM grows the trees, on one thread and deterministically; they are stored and evaluated by
:class:`~pipeline_lib.learners.models.TreesModel`, so that a stored model needs LightGBM no more.

References
----------
Burges 2010 (LambdaMART); Ke et al. 2017 (LightGBM).
"""

import importlib
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import Field

from pipeline_lib import ranking
from pipeline_lib.core.checks import Seed, checked
from pipeline_lib.core.cost import Size
from pipeline_lib.core.errors import ConfigurationError, UnlearnableError
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Positive, Whole
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import completed, selection
from pipeline_lib.learners.installed import why_unusable
from pipeline_lib.learners.learner import IMPORTS, TRAINING, Learner, Selecting, megabytes
from pipeline_lib.learners.models import TreesModel
from pipeline_lib.learners.ranker import Trained, axes_of, names_of

_LOG = logging.getLogger(__name__)

LONGEST_LIST = 10_000
"""LightGBM trains on no query of more documents."""


class LambdaMARTSettings(Selecting):
    """LambdaMART: gradient-boosted trees, grown by LightGBM."""

    tuned = "trees"
    trees: Whole = Field(300, le=100_000, description="most trees; the best number is chosen on the validation part")
    leaves: Whole = Field(15, ge=2, le=131_072, description="largest number of leaves of a tree")
    step: Positive = Field(0.05, description="the factor of every tree")
    least_documents: Whole = Field(20, le=10**9, description="smallest number of documents in a leaf")
    truncation: Whole = Field(30, le=10**9, description="lambdas are those of NDCG cut off at this rank")


@checked
def train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
    """Grow ``trees`` trees on ``train``; keep the number of trees that is best on ``validation``.

    Parameters
    ----------
    settings : mapping
        Those of :class:`LambdaMARTSettings`; what is missing has its default. Ties go to fewer trees.
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
    UnlearnableError
        When a query has more than 10,000 documents in training, or LightGBM refuses the data for another reason.
    """
    chosen = completed("lambdamart", settings)
    if (found := int(train.documents_per_query.max(initial=0))) > LONGEST_LIST:
        longest = int(train.documents_per_query.argmax())
        name = train.qids[longest] if train.query_names is None else train.query_names[longest]
        raise UnlearnableError(
            f"train: lambdamart: expected at most {LONGEST_LIST:,} documents of a query in training, the limit of "
            f"LightGBM, found {found:,} of query {name}; leave documents out, or use another learner"
        )
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
        "label_gain": ranking.GAINS.tolist(),  # LightGBM refuses labels without a gain
        "feature_pre_filter": False,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "verbosity": -1,
        "seed": int(generator(*axes_of(seed), "lambdamart").integers(2**31)),
    }
    documents = lightgbm.Dataset(train.X64, train.y, group=np.diff(train.offsets), params={"verbosity": -1})
    try:
        booster = lightgbm.train(parameters, documents, num_boost_round=chosen["trees"])
    except lightgbm.basic.LightGBMError as error:
        raise UnlearnableError(f"train: lambdamart: LightGBM refuses the data: {error}; use another learner") from error
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
    values = selection.measured(whole.sums(validation).T, validation, chosen["selection"])
    best = selection.first_best(values)
    _LOG.info(f"{best + 1} of {len(values)} trees kept; validation {chosen['selection']} {values[best]:.4f}")
    record = {"settings": chosen, "lightgbm": version, "trees": best + 1, "validation": values[best], "tried": values}
    return Trained(whole.first(best + 1), record)


def _seconds(settings: LambdaMARTSettings, size: Size) -> float:
    # A tree passes over all features; its lambdas take the first documents with all others.
    passes = 6e-9 * size.cells + 1e-9 * settings.truncation * size.documents
    return IMPORTS + 0.5 + settings.trees * (2e-4 * settings.leaves + passes)


LEARNER = Learner(
    train,
    LambdaMARTSettings,
    formula=(
        r"s \leftarrow s + \eta\, \text{tree}(\lambda), \quad \lambda_i = \sum_{j:\, y_i > y_j} "
        r"\frac{\lvert \Delta \mathrm{NDCG}_{ij} \rvert}{1 + \exp(s_i - s_j)} - \sum_{j:\, y_j > y_i} "
        r"\frac{\lvert \Delta \mathrm{NDCG}_{ij} \rvert}{1 + \exp(s_j - s_i)}"
    ),
    requires="lightgbm",
    seconds=_seconds,
    # LightGBM is given all features in double precision, and makes integers of them.
    megabytes=lambda settings, size: megabytes(settings, size) + 10e-6 * TRAINING * size.cells,
)
