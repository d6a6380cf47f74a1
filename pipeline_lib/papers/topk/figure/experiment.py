"""How good are the rankers that learners show while they learn, by what they are told?

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

**Labels.** What are more labels worth? Algorithm 1 as in the third panel with k = 1, 2, ... labels, on the queries with
at least as many documents as the largest k that a query with a relevant document allows. With k = 0 no label is seen:
bandit gradient descent, whose step is the best in hindsight among multiples of that of its theorem, learns from the
loss alone.

**Ties.** In the first round all scores are 0, and SmoothDCG with a small epsilon hardly moves scores that it has once
set apart. Equal scores are ranked in the order of the file. Here the same games are also played on documents that are
put in a random order within their queries, which breaks ties at random.
"""

import logging
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from pipeline_lib import metrics, surrogates
from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.seeds import Axis, generator
from pipeline_lib.core.settings import Positive, Positives, Rising, Settings, Whole
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import LOW_HIGH, Field, Interval, Row
from pipeline_lib.experiment import FIRST, Cell, Experiment, Job, Step
from pipeline_lib.learners import bandit, loss_ranges, top_k_feedback, top_k_moments
from pipeline_lib.papers.topk.games import bandit_games
from pipeline_lib.statistics import mean_interval
from pipeline_lib.surrogates.base import Surrogate

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


class FigureSettings(Settings):
    """Figure 1, with the printed, the correct and repaired probabilities.

    The repair is chosen on the first data set.
    """

    rounds: Annotated[Whole, Ge(1000)] = Field(100000, description="T, the number of rounds; 250000 in the paper")
    seeds: Annotated[Whole, Ge(2)] = Field(
        5, description="number of games for every learner, over which the bands are computed"
    )
    points: Annotated[Whole, Ge(2)] = Field(
        40, description="number of rounds at which the curves are evaluated, on a logarithmic scale"
    )
    radius: Positive = Field(100.0, description="U, the radius in the first two panels")
    smoothing: Positive = Field(0.01, description="epsilon, the smoothing of SmoothDCG")
    repair_radii: Positives = Field(
        (1.0, 3.0, 10.0, 30.0), description="values of U tried for the third panel, with features scaled to R_D = 1"
    )
    repair_factors: Positives = Field(
        (0.25, 1.0, 4.0, 16.0, 64.0), description="values of c tried for the third panel, eta = c U sqrt(gamma / (C T))"
    )
    repair_seeds: Annotated[Whole, Ge(2)] = Field(2, description="number of games for each of these values")
    sweep_labels: Rising = Field((1, 2, 3, 5, 10), description="values of k, the number of labels that are seen")
    sweep_rounds: Annotated[Whole, Ge(1000)] = Field(20000, description="T for these k and for the order of ties")
    sweep_seeds: Annotated[Whole, Ge(2)] = Field(3, description="number of games for each of them")
    bandit_factors: Positives = Field(
        (1.0, 10.0, 100.0),
        description="steps of bandit gradient descent, in units of that of its theorem; the best in hindsight counts",
    )


class Repair(Row, table="tables/topk-repair"):
    """One U and c that was tried for the third panel."""

    surrogate: str = Field(description="loss that is learned")
    radius: float = Field(description="U, the radius of the ball of weights, with features scaled to R_D = 1")
    factor: float = Field(description="c, the step in units of the one that minimises the bound")
    dataset: str = Field(description="data set on which it was tried")
    ndcg: float = Field(description="NDCG@10 of the rankings shown, averaged over rounds and games")
    chosen: bool = Field(description="whether it is the best of its surrogate, the first of several")


class Curve(Row, table="slices/topk-curves/{dataset}"):
    """A point of a curve of Figure 1."""

    dataset: str = Field(description="data set")
    panel: str = Field(
        description="as-printed, correct, repaired, all-labels or all-labels-same-step; empty for learners that are "
        "the same in all panels"
    )
    learner: str = Field(description="surrogate that is descended on, smooth-dcg-ascent, random or ideal")
    round: int = Field(description="t, the round up to which is averaged")
    ndcg: Annotated[Interval, LOW_HIGH] = Field(
        description="NDCG@10 of the rankings shown, averaged over rounds; mean over games with its 95 % interval, cut "
        "to [0, 1]"
    )
    seeds: int = Field(description="games in the mean")


