"""How does ConeRank learn the polyhedral cone that holds the differences between better and worse documents?

For pairs with y_l > y_m, phi = y_l - y_m and z = rho (x_l - x_m) / (alpha + ||x_l - x_m||)  (eq. 5, 7), problem (18) is

    min over U (d x K, ||u_k|| <= c) and w_j (>= 0, sum 1) of   mean over queries of  mean over its pairs of
        phi_j ||z_j - U w_j||^2,

and (9) the same with ||u_k|| = c and low <= sum w_j <= high. Queries without a pair do not count. For a given U, the
coefficients w_j that are best for it are found with a certificate.

Algorithm 1 makes the risk (18) small. It alternates: fold in the coefficients of every pair with the basis U fixed,
then step along the gradient in U. The coefficients of a pair, w >= 0 with sum 1 (or in a band), make ||z - U w||^2
small; its gradient is g:

| method | step on ||z - U w||^2, gradient g |
|---|---|
| ``sg`` | w - mu g, projected on the set: what (18) asks for |
| ``sg-printed`` | max(w - mu g, 0), divided by its sum: steps 1a to 1c as printed, which end elsewhere (errata, W) |
| ``eg`` | w exp(-mu g), divided by its sum |
| ``eg-linear`` | w (1 - mu (g - w.g)) |
| ``exact`` | the minimum, certified |

With the method ``exact`` U too is solved for, block against block.

Where Algorithm 1 leaves a choice, or is read otherwise than printed:

- Folding in (step 1a) descends ||z_j - U w_j||^2 without the factor phi_j / (P n_q) that the risk has there: with
  1/(P n_q) a step of mu = .001 moves nothing, and phi_j > 0 moves no minimiser. Where folding-in is cut short, phi_j
  would let it go further for pairs that weigh more. The basis step has all factors.
- Step 2 moves all u_k at once, along one gradient; printed is one after another, each along the gradient at those
  already moved. The two differ by terms in mu^2.
- "Stochastic" means a basis step a query, along the gradient of its mean loss; ``at_once`` takes one step a pass along
  the gradient of the whole risk, as Algorithm 1 is printed.
"""

import logging
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from pipeline_lib.core import checks, progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Natural, NonNegative, Seed, SeedAxes, checked
from pipeline_lib.core.cost import Size
from pipeline_lib.core.errors import DataError, UnlearnableError
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Positive, Whole
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import check_weights, completed, cone_kernels, selection
from pipeline_lib.learners.cone_ranking import FoldIn, direction
from pipeline_lib.learners.features import fitted
from pipeline_lib.learners.learner import IMPORTS, TRAINING, Learner, PlainFeatures, Selecting, Sizes, listed, megabytes
from pipeline_lib.learners.models import LinearModel
from pipeline_lib.learners.ranker import Result, Trained, axes_of, names_of

_LOG = logging.getLogger(__name__)

ACCURACY = 1e-9
"""Gap to which coefficients are folded in exactly, relative to rho^2, up to ``cone_kernels.SLACK``."""


class UncertifiedWarning(UserWarning):
    """Rounding or a lack of steps ended folding in exactly: a loss is certified to a larger gap alone."""


