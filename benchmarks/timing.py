"""How do implementations of the same work compare in one run on this machine?

All implementations of one piece of work are called in turn, round after round, so that a machine whose speed drifts
slows all of them alike; what counts is the ratio of medians within the run, not the seconds.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """One implementation's time for one piece of work.

    ``seconds`` holds every counted call; ``unit_count`` units (``unit`` says of what) are done per call.
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


def compare(
    work: str,
    implementations: dict[str, Callable[[], object]],
    *,
    unit: str,
    unit_count: float,
    rounds: int = 5,
    notes: dict[str, str] | None = None,
) -> list[Timing]:
    """Time every implementation ``rounds`` times, interleaved, after one call each that is not counted.

    The first implementation is ours: ratios in the tables are "times as long as the first".
    """
    for call in implementations.values():
        call()
    seconds: dict[str, list[float]] = {name: [] for name in implementations}
    for _ in range(rounds):
        for name, call in implementations.items():
            gc.collect()
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    notes = notes or {}
    return [
        Timing(work, name, tuple(values), unit, unit_count, notes.get(name, "")) for name, values in seconds.items()
    ]
