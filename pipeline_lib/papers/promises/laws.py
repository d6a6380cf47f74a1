"""From which laws are the values of queries drawn that several promises are tried on?"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.evaluation import simple_rankers
from pipeline_lib.experiment import Job

Law = Callable[[np.random.Generator, Any], Any]
"""Draws values of a shape, which is a number or several."""
ALL = "all laws"
"""The law of a row about all laws together."""


def like_ndcg(rng: np.random.Generator, shape: Any) -> Any:
    """0 or 1 for a fifth of the queries, with ones at .7, and Beta(2, 1) for the others.

    Example
    -------
    >>> values = like_ndcg(np.random.default_rng(0), (2, 500))
    >>> values.shape, bool(((values == 0.0) | (values == 1.0)).mean() < 0.25)
    ((2, 500), True)
    """
    return np.where(rng.random(shape) < 0.2, rng.random(shape) < 0.7, rng.beta(2.0, 1.0, shape))


def of_data_sets(job: Job) -> Iterator[tuple[str, Law, Floats]]:
    """Each data set of the job: its name, draws of its queries with replacement, and its best feature's NDCG@10."""
    for name, data in job.datasets().items():
        _, of_queries = simple_rankers.best_feature(data)
        yield name, _resampled(of_queries), of_queries


def _resampled(of_queries: Floats) -> Law:
    return lambda rng, shape: rng.choice(of_queries, shape)
