"""Score the documents of a file with a trained ranker and write the rankings, as a TREC run or as Parquet."""

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipeline_lib import learners
from pipeline_lib.core import progress, storage
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.files import replacing
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.sources import query_stream, trec
from pipeline_lib.sources.tables import PARQUET

_LOG = logging.getLogger(__name__)

Write = Callable[[RankingData, Floats], None]


def run(
    *,
    model: Annotated[Path, "trained ranker, as `save` or a study stored it"],
    data: Annotated[Path, "documents: LETOR text, CSV, TSV or Parquet"],
    output: Annotated[
        Path, "output file: Parquet if its name ends with .parquet, else a TREC run; document k of query 7 is 7-k"
    ],
    qrels: Annotated[Path | None, "output file for the labels of the documents, as TREC qrels"] = None,
    tag: Annotated[str, "name of the ranker in a TREC run"] = "pipeline_lib",
) -> None:
    """Read some queries at a time, score their documents, and write them."""
    ranker = learners.load(model)
    n_queries = n_documents = 0
    pace = progress.Pace()
    with ExitStack() as stack:
        table = output.suffix.lower() in PARQUET
        run = _text(output, lambda query, names, scores, _: trec.run_lines(query, names, scores, tag))
        writers = [stack.enter_context(_table(output) if table else run)]
        if qrels:
            writers.append(stack.enter_context(_text(qrels, _judgements)))
        for batch in query_stream.batches(
            data, n_features=ranker.model.n_inputs(), feature_names=ranker.model.feature_names
        ):
            try:
                scores = ranker.predict(batch)
            except DataError as error:
                raise DataError(f"{data}: {error}") from error
            for write in writers:
                write(batch, scores)
            n_queries, n_documents = n_queries + batch.n_queries, n_documents + batch.n_documents
            if pace.due():
                _LOG.info(f"{n_queries:,} queries with {n_documents:,} documents so far")
    _LOG.info(f"{output}: {n_queries:,} queries with {n_documents:,} documents")


@contextmanager
def _text(path: Path, lines: Callable[[str, list[str], Floats, NDArray[np.int32]], str]) -> Iterator[Write]:
    """Write the lines of every query, a function of its name, its documents, their scores, and their labels."""
    with replacing(path) as partial, partial.open("w", encoding="utf-8") as file:

        def write(batch: RankingData, scores: Floats) -> None:
            for query, documents, rows in _named(batch):
                file.write(lines(query, documents, scores[rows], batch.y[rows]))

        yield write


def _judgements(query: str, documents: list[str], _: Floats, labels: NDArray[np.int32]) -> str:
    return "".join(f"{query} 0 {name} {label}\n" for name, label in zip(documents, labels.tolist(), strict=True))


@contextmanager
def _table(path: Path) -> Iterator[Write]:
    columns = {"qid": pa.string(), "document": pa.string(), "rank": pa.int32(), "score": pa.float64()}
    schema = pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns.items()])
    with storage.parquet_writer(path, schema, compression="zstd") as writer:

        def write(batch: RankingData, scores: Floats) -> None:
            qids, names, ranks = [], [], np.empty(batch.n_documents, np.int32)
            for query, documents, rows in _named(batch):
                qids += [query] * len(documents)
                names += documents
                order = np.argsort(-scores[rows], kind="stable")
                ranks[rows.start + order] = np.arange(1, len(order) + 1)
            writer.write_table(pa.table([qids, names, ranks, scores], schema=schema))

        yield write


def _named(batch: RankingData) -> Iterator[tuple[str, list[str], slice]]:
    """Every query's name, the names of its documents, and its rows."""
    names = getattr(batch, "query_names", None) or [str(qid) for qid in batch.qids.tolist()]
    for name, begin, end in zip(names, batch.offsets[:-1].tolist(), batch.offsets[1:].tolist(), strict=True):
        yield name, [f"{name}-{k}" for k in range(1, end - begin + 1)], slice(begin, end)
