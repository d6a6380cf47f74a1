"""How do runs and relevance judgements become one number per run and query?

A run, a ranking of documents for every query, may be

- the path of a TREC run;
- a dictionary ``{query: {document: score}}``, as ranx and pytrec_eval take;
- a data frame of pandas or polars, or a table of Arrow, with a column for queries (``query``, ``query_id``, ``q_id``,
  ``qid``, ``topic``), one for documents (``document``, ``doc_id``, ``docid``, ``docno``) and one for scores
  (``score``);
- a pair of a ranker of this project and a :class:`~pipeline_lib.data.ranking_data.RankingData`, whose labels then are
  the judgements.

Several runs are a list of these, or a dictionary from their names. Judgements (qrels) are given likewise, with labels
(``label``, ``relevance``, ``rel``, ``grade``) in place of scores: whole numbers up to 255, where those below 0 count
as 0.

Conventions, which notes name where they matter:

- equal scores say nothing about the order of their documents, so that a measure is its mean over all orders that they
  allow; ``ties="trec_eval"`` orders them by falling ids;
- documents without judgements are not relevant, and relevant documents that a run lacks count as not found;
- a judged query that a run lacks counts as 0 (``missing="skip"`` leaves it out for all runs);
- a query without relevant documents counts as ``no_relevant``, 0 (``"skip"`` leaves it out);
- queries without judgements do not count.
"""

import ast
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import metrics, ranking
from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import MAX_LABEL, checked
from pipeline_lib.core.errors import ArgumentError, ConfigurationError, DataError
from pipeline_lib.data import columns
from pipeline_lib.data.problems import refuse
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.metrics.measure import EVERY_RANK
from pipeline_lib.sources import trec

__all__ = [
    "Judged",
    "Ranked",
    "Scored",
    "Ties",
    "Values",
    "judgements",
    "measure_of",
    "measured",
    "ranked",
    "scored",
    "values",
]

Ties = Literal["mean", "file", "best", "worst", "trec_eval"]
"""What equal scores mean: see :data:`pipeline_lib.ranking.Ties`; for ``trec_eval``, ids of documents fall."""
Missing = Literal["zero", "skip"]
"""Whether a judged query that a run lacks counts as 0, or is left out for all runs."""
QUERIES = (*columns.QUERIES, "q_id")
DOCUMENTS = (*columns.DOCUMENTS, "document", "doc")
SCORES = ("score", "sim")
"""Names of columns, whatever their case."""
NAMED = 3
"""So many queries are named in a note."""
_ENDINGS = re.compile(r"(\.(gz|run|res|trec|txt))+$", re.IGNORECASE)
_MEASURE = re.compile(r"(?P<family>\w+?)(?P<options>\(.*\))?(@(?P<rank>[0-9]+))?")
_TREC_EVAL = re.compile(r"(ndcg_cut|P|recall)[_.]([0-9]+)")

RelevantFromOption = Annotated[int, "smallest label of a relevant document, for map, p, recall and rr"]
NoRelevantOption = Annotated[
    str, "what a query without relevant documents counts as, from 0 to 1; skip leaves such queries out"
]
"""Of a command, which :func:`no_relevant_of` reads."""
MissingOption = Annotated[Missing, "whether judged queries that a run lacks count as 0 or are left out"]
LargestLabelOption = Annotated[int | None, "largest label of the scale, for err (default: the largest of the qrels)"]


@dataclass(frozen=True, repr=False, eq=False)
class Values:
    """One measure of K runs on the same n queries.

    Attributes
    ----------
    measure : str
        Its name among :data:`pipeline_lib.metrics.NAMES`.
    runs : tuple of str
        The names of the runs.
    queries : tuple of str
        The n queries, in the order of the judgements.
    values : float64 array, shape (K, n), in [0, 1]
    low, high : float64 arrays, shape (K, n)
        The same for the worst and for the best order that equal scores allow.
    notes : tuple of str
        Sentences about what the numbers rest on: conventions, queries that lack something, and ties.
    """

    measure: str
    runs: tuple[str, ...]
    queries: tuple[str, ...]
    values: Floats
    low: Floats
    high: Floats
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Values({self.measure} of {', '.join(self.runs[:NAMED])}: shape {self.values.shape})"


