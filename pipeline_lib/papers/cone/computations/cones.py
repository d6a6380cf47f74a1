"""Do the projection, the normalisation and the alternating steps behave as stated, and how are differences spread?

The claims are those of `cone` on (1), (5) and (6), the descent of section 4
(:mod:`pipeline_lib.papers.cone.computations.descent`), and the spectrum of the pair differences in Figure 4.
"""

from __future__ import annotations

import logging
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


@dataclass(frozen=True)
class Results:
    """Rows of the four tables."""

    identities: list[Row]
    spectrum: list[Row]
    descent: list[Row]
    descent_summary: list[Row]


def run(settings: ConesSettings, datasets: Mapping[str, RankingData], seed: int) -> Results:
    """Compute all four tables; the features of every data set are standardised over all of its documents."""
    identities = _projections(settings, seed)
    spectrum: list[Row] = []
    for name, data in datasets.items():
        standardised = Standardisation.of(data).apply(data)
        largest = largest_norm(standardised, 1.0, float(np.sqrt(data.n_features)))
        identities.append({"claim": "cone-norm", "case": name, "d": data.n_features, "K": None, "value": largest})
        spectrum += eigenvalues(name, standardised)
    traces = _descents(settings, datasets, seed)
    summaries = [descent.summary(rows) for rows in traces]
    return Results(identities, spectrum, [row for rows in traces for row in rows], summaries)


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
    for d in settings.features:
        for K in (k for k in settings.bases if k <= d):
            for kind in ("acute", "any"):
                rng = generator(seed, "cone-project", d, K, kind)
                worst = {
                    "largest_difference_inside": 0.0,
                    "largest_norm_on_the_negative": 0.0,
                    "largest_difference_to_nnls": 0.0,
                }
                for _ in range(settings.cones):
                    for name, value in _projected(random_cone(d, K, kind, rng), rng).items():
                        worst[name] = max(worst[name], value)
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
    projection, reference = U @ cones.project(U, anywhere), U @ nnls(U, anywhere)[0]
    return {
        "largest_difference_inside": float(np.linalg.norm(U @ cones.project(U, inside) - inside)) / size,
        "largest_norm_on_the_negative": float(np.linalg.norm(U @ cones.project(U, -inside))) / size,
        "largest_difference_to_nnls": float(np.linalg.norm(projection - reference) / np.linalg.norm(anywhere)),
    }


def largest_norm(data: RankingData, alpha: float, rho: float) -> float:
    """The largest ||z|| of (5) over all pairs of differently labelled documents of a query."""
    largest = 0.0
    for begin, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        X, y = data.X64[begin:end], data.y[begin:end]
        higher, lower = np.nonzero(y[:, None] > y)
        if len(higher):
            norms = np.linalg.norm(X[higher] - X[lower], axis=1)
            largest = max(largest, float((rho * norms / (alpha + norms)).max()))
    return largest


def eigenvalues(name: str, data: RankingData) -> list[Row]:
    """The eigenvalues of the second moment of pair differences, largest first, with their cumulative share."""
    values = np.maximum(np.linalg.eigvalsh(cones.second_moment(data))[::-1], 0.0)
    shares = np.minimum(np.cumsum(values) / values.sum(), 1.0)
    return [
        {"dataset": name, "index": i, "eigenvalue": float(value), "cumulative": float(share)}
        for i, (value, share) in enumerate(zip(values, shares, strict=True), 1)
    ]
