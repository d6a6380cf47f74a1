"""How often do the intervals of a study contain numbers that are known?

The risk of a ranker on lists of two documents, whose hinge losses 1 - e are 0 or 2 with probability 1/2, is 1; the mean
gain of the document on top is that of GRADES; and the power of a number that is n^(-1/2) up to independent factors is
-1/2. Beside it stands how often intervals of half the width do, and those with the normal quantile in place of
Student's.
"""

import math
from collections.abc import Iterator
from operator import attrgetter

import numpy as np
from scipy.special import stdtrit

from pipeline_lib import statistics
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.seeds import generator
from pipeline_lib.papers.lists.intervals import NORMAL, of_mean, of_power

FOLDS = 5
REPETITIONS = 10
QUERIES = 100
HELD_OUT_ERROR = 0.02
LENGTHS = (10.0, 30.0, 100.0, 300.0, 1000.0)
GRADES = (0.5, 0.2, 0.15, 0.1, 0.05)
"""How often the document on top has the label 0, 1, 2, 3, 4."""
RESAMPLES = 500


def coverage(draws: int, seed: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Of each kind of interval, the share of ``draws`` samples in which it contains the truth, with an interval."""
    gains = 2.0 ** np.arange(len(GRADES)) - 1.0

    def risks(k: int, rng: np.random.Generator) -> Floats:
        return np.asarray(2.0 * rng.binomial(QUERIES, 0.5, size=k) / QUERIES)

    def folds(rng: np.random.Generator) -> tuple[float, ...]:
        return attrgetter("mean", "low", "high")(statistics.over_folds(risks(FOLDS, rng)))

    def held_out(rng: np.random.Generator) -> tuple[float, ...]:
        values = risks(REPETITIONS, rng) + HELD_OUT_ERROR * rng.normal()
        return attrgetter("value", "low", "high")(of_mean(values, HELD_OUT_ERROR))

    def fitted(rng: np.random.Generator) -> tuple[float, ...]:
        values = np.power(LENGTHS, -0.5) * np.exp(0.1 * rng.normal(size=len(LENGTHS)))
        return attrgetter("value", "low", "high")(of_power(LENGTHS, values))

    def resampled(rng: np.random.Generator) -> tuple[float, ...]:
        sample = rng.choice(gains, size=QUERIES, p=GRADES)
        return float(sample.mean()), *statistics.bootstrap_interval(sample, resamples=RESAMPLES, rng=rng)

    kinds = {
        f"mean over {FOLDS} folds": (folds, 1.0, FOLDS - 1),
        f"mean over {REPETITIONS} repetitions and a held-out sample": (held_out, 1.0, None),
        f"power fitted to {len(LENGTHS)} lengths": (fitted, -0.5, len(LENGTHS) - 2),
        f"bootstrap over {QUERIES} queries": (resampled, float(gains @ GRADES), None),
    }
    for case, (interval, truth, freedom) in kinds.items():
        rng = generator(seed, "lists-exact", "coverage", case)
        value, low, high = np.array([interval(rng) for _ in range(draws)]).T
        widths = {"covered": 1.0, "by_half": 0.5}
        if freedom is not None:
            widths["by_normal"] = NORMAL / float(stdtrit(freedom, 0.975))
        shares = {
            name: float(np.mean((value - width * (value - low) <= truth) & (truth <= value + width * (high - value))))
            for name, width in widths.items()
        }
        covered = shares.pop("covered")
        half = NORMAL * math.sqrt(covered * (1.0 - covered) / draws)
        yield case, {"covered": covered, "low": covered - half, "high": covered + half, **shares}
