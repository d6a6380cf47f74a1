"""Score the documents of a file with a trained ranker and write the rankings as a TREC run."""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, TextIO

from pipeline_lib import learners
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.files import Output, check_outputs, replacing
from pipeline_lib.core.markup import count
from pipeline_lib.data.stored_data import Columns
from pipeline_lib.sources import query_stream, trec
from pipeline_lib.sources.own_settings import companions
from pipeline_lib.sources.query_stream import Batch

_LOG = logging.getLogger(__name__)


def run(
    *,
    model: Annotated[Path, "trained ranker, as `save` or a study stored it"],
    data: Annotated[Path, "documents, with labels or without: LETOR text, CSV, TSV or Parquet"],
    output: Annotated[
        Output, "output file for the TREC run; document k of query 7 is 7-k, unless the data have its id"
    ],
    label: Annotated[str | None, "column of the labels in a table (default: as in training)"] = None,
    query: Annotated[str | None, "column of the queries in a table (default: as in training)"] = None,
    ignore: Annotated[Sequence[str], "columns of a table that are no features (default: as in training)"] = (),
    qrels: Annotated[Output | None, "output file for the labels of the documents, as TREC qrels"] = None,
    tag: Annotated[str, "name of the ranker in the run"] = "pipeline_lib",
) -> None:
    """Read some queries at a time, score their documents, and write them."""
    outputs = [("--output", output), *([("--qrels", qrels)] if qrels else [])]
    beside = [(f"{path}, which belongs to --data", path) for path in companions(data)]
    check_outputs(outputs, beside, force=True)  # the command line has checked all else
    ranker = learners.load(model)
    trained = Columns.of(f"{model}: columns", ranker.about.get("columns"))
    n_queries = n_documents = 0
    with ExitStack() as stack:
        ranked = stack.enter_context(_opened(output))
        judged = stack.enter_context(_opened(qrels)) if qrels else None
        for batch in query_stream.batches(
            data,
            n_features=ranker.model.n_inputs(),
            feature_names=ranker.model.feature_names,
            trained=trained,
            label=label,
            query=query,
            ignore=ignore,
            labelled=qrels is not None or ranker.model.needs_labels,
        ):
            try:
                _write(batch, ranker.predict(batch.data), tag, ranked, judged)
            except DataError as error:
                raise DataError(f"{data}: {error}") from error
            n_queries, n_documents = n_queries + batch.data.n_queries, n_documents + batch.data.n_documents
    _LOG.info(f"{output}: {count(n_queries, 'query', 'queries')} with {count(n_documents, 'document')}")


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    with replacing(path) as partial, partial.open("w", encoding="utf-8") as file:
        yield file


def _write(batch: Batch, scores: Floats, tag: str, ranked: TextIO, judged: TextIO | None) -> None:
    """Write the lines of every query: its documents with their scores, and with their labels."""
    data = batch.data
    queries = data.query_names or [str(qid) for qid in data.qids.tolist()]
    for query, begin, end in zip(queries, data.offsets[:-1].tolist(), data.offsets[1:].tolist(), strict=True):
        documents = [one or f"{query}-{k}" for k, one in enumerate(batch.documents[begin:end], start=1)]
        if len(set(documents)) < len(documents):
            twice = next(one for one, count in Counter(documents).items() if count > 1)
            raise DataError(f"query {query}: expected every document once, found {twice!r} again")
        ranked.write(trec.run_lines(query, documents, scores[begin:end], tag))
        if judged:
            labels = data.y[begin:end].tolist()
            judged.writelines(f"{query} 0 {name} {label}\n" for name, label in zip(documents, labels, strict=True))
