"""Which jobs does each step of an experiment have in a study, and which files do they read and write?

A declared step (:mod:`pipeline_lib.experiment`) knows no study; :class:`StudyStep` puts it into one: the available data
sets, their folds and models, and the experiment's settings. The rule file makes a rule of every :class:`StudyStep`.
Paths hold the wildcards of the workflow, ``{study}`` among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pipeline_lib import papers
from pipeline_lib.experiment import ALL_MODELS, EVERY, FIRST, Cell, Step, axes_of
from pipeline_lib.settings import Settings

DOCUMENTS, FOLDS = "data/parquet/{dataset}/documents.parquet", "data/parquet/{dataset}/folds.parquet"
MB_PER_MILLION_CELLS = 24.0
"""Memory of a step for every million feature values that it reads: in float32, in float64, and a copy of that."""
EVALUATION = "results/{study}/evaluation/{dataset}/{model}.parquet"


@dataclass(frozen=True)
class StudyView:
    """What steps need to know of a study.

    Attributes
    ----------
    settings : mapping
        Paper and experiment -> its settings.
    folds : mapping
        The available data sets, in the study's order -> the folds that it runs.
    models : mapping
        The same data sets -> the models trained on them.
    facts : mapping
        What steps may request by name (:attr:`pipeline_lib.experiment.Step.facts`), as plain values. ``reproduces``
        maps the models that reproduce a published row to that row.
    """

    settings: Mapping[tuple[str, str], Settings]
    folds: Mapping[str, Sequence[int]]
    models: Mapping[str, Sequence[str]]
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class StudyStep:
    """A step of an experiment in a study."""

    paper: str
    experiment: str
    step: Step
    study: StudyView

    @property
    def rule(self) -> str:
        """The name of its rule."""
        return f"{self.paper}_{self.step.name}"

    @property
    def settings(self) -> Settings:
        """The settings of its experiment."""
        return self.study.settings[self.paper, self.experiment]

    @property
    def arguments(self) -> dict[str, Any]:
        """Its settings as plain values, without those that only choose which jobs there are."""
        selectors = papers.experiment(self.paper, self.experiment).selectors
        return {key: value for key, value in self.settings.plain().items() if key not in selectors}

    @property
    def facts(self) -> dict[str, Any]:
        """What its jobs need to know of the study."""
        return {name: self.study.facts[name] for name in self.step.facts}

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
        at_hand = list(self.study.folds)
        if chosen == FIRST:
            return at_hand[:1]
        if chosen in (EVERY, "all") or (not chosen and "dataset" in self.step.axes):
            return at_hand
        return [name for name in at_hand if name in chosen]

    def datasets_of(self, cell: Cell) -> tuple[str, ...]:
        """The data sets that the job of a cell reads."""
        if "dataset" in cell:
            return (cell["dataset"],)
        return tuple(self.datasets) if self.step.documents else ()

    @cached_property
    def cells(self) -> list[Cell]:
        """Every combination of values of its axes, in order: one job for each."""
        combinations: list[dict[str, str]] = [{}]
        for axis in self.step.axes:
            combinations = [{**cell, axis: str(value)} for cell in combinations for value in self._values(axis, cell)]
        if self.step.documents == FIRST and not self.datasets:
            return []
        return list(combinations)

    def _values(self, axis: str, cell: Cell) -> Iterable[Any]:
        if axis == "dataset":
            return self.datasets
        return self.study.folds[cell["dataset"]] if axis == "fold" else self.step.divided[axis](self.settings)

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
        return [path for table in self.step.reads for path in self._parts(table)]

    def _parts(self, table: str) -> list[str]:
        [producer] = [
            StudyStep(self.paper, name, step, self.study)
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
            for dataset, models in self.study.models.items()
            for model in models
            if chosen == ALL_MODELS or (dataset in chosen and model in self.study.facts["reproduces"])
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
    def reads_only_data(self) -> bool:
        """Whether it reads nothing that another job of the study makes, besides data sets."""
        return not (self.tables or self.evaluations or any(path.startswith("results/") for path in self.step.files))

    @property
    def written(self) -> list[str]:
        """The tables that a job writes."""
        return [f"results/{{study}}/{table}.parquet" for table in self.step.tables]

    @property
    def evidence(self) -> list[str]:
        """The evidence that a job writes."""
        return [f"results/{{study}}/evidence/{claim}.json" for claim in self.step.claims]

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
        from pipeline_lib import surrogates

        named, run = self.step.surrogates_of(self.settings), self.step.run
        return [
            papers.module_of(self.paper, self.experiment),
            f"{run.__module__}:{run.__name__}",
            *sorted({surrogates.target_of(name) for name in named}),
        ]

    def seconds(self, cell: Cell, cells: float) -> float:
        """What the settings make a job take beyond its fixed cost, on ``cells`` feature values."""
        extra = self.step.seconds(self.settings, cell)
        return extra * cells / 1e6 if self.step.seconds_grow_with_data else extra

    def megabytes(self, cells: float = 0.0) -> float:
        """The memory that a job takes beyond its fixed cost, because of its settings and of data sets read at once.

        ``cells`` are the feature values of those data sets, for a step that is not divided by data set: its fixed cost
        knows nothing of them.
        """
        return self.step.megabytes(self.settings) + MB_PER_MILLION_CELLS * cells / 1e6


def of_study(study: StudyView, chosen: Iterable[str]) -> list[StudyStep]:
    """The steps of the chosen papers in a study."""
    return [StudyStep(paper, experiment, step, study) for paper, experiment, step in papers.steps(chosen)]
