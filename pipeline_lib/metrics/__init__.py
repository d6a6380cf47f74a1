"""How good is a ranking?

Every function takes ``(scores, y, offsets)``: the scores and labels of all documents, where query q owns the entries
``offsets[q]:offsets[q + 1]``. It ranks the documents of each query by decreasing score and returns one number per
query, shape (Q,).

Conventions, with m the number of documents of a query:

- gain G(r) = 2^r - 1, discount D(i) = 1/log2(i + 1), rank i = 1 is the top;
- equal scores keep the order of the documents with ``ties="file"``, the default, as in the evaluation of LETOR and in
  the papers. In files whose rows stand best first, it makes a ranker of equal scores perfect. ``ties="mean"`` gives the
  mean over all orders that the scores allow, exactly; ``"best"`` and ``"worst"`` give the ends of their range;
- a document is relevant when its label is at least ``relevant_from``, 1 by default; AP, precision, recall and RR depend
  on nothing else, and no other measure depends on it;
- a query without a relevant document has no NDCG and no AP: it gets ``no_relevant``, 0 by default (the LETOR
  convention; bounds on a loss require 1), or NaN with ``no_relevant="skip"``, to be averaged with ``numpy.nanmean``;
- the LETOR 4.0 evaluation differs in its discount and its cutoffs: see :func:`letor4_per_query`.

Each query is ranked once for all measures; the loops are in :mod:`pipeline_lib.metrics.kernels`, those of means over
orders in :mod:`pipeline_lib.metrics.tied`.

``NAMES`` lists the measures that have a name, of all modules of this package, which are imported when a name is first
looked up; K stands for a rank.
"""

import difflib
import math
import re
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from pipeline_lib import ranking
from pipeline_lib.core import checks, submodules
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.errors import ArgumentError, ConfigurationError, DataError
from pipeline_lib.metrics import kernels, tied
from pipeline_lib.metrics.measure import EVERY_RANK, Labels, Measure, Offsets
from pipeline_lib.ranking import Ties

NAMES: tuple[str, ...]
"""The names of measures, sorted."""

NoRelevant = float | Literal["skip"]

LETOR4_CUTOFFS = tuple(range(1, 11))

_EARLIER_NAMES = {"map": "ap"}

_SPELLINGS = {"ap": "map", "mrr": "rr", "r": "recall"}
"""Other spellings that are taken; capital letters make no difference, as in nDCG@10."""

_OTHER_NAMES = {
    **dict.fromkeys(("recip_rank", "reciprocal_rank"), "rr"),
    **dict.fromkeys(("precision", "prec"), "p"),
    **dict.fromkeys(("ndcg_linear", "ndcg_lin", "ndcg_cut"), "linear_ndcg"),
    **dict.fromkeys(("hit", "hits", "hit_rate", "hitrate"), "success"),
}
"""What other programs call a measure, for hints: spelling alone would mislead."""

_NOT_HERE = (
    *(
        "accuracy",
        "alpha_ndcg",
        "bpref",
        "compat",
        "f1",
        "infap",
        "inst",
        "iprec",
        "judged",
        "numq",
        "numrel",
        "numret",
    ),
    *("rbo", "rbp", "rprec", "setap", "setf", "setp", "setr", "success"),
)
"""Measures of other programs for which no measure here would be the right hint, unless somebody adds one."""

_RANK = re.compile("[1-9][0-9]{0,8}")


