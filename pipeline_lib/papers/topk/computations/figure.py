"""How good are the rankings that learners show while they learn, by what they are told?

`topk`, Figure 1: NDCG@10 of the rankings shown, averaged up to round t, for Algorithm 1 with eta = T^(-2/3) and
gamma = T^(-1/3), online ListNet with all labels and eta = T^(-1/2), random order, and an ideal one. Three panels:

- ``as-printed``: the estimators divide by the printed probabilities, which are biased (docs/errata.md, C);
- ``correct``: by the correct ones, of which the theorems speak;
- ``repaired``: correct ones, features divided by the norm R_D of the longest document, ||w|| <= U, and the step
  eta = c U sqrt(gamma / (C T)), with C / gamma the bound on E||z_1||^2 at w = 0. This step minimises
  U^2 / (2 eta) + eta T C / (2 gamma), the bound (4), for c = 1. U and c are chosen on one data set, by
  :func:`choose`, and shown on all.

Beside them stands descent on the same losses with all labels, which does not explore: ``all-labels`` with the step
T^(-1/2) of ListNet, and ``all-labels-same-step`` with that of Algorithm 1, so that what is told is all that differs.
"""

from __future__ import annotations

import itertools
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import metrics, progress, surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.errors import DataError
from pipeline_lib.learners import top_k_feedback, top_k_moments
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import Axis, generator
from pipeline_lib.statistics import over_folds
from pipeline_lib.surrogates.base import Surrogate

if TYPE_CHECKING:
    from pipeline_lib.papers.topk.experiments.figure import FigureSettings

_LOG = logging.getLogger(__name__)

Panel = Literal["as-printed", "correct"]
OGD_POWER, TOP_K_POWER = -1.0 / 2.0, -2.0 / 3.0

FEWEST_DOCUMENTS = 2  # RankSVM is shown two labels
SHOWN: Mapping[str, int] = {"ranksvm": 2, "kl": 1, "squared": 1, "smooth-dcg": 1, "smooth-dcg-ascent": 1}
"""The learners from the labels on top and how many each is shown; SmoothDCG as printed descends on its gain."""
REPAIRED = ("ranksvm", "kl", "squared")
PANELS: tuple[Panel, ...] = ("as-printed", "correct")
FULL_INFORMATION: Mapping[str, float] = {"all-labels": OGD_POWER, "all-labels-same-step": TOP_K_POWER}
"""The panels of learners that see all labels, and the power of T that is their step."""
WITHOUT_PANEL = ("listnet", "random", "ideal")
PUBLISHED_ORDER = ("listnet", "ranksvm", "kl", "squared", "random")
"""As section 6 describes the ends of the curves, best first."""
Games = Mapping[tuple[str, str], Sequence[Floats]]
"""By panel and learner: a curve for every seed."""


@dataclass(frozen=True)
class Results:
    """Rows of the curves, and of the differences between their ends."""

    curves: list[dict[str, Any]]
    gaps: list[dict[str, Any]]


def choose(settings: FigureSettings, dataset: str, documents: RankingData, seed: int) -> list[dict[str, Any]]:
    """Try every U and c of the third panel; per surrogate the one with the best average NDCG@10 is ``chosen``.

    Ties go to the first in the order of the settings.
    """
    data = scaled(playable(documents, dataset))
    rows: list[dict[str, Any]] = []
    for name in REPAIRED:
        tried: list[dict[str, Any]] = []
        for radius in progress.counted(settings.repair_radii, _LOG, f"radii of {name}"):
            for factor in settings.repair_factors:
                final = [
                    repaired_game(settings, data, name, radius, factor, (seed, "topk-repair", dataset, number)).ndcg[-1]
                    for number in range(settings.repair_seeds)
                ]
                tried.append({"surrogate": name, "radius": float(radius), "factor": float(factor)})
                tried[-1] |= {"dataset": dataset, "ndcg": float(np.mean(final)), "chosen": False}
        max(tried, key=lambda row: row["ndcg"])["chosen"] = True
        rows += tried
    return rows


def measure(
    settings: FigureSettings, dataset: str, documents: RankingData, repair: Sequence[Mapping[str, Any]], seed: int
) -> Results:
    """Play all games of one data set; ``repair`` holds the chosen rows of :func:`choose`."""
    played = _played(settings, dataset, documents, repair, seed)
    return Results(_curves(settings, dataset, played), gaps(dataset, played))