class Gap(Row, table="slices/topk-gaps/{dataset}"):
    """By how much one curve of Figure 1 ends above another."""

    dataset: str = Field(description="data set")
    panel: str = Field(description="as-printed, correct or repaired")
    greater: str = Field(description="learner, or a learner's lead over random order")
    lesser: str = Field(description="learner it is compared with, or ListNet's lead over that learner")
    gap: Annotated[Interval, LOW_HIGH] = Field(
        description="difference of NDCG@10 after all rounds, paired by game; mean with its 95 % interval"
    )


class LabelsSeen(Row, table="slices/topk-sweep/{dataset}"):
    """How well a loss is learned from k labels."""

    dataset: str = Field(description="data set")
    surrogate: str = Field(description="loss that is learned")
    k: int = Field(description="labels that are seen; with 0 bandit gradient descent sees the loss alone")
    ndcg: Annotated[Interval, LOW_HIGH] = Field(
        description="NDCG@10 of the rankings shown, averaged over rounds; mean over games with its 95 % interval"
    )
    queries: int = Field(description="queries with enough documents for every k")
    T: int = Field(description="rounds of a game")
    seeds: int = Field(description="games in the mean")


class Ties(Row, table="slices/topk-ties/{dataset}"):
    """What the order of documents in the file is worth to a learner with the printed probabilities."""

    dataset: str = Field(description="data set")
    learner: str = Field(description="surrogate that is descended on, or smooth-dcg-ascent")
    in_order: float = Field(description="mean NDCG@10 of the rankings shown with documents in the order of the file")
    shuffled: float = Field(description="the same with documents in a random order within their queries")
    gap: Annotated[Interval, LOW_HIGH] = Field(
        description="the first less the second, paired by game; mean with its 95 % interval"
    )


class EveryCurve(Curve, table="tables/topk-curves"):
    """A point of a curve of Figure 1, on any data set."""


class EveryGap(Gap, table="tables/topk-gaps"):
    """By how much one curve of Figure 1 ends above another, on any data set."""


class EveryLabelsSeen(LabelsSeen, table="tables/topk-sweep"):
    """How well a loss is learned from k labels, on any data set."""


class EveryTies(Ties, table="tables/topk-ties"):
    """What the order of documents in the file is worth to a learner, on any data set."""


JOINED: Mapping[type[Row], type[Row]] = {Curve: EveryCurve, Gap: EveryGap, LabelsSeen: EveryLabelsSeen, Ties: EveryTies}
"""The rows of one data set, and those of all."""
Axes = tuple[Axis, ...]
Chosen = Mapping[str, tuple[float, float]]
"""U and c of the third panel by surrogate."""
Games = Mapping[tuple[str, str], Sequence[Floats]]
"""By panel and learner: a curve for every seed."""


def choose(job: Job) -> Iterator[Repair]:
    """Try every U and c of the third panel; per surrogate the one with the best average NDCG@10 is chosen.

    Ties go to the first in the order of the settings.
    """
    settings: FigureSettings = job.settings
    [(dataset, documents)] = job.datasets().items()
    data = scaled(playable(documents, dataset))
    every = [(job.seed, "topk-repair", dataset, number) for number in range(settings.repair_seeds)]
    for name in REPAIRED:
        tried = {}
        for pair in progress.counted(list(product(settings.repair_radii, settings.repair_factors)), _LOG, name):
            tried[pair] = np.mean([repaired_game(settings, data, name, *pair, axes).ndcg[-1] for axes in every])
        best = max(tried, key=tried.__getitem__)
        for (radius, factor), ndcg in tried.items():
            chosen = (radius, factor) == best
            yield Repair(surrogate=name, radius=radius, factor=factor, dataset=dataset, ndcg=ndcg, chosen=chosen)


