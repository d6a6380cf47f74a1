"""How many basis vectors does ConeRank need, and what effect do its constants and its prediction step have?

Measured are Figure 3 of `cone`, K = 1 next to RankSVM, Algorithm 2 compared with the linear score, and the effects of
the folding-in, alpha, rho, c, the weights and form (9). One slice is one fold of a data set.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import metrics, progress
from pipeline_lib.arrays import Floats
from pipeline_lib.claims.evidence import Evidence, Interval, Trial
from pipeline_lib.learners import cone
from pipeline_lib.learners.cone_ranking import FoldIn, direction, same_order, votes
from pipeline_lib.learners.declared import erm
from pipeline_lib.papers.cone.computations import practice
from pipeline_lib.papers.cone.computations.practice import SELECTION
from pipeline_lib.papers.cone.computations.printed_votes import printed_votes
from pipeline_lib.ranking_data import RankingData, Standardisation
from pipeline_lib.seeds import generator
from pipeline_lib.statistics import over_folds

if TYPE_CHECKING:
    from pipeline_lib.papers.cone.experiments.bases import BasesSettings

_LOG = logging.getLogger(__name__)

TABLE = "tables/cone-bases.parquet"

FOLD_INS: tuple[FoldIn, ...] = ("gradient", "least-squares")
NEAR_TEN = (5, 20)
PUBLISHED_ON = ("MQ2007", "MQ2008")
"""Figure 3 is of MQ2007; section 6 speaks of these data sets alone."""


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
) -> tuple[list[dict[str, Any]], ...]:
    """Train every variant on one fold; rows of measures, and of comparisons of the two ways to predict.

    And those of :mod:`pipeline_lib.papers.cone.computations.practice`: next to simpler rankers, and shares. ``parts``
    are the training, validation and test part, not standardised.
    """
    train, validation, test = parts
    parts = train.in_role("train"), validation.in_role("validation"), test.in_role("test")
    standard = Standardisation.of(train)
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
                    axes = {"dataset": dataset, "fold": fold, "method": variant.method, "fold_in": fold_in}
                    drawn = (seed, "cone-votes", dataset, fold, variant.method)
                    found = queries_in_another_order(test, fit.U, fold_in, variant.method, variant.problem, drawn)
                    predictions.append({**axes, "queries": test.n_queries, **found})
    return rows, predictions, *_in_practice(settings, (dataset, fold), (train, validation, test), trained, rows, seed)


def _in_practice(
    settings: BasesSettings,
    cell: tuple[str, int],
    parts: Sequence[RankingData],
    trained: Mapping[tuple[Any, ...], cone.Fit],
    rows: Sequence[Mapping[str, Any]],
    seed: int,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    # SG with the settings of section 6, or the first method if SG is not among them, next to simpler rankers.
    K = min(settings.basis, parts[0].n_features)
    fits = {method: trained[method, K, cone.Problem(), 0] for method in settings.methods}
    method = "sg" if "sg" in fits else settings.methods[0]
    chosen = (row for row in rows if (row["part"], row["method"], row["start"]) == ("method", method, 0))
    passes = next(row["passes"] for row in chosen if row["fold_in"] == "gradient")
    named = {"dataset": cell[0], "fold": cell[1]}
    compared = practice.run_fold(settings, parts, (fits[method], passes), rows[0], (seed, "cone-practice", *cell))
    shares = [row for fit in fits.values() for row in practice.agreement(fit, parts[2])]
    shares += practice.signs(fits[method].path[passes], parts[2])
    return [{**named, **row} for row in compared], [{**named, **row} for row in shares]


def queries_in_another_order(
    data: RankingData, U: Floats, fold_in: FoldIn, method: cone.Method, problem: cone.Problem, axes: tuple[Any, ...]
) -> dict[str, int]:
    """The numbers of queries that votes order differently from the linear score, except for ties.

    ``in_another_order`` is the vote with coefficients without constraints, ``printed_in_another_order`` that with the
    steps of Algorithm 1 without step 1b, ``reversed_in_another_order`` that with all differences turned round, and
    ``other_in_another_order`` that with the other way of folding in.
    """
    a = direction(U, fold_in)
    scores = np.einsum("ij,j->i", data.X64, a)
    rho, rng = problem.rho_of(data.n_features), generator(*axes)
    # Exact folding in has no step.
    mu = cone.PUBLISHED_STEPS["sg" if method == "exact" else method]
    other: FoldIn = "gradient" if fold_in == "least-squares" else "least-squares"
    another = dict.fromkeys(("", "printed_", "reversed_", "other_"), 0)
    for begin, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        X = data.X64[begin:end]
        scale = float(np.linalg.norm(a)) * float(np.linalg.norm(X, axis=1).max())
        players = {
            "": votes(X, U, fold_in, alpha=problem.alpha, rho=rho),
            "printed_": printed_votes(X, U, step=mu, alpha=problem.alpha, rho=rho, rng=rng),
            "reversed_": votes(-X, U, fold_in, alpha=problem.alpha, rho=rho),
            "other_": votes(X, U, other, alpha=problem.alpha, rho=rho),
        }
        for name, points in players.items():
            another[name] += not same_order(points, scores[begin:end], scale)
    return {f"{name}in_another_order": count for name, count in another.items()}


def evidence(rows: Sequence[Mapping[str, Any]]) -> list[Evidence]:
    """The evidence for Figure 3, whose intervals over paired folds are in no table."""
    figure = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows if row["dataset"] in PUBLISHED_ON):
        chosen = [row for row in rows if row["dataset"] == dataset and row["fold_in"] in (None, "gradient")]
        for measure in ("map", "ndcg"):
            groups = figure_3(chosen, measure)
            if groups is not None:
                figure.append(Trial({"dataset": dataset, "measure": measure.upper()}, groups, TABLE))
    if not figure:
        return [
            Evidence(
                "cone-fig3",
                not_run="Figure 3 needs two folds of MQ2007 or MQ2008, and K below 5, from 5 to 20 and above 20; run "
                "workflow/studies/letor-real.yaml with MQ2008 in a mirror folder.",
            )
        ]
    notes = (
        "On the test part, Algorithm 1 with the gradient folding-in. In every fold and group the K is taken that is "
        "best on the validation part; the three groups have equally many K, those nearest to ten. The differences are "
        "taken fold by fold, with their interval over folds, so that the difficulty of a fold cancels."
    )
    return [Evidence("cone-fig3", tuple(figure), notes)]


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
    """K from 5 to 20 compared with smaller and with larger K, fold by fold.

    The three groups have equally many K, those nearest to ten (by ratio); of each, the one with the best mean
    validation value over starts is taken in every fold. The values are the mean test measures of the groups, the two
    differences with intervals over folds, the same differences after the groups have changed places, and the K of best
    mean on the validation part. There are none with fewer than two folds, or if a group has no K.
    """
    test, held = _by_basis(rows, measure), _by_basis(rows, "validation")
    groups = equal_groups(list(test))
    if not groups or min(len(folds) for folds in test.values()) < 2:
        return None
    folds = range(min(len(folds) for folds in test.values()))
    best = {
        name: np.array([test[max(members, key=lambda K, fold=fold: held[K][fold])][fold] for fold in folds])  # type: ignore[misc]
        for name, members in groups.items()
    }
    compared: dict[str, float | Interval] = {name: float(np.mean(values)) for name, values in best.items()}
    for name in ("fewer", "more"):
        compared[f"near_ten_minus_{name}"] = _over_folds(best["near_ten"] - best[name])
    compared["fewer_minus_more"] = _over_folds(best["fewer"] - best["more"])
    compared["best_k"] = float(max(held, key=lambda K: float(np.mean(held[K]))))
    return compared


def _over_folds(differences: Floats) -> Interval:
    summary = over_folds(differences)
    return Interval(summary.mean, summary.low, summary.high, freedom=summary.folds - 1)


def equal_groups(bases: Sequence[int]) -> dict[str, list[int]]:
    """The K below 5, from 5 to 20, and above, equally many in each: those nearest to ten; none if a group is empty.

    Example
    -------
    >>> equal_groups([1, 2, 3, 5, 7, 10, 15, 20, 30, 46])
    {'fewer': [3, 2], 'near_ten': [10, 7], 'more': [30, 46]}
    """
    groups: dict[str, list[int]] = {"fewer": [], "near_ten": [], "more": []}
    for K in bases:
        groups["fewer" if NEAR_TEN[0] > K else "more" if NEAR_TEN[1] < K else "near_ten"].append(K)
    size = min(map(len, groups.values()))
    ordered = {name: sorted(members, key=lambda K: abs(math.log(K / 10.0)))[:size] for name, members in groups.items()}
    return ordered if size else {}


def _by_basis(rows: Sequence[Mapping[str, Any]], name: str) -> dict[int, list[float]]:
    # K -> the mean of a value over starts, fold by fold.
    found: dict[int, dict[int, list[float]]] = {}
    for row in rows:
        if row["part"] == "basis":
            found.setdefault(row["K"], {}).setdefault(row["fold"], []).append(row[name])
    return {K: [float(np.mean(folds[fold])) for fold in sorted(folds)] for K, folds in found.items()}


def _measured(fit: cone.Fit, fold_in: FoldIn, validation: RankingData, test: RankingData) -> dict[str, Any]:
    values = [practice.means(direction(U, fold_in), validation)[1] for U in fit.path]
    after = int(np.argmax(values))
    average_precision, ndcg = practice.means(direction(fit.path[after], fold_in), test)
    return {"passes": after, "validation": values[after], "map": average_precision, "ndcg": ndcg}


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
