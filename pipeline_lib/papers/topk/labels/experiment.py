"""What is lost by a learner that sees the labels of k documents on top, judged by NDCG itself?

Label laws come in pairs that any k labels do not tell apart (:mod:`pipeline_lib.theory.partial_labels`). The regret of
a learner that shows the order sigma_t in round t is measured under each law P of a pair, without the noise of labels:

    sum_t V(P) - V(P, sigma_t),    V(P, sigma) = sum_r D(r) a_{sigma(r)}(P),    V(P) = max over orders,

and averaged over the two. Learners explore in a round with probability T^(-1/3): they then show the documents in random
order and use the labels of the first k. Otherwise they show the order that is best by their estimate of a(P). That of
``unbiased`` is the mean over the rounds of exploration of an estimate of F_i = (1/m) sum_j F_ij that uses the k labels
seen. Its expectation is the part of F_i that is a sum of functions of k labels: all of it where NDCG is learnable.

Where k = m nothing has to be explored: ``all labels`` shows the best order for the label vectors of all rounds before,
which it works out anew after 1, 2, 4, ... rounds. Its laws are the same pair, and a pair that differs the less the more
rounds there are, ``near tie``: the mean of the two laws plus or minus c/sqrt(T) times half their difference. No learner
has regret below a multiple of T^(1/2) on all of these.

The question with which section 5 of the paper ends is about the regret in a surrogate that is calibrated for NDCG, not
in NDCG. Two squared losses show that it has no single answer: ||s - G(y)/Z(y)||^2, whose minimiser is the vector a(P),
and the same against G(y)/Z(y) less its mean over the list, whose minimiser has the same order under every law. With
all binary labels but one the first cannot be estimated and the second can. P and Q are uniform on the label vectors
with an even and with an odd number of relevant documents, which m - 1 labels do not tell apart. A learner plays the
mean of its unbiased estimates, which minimises the estimated loss. Its regret under P is sum_t ||s_t - a(P)||^2,
without the noise of labels, with random scores from [0, 1]^m in rounds of exploration. Averaged over the two laws, no
learner that sees m - 1 labels has less than T ||a(P) - a(Q)||^2 / 4 in the first loss.
"""

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, permutations, product
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray
from scipy.stats import binom

from pipeline_lib import metrics, ranking
from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Rising, Settings, Several, Sizes, Whole, at_least, no_fewer_than
from pipeline_lib.data.rows import Field, FromOne, FromZero, Interval, OnlyInterval, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.papers.topk.games import exponent, grown, value
from pipeline_lib.statistics import mean_interval
from pipeline_lib.theory import partial_labels

PAIR, NEAR_TIE = "pair", "near tie"
UNBIASED, ALL_LABELS = "unbiased", "all labels"
MOST_ORDERS = 720
"""Measures are enumerated over no more orders than these, those of six documents."""
NEARNESS = 20.0
"""c of the law pairs that differ by c/sqrt(T): the noise of T rounds then hides which law it is, or nearly so."""
RELEVANCE, CENTRED = "G/Z", "G/Z less its mean"


def auc(scores: Floats, y: NDArray[np.int64], offsets: NDArray[np.int64]) -> Floats:
    """The share of a list's pairs of a relevant and an irrelevant document that are in the right order; 0 without any.

    The lists have one length, and their documents are in the order of falling scores.

    Example
    -------
    >>> auc(np.array([3.0, 2.0, 1.0]), np.array([1, 0, 1]), np.array([0, 3])).tolist()
    [0.5]
    """
    labels = y.reshape(len(offsets) - 1, -1)
    below = np.cumsum(1 - labels[:, ::-1], axis=1)[:, ::-1]
    pairs = labels.sum(axis=1) * (1 - labels).sum(axis=1)
    right = (labels * below).sum(axis=1).astype(np.float64)
    return np.divide(right, pairs, out=np.zeros(len(labels)), where=pairs > 0)


