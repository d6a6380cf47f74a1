"""How many basis vectors does ConeRank need, and what effect do its constants and its prediction step have?

Measured are Figure 3 of `cone`, the comparison with RankSVM of section 5, Algorithm 2 compared with the linear score,
and the effects of the folding-in, alpha, rho, c, the weights and form (9). One slice is one fold of a data set.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import metrics, progress
from pipeline_lib.arrays import Floats
from pipeline_lib.claims.evidence import Evidence, Interval, Trial
from pipeline_lib.learners import cone
from pipeline_lib.learners.cone_ranking import FoldIn, direction, same_order, votes
from pipeline_lib.learners.declared import erm
from pipeline_lib.ranking_data import RankingData, Standardisation
from pipeline_lib.statistics import over_folds

if TYPE_CHECKING:
    from pipeline_lib.papers.cone.experiments.bases import BasesSettings

_LOG = logging.getLogger(__name__)

TABLE = "tables/cone-bases.parquet"

FOLD_INS: tuple[FoldIn, ...] = ("gradient", "least-squares")
SELECTION = "letor4_mean_ndcg"
NEAR_TEN = (5, 20)


@dataclass(frozen=True)
class Variant:
    """One way to train: the comparison to which it belongs, and its settings; ``level`` is the constant varied."""

    part: str
    level: float | None
    method: cone.Method
    K: int
    problem: cone.Problem


def variants(settings: BasesSettings, d: int) -> Iterator[Variant]:
    """Every variant for d features."""
    first, K = settings.methods[0], min(settings.basis, d)
    for k in settings.bases:
        if k <= d:
            yield Variant("basis", float(k), first, k, cone.Problem())
    for method in settings.methods:
        yield Variant("method", None, method, K, cone.Problem())
    for alpha in settings.alphas:
        yield Variant("alpha", alpha, first, K, cone.Problem(alpha=alpha))
    for rho in settings.rhos:
        yield Variant("rho", rho, first, K, cone.Problem(rho=rho * math.sqrt(d)))
    for c in settings.cs:
        yield Variant("c", c, first, K, cone.Problem(c=c * math.sqrt(d)))
    yield Variant("weights", None, first, K, cone.Problem(weighted=False))
    for high in settings.largest_sums:
        yield Variant("form-9", high, first, K, cone.Problem(band=(1.0, high), norms="equal"))


def run_fold(
    settings: BasesSettings, dataset: str, fold: int, parts: Sequence[RankingData], seed: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Train every variant on one fold; rows of measures, and of comparisons of the two ways to predict.

    ``parts`` are the training, validation and test part, not standardised.
    """
    standard = Standardisation.of(parts[0])
    train, validation, test = (standard.apply(part) for part in parts)
    rows, predictions = [_ranksvm(settings, dataset, fold, parts)], []
    trained: dict[tuple[Any, ...], cone.Fit] = {}
    for variant in progress.counted(list(variants(settings, train.n_features)), _LOG, "variants"):
        for start in range(settings.starts):
            # Variants that differ only in the comparison to which they belong are trained once.
            key = (variant.method, variant.K, variant.problem, start)
            if key not in trained:
                trained[key] = cone.fit(
                    train,
                    variant.K,
                    method=variant.method,
                    problem=variant.problem,
                    passes=settings.passes,
                    traced=False,
                    seed=(seed, "cone-bases", dataset, fold, variant.K, start),
                )
            fit = trained[key]
            for fold_in in FOLD_INS:
                comparison = {"dataset": dataset, "fold": fold, "part": variant.part, "level": variant.level}
                measured = _measured(fit, fold_in, validation, test)
                model: dict[str, Any] = {"method": variant.method, "K": variant.K, "start": start, "fold_in": fold_in}
                rows.append({**comparison, **model, "objective": float(fit.objective[-1]), **measured})
                if variant.part == "method" and start == 0:
                    another = queries_in_another_order(test, fit.U, fold_in, variant.problem)
                    axes = {"dataset": dataset, "fold": fold, "method": variant.method, "fold_in": fold_in}
                    predictions.append({**axes, "queries": test.n_queries, "in_another_order": another})
    return rows, predictions


