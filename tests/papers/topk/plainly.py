"""The ranking by scores and the gradients of surrogates, by the plainest implementation of each formula."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

Vector = list[Any]


def by_scores(s: Sequence[float]) -> tuple[int, ...]:
    return tuple(sorted(range(len(s)), key=lambda i: (-s[i], i)))


def gradient(name: str, s: Sequence[float], y: Sequence[int]) -> Vector:
    if name == "squared":
        return [2 * (a - b) for a, b in zip(s, y, strict=True)]
    if name == "kl":
        return [math.exp(a) - math.exp(b) for a, b in zip(s, y, strict=True)]
    if name == "listnet":
        top, bottom = [math.exp(b) for b in y], [math.exp(a) for a in s]
        return [q / sum(bottom) - p / sum(top) for p, q in zip(top, bottom, strict=True)]
    total = [0.0] * len(s)
    for i, j in itertools.permutations(range(len(s)), 2):
        for document, slope in zip((j, i), pair(s, y, i, j), strict=True):
            total[document] += slope
    return total


def pair(s: Sequence[float], y: Sequence[int], i: int, j: int) -> tuple[float, float]:
    """h_{s,i,j}: what is added at j and at i."""
    open_ = float(y[i] > y[j] and 1 + s[j] > s[i])
    return open_, -open_
