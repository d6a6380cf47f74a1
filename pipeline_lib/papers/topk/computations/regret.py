"""How does the regret of learning from the labels on top grow with the number of rounds?

`topk`, Theorem 4.1: against an oblivious sequence of queries, with eta = T^(-2/3) and gamma = T^(-1/3),

    E sum_t phi(shown scores, y_t) - min over ||w|| <= U of sum_t phi(X_t w, y_t) = O(T^(2/3)).

The sequence is drawn once; seeds differ in exploration alone, over which the expectation is. The best fixed w is found
by certified minimisation over the same rounds, every query counted as often as it was met. (4) is checked as well:

    E sum_t phi(X_t w_t, y_t) <= min_w sum_t phi(X_t w, y_t) + U^2 / (2 eta) + eta/2 E sum_t ||z_t||^2.

(5) is about the difference between the two left sides (:mod:`pipeline_lib.papers.topk.computations.exploration`). The
right side of (4) is measured in the same games as its left side. Judged is the mean over seeds of their difference, one
seed's loss less the same seed's bound, with the interval of this paired difference.

Next to sequences from a population there are sequences of one query, on which (4) is nearly an equality: two documents
x and -x, the first of them relevant, RankSVM with both labels shown, and U = 1/||2 x||. Descent goes straight to the
only w without loss, which lies on the surface of the ball and is reached after about 1/(eta ||2 x||^2) rounds.

Two players show what the bounds exclude. ``idle`` never learns: it plays w = 0 and is held against the bound with the
prescribed eta. ``biased`` divides by the printed probabilities (docs/errata.md, C).
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
from pipeline_lib.errors import DataError
from pipeline_lib.learners import erm, loss_ranges, top_k_feedback
from pipeline_lib.papers.topk.computations import exploration
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import Axis, generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.statistics import fit_exponent, over_folds

if TYPE_CHECKING:
    from pipeline_lib.papers.topk.experiments.regret import RegretSettings

_LOG = logging.getLogger(__name__)

LEARNERS: Mapping[str, int] = {"squared": 1, "kl": 1, "ranksvm": 2}
"""The surrogates of Theorem 4.1 and how many labels each is shown."""
LEARNER, IDLE, BIASED = "algorithm 1", "idle", "biased"
PLAYERS = (LEARNER, IDLE, BIASED)
FEWEST_ROUNDS = 3  # for an exponent
WRONG_ROUNDS = 100_000
"""The longest games of the players that are wrong, unless there are too few shorter ones."""
POPULATION, TWO_DOCUMENTS = "population", "two documents"
GAMES: Mapping[str, tuple[str, ...]] = {POPULATION: tuple(LEARNERS), TWO_DOCUMENTS: ("ranksvm",)}
"""The data, and the surrogates that are played on them."""
FEATURE = 31 / 64  # of the two documents, exact in float32
IDLE_STEP = 1e-300
STATISTICS = ("loss", "own_loss", "squared_norm")
"""What a game leaves: averages over its rounds."""
Row = Mapping[str, Any]
Key = tuple[str, str, str]


@dataclass(frozen=True)
class Results:
    """Rows of the three tables."""

    regret: list[dict[str, Any]]
    exponents: list[dict[str, Any]]
    exploration: list[dict[str, Any]]


@dataclass(frozen=True)
class Game:
    """Who plays which surrogate on what, for how many rounds, in a ball of which radius."""

    source: str
    player: str
    surrogate: str
    data: RankingData
    order: NDArray[np.int64]
    radius: float

    @property
    def key(self) -> Key:
        """Data, player and surrogate."""
        return self.source, self.player, self.surrogate

    def rounds(self, settings: RegretSettings) -> tuple[int, ...]:
        """The values of T that are played."""
        short = tuple(T for T in settings.rounds if T <= WRONG_ROUNDS)
        if self.player == LEARNER:
            return tuple(settings.rounds)
        return short if len(short) >= FEWEST_ROUNDS else tuple(settings.rounds[:FEWEST_ROUNDS])


def measure(settings: RegretSettings, seed: int, part: int) -> list[dict[str, Any]]:
    """Play the games of one slice of the seeds, ``part`` from 0: a row for every seed, player, surrogate and T."""
    numbers = range(part, max(settings.seeds, settings.short_seeds), settings.slices)
    games = games_of(settings, seed)
    return [
        _played(game, seed, number, T)
        for number in progress.counted(numbers, _LOG, "seeds")
        for game in games
        for T in game.rounds(settings)
        if number < _seeds(settings, game, T)
    ]


def join(settings: RegretSettings, rows: Iterable[Row], seed: int) -> Results:
    """Hold the games of all slices against the best fixed rankers, and fit the exponents.

    Raises
    ------
    DataError
        When the rows are not those of every seed, player, surrogate and T.
    """
    games = games_of(settings, seed)
    played = _by_game(settings, games, rows)
    regret: list[dict[str, Any]] = []
    exponents: list[dict[str, Any]] = []
    explored: list[dict[str, Any]] = []
    best: dict[tuple[str, str, int], float] = {}
    for game in games:
        totals = []
        for T in game.rounds(settings):
            at = (game.source, game.surrogate, T)
            if at not in best:
                best[at] = _least_loss(game, T)
            found = played[game.key][T]
            totals.append((found["loss"][: settings.seeds] - best[at]) * T)
            regret.append(_row(settings, game, T, found, best[at]))
            if game.player == LEARNER:
                explored.append(exploration.row(game, T, found["loss"] - found["own_loss"]))
        T_s = np.array(game.rounds(settings), dtype=np.float64)
        fitted = fit_exponent(T_s, np.array(totals).T)
        row = {"data": game.source, "player": game.player, "surrogate": game.surrogate}
        exponents.append({**row, "slope": fitted.slope, "low": fitted.low, "high": fitted.high})
    return Results(regret, exponents, explored)


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


def largest_loss(data: RankingData, name: str, order: NDArray[np.int64], radius: float) -> float:
    """An average loss over the rounds of ``order`` that no sequence of ||w|| <= radius can exceed.

    Every document has the score in [-U ||x||, U ||x||] that is worst for it, whatever the others have.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.5], [-0.5]], [1, 0], [1, 1])
    >>> largest_loss(data, "ranksvm", np.array([0]), 2.0), largest_loss(data, "squared", np.array([0]), 2.0)
    (3.0, 5.0)
    """
    return float(np.mean(loss_ranges.largest(data, name, radius)[order]))


def games_of(settings: RegretSettings, seed: int) -> list[Game]:
    """All games; those of different length share their first rounds, and those of all seeds share all."""
    population = Population(PopulationSettings.from_mapping(settings.population))
    drawn = population.draw(settings.queries, generator(seed, "topk-regret", "queries"))
    order = generator(seed, "topk-regret", "rounds").integers(0, drawn.n_queries, size=settings.rounds[-1])
    pair = RankingData.from_arrays([[FEATURE], [-FEATURE]], [1, 0], [1, 1])
    sequences = {
        POPULATION: (drawn, order, settings.radius),
        TWO_DOCUMENTS: (pair, np.zeros_like(order), 1.0 / (2.0 * FEATURE)),
    }
    return [
        Game(source, player, surrogate, *sequences[source])
        for player in PLAYERS
        for source, names in GAMES.items()
        for surrogate in names
        # With both labels shown, the printed probabilities are right.
        if (source, player) != (TWO_DOCUMENTS, BIASED)
    ]


def _seeds(settings: RegretSettings, game: Game, T: int) -> int:
    if (game.player, game.source) != (LEARNER, POPULATION) or settings.short_rounds < T:
        return settings.seeds
    return max(settings.seeds, settings.short_seeds)


def _played(game: Game, seed: int, number: int, T: int) -> dict[str, Any]:
    eta, gamma = top_k_feedback.theorem_parameters(T)
    axes: tuple[Axis, ...] = (seed, "topk-regret", game.surrogate, number, T)
    found = top_k_feedback.run(
        game.data,
        game.surrogate,
        k=LEARNERS[game.surrogate],
        rounds=T,
        eta=IDLE_STEP if game.player == IDLE else eta,
        gamma=gamma,
        radius=game.radius,
        seed=axes if (game.player, game.source) == (LEARNER, POPULATION) else (*axes, game.player, game.source),
        order=game.order[:T],
        probabilities="as-printed" if game.player == BIASED else "correct",
        checkpoints=[T],
    )
    row: dict[str, Any] = {"data": game.source, "player": game.player, "surrogate": game.surrogate}
    row |= {"seed": number, "T": T}
    for statistic, value in zip(STATISTICS, (found.losses, found.own_losses, found.squared_norms), strict=True):
        row[statistic] = float(value[-1])
    return row


def _least_loss(game: Game, T: int) -> float:
    # The two documents are a margin of 1 apart at w = U.
    return 0.0 if game.source == TWO_DOCUMENTS else best_fixed(game.data, game.surrogate, game.order[:T], game.radius)


def _by_game(
    settings: RegretSettings, games: Iterable[Game], rows: Iterable[Row]
) -> dict[Key, dict[int, dict[str, Floats]]]:
    # For every game, T and statistic an array over seeds, whatever the order of the rows
    named = {((row["data"], row["player"], row["surrogate"]), row["seed"], row["T"]): row for row in rows}
    expected = {
        (game.key, T): [(game.key, number, T) for number in range(_seeds(settings, game, T))]
        for game in games
        for T in game.rounds(settings)
    }
    names = {name for among in expected.values() for name in among}
    if set(named) != names:
        raise DataError(
            f"topk.regret: expected the games of {len(names)} combinations of player, surrogate, seed and T from the "
            f"slices, found {len(set(named) & names)} of them and {len(set(named) - names)} others"
        )
    found: dict[Key, dict[int, dict[str, Floats]]] = {}
    for (key, T), among in expected.items():
        found.setdefault(key, {})[T] = {
            statistic: np.array([named[name][statistic] for name in among]) for statistic in STATISTICS
        }
    return found


def _row(settings: RegretSettings, game: Game, T: int, found: Mapping[str, Floats], best: float) -> dict[str, Any]:
    # The regret of the first seeds, of which every T has some, and both sides of (4) of all that this T has
    eta, _ = top_k_feedback.theorem_parameters(T)
    first = {statistic: values[: settings.seeds] for statistic, values in found.items()}
    distance, noise = game.radius**2 / (2.0 * eta), 0.5 * eta * T * found["squared_norm"]
    bounds = best * T + distance + noise
    summary = over_folds((first["loss"] - best) * T)
    own, over = over_folds(found["own_loss"] * T), over_folds(found["own_loss"] * T - bounds)
    return {
        "data": game.source,
        "player": game.player,
        "surrogate": game.surrogate,
        "T": T,
        "regret": summary.mean,
        "low": summary.low,
        "high": summary.high,
        "exploration": float((first["loss"] - first["own_loss"]).mean() * T),
        "best_fixed_loss": best,
        "squared_norm": float(first["squared_norm"].mean()),
        "seeds": len(found["loss"]),
        "expected_loss": own.mean,
        "expected_loss_low": own.low,
        "expected_loss_high": own.high,
        "distance_term": distance,
        "noise_term": float(noise.mean()),
        "largest_loss": T * largest_loss(game.data, game.surrogate, game.order[:T], game.radius),
        "loss_minus_bound": over.mean,
        "loss_minus_bound_low": over.low,
        "loss_minus_bound_high": over.high,
    }
