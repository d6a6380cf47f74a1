"""Are the estimates from the labels on top unbiased, how large do they get, and do gradients decompose over labels?

`topk`: Lemmas 1 to 3 and 5, the estimators of section 4.1 and the probabilities of section 4.2, by enumeration of all
that may be shown. Every estimator divides by the probability that the k documents A are shown first,

    P(A) = (1 - gamma) 1[A = top k of s] + gamma / C(m, k).

Its mean is computed with this probability and with others in its place, :data:`DIVISORS`, all of which are wrong.

For Lemma 5, E||z||^2 <= C / gamma, second moments are computed exactly on two random documents in small balls, and
where they are largest: for the squared loss and KL all documents are one unit vector x,
all labels are R_max and w = -U x; for RankSVM the documents are x and -x in turns, all labels differ, and the two that
are shown by exploitation are equal. There only constants without slack pass.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations, permutations, product
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import surrogates
from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Probabilities, Rising, Settings, Several, Whole, at_least, at_most
from pipeline_lib.data.rows import Field, FromOne, FromZero, Proportion, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.learners import top_k_feedback, top_k_moments
from pipeline_lib.papers.topk.games import gradient
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import decomposability

WIDTH = 0.5  # of SmoothDCG: at 0.01 its softmax is 0 or 1, and nothing is left to be estimated

Documents = tuple[int, ...]
Lists = list[tuple[Floats, NDArray[np.int64]]]

DIVISORS: Mapping[str, Callable[[int, int, float, bool], float]] = {
    "as-printed": lambda m, k, gamma, top: 1.0 - gamma + gamma / math.comb(m, k),
    "literal": lambda m, k, gamma, top: math.factorial(k) * (1.0 - gamma + gamma / math.comb(m, k)),
    "exchanged": lambda m, k, gamma, top: gamma * top + (1.0 - gamma) / math.comb(m, k),
    "exploitation-alone": lambda m, k, gamma, top: 1.0 - gamma if top else gamma / math.comb(m, k),
    "one-document-fewer": lambda m, k, gamma, top: (1.0 - gamma) * top + gamma / max(math.comb(m - 1, k), 1),
    "one-label-fewer": lambda m, k, gamma, top: (1.0 - gamma) * top + gamma / math.comb(m, k - 1),
    "one-order": lambda m, k, gamma, top: ((1.0 - gamma) * top + gamma / math.comb(m, k)) / math.factorial(k),
}
"""What is put for P(A), by m, k, gamma and whether A is the top k of s.

``as-printed``: section 4.2 for every set. ``literal``: the same for each of the k! orders of A, over which (3) adds.
``exchanged``: gamma for 1 - gamma. ``exploitation-alone``: the top k are never shown by exploration.
``one-document-fewer``, ``one-label-fewer``: m - 1 for m, k - 1 for k. ``one-order``: one of the k! orders of A alone.
With k = 1 the last is right, and ``literal`` is as printed.
"""

WORST = {"squared": (2, 4, 8), "kl": (2, 4, 8), "ranksvm": (3, 4, 5)}
"""The surrogates of Lemma 5, and the lengths of lists on which second moments are as large as they get."""
SMALL_RADII, LARGEST_LABEL = (0.01, 0.25, 1.0), 4
EXPLORATION = 0.01
"""gamma in the worst cases: what is shown by exploitation alone counts for little."""

DECOMPOSED = {
    "ranksvm": ((3, 1), (4, 1), (4, 2), (5, 2)),
    "listnet": (*((m, 1) for m in range(2, 7)), *((m, 2) for m in range(2, 6)), *((m, 4) for m in range(2, 5))),
}
"""Surrogates, and m and y_max of the lists on which their gradients are decomposed.

