"""How does the regret of learning from the labels on top grow with the number of rounds?

`topk`, Theorem 4.1: against an oblivious sequence of queries, with eta = T^(-2/3) and gamma = T^(-1/3),

    E sum_t phi(shown scores, y_t) - min over ||w|| <= U of sum_t phi(X_t w, y_t) = O(T^(2/3)).

The sequence is drawn once; seeds differ in exploration alone, over which the expectation is. The best fixed w is found
by certified minimisation over the same rounds, every query counted as often as it was met. (4) is checked as well:

    E sum_t phi(X_t w_t, y_t) <= min_w sum_t phi(X_t w, y_t) + U^2 / (2 eta) + eta/2 E sum_t ||z_t||^2.

Its right side is measured in the same games as its left side. Judged is the mean over seeds of their difference, one
seed's loss less the same seed's bound, with the interval of this paired difference.

(5) is about the difference between the two left sides. The loss of the scores by which documents are ranked exceeds
that of X_t w_t by O(gamma T),

    E sum_t phi(shown scores, y_t) <= E sum_t phi(X_t w_t, y_t) + gamma sum_t E phi(u, y_t),   u uniform on [0, 1]^m,

because a round shows random scores with probability gamma and losses are not negative. The last expectation is known
exactly (:data:`RANDOM_LOSSES`).

Next to sequences from a population there are sequences of one query, on which (4) is nearly an equality: two documents
x and -x, the first of them relevant, RankSVM with both labels shown, and U = 1/||2 x||. Descent goes straight to the
only w without loss, which lies on the surface of the ball and is reached after about 1/(eta ||2 x||^2) rounds.

Two players show what the bounds exclude. ``idle`` never learns: it plays w = 0 and is held against the bound with the
prescribed eta. ``biased`` divides by the printed probabilities (erratum C).

Section 4.3 holds the rate of Algorithm 1, T^(2/3), against T^(3/4) of bandit gradient descent, which sees its loss
alone, and no labels (:mod:`pipeline_lib.learners.bandit`). Its step is the best in hindsight, for every T, among
multiples of that of its theorem, which favours it; Algorithm 1 has the step of section 6. Both play the same sequences
of queries from the population.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.seeds import Axis, generator
from pipeline_lib.core.settings import (
    Jobs,
    Positive,
    Positives,
    Rising,
    Settings,
    Several,
    Whole,
    at_least,
    no_fewer_than,
)
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Count, Field, FromOne, FromZero, Interval, OnlyInterval, Proportion, Row
from pipeline_lib.experiment import Cell, Experiment, Job, Step
from pipeline_lib.learners import bandit, erm, loss_ranges, top_k_feedback
from pipeline_lib.papers.topk.games import exponent
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.sources.population_settings import Overrides
from pipeline_lib.statistics import mean_interval

LEARNERS: Mapping[str, int] = {"squared": 1, "kl": 1, "ranksvm": 2}
"""The surrogates of Theorem 4.1 and how many labels each is shown."""
RANDOM_LOSSES: Mapping[str, Callable[[Floats], float]] = {
    "squared": lambda y: float((1.0 / 3.0 - y + y * y).sum()),
    "kl": lambda y: float((np.exp(y) * (y - 1.5) + math.e - 1.0).sum()),
    # the number of pairs with different labels, since E max(0, 1 + u_j - u_i) = 1
    "ranksvm": lambda y: float((y[:, None] > y[None, :]).sum()),
}
"""E phi(u, y) of labels y for u uniform on [0, 1]^m."""
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


class RegretSettings(Settings):
    """Theorem 4.1 and eq. 4: regret against the best fixed ranker, eta = T^(-2/3), gamma = T^(-1/3)."""

    queries: Several = Field(200, description="queries from which the rounds are drawn")
    population: Overrides = Field({"features": 5, "documents": 5}, description="overrides of population defaults")
    radius: Positive = Field(3.0, description="U, the radius of the learner")
    rounds: Annotated[Rising, at_least(100), no_fewer_than(3, "for an exponent")] = Field(
        (1000, 3000, 10000, 30000, 100000, 300000, 1000000), description="values of T from which the exponent is fitted"
    )
    seeds: Several = Field(5, description="runs for every T")
    short_rounds: Whole = Field(10000, description="values of T up to this one are played by more seeds, for eq. 4")
    short_seeds: Several = Field(100, description="runs for these T, at least `seeds`")
    bandit_rounds: Annotated[Whole, Ge(100)] = Field(100000, description="largest T of bandit gradient descent")
    bandit_seeds: Several = Field(8, description="its runs for every T")
    bandit_factors: Positives = Field(
        (1.0, 10.0), description="its steps, in units of that of its theorem; the best in hindsight counts"
    )
    slices: Jobs = Field(2, description="jobs among which the runs are divided")

    def rounds_up_to(self, longest: int) -> tuple[int, ...]:
        """The values of T up to the longest, or the fewest from which an exponent can be fitted."""
        short = tuple(T for T in self.rounds if longest >= T)
        return short if len(short) >= FEWEST_ROUNDS else self.rounds[:FEWEST_ROUNDS]


class OfGame(Row):
    """What is measured of the games of one player."""

    data: str = Field(description="where the queries are from: population or two documents")
    player: str = Field(description="who plays: algorithm 1, idle or biased")
    surrogate: str = Field(description="loss that is learned")


class Played(OfGame, table="slices/topk-regret/{slice}", key=("data", "player", "surrogate", "seed", "T")):
    """One game of T rounds; averages are over its rounds."""

    seed: Count = Field(description="the run, from 0")
    T: FromOne = Field(description="rounds of the game")
    loss: float = Field(description="average loss of the scores by which was ranked, random ones included")
    own_loss: float = Field(description="average loss of the scores X_t w_t")
    squared_norm: FromZero = Field(description="average ||z_t||^2 of the estimates of gradients")


class Regret(
    OfGame,
    table="tables/topk-regret",
    key=("data", "player", "surrogate", "T"),
    always=(
        "expected_loss <= largest_loss",
        "loss_minus_bound = expected_loss - T * best_fixed_loss - distance_term - noise_term",
    ),
):
    """Regret, and both sides of (4), of one player after T rounds; losses are sums over the rounds."""

    T: FromOne = Field(description="rounds of the game")
    regret: OnlyInterval = Field(
        description="loss of what was shown less that of the best fixed ranker, mean over the first seeds with a 95 % "
        "interval"
    )
    exploration: float = Field(description="loss of what was shown less that of X_t w_t, mean over the first seeds")
    best_fixed_loss: float = Field(description="average loss of the best fixed ranker in the ball, over the rounds")
    squared_norm: FromZero = Field(description="average ||z_t||^2 of the estimates, mean over the first seeds")
    seeds: FromOne = Field(description="runs of this T, over which (4) is averaged")
    expected_loss: Interval = Field(description="left side of (4), the loss of X_t w_t")
    distance_term: FromZero = Field(description="U^2 / (2 eta), a term of (4)")
    noise_term: FromZero = Field(description="eta/2 sum_t ||z_t||^2, a term of (4), mean over seeds")
    largest_loss: FromZero = Field(description="a loss over the rounds that no rankers in the ball can exceed")
    loss_minus_bound: Interval = Field(description="left side of (4) less its right side, paired by seed")


class Exponent(OfGame, table="tables/topk-exponents", key=("data", "player", "surrogate")):
    """How the regret of one player grows."""

    slope: OnlyInterval = Field(description="power of T with which regret grows, fitted to all T; 95 % interval")


class Exploration(Row, table="tables/topk-exploration", key=("data", "surrogate", "T")):
    """What the rounds of exploration of Algorithm 1 cost in T rounds; losses are sums over the rounds."""

    data: str = Field(description="where the queries are from: population or two documents")
    surrogate: str = Field(description="loss that is learned")
    T: FromOne = Field(description="rounds of the game")
    seeds: FromOne = Field(description="runs in the mean")
    extra: OnlyInterval = Field(description="loss of what was shown less that of X_t w_t; mean, 95 % interval")
    random_loss: float = Field(description="expected loss if scores uniform on [0, 1]^m were shown in all rounds")
    gamma: Proportion = Field(description="probability of a round of exploration, T^(-1/3)")


class Bandit(
    Row,
    table="tables/topk-bandit",
    key=("surrogate", "T"),
    always=("regret <= largest_regret", "slope = MIN(slope) OVER (PARTITION BY surrogate)"),
):
    """The regret of bandit gradient descent after T rounds on the population, with its best step in hindsight."""

    surrogate: str = Field(description="loss that is learned")
    T: FromOne = Field(description="rounds of the game")
    regret: OnlyInterval = Field(description="loss less that of the best fixed ranker; mean, 95 % interval over seeds")
    bound: FromZero = Field(description="bound on the regret by its theorem, infinite for T too small for the theorem")
    largest_regret: FromZero = Field(description="regret that no rankers in the ball can exceed")
    factor: FromZero = Field(description="its step, in units of that of its theorem")
    delta: FromZero = Field(description="distance from w_t of what is played")
    lead: Interval = Field(description="its regret less that of Algorithm 1, with the two intervals added")
    slope: Interval = Field(description="power of T with which the regret grows, fitted to all T, with a 95 % interval")


Key = tuple[str, str, str]


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

    @property
    def names(self) -> dict[str, str]:
        """The same, as columns."""
        return dict(zip(OfGame.model_fields, self.key, strict=True))

    def rounds(self, settings: RegretSettings) -> tuple[int, ...]:
        """The values of T that are played."""
        return settings.rounds if self.player == LEARNER else settings.rounds_up_to(WRONG_ROUNDS)

    def seeds(self, settings: RegretSettings, T: int) -> int:
        """How often it is played with this T."""
        more = (self.player, self.source) == (LEARNER, POPULATION) and settings.short_rounds >= T
        return max(settings.seeds, settings.short_seeds) if more else settings.seeds


def games_of(settings: RegretSettings, seed: int) -> list[Game]:
    """All games; those of different length share their first rounds, and those of all seeds share all."""
    population = Population(PopulationSettings.from_mapping(settings.population))
    drawn = population.draw(settings.queries, generator(seed, "topk-regret", "queries", role="alone"))
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


def measure(job: Job) -> Iterator[Played]:
    """Play the games of one slice of the seeds."""
    settings: RegretSettings = job.settings
    numbers = range(int(job.cell["slice"]), max(settings.seeds, settings.short_seeds), settings.slices)
    games = games_of(settings, job.seed)
    for number in progress.counted(numbers, "seeds"):
        for game in games:
            for T in game.rounds(settings):
                if number < game.seeds(settings, T):
                    yield _played(game, job.seed, number, T)


def _played(game: Game, seed: int, number: int, T: int) -> Played:
    eta, gamma = top_k_feedback.theorem_parameters(T)
    axes: tuple[Axis, ...] = (seed, "topk-regret", game.surrogate, number, T)
    found = top_k_feedback.run(
        *(game.data, game.surrogate, LEARNERS[game.surrogate], T, IDLE_STEP if game.player == IDLE else eta, gamma),
        radius=game.radius,
        seed=axes if (game.player, game.source) == (LEARNER, POPULATION) else (*axes, game.player, game.source),
        order=game.order[:T],
        probabilities="as-printed" if game.player == BIASED else "correct",
        checkpoints=[T],
    )
    return Played(
        **game.names,
        seed=number,
        T=T,
        loss=found.losses[-1],
        own_loss=found.own_losses[-1],
        squared_norm=found.squared_norms[-1],
    )


def join(job: Job) -> Iterator[Row]:
    """Hold the games of all slices against the best fixed rankers, fit the exponents, and play the bandits.

    Raises
    ------
    DataError
        When the rows are not those of every seed, player, surrogate and T.
    """
    settings, games = job.settings, games_of(job.settings, job.seed)
    played = _by_game(settings, games, job.rows(Played))
    best: dict[tuple[str, str, int], float] = {}
    for game in games:
        totals, measured = [], []
        for T in game.rounds(settings):
            at, rows = (game.source, game.surrogate, T), played[game.key, T]
            if at not in best:
                best[at] = _least_loss(game, T)
            loss, own_loss = np.array([(row.loss, row.own_loss) for row in rows]).T
            measured.append(_regret(settings, game, T, best[at], loss, own_loss, rows))
            totals.append((loss[: settings.seeds] - best[at]) * T)
            if game.player == LEARNER:
                yield _exploration(game, T, loss - own_loss)
        yield from measured
        yield Exponent(**game.names, slope=exponent(game.rounds(settings), np.array(totals).T))
        if (game.player, game.source) == (LEARNER, POPULATION):
            yield from _bandit(settings, game, {row.T: row for row in measured}, job.seed)


def _by_game(
    settings: RegretSettings, games: Iterable[Game], rows: Iterable[Played]
) -> dict[tuple[Key, int], list[Played]]:
    """For every game and T the rows of all seeds one after the other, whatever the order in which they are given."""
    named = {((row.data, row.player, row.surrogate), row.T, row.seed): row for row in rows}
    expected = {(game.key, T): range(game.seeds(settings, T)) for game in games for T in game.rounds(settings)}
    names = {(*at, number) for at, numbers in expected.items() for number in numbers}
    if set(named) != names:
        raise DataError(
            f"topk.regret: expected the games of {len(names)} combinations of player, surrogate, seed and T from the "
            f"slices, found {len(set(named) & names)} of them and {len(set(named) - names)} others"
        )
    return {at: [named[*at, number] for number in numbers] for at, numbers in expected.items()}


def _least_loss(game: Game, T: int) -> float:
    # The two documents are a margin of 1 apart at w = U.
    return 0.0 if game.source == TWO_DOCUMENTS else best_fixed(game.data, game.surrogate, game.order[:T], game.radius)


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


def _regret(
    settings: RegretSettings, game: Game, T: int, best: float, loss: Floats, own_loss: Floats, rows: list[Played]
) -> Regret:
    # The regret of the first seeds, of which every T has some, and both sides of (4) of all that this T has
    eta, _ = top_k_feedback.theorem_parameters(T)
    squared_norm, first = np.array([row.squared_norm for row in rows]), slice(settings.seeds)
    distance, noise = game.radius**2 / (2.0 * eta), 0.5 * eta * T * squared_norm
    bounds = best * T + distance + noise
    return Regret(
        **game.names,
        T=T,
        regret=mean_interval((loss[first] - best) * T),
        exploration=(loss[first] - own_loss[first]).mean() * T,
        best_fixed_loss=best,
        squared_norm=squared_norm[first].mean(),
        seeds=len(rows),
        expected_loss=mean_interval(own_loss * T),
        distance_term=distance,
        noise_term=noise.mean(),
        largest_loss=T * largest_loss(game.data, game.surrogate, game.order[:T], game.radius),
        loss_minus_bound=mean_interval(own_loss * T - bounds),
    )


def _exploration(game: Game, T: int, extra: Floats) -> Exploration:
    """By how much the loss of what was shown exceeds that of X_t w_t, given averages over rounds by seed."""
    _, gamma = top_k_feedback.theorem_parameters(T)
    return Exploration(
        data=game.source,
        surrogate=game.surrogate,
        T=T,
        seeds=len(extra),
        extra=mean_interval(extra * T),
        random_loss=random_losses(game.data, game.surrogate)[game.order[:T]].sum(),
        gamma=gamma,
    )


def random_losses(data: RankingData, surrogate: str) -> Floats:
    """E phi(u, y) for every query, u uniform on [0, 1]^m, shape (n,).

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [7, 7])
    >>> [round(float(random_losses(data, name)[0]), 4) for name in ("squared", "kl", "ranksvm")]
    [0.6667, 0.5774, 1.0]
    """
    labels = np.split(data.y.astype(np.float64), data.offsets[1:-1])
    return np.array([RANDOM_LOSSES[surrogate](y) for y in labels])


def _bandit(settings: RegretSettings, game: Game, others: Mapping[int, Regret], seed: int) -> Iterator[Bandit]:
    """Play a game of Algorithm 1, whose regret is known for every T, up to the longest of bandit gradient descent."""
    rounds, regrets, rows = settings.rounds_up_to(settings.bandit_rounds), [], []
    largest = loss_ranges.largest(game.data, game.surrogate, game.radius)
    for T in rounds:
        best, other = others[T].best_fixed_loss, others[T].regret
        of_theorem = bandit.theorem_parameters(game.data, game.surrogate, game.radius, T)
        axes = [(seed, "topk-bandit", game.surrogate, number, T) for number in range(settings.bandit_seeds)]
        about: dict[str, Any] = {"order": game.order[:T], "checkpoints": [T], "losses": False}
        losses = {}
        for factor in settings.bandit_factors:
            given = game.data, game.surrogate, T, factor * of_theorem.step, of_theorem.delta, game.radius
            losses[factor] = np.array([bandit.run(*given, one, **about).losses[-1] for one in axes])
        factor = min(losses, key=lambda factor: float(losses[factor].mean()))
        regrets.append((losses[factor] - best) * T)
        own = mean_interval(regrets[-1])
        rows.append(
            {
                "T": T,
                "regret": own,
                "bound": of_theorem.bound,
                "largest_regret": largest[game.order[:T]].sum() - best * T,
                "factor": factor,
                "delta": of_theorem.delta,
                "lead": Interval(own.value - other.value, own.low - other.high, own.high - other.low),
            }
        )
    slope = exponent(rounds, np.array(regrets).T)
    for row in rows:
        yield Bandit(surrogate=game.surrogate, **row, slope=slope)


def _playing_seconds(settings: RegretSettings, cell: Cell) -> float:
    short = sum(T for T in settings.rounds if settings.short_rounds >= T)
    return 1e-6 * (sum(settings.rounds) * settings.seeds + short * settings.short_seeds) / settings.slices


def _joining_seconds(settings: RegretSettings, cell: Cell) -> float:
    rounds = sum(settings.rounds_up_to(settings.bandit_rounds))
    return 1e-6 * len(settings.bandit_factors) * settings.bandit_seeds * rounds


EXPERIMENT = Experiment(
    RegretSettings,
    Step(
        "regret_slice",
        measure,
        rows=(Played,),
        divided={"slice": lambda settings: range(settings.slices)},
        surrogates=tuple(LEARNERS),
        seconds=_playing_seconds,
    ),
    Step(
        "regret",
        join,
        reads=(Played,),
        rows=(Regret, Exponent, Exploration, Bandit),
        surrogates=tuple(LEARNERS),
        seconds=_joining_seconds,
    ),
)
