"""What are losses made of: what can be estimated of them, which are sums, which rank by NDCG, and how noisy are they?

`topk`: the necessity in Lemma 1, the sentences of section 4.1 on other listwise methods, the way from ListNet's cross
entropy to the KL loss, and section 6, which calls the KL loss listwise.

Section 1: for every surrogate a linear programme finds the law of labels under which its minimisers have two documents
in the wrong order, with the largest difference of their expected relevances
(:mod:`pipeline_lib.theory.partial_labels`). The expectation of the surrogate as it is implemented is then minimised
under this law, by certified minimisation over free scores (X = I), and the order of the minimiser is judged by expected
NDCG.

Section 6: RankSVM's gradient is estimated from two labels, "leading to lower variance". Computed exactly, at w_1 = 0,
by enumeration of the sets of documents that may be shown:

    (E||z||^2 - ||E z||^2) / ||E z||^2,   numerator and denominator averaged over queries with different labels.

The variance is taken relative to the squared length of what is estimated, because a loss that is multiplied by a number
is the same loss for a step that is divided by it.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, pairwise, product
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from scipy.special import softmax

from pipeline_lib import surrogates
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Rising, Settings, Whole, at_least, at_most
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Field, FromOne, FromZero, Interval, OnlyInterval, Proportion, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.learners import erm, top_k_feedback
from pipeline_lib.learners.top_k_feedback import Probabilities, estimate, show_probability
from pipeline_lib.papers.topk import games
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.statistics import over_folds
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import decomposability, partial_labels

ESTIMATED = ("squared", "kl", "smooth-dcg", "ranksvm", "listnet")
"""Surrogates for whose gradients an estimator is solved for."""
EXPLORATION = {"algorithm 1": 0.1, "exploitation alone": 0.0}
"""gamma of the distributions of orders: without exploration one order has probability 1."""
LISTWISE = {"structured-ndcg": (1, 2), "svm-map": (1,), "listnet": (1, 2)}
"""Listwise losses with the values of y_max for which their gradients are decomposed; MAP has binary labels."""
SUMMED = ("kl", "squared", "listnet", "ranksvm")
"""Losses of which is measured whether they are sums of functions of single scores."""
NOT_CALIBRATED = ("squared", "ranksvm", "kl", "listnet")
CALIBRATED = "squared-ndcg"
BOUNDED = ("squared", "kl", "ranksvm")
"""The surrogates of Lemma 5, whose estimates are compared."""
PROBABILITIES: tuple[Probabilities, ...] = ("correct", "as-printed")
QUOTIENTS = (
    (("ranksvm", 2), ("squared", 1)),
    (("ranksvm", 2), ("kl", 1)),
    *(((name, top_k_feedback.ORDERS[name] + 1), (name, top_k_feedback.ORDERS[name])) for name in BOUNDED),
)
"""Surrogate and number of labels of the estimators that are compared."""


class StructureSettings(Settings):
    """What losses are made of: necessity in Lemma 1, other listwise losses, calibration, and the noise of estimates."""

    scores: Whole = Field(10, description="random score vectors at which listwise gradients are decomposed")
    lists: Whole = Field(20, description="random lists on which losses are taken apart")
    lengths: Annotated[Rising, at_least(4), at_most(20)] = Field(
        (5, 10), description="values of m at which the variances of the estimates are compared"
    )
    queries: Annotated[Whole, Ge(20)] = Field(60, description="queries over which these are averaged")
    horizon: Annotated[Whole, Ge(10)] = Field(100000, description="T, which gives their gamma")


class Estimable(
    Row, table="tables/topk-estimable", key=("surrogate", "exploration", "m", "y_max", "k"), always=("k <= m",)
):
    """How far a gradient is from the mean of any estimator that sees the labels of k documents on top."""

    surrogate: str = Field(description="surrogate whose gradient is estimated, at scores from 0.9 to -0.9")
    exploration: str = Field(description="distribution of orders: that of algorithm 1, or exploitation alone")
    m: FromOne = Field(description="documents of the list")
    y_max: FromOne = Field(description="largest label; labels are 0 to y_max")
    k: FromOne = Field(description="labels that are seen")
    error: FromZero = Field(
        description="largest error of the nearest mean, relative to the largest entry of a gradient"
    )
    beyond: FromZero = Field(description="largest absolute part of the gradient that takes more than k labels jointly")


class Listwise(Row, table="tables/topk-listwise", key=("surrogate", "m", "y_max", "k"), always=("k <= m - 1",)):
    """How much of the gradient of a listwise loss takes more than k labels jointly."""

    surrogate: str = Field(description="listwise loss whose gradient is decomposed")
    m: FromOne = Field(description="documents of the list")
    y_max: FromOne = Field(description="largest label; labels are 0 to y_max")
    k: FromOne = Field(description="labels, below m")
    beyond: FromZero = Field(description="largest absolute part that takes more than k labels jointly, over all scores")


class Sum(Row, table="tables/topk-sums", key=("surrogate", "statistic")):
    """How far a loss is from a sum over documents, or from a divergence that is summed directly."""

    surrogate: str = Field(description="loss that is taken apart")
    statistic: str = Field(
        description="joint: second difference in two scores; from divergence, from exchanged divergence: difference "
        "from it"
    )
    value: FromZero = Field(description="its largest absolute value over random lists")


class Calibration(Row, table="tables/topk-calibration", key=("surrogate", "m", "grades")):
    """What the minimiser of an expected surrogate loses in NDCG, under the law of labels that misleads it most."""

    surrogate: str = Field(description="surrogate whose expectation is minimised")
    m: FromOne = Field(description="documents of the list")
    grades: FromOne = Field(description="grades, 0, 1, ...")
    gap: float = Field(
        description="lead in expected relevance of the document that minimisers rank behind another; negative if there "
        "is none"
    )
    regret: Proportion = Field(description="expected NDCG of the best order less that of the minimiser")


class VarianceQuotient(Row, table="tables/topk-variance-quotients", key=("m", "probabilities", "above", "below")):
    """The relative variance of one estimator over that of another."""

    m: FromOne = Field(description="documents of each query")
    probabilities: str = Field(description="probabilities that are divided by: correct or as-printed")
    above: str = Field(description="surrogate and number of labels of the estimator in the numerator")
    below: str = Field(description="those of the estimator in the denominator")
    same_loss: bool = Field(description="whether both estimate the gradient of the same loss")
    queries: FromOne = Field(description="queries with different labels, over which the means are taken")
    quotient: OnlyInterval = Field(description="quotient of the variances over ||E z||^2; 95 % interval over queries")


def measure(job: Job) -> Iterator[Row]:
    """The rows of all five tables."""
    yield from estimable()
    yield from listwise(job.settings, job.seed)
    yield from sums(job.settings, job.seed)
    yield from calibrated()
    yield from noise(job.settings, job.seed)


def estimable() -> Iterator[Estimable]:
    """For every gradient and k: its distance from the mean of any estimator, and what takes more than k labels."""
    for name, m, y_max in product(ESTIMATED, (2, 3, 4), (1, 2)):
        function = games.gradient(surrogates.create(name), np.linspace(0.9, -0.9, m))
        sizes = decomposability.interactions(function, m, y_max)
        for (exploration, gamma), k in product(EXPLORATION.items(), range(1, m + 1)):
            case: dict[str, Any] = {"surrogate": name, "exploration": exploration, "m": m, "y_max": y_max, "k": k}
            error = decomposability.estimation_error(function, m, y_max, k, gamma)
            yield Estimable(**case, error=error, beyond=sizes[k + 1 :].max(initial=0.0))


def listwise(settings: StructureSettings, seed: int) -> Iterator[Listwise]:
    """For every listwise loss and k < m: the largest part of its gradient that takes more than k labels."""
    for name, largest_labels in LISTWISE.items():
        loss = surrogates.create(name)
        for m, y_max in product((2, 3, 4, 5), largest_labels):
            rng = generator(seed, "topk-structure", "listwise", m)
            points = [np.linspace(0.9, -0.9, m), np.linspace(-0.3, 0.3, m), *rng.normal(size=(settings.scores, m))]
            sizes = [decomposability.interactions(games.gradient(loss, scores), m, y_max) for scores in points]
            for k in range(1, m):
                beyond = max(float(size[k + 1 :].max()) for size in sizes)
                yield Listwise(surrogate=name, m=m, y_max=y_max, k=k, beyond=beyond)


def sums(settings: StructureSettings, seed: int) -> Iterator[Sum]:
    """Losses in two scores together, and ListNet and the KL loss next to divergences that are summed directly.

    ``joint``: the largest second difference of a loss in two of its scores, which is 0 if it is a sum of functions of
    single scores. ``from divergence``: the largest difference between a loss and

        KL(p, q) = sum_i p_i log p_i - p_i log q_i - p_i + q_i,

    with p, q the softmax of labels and scores for ListNet, and p = e^R, q = e^s for KL, each less its value at s = 0.
    ``from exchanged divergence``: the same with KL(q, p).
    """
    rng, m = generator(seed, "topk-structure", "sums"), 4
    lists = [(rng.normal(size=m), rng.integers(0, 4, size=m).astype(np.int32)) for _ in range(settings.lists)]
    for name in SUMMED:
        loss, e = surrogates.create(name), np.eye(m)
        joint = 0.0
        for (s, y), (i, j) in product(lists, combinations(range(m), 2)):
            corners = [_value(loss, s + a * e[i] + b * e[j], y) for a, b in ((1, 1), (1, 0), (0, 1), (0, 0))]
            joint = max(joint, abs(corners[0] - corners[1] - corners[2] + corners[3]))
        yield Sum(surrogate=name, statistic="joint", value=joint)
    for name, of_scores in (("listnet", softmax), ("kl", np.exp)):
        loss = surrogates.create(name)
        for statistic, divergence in DIVERGENCES.items():
            excess = [
                _value(loss, point, y) - divergence(of_scores(y), of_scores(point))
                for s, y in lists
                for point in (s, np.zeros(m))
            ]
            largest = max(abs(at_s - at_0) for at_s, at_0 in zip(excess[::2], excess[1::2], strict=True))
            yield Sum(surrogate=name, statistic=statistic, value=largest)


def _value(loss: Surrogate, s: Floats, y: Any) -> float:
    return float(loss.value(s, y, [0, len(y)])[0])


def _divergence(p: Floats, q: Floats) -> float:
    return float(np.sum(p * np.log(p) - p * np.log(q) - p + q))


DIVERGENCES: Mapping[str, Callable[[Floats, Floats], float]] = {
    "from divergence": _divergence,
    "from exchanged divergence": lambda p, q: _divergence(q, p),
}


def calibrated() -> Iterator[Calibration]:
    """What minimisers lose in NDCG under the law that misleads their surrogate most."""
    for m, grades in product((2, 3), (2, 3)):
        relevances = partial_labels.relevances(m, grades)
        for name in (*NOT_CALIBRATED, CALIBRATED):
            worst = partial_labels.largest_misordering(name, m, grades)
            relevance = worst.law @ relevances
            shown = float(games.value(minimiser(name, worst.law, m, grades)[None], relevance)[0])
            regret = max(0.0, partial_labels.best_value(relevance) - shown)
            yield Calibration(surrogate=name, m=m, grades=grades, gap=worst.gap, regret=regret)


def minimiser(surrogate: str, law: Floats, m: int, grades: int) -> Floats:
    """Scores that minimise the expectation of a surrogate under a law of labels, certified.

    Example
    -------
    >>> minimiser("squared", np.array([0.0, 0.5, 0.25, 0.25]), 2, 2).round(6).tolist()
    [0.5, 0.75]
    """
    data = games.on_identity(partial_labels.label_vectors(m, grades))
    found = erm.fit(data, surrogate, l2=0.0, radius=100.0, weights=np.asarray(law, np.float64))
    if not found.certified:
        raise DataError(f"{surrogate}: the minimiser of its expectation is not certified: {found.reason}")
    return found.w


def noise(settings: StructureSettings, seed: int) -> Iterator[VarianceQuotient]:
    """The relative variances of estimators at w = 0, by the correct and by the printed probabilities.

    Quotients compare RankSVM with the losses that are shown one label, and every loss with itself if one more label is
    shown. Intervals are over queries, by the delta method for the quotient of means.
    """
    _, gamma = top_k_feedback.theorem_parameters(settings.horizon)
    for m, probabilities in product(settings.lengths, PROBABILITIES):
        population = Population(PopulationSettings(features=5, documents=m))
        data = population.draw(settings.queries, generator(seed, "topk-structure", "variance", m, role="alone"))
        moments: dict[tuple[str, int], Floats] = {}
        case: dict[str, Any] = {"m": m, "probabilities": probabilities}
        for name, more in product(BOUNDED, (0, 1)):
            k = top_k_feedback.ORDERS[name] + more
            moments[name, k] = moments_of(data, name, k, gamma, probabilities)
        for above, below in QUOTIENTS:
            yield VarianceQuotient(
                **case,
                above="{}, k = {}".format(*above),
                below="{}, k = {}".format(*below),
                same_loss=above[0] == below[0],
                queries=len(moments[above]),
                quotient=_quotient(moments[above], moments[below]),
            )


def moments_of(data: RankingData, name: str, k: int, gamma: float, probabilities: Probabilities) -> Floats:
    """E||z||^2 - ||E z||^2 and ||E z||^2 of every query with different labels, shape (queries, 2)."""
    loss, found = surrogates.create(name), []
    for begin, end in pairwise(data.offsets):
        X, y, m = data.X64[begin:end], data.y[begin:end], int(end - begin)
        if len(np.unique(y)) == 1:
            continue
        mean, square = np.zeros(X.shape[1]), 0.0
        best = tuple(range(m))  # equal scores are ranked in document order
        for top in combinations(best, k):
            chance = show_probability(m, k, gamma, top=top == best[:k])
            z = estimate(loss, np.zeros(m), top, y[list(top)], best, gamma, k, probabilities=probabilities) @ X
            mean += chance * z
            square += chance * float(z @ z)
        length = float(mean @ mean)
        found.append((square - length, length))
    return np.array(found)


def _quotient(above: Floats, below: Floats) -> Interval:
    """The quotient of two relative variances, each a quotient of means over the same queries, with its interval."""
    (v, g), (u, h) = above.mean(axis=0), below.mean(axis=0)
    logs = over_folds(above[:, 0] / v - above[:, 1] / g - below[:, 0] / u + below[:, 1] / h)
    quotient, half = (v / g) / (u / h), (logs.high - logs.low) / 2.0
    return Interval(quotient, quotient * math.exp(-half), quotient * math.exp(half))


EXPERIMENT = Experiment(
    StructureSettings,
    Step(
        "structure",
        measure,
        rows=(Estimable, Listwise, Sum, Calibration, VarianceQuotient),
        surrogates=(*ESTIMATED, *LISTWISE, CALIBRATED),
        cost=Cost(4.0, start_mb=500.0),
    ),
)
