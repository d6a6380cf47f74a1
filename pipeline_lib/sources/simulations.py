"""How does the catalogue say that a generated data set is drawn?

Configurations are checked whenever the workflow is planned, and this module therefore imports no large library.
:mod:`pipeline_lib.sources.catalog` checks the catalogue and reads it as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline_lib import schemas
from pipeline_lib.errors import ConfigurationError
from pipeline_lib.sources.population_settings import PopulationSettings

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.checks)

_INSTALLED = Path(__file__).with_name("catalog.yaml")
CATALOG = _INSTALLED if _INSTALLED.is_file() else Path(__file__).resolve().parents[2] / "data" / "catalog.yaml"


@dataclass(frozen=True)
class Simulation:
    """How a generated data set is drawn, unless the configuration says otherwise.

    ``population`` overrides the defaults of :class:`pipeline_lib.sources.population_settings.PopulationSettings`;
    ``as_text`` says whether the parts are written as LETOR text, which is then converted as that of other data sets.
    """

    title: str
    n_parts: int
    queries: int
    population: Mapping[str, Any]
    as_text: bool

    def with_settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The ``queries`` and the ``population`` of a study, whose ``settings`` override those of the catalogue.

        Example
        -------
        >>> simulation = Simulation("Toy", 5, 300, {"noise": 0.1}, True)
        >>> simulation.with_settings({"queries": 50, "population": {"features": 3}})
        {'queries': 50, 'population': {'noise': 0.1, 'features': 3}}
        """
        return {"queries": settings["queries"], "population": {**self.population, **settings["population"]}}

    def fitting(self, overrides: dict[str, Any]) -> dict[str, Any]:
        """The overrides of a study, if a population can have them together with those of the catalogue.

        Raises
        ------
        ValueError
            Which a class of settings turns into its own error.
        """
        try:
            PopulationSettings.from_mapping({**self.population, **overrides})
        except ConfigurationError as error:
            raise ValueError(str(error).removeprefix("population: ")) from None
        return overrides


def of_entry(entry: Mapping[str, Any]) -> Simulation | None:
    """What an entry of the catalogue says; None for a data set that is not generated."""
    said = entry.get("simulation")
    if said is None:
        return None
    return Simulation(
        entry["title"], len(entry["parts"]), said["queries"], said.get("population", {}), as_text="text" in entry
    )


def declared() -> dict[str, Simulation]:
    """The generated data sets of the catalogue, by name.

    Example
    -------
    >>> declared()["letor-sim"].queries
    300
    """
    entries = schemas.load(CATALOG, "a catalogue")["data_sets"]
    return {name: found for name, entry in entries.items() if (found := of_entry(entry)) is not None}