MEASURES: Mapping[str, Callable[..., Floats]] = {
    "NDCG": metrics.ndcg,
    "NDCG@1": functools.partial(metrics.ndcg, k=1),
    "NDCG@2": functools.partial(metrics.ndcg, k=2),
    "AP": metrics.average_precision,
    "ERR": functools.partial(metrics.expected_reciprocal_rank, y_max=1),
    "AUC": auc,
}
"""Measures of binary labels, of which is asked what k labels tell about the order that is best by them."""


class LabelsSettings(Settings):
    """Section 5, open question: what more than one label on top is worth for NDCG."""

    documents: Sizes = Field((2, 3, 4, 5, 6, 7), description="lengths of the lists for which label laws are computed")
    grades: Sizes = Field((2, 3, 4, 5), description="numbers of grades for which label laws are computed")
    vectors: Annotated[Whole, Ge(4), Le(1000)] = Field(256, description="most label vectors whose laws are computed")
    played: Annotated[Rising, at_least(3)] = Field((3, 4), description="lengths of lists with which games are played")
    played_grades: Sizes = Field((2, 3), description="numbers of grades with which games are played")
    rounds: Annotated[Rising, at_least(100), no_fewer_than(3, "for an exponent")] = Field(
        (10000, 30000, 100000, 300000, 1000000), description="values of T from which exponents are fitted"
    )
    seeds: Several = Field(20, description="games for every learner, law and T")
    leader_seeds: Several = Field(400, description="games of the leader that sees all labels, for every law and T")
    estimated: Sizes = Field((2, 3, 4), description="lengths of lists on which the two squared losses are estimated")
    explored: Annotated[Rising, at_least(3)] = Field(
        (3, 4, 5), description="lengths of the lists on which exploring first is played against near ties"
    )
    explored_rounds: Annotated[Rising, at_least(1000)] = Field(
        (1000, 100000, 10000000), description="values of T for which it is"
    )


class Seen(Row, always=("k <= m",)):
    """Lists whose labels are seen in part."""

    m: FromOne = Field(description="documents of the list")
    grades: FromOne = Field(description="grades, 0, 1, ...")
    k: FromOne = Field(description="labels that are seen")


class Law(Seen, table="tables/topk-label-laws", key=("m", "grades", "k"), always=("0.5 <= exponent <= 1",)):
    """What k labels of m documents determine of the best order by NDCG."""

    learnable: bool = Field(description="whether some learner can have regret o(T) under all laws of labels")
    largest_gap: FromZero = Field(
        description="largest lead in expected relevance of document 1 over 2 under one law, and of 2 over 1 under "
        "another, that k labels do not tell apart; by linear programming, 0 if there are none"
    )
    explicit_gap: FromZero = Field(description="the same lead under the laws of an explicit construction")
    linear_rate: FromZero = Field(description="regret per round under the pair of laws that no learner falls below")
    unseen: FromZero = Field(
        description="largest part of F_12 that orders with 1 and 2 at neighbouring ranks do not show"
    )
    exponent: float = Field(description="power of T of the least regret under all laws, by theory: 1, 2/3 or 1/2")


class Target(Seen, table="tables/topk-label-targets", key=("m", "grades", "k", "target")):
    """What k labels of m documents determine of the mean of a function of all labels."""

    target: str = Field(description="G/Z, G/Z less its mean, or a measure: its differences between any two orders")
    unseen: FromZero = Field(description="largest part of it that is no sum of functions of k labels each")


class Squared(
    Seen,
    table="tables/topk-label-squared",
    key=("m", "grades", "k", "target", "T"),
    always=("slope = MIN(slope) OVER (PARTITION BY m, grades, k, target)",),
):
    """The regret in a squared loss of a learner that sees all binary labels but one, averaged over two laws."""

    target: str = Field(description="what scores are compared with: G/Z, or G/Z less its mean")
    T: FromOne = Field(description="rounds of the game")
    regret: OnlyInterval = Field(description="mean regret over games, with its 95 % interval")
    learned: Interval = Field(description="the same of the scores that were learned, in rounds of exploration as well")
    linear_limit: FromZero = Field(
        description="regret against G/Z that no learner falls below, T ||a(P) - a(Q)||^2 / 4"
    )
    slope: Interval = Field(description="power of T with which the regret grows, fitted to all T, with a 95 % interval")


