"""Train one model on one or several folds of a data set, choosing its settings on the validation parts.

Where the learner cannot learn from a fold, the file of its model says why, and the study goes on without the model.
"""

import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pipeline_lib import learners, surrogates
from pipeline_lib.core import seeds, storage
from pipeline_lib.core.errors import OutOfRangeError, UnlearnableError
from pipeline_lib.core.files import Output
from pipeline_lib.learners.ranker import trained_with
from pipeline_lib.sources.folds import read
from pipeline_lib.theory import ranker_facts

_LOG = logging.getLogger(__name__)


def run(
    *,
    dataset: Annotated[str, "name of the data set"],
    model: Annotated[str, "name of the model in this study"],
    algorithm: Annotated[str, "name of the learner"],
    settings: Annotated[Sequence[Mapping[str, Any]], "the learner's settings as JSON, or those of each fold"],
    fold: Annotated[Sequence[int], "folds, from 1"],
    seed: Annotated[int, "the study's seed"],
    documents: Annotated[Path, "documents.parquet of the data set"],
    folds: Annotated[Path, "folds.parquet of the data set"],
    output: Annotated[Sequence[Output], "output files for the models, as JSON, one for each fold"],
) -> None:
    """Train on one fold after the other; the model of a fold does not depend on which others there are."""
    of_folds = settings if len(settings) > 1 else list(settings) * len(fold)
    for number, chosen, path in zip(fold, of_folds, output, strict=True):
        train = read(documents, folds, number, "train").in_role("train")
        validation = read(documents, folds, number, "validation").in_role("validation")
        _LOG.info(f"{model} on {dataset}, fold {number}: training on {train}, validation on {validation}")
        job_seed = seeds.seed(seed, "train", dataset, model, number)
        about = {"dataset": dataset, "model": model, "fold": number, "algorithm": algorithm, "settings": chosen}
        try:
            learners.check_weights(algorithm, train)
            trained = learners.get(algorithm).train(train, validation, chosen, job_seed)
        except (UnlearnableError, OutOfRangeError) as error:
            print(f"warning: fold {number}: {model} is left out of the results of {dataset}: {error}", file=sys.stderr)
            storage.write_json(path, {**about, "untrained": str(error)})
            continue
        if trained.record.get("certified") is False:
            print(f"warning: fold {number}: not certified: {trained.record}", file=sys.stderr)
        loss = chosen.get("surrogate")
        known = ranker_facts.recorded(
            trained.model, train, loss and surrogates.create(loss, **chosen.get("options", {}))
        )
        replace(trained, record={**trained.record, **known}, about=about | trained_with(train)).save(path)
