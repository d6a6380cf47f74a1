"""How does ConeRank rank next to what is simpler, and does a lower risk mean a better ranking?

On every fold, next to the cones of :mod:`pipeline_lib.papers.cone.computations.bases`:

- ``converged``: exact blocks until the objective no longer changes;
- ``mean difference``: the mean of the differences (5), the minimum of (18) without weights for K = 1, in closed form;
- ``principal components`` and ``semi-NMF`` (:mod:`pipeline_lib.papers.cone.computations.factors`), which rank by
  Algorithm 2 as a cone does;
- ``regression on components``: the least-squares direction among the first K principal components, and ``regression on
  the last components``, among the last K.

Every family has several sizes K. The row ``chosen`` is that of the best one on the validation part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import metrics
from pipeline_lib.arrays import Floats
from pipeline_lib.learners import cone
from pipeline_lib.learners.cone_ranking import FoldIn, direction
from pipeline_lib.papers.cone.computations import factors
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.statistics import over_folds

if TYPE_CHECKING:
    from pipeline_lib.papers.cone.experiments.bases import BasesSettings

Row = dict[str, Any]

SELECTION = "letor4_mean_ndcg"
MEASURES = ("map", "ndcg")
CONVERGED = 1e-3
"""Training has converged when the objective changes by at most this share in a pass."""
PASSES_SEEN = (1, 2, 5, 10, 20, 40, 80)
"""Passes after which the ranking is measured next to the risk."""
PUBLISHED = "published"


def run_fold(
    settings: BasesSettings,
    parts: Sequence[RankingData],
    published: tuple[cone.Fit, int],
    ranksvm: Mapping[str, Any],
    axes: tuple[Any, ...],
) -> list[Row]:
    """One row for every family and size; ``parts`` are standardised.

    ``published`` is a fit by Algorithm 1 with its best number of passes, ``ranksvm`` the row of RankSVM.
    """
    train, validation, test = parts
    rows: list[Row] = []
    for family, size, a in _directions(settings, train, published, axes):
        held, (average_precision, ndcg) = means(a, validation)[1], means(a, test)
        rows.append({"family": family, "size": size, "validation": held, "map": average_precision, "ndcg": ndcg})
    rows.append({"family": "RankSVM", "size": None, **{name: ranksvm[name] for name in ("validation", *MEASURES)}})
    best: dict[str, Row] = {}
    for row in rows:
        first = best.setdefault(row["family"], row)
        if row is not first and row["validation"] > first["validation"]:
            best[row["family"]] = row
    return [{**row, "chosen": row is best[row["family"]]} for row in rows]


def _directions(
    settings: BasesSettings, train: RankingData, published: tuple[cone.Fit, int], axes: tuple[Any, ...]
) -> Iterator[tuple[str, int, Floats]]:
    fit, passes = published
    yield PUBLISHED, fit.U.shape[1], direction(fit.path[passes], "gradient")
    d = train.n_features
    for K in settings.converged:
        if d >= K:
            seed = (*axes, "converged", K)
            exact = cone.fit(train, K, method="exact", passes=settings.converged_passes, tol=CONVERGED, seed=seed)
            yield "converged", K, direction(exact.U, "gradient")
    Z = factors.differences(train, cone.Problem(), settings.factor_pairs, axes)
    yield "mean difference", 1, Z.mean(axis=1)
    V, values = factors.components(Z)
    for K in sorted({min(size, d) for size in (*settings.components, d)}):
        yield "principal components", K, V[:, :K].sum(axis=1)
        yield "regression on components", K, factors.regression(Z, V[:, :K], values[:K])
        yield "regression on the last components", K, factors.regression(Z, V[:, d - K :], values[d - K :])
    for K in settings.factors:
        yield "semi-NMF", K, factors.semi_nmf(Z, K, settings.factor_rounds, axes)[0].sum(axis=1)


def means(a: Floats, data: RankingData) -> tuple[float, float]:
    """MAP and MeanNDCG of the linear ranker a."""
    scores = np.einsum("ij,j->i", data.X64, a)
    measured = metrics.per_query(["map", SELECTION], scores, data.y, data.offsets)
    return float(measured["map"].mean()), float(measured[SELECTION].mean())


def agreement(fit: cone.Fit, test: RankingData) -> list[Row]:
    """Along one training: in which share of pairs of passes has the lower risk the better test measure?

    The risk is that met during the pass; equal measures count half.
    """
    seen = [t for t in PASSES_SEEN if t <= fit.passes]
    found = [means(direction(fit.path[t], "gradient"), test) for t in seen]
    risks = [float(fit.met[t - 1]) for t in seen]
    return [
        {"what": f"risk and {measure}", "value": share}
        for i, measure in enumerate(MEASURES)
        if (share := concordance(risks, [values[i] for values in found])) is not None
    ]


def concordance(risks: Sequence[float], measures: Sequence[float]) -> float | None:
    """The share of pairs with different risks in which the lower risk has the higher measure; ties count half.

    Example
    -------
    >>> concordance([3.0, 2.0, 1.0], [0.1, 0.3, 0.2]), concordance([1.0], [0.2]) is None
    (0.6666666666666666, True)
    """
    points = [
        0.5 + 0.5 * float(np.sign((risks[i] - risks[j]) * (measures[j] - measures[i])))
        for i in range(len(risks))
        for j in range(i)
        if risks[i] != risks[j]
    ]
    return float(np.mean(points)) if points else None


def signs(U: Floats, test: RankingData) -> list[Row]:
    """The share of positive coefficients of differences in the right order, for both ways of folding in.

    Coefficients are linear in the difference, so that it is the share of negative ones in the wrong order.
    """
    rows: list[Row] = []
    unfolded: dict[FoldIn, Floats] = {"gradient": U, "least-squares": np.asarray(np.linalg.pinv(U).T, dtype=np.float64)}
    for fold_in, dual in unfolded.items():
        positive = counted = 0
        coefficients = np.einsum("ij,jk->ik", test.X64, dual)
        for begin, end in zip(test.offsets[:-1], test.offsets[1:], strict=True):
            y = test.y[begin:end]
            i, j = np.nonzero(y[:, None] > y)
            w = coefficients[begin + i] - coefficients[begin + j]
            positive, counted = positive + int((w > 0.0).sum()), counted + int((w != 0.0).sum())
        if counted:
            rows.append({"what": f"signs, {fold_in}", "value": positive / counted})
    return rows


def summary(rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Means over folds with their intervals, for every family and size and for the size chosen in each fold.

    ``size`` is missing where it was chosen on the validation part. The differences are to the published algorithm, fold
    by fold. With a single fold there are no intervals.
    """
    points = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        here = [row for row in rows if row["dataset"] == dataset]
        published = {row["fold"]: row for row in here if row["family"] == PUBLISHED}
        kinds = dict.fromkeys((row["family"], size) for row in here for size in dict.fromkeys((None, row["size"])))
        for family, size in kinds:
            chosen = [r for r in here if r["family"] == family and (r["chosen"] if size is None else r["size"] == size)]
            point: Row = {"dataset": dataset, "family": family, "size": size, "folds": len(chosen)}
            for name in ("size", "validation"):
                values = [row[name] for row in chosen if row[name] is not None]
                point |= {f"mean_{name}": float(np.mean(values)) if values else None}
            for measure in MEASURES:
                point |= interval(measure, [row[measure] for row in chosen])
                more = [row[measure] - published[row["fold"]][measure] for row in chosen]
                point |= interval(f"more_{measure}", more)
            points.append(point)
    return points


