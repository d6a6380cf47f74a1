"""Do the parts of a data set share queries or documents, and are their features the same quantities?"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from pipeline_lib.core import seeds
from pipeline_lib.core.arrays import Floats
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.evaluation import simple_rankers
from pipeline_lib.evaluation.samples import Part
from pipeline_lib.sources import pitfalls
from pipeline_lib.sources.pitfalls import CUTOFF, FALSE_ALARMS, Finding

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

ROUNDING = 1e-3
"""Documents are near-duplicates if no feature differs by more than about this share of its standard deviation."""
GRIDS = 3
"""So many grids are tried, whose borders lie elsewhere: two numbers that differ by rounding share a cell of some."""
COMMON = 20
"""A document that so many queries have stands for none of them."""
PERMUTATIONS = 1999
EDGES = 20_000
"""So many pairs of queries decide whether parts share more documents than chance."""
MAGNITUDE = 10.0
"""A feature has other units where its values are so many times as large."""
_WHOLE = re.compile(r"[0-9]{1,18}")


def joined(parts: Sequence[Part]) -> tuple[RankingData, NDArray[np.int64]]:
    """The queries of all parts, one after the other, and the number of the part of each."""
    datas = [part.data for part in parts]
    sizes = np.concatenate([data.documents_per_query for data in datas])
    part = np.repeat(np.arange(len(parts)), [data.n_queries for data in datas])
    data = RankingData(
        np.concatenate([data.X for data in datas]),
        np.concatenate([data.y for data in datas]),
        np.r_[0, np.cumsum(sizes)].astype(np.int64),
        np.arange(len(sizes)),
        datas[0].feature_names,
        tuple(name for data in datas for name in data.query_names or ()),
        relevant_from=datas[0].relevant_from,
    )
    return data, part


def tested(parts: Sequence[Part], part: NDArray[np.int64]) -> NDArray[np.bool_] | None:
    """Which queries test, where the parts have roles."""
    roles = np.array([one.role for one in parts])
    if "test" not in roles or "train" not in roles:
        return None
    return np.asarray(roles[part] == "test")


def shared_names(
    parts: Sequence[Part], data: RankingData, part: NDArray[np.int64], twin: "Twins", equal: Floats
) -> list[Finding]:
    """Queries of one name in two parts, unless both parts number their queries and share no document."""
    found = []
    for b in range(1, len(parts)):
        for a in range(b):
            one, other = parts[a], parts[b]
            if not (one.named and other.named) or not (names := set(one.names) & set(other.names)):
                continue
            here = np.array([name in names for name in data.query_names or ()])
            which = np.flatnonzero(here & (part == b))
            copies = which[twin.touches(which, part == a)]
            if not len(copies) and _numbered(one.names) and _numbered(other.names):
                continue
            limit = float(np.where(here & (part == b), 1.0 - equal, 0.0)[part == b].mean()) if len(which) else 0.0
            mean = float(equal[part == b].mean())
            same = f"{len(copies):,} of them with the same documents" if len(copies) else "with other documents"
            found.append(
                Finding(
                    "queries in two parts",
                    f"{len(names):,} queries of {other.name} have the names of queries of {one.name}, {same}",
                    f"what is learned of them by heart can raise NDCG@{CUTOFF} on {other.name} from {mean:.4f}, that "
                    f"of equal scores, to {mean + limit:.4f} at most",
                    mean + limit,
                    mean,
                    "a study takes queries of several files for different ones: divide the documents by query, or join "
                    "the files and write `files:` with one",
                    queries=tuple(which[: pitfalls.NAMED].tolist()),
                )
            )
    return found


def _numbered(names: Sequence[str]) -> bool:
    """Whether the names only count the queries, from 0 or 1."""
    if not all(map(_WHOLE.fullmatch, names)):
        return False
    numbers = sorted(map(int, names))
    return numbers[0] in (0, 1) and numbers[-1] - numbers[0] == len(numbers) - 1


class Twins:
    """The documents of different queries whose features are the same but for rounding.

    Features that are constant within all queries are left out, since documents of one query share them.

    Attributes
    ----------
    pairs : int64 array, shape (P, 2)
        The queries that share documents.
    shared : int64 array, shape (P,)
        The number of documents that they share.
    surprise : float64 array, shape (P,)
        Minus the logarithm of the probability that this many documents of the two are alike by chance.
    """

    def __init__(self, data: RankingData, differ: NDArray[np.bool_]) -> None:
        self._data = data
        self._query = np.repeat(np.arange(data.n_queries), data.documents_per_query)
        X = data.X[:, differ].astype(np.float64)
        self.cells: list[NDArray[np.int64]] = [_cells(X, number) for number in range(GRIDS)] if X.shape[1] else []
        found = [self._pairs(cells) for cells in self.cells]
        keys = np.concatenate([keys for keys, *_ in found]) if found else np.zeros(0, np.int64)
        unique, inverse = np.unique(keys, return_inverse=True)
        self.shared, self.surprise = np.zeros(len(unique), np.int64), np.zeros(len(unique))
        if len(keys):  # of the grid in which a pair shares most
            np.maximum.at(self.shared, inverse, np.concatenate([shared for _, shared, _ in found]))
            np.maximum.at(self.surprise, inverse, np.concatenate([surprise for *_, surprise in found]))
        self.pairs = np.stack([unique // data.n_queries, unique % data.n_queries], axis=1)

    def _pairs(self, cells: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        """The pairs of queries that share cells, with the number of these and how surprising they are together.

        A document falls into a cell with probability c / N, where c of all N documents are in it. Any s documents of
        two queries may be those that are alike, in any of s! orders, and any two queries.
        """
        n = self._data.n_queries
        counts = np.bincount(cells)
        entries = np.unique(cells * n + self._query)
        cell, query = entries // n, entries % n
        wide = np.bincount(cell)
        keep = (wide[cell] > 1) & (wide[cell] <= COMMON)
        cell, query = cell[keep], query[keep]
        starts = np.flatnonzero(np.r_[True, cell[1:] != cell[:-1]]) if len(cell) else np.zeros(0, np.int64)
        sizes = np.diff(np.r_[starts, len(cell)])
        first, second = [], []
        for size in np.unique(sizes):
            i, j = np.triu_indices(size, 1)
            begin = starts[sizes == size][:, None]
            first.append((begin + i).ravel())
            second.append((begin + j).ravel())
        a, b = (np.concatenate(one) if one else np.zeros(0, np.int64) for one in (first, second))
        keys, inverse = np.unique(query[a] * n + query[b], return_inverse=True)
        shared = np.bincount(inverse, minlength=len(keys))
        rare = np.bincount(inverse, np.log(counts[cell[a]] / len(cells)), minlength=len(keys))
        m = self._data.documents_per_query
        ways = sum(_log_choose(m[side], shared) for side in (keys // n, keys % n)) + gammaln(shared + 1.0)
        return keys, shared.astype(np.int64), -np.asarray(rare + ways + 2.0 * math.log(n) + math.log(GRIDS), np.float64)

    def touches(self, queries: NDArray[np.int64], others: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which of some queries share documents with any of the others."""
        linked = np.zeros(self._data.n_queries, np.bool_)
        for here, there in (self.pairs.T, self.pairs.T[::-1]):
            linked[here[others[there]]] = True
        return linked[queries]

    def remembered(self, measured: NDArray[np.bool_], known: NDArray[np.bool_]) -> Floats:
        """NDCG@10 of queries by the mean label that their documents have in other, known queries."""
        total, times = np.zeros(self._data.n_documents), np.zeros(self._data.n_documents)
        for cells in self.cells:
            of_known = known[self._query]
            sums = np.bincount(cells, self._data.y * of_known)
            counts = np.bincount(cells, of_known)
            own = np.where(of_known, 1.0, 0.0)
            total += sums[cells] - own * self._data.y
            times += counts[cells] - own
        label = np.where(times > 0, total / np.maximum(times, 1), self._data.y.mean())
        return simple_rankers.ndcg(label, self._data)[measured]