def gaps(dataset: str, played: Games) -> list[dict[str, Any]]:
    """By how much one learner ends above another: mean and interval of the differences, seed by seed, a row each.

    For every panel: neighbours in the published order; SmoothDCG and the squared loss, and SmoothDCG, descending and
    ascending, and a random order; and, of every loss, its lead over a random order less ListNet's lead over it.

    Example
    -------
    >>> ends = {"listnet": 0.9, "random": 0.4, "ranksvm": 0.8, "kl": 0.7, "squared": 0.5}
    >>> played = {("" if name in WITHOUT_PANEL else "repaired", name): [np.array([end])] * 2
    ...           for name, end in ends.items()}
    >>> found = {(row["greater"], row["lesser"]): row["gap"] for row in gaps("made", played)}
    >>> round(float(found["kl", "squared"]), 3), round(float(found["ranksvm from random", "ranksvm from listnet"]), 3)
    (0.2, 0.3)
    """
    rows = []
    for panel in dict.fromkeys(panel for panel, _ in played if panel and panel not in FULL_INFORMATION):
        ends = {
            learner: np.array([curve[-1] for curve in curves])
            for (where, learner), curves in played.items()
            if where in ("", panel)
        }
        differences = {pair: ends[pair[0]] - ends[pair[1]] for pair in itertools.pairwise(PUBLISHED_ORDER)}
        for learner in REPAIRED:
            pair = f"{learner} from random", f"{learner} from listnet"
            differences[pair] = 2.0 * ends[learner] - ends["random"] - ends["listnet"]
        if "smooth-dcg" in ends:
            differences["squared", "smooth-dcg"] = ends["squared"] - ends["smooth-dcg"]
            for learner in ("smooth-dcg", "smooth-dcg-ascent"):
                differences[learner, "random"] = ends[learner] - ends["random"]
        for (greater, lesser), values in differences.items():
            summary = over_folds(values)
            row = {"dataset": dataset, "panel": panel, "greater": greater, "lesser": lesser}
            rows.append({**row, "gap": summary.mean, "low": summary.low, "high": summary.high})
    return rows


def _played(
    settings: FigureSettings, dataset: str, documents: RankingData, repair: Sequence[Mapping[str, Any]], seed: int
) -> Games:
    data = playable(documents, dataset)
    small = scaled(data)
    chosen = {row["surrogate"]: row for row in repair if row["chosen"]}
    if set(chosen) != set(REPAIRED):
        raise DataError(f"repair: expected a choice for {', '.join(REPAIRED)}, found {sorted(chosen)}")
    found: dict[tuple[str, str], list[Floats]] = {}
    for number in progress.counted(range(settings.seeds), _LOG, "seeds"):
        axes = (seed, "topk-figure", dataset, number)
        for learner in WITHOUT_PANEL:
            found.setdefault(("", learner), []).append(_control(settings, data, learner, axes))
        for learner in SHOWN:
            for panel in PANELS:
                found.setdefault((panel, learner), []).append(game(settings, data, learner, panel, axes).ndcg)
            for told, power in FULL_INFORMATION.items():
                found.setdefault((told, learner), []).append(_with_all_labels(settings, data, learner, power, axes))
        for name, row in chosen.items():
            repaired = repaired_game(settings, small, name, row["radius"], row["factor"], axes)
            found.setdefault(("repaired", name), []).append(repaired.ndcg)
    return found


def _curves(settings: FigureSettings, dataset: str, played: Games) -> list[dict[str, Any]]:
    # mean and interval over seeds at every point
    stops = top_k_feedback.log_checkpoints(settings.rounds, settings.points).tolist()
    rows = []
    for (name, learner), runs in played.items():
        for i, t in enumerate(stops):
            summary = over_folds([curve[i] for curve in runs])
            low, high = max(summary.low, 0.0), min(summary.high, 1.0)
            row = {"dataset": dataset, "panel": name, "learner": learner, "round": t}
            rows.append({**row, "ndcg": summary.mean, "low": low, "high": high, "seeds": settings.seeds})
    return rows


def playable(data: RankingData, dataset: str) -> RankingData:
    """The queries with at least two documents.

    Raises
    ------
    DataError
        When there is none, or none has a relevant document.
    """
    long_enough = np.flatnonzero(data.documents_per_query >= FEWEST_DOCUMENTS)
    kept = data if len(long_enough) == data.n_queries else data.take(long_enough)
    if not kept.n_queries or not kept.y.any():
        raise DataError(f"{dataset}: expected queries with at least two documents and a relevant one, found none")
    return kept