@dataclass(frozen=True, eq=False)
class Judged:
    """The labels of all judged documents; those of query q are ``labels[offsets[q]:offsets[q + 1]]``.

    ``documents`` are the distinct ids of documents, an array of Arrow. A label belongs to the query q and the id d with
    ``keys = q len(documents) + d``, which rise.
    """

    where: str
    queries: tuple[str, ...]
    labels: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    documents: Any
    keys: NDArray[np.int64]

    @property
    def largest_label(self) -> int:
        """Of all queries."""
        return int(self.labels.max())


@dataclass(frozen=True, eq=False)
class Ranked:
    """What a run ranks of the judged queries: of their ``places``, scores and labels, list after list."""

    where: str
    judged: Judged
    places: NDArray[np.int64]
    scores: Floats
    labels: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    unjudged: tuple[str, ...]

    @property
    def missing(self) -> list[str]:
        """The judged queries that the run lacks."""
        absent = np.setdiff1d(np.arange(len(self.judged.queries)), self.places, assume_unique=True)
        return [self.judged.queries[place] for place in absent.tolist()]

    @property
    def may_tie(self) -> bool:
        """Whether a list may have equal scores: it does not where scores fall throughout."""
        rises = np.diff(self.scores) >= 0.0
        rises[self.offsets[1:-1] - 1] = False
        return bool(rises.any())

    def notes(self, missing: Missing) -> list[str]:
        """Sentences about queries that are not judged, and about judged ones that are not in the run."""
        found = []
        if self.unjudged:
            found.append(f"{self.where}: queries that are not judged do not count: {_some(self.unjudged)}.")
        lacking = self.missing
        if lacking and missing == "zero":
            found.append(f"{self.where}: judged queries that are not in the run count as 0: {_some(lacking)}.")
        elif lacking:
            found.append(f"{self.where} lacks judged queries, which are left out: {_some(lacking)}.")
        return found


@checked
def values(
    runs: Any,
    qrels: Any = None,
    measure: str = "ndcg@10",
    *,
    ties: Ties = "mean",
    relevant_from: int = 1,
    no_relevant: metrics.NoRelevant = 0.0,
    missing: Missing = "zero",
    y_max: int | None = None,
) -> Values:
    """Measure runs on the judged queries.

    Parameters
    ----------
    runs, qrels
        Of the forms that the module's documentation lists; ``qrels`` is left out where every run is a pair of a ranker
        and its data.
    measure : str
        A name of :data:`pipeline_lib.metrics.NAMES`, or its spelling in ir_measures or trec_eval (:func:`measure_of`).
    ties : "mean", "file", "best", "worst" or "trec_eval"
        What equal scores mean.
    relevant_from : int
        The smallest label of a relevant document in 1..255, for map, p, recall and rr.
    no_relevant : number in [0, 1] or "skip"
        Of a query without relevant documents, for measures that are undefined there; "skip" leaves such queries out.
    missing : "zero" or "skip"
        Of a judged query that a run lacks.
    y_max : int, optional
        The largest label of the scale, for err; by default that of the judgements.

    Raises
    ------
    DataError
        When runs or judgements have none of these forms, hold a number that is not finite or a document twice in a
        query, share no query, no query is left, or queries have weights.
    ConfigurationError
        When the measure is unknown.

    Example
    -------
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
    >>> found = values({"one": {"q1": {"a": 2.0, "b": 1.0}}, "two": {"q1": {"b": 1.0}, "q2": {"c": 0.1}}}, qrels)
    >>> found.queries, found.values.tolist()
    (('q1', 'q2'), [[1.0, 0.0], [0.0, 1.0]])
    >>> found.notes[0]
    'one: judged queries that are not in the run count as 0: 1 (q2).'
    """
    name, least = measure_of(measure, checks.whole("relevant_from", relevant_from, checks.Range(1, MAX_LABEL)))
    of_runs, judged = _read(runs, qrels, by_ids=ties == "trec_eval")
    scale = judged.largest_label if y_max is None else y_max
    best = best_values(judged, [name], least)
    order: ranking.Ties = "file" if ties == "trec_eval" else ties
    found = np.empty((3, len(of_runs), len(judged.queries)))
    notes = []
    for row, run in enumerate(of_runs.values()):
        ends: tuple[ranking.Ties, ...] = (order, "worst", "best") if run.may_tie else (order,)
        for side, one in enumerate(ends):
            found[side:, row] = measured(run, best, one, scale, least)[name]
        notes += run.notes(missing)
    empty = settle_empty(found, judged, name, least, no_relevant)
    kept = counted(judged, of_runs.values(), empty, no_relevant, missing)
    if empty.any():
        taken = "are left out" if no_relevant == "skip" else f"count as {no_relevant:g}"
        if no_relevant == "skip" or metrics.get(name).needs_relevant:
            lacking = [judged.queries[place] for place in np.flatnonzero(empty).tolist()]
            notes.append(f"Queries without relevant documents {taken}: {_some(lacking)}.")
    found = found[:, :, kept]
    queries = tuple(query for query, keep in zip(judged.queries, kept.tolist(), strict=True) if keep)
    if least > 1 and metrics.get(name).binary:
        notes.append(f"For {name}, documents are relevant from the label {least} on.")
    notes += [*_of_ties(of_runs, found, ties), *gains_note(name, judged)]
    asked, low, high = found
    return Values(name, tuple(of_runs), queries, asked, low, high, tuple(notes))


