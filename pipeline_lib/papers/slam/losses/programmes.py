"""Do the linear programme (3) and its closed form (5) agree, and would they with a slip in the closed form?"""

from __future__ import annotations

import numpy as np

from pipeline_lib import surrogates
from pipeline_lib.core.arrays import Floats
from pipeline_lib.papers import score_lists
from pipeline_lib.papers.score_lists import Labels
from pipeline_lib.papers.slam.linear_programmes import least
from pipeline_lib.surrogates.slam import weights

RANDOM = "random"
"""Weights drawn at random, because (3) and (5) agree for every v >= 0."""


def differences(kind: str, programmes: int, rng: np.random.Generator) -> dict[str, float]:
    """The largest differences between (3) and closed forms over small lists, relative to the larger of 1 and (5).

    ``largest_difference`` is that of (5); the others have the sum over j in place of the maximum, no positive part,
    or the margin y_i - y_j that the proof of Theorem 3 writes.
    """
    largest = dict.fromkeys(("largest_difference", *WRONG), 0.0)
    for number in range(programmes):
        m = 2 + number % 6
        draw = score_lists.adversarial_lists if number % 2 else score_lists.random_lists
        scores, y = draw(score_lists.ADVERSARIAL_KINDS, m, int(rng.integers(1, 5)), rng)
        row = int(rng.integers(len(scores)))
        labels = np.minimum(y[row], 1) if kind == "map" else y[row]
        if kind == RANDOM:
            v = rng.exponential(size=m) * (rng.random(m) < 0.8)
            value = closed_form(scores[row], labels, v)
        else:
            v = weights(labels, kind)
            flat = score_lists.stacked(scores[[row]], y[[row]])
            value = float(surrogates.create(f"slam-{kind}").value(*flat)[0])
        optimum = linear_programme(scores[row], labels, v)
        forms = {"largest_difference": value, **{name: form(scores[row], labels, v) for name, form in WRONG.items()}}
        for name, found in forms.items():
            largest[name] = max(largest[name], abs(found - optimum) / max(1.0, abs(value)))
    return largest


def closed_form(scores: Floats, y: Labels, v: Floats) -> float:
    """(5) for one list and any weights: sum_i v_i max(0, max_{j: y_j < y_i} (1 + s_j - s_i))."""
    return float(v @ _hinges(scores, y).max(axis=1).clip(0.0))


def linear_programme(scores: Floats, y: Labels, v: Floats) -> float:
    """(3): the least <v, delta> with delta >= 0 and delta_i >= 1 + s_j - s_i wherever y_i > y_j."""
    better, worse = np.nonzero(y[:, None] > y[None, :])
    if not len(better):
        return 0.0
    return least(v, np.eye(len(y))[better], 1.0 + scores[worse] - scores[better])


def _hinges(scores: Floats, y: Labels, margins: Floats | float = 1.0, otherwise: float = 0.0) -> Floats:
    """The margin plus s_j - s_i for every pair with y_i > y_j, shape (m, m), and another value for all others."""
    return np.where(y[:, None] > y[None, :], margins + scores[None, :] - scores[:, None], otherwise)


def _sums(scores: Floats, y: Labels, v: Floats) -> float:
    return float(v @ _hinges(scores, y).clip(0.0).sum(axis=1))


def _without_positive_part(scores: Floats, y: Labels, v: Floats) -> float:
    pairs = _hinges(scores, y, otherwise=-np.inf).max(axis=1)
    return float(v @ np.where(np.isfinite(pairs), pairs, 0.0))


def _margin_of_grades(scores: Floats, y: Labels, v: Floats) -> float:
    apart = (y[:, None] - y[None, :]).astype(np.float64)
    return float(v @ _hinges(scores, y, apart).max(axis=1).clip(0.0))


WRONG = {
    "difference_of_sums": _sums,
    "difference_without_positive_part": _without_positive_part,
    "difference_with_margin_of_grades": _margin_of_grades,
}
