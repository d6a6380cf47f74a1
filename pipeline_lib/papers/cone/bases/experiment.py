"""How many basis vectors does ConeRank need, what do its constants change, and what ranks as well?

Measured are Figure 3 of `cone`, K = 1 next to RankSVM, Algorithm 2 compared with the linear score, and the effects of
the folding-in, alpha, rho, c, the weights and form (9), on every fold of every data set. Next to these cones are:

- ``converged``: exact blocks until the objective no longer changes;
- ``mean difference``: the mean of the differences (5), the minimum of (18) for K = 1 where every pair counts alike;
- ``principal components`` and ``semi-NMF`` (:mod:`pipeline_lib.papers.cone.bases.factors`), which rank by Algorithm 2
  as a cone does;
- ``regression on components``: the least-squares direction among the first K principal components, and ``regression on
  the last components``, among the last K.

Every family has several sizes K. The row ``chosen`` is that of the best one on the validation part. Whether a lower
risk means a better ranking is compared along trainings, and from K to K.
"""

import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.settings import Names, Positive, Positives, Rising, Settings, Text, Whole, at_least
from pipeline_lib.data.ranking_data import RankingData, Standardisation
from pipeline_lib.data.rows import Field, Interval, Row
from pipeline_lib.experiment import Cell, Experiment, Job, Step
from pipeline_lib.learners import cone, erm
from pipeline_lib.learners.cone_ranking import FoldIn, direction
from pipeline_lib.papers.cone.bases import factors, rankings
from pipeline_lib.papers.cone.bases.rankings import MEASURES, SELECTION, Means
from pipeline_lib.papers.cone.bases.votes import queries_in_another_order
from pipeline_lib.papers.cone.common import grouped
from pipeline_lib.statistics import mean_interval, over_folds

_LOG = logging.getLogger(__name__)

FOLD_INS: tuple[FoldIn, ...] = ("gradient", "least-squares")
NEAR_TEN = (5, 20)
PUBLISHED_ON = ("MQ2007", "MQ2008")
"""Figure 3 is of MQ2007; section 6 speaks of these data sets alone."""
CONVERGED = 1e-3
"""Training has converged when the objective changes by at most this share in a pass."""
PUBLISHED = "published"
COMPARED = (("near_ten", "fewer"), ("near_ten", "more"), ("fewer", "more"))
"""Groups of K, each with the one that it is compared with."""


class BasesSettings(Settings):
    """Figure 3 and the effects of all constants, on every fold of every data set."""

    datasets: Literal["all"] | tuple[Text, ...] = Field("all", description="all, or a list of data sets of the study")
    bases: Rising = Field(
        (1, 2, 5, 10, 20), description="values of K in Figure 3; those above the number of features are left out"
    )
    basis: Whole = Field(10, description="K in all other comparisons")
    starts: Whole = Field(1, description="number of random starts")
    passes: Whole = Field(40, description="largest number of passes; the best number is chosen on the validation part")
    methods: Annotated[tuple[cone.Method, ...], *Names.__metadata__] = Field(
        ("eg", "sg"),
        description="methods of folding in; the first is used for Figure 3 and the effects of the constants",
    )
    alphas: tuple[Positive, ...] = Field((0.1,), description="values of alpha tried in addition to the published 1")
    rhos: tuple[Positive, ...] = Field(
        (0.5,), description="values of rho tried in addition to the published 1, in units of sqrt(features)"
    )
    cs: tuple[Positive, ...] = Field(
        (1.0,), description="values of c tried in addition to the published 2, in units of rho"
    )
    largest_sums: Annotated[tuple[Positive, ...], at_least(1)] = Field(
        (2.0,), description="values of lambda_u in form (9)"
    )
    ranksvm_l2: Positives = Field(
        (1e-3, 1e-1, 10.0), description="values of l2 for RankSVM, of which the best is chosen on the validation part"
    )
    converged: Rising = Field(
        (1, 2, 5), description="values of K that are trained by exact blocks until they have converged"
    )
    converged_passes: Whole = Field(30, description="largest number of passes of these")
    components: Rising = Field(
        (1, 2, 3, 5, 10), description="numbers of principal components, next to that of the features"
    )
    factors: Rising = Field((2, 5, 10), description="values of K for semi-NMF")
    factor_pairs: Whole = Field(4000, description="largest number of pairs for components and semi-NMF")
    factor_rounds: Whole = Field(100, description="number of updates of semi-NMF")


