"""Which data sets has a study, how is each obtained, how large is it, and which files are there of each?"""

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline_lib.core.cost import Size
from pipeline_lib.data import labels
from pipeline_lib.sources import mirrors, own_data, raw_files, sizes
from pipeline_lib.sources.catalog import DataSet
from pipeline_lib.study import planning
from pipeline_lib.study.configuration import Configuration
from pipeline_lib.study.study_settings import section

__all__: list[str] = []  # internal: called by the workflow alone (see pipeline_lib.core.checks)

RAW = Path("data/raw")

Wildcards = Mapping[str, str]
"""The wildcards of a job with their values."""


class DataSets:
    """The data sets of a study.

    Attributes
    ----------
    own : mapping of str to DataSet
        Those that the configuration describes.
    catalog : mapping of str to DataSet
        The public ones and those.
    simulations : mapping
        How every data set is drawn that can be drawn: its queries and its population.
    mirrors : Mirrors
        Where files are looked for.
    availability : mapping of str to Availability
        What is there of each data set of the study.
    present : list of str
        The data sets of the study that its jobs read.
    """

    def __init__(self, study: Configuration, public: Mapping[str, DataSet]) -> None:
        self.own = {name: own_data.data_set(entry) for name, entry in study.own_data.items()}
        self.catalog = {**public, **self.own}
        self.simulations = {
            name: data_set.simulation.with_settings(study.config[section(name)])
            for name, data_set in public.items()
            if data_set.simulation
        }
        self.mirrors = mirrors.configured_mirrors(study.config["mirrors"])
        self.availability = {
            name: mirrors.availability(self.catalog[name], self.mirrors, RAW) for name in study.datasets
        }
        self.present = [name for name, found in self.availability.items() if found.status != "missing"]
        self._study = study
        self._sizes: dict[str, Size] = {}
        self._raw_states: dict[str, str] = {}

    @property
    def missing(self) -> dict[str, str]:
        """The data sets of the study that are not there, with how to get each."""
        return {name: found.how_to_get for name, found in self.availability.items() if name not in self.present}

    @property
    def warnings(self) -> list[str]:
        """The data sets of which measures mislead, as far as they were read, with the reason."""
        return [found for name in self.present if (found := self._warning(name))]

    def warning_after(self, rule: str, wildcards: Wildcards) -> str:
        """The same, of the data set that a job of a rule has read."""
        if rule not in ("convert_data", "simulate_documents"):
            return ""
        return self._warning(wildcards["dataset"])

    def _warning(self, name: str) -> str:
        with contextlib.suppress(OSError, ValueError, KeyError):  # jobs that read it say what is wrong
            summary = json.loads(Path("data/parquet", name, "summary.json").read_text(encoding="utf-8"))
            found = list(filter(None, [labels.warning(summary["labels"]), *summary.get("warnings", ())]))
            if found:
                return f"{name}: {'; '.join(found)}"
        return ""

    @property
    def powers(self) -> list[str]:
        """What comparisons of models can show on data sets of which the number of test queries is known."""
        level = self._study.checked.statistics.level
        models = {name: len(self._study.model_names(name)) for name in self.present}
        queries = {name: self.tested_queries(name) for name, k in models.items() if k > 1}
        return [planning.power(name, n, models[name], level) for name, n in queries.items() if n]

    @property
    def with_text(self) -> list[str]:
        """Those present that come as text."""
        return [name for name in self.present if self.catalog[name].has_text]

    # What a job is told. Each method returns a function of the wildcards, or is one.

    def entry(self, command: str) -> Callable[[Wildcards], str]:
        """The digest of the part of the catalogue's entry that the command reads."""
        return lambda wildcards: self.catalog[wildcards["dataset"]].digest(command)

    def own_entry(self, command: str) -> Callable[[Wildcards], dict[str, Any] | None]:
        """What the command must know of an entry of the configuration; None for other data sets."""
        entries = {name: own_data.plain_entry(entry, command) for name, entry in self._study.own_data.items()}
        return lambda wildcards: entries.get(wildcards["dataset"])

    def simulation(self, key: str) -> Callable[[Wildcards], Any]:
        """How a data set is drawn: its ``queries`` or its ``population``."""
        return lambda wildcards: self.simulations[wildcards["dataset"]][key]

    def raw_state(self, wildcards: Wildcards) -> str:
        """A word that changes when the size or the time of a raw file, or the content of an own one, does.

        It stays as it was when the run was planned: a job of the run may draw the text anew before it is checked.
        """
        name = wildcards["dataset"]
        if name not in self._raw_states:
            record = raw_files.record_path(name)
            self._raw_states[name] = raw_files.state_for_planning(self.catalog[name], RAW, record)
        return self._raw_states[name]

    # How large they are.

    def size(self, name: str) -> Size:
        """The size of a data set, as far as it is known or can be estimated before it is read."""
        if name not in self._sizes:
            summary = Path("data/parquet", name, "summary.json")
            self._sizes[name] = sizes.size(self.catalog[name], self.simulations.get(name), summary)
        return self._sizes[name]

    def unread_size(self, name: str) -> Size:
        """The same from what is known although the data set was never read."""
        return sizes.size(self.catalog[name], self.simulations.get(name), None)

    def tested_queries(self, name: str) -> int | None:
        """How many queries of a data set are test queries of the folds that the study runs; None before this is known.

        Blocks of a part count as equally large, as do parts of a public data set that was never read.
        """
        data_set = self.catalog[name]
        known: Mapping[str, float] = {}
        if data_set.counts is not None or data_set.source == "generated":
            known = dict.fromkeys(data_set.parts, self.size(name).queries / len(data_set.parts))
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            summary = json.loads(Path("data/parquet", name, "summary.json").read_text(encoding="utf-8"))
            known = {part["name"]: part["queries"] for part in summary["parts"]}
        tests = [block.partition("/")[0] for k in self._study.folds(name) for block in data_set.folds[k - 1].test]
        if not known.keys() >= set(tests):
            return None
        return round(sum(known[part] / data_set.split.get(part, 1) for part in tests))

    def sampled_cells(self, name: str) -> float:
        """Feature values of the queries of a data set that experiments read."""
        size, most = self.size(name), self._study.config["experiment_queries"]
        return size.cells if most is None else size.cells * min(1.0, most / max(size.queries, 1.0))

    # Files of all data sets, models and folds.

    def per_dataset(self, pattern: str) -> list[str]:
        """The path for every data set that is present."""
        return [pattern.format(study=self._study.name, dataset=name) for name in self.present]

    @property
    def own_present(self) -> list[str]:
        """Those present that the configuration itself describes."""
        return [name for name in self.present if name in self.own]

    def per_model(self, pattern: str, names: Sequence[str] | None = None) -> list[str]:
        """The path for every model of every data set, or of some data sets."""
        return [
            pattern.format(study=self._study.name, dataset=name, model=model)
            for name in (self.present if names is None else names)
            for model in self._study.model_names(name)
        ]

    def per_fold(self, pattern: str) -> list[str]:
        """The path for every fold of every model of every data set."""
        return [
            pattern.format(study=self._study.name, dataset=name, model=model, fold=fold)
            for name in self.present
            for model in self._study.model_names(name)
            for fold in self._study.folds(name)
        ]
