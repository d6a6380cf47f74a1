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

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from pipeline_lib import surrogates
from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Positive, Rising, Settings, Several, at_least, no_fewer_than
from pipeline_lib.data.rows import Field, FromOne, FromZero, Interval, OnlyInterval, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.learners import top_k_feedback
from pipeline_lib.papers.topk import games
from pipeline_lib.ranking import discounts
from pipeline_lib.surrogates.pointwise import normalised_gains

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


class AdversarySettings(Settings):
    """Theorem 5.2 and Table 1: two adversaries that the labels of the top documents cannot distinguish."""

    rounds: Annotated[Rising, at_least(100), no_fewer_than(3, "for an exponent")] = Field(
        (10000, 30000, 100000, 300000, 1000000), description="values of T from which exponents are fitted"
    )
    seeds: Several = Field(3, description="games for every learner, adversary and T")
    radius: Positive = Field(3.0, description="U, the radius of the learners that have one")


class Expectation(Row, table="tables/topk-table1", key=("adversary", "quantity", "document")):
    """One number of Table 1, as measured, under other definitions of NDCG, and as published."""

    adversary: str = Field(description="distribution of the labels: p or p~")
    quantity: str = Field(description="E[y], the expected label, or E[G/Z], the expected share of the ideal DCG")
    document: FromOne = Field(description="the document, from 1")
    measured: FromZero = Field(description="expectation with the discount 1/log2(i + 1)")
    reciprocal: FromZero = Field(description="the same with the discount 1/i")
    natural: FromZero = Field(description="the same with the discount 1/(1 + ln i)")
    unnormalised: FromZero = Field(description="E[G], without division by the ideal DCG")
    published: FromZero = Field(description="number printed in Table 1, rounded to four digits")


class Regret(
    Row, table="tables/topk-adversary", key=("learner", "T"), always=("slope = MIN(slope) OVER (PARTITION BY learner)",)
):
    """The regret of one learner after T rounds, averaged over the two adversaries."""

    learner: str = Field(description="who plays")
    T: FromOne = Field(description="rounds of the game")
    regret: OnlyInterval = Field(description="mean regret over games, with its 95 % interval")
    linear_limit: FromZero = Field(description="T ||a - b||^2 / 4, which no learner falls below that sees one label")
    slope: Interval = Field(description="power of T with which the regret grows, fitted to all T, with a 95 % interval")


def measure(job: Job) -> Iterator[Expectation | Regret]:
    """Recompute Table 1 and play the game."""
    settings: AdversarySettings = job.settings
    yield from table_1()
    seeds = progress.counted(range(settings.seeds), "seeds")
    played = [[_average_regrets(settings, job.seed, number, T) for T in settings.rounds] for number in seeds]
    for learner in (*FEEDBACK_LEARNERS, *ON_THE_GAME, CONSTANT, FULL_INFORMATION):
        regrets = np.array([[at_T[learner] for at_T in game] for game in played])
        for row in games.grown(settings.rounds, regrets, linear_limit()):
            yield Regret(learner=learner, **row)


def gains() -> Floats:
    """G(y)/Z(y) of the eight label vectors, shape (8, 3).

    Example
    -------
    >>> gains()[1].round(4).tolist()
    [0.6131, 0.6131, 0.0]
    """
    offsets = np.arange(0, LABELS.size + 1, 3, dtype=np.int64)
    return normalised_gains(LABELS.ravel().astype(np.int32), offsets).reshape(LABELS.shape)