def scaled(data: RankingData) -> RankingData:
    """Features divided by the norm of the longest document, so that R_D = 1 (a hair less, for float32)."""
    longest = math.sqrt(float(np.einsum("ij,ij->i", data.X, data.X, dtype=np.float64).max()))
    X = data.X * np.float32((1.0 - 1e-6) / longest if longest > 0.0 else 1.0)
    return RankingData(X, data.y, data.offsets, data.qids)


def repaired_game(
    settings: FigureSettings,
    data: RankingData,
    name: str,
    radius: float,
    factor: float,
    axes: tuple[Axis, ...],
    k: int | None = None,
) -> top_k_feedback.Run:
    """One game of the third panel, with R_D = 1 and as many labels as in the figure unless ``k`` is given."""
    _, gamma = top_k_feedback.theorem_parameters(settings.rounds)
    C = top_k_moments.start_constant(name, int(data.documents_per_query.max()), int(data.y.max()))
    eta = factor * radius * math.sqrt(gamma / (C * settings.rounds))
    return top_k_feedback.run(
        data,
        name,
        k=SHOWN[name] if k is None else k,
        rounds=settings.rounds,
        eta=eta,
        gamma=gamma,
        radius=radius,
        seed=(*axes, "repaired", name),
        order=_order(settings, data, axes),
        checkpoints=top_k_feedback.log_checkpoints(settings.rounds, settings.points),
        losses=False,
    )


def _order(settings: FigureSettings, data: RankingData, axes: tuple[Axis, ...]) -> Any:
    # All learners of a seed meet the same queries.
    return generator(*axes, "rounds").integers(0, data.n_queries, size=settings.rounds)


def _control(settings: FigureSettings, data: RankingData, learner: str, axes: tuple[Axis, ...]) -> Floats:
    T, order = settings.rounds, _order(settings, data, axes)
    stops = top_k_feedback.log_checkpoints(T, settings.points)
    if learner == "random":
        return top_k_feedback.in_random_order(data, T, (*axes, "random"), order=order, checkpoints=stops).ndcg
    if learner == "ideal":
        return in_ideal_order(data, order, stops)
    return _with_all_labels(settings, data, learner, OGD_POWER, axes)


def in_ideal_order(data: RankingData, order: NDArray[np.int64], stops: NDArray[np.int64]) -> Floats:
    """Average NDCG@10 of showing every query by its labels, over the rounds up to each of ``stops``.

    As elsewhere, rounds whose query has no relevant document do not count; NaN before the first that does.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0], [1.0]], [0, 1, 0], [1, 1, 2])
    >>> in_ideal_order(data, np.array([1, 0, 1]), np.array([1, 2, 3]))
    array([nan,  1.,  1.])
    """
    quality = metrics.ndcg(data.y.astype(np.float64), data.y, data.offsets, k=10)[order]
    rated = (np.maximum.reduceat(data.y, data.offsets[:-1]) > 0)[order]
    total, rounds = np.cumsum(np.where(rated, quality, 0.0))[stops - 1], np.cumsum(rated)[stops - 1]
    return np.divide(total, rounds, out=np.full(len(stops), np.nan), where=rounds > 0)


def _with_all_labels(
    settings: FigureSettings, data: RankingData, learner: str, power: float, axes: tuple[Axis, ...]
) -> Floats:
    return top_k_feedback.with_all_labels(
        data,
        _loss(settings, learner),
        settings.rounds,
        eta=float(settings.rounds) ** power,
        radius=settings.radius,
        order=_order(settings, data, axes),
        checkpoints=top_k_feedback.log_checkpoints(settings.rounds, settings.points),
        losses=False,
    ).ndcg


def _loss(settings: FigureSettings, learner: str) -> Surrogate:
    if not learner.startswith("smooth-dcg"):
        return surrogates.create(learner)
    sign = "ascent" if learner == "smooth-dcg-ascent" else "as-printed"
    return surrogates.create("smooth-dcg", sigma=settings.smoothing, sign=sign)


def game(
    settings: FigureSettings, data: RankingData, learner: str, panel: Panel, axes: tuple[Axis, ...]
) -> top_k_feedback.Run:
    """One game of the first two panels."""
    eta, gamma = top_k_feedback.theorem_parameters(settings.rounds)
    return top_k_feedback.run(
        data,
        _loss(settings, learner),
        k=SHOWN[learner],
        rounds=settings.rounds,
        eta=eta,
        gamma=gamma,
        radius=settings.radius,
        seed=(*axes, panel, learner),
        order=_order(settings, data, axes),
        probabilities=panel,
        checkpoints=top_k_feedback.log_checkpoints(settings.rounds, settings.points),
        losses=False,
    )