def ndcg(
    scores: ArrayLike,
    y: ArrayLike,
    offsets: ArrayLike,
    k: int | None = None,
    *,
    no_relevant: NoRelevant = 0.0,
    ties: Ties = "file",
) -> Floats:
    """Normalised discounted cumulative gain, whole or cut off at rank k.

    ::

        NDCG@k(s, y) = (1/Z_k) sum_{i <= min(k, m)} G(label at rank i) D(i),    Z_k its maximum over rankings

    Parameters
    ----------
    scores : array-like, shape (N,)
        Finite; larger is ranked higher.
    y : array-like, shape (N,)
        Whole labels in 0..255.
    offsets : array-like, shape (Q + 1,)
        Increases strictly from 0 to N.
    k : int, optional
        Cutoff rank, at least 1; without it every rank counts.
    no_relevant : number in [0, 1] or "skip"
        Value of a query whose labels are all 0; "skip" gives NaN.
    ties : "file", "mean", "best" or "worst"
        Of equal scores, keep the order of the documents, or take the mean, the largest or the smallest value over all
        orders of them.

    Returns
    -------
    float64 array, shape (Q,), in [0, 1]; exactly 1 for an ideal ranking.

    Raises
    ------
    DataError
        When scores are not finite, labels are not whole numbers in 0..255, shapes differ, offsets do not rise, or
        k, no_relevant or ties is out of range.

    References
    ----------
    Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20 (2002), with the
    exponential gain of Burges et al., "Learning to rank using gradient descent", ICML 2005. The mean over ties:
    McSherry and Najork, "Computing information retrieval performance measures efficiently in the presence of tied
    scores", ECIR 2008.

    Example
    -------
    Two documents, the worse one first: (1 + 0) D(2) / D(1). With equal scores, either of them is first.

    >>> ndcg([1.0, 0.0], [0, 1], [0, 2]).round(6)
    array([0.63093])
    >>> [ndcg([1.0, 1.0], [0, 1], [0, 2], ties=ties).round(6).item() for ties in ("worst", "mean", "best")]
    [0.63093, 0.815465, 1.0]
    """
    return _Ranked(scores, y, offsets, ties).values(NDCG, [_cutoff(k)], no_relevant)[0]


def linear_ndcg(
    scores: ArrayLike,
    y: ArrayLike,
    offsets: ArrayLike,
    k: int | None = None,
    *,
    no_relevant: NoRelevant = 0.0,
    ties: Ties = "file",
) -> Floats:
    """NDCG whose gains are the labels, whole or cut off at rank k: what trec_eval calls ndcg and ndcg_cut_k.

    ::

        NDCG@k(s, y) = (1/Z_k) sum_{i <= min(k, m)} (label at rank i) D(i),    Z_k its maximum over rankings

    Arguments, result and errors as in :func:`ndcg`, which it equals where labels are 0 and 1.

    References
    ----------
    Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20 (2002).

    Example
    -------
    Two relevant documents, the worse one first: (1 D(1) + 2 D(2)) / (2 D(1) + 1 D(2)).

    >>> linear_ndcg([1.0, 0.0], [1, 2], [0, 2]).round(6)
    array([0.859719])
    """
    return _Ranked(scores, y, offsets, ties).values(LINEAR_NDCG, [_cutoff(k)], no_relevant)[0]


def average_precision(
    scores: ArrayLike,
    y: ArrayLike,
    offsets: ArrayLike,
    *,
    no_relevant: NoRelevant = 0.0,
    ties: Ties = "file",
    relevant_from: int = 1,
) -> Floats:
    """Average precision; its mean over queries is MAP.

    ::

        AP(s, y) = (1/r) sum over the r relevant documents of (relevant documents down to its rank) / (its rank)

    A document is relevant when its label is at least ``relevant_from``, a whole number in 1..255. Other arguments,
    result and errors as in :func:`ndcg`.

    Example
    -------
    Relevant documents at ranks 1 and 3: (1/1 + 2/3) / 2.

    >>> average_precision([3.0, 2.0, 1.0], [1, 0, 2], [0, 3]).round(6)
    array([0.833333])
    """
    return _Ranked(scores, y, offsets, ties, relevant_from).values(MAP, [EVERY_RANK], no_relevant)[0]


def precision(
    scores: ArrayLike, y: ArrayLike, offsets: ArrayLike, k: int, *, ties: Ties = "file", relevant_from: int = 1
) -> Floats:
    """Share of relevant documents among the first k; the divisor is k even if a query has fewer documents.

    ::

        P@k(s, y) = (1/k) |{i <= min(k, m) : the document at rank i is relevant}|

    Arguments, result and errors as in :func:`average_precision`; a query without a relevant document has precision 0.

    Example
    -------
    >>> precision([3.0, 2.0, 1.0], [1, 0, 2], [0, 3], k=2)
    array([0.5])
    """
    cutoff = checks.whole("k", k, checks.Range(1))
    return _Ranked(scores, y, offsets, ties, relevant_from).values(PRECISION, [cutoff])[0]