@dataclass(frozen=True, eq=False)
class Scored:
    """The judged documents that every one of K runs ranks, list after list.

    ``scores`` has shape (K, N), ``labels`` (N,); those of query q stand at ``offsets[q]:offsets[q + 1]``. ``lacking``
    counts the judged documents that some run lacks, and ``per_query`` are the judged documents of a query on average.
    """

    runs: tuple[str, ...]
    queries: tuple[str, ...]
    scores: Floats
    labels: NDArray[np.int64]
    offsets: NDArray[np.int64]
    lacking: int
    per_query: float


def scored(runs: Any, qrels: Any = None) -> Scored:
    """What runs say of judged documents; arguments as for :func:`values`.

    Raises
    ------
    DataError
        As :func:`values`, and when the runs have no judged document in common.
    """
    given = _named(runs)
    if qrels is None:
        of_runs, judged = _read(given, None, by_ids=False)
        scores = np.stack([run.scores for run in of_runs.values()])
        per_query = len(judged.labels) / len(judged.queries)
        return Scored(
            tuple(given), judged.queries, scores, judged.labels.astype(np.int64), judged.offsets, 0, per_query
        )
    judged = judgements(qrels)
    scores = np.stack([_of_judged(run, judged, name) for name, run in given.items()])
    common = np.isfinite(scores).all(axis=0)
    if not common.any():
        raise DataError(f"{judged.where}: expected judged documents that all runs rank, found none")
    query = np.repeat(np.arange(len(judged.queries)), np.diff(judged.offsets))[common]
    lengths = np.bincount(query)
    return Scored(
        tuple(given),
        tuple(judged.queries[place] for place in np.flatnonzero(lengths).tolist()),
        scores[:, common],
        judged.labels[common].astype(np.int64),
        _offsets(lengths[lengths > 0]),
        len(judged.labels) - int(common.sum()),
        len(judged.labels) / len(judged.queries),
    )


def _of_judged(run: Any, judged: Judged, where: str) -> Floats:
    """The score of every judged document, NaN where the run lacks it."""
    table = _table(run, where, "score", SCORES)
    query = _places(table.queries, judged.queries)[table.query]
    document = _places(table.documents, judged.documents)[table.document]
    keys = query * len(judged.documents) + document
    found = np.minimum(np.searchsorted(judged.keys, keys), len(judged.keys) - 1)
    known = (query >= 0) & (document >= 0) & (judged.keys[found] == keys)
    scores = np.full(len(judged.keys), np.nan)
    scores[found[known]] = table.numbers[known]
    return scores


