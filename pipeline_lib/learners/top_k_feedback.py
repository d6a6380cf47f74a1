"""How does a ranker learn online when it is told the labels of the k documents on top of what it shows, and no others?

`topk`, Algorithm 1 (RTop-kF): w_1 = 0; on round t the documents are ranked by s_t = X_t w_t, or, with probability
gamma, by scores uniform on [0, 1]^m; from the labels of the k documents shown first comes an unbiased estimate z_t of
X_t' grad phi(X_t w_t, y_t); w_(t+1) is the projection of w_t - eta z_t
onto ||w|| <= radius.

The rounds are played by one compiled loop, :mod:`pipeline_lib.learners.top_k_kernels`. It takes e^300 for every larger
exponential of `kl` and `rankboost`, in estimates and in losses: within a ball such a step ends at the surface either
way. Its random numbers come from SplitMix64 (Steele, Lea and Flood 2014), seeded from the ``numpy`` generator of the
seed's axes.

**The estimate, once for all** (`topk`, Lemma 1). Let the gradient be F(y) = c + sum over sets B of l documents of
H_B(y_B), where c needs no label. Every B lies in C(m - l, k - l) sets A of k documents, and A is shown with probability

    P(A) = (1 - gamma) 1[A = top k of s] + gamma / C(m, k),

so that c + sum over B in A of H_B(y_B) / (C(m - l, k - l) P(A)) has the mean F(y). This is the quotient of (3): both
of its sums run over the k! orders of A. The terms, with l = 1 for the first three and l = 2 for pairs:

| surrogate | c | H |
|---|---|---|
| `squared` | 2 s | -2 y_a e_a |
| `kl` | 0 | (e^{s_a} - e^{y_a}) e_a |
| `smooth-dcg`, gain SD | 0 | G(y_a) pi_a (e_a - pi) / sigma,  pi = softmax(s / sigma) |
| `ranksvm` | 0 | 1[y_i > y_j] 1[1 + s_j > s_i] (e_j - e_i) |
| `ranknet`, `rankboost` | 0 | 1[y_i > y_j] q(s_j - s_i) (e_j - e_i),  q(x) = 1 / (1 + e^-x), e^x |

The paper prints P(A) = 1 - gamma + gamma / C(m, k) for every A (section 4.2), which is right only where A is the top k
of s (erratum C); ``probabilities="as-printed"`` keeps it. For two labels the paper gives this number as
p(sigma(1), sigma(2)), by (1) the probability of one order. The denominator of section 4.1 adds both orders and would
then be 2 P(A), which halves every estimate; ``as-printed`` takes the number for that of the set.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from pipeline_lib import surrogates
from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Positive, Seed, Several, checked
from pipeline_lib.core.cost import Size
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Probability, Whole
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import completed, selection
from pipeline_lib.learners import top_k_kernels as kernels
from pipeline_lib.learners.learner import IMPORTS, Features, Learner, Radius, Selecting, Steps, listed, seen_by
from pipeline_lib.learners.losses import checked_surrogate
from pipeline_lib.learners.models import LinearResult
from pipeline_lib.learners.ranker import Trained, axes_of, names_of
from pipeline_lib.learners.rounds import of_game, random_passes
from pipeline_lib.ranking import GAINS, discounts, ideal_dcgs
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.surrogates.pointwise import normalised_gains

__all__ = [
    "ORDERS",
    "Probabilities",
    "Run",
    "estimate",
    "in_random_order",
    "log_checkpoints",
    "run",
    "show_probability",
    "theorem_parameters",
    "train",
    "with_all_labels",
]


Probabilities = Literal["correct", "as-printed"]

KINDS = {
    "squared": kernels.SQUARED,
    "kl": kernels.KL,
    "smooth-dcg": kernels.SMOOTH_DCG,
    "ranksvm": kernels.RANKSVM,
    "ranknet": kernels.RANKNET,
    "rankboost": kernels.RANKBOOST,
    "listnet": kernels.LISTNET,
    # With G(y)/Z(y) in place of the labels it is the squared loss.
    "squared-ndcg": kernels.SQUARED,
}
ORDERS: Mapping[str, int] = {"squared": 1, "kl": 1, "smooth-dcg": 1, "ranksvm": 2, "ranknet": 2, "rankboost": 2}
"""Labels at a time over which a surrogate's gradient decomposes, for those with an estimator; k must not be smaller."""