Scores lie so far apart that some hinges are closed: with all of them open, binary labels enter RankSVM's gradient
singly.
"""


class ExactnessSettings(Settings):
    """Lemmas 1 to 3 and 5 and the estimators, by enumeration of all possible outcomes."""

    lengths: Annotated[Rising, at_least(3), at_most(6)] = Field(
        (3, 4, 5, 6), description="values of m for the enumerations, at most 6"
    )
    shown: Annotated[Rising, at_most(3)] = Field((1, 2, 3), description="values of k for the enumerations")
    gammas: Probabilities = Field((0.05, 0.4), description="values of gamma, the probability of a random order")
    repetitions: Whole = Field(2, description="score and label vectors for every case; of several, the last has ties")
    y_max: Several = Field(3, description="largest label of the enumerations")


class Bias(
    Row, table="tables/topk-biases", key=("claim", "surrogate", "k", "m", "gamma", "probabilities"), always=("k <= m",)
):
    """The bias of estimates in which one kind of probability is divided by, at one m, k and gamma."""

    claim: str = Field(description="topk-lemma1 for sums of any terms (3), topk-estimators for gradients of surrogates")
    surrogate: str = Field(description="surrogate whose gradient is estimated, or: any terms")
    k: FromOne = Field(description="labels that are seen")
    m: FromOne = Field(description="documents of the list")
    gamma: Proportion = Field(description="probability of a random order, in (0, 1)")
    probabilities: str = Field(description="correct, or which wrong probability is divided by")
    largest_relative_bias: FromZero = Field(
        description="largest max |mean - truth| / max(1, max |truth|) over all lists"
    )


class Probability(
    Row,
    table="tables/topk-probabilities",
    key=("documents", "in_order", "exploited", "m", "shown", "gamma"),
    always=("documents <= m",),
):
    """The probability that Algorithm 1 shows one document, or two, first."""

    documents: FromOne = Field(description="documents that are shown first, 1 or 2")
    in_order: bool = Field(description="whether they are shown in the stated order, and not in any")
    exploited: bool = Field(description="whether they are those that the scores rank first")
    m: FromOne = Field(description="documents of the list")
    shown: str = Field(description="their ranks by the scores, in words")
    gamma: Proportion = Field(description="probability of a random order, in (0, 1)")
    probability: Proportion = Field(description="probability by summation over all m! rankings")


class Moment(Row, table="tables/topk-moments", key=("surrogate", "where", "m", "radius", "gamma")):
    """The second moment of the estimate of a gradient, and the bounds of Lemma 5."""

    surrogate: str = Field(description="surrogate whose gradient is estimated")
    where: str = Field(description="which weights and documents: short lists in a small ball, or worst case")
    m: FromOne = Field(description="documents of the list")
    radius: FromZero = Field(description="U, the radius of the ball of weights")
    y_max: FromOne = Field(description="R_max, the largest label")
    gamma: Proportion = Field(description="probability of a random order, in (0, 1)")
    second_moment: FromZero = Field(description="E||z||^2 over everything that may be shown, the largest over lists")
    printed: FromZero = Field(description="C / gamma with the constant C of the proof")
    valid: FromZero = Field(description="C / gamma with a constant C that holds for all parameters")


class Decomposition(
    Row, table="tables/topk-decompositions", key=("surrogate", "m", "y_max", "labels"), always=("labels <= m",)
):
    """How much of a surrogate's gradient, at scores from 0.9 to -0.9, takes a number of labels jointly."""

    surrogate: str = Field(description="surrogate whose gradient is decomposed")
    m: FromOne = Field(description="documents of the list")
    y_max: FromOne = Field(description="largest label; labels are 0 to y_max")
    labels: FromOne = Field(description="labels, from 1 to m")
    joint: FromZero = Field(
        description="largest absolute part of the gradient that takes exactly so many labels jointly"
    )
    beyond: FromZero = Field(description="largest absolute part of the gradient that takes more labels jointly")


def measure(job: Job) -> Iterator[Row]:
    """The rows of all four tables."""
    yield from biases(job.settings, job.seed)
    yield from probabilities(job.settings, job.seed)
    for name in WORST:
        yield from _in_small_balls(job.seed, name)
        yield from in_the_worst_case(name)
    yield from decompositions()


def lists(settings: ExactnessSettings, seed: int, *axes: str | int) -> Lists:
    """Random scores and labels, ``settings.repetitions`` of them; the last of ``axes`` is the length m of the list.

    Labels 0 and y_max always appear, so that no gradient vanishes; the last scores are tied.
    """
    rng, m = generator(seed, "topk-exactness", *axes), int(axes[-1])
    found = []
    for number in range(settings.repetitions):
        y = rng.integers(0, settings.y_max + 1, size=m)
        y[:2] = 0, settings.y_max
        found.append((np.zeros(m) if number and number == settings.repetitions - 1 else rng.normal(size=m), y))
    return found


