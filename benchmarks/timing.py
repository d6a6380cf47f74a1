"""How do implementations of the same work compare in one run on this machine?

All implementations of one piece of work are called in turn, round after round, so that a machine whose speed drifts
slows all of them alike; what counts is the ratio of medians within the run, not the seconds.
"""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """One implementation's time for one piece of work.

    ``seconds`` contains the time of every counted call; every call processes ``unit_count`` units, named by ``unit``.
    """

    work: str
    implementation: str
    seconds: tuple[float, ...]
    unit: str
    unit_count: float
    note: str = ""

    @property
    def median(self) -> float:
        """Median seconds of a call."""
        return statistics.median(self.seconds)

    @property
    def rate(self) -> float:
        """Units per second at the median."""
        return self.unit_count / self.median


@dataclass(frozen=True)
class Scaling:
    """One implementation's seconds for one piece (a query) of every size (its number of documents m)."""

    implementation: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    fitted_from: int

    @property
    def exponent(self) -> float:
        """The slope of log seconds against log size, by least squares over the sizes from ``fitted_from`` on."""
        points = [(m, s) for m, s in zip(self.sizes, self.seconds, strict=True) if m >= self.fitted_from]
        return statistics.linear_regression(*zip(*((math.log(m), math.log(s)) for m, s in points), strict=True)).slope

    @property
    def last_exponent(self) -> float:
        """The same between the two largest sizes."""
        (m, larger), (s, slower) = self.sizes[-2:], self.seconds[-2:]
        return math.log(slower / s) / math.log(larger / m)


def compare(
    work: str,
    implementations: Mapping[str, Callable[[], object]],
    *,
    unit: str,
    unit_count: float,
    rounds: int = 5,
    calls_a_round: int = 1,
    notes: dict[str, str] | None = None,
) -> list[Timing]:
    """Time every implementation ``rounds`` times, interleaved, after one call each that is not counted.

    The first implementation is ours: ratios in the tables are "times as long as the first". Work of less than a
    millisecond is done several times in a row, as in training: ``calls_a_round`` calls, of which the mean counts, after
    one that is not counted and brings the data back into the processor's cache.
    """
    for call in implementations.values():
        call()
    seconds: dict[str, list[float]] = {name: [] for name in implementations}
    for _ in range(rounds):
        for name, call in implementations.items():
            gc.collect()
            if calls_a_round > 1:
                call()
            start = time.perf_counter()
            for _ in range(calls_a_round):
                call()
            seconds[name].append((time.perf_counter() - start) / calls_a_round)
    notes = notes or {}
    return [
        Timing(work, name, tuple(values), unit, unit_count, notes.get(name, "")) for name, values in seconds.items()
    ]
