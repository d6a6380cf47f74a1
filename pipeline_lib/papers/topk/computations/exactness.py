"""Are the estimates from the labels on top unbiased, and by which probabilities must they be divided?

`topk`: Lemma 1, the estimators of section 4.1 and the printed probabilities of section 4.2, by enumeration of all that
may be shown. Every estimator divides by the probability that the k documents A are shown first,

    P(A) = (1 - gamma) 1[A = top k of s] + gamma / C(m, k).

Its mean is computed with this probability and with others in its place, :data:`DIVISORS`, all of which are wrong.
"""

from __future__ import annotations

import itertools
import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import progress, surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.learners import top_k_feedback, top_k_moments
from pipeline_lib.papers.topk.computations import identities, moments
from pipeline_lib.seeds import generator
from pipeline_lib.surrogates.base import Surrogate

if TYPE_CHECKING:
    from pipeline_lib.papers.topk.experiments.exactness import ExactnessSettings

_LOG = logging.getLogger(__name__)

WIDTH = 0.5  # of SmoothDCG: at 0.01 its softmax is 0 or 1, and nothing is left to be estimated

Row = dict[str, Any]
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


@dataclass(frozen=True)
class Results:
    """Rows of the five tables."""

    biases: list[Row]
    probabilities: list[Row]
    moments: list[Row]
    decompositions: list[Row]
    identities: list[Row]


def run(settings: ExactnessSettings, seed: int) -> Results:
    """Compute everything."""
    return Results(
        biases=[*lemma_1(settings, seed), *estimators(settings, seed)],
        probabilities=probabilities(settings, seed),
        moments=moments.lemma_5(settings, seed),
        decompositions=identities.decompositions(),
        identities=[*identities.kl_minimum(settings, seed), *identities.lemma_4(settings, seed)],
    )


def with_estimator() -> list[Surrogate]:
    """Every surrogate that has an estimator, SmoothDCG with a width at which it is soft."""
    options = {"smooth-dcg": {"sigma": WIDTH, "sign": "as-printed"}}
    return [surrogates.create(name, **options.get(name, {})) for name in top_k_feedback.ORDERS]


def lemma_1(settings: ExactnessSettings, seed: int) -> list[Row]:
    """(3) against the sum it estimates, for sums of arbitrary terms over ordered k-tuples."""
    rows = []
    for m in settings.lengths:
        for k in settings.shown:
            for gamma in settings.gammas:
                largest = dict.fromkeys(("correct", *DIVISORS), 0.0)
                for scores, _ in identities.lists(settings, seed, "lemma-1", k, m):
                    terms = generator(seed, "topk-exactness", "terms", k, m).normal(size=(m,) * k + (2,))
                    truth = _sum_over_tuples(terms, m, k)
                    mean = top_k_moments.lemma_1_mean(lambda top, h=terms: h[top], scores, k, gamma)  # type: ignore[misc]
                    means = {"correct": mean, **_wrong_means(_sums_over_orders(terms, m, k), scores, k, gamma)}
                    for kind, found in means.items():
                        largest[kind] = max(largest[kind], top_k_moments.relative_bias(found, truth))
                rows += [_bias("topk-lemma1", "any terms", k, m, gamma, kind, bias) for kind, bias in largest.items()]
    return rows


def estimators(settings: ExactnessSettings, seed: int) -> list[Row]:
    """The learner's estimates against the gradients, with the correct probabilities and with every wrong one."""
    rows = []
    for loss in progress.counted(with_estimator(), _LOG, "surrogates"):
        for k in settings.shown:
            if k < top_k_feedback.ORDERS[loss.name]:
                continue
            for m in settings.lengths:
                for gamma in settings.gammas:
                    largest = _largest_biases(loss, identities.lists(settings, seed, loss.name, k, m), k, gamma)
                    rows += [
                        _bias("topk-estimators", loss.name, k, m, gamma, kind, bias) for kind, bias in largest.items()
                    ]
    return rows


