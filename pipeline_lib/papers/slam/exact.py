"""What do the exact counterexamples of several topics compute?

Documents are listed in the order of their labels, the most relevant first, unless an instance says otherwise. D(2) =
1/log2(3) is enclosed by 2^19 < 3^12 and 3^5 < 2^8, which give 5/8 < D(2) < 12/19.
"""

from collections.abc import Sequence
from fractions import Fraction as F

from pipeline_lib.papers.witnesses import D2, Number, log2

__all__: list[str] = []

Rows = Sequence[Sequence[F | int]]


def discount(rank: int) -> Number:
    """D(rank) = 1/log2(rank + 1); rational for ranks 1, 3, 7, ..."""
    log = log2(rank + 1, 12)
    if log.low == log.high:
        return 1 / log.low
    return D2 if rank == 2 else 1 / log


def map_weights(m: int, r: int) -> list[F]:
    """v^MAP of eq. (6) for r relevant documents of m."""
    return [F(1, r) - F(i, r * (m - r + i)) for i in range(1, r + 1)] + [F(0)] * (m - r)


def average_precision(ranking: Sequence[int], r: int) -> F:
    """AP of a ranking of documents of which those below r are relevant."""
    relevant = [rank for rank, document in enumerate(ranking, 1) if document < r]
    return sum((F(i, rank) for i, rank in enumerate(relevant, 1)), F(0)) / r


def hinge(scores: Sequence[F | int], labels: Sequence[int], i: int) -> F:
    """max(0, max over less relevant j of 1 + s_j - s_i), as in eq. (5)."""
    return max([F(0), *(1 + F(s) - scores[i] for s, y in zip(scores, labels, strict=True) if y < labels[i])])


def play(rounds: Sequence[tuple[Rows, Sequence[int]]], step: F, misordered: bool) -> list[list[F]]:
    """The scores that Algorithm 1 gives in every round, for MAP; ties are ranked as listed.

    The active documents are those with a positive hinge or, if ``misordered``, those ranked below a less relevant one.
    """
    w, played = [F(0)] * len(rounds[0][0][0]), []
    for X, y in rounds:
        s = [sum((F(a) * b for a, b in zip(x, w, strict=True)), F(0)) for x in X]
        played.append(s)
        ranking = sorted(range(len(y)), key=lambda i: -s[i])
        if [y[i] for i in ranking] == sorted(y, reverse=True):
            continue
        positions = sorted(range(len(y)), key=lambda i: -y[i])
        v = dict(zip(positions, map_weights(len(y), sum(y)), strict=True))
        for i in (i for i in positions if y[i]):
            k = max((j for j in range(len(y)) if y[j] < y[i]), key=lambda j: s[j])
            if (s[k] >= s[i]) if misordered else (1 + s[k] > s[i]):
                w = [a - step * v[i] * (F(b) - c) for a, b, c in zip(w, X[k], X[i], strict=True)]
    return played