class BasisOfFold(Row, table="slices/cone-bases/{dataset}/fold-{fold}"):
    """What a ranker reaches on the test part of one fold: RankSVM, or a cone of one setting with one way to predict."""

    dataset: str = Field(description="data set")
    fold: int = Field(description="fold, from 1")
    part: str = Field(description="comparison: ranksvm, basis (Figure 3), method, alpha, rho, c, weights or form-9")
    level: float | None = Field(description="constant that varies, rho and c in units of sqrt(d); l2 of RankSVM")
    method: str | None = Field(None, description="method of training; from here to validation missing for RankSVM")
    K: int | None = Field(None, description="basis vectors")
    start: int | None = Field(None, description="number of the random start, from 0")
    fold_in: str | None = Field(None, description="folding in for the prediction: gradient or least-squares")
    objective: float | None = Field(None, description="objective after the last pass, that of its own setting")
    passes: int | None = Field(None, description="passes after which MeanNDCG on the validation part is best")
    validation: float | None = Field(None, description="this MeanNDCG")
    map: float = Field(description="MAP on the test part")
    ndcg: float = Field(description="MeanNDCG on the test part")


class Basis(BasisOfFold, table="tables/cone-bases"):
    """As the slices have it."""


class VotesOfFold(Row, table="slices/cone-votes/{dataset}/fold-{fold}"):
    """On how many test queries a vote has another order than the linear score, except for ties."""

    dataset: str = Field(description="data set")
    fold: int = Field(description="fold, from 1")
    method: str = Field(description="method of training")
    fold_in: str = Field(description="folding in, of the linear score too: gradient or least-squares")
    queries: int = Field(description="test queries")
    in_another_order: int = Field(description="those with another order by coefficients free of constraints")
    printed_in_another_order: int = Field(description="by the steps of Algorithm 1 without step 1b")
    reversed_in_another_order: int = Field(description="with all differences turned round")
    other_in_another_order: int = Field(description="with the other way of folding in")


class Votes(VotesOfFold, table="tables/cone-votes"):
    """As the slices have it."""


class ComparedOfFold(Row, table="slices/cone-practice/{dataset}/fold-{fold}"):
    """What a ranker of one family and size reaches on one fold."""

    dataset: str = Field(description="data set")
    fold: int = Field(description="fold, from 1")
    family: str = Field(description="kind of ranker; published: Algorithm 1 with K = 10")
    size: int | None = Field(description="K; missing for RankSVM")
    validation: float | None = Field(description="MeanNDCG on the validation part; missing for RankSVM")
    map: float = Field(description="MAP on the test part")
    ndcg: float = Field(description="MeanNDCG on the test part")
    chosen: bool = Field(description="whether it is the best of its family on the validation part")


class ShareOfFold(Row, table="slices/cone-shares/{dataset}/fold-{fold}"):
    """A share that speaks for or against a sentence of the paper, on one fold."""

    dataset: str = Field(description="data set")
    fold: int = Field(description="fold, from 1")
    what: str = Field(
        description="risk and map, risk and ndcg: pairs of passes in which the lower risk has the better test measure; "
        "signs, FOLDING IN: positive coefficients of test pairs in the right order"
    )
    value: float = Field(description="the share, in [0, 1]")


class Curve(Row, table="tables/cone-figure3"):
    """A point of Figure 3."""

    dataset: str = Field(description="data set")
    fold_in: str = Field(description="folding in: gradient or least-squares")
    measure: str = Field(description="map or ndcg, on the test part")
    K: int = Field(description="basis vectors")
    folds: int = Field(description="folds")
    mean: float = Field(description="mean over folds and starts")
    low: float | None = Field(description="lower end of its 95 % t interval over folds; missing for one fold")
    high: float | None = Field(description="upper end of the same")


