"""Which features say what no ranker should know, or lack what it needs?

All features are looked at together. A threshold is that of a test with the level of
:data:`pipeline_lib.sources.pitfalls.FALSE_ALARMS`, divided by the number of features (Bonferroni).
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.evaluation import simple_rankers
from pipeline_lib.evaluation.samples import beyond
from pipeline_lib.sources import pitfalls
from pipeline_lib.sources.pitfalls import CUTOFF, FALSE_ALARMS, Finding

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

AGREEING = 0.8
"""A feature that agrees with the labels on at most this share of documents (or queries) may agree on all by chance."""
RARE = 0.01
"""Values far from all others are those of at most this share of documents."""
TAIL = 0.5
"""The exponent of the heaviest tail that features are taken to have."""


def differ(data: RankingData) -> NDArray[np.bool_]:
    """Which features differ among the documents of a query."""
    rows = _not_first(data)
    return np.asarray((data.X[rows] != data.X[rows - 1]).any(axis=0))


def _not_first(data: RankingData) -> NDArray[np.int64]:
    """The documents that are not the first of their query."""
    return np.setdiff1d(np.arange(data.n_documents), data.offsets[:-1], assume_unique=True)


def labels(data: RankingData, names: list[str], equal: float) -> list[Finding]:
    """Features that are the label, a monotone function of it, or as good as it.

    A feature is a function of the label if all documents of a label have the same value; if it agreed with it on a
    share of at most p = :data:`AGREEING` of documents, independently, it would agree with all n that do not have the
    most frequent value with probability p^n. A feature that separates the labels of every query without being a
    function of them is named for the same reason, with queries of several labels in the place of documents.
    """
    if (data.y == data.y[0]).all():
        return []
    columns = np.flatnonzero(_functions(data))
    found = [(int(j), f"{names[j]} is a monotone function of the label") for j in columns]
    mixed, perfect = _perfect(data)
    if _surprising(mixed, data.n_features):
        found += [
            (int(j), f"{names[j]} orders all {mixed:,} lists with several labels without an error")
            for j in np.setdiff1d(np.flatnonzero(perfect), columns)
        ]
    if not found:
        return []
    taken = np.zeros(data.n_features, np.bool_)
    taken[[j for j, _ in found]] = True
    best, values = simple_rankers.best_feature(data, taken)
    other = f", and {values.mean():.4f} by the best of the others, {names[best]}" if not taken.all() else ""
    rest = equal if taken.all() else float(values.mean())
    return [_single("label among the features", data, names, j, text, rest, other) for j, text in found]


def few_lists(data: RankingData, names: list[str]) -> list[str]:
    """A sentence about features that order all lists, where these are too few for :func:`labels` to name them."""
    mixed, perfect = _perfect(data)
    if not mixed or not perfect.any() or _surprising(mixed, data.n_features):
        return []
    columns = np.setdiff1d(np.flatnonzero(perfect), np.flatnonzero(_functions(data)))
    if not len(columns):
        return []
    first = pitfalls.first_of([names[j] for j in columns.tolist()])
    return [
        f"without an error, {first} {'order' if len(columns) > 1 else 'orders'} all lists of several labels, of which "
        f"there are {mixed:,}: too few to tell it from chance; does it say the label?"
    ]


def _single(check: str, data: RankingData, names: list[str], j: int, text: str, rest: float, other: str) -> Finding:
    value = float(simple_rankers.of_feature(data.X[:, j], data).mean())
    return Finding(
        check,
        text,
        f"NDCG@{CUTOFF} is {value:.4f} by this feature alone{other}",
        value,
        rest,
        pitfalls.leave_out((names[j],), data.feature_names is not None),
        columns=(names[j],),
        queries=(0,),
    )


def _surprising(n: int, n_features: int) -> bool:
    return n * math.log(AGREEING) <= math.log(FALSE_ALARMS / (4 * n_features))


def _functions(data: RankingData) -> NDArray[np.bool_]:
    order = np.argsort(data.y, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(data.y[order]) > 0])
    X = data.X[order]
    low, high = (of.reduceat(X, starts, axis=0) for of in (np.minimum, np.maximum))
    steps = np.diff(low, axis=0)
    monotone = (steps >= 0).all(axis=0) | (steps <= 0).all(axis=0)
    exact = (low == high).all(axis=0) & monotone & (low != low[0]).any(axis=0)
    sizes = np.diff(np.r_[starts, len(X)])
    for j in np.flatnonzero(exact):
        most = max(sizes[low[:, j] == value].sum() for value in np.unique(low[:, j]))
        exact[j] = _surprising(data.n_documents - int(most), data.n_features)
    return np.asarray(exact)


def _perfect(data: RankingData) -> tuple[int, NDArray[np.bool_]]:
    """The number of queries with several labels, and which features separate the labels of all of them."""
    query = np.repeat(np.arange(data.n_queries), data.documents_per_query)
    order = np.lexsort((data.y, query))
    y, query, X = data.y[order], query[order], data.X[order]
    starts = np.flatnonzero(np.r_[True, (y[1:] != y[:-1]) | (query[1:] != query[:-1])])
    low, high = (of.reduceat(X, starts, axis=0) for of in (np.minimum, np.maximum))
    next_label = np.flatnonzero(query[starts][1:] == query[starts][:-1])
    rising = (low[next_label + 1] > high[next_label]).all(axis=0)
    falling = (high[next_label + 1] < low[next_label]).all(axis=0)
    return len(np.unique(query[starts][next_label])), np.asarray(rising | falling)


def position(data: RankingData, names: list[str], equal: float) -> list[Finding]:
    """Features that rise, or fall, from row to row in every query; those that say the label do so where rows follow it.

    If the rows of a query stood in any order with the same probability, a feature of which t_1, t_2, ... documents have
    the same value would rise in all queries with probability prod_q t_1! t_2! ... / m_q!.
    """
    rows = _not_first(data)
    step = np.sign(data.X[rows] - data.X[rows - 1])
    found = []
    whole = float(gammaln(data.documents_per_query + 1.0).sum())
    one_way = (step >= 0).all(axis=0) | (step <= 0).all(axis=0)
    for j in np.flatnonzero(one_way & ~_functions(data)):
        new = np.ones(data.n_documents, np.bool_)
        new[rows] = step[:, j] != 0
        ties = np.diff(np.r_[np.flatnonzero(new), data.n_documents])
        if float(gammaln(ties + 1.0).sum()) - whole <= math.log(FALSE_ALARMS / (2 * data.n_features)):
            way = "rises" if (step[:, j] >= 0).all() else "falls"
            text = f"{names[j]} {way} from row to row in every query: it is the position, or the rows were sorted by it"
            other = f", and {equal:.4f} by equal scores"
            found.append(_single("position among the features", data, names, int(j), text, equal, other))
    return found


def missing(
    data: RankingData, names: list[str], masks: dict[int, NDArray[np.bool_]], equal: float, text: bool
) -> list[Finding]:
    """Features that lack values, in LETOR ``text`` or in tables, where they can also be marked."""
    found = []
    other = "`missing: zero` takes 0" if text else "`missing: flag` marks it as well"
    for j, mask in masks.items():
        if not mask.any():
            continue
        value = float(simple_rankers.of_feature(mask.astype(np.float64), data).mean())
        leaks = ", which lets rankers know where values are missing: is that known before a document is judged?"
        found.append(
            Finding(
                "missing values",
                f"{names[j]} has no value for {int(mask.sum()):,} of {len(mask):,} documents",
                f"NDCG@{CUTOFF} is {value:.4f} for who knows only where values are missing, and {equal:.4f} by equal "
                "scores",
                value,
                equal,
                f"`missing: mean` takes the mean of the query, {other}{'' if text else leaks}",
                columns=(names[j],),
                queries=_queries_of(mask, data),
            )
        )
    return found


def extreme(data: RankingData, names: list[str]) -> list[Finding]:
    """Values that float32 cannot hold, and few values far from all others.

    With a tail of exponent a = :data:`TAIL`, the k-th largest magnitude is r times the next with probability r^(-a k),
    at most: as the largest of several times as many documents would be.
    """
    found: list[Finding] = []
    as_is: float | None = None
    out, query = dict(beyond(data)), np.repeat(np.arange(data.n_queries), data.documents_per_query)
    for j in range(data.n_features):
        mask = out.get(j)
        text, remedy = (
            "values beyond the range of float32",
            "`extreme: clip` takes the nearest number, `extreme: missing` none",
        )
        if mask is None:
            if (mask := _far(data.X[:, j], query, data.n_features)) is None:
                continue
            text = f"{data.X[mask, j][0]:g} or the like, far from all other values"
            remedy = (
                "if it stands for no value, leave the cell empty (in LETOR text, write NULL) and say `missing: mean`"
            )
        clipped = data.X[:, j].copy()
        clipped[mask] = np.clip(clipped[mask], data.X[~mask, j].min(), data.X[~mask, j].max())
        as_is = _least_squares_with(data, j, data.X[:, j]) if as_is is None else as_is
        mended = _least_squares_with(data, j, clipped)
        effect = (
            f"least squares has NDCG@{CUTOFF} {as_is:.4f}, and {mended:.4f} with the nearest of the other values"
            if as_is is not None and mended is not None
            else "least squares cannot be tried on so few queries"
        )
        found.append(
            Finding(
                "extreme values",
                f"{names[j]} has for {int(mask.sum()):,} of {len(mask):,} documents {text}",
                effect,
                as_is,
                mended,
                remedy,
                columns=(names[j],),
                queries=_queries_of(mask, data),
            )
        )
    return found


def _far(column: NDArray[np.float32], query: NDArray[np.int64], n_features: int) -> NDArray[np.bool_] | None:
    """Which documents have values that a gap separates from all others, if there are any.

    Not documents but their queries are counted, since documents of one query may have the value in common.
    """
    size = np.abs(column.astype(np.float64))
    few = int(RARE * len(size)) + 2
    if len(size) <= few or (largest := np.partition(size, -few)[-few:]).min() == 0.0:
        return None
    rows = np.flatnonzero(size >= largest.min())
    rows = rows[np.argsort(-size[rows], kind="stable")][:few]
    falling, first = size[rows], np.zeros(few, np.bool_)
    first[np.unique(query[rows], return_index=True)[1]] = True
    k = np.cumsum(first)[:-1]
    surprise = TAIL * k * np.log(falling[:-1] / falling[1:])
    # Of all gaps, so that the number of gaps is paid for as well.
    if (surprise < math.log(n_features * len(k) / FALSE_ALARMS)).all():
        return None
    return np.asarray(size >= falling[int(np.argmax(surprise))])


def _least_squares_with(data: RankingData, j: int, column: NDArray[np.float32]) -> float | None:
    X = data.X.copy()
    X[:, j] = column
    halves = simple_rankers.halves(replace(data, X=X))
    return float(simple_rankers.least_squares(halves).mean()) if halves else None


def _queries_of(mask: NDArray[np.bool_], data: RankingData) -> tuple[int, ...]:
    rows = np.flatnonzero(mask)[: pitfalls.NAMED]
    return tuple(dict.fromkeys((np.searchsorted(data.offsets, rows, side="right") - 1).tolist()))