def recall(
    scores: ArrayLike,
    y: ArrayLike,
    offsets: ArrayLike,
    k: int,
    *,
    no_relevant: NoRelevant = 0.0,
    ties: Ties = "file",
    relevant_from: int = 1,
) -> Floats:
    """Share of the relevant documents that are among the first k.

    ::

        R@k(s, y) = (1/r) |{i <= min(k, m) : the document at rank i is relevant}|,    r the relevant documents

    Arguments, result and errors as in :func:`average_precision`.

    Example
    -------
    >>> recall([3.0, 2.0, 1.0], [1, 0, 2], [0, 3], k=2)
    array([0.5])
    """
    cutoff = checks.whole("k", k, checks.Range(1))
    return _Ranked(scores, y, offsets, ties, relevant_from).values(RECALL, [cutoff], no_relevant)[0]


def reciprocal_rank(
    scores: ArrayLike,
    y: ArrayLike,
    offsets: ArrayLike,
    k: int | None = None,
    *,
    ties: Ties = "file",
    relevant_from: int = 1,
) -> Floats:
    """Reciprocal of the rank of the first relevant document; its mean over queries is MRR.

    ::

        RR@k(s, y) = 1 / min {i <= min(k, m) : the document at rank i is relevant}, and 0 if there is no such rank

    Arguments, result and errors as in :func:`average_precision`; a query without a relevant document has 0.

    References
    ----------
    Voorhees, "The TREC-8 question answering track report", TREC 1999.

    Example
    -------
    >>> reciprocal_rank([3.0, 2.0, 1.0], [0, 1, 2], [0, 3]), reciprocal_rank([3.0, 2.0, 1.0], [0, 1, 2], [0, 3], k=1)
    (array([0.5]), array([0.]))
    """
    return _Ranked(scores, y, offsets, ties, relevant_from).values(RECIPROCAL_RANK, [_cutoff(k)])[0]


def expected_reciprocal_rank(
    scores: ArrayLike, y: ArrayLike, offsets: ArrayLike, y_max: int, k: int | None = None, *, ties: Ties = "file"
) -> Floats:
    """Expected reciprocal rank: of the rank at which a reader who stops at a document with probability R stops.

    ::

        ERR@k(s, y) = sum_{i <= min(k, m)} (1/i) R_i prod_{l < i} (1 - R_l)
        R_i = (2^{label at rank i} - 1) / 2^{y_max}

    Without ``k`` all ranks count. ``y_max`` is the largest label of the scale, not of the sample; a label above it is
    an error. Other arguments, result and errors as in :func:`ndcg`; a query without a relevant document has ERR 0.

    References
    ----------
    Chapelle, Metzler, Zhang and Grinspan, "Expected reciprocal rank for graded relevance", CIKM 2009.

    Example
    -------
    R = 1/2 at rank 1 and 0 at rank 2:

    >>> expected_reciprocal_rank([2.0, 1.0], [1, 0], [0, 2], y_max=1)
    array([0.5])
    """
    return _Ranked(scores, y, offsets, ties).values(ERR, [_cutoff(k)], y_max=y_max)[0]


def letor4_per_query(scores: ArrayLike, y: ArrayLike, offsets: ArrayLike) -> dict[str, Floats]:
    """The evaluation by which the published LETOR 4.0 results (MQ2007, MQ2008) were computed, query by query.

    It differs from :func:`ndcg` and :func:`average_precision`:

    - the discount is 1 at ranks 1 and 2 and 1/log2(i) from rank 3 on;
    - NDCG@k of a query with fewer than k documents is 0;
    - ``mean_ndcg`` is the mean of NDCG@1, ..., NDCG@m;
    - every measure of a query without a relevant document is 0;
    - equal scores keep the order of the documents;
    - P@k divides by k even if a query has fewer documents.

    Arguments and errors as in :func:`ndcg`.

    Returns
    -------
    dict with the keys ``ndcg@1`` .. ``ndcg@10``, ``mean_ndcg``, ``p@1`` .. ``p@10``, ``map``; float64 arrays, shape
    (Q,). ``map`` holds every query's AP, whose mean is MAP.

    References
    ----------
    Qin and Liu, "Introducing LETOR 4.0 datasets", arXiv:1306.2597 (2013), and its evaluation script.

    Example
    -------
    >>> table = letor4_per_query([2.0, 1.0], [0, 1], [0, 2])
    >>> table["ndcg@1"], table["ndcg@2"], table["ndcg@3"], table["mean_ndcg"]
    (array([0.]), array([1.]), array([0.]), array([0.5]))
    """
    names = {f"ndcg@{k}": f"letor4_ndcg@{k}" for k in LETOR4_CUTOFFS} | {"mean_ndcg": "letor4_mean_ndcg"}
    names |= {f"p@{k}": f"p@{k}" for k in LETOR4_CUTOFFS} | {"map": "map"}
    values = per_query(list(names.values()), scores, y, offsets)
    return {published: values[name] for published, name in names.items()}


