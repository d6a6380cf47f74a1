"""With which smallest weights does SLAM bound 1 - NDCG, and for which data is its risk smallest at w = 0?

The tightest weights are compared with all valid ones (:mod:`pipeline_lib.papers.slam.weights.tight_weights`).

The criterion of :mod:`pipeline_lib.theory.zero_minimiser`, that no direction has a lead above its spread, is compared
with certified minimisers of the risk, for several margins:

- *gaussian*: one feature, which is normal with variance 1 and has the mean ``separation`` for the r relevant documents
  of m and 0 for the others. The spread per unit of weight is e(m - r), the expected maximum of m - r normal variables,
  so that w = 0 minimises the population's risk up to the separation e(m - r), whatever the weights are.
- *population*: lists of the two-layer population without tastes. Its features orthogonal to the utility are
  symmetric about 0 given the utility and the labels, so that by convexity the population's risk is smallest along the
  utility: one feature is enough.
- data sets, standardised, whole and with their lists cut at random into short ones.

On every fold of the data sets, SLAM-NDCG is trained on whole lists and on lists that are cut at random into short ones.
NDCG@10 on the test queries of all folds is compared query by query.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from annotated_types import Le

from pipeline_lib import metrics
from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Positive, Positives, Rising, Settings, Sizes, Whole, at_least
from pipeline_lib.data.ranking_data import RankingData, Standardisation
from pipeline_lib.data.rows import Field, FromOne, FromZero, Interval, Proportion, Row
from pipeline_lib.experiment import EVERY, Experiment, Job, Step
from pipeline_lib.learners import erm, sublists
from pipeline_lib.papers.slam.differences import FILE_ORDER, difference
from pipeline_lib.papers.slam.ranking_losses import falling_labels
from pipeline_lib.papers.slam.weights import tight_weights
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.surrogates.slam import SlamMAP, SlamNDCG, tight_weights_of_all, weights_of_all
from pipeline_lib.theory import zero_minimiser

GAUSSIAN, POPULATION = "gaussian", "population"
NDCG, TIGHT, MAP = "ndcg", "ndcg, tight", "map"
KINDS = (NDCG, TIGHT, MAP)
FACTORS = (0.9, 1.1)
"""The separations of the normal documents, in units of e(m - r)."""
LEAST_QUERIES = 400
NORMAL_QUERIES = 1000
"""The least numbers of queries in a sample; means of normal documents have to be accurate to a few per cent."""
TOL = 1e-4
"""The relative gap to which risks are minimised, and the absolute one of directions; a tenth of it for one feature."""
WHOLE, SHORT = "whole", "short"
"""Lists with which rankers are trained."""
TRAINED_TOL = 1e-3
CUTOFF = 10


class WeightsSettings(Settings):
    """The tightest weights of SLAM, and for which data its risk is smallest at w = 0."""

    enumerated: Sizes = Field(
        (2, 3, 4), description="values of m for which the label vectors with a lowest label of 0 are enumerated"
    )
    enumerated_label: Annotated[Whole, Le(4)] = Field(2, description="largest label of these vectors")
    lengths: Annotated[Rising, at_least(3)] = Field((5, 10, 20, 50), description="documents per query in samples")
    documents: Whole = Field(10000, description="documents in a simulated sample, over all queries")
    noises: Positives = Field((0.05, 0.15, 0.5), description="noise of labels in the population, in units of the merit")
    sublists: Sizes = Field((5, 10), description="documents per list into which the lists of data sets are cut")
    margins: Positives = Field((0.1, 10.0), description="margins of SLAM's hinges with which every risk is minimised")
    l2: Positive = Field(0.001, description="l2 with which every risk is minimised")
    trained_sublists: Annotated[Whole, Field(ge=2)] = Field(
        3, description="documents per list on which rankers are trained that are compared with those of whole lists"
    )
    trained_l2: Positive = Field(0.01, description="l2 of these rankers")


class TightWeights(Row, table="tables/slam-tight-weights", key=("labels",)):
    """The printed and the tight weights for one label vector, and all weights with which SLAM bounds 1 - NDCG."""

    labels: str = Field(description="labels, which fall to 0")
    m: FromOne = Field(description="documents of the list")
    printed_sum: FromZero = Field(description="sum of the printed weights (9)")
    tight_sum: FromZero = Field(description="sum of the tight weights")
    least_sum: FromZero = Field(description="least sum of valid weights, by a linear programme")
    worst_loss: Proportion = Field(description="1 - NDCG of the reversed order")
    smallest_slack: float = Field(description="least slack of the tight weights over all constraints")
    largest_excess: float = Field(description="most by which a tight weight lies above the printed one")
    slack_one_rank_off: float = Field(description="least slack of tight weights with discounts of the next rank")
    slack_without_thresholds: float = Field(
        description="least slack of tight weights with the number of all relevant documents for every label"
    )
    slack_of_nine_tenths: float = Field(description="least slack of .9 times the tight weights")


class Phase(
    Row,
    table="tables/slam-phases",
    key=("source", "kind", "m", "relevant", "noise", "separation", "margin"),
    always=("lead = ratio * spread", "relevant <= m"),
):
    """The criterion for w = 0 on one sample, and the minimiser of the risk with one margin."""

    source: str = Field(description="gaussian, population, or a data set")
    kind: str = Field(description="weights: ndcg, ndcg, tight, or map")
    m: FromOne | None = Field(None, description="documents per list; missing for whole lists of a data set")
    relevant: FromOne | None = Field(None, description="relevant documents per list, of normal documents")
    noise: FromZero | None = Field(None, description="noise of labels in the population, in units of the merit")
    separation: float | None = Field(None, description="mean of relevant normal documents; that of others is 0")
    threshold: float | None = Field(None, description="e(m - r), the separation up to which w = 0 is the minimiser")
    lead: float = Field(description="lead at the direction of the largest ratio that was found")
    spread: FromZero = Field(description="spread there")
    ratio: float = Field(description="lead over spread there")
    margin: FromZero = Field(description="margin of the hinges")
    l2: FromZero = Field(description="l2 with which the risk is minimised")
    norm: FromZero = Field(description="||w|| of the minimiser")
    certified: bool = Field(description="whether it is a minimiser up to the asked gap")


class ShortLists(
    Row,
    table="tables/slam-short-lists",
    key=("dataset", "lists"),
    always=(
        "n_queries = MIN(n_queries) OVER (PARTITION BY dataset)",
        "file_order = MIN(file_order) OVER (PARTITION BY dataset)",
        "over_whole = ndcg - MAX(CASE WHEN (lists = 'whole') THEN ndcg END) OVER (PARTITION BY dataset)",
    ),
):
    """SLAM-NDCG on one kind of lists, trained on every fold of a data set, on all test queries."""

    dataset: str = Field(description="name of the data set")
    lists: str = Field(description="lists in training: whole, or short, cut at random")
    n_queries: FromOne = Field(description="test queries of all folds")
    ndcg: Proportion = Field(description="mean NDCG@10 on them")
    largest_norm: FromZero = Field(description="largest ||w|| of a fold")
    over_whole: Interval = Field(description="ndcg minus that of whole lists, with a bootstrap interval over queries")
    file_order: Proportion = Field(description="mean NDCG@10 of the order of the file")


def measure(job: Job) -> Iterator[Row]:
    """The tight weights of all label vectors whose lowest label is 0, and where the minimiser is 0."""
    yield from enumerated(job.settings)
    yield from phases(job.settings, job.datasets(), job.seed)


def enumerated(settings: WeightsSettings) -> Iterator[TightWeights]:
    """All label vectors that fall, with a lowest label of 0, of these lengths."""
    for m in settings.enumerated:
        for y in falling_labels(m, settings.enumerated_label):
            yield TightWeights(labels=" ".join(map(str, y)), m=m, **tight_weights.compared(y))


def phases(settings: WeightsSettings, datasets: Mapping[str, RankingData], seed: int) -> Iterator[Phase]:
    """One row for every sample, kind of weights and margin."""
    for setting, kind, data in progress.counted(list(_samples(settings, datasets, seed)), "samples"):
        labelled = data.with_binary_labels() if kind == MAP else data
        y, offsets = labelled.y.astype(np.int32), labelled.offsets
        v = tight_weights_of_all(y, offsets) if kind == TIGHT else weights_of_all(y, offsets, kind)
        tol = TOL if labelled.n_features > 1 else TOL / 10
        best = zero_minimiser.best_direction(labelled, v, tol)
        for margin in settings.margins:
            loss = SlamMAP(margin) if kind == MAP else SlamNDCG(margin, "tight" if kind == TIGHT else "printed")
            fit = erm.fit(labelled, loss, l2=settings.l2, tol=tol)
            yield Phase(
                **setting,
                kind=kind,
                lead=best.lead,
                spread=best.spread,
                ratio=best.ratio,
                margin=margin,
                l2=settings.l2,
                norm=float(np.linalg.norm(fit.w)),
                certified=fit.certified,
            )


def _samples(
    settings: WeightsSettings, datasets: Mapping[str, RankingData], seed: int
) -> Iterator[tuple[dict[str, Any], str, RankingData]]:
    for m in settings.lengths:
        for r in sorted({1, m // 2}):
            threshold = zero_minimiser.expected_maximum(m - r)
            for separation in (factor * threshold for factor in FACTORS):
                rng = generator(seed, "slam-weights", GAUSSIAN, m, r)
                data = gaussian(max(NORMAL_QUERIES, settings.documents // m), m, r, separation, rng)
                normal = {"m": m, "relevant": r, "separation": separation, "threshold": threshold}
                yield {"source": GAUSSIAN, **normal}, NDCG, data
    for m, noise, data in populations(settings, seed):
        yield {"source": POPULATION, "m": m, "noise": noise}, NDCG, data
    for name, raw in datasets.items():
        whole = Standardisation.of(raw).apply(raw)
        for m in settings.sublists:
            yield {"source": name, "m": m}, NDCG, sublists.cut(whole, m, generator(seed, "slam-weights", name, m))
        for kind in KINDS:
            yield {"source": name}, kind, whole


def gaussian(n: int, m: int, r: int, separation: float, rng: np.random.Generator) -> RankingData:
    """n queries with r relevant documents of m, and one feature: normal, with mean ``separation`` where relevant.

    Example
    -------
    >>> gaussian(2, 3, 1, 1.0, np.random.default_rng(0))
    RankingData(2 queries, 6 documents, 1 feature, labels 0..1)
    """
    relevant = np.tile(np.arange(m) < r, n)
    X = rng.standard_normal(n * m) + separation * relevant
    return RankingData.from_arrays(X[:, None], relevant.astype(int), np.repeat(np.arange(n), m))


def populations(settings: WeightsSettings, seed: int) -> Iterator[tuple[int, float, RankingData]]:
    """Length, noise and a sample of the population with one feature, for all of the settings."""
    for noise in settings.noises:
        population = Population(PopulationSettings(features=1, noise=noise, query_noise=0.0))
        for m in settings.lengths:
            rng = generator(seed, "slam-weights", POPULATION, noise, m, role="alone")
            yield m, noise, population.draw(max(LEAST_QUERIES, settings.documents // m), rng, documents=m)


def compare(job: Job) -> Iterator[ShortLists]:
    """On every data set, rankers trained on whole and on short lists."""
    for path in job.documents:
        dataset = path.parent.name
        folds = {fold: job.parts(dataset, fold, ("train", "test")) for fold in job.facts["folds"][dataset]}
        yield from on_data(job.settings, dataset, folds, job.facts["statistics"], job.seed)


def on_data(
    settings: WeightsSettings,
    dataset: str,
    folds: Mapping[int, Sequence[RankingData]],
    statistics: Mapping[str, Any],
    seed: int,
) -> Iterator[ShortLists]:
    """Train on the first part of every fold, and compare on the second."""
    values, norms = defaultdict[str, list[Floats]](list), defaultdict[str, float](float)
    for fold, (train, test) in folds.items():
        standard = Standardisation.of(train)
        whole, outside = standard.apply(train.in_role("train")), standard.apply(test.in_role("test"))
        rng = generator(seed, "slam-weights", "short-lists", dataset, fold)
        lists = {WHOLE: whole, SHORT: sublists.cut(whole, settings.trained_sublists, rng)}
        rankers = {FILE_ORDER: np.zeros(whole.n_features)}
        for name, data in lists.items():
            rankers[name] = erm.fit(data, SlamNDCG(), l2=settings.trained_l2, tol=TRAINED_TOL).w
        for name, w in rankers.items():
            norms[name] = max(norms[name], float(np.linalg.norm(w)))
            values[name].append(metrics.ndcg(outside.X64 @ w, outside.y, outside.offsets, CUTOFF))
    of_all = {name: np.concatenate(parts) for name, parts in values.items()}
    for name in (WHOLE, SHORT):
        own = of_all[name]
        axes = (seed, dataset, "printed", name, len(own), "over_whole", "slam-short-lists")
        yield ShortLists(
            dataset=dataset,
            lists=name,
            n_queries=len(own),
            ndcg=float(own.mean()),
            largest_norm=norms[name],
            over_whole=difference(own, of_all[WHOLE], statistics, axes),
            file_order=float(of_all[FILE_ORDER].mean()),
        )


EXPERIMENT = Experiment(
    WeightsSettings,
    Step(
        "weights",
        measure,
        rows=(TightWeights, Phase),
        documents=EVERY,
        surrogates=("slam-ndcg", "slam-map"),
        cost=Cost(3.0, start_mb=500.0),
        seconds=lambda settings, cell: 3e-6 * settings.documents * len(settings.lengths) * len(settings.noises),
    ),
    Step(
        "short_lists",
        compare,
        rows=(ShortLists,),
        documents=EVERY,
        with_folds=True,
        facts=["folds", "statistics"],
        surrogates=("slam-ndcg",),
        cost=Cost(4.0, start_mb=500.0),
    ),
)
