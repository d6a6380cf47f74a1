"""Score the documents of a file with a trained ranker and write the rankings as a TREC run."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, TextIO

from pipeline_lib import learners
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.files import replacing
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.sources import query_stream, trec

_LOG = logging.getLogger(__name__)


def run(
    *,
    model: Annotated[Path, "trained ranker, as `save` or a study stored it"],
    data: Annotated[Path, "documents: LETOR text, CSV, TSV or Parquet"],
    output: Annotated[Path, "output file for the TREC run; document k of query 7 is 7-k"],
    qrels: Annotated[Path | None, "output file for the labels of the documents, as TREC qrels"] = None,
    tag: Annotated[str, "name of the ranker in the run"] = "pipeline_lib",
) -> None:
    """Read some queries at a time, score their documents, and write them."""
    ranker = learners.load(model)
    n_queries = n_documents = 0
    with ExitStack() as stack:
        ranked = stack.enter_context(_opened(output))
        judged = stack.enter_context(_opened(qrels)) if qrels else None
        for batch in query_stream.batches(
            data, n_features=ranker.model.n_inputs(), feature_names=ranker.model.feature_names
        ):
            try:
                scores = ranker.predict(batch)
            except DataError as error:
                raise DataError(f"{data}: {error}") from error
            _write(batch, scores, tag, ranked, judged)
            n_queries, n_documents = n_queries + batch.n_queries, n_documents + batch.n_documents
    _LOG.info(f"{output}: {n_queries:,} queries with {n_documents:,} documents")


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    with replacing(path) as partial, partial.open("w", encoding="utf-8") as file:
        yield file


def _write(batch: RankingData, scores: Floats, tag: str, ranked: TextIO, judged: TextIO | None) -> None:
    """Write the lines of every query: its documents with their scores, and with their labels."""
    queries = getattr(batch, "query_names", None) or [str(qid) for qid in batch.qids.tolist()]
    for query, begin, end in zip(queries, batch.offsets[:-1].tolist(), batch.offsets[1:].tolist(), strict=True):
        documents = [f"{query}-{k}" for k in range(1, end - begin + 1)]
        ranked.write(trec.run_lines(query, documents, scores[begin:end], tag))
        if judged:
            labels = batch.y[begin:end].tolist()
            judged.writelines(f"{query} 0 {name} {label}\n" for name, label in zip(documents, labels, strict=True))