def biases(settings: ExactnessSettings, seed: int) -> Iterator[Bias]:
    """(3) for sums of any terms over ordered k-tuples, then the learner's estimates against the gradients."""
    for m, k, gamma in product(settings.lengths, settings.shown, settings.gammas):
        terms = generator(seed, "topk-exactness", "terms", k, m).normal(size=(m,) * k + (2,))
        means = (_means_of_sums(terms, scores, k, gamma) for scores, _ in lists(settings, seed, "lemma-1", k, m))
        yield from _largest_biases("topk-lemma1", "any terms", k, m, gamma, means)
    options = {"smooth-dcg": {"sigma": WIDTH, "sign": "as-printed"}}
    every = [surrogates.create(name, **options.get(name, {})) for name in top_k_feedback.ORDERS]
    for loss in progress.counted(every, "surrogates"):
        for k, m, gamma in product(settings.shown, settings.lengths, settings.gammas):
            if k >= top_k_feedback.ORDERS[loss.name]:
                drawn = lists(settings, seed, loss.name, k, m)
                means = (_means_of_estimates(loss, scores, y, k, gamma) for scores, y in drawn)
                yield from _largest_biases("topk-estimators", loss.name, k, m, gamma, means)


def _largest_biases(
    claim: str, case: str, k: int, m: int, gamma: float, means: Iterable[tuple[Mapping[str, Floats], Floats]]
) -> Iterator[Bias]:
    """A row for every probability, from the means with each of them, and from what they should be, on every list."""
    every = list(means)
    for kind in every[0][0]:
        bias = max(top_k_moments.relative_bias(found[kind], truth) for found, truth in every)
        yield Bias(claim=claim, surrogate=case, k=k, m=m, gamma=gamma, probabilities=kind, largest_relative_bias=bias)


def _means_of_sums(terms: Floats, scores: Floats, k: int, gamma: float) -> tuple[dict[str, Floats], Floats]:
    def total(A: Iterable[int]) -> Floats:
        return np.asarray(np.sum([terms[order] for order in permutations(A, k)], axis=0))

    correct = top_k_moments.lemma_1_mean(lambda top: terms[top], scores, k, gamma)
    return {"correct": correct, **_wrong_means(total, scores, k, gamma)}, total(range(len(scores)))


def _means_of_estimates(
    loss: Surrogate, scores: Floats, y: NDArray[np.int64], k: int, gamma: float
) -> tuple[dict[str, Floats], Floats]:
    # The estimate is c + H(A) / P(A), where c takes no label: that of the squared loss is 2 s, all others have none.
    m, best = len(scores), _ranking(scores)
    constant = 2.0 * scores if loss.name == "squared" else np.zeros(m)

    def numerator(A: Documents) -> Floats:
        f = top_k_feedback.estimate(loss, scores, A, y[list(A)], best, gamma, k)
        return (f - constant) * top_k_feedback.show_probability(m, k, gamma, top=set(A) == set(best[:k]))

    means = {"correct": top_k_moments.mean_estimate(loss, scores, y, k, gamma)}
    means |= {kind: constant + mean for kind, mean in _wrong_means(numerator, scores, k, gamma).items()}
    means["as-printed"] = top_k_moments.mean_estimate(loss, scores, y, k, gamma, "as-printed")
    return means, loss.gradient(scores, y, [0, m])


def _ranking(scores: Floats) -> list[int]:
    return np.argsort(-scores, kind="stable").tolist()


def _wrong_means(numerator: Callable[[Documents], Floats], scores: Floats, k: int, gamma: float) -> dict[str, Floats]:
    # The mean of numerator(A) / divisor(A) over the sets A that are shown, for every divisor; 0 where nothing is added
    m, best = len(scores), set(_ranking(scores)[:k])
    means: dict[str, Any] = defaultdict(float)
    for A in combinations(range(m), k):
        top, term = set(A) == best, numerator(A)
        probability = top_k_feedback.show_probability(m, k, gamma, top=top)
        for name, divisor in DIVISORS.items():
            means[name] = means[name] + probability * term / divisor(m, k, gamma, top)
    return means