class Groups(Row, table="tables/cone-figure3-groups"):
    """K from 5 to 20 next to smaller and larger K on a data set of the paper, by the gradient folding-in.

    The groups have equally many K, those nearest to ten; in every fold the one that is best on the validation part.
    """

    dataset: str = Field(description="data set: MQ2007 or MQ2008")
    measure: str = Field(description="MAP or NDCG, on the test part")
    folds: int = Field(description="folds, at least two")
    fewer: float = Field(description="mean over folds of the best K below 5")
    near_ten: float = Field(description="that of the best K from 5 to 20")
    more: float = Field(description="that of the best K above 20")
    near_ten_minus_fewer: Interval = Field(description="mean difference, fold by fold, with its 95 % t interval")
    near_ten_minus_more: Interval = Field(description="mean difference, fold by fold, with its 95 % t interval")
    fewer_minus_more: Interval = Field(description="mean difference, fold by fold, with its 95 % t interval")
    best_k: int = Field(description="K of the best mean on the validation part, of all K")


class Compared(Row, table="tables/cone-practice"):
    """The measures of a family of rankers, in the mean over folds, and what it has more than the published algorithm.

    Intervals are 95 % t intervals over folds; their ends are missing for a single fold.
    """

    dataset: str = Field(description="data set")
    family: str = Field(description="kind of ranker; published: Algorithm 1 with K = 10")
    size: int | None = Field(description="K; missing where each fold has the one that is best on its validation part")
    folds: int = Field(description="folds")
    mean_size: float | None = Field(description="mean K; missing for RankSVM")
    mean_validation: float | None = Field(description="mean MeanNDCG on the validation part; missing for RankSVM")
    map: float = Field(description="MAP on the test part")
    map_low: float | None = Field(description="lower end of its interval")
    map_high: float | None = Field(description="upper end of its interval")
    ndcg: float = Field(description="MeanNDCG on the test part")
    ndcg_low: float | None = Field(description="lower end of its interval")
    ndcg_high: float | None = Field(description="upper end of its interval")
    more_ndcg: float = Field(description="difference of MeanNDCG to the published algorithm, fold by fold")
    more_ndcg_low: float | None = Field(description="lower end of its interval")
    more_ndcg_high: float | None = Field(description="upper end of its interval")


class Share(Row, table="tables/cone-shares"):
    """A share that speaks for or against a sentence of the paper, in the mean over folds."""

    dataset: str = Field(description="data set")
    what: str = Field(
        description="as in the slices, and K and map, K and ndcg: pairs of K in which the lower risk has the better "
        "test measure"
    )
    folds: int = Field(description="folds")
    share: float = Field(description="mean share, in [0, 1]")
    share_low: float | None = Field(description="lower end of its 95 % t interval over folds; missing for one fold")
    share_high: float | None = Field(description="upper end of the same")


def train(job: Job) -> Iterator[Row]:
    """The rows of one fold."""
    dataset, fold = job.cell["dataset"], int(job.cell["fold"])
    parts = job.parts(dataset, fold, ("train", "validation", "test"))
    yield from of_fold(job.settings, dataset, fold, parts, job.seed)


class Variant(NamedTuple):
    """One way to train: the comparison to which it belongs, and its settings; ``level`` is the constant varied."""

    part: str
    level: float | None
    method: cone.Method
    K: int
    problem: cone.Problem


def variants(settings: BasesSettings, d: int) -> list[Variant]:
    """Every variant for d features."""
    first, K, root = settings.methods[0], min(settings.basis, d), math.sqrt(d)
    return [
        *(Variant("basis", float(k), first, k, cone.Problem()) for k in settings.bases if k <= d),
        *(Variant("method", None, method, K, cone.Problem()) for method in settings.methods),
        *(Variant("alpha", alpha, first, K, cone.Problem(alpha=alpha)) for alpha in settings.alphas),
        *(Variant("rho", rho, first, K, cone.Problem(rho=rho * root)) for rho in settings.rhos),
        *(Variant("c", c, first, K, cone.Problem(c=c * root)) for c in settings.cs),
        Variant("weights", None, first, K, cone.Problem(weighted=False)),
        *(
            Variant("form-9", high, first, K, cone.Problem(band=(1.0, high), norms="equal"))
            for high in settings.largest_sums
        ),
    ]