def _cells(X: Floats, number: int) -> NDArray[np.int64]:
    """The cell of a grid in which every document lies, numbered from 0."""
    rng = seeds.generator("doctor", "grid", number)
    spread = X.std(axis=0)
    spread[spread == 0.0] = 1.0
    with np.errstate(over="ignore"):
        places = np.floor(X / (ROUNDING * spread) + rng.random(X.shape[1]))
        # Far from 0 a float64 tells no neighbouring cells apart.
        whole = np.clip(places, -(2.0**62), 2.0**62).astype(np.int64).view(np.uint64)
        factors = rng.integers(0, 2**63, X.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
        mixed = (whole * factors) ^ ((whole * factors) >> np.uint64(29))
        digest = (mixed * np.uint64(0x9E3779B97F4A7C15)).sum(axis=1, dtype=np.uint64)
    return np.asarray(np.unique(digest, return_inverse=True)[1], np.int64)


def _log_choose(n: NDArray[np.int64], k: NDArray[np.int64]) -> Floats:
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(np.maximum(n - k, 0) + 1.0))


def twins(
    parts: Sequence[Part], data: RankingData, part: NDArray[np.int64], twin: Twins, equal: Floats
) -> list[Finding]:
    """Near-duplicates: of documents, in training and test, and of lists anywhere.

    Two lists share more documents than chance where the probability of it, as :class:`Twins` bounds it for all pairs of
    queries, is below the level. Training and test share more than chance where few random divisions of the queries
    separate as many pairs that share documents.
    """
    test = tested(parts, part)
    lists = twin.surprise >= math.log(1.0 / FALSE_ALARMS)
    between = test is not None and _cut(twin.pairs, test)
    if test is not None:
        lists &= test[twin.pairs[:, 0]] != test[twin.pairs[:, 1]]
    if not lists.any() and not between:
        return []
    if test is None:
        measured = np.zeros(data.n_queries, np.bool_)
        measured[twin.pairs[lists].ravel()] = True
        known = np.ones(data.n_queries, np.bool_)
        where, count = "lists share documents with another list", int(measured.sum())
    else:
        measured, known = test, ~test
        where, count = (
            "test queries share documents with training",
            int(twin.touches(np.flatnonzero(test), known).sum()),
        )
    among = known if test is None else test
    value, mean = float(twin.remembered(measured, known).mean()), float(equal[measured].mean())
    chosen = twin.pairs[lists] if lists.any() else twin.pairs
    return [
        Finding(
            "near-duplicate documents",
            f"{count:,} of {int(among.sum()):,} {where}, with features that are the same but for rounding",
            f"who knows the other labels by heart has NDCG@{CUTOFF} {value:.4f} on them, and equal scores {mean:.4f}",
            value,
            mean,
            "remove the copies, or see to it that all copies of a list are in the same part: no setting does so",
            queries=tuple(dict.fromkeys(chosen[:2].ravel().tolist())),
        )
    ]