def probabilities(settings: ExactnessSettings, seed: int) -> Iterator[Probability]:
    """The probabilities of section 4.2, summed over all m! rankings: of the first document, and of the first two."""
    for m in settings.lengths:
        best = tuple(_ranking(generator(seed, "topk-exactness", "probabilities", m).normal(size=m)))
        cases: list[tuple[Documents, bool, bool]] = [(best[:1], True, True), (best[-1:], True, False)]
        cases += [(best[:2], True, True), (best[1::-1], True, False), (best[-2:], True, False)]
        cases += [(best[:2], False, True), (best[-2:], False, False)]
        for gamma, (first, in_order, exploited) in product(settings.gammas, cases):
            tops = {first} if in_order else set(permutations(first))
            # Each ranking that begins so has the probability (1 - gamma) 1[it is the ranking by scores] + gamma / m!.
            starts = [ranking for ranking in permutations(best) if ranking[: len(first)] in tops]
            ranks = " and ".join(str(best.index(document) + 1) for document in first)
            pair = f"ranks {ranks}, {'in this order' if in_order else 'in any order'}"
            case: dict[str, Any] = {"m": m, "gamma": gamma, "in_order": in_order, "exploited": exploited}
            yield Probability(
                **case,
                documents=len(first),
                shown=pair if len(first) > 1 else f"rank {ranks}",
                probability=math.fsum((1.0 - gamma) * (one == best) + gamma / math.factorial(m) for one in starts),
            )


def _in_small_balls(seed: int, name: str) -> Iterator[Moment]:
    # Two unit documents, labels up to 4, w at the edge of a small ball: where a + b <= a b and e^y <= e^{R_D U} fail.
    rng, m = generator(seed, "topk-exactness", "small balls", name), 2
    for radius in (0.25, 1.0):
        lists = []
        for _ in range(20):
            X, w = rng.normal(size=(m, 2)), rng.normal(size=2)
            X /= np.linalg.norm(X, axis=1, keepdims=True)
            w *= radius / np.linalg.norm(w)
            lists += [(X, w, [LARGEST_LABEL, last]) for last in (0, LARGEST_LABEL)]
        yield _moment(name, m, radius, lists, where="short lists, small ball", gamma=0.1)


def in_the_worst_case(name: str) -> Iterator[Moment]:
    """Second moments on the lists that make them largest."""
    for m in WORST[name]:
        X, y = np.ones((m, 1)), [LARGEST_LABEL] * m
        if name == "ranksvm":
            # Equal scores are ranked in document order: the first two of those at -x are shown by exploitation.
            X[: (m + 1) // 2] = -1.0
            y = list(range(m))
        for radius in SMALL_RADII:
            yield _moment(name, m, radius, [(X, np.array([-radius]), y)], where="worst case", gamma=EXPLORATION)


def _moment(
    name: str, m: int, radius: float, lists: Iterable[tuple[Floats, Floats, Any]], *, where: str, gamma: float
) -> Moment:
    """The largest second moment over unit documents, weights and labels, next to both bounds."""
    loss, k, bound = surrogates.create(name), top_k_feedback.ORDERS[name], (name, m, 1.0, radius, LARGEST_LABEL)
    return Moment(
        surrogate=name,
        where=where,
        m=m,
        radius=radius,
        y_max=LARGEST_LABEL,
        gamma=gamma,
        second_moment=max(top_k_moments.second_moment(loss, X, X @ w, y, k, gamma) for X, w, y in lists),
        printed=top_k_moments.printed_constant(*bound) / gamma,
        valid=top_k_moments.valid_constant(*bound) / gamma,
    )


def decompositions() -> Iterator[Decomposition]:
    """For every number of labels: the part of a gradient that takes exactly so many jointly, and what takes more."""
    for name, cases in DECOMPOSED.items():
        loss = surrogates.create(name)
        for m, y_max in cases:
            sizes = decomposability.interactions(gradient(loss, np.linspace(0.9, -0.9, m)), m, y_max)
            case: dict[str, Any] = {"surrogate": name, "m": m, "y_max": y_max}
            for labels in range(1, m + 1):
                beyond = sizes[labels + 1 :].max(initial=0.0)
                yield Decomposition(**case, labels=labels, joint=sizes[labels], beyond=beyond)


EXPERIMENT = Experiment(
    ExactnessSettings,
    Step(
        "exactness",
        measure,
        rows=(Bias, Probability, Moment, Decomposition),
        surrogates=("squared", "kl", "smooth-dcg", "ranksvm", "ranknet", "rankboost", "listnet"),
        cost=Cost(1.0, start_mb=500.0),
        seconds=lambda settings, cell: 1.0 * settings.repetitions,
    ),
)
