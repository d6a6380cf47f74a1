"""What does each job of a study take?"""

from collections.abc import Callable, Sequence

from pipeline_lib.study import planning
from pipeline_lib.study.configuration import Configuration
from pipeline_lib.study.data_sets import DataSets, Wildcards
from pipeline_lib.study.planning import Estimate
from pipeline_lib.study.snakemake_internals import NeededJob
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
        return self.estimate(self._own_name(rulename), wildcards).runtime_minutes(attempt)

    def planned(self, job: NeededJob) -> tuple[str, Estimate]:
        """What the plan says about a job that will run: its rule and its estimate."""
        return job.rule, self.estimate(self._own_name(job.rule), job.wildcards)

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
        extra += planning.SECONDS_PER_PAPER.get(name, 0.0) * len(self._study.papers)
        return Estimate.of(planning.cost(name), cells, extra)

    def _resampling_seconds(self, name: str) -> float:
        """The seconds that bootstrap samples take in a summary of all models, or sign flips in their comparison."""
        compares = name == "compare_models"
        measured = self._study.config["evaluation"]["compared" if compares else "measures"]
        taken = 0.0
        for dataset in self._data.present:
            n_folds = self._data.catalog[dataset].n_folds
            tested = self._data.size(dataset).queries * len(self._study.folds(dataset)) / n_folds
            models = len(self._study.model_names(dataset))
            one = planning.SECONDS_PER_RESAMPLED * tested * models
            if compares:
                one = (planning.SECONDS_PER_SIGN + planning.SECONDS_PER_FLIPPED * models) * tested
                one += planning.SECONDS_PER_COMPARED * models * (models - 1) / 2
            taken += one * len(measured) * self._study.config["statistics"]["resamples"]
        return taken
