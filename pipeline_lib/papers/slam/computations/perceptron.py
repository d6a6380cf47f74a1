"""Do the perceptron's loss bounds hold round by round, and does its step size matter?

The claims are those of `slam` on (16), Theorem 5, Corollaries 6 and 7, v_max after (18), and the remark before
Algorithm 1 that eta does not matter, with the regret (15) of gradient descent. The streams of queries are those of
:mod:`pipeline_lib.papers.slam.computations.streams`; :mod:`pipeline_lib.papers.slam.computations.players` plays other
rankers on the short ones.
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
from pipeline_lib.learners import perceptron
from pipeline_lib.papers.slam.computations import players, streams, subgradients
from pipeline_lib.papers.slam.computations.streams import Stream
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.surrogates.slam import v_max_of_all
from pipeline_lib.theory import perceptron_bounds

if TYPE_CHECKING:
    from pipeline_lib.papers.slam.experiments.perceptron import PerceptronSettings

_LOG = logging.getLogger(__name__)

# The step and active set of every run whose bound is computed: as the theorem requires, as printed, and with the
# misordered documents only, for which the factor of ||u||^2 is 4 R_X^2.
VARIANTS: tuple[tuple[str, perceptron.Active], ...] = (("theory", "margin"), ("1", "margin"), ("theory", "misordered"))
FIRST_CHECKPOINT = 100
# Largest label and cutoff of the table of v_max.
LARGEST_LABEL, CUTOFF = 2, 10
CUTOFFS = tuple(2**power - 1 for power in range(2, 11))
"""The values of k for which v_max is compared with O(log k): k + 1 doubles."""
LISTNET_ROUNDS = 2000

Row = dict[str, Any]


@dataclass(frozen=True)
class Results:
    """Rows of the six tables."""

    runs: list[Row]
    etas: list[Row]
    v_max: list[Row]
    players: list[Row]
    rounds: list[Row]
    cutoffs: list[Row]


def run(settings: PerceptronSettings, datasets: Mapping[str, RankingData], seed: int) -> Results:
    """Run the perceptron over every stream, those of ``datasets`` included."""
    runs: list[Row] = []
    etas: list[Row] = []
    for measure in progress.counted(settings.measures, _LOG, "measures"):
        for repetition in progress.counted(range(settings.repetitions), _LOG, f"repetitions of {measure}"):
            for stream in streams.long(settings, datasets, measure, repetition, seed):
                runs += bounds_of(stream, measure, settings.checkpoints)
                etas += influence_of_eta(stream, measure, settings.etas)
                if (stream.name, measure, repetition) == (streams.NOISY, "ndcg", 0):
                    etas += influence_of_eta_on_listnet(stream, measure, settings.etas)
    short = list(streams.short(settings, seed))
    for measure in streams.SHORT_MEASURES:
        for stream in short:
            runs += bounds_of(stream, measure, settings.checkpoints)
    return Results(
        runs,
        etas,
        [_v_max(m) for m in settings.v_max_lengths],
        [row for measure in streams.SHORT_MEASURES for stream in short for row in players.played(stream, measure)],
        subgradients.worst_rounds(),
        [_at_cutoff(k) for k in CUTOFFS],
    )


def bounds_of(stream: Stream, measure: str, checkpoints: int) -> list[Row]:
    """Both sides of Theorem 5 at growing T, for every variant of the algorithm, with the largest ratio of (16).

    ``gamma`` and ``margin_bound`` = C / gamma^2 (Corollary 6) are given where the stream is separable.

    Returns
    -------
    rows
        With stream, measure, repetition, eta, active, T, cumulative_loss, mistakes, largest_ratio, comparator_loss,
        constant, bound, gap, certified, gamma, margin_bound, largest_loss (that of the reversed orders of all rounds),
        surrogate_loss (sum of f_t(w_t)), squared_norms (sum of ||z_t||^2) and step, the terms of (15); least_excess of
        f_t(w_t), and of half of it, over the ranking loss in any round up to T.
    """
    rows: list[Row] = []
    data, order = stream.data, stream.order
    gamma = stream.gamma(measure)
    largest = np.cumsum(streams.largest_losses(data, measure)[order])
    for eta, active in VARIANTS:
        step = eta if eta == "theory" else float(eta)
        result = perceptron.run(data, order, measure, step, active)  # type: ignore[arg-type]
        ratios = np.zeros(len(order))
        ratios[result.mistakes] = perceptron_bounds.ratios(data, order, result, measure)
        summed = (result.losses, result.mistakes, result.surrogate_losses, result.squared_norms)
        losses, mistakes, surrogate_losses, squared_norms = map(np.cumsum, summed)
        excess, of_half = (share * result.surrogate_losses - result.losses for share in (1.0, 0.5))
        factor = perceptron.norm_factor(data, order, measure, active)
        for T in _checkpoints(len(order), checkpoints):
            side = perceptron_bounds.right_side(data, order[:T][result.mistakes[:T]], factor, measure, stream.tol)
            rows.append(
                {
                    **_axes(stream, measure),
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
                    "largest_loss": float(largest[T - 1]),
                    "surrogate_loss": float(surrogate_losses[T - 1]),
                    "least_excess": float(excess[:T].min()),
                    "least_excess_of_half": float(of_half[:T].min()),
                    "squared_norms": float(squared_norms[T - 1]),
                    "step": result.eta,
                }
            )
    return rows


def influence_of_eta(stream: Stream, measure: str, etas: tuple[float, ...]) -> list[Row]:
    """In how many rounds the mistakes differ from those with eta = 1, for both active sets, with the total loss."""
    rows = []
    data, order = stream.data, stream.order
    for active in ("margin", "misordered"):
        one = perceptron.run(data, order, measure, 1.0, active)  # type: ignore[arg-type]
        steps: list[float | str] = ["theory", *etas]
        for eta in steps:
            result = perceptron.run(data, order, measure, eta, active)  # type: ignore[arg-type]
            rows.append(
                {
                    **_axes(stream, measure),
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


def influence_of_eta_on_listnet(stream: Stream, measure: str, etas: tuple[float, ...]) -> list[Row]:
    """The same of gradient descent on ListNet, over at most :data:`LISTNET_ROUNDS` rounds; ``active`` is "listnet"."""
    order = stream.order[:LISTNET_ROUNDS]
    one = _listnet_losses(stream.data, order, measure, 1.0)
    rows = []
    for eta in etas:
        losses = _listnet_losses(stream.data, order, measure, eta)
        rows.append(
            {
                **_axes(stream, measure),
                "eta": str(eta),
                "step": eta,
                "active": "listnet",
                "rounds": len(order),
                "mistakes": int((losses > 0.0).sum()),
                "mistakes_at_eta_one": int((one > 0.0).sum()),
                "rounds_that_differ": int(((losses > 0.0) != (one > 0.0)).sum()),
                "cumulative_loss": float(losses.sum()),
            }
        )
    return rows


def _listnet_losses(data: RankingData, order: NDArray[np.int64], measure: str, eta: float) -> Floats:
    loss, w = surrogates.create("listnet"), np.zeros(data.n_features)
    queries = [data.take([q]) for q in range(data.n_queries)]
    losses = np.empty(len(order))
    for t, q in enumerate(order):
        own = queries[q]
        scores = own.X64 @ w
        losses[t] = streams.losses(scores, own, measure)[0]
        w -= eta * own.X64.T @ loss.unchecked(scores, own.y.astype(np.int32), own.offsets)[1]
    return losses


def _axes(stream: Stream, measure: str) -> dict[str, Any]:
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


def _at_cutoff(k: int) -> Row:
    """v_max of NDCG@k, with what doubling k + 1 adds to it; lists of 2 k + 1 documents attain both."""
    v_max, doubled = (largest_v_max(K + 1, LARGEST_LABEL, f"ndcg@{K}") for K in (k, 2 * k + 1))
    return {
        "k": k,
        "v_max": v_max,
        "v_max_limit": (2**LARGEST_LABEL - 1) * math.log2(k + 1),
        "added_by_doubling": doubled - v_max,
        "added_to_share_of_log": doubled / math.log2(2 * k + 2) - v_max / math.log2(k + 1),
    }


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
