"""What does a learner lose that cannot tell two adversaries apart?

`topk`, Theorem 5.2: three documents, X = I, and labels drawn from one of two distributions on {0, 1}^3 (Table 1). Both
have E y = (.45, .45, .40), so that no label of a top document tells them apart; but E G(y)/Z(y) is a under the first
and b under the second. The loss ||s - G(y)/Z(y)||^2 of any learner that sees only the top label has, averaged over
the two adversaries, regret of at least

    T min_s ( ||s - a||^2 + ||s - b||^2 ) / 2 = T ||a - b||^2 / 4.

The regret is computed without the noise of the labels' own loss: with c = a or b, and a learner's shown scores s_t,
which do not depend on y_t,

    E [ sum_t ||s_t - g_t||^2 - min_s sum_t ||s - g_t||^2 ] = E sum_t ||s_t - c||^2 + tr Cov(g),   g_t = G(y_t)/Z(y_t).

Three kinds of learner see one label a round: Algorithm 1 with losses of its own; learners of the game's own loss, which
fill in the two labels that they do not see (:data:`ON_THE_GAME`); and one that knows a and b and plays their mean.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import progress, surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.learners import top_k_feedback
from pipeline_lib.ranking import discounts
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import Axis, generator
from pipeline_lib.statistics import fit_exponent, over_folds
from pipeline_lib.surrogates.ndcg_regression import normalised_gains

if TYPE_CHECKING:
    from pipeline_lib.papers.topk.experiments.adversary import AdversarySettings

_LOG = logging.getLogger(__name__)

LABELS: NDArray[np.int64] = np.array(
    [[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]
)
ADVERSARIES: Mapping[str, Floats] = {
    "p": np.array([0.0, 0.1, 0.15, 0.05, 0.2, 0.3, 0.2, 0.0]),
    "p~": np.array([0.0, 0.3, 0.0, 0.0, 0.15, 0.15, 0.4, 0.0]),
}
PUBLISHED_LABELS = (0.45, 0.45, 0.40)
PUBLISHED_GAINS: Mapping[str, tuple[float, ...]] = {"p": (0.3533, 0.3920, 0.3226), "p~": (0.3339, 0.3339, 0.4000)}

SMOOTHING = 0.01
FEEDBACK_LEARNERS = ("squared", "kl", "smooth-dcg")
"""Algorithm 1, which pays about T^(2/3) for exploration and noise in addition to its linear regret."""
STEPS: Mapping[str, float] = {"gradient, T^(-1/2)": -1 / 2, "gradient, T^(-2/3)": -2 / 3}
"""Descent on ||s - G(y)/Z(y)||^2 with the labels that are not seen filled in, and the power of T that is its step."""
ON_THE_GAME = ("leader", "apart", *STEPS)
"""Learners of the game's own loss, which explore at no cost."""
CONSTANT, FULL_INFORMATION = "constant", "all labels"


@dataclass(frozen=True)
class Results:
    """Rows of the two tables."""

    table_1: list[dict[str, Any]]
    game: list[dict[str, Any]]


def run(settings: AdversarySettings, seed: int) -> Results:
    """Recompute Table 1 and play the game."""
    learners = (*FEEDBACK_LEARNERS, *ON_THE_GAME, CONSTANT, FULL_INFORMATION)
    played: dict[str, list[list[float]]] = {learner: [] for learner in learners}
    for number in progress.counted(range(settings.seeds), _LOG, "seeds"):
        found = [_average_regrets(settings, seed, number, T) for T in settings.rounds]
        for learner, regrets in played.items():
            regrets.append([at_T[learner] for at_T in found])
    return Results(
        table_1(), [row for learner in learners for row in _rows(settings, learner, np.array(played[learner]))]
    )


def gains() -> Floats:
    """G(y)/Z(y) of the eight label vectors, shape (8, 3).

    Example
    -------
    >>> gains()[1].round(4).tolist()
    [0.6131, 0.6131, 0.0]
    """
    offsets = np.arange(0, LABELS.size + 1, 3, dtype=np.int64)
    return normalised_gains(LABELS.ravel().astype(np.int32), offsets).reshape(LABELS.shape)


