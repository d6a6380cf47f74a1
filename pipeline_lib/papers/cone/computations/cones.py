"""Do the projection, the normalisation and the alternating steps behave as stated, and how are differences spread?

The claims are those of `cone` on (1), (5) and (6), the descent of section 4
(:mod:`pipeline_lib.papers.cone.computations.descent`), and the spectrum of the pair differences in Figure 4.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import progress
from pipeline_lib.arrays import Floats
from pipeline_lib.learners import cone
from pipeline_lib.papers.cone.computations import descent
from pipeline_lib.ranking_data import RankingData, Standardisation
from pipeline_lib.seeds import generator
from pipeline_lib.theory import cones

if TYPE_CHECKING:
    from pipeline_lib.papers.cone.experiments.cones import ConesSettings

_LOG = logging.getLogger(__name__)

Row = dict[str, Any]

INSIDE = 1e-9
"""Points whose relative distance from the cone is at most this are in it."""
SCALES = (1.0, 1000.0)
"""Factors of the features: with the second, almost all norms are close to rho."""
ALPHAS = (1.0, 0.1)
"""The published alpha, and a smaller one."""


@dataclass(frozen=True)
class Results:
    """Rows of the five tables."""

    identities: list[Row]
    norms: list[Row]
    spectrum: list[Row]
    descent: list[Row]
    descent_summary: list[Row]


def run(settings: ConesSettings, datasets: Mapping[str, RankingData], seed: int) -> Results:
    """Compute all five tables; the features of every data set are standardised over all of its documents."""
    norms: list[Row] = []
    spectrum: list[Row] = []
    for name, data in datasets.items():
        standardised = Standardisation.of(data).apply(data)
        norms += [norms_of(name, standardised, scale, alpha) for scale in SCALES for alpha in ALPHAS]
        spectrum += eigenvalues(name, standardised)
    traces = _descents(settings, datasets, seed)
    summaries = [descent.summary(rows) for rows in traces]
    return Results(_projections(settings, seed), norms, spectrum, [row for rows in traces for row in rows], summaries)


def _descents(settings: ConesSettings, datasets: Mapping[str, RankingData], seed: int) -> list[list[Row]]:
    # The rows of every trace: the first passes on every data set that has pairs, and all passes on the small sample.
    planned = [
        (name, sample, settings.basis, run, settings.passes)
        for name, data in datasets.items()
        if cone.has_pairs(sample := _some_queries(settings, name, data, seed))
        for run in descent.runs((settings.fold_steps,))
    ]
    small = settings.small
    sample = descent.drawn(small, seed)
    planned += [
        (descent.SMALL, sample, small.basis, run, small.passes) for run in descent.runs(small.fold_steps, small.step)
    ]
    planned.append((descent.SMALL, sample, small.basis, descent.TOO_LONG, descent.LONG_PASSES))
    return [
        descent.trace(name, data, K, run, passes, seed)
        for name, data, K, run, passes in progress.counted(planned, _LOG, "traces")
    ]


def _some_queries(settings: ConesSettings, name: str, data: RankingData, seed: int) -> RankingData:
    return descent.some_queries(
        Standardisation.of(data).apply(data), settings.pairs, generator(seed, "cone-descent", name)
    )


def _projections(settings: ConesSettings, seed: int) -> list[Row]:
    rows = []
    # One shape at least has as many basis vectors as dimensions, so that its cones are solid.
    least = min(settings.features)
    for d in settings.features:
        for K in sorted({k for k in settings.bases if k <= d} | ({d} if d == least else set())):
            for kind in ("acute", "any"):
                rng = generator(seed, "cone-project", d, K, kind)
                worst: dict[str, float] = {}
                for _ in range(settings.cones):
                    for name, value in _projected(random_cone(d, K, kind, rng), rng).items():
                        worst[name] = max(worst.get(name, 0.0), value)
                rows += [
                    {"claim": "cone-project", "case": f"{kind}: {name}", "d": d, "K": K, "value": value}
                    for name, value in worst.items()
                ]
    return rows


def random_cone(d: int, K: int, kind: str, rng: np.random.Generator) -> Floats:
    """K random unit vectors in d dimensions; the kind "acute" has no negative entries and hence no obtuse angles."""
    U = rng.standard_normal((d, K))
    if kind == "acute":
        U = np.abs(U)
    basis: Floats = U / np.linalg.norm(U, axis=0)
    return basis


def _projected(U: Floats, rng: np.random.Generator) -> dict[str, float]:
    from scipy.optimize import nnls

    inside = U @ rng.exponential(size=U.shape[1])
    size = float(np.linalg.norm(inside))
    anywhere = rng.standard_normal(len(U))
    w = cones.project(U, anywhere)
    projection, reference = U @ w, U @ nnls(U, anywhere)[0]
    free = np.linalg.lstsq(U, anywhere, rcond=None)[0]
    rest = anywhere - projection

    def relative(difference: Floats) -> float:
        return float(np.linalg.norm(difference) / np.linalg.norm(anywhere))

    return {
        "largest_difference_inside": float(np.linalg.norm(U @ cones.project(U, inside) - inside)) / size,
        "largest_norm_on_the_negative": float(np.linalg.norm(U @ cones.project(U, -inside))) / size,
        "largest_difference_to_nnls": relative(projection - reference),
        # What is left of a point is in the polar cone {z: U'z <= 0}; points of the cone leave nothing.
        "largest_norm_on_the_polar": relative(U @ cones.project(U, rest)),
        # Points outside whose nearest point is on no facet: all coefficients are positive.
        "outside_off_the_facets": float(relative(rest) > INSIDE and bool((w > 0.0).all())),
        # What other operations give in place of the projection: least squares, and its coefficients cut at 0.
        "largest_difference_of_the_span": relative(U @ free - reference),
        "largest_difference_of_the_cut": relative(U @ np.maximum(free, 0.0) - reference),
        "largest_norm_of_the_cut_on_the_negative": _cut_norm(U, -inside) / size,
    }


def _cut_norm(U: Floats, z: Floats) -> float:
    return float(np.linalg.norm(U @ np.maximum(np.linalg.lstsq(U, z, rcond=None)[0], 0.0)))


def norms_of(name: str, data: RankingData, scale: float, alpha: float) -> Row:
    """The largest ||z|| of (5) over all pairs of a data set whose features are multiplied by ``scale``.

    The norm is that of the learner's own z: with a basis vector 0, the loss of a pair is ||z||^2. The other columns are
    those of misprints of (5), from the differences themselves.
    """
    rho = math.sqrt(data.n_features)
    scaled = Standardisation(np.zeros(data.n_features), np.full(data.n_features, 1.0 / scale)).apply(data)
    problem = cone.Problem(alpha=alpha, weighted=False)
    nothing = np.zeros((data.n_features, 1))
    squared = cone.pair_losses(scaled, nothing, problem)
    row: Row = {"dataset": name, "scale": scale, "alpha": alpha, "d": data.n_features, "pairs": len(squared)}
    found = {"largest_norm": float(np.sqrt(squared.max(initial=0.0)))}
    found |= dict.fromkeys(("largest_with_maximum_norm", "largest_with_difference", "largest_with_root"), 0.0)
    for begin, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        X, y = scaled.X64[begin:end], data.y[begin:end]
        higher, lower = np.nonzero(y[:, None] > y)
        if not len(higher):
            continue
        differences = X[higher] - X[lower]
        norms = np.linalg.norm(differences, axis=1)
        misprints = {
            "largest_with_maximum_norm": rho * norms / (alpha + np.abs(differences).max(axis=1)),
            "largest_with_difference": rho * norms / np.maximum(np.abs(norms - alpha), np.finfo(np.float64).tiny),
            "largest_with_root": rho * norms / (alpha + np.sqrt(norms)),
        }
        for misprint, values in misprints.items():
            found[misprint] = max(found[misprint], float(values.max()))
    return {**row, **found}


def eigenvalues(name: str, data: RankingData) -> list[Row]:
    """The eigenvalues of the second moment of pair differences, largest first, with their cumulative share."""
    values = np.maximum(np.linalg.eigvalsh(cones.second_moment(data))[::-1], 0.0)
    shares = np.minimum(np.cumsum(values) / values.sum(), 1.0)
    return [
        {"dataset": name, "index": i, "eigenvalue": float(value), "cumulative": float(share)}
        for i, (value, share) in enumerate(zip(values, shares, strict=True), 1)
    ]
