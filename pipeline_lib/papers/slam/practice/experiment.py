"""How do SLAM's learners compare with others, and do a kernel or repairs help them? (`slam`, section 7, question 3)

Four paired comparisons are made on every data set of the study, by NDCG@10 on the test queries of all folds: the best
SLAM learner with every other kind of learner, the best of these with the remaining SLAM learners, the best perceptron
that has a kernel with those that have none, and the best repaired SLAM learner with those as printed. A learner is
repaired if it updates on misordered documents only, or is trained on short lists. As the best are found on the same
queries, the family of a comparison is every learner of one group with every learner of the other; the first two
comparisons have the same family.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core import storage
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Settings
from pipeline_lib.data.invariants import PER_QUERY
from pipeline_lib.data.rows import Field, FromOne, Interval, OnlyInterval, Proportion, Row
from pipeline_lib.experiment import ALL_MODELS, Experiment, Job, Step
from pipeline_lib.papers.slam.differences import FILE_ORDER
from pipeline_lib.statistics import compare_runs

MEASURE = "ndcg@10"
NORMAL = 1.96
"""Half of a 95 % interval in standard errors, for means over many queries."""

Family = Literal["slam", "baseline", "control"]
Values = Mapping[str, Floats]
"""Model -> NDCG@10 of every test query, in the same order for all models."""


class PracticeSettings(Settings):
    """SLAM's learners compared with all others of the study; this experiment has no settings."""


class Comparison(
    Row,
    table="tables/slam-practice",
    key=("dataset", "question", "other"),
    always=(
        "difference = value - other_value",
        "worst_fold <= 0",
        "n_queries = MIN(n_queries) OVER (PARTITION BY dataset)",
        "value = MIN(value) OVER (PARTITION BY dataset, model)",
        "worst_fold = MIN(worst_fold) OVER (PARTITION BY dataset, model)",
    ),
):
    """The best learner of one group compared with a learner of another, on the test queries of all folds."""

    dataset: str = Field(description="name of the data set")
    question: str = Field(description="which groups are compared: practice, family, kernel or repaired")
    model: str = Field(description="name of the best learner of the first group")
    title: str = Field(description="its title")
    value: Proportion = Field(description="its mean NDCG@10")
    other: str = Field(description="name of the learner of the other group, the groups' best one in the first row")
    other_title: str = Field(description="its title")
    other_value: Proportion = Field(description="its mean NDCG@10")
    difference: OnlyInterval = Field(description="value minus other_value; intervals of a family of tests hold jointly")
    n_queries: FromOne = Field(description="test queries of all folds")
    p_adjusted: Proportion = Field(
        description="p of the paired randomisation test, adjusted for all tests of its family"
    )
    unlearned: str = Field(description="titles of the SLAM learners that ended at w = 0: they rank as the file does")
    file_order: Proportion | None = Field(
        description="mean NDCG@10 of the order of the file; missing if it is no model"
    )
    worst_fold: Interval = Field(
        description="how far the best learner's worst fold lies below its mean on all others, as a share of that: at "
        "most 0, and 0 with one fold; with its 95 % interval"
    )


@dataclass(frozen=True)
class Model:
    """A model of the study: name, title, family; whether it is a perceptron, has a kernel, is repaired."""

    name: str
    title: str
    family: Family
    perceptron: bool
    kernel: bool
    repaired: bool = False

    @classmethod
    def from_entry(cls, entry: Mapping[str, Any]) -> "Model":
        """Take an entry of ``models.json``.

        Example
        -------
        >>> entry = {"model": "p", "title": "P", "algorithm": "perceptron", "surrogate": None, "control": False}
        >>> Model.from_entry({**entry, "settings": {"features": "raw"}}).family
        'slam'
        """
        perceptron, settings = entry["algorithm"] == "perceptron", entry["settings"]
        of_slam = perceptron or (entry["surrogate"] or "").startswith("slam-")
        family: Family = "slam" if of_slam else "control" if entry["control"] else "baseline"
        kernel = isinstance(settings.get("features"), Mapping)
        repaired = family == "slam" and bool(settings.get("active") == "misordered" or settings.get("sublists"))
        return cls(entry["model"], entry["title"], family, perceptron, kernel, repaired)


Question = tuple[str, Sequence[Model], Sequence[Model]]
"""A comparison, with the group of which the best is taken, and the group with which that one is compared."""


def measure(job: Job) -> Iterator[Comparison]:
    """Compare the models on every data set; the rows of a comparison begin with the best of the others."""
    [path] = job.files
    models = [Model.from_entry(entry) for entry in storage.read_json(path)["models"]]
    for dataset, (values, folds) in per_query(job.evaluations).items():
        if len(folds) > 1:  # one test query allows no test
            yield from compared(dataset, models, values, folds, job.facts["statistics"], job.seed)