def measure(job: Job) -> Iterator[Row]:
    """Play all games of one data set."""
    [(dataset, documents)] = job.datasets().items()
    data = playable(documents, dataset)
    chosen = {row.surrogate: (row.radius, row.factor) for row in job.rows(Repair) if row.chosen}
    if set(chosen) != set(REPAIRED):
        raise DataError(f"repair: expected a choice for {', '.join(REPAIRED)}, found {sorted(chosen)}")
    played = _played(job.settings, dataset, data, chosen, job.seed)
    yield from _curves(job.settings, dataset, played)
    yield from gaps(dataset, played)
    short = job.settings.model_copy(update={"rounds": job.settings.sweep_rounds, "points": 2})
    yield from labels_seen(short, dataset, data, chosen, job.seed)
    yield from ties(short, dataset, data, job.seed)


def join(job: Job) -> Iterator[Row]:
    """The rows of all data sets one after the other."""
    for part, whole in JOINED.items():
        for row in job.rows(part):
            yield whole(**dict(row))


def _played(settings: FigureSettings, dataset: str, data: RankingData, chosen: Chosen, seed: int) -> Games:
    small, found = scaled(data), defaultdict[tuple[str, str], list[Floats]](list)
    for number in progress.counted(range(settings.seeds), _LOG, "seeds"):
        axes = (seed, "topk-figure", dataset, number)
        for learner in WITHOUT_PANEL:
            found["", learner].append(control(settings, data, learner, axes))
        for learner in SHOWN:
            for panel in PANELS:
                found[panel, learner].append(game(settings, data, learner, panel, axes).ndcg)
            for told, power in FULL_INFORMATION.items():
                found[told, learner].append(_with_all_labels(settings, data, learner, power, axes))
        for name, (radius, factor) in chosen.items():
            found["repaired", name].append(repaired_game(settings, small, name, radius, factor, axes).ndcg)
    return found


def _curves(settings: FigureSettings, dataset: str, played: Games) -> Iterator[Curve]:
    # mean and interval over seeds at every point
    stops = top_k_feedback.log_checkpoints(settings.rounds, settings.points).tolist()
    for (panel, learner), runs in played.items():
        for t, ends in zip(stops, np.array(runs).T, strict=True):
            found = mean_interval(ends)
            ndcg = Interval(found.value, max(found.low, 0.0), min(found.high, 1.0))
            yield Curve(dataset=dataset, panel=panel, learner=learner, round=t, ndcg=ndcg, seeds=settings.seeds)


def gaps(dataset: str, played: Games) -> Iterator[Gap]:
    """By how much one learner ends above another: mean and interval of the differences, seed by seed, a row each.

    For every panel: neighbours in the published order; SmoothDCG and the squared loss, and SmoothDCG, descending and
    ascending, and a random order; and, of every loss, its lead over a random order less ListNet's lead over it.

    Example
    -------
    >>> ends = {"listnet": 0.9, "random": 0.4, "ranksvm": 0.8, "kl": 0.7, "squared": 0.5}
    >>> played = {("" if name in WITHOUT_PANEL else "repaired", name): [np.array([end])] * 2
    ...           for name, end in ends.items()}
    >>> found = {(row.greater, row.lesser): row.gap.value for row in gaps("made", played)}
    >>> round(found["kl", "squared"], 3), round(found["ranksvm from random", "ranksvm from listnet"], 3)
    (0.2, 0.3)
    """
    for panel in dict.fromkeys(panel for panel, _ in played if panel and panel not in FULL_INFORMATION):
        ends = {
            learner: np.array([curve[-1] for curve in curves])
            for (where, learner), curves in played.items()
            if where in ("", panel)
        }
        differences = {pair: ends[pair[0]] - ends[pair[1]] for pair in pairwise(PUBLISHED_ORDER)}
        for learner in REPAIRED:
            pair = f"{learner} from random", f"{learner} from listnet"
            differences[pair] = 2.0 * ends[learner] - ends["random"] - ends["listnet"]
        if "smooth-dcg" in ends:
            differences["squared", "smooth-dcg"] = ends["squared"] - ends["smooth-dcg"]
            for learner in ("smooth-dcg", "smooth-dcg-ascent"):
                differences[learner, "random"] = ends[learner] - ends["random"]
        for (greater, lesser), values in differences.items():
            yield Gap(dataset=dataset, panel=panel, greater=greater, lesser=lesser, gap=mean_interval(values))


