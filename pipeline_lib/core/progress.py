"""How does long work report its progress?

Modules write to ``logging.getLogger(__name__)``. The library adds no handler, so that nothing is printed unless a
program requests it: the commands of this project do so by :func:`printed`, and a caller's own handlers work as with any
library. Nothing that is logged becomes part of a result.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO, TypeVar

_LOG = logging.getLogger(__name__)
Item = TypeVar("Item")

SECONDS = 10.0
"""Work that consists of many small steps logs about one line in this time."""


@contextmanager
def printed(stream: TextIO) -> Iterator[None]:
    """Print what the package logs to ``stream``, each line at once and with the seconds since the block began.

    Example
    -------
    >>> import sys
    >>> with printed(sys.stdout):
    ...     logging.getLogger("pipeline_lib.learners.erm").info("l2 = 0.1: 7 iterations")  # doctest: +ELLIPSIS
         0.0 s  learners.erm: l2 = 0.1: 7 iterations
    """
    logger, handler = logging.getLogger("pipeline_lib"), logging.StreamHandler(stream)
    handler.setFormatter(_Elapsed())
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


class Pace:
    """Determine when another line is due: at most once in :data:`SECONDS`, and not before they have passed once.

    Example
    -------
    >>> Pace().due()
    False
    """

    def __init__(self) -> None:
        self._last = time.monotonic()

    def due(self) -> bool:
        """Whether :data:`SECONDS` have passed since the object was created or a line was last due."""
        now = time.monotonic()
        if now - self._last < SECONDS:
            return False
        self._last = now
        return True


def counted(items: Sequence[Item], what: str, state: Callable[[], str] | None = None) -> Iterator[Item]:
    """Iterate over ``items`` and log from time to time how many of them are done.

    ``what`` names the items, and ``state`` says how far the work has come after at least one of them.

    Example
    -------
    >>> list(counted(range(3), "rounds"))
    [0, 1, 2]
    """
    pace = Pace()
    for number, item in enumerate(items):
        if pace.due():
            reached = f"; {state()}" if state is not None and number else ""
            _LOG.info(f"{number} of {len(items)} {what} done{reached}")
        yield item


class _Elapsed(logging.Formatter):
    def __init__(self) -> None:
        super().__init__()
        self._start = time.time()

    def format(self, record: logging.LogRecord) -> str:
        module = record.name.removeprefix("pipeline_lib.")
        return f"{record.created - self._start:8.1f} s  {module}: {super().format(record)}"
