"""Do the projection, the normalisation and the alternating steps behave as stated, and where do differences point?

`cone`: (1), (5) and (6), the descent of section 4 (:mod:`pipeline_lib.papers.cone.computations.descent`), and Figure 4.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import progress
from pipeline_lib.arrays import Floats
from pipeline_lib.claims.evidence import Evidence, Trial
from pipeline_lib.learners import cone
from pipeline_lib.papers.cone.computations import descent
from pipeline_lib.ranking_data import RankingData, Standardisation
from pipeline_lib.seeds import generator
from pipeline_lib.theory import cones

if TYPE_CHECKING:
    from pipeline_lib.papers.cone.experiments.cones import ConesSettings

_LOG = logging.getLogger(__name__)

IDENTITIES = "tables/cone-identities.parquet"
SPECTRUM = "tables/cone-spectrum.parquet"

ENERGY = 0.9


@dataclass(frozen=True)
class Results:
    """Rows of the four tables, and the evidence."""

    identities: list[dict[str, Any]]
    spectrum: list[dict[str, Any]]
    descent: list[dict[str, Any]]
    descent_summary: list[dict[str, Any]]
    evidence: list[Evidence]


NOTES = {
    "cone-project": "The projection of a point of the negative cone is 0 where no two basis vectors enclose more than "
    "a right angle. Elsewhere it is not: with u_1 = (1, 0), u_2 = (-1, 1)/sqrt(2), the point -u_1 has u_2 at 45 "
    "degrees (errata, letter V). Differences and norms count relative to the point's norm.",
    "cone-norm": "Over all pairs of differently labelled documents of a query, on standardised features; alpha = 1, "
    "rho = sqrt(d).",
    "cone-fig4": "Uncentred second moment of the differences of standardised features over all ordered pairs.",
}


def run(settings: ConesSettings, datasets: Mapping[str, RankingData], seed: int) -> Results:
    """Compute everything; the features of every data set are standardised over all of its documents."""
    identities, trials = _projections(settings, seed)
    norms, spectra = [], []
    spectrum: list[dict[str, Any]] = []
    for name, data in datasets.items():
        inside = Standardisation.of(data).apply(data)
        rho = float(np.sqrt(data.n_features))
        largest = largest_norm(inside, 1.0, rho)
        identities.append({"claim": "cone-norm", "case": name, "d": data.n_features, "K": None, "value": largest})
        norms.append(Trial({"dataset": name}, {"largest_norm": largest, "rho": rho}, IDENTITIES))
        rows = eigenvalues(name, inside)
        spectrum += rows
        within = [row["cumulative"] for row in rows]
        values = {
            "energy_of_ten": within[min(10, len(within)) - 1],
            "eigenvalues_for_nine_tenths": float(next(i for i, c in enumerate(within, 1) if c >= ENERGY - 1e-12)),
        }
        spectra.append(Trial({"dataset": name, "features": data.n_features}, values, SPECTRUM))
    traces = _descents(settings, datasets, seed)
    summed = [descent.summary(rows) for rows in traces]
    judged = [descent.trial(row) for row in summed]
    evidence = [
        Evidence("cone-project", tuple(trials), NOTES["cone-project"]),
        _or_none("cone-norm", norms),
        Evidence("cone-descent", tuple(descent.as_printed(judged)), descent.notes(settings.small, judged)),
        _or_none("cone-fig4", spectra),
    ]
    return Results(identities, spectrum, [row for rows in traces for row in rows], summed, evidence)


def _descents(settings: ConesSettings, datasets: Mapping[str, RankingData], seed: int) -> list[list[dict[str, Any]]]:
    # The rows of every trace: the first passes on every data set that has pairs, and all on the small sample.
    planned = [
        (name, chosen, settings.basis, run, settings.passes)
        for name, data in datasets.items()
        if cone.has_pairs(chosen := _some_queries(settings, name, data, seed))
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


def _or_none(claim: str, trials: list[Trial]) -> Evidence:
    if trials:
        return Evidence(claim, tuple(trials), NOTES[claim])
    return Evidence(claim, not_run="The study has no data set at hand; name one under datasets.")


def _projections(settings: ConesSettings, seed: int) -> tuple[list[dict[str, Any]], list[Trial]]:
    rows, trials = [], []
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
                trials.append(Trial({"cone": kind, "d": d, "K": K}, worst, IDENTITIES))
    return rows, trials


def random_cone(d: int, K: int, kind: str, rng: np.random.Generator) -> Floats:
    """K random unit vectors in d dimensions; "acute": in the positive orthant, so that no angle is obtuse."""
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
    ours, theirs = U @ cones.project(U, anywhere), U @ nnls(U, anywhere)[0]
    return {
        "largest_difference_inside": float(np.linalg.norm(U @ cones.project(U, inside) - inside)) / size,
        "largest_norm_on_the_negative": float(np.linalg.norm(U @ cones.project(U, -inside))) / size,
        "largest_difference_to_nnls": float(np.linalg.norm(ours - theirs) / np.linalg.norm(anywhere)),
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


def eigenvalues(name: str, data: RankingData) -> list[dict[str, Any]]:
    """The spectrum of the pair differences, largest first, with the share of the energy up to each."""
    values = np.maximum(np.linalg.eigvalsh(cones.second_moment(data))[::-1], 0.0)
    shares = np.minimum(np.cumsum(values) / values.sum(), 1.0)
    return [
        {"dataset": name, "index": i, "eigenvalue": float(value), "cumulative": float(share)}
        for i, (value, share) in enumerate(zip(values, shares, strict=True), 1)
    ]