def of_fold(settings: BasesSettings, dataset: str, fold: int, parts: Sequence[RankingData], seed: int) -> Iterator[Row]:
    """Train every variant on one fold, measure it, and compare the two ways to predict, simpler rankers, and shares.

    ``parts`` are the training, validation and test part, not standardised.
    """
    train, validation, test = parts
    parts = train.in_role("train"), validation.in_role("validation"), test.in_role("test")
    standard = Standardisation.of(train)
    train, validation, test = (standard.apply(part) for part in parts)
    ranksvm = _ranksvm(settings, dataset, fold, parts)
    yield ranksvm
    where: dict[str, Any] = {"dataset": dataset, "fold": fold}
    trained: dict[tuple[Any, ...], cone.Fit] = {}
    # The fits by the methods of the settings, each with its best number of passes.
    fits: dict[str, tuple[cone.Fit, int]] = {}
    planned = list(product(variants(settings, train.n_features), range(settings.starts)))
    for (part, level, method, K, problem), start in progress.counted(planned, _LOG, "trainings"):
        # Variants that differ only in the comparison to which they belong are trained once.
        key = (method, K, problem, start)
        if key not in trained:
            axes = (seed, "cone-bases", dataset, fold, K, start)
            trained[key] = cone.fit(
                train, K, method=method, problem=problem, passes=settings.passes, traced=False, seed=axes
            )
        fit = trained[key]
        of_training: dict[str, Any] = {"part": part, "level": level, "method": method, "K": K, "start": start}
        of_training["objective"] = fit.objective[-1]
        for fold_in in FOLD_INS:
            passes, held = rankings.best_pass(fit, fold_in, validation)
            reached = rankings.means(direction(fit.path[passes], fold_in), test)._asdict()
            yield BasisOfFold(**where, **of_training, fold_in=fold_in, passes=passes, validation=held, **reached)
            if part == "method" and start == 0:
                if fold_in == "gradient":
                    fits[method] = fit, passes
                drawn = (seed, "cone-votes", dataset, fold, method)
                found: dict[str, Any] = queries_in_another_order(test, fit.U, fold_in, method, problem, drawn)
                yield VotesOfFold(**where, method=method, fold_in=fold_in, queries=test.n_queries, **found)
    # SG with the settings of section 6, or the first method if SG is not among them, next to simpler rankers.
    fit, passes = fits["sg" if "sg" in fits else settings.methods[0]]
    yield from compared(settings, (train, validation, test), (fit, passes), ranksvm, seed)
    shares = [share for of_method, _ in fits.values() for share in rankings.agreement(of_method, test)]
    for what, value in (*shares, *rankings.signs(fit.path[passes], test)):
        yield ShareOfFold(**where, what=what, value=value)


def _ranksvm(settings: BasesSettings, dataset: str, fold: int, parts: Sequence[RankingData]) -> BasisOfFold:
    train, validation, test = parts
    options = {"surrogate": "ranksvm", "options": {"normalisation": "mean"}, "l2": list(settings.ranksvm_l2)}
    trained = erm.train(train, validation, {**options, "selection": SELECTION}, 0)
    reached = rankings.means_of_scores(trained.predict(test), test)._asdict()
    return BasisOfFold(dataset=dataset, fold=fold, part="ranksvm", level=trained.record["l2"], **reached)


def compared(
    settings: BasesSettings,
    parts: Sequence[RankingData],
    published: tuple[cone.Fit, int],
    ranksvm: BasisOfFold,
    seed: int,
) -> Iterator[ComparedOfFold]:
    """One row for every family and size; ``parts`` are standardised.

    ``published`` is a fit by Algorithm 1 with its best number of passes, ``ranksvm`` the row of RankSVM.
    """
    train, validation, test = parts
    where: dict[str, Any] = {"dataset": ranksvm.dataset, "fold": ranksvm.fold}
    axes = (seed, "cone-practice", *where.values())
    measured: list[tuple[str, int | None, float | None, Means]] = [
        (family, size, rankings.means(a, validation).ndcg, rankings.means(a, test))
        for family, size, a in _directions(settings, train, published, axes)
    ]
    measured.append(("RankSVM", None, ranksvm.validation, Means(ranksvm.map, ranksvm.ndcg)))
    for place, (family, size, held, reached) in enumerate(measured):
        alike = (i for i, one in enumerate(measured) if one[0] == family)
        chosen = place == max(alike, key=lambda i: measured[i][2] or 0.0)
        yield ComparedOfFold(**where, family=family, size=size, validation=held, **reached._asdict(), chosen=chosen)


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