class OfGame(Seen, always=("learnable = MIN(learnable) OVER (PARTITION BY m, grades, k, law, learner)",)):
    """What is measured of one learner under one kind of laws."""

    law: str = Field(description="laws of labels: pair, or near tie")
    learner: str = Field(description="who plays: unbiased, or all labels")
    learnable: bool = Field(description="whether this learner can have regret o(T) under these laws")


class Regret(OfGame, table="tables/topk-label-regret", key=("m", "grades", "k", "law", "learner", "T")):
    """The regret in NDCG of one learner after T rounds, averaged over the laws of a pair."""

    T: FromOne = Field(description="rounds of the game")
    regret: OnlyInterval = Field(description="mean regret over games, with its 95 % interval")
    linear_limit: FromZero = Field(description="regret that no learner falls below which cannot tell the laws apart")


class Growth(OfGame, table="tables/topk-label-exponents", key=("m", "grades", "k", "law", "learner")):
    """How the regret in NDCG of one learner grows."""

    slope: OnlyInterval = Field(description="power of T with which regret grows, fitted to all T; 95 % interval")


class Explored(Row, table="tables/topk-label-explored", key=("m", "T"), always=("explorations <= T",)):
    """The least regret of learners that explore first and then commit, if all binary labels but one are seen."""

    m: FromOne = Field(description="documents of the list")
    T: FromOne = Field(description="rounds of the game")
    distance: FromZero = Field(description="distance of the two laws, of order T^(-1/3)")
    explorations: FromOne = Field(
        description="rounds of exploration with which the regret is least, of some 400 numbers"
    )
    regret: FromZero = Field(description="that regret, averaged over the two laws, exactly")
    lower_bound: FromZero = Field(description="regret that no learner falls below, of order T^(2/3)")


class Game(NamedTuple):
    """One way to play: lists of m documents with labels of some grades, of which k are seen, and who plays on what."""

    m: int
    grades: int
    k: int
    law: str
    learner: str

    @property
    def learnable(self) -> bool:
        """Whether the learner can have regret o(T) on the laws."""
        return partial_labels.learnable(self.m, self.grades, self.k)


def measure(job: Job) -> Iterator[Row]:
    """The rows of all tables."""
    yield from laws(job.settings)
    yield from targets(job.settings)
    yield from squared(job.settings, job.seed)
    yield from games(job.settings, job.seed)
    yield from explored(job.settings)