def interval(name: str, values: Sequence[float]) -> Row:
    """The mean and the ends of its interval over folds, which are missing for one fold."""
    if len(values) < 2:
        return {name: float(np.mean(values)), f"{name}_low": None, f"{name}_high": None}
    found = over_folds(values)
    return {name: found.mean, f"{name}_low": found.low, f"{name}_high": found.high}


def shares(rows: Sequence[Mapping[str, Any]], measured: Sequence[Mapping[str, Any]]) -> list[Row]:
    """The means over folds of all shares of :func:`agreement` and :func:`signs`, and of risk and measure over K.

    ``measured`` are the rows of the bases of Figure 3, whose objectives and measures are compared from K to K.
    """
    every = [dict(row) for row in rows]
    cells = dict.fromkeys((row["dataset"], row["fold"], row["start"]) for row in measured if row["part"] == "basis")
    for dataset, fold, start in cells:
        chosen = [
            row
            for row in measured
            if (row["part"], row["dataset"], row["fold"], row["start"]) == ("basis", dataset, fold, start)
            and row["fold_in"] == "gradient"
        ]
        for measure in MEASURES:
            share = concordance([row["objective"] for row in chosen], [row[measure] for row in chosen])
            if share is not None:
                every.append({"dataset": dataset, "fold": fold, "what": f"K and {measure}", "value": share})
    points = []
    for dataset, what in dict.fromkeys((row["dataset"], row["what"]) for row in every):
        folds: dict[int, list[float]] = {}
        for row in every:
            if (row["dataset"], row["what"]) == (dataset, what):
                folds.setdefault(row["fold"], []).append(row["value"])
        values = [float(np.mean(folds[fold])) for fold in sorted(folds)]
        points.append({"dataset": dataset, "what": what, "folds": len(values), **interval("share", values)})
    return points