def probabilities(settings: ExactnessSettings, seed: int) -> list[Row]:
    """The probabilities of section 4.2, summed over all m! rankings: of the first document, and of the first two.

    Two documents are shown first either ``in_order`` or as a set; ``exploited`` are those that the scores rank first.
    """
    rows = []
    for m in settings.lengths:
        best = tuple(_ranking(generator(seed, "topk-exactness", "probabilities", m).normal(size=m)))
        cases: list[tuple[Documents, bool, bool]] = [(best[:1], True, True), (best[-1:], True, False)]
        cases += [(best[:2], True, True), (best[1::-1], True, False), (best[-2:], True, False)]
        cases += [(best[:2], False, True), (best[-2:], False, False)]
        for gamma in settings.gammas:
            for first, in_order, exploited in cases:
                row: Row = {"documents": len(first), "in_order": in_order, "exploited": exploited, "m": m}
                row |= {"shown": _words(first, in_order, best), "gamma": float(gamma)}
                rows.append({**row, "probability": _probability(first, in_order, best, gamma)})
    return rows


def _probability(first: Documents, in_order: bool, best: Documents, gamma: float) -> float:
    # the share of rankings that begin so, each with (1 - gamma) 1[it is the ranking by scores] + gamma / m!
    starts = [ranking for ranking in itertools.permutations(best) if _begins(ranking, first, in_order)]
    return math.fsum((1.0 - gamma) * (ranking == best) + gamma / math.factorial(len(best)) for ranking in starts)


def _begins(ranking: Documents, first: Documents, in_order: bool) -> bool:
    start = ranking[: len(first)]
    return start == first if in_order else set(start) == set(first)


def _words(first: Documents, in_order: bool, best: Documents) -> str:
    places = [best.index(document) + 1 for document in first]
    if len(places) == 1:
        return f"rank {places[0]}"
    return f"ranks {places[0]} and {places[1]}, {'in this order' if in_order else 'in any order'}"


def _ranking(scores: Floats) -> list[int]:
    return [int(document) for document in np.argsort(-scores, kind="stable")]


def _sum_over_tuples(terms: Floats, m: int, k: int) -> Floats:
    total = np.zeros(terms.shape[-1])
    for index in np.ndindex(*(m,) * k):
        if len(set(index)) == k:
            total += terms[index]
    return total


def _sums_over_orders(terms: Floats, m: int, k: int) -> Callable[[Documents], Floats]:
    sums = {
        A: np.sum([terms[order] for order in itertools.permutations(A)], axis=0)
        for A in itertools.combinations(range(m), k)
    }
    return sums.__getitem__


def _wrong_means(numerator: Callable[[Documents], Floats], scores: Floats, k: int, gamma: float) -> dict[str, Floats]:
    # The mean of numerator(A) / divisor(A) over the sets A that are shown, for every divisor; 0 where nothing is added
    m, best = len(scores), set(_ranking(scores)[:k])
    means: dict[str, Any] = dict.fromkeys(DIVISORS, 0.0)
    for A in itertools.combinations(range(m), k):
        top, term = set(A) == best, numerator(A)
        probability = top_k_feedback.show_probability(m, k, gamma, top=top)
        for name, divisor in DIVISORS.items():
            means[name] = means[name] + probability * term / divisor(m, k, gamma, top)
    return means


def _largest_biases(loss: Surrogate, lists: Lists, k: int, gamma: float) -> dict[str, float]:
    largest: dict[str, float] = {}
    for scores, y in lists:
        truth = loss.gradient(scores, y, [0, len(y)])
        means = {"correct": top_k_moments.mean_estimate(loss, scores, y, k, gamma), **_wrong(loss, scores, y, k, gamma)}
        means["as-printed"] = top_k_moments.mean_estimate(loss, scores, y, k, gamma, "as-printed")
        for kind, mean in means.items():
            largest[kind] = max(largest.get(kind, 0.0), top_k_moments.relative_bias(mean, truth))
    return largest


def _wrong(loss: Surrogate, scores: Floats, y: NDArray[np.int64], k: int, gamma: float) -> dict[str, Floats]:
    # The estimate is c + H(A) / P(A), where c takes no label: that of the squared loss is 2 s, all others have none.
    m, best = len(scores), _ranking(scores)
    constant = 2.0 * scores if loss.name == "squared" else np.zeros(m)

    def numerator(A: Documents) -> Floats:
        f = top_k_feedback.estimate(loss, scores, A, y[list(A)], best, gamma, k)
        return (f - constant) * top_k_feedback.show_probability(m, k, gamma, top=set(A) == set(best[:k]))

    return {kind: constant + mean for kind, mean in _wrong_means(numerator, scores, k, gamma).items()}


def _bias(claim: str, case: str, k: int, m: int, gamma: float, kind: str, value: float) -> Row:
    row = {"claim": claim, "surrogate": case, "k": k, "m": m, "gamma": float(gamma)}
    return {**row, "probabilities": kind, "largest_relative_bias": float(value)}
