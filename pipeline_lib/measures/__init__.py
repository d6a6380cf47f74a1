"""Which ranking measures are there, and how are their names written?

The names are data (``registry.toml``), separate from the code that computes the measures (:mod:`pipeline_lib.metrics`),
because they are checked at every start of the workflow, where no large library may be imported.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline_lib.errors import ConfigurationError
from pipeline_lib.registry import Registry

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_REGISTRY = Registry(Path(__file__).with_name("registry.toml"), "measure")

KNOWN_MEASURES = _REGISTRY.names
"""K stands for a rank."""

EVERY_RANK = 2**63 - 1
"""The rank of a measure that is not cut off: the largest int64."""

_EARLIER_NAMES = {"map": "ap"}

_RANK = re.compile("[1-9][0-9]{0,8}")


@dataclass(frozen=True)
class Measure:
    """How a measure is computed, for all queries at once.

    Attributes
    ----------
    of : callable
        (labels, offsets, cutoffs, y_max) -> float64 array, shape (len(cutoffs), Q). Query q owns the entries
        ``offsets[q]:offsets[q + 1]`` of ``labels``, which are in the order of the ranking, 0 where a document is not
        relevant. The cutoffs increase strictly; a measure that is not cut off has the single cutoff EVERY_RANK.
        ``y_max`` is the largest label of the scale, or None where it is not known.
    formula : str
        What it is, in TeX: y_(i) is the label at rank i, m the number of documents, G the gain and D the discount.
    needs_relevant : bool
        Whether it is undefined for a query without a relevant document, which then gets the value that the caller of
        :func:`pipeline_lib.metrics.per_query` chose.
    """

    of: Callable[[NDArray[np.uint8], NDArray[np.int64], Sequence[int], int | None], NDArray[np.float64]]
    formula: str
    needs_relevant: bool = False


def load(name: str) -> Measure:
    """Import what computes the measure ``name``; a rank after "@" makes no difference.

    Raises
    ------
    ConfigurationError
        When there is no such measure.

    Example
    -------
    >>> load("ndcg@10").needs_relevant, load("p@10").needs_relevant
    (True, False)
    """
    measure: Any = _REGISTRY.load(_registered(name))
    if not isinstance(measure, Measure):
        raise ConfigurationError(f"{target_of(name)}: expected a Measure, found {measure!r}")
    return measure


def target_of(name: str) -> str:
    """The module and the object of the measure ``name``, without importing them.

    Example
    -------
    >>> target_of("ndcg@10")
    'pipeline_lib.metrics:NDCG'
    """
    return _REGISTRY.target_of(_registered(name))


def seed_axis(name: str) -> str:
    """What stands for the measure ``name`` among the axes of a seed.

    Intervals and tests draw their random numbers by it. Where a measure was once called otherwise this is the earlier
    name, so that a better name changes no number of a study.

    Example
    -------
    >>> seed_axis("map"), seed_axis("ndcg@10")
    ('ap', 'ndcg@10')
    """
    return _EARLIER_NAMES.get(name, name)


def _registered(name: str) -> str:
    family, rank = parse(name)
    return family if rank == EVERY_RANK else f"{family}@K"


def parse(name: str) -> tuple[str, int]:
    """The family of a measure and the rank at which it is cut off.

    Raises
    ------
    ConfigurationError
        When there is no such measure; the message gives the nearest one.

    Example
    -------
    >>> parse("ndcg@10"), parse("map") == ("map", EVERY_RANK)
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
