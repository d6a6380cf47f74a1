"""How precise is a number that was measured on several samples and one held-out sample?

Repetitions differ by their samples; the held-out sample is the same for all, so that its error does not average out.
:func:`coverage` counts how often the intervals of a study contain numbers that are known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from pipeline_lib import statistics
from pipeline_lib.arrays import Floats
from pipeline_lib.claims.evidence import Interval
from pipeline_lib.seeds import generator
from pipeline_lib.statistics import over_folds

NORMAL = 1.959963984540054
"""The quantile of a 95 % interval."""


def of_mean(values: ArrayLike, held_out_error: float) -> Interval:
    """Mean over repetitions with a 95 % interval: Student's over repetitions and the held-out error, in quadrature.

    Example
    -------
    >>> of_mean([1.0, 3.0], 0.0).value, of_mean([1.0, 1.0], 0.1).low.__round__(3)
    (2.0, 0.804)
    """
    x = np.asarray(values, np.float64)
    mean = float(x.mean())
    over_repetitions = over_folds(x).high - mean if len(x) > 1 else 0.0
    half = math.hypot(over_repetitions, NORMAL * held_out_error)
    return Interval(mean, mean - half, mean + half)


def of_largest(rows: Sequence[Mapping[str, Any]], value: str, error: str) -> Interval:
    """The largest ``value`` of the rows, with the 95 % interval of its own ``error``."""
    row = max(rows, key=lambda row: row[value])
    half = NORMAL * row[error]
    return Interval(row[value], row[value] - half, row[value] + half)


FOLDS = 5
REPETITIONS = 10
QUERIES = 100
HELD_OUT_ERROR = 0.02
LENGTHS = (10.0, 30.0, 100.0, 300.0, 1000.0)
GRADES = (0.5, 0.2, 0.15, 0.1, 0.05)
"""How often the document on top has the label 0, 1, 2, 3, 4."""
RESAMPLES = 500


def coverage(draws: int, seed: int) -> list[tuple[dict[str, Any], dict[str, float]]]:
    """How often each kind of interval contains the true number, in ``draws`` samples, with the binomial 95 % interval.

    The risk of a ranker on lists of two documents, whose hinge losses 1 - e are 0 or 2 with probability 1/2, is 1; the
    mean gain of the document on top is that of GRADES; and the power of a number that is n^(-1/2) up to independent
    factors is -1/2. Beside it, how often intervals of half the width do, and those with the normal quantile in place of
    Student's.
    """
    gains = 2.0 ** np.arange(len(GRADES)) - 1.0

    def risks(k: int, rng: np.random.Generator) -> Floats:
        return np.asarray(2.0 * rng.binomial(QUERIES, 0.5, size=k) / QUERIES)

    def folds(rng: np.random.Generator) -> tuple[float, float, float]:
        found = over_folds(risks(FOLDS, rng))
        return found.mean, found.low, found.high

    def held_out(rng: np.random.Generator) -> tuple[float, float, float]:
        found = of_mean(risks(REPETITIONS, rng) + HELD_OUT_ERROR * rng.normal(), HELD_OUT_ERROR)
        return found.value, found.low, found.high

    def fitted(rng: np.random.Generator) -> tuple[float, float, float]:
        found = statistics.fit_exponent(LENGTHS, np.power(LENGTHS, -0.5) * np.exp(0.1 * rng.normal(size=len(LENGTHS))))
        return found.slope, found.low, found.high

    def resampled(rng: np.random.Generator) -> tuple[float, float, float]:
        sample = rng.choice(gains, size=QUERIES, p=GRADES)
        return float(sample.mean()), *statistics.bootstrap_interval(sample, resamples=RESAMPLES, rng=rng)

    kinds: dict[str, tuple[Callable[[np.random.Generator], tuple[float, float, float]], float, int | None]] = {
        f"mean over {FOLDS} folds": (folds, 1.0, FOLDS - 1),
        f"mean over {REPETITIONS} repetitions and a held-out sample": (held_out, 1.0, None),
        f"power fitted to {len(LENGTHS)} lengths": (fitted, -0.5, len(LENGTHS) - 2),
        f"bootstrap over {QUERIES} queries": (resampled, float(gains @ GRADES), None),
    }
    rows = []
    for case, (interval, truth, freedom) in kinds.items():
        rng = generator(seed, "lists-exact", "coverage", case)
        value, low, high = np.array([interval(rng) for _ in range(draws)]).T

        def share(
            width: float, value: Floats = value, low: Floats = low, high: Floats = high, at: float = truth
        ) -> float:
            return float(np.mean((value - width * (value - low) <= at) & (at <= value + width * (high - value))))

        covered, half = share(1.0), NORMAL * math.sqrt(share(1.0) * (1.0 - share(1.0)) / draws)
        values = {"covered": covered, "low": covered - half, "high": covered + half, "by_half": share(0.5)}
        if freedom is not None:
            values["by_normal"] = share(NORMAL / float(stdtrit(freedom, 0.975)))
        rows.append(({"case": case, "n": draws}, values))
    return rows
