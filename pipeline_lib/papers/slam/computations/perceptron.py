"""Do the perceptron's loss bounds hold round by round, and does its step size matter?

The claims are those of `slam` on (16), Theorem 5, Corollaries 6 and 7, v_max after (18), and the remark before
Algorithm 1 that eta does not matter. Streams of queries come from a noisy and a separable population, from an adversary
who always presents the query that is ranked worst, and from the data sets of the study.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import metrics, progress
from pipeline_lib.learners import perceptron, rounds
from pipeline_lib.ranking_data import RankingData, Standardisation
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.surrogates.slam import v_max_of_all
from pipeline_lib.theory import perceptron_bounds

if TYPE_CHECKING:
    from pipeline_lib.papers.slam.experiments.perceptron import PerceptronSettings

_LOG = logging.getLogger(__name__)

NOISY, SEPARABLE, ADVERSARIAL = "noisy", "separable", "adversary"
# The step and active set of every run whose bound is computed: as the theorem requires, as printed, and with the
# misordered documents only, for which the factor of ||u||^2 is 4 R_X^2.
VARIANTS: tuple[tuple[str, perceptron.Active], ...] = (("theory", "margin"), ("1", "margin"), ("theory", "misordered"))
FIRST_CHECKPOINT = 100
# Largest label and cutoff of the table of v_max.
LARGEST_LABEL, CUTOFF = 2, 10

Row = dict[str, Any]


@dataclass(frozen=True)
class Results:
    """Rows of the three tables."""

    runs: list[Row]
    etas: list[Row]
    v_max: list[Row]


@dataclass(frozen=True, eq=False)
class _Stream:
    name: str
    repetition: int
    data: RankingData
    order: NDArray[np.int64]


def _population(settings: PerceptronSettings, noise: float, margin: float) -> PopulationSettings:
    return PopulationSettings(
        features=settings.features, documents=settings.documents, noise=noise, query_noise=noise, margin=margin
    )


def run(settings: PerceptronSettings, datasets: Mapping[str, RankingData], seed: int) -> Results:
    """Run the perceptron over every stream, those of ``datasets`` included."""
    runs: list[Row] = []
    etas: list[Row] = []
    for measure in progress.counted(settings.measures, _LOG, "measures"):
        for stream in _streams(settings, datasets, measure, seed):
            runs += bounds_of(stream.data, stream.order, measure, settings.checkpoints, _axes(stream, measure))
            etas += influence_of_eta(stream.data, stream.order, measure, settings.etas, _axes(stream, measure))
    return Results(runs, etas, [_v_max(m) for m in settings.v_max_lengths])


def bounds_of(
    data: RankingData, order: NDArray[np.int64], measure: str, checkpoints: int, axes: Mapping[str, Any]
) -> list[Row]:
    """Both sides of Theorem 5 at growing T, for every variant of the algorithm, with the largest ratio of (16).

    ``gamma`` and ``margin_bound`` = C / gamma^2 (Corollary 6) are given where ``axes["stream"]`` is the separable
    population.

    Returns
    -------
    rows
        With ``axes`` and eta, active, T, cumulative_loss, mistakes, largest_ratio, comparator_loss, constant, bound,
        gap, certified, gamma, margin_bound.
    """
    rows: list[Row] = []
    separable = axes.get("stream") == SEPARABLE
    gamma = perceptron_bounds.largest_margin(data.take(np.unique(order)), measure).gamma if separable else None
    for eta, active in VARIANTS:
        step = eta if eta == "theory" else float(eta)
        result = perceptron.run(data, order, measure, step, active)  # type: ignore[arg-type]
        ratios = np.zeros(len(order))
        ratios[result.mistakes] = perceptron_bounds.ratios(data, order, result, measure)
        losses, mistakes = np.cumsum(result.losses), np.cumsum(result.mistakes)
        factor = perceptron.norm_factor(data, order, measure, active)
        for T in _checkpoints(len(order), checkpoints):
            side = perceptron_bounds.right_side(data, order[:T][result.mistakes[:T]], factor, measure)
            rows.append(
                {
                    **axes,
                    "eta": eta,
                    "active": active,
                    "T": T,
                    "cumulative_loss": float(losses[T - 1]),
                    "mistakes": int(mistakes[T - 1]),
                    "largest_ratio": float(ratios[:T].max()),
                    "comparator_loss": side.comparator_loss,
                    "constant": factor * float(side.u @ side.u),
                    "bound": side.bound,
                    "gap": side.gap,
                    "certified": side.certified,
                    "gamma": gamma,
                    "margin_bound": None if gamma is None else factor / gamma**2,
                }
            )
    return rows


def influence_of_eta(
    data: RankingData, order: NDArray[np.int64], measure: str, etas: tuple[float, ...], axes: Mapping[str, Any]
) -> list[Row]:
    """In how many rounds the mistakes differ from those with eta = 1, for both active sets, with the total loss."""
    rows = []
    for active in ("margin", "misordered"):
        one = perceptron.run(data, order, measure, 1.0, active)  # type: ignore[arg-type]
        steps: list[float | str] = ["theory", *etas]
        for eta in steps:
            result = perceptron.run(data, order, measure, eta, active)  # type: ignore[arg-type]
            rows.append(
                {
                    **axes,
                    "eta": str(eta),
                    "step": result.eta,
                    "active": active,
                    "rounds": len(order),
                    "mistakes": int(result.mistakes.sum()),
                    "mistakes_at_eta_one": int(one.mistakes.sum()),
                    "rounds_that_differ": int((result.mistakes != one.mistakes).sum()),
                    "cumulative_loss": float(result.losses.sum()),
                }
            )
    return rows


def adversarial_order(data: RankingData, length: int, measure: str) -> NDArray[np.int64]:
    """Every query once, and then always the one that the perceptron with the theoretical step size ranks worst."""
    order = list(range(data.n_queries))[:length]
    step = perceptron.theory_step(data, order, measure)
    while len(order) < length:
        w = perceptron.run(data, order, measure, step).w
        order.append(int(np.argmin(_quality(data.X64 @ w, data, measure))))
    return np.array(order, np.int64)


def _quality(scores: NDArray[np.float64], data: RankingData, measure: str) -> NDArray[np.float64]:
    if measure == "map":
        return metrics.average_precision(scores, data.y, data.offsets, no_relevant=1.0)
    k = measure.partition("@")[2]
    return metrics.ndcg(scores, data.y, data.offsets, int(k) if k else None, no_relevant=1.0)


def _streams(
    settings: PerceptronSettings, datasets: Mapping[str, RankingData], measure: str, seed: int
) -> Iterator[_Stream]:
    # All measures have the same data and orders, except those of the adversary, which depend on the measure's losses.
    noise = PopulationSettings().noise
    pools = {
        NOISY: Population(_population(settings, noise, 0.0)),
        SEPARABLE: Population(_population(settings, 0.0, settings.margin)),
    }
    for repetition in progress.counted(range(settings.repetitions), _LOG, f"repetitions of {measure}"):
        for name, population in pools.items():
            rng = generator(seed, "slam-perceptron", name, repetition)
            data = population.draw(settings.queries, rng)
            yield _Stream(name, repetition, data, rng.integers(0, settings.queries, settings.rounds))
        rng = generator(seed, "slam-perceptron", ADVERSARIAL, repetition)
        data = pools[NOISY].draw(min(settings.queries, settings.adversarial_rounds // 2), rng)
        yield _Stream(ADVERSARIAL, repetition, data, adversarial_order(data, settings.adversarial_rounds, measure))
        for name, raw in datasets.items():
            passes = math.ceil(settings.rounds / raw.n_queries)
            order = rounds.random_passes(raw.n_queries, passes, (seed, "slam-perceptron", name, repetition))
            yield _Stream(name, repetition, Standardisation.of(raw).apply(raw), order[: settings.rounds])


def _axes(stream: _Stream, measure: str) -> dict[str, Any]:
    return {"stream": stream.name, "measure": measure, "repetition": stream.repetition}


def _checkpoints(length: int, number: int) -> list[int]:
    # A logarithmic grid that ends with the last round and includes half of all rounds.
    grid = np.unique(np.geomspace(min(FIRST_CHECKPOINT, length), length, number).round().astype(int)).tolist()
    return sorted({*grid, length // 2})


def largest_v_max(m: int, y_max: int, kind: str) -> float:
    """The largest v_max over lists of m documents in which r documents are relevant, for r = 1..m.

    Either all r have the label y_max, or one has y_max and the others have 1; all other labels are 0. With binary
    labels these are all lists; with more labels, the supremum is attained by one of them
    (:func:`pipeline_lib.surrogates.slam.v_max_supremum`).

    Example
    -------
    >>> round(largest_v_max(10, 1, "map"), 9), round(largest_v_max(10, 2, "ndcg@3"), 9)
    (5.0, 6.0)
    """
    largest = 0.0
    # All lists together have m^2 labels, which may not fit into memory: a few lists at a time.
    for counts in np.array_split(np.arange(1, m + 1), 1 + m * m // 1_000_000):
        relevant = (np.arange(m) < counts[:, None]).astype(np.int32)
        first_apart = relevant.copy()
        first_apart[:, 0] = y_max
        y = np.concatenate([y_max * relevant, first_apart])
        largest = max(largest, float(v_max_of_all(y.ravel(), np.arange(0, y.size + 1, m), kind).max()))
    return largest


def _v_max(m: int) -> Row:
    explicit = math.log(2.0) * (2**LARGEST_LABEL - 1) * (m + 1) * math.log2(m + 1) ** 2
    return {
        "m": m,
        "v_max_map": largest_v_max(m, 1, "map"),
        "half_m": m / 2,
        "v_max_ndcg": largest_v_max(m, LARGEST_LABEL, "ndcg"),
        "v_max_ndcg_limit": explicit,
        "v_max_ndcg_at_k": largest_v_max(m, LARGEST_LABEL, f"ndcg@{CUTOFF}"),
    }
