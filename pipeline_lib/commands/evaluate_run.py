"""Measure a run by relevance judgements: every measure, with its mean over queries and a confidence interval."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pipeline_lib import metrics, ranking, statistics
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.core.files import Output, write_text
from pipeline_lib.core.seeds import generator
from pipeline_lib.sources import trec

_LOG = logging.getLogger(__name__)

CUTOFFS = (1, 3, 5, 10)
MEASURES = tuple(
    name.replace("K", str(k))
    for name in metrics.NAMES
    # LETOR's own variants presuppose that a run ranks all documents.
    if not name.startswith("letor4_")
    for k in (CUTOFFS if name.endswith("@K") else CUTOFFS[:1])
)
Ties = Literal["trec_eval", "lines"]
Lists = tuple[NDArray[np.int32], NDArray[np.int64]]
"""The labels of all queries, and where those of each begin."""
SUMMARY = {"measure": pl.String, "mean": pl.Float64, "low": pl.Float64, "high": pl.Float64, "queries": pl.Int64}


def run(
    *,
    run: Annotated[Path, "TREC run"],
    qrels: Annotated[Path, "TREC qrels: lines of query, 0, document and label"],
    measures: Annotated[Sequence[str], "names of measures", {"metavar": "MEASURE"}] = MEASURES,
    ties: Annotated[
        Ties,
        "how equal scores are ordered: by falling ids, as trec_eval orders them, or as the lines of the run stand; the "
        "column of ranks is not read",
    ] = "lines",
    y_max: Annotated[int | None, "largest label of the scale, for err (default: the largest of the qrels)"] = None,
    level: Annotated[float, "level of the intervals"] = 0.95,
    resamples: Annotated[int, "number of bootstrap draws"] = 10_000,
    seed: Annotated[int, "seed of the bootstrap draws"] = 0,
    output: Annotated[Output | None, "output file for the means and intervals (.csv)"] = None,
    per_query: Annotated[Output | None, "output file for the values of every query (.csv)"] = None,
) -> None:
    """Measure the queries; print the means with their intervals, and write what is asked for."""
    metrics.check(measures)
    measures = tuple(dict.fromkeys(map(metrics.canonical, measures)))
    for path in (output, per_query):
        if path is not None and path.suffix.lower() != ".csv":
            raise ConfigurationError(f"{path}: expected the name of a file .csv")
    judgements = trec.Judgements(qrels)
    largest = judgements.largest_label if y_max is None else y_max
    values = _of_queries(trec.Run(run), measures, judgements, largest, ties)
    summary = pl.DataFrame(
        [_row(name, values[name].to_numpy(), level, resamples, seed) for name in measures], schema=SUMMARY, orient="row"
    )
    print(f"{len(values):,} queries, {100 * level:g} % bootstrap intervals\n\n{_text(summary)}")
    for path, table in ((output, summary), (per_query, values)):
        if path is not None:
            write_text(path, table.write_csv())


def _of_queries(
    run: trec.Run, measures: Sequence[str], judgements: trec.Judgements, y_max: int, ties: Ties
) -> pl.DataFrame:
    """The measures of every judged query; those that the run lacks have 0."""
    queries = [query for query in run.queries if query in judgements]
    unjudged = [query for query in run.queries if query not in judgements]
    missing = [query for query in judgements.queries if query not in run]
    if not queries:
        raise DataError(f"{run.path}: expected queries that {judgements.path} judges, found {unjudged[:3]}")
    if unjudged:
        _LOG.warning(f"queries of the run that are not judged do not count: {len(unjudged):,}, such as {unjudged[0]}")
    if missing:
        _LOG.warning(f"judged queries that are not in the run count as 0: {len(missing):,}, such as {missing[0]}")
    judged, found, scores = [], [], []
    for query in queries:
        labels, of_run = judgements.labels(query), run.scores(query)
        documents = sorted(of_run, reverse=True) if ties == "trec_eval" else list(of_run)
        judged.append(np.fromiter(labels.values(), np.int32, len(labels)))
        found.append(np.array([labels.get(document, 0) for document in documents], np.int32))
        scores.append(np.array([of_run[document] for document in documents]))
    y, offsets = _joined(found)
    values = metrics.per_query(measures, np.concatenate(scores), y, offsets, y_max=y_max)
    lacking = np.flatnonzero([(ours > 0).sum() < (every > 0).sum() for ours, every in zip(found, judged, strict=True)])
    if len(lacking):
        best, possible = (_joined([labels[place] for place in lacking]) for labels in (found, judged))
        for name in measures:
            values[name][lacking] *= _shares(f"{run.path}: query {queries[lacking[0]]}", name, best, possible)
    absent = np.zeros(len(missing))
    return pl.DataFrame({"qid": queries + missing, **{name: np.r_[values[name], absent] for name in measures}})


def _joined(labels: Sequence[NDArray[np.int32]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The labels of all queries, and where those of each begin."""
    return np.concatenate(labels), np.r_[0, np.cumsum([len(one) for one in labels])].astype(np.int64)


def _shares(place: str, name: str, found: Lists, everything: Lists) -> Floats | float:
    """The best values that runs of the documents found can have, for measures relate to the best of all documents."""
    family, k = metrics.parse(name)
    if family in ("p", "rr", "err"):
        return 1.0
    if family in ("map", "recall"):
        relevant = [
            np.add.reduceat(labels > 0, offsets[:-1], dtype=np.float64) for labels, offsets in (found, everything)
        ]
        return relevant[0] / relevant[1]
    if family in ("ndcg", "linear_ndcg"):
        gains = ranking.GAINS if family == "ndcg" else np.arange(len(ranking.GAINS), dtype=np.float64)
        return _ideal(found, gains, k) / _ideal(everything, gains, k)
    raise DataError(
        f"{place}: {name} needs rankings of all relevant documents, of which the run lacks some; "
        "choose other measures with --measures"
    )


def _ideal(lists: Lists, gains: Floats, k: int) -> Floats:
    """The largest sum over the ranks i <= k of the gain at rank i times D(i), for every query."""
    labels, offsets = lists
    ranks = ranking.ideal_ranks(labels, offsets)
    terms = np.where(ranks <= k, gains[labels] * ranking.discounts(int(ranks.max()))[ranks - 1], 0.0)
    return np.add.reduceat(terms, offsets[:-1])


def _row(measure: str, values: Floats, level: float, resamples: int, seed: int) -> tuple[object, ...]:
    low, high = None, None
    if len(values) > 1:
        rng = generator(seed, "evaluate", measure)
        low, high = statistics.bootstrap_interval(values, level=level, resamples=resamples, rng=rng)
    return measure, float(values.mean()), low, high, len(values)


def _text(summary: pl.DataFrame) -> str:
    width = max(map(len, ["measure", *summary["measure"]]))
    lines = [f"{'measure':<{width}}  {'mean':>6}  {'low':>6}  {'high':>6}"]
    for name, mean, low, high, _ in summary.iter_rows():
        ends = "".join(f"  {'-':>6}" if end is None else f"  {end:6.4f}" for end in (low, high))
        lines.append(f"{name:<{width}}  {mean:6.4f}{ends}")
    return "\n".join(lines)
