"""Which ranking measures are there, and how are their names written?

:mod:`pipeline_lib.metrics` computes them. The names stand apart because every start of the workflow checks them, and
nothing heavy may be imported there.
"""

from __future__ import annotations

import difflib
import re

from pipeline_lib.errors import ConfigurationError

KNOWN_MEASURES = ("ndcg", "ndcg@K", "ap", "err", "p@K", "letor4_ndcg@K", "letor4_mean_ndcg")
"""K stands for a rank."""

EVERY_RANK = 2**63 - 1
"""The rank of a measure that is not cut off: the largest int64."""

_RANK = re.compile("[1-9][0-9]{0,8}")


def parse(name: str) -> tuple[str, int]:
    """The family of a measure and the rank at which it is cut off.

    Raises
    ------
    ConfigurationError
        When there is no such measure; the message gives the nearest one.

    Example
    -------
    >>> parse("ndcg@10"), parse("ap") == ("ap", EVERY_RANK)
    (('ndcg', 10), True)
    >>> parse("ndcg@03")
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.ConfigurationError: unknown measure 'ndcg@03'; did you mean 'ndcg@3'?
    """
    family, at, rank = name.partition("@")
    if at and _RANK.fullmatch(rank) and f"{family}@K" in KNOWN_MEASURES:
        return family, int(rank)
    if not at and name in KNOWN_MEASURES:
        return family, EVERY_RANK
    rank = rank.strip().lstrip("0")
    known = [measure.replace("K", rank if _RANK.fullmatch(rank) else "10") for measure in KNOWN_MEASURES]
    without_rank = [measure for measure in known if measure.startswith(f"{name.lower()}@")]
    nearest = (without_rank or difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.0))[0]
    raise ConfigurationError(f"unknown measure {name!r}; did you mean {nearest!r}?")