@checked
def measure_of(text: str, relevant_from: int = 1) -> tuple[str, int]:
    """The name of a measure, and the smallest label of a relevant document, by any spelling.

    Beside the names and spellings of :func:`pipeline_lib.metrics.canonical`, ir_measures' options ``rel``, which is the
    smallest label of a relevant document, ``cutoff``, and ``dcg`` are taken, and the names of trec_eval.
    ``nDCG(dcg='log2')``, whose gains are the labels, is ``linear_ndcg``; without options it is ``ndcg``, whose gains
    are 2^label - 1.

    Raises
    ------
    ConfigurationError
        When there is no such measure, or an option is not taken.

    Example
    -------
    >>> measure_of("AP(rel=2)"), measure_of("nDCG(dcg='log2')@10"), measure_of("ndcg_cut_10")
    (('map', 2), ('linear_ndcg@10', 1), ('linear_ndcg@10', 1))
    """
    written = text.strip()
    if found := _TREC_EVAL.fullmatch(written):
        written = f"{found[1].replace('ndcg_cut', 'linear_ndcg')}@{found[2]}"
    written = {"recip_rank": "rr"}.get(written, written)
    parts = _MEASURE.fullmatch(written)
    if parts and parts["options"]:
        options = _options(text, parts["options"])
        relevant_from = checks.whole(f"{text}: rel", options.pop("rel", relevant_from), checks.Range(1, MAX_LABEL))
        gains = options.pop("dcg", "exp-log2")
        rank = options.pop("cutoff", parts["rank"])
        if options or gains not in ("log2", "exp-log2") or ("dcg" in parts["options"]) > (parts["family"] == "nDCG"):
            raise ConfigurationError(
                f"measure {text!r}: expected no options but rel=LABEL, cutoff=K and, for nDCG, dcg='log2' or "
                "dcg='exp-log2'"
            )
        family = "linear_ndcg" if gains == "log2" else parts["family"]
        written = f"{family}@{rank}" if rank else family
    metrics.check([written])
    return metrics.canonical(written), relevant_from


def no_relevant_of(text: str) -> metrics.NoRelevant:
    """What an option says that a query without relevant documents counts as.

    Raises
    ------
    ConfigurationError
        When it is neither a number nor "skip".
    """
    if text == "skip":
        return "skip"
    try:
        return float(text)
    except ValueError:
        raise ConfigurationError(f"--no-relevant: expected a number from 0 to 1, or skip, found {text!r}") from None


def judgements(qrels: Any, where: str = "qrels") -> Judged:
    """Read relevance judgements; ``where`` is how messages name what is no file.

    Raises
    ------
    DataError
        When a label is no whole number up to 255, or there is none.
    """
    where = str(qrels) if isinstance(qrels, str | os.PathLike) else where
    table = _table(qrels, where, "label", columns.LABELS)
    wrong = (table.numbers != np.floor(table.numbers)) | (table.numbers > MAX_LABEL)
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(
            f"{where}: {table.name_of(row)}: expected a whole number up to {MAX_LABEL} as the label, found "
            f"{table.numbers[row]:g}"
        )
    if not len(table.numbers):
        raise DataError(f"{where}: expected at least one judged document, found none")
    keys = table.query * len(table.documents) + table.document
    order = np.argsort(keys, kind="stable")
    labels = np.maximum(table.numbers[order], 0.0).astype(np.uint8)
    lengths = np.bincount(table.query, minlength=len(table.queries))
    return Judged(where, tuple(table.queries), labels, _offsets(lengths), table.documents, keys[order])


def ranked(run: Any, judged: Judged, where: str = "run", *, by_ids: bool = False) -> Ranked:
    """Read a run, and look the labels of its documents up; equal scores in its order, or ``by_ids``, falling.

    Raises
    ------
    DataError
        When a score is not finite, or no query of the run is judged.
    """
    where = str(run) if isinstance(run, str | os.PathLike) else where
    table = _table(run, where, "score", SCORES)
    place = _places(table.queries, judged.queries)
    unjudged = tuple(table.queries[number] for number in np.flatnonzero(place < 0).tolist())
    at = place[table.query]
    # In the order of the judgements, by which the run's order of queries says nothing.
    order = np.lexsort((table.falling_ids(), at)) if by_ids else np.argsort(at, kind="stable")
    order = order[np.searchsorted(at[order], 0) :]
    if not len(order):
        raise DataError(f"{where}: expected queries that {judged.where} judges, found {list(unjudged[:NAMED])}")
    scores = table.numbers[order]
    if not (finite := np.isfinite(scores)).all():
        row = int(order[finite.argmin()])
        raise DataError(f"{where}: {table.name_of(row)}: expected a finite score, found {table.numbers[row]}")
    if by_ids:  # trec_eval keeps scores in single precision, in which more of them are equal
        largest = np.finfo(np.float32).max
        scores = scores.clip(-largest, largest).astype(np.float32).astype(np.float64)
    document = _places(table.documents, judged.documents)[table.document[order]]
    keys = at[order] * len(judged.documents) + document
    found = np.minimum(np.searchsorted(judged.keys, keys), len(judged.keys) - 1)
    labels = np.where((document >= 0) & (judged.keys[found] == keys), judged.labels[found], np.uint8(0))
    lengths = np.bincount(at[order], minlength=len(judged.queries))
    return Ranked(where, judged, np.flatnonzero(lengths), scores, labels, _offsets(lengths[lengths > 0]), unjudged)