def per_query(evaluations: Iterable[Path]) -> dict[str, tuple[dict[str, Floats], NDArray[np.int64]]]:
    """For every data set: the values of :data:`MEASURE` by model, in the order of folds and queries, and the folds.

    Raises
    ------
    DataError
        When a query of a fold is counted twice.
    """
    found: dict[str, tuple[dict[str, Floats], NDArray[np.int64]]] = {}
    for path in evaluations:
        table = PER_QUERY.read(path).sort("fold", "query")
        if MEASURE in table.columns and not table.is_empty():  # as that of a model that could not be trained
            folds = table["fold"].to_numpy().astype(np.int64)
            values, _ = found.setdefault(table["dataset"][0], ({}, folds))
            values[table["model"][0]] = table[MEASURE].to_numpy()
    return found


def compared(
    dataset: str,
    models: Sequence[Model],
    values: Values,
    folds: NDArray[np.int64],
    statistics: Mapping[str, Any],
    seed: int,
) -> Iterator[Comparison]:
    """All comparisons on one data set, with intervals and p-values that hold for their family of tests."""
    of_file = values.get(FILE_ORDER)
    slam = [model for model in models if model.name in values and model.family == "slam"]
    same = [model.title for model in slam if of_file is not None and np.array_equal(values[model.name], of_file)]
    for questions in _families(models, values):
        found = _tested(questions[0], values, statistics, generator(seed, "slam-practice", dataset, questions[0][0]))
        for question, candidates, others in questions:
            best = _best(candidates, values)
            for other in sorted(others, key=lambda model: (-_mean(values, model), model.name)):
                difference, p_adjusted = found[best.name, other.name]
                yield Comparison(
                    dataset=dataset,
                    question=question,
                    model=best.name,
                    title=best.title,
                    value=_mean(values, best),
                    other=other.name,
                    other_title=other.title,
                    other_value=_mean(values, other),
                    difference=difference,
                    n_queries=len(values[best.name]),
                    p_adjusted=p_adjusted,
                    unlearned=", ".join(same),
                    file_order=None if of_file is None else float(of_file.mean()),
                    worst_fold=_worst_fold(values[best.name], folds),
                )


def _tested(
    question: Question, values: Values, statistics: Mapping[str, Any], rng: np.random.Generator
) -> dict[tuple[str, str], tuple[Interval, float]]:
    """The differences between all learners of one group and of the other, in both directions, each with its p-value."""
    _, first, second = question
    runs = np.stack([values[model.name] for model in (*first, *second)])
    pairs = list(product(range(len(first)), range(len(first), len(runs))))
    found = compare_runs(runs, pairs=pairs, rng=rng, **statistics)
    tested = {}
    for i, (a, b) in enumerate(product(first, second)):
        value, low, high = (float(numbers[i]) for numbers in (found.difference, found.low, found.high))
        tested[a.name, b.name] = Interval(value, low, high), float(found.p_adjusted[i])
        tested[b.name, a.name] = Interval(0.0 - value, 0.0 - high, 0.0 - low), float(found.p_adjusted[i])
    return tested


def _families(models: Sequence[Model], values: Values) -> Iterator[list[Question]]:
    """The questions of every family of tests, with groups that are not empty; those of the first make up the family."""
    tested = [model for model in models if model.name in values]
    slam, baselines = ([m for m in tested if m.family == family] for family in ("slam", "baseline"))
    with_kernel, without = ([m for m in tested if m.perceptron and m.kernel is kernel] for kernel in (True, False))
    repaired, printed = ([m for m in slam if not m.kernel and m.repaired is repairs] for repairs in (True, False))
    if slam and baselines:
        others = [model for model in slam if model is not _best(slam, values)]
        yield [("practice", slam, baselines), ("family", baselines, others)]
    for question, candidates, others in (("kernel", with_kernel, without), ("repaired", repaired, printed)):
        if candidates and others:
            yield [(question, candidates, others)]


def _best(models: Sequence[Model], values: Values) -> Model:
    return max(models, key=lambda model: (_mean(values, model), model.name))


def _mean(values: Values, model: Model) -> float:
    return float(values[model.name].mean())


def _worst_fold(values: Floats, folds: NDArray[np.int64]) -> Interval:
    """How far the worst fold lies below the mean of all others, as a share of it; 0 with one fold.

    A ranker falls to the level of chance where the labels of a fold are not those of its documents.
    """
    lags = [(0.0, 0.0)]
    for fold in np.unique(folds):
        inside, outside = values[folds == fold], values[folds != fold]
        if min(len(inside), len(outside)) > 1 and outside.any():
            error = math.hypot(*(float(part.std(ddof=1)) / math.sqrt(len(part)) for part in (inside, outside)))
            lag, half = float(inside.mean() - outside.mean()), NORMAL * error
            lags.append((lag / float(outside.mean()), half / float(outside.mean())))
    lag, half = min(lags)
    return Interval(lag, lag - half, lag + half)


EXPERIMENT = Experiment(
    PracticeSettings,
    Step(
        "practice",
        measure,
        rows=(Comparison,),
        evaluations=ALL_MODELS,
        files=["results/models.json"],
        facts=["statistics"],
    ),
)