def table_1() -> list[dict[str, Any]]:
    """E y and E G(y)/Z(y) under both adversaries, with the published digits.

    ``reciprocal`` has the discount 1/i in place of 1/log2(i + 1), ``natural`` 1/(1 + ln i), and ``unnormalised`` G(y).
    """
    discounted = {"reciprocal": 1.0 / np.arange(1, 4), "natural": 1.0 / (1.0 + np.log(np.arange(1, 4)))}
    others = {name: LABELS / np.maximum(_ideal(discount), 1e-300)[:, None] for name, discount in discounted.items()}
    others["unnormalised"] = LABELS.astype(np.float64)
    rows = []
    for name, p in ADVERSARIES.items():
        expected = {"E[y]": PUBLISHED_LABELS, "E[G/Z]": PUBLISHED_GAINS[name]}
        for quantity, measured in (("E[y]", p @ LABELS), ("E[G/Z]", p @ gains())):
            for i in range(3):
                published = expected[quantity][i]
                row = {"adversary": name, "quantity": quantity, "document": i + 1, "measured": float(measured[i])}
                wrong = {
                    other: float(measured[i] if quantity == "E[y]" else (p @ shares)[i])
                    for other, shares in others.items()
                }
                rows.append({**row, **wrong, "published": published})
    return rows


def _ideal(discount: Floats) -> Floats:
    # Z(y) of the eight binary label vectors for another discount
    return np.concatenate([[0.0], np.cumsum(discount)])[LABELS.sum(axis=1)]


def linear_limit() -> float:
    """||a - b||^2 / 4: what no learner's averaged regret a round falls below.

    Example
    -------
    >>> round(linear_limit(), 6)
    0.002432
    """
    a, b = (p @ gains() for p in ADVERSARIES.values())
    return float(np.sum((a - b) ** 2) / 4.0)


def _average_regrets(settings: AdversarySettings, seed: int, number: int, T: int) -> dict[str, float]:
    # of every learner in one game against each of the two adversaries
    totals: dict[str, float] = {}
    for adversary, p in ADVERSARIES.items():
        goal = p @ gains()
        noise = float(p @ np.sum((gains() - goal) ** 2, axis=1))
        excess = {CONSTANT: _excess(np.array([_middle()]), goal) * T}
        for learner in (*FEEDBACK_LEARNERS, FULL_INFORMATION):
            axes = (seed, "topk-adversary", learner, adversary, number, T)
            order = generator(*axes).choice(len(p), size=T, p=p)
            excess[learner] = _by_gradients(settings, learner, order, goal, axes)
        order = generator(seed, "topk-adversary", "leader", adversary, number, T).choice(len(p), size=T, p=p)
        excess |= {learner: _excess(scores, goal) for learner, scores in on_the_game(order).items()}
        for learner, value in excess.items():
            totals[learner] = totals.get(learner, 0.0) + (value + noise) / len(ADVERSARIES)
    return totals


def _excess(scores: Floats, goal: Floats) -> float:
    return float(np.sum((scores - goal) ** 2))


def _by_gradients(
    settings: AdversarySettings, learner: str, order: NDArray[np.int64], goal: Floats, axes: tuple[Axis, ...]
) -> float:
    n, T = len(LABELS), len(order)
    data = RankingData.from_arrays(np.tile(np.eye(3), (n, 1)), LABELS.ravel(), np.repeat(np.arange(n), 3))
    judge = np.tile(goal, n)
    if learner == FULL_INFORMATION:
        game = top_k_feedback.with_all_labels(
            data, "squared-ndcg", T, eta=T**-0.5, radius=settings.radius, order=order, judge=judge
        )
    else:
        loss = surrogates.create(learner, **({"sigma": SMOOTHING} if learner == "smooth-dcg" else {}))
        eta, gamma = top_k_feedback.theorem_parameters(T)
        game = top_k_feedback.run(
            *(data, loss, 1, T, eta, gamma, settings.radius, (*axes, "exploration")), order=order, judge=judge
        )
    return float(game.losses[-1] * T)