@checked
@dataclass(frozen=True)
class Problem:
    """The constants of (18) and (9).

    Attributes
    ----------
    alpha : float > 0
        Damps short differences (eq. 5), in units of the features' norm.
    rho : float > 0 or None
        Bound of ||z|| (eq. 6); None: sqrt(d).
    c : float > 0 or None
        Bound of ||u_k||; None: 2 rho.
    weighted : bool
        Weight pairs by the difference of their labels (eq. 7).
    band : (low, high)
        Of the coefficients' sum, 0 < low <= high; (1, 1) is (18).
    norms : "at-most" or "equal"
        Is ||u_k|| at most c (18) or equal to it (9)?

    Example
    -------
    >>> Problem().rho_of(46), Problem(rho=2.0).c_of(46)
    (6.782329983125268, 4.0)
    """

    alpha: Positive = 1.0
    rho: Positive | None = None
    c: Positive | None = None
    weighted: bool = True
    band: tuple[float, ...] = (1.0, 1.0)
    norms: Literal["at-most", "equal"] = "at-most"

    def __post_init__(self) -> None:
        if len(self.band) != 2 or not 0.0 < self.band[0] <= self.band[1]:
            raise DataError(f"band: expected (low, high) with 0 < low <= high, found {self.band!r}")

    def rho_of(self, d: Natural) -> float:
        """rho for d features."""
        return math.sqrt(d) if self.rho is None else float(self.rho)

    def c_of(self, d: Natural) -> float:
        """c for d features."""
        return 2.0 * self.rho_of(d) if self.c is None else float(self.c)


PUBLISHED = Problem()
"""Problem (18), with rho = sqrt(d) and c = 2 rho."""


@checked
def losses(data: RankingData, U: ArrayLike, problem: Problem = PUBLISHED) -> tuple[Floats, NDArray[np.int64]]:
    """L_q of every query with the coefficients that are best for U, and its number of pairs; shapes (Q,).

    Certified: ||z - U w||^2 of each pair is at most 1e-9 rho^2 above its minimum, or an :class:`UncertifiedWarning`
    says by how much it may be. A query without a pair has loss 0.

    Raises
    ------
    DataError
        When U is not a matrix of d rows of finite numbers.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 1])
    >>> losses(data, [[-0.5]])
    (array([1.]), array([1]))
    """
    values, pairs, _, _, unsolved = _at_best(cone_kernels.objective, data, U, problem)
    _warn_above(unsolved, problem.rho_of(data.n_features))
    return values, pairs


@checked
def basis_gap(data: RankingData, U: ArrayLike, problem: Problem = PUBLISHED) -> float:
    """How far U is from a stationary point of (18): a bound on what its block could gain with the best coefficients.

    The Frank-Wolfe gap max <g, U - V> over ||v_k|| <= c, where g is the gradient of the risk in U at the coefficients
    that are best for U. It is 0 where neither block can gain, and only there.

    Raises
    ------
    DataError
        As :func:`losses`; when the norms must equal c, since that block is not convex; when there is no pair.

    Example
    -------
    At u = 1/2 = z nothing is to be gained; at u = 0 the slope is -1 and c = 2:

    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 1])
    >>> basis_gap(data, [[0.5]]), basis_gap(data, [[0.0]])
    (0.0, 2.0)
    """
    if problem.norms == "equal":
        raise DataError("basis_gap: expected norms 'at-most', found 'equal'")
    _, pairs, M, B, unsolved = _at_best(cone_kernels.objective, data, U, problem)
    _warn_above(unsolved, problem.rho_of(data.n_features))
    counted = int((pairs > 0).sum())
    if not counted:
        raise UnlearnableError("data: expected a query with documents of different labels, found none")
    basis = _given_basis(U, data.n_features)
    return float(cone_kernels.basis_gap(basis, M / counted, B / counted, problem.c_of(data.n_features)))


@checked
def risk(data: RankingData, U: ArrayLike, problem: Problem = PUBLISHED) -> float:
    """The empirical risk (4): the mean of L_q over the queries that have pairs; 0 if there are none.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0], [5.0]], [0, 1, 2], [1, 1, 2])
    >>> risk(data, [[-0.5]])
    1.0
    """
    value, unsolved = _risk_and_gap(data, U, problem)
    _warn_above(unsolved, problem.rho_of(data.n_features))
    return value


@checked
def pair_losses(data: RankingData, U: ArrayLike, problem: Problem = PUBLISHED) -> Floats:
    """phi_j min_w ||z_j - U w||^2 of every pair of ``data``, shape (pairs,): for small samples.

    Raises
    ------
    DataError
        As :func:`losses`.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0], [0.0]], [0, 1, 0], [1, 1, 1])
    >>> pair_losses(data, [[-0.5]])
    array([1., 1.])
    """
    found, unsolved = _at_best(cone_kernels.every_loss, data, U, problem)
    _warn_above(unsolved, problem.rho_of(data.n_features))
    return found


