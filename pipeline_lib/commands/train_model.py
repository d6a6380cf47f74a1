"""Train one model on one or several folds of a data set, choosing its settings on the validation parts."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline_lib import learners, surrogates
from pipeline_lib.errors import ConfigurationError
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import seed
from pipeline_lib.sources import folds
from pipeline_lib.theory import ranker_facts

_LOG = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--dataset", required=True, help="name of the data set")
    parser.add_argument("--model", required=True, help="name of the model in this study")
    parser.add_argument("--algorithm", required=True, help="name of the learner")
    parser.add_argument(
        "--settings",
        required=True,
        nargs="+",
        type=json.loads,
        help="the learner's settings as JSON, or those of each fold",
    )
    parser.add_argument("--fold", required=True, nargs="+", type=int, help="folds, from 1")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--documents", required=True, type=Path, help="documents.parquet of the data set")
    parser.add_argument("--folds", required=True, type=Path, help="folds.parquet of the data set")
    parser.add_argument(
        "--output", required=True, nargs="+", type=Path, help="output files for the models, as JSON, one for each fold"
    )


def run(arguments: argparse.Namespace) -> None:
    """Train on one fold after the other; the model of a fold does not depend on which others there are."""
    chosen, count = arguments.settings, len(arguments.fold)
    if len(chosen) not in (1, count) or len(arguments.output) != count:
        raise ConfigurationError(
            f"expected settings for all or for each of {count} folds and {count} output files, found {len(chosen)} and "
            f"{len(arguments.output)}"
        )
    of_folds = chosen if len(chosen) == count else chosen * count
    for fold, settings, output in zip(arguments.fold, of_folds, arguments.output, strict=True):
        _train(arguments, fold, settings, output)


def _train(arguments: argparse.Namespace, fold: int, settings: dict[str, Any], output: Path) -> None:
    """Read the fold, train, and write the model with the record of its training and the facts for its certificates."""
    train = folds.read(arguments.documents, arguments.folds, fold, "train").in_role("train")
    validation = folds.read(arguments.documents, arguments.folds, fold, "validation").in_role("validation")
    _LOG.info(
        f"{arguments.model} on {arguments.dataset}, fold {fold}: {_size(train)} for training, "
        f"{_size(validation)} for validation"
    )
    job_seed = seed(arguments.seed, "train", arguments.dataset, arguments.model, fold)
    trained = learners.get(arguments.algorithm).train(train, validation, settings, job_seed)
    if trained.record.get("certified") is False:
        print(f"warning: fold {fold}: not certified: {trained.record}", file=sys.stderr)
    loss = settings.get("surrogate")
    known = ranker_facts.recorded(trained.model, train, loss and surrogates.create(loss, **settings.get("options", {})))
    about = {
        "dataset": arguments.dataset,
        "model": arguments.model,
        "fold": fold,
        "algorithm": arguments.algorithm,
        "settings": settings,
    }
    replace(trained, record={**trained.record, **known}, about=about).save(output)


def _size(part: RankingData) -> str:
    return f"{part.n_queries:,} queries with {part.n_documents:,} documents and {part.n_features:,} features"