def explored(settings: LabelsSettings) -> Iterator[Explored]:
    """Explore for N rounds, then show the order that document 3 speaks for, with the best of some 400 N."""
    for m, T in product(settings.explored, settings.explored_rounds):
        near, discounts = partial_labels.near_ties(m, T), ranking.discounts(m)
        best = partial_labels.best_value(near.relevances)
        averaged = near.relevances.copy()
        averaged[:2] = averaged[:2].mean()
        informative = [order for order in permutations(range(m)) if order[-1] != 2]
        exploring = best - max(float(averaged[list(order)] @ discounts) for order in informative)
        wrong = best - partial_labels.best_value(averaged)
        rounds = np.unique(np.geomspace(1, T, 400).astype(np.int64)) // 2 * 2 + 1
        # Document 3 agrees with document 2 with probability 1/2 + eps under one law, 1/2 - eps under the other.
        mistaken = binom.cdf(rounds // 2, rounds, 0.5 + near.distance)
        regrets = rounds * exploring + (T - rounds) * 2.0 * wrong * mistaken
        least = int(np.argmin(regrets))
        yield Explored(
            m=m,
            T=T,
            distance=near.distance,
            explorations=int(rounds[least]),
            regret=float(regrets[least]),
            lower_bound=near.regret,
        )


def laws(settings: LabelsSettings) -> Iterator[Law]:
    """For every length, number of grades and k: the gap of the pairs of laws that k labels do not tell apart."""
    for m, grades in _lists(settings):
        for k in range(1, m + 1):
            pair = partial_labels.hardest_pair(m, grades, k)
            yield Law(
                m=m,
                grades=grades,
                k=k,
                learnable=partial_labels.learnable(m, grades, k),
                largest_gap=pair.gap,
                explicit_gap=partial_labels.law_pair(m, grades, k).gap,
                linear_rate=partial_labels.linear_rate(pair.p, pair.q, m, grades),
                unseen=partial_labels.unseen_by_neighbours(m, grades, k),
                exponent=partial_labels.regret_exponent(m, grades, k),
            )


def _lists(settings: LabelsSettings) -> list[tuple[int, int]]:
    """The lengths and numbers of grades with few enough label vectors."""
    return [(m, grades) for m, grades in product(settings.documents, settings.grades) if grades**m <= settings.vectors]


def targets(settings: LabelsSettings) -> Iterator[Target]:
    """For every length, number of grades and k: what k labels miss of relevances, and of measures of binary labels."""
    for m, grades in _lists(settings):
        relevances = partial_labels.relevances(m, grades)
        values = {RELEVANCE: relevances, CENTRED: relevances - relevances.mean(axis=1, keepdims=True)}
        if grades == 2 and math.factorial(m) <= MOST_ORDERS:
            values |= {name: differences(measure, m) for name, measure in MEASURES.items()}
        for (target, functions), k in product(values.items(), range(1, m + 1)):
            unseen = float(np.abs(partial_labels.split(functions, m, grades, k)[1]).max())
            yield Target(m=m, grades=grades, k=k, target=target, unseen=unseen)


def differences(measure: Callable[..., Floats], m: int) -> Floats:
    """A measure of every order less that of the first one, for every vector of binary labels, shape (2^m, m!)."""
    vectors, orders = partial_labels.label_vectors(m, 2), np.array(list(permutations(range(m))))
    shown = vectors[:, orders]
    falling = np.tile(np.arange(m, 0.0, -1.0), shown.shape[0] * shown.shape[1])
    values = measure(falling, shown.ravel(), np.arange(0, shown.size + 1, m)).reshape(shown.shape[:2])
    return values - values[:, :1]


def squared(settings: LabelsSettings, seed: int) -> Iterator[Squared]:
    """Estimate both squared losses from all binary labels but one, at every T, and fit the exponents of the regret."""
    for m, target in product(settings.estimated, (RELEVANCE, CENTRED)):
        game, even = Game(m, 2, m - 1, PAIR, target), partial_labels.label_vectors(m, 2).sum(axis=1) % 2 == 0
        pair, relevances = (even / even.sum(), ~even / (~even).sum()), partial_labels.relevances(m, 2)
        limit = float(np.sum(((pair[0] - pair[1]) @ relevances) ** 2)) / 4.0
        found = _averaged(functools.partial(squared_regret, game), pair, settings.seeds, settings.rounds, seed)
        rows = grown(settings.rounds, found[:, :, 0], limit)
        for row, learned in zip(rows, found[:, :, 1].T, strict=True):
            yield Squared(m=m, grades=2, k=m - 1, target=target, learned=mean_interval(learned), **row)


def _averaged(
    played: Callable[..., Any], pair: Iterable[Floats], seeds: int, rounds: Sequence[int], seed: int
) -> Floats:
    """What is measured of a game of T rounds for every seed and T, averaged over the laws of a pair."""
    sides = list(enumerate(pair))
    found = [
        [np.mean([played(law, T, (seed, number, side)) for side, law in sides], axis=0) for T in rounds]
        for number in range(seeds)
    ]
    return np.array(found)


def squared_regret(game: Game, law: Floats, T: int, axes: tuple[int, int, int]) -> tuple[float, float]:
    """The regret in the squared loss of one game of T rounds under one law, and that of the learned scores alone.

    Scores are 0 before the first estimate.
    """
    mean = law @ wanted(game)
    shown, estimates = _explored(game, law, T, axes)
    scores = np.vstack([np.zeros(game.m), estimates / np.arange(1, len(estimates) + 1)[:, None]])
    excess = np.sum((scores - mean) ** 2, axis=1)
    exploring = float(np.sum(1.0 / 12.0 + (0.5 - mean) ** 2))
    return float(shown @ excess) + len(estimates) * exploring, float(shown @ excess + excess[:-1].sum())


def games(settings: LabelsSettings, seed: int) -> Iterator[Regret | Growth]:
    """Play every game at every T, and fit the exponents of the regret."""
    for game in progress.counted(list(_played(settings)), "games"):
        regrets, case = [], {**game._asdict(), "learnable": game.learnable}
        for T in settings.rounds:
            pair = laws_of(game, T)
            regrets.append(_regrets(game, pair, T, settings, seed))
            rate = partial_labels.linear_rate(pair[0], pair[-1], game.m, game.grades)
            yield Regret(**case, T=T, regret=mean_interval(regrets[-1]), linear_limit=T * rate)
        yield Growth(**case, slope=exponent(settings.rounds, np.array(regrets).T))


def _played(settings: LabelsSettings) -> Iterator[Game]:
    for m, grades in product(settings.played, settings.played_grades):
        for k in range(1, m + 1):
            yield Game(m, grades, k, PAIR, UNBIASED)
        yield Game(m, grades, m, PAIR, ALL_LABELS)
        yield Game(m, grades, m, NEAR_TIE, ALL_LABELS)


def laws_of(game: Game, T: int) -> list[Floats]:
    """The laws of a game on all label vectors: a pair that differs much or little."""
    p, q = hardest(game.m, game.grades)
    if game.law == PAIR:
        return [p, q]
    middle, half = (p + q) / 2.0, min(1.0, NEARNESS / T**0.5) * (p - q) / 2.0
    return [middle + half, middle - half]


@functools.cache
def hardest(m: int, grades: int) -> tuple[Floats, Floats]:
    """The pair of laws with the largest gap for the largest k at which there is one; m >= 3, or three grades."""
    most = max(k for k in range(1, m) if not partial_labels.learnable(m, grades, k))
    pair = partial_labels.hardest_pair(m, grades, most)
    return pair.p, pair.q


def _regrets(game: Game, pair: list[Floats], T: int, settings: LabelsSettings, seed: int) -> Floats:
    """The regret of every seed, averaged over the laws."""
    sides = list(enumerate(pair))
    if game.learner == ALL_LABELS:
        return np.mean([of_leader(game, law, T, settings.leader_seeds, (seed, side)) for side, law in sides], axis=0)
    return _averaged(functools.partial(regret, game), pair, settings.seeds, [T], seed)[:, 0]


def regret(game: Game, law: Floats, T: int, axes: tuple[int, int, int]) -> float:
    """The regret of one game of T rounds under one law."""
    relevance = law @ partial_labels.relevances(game.m, game.grades)
    best = partial_labels.best_value(relevance)
    shown, estimates = _explored(game, law, T, axes)
    lost = best - value(np.vstack([np.zeros(game.m), estimates]), relevance)
    exploring = best - relevance.mean() * ranking.discounts(game.m).sum()
    return float(shown @ lost + len(estimates) * exploring)


def _explored(game: Game, law: Floats, T: int, axes: tuple[int, int, int]) -> tuple[NDArray[np.int64], Floats]:
    """How many rounds exploit each estimate, from none on, and the estimates after every round of exploration."""
    seed, number, side = axes
    random = generator(seed, "topk-labels", *game, side, number, T)
    times = explorations(random, T)
    # The estimate changes after a round of exploration only; until the next one the same order is shown.
    shown = np.diff(np.concatenate([[-1], times, [T]])) - 1
    drawn = random.choice(len(law), size=len(times), p=law)
    orders = random.permuted(np.tile(np.arange(game.m), (len(times), 1)), axis=1)
    return shown, _unbiased(game, drawn, orders)


def of_leader(game: Game, law: Floats, T: int, seeds: int, axes: tuple[int, int]) -> Floats:
    """The regrets under one law of the leader that sees all labels, for every one of its seeds."""
    seed, side = axes
    random = generator(seed, "topk-labels", *game, side, T)
    values = partial_labels.relevances(game.m, game.grades)
    relevance = law @ values
    best, lost = partial_labels.best_value(relevance), np.zeros(seeds)
    total = np.zeros((seeds, game.m))
    changes = [0, *(2**i for i in range(T.bit_length()) if 2**i < T), T]
    for length in np.diff(changes):
        lost += length * (best - value(total, relevance))
        total += random.multinomial(length, law, size=seeds) @ values
    return lost


def explorations(random: np.random.Generator, T: int) -> NDArray[np.int64]:
    """The rounds of exploration: each of 0, ..., T - 1 with probability T^(-1/3), by the waits between them."""
    chance = T ** (-1.0 / 3.0)
    times = np.cumsum(random.geometric(chance, size=int(T * chance + 6.0 * (T * chance) ** 0.5) + 1)) - 1
    while times[-1] < T:
        times = np.concatenate([times, times[-1] + np.cumsum(random.geometric(chance, size=100))])
    return np.asarray(times[times < T])


def _unbiased(game: Game, drawn: NDArray[np.int64], orders: NDArray[np.int64]) -> Floats:
    """Running sums of the estimates of F_1, ..., F_m from the k labels seen, shape (explorations, m)."""
    subsets = list(combinations(range(game.m), game.k))
    codes, known = (np.sort(sets, axis=1) @ game.m ** np.arange(game.k) for sets in (orders[:, : game.k], subsets))
    which = np.argsort(known, kind="stable")[np.searchsorted(np.sort(known), codes)]
    return np.asarray(np.cumsum(_tables(game)[which, drawn], axis=0))


@functools.cache
def _tables(game: Game) -> Floats:
    """The estimates for all sets of k documents whose labels are seen, shape (sets, label vectors, m)."""
    return np.array([estimate(game, documents) for documents in combinations(range(game.m), game.k)])


def estimate(game: Game, documents: tuple[int, ...]) -> Floats:
    """The estimate for every label vector if the labels of these documents are seen, shape (label vectors, m).

    It is the sum over the components of the functions :func:`wanted` that depend on these documents alone, each divided
    by the probability that k random documents contain those of the component.
    """
    functions = wanted(game)
    total, below = np.zeros_like(functions), np.zeros_like(functions)
    # What at most `size` of these labels determine, less what fewer do, is the part of exactly `size` of them.
    for size in range(game.k + 1):
        up_to = _seen(functions, game, documents, size)
        chance = np.prod([(game.k - i) / (game.m - i) for i in range(size)])
        total += (up_to - below) / chance
        below = up_to
    return total


def wanted(game: Game) -> Floats:
    """What a learner estimates for every label vector: G/Z, or F_i = G_i/Z less its mean, shape (label vectors, m)."""
    values = partial_labels.relevances(game.m, game.grades)
    return values if game.learner == RELEVANCE else values - values.mean(axis=1, keepdims=True)


def _seen(values: Floats, game: Game, documents: tuple[int, ...], size: int) -> Floats:
    """The components of functions that depend on at most ``size`` labels, all of these documents."""
    terms = values.reshape(*(game.grades,) * game.m, -1)
    others = tuple(document for document in range(game.m) if document not in documents)
    mean = np.broadcast_to(terms.mean(axis=others, keepdims=True), terms.shape).reshape(values.shape)
    if size == 0:
        return np.broadcast_to(mean.mean(axis=0), values.shape).copy()
    return partial_labels.split(mean, game.m, game.grades, size)[0]


EXPERIMENT = Experiment(
    LabelsSettings,
    Step(
        "labels",
        measure,
        rows=(Law, Target, Squared, Regret, Growth, Explored),
        cost=Cost(2.0, start_mb=500.0),
        seconds=lambda settings, cell: 2.0 + 2e-5 * sum(T ** (2 / 3) for T in settings.rounds) * settings.seeds,
    ),
)
