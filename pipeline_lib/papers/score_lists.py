"""On which scores and labels would a statement about surrogates break, if it broke?

Random lists seldom come near the edge of a bound. Here are lists that do, next to random ones: ties, gaps so large that
softmaxes saturate, scores that follow the labels or oppose them, staircases that fall by a hair, differences of exactly
one margin (the kinks of hinges), lists with one relevant document, with all but one, and with one label only.
"""

from collections.abc import Callable, Mapping
from itertools import cycle, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats

Labels = NDArray[np.int32]
HAIR = 1e-9
FAR = 1e3


def random_lists(n: int, m: int, y_max: int, rng: np.random.Generator) -> tuple[Floats, Labels]:
    """Normal scores of scales from 0.1 to 10 and labels of random frequency: shapes (n, m) and (n, m)."""
    scale = 10.0 ** rng.uniform(-1.0, 1.0, size=(n, 1))
    scores = scale * rng.normal(size=(n, m))
    relevant = rng.random((n, m)) < rng.random((n, 1))
    labels = np.where(relevant, rng.integers(1, y_max + 1, size=(n, m)) if y_max else 0, 0)
    return scores, labels.astype(np.int32)


def adversarial_lists(n: int, m: int, y_max: int, rng: np.random.Generator) -> tuple[Floats, Labels]:
    """Every kind of labels with every kind of scores in turn, in random document order: shapes (n, m) and (n, m).

    Example
    -------
    >>> scores, labels = adversarial_lists(200, 4, 2, np.random.default_rng(0))
    >>> scores.shape, int(labels.max()), bool((scores == 0.0).all(axis=1).any())
    ((200, 4), 2, True)
    """
    scores, labels = np.empty((n, m)), np.empty((n, m), np.int32)
    kinds = cycle(product(_SCORES.values(), _LABELS.values()))
    for row, (scored, labelled) in zip(range(n), kinds, strict=False):
        y = labelled(m, y_max, rng).astype(np.int32)
        s = scored(y, rng)
        order = rng.permutation(m)
        scores[row], labels[row] = s[order], y[order]
    return scores, labels


def mixed_lists(n: int, m: int, y_max: int, rng: np.random.Generator) -> tuple[Floats, Labels]:
    """As many random as adversarial lists, n >= 2 of them together."""
    scores, labels = random_lists(n // 2, m, y_max, rng)
    harder, their_labels = adversarial_lists(n - n // 2, m, y_max, rng)
    return np.concatenate([scores, harder]), np.concatenate([labels, their_labels])


def stacked(scores: Floats, labels: Labels) -> tuple[Floats, Labels, NDArray[np.int64]]:
    """Rows below each other, as surrogates and measures take them: scores, labels, offsets."""
    n, m = scores.shape
    return scores.ravel(), labels.ravel(), np.arange(0, n * m + 1, m, dtype=np.int64)


def moved(scores: Floats, slopes: Floats, rng: np.random.Generator) -> Floats:
    """Neighbours of score vectors: a step down ``slopes``, one score put next to another, noise, or another scale."""
    n, m = scores.shape
    rows = np.arange(n)
    i, j = rng.integers(m, size=(2, n))
    equal = scores.copy()
    equal[rows, i] = scores[rows, j] + rng.choice([-1.0, -HAIR, 0.0, HAIR, 1.0], size=n)
    spread = 10.0 ** rng.uniform(-4.0, 0.5, size=(n, 1))
    kind = rng.integers(4, size=(n, 1))
    choices = [scores - spread * slopes, equal, scores + spread * rng.normal(size=(n, m))]
    return np.clip(
        np.select([kind == k for k in range(3)], choices, scores * np.exp(rng.normal(size=(n, 1)))), -FAR, FAR
    )


def _staircase(y: Labels, rng: np.random.Generator) -> Floats:
    # The first t - 1 of the most relevant are safe; all others stand a hair below the less relevant ones.
    safe = (y > 0) & (np.cumsum(y > 0) <= rng.integers(0, (y > 0).sum() + 1))
    return np.where(safe, 2.0 + y, -HAIR * y)


def _one_intruder(y: Labels, rng: np.random.Generator) -> Floats:
    # One of the least relevant documents, a millionth to ten above all others, which have one score.
    return np.where(np.arange(len(y)) == int(np.argmin(y)), 10.0 ** rng.uniform(-6.0, 1.0), 0.0)


_LABELS: Mapping[str, Callable[[int, int, np.random.Generator], NDArray[Any]]] = {
    "one relevant": lambda m, y_max, rng: np.where(np.arange(m) == 0, y_max, 0),
    "one irrelevant": lambda m, y_max, rng: np.where(np.arange(m) == 0, 0, y_max),
    "one label": lambda m, y_max, rng: np.full(m, rng.integers(y_max + 1)),
    "some relevant": lambda m, y_max, rng: np.where(np.arange(m) < rng.integers(1, m + 1), y_max, 0),
    "levels": lambda m, y_max, rng: y_max - np.arange(m) * (y_max + 1) // m,
    "any labels": lambda m, y_max, rng: rng.integers(0, y_max + 1, size=m),
}
_SCORES: Mapping[str, Callable[[Labels, np.random.Generator], NDArray[Any]]] = {
    "equal": lambda y, rng: np.zeros(len(y)),
    "with the labels": lambda y, rng: y * 10.0 ** rng.uniform(-2.0, 1.0),
    "against the labels": lambda y, rng: -y * 10.0 ** rng.uniform(-2.0, 1.0),
    "far apart": lambda y, rng: FAR * rng.choice([-1.0, 0.0, 1.0], size=len(y)),
    "at kinks": lambda y, rng: rng.integers(-2, 3, size=len(y)),
    "staircase": _staircase,
    "one intruder": _one_intruder,
}
ADVERSARIAL_KINDS = len(_LABELS) * len(_SCORES)