def letor4(scores: ArrayLike, y: ArrayLike, offsets: ArrayLike) -> dict[str, float]:
    """The means over queries of :func:`letor4_per_query`: the numbers in published LETOR 4.0 tables.

    Raises
    ------
    DataError
        As :func:`ndcg`, and when there is no query to average over.

    Example
    -------
    >>> letor4([2.0, 1.0, 0.0], [0, 1, 1], [0, 2, 3])["map"]
    0.75
    """
    table = letor4_per_query(scores, y, offsets)
    if not len(table["map"]):
        raise DataError("letor4: expected at least one query to average over, found none")
    return {name: float(values.mean()) for name, values in table.items()}


def per_query(
    names: Sequence[str],
    scores: ArrayLike,
    y: ArrayLike,
    offsets: ArrayLike,
    y_max: int | None = None,
    *,
    no_relevant: NoRelevant = 0.0,
    ties: Ties = "file",
    relevant_from: int = 1,
) -> dict[str, Floats]:
    """Several measures of one ranking by name, each query ranked once for all of them.

    The names are those of ``NAMES``, with K a rank. ``y_max`` is needed by ``err``;
    ``no_relevant`` applies to measures that are undefined without a relevant document, such as ``ndcg`` and ``map``,
    and ``relevant_from``, the smallest label of a relevant document, to measures that ask for nothing else of a label,
    such as ``map`` and ``p@10``. Other arguments and errors as in :func:`ndcg`.

    Returns
    -------
    dict from the names, in the order given, to float64 arrays of shape (Q,).

    Raises
    ------
    ConfigurationError
        When a name is unknown; the message names the nearest known measure.

    Example
    -------
    >>> per_query(["map", "p@1"], [2.0, 1.0], [0, 1], [0, 2])
    {'map': array([0.5]), 'p@1': array([0.])}
    >>> per_query(["ndgc@10"], [2.0, 1.0], [0, 1], [0, 2])
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.ConfigurationError: unknown measure 'ndgc@10'; did you mean 'ndcg@10'?
    """
    if isinstance(names, str):
        raise ConfigurationError(f"names: expected a list of measures, found the single name {names!r}")
    parsed = {name: parse(name) for name in checks.texts("names", names)}
    ranked = _Ranked(scores, y, offsets, ties, relevant_from)
    results: dict[str, Floats] = {}
    for measure in dict.fromkeys(map(get, parsed)):
        cut = {name: rank for name, (_, rank) in parsed.items() if get(name) is measure}
        cutoffs = sorted(set(cut.values()))
        values = ranked.values(measure, cutoffs, no_relevant, y_max)
        results |= {name: values[cutoffs.index(rank)] for name, rank in cut.items()}
    return {name: results[name] for name in parsed}


@checks.checked
def get(name: str) -> Measure:
    """The measure ``name``; a rank after "@" makes no difference.

    Raises
    ------
    ConfigurationError
        When there is no such measure.

    Example
    -------
    >>> get("ndcg@10").needs_relevant, get("p@10").needs_relevant
    (True, False)
    """
    return _found(name)[1]


def target_of(name: str) -> str:
    """The module of the measure ``name``: the code that computing it runs.

    Example
    -------
    >>> target_of("ndcg@10")
    'pipeline_lib.metrics'
    """
    return _found(name)[0]


@checks.checked
def seed_axis(name: str) -> str:
    """What stands for the measure ``name`` among the axes of a seed.

    Intervals and tests draw their random numbers by it. Where a measure was once called otherwise this is the earlier
    name, so that a better name changes no number of a study.

    Example
    -------
    >>> seed_axis("map"), seed_axis("ndcg@10")
    ('ap', 'ndcg@10')
    """
    known = canonical(name)
    return _EARLIER_NAMES.get(known, known)


