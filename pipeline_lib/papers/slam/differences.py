"""How much more does one ranker reach than another on the same queries, after training on every fold?"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.seeds import generator
from pipeline_lib.data.ranking_data import RankingData, Standardisation
from pipeline_lib.data.rows import Interval, Row
from pipeline_lib.experiment import Job
from pipeline_lib.statistics import bootstrap_interval


def difference(a: Floats, b: Floats, statistics: Mapping[str, Any], axes: tuple[Any, ...]) -> Interval:
    """The mean of a - b with its bootstrap interval; both ends are 0 if a is b.

    ``statistics`` has the study's ``level`` and ``resamples``, ``axes`` seed the bootstrap.

    Example
    -------
    >>> import numpy as np
    >>> ones = np.ones(3)
    >>> difference(ones + 0.5, ones, {"level": 0.95, "resamples": 100}, (1, "doctest"))
    Interval(value=0.5, low=0.5, high=0.5, freedom=None)
    """
    if a is b:
        return Interval(0.0, 0.0, 0.0)
    mean = float((a - b).mean())
    low, high = bootstrap_interval(a - b, **statistics, rng=generator(*axes))
    # Where all differences are nearly equal, rounding may put an end on the wrong side of the mean.
    return Interval(mean, min(low, mean), max(high, mean))


Folds = Mapping[int, Sequence[RankingData]]
"""Fold -> its training and its test queries."""
FILE_ORDER = "file-order"
"""The ranker of score 0, which leaves documents in the order of the file."""


def on_every_data_set(job: Job, on_data: Callable[..., Iterator[Row]]) -> Iterator[Row]:
    """The rows that ``on_data`` finds on the folds of every data set of a job."""
    for path in job.documents:
        dataset = path.parent.name
        folds = {fold: job.parts(dataset, fold, ("train", "test")) for fold in job.facts["folds"][dataset]}
        yield from on_data(job.settings, dataset, folds, job.facts["statistics"], job.seed)


def over_folds(
    folds: Folds,
    trained: Callable[[int, RankingData], Mapping[Any, Floats]],
    measured: Callable[[Floats, RankingData], Mapping[Any, Floats]],
) -> tuple[dict[tuple[Any, Any], Floats], dict[Any, float]]:
    """Train linear rankers on the standardised training queries of every fold, and measure them on its test queries.

    Returns
    -------
    dict, dict
        The values of every ranker, and of :data:`FILE_ORDER`, by every measure on the test queries of all folds; and
        the largest ||w|| of every ranker.
    """
    values: dict[tuple[Any, Any], list[Floats]] = defaultdict(list)
    norms: dict[Any, float] = defaultdict(float)
    for fold, (train, test) in folds.items():
        standard = Standardisation.of(train)
        inside, outside = standard.apply(train.in_role("train")), standard.apply(test.in_role("test"))
        for ranker, w in {FILE_ORDER: np.zeros(inside.n_features), **trained(fold, inside)}.items():
            norms[ranker] = max(norms[ranker], float(np.linalg.norm(w)))
            for measure, own in measured(outside.X64 @ w, outside).items():
                values[ranker, measure].append(own)
    return {key: np.concatenate(parts) for key, parts in values.items()}, norms