@checked
def has_pairs(data: RankingData) -> bool:
    """Has any query two documents with different labels?

    Example
    -------
    >>> has_pairs(RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 2]))
    False
    """
    if not data.n_documents:
        return False
    lowest = np.minimum.reduceat(data.y, data.offsets[:-1])
    return bool((np.maximum.reduceat(data.y, data.offsets[:-1]) > lowest).any())


Method = Literal["sg", "sg-printed", "eg", "eg-linear", "exact"]
METHODS: tuple[Method, ...] = get_args(Method)
PUBLISHED_STEPS: Mapping[str, float] = {"sg": 0.001, "sg-printed": 0.001, "eg": 0.005, "eg-linear": 0.005, "exact": 1.0}
"""mu of section 6.1; the exact method has no step."""

FOLD_TOL = 1e-3
"""A pair's folding-in stops when its coefficients move by at most this much (sum of sizes)."""


@dataclass(frozen=True, eq=False)
class Fit(Result):
    """What :func:`fit` found.

    Attributes
    ----------
    U : float64, shape (d, K)
        The basis after the last pass.
    path : float64, shape (passes + 1, d, K)
        The basis at the start and after every pass.
    objective : float64, shape (passes + 1,)
        (18) or (9) at every basis of the path, with coefficients folded in exactly; untraced: at the first and the
        last alone, shape (2,).
    met : float64, shape (passes,)
        The risk at the coefficients and bases met during each pass, as the algorithm itself saw it.
    converged : bool
        Did the objective change by at most ``tol`` (relative) in the last pass?
    block_gap : float
        Exact method: the largest gap of a basis block that was solved; NaN for norms that must equal c; else 0.
    fold_gap : float
        The largest gap of coefficients that were folded in exactly, for the objective or by the exact method. Above
        ``ACCURACY`` rho^2 an :class:`UncertifiedWarning` was given, and the objective may be too high by phi times it.
    """

    U: Floats
    path: Floats
    objective: Floats
    met: Floats
    converged: bool
    block_gap: float
    fold_gap: float
    feature_names: tuple[str, ...] | None = None

    @property
    def model(self) -> LinearModel:
        """The linear ranker a = U 1, which ranks as Algorithm 2 does with gradient folding-in."""
        return LinearModel.of(direction(self.U, "gradient"), feature_names=self.feature_names)

    @property
    def passes(self) -> int:
        """Passes taken."""
        return len(self.met)

    @checked
    def score(self, X: ArrayLike, fold_in: FoldIn = "gradient") -> Floats:
        """<a, x> for rows x of X (N, d) with a = U 1 or (U^+)' 1: see :mod:`pipeline_lib.learners.cone_ranking`.

        Raises
        ------
        DataError
            When X is not a matrix of d finite features, or ``fold_in`` is neither of its names.

        Example
        -------
        >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 1])
        >>> fit(data, 1, method="exact").score([[2.0]]).round(6)
        array([1.])
        """
        documents = checks.floats("X", X, ndim=2)
        if documents.shape[1] != len(self.U):
            raise DataError(f"X: expected {len(self.U)} features, found {documents.shape[1]}")
        return np.einsum("ij,j->i", documents, direction(self.U, fold_in))


