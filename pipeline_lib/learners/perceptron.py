"""How does SLAM's perceptron learn a linear ranker, and what is the loss of every round?

`slam`, Algorithm 1: w_1 = 0; on round t the documents of a query are ranked by X_t w_t; if the ranking loss
1 - NDCG, 1 - AP or 1 - NDCG@k is not 0,

    w_(t+1) = w_t - eta z_t,   z_t = X_t' sum_i v_i (e_k(i) - e_i)   (14),

over the documents i with an active hinge, 1 + s_k(i) - s_i > 0, where k(i) is the best-scored document with a smaller
label. The paper states that eta does not matter (Section 5). It does, because the margin of 1 fixes the scale of w
(erratum A); with only misordered documents active, s_k(i) >= s_i, it does not, up to rounding, and Theorem 5
then holds for every step size and without its factors m and v_max (see :func:`norm_factor`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import MAX_LABEL, Seed, checked
from pipeline_lib.core.compiled import njit
from pipeline_lib.core.cost import Size
from pipeline_lib.core.settings import Positive, Truth, Whole
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import completed, rounds, selection
from pipeline_lib.learners.learner import IMPORTS, Features, Learner, RankingMeasure, Selecting, seen_by
from pipeline_lib.learners.models import AveragedResult
from pipeline_lib.learners.ranker import Trained, names_of
from pipeline_lib.ranking import GAINS, best_below, discounts_of_longest, ideal_dcg, longest, order_by_score
from pipeline_lib.surrogates import slam

Active = Literal["margin", "misordered"]


@dataclass(frozen=True, eq=False)
class Run(AveragedResult):
    """The course of :func:`run`.

    Attributes
    ----------
    w : float64, shape (d,)
        After the last round, w_(T+1).
    average : float64, shape (d,)
        (w_1 + ... + w_T) / T: the averaged perceptron.
    eta : float
        The step.
    losses : float64, shape (T,)
        The ranking loss of every round, in 0..1; 0 where the measure is undefined.
    mistakes : bool, shape (T,)
        Rounds whose ranking loss is not 0.
    surrogate_losses : float64, shape (T,)
        f_t(w_t), (13): SLAM's loss on rounds with a mistake, else 0.
    squared_norms : float64, shape (T,)
        ||z_t||_2^2, the left side of (16).
    """

    eta: float
    mistakes: NDArray[np.bool_]
    surrogate_losses: Floats
    squared_norms: Floats


@checked
def run(
    data: RankingData,
    order: ArrayLike | None = None,
    measure: str = "ndcg",
    eta: Positive | Literal["theory"] = 1.0,
    active: Active = "margin",
) -> Run:
    """Run Algorithm 1 over queries in ``order``.

    Parameters
    ----------
    data : RankingData
    order : integers, shape (T,), optional
        Queries by position, repeats (several passes) allowed; by default every query once, in the order of the data.
    measure : "ndcg", "map" (label >= 1 counts as 1) or "ndcg@K"
        The ranking loss, and with it the weights v.
    eta : float > 0 or "theory"
        The step; "theory" is that of Theorem 5, :func:`theory_step` for the queries in ``order``.
    active : "margin" (as printed) or "misordered"
        The documents whose hinges count.

    Raises
    ------
    DataError
        When the order names a query that does not exist, or eta is not positive.
    ConfigurationError
        When the measure or the active set does not exist.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [7, 7])
    >>> result = run(data, order=[0, 0])
    >>> result.mistakes.tolist(), result.w.round(3).tolist()
    ([True, False], [0.369])
    """
    queries = rounds.of_order(data, order)
    step = theory_step(data, queries, measure, active) if eta == "theory" else float(eta)
    labels = (data.with_binary_labels() if measure == "map" else data).y.astype(np.int32)
    v = slam.weights_of_all(labels, data.offsets, measure)
    D = discounts_of_longest(data.offsets)
    cutoff = 0 if measure == "map" else int(measure.partition("@")[2] or len(D))
    w, total, *records = _run(data.X, labels, data.offsets, v, queries, step, active == "misordered", cutoff, D)
    losses, surrogate_losses, squared_norms = records
    average = total / max(len(queries), 1)
    found = (losses, step, losses > 0.0, surrogate_losses, squared_norms)
    return Run(w, average, *found, feature_names=names_of(data))


@checked
def theory_step(
    data: RankingData, order: ArrayLike | None = None, measure: str = "ndcg", active: Active = "margin"
) -> float:
    """1 / C, the step of Theorem 5 for the queries in ``order``; C is :func:`norm_factor`.

    Example
    -------
    >>> theory_step(RankingData.from_arrays([[0.0], [1.0]], [0, 1], [7, 7]))
    0.125
    """
    factor = norm_factor(data, order, measure, active)
    # If all documents are 0, nothing is learned, whatever the step size.
    return 1.0 / factor if factor > 0.0 else 1.0


@checked
def norm_factor(
    data: RankingData, order: ArrayLike | None = None, measure: str = "ndcg", active: Active = "margin"
) -> float:
    """The C of ||z_t||^2 <= C f_t(w_t), which Theorem 5 multiplies by ||u||^2, for the queries in ``order``.

    With the margin it is 4 m R_X^2 v_max (16), from the longest list, the largest norm of a document and the largest
    v_max; for NDCG@k, min(k, m) takes the place of m (Corollary 7). With misordered documents only it is 4 R_X^2: there
    ||z_t|| <= 2 R_X a_t for a_t = sum of their v_i, the ranking loss is at most a_t, and a_t <= 1.

    Returns
    -------
    float
        0 when there is no query, or all documents are 0.

    Raises
    ------
    DataError
        When the order names a query that is not there.
    ConfigurationError
        When the measure does not exist.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [3.0]], [0, 1], [7, 7])
    >>> norm_factor(data), norm_factor(data, measure="ndcg@1"), norm_factor(data, active="misordered")
    (72.0, 36.0, 36.0)
    """
    met = np.unique(rounds.of_order(data, order))
    if not len(met):
        return 0.0
    some = data.take(met)
    squared_norm = max(float(np.einsum("ij,ij->i", X, X).max()) for _, X in some.blocks())
    if active == "misordered":
        return 4.0 * squared_norm
    m = longest(some.offsets)
    v_max = float(slam.v_max_of_all(some.labels_for(binary=measure == "map"), some.offsets, measure).max())
    _, _, k = measure.partition("@")
    return 4.0 * min(m, int(k or m)) * squared_norm * v_max


@njit
def _run(X, y, offsets, v, order, eta, misordered, cutoff, D):  # type: ignore[no-untyped-def]
    # X is in single precision, as it is stored; all that is computed from it is in double precision.
    T, d = len(order), X.shape[1]
    w, total = np.zeros(d), np.zeros(d)
    losses, surrogate_losses, squared_norms = np.zeros(T), np.zeros(T), np.zeros(T)
    s, ranked, z = np.empty(len(D)), np.empty(len(D), np.int64), np.empty(d)
    best = np.full(MAX_LABEL + 2, -1, np.int64)
    since = 0  # w has not changed since this round; total is updated when it changes
    for t in range(T):
        begin, end = offsets[order[t]], offsets[order[t] + 1]
        m = end - begin
        for i in range(m):
            score = 0.0
            for c in range(d):
                score += X[begin + i, c] * w[c]
            s[i] = score
        order_by_score(s[:m], ranked)
        loss = (
            _average_precision_loss(y[begin:end], ranked)
            if cutoff == 0
            else _ndcg_loss(y[begin:end], ranked, min(cutoff, m), D)
        )
        losses[t] = loss
        if loss == 0.0:
            continue
        z[:] = 0.0
        surrogate_losses[t] = _subgradient(X[begin:end], s[:m], y[begin:end], v[begin:end], misordered, best, z)
        for c in range(d):
            squared_norms[t] += z[c] * z[c]
            total[c] += (t + 1 - since) * w[c]
            w[c] -= eta * z[c]
        since = t + 1
    for c in range(d):
        total[c] += (T - since) * w[c]
    return w, total, losses, surrogate_losses, squared_norms


@njit
def _ndcg_loss(y, ranked, k, D):  # type: ignore[no-untyped-def]
    # 1 - (1/Z_k) sum_{i <= k} (2^y - 1) D(i); 0 when no document is relevant. Both sums are taken in the same order,
    # so that the loss of the best ranking is exactly 0.
    ideal, gain = ideal_dcg(y, D[:k]), 0.0
    if ideal == 0.0:
        return 0.0
    for i in range(k):
        gain += GAINS[y[ranked[i]]] * D[i]
    return max(1.0 - gain / ideal, 0.0)


@njit
def _average_precision_loss(y, ranked):  # type: ignore[no-untyped-def]
    # 1 - (1/r) sum_{i : relevant} |{relevant at 1..i}| / i; 0 when no document is relevant
    relevant, total = 0, 0.0
    for i in range(len(y)):
        if y[ranked[i]] > 0:
            relevant += 1
            total += relevant / (i + 1)
    return max(1.0 - total / relevant, 0.0) if relevant else 0.0


@njit
def _subgradient(X, s, y, v, misordered, best, z):  # type: ignore[no-untyped-def]
    # Adds X' sum_i v_i (e_k(i) - e_i) to z; gives phi^v(s, y) = sum_i v_i max(0, 1 + s_k(i) - s_i), (11).
    top, value = best_below(s, y, best), 0.0
    for i in range(len(y)):
        k = best[y[i]]
        if k < 0 or v[i] == 0.0:
            continue
        hinge = 1.0 + s[k] - s[i]
        if hinge > 0.0:
            value += v[i] * hinge
            if not misordered or s[k] >= s[i]:
                for c in range(len(z)):
                    z[c] += v[i] * (np.float64(X[k, c]) - np.float64(X[i, c]))
    best[: top + 2] = -1
    return value


class PerceptronSettings(Selecting):
    """The perceptron of SLAM, over the training queries in random order."""

    tuned = "passes"
    passes: Whole = Field(10, description="largest number of passes; the best number is chosen on the validation part")
    average: Truth = Field(True, description="whether the mean of all iterates is the ranker, or the last one")
    features: Features = Field("standardised", description="as for erm")
    measure: RankingMeasure = Field("ndcg", description="the ranking loss and its weights: ndcg, map or ndcg@K")
    step: Literal["theory"] | Positive = Field(1.0, description='the step size: a number, or "theory"')
    active: Literal["margin", "misordered"] = Field("margin", description="hinges: margin (as printed) or misordered")


@checked
def train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
    """Make ``passes`` passes over ``train`` in random orders; keep the number of passes that is best on ``validation``.

    Parameters
    ----------
    settings : mapping
        Those of :class:`PerceptronSettings`; what is missing has its default. Ties go to fewer passes.
    seed
        Of the orders and of random features.

    Returns
    -------
    Trained
        The record holds the settings, the ``passes`` kept, and ``tried``: for every number of passes the share of
        rounds with a mistake so far, ||w|| and the validation value.

    Raises
    ------
    ConfigurationError
        When a setting is missing, unknown or has no such value.
    """
    chosen = completed("perceptron", settings)
    order = rounds.random_passes(train.n_queries, chosen["passes"], seed)

    def run_passes(inside: RankingData, passes: int) -> tuple[Floats, int, dict[str, float]]:
        some = order[: passes * inside.n_queries]
        result = run(inside, some, chosen["measure"], chosen["step"], chosen["active"])
        w = result.average if chosen["average"] else result.w
        return w, len(some), {"mistakes": float(result.mistakes.mean())}

    numbers = range(1, chosen["passes"] + 1)
    return selection.keep_best("perceptron", "passes", numbers, run_passes, train, validation, chosen, seed)


def _seconds(settings: PerceptronSettings, size: Size) -> float:
    # Every number of passes up to the largest begins anew.
    inside, runs = seen_by(settings.features, size), settings.passes * (settings.passes + 1) / 2
    return IMPORTS + 1e-9 * runs * inside.cells + settings.passes * 1e-7 * size.documents


LEARNER = Learner(
    train,
    PerceptronSettings,
    formula=(
        r"w \leftarrow w - \eta X_q^\top \nabla_s \varphi(X_q w, y_q) "
        r"\quad \text{where } X_q w \text{ ranks with a loss } (\varphi \text{ of SLAM})"
    ),
    seconds=_seconds,
)
