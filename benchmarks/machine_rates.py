"""What can one core of this machine do in a second, at best?

Each rate is measured with the simplest loop, or the best library call, for the one thing that it counts; it is the best
of several rounds, because a limit is what the machine can do, not what it usually does. Arrays "in cache" are read
again and again; those "in memory" are far larger than any cache.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pipeline_lib import ranking
from pipeline_lib.core.compiled import njit
from pipeline_lib.surrogates import vector_exp

IN_CACHE, IN_MEMORY = 1_000, 2**24
"""Numbers of float64 in an array: 8 kB, so that three arrays are in the first cache, and 128 MiB."""
BATCH, ROUNDS = 0.01, 7
"""Processor seconds of the calls that are timed together, and how many times."""


@dataclass(frozen=True)
class Rate:
    """``per_second`` of the ``unit`` of the ``resource``, by the given ``means``."""

    resource: str
    means: str
    per_second: float
    unit: str


@njit(fastmath={"reassoc", "contract"})
def _sum(a):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(len(a)):
        total += a[i]
    return total


@njit(fastmath={"contract"})
def _triad(a, b, c):  # type: ignore[no-untyped-def]
    for i in range(len(a)):
        a[i] = b[i] + 0.5 * c[i]


@njit
def _our_exp(a, b):  # type: ignore[no-untyped-def]
    for i in range(len(a)):
        a[i] = vector_exp.exp(b[i])


@njit
def _libm_exp(a, b):  # type: ignore[no-untyped-def]
    for i in range(len(a)):
        a[i] = math.exp(b[i])


@njit
def _compare(a, cut):  # type: ignore[no-untyped-def]
    count = 0
    for i in range(len(a)):
        count += np.int64(a[i] > cut)
    return count


@njit(error_model="numpy")
def _divide(a, b, c):  # type: ignore[no-untyped-def]
    for i in range(len(a)):
        a[i] = b[i] / c[i]


@njit
def _sort_lists(s, m, ranked):  # type: ignore[no-untyped-def]
    for begin in range(0, len(s), m):
        ranking.order_by_score(s[begin : begin + m], ranked)


def fastest(call: Callable[[], Any]) -> float:
    """The smallest processor seconds of a call, over batches that are long enough for the clock."""
    call()
    start = time.process_time()
    call()
    calls = max(1, int(BATCH / max(time.process_time() - start, 1e-7)))
    seconds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(calls):
            call()
        seconds.append((time.process_time() - start) / calls)
    return min(seconds)


def measure() -> list[Rate]:
    """All rates; the order is that of the table."""
    rng = np.random.default_rng(20265)
    return [*_memory(), *_arithmetic(rng), *_sorting(rng)]


def _memory() -> list[Rate]:
    rates = []
    for where, n in (("memory", IN_MEMORY), ("cache", IN_CACHE)):
        a, b, c = (np.full(n, value) for value in (0.0, 1.0, 2.0))
        for means, call, arrays in (("sum", partial(_sum, b), 1), ("triad a = b + x c", partial(_triad, a, b, c), 3)):
            rates.append(Rate(f"bytes, {where}", means, 8.0 * n * arrays / fastest(call), "B"))
    return rates


def _arithmetic(rng: np.random.Generator) -> list[Rate]:
    b, c, a = rng.normal(size=IN_CACHE), rng.uniform(1.0, 2.0, IN_CACHE), np.empty(IN_CACHE)
    A, B, x = rng.normal(size=(400, 400)), rng.normal(size=(400, 400)), rng.normal(size=400)
    out = np.empty((400, 400))
    calls: list[tuple[str, str, Callable[[], Any], float, str]] = [
        ("exponentials", "ours, vectorised", partial(_our_exp, a, b), IN_CACHE, "e^x"),
        ("exponentials", "numpy", partial(np.exp, b, a), IN_CACHE, "e^x"),
        ("exponentials", "libm", partial(_libm_exp, a, b), IN_CACHE, "e^x"),
        ("comparisons", "count a > x", partial(_compare, b, 0.5), IN_CACHE, "pairs"),
        ("divisions", "a = b / c", partial(_divide, a, b, c), IN_CACHE, "divisions"),
        ("multiply-adds", "dgemm, 400 x 400", partial(np.matmul, A, B, out), 400.0**3, "multiply-adds"),
        ("multiply-adds", "dgemv, 400 x 400", partial(np.matmul, A, x), 400.0**2, "multiply-adds"),
    ]
    return [Rate(resource, means, n / fastest(call), unit) for resource, means, call, n, unit in calls]


def _sorting(rng: np.random.Generator) -> list[Rate]:
    rates = []
    for m in (40, 120):
        lists = rng.normal(size=(1_200 // m * 4, m))
        flat, ranked = lists.ravel(), np.empty(m, np.int64)
        for means, call in (
            ("ours", partial(_sort_lists, flat, m, ranked)),
            ("numpy argsort", partial(np.argsort, lists, 1)),
            ("numpy argsort, stable", partial(np.argsort, lists, 1, "stable")),
        ):
            rates.append(Rate(f"sorted documents, lists of {m}", means, flat.size / fastest(call), "documents"))
    return rates


def best(rates: list[Rate]) -> dict[str, float]:
    """The best rate of every resource."""
    found: dict[str, float] = {}
    for rate in rates:
        found[rate.resource] = max(found.get(rate.resource, 0.0), rate.per_second)
    return found