@checked
def fit(
    data: RankingData,
    K: Count,
    *,
    method: Method = "sg",
    problem: Problem = PUBLISHED,
    step: Positive | None = None,
    passes: Count = 30,
    fold_steps: Count = 10,
    fold_tol: Positive = FOLD_TOL,
    tol: NonNegative = 1e-4,
    traced: bool = True,
    at_once: bool = False,
    start: ArrayLike | None = None,
    order: ArrayLike | None = None,
    seed: Seed = 0,
) -> Fit:
    """Learn a basis of K vectors from the pairs of ``data`` (features as they are: standardise first).

    Parameters
    ----------
    data : RankingData
        With at least one pair.
    K : int >= 1
    method : "sg", "sg-printed", "eg", "eg-linear" or "exact"
    problem : Problem
    step : float > 0, optional
        mu, of both blocks; the published one when not given.
    passes : int >= 1
        Over all queries, at most.
    fold_steps, fold_tol
        A pair's folding-in stops when its coefficients move by at most fold_tol (sum of sizes), or after fold_steps.
    tol : float >= 0
        Stop when the objective changes by at most this much (relative) in a pass; 0: take all passes.
    traced : bool
        False takes all passes without measuring the objective after each, which costs more than the pass.
    at_once : bool
        One basis step a pass instead of one a query; always so for "exact".
    start : shape (d, K), optional
        First basis, columns moved to norm <= c; else random, see :func:`started`.
    order : integers, shape (passes, Q), optional
        Queries of every pass; else random, anew in every pass.
    seed : int or axes of a seed
        Of start, order and the coefficients' random starts.

    Raises
    ------
    DataError
        When an argument is out of range, there is no feature, no two documents of a query differ in label, or
        "eg-linear" meets a band.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 1])
    >>> result = fit(data, 1, method="exact")
    >>> result.U.round(6), result.objective[-1].round(9)
    (array([[0.5]]), np.float64(0.0))
    """
    d, axes = data.n_features, axes_of(seed)
    how, numbers = _for_kernels(method, problem, step, fold_steps, fold_tol, d)
    _check_data(data)
    begin = started(d, K, problem, axes) if start is None else _given_start(start, d, K, problem)
    rounds = random_order(data.n_queries, passes, axes) if order is None else _given_order(order, data)
    if len(rounds) != passes:
        raise DataError(f"order: expected a row for each of {passes} passes, found {len(rounds)}")
    limits = (problem.c_of(d), problem.norms == "equal", at_once or method == "exact")
    value, fold_gap = _risk_and_gap(data, begin, problem)
    path, met, values = [begin], [], [value]
    gap, converged, key = 0.0, False, _key_of(axes)
    # A pass at a time: the kernel starts where it ended, and the objective says when to stop.
    for t in progress.counted(range(passes), "passes"):
        bases, seen = np.empty((2, *begin.shape)), np.empty(1)
        X, y, offsets = data.X64, data.y, data.offsets
        left, unsolved = cone_kernels.train(
            X, y, offsets, path[-1], rounds[t : t + 1], -1, how, numbers, *limits, key + t, bases, seen
        )
        gap, fold_gap = left if math.isnan(left) else max(gap, left), max(fold_gap, unsolved)
        path.append(bases[1])
        met.append(float(seen[0]))
        if traced or t == passes - 1:
            value, unsolved = _risk_and_gap(data, bases[1], problem)
            values.append(value)
            fold_gap = max(fold_gap, unsolved)
        converged = traced and tol > 0.0 and abs(values[-2] - values[-1]) <= tol * abs(values[-2])
        if converged:
            break
    _warn_above(fold_gap, problem.rho_of(d))
    return Fit(path[-1], np.stack(path), np.array(values), np.array(met), converged, gap, fold_gap, names_of(data))