def queries_in_another_order(data: RankingData, U: Floats, fold_in: FoldIn, problem: cone.Problem) -> int:
    """The number of queries that Algorithm 2 as printed orders differently from the linear score, except for ties."""
    a = direction(U, fold_in)
    scores = np.einsum("ij,j->i", data.X64, a)
    rho, another = problem.rho_of(data.n_features), 0
    for begin, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        X = data.X64[begin:end]
        points = votes(X, U, fold_in, alpha=problem.alpha, rho=rho)
        scale = float(np.linalg.norm(a)) * float(np.linalg.norm(X, axis=1).max())
        another += not same_order(points, scores[begin:end], scale)
    return another


def evidence(rows: Sequence[Mapping[str, Any]]) -> list[Evidence]:
    """The evidence for Figure 3 and for K = 1, whose intervals over paired folds are in no table."""
    figure, halfspace = [], []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        chosen = [row for row in rows if row["dataset"] == dataset and row["fold_in"] in (None, "gradient")]
        for measure in ("map", "ndcg"):
            groups = figure_3(chosen, measure)
            if groups is not None:
                figure.append(Trial({"dataset": dataset, "measure": measure.upper()}, groups, TABLE))
        values = compared_with_ranksvm(chosen)
        if values is not None:
            halfspace.append(Trial({"dataset": dataset}, values, TABLE))
    return [
        _or_none(
            "cone-fig3",
            figure,
            "On the test part, Algorithm 1 with the gradient folding-in; the best K of each group by its mean over "
            "folds. The differences are taken fold by fold, with their interval over folds, so that the difficulty of "
            "a fold cancels.",
            "Figure 3 needs two folds of a data set with more than 20 features, and K below 5, from 5 to 20 and above; "
            "run workflow/studies/letor-real.yaml with MQ2008 in a mirror folder.",
        ),
        _or_none(
            "cone-k1",
            halfspace,
            "On the test part, means over folds and starts. The difference is taken fold by fold, with its interval "
            "over folds if there are two or more, so that the difficulty of a fold cancels.",
            "K = 1 is not among experiments: cone: bases.",
        ),
    ]


