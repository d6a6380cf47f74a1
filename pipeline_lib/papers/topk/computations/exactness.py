"""Are the estimates from the labels on top unbiased, from how few labels can they be made, and how large do they get?

`topk`: Lemmas 1 to 5, the estimators of section 4.1, the printed probabilities of section 4.2 and the minimum of the KL
surrogate, all by enumeration of everything that may be shown.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import progress, surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.learners import top_k_feedback, top_k_moments
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.surrogates.base import SmoothSurrogate, Surrogate
from pipeline_lib.theory import decomposability, operator_norms

if TYPE_CHECKING:
    from pipeline_lib.papers.topk.experiments.exactness import ExactnessSettings

_LOG = logging.getLogger(__name__)

BIGGEST_LIST = 6  # 6! / 3! = 120 ordered tops of three
BOUNDED = ("squared", "kl", "ranksvm")  # Lemma 5 speaks of these
NORMS = (1.0, 1.5, 2.0, 3.0, math.inf)
WIDTH = 0.5  # of SmoothDCG: at 0.01 its softmax is 0 or 1, and nothing is left to be estimated


Row = dict[str, Any]


@dataclass(frozen=True)
class Results:
    """Rows of the three tables."""

    biases: list[Row]
    moments: list[Row]
    identities: list[Row]


def run(settings: ExactnessSettings, seed: int) -> Results:
    """Compute everything."""
    return Results(
        biases=[*lemma_1(settings, seed), *estimators(settings, seed)],
        moments=lemma_5(settings, seed),
        identities=[*lemma_2(), *lemma_3(), *kl_minimum(settings, seed), *lemma_4(settings, seed)],
    )


def with_estimator() -> list[Surrogate]:
    """Every surrogate that has an estimator, SmoothDCG with a width at which it is soft."""
    options = {"smooth-dcg": {"sigma": WIDTH, "sign": "as-printed"}}
    return [surrogates.create(name, **options.get(name, {})) for name in top_k_feedback.ORDERS]


def _lists(settings: ExactnessSettings, seed: int, *axes: str | int) -> list[tuple[Floats, NDArray[np.int64]]]:
    # Labels 0 and y_max always appear, so that no gradient vanishes; the last scores are tied.
    rng, m = generator(seed, "topk-exactness", *axes), int(axes[-1])
    found = []
    for number in range(settings.repetitions):
        y = rng.integers(0, settings.y_max + 1, size=m)
        y[:2] = 0, settings.y_max
        found.append((np.zeros(m) if number and number == settings.repetitions - 1 else rng.normal(size=m), y))
    return found


def lemma_1(settings: ExactnessSettings, seed: int) -> list[Row]:
    """(3) against the sum it estimates, for sums of arbitrary terms over ordered k-tuples."""
    rows = []
    for m in settings.lengths:
        for k in settings.shown:
            for gamma in settings.gammas:
                largest = 0.0
                for scores, _ in _lists(settings, seed, "lemma-1", k, m):
                    terms = generator(seed, "topk-exactness", "terms", k, m).normal(size=(m,) * k + (2,))
                    truth = _sum_over_tuples(terms, m, k)
                    mean = top_k_moments.lemma_1_mean(lambda top, h=terms: h[top], scores, k, gamma)  # type: ignore[misc]
                    largest = max(largest, top_k_moments.relative_bias(mean, truth))
                rows.append(_bias("topk-lemma1", "any terms", k, m, gamma, "correct", largest))
    return rows


def _sum_over_tuples(terms: Floats, m: int, k: int) -> Floats:
    total = np.zeros(terms.shape[-1])
    for index in np.ndindex(*(m,) * k):
        if len(set(index)) == k:
            total += terms[index]
    return total


def estimators(settings: ExactnessSettings, seed: int) -> list[Row]:
    """The learner's estimates against the gradients, with the correct and with the printed probabilities."""
    rows = []
    for loss in progress.counted(with_estimator(), _LOG, "surrogates"):
        for k in settings.shown:
            if k < top_k_feedback.ORDERS[loss.name]:
                continue
            for m in settings.lengths:
                for gamma in settings.gammas:
                    lists = _lists(settings, seed, loss.name, k, m)
                    for kind in ("correct", "as-printed"):
                        value = _largest_bias(loss, lists, k, gamma, kind)
                        rows.append(_bias("topk-estimators", loss.name, k, m, gamma, kind, value))
    return rows


