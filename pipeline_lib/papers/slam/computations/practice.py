"""How do SLAM's learners compare with others, and do a kernel or repairs help them? (`slam`, section 7, question 3)

Five paired comparisons are made on every data set of the study, by NDCG@10 on the test queries of all folds: the best
SLAM learner with every other kind of learner, the best of these with the remaining SLAM learners, the best perceptron
that has a kernel with those that have none, the best repaired SLAM learner with those as printed, and the best
perceptron that is the mean of its iterates with those that are the last one. A learner is repaired if it updates on
misordered documents only, or is trained on short lists; the last comparison leaves repaired learners and kernels out.
The first two comparisons are one family of tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import statistics, storage
from pipeline_lib.arrays import Floats
from pipeline_lib.seeds import generator

MEASURE = "ndcg@10"
FILE_ORDER = "file-order"
"""The control that leaves documents in the order of the file."""

NORMAL = 1.96
"""Half of a 95 % interval in standard errors, for means over many queries."""

Row = dict[str, Any]
Family = Literal["slam", "baseline", "control"]


@dataclass(frozen=True)
class Model:
    """A model of the study: name, title, family; whether it is a perceptron, has a kernel, is repaired, is a mean."""

    name: str
    title: str
    family: Family
    perceptron: bool
    kernel: bool
    repaired: bool = False
    averaged: bool = False

    @classmethod
    def from_entry(cls, entry: Mapping[str, Any]) -> Model:
        """Take an entry of ``models.json``.

        Example
        -------
        >>> entry = {"model": "p", "title": "P", "algorithm": "perceptron", "surrogate": None, "control": False}
        >>> Model.from_entry({**entry, "settings": {"features": "raw"}}).family
        'slam'
        """
        perceptron = entry["algorithm"] == "perceptron"
        family: Family = "control" if entry["control"] else "baseline"
        if perceptron or (entry["surrogate"] or "").startswith("slam-"):
            family = "slam"
        settings = entry["settings"]
        kernel = isinstance(settings.get("features"), Mapping)
        repaired = family == "slam" and bool(settings.get("active") == "misordered" or settings.get("sublists"))
        averaged = perceptron and bool(settings.get("average"))
        return cls(entry["model"], entry["title"], family, perceptron, kernel, repaired, averaged)


def per_query(evaluations: Iterable[Path]) -> tuple[dict[str, dict[str, Floats]], dict[str, NDArray[np.int64]]]:
    """The values of :data:`MEASURE` by data set and model, in the order of folds and queries, and the fold of each."""
    values: dict[str, dict[str, Floats]] = {}
    folds: dict[str, NDArray[np.int64]] = {}
    for path in evaluations:
        table = storage.read_table(path).sort("fold", "query")
        if MEASURE in table.columns:
            values.setdefault(table["dataset"][0], {})[table["model"][0]] = table[MEASURE].to_numpy()
            folds[table["dataset"][0]] = table["fold"].to_numpy().astype(np.int64)
    return values, folds


def run(
    models: Sequence[Model],
    values: Mapping[str, Mapping[str, Floats]],
    folds: Mapping[str, NDArray[np.int64]],
    level: float,
    resamples: int,
    seed: int,
) -> list[Row]:
    """Compare the models; the rows of a comparison begin with the best of the others.

    ``values[dataset][model]`` holds NDCG@10 of every test query, in the same order for all models, and
    ``folds[dataset]`` the fold of each.
    """
    rows: list[Row] = []
    for dataset, per_model in values.items():
        tested = [model for model in models if model.name in per_model]
        slam, baselines = ([m for m in tested if m.family == family] for family in ("slam", "baseline"))
        with_kernel, without = ([m for m in tested if m.perceptron and m.kernel is kernel] for kernel in (True, False))
        repaired, printed = ([m for m in slam if not m.kernel and m.repaired is repairs] for repairs in (True, False))
        plain = [m for m in printed if m.perceptron]
        averaged, last = ([m for m in plain if m.averaged is mean] for mean in (True, False))
        tests: list[list[Row]] = [[], [], [], []]
        if slam and baselines:
            others = [m for m in slam if m is not _best(slam, per_model)]
            tests[0] += _compared(dataset, "practice", slam, baselines, per_model, level, resamples, seed)
            tests[0] += _compared(dataset, "family", baselines, others, per_model, level, resamples, seed)
        if with_kernel and without:
            tests[1] += _compared(dataset, "kernel", with_kernel, without, per_model, level, resamples, seed)
        if repaired and printed:
            tests[2] += _compared(dataset, "repaired", repaired, printed, per_model, level, resamples, seed)
        if averaged and last:
            tests[3] += _compared(dataset, "averaged", averaged, last, per_model, level, resamples, seed)
        for family in filter(None, tests):
            corrected = statistics.holm([row.pop("p") for row in family])
            of_file = {
                "unlearned": _unlearned(slam, per_model),
                "file_order": float(per_model[FILE_ORDER].mean()) if FILE_ORDER in per_model else None,
            }
            for row, p in zip(family, corrected, strict=True):
                worst = _worst_fold(per_model[row["model"]], folds[dataset])
                rows.append({**row, "p_holm": float(p), **of_file, **worst})
    return rows


def _unlearned(slam: Sequence[Model], values: Mapping[str, Floats]) -> str:
    """Titles of the SLAM learners that rank every query as the order of the file does: they ended at w = 0."""
    if FILE_ORDER not in values:
        return ""
    return ", ".join(model.title for model in slam if np.array_equal(values[model.name], values[FILE_ORDER]))


def _worst_fold(values: Floats, folds: NDArray[np.int64]) -> dict[str, float]:
    """How far the worst fold lies below the mean of all others, as a share of it, with its interval; 0 with one fold.

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
    return {"worst_fold": lag, "worst_fold_low": lag - half, "worst_fold_high": lag + half}


def _compared(
    dataset: str,
    question: str,
    candidates: Sequence[Model],
    others: Sequence[Model],
    values: Mapping[str, Floats],
    level: float,
    resamples: int,
    seed: int,
) -> list[Row]:
    """The best of the candidates compared with each of the others, with p before Holm's correction."""
    best = _best(candidates, values)
    a = values[best.name]
    rows = []
    for other in sorted(others, key=lambda model: (-float(values[model.name].mean()), model.name)):
        b = values[other.name]
        axes = (seed, "slam-practice", dataset, question, best.name, other.name)
        low, high = statistics.bootstrap_difference(
            a, b, level=level, resamples=resamples, rng=generator(*axes, "bootstrap")
        )
        p = statistics.paired_randomisation_test(a, b, resamples=resamples, rng=generator(*axes, "randomisation"))
        rows.append(
            {
                "dataset": dataset,
                "question": question,
                "model": best.name,
                "title": best.title,
                "value": float(a.mean()),
                "other": other.name,
                "other_title": other.title,
                "other_value": float(b.mean()),
                "difference": float((a - b).mean()),
                "low": low,
                "high": high,
                "n_queries": len(a),
                "p": p,
            }
        )
    return rows


def _best(models: Sequence[Model], values: Mapping[str, Floats]) -> Model:
    return max(models, key=lambda model: (float(values[model.name].mean()), model.name))
