"""What is lost by a learner that sees the labels of k documents on top, judged by NDCG itself?

Label laws come in pairs that any k labels do not tell apart (:mod:`pipeline_lib.theory.partial_labels`). The regret of
a learner that shows the order sigma_t in round t is measured under each law P of a pair, without the noise of labels:

    sum_t V(P) - V(P, sigma_t),    V(P, sigma) = sum_r D(r) a_{sigma(r)}(P),    V(P) = max over orders,

and averaged over the two. Learners explore in a round with probability T^(-1/3): they then show the documents in random
order and use the labels of the first k. Otherwise they show the order that is best by their estimate of a(P).

- ``unbiased``: the mean over the rounds of exploration of an estimate of F_i = (1/m) sum_j F_ij that uses the k labels
  seen. Its expectation is the part of F_i that is a sum of functions of k labels: all of it where NDCG is learnable.
- ``independent``: the relevances under independent labels with the laws of single labels seen so far.

Where k = m nothing has to be explored: ``all labels`` shows the best order for the label vectors of all rounds before,
which it works out anew after 1, 2, 4, ... rounds. Its laws are the same pair, and a pair that differs the less the more
rounds there are, ``near tie``: the mean of the two laws plus or minus c/sqrt(T) times half their difference. No learner
has regret below a multiple of T^(1/2) on all of these.
"""

from __future__ import annotations

import functools
import itertools
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import progress, ranking
from pipeline_lib.arrays import Floats
from pipeline_lib.seeds import generator
from pipeline_lib.statistics import fit_exponent, over_folds
from pipeline_lib.theory import partial_labels

if TYPE_CHECKING:
    from pipeline_lib.papers.topk.experiments.labels import LabelsSettings

_LOG = logging.getLogger(__name__)

PAIR, PRODUCT, NEAR_TIE = "pair", "independent labels", "near tie"
UNBIASED, INDEPENDENT, ALL_LABELS = "unbiased", "independent", "all labels"
NEARNESS = 20.0
"""c of the law pairs that differ by c/sqrt(T): the noise of T rounds then hides which law it is, or nearly so."""


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
        if self.law == PRODUCT:
            return True
        return self.learner != INDEPENDENT and partial_labels.learnable(self.m, self.grades, self.k)


@dataclass
class Games:
    """Rows of the tables of regrets and of exponents."""

    regret: list[dict[str, Any]] = field(default_factory=list)
    exponents: list[dict[str, Any]] = field(default_factory=list)


def laws(settings: LabelsSettings) -> list[dict[str, Any]]:
    """For every length, number of grades and k: the gap of the pairs of laws that k labels do not tell apart.

    ``unseen`` is the part of F_12 that two neighbouring orders do not show, ``exponent`` the power of T of regret that
    follows (:func:`pipeline_lib.theory.partial_labels.regret_exponent`).
    """
    rows = []
    for m, grades in itertools.product(settings.documents, settings.grades):
        if grades**m > settings.vectors:
            continue
        for k in range(1, m + 1):
            pair = partial_labels.hardest_pair(m, grades, k)
            rows.append(
                {
                    "m": m,
                    "grades": grades,
                    "k": k,
                    "learnable": partial_labels.learnable(m, grades, k),
                    "largest_gap": pair.gap,
                    "explicit_gap": partial_labels.law_pair(m, grades, k).gap,
                    "linear_rate": partial_labels.linear_rate(pair.p, pair.q, m, grades),
                    "unseen": partial_labels.unseen_by_neighbours(m, grades, k),
                    "exponent": partial_labels.regret_exponent(m, grades, k),
                }
            )
    return rows


def games(settings: LabelsSettings, seed: int) -> Games:
    """Play every game at every T, and fit the exponents of the regret."""
    found = Games()
    for game in progress.counted(list(_played(settings)), _LOG, "games"):
        pairs = {T: _laws(game, T) for T in settings.rounds}
        regrets = np.array([_regrets(game, pairs[T], T, settings, seed) for T in settings.rounds]).T
        case = {**game._asdict(), "learnable": game.learnable}
        for i, T in enumerate(settings.rounds):
            rate = partial_labels.linear_rate(pairs[T][0], pairs[T][-1], game.m, game.grades)
            summary = over_folds(regrets[:, i])
            measured = {"regret": summary.mean, "low": summary.low, "high": summary.high}
            found.regret.append({**case, "T": T, **measured, "linear_limit": T * rate})
        fitted = fit_exponent(np.array(settings.rounds, np.float64), regrets)
        found.exponents.append({**case, "slope": fitted.slope, "low": fitted.low, "high": fitted.high})
    return found


