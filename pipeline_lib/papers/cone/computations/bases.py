"""How many basis vectors does ConeRank need, and what do its constants and its prediction step change?

`cone`: Figure 3, the comparison with RankSVM of section 5, Algorithm 2 beside the linear score, and the effects of the
folding-in, alpha, rho, c, the weights and form (9). One slice is one fold of a data set.
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
VOTES = "tables/cone-votes.parquet"

FOLD_INS: tuple[FoldIn, ...] = ("gradient", "least-squares")
SELECTION = "letor4_mean_ndcg"
NEAR_TEN = (5, 20)


@dataclass(frozen=True)
class Variant:
    """One way to train: which comparison it belongs to, and its settings. ``level`` is the constant that is varied."""

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
    """Train every variant on one fold; rows of what was measured, and of the two ways to predict.

    ``parts`` are the training, validation and test part, as they are.
    """
    standard = Standardisation.of(parts[0])
    train, validation, test = (standard.apply(part) for part in parts)
    rows, ballots = [_ranksvm(settings, dataset, fold, parts)], []
    trained: dict[tuple[Any, ...], cone.Fit] = {}
    for variant in progress.counted(list(variants(settings, train.n_features)), _LOG, "variants"):
        for start in range(settings.starts):
            # Variants that differ in their part alone are trained once.
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
            found = trained[key]
            for fold_in in FOLD_INS:
                place = {"dataset": dataset, "fold": fold, "part": variant.part, "level": variant.level}
                measured = _measured(found, fold_in, validation, test)
                about: dict[str, Any] = {"method": variant.method, "K": variant.K, "start": start, "fold_in": fold_in}
                rows.append({**place, **about, "objective": float(found.objective[-1]), **measured})
                if variant.part == "method" and start == 0:
                    another = queries_in_another_order(test, found.U, fold_in, variant.problem)
                    about = {"dataset": dataset, "fold": fold, "method": variant.method, "fold_in": fold_in}
                    ballots.append({**about, "queries": test.n_queries, "in_another_order": another})
    return rows, ballots


def queries_in_another_order(data: RankingData, U: Floats, fold_in: FoldIn, problem: cone.Problem) -> int:
    """The queries that the literal Algorithm 2 orders otherwise than the linear score does, ties of scores aside."""
    a = direction(U, fold_in)
    scores = np.einsum("ij,j->i", data.X64, a)
    rho, another = problem.rho_of(data.n_features), 0
    for begin, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        X = data.X64[begin:end]
        points = votes(X, U, fold_in, alpha=problem.alpha, rho=rho)
        scale = float(np.linalg.norm(a)) * float(np.linalg.norm(X, axis=1).max())
        another += not same_order(points, scores[begin:end], scale)
    return another


def evidence(rows: Sequence[Mapping[str, Any]], ballots: Sequence[Mapping[str, Any]]) -> list[Evidence]:
    """What all folds together say of Figure 3, of K = 1, and of Algorithm 2."""
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    figure, halfspace = [], []
    for dataset in datasets:
        found = [row for row in rows if row["dataset"] == dataset and row["fold_in"] in (None, "gradient")]
        for measure in ("map", "ndcg"):
            groups = figure_3(found, measure)
            if groups is not None:
                figure.append(Trial({"dataset": dataset, "measure": measure.upper()}, groups, TABLE))
        values = beside_ranksvm(found)
        if values is not None:
            halfspace.append(Trial({"dataset": dataset}, values, TABLE))
    orders = [
        Trial(
            {"dataset": dataset, "fold_in": fold_in},
            {
                "queries_in_another_order": float(sum(row["in_another_order"] for row in chosen)),
                "queries": float(sum(row["queries"] for row in chosen)),
            },
            VOTES,
        )
        for dataset in datasets
        for fold_in in FOLD_INS
        if (chosen := [row for row in ballots if (row["dataset"], row["fold_in"]) == (dataset, fold_in)])
    ]
    return [
        _or_none(
            "cone-fig3",
            figure,
            "On the test part, Algorithm 1 with the gradient folding-in; the best K of each group by its mean over "
            "folds. The differences are taken fold by fold, with their interval over folds: what a fold adds to every "
            "K drops out.",
            "Figure 3 needs two folds of a data set with more than 20 features, and K below 5, from 5 to 20 and above; "
            "run workflow/studies/letor-real.yaml with MQ2008 in a mirror folder.",
        ),
        _or_none(
            "cone-k1",
            halfspace,
            "On the test part, means over folds and starts. The difference is taken fold by fold, with its interval "
            "over folds, where there are two: what a fold adds to both drops out.",
            "K = 1 is not among experiments: cone: bases.",
        ),
        _or_none(
            "cone-alg2-linear",
            orders,
            "Every pair of a query's documents whose scores differ by more than rounding must stand in the same order "
            "in both. Equal documents tie in the score, while Algorithm 2 gives the point to the later one.",
            "No data set is at hand.",
        ),
    ]


def figure_3_means(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The curves of Figure 3: mean over folds and starts for every K, with the interval over folds.

    On a single fold nothing is known of how folds differ: ``low`` and ``high`` are missing.
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
    """What the best K from 5 to 20 has over the best below and the best above, fold by fold.

    The three mean test measures, the two differences with intervals over folds, and the best K of all; None without
    two folds or without K in each of the three groups.
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
    found: dict[str, float | Interval] = {name: float(np.mean(values)) for name, values in best.items()}
    for name in ("fewer", "more"):
        summary = over_folds(best["near_ten"] - best[name])
        found[f"near_ten_minus_{name}"] = Interval(summary.mean, summary.low, summary.high)
    found["best_k"] = float(max(means, key=lambda K: float(np.mean(means[K]))))
    return found


def beside_ranksvm(rows: Sequence[Mapping[str, Any]]) -> dict[str, float | Interval] | None:
    """MAP of K = 1 and of RankSVM, and what K = 1 has over RankSVM fold by fold; None where K = 1 was not trained.

    The difference comes with its interval over folds, and is left out for a single fold.
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
    found: dict[int, list[float]] = {}
    for row in rows:
        if chosen(row):
            found.setdefault(row["fold"], []).append(row["map"])
    return {fold: float(np.mean(values)) for fold, values in found.items()}


def _or_none(claim: str, trials: list[Trial], notes: str, reason: str) -> Evidence:
    return Evidence(claim, tuple(trials), notes) if trials else Evidence(claim, not_run=reason)


def _measured(found: cone.Fit, fold_in: FoldIn, validation: RankingData, test: RankingData) -> dict[str, Any]:
    values = [_means(direction(U, fold_in), validation)[1] for U in found.path]
    after = int(np.argmax(values))
    average_precision, ndcg = _means(direction(found.path[after], fold_in), test)
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