@checks.checked
def parse(name: str) -> tuple[str, int]:
    """The family of a measure and the rank at which it is cut off.

    Raises
    ------
    ConfigurationError
        When there is no such measure; the message gives the nearest one.

    Example
    -------
    >>> parse("ndcg@10"), parse("map") == ("map", EVERY_RANK), parse("R@10")
    (('ndcg', 10), True, ('recall', 10))
    >>> parse("ndcg@03")
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.ConfigurationError: unknown measure 'ndcg@03'; did you mean 'ndcg@3'?
    """
    if (found := _parsed(name)) is None:
        raise ConfigurationError(f"unknown measure {name!r}; {_advice(name)}")
    return found


@checks.checked
def canonical(name: str) -> str:
    """The name that tables have for a measure, whose spelling may be another; what is no measure stays as it is.

    Other spellings are those with capital letters, and AP, MRR and R@K for map, rr and recall@K.

    Example
    -------
    >>> [canonical(name) for name in ("nDCG@10", "P@5", "AP", "MRR", "R@10", "ndgc")]
    ['ndcg@10', 'p@5', 'map', 'rr', 'recall@10', 'ndgc']
    """
    if (found := _parsed(name)) is None:
        return name
    family, rank = found
    return family if rank == EVERY_RANK else f"{family}@{rank}"


@checks.checked
def check(names: Sequence[str]) -> None:
    """Refuse names of which some are no measures.

    Raises
    ------
    ConfigurationError
        With a line for each of them.

    Example
    -------
    >>> check(["ndcg@10", "ndgc@10"])
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.ConfigurationError: unknown measure 'ndgc@10'; did you mean 'ndcg@10'?
    """
    wrong = [name for name in checks.texts("names", names) if _parsed(name) is None]
    if wrong:
        raise ConfigurationError("\n".join(f"unknown measure {name!r}; {_advice(name)}" for name in wrong))


def _parsed(name: str) -> tuple[str, int] | None:
    family, at, rank = name.partition("@")
    for one in dict.fromkeys((family, family.lower(), _SPELLINGS.get(family.lower(), family))):
        if at and _RANK.fullmatch(rank) and f"{one}@K" in _measures():
            return one, int(rank)
        if not at and one in _measures():
            return one, EVERY_RANK
    return None


def _advice(name: str) -> str:
    """Which measure a name that is none probably means, or which there are."""
    bare = re.sub(r"\(.*\)", "", name.lower())
    # What trec_eval and pytrec_eval write ndcg_cut_10, ndcg_cut.10 and P_5.
    bare = re.sub(r"[_.]([0-9]+)$", r"@\1", bare)
    family, at, rank = bare.partition("@")
    rank = rank.strip().lstrip("0") or ("1" if "0" in rank else "")
    wanted = _SPELLINGS.get(family, _OTHER_NAMES.get(family, family))
    if bare != name.lower() and family == "ndcg" and re.search(r"dcg\s*=\s*['\"]log2", name):
        wanted = "linear_ndcg"
    families = {measure.removesuffix("@K") for measure in _measures()}
    if wanted in _NOT_HERE and wanted not in families:
        return f"it is not computed here; known are {', '.join(_measures())} (docs/adding-a-measure.md adds success@K)"
    known = [measure.replace("K", rank if _RANK.fullmatch(rank) else "10") for measure in _measures()]
    cut = [measure for measure in known if measure.startswith(f"{wanted}@")]
    near = cut + [wanted] * (wanted in known) if at else [wanted] * (wanted in known) + cut
    nearest = (near or difflib.get_close_matches(f"{wanted}@{rank}" if rank else wanted, known, n=1, cutoff=0.0))[0]
    options = "options in brackets are not taken; " if "(" in name else ""
    return f"{options}did you mean {nearest!r}?"


def _found(name: str) -> tuple[str, Measure]:
    family, rank = parse(name)
    return _measures()[family if rank == EVERY_RANK else f"{family}@K"]


@cache
def _measures() -> dict[str, tuple[str, Measure]]:
    # The module and the object of every name
    found: dict[str, tuple[str, Measure]] = {}
    for module in (sys.modules[__name__], *submodules.every(__name__, __path__)):
        for measure in vars(module).values():
            if isinstance(measure, Measure):
                found |= dict.fromkeys(measure.names, (module.__name__, measure))
    return dict(sorted(found.items()))


