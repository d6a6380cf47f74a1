"""What do labels, and the order and the lists of documents, say of results on a person's data before a model is there?

This is the half of :func:`pipeline_lib.evaluation.doctor` that needs one pass over the documents and no ranker.
Every conversion of own data runs it, too. Sizes of effects are those on NDCG@10, of which nothing is known but that
scores are equal: in the order of the rows, or as the mean over all orders.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import ranking
from pipeline_lib.core.arrays import Floats
from pipeline_lib.sources.letor_reader import Block

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

FALSE_ALARMS = 0.001
"""The probability with which a check says anything of data on which its null hypothesis is true, at most."""
CUTOFF = 10
"""Effects are those on NDCG at this rank."""
QUERIES = 100_000
"""So many queries tell by their order whether rows follow labels."""
NAMED = 5
"""So many features are named, and so many queries."""
_PLAIN = re.compile(r"[^\W\d][\w.-]*")
"""What YAML takes for a text without quotes."""


@dataclass(frozen=True)
class Finding:
    """Something in data that makes results on them mislead.

    Attributes
    ----------
    check : str
        The name of the check that found it.
    text : str
        What was found.
    effect : str
        What it does to NDCG@10, in words with the numbers.
    as_is, mended : float or None
        NDCG@10 as the data are, and without what was found; None where a number would say nothing.
    remedy : str
        What to write into the data set's entry of a configuration, or what else to do.
    columns : tuple of str
        The features concerned.
    queries : tuple of int
        Some of the queries that show it, by index.
    where : tuple of str
        The same, or rows, as ``file:line``.
    """

    check: str
    text: str
    effect: str
    as_is: float | None
    mended: float | None
    remedy: str
    columns: tuple[str, ...] = ()
    queries: tuple[int, ...] = ()
    where: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.text}: {self.effect}; {self.remedy}"

    @property
    def size(self) -> float:
        """The difference that it makes to NDCG@10; 0 where that is not known."""
        return 0.0 if self.as_is is None or self.mended is None else abs(self.as_is - self.mended)


class WithinQueries:
    """Which features differ among the documents of a query, found block by block."""

    def __init__(self, n_features: int) -> None:
        self.differ = np.zeros(n_features, np.bool_)
        self._last: tuple[int, NDArray[np.float32]] | None = None

    def see(self, block: Block) -> None:
        """Compare each document with the one before it in its query."""
        if self._last is not None and self._last[0] == block.qid[0]:
            self.differ |= self._last[1] != block.X[0]
        unknown = np.flatnonzero(~self.differ)
        same = block.qid[1:] == block.qid[:-1]
        if len(unknown):
            X = block.X[:, unknown]
            self.differ[unknown] = ((X[1:] != X[:-1]) & same[:, None]).any(axis=0)
        self._last = int(block.qid[-1]), block.X[-1].copy()

    def end(self) -> None:
        """A part ends: a query of the same name that begins the next one is another."""
        self._last = None


class Orders(NamedTuple):
    """NDCG@10 of every query where all scores are equal: in the order of the rows, and of all orders of its documents.

    ``variances`` are those over the orders.
    """

    in_rows: Floats
    means: Floats
    variances: Floats


def orders(label: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Orders:
    """What equal scores are worth, by the order of the rows and over all orders.

    With g the gains over the ideal DCG@10 and D the discounts, 0 behind rank 10, an order draws each gain to each rank
    alike: the mean is (mean g) sum_i D(i), the variance sum_i (g_i - mean g)^2 sum_i (D(i) - mean D)^2 / (m - 1).

    Example
    -------
    >>> found = orders(np.array([1, 0], np.uint8), np.array([0, 2]))
    >>> found.in_rows.tolist(), found.means.round(6).tolist(), found.variances.round(6).tolist()
    ([1.0], [0.815465], [0.034053])
    """
    begins, m = offsets[:-1], np.diff(offsets)
    sums = ranking.discount_sums(max(CUTOFF, int(m.max(initial=1))))
    sums[CUTOFF:] = sums[CUTOFF]
    D = np.diff(sums)
    squares = np.r_[0.0, np.cumsum(D**2)]
    g = ranking.normalised_gains(label.astype(np.int32), offsets, sums)
    mean_gains = np.add.reduceat(g, begins) / m
    in_rows = np.add.reduceat(g * D[np.arange(len(label)) - np.repeat(begins, m)], begins)
    of_gains = np.add.reduceat((g - np.repeat(mean_gains, m)) ** 2, begins)
    of_discounts = np.maximum(squares[m] - sums[m] ** 2 / m, 0.0)
    return Orders(in_rows, mean_gains * sums[m], of_gains * of_discounts / np.maximum(m - 1, 1))


def follows_labels(label: NDArray[np.uint8], offsets: NDArray[np.int64]) -> str:
    """Whether rows stand "best" or "worst" first in their queries, or neither.

    The NDCG@10 of the order of the rows differs from its mean over all orders by d_q. If each order is as likely as any
    other, the d_q are independent with mean 0, the variances of :func:`orders`, whose sum is V, and at most M.
    Bennett's inequality bounds the probability that their sum is at least t by

    ::

        exp(-V / M^2 h(M t / V)),    h(u) = (1 + u) log(1 + u) - u,

    and in the same way, with another M, that it is at most -t; each may have half of the level.

    References
    ----------
    Bennett, "Probability inequalities for the sum of independent random variables", JASA 57 (1962).

    Example
    -------
    >>> offsets = np.arange(0, 101, 4)
    >>> follows_labels(np.tile(np.array([2, 1, 0, 0], np.uint8), 25), offsets)
    'best'
    >>> follows_labels(np.tile(np.array([0, 2, 0, 1], np.uint8), 25), offsets)
    ''
    """
    offsets = offsets[: QUERIES + 1]
    in_rows, means, variances = orders(label[: offsets[-1]], offsets)
    t, V = float((in_rows - means).sum()), float(variances.sum())
    M = float((1.0 - means if t > 0.0 else means).max())
    if V == 0.0 or M <= 0.0:
        return ""
    u = M * abs(t) / V
    if V / M**2 * ((1.0 + u) * math.log1p(u) - u) < math.log(2.0 / FALSE_ALARMS):
        return ""
    return "best" if t > 0.0 else "worst"


def found(
    label: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    differ: NDArray[np.bool_],
    feature_names: Sequence[str] | None,
    relevant_from: int,
) -> list[Finding]:
    """What should be known before a measure is believed.

    ``differ`` says which features differ among the documents of a query.
    """
    equal = orders(label, offsets)
    one_label = bool((label == label[0]).all())
    wrong = [] if one_label else [_order(label, offsets, equal), _begin(label, offsets, equal, relevant_from)]
    return [
        one
        for one in (*wrong, _gaps(label, offsets, equal), _constant(offsets, equal, differ, feature_names))
        if one is not None
    ] + _lists(label, offsets, equal)


def _order(label: NDArray[np.uint8], offsets: NDArray[np.int64], equal: Orders) -> Finding | None:
    if not (first := follows_labels(label, offsets)):
        return None
    in_rows, mean = float(equal.in_rows.mean()), float(equal.means.mean())
    gained = equal.in_rows - equal.means
    return Finding(
        "order of rows",
        f"the rows of queries stand {first} first",
        f"a ranker that gives all documents the same score has NDCG@{CUTOFF} {in_rows:.4f} by the order of the rows, "
        f"and {mean:.4f} as the mean over all orders",
        in_rows,
        mean,
        "a study needs no line, since equal scores count by the mean over all orders; shuffle the rows of every query "
        "for programs that keep their order",
        queries=_some(np.argsort(-gained if first == "best" else gained, kind="stable")),
    )


def _constant(
    offsets: NDArray[np.int64], equal: Orders, differ: NDArray[np.bool_], feature_names: Sequence[str] | None
) -> Finding | None:
    names = names_of(feature_names, len(differ))
    constant = tuple(name for name, differs in zip(names, differ, strict=True) if not differs)
    if not constant or not (np.diff(offsets) > 1).any():
        return None
    mean = float(equal.means.mean())
    return Finding(
        "constant features",
        f"constant within every query: {first_of(constant)}",
        f"alone they order nothing (NDCG@{CUTOFF} {mean:.4f}, that of equal scores), and a linear ranker is the same "
        "without them",
        mean,
        mean,
        leave_out(constant, feature_names is not None),
        columns=constant,
    )


def _begin(label: NDArray[np.uint8], offsets: NDArray[np.int64], equal: Orders, relevant_from: int) -> Finding | None:
    least, most = int(label.min()), int(label.max())
    if least < relevant_from:
        return None
    rank = int(np.searchsorted(np.cumsum(np.bincount(label)) / len(label), 0.5)) + 1
    as_is, mended = float(equal.means.mean()), float(orders(label - np.uint8(least), offsets).means.mean())
    from_0 = "`labels: lowered` subtracts 1 from all" if least == 1 else f"subtract {least} from the labels"
    return Finding(
        "scale of labels",
        f"every document is relevant (labels {least} to {most}), so that MAP, RR, P and recall say nothing",
        f"equal scores have NDCG@{CUTOFF} {as_is:.4f}, and {mended:.4f} with labels from 0",
        as_is,
        mended,
        f"`relevant_from: {min(max(rank, least + 1), most)}` says from which label on documents are relevant, or "
        f"{from_0}",
    )


def _gaps(label: NDArray[np.uint8], offsets: NDArray[np.int64], equal: Orders) -> Finding | None:
    """Labels that nobody has although both neighbours on the scale are frequent.

    If a label between two others were as frequent as the rarer of them, with c documents, none would have it with
    probability below exp(-c).
    """
    counts = np.bincount(label)
    used = np.flatnonzero(counts)
    rarer = np.minimum(counts[used[:-1]], counts[used[1:]])
    wide = (np.diff(used) > 1) & (rarer >= math.log(len(used) / FALSE_ALARMS))
    if not wide.any():
        return None
    close = np.searchsorted(used, label).astype(np.uint8) + np.uint8(used[0] > 0)
    as_is, mended = float(equal.means.mean()), float(orders(close, offsets).means.mean())
    k = int(np.flatnonzero(wide)[0])
    return Finding(
        "gaps of the scale",
        f"no document has a label between {used[k]} and {used[k + 1]} (labels {first_of([str(y) for y in used])})",
        f"gains are 2^label - 1: equal scores have NDCG@{CUTOFF} {as_is:.4f}, and {mended:.4f} with consecutive labels",
        as_is,
        mended,
        "number the grades consecutively from 0, unless the scale means these gains",
    )


def _lists(label: NDArray[np.uint8], offsets: NDArray[np.int64], equal: Orders) -> list[Finding]:
    """Lists on which all rankers are alike."""
    most, least = (of.reduceat(label, offsets[:-1]) for of in (np.maximum, np.minimum))
    single = np.diff(offsets) == 1
    kinds = (
        ("lists of one document", single, "one document"),
        (IRRELEVANT, most == 0, "no relevant document"),
        ("lists of one label", ~single & (most == least) & (most > 0), "the same label for all documents"),
    )
    mean, found = float(equal.means.mean()), []
    for check, which, words in kinds:
        if not (count := int(which.sum())):
            continue
        rest = float(equal.means[~which].mean()) if count < len(which) else None
        value = float(equal.means[which].mean())
        without = "" if rest is None else f", and {rest:.4f} without them"
        found.append(
            Finding(
                check,
                f"{count:,} of {len(which):,} lists {'has' if count == 1 else 'have'} {words}",
                f"every ranker has NDCG@{CUTOFF} {value:.4f} on them; equal scores have {mean:.4f} on all{without}",
                mean,
                rest,
                "no setting leaves queries out: say so beside the mean, or remove them from the file",
                queries=_some(np.flatnonzero(which)),
            )
        )
    return found


IRRELEVANT = "lists without a relevant document"


def names_of(feature_names: Sequence[str] | None, n_features: int) -> Sequence[str]:
    """The names of features, which without names are called after their numbers."""
    return feature_names or [f"feature {k}" for k in range(1, n_features + 1)]


def first_of(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are.

    Example
    -------
    >>> first_of(["a", "b"]), first_of([*"abcdefg"])
    ('a, b', 'a, b, c, d, e and 2 more')
    """
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"


def leave_out(columns: Sequence[str], named: bool) -> str:
    """How features are left out: by a setting where they are columns of a table.

    Example
    -------
    >>> leave_out(["age", "a, b"], True)
    '`ignore: [age, "a, b"]` leaves them out'
    """
    them = "it" if len(columns) == 1 else "them"
    if named:
        written = (name if _PLAIN.fullmatch(name) else json.dumps(name) for name in columns)
        return f"`ignore: [{', '.join(written)}]` leaves {them} out"
    return f"remove {them} from the text (a table would be read without {them} by `ignore`)"


def _some(queries: NDArray[np.int64]) -> tuple[int, ...]:
    return tuple(queries[:NAMED].tolist())
