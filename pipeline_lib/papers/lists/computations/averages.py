"""How far above the truth are the covering numbers, the entropy integrals and their closed forms?

`lists`, Propositions 7 and 10, compared with packings obtained by search, and Corollaries 8, 11 and 16: the closed
forms are compared with the integral, minimised numerically, and both with Monte Carlo estimates of the Rademacher
averages that they bound.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import progress, surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.papers.lists.computations import held_out
from pipeline_lib.papers.lists.losses import LOSS
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import Axis, generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import entropy, packing, rademacher
from pipeline_lib.theory.constants import constants

if TYPE_CHECKING:
    from pipeline_lib.papers.lists.experiments.averages import AveragesSettings

_LOG = logging.getLogger(__name__)

# ListNet above the entropy of its labels reaches B = y_max + 2 W2 R_X.
Y_MAX = 2


@dataclass(frozen=True)
class Results:
    """Rows of the three tables."""

    averages: list[dict[str, Any]]
    coverings: list[dict[str, Any]]
    closed_forms: list[dict[str, Any]]


def run(settings: AveragesSettings, seed: int) -> Results:
    """Compute everything."""
    return Results(_averages(settings, seed), _coverings(settings, seed), _closed_forms(settings))


def _loss_bound(radius: float) -> float:
    bound = constants(LOSS, 2, Y_MAX, score_bound=radius).excess_bound
    assert bound is not None
    return bound


def _averages(settings: AveragesSettings, seed: int) -> list[dict[str, Any]]:
    loss, population = surrogates.create(LOSS), Population(PopulationSettings(features=settings.features))
    G, H, B, R = 2.0, 2.0, _loss_bound(settings.radius), population.feature_norm
    rows = []
    for n in progress.counted(settings.queries, _LOG, "numbers of queries"):
        for m in settings.documents:
            data = population.draw(n, generator(seed, "lists-averages", n, m), m)
            size: dict[str, Any] = {"n": n, "m": m, "radius": settings.radius}
            smooth = {**size, "feature_norm": R, "smoothness": H}
            steep = {**size, "feature_norm": R, "lipschitz": G}
            rbar = population.feature_norm_inf
            flat = {**size, "feature_norm": rbar, "lipschitz": G, "d": settings.features}
            risk = float(held_out.losses(loss, data, np.zeros(settings.features)).mean())
            axes = (seed, "lists-averages", n, m)
            estimates = {
                "l2": rademacher.composite(data, loss, settings.radius, settings.draws, (*axes, "l2")),
                "l1": rademacher.composite(data, loss, settings.radius, settings.draws, (*axes, "l1"), ball="l1"),
            }
            closed = {
                "l2": entropy.corollary_8(loss_bound=B, **steep),
                "l1": entropy.corollary_11(loss_bound=B, **flat),
                "local": entropy.corollary_16(loss_bound=B, risk=risk, **smooth),
            }
            cut = {
                "l2": _cut(8, entropy.proposition_7(**steep), n, B),
                "l1": _cut(11, entropy.proposition_10(**flat), n, B),
                "local": _cut(16, entropy.proposition_15(risk=risk, **smooth), n, math.sqrt(B * risk)),
            }
            integrals = {
                "l2": entropy.integral(entropy.proposition_7(**steep), n, B).value,
                "l1": entropy.integral(entropy.proposition_10(**flat), n, B).value,
                "local": entropy.integral(entropy.proposition_15(risk=risk, **smooth), n, math.sqrt(B * risk)).value,
            }
            # phi holds the entropy of the labels here: fixed numbers, whose average under random signs is 0.
            estimates["local"] = _local(settings, data, (*axes, "local"))
            for kind in ("l2", "l1", "local"):
                linear = rademacher.linear(
                    data, settings.radius, settings.draws, (*axes, kind), "l1" if kind == "l1" else "l2"
                )
                rows.append(
                    {
                        "class": kind,
                        "n": n,
                        "m": m,
                        "linear": linear.estimate,
                        "linear_error": linear.standard_error,
                        "found": estimates[kind].estimate,
                        "found_error": estimates[kind].standard_error,
                        "integral": integrals[kind],
                        "cut_integral": cut[kind],
                        "closed_form": closed[kind],
                        "loss_bound": B,
                    }
                )
    return rows


def _cut(corollary: int, covering: entropy.Covering, n: int, reach: float) -> float:
    """The entropy integral up to the scale from which one ranker covers the class.

    For Corollaries 8 and 11 that is G W R, the largest distance of a loss from that of w = 0. In the class of Corollary
    16, whose rankers have a risk of at most r, two losses differ by at most sqrt(12 H r) 2 W2 R_X (Lemma 14), from
    which any of them covers it.
    """
    from_one_centre = {8: covering.scale, 11: covering.reach / 8.0, 16: 2.0 * covering.scale}[corollary]
    return entropy.integral(covering, n, min(reach, from_one_centre)).value


def _local(settings: AveragesSettings, data: RankingData, axes: tuple[Axis, ...]) -> rademacher.Estimate:
    # Rankers no worse than w = 0.
    scores = np.zeros(data.n_documents)
    at_zero = float(surrogates.create(LOSS).unchecked(scores, data.y, data.offsets)[0].mean())
    return rademacher.composite(data, LOSS, settings.radius, settings.draws, axes, largest_risk=at_zero)


def _coverings(settings: AveragesSettings, seed: int) -> list[dict[str, Any]]:
    loss, population = surrogates.create(LOSS), Population(PopulationSettings(features=settings.features))
    rows: list[dict[str, Any]] = []
    for n in settings.queries:
        for m in settings.documents:
            data = population.draw(n, generator(seed, "lists-coverings", n, m), m)
            rng = generator(seed, "lists-coverings", "candidates", n, m)
            given: dict[str, Any] = {"n": n, "m": m, "lipschitz": 2.0, "radius": settings.radius}
            for ball in ("l2", "l1"):
                losses = np.array([held_out.losses(loss, data, w) for w in _candidates(settings, ball, rng)])
                covering = (
                    entropy.proposition_7(feature_norm=population.feature_norm, **given)
                    if ball == "l2"
                    else entropy.proposition_10(feature_norm=population.feature_norm_inf, d=settings.features, **given)
                )
                rows += [
                    {
                        "class": ball,
                        "n": n,
                        "m": m,
                        "eps": eps,
                        "log2_packing_found": math.log2(packing.greedy(losses, eps)),
                        "log2_covering_bound": float(covering.log2(eps)),
                        "log2_candidates": math.log2(settings.candidates),
                    }
                    for eps in settings.scales
                ]
    return rows


def _candidates(settings: AveragesSettings, ball: str, rng: np.random.Generator) -> Floats:
    # Points on the surface come first, since they are furthest apart; the second half lies inside.
    w = rng.normal(size=(settings.candidates, settings.features))
    if ball == "l1":
        w *= rng.random(w.shape) < 0.3
        w[np.arange(len(w)), rng.integers(settings.features, size=len(w))] += rng.choice([-1.0, 1.0], len(w))
    size = np.linalg.norm(w, 2 if ball == "l2" else 1, axis=1, keepdims=True)
    depth = np.ones((len(w), 1))
    depth[len(w) // 2 :] = rng.random((len(w) - len(w) // 2, 1))
    return np.asarray(settings.radius * depth * w / size)


def _closed_forms(settings: AveragesSettings) -> list[dict[str, Any]]:
    return [
        row
        for radius in settings.radii
        for n in settings.integral_queries
        for m in settings.integral_documents
        for row in _compared(settings, radius, n, m)
    ]


def _compared(settings: AveragesSettings, radius: float, n: int, m: int) -> list[dict[str, Any]]:
    B = _loss_bound(radius)
    size = {"n": n, "m": m, "radius": radius, "feature_norm": 1.0}
    closed = {
        8: entropy.corollary_8(lipschitz=2.0, loss_bound=B, **size),
        11: entropy.corollary_11(lipschitz=2.0, d=settings.features, loss_bound=B, **size),
        16: entropy.corollary_16(smoothness=2.0, loss_bound=B, **size),
    }
    coverings = {
        8: (entropy.proposition_7(lipschitz=2.0, **size), B),
        11: (entropy.proposition_10(lipschitz=2.0, d=settings.features, **size), B),
        16: (entropy.proposition_15(smoothness=2.0, **size), math.sqrt(B)),
    }
    rows = []
    for corollary, value in closed.items():
        covering, reach = coverings[corollary]
        minimised = entropy.integral(covering, n, reach)
        rows.append(
            {
                "corollary": corollary,
                "radius": radius,
                "n": n,
                "m": m,
                "loss_bound": B,
                "closed_form": value,
                "integral": minimised.value,
                "cut_integral": _cut(corollary, covering, n, reach),
                "alpha": minimised.alpha,
            }
        )
    return rows
