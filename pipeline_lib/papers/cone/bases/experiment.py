"""How many basis vectors does ConeRank need, and do principal components or a mean rank as well?

Measured are Figure 3 of `cone` and Algorithm 2 compared with the linear score, on every fold of every data set. Next to
a cone are (:mod:`pipeline_lib.papers.cone.bases.components`):

- ``mean difference``: the mean of the differences (5), the minimum of (18) for K = 1 where every pair counts alike;
- ``principal components``, which rank by Algorithm 2 as a cone does;
- ``regression on components``: the least-squares direction among the first K principal components, and ``regression on
  the last components``, among the last K.

Every family has several sizes K. The row ``chosen`` is that of the best one on the validation part. Whether a lower
risk means a better ranking is compared along trainings.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Annotated, Any, Literal

import numpy as np

from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.settings import Names, Rising, Settings, Text, Whole
from pipeline_lib.data.ranking_data import RankingData, Standardisation
from pipeline_lib.data.rows import Count, Field, FromOne, Interval, Proportion, Row
from pipeline_lib.experiment import Cell, Experiment, Job, Step
from pipeline_lib.learners import cone
from pipeline_lib.learners.cone_ranking import FoldIn, direction
from pipeline_lib.papers.cone.bases import components, rankings
from pipeline_lib.papers.cone.bases.rankings import MEASURES
from pipeline_lib.papers.cone.bases.votes import queries_in_another_order
from pipeline_lib.papers.cone.common import grouped
from pipeline_lib.statistics import mean_interval, over_folds

FOLD_INS: tuple[FoldIn, ...] = ("gradient", "least-squares")
NEAR_TEN = (5, 20)
PUBLISHED_ON = ("MQ2007", "MQ2008")
"""Figure 3 is of MQ2007; section 6 speaks of these data sets alone."""
PUBLISHED = "published"
COMPARED = (("near_ten", "fewer"), ("near_ten", "more"), ("fewer", "more"))
"""Groups of K, each with the one that it is compared with."""


class BasesSettings(Settings):
    """Figure 3 and simpler rankers, on every fold of every data set."""

    datasets: Literal["all"] | tuple[Text, ...] = Field("all", description="all, or a list of data sets of the study")
    bases: Rising = Field((1, 2, 5, 10, 20), description="values of K in Figure 3, up to the number of features")
    basis: Whole = Field(10, description="K of the cones that are compared with votes and with simpler rankers")
    starts: Whole = Field(1, description="random starts")
    passes: Whole = Field(40, description="largest number of passes; the best number is chosen on the validation part")
    methods: Annotated[tuple[cone.Method, ...], *Names.__metadata__] = Field(
        ("eg", "sg"), description="methods of folding in; the first is used for Figure 3"
    )
    components: Rising = Field((1, 2, 3, 5, 10), description="numbers of principal components, beside that of features")
    component_pairs: Whole = Field(4000, description="largest number of pairs for components")


class OfDataset(Row):
    """What is measured on a data set."""

    dataset: str = Field(description="data set")


class OfFold(OfDataset):
    """What is measured on one fold of it."""

    fold: FromOne = Field(description="fold, from 1")


class BasisOfFold(
    OfFold, table="slices/cone-bases/{dataset}/fold-{fold}", key=("dataset", "fold", "K", "start", "fold_in")
):
    """What a cone of Figure 3 reaches on the test part of one fold with one way to predict."""

    K: FromOne = Field(description="basis vectors")
    start: Count = Field(description="the random start, from 0")
    fold_in: str = Field(description="folding in for the prediction: gradient or least-squares")
    passes: Count = Field(description="passes after which MeanNDCG on the validation part is best")
    validation: Proportion = Field(description="this MeanNDCG")
    map: Proportion = Field(description="MAP on the test part")
    ndcg: Proportion = Field(description="MeanNDCG on the test part")


class VotesOfFold(
    OfFold,
    table="slices/cone-votes/{dataset}/fold-{fold}",
    key=("dataset", "fold", "method", "fold_in"),
    always=(
        "in_another_order <= queries",
        "printed_in_another_order <= queries",
        "reversed_in_another_order <= queries",
        "other_in_another_order <= queries",
        "queries = MIN(queries) OVER (PARTITION BY dataset, fold)",
    ),
):
    """On how many test queries a vote has another order than the linear score, except for ties."""

    method: str = Field(description="method of training")
    fold_in: str = Field(description="folding in, of the linear score too: gradient or least-squares")
    queries: FromOne = Field(description="test queries")
    in_another_order: Count = Field(description="those with another order by coefficients free of constraints")
    printed_in_another_order: Count = Field(description="by the steps of Algorithm 1 without step 1b")
    reversed_in_another_order: Count = Field(description="with all differences turned round")
    other_in_another_order: Count = Field(description="with the other way of folding in")


class Votes(VotesOfFold, table="tables/cone-votes"):
    """As the slices have it."""


class ComparedOfFold(
    OfFold,
    table="slices/cone-practice/{dataset}/fold-{fold}",
    key=("dataset", "fold", "family", "size"),
    always=(
        "SUM(chosen) OVER (PARTITION BY dataset, fold, family) = 1",
        "chosen <= (validation = MAX(validation) OVER (PARTITION BY dataset, fold, family))",
    ),
):
    """What a ranker of one family and size reaches on one fold."""

    family: str = Field(description="kind of ranker; published: Algorithm 1 with K = 10")
    size: FromOne = Field(description="K")
    validation: Proportion = Field(description="MeanNDCG on the validation part")
    map: Proportion = Field(description="MAP on the test part")
    ndcg: Proportion = Field(description="MeanNDCG on the test part")
    chosen: bool = Field(description="whether it is the best of its family on the validation part")


class ShareOfFold(OfFold, table="slices/cone-shares/{dataset}/fold-{fold}"):
    """A share that speaks for or against a sentence of the paper, on one fold."""

    what: str = Field(
        description="risk and map, risk and ndcg: pairs of passes in which the lower risk has the better test measure; "
        "signs, FOLDING IN: positive coefficients of test pairs in the right order"
    )
    value: Proportion = Field(description="the share, in [0, 1]")


class Curve(
    OfDataset,
    table="tables/cone-figure3",
    key=("dataset", "fold_in", "measure", "K"),
    always=("low <= mean <= high", "folds = MIN(folds) OVER (PARTITION BY dataset)"),
):
    """A point of Figure 3."""

    fold_in: str = Field(description="folding in: gradient or least-squares")
    measure: str = Field(description="map or ndcg, on the test part")
    K: FromOne = Field(description="basis vectors")
    folds: FromOne = Field(description="folds")
    mean: Proportion = Field(description="mean over folds and starts")
    low: float | None = Field(description="lower end of its 95 % t interval over folds; missing for one fold")
    high: float | None = Field(description="upper end of the same")


class Groups(
    Row,
    table="tables/cone-figure3-groups",
    key=("dataset", "measure"),
    always=(
        "near_ten_minus_fewer = near_ten - fewer",
        "near_ten_minus_more = near_ten - more",
        "fewer_minus_more = fewer - more",
        "2 <= folds",
    ),
):
    """K from 5 to 20 next to smaller and larger K on a data set of the paper, by the gradient folding-in.

    The groups have equally many K, those nearest to ten; in every fold the one that is best on the validation part.
    """

    dataset: str = Field(description="data set: MQ2007 or MQ2008")
    measure: str = Field(description="MAP or NDCG, on the test part")
    folds: Count = Field(description="folds, at least two")
    fewer: Proportion = Field(description="mean over folds of the best K below 5")
    near_ten: Proportion = Field(description="that of the best K from 5 to 20")
    more: Proportion = Field(description="that of the best K above 20")
    near_ten_minus_fewer: Interval = Field(description="mean difference, fold by fold, with its 95 % t interval")
    near_ten_minus_more: Interval = Field(description="mean difference, fold by fold, with its 95 % t interval")
    fewer_minus_more: Interval = Field(description="mean difference, fold by fold, with its 95 % t interval")
    best_k: FromOne = Field(description="K of the best mean on the validation part, of all K")


class Compared(
    OfDataset,
    table="tables/cone-practice",
    key=("dataset", "family", "size"),
    always=(
        "map_low <= map <= map_high",
        "ndcg_low <= ndcg <= ndcg_high",
        "more_ndcg_low <= more_ndcg <= more_ndcg_high",
        "mean_size = size",
        "more_ndcg = ndcg - MAX(CASE WHEN (family = 'published') THEN ndcg END) OVER (PARTITION BY dataset)",
        "folds = MIN(folds) OVER (PARTITION BY dataset)",
    ),
):
    """The measures of a family of rankers, in the mean over folds, and what it has more than the published algorithm.

    Intervals are 95 % t intervals over folds; their ends are missing for a single fold.
    """

    family: str = Field(description="kind of ranker; published: Algorithm 1 with K = 10")
    size: FromOne | None = Field(
        description="K; missing where each fold has the one that is best on its validation part"
    )
    folds: FromOne = Field(description="folds")
    mean_size: float = Field(description="mean K")
    mean_validation: Proportion = Field(description="mean MeanNDCG on the validation part")
    map: Proportion = Field(description="MAP on the test part")
    map_low: float | None = Field(description="lower end of its interval")
    map_high: float | None = Field(description="upper end of its interval")
    ndcg: Proportion = Field(description="MeanNDCG on the test part")
    ndcg_low: float | None = Field(description="lower end of its interval")
    ndcg_high: float | None = Field(description="upper end of its interval")
    more_ndcg: float = Field(description="difference of MeanNDCG to the published algorithm, fold by fold")
    more_ndcg_low: float | None = Field(description="lower end of its interval")
    more_ndcg_high: float | None = Field(description="upper end of its interval")


class Share(
    OfDataset, table="tables/cone-shares", key=("dataset", "what"), always=("share_low <= share <= share_high",)
):
    """A share that speaks for or against a sentence of the paper, in the mean over folds."""

    what: str = Field(description="as in the slices")
    folds: FromOne = Field(description="folds")
    share: Proportion = Field(description="mean share, in [0, 1]")
    share_low: Proportion | None = Field(
        description="lower end of its 95 % t interval over folds, cut at 0 and 1; missing for one fold"
    )
    share_high: Proportion | None = Field(description="upper end of the same")


def train(job: Job) -> Iterator[Row]:
    """The rows of one fold."""
    dataset, fold = job.cell["dataset"], int(job.cell["fold"])
    parts = job.parts(dataset, fold, ("train", "validation", "test"))
    yield from of_fold(job.settings, dataset, fold, parts, job.seed)


def of_fold(settings: BasesSettings, dataset: str, fold: int, parts: Sequence[RankingData], seed: int) -> Iterator[Row]:
    """Train every cone on one fold, measure it, and compare the two ways to predict, simpler rankers, and shares.

    ``parts`` are the training, validation and test part, not standardised.
    """
    train, validation, test = parts
    parts = train.in_role("train"), validation.in_role("validation"), test.in_role("test")
    standard = Standardisation.of(train)
    train, validation, test = (standard.apply(part) for part in parts)
    where: dict[str, Any] = {"dataset": dataset, "fold": fold}

    @cache
    def trained(method: cone.Method, K: int, start: int) -> cone.Fit:
        axes = (seed, "cone-bases", dataset, fold, K, start)
        return cone.fit(train, K, method=method, passes=settings.passes, traced=False, seed=axes)

    planned = [K for K in settings.bases if train.n_features >= K]
    for K, start in progress.counted(list(product(planned, range(settings.starts))), "trainings"):
        fit = trained(settings.methods[0], K, start)
        for fold_in in FOLD_INS:
            passes, held = rankings.best_pass(fit, fold_in, validation)
            reached = rankings.means(direction(fit.path[passes], fold_in), test)._asdict()
            yield BasisOfFold(**where, K=K, start=start, fold_in=fold_in, passes=passes, validation=held, **reached)
    fits = {method: trained(method, min(settings.basis, train.n_features), 0) for method in settings.methods}
    for (method, fit), fold_in in product(fits.items(), FOLD_INS):
        drawn = (seed, "cone-votes", dataset, fold, method)
        found: dict[str, Any] = queries_in_another_order(test, fit.U, fold_in, method, cone.Problem(), drawn)
        yield VotesOfFold(**where, method=method, fold_in=fold_in, queries=test.n_queries, **found)
    # SG with the settings of section 6, or the first method if SG is not among them, next to simpler rankers.
    fit = fits["sg" if "sg" in fits else settings.methods[0]]
    published = fit.path[rankings.best_pass(fit, "gradient", validation)[0]]
    yield from compared(settings, (train, validation, test), published, where, seed)
    shares = [share for of_method in fits.values() for share in rankings.agreement(of_method, test)]
    for what, value in (*shares, *rankings.signs(published, test)):
        yield ShareOfFold(**where, what=what, value=value)


def compared(
    settings: BasesSettings, parts: Sequence[RankingData], published: Floats, where: Mapping[str, Any], seed: int
) -> Iterator[ComparedOfFold]:
    """One row for every family and size; ``parts`` are standardised, ``published`` is a basis by Algorithm 1.

    ``where`` names data set and fold.
    """
    train, validation, test = parts
    rankers = list(_directions(settings, train, published, (seed, "cone-practice", *where.values())))
    held = [rankings.means(a, validation).ndcg for _, _, a in rankers]
    best: dict[str, int] = {}
    for place in sorted(range(len(rankers)), key=lambda i: held[i], reverse=True):
        best.setdefault(rankers[place][0], place)
    for place, (family, size, a) in enumerate(rankers):
        reached = rankings.means(a, test)._asdict()
        chosen = best[family] == place
        yield ComparedOfFold(**where, family=family, size=size, validation=held[place], **reached, chosen=chosen)


def _directions(
    settings: BasesSettings, train: RankingData, published: Floats, axes: tuple[Any, ...]
) -> Iterator[tuple[str, int, Floats]]:
    yield PUBLISHED, published.shape[1], direction(published, "gradient")
    d = train.n_features
    Z = components.differences(train, cone.Problem(), settings.component_pairs, axes)
    yield "mean difference", 1, Z.mean(axis=1)
    V, values = components.components(Z)
    for K in sorted({min(size, d) for size in (*settings.components, d)}):
        yield "principal components", K, V[:, :K].sum(axis=1)
        yield "regression on components", K, components.regression(Z, V[:, :K], values[:K])
        yield "regression on the last components", K, components.regression(Z, V[:, d - K :], values[d - K :])


def join(job: Job) -> Iterator[Row]:
    """Votes of all folds, Figure 3, and means over folds."""
    measured = job.rows(BasisOfFold)
    yield from (Votes(**dict(row)) for row in job.rows(VotesOfFold))
    yield from curves(measured)
    yield from groups(measured)
    yield from summary(job.rows(ComparedOfFold))
    yield from shares(job.rows(ShareOfFold))


def curves(rows: Sequence[BasisOfFold]) -> Iterator[Curve]:
    """The curves of Figure 3: mean over folds and starts for every K, with the interval over folds."""
    for (dataset, fold_in, K), chosen in grouped(rows, "dataset", "fold_in", "K").items():
        for measure in MEASURES:
            means = _by_fold(chosen, measure)
            ends = over_all(means, "mean", "low", "high")
            yield Curve(dataset=dataset, fold_in=fold_in, measure=measure, K=K, folds=len(means), **ends)


def _by_fold(rows: Iterable[Any], name: str) -> list[float]:
    # The means of a value over the rows of each fold.
    folds = grouped(rows, "fold")
    return [float(np.mean([getattr(row, name) for row in folds[fold]])) for fold in sorted(folds)]


def over_all(values: Sequence[float], *names: str) -> dict[str, Any]:
    """The mean and the ends of its interval over folds, which are missing for one fold, under three names."""
    found = over_folds(values) if len(values) > 1 else None
    ends = (found.mean, found.low, found.high) if found else (float(np.mean(values)), None, None)
    return dict(zip(names, ends, strict=True))


def groups(rows: Sequence[BasisOfFold]) -> Iterator[Groups]:
    """Figure 3 on the data sets of the paper, as far as it can be decided there."""
    for (dataset, fold_in), chosen in grouped(rows, "dataset", "fold_in").items():
        if dataset in PUBLISHED_ON and fold_in == "gradient":
            for measure in MEASURES:
                yield from figure_3(chosen, measure)


def figure_3(rows: Sequence[BasisOfFold], measure: str) -> Iterator[Groups]:
    """K from 5 to 20 compared with smaller and with larger K, fold by fold.

    The three groups have equally many K, those nearest to ten (by ratio); of each, the one with the best mean
    validation value over starts is taken in every fold. There is no row with fewer than two folds, or if a group has
    no K.
    """
    test, held = (
        {K: _by_fold(of_K, name) for (K,), of_K in grouped(rows, "K").items()} for name in (measure, "validation")
    )
    members = equal_groups(list(test))
    folds = range(min(map(len, test.values()), default=0))
    if not members or len(folds) < 2:
        return
    best = {
        name: np.array([test[max(among, key=lambda K, fold=fold: held[K][fold])][fold] for fold in folds])  # type: ignore[misc]
        for name, among in members.items()
    }
    differences: dict[str, Any] = {f"{a}_minus_{b}": mean_interval(best[a] - best[b]) for a, b in COMPARED}
    yield Groups(
        dataset=rows[0].dataset,
        measure=measure.upper(),
        folds=len(folds),
        **{name: values.mean() for name, values in best.items()},
        **differences,
        best_k=max(held, key=lambda K: float(np.mean(held[K]))),
    )


def equal_groups(bases: Sequence[int]) -> dict[str, list[int]]:
    """The K below 5, from 5 to 20, and above, equally many in each: those nearest to ten; none if a group is empty.

    Example
    -------
    >>> equal_groups([1, 2, 3, 5, 7, 10, 15, 20, 30, 46])
    {'fewer': [3, 2], 'near_ten': [10, 7], 'more': [30, 46]}
    """
    nearest = sorted(bases, key=lambda K: abs(math.log(K / 10.0)))
    groups = {
        "fewer": [K for K in nearest if NEAR_TEN[0] > K],
        "near_ten": [K for K in nearest if NEAR_TEN[0] <= K <= NEAR_TEN[1]],
        "more": [K for K in nearest if NEAR_TEN[1] < K],
    }
    size = min(map(len, groups.values()))
    return {name: members[:size] for name, members in groups.items()} if size else {}


def summary(rows: Sequence[ComparedOfFold]) -> Iterator[Compared]:
    """Means over folds with their intervals, for every family and size and for the size chosen in each fold."""
    for (dataset,), here in grouped(rows, "dataset").items():
        published = {row.fold: row for row in here if row.family == PUBLISHED}
        for family, size in dict.fromkeys((row.family, size) for row in here for size in (None, row.size)):
            chosen = [r for r in here if r.family == family and (r.chosen if size is None else r.size == size)]
            found: dict[str, Any] = {
                f"mean_{name}": float(np.mean([getattr(row, name) for row in chosen]))
                for name in ("size", "validation")
            }
            reached = {measure: [getattr(row, measure) for row in chosen] for measure in MEASURES}
            reached["more_ndcg"] = [row.ndcg - published[row.fold].ndcg for row in chosen]
            for name, values in reached.items():
                found |= over_all(values, name, f"{name}_low", f"{name}_high")
            yield Compared(dataset=dataset, family=family, size=size, folds=len(chosen), **found)


def shares(rows: Sequence[ShareOfFold]) -> Iterator[Share]:
    """The means over folds of all shares."""
    for (dataset, what), alike in grouped(rows, "dataset", "what").items():
        means = _by_fold(alike, "value")
        ends = over_all(means, "share", "share_low", "share_high")
        if ends["share_low"] is not None:  # a t interval does not know that shares are between 0 and 1
            ends |= {"share_low": max(ends["share_low"], 0.0), "share_high": min(ends["share_high"], 1.0)}
        yield Share(dataset=dataset, what=what, folds=len(means), **ends)


def _seconds(settings: BasesSettings, cell: Cell) -> float:
    # The number of basis vectors, each of which takes so many passes over the data.
    vectors = settings.starts * sum(settings.bases) + len(settings.methods) * settings.basis
    return 0.015 * settings.passes * vectors


EXPERIMENT = Experiment(
    BasesSettings,
    Step(
        "bases_fold",
        train,
        documents=lambda settings: settings.datasets,
        rows=(BasisOfFold, VotesOfFold, ComparedOfFold, ShareOfFold),
        cost=Cost(3.0, 0.0, 600.0, 20.0),
        seconds=_seconds,
        seconds_grow_with_data=True,
    ),
    Step(
        "bases",
        join,
        reads=(BasisOfFold, VotesOfFold, ComparedOfFold, ShareOfFold),
        rows=(Votes, Curve, Groups, Compared, Share),
    ),
    selectors=("datasets",),
)