def measured(
    run: Ranked, best: Mapping[str, Floats | None], ties: ranking.Ties, y_max: int, relevant_from: int
) -> dict[str, Floats]:
    """Measures of every judged query, 0 where the run lacks it; ``best`` are :func:`best_values` of the judgements.

    Measures that a run of all documents may bring to 1 are related to the best values of all judged documents, also
    of those that the run lacks.
    """
    at = run.places
    table = metrics.per_query(
        list(best), run.scores, run.labels, run.offsets, y_max=y_max, ties=ties, relevant_from=relevant_from
    )
    for name, of_all in best.items():
        lacking = np.flatnonzero(
            _counts(run, name, relevant_from) < relevant_counts(run.judged, name, relevant_from)[at]
        )
        if len(lacking) and metrics.parse(name)[0] not in _ABSOLUTE:
            if of_all is None:
                raise DataError(
                    f"{run.where}: query {run.judged.queries[at[lacking[0]]]}: {name} needs rankings of all relevant "
                    "documents, of which the run lacks some; choose other measures"
                )
            of_found = _best(run.labels, run.offsets, name, relevant_from)
            assert of_found is not None
            table[name][lacking] *= of_found[lacking] / of_all[at[lacking]]
    found = {name: np.zeros(len(run.judged.queries)) for name in best}
    for name, of_queries in table.items():
        found[name][at] = of_queries
    return found


def best_values(judged: Judged, measures: Sequence[str], relevant_from: int) -> dict[str, Floats | None]:
    """What measures relate the value of a ranking to, by name, for every query; None where that is not known."""
    return {name: _best(judged.labels, judged.offsets, name, relevant_from) for name in measures}


def relevant_counts(judged: Judged, name: str, relevant_from: int) -> NDArray[np.int64]:
    """The number of relevant documents of every query, as the measure has it."""
    return _counts(judged, name, relevant_from)


def settle_empty(
    found: Floats, judged: Judged, name: str, relevant_from: int, no_relevant: metrics.NoRelevant
) -> NDArray[np.bool_]:
    """The queries without relevant documents, whose values, the last axis of ``found``, become what they count as.

    Values of measures that are defined there stay. A query that is to be skipped is the caller's to leave out.

    Raises
    ------
    DataError
        When ``no_relevant`` is neither "skip" nor between 0 and 1.
    """
    empty = relevant_counts(judged, name, relevant_from) == 0
    if no_relevant != "skip":
        value = checks.real("no_relevant", no_relevant, checks.Range(0, 1))
        if metrics.get(name).needs_relevant:
            found[..., empty] = value
    return empty


def counted(
    judged: Judged, runs: Iterable[Ranked], empty: NDArray[np.bool_], no_relevant: metrics.NoRelevant, missing: Missing
) -> NDArray[np.bool_]:
    """The queries that count, of which ``empty`` are without relevant documents.

    Raises
    ------
    DataError
        When there is none.
    """
    kept = ~empty if no_relevant == "skip" else np.ones(len(empty), bool)
    if missing == "skip":
        for run in runs:
            kept &= np.isin(np.arange(len(kept)), run.places)
    if not kept.any():
        raise DataError(f"{judged.where}: expected at least one query to measure, found none")
    return kept