def _played(settings: LabelsSettings) -> Iterator[Game]:
    for m, grades in itertools.product(settings.played, settings.played_grades):
        for k in range(1, m + 1):
            yield Game(m, grades, k, PAIR, UNBIASED)
        yield Game(m, grades, 1, PAIR, INDEPENDENT)
        yield Game(m, grades, 1, PRODUCT, INDEPENDENT)
        yield Game(m, grades, m, PAIR, ALL_LABELS)
        yield Game(m, grades, m, NEAR_TIE, ALL_LABELS)


def _laws(game: Game, T: int) -> list[Floats]:
    """The laws of a game: a pair that differs much or little, or one law of independent labels."""
    if game.law == PRODUCT:
        # Document i has the grades with odds that favour high grades the more the smaller i is.
        odds = np.exp(np.linspace(0.6, -0.6, game.m)[:, None] * np.arange(game.grades))
        return [_product(odds / odds.sum(axis=1, keepdims=True))]
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


def _product(marginals: Floats) -> Floats:
    """The law of independent labels with these laws, shape (m, grades), on all label vectors."""
    m, grades = marginals.shape
    vectors = partial_labels.label_vectors(m, grades)
    return np.asarray(np.prod(marginals[np.arange(m), vectors], axis=1))


def _regrets(game: Game, pair: list[Floats], T: int, settings: LabelsSettings, seed: int) -> Floats:
    """The regret of every seed, averaged over the laws."""
    if game.learner == ALL_LABELS:
        return np.mean([_of_leader(game, law, T, settings, (seed, side)) for side, law in enumerate(pair)], axis=0)
    return np.array(
        [np.mean([_regret(game, law, T, (seed, number, side)) for side, law in enumerate(pair)])
         for number in range(settings.seeds)]
    )  # fmt: skip


def _regret(game: Game, law: Floats, T: int, axes: tuple[int, int, int]) -> float:
    """The regret of one game of T rounds under one law."""
    values = partial_labels.relevances(game.m, game.grades)
    relevance = law @ values
    best = partial_labels.best_value(relevance)
    seed, number, side = axes
    random = generator(seed, "topk-labels", *game, side, number, T)
    times = _explorations(random, T)
    # The estimate changes after a round of exploration only; until the next one the same order is shown.
    shown = np.diff(np.concatenate([[-1], times, [T]])) - 1
    drawn = random.choice(len(law), size=len(times), p=law)
    orders = random.permuted(np.tile(np.arange(game.m), (len(times), 1)), axis=1)
    estimates = _ESTIMATES[game.learner](game, drawn, orders)
    lost = best - value(np.vstack([np.zeros(game.m), estimates]), relevance)
    exploring = best - relevance.mean() * ranking.discounts(game.m).sum()
    return float(shown @ lost + len(times) * exploring)


def _of_leader(game: Game, law: Floats, T: int, settings: LabelsSettings, axes: tuple[int, int]) -> Floats:
    """The regrets under one law of the leader that sees all labels, for every one of its seeds."""
    seed, side = axes
    random = generator(seed, "topk-labels", *game, side, T)
    values = partial_labels.relevances(game.m, game.grades)
    relevance = law @ values
    best, lost = partial_labels.best_value(relevance), np.zeros(settings.leader_seeds)
    total = np.zeros((settings.leader_seeds, game.m))
    changes = [0, *(2**i for i in range(T.bit_length()) if 2**i < T), T]
    for length in np.diff(changes):
        lost += length * (best - value(total, relevance))
        total += random.multinomial(length, law, size=settings.leader_seeds) @ values
    return lost