def on_the_game(order: NDArray[np.int64]) -> dict[str, Floats]:
    """The scores of the learners :data:`ON_THE_GAME`, shape (T, 3), when the label vectors ``order`` come one by one.

    Documents take turns on top: their score is raised to the best one, which decides ties in their favour up to a hair.
    From the means of the labels seen before (1/2 at first), E G(y)/Z(y) is computed as if

    - ``leader``: labels were independent;
    - ``apart``: two documents were relevant together as rarely as the means allow, and each pair equally often;
    - gradients: the two labels that are not seen were independent of the one that is; the steps follow the gradient of
      ||s - G(y)/Z(y)||^2 at this guess.

    Example
    -------
    >>> on_the_game(np.array([1, 1]))["apart"].round(3).tolist()
    [[0.371, 0.371, 0.371], [0.557, 0.557, 0.307]]
    """
    T = len(order)
    top = np.arange(T) % 3
    seen = LABELS[order, top]
    means = _means_before(seen, top)
    guessed = _expected(means)
    played = {"leader": guessed, "apart": _apart(means)}
    known = means.copy()
    known[np.arange(T), top] = seen
    goals = _expected(known)
    played |= {learner: _followed(goals, float(T) ** power) for learner, power in STEPS.items()}
    for scores in played.values():
        scores[np.arange(T), top] = scores.max(axis=1)
    return played


def _means_before(seen: NDArray[np.int64], top: NDArray[np.int64]) -> Floats:
    means = np.empty((len(seen), 3))
    for i in range(3):
        mine = top == i
        before = np.cumsum(mine) - mine
        means[:, i] = (np.cumsum(seen * mine) - seen * mine + 0.5) / (before + 1.0)
    return means


def _expected(means: Floats) -> Floats:
    # E G(y)/Z(y) for independent labels
    expected = np.zeros_like(means)
    for y, gain in zip(LABELS, gains(), strict=True):
        expected += np.prod(np.where(y, means, 1.0 - means), axis=1)[:, None] * gain
    return expected


def _apart(means: Floats) -> Floats:
    # Labels with sum in [1, 2] can have one or two relevant documents only: two with chance sum - 1.
    alone, shared = 1.0, 1.0 / discounts(2).sum()
    overlap = np.clip(means.sum(axis=1) - 1.0, 0.0, 1.0)
    return np.asarray(means - (alone - shared) * 2.0 / 3.0 * overlap[:, None])


def _followed(goals: Floats, step: float) -> Floats:
    # s_1 = 0, s_(t+1) = s_t - step 2 (s_t - goal_t), for all t at once
    from scipy.signal import lfilter

    rate = 2.0 * step
    followed = lfilter([0.0, rate], [1.0, -(1.0 - rate)], goals, axis=0)
    return np.asarray(followed, dtype=np.float64)


def _middle() -> Floats:
    a, b = (p @ gains() for p in ADVERSARIES.values())
    return np.asarray((a + b) / 2.0)


def _rows(settings: AdversarySettings, learner: str, regrets: Floats) -> list[dict[str, Any]]:
    # Without any randomness all seeds agree: then one repetition says all, and the fit's own error is the interval.
    varied = regrets[0] if np.ptp(regrets, axis=0).max() == 0.0 else regrets
    fitted = fit_exponent(np.array(settings.rounds, dtype=np.float64), varied)
    slope = {"slope": fitted.slope, "slope_low": fitted.low, "slope_high": fitted.high}
    rows = []
    for i, T in enumerate(settings.rounds):
        summary = over_folds(regrets[:, i])
        row = {"learner": learner, "T": T, "regret": summary.mean, "low": summary.low, "high": summary.high}
        rows.append({**row, "linear_limit": T * linear_limit(), **slope})
    return rows
