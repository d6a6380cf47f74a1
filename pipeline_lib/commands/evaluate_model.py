"""Measure one model on every test query of every fold, with one row per query, and its risk on each test part.

Where queries have weights, the table has them in a column ``weight``. Where measures are means over all orders that
equal scores allow, their ends over these orders are recorded, too, and on how many lists the model gives all documents
the same score. Of a model that could not be trained on one of the folds, nothing is measured: means over the other
folds are not comparable with those of other models.
"""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pipeline_lib import learners, metrics, ranking, surrogates
from pipeline_lib.core import storage
from pipeline_lib.core.errors import DataError, UnlearnableError
from pipeline_lib.core.files import Output
from pipeline_lib.data.invariants import PER_QUERY, Invariants, of_measures
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners.models import IdealModel
from pipeline_lib.learners.ranker import Trained
from pipeline_lib.sources import folds as stored_folds
from pipeline_lib.theory import ranker_facts
from pipeline_lib.theory.ranker_facts import Facts

KEYS = {"dataset": pl.String, "model": pl.String, "fold": pl.UInt8, "query": pl.Int64, "qid": pl.String}


def run(
    *,
    models: Annotated[Sequence[Path], "trained model of every fold, as JSON"],
    documents: Annotated[Path, "documents.parquet of the data set"],
    folds: Annotated[Path, "folds.parquet of the data set"],
    measures: Annotated[Sequence[str], "names of measures, such as ndcg@10"],
    summary: Annotated[Path, "summary.json of the data set"],
    output: Annotated[Output, "output file for the table, as Parquet"],
    held_out: Annotated[Output, "output file for the facts about the model on every test part, as JSON"],
) -> None:
    """Apply the model of every fold to its test part; write the measures of every query, and the risk."""
    y_max = max(map(int, storage.read_json(summary)["labels"]))
    tables, risks = [], []
    try:
        rankers = list(map(learners.load, models))
    except UnlearnableError as error:
        print(f"warning: nothing is measured: {error}", file=sys.stderr)
        storage.write_table(output, pl.DataFrame(schema={**KEYS, **dict.fromkeys(measures, pl.Float64)}))
        storage.write_json(held_out, {"folds": []})
        return
    for path, trained in zip(models, rankers, strict=True):
        test, indices = _test_part(path, int(trained.about["fold"]), documents, folds)
        tables.append(_evaluate(trained, test.in_role("test"), indices, y_max, measures))
        best = isinstance(trained.model, IdealModel)
        rules = of_measures(measures, best=best, relevant_from=test.relevant_from)
        Invariants(rules=rules).check(f"{output}, fold {trained.about['fold']}", tables[-1])
        found = _risk(trained, test.in_role("test"))
        risks.append(found if test.ties == "file" else {**found, "ties": _ties(trained, test, y_max, measures)})
    PER_QUERY.write(output, pl.concat(tables))
    storage.write_json(held_out, {"folds": risks})


def _test_part(model: Path, fold: int, documents: Path, folds: Path) -> tuple[RankingData, NDArray[np.int64]]:
    indices = stored_folds.queries(folds, fold, "test")
    for part in ("train", "validation"):
        seen = np.intersect1d(indices, stored_folds.queries(folds, fold, part))
        if len(seen):
            raise DataError(
                f"{model}: expected to measure it on queries that it does not know, found {len(seen):,} of the "
                f"{part} part of fold {fold} in {folds}"
            )
    return stored_folds.read(documents, folds, fold, "test"), indices


def _risk(trained: Trained, test: RankingData) -> dict[str, Any]:
    """The facts for the certificate that the test part offers, or why there are none."""
    about, settings = trained.about, trained.about["settings"]
    loss = settings.get("surrogate")
    found = ranker_facts.recorded(trained.model, test, loss and surrogates.create(loss, **settings.get("options", {})))
    if "facts" in found and "facts" in trained.record:
        known = ranker_facts.together(Facts(**found["facts"]), Facts(**trained.record["facts"]))
        found = {"facts": asdict(known)}
    return {**{name: about[name] for name in ("dataset", "model", "fold", "settings")}, **found}


def _ties(trained: Trained, test: RankingData, y_max: int, wanted: Sequence[str]) -> dict[str, Any]:
    """The means of measures in the worst and the best order, and how many lists with different labels are all tied."""
    scores = trained.predict(test)
    ends: dict[str, dict[str, float]] = {}
    extremes: tuple[ranking.Ties, ...] = ("worst", "best")
    for ties in extremes:
        values = metrics.per_query(
            wanted, scores, test.y, test.offsets, y_max=y_max, ties=ties, relevant_from=test.relevant_from
        )
        ends[ties] = {name: float(np.average(found, weights=test.weights)) for name, found in values.items()}
    orderable = ~ranking.all_equal(test.y, test.offsets)
    tied = orderable & ranking.all_equal(scores, test.offsets)
    return {**ends, "lists": int(orderable.sum()), "tied_lists": int(tied.sum())}


def _evaluate(
    trained: Trained, test: RankingData, indices: NDArray[np.int64], y_max: int, wanted: Sequence[str]
) -> pl.DataFrame:
    about, fold = trained.about, int(trained.about["fold"])
    judging = test.judging._asdict()
    values = metrics.per_query(wanted, trained.predict(test), test.y, test.offsets, y_max=y_max, **judging)
    keys = {
        "dataset": [about["dataset"]] * test.n_queries,
        "model": [about["model"]] * test.n_queries,
        "fold": pl.Series([fold] * test.n_queries, dtype=pl.UInt8),
        "query": indices,
        "qid": test.qids if test.query_names is None else list(test.query_names),
    }
    weights = {} if test.weights is None else {"weight": test.weights}
    return pl.DataFrame({**keys, **weights, **values})