def figure_3_means(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The curves of Figure 3: mean over folds and starts for every K, with the interval over folds.

    A single fold has no interval: ``low`` and ``high`` are missing.
    """
    values: dict[tuple[str, str, str, int], dict[int, list[float]]] = {}
    for row in rows:
        if row["part"] == "basis":
            for measure in ("map", "ndcg"):
                key = (row["dataset"], row["fold_in"], measure, row["K"])
                values.setdefault(key, {}).setdefault(row["fold"], []).append(row[measure])
    points = []
    for (dataset, fold_in, measure, K), folds in values.items():
        means = [float(np.mean(folds[fold])) for fold in sorted(folds)]
        point = {"dataset": dataset, "fold_in": fold_in, "measure": measure, "K": K, "folds": len(means)}
        if len(means) > 1:
            summary = over_folds(means)
            points.append({**point, "mean": summary.mean, "low": summary.low, "high": summary.high})
        else:
            points.append({**point, "mean": means[0], "low": None, "high": None})
    return points


def figure_3(rows: Sequence[Mapping[str, Any]], measure: str) -> dict[str, float | Interval] | None:
    """The best K from 5 to 20 compared with the best smaller K and the best larger K, fold by fold.

    The values are the three mean test measures, the two differences with intervals over folds, and the best K of all.
    There are none with fewer than two folds, or if one of the three groups has no K.
    """
    by_fold: dict[int, dict[int, list[float]]] = {}
    for row in rows:
        if row["part"] == "basis":
            by_fold.setdefault(row["K"], {}).setdefault(row["fold"], []).append(row[measure])
    means = {K: np.array([np.mean(folds[fold]) for fold in sorted(folds)]) for K, folds in by_fold.items()}
    groups = {
        "fewer": [k for k in means if k < NEAR_TEN[0]],
        "near_ten": [k for k in means if NEAR_TEN[0] <= k <= NEAR_TEN[1]],
        "more": [k for k in means if k > NEAR_TEN[1]],
    }
    if not all(groups.values()) or min(len(values) for values in means.values()) < 2:
        return None
    best = {name: means[max(members, key=lambda K: float(np.mean(means[K])))] for name, members in groups.items()}
    compared: dict[str, float | Interval] = {name: float(np.mean(values)) for name, values in best.items()}
    for name in ("fewer", "more"):
        summary = over_folds(best["near_ten"] - best[name])
        compared[f"near_ten_minus_{name}"] = Interval(summary.mean, summary.low, summary.high)
    compared["best_k"] = float(max(means, key=lambda K: float(np.mean(means[K]))))
    return compared


def compared_with_ranksvm(rows: Sequence[Mapping[str, Any]]) -> dict[str, float | Interval] | None:
    """MAP with K = 1 and of RankSVM, and their difference fold by fold; None if K = 1 was not trained.

    The difference is given with its interval over folds, and left out if there is only one fold.
    """
    one = _by_fold(rows, lambda row: row["part"] == "basis" and row["K"] == 1)
    svm = _by_fold(rows, lambda row: row["part"] == "ranksvm")
    both = sorted(one.keys() & svm.keys())
    if not both:
        return None
    values: dict[str, float | Interval] = {
        "map_with_one_basis_vector": float(np.mean([one[fold] for fold in both])),
        "map_of_ranksvm": float(np.mean([svm[fold] for fold in both])),
    }
    if len(both) > 1:
        summary = over_folds([one[fold] - svm[fold] for fold in both])
        values["map_minus_ranksvm"] = Interval(summary.mean, summary.low, summary.high)
    return values


def _by_fold(rows: Sequence[Mapping[str, Any]], chosen: Callable[[Mapping[str, Any]], bool]) -> dict[int, float]:
    # The mean MAP over starts, fold by fold.
    starts: dict[int, list[float]] = {}
    for row in rows:
        if chosen(row):
            starts.setdefault(row["fold"], []).append(row["map"])
    return {fold: float(np.mean(values)) for fold, values in starts.items()}


def _or_none(claim: str, trials: list[Trial], notes: str, reason: str) -> Evidence:
    return Evidence(claim, tuple(trials), notes) if trials else Evidence(claim, not_run=reason)


def _measured(fit: cone.Fit, fold_in: FoldIn, validation: RankingData, test: RankingData) -> dict[str, Any]:
    values = [_means(direction(U, fold_in), validation)[1] for U in fit.path]
    after = int(np.argmax(values))
    average_precision, ndcg = _means(direction(fit.path[after], fold_in), test)
    return {"passes": after, "validation": values[after], "map": average_precision, "ndcg": ndcg}


def _means(a: Floats, data: RankingData) -> tuple[float, float]:
    scores = np.einsum("ij,j->i", data.X64, a)
    measured = metrics.per_query(["map", SELECTION], scores, data.y, data.offsets)
    return float(measured["map"].mean()), float(measured[SELECTION].mean())


def _ranksvm(settings: BasesSettings, dataset: str, fold: int, parts: Sequence[RankingData]) -> dict[str, Any]:
    train, validation, test = parts
    options = {"surrogate": "ranksvm", "options": {"normalisation": "mean"}, "l2": list(settings.ranksvm_l2)}
    trained = erm.LEARNER.train(train, validation, {**options, "selection": SELECTION}, 0)
    measured = metrics.per_query(["map", SELECTION], trained.predict(test), test.y, test.offsets)
    return {
        "dataset": dataset,
        "fold": fold,
        "part": "ranksvm",
        "level": trained.record["l2"],
        "method": None,
        "K": None,
        "start": None,
        "fold_in": None,
        "objective": None,
        "passes": None,
        "validation": None,
        "map": float(measured["map"].mean()),
        "ndcg": float(measured[SELECTION].mean()),
    }
