"""How large is a data set, as far as this is known when work is planned?"""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline_lib.core.cost import Size
from pipeline_lib.sources.catalog import DataSet
from pipeline_lib.sources.population_settings import PopulationSettings

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

# What is assumed of data of which only the number of feature values is known.
_USUAL_FEATURES = 50
_USUAL_DOCUMENTS = 30


def size(data_set: DataSet, simulation: Mapping[str, Any] | None, summary: Path | None) -> Size:
    """The size of a data set: exact if possible, and an estimate otherwise.

    Parameters
    ----------
    data_set : DataSet
        Its counts are used if it has any.
    simulation : mapping or None
        The ``queries`` and the ``population`` that determine a generated data set.
    summary : Path, optional
        The summary of the converted data, which is read if it exists and neither of the former is known.

    Example
    -------
    >>> from pipeline_lib.sources import catalog
    >>> simulation = {"queries": 200, "population": {"features": 300, "documents": 30}}
    >>> size(catalog.get("letor-sim"), simulation, Path("none.json"))
    Size(documents=6000.0, queries=200, features=300)
    >>> size(catalog.get("OHSUMED"), simulation, Path("none.json")).queries
    106
    """
    if simulation is not None and data_set.source == "generated":
        queries, population = simulation["queries"], PopulationSettings.from_mapping(simulation["population"])
        return Size(float(queries * population.mean_documents), queries, population.features)
    if data_set.counts is not None and data_set.n_features:
        return Size(data_set.counts.rows, data_set.counts.queries, data_set.n_features)
    # A summary that cannot be read is no reason to stop: the job that makes it will report what is wrong.
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        if summary is not None:
            found = json.loads(summary.read_text(encoding="utf-8"))
            return Size(found["rows"], found["queries"], found["features"])
    features = data_set.n_features or _USUAL_FEATURES
    documents = data_set.n_cells / features
    return Size(documents, documents / _USUAL_DOCUMENTS, features)