def __getattr__(name: str) -> Any:
    return tuple(_measures()) if name == "NAMES" else submodules.load(__name__, name)


class _Ranked:
    """The documents of all queries, ranked once for every measure.

    ``labels[offsets[q] + i]`` is the label at rank i + 1 of query q, which is of no interest where it is 0; within
    ``groups`` the order of the documents is any.
    """

    def __init__(
        self, scores: ArrayLike, y: ArrayLike, offsets: ArrayLike, ties: Ties = "file", relevant_from: int = 1
    ) -> None:
        s, labels, bounds = checks.ranking(scores, y, offsets)
        self.relevant_from = checks.whole("relevant_from", relevant_from, checks.Range(1, checks.MAX_LABEL))
        self.ties = checks.one_of("ties", ties, get_args(Ties))
        # Writable copies where needed: numba would compile every kernel a second time for read-only arrays.
        s, self.offsets = np.require(s, requirements=["C", "W"]), np.require(bounds, requirements=["C", "W"])
        if ties == "file":
            self.labels = kernels.labels_by_rank(s, labels.astype(np.uint8), self.offsets)
            return
        self.labels, self.groups = ranking.tie_groups(s, labels.astype(np.uint8), self.offsets)
        if ties != "mean":
            ranking.sort_groups(self.labels, self.groups, ties == "best")

    def values(
        self, measure: Measure, cutoffs: Sequence[int], no_relevant: NoRelevant = 0.0, y_max: int | None = None
    ) -> Floats:
        """The measure of every query for every cutoff; ``no_relevant`` where it needs a relevant document."""
        instead, labels = _no_relevant_value(no_relevant), self.labels
        if measure.binary and self.relevant_from > 1:
            labels = np.where(labels >= self.relevant_from, labels, np.uint8(0))
        if self.ties == "mean":
            values = measure.mean(labels, self.offsets, self.groups, cutoffs, y_max)
        else:
            values = measure.of(labels, self.offsets, cutoffs, y_max)
        if measure.needs_relevant and instead != 0.0 and len(self.offsets) > 1:
            values[:, np.maximum.reduceat(labels, self.offsets[:-1]) == 0] = instead
        return values


def _gains_at_ranks(labels: Labels, gains: Floats, groups: Offsets | None) -> Floats:
    """The gain at every rank; with groups of equal scores, its mean over the orders that they allow."""
    return kernels.gains_at_ranks(labels, gains) if groups is None else tied.mean_gains(labels, groups, gains)


def _ndcg_by(
    gains: Floats, discounts: Floats, labels: Labels, offsets: Offsets, groups: Offsets | None, cutoffs: Sequence[int]
) -> Floats:
    at_rank = _gains_at_ranks(labels, gains, groups)
    return kernels.ndcg(at_rank, labels, offsets, gains, discounts, np.array(cutoffs, np.int64))


def _ndcg(labels: Labels, offsets: Offsets, cutoffs: Sequence[int], y_max: int | None = None) -> Floats:
    return _tied_ndcg(labels, offsets, None, cutoffs)


def _tied_ndcg(
    labels: Labels, offsets: Offsets, groups: Offsets | None, cutoffs: Sequence[int], y_max: int | None = None
) -> Floats:
    return _ndcg_by(_gains(labels), _discounts(offsets), labels, offsets, groups, cutoffs)


def _linear_ndcg(labels: Labels, offsets: Offsets, cutoffs: Sequence[int], y_max: int | None = None) -> Floats:
    return _tied_linear_ndcg(labels, offsets, None, cutoffs)


def _tied_linear_ndcg(
    labels: Labels, offsets: Offsets, groups: Offsets | None, cutoffs: Sequence[int], y_max: int | None = None
) -> Floats:
    return _ndcg_by(_linear_gains(labels), _discounts(offsets), labels, offsets, groups, cutoffs)


def _letor4_ndcg(labels: Labels, offsets: Offsets, cutoffs: Sequence[int], y_max: int | None = None) -> Floats:
    return _tied_letor4_ndcg(labels, offsets, None, cutoffs)