@dataclass(frozen=True, eq=False)
class Run(LinearResult):
    """What a game of T rounds looked like at its C checkpoints; all averages are over rounds 1..checkpoint.

    Attributes
    ----------
    w : float64, shape (d,)
        After the last round.
    rounds : int64, shape (C,)
        The checkpoints.
    path : float64, shape (C, d)
        w after each checkpoint.
    ndcg : float64, shape (C,)
        Average NDCG@10 of the rankings shown, over the rounds whose query has a relevant document; NaN before the
        first of them.
    losses : float64, shape (C,)
        Average loss of the scores by which was ranked, random ones included; NaN where losses were not measured.
    own_losses : float64, shape (C,)
        Average loss of the scores X_t w_t; NaN where losses were not measured.
    squared_norms : float64, shape (C,)
        Average ||z_t||_2^2.
    explored : int
        Rounds with a random order.
    """

    rounds: NDArray[np.int64]
    path: Floats
    ndcg: Floats
    losses: Floats
    own_losses: Floats
    squared_norms: Floats
    explored: int


@checked
def run(
    data: RankingData,
    surrogate: str | Surrogate,
    k: Count,
    rounds: Count,
    eta: Positive,
    gamma: Probability,
    radius: Positive | None = None,
    seed: Seed = 0,
    *,
    order: ArrayLike | None = None,
    probabilities: Probabilities = "correct",
    checkpoints: ArrayLike | None = None,
    losses: bool = True,
    judge: ArrayLike | None = None,
) -> Run:
    """Play T = ``rounds`` rounds of Algorithm 1.

    Parameters
    ----------
    data : RankingData
    surrogate : str or Surrogate
        One of :data:`ORDERS`; ``smooth-dcg`` climbs its gain, or descends on it with
        ``sign="as-printed"`` (erratum D); pairwise ones with normalisation ``sum``.
    k : int
        How many labels are seen: at least the surrogate's order, at most the length of the shortest list met.
    rounds : int >= 1
    eta : float > 0
        The step.
    gamma : float in (0, 1)
        How often the order is random. :func:`theorem_parameters` has the eta and gamma of Theorem 4.1.
    radius : float > 0, optional
        Keep ||w||_2 <= radius.
    seed : int or tuple of axes
        Of exploration, and of the queries' order when it is not given.
    order : integers, shape (T,), optional
        Queries by position, repeats allowed; when not given, all queries once a pass, each pass in a new random order.
    probabilities : "correct" or "as-printed"
    checkpoints : rising integers in 1..T, optional
        The rounds to report on; :func:`log_checkpoints` of T when not given.
    losses : bool
        Measure losses as well; those of pairwise surrogates take O(m^2) a round.
    judge : shape (N,), optional
        Measure sum_i (s_i - judge_i)^2 in place of the surrogate's loss.

    Raises
    ------
    DataError
        Before any round is played: when an argument is out of range, k is too small for the surrogate (Lemmas 2 and
        3) or larger than a list, or a label lies beyond y_max.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [7, 7])
    >>> result = run(data, "squared", k=1, rounds=500, eta=0.1, gamma=0.5, radius=2.0, seed=1)
    >>> bool(0.5 < result.w[0] < 1.5), bool(0.8 < result.ndcg[-1] < 1.0)
    (True, True)
    """
    loss = checked_surrogate(surrogate)
    check_order(loss, k)
    queries = of_game(data, rounds, order, seed)
    shortest = int(data.documents_per_query[queries].min())
    if k > shortest:
        raise DataError(f"k: expected at most the length of the shortest list, {shortest}, found {k}")
    printed = probabilities == "as-printed"
    return _played(data, loss, int(k), gamma, eta, queries, radius, printed, checkpoints, losses, judge, seed)


@checked
def with_all_labels(
    data: RankingData,
    surrogate: str | Surrogate,
    rounds: Count,
    eta: Positive,
    radius: Positive | None = None,
    seed: Seed = 0,
    *,
    order: ArrayLike | None = None,
    checkpoints: ArrayLike | None = None,
    losses: bool = True,
    judge: ArrayLike | None = None,
) -> Run:
    """Online gradient descent that sees all labels and never explores, in the same loop: the estimate is exact.

    As :func:`run`, also for ``listnet`` and ``squared-ndcg``; online ListNet is the full-information learner of
    Figure 1.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [7, 7])
    >>> with_all_labels(data, "listnet", rounds=2, eta=1.0).losses.round(4)
    array([0.6698])
    """
    loss = checked_surrogate(surrogate)
    check_kind(loss, KINDS)
    queries = of_game(data, rounds, order, seed)
    return _played(data, loss, 0, 0.0, eta, queries, radius, False, checkpoints, losses, judge, seed)


