"""How large do the estimates of gradients get?

`topk`, Lemma 5: E||z||^2 <= C / gamma. Second moments are computed exactly along a run of Algorithm 1, on two random
documents in small balls, and where they are largest: for the squared loss and KL all documents are one unit vector x,
all labels are R_max and w = -U x; for RankSVM the documents are x and -x in turns, all labels differ, and the two that
are shown by exploitation are equal. There only constants without slack pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.learners import top_k_feedback, top_k_moments
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings

if TYPE_CHECKING:
    from pipeline_lib.papers.topk.experiments.exactness import ExactnessSettings

BOUNDED = ("squared", "kl", "ranksvm")
"""The surrogates of Lemma 5."""
WORST = {"squared": (2, 4, 8), "kl": (2, 4, 8), "ranksvm": (3, 4, 5)}
"""The lengths of lists on which second moments are as large as they get."""
SMALL_RADII, LARGEST_LABEL = (0.01, 0.25, 1.0), 4
EXPLORATION = 0.01
"""gamma in the worst cases: what is shown by exploitation alone counts for little."""

Row = dict[str, Any]


def lemma_5(settings: ExactnessSettings, seed: int) -> list[Row]:
    """Exact second moments along a run, in small balls and in the worst cases, with the printed and a valid bound."""
    return [
        row
        for name in BOUNDED
        for row in (*_along_a_run(settings, seed, name), *_in_small_balls(seed, name), *_in_the_worst_case(name))
    ]


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


def _in_the_worst_case(name: str) -> list[Row]:
    loss, rows = surrogates.create(name), []
    for m in WORST[name]:
        X, y = _worst_list(name, m)
        for radius in SMALL_RADII:
            w = np.array([-radius])
            scores = X @ w
            moment = top_k_moments.second_moment(loss, X, scores, y, top_k_feedback.ORDERS[name], EXPLORATION)
            rows.append(_moment(name, "worst case", 0, m, 1.0, radius, LARGEST_LABEL, EXPLORATION, moment))
    return rows


def _worst_list(name: str, m: int) -> tuple[Floats, list[int]]:
    if name != "ranksvm":
        return np.ones((m, 1)), [LARGEST_LABEL] * m
    # Equal scores are ranked in document order: the first two of those at -x are shown by exploitation.
    X = np.ones((m, 1))
    X[: (m + 1) // 2] = -1.0
    return X, list(range(m))


def _moment(
    name: str, where: str, t: int, m: int, norm: float, radius: float, y_max: int, gamma: float, moment: float
) -> Row:
    constants = (top_k_moments.printed_constant, top_k_moments.valid_constant)
    printed, valid = (constant(name, m, norm, radius, y_max) / gamma for constant in constants)
    row = {"surrogate": name, "where": where, "round": t, "m": m, "radius": float(radius), "y_max": y_max}
    return {**row, "gamma": gamma, "second_moment": moment, "printed": printed, "valid": valid}
