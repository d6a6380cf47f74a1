"""From which length of list on are the bounds in the maximum norm smaller, and must they grow with it at all?

The bounds on the gap L - Lhat of all rankers of a ball, for ListNet and SmoothDCG@1, are compared in two ways: with the
constants that `lists` and Chapelle and Wu print, and with the best that are known (``theory.list_lengths``, exact
suprema for the Lipschitz constants, McDiarmid's inequality once). The bounds without m are compared with gaps that are
known exactly: a query has one relevant document with the feature eps, eps = 1 or -1 with probability 1/2, and m - 1
others with -eps; the loss is phi(eps w), so that the gap of w is |c| times the odd part of phi, c = mean of eps, and a
sample is one binomial number. That other losses need the logarithm of m is seen at the highest irrelevant document
(:mod:`pipeline_lib.papers.lists.known_gaps`), with W2 R_X = 1.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, product
from typing import Annotated, Any

import numpy as np
from scipy import stats
from scipy.special import softmax

from pipeline_lib import surrogates
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Positives, Probability, Rising, Settings, Sizes, Whole, at_least
from pipeline_lib.data.rows import Field, FromOne, FromZero, OnlyInterval, Proportion, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.papers.lists.intervals import FITTED, of_power
from pipeline_lib.papers.lists.known_gaps import (
    mean_gap,
    mean_of_mean_sign,
    misled,
    quantile_of_mean_sign,
    soft_maximum,
)
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import list_bounds, list_lengths
from pipeline_lib.theory.constants import supremum

LOSSES: dict[str, dict[str, Any]] = {"listnet": {}, "smooth-dcg": {"sign": "regret"}}
"""The surrogates whose bounds are compared, with the options that make them losses that are not negative."""
PRINTED, BEST = "chapelle-wu", "chapelle-wu, best constants"
OTHERS = ("theorem 9", "theorem 9, shorter chain", "free of m", "worst coordinate", "one score at a time")
BOUNDS = (PRINTED, BEST, *OTHERS)
"""``worst coordinate`` is sqrt(m) G times the average of one score: the shape of the contraction of Foster and Rakhlin
(2019) for any vector-valued functions. With the constant 1 and without its logarithms it is no bound."""
WEIGHTS = 401
"""The number of rankers among which the largest gap is taken; both ends of the ball are among them."""
STEEP, RANDOM_LISTS = 40.0, 50
"""A difference of scores at which a softmax is its largest entry, and how many lists are tried besides it."""
ONE: dict[str, Any] = {"lipschitz": 1.0, "radius": 1.0, "feature_norm": 1.0}
"""The constants of the highest irrelevant document."""


class LengthsSettings(Settings):
    """Bounds against the length of lists: Chapelle and Wu's, those of the paper, and bounds without m."""

    queries: Rising = Field((1000, 10**4, 10**5, 10**6), description="values of n at which bounds are compared")
    lengths: Rising = Field(
        (2, 10, 30, 100, 300, 1000, 3000, 10**4, 10**5, 10**6), description="values of m at which bounds are compared"
    )
    scores: Positives = Field((0.1, 1.0, 2.0, 5.0), description="largest scores W2 R_X of the classes")
    y_max: Whole = Field(4, le=30, description="largest label")
    delta: Probability = Field(0.05, le=0.05, description="bounds hold with probability 1 - delta")
    rare: Probability = Field(1e-6, le=0.05, description="delta for the bounds without m, whose gaps are exact")
    exact_queries: Rising = Field((100, 10**4, 10**6), description="values of n for exact gaps")
    exact_lengths: Sizes = Field((2, 10, 100, 1000), description="values of m for exact gaps")
    exact_scores: Positives = Field((0.01, 0.1, 0.5, 1.0), description="largest scores for exact gaps")
    exact_y_max: Whole = Field(20, le=30, description="label of ListNet's relevant document there")
    soft_scores: Annotated[Positives, FITTED] = Field(
        (16.0, 32.0, 64.0, 128.0), description="largest scores at which ListNet's need of a logarithm is measured"
    )
    largest_losses: Positives = Field((1.0, 10.0, 100.0), description="values of B for a loss that no ranker changes")
    highest_queries: Whole = Field(1000, ge=100, description="n for the loss of the highest irrelevant document")
    highest_lengths: Annotated[Sizes, FITTED] = Field(
        (10**2, 10**4, 10**6, 10**8, 10**10, 10**12, 10**15), description="values of m there"
    )
    misled_queries: Rising = Field((8, 12, 16), description="values of n for its minimisers")
    misled_lengths: Sizes = Field((2, 1000, 20_000, 200_000), description="values of m for them")
    listwise_lengths: Annotated[Rising, at_least(3), FITTED] = Field(
        (10, 20, 50, 100, 200), description="values of m for the constants of ListNet"
    )


