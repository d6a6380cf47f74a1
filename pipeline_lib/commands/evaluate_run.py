"""Measure a run by relevance judgements: every measure, with its mean over queries and a confidence interval.

Equal scores say nothing about the order of their documents, so that every measure is its mean over all orders that the
scores allow.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
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
Ties = Literal[ranking.Ties, "trec_eval"]
Lists = tuple[NDArray[np.int32], NDArray[np.int64]]
"""The labels of some queries, and where those of each begin."""
SUMMARY = {
    "measure": pl.String,
    **dict.fromkeys(("mean", "low", "high"), pl.Float64),
    "queries": pl.Int64,
    **dict.fromkeys(("worst", "best"), pl.Float64),
}


def run(
    *,
    run: Annotated[Path, "TREC run"],
    qrels: Annotated[Path, "TREC qrels: lines of query, 0, document and label"],
    measures: Annotated[Sequence[str], "names of measures", {"metavar": "MEASURE"}] = MEASURES,
    ties: Annotated[
        Ties,
        "of equal scores: the mean over all orders of their documents, or that of the file, or an end, or the order "
        "by falling ids that trec_eval has; the column of ranks is not read",
    ] = "mean",
    relevant_from: Annotated[int, "smallest label of a relevant document, for map, p, recall and rr"] = 1,
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
    judged = _judged(trec.Run(run), judgements, by_ids=ties == "trec_eval")
    scale = judgements.largest_label if y_max is None else y_max
    order: ranking.Ties = "file" if ties == "trec_eval" else ties
    asked, worst, best = (judged.measured(measures, scale, one, relevant_from) for one in (order, "worst", "best"))
    rows = [
        (*_row(name, asked[name].to_numpy(), level, resamples, seed), worst[name].mean(), best[name].mean())
        for name in measures
    ]
    summary = pl.DataFrame(rows, schema=SUMMARY, orient="row")
    print(f"{len(asked):,} queries, {100 * level:g} % bootstrap intervals\n\n{_text(summary)}")
    for path, table in ((output, summary), (per_query, asked)):
        if path is not None:
            write_text(path, table.write_csv())


@dataclass(frozen=True)
class _Judged:
    """The judged queries of a run, and those that it lacks, which count as 0.

    ``scores`` and ``ranked`` hold, for every query of the run, the scores of its documents and their labels, and
    ``everything`` the labels of all judged documents.
    """

    path: Path
    queries: Sequence[str]
    missing: Sequence[str]
    scores: Sequence[Floats]
    ranked: Sequence[NDArray[np.int32]]
    everything: Sequence[NDArray[np.int32]]

    def measured(self, measures: Sequence[str], y_max: int, ties: ranking.Ties, relevant_from: int) -> pl.DataFrame:
        """The measures of every judged query."""
        labels, offsets = _joined(self.ranked)
        scores = np.concatenate(self.scores)
        values = metrics.per_query(
            measures, scores, labels, offsets, y_max=y_max, ties=ties, relevant_from=relevant_from
        )
        for name in measures:
            least = relevant_from if metrics.get(name).binary else 1
            lacking = self._lacking(least)
            if len(lacking):
                found, everything = (_joined([one[q] for q in lacking]) for one in (self.ranked, self.everything))
                where = f"{self.path}: query {self.queries[lacking[0]]}"
                values[name][lacking] *= _shares(where, name, found, everything, least)
        absent = np.zeros(len(self.missing))
        columns = {name: np.r_[values[name], absent] for name in measures}
        return pl.DataFrame({"qid": [*self.queries, *self.missing], **columns})

    def _lacking(self, least: int) -> NDArray[np.int64]:
        """The queries of the run that lack documents with labels from ``least`` on."""
        found, everything = (
            np.add.reduceat(labels >= least, offsets[:-1], dtype=np.int64)
            for labels, offsets in (_joined(self.ranked), _joined(self.everything))
        )
        return np.flatnonzero(found < everything)


def _judged(run: trec.Run, judgements: trec.Judgements, *, by_ids: bool) -> _Judged:
    """The documents of every query in the order of the file, or by falling ids."""
    queries = [query for query in run.queries if query in judgements]
    unjudged = [query for query in run.queries if query not in judgements]
    missing = [query for query in judgements.queries if query not in run]
    if not queries:
        raise DataError(f"{run.path}: expected queries that {judgements.path} judges, found {unjudged[:3]}")
    if unjudged:
        _LOG.warning(f"queries of the run that are not judged do not count: {len(unjudged):,}, such as {unjudged[0]}")
    if missing:
        _LOG.warning(f"judged queries that are not in the run count as 0: {len(missing):,}, such as {missing[0]}")
    scores, ranked, everything = [], [], []
    for query in queries:
        labels, scored = judgements.labels(query), run.scores(query)
        documents = sorted(scored, reverse=True) if by_ids else list(scored)
        everything.append(np.array(list(labels.values()), np.int32))
        ranked.append(np.array([labels.get(document, 0) for document in documents], np.int32))
        scores.append(np.array([scored[document] for document in documents]))
    return _Judged(run.path, queries, missing, scores, ranked, everything)


def _joined(labels: Sequence[NDArray[np.int32]]) -> Lists:
    """The labels of some queries, one after the other, and where those of each begin."""
    return np.concatenate(labels), np.r_[0, np.cumsum([len(one) for one in labels])].astype(np.int64)


def _shares(place: str, name: str, found: Lists, everything: Lists, relevant_from: int) -> Floats | float:
    """The best values of runs of the documents found: measures should relate to the best values of all documents."""
    family, k = metrics.parse(name)
    if family in ("p", "rr", "err"):
        return 1.0
    if family in ("map", "recall"):
        relevant = [
            np.add.reduceat(labels >= relevant_from, offsets[:-1], dtype=np.float64)
            for labels, offsets in (found, everything)
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
    for name, mean, low, high, _, worst, best in summary.iter_rows():
        ends = "".join(f"  {'-':>6}" if end is None else f"  {end:6.4f}" for end in (low, high))
        least, most = f"{worst:.4f}", f"{best:.4f}"
        ends += f"  {least} to {most} with the order of equal scores" if least != most else ""
        lines.append(f"{name:<{width}}  {mean:6.4f}{ends}")
    return "\n".join(lines)