@checked
def in_random_order(
    data: RankingData,
    rounds: Count,
    seed: Seed = 0,
    *,
    order: ArrayLike | None = None,
    checkpoints: ArrayLike | None = None,
) -> Run:
    """Show every query in a uniformly random order and learn nothing: the control.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [7, 7])
    >>> in_random_order(data, rounds=10_000).ndcg[-1].round(1)
    np.float64(0.8)
    """
    queries, loss = of_game(data, rounds, order, seed), surrogates.create("squared")
    return _played(data, loss, 1, 1.0, 0.0, queries, None, False, checkpoints, False, None, seed)


@checked
def estimate(
    surrogate: str | Surrogate,
    s: ArrayLike,
    shown: Sequence[int],
    labels_shown: ArrayLike,
    exploit: Sequence[int],
    gamma: Probability,
    k: Count,
    *,
    probabilities: Probabilities = "correct",
) -> Floats:
    """The estimate of grad phi(s, y), shape (m,), from the labels of the k documents shown first.

    Parameters
    ----------
    s : shape (m,)
        The learner's scores.
    shown : at least k distinct positions in 0..m-1, best first
        The ranking shown; what comes after the first k is not used.
    labels_shown : shape (k,)
        The labels of the first k documents of ``shown``.
    exploit : at least k distinct positions, best first
        The ranking by ``s``, which is shown when the order is not random; its first k count.
    gamma : float in (0, 1)
    k : int
    probabilities : "correct" or "as-printed"

    Raises
    ------
    DataError
        As :func:`run`; also when a ranking is not one, or there are not k labels.

    Example
    -------
    With gamma = 1/2, document 0 is on top with probability 3/4; 2 (s_0 - y_0 / p) = 2 (1 - 3 / 0.75).

    >>> estimate("squared", [1.0, 0.0], shown=[0], labels_shown=[3], exploit=[0, 1], gamma=0.5, k=1)
    array([-6.,  0.])
    """
    loss = checked_surrogate(surrogate)
    check_order(loss, k)
    scores = np.ascontiguousarray(checks.floats("s", s, ndim=1))
    m = len(scores)
    seen, best = _top("shown", shown, m, k), _top("exploit", exploit, m, k)
    known = checks.labels("labels_shown", labels_shown)
    if len(known) != k:
        raise DataError(f"labels_shown: expected k = {k} labels, found {len(known)}")
    top = probabilities == "as-printed" or set(best.tolist()) == set(seen.tolist())
    g, softmax, (sigma, sign) = np.empty(m), np.empty(m), options_of(loss)
    weight = kernels.inverse_weight(m, int(k), ORDERS[loss.name], gamma, top)
    kernels.estimate(KINDS[loss.name], scores, seen, known.astype(np.float64), weight, sigma, sign, softmax, g)
    return g


@checked
def show_probability(m: Count, k: Count, gamma: float, *, top: bool) -> float:
    """P(A): that exactly the k documents of A are shown first, (1 - gamma) 1[A is the top k] + gamma / C(m, k).

    Example
    -------
    >>> show_probability(3, 1, 0.3, top=True), show_probability(3, 2, 0.3, top=False)
    (0.7999999999999999, 0.09999999999999999)
    """
    return (1.0 - gamma if top else 0.0) + gamma / math.comb(m, k)


@checked
def theorem_parameters(T: Several) -> tuple[float, float]:
    """eta = T^(-2/3) and gamma = T^(-1/3): what Theorem 4.1 asks for, up to constants, and section 6 uses.

    Example
    -------
    >>> theorem_parameters(1000)
    (0.01, 0.1)
    """
    return float(np.cbrt(float(T)) ** -2.0), float(1.0 / np.cbrt(float(T)))


@checked
def log_checkpoints(T: Count, count: Count = 40, first: Count = 100) -> NDArray[np.int64]:
    """About ``count`` rounds from ``first`` to T, evenly spread in their logarithm; T is always among them.

    Raises
    ------
    DataError
        When one of the numbers is below 1.

    Example
    -------
    >>> log_checkpoints(10_000, 5)
    array([  100,   316,  1000,  3162, 10000])
    """
    points = np.exp(np.linspace(math.log(min(first, T)), math.log(T), count))
    return np.unique(np.append(np.round(points), T).astype(np.int64))