class LengthBound(Row, table="tables/lists-length-bounds", key=("loss", "scores", "n", "m", "bound")):
    """One bound on the gap of all rankers of a ball."""

    loss: str = Field(description="surrogate: listnet or smooth-dcg")
    scores: FromZero = Field(description="W2 R_X, the largest score of the class")
    n: FromOne = Field(description="queries of the sample")
    m: FromOne = Field(description="documents of each query")
    bound: str = Field(description="which bound; worst coordinate is the shape of a bound, with the constant 1")
    value: FromZero = Field(description="what it says of L - Lhat, with probability 1 - delta")
    spread: FromZero = Field(description="largest difference of one ranker's losses on two queries")


class FreeOfLength(Row, table="tables/lists-free", key=("loss", "scores", "m", "n")):
    """An exact gap of lists with one relevant document, and the bound without m."""

    loss: str = Field(description="surrogate: listnet or smooth-dcg")
    scores: FromZero = Field(description="W2 R_X, the largest score of the class")
    m: FromOne = Field(description="documents of each query")
    n: FromOne = Field(description="queries of the sample")
    gap: float = Field(description="the least number that the largest gap exceeds with probability at most `rare`")
    rademacher: FromZero = Field(description="Rademacher average of the two rankers of this gap, a part of that of all")
    average: FromZero = Field(description="bound on the Rademacher average, without m")
    bound: FromZero = Field(description="bound on the gap without m, with probability 1 - `rare`")
    spread: FromZero = Field(description="largest difference of one ranker's losses on two queries")


class Misled(Row, table="tables/lists-misled", key=("n", "m"), always=("minimiser <= largest_excess",)):
    """Expected excess risks of two minimisers of the highest irrelevant document, and the bounds for learners."""

    n: FromOne = Field(description="queries of the sample")
    m: FromOne = Field(description="documents of each query")
    minimiser: FromZero = Field(description="of the worst minimiser of the empirical risk over the ball, at least")
    regularised: FromZero = Field(description="of the regularised minimiser, 0")
    theorem_5: FromZero = Field(description="Theorem 5, for online gradient descent")
    theorem_6: FromZero = Field(description="Theorem 6, for the regularised minimiser")
    largest_excess: FromZero = Field(description="largest excess risk of a ranker W2 e_j")


class LengthPower(Row, table="tables/lists-length-powers", key=("axis", "case")):
    """A power of the length of lists, or of its logarithm, fitted to values at several lengths."""

    axis: str = Field(description="m, ln m or a")
    case: str = Field(description="what grows: a loss and its constant, or the gap of the highest irrelevant document")
    slope: OnlyInterval = Field(description="fitted exponent with its 95 % interval of least squares")


class Unbounded(Row, table="tables/lists-unbounded", key=("largest_loss", "n")):
    """How often a loss from 0 to B that no ranker changes exceeds three versions of Chapelle and Wu's bound."""

    largest_loss: FromZero = Field(description="B")
    n: FromOne = Field(description="queries of the sample")
    as_printed: Proportion = Field(description="probability that the gap exceeds sqrt(8 log(1/delta)/n)")
    times_largest: Proportion = Field(description="probability that it exceeds B times that")
    an_eighth: Proportion = Field(description="probability that it exceeds B/8 times that")
    delta: Proportion = Field(description="probability with which the bound may fail")


def measure(job: Job) -> Iterator[Row]:
    """The rows of all tables."""
    settings, seed = job.settings, job.seed
    yield from chain(bounds(settings), gaps(settings), [soft_maxima(settings)], unbounded(settings))
    yield from chain(highest_document(settings), listnet_powers(settings, seed))