def _largest_bias(
    loss: Surrogate, lists: list[tuple[Floats, NDArray[np.int64]]], k: int, gamma: float, kind: Any
) -> float:
    largest = 0.0
    for scores, y in lists:
        truth = loss.gradient(scores, y, [0, len(y)])
        mean = top_k_moments.mean_estimate(loss, scores, y, k, gamma, kind)
        largest = max(largest, top_k_moments.relative_bias(mean, truth))
    return largest


def _bias(claim: str, case: str, k: int, m: int, gamma: float, kind: str, value: float) -> Row:
    row = {"claim": claim, "surrogate": case, "k": k, "m": m, "gamma": float(gamma)}
    return {**row, "probabilities": kind, "largest_relative_bias": float(value)}


def lemma_2() -> list[Row]:
    """How much of RankSVM's gradient takes two labels together, and how much three or more."""
    loss, rows = surrogates.create("ranksvm"), []
    for m, y_max in ((3, 1), (4, 1), (4, 2), (5, 2)):
        together = _interactions(loss, m, y_max)
        values = {"second_order_difference": float(together[2]), "third_order_difference": float(together[3:].max())}
        rows += _identities("topk-lemma2", f"m = {m}, labels to {y_max}", values)
    return rows


def lemma_3() -> list[Row]:
    """How much of ListNet's gradient takes two and three labels together."""
    loss, rows = surrogates.create("listnet"), []
    for m, y_max in ((3, 2), (4, 1), (4, 2), (5, 2)):
        together = _interactions(loss, m, y_max)
        values = {"second_order_difference": float(together[2]), "third_order_difference": float(together[3])}
        rows += _identities("topk-lemma3", f"m = {m}, labels to {y_max}", values)
    return rows


def _interactions(loss: Surrogate, m: int, y_max: int) -> Floats:
    # So far apart that some hinges are closed: with all of them open, binary labels enter RankSVM's gradient singly.
    scores = np.linspace(0.9, -0.9, m)
    return decomposability.interactions(lambda y: loss.gradient(scores, y, [0, m]), m, y_max)


def kl_minimum(settings: ExactnessSettings, seed: int) -> list[Row]:
    """Value and gradient of the KL surrogate at s = y, and the smallest eigenvalue of its Hessian anywhere."""
    loss, rows = surrogates.create("kl"), []
    assert isinstance(loss, SmoothSurrogate)
    for m in settings.lengths:
        at_labels = slopes = 0.0
        smallest = math.inf
        for scores, y in _lists(settings, seed, "kl-minimum", m):
            value, gradient = loss.value_and_gradient(y.astype(np.float64), y, [0, m])
            at_labels = max(at_labels, abs(float(value[0])))
            slopes = max(slopes, float(np.abs(gradient).max()))
            hessian = loss.hessian_product(scores, y.astype(np.int32), np.array([0, m]), np.eye(m))
            smallest = min(smallest, float(np.linalg.eigvalsh(hessian).min()))
        values = {"value_at_labels": at_labels, "gradient_at_labels": slopes, "smallest_eigenvalue": smallest}
        rows += _identities("topk-kl-min", f"m = {m}", values)
    return rows


