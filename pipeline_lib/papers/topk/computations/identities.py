"""Over how many labels do gradients decompose, where is KL smallest, and how far does a matrix stretch?

`topk`: Lemmas 2, 3 and 4 and the minimum of the KL surrogate, each next to statements that are nearly the same and
wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.ranking import GAINS
from pipeline_lib.seeds import generator
from pipeline_lib.surrogates.base import SmoothSurrogate
from pipeline_lib.theory import decomposability, operator_norms

if TYPE_CHECKING:
    from pipeline_lib.papers.topk.experiments.exactness import ExactnessSettings

NORMS = (1.0, 1.5, 2.0, 3.0, math.inf)
PAIRWISE_CASES = ((3, 1), (4, 1), (4, 2), (5, 2))
"""m and y_max for Lemma 2."""
LISTWISE_CASES = (*((m, 1) for m in range(2, 7)), *((m, 2) for m in range(2, 6)), *((m, 4) for m in range(2, 5)))
"""m and y_max for Lemma 3."""
DECOMPOSED = {
    ("ranksvm", "spread"): PAIRWISE_CASES,
    ("ranksvm", "equal"): PAIRWISE_CASES,
    ("squared", "spread"): PAIRWISE_CASES,
    ("kl", "spread"): PAIRWISE_CASES,
    ("listnet", "spread"): LISTWISE_CASES,
}
"""Surrogates with the scores at which their gradients are decomposed.

Spread scores lie so far apart that some hinges are closed: with all of them open, as at equal scores, binary labels
enter RankSVM's gradient singly.
"""

Row = dict[str, Any]


def lists(settings: ExactnessSettings, seed: int, *axes: str | int) -> list[tuple[Floats, NDArray[np.int64]]]:
    """Random scores and labels, ``settings.repetitions`` of them; the last of ``axes`` is the length m of the list.

    Labels 0 and y_max always appear, so that no gradient vanishes; the last scores are tied.
    """
    rng, m = generator(seed, "topk-exactness", *axes), int(axes[-1])
    found = []
    for number in range(settings.repetitions):
        y = rng.integers(0, settings.y_max + 1, size=m)
        y[:2] = 0, settings.y_max
        found.append((np.zeros(m) if number and number == settings.repetitions - 1 else rng.normal(size=m), y))
    return found


def decompositions() -> list[Row]:
    """For every number of labels: the part of a gradient that takes exactly so many jointly, and what takes more."""
    rows = []
    for (name, where), cases in DECOMPOSED.items():
        loss = surrogates.create(name)
        for m, y_max in cases:
            scores = np.linspace(0.9, -0.9, m) if where == "spread" else np.zeros(m)
            sizes = decomposability.interactions(
                lambda y, loss=loss, scores=scores: loss.gradient(scores, y, [0, len(y)]),  # type: ignore[misc]
                m,
                y_max,
            )
            for labels in range(1, m + 1):
                row = {"surrogate": name, "scores": where, "m": m, "y_max": y_max, "labels": labels}
                beyond = float(sizes[labels + 1 :].max(initial=0.0))
                rows.append({**row, "joint": float(sizes[labels]), "beyond": beyond})
    return rows


def kl_minimum(settings: ExactnessSettings, seed: int) -> list[Row]:
    """Value and gradient of the KL surrogate at s = y, and its smallest value and curvature anywhere.

    The same is measured where it should fail: at gains in place of labels, for ListNet in place of KL, and for the
    divergence with its arguments exchanged, sum_i e^{s_i} (s_i - y_i) - e^{s_i} + e^{y_i}.
    """
    loss, other, rows = surrogates.create("kl"), surrogates.create("listnet"), []
    assert isinstance(loss, SmoothSurrogate)
    assert isinstance(other, SmoothSurrogate)
    for m in settings.lengths:
        one = [0, m]
        names = ("value", "gradient", "gain_value", "gain_gradient", "listnet_value")
        largest = dict.fromkeys(names, 0.0)
        least = dict.fromkeys(("value", "curvature", "exchanged_curvature"), math.inf)
        for scores, y in lists(settings, seed, "kl-minimum", m):
            labels, gains = y.astype(np.float64), GAINS[y]
            for prefix, point in (("", labels), ("gain_", gains)):
                value, gradient = loss.value_and_gradient(point, y, one)
                largest[f"{prefix}value"] = max(largest[f"{prefix}value"], abs(float(value[0])))
                largest[f"{prefix}gradient"] = max(largest[f"{prefix}gradient"], float(np.abs(gradient).max()))
            largest["listnet_value"] = max(largest["listnet_value"], float(other.value(labels, y, one)[0]))
            least["value"] = min(least["value"], float(loss.value(scores, y, one)[0]))
            hessian = loss.hessian_product(scores, y.astype(np.int32), np.array(one), np.eye(m))
            least["curvature"] = min(least["curvature"], float(np.linalg.eigvalsh(hessian).min()))
            exchanged = float((np.exp(scores) * (1.0 + scores - labels)).min())
            least["exchanged_curvature"] = min(least["exchanged_curvature"], exchanged)
        values = {
            "value_at_labels": largest["value"],
            "gradient_at_labels": largest["gradient"],
            "smallest_eigenvalue": least["curvature"],
            "smallest_value": least["value"],
            "value_at_gains": largest["gain_value"],
            "gradient_at_gains": largest["gain_gradient"],
            "listnet_at_labels": largest["listnet_value"],
            "eigenvalue_exchanged": least["exchanged_curvature"],
        }
        rows += _identities("topk-kl-min", f"m = {m}", values)
    return rows


def lemma_4(settings: ExactnessSettings, seed: int) -> list[Row]:
    """Both operator norms by maximisation, and the largest p-norm of a row, of a column, and the largest dual norm."""
    rows = []
    for p in NORMS:
        label = "inf" if math.isinf(p) else f"{p:g}"
        rng = generator(seed, "topk-exactness", "lemma-4", label)
        largest = dict.fromkeys(("row", "dual", "column"), 0.0)
        for _ in range(settings.matrices):
            X = rng.normal(size=tuple(rng.integers(1, 13, size=2).tolist()))
            found = operator_norms.stretch(X, p, rng=rng, restarts=100)
            claimed = {
                "row": operator_norms.largest_row(X, p),
                "dual": operator_norms.largest_row(X, _dual(p)),
                "column": operator_norms.largest_row(X.T, p),
            }
            for name, right in claimed.items():
                largest[name] = max(largest[name], *(abs(left / right - 1.0) for left in found))
        values = {
            "largest_relative_difference": largest["row"],
            "difference_from_dual": largest["dual"],
            "difference_from_columns": largest["column"],
        }
        rows += _identities("topk-lemma4", f"p = {label}", values)
    return rows


def _dual(p: float) -> float:
    return math.inf if p == 1.0 else 1.0 if math.isinf(p) else p / (p - 1.0)


def _identities(claim: str, case: str, values: Mapping[str, float]) -> list[Row]:
    return [{"claim": claim, "case": case, "statistic": name, "value": float(value)} for name, value in values.items()]