def _cut(pairs: NDArray[np.int64], test: NDArray[np.bool_]) -> bool:
    """Whether more pairs are divided than but for one in 1,000 random divisions."""
    if not len(pairs):
        return False
    rng = seeds.generator("doctor", "divisions")
    chosen = pairs if len(pairs) <= EDGES else pairs[rng.choice(len(pairs), EDGES, replace=False)]
    observed = int((test[chosen[:, 0]] != test[chosen[:, 1]]).sum())
    if observed <= 2.0 * test.mean() * (1.0 - test.mean()) * len(chosen):
        return False
    reached = 0
    for _ in range(PERMUTATIONS):
        other = rng.permutation(test)
        reached += int((other[chosen[:, 0]] != other[chosen[:, 1]]).sum()) >= observed
    return (1 + reached) / (1 + PERMUTATIONS) <= FALSE_ALARMS


def features(parts: Sequence[Part], data: RankingData, part: NDArray[np.int64], names: Sequence[str]) -> list[Finding]:
    """Features that have one value in a whole part and several elsewhere, or other units there.

    Under the null hypothesis, queries are exchangeable between parts. Of n queries k have another value than that of
    the part with n_b queries: that none of them is in the part has probability C(n - n_b, k) / C(n, k). Units are other
    where mean magnitudes differ by the factor :data:`MAGNITUDE`, and Hoeffding's inequality for the share U of pairs of
    queries, one in the part and one elsewhere, in which the first is larger, 2 exp(-2 min(n_a, n_b) (U - 1/2)^2), is
    below the level; or, where U is 0 or 1, the probability 2 / C(n, n_b) of this.
    """
    found: list[Finding] = []
    if len(parts) < 2:
        return found
    level = FALSE_ALARMS / (len(parts) * data.n_features)
    means = np.add.reduceat(np.abs(data.X).astype(np.float64), data.offsets[:-1], axis=0)
    means /= data.documents_per_query[:, None]
    said: set[int] = set()
    # The first part is compared with the others as well, unless one other says the same of both.
    for b in (*range(1, len(parts)), *([0] if len(parts) > 2 else [])):
        here = part == b
        absent = _absent(data, here, level)
        ratios = _ratios(means[here], means[~here], level)
        for j in np.flatnonzero(absent):
            if j not in said:
                said.add(int(j))
                found.append(_about(parts[b], data, here, int(j), names, None))
        for j in np.flatnonzero(ratios != 1.0):
            if j not in said:
                said.add(int(j))
                found.append(_about(parts[b], data, here, int(j), names, float(ratios[j])))
    return found


