"""How good are the rankings that learners show while they learn, by what they are told?

`topk`, Figure 1: NDCG@10 of the rankings shown, averaged up to round t, for Algorithm 1 with eta = T^(-2/3) and
gamma = T^(-1/3), online ListNet with all labels and eta = T^(-1/2), and random order. Two panels:

- ``as-printed``: the estimators divide by the printed probabilities, which are biased (erratum C);
- ``correct``: by the correct ones, of which the theorems speak.

Beside them stands descent on the same losses with all labels and the step of ListNet, which does not explore:
``all-labels``. Equal scores are ranked in the order of the file.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge

from pipeline_lib import surrogates
from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.seeds import Axis, generator
from pipeline_lib.core.settings import Positive, Settings, Several, Whole
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Field, FromOne, Interval, OnlyInterval, OnlyProportion, Row
from pipeline_lib.experiment import EVERY, Experiment, Job, Step
from pipeline_lib.learners import top_k_feedback
from pipeline_lib.statistics import mean_interval
from pipeline_lib.surrogates.base import Surrogate

Panel = Literal["as-printed", "correct"]
FEWEST_DOCUMENTS = 2  # RankSVM is shown two labels
SHOWN: Mapping[str, int] = {"ranksvm": 2, "kl": 1, "squared": 1, "smooth-dcg": 1, "smooth-dcg-ascent": 1}
"""The learners from the labels on top and how many each is shown; SmoothDCG as printed descends on its gain."""
CONVEX = ("ranksvm", "kl", "squared")
PANELS: tuple[Panel, ...] = ("as-printed", "correct")
ALL_LABELS = "all-labels"
"""The panel of learners that see all labels."""
WITHOUT_PANEL = ("listnet", "random")
PUBLISHED_ORDER = ("listnet", "ranksvm", "kl", "squared", "random")
"""As section 6 describes the ends of the curves, best first."""


class FigureSettings(Settings):
    """Figure 1, with the printed and with the correct probabilities."""

    rounds: Annotated[Whole, Ge(1000)] = Field(100000, description="T, the number of rounds; 250000 in the paper")
    seeds: Several = Field(5, description="games for every learner, over which the bands are computed")
    points: Several = Field(40, description="rounds at which the curves are evaluated, on a logarithmic scale")
    radius: Positive = Field(100.0, description="U, the radius of the ball of weights")
    smoothing: Positive = Field(0.01, description="epsilon, the smoothing of SmoothDCG")


class Curve(
    Row,
    table="tables/topk-curves",
    key=("dataset", "panel", "learner", "round"),
    always=("seeds = MIN(seeds) OVER (PARTITION BY dataset)",),
):
    """A point of a curve of Figure 1."""

    dataset: str = Field(description="data set")
    panel: str = Field(description="as-printed, correct or all-labels; empty for learners alike in all panels")
    learner: str = Field(description="surrogate that is descended on, smooth-dcg-ascent, or random")
    round: FromOne = Field(description="t, the round up to which is averaged")
    ndcg: OnlyProportion = Field(
        description="NDCG@10 of the rankings shown, averaged over rounds; mean over games with its 95 % interval, cut "
        "to [0, 1]"
    )
    seeds: FromOne = Field(description="games in the mean")


class Gap(Row, table="tables/topk-gaps", key=("dataset", "panel", "greater", "lesser")):
    """By how much one curve of Figure 1 ends above another."""

    dataset: str = Field(description="data set")
    panel: str = Field(description="as-printed or correct")
    greater: str = Field(description="learner, or a learner's lead over random order")
    lesser: str = Field(description="learner it is compared with, or ListNet's lead over that learner")
    gap: OnlyInterval = Field(description="difference of NDCG@10 after all rounds, paired; mean with 95 % interval")


Axes = tuple[Axis, ...]
Games = Mapping[tuple[str, str], Sequence[Floats]]
"""By panel and learner: a curve for every seed."""


def measure(job: Job) -> Iterator[Curve | Gap]:
    """Play all games of every data set."""
    for dataset, documents in job.datasets().items():
        played = _played(job.settings, dataset, playable(documents, dataset), job.seed)
        yield from _curves(job.settings, dataset, played)
        yield from gaps(dataset, played)


def _played(settings: FigureSettings, dataset: str, data: RankingData, seed: int) -> Games:
    found = defaultdict[tuple[str, str], list[Floats]](list)
    for number in progress.counted(range(settings.seeds), "seeds"):
        axes = (seed, "topk-figure", dataset, number)
        for learner in WITHOUT_PANEL:
            found["", learner].append(_control(settings, data, learner, axes))
        for learner in SHOWN:
            for panel in PANELS:
                found[panel, learner].append(_game(settings, data, learner, panel, axes))
            found[ALL_LABELS, learner].append(_with_all_labels(settings, data, learner, axes))
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
    >>> played = {("" if name in WITHOUT_PANEL else "correct", name): [np.array([end])] * 2
    ...           for name, end in ends.items()}
    >>> found = {(row.greater, row.lesser): row.gap.value for row in gaps("made", played)}
    >>> round(found["kl", "squared"], 3), round(found["ranksvm from random", "ranksvm from listnet"], 3)
    (0.2, 0.3)
    """
    for panel in dict.fromkeys(panel for panel, _ in played if panel not in ("", ALL_LABELS)):
        ends = {
            learner: np.array([curve[-1] for curve in curves])
            for (where, learner), curves in played.items()
            if where in ("", panel)
        }
        differences = {pair: ends[pair[0]] - ends[pair[1]] for pair in pairwise(PUBLISHED_ORDER)}
        for learner in CONVEX:
            pair = f"{learner} from random", f"{learner} from listnet"
            differences[pair] = 2.0 * ends[learner] - ends["random"] - ends["listnet"]
        if "smooth-dcg" in ends:
            differences["squared", "smooth-dcg"] = ends["squared"] - ends["smooth-dcg"]
            for learner in ("smooth-dcg", "smooth-dcg-ascent"):
                differences[learner, "random"] = ends[learner] - ends["random"]
        for (greater, lesser), values in differences.items():
            yield Gap(dataset=dataset, panel=panel, greater=greater, lesser=lesser, gap=mean_interval(values))


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