def labels_seen(
    settings: FigureSettings, dataset: str, data: RankingData, chosen: Chosen, seed: int
) -> Iterator[LabelsSeen]:
    """Every loss with every number of labels, and with none."""
    lengths, relevant = data.documents_per_query, np.maximum.reduceat(data.y, data.offsets[:-1]) > 0
    longest = int(lengths[relevant].max())
    values = [k for k in settings.sweep_labels if k <= longest]
    small = scaled(data.take(np.flatnonzero(lengths >= max([FEWEST_DOCUMENTS, *values]))))
    for name in REPAIRED:
        radius, factor = chosen[name]
        played = {0: _bandit(settings, small, name, radius, (seed, "topk-sweep", dataset))}
        fewest = top_k_feedback.ORDERS[name]
        for k in [k for k in values if k >= fewest] or [fewest]:
            axes = [(seed, "topk-sweep", dataset, k, number) for number in range(settings.sweep_seeds)]
            runs = [repaired_game(settings, small, name, radius, factor, one, k) for one in axes]
            played[k] = np.array([run.ndcg[-1] for run in runs])
        case: dict[str, Any] = {"dataset": dataset, "queries": small.n_queries, "T": settings.rounds}
        for k, ends in played.items():
            yield LabelsSeen(**case, surrogate=name, k=k, ndcg=mean_interval(ends), seeds=settings.sweep_seeds)


def _bandit(settings: FigureSettings, data: RankingData, name: str, radius: float, axes: Axes) -> Floats:
    """The average NDCG@10 of bandit gradient descent for every seed, with the best step in hindsight."""
    if not loss_ranges.largest(data, name, radius).any():  # no two labels differ, and nothing is to be learned
        of_theorem = bandit.Parameters(1.0, radius / 2.0, math.inf)
    else:
        of_theorem = bandit.theorem_parameters(data, name, radius, settings.rounds)
    seeds = [(*axes, "bandit", name, number) for number in range(settings.sweep_seeds)]
    games = bandit_games(data, name, settings.rounds, radius, of_theorem, settings.bandit_factors, seeds)
    return np.array(max(([run.ndcg[-1] for run in runs] for runs in games.values()), key=np.mean))


def ties(settings: FigureSettings, dataset: str, data: RankingData, seed: int) -> Iterator[Ties]:
    """Every learner on the documents in the order of the file, and on shuffled ones."""
    every = [(seed, "topk-ties", dataset, number) for number in range(settings.sweep_seeds)]
    played = [(axes, (data, shuffled(data, axes))) for axes in every]
    for learner in SHOWN:
        ends = [[game(settings, one, learner, "as-printed", axes).ndcg[-1] for one in both] for axes, both in played]
        in_order, random = np.array(ends).T
        yield Ties(
            dataset=dataset,
            learner=learner,
            in_order=in_order.mean(),
            shuffled=random.mean(),
            gap=mean_interval(in_order - random),
        )


