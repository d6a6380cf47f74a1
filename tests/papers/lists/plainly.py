"""Losses of `lists` and Corollary 8, by the plainest implementation of each formula."""

import math
from collections.abc import Callable


def softmax(values: list[float]) -> list[float]:
    weights = [math.exp(value - max(values)) for value in values]
    return [weight / sum(weights) for weight in weights]


def ranksvm(s: list[float], y: list[int]) -> float:
    return ranksvm_sum(s, y) / max(1, sum(one > other for one in y for other in y))


def ranksvm_sum(s: list[float], y: list[int]) -> float:
    return sum(max(0.0, 1.0 + s[j] - s[i]) for i in range(len(s)) for j in range(len(s)) if y[i] > y[j])


def listnet(s: list[float], y: list[int]) -> float:
    """Above the entropy of the labels."""
    return sum(p * (math.log(p) - math.log(q)) for p, q in zip(softmax(list(map(float, y))), softmax(s), strict=True))


def smooth_dcg(s: list[float], y: list[int]) -> float:
    """The largest gain less that of a soft choice."""
    gains = [2.0**label - 1.0 for label in y]
    return max(gains) - sum(gain * q for gain, q in zip(gains, softmax(s), strict=True))


def squared(s: list[float], y: list[int]) -> float:
    return sum((score - label) ** 2 for score, label in zip(s, y, strict=True))


LOSSES: dict[str, Callable[[list[float], list[int]], float]] = {
    "ranksvm": ranksvm,
    "listnet": listnet,
    "smooth-dcg": smooth_dcg,
    "squared": squared,
}


def closed_form(n: float, m: float, scale: float, B: float) -> float:
    """Corollary 8 up to its largest value, at a = 6 B / (5 e)."""
    a = min(scale * math.sqrt(math.log2(3 * m * n) / n), 1.2 * B / math.e)
    return 10 * a * math.log(6 * B / (5 * a))
