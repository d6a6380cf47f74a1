"""Which jobs train the models of a study, on which folds, with which settings and code, and at what cost?

The start of a job takes up to two seconds. Where a training takes less than a few, one job trains a model on all folds
(rule ``train_model``); otherwise each fold has a job (rule ``train_fold``), so that these can run at the same time.
"""

import contextlib
import json
import math
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from pipeline_lib import learners, metrics, surrogates
from pipeline_lib.core.cost import LARGE_CELLS, Size
from pipeline_lib.study import import_closure, planning
from pipeline_lib.study.configuration import Configuration
from pipeline_lib.study.data_sets import DataSets, Wildcards
from pipeline_lib.study.job_command import compact

__all__: list[str] = []  # internal: called by the workflow alone (see pipeline_lib.core.checks)

RULES = ("train_model", "train_fold")


class Trainings:
    """The training jobs of a study. A job's wildcard ``trained`` is ``DATASET/MODEL``."""

    def __init__(self, study: Configuration, data: DataSets) -> None:
        self._study, self._data = study, data
        # The study's folds of a data set that has five, as most have. A rule states its files before any data set is
        # known to it, and what one job trains must not change with the other data sets of the study.
        self.usual_folds = study.folds_among(5) or [1]

    @cached_property
    def together(self) -> set[tuple[str, str]]:
        """The data sets and models of which one job trains all folds.

        If its job became another one, a model would be trained again. What is learned when a data set is read therefore
        decides nothing here: its size is what was known of it before.
        """
        found = set()
        for dataset in self._data.present:
            if self._study.folds(dataset) == self.usual_folds:
                size = self._data.unread_size(dataset)
                for model in self._study.model_names(dataset):
                    longest = max(self._seconds(dataset, model, fold, size) for fold in self.usual_folds)
                    if planning.cost("train_model").seconds(size.cells) + longest <= planning.TRAINING_SECONDS:
                        found.add((dataset, model))
        return found

    def pattern(self, *, together: bool) -> str:
        """A regular expression for ``trained``: the models of which one job trains all folds, or the others."""
        every = ((name, model) for name in self._data.present for model in self._study.model_names(name))
        chosen = [f"{name}/{model}" for name, model in every if ((name, model) in self.together) is together]
        return "|".join(map(re.escape, chosen)) or planning.NO_VALUE

    def jobs(self, dataset: str, model: str) -> list[list[int]]:
        """The training jobs of a model: the folds of each."""
        if (dataset, model) in self.together:
            return [self.usual_folds]
        return [[fold] for fold in self._study.folds(dataset)]

    # What a job is told.

    def folds(self, wildcards: Wildcards) -> list[int]:
        """The folds on which a job trains its model."""
        fold = wildcards.get("fold")
        return self.usual_folds if fold is None else [int(fold)]

    def dataset(self, wildcards: Wildcards) -> str:
        """The data set of a job."""
        return wildcards["trained"].partition("/")[0]

    def model(self, wildcards: Wildcards) -> str:
        """The model of a job."""
        return wildcards["trained"].partition("/")[2]

    def algorithm(self, wildcards: Wildcards) -> str:
        """The learner of a job's model."""
        return self._study.model(self.model(wildcards)).algorithm

    def settings(self, wildcards: Wildcards) -> list[str]:
        """The settings of a job as words of its command: those of all folds, or those of each."""
        words = [compact(settings) for settings in self._settings_of_folds(wildcards)]
        return words if len(set(words)) > 1 else words[:1]

    def code(self, wildcards: Wildcards) -> str:
        """The digest of a job's code: the command, its learner and surrogate, and the measure by which it chooses."""
        entry = self._study.model(self.model(wildcards))
        named = [learners.target_of(entry.algorithm)]
        if entry.surrogate is not None:
            named.append(surrogates.target_of(entry.surrogate))
        chosen_by = {found for settings in self._settings_of_folds(wildcards) if (found := settings.get("selection"))}
        return import_closure.digest_of_command("train_model", *named, *sorted(map(metrics.target_of, chosen_by)))

    def code_of_evaluation(self, wildcards: Wildcards) -> str:
        """The digest of one evaluation's code: the command, the measures, and the surrogate whose risk is recorded."""
        surrogate = self._study.model(wildcards["model"]).surrogate
        named = [metrics.target_of(name) for name in self._study.config["evaluation"]["measures"]]
        named += [] if surrogate is None else [surrogates.target_of(surrogate)]
        return import_closure.digest_of_command("evaluate_model", *named)

    def threads(self, wildcards: Wildcards) -> int:
        """The threads of a job: those of the study where its data are large, and else one."""
        large = self._data.size(self.dataset(wildcards)).cells > LARGE_CELLS
        return int(self._study.config["threads"]) if large else 1

    def warning_after(self, rule: str, wildcards: Wildcards) -> str:
        """Why a job of a rule left out its model; nothing if it trained a model on every fold."""
        if rule not in RULES:
            return ""
        for fold in self.folds(wildcards):
            path = Path("results", self._study.name, "models", wildcards["trained"], f"fold-{fold}.json")
            with contextlib.suppress(OSError, ValueError):  # jobs that read it say what is wrong
                if reason := json.loads(path.read_text(encoding="utf-8")).get("untrained"):
                    model, dataset = self.model(wildcards), self.dataset(wildcards)
                    return f"{model} is left out of the results of {dataset}; on fold {fold}: {reason}"
        return ""

    def _settings_of_folds(self, wildcards: Wildcards) -> list[dict[str, Any]]:
        model, dataset = self.model(wildcards), self.dataset(wildcards)
        return [self._study.settings(model, dataset, fold) for fold in self.folds(wildcards)]

    # What a job costs.

    def estimate(self, dataset: str, model: str, folds: Sequence[int]) -> planning.Estimate:
        """What a job takes that trains a model on some folds, one after the other."""
        size, cost = self._data.size(dataset), planning.cost("train_model")
        taken = [self._seconds(dataset, model, fold, size) for fold in folds]
        # The job is a fork of a process that has imported the libraries.
        extra = math.fsum(max(one - learners.learner.IMPORTS, 0.0) for one in taken)
        settings = self._study.settings(model, dataset, self._study.folds(dataset)[0])
        extra_mb = learners.get(self._study.model(model).algorithm).memory(settings, size)
        return planning.Estimate.of(cost, size.cells, extra, extra_mb)

    def _seconds(self, dataset: str, model: str, fold: int, size: Size) -> float:
        """What the settings of a model add to one training."""
        learner = learners.get(self._study.model(model).algorithm)
        return learner.estimate(self._study.settings(model, dataset, fold), size)