@checked
def without_each(
    data: RankingData,
    start: Floats,
    order: NDArray[np.int64],
    left_out: ArrayLike,
    *,
    method: Method = "sg",
    problem: Problem = PUBLISHED,
    step: Positive | None = None,
    fold_steps: Count = 10,
    fold_tol: Positive = FOLD_TOL,
    at_once: bool = False,
    seed: Seed = 0,
) -> Floats:
    """The last basis of a training that leaves out one query, for each of ``left_out``: the stability of section 3.4.

    All begin at the same basis and meet the other queries in the same order; otherwise the columns of the bases would
    not correspond.
    The coefficients of a pair begin at the same numbers as well, and all passes are taken. A query that is not there
    (-1) leaves out nothing.

    Returns
    -------
    float64, shape (len(left_out), d, K)

    Raises
    ------
    DataError
        As :func:`fit`, and when ``left_out`` is not a list of whole numbers.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0], [0.0], [2.0]], [0, 1, 0, 1], [1, 1, 2, 2])
    >>> start, order = started(1, 1, Problem(), (1,)), random_order(2, 3, (1,))
    >>> without_each(data, start, order, [-1, 0, 1], method="exact").shape
    (3, 1, 1)
    """
    d = data.n_features
    how, numbers = _for_kernels(method, problem, step, fold_steps, fold_tol, d)
    _check_data(data)
    skipped = checks.whole_numbers("left_out", left_out)
    begin, rounds = _given_start(start, d, _given_basis(start, d, "start").shape[1], problem), _given_order(order, data)
    limits = (problem.c_of(d), problem.norms == "equal", at_once or method == "exact")
    path, met, key = np.empty((len(rounds) + 1, *begin.shape)), np.empty(len(rounds)), _key_of(axes_of(seed))
    bases, largest = np.empty((len(skipped), *begin.shape)), 0.0
    for i, query in enumerate(skipped.tolist()):
        X, y, offsets = data.X64, data.y, data.offsets
        _, unsolved = cone_kernels.train(X, y, offsets, begin, rounds, query, how, numbers, *limits, key, path, met)
        bases[i], largest = path[-1], max(largest, unsolved)
    _warn_above(largest, problem.rho_of(d))
    return bases


@checked
def started(d: Count, K: Count, problem: Problem, seed: SeedAxes) -> Floats:
    """A random basis, shape (d, K): normal entries with ||u_k|| about rho, columns longer than c cut to c.

    "Randomly initialised to satisfy the relaxed norm constraint": with rho = sqrt(d) the entries are standard normal.

    Raises
    ------
    DataError
        When d or K is not a whole number >= 1.

    Example
    -------
    >>> basis = started(400, 3, Problem(), (7,))
    >>> np.linalg.norm(basis, axis=0).round(-1), Problem().c_of(400)
    (array([20., 20., 20.]), 40.0)
    """
    rho = problem.rho_of(d)
    basis: Floats = generator(*seed, "cone-basis").standard_normal((d, K)) * (rho / math.sqrt(d))
    cone_kernels.clip_columns(basis, problem.c_of(d), problem.norms == "equal")
    return basis


@checked
def random_order(n_queries: Natural, passes: Count, seed: SeedAxes) -> NDArray[np.int64]:
    """Every query once a pass, in a new random order each time; shape (passes, Q).

    Example
    -------
    >>> sorted(random_order(3, 2, (7,))[1].tolist())
    [0, 1, 2]
    """
    rng = generator(*seed, "cone-order")
    return np.stack([rng.permutation(n_queries) for _ in range(passes)]).astype(np.int64)


def _check_data(data: RankingData) -> None:
    check_weights("cone", data)
    if not data.n_features:
        raise UnlearnableError("data: expected documents with at least one feature, found none")
    if not has_pairs(data):
        raise UnlearnableError("data: expected a query with documents of different labels, found none")


def _given_basis(U: ArrayLike, d: int, name: str = "U") -> Floats:
    basis = np.ascontiguousarray(checks.floats(name, U, ndim=2))
    if len(basis) != d or not basis.shape[1]:
        raise DataError(f"{name}: expected finite numbers, shape ({d}, K), K >= 1, found shape {basis.shape}")
    return basis


def _at_best(kernel: Callable[..., Any], data: RankingData, U: ArrayLike, problem: Problem) -> tuple[Any, ...]:
    # What a kernel computes at the best coefficients of every pair; the largest gap of these comes last.
    basis, rho = _given_basis(U, data.n_features), problem.rho_of(data.n_features)
    how = (problem.weighted, problem.alpha, rho, *problem.band, ACCURACY * rho**2)
    return kernel(data.X64, data.y, data.offsets, basis, *how)


