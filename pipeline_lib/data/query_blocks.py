"""In which blocks are the documents of a large data set worked on, and by how many threads?

Features are stored in single precision and computed with in double precision. A small matrix is converted once. Of a
large one, a block of whole queries is converted whenever it is used, so that its numbers in double precision never
exceed a few MiB for every thread. Where a block begins depends on the data alone. Blocks are independent of each other,
every one is computed by a single thread, and what they contribute to a sum is added in their order: the number of
threads decides how long it takes, and not a bit of what comes out.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.cost import LARGE_CELLS

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

WHOLE_BYTES = 8 * LARGE_CELLS
"""Features that take at most so much in double precision are one block, which is converted once."""
BLOCK_BYTES = 1 << 22
"""A block of a larger matrix ends with the first query at which it takes so much: it remains in a core's cache."""

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Block:
    """Some queries that follow each other: which they are, their rows, and where each of them begins among these."""

    queries: slice
    rows: slice
    offsets: NDArray[np.int64]


def is_large(n_documents: int, n_features: int) -> bool:
    """Whether so many features are worked on in several blocks."""
    return 8 * n_documents * n_features > WHOLE_BYTES


def whole(offsets: NDArray[np.int64]) -> Block:
    """All queries as one block."""
    return Block(slice(0, len(offsets) - 1), slice(0, int(offsets[-1])), offsets)


def block(offsets: NDArray[np.int64], first: int, last: int) -> Block:
    """The queries from ``first`` to ``last - 1`` as a block."""
    begin, end = int(offsets[first]), int(offsets[last])
    within = offsets[first : last + 1] - begin
    within.flags.writeable = False  # as those of all queries are: numba compiles kernels for one kind of array
    return Block(slice(first, last), slice(begin, end), within)


def of(offsets: NDArray[np.int64], n_features: int) -> list[Block]:
    """The blocks of queries that begin at these offsets.

    Example
    -------
    >>> [(block.queries, block.offsets.tolist()) for block in of(np.array([0, 2, 5]), 3)]
    [(slice(0, 2, None), [0, 2, 5])]
    """
    if not is_large(int(offsets[-1]), n_features):
        return [whole(offsets)]
    rows = max(1, BLOCK_BYTES // (8 * n_features))
    blocks, first, n_queries = [], 0, len(offsets) - 1
    while first < n_queries:
        last = min(int(np.searchsorted(offsets, offsets[first] + rows)), n_queries)
        blocks.append(block(offsets, first, last))
        first = last
    return blocks


_POOL: ContextVar[ThreadPoolExecutor | None] = ContextVar("pool", default=None)


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Let so many threads work on blocks at a time, inside ``with``; elsewhere it is one.

    Example
    -------
    >>> with threads(2):
    ...     list(in_order(abs, [-1, 2]))
    [1, 2]
    """
    if number == 1:
        yield
        return
    with ThreadPoolExecutor(number) as pool:
        token = _POOL.set(pool)
        try:
            yield
        finally:
            _POOL.reset(token)


def in_order(function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """The results of the function, in the order of the items, whichever thread computes them.

    Results that are not yet taken wait in memory: they should be small. Within the function, a thread works alone.
    """
    pool = _POOL.get()
    return map(function, items) if pool is None or len(items) == 1 else pool.map(function, items)


def total(parts: Iterator[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The sum of arrays of one shape, added one after the other; the first one itself where there is no other."""
    found = next(parts)
    for part in parts:
        found += part
    return found