def lemma_4(settings: ExactnessSettings, seed: int) -> list[Row]:
    """Both operator norms by maximisation, against the largest p-norm of a row."""
    rows = []
    for p in NORMS:
        label = "inf" if math.isinf(p) else f"{p:g}"
        rng = generator(seed, "topk-exactness", "lemma-4", label)
        largest = 0.0
        for _ in range(settings.matrices):
            X = rng.normal(size=tuple(rng.integers(1, 13, size=2).tolist()))
            right = operator_norms.largest_row(X, p)
            found = operator_norms.stretch(X, p, rng=rng, restarts=100)
            largest = max(largest, *(abs(left / right - 1.0) for left in found))
        rows += _identities("topk-lemma4", f"p = {label}", {"largest_relative_difference": largest})
    return rows


def lemma_5(settings: ExactnessSettings, seed: int) -> list[Row]:
    """Exact second moments along a run, and on short lists in small balls, over the printed and a valid C / gamma."""
    return [row for name in BOUNDED for row in (*_along_a_run(settings, seed, name), *_in_small_balls(seed, name))]


def _along_a_run(settings: ExactnessSettings, seed: int, name: str) -> list[Row]:
    population = Population(PopulationSettings(features=5, documents=5))
    data = population.draw(settings.run_queries, generator(seed, "topk-exactness", "queries"))
    axes = (seed, "topk-exactness", "run", name)
    eta, gamma = top_k_feedback.theorem_parameters(settings.run_rounds)
    k = top_k_feedback.ORDERS[name]
    stops = top_k_feedback.log_checkpoints(settings.run_rounds, settings.run_points, first=10)
    order = generator(*axes).integers(0, data.n_queries, size=settings.run_rounds)
    played = top_k_feedback.run(
        *(data, name, k, settings.run_rounds, eta, gamma, settings.radius, (*axes, "exploration")),
        order=order,
        checkpoints=stops,
        losses=False,
    )
    loss, rows = surrogates.create(name), []
    m, y_max = int(data.documents_per_query.max()), population.settings.y_max
    for t, w in zip(played.rounds.tolist(), played.path, strict=True):
        largest = 0.0
        for q in range(data.n_queries):
            X, y = (part[data.offsets[q] : data.offsets[q + 1]] for part in (data.X64, data.y))
            largest = max(largest, top_k_moments.second_moment(loss, X, X @ w, y, k, gamma))
        norm = population.settings.feature_norm
        rows.append(_moment(name, "along a run", t, m, norm, settings.radius, y_max, gamma, largest))
    return rows


def _in_small_balls(seed: int, name: str) -> list[Row]:
    # Two unit documents, labels up to 4, w at the edge of a small ball: where a + b <= a b and e^y <= e^{R_D U} fail.
    loss, rng, rows = surrogates.create(name), generator(seed, "topk-exactness", "small balls", name), []
    m, y_max, gamma = 2, 4, 0.1
    for radius in (0.25, 1.0):
        largest = 0.0
        for _ in range(20):
            X, w = rng.normal(size=(m, 2)), rng.normal(size=2)
            X /= np.linalg.norm(X, axis=1, keepdims=True)
            w *= radius / np.linalg.norm(w)
            for y in ([y_max, 0], [y_max, y_max]):
                largest = max(
                    largest, top_k_moments.second_moment(loss, X, X @ w, y, top_k_feedback.ORDERS[name], gamma)
                )
        rows.append(_moment(name, "short lists, small ball", 0, m, 1.0, radius, y_max, gamma, largest))
    return rows


def _moment(
    name: str, where: str, t: int, m: int, norm: float, radius: float, y_max: int, gamma: float, moment: float
) -> Row:
    constants = (top_k_moments.printed_constant, top_k_moments.valid_constant)
    printed, valid = (constant(name, m, norm, radius, y_max) / gamma for constant in constants)
    row = {"surrogate": name, "where": where, "round": t, "m": m, "radius": float(radius), "y_max": y_max}
    return {**row, "gamma": gamma, "second_moment": moment, "printed": printed, "valid": valid}


def _identities(claim: str, case: str, values: Mapping[str, float]) -> list[Row]:
    return [{"claim": claim, "case": case, "statistic": name, "value": float(value)} for name, value in values.items()]
