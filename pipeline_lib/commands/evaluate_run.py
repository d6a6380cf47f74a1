"""Measure a run by relevance judgements: every measure, with its mean over queries and a confidence interval."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pipeline_lib import metrics, ranking, statistics
from pipeline_lib.core import progress, storage
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.core.files import replacing
from pipeline_lib.core.seeds import generator
from pipeline_lib.sources import trec
from pipeline_lib.sources.tables import PARQUET

_LOG = logging.getLogger(__name__)

CUTOFFS = (1, 3, 5, 10)
MEASURES = tuple(
    name.replace("K", str(k))
    for name in metrics.NAMES
    # LETOR's own variants presuppose that a run ranks all documents.
    if not name.startswith("letor4_")
    for k in (CUTOFFS if name.endswith("@K") else CUTOFFS[:1])
)
DOCUMENTS_AT_ONCE = 65_536
SUMMARY = {"measure": pl.String, "mean": pl.Float64, "low": pl.Float64, "high": pl.Float64, "queries": pl.Int64}


def run(
    *,
    run: Annotated[Path, "TREC run, or a ranking that `rank` wrote as Parquet (.parquet)"],
    qrels: Annotated[Path, "TREC qrels: lines of query, 0, document and label"],
    measures: Annotated[Sequence[str], "names of measures", {"metavar": "MEASURE"}] = MEASURES,
    y_max: Annotated[int | None, "largest label of the scale, for err (default: the largest of the qrels)"] = None,
    level: Annotated[float, "level of the intervals"] = 0.95,
    resamples: Annotated[int, "number of bootstrap draws"] = 10_000,
    seed: Annotated[int, "seed of the bootstrap draws"] = 0,
    output: Annotated[Path | None, "output file for the means and intervals (.csv or .parquet)"] = None,
    per_query: Annotated[Path | None, "output file for the values of every query (.csv or .parquet)"] = None,
) -> None:
    """Measure some queries at a time; print the means with their intervals, and write what is asked for."""
    for path in (output, per_query):
        if path is not None and path.suffix.lower() not in (".csv", *PARQUET):
            raise ConfigurationError(f"{path}: expected the name of a file .csv or .parquet")
    for measure in measures:
        metrics.parse(measure)
    judgements = trec.Judgements(qrels)
    values = _of_queries(run, measures, judgements, judgements.largest_label if y_max is None else y_max)
    summary = pl.DataFrame(
        [_row(name, values[name].to_numpy(), level, resamples, seed) for name in measures], schema=SUMMARY, orient="row"
    )
    print(f"{len(values):,} queries, {100 * level:g} % bootstrap intervals\n\n{_text(summary)}")
    if output:
        _write(output, summary)
    if per_query:
        _write(per_query, values)


def _of_queries(run: Path, measures: Sequence[str], judgements: trec.Judgements, y_max: int) -> pl.DataFrame:
    """The measures of every judged query; those that the run lacks have 0."""
    queries: list[str] = []
    parts: list[dict[str, Floats]] = []
    unjudged: list[str] = []
    batch: dict[str, list[str]] = {}
    waiting = 0
    pace = progress.Pace()
    for query, documents in _rankings(run):
        if query in judgements:
            queries.append(query)
            batch[query] = documents
            waiting += len(documents)
        else:
            unjudged.append(query)
        if waiting >= DOCUMENTS_AT_ONCE:
            parts.append(_measured(run, batch, measures, judgements, y_max))
            batch, waiting = {}, 0
        if pace.due():
            _LOG.info(f"{len(queries) + len(unjudged):,} queries so far")
    if not queries:
        raise DataError(f"{run}: expected queries that {judgements.path} judges, found {unjudged[:3]}")
    if batch:
        parts.append(_measured(run, batch, measures, judgements, y_max))
    met = set(queries)
    missing = [query for query in judgements.queries if query not in met]
    if unjudged:
        _LOG.warning(f"queries of the run that are not judged do not count: {len(unjudged):,}, such as {unjudged[0]}")
    if missing:
        _LOG.warning(f"judged queries that are not in the run count as 0: {len(missing):,}, such as {missing[0]}")
    columns = {name: np.concatenate([*(part[name] for part in parts), np.zeros(len(missing))]) for name in measures}
    return pl.DataFrame({"qid": queries + missing, **columns})


def _measured(
    run: Path, batch: Mapping[str, list[str]], measures: Sequence[str], judgements: trec.Judgements, y_max: int
) -> dict[str, Floats]:
    """The measures of some queries, given with their documents from the top down."""
    judged = [judgements.labels(query) for query in batch]
    ranked = [
        np.array([labels.get(document, 0) for document in documents], np.int32)
        for documents, labels in zip(batch.values(), judged, strict=True)
    ]
    sizes = [len(labels) for labels in ranked]
    falling = -np.concatenate([np.arange(size, dtype=np.float64) for size in sizes])
    values = metrics.per_query(measures, falling, np.concatenate(ranked), np.r_[0, np.cumsum(sizes)], y_max=y_max)
    for place, (query, labels) in enumerate(zip(batch, judged, strict=True)):
        everything = np.array(list(labels.values()), np.int32)
        if (ranked[place] > 0).sum() < (everything > 0).sum():
            for name in measures:
                share = _share(name, ranked[place], everything)
                if share is None:
                    raise DataError(
                        f"{run}: {name} needs rankings of all relevant documents; the run lacks some of query {query}; "
                        "choose other measures with --measures"
                    )
                values[name][place] *= share
    return values


def _share(name: str, ranked: NDArray[np.int32], everything: NDArray[np.int32]) -> float | None:
    """The best value of a run of these documents, if there is one: measures should relate to that of all documents."""
    family, k = metrics.parse(name)
    if family in ("p", "err"):
        return 1.0
    if family == "map":
        return float((ranked > 0).sum() / (everything > 0).sum())
    if family == "ndcg":
        discounts = ranking.discounts(min(k, len(everything)))
        return float(ranking.ideal_dcg(ranked, discounts) / ranking.ideal_dcg(everything, discounts))
    return None


def _rankings(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Every query of a run with its documents from the top down."""
    if path.suffix.lower() in PARQUET:
        yield from _of_table(path)
        return
    found = trec.Run(path)
    for query in found.queries:
        yield query, found.ranked(query)


def _of_table(path: Path) -> Iterator[tuple[str, list[str]]]:
    columns, met = ["qid", "document", "score"], set()
    with storage.checked(path, required=False) as source, storage.parquet_of_others(path):
        file = pq.ParquetFile(source)
        if not set(columns) <= set(file.schema_arrow.names):
            raise DataError(f"{path}: expected the columns {', '.join(columns)}, found {file.schema_arrow.names}")
        rows = (row for batch in file.iter_batches(columns=columns, use_threads=False) for row in batch.to_pylist())
        for query, of_query in groupby(rows, lambda row: str(row["qid"])):
            if query in met:
                raise DataError(
                    f"{path}: expected the documents of a query to stand together, found query {query} again"
                )
            met.add(query)
            ranked = sorted(of_query, key=lambda row: -row["score"])
            yield query, [str(row["document"]) for row in ranked]


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


def _write(path: Path, table: pl.DataFrame) -> None:
    if path.suffix.lower() != ".csv":
        storage.write_table(path, table)
        return
    with replacing(path) as partial:
        table.write_csv(partial)
