"""Which jobs does each step of an experiment have in a study, and which files do they read and write?

A declared step (:mod:`pipeline_lib.experiment`) knows no study; a :class:`StepRule` puts it into one: the data sets
that can be read, their folds and models, and the experiment's settings. ``workflow/rules/experiments.smk`` makes a rule
of every :class:`StepRule`. Paths hold the wildcards of the workflow, ``{study}`` among them.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pipeline_lib import papers, surrogates
from pipeline_lib.core.settings import Settings
from pipeline_lib.experiment import ALL_MODELS, EVERY, Cell, Step, axes_of
from pipeline_lib.study.configuration import Configuration
from pipeline_lib.study.planning import Estimate

DOCUMENTS, FOLDS = "data/parquet/{dataset}/documents.parquet", "data/parquet/{dataset}/folds.parquet"
MB_PER_MILLION_CELLS = 24.0
"""Memory of a step for every million feature values that it reads: in float32, in float64, and a copy of that."""
EVALUATION = "results/{study}/evaluation/{dataset}/{model}.parquet"


FACTS: "Mapping[str, Callable[[StepRule], Any]]" = {
    "folds": lambda rule: {name: rule.study.folds(name) for name in rule.present},
    "reproduces": lambda rule: rule.study.reproduces,
    "statistics": lambda rule: rule.study.config["statistics"],
}
"""What steps may request by name (:attr:`pipeline_lib.experiment.Step.facts`), as plain values."""


@dataclass(frozen=True)
class StepRule:
    """The rule of a step of an experiment in a study, of which ``present`` are the data sets that can be read."""

    paper: str
    experiment: str
    step: Step
    study: Configuration
    present: Sequence[str]

    @property
    def rule(self) -> str:
        """The name of its rule."""
        return f"{self.paper}_{self.step.name}"

    @property
    def settings(self) -> Settings:
        """The settings of its experiment."""
        return self.study.experiments[self.paper, self.experiment]

    @property
    def arguments(self) -> dict[str, Any]:
        """Its settings as plain values, without those that only choose which jobs there are."""
        selectors = papers.experiment(self.paper, self.experiment).selectors
        return {key: value for key, value in self.settings.plain().items() if key not in selectors}

    @property
    def facts(self) -> dict[str, Any]:
        """What its jobs need to know of the study."""
        return {name: FACTS[name](self) for name in self.step.facts}

    @property
    def cell(self) -> dict[str, str]:
        """Every axis with its wildcard, as the value of ``--cell``."""
        return {axis: f"{{{axis}}}" for axis in self.step.axes}

    @property
    def cell_path(self) -> str:
        """The end of the paths of its logs: a folder, and the wildcards of its axes."""
        return "/" + "-".join(self.cell.values()) if self.cell else ""

    @cached_property
    def datasets(self) -> list[str]:
        """The data sets that it reads or is divided by."""
        chosen = self.step.documents(self.settings) if callable(self.step.documents) else self.step.documents
        if chosen in (EVERY, "all") or (not chosen and "dataset" in self.step.axes):
            return list(self.present)
        return [name for name in self.present if name in chosen]

    @cached_property
    def cells(self) -> list[Cell]:
        """Every combination of values of its axes, in order: one job for each."""
        combinations: list[dict[str, str]] = [{}]
        for axis in self.step.axes:
            combinations = [{**cell, axis: str(value)} for cell in combinations for value in self._values(axis, cell)]
        return list(combinations)

    def _values(self, axis: str, cell: Cell) -> Iterable[Any]:
        if axis == "dataset":
            return self.datasets
        return self.study.folds(cell["dataset"]) if axis == "fold" else self.step.divided[axis](self.settings)

    def cell_of(self, wildcards: Any) -> dict[str, str]:
        """The value of every axis, for the job of some wildcards."""
        return {axis: wildcards[axis] for axis in self.cell}

    @property
    def constraints(self) -> dict[str, str]:
        """A regular expression for every axis that is not constrained in all rules alike."""
        values = {axis: dict.fromkeys(cell[axis] for cell in self.cells) for axis in self.step.divided}
        return {axis: "|".join(map(re.escape, found)) or "none" for axis, found in values.items()}

    @property
    def documents(self) -> list[str]:
        """The documents that a job reads."""
        return self._of_datasets(DOCUMENTS) if self.step.documents or "dataset" in self.step.axes else []

    @property
    def folds(self) -> list[str]:
        """The tables of folds that a job reads."""
        return self._of_datasets(FOLDS) if self.step.with_folds or "fold" in self.step.axes else []

    def _of_datasets(self, pattern: str) -> list[str]:
        return [pattern] if "dataset" in self.step.axes else [pattern.format(dataset=name) for name in self.datasets]

    @property
    def tables(self) -> list[str]:
        """The tables of other steps that a job reads, all parts of each."""
        return [path for row in self.step.reads for path in self._parts(row.table)]

    def _parts(self, table: str) -> list[str]:
        [producer] = [
            StepRule(self.paper, name, step, self.study, self.present)
            for name, declared in papers.experiments(self.paper).items()
            for step in declared.steps
            if table in step.tables
        ]
        own = {axis: f"{{{axis}}}" for axis in axes_of(table) if axis in self.step.axes}
        parts = (table.format(**{**cell, **own}) for cell in producer.cells)
        return [f"results/{{study}}/{part}.parquet" for part in dict.fromkeys(parts)]

    @property
    def evaluations(self) -> list[str]:
        """The measures of models that a job reads."""
        chosen = self.step.evaluations
        return [
            EVALUATION.format(study="{study}", dataset=dataset, model=model)
            for dataset in self.present
            for model in self.study.model_names(dataset)
            if chosen == ALL_MODELS or (dataset in chosen and model in self.study.reproduces)
        ]

    @property
    def files(self) -> list[str]:
        """The other files that a job reads."""
        return [re.sub(r"^results/", "results/{study}/", path) for path in self.step.files]

    @property
    def inputs(self) -> list[str]:
        """All files that a job reads; those of the project begin with their folder there."""
        return [*self.documents, *self.folds, *self.tables, *self.evaluations, *self.files]

    @property
    def written(self) -> list[str]:
        """The tables that a job writes."""
        return [f"results/{{study}}/{table}.parquet" for table in self.step.tables]

    @property
    def shown(self) -> list[str]:
        """The tables that all its jobs write for the report."""
        return [
            f"results/{{study}}/{path}.parquet"
            for table in self.step.shown
            for path in dict.fromkeys(table.format(**cell) for cell in self.cells)
        ]

    @property
    def targets(self) -> list[str]:
        """The code that its jobs name: the declaration, its function in there, and the surrogates of the settings."""
        module = papers.module_of(self.paper, self.experiment)
        named = {surrogates.target_of(name) for name in self.step.surrogates_of(self.settings)}
        return [f"{module}:{self.step.run.__name__}", *sorted(named)]

    @property
    def priority(self) -> int:
        """About the seconds of its longest job; where they grow with the data, those for a million feature values.

        Long jobs start first, so that no core is idle while one that began last ends.
        """
        return round(max((self.step.seconds(self.settings, cell) for cell in self.cells), default=0.0))

    def estimate(self, cell: Cell, cells: float, at_once: float) -> Estimate:
        """What the job of a cell takes.

        ``cells`` are the feature values of the data set by which its work is divided, and ``at_once`` those of all data
        sets that it reads otherwise: its fixed cost knows nothing of them.
        """
        seconds = self.step.seconds(self.settings, cell)
        if self.step.seconds_grow_with_data:
            seconds *= cells / 1e6
        mb = self.step.megabytes(self.settings) + MB_PER_MILLION_CELLS * at_once / 1e6
        return Estimate.of(self.step.cost, cells, seconds, mb)


def of_study(study: Configuration, present: Sequence[str]) -> list[StepRule]:
    """The rules of the steps of all papers in a study, of which ``present`` are the data sets that can be read."""
    return [StepRule(*names, study, present) for names in papers.steps(papers.names())]