def _explorations(random: np.random.Generator, T: int) -> NDArray[np.int64]:
    """The rounds of exploration: each of 0, ..., T - 1 with probability T^(-1/3), by the waits between them."""
    chance = T ** (-1.0 / 3.0)
    times = np.cumsum(random.geometric(chance, size=int(T * chance + 6.0 * (T * chance) ** 0.5) + 1)) - 1
    while times[-1] < T:
        times = np.concatenate([times, times[-1] + np.cumsum(random.geometric(chance, size=100))])
    return np.asarray(times[times < T])


def value(estimates: Floats, relevance: Floats) -> Floats:
    """V(P, sigma) of the orders by each row of estimates, shape (rows,).

    Example
    -------
    >>> value(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.5, 1.0])).round(4).tolist()
    [1.3155, 1.1309]
    """
    return np.asarray(relevance[np.argsort(-estimates, axis=1, kind="stable")] @ ranking.discounts(len(relevance)))


def _unbiased(game: Game, drawn: NDArray[np.int64], orders: NDArray[np.int64]) -> Floats:
    """Running sums of the estimates of F_1, ..., F_m from the k labels seen, shape (explorations, m)."""
    subsets, tables = _tables(game)
    codes = np.sort(orders[:, : game.k], axis=1) @ game.m ** np.arange(game.k)
    known = np.array(subsets) @ game.m ** np.arange(game.k)
    which = np.argsort(known)[np.searchsorted(np.sort(known), codes)]
    return np.asarray(np.cumsum(tables[which, drawn], axis=0))


@functools.cache
def _tables(game: Game) -> tuple[list[tuple[int, ...]], Floats]:
    """All sets of k documents, and the estimates if their labels are seen, shape (sets, label vectors, m)."""
    subsets = list(itertools.combinations(range(game.m), game.k))
    return subsets, np.array([_estimate(game, documents) for documents in subsets])


def _estimate(game: Game, documents: tuple[int, ...]) -> Floats:
    """The estimate for every label vector if the labels of these documents are seen, shape (label vectors, m).

    It is the sum over the components of F_i that depend on these documents alone, each divided by the probability that
    k random documents contain those of the component.
    """
    values = partial_labels.relevances(game.m, game.grades)
    centred = values - values.mean(axis=1, keepdims=True)
    total = np.zeros_like(centred)
    below = np.zeros_like(centred)
    # What at most `size` of these labels determine, less what fewer do, is the part of exactly `size` of them.
    for size in range(game.k + 1):
        up_to = _seen(centred, game, documents, size)
        chance = np.prod([(game.k - i) / (game.m - i) for i in range(size)])
        total += (up_to - below) / chance
        below = up_to
    return total


def _seen(values: Floats, game: Game, documents: tuple[int, ...], size: int) -> Floats:
    """The components of functions that depend on at most ``size`` labels, all of these documents."""
    terms = values.reshape(*(game.grades,) * game.m, -1)
    others = tuple(document for document in range(game.m) if document not in documents)
    mean = np.broadcast_to(terms.mean(axis=others, keepdims=True), terms.shape).reshape(values.shape)
    if size == 0:
        return np.broadcast_to(mean.mean(axis=0), values.shape).copy()
    return partial_labels.split(mean, game.m, game.grades, size)[0]


def _independent(game: Game, drawn: NDArray[np.int64], orders: NDArray[np.int64]) -> Floats:
    """The relevances under independent labels, whose laws are those of the labels seen, shape (explorations, m)."""
    labels = partial_labels.label_vectors(game.m, game.grades)
    top = orders[:, 0]
    grade = labels[drawn, top]
    seen = (top[:, None, None] == np.arange(game.m)[:, None]) & (grade[:, None, None] == np.arange(game.grades))
    counts = np.cumsum(seen, axis=0) + 1.0 / game.grades
    marginals = counts / counts.sum(axis=2, keepdims=True)
    values = partial_labels.relevances(game.m, game.grades)
    estimates = np.zeros((len(drawn), game.m))
    for vector, gains in zip(labels, values, strict=True):
        chance = np.prod(marginals[:, np.arange(game.m), vector], axis=1)
        estimates += chance[:, None] * gains
    return estimates


_ESTIMATES = {UNBIASED: _unbiased, INDEPENDENT: _independent}
