"""What do the experiments on ConeRank share: groups of rows, exponents in P, pairs of documents, and populations?"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.data.ranking_data import RankingData, Standardisation
from pipeline_lib.sources.population import Population
from pipeline_lib.statistics import Interval, fit_exponent

T = TypeVar("T")


def grouped(rows: Iterable[T], *names: str) -> dict[tuple[Any, ...], list[T]]:
    """The rows by the values of some attributes, in the order in which these come first."""
    found: dict[tuple[Any, ...], list[T]] = defaultdict(list)
    for row in rows:
        found[tuple(getattr(row, name) for name in names)].append(row)
    return found


def exponents_of(rows: Sequence[Any], groups: Sequence[str], statistics: Sequence[str]) -> Iterator[dict[str, Any]]:
    """For every group of rows and ``statistic`` its exponent in P, ``slope``, with its interval over repetitions.

    Rows have attributes ``P`` and ``repetition``, those named by ``groups``, and the statistics.

    Example
    -------
    >>> from types import SimpleNamespace as Measured
    >>> rows = [Measured(method="sg", P=P, repetition=r, s=(1 + r) / P) for P in (10, 20, 40) for r in (0, 1)]
    >>> [found] = exponents_of(rows, ("method",), ("s",))
    >>> found["method"], found["statistic"], round(found["slope"].value, 6)
    ('sg', 's', -1.0)
    """
    for group, chosen in grouped(rows, *groups).items():
        ordered = sorted(chosen, key=attrgetter("repetition", "P"))
        grid = sorted({row.P for row in chosen})
        for statistic in statistics:
            values = np.reshape([getattr(row, statistic) for row in ordered], (-1, len(grid)))
            fit = fit_exponent(grid, values)
            slope = Interval(fit.slope, fit.low, fit.high)
            yield {**dict(zip(groups, group, strict=True)), "statistic": statistic, "slope": slope}


def pairs_of_queries(data: RankingData) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """For every query the documents of its pairs, those with the higher labels and those with the lower ones."""
    for begin, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        y = data.y[begin:end]
        higher, lower = np.nonzero(y[:, None] > y)
        yield begin + higher, begin + lower


def without(counts: NDArray[Any], kind: int | np.integer[Any]) -> NDArray[Any]:
    """The numbers of queries of every kind in a sample after one query is left out.

    Example
    -------
    >>> without(np.array([2, 1]), 0)
    array([1, 1])
    """
    return counts - (np.arange(len(counts)) == kind)


def unit_scale(population: Population) -> Standardisation:
    """What makes the coordinates of a population's documents, of size feature_norm / sqrt(d), of size 1."""
    d, norm = population.settings.features, population.settings.feature_norm
    return Standardisation(np.zeros(d), np.full(d, norm / math.sqrt(d)))