def table_1() -> Iterator[Expectation]:
    """E y and E G(y)/Z(y) under both adversaries, with the published digits."""
    discounted = {"reciprocal": 1.0 / np.arange(1, 4), "natural": 1.0 / (1.0 + np.log(np.arange(1, 4)))}
    # Z(y) of binary label vectors is the sum of the first discounts.
    ideal = {name: np.concatenate([[0.0], np.cumsum(each)])[LABELS.sum(axis=1)] for name, each in discounted.items()}
    shares = {"measured": gains()}
    shares |= {name: LABELS / np.maximum(each, 1e-300)[:, None] for name, each in ideal.items()}
    shares["unnormalised"] = LABELS.astype(np.float64)
    for name, p in ADVERSARIES.items():
        expected = {
            "E[y]": (dict.fromkeys(shares, p @ LABELS), PUBLISHED_LABELS),
            "E[G/Z]": ({kind: p @ each for kind, each in shares.items()}, PUBLISHED_GAINS[name]),
        }
        for quantity, (found, published) in expected.items():
            for i in range(3):
                numbers = {kind: float(each[i]) for kind, each in found.items()}
                yield Expectation(adversary=name, quantity=quantity, document=i + 1, **numbers, published=published[i])


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
    totals: dict[str, float] = defaultdict(float)
    data = games.on_identity(LABELS)
    a, b = (p @ gains() for p in ADVERSARIES.values())
    for adversary, p in ADVERSARIES.items():
        goal = p @ gains()
        noise = float(p @ np.sum((gains() - goal) ** 2, axis=1))
        excess = {CONSTANT: _excess((a + b) / 2.0, goal) * T}
        for learner in (*FEEDBACK_LEARNERS, FULL_INFORMATION):
            axes = (seed, "topk-adversary", learner, adversary, number, T)
            order, judge = generator(*axes).choice(len(p), size=T, p=p), np.tile(goal, len(LABELS))
            about: dict[str, Any] = {"radius": settings.radius, "order": order, "judge": judge}
            if learner == FULL_INFORMATION:
                game = top_k_feedback.with_all_labels(data, "squared-ndcg", T, T**-0.5, **about)
            else:
                loss = surrogates.create(learner, **({"sigma": SMOOTHING} if learner == "smooth-dcg" else {}))
                eta, gamma = top_k_feedback.theorem_parameters(T)
                game = top_k_feedback.run(data, loss, 1, T, eta, gamma, seed=(*axes, "exploration"), **about)
            excess[learner] = float(game.losses[-1] * T)
        order = generator(seed, "topk-adversary", "leader", adversary, number, T).choice(len(p), size=T, p=p)
        excess |= {learner: _excess(scores, goal) for learner, scores in on_the_game(order).items()}
        for learner, value in excess.items():
            totals[learner] += (value + noise) / len(ADVERSARIES)
    return totals


def _excess(scores: Floats, goal: Floats) -> float:
    return float(np.sum((scores - goal) ** 2))


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
    means = np.empty((T, 3))
    for i, mine in enumerate(top == np.arange(3)[:, None]):
        means[:, i] = (np.cumsum(seen * mine) - seen * mine + 0.5) / (np.cumsum(mine) - mine + 1.0)
    known = means.copy()
    known[np.arange(T), top] = seen
    goals = _expected(known)
    played = {"leader": _expected(means), "apart": apart(means)}
    played |= {learner: followed(goals, float(T) ** power) for learner, power in STEPS.items()}
    for scores in played.values():
        scores[np.arange(T), top] = scores.max(axis=1)
    return played


def _expected(means: Floats) -> Floats:
    # E G/Z of independent labels: the sum over all label vectors, each with its probability.
    expected, chances = np.zeros_like(means), (1.0 - means, means)
    for (x, y, z), gain in zip(LABELS, gains(), strict=True):
        expected += (chances[x][:, 0] * chances[y][:, 1] * chances[z][:, 2])[:, None] * gain
    return expected


def apart(means: Floats) -> Floats:
    """E G(y)/Z(y) for labels with these means of which two are 1 together as rarely as possible."""
    # Labels with sum in [1, 2] can have one or two relevant documents only: two with chance sum - 1.
    alone, shared = 1.0, 1.0 / discounts(2).sum()
    overlap = np.clip(means.sum(axis=1) - 1.0, 0.0, 1.0)
    return np.asarray(means - (alone - shared) * 2.0 / 3.0 * overlap[:, None])


def followed(goals: Floats, step: float) -> Floats:
    """s_1 = 0, s_(t+1) = s_t - step 2 (s_t - goal_t), for all t at once."""
    rate = 2.0 * step
    return np.asarray(lfilter([0.0, rate], [1.0, -(1.0 - rate)], goals, axis=0), dtype=np.float64)


EXPERIMENT = Experiment(
    AdversarySettings,
    Step(
        "adversary",
        measure,
        rows=(Expectation, Regret),
        surrogates=("squared", "kl", "smooth-dcg", "squared-ndcg"),
        cost=Cost(2.0, start_mb=500.0),
        seconds=lambda settings, cell: 4e-6 * sum(settings.rounds) * settings.seeds,
        # the scores of several learners in every round of the longest game
        megabytes=lambda settings: 4e-4 * settings.rounds[-1],
    ),
)
