"""Measure a run by relevance judgements: every measure, with its mean over queries and a confidence interval.

Equal scores say nothing about the order of their documents, so that every measure is its mean over all orders that the
scores allow.
"""

import csv
import io
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import metrics, ranking, statistics
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.core.files import Output, write_text
from pipeline_lib.core.markup import count
from pipeline_lib.core.seeds import generator
from pipeline_lib.evaluation import inputs

_LOG = logging.getLogger(__name__)

CUTOFFS = (1, 3, 5, 10)
MEASURES = tuple(
    name.replace("K", str(k))
    for name in metrics.NAMES
    # LETOR's own variants presuppose that a run ranks all documents.
    if not name.startswith("letor4_")
    for k in (CUTOFFS if name.endswith("@K") else CUTOFFS[:1])
)


class Summary(NamedTuple):
    """The mean of a measure over queries, its interval, and its ends over the orders that equal scores allow."""

    measure: str
    mean: float
    low: float | None
    high: float | None
    queries: int
    worst: float
    best: float


def run(
    *,
    run: Annotated[Path, "TREC run"],
    qrels: Annotated[Path, "TREC qrels: lines of query, 0, document and label"],
    measures: Annotated[
        Sequence[str], "measures, as in nDCG@10, AP, AP(rel=2) or recip_rank", {"metavar": "MEASURE"}
    ] = MEASURES,
    ties: Annotated[
        inputs.Ties,
        "of equal scores: the mean over all orders of their documents, or that of the file, or an end, or the order "
        "by falling ids that trec_eval has; the column of ranks is not read",
    ] = "mean",
    relevant_from: inputs.RelevantFromOption = 1,
    no_relevant: inputs.NoRelevantOption = "0",
    missing: inputs.MissingOption = "zero",
    y_max: inputs.LargestLabelOption = None,
    level: Annotated[float, "level of the intervals"] = 0.95,
    resamples: Annotated[int, "number of bootstrap draws"] = 10_000,
    seed: Annotated[int, "seed of the bootstrap draws"] = 0,
    output: Annotated[Output | None, "output file for the means and intervals (.csv)"] = None,
    per_query: Annotated[Output | None, "output file for the values of every query (.csv)"] = None,
) -> None:
    """Measure the queries; print the means with their intervals, and write what is asked for."""
    if not measures:
        raise ConfigurationError("--measures: expected the names of measures, found none")
    named, of_empty = _named(measures, relevant_from), inputs.no_relevant_of(no_relevant)
    for path in (output, per_query):
        if path is not None and path.suffix.lower() != ".csv":
            raise ConfigurationError(f"{path}: expected the name of a file .csv")
    judged = inputs.judgements(qrels)
    of_run = inputs.ranked(run, judged, by_ids=ties == "trec_eval")
    for note in of_run.notes(missing):
        _LOG.warning(note)
    scale = judged.largest_label if y_max is None else y_max
    order: ranking.Ties = "file" if ties == "trec_eval" else ties
    found: dict[str, Floats] = {}
    for least in dict.fromkeys(least for _, least in named.values()):
        of_least = {name: measure for name, (measure, of_measure) in named.items() if of_measure == least}
        highest = inputs.best_values(judged, list(of_least.values()), least)
        ends: tuple[ranking.Ties, ...] = (order, "worst", "best")
        tables = [inputs.measured(of_run, highest, taken, scale, least) for taken in ends]
        found |= {name: np.stack([table[measure] for table in tables]) for name, measure in of_least.items()}
    kept = {}
    for name, (measure, least) in named.items():
        empty = inputs.settle_empty(found[name], judged, measure, least, of_empty)
        kept[name] = inputs.counted(judged, [of_run], empty, of_empty, missing)
    asked = {name: found[name][0] for name in named}
    limits = _intervals(asked, kept, level=level, resamples=resamples, seed=seed)
    summary = []
    for name, rows in kept.items():
        mean, worst, best = (float(values[rows].mean()) for values in found[name])
        low, high = limits[name]
        summary.append(Summary(name, mean, low, high, int(rows.sum()), worst, best))
    queries = count(max(row.queries for row in summary), "query", "queries")
    print(f"{queries}, {100 * level:g} % bootstrap intervals\n\n{_text(summary)}")
    if output is not None:
        write_text(output, _csv(Summary._fields, summary))
    if per_query is not None:
        columns = [
            [value if of_query else "" for value, of_query in zip(asked[name].tolist(), rows.tolist(), strict=True)]
            for name, rows in kept.items()
        ]
        lines = (line for line in zip(judged.queries, *columns, strict=True) if any(one != "" for one in line[1:]))
        write_text(per_query, _csv(["qid", *kept], lines))


def _named(measures: Sequence[str], relevant_from: int) -> dict[str, tuple[str, int]]:
    """The measures by what they are called here, each with the smallest label of a relevant document."""
    found, problems = {}, []
    for one in measures:
        try:
            measure, least = inputs.measure_of(one, relevant_from)
        except ConfigurationError as error:
            problems.append(str(error))
        else:
            found[measure if least == relevant_from else f"{measure}(rel={least})"] = measure, least
    if problems:
        raise ConfigurationError("\n".join(problems))
    return found


def _intervals(
    values: dict[str, Floats], kept: dict[str, NDArray[np.bool_]], *, level: float, resamples: int, seed: int
) -> dict[str, tuple[float | None, float | None]]:
    """The intervals of the means of at least two queries; measures that count the same ones have the same draws."""
    ends: dict[str, tuple[float | None, float | None]] = dict.fromkeys(kept, (None, None))
    for rows in {mask.tobytes(): mask for mask in kept.values() if mask.sum() > 1}.values():
        alike = [name for name, mask in kept.items() if np.array_equal(mask, rows)]
        table = np.column_stack([values[name][rows] for name in alike])
        rng = generator(seed, "evaluate")
        found = statistics.bootstrap_intervals(table, level=level, resamples=resamples, rng=rng)
        ends |= dict(zip(alike, found, strict=True))
    return ends


def _csv(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(rows)
    return stream.getvalue()


def _text(summary: Sequence[Summary]) -> str:
    width = max(len("measure"), *(len(row.measure) for row in summary))
    lines = [f"{'measure':<{width}}  {'mean':>6}  {'low':>6}  {'high':>6}"]
    most = max(row.queries for row in summary)
    for name, mean, low, high, queries, worst, best in summary:
        ends = "".join(f"  {'-':>6}" if end is None else f"  {end:6.4f}" for end in (low, high))
        lowest, highest = f"{worst:.4f}", f"{best:.4f}"
        ends += f"  {lowest} to {highest} with the order of equal scores" if lowest != highest else ""
        ends += f"  of {count(queries, 'query', 'queries')} alone" if queries < most else ""
        lines.append(f"{name:<{width}}  {mean:6.4f}{ends}")
    return "\n".join(lines)