def _risk_and_gap(data: RankingData, U: ArrayLike, problem: Problem) -> tuple[float, float]:
    # The risk, and the largest gap of the coefficients behind it.
    values, pairs, _, _, unsolved = _at_best(cone_kernels.objective, data, U, problem)
    return float(values[pairs > 0].mean()) if (pairs > 0).any() else 0.0, unsolved


def _warn_above(gap: float, rho: float) -> None:
    if not gap <= cone_kernels.SLACK * ACCURACY * rho**2:
        warnings.warn(
            f"cone: the coefficients of a pair are certified to a gap of {gap:.2g}, not {ACCURACY * rho**2:.2g}: its "
            "||z - U w||^2 may be too high by as much; are the columns of U much longer than rho?",
            UncertifiedWarning,
            stacklevel=3,
        )


def _given_start(start: ArrayLike, d: int, K: int, problem: Problem) -> Floats:
    basis = np.array(checks.floats("start", start, shape=(d, K)), order="C")
    cone_kernels.clip_columns(basis, problem.c_of(d), problem.norms == "equal")
    return basis


def _given_order(order: ArrayLike, data: RankingData) -> NDArray[np.int64]:
    return np.ascontiguousarray(checks.whole_numbers("order", order, 0, data.n_queries - 1, ndim=2))


def _for_kernels(
    method: Method, problem: Problem, step: float | None, fold_steps: int, fold_tol: float, d: int
) -> tuple[tuple[int, int, bool], tuple[float, ...]]:
    # How the kernels fold in, and their numbers
    mu = PUBLISHED_STEPS[method] if step is None else step
    if method == "eg-linear" and problem.band[0] != problem.band[1]:
        raise DataError("eg-linear: its update keeps the sum of the coefficients; expected a band (low, low)")
    rho = problem.rho_of(d)
    tol = ACCURACY * rho**2 if method == "exact" else fold_tol
    how = (METHODS.index(method), fold_steps, bool(problem.weighted))
    return how, (float(problem.alpha), rho, float(mu), float(tol), float(problem.band[0]), float(problem.band[1]))


def _key_of(axes: tuple[Any, ...]) -> int:
    return int(generator(*axes, "cone-coefficients").integers(2**62))


class ConeSettings(Selecting):
    """ConeRank: Algorithm 1 over the training queries in random order, ranking with the linear score."""

    basis: Sizes = Field((10,), description="K, or several values, of which the best is chosen on the validation part")
    method: Literal["sg", "sg-printed", "eg", "eg-linear", "exact"] = Field(
        "sg", description="method of folding in: sg, eg, eg-linear, exact, or sg-printed (erratum W)"
    )
    step: Positive | None = Field(None, description="mu, or null for the published one")
    passes: Whole = Field(30, description="largest number of passes; the best number is chosen on the validation part")
    fold_steps: Whole = Field(10, description="largest number of steps of folding in one pair")
    restarts: Whole = Field(2, le=1000, description="random starts, of which the best is chosen on the validation part")
    alpha: Positive = Field(1.0, description="alpha of eq. 5")
    rho: Positive | None = Field(None, description="rho of eq. 5; null means sqrt(features)")
    c: Positive | None = Field(None, description="largest norm of a basis vector u_k; null means 2 rho")
    weighted: bool = Field(True, description="whether pairs are weighted by the difference of their labels")
    fold_in: Literal["gradient", "least-squares"] = Field(
        "gradient", description="how documents are folded in for prediction: gradient or least-squares"
    )
    features: PlainFeatures = Field("standardised", description="standardised or raw")
    queries: Whole | None = Field(None, description="train on so many random training queries; null means all")