def gains_note(name: str, judged: Judged) -> list[str]:
    """A sentence about the gains of NDCG, where labels above 1 let them matter."""
    family, rank = metrics.parse(name)
    if family not in ("ndcg", "linear_ndcg") or judged.largest_label < 2:
        return []
    cut = "" if rank == EVERY_RANK else f"@{rank}"
    if family == "ndcg":
        return [
            f"{name} has the gains 2^label - 1; what trec_eval and ir_measures call nDCG{cut} has the labels as gains "
            f"and is linear_ndcg{cut} here."
        ]
    return [f"{name} has the labels as gains, as nDCG{cut} of trec_eval and ir_measures; ndcg{cut} has 2^label - 1."]


_ABSOLUTE = ("p", "rr", "err")
"""Measures that relate to nothing that a run may lack."""


def _best(labels: NDArray[np.uint8], offsets: NDArray[np.int64], name: str, relevant_from: int) -> Floats | None:
    """For every query, the relevant documents (recall, map) or the ideal DCG (NDCG); None for other measures."""
    family, k = metrics.parse(name)
    if family in ("map", "recall"):
        return np.add.reduceat(labels >= relevant_from, offsets[:-1], dtype=np.float64)
    if family not in ("ndcg", "linear_ndcg"):
        return None
    gains = ranking.GAINS if family == "ndcg" else np.arange(len(ranking.GAINS), dtype=np.float64)
    ranks = ranking.ideal_ranks(labels, offsets)
    terms = np.where(ranks <= k, gains[labels] * ranking.discounts(int(ranks.max()))[ranks - 1], 0.0)
    return np.add.reduceat(terms, offsets[:-1])


def _counts(lists: Judged | Ranked, name: str, relevant_from: int) -> NDArray[np.int64]:
    least = relevant_from if metrics.get(name).binary else 1
    return np.add.reduceat(lists.labels >= least, lists.offsets[:-1], dtype=np.int64)


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.r_[0, np.cumsum(lengths)].astype(np.int64)


def _some(names: Sequence[str]) -> str:
    """How many there are, and the first of them."""
    return f"{len(names):,} ({', '.join(names[:NAMED])}{', ...' if len(names) > NAMED else ''})"


def _of_ties(of_runs: Mapping[str, Ranked], found: Floats, ties: Ties) -> list[str]:
    taken = {
        "mean": "the mean over all orders of their documents is taken",
        "file": "their documents keep the order of the run",
        "trec_eval": "their documents are ordered by falling ids, as trec_eval does",
    }.get(ties, f"the {ties} order of their documents is taken")
    _, low, high = found.mean(axis=2)
    return [
        f"{run.where}: equal scores allow means from {low[row]:.4f} to {high[row]:.4f}; {taken}."
        for row, run in enumerate(of_runs.values())
        if low[row] < high[row]
    ]


