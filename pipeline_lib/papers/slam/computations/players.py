"""Do Theorem 5 and its corollaries tell the perceptron from other players, and their constants from other constants?

On the short streams (:mod:`pipeline_lib.papers.slam.computations.streams`) rankers play that never change: w = 0, the
perceptron's last w with the opposite sign, its w after the first mistake, and the last w of a perceptron that was
shown permuted labels. Their losses over all rounds are set against the same bounds, with f_t by the mistakes that they
make themselves. And the perceptron's losses are set against wrong right sides: the least over u of

    sum_t f_t(u) + C ||u||^2,    2 sum_t f_t(u) + C/2 ||u||^2,    2 sum_t f_t(u) + C/R_X ||u||^2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.learners import perceptron
from pipeline_lib.papers.slam.computations import streams
from pipeline_lib.papers.slam.computations.streams import Stream
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.theory import perceptron_bounds

ACTIVE: tuple[perceptron.Active, ...] = ("margin", "misordered")
PERCEPTRON = "perceptron"
AS_PRINTED, LOSS_ONCE, HALF, NOT_SQUARED = "as-printed", "loss-once", "half-constant", "norm-not-squared"

Row = dict[str, Any]


def played(stream: Stream, measure: str) -> list[Row]:
    """The losses of every player over the whole stream, and of the perceptron with every right side.

    Returns
    -------
    rows
        stream, measure, repetition, active, player, statement, T, cumulative_loss, loss_at_half (after T // 2 rounds),
        largest_loss, mistakes, comparator_loss, constant, bound, gap, margin_bound. With ``active`` "misordered", C is
        4 R_X^2, and there are fewer players and statements.
    """
    data, order = stream.data, stream.order
    gamma = stream.gamma(measure)
    norm = float(np.sqrt(np.square(data.X64).sum(axis=1).max()))
    sides = {AS_PRINTED: (2.0, 1.0), LOSS_ONCE: (1.0, 1.0), HALF: (2.0, 0.5), NOT_SQUARED: (2.0, 1.0 / norm)}
    largest = float(streams.largest_losses(data, measure)[order].sum())
    rows = []
    for active in ACTIVE:
        factor = perceptron.norm_factor(data, order, measure, active)
        result = perceptron.run(data, order, measure, "theory", active)
        plays = [(PERCEPTRON, statement, result.losses, *side) for statement, side in sides.items()]
        for player, w in _unchanging(stream, measure, result.w).items():
            plays.append((player, AS_PRINTED, streams.losses(data.X64 @ w, data, measure)[order], 2.0, 1.0))
        for player, statement, losses, times, share in plays:
            if active == "misordered" and {player, statement} & {NOT_SQUARED, "first-mistake", "permuted"}:
                continue
            # times sum f + c ||u||^2 is times/2 of 2 sum f + 2 c/times ||u||^2.
            scale = times / 2.0
            mistaken = order[losses > 0.0]
            side = perceptron_bounds.right_side(data, mistaken, share * factor / scale, measure, stream.tol)
            rows.append(
                {
                    "stream": stream.name,
                    "measure": measure,
                    "repetition": stream.repetition,
                    "active": active,
                    "player": player,
                    "statement": statement,
                    "T": len(order),
                    "cumulative_loss": float(losses.sum()),
                    "loss_at_half": float(losses[: len(order) // 2].sum()),
                    "largest_loss": largest,
                    "mistakes": int((losses > 0.0).sum()),
                    "comparator_loss": side.comparator_loss,
                    "constant": scale * side.factor * float(side.u @ side.u),
                    "bound": scale * side.bound,
                    "gap": scale * side.gap,
                    "margin_bound": None if gamma is None else share * factor / gamma**2,
                }
            )
    return rows


def _unchanging(stream: Stream, measure: str, w: Floats) -> dict[str, Floats]:
    data, order = stream.data, stream.order
    first = perceptron.run(data, order[:1], measure, "theory").w
    permuted = perceptron.run(_permuted(data), order, measure, "theory").w
    return {"reversed": -w, "never": np.zeros(len(w)), "first-mistake": first, "permuted": permuted}


def _permuted(data: RankingData) -> RankingData:
    """The same documents with the labels of every second query in reversed order."""
    y = data.y.copy()
    for q in range(0, data.n_queries, 2):
        begin, end = data.offsets[q], data.offsets[q + 1]
        y[begin:end] = y[begin:end][::-1]
    return RankingData(data.X, y, data.offsets, data.qids)