@checked
def train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
    """Learn cones from several starts on ``train``; keep the start, number of passes and K best on ``validation``.

    Parameters
    ----------
    settings : mapping
        Those of :class:`ConeSettings`; what is missing has its default. Ties go to the first K and start, and to the
        fewest passes.

    Returns
    -------
    Trained
        A linear model (observation E). The record holds the settings, the chosen ``basis``, ``start`` and ``passes``,
        their ``validation`` value, and ``tried``: the same for every K and start, with the objective first and last.

    Raises
    ------
    ConfigurationError, DataError
        When a setting is missing, unknown or out of range.
    """
    chosen = {**completed("cone", settings), "fold_tol": FOLD_TOL}
    selection.check_queries("cone", train, validation, "the passes")
    features = fitted(chosen["features"], train, seed)
    inside = features.apply(_sampled(train, chosen["queries"], seed))
    problem = Problem(chosen["alpha"], chosen["rho"], chosen["c"], chosen["weighted"])
    how = {name: chosen[name] for name in ("method", "step", "passes", "fold_steps", "fold_tol")}
    grid = [(K, start) for K in chosen["basis"] for start in range(chosen["restarts"])]
    tried, kept = [], []
    for K, start in grid:
        found = fit(inside, K, problem=problem, traced=False, seed=(*axes_of(seed), K, start), **how)
        models = [features.model(direction(U, chosen["fold_in"])) for U in found.path]
        values = selection.measured((model.predict(validation) for model in models), validation, chosen["selection"])
        after = selection.first_best(values)
        kept.append(models[after])
        _LOG.info(
            f"{chosen['method']}, K = {K}, start {start}: best after {after} of {chosen['passes']} passes, objective "
            f"from {found.objective[0]:.6g} to {found.objective[-1]:.6g}; validation {chosen['selection']} "
            f"{values[after]:.4f}"
        )
        tried.append(
            {
                "basis": K,
                "start": start,
                "first_objective": float(found.objective[0]),
                "last_objective": float(found.objective[-1]),
                "passes": after,
                "validation": values[after],
            }
        )
    best = selection.first_best([one["validation"] for one in tried])
    record = {"settings": chosen, "iterations": tried[best]["passes"], "tried": tried}
    record |= {name: tried[best][name] for name in ("basis", "start", "passes", "validation")}
    return Trained(kept[best], record)


def _sampled(data: RankingData, queries: int | None, seed: Seed) -> RankingData:
    # So many queries drawn without replacement, in the order of the data; all of them where there are no more.
    if queries is None or queries >= data.n_queries:
        return data
    drawn = generator(*axes_of(seed), "queries").permutation(data.n_queries)[:queries]
    return data.take(np.sort(drawn))


def _drawn(settings: ConeSettings, size: Size) -> float:
    # The share of the training queries on which it is trained
    return 1.0 if settings.queries is None else min(1.0, settings.queries / max(TRAINING * size.queries, 1.0))


def _seconds(settings: ConeSettings, size: Size) -> float:
    # About one pair in six of a query's documents has different labels. A step of folding in has a fixed cost and one
    # that grows with K d.
    pairs = _drawn(settings, size) * size.documents * size.documents_per_query / 6
    work = settings.passes * settings.restarts * settings.fold_steps * sum(listed(settings.basis))
    return IMPORTS + 3e-11 * work * pairs * (size.features + 450)


LEARNER = Learner(
    train,
    ConeSettings,
    formula=(
        r"\min_{U:\, \lVert u_k \rVert \le c} \; \frac{1}{n} \sum_q \frac{1}{n_q} \sum_{j \le n_q} "
        r"\phi_j \min_{w \ge 0,\, \sum_k w_k = 1} \lVert z_j - U w \rVert^2"
    ),
    seconds=_seconds,
    # All features that it computes with in double precision, however many they are
    megabytes=lambda settings, size: megabytes(settings, size) + 8e-6 * TRAINING * _drawn(settings, size) * size.cells,
)