def _options(text: str, brackets: str) -> dict[str, Any]:
    """What stands in the brackets of a measure's name."""
    try:
        call = ast.parse(f"f{brackets}", mode="eval").body
        assert isinstance(call, ast.Call)
        assert not call.args
        return {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    except (SyntaxError, ValueError, AssertionError) as error:
        raise ConfigurationError(f"measure {text!r}: expected options as in AP(rel=2)") from error


def _read(runs: Any, qrels: Any, *, by_ids: bool) -> tuple[dict[str, Ranked], Judged]:
    """All runs by name, and the judgements."""
    given = _named(runs)
    pairs = {name: _is_pair(run) for name, run in given.items()}
    if any(pairs.values()) != (qrels is None) or len(set(pairs.values())) > 1:
        raise ArgumentError(
            "qrels: expected judgements for runs, and none where every run is a pair of a ranker and its data, which "
            "have labels"
        )
    if qrels is not None:
        judged = judgements(qrels)
        return {name: ranked(run, judged, name, by_ids=by_ids) for name, run in given.items()}, judged
    if by_ids:
        raise DataError("ties: expected another value than trec_eval, since the documents of data have no ids")
    judged = _judgements_of_data(next(iter(given.values()))[1])
    return {name: _ranked_by_model(model, data, judged, name) for name, (model, data) in given.items()}, judged


def _judgements_of_data(data: RankingData) -> Judged:
    if not data.n_queries:
        raise DataError("data: expected at least one query, found none")
    return Judged("data", _queries_of(data), data.y.astype(np.uint8), data.offsets, (), np.empty(0, np.int64))


def _ranked_by_model(model: Any, data: RankingData, judged: Judged, where: str) -> Ranked:
    same = _queries_of(data) == judged.queries and np.array_equal(data.y, judged.labels)
    if not (same and np.array_equal(data.offsets, judged.offsets)):
        raise DataError(f"{where}: expected the queries and labels of the first run's data, found others")
    scores = checks.floats(f"{where}: scores", model.predict(data), shape=(data.n_documents,))
    return Ranked(where, judged, np.arange(data.n_queries), scores, judged.labels, judged.offsets, ())


def _queries_of(data: RankingData) -> tuple[str, ...]:
    return data.query_names if data.query_names is not None else tuple(map(str, data.qids.tolist()))


def _named(runs: Any) -> dict[str, Any]:
    """The runs by their names: those given, those of files, or numbers."""
    if _is_run(runs):
        runs = [runs]
    if isinstance(runs, Mapping):
        named = {str(name): run for name, run in runs.items()}
    elif isinstance(runs, Sequence):
        named = dict(zip(names(runs), runs, strict=True))
    else:
        raise ArgumentError(f"runs: expected runs, or a dictionary of names and runs, found {checks.shown(runs)}")
    if not named:
        raise DataError("runs: expected at least one run, found none")
    for name, run in named.items():
        if _is_pair(run) and not run[1].count_alike:
            raise DataError(
                f"{name}: expected queries that count alike, found weights of queries, for which there are no "
                "intervals and tests; `dataclasses.replace(data, weights=None)` leaves them out"
            )
    return named


def names(runs: Sequence[Any]) -> list[str]:
    """The names of files, whole if they are not distinct, and numbers of other runs."""
    paths = [run if isinstance(run, str | os.PathLike) else None for run in runs]
    short = [None if path is None else _ENDINGS.sub("", Path(path).name) or Path(path).name for path in paths]
    whole = [str(path) if short.count(name) > 1 else name for path, name in zip(paths, short, strict=True)]
    names = [
        f"run {place}" if path is None else str(name)
        for place, (path, name) in enumerate(zip(paths, whole, strict=True), 1)
    ]
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"runs: expected different runs, found {name} twice")
    return names


def _is_pair(run: Any) -> bool:
    return isinstance(run, tuple) and len(run) == 2 and isinstance(run[1], RankingData) and hasattr(run[0], "predict")


def _is_run(runs: Any) -> bool:
    """Whether this is a single run."""
    if isinstance(runs, Mapping):
        lists = [one for one in runs.values() if not (isinstance(one, Mapping) and not one)][:1]
        return all(isinstance(one, Mapping) and not isinstance(next(iter(one.values())), Mapping) for one in lists)
    return isinstance(runs, str | os.PathLike) or _is_pair(runs) or _is_frame(runs)


def _is_frame(table: Any) -> bool:
    if isinstance(table, Mapping | RankingData):
        return False
    return hasattr(table, "__arrow_c_stream__") or hasattr(table, "columns")


@dataclass(frozen=True, eq=False)
class _Table:
    """The lines of a run or of judgements: the numbers of documents of queries.

    ``query`` and ``document`` say by number which of the distinct ``queries`` and of the ``documents``, an array of
    Arrow, a line has. Those of judgements are distinct.
    """

    queries: Sequence[str]
    documents: Any
    query: NDArray[np.int64]
    document: NDArray[np.int64]
    numbers: Floats

    def name_of(self, row: int) -> str:
        """How messages name a line."""
        return f"query {self.queries[self.query[row]]}, document {self.documents[int(self.document[row])]}"

    def falling_ids(self) -> NDArray[np.int64]:
        """For every line, the place of its document among all ids that fall."""
        import pyarrow.compute as pc

        place = np.empty(len(self.documents), np.int64)
        place[pc.array_sort_indices(self.documents, order="descending").to_numpy()] = np.arange(len(place))
        return place[self.document]


def _table(given: Any, where: str, role: Literal["score", "label"], known: Sequence[str]) -> _Table:
    """A run or judgements of any form."""
    if isinstance(given, str | os.PathLike):
        lines = trec.Run(given) if role == "score" else trec.Judgements(given)
        of = lines.scores if isinstance(lines, trec.Run) else lines.labels
        return _of_dictionaries({query: of(query) for query in lines.queries}, where, role)
    if _is_frame(given):
        return _of_frame(given, where, role, known)
    if isinstance(given, Mapping):
        return _of_dictionaries(given, where, role)
    raise ArgumentError(
        f"{where}: expected a path, a dictionary {{query: {{document: {role}}}}} or a data frame, found "
        f"{checks.shown(given)}"
    )


