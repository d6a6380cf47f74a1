"""Score the documents of a file with a trained ranker and write the rankings, as a TREC run or as Parquet."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from pipeline_lib import learners, progress, storage
from pipeline_lib.arrays import Floats
from pipeline_lib.errors import DataError
from pipeline_lib.files import replacing
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.sources import query_stream, trec

_LOG = logging.getLogger(__name__)

Write = Callable[[RankingData, Floats], None]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--model", required=True, type=Path, help="trained ranker, as `save` or a study stored it")
    parser.add_argument(
        "--data", required=True, type=Path, help="documents: LETOR text, or a stored data set as Parquet (.parquet)"
    )
    parser.add_argument(
        "--output",
        required=True,
        type=Path,
        help="output file: Parquet if its name ends with .parquet, else a TREC run; document k of query 7 is 7-k",
    )
    parser.add_argument("--qrels", type=Path, help="output file for the labels of the documents, as TREC qrels")
    parser.add_argument("--tag", default="pipeline_lib", help="name of the ranker in a TREC run")


def run(arguments: argparse.Namespace) -> None:
    """Read some queries at a time, score their documents, and write them."""
    ranker = learners.load(arguments.model)
    n_queries = n_documents = 0
    pace = progress.Pace()
    with ExitStack() as stack:
        table = arguments.output.suffix.lower() in query_stream.PARQUET
        writers = [stack.enter_context(_table(arguments.output) if table else _run(arguments.output, arguments.tag))]
        if arguments.qrels:
            writers.append(stack.enter_context(_qrels(arguments.qrels)))
        for batch in query_stream.batches(arguments.data, n_features=ranker.model.n_inputs()):
            try:
                scores = ranker.predict(batch)
            except DataError as error:
                raise DataError(f"{arguments.data}: {error}") from error
            for write in writers:
                write(batch, scores)
            n_queries, n_documents = n_queries + batch.n_queries, n_documents + batch.n_documents
            if pace.due():
                _LOG.info(f"{n_queries:,} queries with {n_documents:,} documents so far")
    _LOG.info(f"{arguments.output}: {n_queries:,} queries with {n_documents:,} documents")


@contextmanager
def _run(path: Path, tag: str) -> Iterator[Write]:
    with replacing(path) as partial, partial.open("w", encoding="utf-8") as file:

        def write(batch: RankingData, scores: Floats) -> None:
            for query, documents, rows in _named(batch):
                file.write(trec.run_lines(query, documents, scores[rows], tag))

        yield write


@contextmanager
def _qrels(path: Path) -> Iterator[Write]:
    with replacing(path) as partial, partial.open("w", encoding="utf-8") as file:

        def write(batch: RankingData, scores: Floats) -> None:
            for query, documents, rows in _named(batch):
                labels = zip(documents, batch.y[rows].tolist(), strict=True)
                file.writelines(f"{query} 0 {document} {label}\n" for document, label in labels)

        yield write


@contextmanager
def _table(path: Path) -> Iterator[Write]:
    import pyarrow as pa

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
