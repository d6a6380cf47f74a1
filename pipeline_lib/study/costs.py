"""What does each job of a study take, where does it run, and with which others is it sent to a cluster?"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from pipeline_lib.study import planning
from pipeline_lib.study.configuration import Configuration
from pipeline_lib.study.data_sets import DataSets, Wildcards
from pipeline_lib.study.planning import Estimate
from pipeline_lib.study.step_rules import StepRule
from pipeline_lib.study.training import RULES as TRAINING
from pipeline_lib.study.training import Trainings

__all__: list[str] = []  # internal: called by the workflow alone (see pipeline_lib.core.checks)


class Costs:
    """The costs of the jobs of a study.

    ``own_name`` gives the name that a rule has in the files of this project: a workflow that imports them may have
    renamed it.
    """

    def __init__(
        self,
        study: Configuration,
        data: DataSets,
        trainings: Trainings,
        steps: Sequence[StepRule],
        own_name: Callable[[str], str],
    ) -> None:
        self._study, self._data, self._trainings = study, data, trainings
        self._steps = {step.rule: step for step in steps}
        self._own_name = own_name

    # Resources of a rule: Snakemake calls them with the job's wildcards, the attempt, and the name of the rule.

    def mem_mb(self, wildcards: Wildcards, attempt: int, rulename: str) -> int:
        """Memory of a job; a retry gets twice as much."""
        return self.estimate(self._own_name(rulename), wildcards).memory_mb(attempt)

    def runtime(self, wildcards: Wildcards, attempt: int, rulename: str) -> int:
        """Minutes that a cluster should allow a job; a retry gets twice as many."""
        name = self._own_name(rulename)
        return self.estimate(name, wildcards).runtime_minutes(attempt, self._jobs_of_batch(name, wildcards))

    def at_once(self, wildcards: Wildcards, rulename: str) -> int:
        """What a job takes of the resource of which profiles for clusters give 1 to a batch: its jobs run in turn."""
        return int(self._jobs_of_batch(self._own_name(rulename), wildcards) > 1)

    def batch(self, name: str) -> Callable[[Wildcards], str | None]:
        """A function of a job of the rule: the submission that it shares with others; None where it has its own."""
        return lambda wildcards: self.batches.get(self._key(name, wildcards))

    def runs_locally(self, name: str, *, per_dataset: bool = False) -> bool:
        """Whether a rule with one job for the study, or for every data set, is so light that no cluster is needed.

        A step of an experiment that is divided into several jobs for a data set is sent.
        """
        step = self._steps.get(name)
        if step is not None and not step.cell.keys() <= {"dataset"}:
            return False
        of_each = per_dataset or (step is not None and "dataset" in step.cell)
        jobs: list[Wildcards] = [{"dataset": dataset} for dataset in self._data.present] if of_each else [{}]
        return all(self.estimate(name, job).is_light for job in jobs)

    def planned(self, job: Any) -> planning.PlannedJob:
        """What the plan needs to know about a job that will run, a ``NeededJob`` of ``snakemake_internals``."""
        found = self.estimate(self._own_name(job.rule), job.wildcards)
        return planning.PlannedJob(job.rule, found.seconds, job.benchmark, found.mb)

    def estimate(self, name: str, wildcards: Wildcards) -> Estimate:
        """What a job of that rule takes."""
        if name in TRAINING:
            training = self._trainings
            return training.estimate(training.dataset(wildcards), training.model(wildcards), training.folds(wildcards))
        dataset = wildcards.get("dataset")
        if name in self._steps:
            step = self._steps[name]
            at_once = [] if "dataset" in step.cell or not step.documents else step.datasets
            cells = 0.0 if dataset is None else self._data.sampled_cells(dataset)
            return step.estimate(wildcards, cells, sum(map(self._data.sampled_cells, at_once)))
        cells = 0.0 if dataset is None else self._data.size(dataset).cells
        extra = self._resampling_seconds(name) if name in ("summarise_results", "compare_models") else 0.0
        return Estimate.of(planning.cost(name), cells, extra)

    def _resampling_seconds(self, name: str) -> float:
        """The seconds that bootstrap samples take in a job that summarises all models, or compares all pairs."""
        measured = self._study.config["evaluation"]["compared" if name == "compare_models" else "measures"]
        taken = 0.0
        for dataset in self._data.present:
            n_folds = self._data.catalog[dataset].n_folds
            tested = self._data.size(dataset).queries * len(self._study.folds(dataset)) / n_folds
            models = len(self._study.model_names(dataset))
            means = models * (models - 1) / 2 if name == "compare_models" else models
            taken += means * len(measured) * tested * self._study.config["statistics"]["resamples"]
        return planning.SECONDS_PER_RESAMPLED * taken

    @cached_property
    def batches(self) -> Mapping[tuple[str, ...], str]:
        """The submissions that short jobs share on a cluster: a data set and a model, or a rule and its cell -> a name.

        A model is all its trainings and its evaluation. What a batch contains reads nothing but data sets, the same
        ones, so that it never waits for another batch.
        """
        short: dict[tuple[str, ...], dict[tuple[str, ...], float]] = {}
        for dataset in self._data.present:
            for model in self._study.model_names(dataset):
                jobs = [
                    self._trainings.estimate(dataset, model, folds) for folds in self._trainings.jobs(dataset, model)
                ]
                if all(job.is_short for job in jobs):
                    jobs.append(self.estimate("evaluate_model", {"dataset": dataset}))
                    short.setdefault((dataset,), {})[dataset, model] = sum(job.seconds for job in jobs)
        for step in self._steps.values():
            if self.runs_locally(step.rule) or not step.reads_only_data:
                continue
            for cell in step.cells:
                job = self.estimate(step.rule, cell)
                if job.is_short:
                    short.setdefault(step.datasets_of(cell), {})[step.rule, *cell.values()] = job.seconds
        return {
            key: "-".join(["batch", *read, str(number)])
            for read, jobs in short.items()
            for number, keys in enumerate(planning.batches(jobs), start=1)
            for key in keys
        }

    def _key(self, name: str, wildcards: Wildcards) -> tuple[str, ...]:
        """The key of a job in :attr:`batches`."""
        if name in self._steps:
            return (name, *self._steps[name].cell_of(wildcards).values())
        if name in TRAINING:
            return self._trainings.dataset(wildcards), self._trainings.model(wildcards)
        return (wildcards["dataset"], wildcards["model"]) if name == "evaluate_model" else ()

    def _jobs_of_batch(self, name: str, wildcards: Wildcards) -> int:
        """How many jobs share the submission of a job of that rule, if all of them run; 1 where it has its own."""
        return self._sizes_of_batches.get(self.batches.get(self._key(name, wildcards), ""), 1)

    @cached_property
    def _sizes_of_batches(self) -> Mapping[str, int]:
        found: dict[str, int] = {}
        for key, name in self.batches.items():
            of_step = key[0] in self._steps
            found[name] = found.get(name, 0) + (1 if of_step else len(self._trainings.jobs(key[0], key[1])) + 1)
        return found
