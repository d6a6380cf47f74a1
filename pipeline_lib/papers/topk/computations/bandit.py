"""What does a learner lose that sees its loss alone, and no labels?

`topk`, section 4.3, holds the rate of Algorithm 1, T^(2/3), against T^(3/4) of bandit gradient descent
(:mod:`pipeline_lib.learners.bandit`). Its step is the best in hindsight, for every T, among multiples of that of its
theorem, which favours it; Algorithm 1 has the step of section 6. Both play the same sequences of queries from the
population of Theorem 4.1. Regret is that against the best fixed ranker in the ball, and ``lead`` the regret of bandit
gradient descent less that of Algorithm 1, with the two intervals added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.learners import bandit, loss_ranges
from pipeline_lib.papers.topk.computations import regret
from pipeline_lib.statistics import fit_exponent, over_folds

if TYPE_CHECKING:
    from pipeline_lib.papers.topk.experiments.regret import RegretSettings

Row = Mapping[str, Any]


def rows(settings: RegretSettings, measured: Iterable[Row], seed: int) -> list[dict[str, Any]]:
    """Play every game that Algorithm 1 played on the population, up to the longest of bandit gradient descent.

    ``measured`` are the rows of the table of regrets, with the best fixed loss and the regret of Algorithm 1.
    """
    known = {(row["surrogate"], row["T"]): row for row in measured if _of_algorithm_1(row)}
    found = []
    for game in regret.games_of(settings, seed):
        if game.player == regret.LEARNER and game.source == regret.POPULATION:
            found += _of_game(settings, game, known, seed)
    return found


def _of_algorithm_1(row: Row) -> bool:
    return (row["player"], row["data"]) == (regret.LEARNER, regret.POPULATION)


def _of_game(
    settings: RegretSettings, game: regret.Game, known: Mapping[tuple[str, int], Row], seed: int
) -> list[dict[str, Any]]:
    chosen = [T for T in settings.rounds if settings.bandit_rounds >= T]
    rounds = chosen if len(chosen) >= regret.FEWEST_ROUNDS else list(settings.rounds[: regret.FEWEST_ROUNDS])
    largest, found, regrets = loss_ranges.largest(game.data, game.surrogate, game.radius), [], []
    for T in rounds:
        other = known[game.surrogate, T]
        best = other["best_fixed_loss"]
        of_theorem = bandit.theorem_parameters(game.data, game.surrogate, game.radius, T)
        factor, played = _best_factor(settings, game, of_theorem, T, seed)
        regrets.append((played - best) * T)
        summary = over_folds(regrets[-1])
        row = {"surrogate": game.surrogate, "T": T, "factor": factor, "delta": of_theorem.delta}
        row |= {"regret": summary.mean, "low": summary.low, "high": summary.high, "bound": of_theorem.bound}
        row["largest_regret"] = float(largest[game.order[:T]].sum()) - best * T
        row |= {"lead": summary.mean - other["regret"]}
        row |= {"lead_low": summary.low - other["high"], "lead_high": summary.high - other["low"]}
        found.append(row)
    fitted = fit_exponent(np.array(rounds, np.float64), np.array(regrets).T)
    slope = {"slope": fitted.slope, "slope_low": fitted.low, "slope_high": fitted.high}
    return [{**row, **slope} for row in found]


def _best_factor(
    settings: RegretSettings, game: regret.Game, of_theorem: bandit.Parameters, T: int, seed: int
) -> tuple[float, Floats]:
    """The multiple of the step with the least mean loss, and the average loss of every seed."""
    played = {
        factor: np.array(
            [_loss(game, of_theorem, factor, T, (seed, number)) for number in range(settings.bandit_seeds)]
        )
        for factor in settings.bandit_factors
    }
    best = min(played, key=lambda factor: float(played[factor].mean()))
    return best, played[best]


def _loss(game: regret.Game, of_theorem: bandit.Parameters, factor: float, T: int, axes: tuple[int, int]) -> float:
    seed, number = axes
    found = bandit.run(
        *(game.data, game.surrogate, T, factor * of_theorem.step, of_theorem.delta, game.radius),
        seed=(seed, "topk-bandit", game.surrogate, number, T),
        order=game.order[:T],
        checkpoints=[T],
        losses=False,
    )
    return float(found.losses[-1])
