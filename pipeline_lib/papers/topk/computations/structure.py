"""What can be estimated from the labels of k documents, which listwise losses can, and which losses are plain sums?

`topk`: the necessity in Lemma 1, the sentences of section 4.1 on other listwise methods, the way from ListNet's cross
entropy to the KL loss, and section 6, which calls the KL loss listwise.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.seeds import generator
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import decomposability

if TYPE_CHECKING:
    from pipeline_lib.papers.topk.experiments.structure import StructureSettings

ESTIMATED = ("squared", "kl", "smooth-dcg", "ranksvm", "listnet")
"""Surrogates for whose gradients an estimator is solved for."""
EXPLORATION = {"algorithm 1": 0.1, "exploitation alone": 0.0}
"""gamma of the distributions of orders: without exploration one order has probability 1."""
CASES = tuple(itertools.product((2, 3, 4), (1, 2)))
"""m and y_max of these problems."""
LISTWISE = {"structured-ndcg": (1, 2), "svm-map": (1,), "listnet": (1, 2)}
"""Listwise losses with the values of y_max for which their gradients are decomposed; MAP has binary labels."""
LISTWISE_LENGTHS = (2, 3, 4, 5)
SUMMED = ("kl", "squared", "listnet", "ranksvm")
"""Losses of which is measured whether they are sums of functions of single scores."""

Row = dict[str, Any]


def estimable() -> list[Row]:
    """For every gradient and k: its distance from the mean of any estimator, and what takes more than k labels."""
    rows = []
    for name, (m, y_max) in itertools.product(ESTIMATED, CASES):
        loss, scores = surrogates.create(name), np.linspace(0.9, -0.9, m)
        function = _gradient(loss, scores)
        sizes = decomposability.interactions(function, m, y_max)
        for (exploration, gamma), k in itertools.product(EXPLORATION.items(), range(1, m + 1)):
            row = {"surrogate": name, "m": m, "y_max": y_max, "k": k, "exploration": exploration}
            error = decomposability.estimation_error(function, m, y_max, k, gamma)
            rows.append({**row, "error": error, "beyond": float(sizes[k + 1 :].max(initial=0.0))})
    return rows


def listwise(settings: StructureSettings, seed: int) -> list[Row]:
    """For every listwise loss and k < m: what of its gradient takes more than k labels, where most does."""
    rows = []
    for name, largest_labels in LISTWISE.items():
        loss = surrogates.create(name)
        for m, y_max in itertools.product(LISTWISE_LENGTHS, largest_labels):
            rng = generator(seed, "topk-structure", "listwise", m)
            points = [np.linspace(0.9, -0.9, m), np.linspace(-0.3, 0.3, m), *rng.normal(size=(settings.scores, m))]
            sizes = [decomposability.interactions(_gradient(loss, scores), m, y_max) for scores in points]
            for k in range(1, m):
                beyond = max(float(size[k + 1 :].max()) for size in sizes)
                rows.append({"surrogate": name, "m": m, "y_max": y_max, "k": k, "beyond": beyond})
    return rows


def sums(settings: StructureSettings, seed: int) -> list[Row]:
    """Losses in two scores together, and ListNet and the KL loss next to divergences that are summed directly.

    ``joint``: the largest second difference of a loss in two of its scores, which is 0 if it is a sum of functions of
    single scores. ``from divergence``: the largest difference between a loss and

        KL(p, q) = sum_i p_i log p_i - p_i log q_i - p_i + q_i,

    with p, q the softmax of labels and scores for ListNet, and p = e^R, q = e^s for KL, each less its value at s = 0.
    ``from exchanged divergence``: the same with KL(q, p).
    """
    rows, rng, m = [], generator(seed, "topk-structure", "sums"), 4
    lists = [(rng.normal(size=m), rng.integers(0, 4, size=m).astype(np.int32)) for _ in range(settings.lists)]
    for name in SUMMED:
        loss = surrogates.create(name)
        joint = max(
            _second_difference(loss, s, y, i, j) for s, y in lists for i, j in itertools.combinations(range(m), 2)
        )
        rows.append({"surrogate": name, "statistic": "joint", "value": joint})
    for name, of_scores in (("listnet", _softmax), ("kl", np.exp)):
        loss = surrogates.create(name)
        for statistic, divergence in DIVERGENCES.items():
            excess = [
                _value(loss, point, y) - divergence(of_scores(y), of_scores(point))
                for s, y in lists
                for point in (s, np.zeros(m))
            ]
            largest = max(abs(at_s - at_0) for at_s, at_0 in zip(excess[::2], excess[1::2], strict=True))
            rows.append({"surrogate": name, "statistic": statistic, "value": largest})
    return rows


def _gradient(loss: Surrogate, scores: Floats) -> decomposability.LabelFunction:
    return lambda y: loss.gradient(scores, y, [0, len(y)])


def _value(loss: Surrogate, s: Floats, y: Any) -> float:
    return float(loss.value(s, y, [0, len(y)])[0])


def _second_difference(loss: Surrogate, s: Floats, y: Any, i: int, j: int) -> float:
    e = np.eye(len(s))
    corners = [_value(loss, s + a * e[i] + b * e[j], y) for a, b in ((1, 1), (1, 0), (0, 1), (0, 0))]
    return abs(corners[0] - corners[1] - corners[2] + corners[3])


def _softmax(v: Any) -> Floats:
    weights = np.exp(v - np.max(v))
    return np.asarray(weights / weights.sum())


def _divergence(p: Floats, q: Floats) -> float:
    return float(np.sum(p * np.log(p) - p * np.log(q) - p + q))


DIVERGENCES: Mapping[str, Callable[[Floats, Floats], float]] = {
    "from divergence": _divergence,
    "from exchanged divergence": lambda p, q: _divergence(q, p),
}