def _rounds_of(settings: FigureSettings, data: RankingData, axes: Axes) -> dict[str, Any]:
    # The queries of all rounds, the same for all learners of a seed, and the rounds at which curves are evaluated.
    order = generator(*axes, "rounds").integers(0, data.n_queries, size=settings.rounds)
    return {"order": order, "checkpoints": top_k_feedback.log_checkpoints(settings.rounds, settings.points)}


def _control(settings: FigureSettings, data: RankingData, learner: str, axes: Axes) -> Floats:
    """The curve of a learner that is the same in all panels."""
    if learner == "random":
        shared = _rounds_of(settings, data, axes)
        return top_k_feedback.in_random_order(data, settings.rounds, (*axes, "random"), **shared).ndcg
    return _with_all_labels(settings, data, learner, axes)


def _with_all_labels(settings: FigureSettings, data: RankingData, learner: str, axes: Axes) -> Floats:
    T, loss, shared = settings.rounds, _loss(settings, learner), _rounds_of(settings, data, axes)
    return top_k_feedback.with_all_labels(data, loss, T, T**-0.5, settings.radius, losses=False, **shared).ndcg


def _game(settings: FigureSettings, data: RankingData, learner: str, panel: Panel, axes: Axes) -> Floats:
    """The curve of a learner from the labels on top."""
    eta, gamma = top_k_feedback.theorem_parameters(settings.rounds)
    return top_k_feedback.run(
        *(data, _loss(settings, learner), SHOWN[learner], settings.rounds, eta, gamma, settings.radius),
        seed=(*axes, panel, learner),
        probabilities=panel,
        losses=False,
        **_rounds_of(settings, data, axes),
    ).ndcg


def _loss(settings: FigureSettings, learner: str) -> Surrogate:
    if not learner.startswith("smooth-dcg"):
        return surrogates.create(learner)
    sign = "ascent" if learner == "smooth-dcg-ascent" else "as-printed"
    return surrogates.create("smooth-dcg", sigma=settings.smoothing, sign=sign)


EXPERIMENT = Experiment(
    FigureSettings,
    Step(
        "figure",
        measure,
        documents=EVERY,
        rows=(Curve, Gap),
        surrogates=(*CONVEX, "smooth-dcg", "listnet"),
        cost=Cost(0.5, 20.0, 500.0, 20.0),
        seconds=lambda settings, cell: 1.2e-5 * settings.rounds * settings.seeds,
    ),
)