def shuffled(data: RankingData, axes: Axes) -> RankingData:
    """The same queries with their documents in a random order.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0], [2.0], [9.0]], [0, 1, 2, 0], [1, 1, 1, 2])
    >>> other = shuffled(data, (1,))
    >>> sorted(other.X[:3, 0].tolist()), bool((other.X[:3, 0] == other.y[:3]).all()), other.X[3, 0].item()
    ([0.0, 1.0, 2.0], True, 9.0)
    """
    keys = generator(*axes, "shuffled").random(data.n_documents)
    queries = np.repeat(np.arange(data.n_queries), data.documents_per_query)
    order = np.lexsort((keys, queries))
    return replace(data, X=data.X[order], y=data.y[order])


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
    axes: Axes,
    k: int | None = None,
) -> top_k_feedback.Run:
    """One game of the third panel, with R_D = 1 and as many labels as in the figure unless ``k`` is given."""
    _, gamma = top_k_feedback.theorem_parameters(settings.rounds)
    C = top_k_moments.start_constant(name, int(data.documents_per_query.max()), int(data.y.max()))
    eta = factor * radius * math.sqrt(gamma / (C * settings.rounds))
    seed, seen = (*axes, "repaired", name), SHOWN[name] if k is None else k
    shared = rounds_of(settings, data, axes)
    return top_k_feedback.run(data, name, seen, settings.rounds, eta, gamma, radius, seed, losses=False, **shared)


def rounds_of(settings: FigureSettings, data: RankingData, axes: Axes) -> dict[str, Any]:
    """The queries of all rounds, the same for all learners of a seed, and the rounds at which curves are evaluated."""
    order = generator(*axes, "rounds").integers(0, data.n_queries, size=settings.rounds)
    return {"order": order, "checkpoints": top_k_feedback.log_checkpoints(settings.rounds, settings.points)}


def control(settings: FigureSettings, data: RankingData, learner: str, axes: Axes) -> Floats:
    """The curve of a learner that is the same in all panels."""
    shared = rounds_of(settings, data, axes)
    if learner == "random":
        return top_k_feedback.in_random_order(data, settings.rounds, (*axes, "random"), **shared).ndcg
    if learner == "ideal":
        return in_ideal_order(data, *shared.values())
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


def _with_all_labels(settings: FigureSettings, data: RankingData, learner: str, power: float, axes: Axes) -> Floats:
    T, loss, shared = settings.rounds, _loss(settings, learner), rounds_of(settings, data, axes)
    return top_k_feedback.with_all_labels(
        data, loss, T, float(T) ** power, settings.radius, losses=False, **shared
    ).ndcg


def game(settings: FigureSettings, data: RankingData, learner: str, panel: Panel, axes: Axes) -> top_k_feedback.Run:
    """One game of the first two panels."""
    eta, gamma = top_k_feedback.theorem_parameters(settings.rounds)
    return top_k_feedback.run(
        *(data, _loss(settings, learner), SHOWN[learner], settings.rounds, eta, gamma, settings.radius),
        seed=(*axes, panel, learner),
        probabilities=panel,
        losses=False,
        **rounds_of(settings, data, axes),
    )


def _loss(settings: FigureSettings, learner: str) -> Surrogate:
    if not learner.startswith("smooth-dcg"):
        return surrogates.create(learner)
    sign = "ascent" if learner == "smooth-dcg-ascent" else "as-printed"
    return surrogates.create("smooth-dcg", sigma=settings.smoothing, sign=sign)


def _choosing_seconds(settings: FigureSettings, cell: Cell) -> float:
    games = settings.repair_seeds * len(settings.repair_factors) * len(settings.repair_radii)
    return 4e-6 * settings.rounds * games


def _playing_seconds(settings: FigureSettings, cell: Cell) -> float:
    sweep = settings.sweep_rounds * settings.sweep_seeds * (len(settings.sweep_labels) + 10)
    return 2e-5 * settings.rounds * settings.seeds + 5e-6 * sweep


EXPERIMENT = Experiment(
    FigureSettings,
    (
        Step(
            "repair",
            choose,
            documents=FIRST,
            rows=(Repair,),
            surrogates=REPAIRED,
            cost=Cost(2.0, 10.0, 500.0, 20.0),
            seconds=_choosing_seconds,
        ),
        Step(
            "figure",
            measure,
            reads=(Repair,),
            rows=tuple(JOINED),
            surrogates=(*REPAIRED, "smooth-dcg", "listnet"),
            cost=Cost(2.0, 20.0, 500.0, 20.0),
            seconds=_playing_seconds,
        ),
        Step("order", join, reads=tuple(JOINED), rows=tuple(JOINED.values())),
    ),
)