def _tied_letor4_ndcg(
    labels: Labels, offsets: Offsets, groups: Offsets | None, cutoffs: Sequence[int], y_max: int | None = None
) -> Floats:
    values = _ndcg_by(_gains(labels), _letor4_discounts(offsets), labels, offsets, groups, cutoffs)
    return np.where(np.diff(offsets) >= np.array(cutoffs, np.int64)[:, None], values, 0.0)


def _letor4_mean_ndcg(labels: Labels, offsets: Offsets, cutoffs: Sequence[int], y_max: int | None = None) -> Floats:
    return _tied_letor4_mean_ndcg(labels, offsets, None, cutoffs)


def _tied_letor4_mean_ndcg(
    labels: Labels, offsets: Offsets, groups: Offsets | None, cutoffs: Sequence[int], y_max: int | None = None
) -> Floats:
    gains = _gains(labels)
    at_rank = _gains_at_ranks(labels, gains, groups)
    return kernels.mean_ndcg(at_rank, labels, offsets, gains, _letor4_discounts(offsets))[None]


def _average_precision(labels: Labels, offsets: Offsets, cutoffs: Sequence[int], y_max: int | None = None) -> Floats:
    return kernels.average_precision(labels, offsets)[None]


def _tied_average_precision(
    labels: Labels, offsets: Offsets, groups: Offsets, cutoffs: Sequence[int], y_max: int | None = None
) -> Floats:
    return tied.average_precision(labels, offsets, groups)[None]


def _precision(labels: Labels, offsets: Offsets, cutoffs: Sequence[int], y_max: int | None = None) -> Floats:
    return kernels.precision(labels, offsets, np.array(cutoffs, np.int64))


def _tied_precision(
    labels: Labels, offsets: Offsets, groups: Offsets, cutoffs: Sequence[int], y_max: int | None = None
) -> Floats:
    ks = np.array(cutoffs, np.int64)
    return tied.relevant_so_far(labels, offsets, groups, ks) / ks[:, None]


def _recall(labels: Labels, offsets: Offsets, cutoffs: Sequence[int], y_max: int | None = None) -> Floats:
    begin, end = offsets[:-1], offsets[1:]
    so_far = np.r_[0, np.cumsum(labels > 0)]
    # A cutoff may be so large that the sum of it and an offset would be none of 64 bits.
    last = begin + np.minimum(np.array(cutoffs, np.int64)[:, None], end - begin)
    return (so_far[last] - so_far[begin]) / np.maximum(so_far[end] - so_far[begin], 1)


def _tied_recall(
    labels: Labels, offsets: Offsets, groups: Offsets, cutoffs: Sequence[int], y_max: int | None = None
) -> Floats:
    so_far = tied.relevant_so_far(labels, offsets, groups, np.array([*cutoffs, EVERY_RANK], np.int64))
    return so_far[:-1] / np.maximum(so_far[-1], 1.0)


def _reciprocal_rank(labels: Labels, offsets: Offsets, cutoffs: Sequence[int], y_max: int | None = None) -> Floats:
    # Behind the last document there is a relevant one, of no query.
    relevant = np.r_[np.flatnonzero(labels), len(labels)]
    first = relevant[np.searchsorted(relevant, offsets[:-1])]
    counts = (first < offsets[1:]) & (first - offsets[:-1] < np.array(cutoffs, np.int64)[:, None])
    return counts / (first - offsets[:-1] + 1.0)


def _tied_reciprocal_rank(
    labels: Labels, offsets: Offsets, groups: Offsets, cutoffs: Sequence[int], y_max: int | None = None
) -> Floats:
    return tied.reciprocal_rank(labels, offsets, groups, np.array(cutoffs, np.int64))


def _err(labels: Labels, offsets: Offsets, cutoffs: Sequence[int], y_max: int | None = None) -> Floats:
    return kernels.expected_reciprocal_rank(labels, offsets, _stops(labels, y_max), np.array(cutoffs, np.int64))


def _tied_err(
    labels: Labels, offsets: Offsets, groups: Offsets, cutoffs: Sequence[int], y_max: int | None = None
) -> Floats:
    stops, ks = _stops(labels, y_max), np.array(cutoffs, np.int64)
    return tied.expected_reciprocal_rank(labels, offsets, groups, stops, ks)