def join(job: Job) -> Iterator[Row]:
    """The rows of all folds, Figure 3, and means over folds."""
    measured = job.rows(BasisOfFold)
    yield from (Basis(**dict(row)) for row in measured)
    yield from (Votes(**dict(row)) for row in job.rows(VotesOfFold))
    yield from curves(measured)
    yield from groups(measured)
    yield from summary(job.rows(ComparedOfFold))
    yield from shares(job.rows(ShareOfFold), measured)


def curves(rows: Sequence[BasisOfFold]) -> Iterator[Curve]:
    """The curves of Figure 3: mean over folds and starts for every K, with the interval over folds."""
    of_figure = (row for row in rows if row.part == "basis")
    for (dataset, fold_in, K), chosen in grouped(of_figure, "dataset", "fold_in", "K").items():
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
    of_figure = (row for row in rows if (row.part, row.fold_in) == ("basis", "gradient"))
    for (dataset,), chosen in grouped(of_figure, "dataset").items():
        if dataset in PUBLISHED_ON:
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
            found: dict[str, Any] = {}
            for name in ("size", "validation"):
                known = [value for row in chosen if (value := getattr(row, name)) is not None]
                found[f"mean_{name}"] = float(np.mean(known)) if known else None
            reached = {measure: [getattr(row, measure) for row in chosen] for measure in MEASURES}
            reached["more_ndcg"] = [row.ndcg - published[row.fold].ndcg for row in chosen]
            for name, values in reached.items():
                found |= over_all(values, name, f"{name}_low", f"{name}_high")
            yield Compared(dataset=dataset, family=family, size=size, folds=len(chosen), **found)


def shares(rows: Sequence[ShareOfFold], measured: Sequence[BasisOfFold]) -> Iterator[Share]:
    """The means over folds of all shares, those of the slices and those of risk and measure over K.

    ``measured`` are the rows of the bases of Figure 3, whose objectives and measures are compared from K to K.
    """
    every = list(rows)
    of_figure = (row for row in measured if row.part == "basis" and row.fold_in == "gradient")
    for (dataset, fold, _), chosen in grouped(of_figure, "dataset", "fold", "start").items():
        risks = [row.objective for row in chosen if row.objective is not None]
        for measure in MEASURES:
            share = rankings.concordance(risks, [getattr(row, measure) for row in chosen])
            if share is not None:
                every.append(ShareOfFold(dataset=dataset, fold=fold, what=f"K and {measure}", value=share))
    for (dataset, what), alike in grouped(every, "dataset", "what").items():
        means = _by_fold(alike, "value")
        ends = over_all(means, "share", "share_low", "share_high")
        yield Share(dataset=dataset, what=what, folds=len(means), **ends)


def _seconds(settings: BasesSettings, cell: Cell) -> float:
    # The number of basis vectors, each of which takes so many passes over the data.
    varied = (settings.methods, settings.alphas, settings.rhos, settings.cs, settings.largest_sums)
    vectors = sum(settings.bases) + settings.basis * sum(map(len, varied))
    # Exact blocks take longer, and for more vectors more passes.
    exact = 0.1 * settings.converged_passes * sum(settings.converged)
    return 0.015 * settings.starts * settings.passes * vectors + exact


EXPERIMENT = Experiment(
    BasesSettings,
    (
        Step(
            "bases_fold",
            train,
            documents=lambda settings: settings.datasets,
            rows=(BasisOfFold, VotesOfFold, ComparedOfFold, ShareOfFold),
            surrogates=("ranksvm",),
            cost=Cost(3.0, 0.0, 600.0, 20.0),
            seconds=_seconds,
            seconds_grow_with_data=True,
        ),
        Step(
            "bases",
            join,
            reads=(BasisOfFold, VotesOfFold, ComparedOfFold, ShareOfFold),
            rows=(Basis, Votes, Curve, Groups, Compared, Share),
        ),
    ),
    selectors=("datasets",),
)
