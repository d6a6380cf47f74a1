"""Do the linear programme (3) and its closed form (5) agree, and would they with a slip in the closed form?"""

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
    """The largest differences between (3) and :func:`closed_forms` over small lists, relative to 1 or (5) if larger.

    For weights that are not random, (5) is the value of the surrogate.
    """
    largest: dict[str, float] = {}
    for number in range(programmes):
        m = 2 + number % 6
        draw = score_lists.adversarial_lists if number % 2 else score_lists.random_lists
        scores, y = draw(score_lists.ADVERSARIAL_KINDS, m, int(rng.integers(1, 5)), rng)
        row = int(rng.integers(len(scores)))
        labels = np.minimum(y[row], 1) if kind == "map" else y[row]
        v = rng.exponential(size=m) * (rng.random(m) < 0.8) if kind == RANDOM else weights(labels, kind)
        forms = closed_forms(scores[row], labels, v)
        if kind != RANDOM:
            flat = score_lists.stacked(scores[[row]], y[[row]])
            forms["largest_difference"] = float(surrogates.create(f"slam-{kind}").value(*flat)[0])
        optimum, size = linear_programme(scores[row], labels, v), max(1.0, abs(forms["largest_difference"]))
        for name, found in forms.items():
            largest[name] = max(largest.get(name, 0.0), abs(found - optimum) / size)
    return largest


def closed_forms(scores: Floats, y: Labels, v: Floats) -> dict[str, float]:
    """``largest_difference`` is (5) for one list and any weights: sum_i v_i max(0, max_{j: y_j < y_i} (1 + s_j - s_i)).

    The others have the sum over j in place of the maximum, no positive part, or the margin y_i - y_j that the proof of
    Theorem 3 writes.
    """
    lower = y[:, None] > y[None, :]
    hinges, of_grades = (
        np.where(lower, margins + scores[None, :] - scores[:, None], 0.0) for margins in (1.0, y[:, None] - y[None, :])
    )
    sizes = {
        "largest_difference": hinges.max(axis=1).clip(0.0),
        "difference_of_sums": hinges.clip(0.0).sum(axis=1),
        "difference_without_positive_part": hinges.max(axis=1, where=lower, initial=-np.inf),
        "difference_with_margin_of_grades": of_grades.max(axis=1).clip(0.0),
    }
    # Without a document of lower label there is no hinge.
    return {name: float(v @ np.where(lower.any(axis=1), size, 0.0)) for name, size in sizes.items()}


def linear_programme(scores: Floats, y: Labels, v: Floats) -> float:
    """(3): the least <v, delta> with delta >= 0 and delta_i >= 1 + s_j - s_i wherever y_i > y_j."""
    better, worse = np.nonzero(y[:, None] > y[None, :])
    if not len(better):
        return 0.0
    return least(v, np.eye(len(y))[better], 1.0 + scores[worse] - scores[better])