def _absent(data: RankingData, here: NDArray[np.bool_], level: float) -> NDArray[np.bool_]:
    rows = np.repeat(here, data.documents_per_query)
    value = data.X[np.flatnonzero(rows)[0]]
    same = (data.X[rows] == value).all(axis=0)
    for j in np.flatnonzero(same):
        other = np.maximum.reduceat(data.X[:, j] != value[j], data.offsets[:-1])
        n, n_b, k = len(here), int(here.sum()), int(other.sum())
        log_p = _log_choose(np.array(n - n_b), np.array(k)) - _log_choose(np.array(n), np.array(k))
        same[j] = k > 0 and float(log_p) <= math.log(level)
    return np.asarray(same)


def _ratios(here: Floats, others: Floats, level: float) -> Floats:
    """By which factor the magnitudes of features are larger here, 1 where it is no other unit."""
    medians = np.median(here, axis=0), np.median(others, axis=0)
    ratios = np.ones(here.shape[1])
    known = (medians[0] > 0.0) & (medians[1] > 0.0)
    ratios[known] = medians[0][known] / medians[1][known]
    n_a, n_b = len(others), len(here)
    for j in np.flatnonzero(np.abs(np.log(ratios)) >= math.log(MAGNITUDE)):
        ordered = np.sort(others[:, j])
        below, above = (np.searchsorted(ordered, here[:, j], side) for side in ("left", "right"))
        U = float((below + above).sum()) / (2.0 * n_a * n_b)
        log_p = math.log(2.0) - 2.0 * min(n_a, n_b) * (U - 0.5) ** 2
        if U in (0.0, 1.0):
            log_p = min(log_p, math.log(2.0) - float(_log_choose(np.array(n_a + n_b), np.array(n_b))))
        if log_p > math.log(level / 2.0):
            ratios[j] = 1.0
    ratios[np.abs(np.log(ratios)) < math.log(MAGNITUDE)] = 1.0
    return ratios


def _about(
    one: Part, data: RankingData, here: NDArray[np.bool_], j: int, names: Sequence[str], ratio: float | None
) -> Finding:
    """What training on the other parts gives on this one, as it is and mended."""
    train, test = data.take(np.flatnonzero(~here)), data.take(np.flatnonzero(here))
    w = simple_rankers.weights(train)
    as_is = float(simple_rankers.ndcg(test.X.astype(np.float64) @ w, test).mean())
    remedy = pitfalls.leave_out((names[j],), data.feature_names is not None)
    if ratio is None:
        keep = np.arange(data.n_features) != j
        if keep.any():
            w = simple_rankers.weights(replace(train, X=train.X[:, keep], feature_names=None))
        mended = (
            float(simple_rankers.ndcg(test.X[:, keep].astype(np.float64) @ w, test).mean()) if keep.any() else as_is
        )
        text = f"{names[j]} has the value {test.X[0, j]:g} in all of {one.name}, and others elsewhere"
        without, check = "without it", "features of one file"
    else:
        X = test.X.astype(np.float64)
        X[:, j] /= ratio
        mended = float(simple_rankers.ndcg(X @ w, test).mean())
        larger, smaller = (f"in {one.name}", "elsewhere")[:: 1 if ratio > 1.0 else -1]
        times = f"{max(ratio, 1.0 / ratio):,.0f}"
        text = f"{names[j]} is about {times} times as large {larger} as {smaller}, as if in other units"
        without, check = "with it divided by this factor", "units of a feature"
        remedy = f"write it in the same units in every file, or {remedy}"
    effect = f"least squares of the other files has NDCG@{CUTOFF} {as_is:.4f} on {one.name}, and {mended:.4f} {without}"
    queries = tuple(np.flatnonzero(here)[:1].tolist())
    return Finding(check, text, effect, as_is, mended, remedy, columns=(names[j],), queries=queries)
