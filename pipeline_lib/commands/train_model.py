"""Train one model on one fold of a data set, choosing its settings on the validation part."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from dataclasses import replace
from pathlib import Path

from pipeline_lib import learners, surrogates
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
    parser.add_argument("--settings", required=True, type=json.loads, help="the learner's settings as JSON")
    parser.add_argument("--fold", required=True, type=int, help="fold, from 1")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--documents", required=True, type=Path, help="documents.parquet of the data set")
    parser.add_argument("--folds", required=True, type=Path, help="folds.parquet of the data set")
    parser.add_argument("--output", required=True, type=Path, help="output file for the model, as JSON")


def run(arguments: argparse.Namespace) -> None:
    """Read the fold, train, and write the model with the record of its training and the facts for its certificates."""
    train, validation = (
        RankingData.read_parquet(arguments.documents, folds.queries(arguments.folds, arguments.fold, part), stored=True)
        for part in ("train", "validation")
    )
    _LOG.info(
        f"{arguments.model} on {arguments.dataset}, fold {arguments.fold}: {_size(train)} for training, "
        f"{_size(validation)} for validation"
    )
    job_seed = seed(arguments.seed, "train", arguments.dataset, arguments.model, arguments.fold)
    trained = learners.get(arguments.algorithm).train(train, validation, arguments.settings, job_seed)
    if trained.record.get("certified") is False:
        print(f"warning: not certified: {trained.record}", file=sys.stderr)
    loss = arguments.settings.get("surrogate")
    known = ranker_facts.recorded(
        trained.model, train, loss and surrogates.create(loss, **arguments.settings.get("options", {}))
    )
    about = {name: getattr(arguments, name) for name in ("dataset", "model", "fold", "algorithm", "settings")}
    replace(trained, record={**trained.record, **known}, about=about).save(arguments.output)


def _size(part: RankingData) -> str:
    return f"{part.n_queries:,} queries with {part.n_documents:,} documents and {part.n_features:,} features"