def _of_dictionaries(given: Mapping[Any, Any], where: str, role: str) -> _Table:
    import pyarrow as pa

    for query, documents in given.items():
        if not isinstance(documents, Mapping):
            raise ArgumentError(
                f"{where}: query {query}: expected a dictionary of documents and {role}s, found "
                f"{checks.shown(documents)}"
            )
    lists = {str(query): documents for query, documents in given.items() if documents}
    try:
        numbers = np.fromiter(chain.from_iterable(one.values() for one in lists.values()), np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{where}: expected a number for every document ({error})") from None
    names: list[Any] = list(chain.from_iterable(lists.values()))
    try:
        column = pa.array(names, pa.string())
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # not all of them are texts
        column = pa.array([None if one is None else str(one) for one in names], pa.string())
    if None in given or column.null_count:
        raise DataError(f"{where}: expected a name for every query and every document, found None")
    query = np.repeat(np.arange(len(lists)), np.fromiter(map(len, lists.values()), np.int64, len(lists)))
    if role == "score":  # to find equal ids would take longer than to look each of them up
        return _Table(list(lists), column, query, np.arange(len(names)), numbers)
    encoded = column.dictionary_encode()
    return _Table(list(lists), encoded.dictionary, query, _numbered(encoded), numbers)


def _of_frame(frame: Any, where: str, role: str, known: Sequence[str]) -> _Table:
    table = columns.arrow_table(frame, where)
    queries, documents, numbers = (
        _column(table.schema.names, what, names, where)
        for what, names in (("query", QUERIES), ("document", DOCUMENTS), (role, known))
    )
    place = f"{where}: row {{}}".format
    query, document = (
        _encoded(table.column(name), name, what, place) for name, what in ((queries, "a query"), (documents, "an id"))
    )
    found = _Table(
        query.dictionary.to_pylist(),
        document.dictionary,
        _numbered(query),
        _numbered(document),
        columns.numbers(table.column(numbers), numbers, place),
    )
    keys = found.query * len(found.documents) + found.document
    order = np.argsort(keys, kind="stable")
    if (again := np.diff(keys[order]) == 0).any():
        row = int(order[1 + int(again.argmax())])
        raise DataError(f"{place(row)}: {found.name_of(row)}: expected every document of a query once, found it twice")
    return found


def _encoded(column: Any, name: str, what: str, place: columns.Place) -> Any:
    """A column as an array of Arrow with a dictionary of its distinct texts."""
    import pyarrow as pa

    texts = column.cast(pa.string())
    missing = np.asarray(texts.is_null().to_numpy()) if texts.null_count else np.zeros(len(texts), np.bool_)
    encoded = texts.dictionary_encode().combine_chunks()
    if (empty := encoded.dictionary.index("").as_py()) >= 0:
        missing |= np.asarray(encoded.indices.fill_null(-1)) == empty
    refuse(place, missing, name, lambda row: f"expected {what} in the column {name!r}, found none")
    return encoded


def _numbered(encoded: Any) -> NDArray[np.int64]:
    return np.asarray(encoded.indices).astype(np.int64)


def _places(names: Any, known: Any) -> NDArray[np.int64]:
    """Where each of the names is among those that are known, and -1 where it is not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts, wanted = (pa.array(one, pa.string()) if isinstance(one, list | tuple) else one for one in (names, known))
    return np.asarray(pc.index_in(texts, value_set=wanted).fill_null(-1)).astype(np.int64)


def _column(names: Sequence[str], role: str, known: Sequence[str], where: str) -> str:
    """The column of a role."""
    found = [name for name in names if name.lower() in known]
    if len(found) != 1:
        present = " and ".join(found) if found else f"the columns {', '.join(names[:20])}"
        several = "queries" if role == "query" else f"{role}s"
        raise DataError(f"{where}: expected one column of {several}, named {' or '.join(known)}, found {present}")
    return found[0]
