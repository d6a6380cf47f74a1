"""How does the regret of learning from the labels on top grow with the number of rounds?

`topk`, Theorem 4.1: against an oblivious sequence of queries, with eta = T^(-2/3) and gamma = T^(-1/3),

    E sum_t phi(shown scores, y_t) - min over ||w|| <= U of sum_t phi(X_t w, y_t) = O(T^(2/3)).

The sequence is drawn once; seeds differ in exploration alone, over which the expectation is. The best fixed w is found
by certified minimisation over the same rounds, every query counted as often as it was met. (4) is checked as well:

    E sum_t phi(X_t w_t, y_t) <= min_w sum_t phi(X_t w, y_t) + U^2 / (2 eta) + eta/2 E sum_t ||z_t||^2.

Its right side is measured in the same games as its left side. Judged is the mean over seeds of their difference, one
seed's loss less the same seed's bound, with the interval of this paired difference.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import progress
from pipeline_lib.arrays import Floats
from pipeline_lib.claims.evidence import Evidence, Interval, Trial, Value
from pipeline_lib.errors import DataError
from pipeline_lib.learners import erm, top_k_feedback
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.statistics import fit_exponent, over_folds

if TYPE_CHECKING:
    from pipeline_lib.papers.topk.experiments.regret import RegretSettings

_LOG = logging.getLogger(__name__)

REGRET = "tables/topk-regret.parquet"

LEARNERS: Mapping[str, int] = {"squared": 1, "kl": 1, "ranksvm": 2}
"""The surrogates of Theorem 4.1 and how many labels each is shown."""
STATISTICS = ("loss", "own_loss", "squared_norm")
"""What a game leaves: averages over its rounds."""
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Results:
    """Rows of the two tables, and the evidence for equation 4."""

    regret: list[dict[str, Any]]
    exponents: list[dict[str, Any]]
    evidence: Evidence


def measure(settings: RegretSettings, seed: int, part: int) -> list[dict[str, Any]]:
    """Play the games of one slice of the seeds, ``part`` from 0: a row for every seed, surrogate and T."""
    data, order = _sequence(settings, seed)
    numbers = range(part, settings.seeds, settings.slices)
    return [
        _game(settings, seed, data, order[:T], name, number)
        for number in progress.counted(numbers, _LOG, "seeds")
        for name in LEARNERS
        for T in settings.rounds
    ]


def join(settings: RegretSettings, rows: Iterable[Row], seed: int) -> Results:
    """Hold the games of all slices against the best fixed rankers, and fit the exponents.

    Raises
    ------
    DataError
        When the rows are not those of every seed, surrogate and T.
    """
    data, order = _sequence(settings, seed)
    played = _by_learner(settings, rows)
    regret: list[dict[str, Any]] = []
    exponents: list[dict[str, Any]] = []
    bounded = []
    for name in LEARNERS:
        found = played[name]
        best = np.array([best_fixed(data, name, order[:T], settings.radius) for T in settings.rounds])
        T = np.array(settings.rounds, dtype=np.float64)
        totals = (found["loss"] - best) * T
        excess = found["own_loss"] * T - _bounds(settings, found["squared_norm"], best)
        regret += _rows(settings, name, found, best, totals, excess)
        bounded += [_equation_4(settings, name, found, excess, i) for i in range(len(T))]
        fitted = fit_exponent(T, totals)
        exponents.append({"surrogate": name, "slope": fitted.slope, "low": fitted.low, "high": fitted.high})
    notes = (
        f"{settings.queries} queries of the population, ||w|| <= {settings.radius:g}; intervals over {settings.seeds} "
        "seeds of exploration for one fixed sequence of rounds; the best fixed w to a certified relative gap of 1e-6. "
        "Loss minus bound is taken seed by seed: the sum of ||z||² in the bound is that of the same game."
    )
    return Results(regret, exponents, Evidence("topk-eq4", tuple(bounded), notes))


def best_fixed(data: RankingData, name: str, order: NDArray[np.int64], radius: float) -> float:
    """The least average loss of a fixed ||w|| <= radius over the rounds of ``order``, certified to 1e-6.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0], [1.0]], [0, 1, 0], [1, 1, 2])
    >>> round(best_fixed(data, "squared", np.array([0, 0, 0, 1]), 1.0), 4)
    0.1875
    """
    counts = np.bincount(order, minlength=data.n_queries).astype(np.float64)
    found = erm.fit(data, name, l2=0.0, radius=radius, weights=counts)
    if not found.certified:
        raise DataError(f"topk.regret: the best fixed w for {name} is not certified: {found.reason}")
    return found.objective


def _sequence(settings: RegretSettings, seed: int) -> tuple[RankingData, NDArray[np.int64]]:
    # Games of different length share their first rounds, and those of all seeds share all.
    population = Population(PopulationSettings.from_mapping(settings.population))
    data = population.draw(settings.queries, generator(seed, "topk-regret", "queries"))
    return data, generator(seed, "topk-regret", "rounds").integers(0, data.n_queries, size=settings.rounds[-1])


def _game(
    settings: RegretSettings, seed: int, data: RankingData, order: NDArray[np.int64], name: str, number: int
) -> dict[str, Any]:
    T = len(order)
    eta, gamma = top_k_feedback.theorem_parameters(T)
    game = top_k_feedback.run(
        data,
        name,
        k=LEARNERS[name],
        rounds=T,
        eta=eta,
        gamma=gamma,
        radius=settings.radius,
        seed=(seed, "topk-regret", name, number, T),
        order=order,
        checkpoints=[T],
    )
    row: dict[str, Any] = {"seed": number, "surrogate": name, "T": T}
    for statistic, value in zip(STATISTICS, (game.losses, game.own_losses, game.squared_norms), strict=True):
        row[statistic] = float(value[-1])
    return row


def _by_learner(settings: RegretSettings, rows: Iterable[Row]) -> dict[str, dict[str, Floats]]:
    # For every surrogate and statistic an array of seeds and T, whatever the order of the rows
    games = {(row["surrogate"], row["seed"], row["T"]): row for row in rows}
    expected = {(name, number, T) for name in LEARNERS for number in range(settings.seeds) for T in settings.rounds}
    if set(games) != expected:
        raise DataError(
            f"topk.regret: expected the games of {len(expected)} combinations of surrogate, seed and T from the "
            f"slices, found {len(set(games) & expected)} of them and {len(set(games) - expected)} others"
        )
    return {
        name: {
            statistic: np.array(
                [[games[name, number, T][statistic] for T in settings.rounds] for number in range(settings.seeds)]
            )
            for statistic in STATISTICS
        }
        for name in LEARNERS
    }


def _rows(
    settings: RegretSettings, name: str, found: Mapping[str, Floats], best: Floats, totals: Floats, excess: Floats
) -> list[dict[str, Any]]:
    rows = []
    for i, T in enumerate(settings.rounds):
        summary, over = over_folds(totals[:, i]), over_folds(excess[:, i])
        rows.append(
            {
                "surrogate": name,
                "T": T,
                "regret": summary.mean,
                "low": summary.low,
                "high": summary.high,
                "exploration": float((found["loss"][:, i] - found["own_loss"][:, i]).mean() * T),
                "best_fixed_loss": float(best[i]),
                "squared_norm": float(found["squared_norm"][:, i].mean()),
                "loss_minus_bound": over.mean,
                "loss_minus_bound_low": over.low,
                "loss_minus_bound_high": over.high,
            }
        )
    return rows


def _bounds(settings: RegretSettings, squared_norms: Floats, best: Floats) -> Floats:
    # The right side of (4) in every game, with its own sum of ||z_t||^2 in place of the mean
    T = np.array(settings.rounds, dtype=np.float64)
    eta = np.array([top_k_feedback.theorem_parameters(rounds)[0] for rounds in settings.rounds])
    return np.asarray(best * T + settings.radius**2 / (2.0 * eta) + 0.5 * eta * T * squared_norms)


def _equation_4(settings: RegretSettings, name: str, found: Mapping[str, Floats], excess: Floats, i: int) -> Trial:
    T = settings.rounds[i]
    lost, over = over_folds(found["own_loss"][:, i] * T), over_folds(excess[:, i])
    values: dict[str, Value] = {
        "loss_minus_bound": Interval(over.mean, over.low, over.high),
        "expected_loss": Interval(lost.mean, lost.low, lost.high),
        "bound": lost.mean - over.mean,
    }
    return Trial({"surrogate": name, "T": T}, values, REGRET)