def _stops(labels: Labels, y_max: int | None) -> Floats:
    if y_max is None:
        raise DataError("err: expected y_max, the largest label of the scale, found None")
    checks.whole("y_max", y_max, checks.Range(0, checks.MAX_LABEL))
    if labels.max(initial=0) > y_max:
        raise DataError(f"y: expected labels of at most y_max = {y_max}, found {labels.max()}")
    return _gains(labels) / 2.0**y_max


def _gains(labels: Labels) -> Floats:
    return ranking.GAINS[: int(labels.max(initial=0)) + 1]


def _linear_gains(labels: Labels) -> Floats:
    return np.arange(labels.max(initial=0) + 1.0)


def _discounts(offsets: Offsets) -> Floats:
    return ranking.discounts(ranking.longest(offsets))


def _letor4_discounts(offsets: Offsets) -> Floats:
    return ranking.letor4_discounts(ranking.longest(offsets))


NDCG = Measure(
    ("ndcg", "ndcg@K"),
    _ndcg,
    _tied_ndcg,
    r"\mathrm{NDCG}@k = \frac{1}{Z_k(y)} \sum_{i \le \min(k, m)} G(y_{(i)}) D(i)",
    needs_relevant=True,
)
MAP = Measure(
    ("map",),
    _average_precision,
    _tied_average_precision,
    r"\mathrm{AP} = \frac{1}{r} \sum_{i:\, y_{(i)} \ge 1} \frac{1}{i} \lvert \{ l \le i : y_{(l)} \ge 1 \} \rvert",
    needs_relevant=True,
    binary=True,
)
LINEAR_NDCG = Measure(
    ("linear_ndcg", "linear_ndcg@K"),
    _linear_ndcg,
    _tied_linear_ndcg,
    r"\mathrm{NDCG}@k \text{ with } G(y) = y",
    needs_relevant=True,
)
RECALL = Measure(
    ("recall@K",),
    _recall,
    _tied_recall,
    r"\text{R}@k = \frac{1}{r} \lvert \{ i \le \min(k, m) : y_{(i)} \ge 1 \} \rvert",
    needs_relevant=True,
    binary=True,
)
RECIPROCAL_RANK = Measure(
    ("rr", "rr@K"),
    _reciprocal_rank,
    _tied_reciprocal_rank,
    r"\mathrm{RR}@k = 1 / \min \{ i \le \min(k, m) : y_{(i)} \ge 1 \}",
    binary=True,
)
ERR = Measure(
    ("err", "err@K"),
    _err,
    _tied_err,
    r"\mathrm{ERR}@k = \sum_{i \le \min(k, m)} \frac{R_i}{i} \prod_{l < i} (1 - R_l), "
    r"\quad R_i = \frac{G(y_{(i)})}{2^{y_{\max}}}",
)
PRECISION = Measure(
    ("p@K",),
    _precision,
    _tied_precision,
    r"\text{P}@k = \frac{1}{k} \lvert \{ i \le \min(k, m) : y_{(i)} \ge 1 \} \rvert",
    binary=True,
)
LETOR4_NDCG = Measure(
    ("letor4_ndcg@K",),
    _letor4_ndcg,
    _tied_letor4_ndcg,
    r"\mathrm{NDCG}@k \text{ with } D(i) = \frac{1}{\log_2(\max(i, 2))}, \text{ but } 0 \text{ for } k > m",
)
LETOR4_MEAN_NDCG = Measure(
    ("letor4_mean_ndcg",),
    _letor4_mean_ndcg,
    _tied_letor4_mean_ndcg,
    r"\frac{1}{m} \sum_{k \le m} \mathrm{NDCG}@k \text{ with } D(i) = \frac{1}{\log_2(\max(i, 2))}",
)


def _cutoff(k: int | None) -> int:
    return EVERY_RANK if k is None else int(checks.whole("k", k, checks.Range(1)))


def _no_relevant_value(no_relevant: NoRelevant) -> float:
    if isinstance(no_relevant, str) and no_relevant == "skip":
        return math.nan
    if isinstance(no_relevant, float | int) and not isinstance(no_relevant, bool) and 0.0 <= no_relevant <= 1.0:
        return float(no_relevant)
    kind = DataError if isinstance(no_relevant, float | int | str) else ArgumentError
    raise kind(f'no_relevant: expected a number in [0, 1] or "skip", found {checks.shown(no_relevant)}')
