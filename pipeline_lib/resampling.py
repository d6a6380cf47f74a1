"""How is a sample drawn again, and how does the distribution of a resampled statistic become an interval?

All memory is bounded: rows of resampled numbers are made in blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pipeline_lib.arrays import Floats

__all__: list[str] = []  # internal: the functions of pipeline_lib.statistics are what others call

NUMBERS_PER_BLOCK = 2**20
# Resampled sums that equal the observed one in exact arithmetic must count as equal in floating point.
RELATIVE_TIE = 1e-12


def blocks(total: int, width: int) -> list[int]:
    """Split ``total`` rows of ``width`` numbers into blocks of at most NUMBERS_PER_BLOCK numbers (8 MB)."""
    most = max(1, NUMBERS_PER_BLOCK // width)
    return [most] * (total // most) + ([total % most] if total % most else [])


def resampled_statistics(
    sample: Floats, resamples: int, rng: np.random.Generator, statistic: Callable[..., Any]
) -> Floats:
    """The statistic of so many samples of the same size, drawn with replacement; shape (resamples,)."""
    n = len(sample)
    resampled = [
        np.asarray(statistic(sample[rng.integers(n, size=(block, n), dtype=np.int32)], axis=-1))
        for block in blocks(resamples, n)
    ]
    return np.concatenate(resampled)


def bca_levels(
    sample: Floats, resampled: Floats, estimate: float, level: float, statistic: Callable[..., Any]
) -> Floats:
    """The levels of the ends of the bias-corrected and accelerated interval; see ``statistics.bootstrap_interval``."""
    from scipy.special import ndtr, ndtri

    # Half of the ties count as below, so that discrete statistics are not considered biased; the ends stay finite.
    tie = RELATIVE_TIE * np.abs(sample).max()
    below = np.mean(resampled < estimate - tie) + 0.5 * np.mean(np.abs(resampled - estimate) <= tie)
    bias = ndtri(np.clip(below, 0.5 / len(resampled), 1.0 - 0.5 / len(resampled)))
    left = jackknife(sample, statistic)
    influence = left.mean() - left
    variation = float(np.sum(influence**2))
    acceleration = float(np.sum(influence**3)) / (6.0 * variation**1.5) if variation > 0.0 else 0.0
    ends = bias + ndtri(np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0]))
    return np.asarray(ndtr(bias + ends / np.maximum(1.0 - acceleration * ends, np.finfo(np.float64).tiny)))


def jackknife(sample: Floats, statistic: Callable[..., Any]) -> Floats:
    """The statistic with one value left out, for every value; shape (Q,)."""
    n = len(sample)
    if statistic is np.mean:
        return np.asarray((sample.sum() - sample) / (n - 1))
    left, start = [], 0
    for block in blocks(n, n):
        rows = np.arange(start, start + block)[:, None]
        others = np.arange(n - 1)[None, :]
        left.append(np.asarray(statistic(sample[others + (others >= rows)], axis=-1)))
        start += block
    return np.concatenate(left)