class TopKFeedbackSettings(Selecting):
    """Algorithm 1 of topk, which sees the labels of the k documents it shows first.

    eta = c T^(-2/3) over T rounds.
    """

    tuned = "step"
    k: Whole = Field(2, description="labels that are seen; pairwise surrogates need at least 2")
    step: Steps = Field((1e-3, 1e-2, 1e-1, 1.0), description="c, or several values, from which validation chooses")
    passes: Whole = Field(50, description="times that every query is visited")
    gamma: Literal["theory"] | Probability = Field(
        "theory", description="probability of a random order: a number, or theory for T^(-1/3)"
    )
    radius: Radius = Field(10.0, description="largest ||w||; null means no limit")
    probabilities: Literal["correct", "as-printed"] = Field("correct", description="as-printed biases the estimates")
    features: Features = Field("standardised", description="as for erm")


@checked
def train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
    """Play ``passes`` passes over ``train`` with eta = c T^(-2/3) for every c; keep what ``validation`` likes best.

    Parameters
    ----------
    settings : mapping
        ``surrogate`` (a name of :data:`ORDERS`), ``options`` (of the surrogate) and those of
        :class:`TopKFeedbackSettings`; what is missing has its default. Ties go to the smaller c.
    seed
        Of the orders, of exploration and of random features.

    Returns
    -------
    Trained
        The record holds the settings, the chosen ``step``, and ``tried``: for every c the mean NDCG@10 of what was
        shown, ||w|| and the validation value.

    Raises
    ------
    ConfigurationError
        When a setting is missing, unknown or has no such value.
    """
    chosen = completed("top-k-feedback", settings)
    long_enough = np.flatnonzero(train.documents_per_query >= chosen["k"])
    if train.n_queries and not len(long_enough):
        raise DataError(
            f"top-k feedback: expected training queries with at least k = {chosen['k']} documents, found none"
        )
    loss = surrogates.create(chosen["surrogate"], **chosen["options"])
    order = random_passes(len(long_enough), chosen["passes"], seed)
    step, exploration = theorem_parameters(max(len(order), 2))
    gamma = exploration if chosen["gamma"] == "theory" else float(chosen["gamma"])

    def with_step(inside: RankingData, c: float) -> tuple[Floats, int, dict[str, float]]:
        found = run(
            inside if len(long_enough) == inside.n_queries else inside.take(long_enough),
            loss,
            k=chosen["k"],
            rounds=len(order),
            eta=c * step,
            gamma=gamma,
            radius=chosen["radius"],
            seed=(*axes_of(seed), "exploration"),
            order=order,
            probabilities=chosen["probabilities"],
            losses=False,
        )
        return found.w, len(order), {"shown_ndcg": float(np.nan_to_num(found.ndcg[-1]))}

    name = f"top-k feedback, {loss.name}"
    return selection.keep_best(name, "step", chosen["step"], with_step, train, validation, chosen, seed)


def _played(
    data: RankingData,
    loss: Surrogate,
    k: int,
    gamma: float,
    eta: float,
    queries: NDArray[np.int64],
    radius: float | None,
    printed: bool,
    checkpoints: ArrayLike | None,
    measured: bool,
    judge: ArrayLike | None,
    seed: Seed,
) -> Run:
    stops, values, state, quality = prepared(data, loss, checkpoints, len(queries), seed)
    judged = np.empty(0)
    if judge is not None:
        judged = np.ascontiguousarray(checks.floats("judge", judge, shape=(data.n_documents,)))
    reach = math.inf if radius is None else float(radius)
    found = kernels.play(
        *(data.X, data.y, data.offsets, queries, values, judged, KINDS[loss.name], ORDERS.get(loss.name, 1), k),
        *(float(gamma), float(eta), reach, printed, *options_of(loss), measured, *quality, stops, state),
    )
    w, path, ndcg, losses, own, norms, explored = found
    if not (np.isfinite(w).all() and np.isfinite(losses).all()):
        raise DataError("eta: scores overflowed; give smaller steps or a smaller radius")
    if not measured:
        losses[:], own[:] = np.nan, np.nan
    return Run(w, stops, path, ndcg, losses, own, norms, int(explored), feature_names=names_of(data))


