"""What is the data set ``letor-sim``, and how is it written as text?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pipeline_lib import seeds
from pipeline_lib.checks import checked
from pipeline_lib.errors import ConfigurationError
from pipeline_lib.sources import letor
from pipeline_lib.sources.population import Population, PopulationSettings


def default_settings() -> PopulationSettings:
    """The population of ``letor-sim``, which resembles MQ2008 and is written as five parts of 60 queries.

    It has 20 features, 8 to 40 documents per query, and labels 0, 1, 2 with shares .78, .14, .08. About 21 of 100
    queries have no relevant document. With 0 for these queries, NDCG@10 is .67 for u, .66 for least squares on 180
    queries, and .27 for a random order.

    Example
    -------
    >>> default_settings().features
    20
    """
    return PopulationSettings()


@checked
def write_parts(
    settings: PopulationSettings, sizes: Sequence[int], seed: int, folder: str | os.PathLike[str]
) -> list[Path]:
    """Write a sample as LETOR text in parts S1.txt, S2.txt, ..., as for ``letor-sim``.

    Part p has ``sizes[p]`` queries; queries are numbered 1, 2, ... across all parts. Every part has a generator of its
    own, so that changing the size of one part does not change the documents of the others.

    Returns
    -------
    The files, in order.

    Raises
    ------
    ConfigurationError
        When there is no part or a part has no query.
    """
    if not len(sizes) or min(sizes) < 1:
        raise ConfigurationError(f"sizes: expected parts of at least one query each, found sizes {list(sizes)}")
    population, paths, first_qid = Population(settings), [], 1
    for part, n_queries in enumerate(sizes, 1):
        rng = seeds.generator(seed, "letor-sim", part)
        queries = population.draw_queries(n_queries, rng)
        data = population.draw_documents(queries, population.draw_lengths(n_queries, rng), rng, first_qid)
        paths.append(Path(folder) / f"S{part}.txt")
        letor.write(paths[-1], data)
        first_qid += n_queries
    return paths
