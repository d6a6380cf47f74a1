"""How is a data set of the catalogue drawn from its population, and how is it stored?"""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core import checks, seeds
from pipeline_lib.core.checks import checked
from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.sources import length_law, letor
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.sources.population_settings import LogNormalLengths


@checked
def sizes_of_parts(queries: int, n_parts: Annotated[int, checks.Range(1, 1000)]) -> list[int]:
    """Divide queries among 1 to 1000 parts of equal size; the first ones get one more where that is not possible.

    Raises
    ------
    DataError
        When there are no parts, or more.

    Example
    -------
    >>> sizes_of_parts(31_531, 5)
    [6307, 6306, 6306, 6306, 6306]
    """
    return [queries // n_parts + (i < queries % n_parts) for i in range(n_parts)]


@checked
def parts(
    name: str, settings: PopulationSettings, sizes: Mapping[str, int], seed: int
) -> dict[str, Callable[[], RankingData]]:
    """The parts of a simulated data set; each is drawn when its function is called, and always the same.

    Part p has ``sizes[p]`` queries; queries are numbered 1, 2, ... across all parts. Every part has a generator of its
    own, so that changing the size of one part does not change the documents of the others. Where the lengths of lists
    have the log-normal law, all of them are drawn first, by one generator for the whole data set, because they add up
    to ``mean`` times the number of queries, rounded (:func:`pipeline_lib.sources.length_law.exact`).

    Raises
    ------
    ConfigurationError
        When there is no part or a part has no query.

    Example
    -------
    >>> settings = PopulationSettings(features=2, documents=3)
    >>> drawn = parts("letor-sim", settings, {"S1": 2, "S2": 1}, seed=1)
    >>> {part: draw().qids.tolist() for part, draw in drawn.items()}
    {'S1': [1, 2], 'S2': [3]}
    """
    if not sizes or min(sizes.values()) < 1:
        raise ConfigurationError(
            f"sizes: expected parts of at least one query each, found sizes {list(sizes.values())}"
        )
    population, law = Population(settings), settings.documents
    ends = np.cumsum(list(sizes.values())).tolist()
    exact: NDArray[np.int64] | None = None
    if isinstance(law, LogNormalLengths):
        exact = length_law.exact(law, length_law.draw(law, ends[-1], seeds.generator(seed, name, "lengths")))

    def drawn(number: int, size: int, end: int) -> RankingData:
        rng = seeds.generator(seed, name, number, role="alone")
        queries = population.draw_queries(size, rng)
        lengths = population.draw_lengths(size, rng) if exact is None else exact[end - size : end]
        return population.draw_documents(queries, lengths, rng, first_qid=end - size + 1)

    numbered = enumerate(zip(sizes, ends, strict=True), start=1)
    return {part: partial(drawn, number, sizes[part], end) for number, (part, end) in numbered}


@checked
def write_text(
    drawn: Mapping[str, Callable[[], RankingData]], folder: str | os.PathLike[str]
) -> Iterator[tuple[str, Path]]:
    """Write the parts as LETOR text, ``FOLDER/PART.txt``, one after the other; yield each with its file.

    Raises
    ------
    ArgumentError
        When a function of ``drawn`` gives something else than a ``RankingData``; earlier parts are written by then.
    """
    for part, draw in drawn.items():
        path = Path(folder) / f"{part}.txt"
        letor.write(path, checks.instance(f"drawn[{part!r}]()", draw(), RankingData), force=True)
        yield part, path
