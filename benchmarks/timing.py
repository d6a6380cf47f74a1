"""How long does every implementation of the same work take in one run on this machine?

All implementations of one piece of work are called in turn, round after round, so that a machine whose speed drifts
slows all of them alike; what counts are the ratios within a round (:mod:`benchmarks.ratios`), not the seconds. Seconds
are processor seconds of the process, in user mode and in the system, so that other work on the machine counts as little
as possible.
"""

import gc
import math
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

ROUNDS = 9
BUDGET = 8.0
"""Processor seconds for the counted calls of one implementation of one work."""
SHORT = 0.01

Note = str | Callable[[Mapping[str, Any]], str]
"""A note, or a function that makes it of the results of all implementations, by their names."""


@dataclass(frozen=True)
class Timing:
    """One implementation's time for one piece of work.

    ``seconds`` contains the time of every counted call; every call processes ``unit_count`` units, named by ``unit``.
    The k-th call of one implementation and that of another belong to the same round. One NaN means: not measured, for
    the reason in ``note``.
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


@dataclass(frozen=True)
class Table:
    """Any other table of a benchmark: the names of its columns, with the first one on the left, and its cells."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def processor_seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of a call in this process, all threads together, and its result."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def not_measured(work: str, implementation: str, unit: str, reason: object) -> Timing:
    """The row of an implementation that was not measured."""
    return Timing(work, implementation, (math.nan,), unit, math.nan, str(reason))


def median_seconds(call: Callable[[], object], rounds: int = 5) -> float:
    """The median of some calls after one that does not count."""
    call()
    return statistics.median(processor_seconds(call)[0] for _ in range(rounds))


def compare(
    work: str,
    implementations: Mapping[str, Callable[[], object]],
    *,
    unit: str,
    unit_count: float,
    rounds: int = ROUNDS,
    calls_a_round: int = 1,
    budget: float = BUDGET,
    notes: Mapping[str, Note] | None = None,
    timer: Callable[[Callable[[], Any]], tuple[float, Any]] = processor_seconds,
) -> list[Timing]:
    """Time every implementation in ``rounds`` interleaved rounds, after one call each that is not counted.

    The first implementation is ours: ratios in the tables are "times as long as the first". One whose first call shows
    that it would exceed the ``budget`` takes part in fewer of the rounds; the first call of one that exceeds it by a
    single call is the one that counts. A ``timer`` may stop a call: it then gives NaN seconds.

    Work of less than :data:`SHORT` seconds is done several times in a row, as in training: ``calls_a_round`` calls, of
    which the mean counts, after one that is not counted and brings the data back into the processor's cache.
    """
    firsts, results = {}, {}
    for name, call in implementations.items():
        gc.collect()
        firsts[name], results[name] = timer(call)
    calls = {name: calls_a_round if first < SHORT else 1 for name, first in firsts.items()}
    taken = {name: rounds_within(budget, first * calls[name], rounds) for name, first in firsts.items()}
    seconds: dict[str, list[float]] = {name: [] if taken[name] else [first] for name, first in firsts.items()}
    for k in range(rounds):
        for name, call in implementations.items():
            if k < taken[name]:
                seconds[name].append(_round(call, calls[name], timer))
    written = {
        name: note if isinstance(note, str) else note(results)
        for name, note in (notes or {}).items()
        if name in results
    }
    return [
        Timing(work, name, tuple(values), unit, unit_count, written.get(name, "")) for name, values in seconds.items()
    ]


def rounds_within(budget: float, seconds: float, rounds: int) -> int:
    """How many rounds an implementation takes part in, by the seconds of its first; none after one that was stopped."""
    if math.isnan(seconds) or seconds > budget:
        return 0
    return rounds if seconds * rounds <= budget else int(budget / seconds)


def _round(call: Callable[[], Any], calls: int, timer: Callable[[Callable[[], Any]], tuple[float, Any]]) -> float:
    gc.collect()
    if calls == 1:
        return timer(call)[0]
    call()

    def several() -> None:
        for _ in range(calls):
            call()

    return timer(several)[0] / calls