def prepared(
    data: RankingData, loss: Surrogate, checkpoints: ArrayLike | None, T: int, seed: Seed
) -> tuple[NDArray[np.int64], Floats, NDArray[np.uint64], tuple[Floats, Floats, Floats]]:
    # The rounds to report on, what stands for the labels, the generator, and of what quality is computed
    gains = loss.name == "squared-ndcg"
    values = normalised_gains(data.y, data.offsets) if gains else data.y.astype(np.float64)
    state = generator(*axes_of(seed)).integers(0, 2**64, size=1, dtype=np.uint64)
    quality = ideal_dcgs(data.y, data.offsets, kernels.SHOWN), discounts(kernels.SHOWN), GAINS
    return stops_of(checkpoints, T), values, state, quality


def options_of(loss: Surrogate) -> tuple[float, float]:
    # SmoothDCG's width, and the sign with which its gain enters the loss; the others have neither
    if loss.name != "smooth-dcg":
        return 1.0, 1.0
    return float(getattr(loss, "sigma")), 1.0 if getattr(loss, "sign") == "as-printed" else -1.0  # noqa: B009


def check_kind(loss: Surrogate, known: Mapping[str, int]) -> None:
    if loss.name not in known:
        raise DataError(f"surrogate: expected one of {', '.join(known)}, found {loss.name}")
    if type(loss) is not surrogates.get(loss.name):  # the kernels compute the package's own
        raise DataError(f"surrogate: expected the package's own {loss.name}, found a class of {type(loss).__module__}")
    if getattr(loss, "normalisation", "sum") != "sum":
        raise DataError(f"{loss.name}: expected normalisation 'sum'; the number of pairs takes all labels to know")
    if getattr(loss, "margin", 1.0) != 1.0:
        raise DataError(f"{loss.name}: expected margin 1, found {getattr(loss, 'margin')}")  # noqa: B009
    if loss.name == "smooth-dcg" and getattr(loss, "sign") == "regret":  # noqa: B009
        raise DataError("smooth-dcg: expected the published gain, with sign 'ascent' or 'as-printed'")


def check_order(loss: Surrogate, k: int) -> None:
    if loss.name == "listnet":
        raise DataError(
            "listnet: its gradient does not decompose over fewer labels than all of a list (Lemma 3), found "
            f"k = {k}; take kl, or with_all_labels"
        )
    check_kind(loss, ORDERS)
    if k < ORDERS[loss.name]:
        raise DataError(
            f"{loss.name}: expected k >= 2, because its gradient does not decompose over single labels (Lemma 2), "
            f"found k = {k}"
        )


def _top(name: str, ranking: Sequence[int], m: int, k: int) -> NDArray[np.int64]:
    places = np.asarray(ranking)
    good = places.ndim == 1 and len(places) >= k and places.dtype.kind in "iu"
    if not (good and len(np.unique(places)) == len(places) and places.min() >= 0 and places.max() < m):
        raise DataError(f"{name}: expected at least k = {k} distinct positions in 0..{m - 1}, found {places.tolist()}")
    return places[:k].astype(np.int64)


def stops_of(checkpoints: ArrayLike | None, T: int) -> NDArray[np.int64]:
    stops = log_checkpoints(T) if checkpoints is None else np.asarray(checkpoints)
    good = stops.ndim == 1 and len(stops) and stops.dtype.kind in "iu"
    if not (good and stops[0] >= 1 and stops[-1] <= T and (np.diff(stops) > 0).all()):
        raise DataError(f"checkpoints: expected rising whole numbers in 1..{T}, found {stops}")
    return stops.astype(np.int64)


def _seconds(settings: TopKFeedbackSettings, size: Size) -> float:
    # A round has a fixed cost besides that of reading the query's features.
    rounds = settings.passes * len(listed(settings.step))
    return IMPORTS + rounds * (6e-7 * size.queries + 3e-10 * seen_by(settings.features, size).cells)


LEARNER = Learner(
    train,
    TopKFeedbackSettings,
    formula=(
        r"w \leftarrow \Pi(w - \eta z_q), \quad \mathbb{E}\, z_q = X_q^\top \nabla_s \varphi(X_q w, y_q), "
        r"\text{ from the labels of the } k \text{ documents shown}"
    ),
    with_surrogate=True,
    seconds=_seconds,
)