class Class:
    """The losses of ListNet, or of SmoothDCG@1 with sigma = 1, over a ball, with all constants of its bounds.

    ``scores`` is W2 R_X; ``printed`` has the constants that `lists` states, G as G^CW as well (sections 3.1, 3.2);
    ``linf``, ``l2`` and ``partial`` are the best known constants in the maximum and in the Euclidean norm and of one
    score; ``spread`` is the largest difference of the losses of one ranker on two queries; ``average`` bounds the
    Rademacher average for n queries.
    """

    def __init__(self, name: str, scores: float, y_max: int) -> None:
        self.scores, loss = scores, surrogates.create(name, **LOSSES[name])
        self.printed = list_bounds.of_surrogate("erm", loss, m=2, y_max=y_max, radius=scores, feature_norm=1.0)
        # Suprema over lists of every length: ListNet's approach 2, sqrt(2) and 1 (errata, letters I and J).
        self.linf, self.l2, self.partial, self.spread = 2.0, math.sqrt(2.0), 1.0, 4.0 * scores
        self.average: Callable[..., float] = partial(list_lengths.of_listnet, scores=scores)
        if name == "smooth-dcg":
            linf, l2 = supremum(loss, 2, y_max, "lipschitz-linf"), supremum(loss, 2, y_max, "lipschitz-l2")
            known: Any = linf, l2, loss.bound(2, y_max, scores)
            self.linf, self.l2, self.spread = known
            # The partial derivative p (1 - p) times the gain is at most a quarter of it: half of G.
            self.partial = 0.5 * self.linf
            self.average = partial(list_lengths.of_smooth_dcg, scores=scores, largest_gain=self.spread)

    def bound(self, name: str, n: int, m: int, delta: float) -> float:
        """The bound ``name`` on the gap of all rankers."""
        given: dict[str, Any] = {"radius": self.scores, "feature_norm": 1.0}
        if name == PRINTED:
            # For losses up to B, the second term is B times that for losses up to 1.
            term = list_bounds.complexity_of_chapelle_wu(n=n, m=m, lipschitz_l2=self.printed["lipschitz"], **given)
            return term + float(self.printed["loss_bound"]) * math.sqrt(8.0 * math.log(1.0 / delta) / n)
        if name == "theorem 9":
            return list_bounds.evaluate("erm", n=n, m=m, delta=delta, **given, **self.printed)
        shape: dict[str, Any] = {"n": n, "scores": self.scores}
        average = {
            BEST: lambda: list_lengths.by_euclidean_norm(m=m, lipschitz_l2=self.l2, **shape),
            "theorem 9, shorter chain": lambda: list_lengths.by_chain(m=m, lipschitz=self.linf, **shape),
            "free of m": lambda: self.average(n=n),
            "worst coordinate": lambda: list_lengths.by_coordinates(m=math.sqrt(m), partial=self.linf, **shape),
            "one score at a time": lambda: list_lengths.by_coordinates(m=m, partial=self.partial, **shape),
        }[name]()
        return list_lengths.deviation(average, n=n, spread=self.spread, delta=delta)


def bounds(settings: LengthsSettings) -> Iterator[LengthBound]:
    """All bounds at every n and m."""
    for loss, scores in product(LOSSES, settings.scores):
        group = Class(loss, scores, settings.y_max)
        for n, m, name in product(settings.queries, settings.lengths, BOUNDS):
            value = group.bound(name, n, m, settings.delta)
            yield LengthBound(loss=loss, scores=scores, n=n, m=m, bound=name, value=value, spread=group.spread)


def odd_part(loss: Surrogate, m: int, y_max: int, scores: float) -> float:
    """The largest odd part of the loss of one relevant document with the score t and m - 1 others with -t, |t| <= a.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> round(odd_part(surrogates.create("listnet"), 1000, 20, 0.01), 4)
    0.02
    """
    t = np.linspace(-scores, scores, WEIGHTS)
    signs = np.array([1.0] + [-1.0] * (m - 1))
    y = np.zeros((WEIGHTS, m), np.int32)
    y[:, 0] = y_max
    offsets = np.arange(WEIGHTS + 1, dtype=np.int64) * m
    values = loss.unchecked((t[:, None] * signs).ravel(), y.ravel(), offsets)[0]
    return float(np.abs(0.5 * (values - values[::-1])).max())


def gaps(settings: LengthsSettings) -> Iterator[FreeOfLength]:
    """Exact gaps and the bounds without m."""
    for (name, options), scores in product(LOSSES.items(), settings.exact_scores):
        # A large label concentrates P(y) of ListNet on the relevant document; SmoothDCG is scaled by its gain.
        y_max = settings.exact_y_max if name == "listnet" else settings.y_max
        group = Class(name, scores, y_max)
        for m in settings.exact_lengths:
            odd = odd_part(surrogates.create(name, **options), m, y_max, scores)
            # One document eps and m - 1 others -eps: the former is the farthest from their mean.
            centred = 2.0 * scores * (m - 1) / m
            for n in settings.exact_queries:
                case: dict[str, Any] = {"loss": name, "scores": scores, "m": m, "n": n, "spread": group.spread}
                gap, average = odd * quantile_of_mean_sign(n, settings.rare), group.average(n=n, centred=centred)
                bound = list_lengths.deviation(average, n=n, spread=group.spread, delta=settings.rare)
                # With the even part of the two losses, the signs have the mean 0; with the odd part, |mean of signs|.
                rademacher = odd * mean_of_mean_sign(n)
                yield FreeOfLength(**case, gap=gap, rademacher=rademacher, average=average, bound=bound)


def soft_maxima(settings: LengthsSettings) -> LengthPower:
    """The power of a with which ListNet's mean gap grows in lists of e^(a/2) documents."""
    lengths, n = [math.exp(0.5 * scores) for scores in settings.soft_scores], max(settings.exact_queries)
    gaps = [soft_maximum(scores, m) * mean_gap(n, m) for scores, m in zip(settings.soft_scores, lengths, strict=True)]
    return LengthPower(axis="a", case="listnet, e^(a/2) documents", slope=of_power(settings.soft_scores, gaps))


def highest_document(settings: LengthsSettings) -> Iterator[LengthPower | Misled]:
    """The highest irrelevant document: the power of ln m, and two minimisers beside Theorems 5 and 6."""
    means = [mean_gap(settings.highest_queries, m) for m in settings.highest_lengths]
    slope = of_power([math.log(m) for m in settings.highest_lengths], means)
    yield LengthPower(axis="ln m", case="highest irrelevant document", slope=slope)
    for n, m in product(settings.misled_queries, settings.misled_lengths):
        stated = {f"theorem_{k}": list_bounds.evaluate(name, n=n, m=m, **ONE) for k, name in ((5, "ogd"), (6, "rerm"))}
        yield Misled(n=n, m=m, minimiser=0.5 * misled(n, m), regularised=0.0, **stated, largest_excess=0.5)


def unbounded(settings: LengthsSettings) -> Iterator[Unbounded]:
    """How often a loss that no ranker changes exceeds Chapelle and Wu's bound.

    The loss is B if the first document is relevant, which it is with probability 1/2, and 0 elsewhere: G = 0, and the
    gap of every ranker is B (1/2 - K/n) with K ~ Binomial(n, 1/2).
    """
    for largest, n in product(settings.largest_losses, settings.exact_queries):
        case: dict[str, Any] = {"largest_loss": largest, "n": n, "delta": settings.delta}
        for name, factor in (("as_printed", 1.0), ("times_largest", largest), ("an_eighth", 0.125 * largest)):
            threshold = factor * math.sqrt(8.0 * math.log(1.0 / settings.delta) / n) / largest
            case[name] = float(stats.binom.cdf(math.ceil(n * (0.5 - threshold)) - 1, n, 0.5))
        yield Unbounded(**case)


def listnet_powers(settings: LengthsSettings, seed: int) -> Iterator[LengthPower]:
    """The powers of m with which G of ListNet grows, and m times its largest partial derivative.

    A contraction for one score at a time, as in the proof technique of Lan et al. (2009), pays the largest partial
    derivative for each of the m scores; the bounds of `lists` pay G, the largest l1 norm of the gradient. Exactly,
    they are 1 - 1/(1 + (m-1) e^y_max) and twice that.
    """
    lengths, partials, norms = settings.listwise_lengths, [], []
    for m in lengths:
        rng, first = generator(seed, "lists-lengths", "listnet", m), np.eye(m)[0]
        # The list in which the suprema are approached, and random ones.
        drawn = [(rng.normal(scale=3.0, size=m), rng.integers(settings.y_max + 1, size=m)) for _ in range(RANDOM_LISTS)]
        lists = [(STEEP * first, settings.y_max * (1.0 - first)), *drawn]
        sizes = [np.abs(softmax(s) - softmax(y.astype(np.float64))) for s, y in lists]
        partials.append(m * float(max(size.max() for size in sizes)))
        norms.append(float(max(size.sum() for size in sizes)))
    for case, values in (("G", norms), ("sum over scores", partials)):
        yield LengthPower(axis="m", case=f"listnet, {case}", slope=of_power(lengths, values))


EXPERIMENT = Experiment(
    LengthsSettings,
    Step(
        "lengths",
        measure,
        rows=(LengthBound, FreeOfLength, Misled, LengthPower, Unbounded),
        surrogates=("listnet", "smooth-dcg"),
        cost=Cost(1.0, start_mb=600.0),
    ),
)
