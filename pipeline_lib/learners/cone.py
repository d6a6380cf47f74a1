"""How does ConeRank learn the polyhedral cone that holds the differences between better and worse documents?

For pairs with y_l > y_m, phi = y_l - y_m and z = rho (x_l - x_m) / (alpha + ||x_l - x_m||)  (eq. 5, 7), problem (18) is

    min over U (d x K, ||u_k|| <= c) and w_j (>= 0, sum 1) of   mean over queries of  mean over its pairs of
        phi_j ||z_j - U w_j||^2,

and (9) the same with ||u_k|| = c and low <= sum w_j <= high. Queries without a pair do not count.

Algorithm 1 alternates: fold in w_j with U fixed, then step along the gradient in U. How w_j is folded in:

| method | step on ||z - U w||^2, gradient g |
|---|---|
| ``sg`` | w - mu g, projected on the set: what (18) asks for |
| ``sg-printed`` | max(w - mu g, 0), divided by its sum: steps 1a to 1c as printed, which end elsewhere (errata, W) |
| ``eg`` | w exp(-mu g), divided by its sum |
| ``eg-linear`` | w (1 - mu (g - w.g)) |
| ``exact`` | the minimum, certified; U too is solved for, block against block |

Where Algorithm 1 leaves a choice, or is read otherwise than printed (docs/methods.md says what each changes):

- Step 1a descends ||z_j - U w_j||^2, without the factor phi_j / (P n_q) that the risk has there: with 1/(P n_q) a step
  of mu = .001 moves nothing, and phi_j > 0 moves no minimiser. Where folding-in is cut short, phi_j would let it go
  further for pairs that weigh more. The basis step has all factors.
- Step 2 moves all u_k at once, along one gradient; printed is one after another, each along the gradient at those
  already moved. The two differ by terms in mu^2.
- "Stochastic" means a basis step a query, along the gradient of its mean loss; ``at_once`` takes one step a pass along
  the gradient of the whole risk, as Algorithm 1 is printed.
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib import checks, progress
from pipeline_lib.arrays import Floats
from pipeline_lib.checks import checked
from pipeline_lib.errors import DataError
from pipeline_lib.learners import completed, cone_kernels, selection
from pipeline_lib.learners.cone_ranking import FoldIn, direction
from pipeline_lib.learners.features import fitted
from pipeline_lib.learners.models import Model, Seed, Trained
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator

_LOG = logging.getLogger(__name__)

Method = Literal["sg", "sg-printed", "eg", "eg-linear", "exact"]
METHODS: tuple[Method, ...] = get_args(Method)
PUBLISHED_STEPS: Mapping[str, float] = {"sg": 0.001, "sg-printed": 0.001, "eg": 0.005, "eg-linear": 0.005, "exact": 1.0}
"""mu of section 6.1; the exact method has no step."""

FOLD_TOL = 1e-3
"""A pair's folding-in stops when its coefficients move by at most this much (sum of sizes)."""

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

    alpha: float = 1.0
    rho: float | None = None
    c: float | None = None
    weighted: bool = True
    band: tuple[float, float] = (1.0, 1.0)
    norms: Literal["at-most", "equal"] = "at-most"

    def __post_init__(self) -> None:
        for name in ("alpha", "rho", "c"):
            value = getattr(self, name)
            if value is not None:
                checks.real(name, value, checks.POSITIVE)
        if not isinstance(self.band, tuple | list) or len(self.band) != 2:
            raise DataError(f"band: expected two numbers (low, high), found {self.band!r}")
        low, high = self.band
        checks.real("band", low, checks.POSITIVE)
        checks.real("band", high, checks.POSITIVE)
        if not 0.0 < low <= high < math.inf:
            raise DataError(f"band: expected 0 < low <= high, found {low}, {high}")
        if self.norms not in ("at-most", "equal"):
            raise DataError(f"norms: expected 'at-most' or 'equal', found {self.norms!r}")

    def rho_of(self, d: int) -> float:
        """rho for d features."""
        return math.sqrt(d) if self.rho is None else float(self.rho)

    def c_of(self, d: int) -> float:
        """c for d features."""
        return 2.0 * self.rho_of(d) if self.c is None else float(self.c)


@dataclass(frozen=True, eq=False)
class Fit:
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
        documents = np.asarray(X, dtype=np.float64)
        if documents.ndim != 2 or documents.shape[1] != len(self.U) or not np.isfinite(documents).all():
            raise DataError(f"X: expected finite features, shape (N, {len(self.U)}), found shape {documents.shape}")
        scores: Floats = np.einsum("ij,j->i", documents, direction(self.U, fold_in))
        return scores


@checked
def fit(
    data: RankingData,
    K: int,
    *,
    method: Method = "sg",
    problem: Problem | None = None,
    step: float | None = None,
    passes: int = 30,
    fold_steps: int = 10,
    fold_tol: float = FOLD_TOL,
    tol: float = 1e-4,
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
    problem : Problem, optional
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
    problem = Problem() if problem is None else problem
    _check_folding(method, problem, fold_steps, fold_tol)
    checks.whole("K", K, checks.COUNT)
    checks.whole("passes", passes, checks.COUNT)
    if not (math.isfinite(tol) and tol >= 0.0):
        raise DataError(f"tol: expected a finite number >= 0, found {tol}")
    _check_data(data)
    d = data.n_features
    axes = _axes(seed)
    begin = started(d, K, problem, axes) if start is None else _given_start(start, d, K, problem)
    rounds = random_order(data.n_queries, passes, axes) if order is None else _given_order(order, data, passes)
    return _passes(
        data,
        begin,
        rounds,
        method,
        problem,
        step,
        (fold_steps, fold_tol),
        tol if traced else None,
        at_once or method == "exact",
        axes,
    )


def _passes(
    data: RankingData,
    start: Floats,
    order: NDArray[np.int64],
    method: Method,
    problem: Problem,
    step: float | None,
    folding: tuple[int, float],
    tol: float | None,
    at_once: bool,
    axes: tuple[Any, ...],
) -> Fit:
    # A pass at a time: the kernel starts where it ended, and the objective says when to stop.
    how, numbers = _spelled(method, problem, step, folding, data.n_features)
    c, equal = problem.c_of(data.n_features), problem.norms == "equal"
    first, fold_gap = _risk(data, start, problem)
    path, met, values = [start], [], [first]
    gap, converged, key = 0.0, False, _key(axes)
    for t in progress.counted(range(len(order)), _LOG, "passes"):
        bases, seen = np.empty((2, *start.shape)), np.empty(1)
        left, unsolved = cone_kernels.train(
            data.X64,
            data.y,
            data.offsets,
            path[-1],
            order[t : t + 1],
            -1,
            how,
            numbers,
            c,
            equal,
            at_once,
            key + t,
            bases,
            seen,
        )
        gap = left if math.isnan(left) else max(gap, left)
        fold_gap = max(fold_gap, unsolved)
        path.append(bases[1])
        met.append(float(seen[0]))
        if tol is None:
            continue
        value, unsolved = _risk(data, bases[1], problem)
        values.append(value)
        fold_gap = max(fold_gap, unsolved)
        if tol > 0.0 and abs(values[-2] - values[-1]) <= tol * abs(values[-2]):
            converged = True
            break
    if tol is None:
        value, unsolved = _risk(data, path[-1], problem)
        values.append(value)
        fold_gap = max(fold_gap, unsolved)
    _warn_above(fold_gap, problem.rho_of(data.n_features))
    return Fit(path[-1], np.stack(path), np.array(values), np.array(met), converged, gap, fold_gap)


@checked
def without_each(
    data: RankingData,
    start: Floats,
    order: NDArray[np.int64],
    left_out: ArrayLike,
    *,
    method: Method = "sg",
    problem: Problem | None = None,
    step: float | None = None,
    fold_steps: int = 10,
    fold_tol: float = FOLD_TOL,
    at_once: bool = False,
    seed: Seed = 0,
) -> Floats:
    """The last basis of a training that leaves out one query, for each of ``left_out``, in one compiled batch.

    Same start, same order of the other queries, same starts of the coefficients, all passes: otherwise the columns
    would not correspond. A query that is not there (-1) leaves out nothing.

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
    problem = Problem() if problem is None else problem
    _check_folding(method, problem, fold_steps, fold_tol)
    _check_data(data)
    d, skipped = data.n_features, checks.whole_numbers("left_out", left_out)
    how, numbers = _spelled(method, problem, step, (fold_steps, fold_tol), d)
    bases, unsolved = cone_kernels.train_without_each(
        data.X64,
        data.y,
        data.offsets,
        _given_start(start, d, _given_basis(start, d, "start").shape[1], problem),
        _given_order(order, data, None),
        skipped,
        how,
        numbers,
        problem.c_of(d),
        problem.norms == "equal",
        at_once or method == "exact",
        _key(_axes(seed)),
    )
    _warn_above(unsolved, problem.rho_of(d))
    found: Floats = bases
    return found


@checked
def losses(data: RankingData, U: ArrayLike, problem: Problem | None = None) -> tuple[Floats, NDArray[np.int64]]:
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
    problem = Problem() if problem is None else problem
    values, pairs, _, _, unsolved = _at_best(data, U, problem)
    _warn_above(unsolved, problem.rho_of(data.n_features))
    return values, pairs


@checked
def basis_gap(data: RankingData, U: ArrayLike, problem: Problem | None = None) -> float:
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
    problem = Problem() if problem is None else problem
    if problem.norms == "equal":
        raise DataError("basis_gap: expected norms 'at-most', found 'equal'")
    _, pairs, M, B, unsolved = _at_best(data, U, problem)
    _warn_above(unsolved, problem.rho_of(data.n_features))
    counted = int((pairs > 0).sum())
    if not counted:
        raise DataError("data: expected a query with documents of different labels, found none")
    basis = _given_basis(U, data.n_features)
    return float(cone_kernels.basis_gap(basis, M / counted, B / counted, problem.c_of(data.n_features)))


def _at_best(
    data: RankingData, U: ArrayLike, problem: Problem
) -> tuple[Floats, NDArray[np.int64], Floats, Floats, float]:
    basis = _given_basis(U, data.n_features)
    rho = problem.rho_of(data.n_features)
    low, high = problem.band
    found: tuple[Floats, NDArray[np.int64], Floats, Floats, float] = cone_kernels.objective(
        data.X64, data.y, data.offsets, basis, problem.weighted, problem.alpha, rho, low, high, ACCURACY * rho**2
    )
    return found


@checked
def risk(data: RankingData, U: ArrayLike, problem: Problem | None = None) -> float:
    """The empirical risk (4): the mean of L_q over the queries that have pairs; 0 if there are none.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0], [5.0]], [0, 1, 2], [1, 1, 2])
    >>> risk(data, [[-0.5]])
    1.0
    """
    problem = Problem() if problem is None else problem
    value, unsolved = _risk(data, U, problem)
    _warn_above(unsolved, problem.rho_of(data.n_features))
    return value


def _risk(data: RankingData, U: ArrayLike, problem: Problem) -> tuple[float, float]:
    # The risk, and the largest gap of the coefficients behind it.
    values, pairs, _, _, unsolved = _at_best(data, U, problem)
    return float(values[pairs > 0].mean()) if (pairs > 0).any() else 0.0, unsolved


def _warn_above(gap: float, rho: float) -> None:
    if not gap <= cone_kernels.SLACK * ACCURACY * rho**2:
        warnings.warn(
            f"cone: the coefficients of a pair are certified to a gap of {gap:.2g}, not {ACCURACY * rho**2:.2g}: its "
            "||z - U w||^2 may be too high by as much; are the columns of U much longer than rho?",
            UncertifiedWarning,
            stacklevel=3,
        )


@checked
def pair_losses(data: RankingData, U: ArrayLike, problem: Problem | None = None) -> Floats:
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
    problem = Problem() if problem is None else problem
    basis = _given_basis(U, data.n_features)
    rho = problem.rho_of(data.n_features)
    low, high = problem.band
    found, unsolved = cone_kernels.every_loss(
        data.X64, data.y, data.offsets, basis, problem.weighted, problem.alpha, rho, low, high, ACCURACY * rho**2
    )
    _warn_above(unsolved, rho)
    every: Floats = found
    return every


@checked
def folded_in(
    data: RankingData,
    U: ArrayLike,
    query: int,
    *,
    method: Method,
    problem: Problem | None = None,
    step: float | None = None,
    fold_steps: int = 10,
    fold_tol: float = FOLD_TOL,
    seed: Seed = 0,
) -> Floats:
    """The coefficients of every pair of one query for a fixed basis, shape (pairs, K).

    Pairs (l, m) with y_l > y_m in the order of l, then m.

    Raises
    ------
    DataError
        As :func:`losses` and :func:`fit`, and when there is no such query.

    Example
    -------
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 1])
    >>> folded_in(data, [[0.5]], 0, method="exact")
    array([[1.]])
    """
    problem = Problem() if problem is None else problem
    _check_folding(method, problem, fold_steps, fold_tol)
    basis = _given_basis(U, data.n_features)
    if not 0 <= query < data.n_queries:
        raise DataError(f"query: expected a number from 0 to {data.n_queries - 1}, found {query}")
    how, numbers = _spelled(method, problem, step, (fold_steps, fold_tol), data.n_features)
    begin, end = int(data.offsets[query]), int(data.offsets[query + 1])
    y = data.y[begin:end]
    n = int((y[:, None] > y).sum())
    W, unsolved = cone_kernels.coefficients(data.X64, data.y, begin, end, basis, how, numbers, _key(_axes(seed)), n)
    _warn_above(unsolved, problem.rho_of(data.n_features))
    found: Floats = W
    return found


@checked(d=checks.COUNT)
def started(d: int, K: int, problem: Problem, seed: tuple[Any, ...]) -> Floats:
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
def random_order(n_queries: int, passes: int, seed: tuple[Any, ...]) -> NDArray[np.int64]:
    """Every query once a pass, in a new random order each time; shape (passes, Q).

    Example
    -------
    >>> sorted(random_order(3, 2, (7,))[1].tolist())
    [0, 1, 2]
    """
    rng = generator(*seed, "cone-order")
    return np.stack([rng.permutation(n_queries) for _ in range(passes)]).astype(np.int64)


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


@checked
def train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Seed) -> Trained:
    """Learn cones from several starts on ``train``; keep the start, number of passes and K best on ``validation``.

    Parameters
    ----------
    settings : mapping
        Those of :class:`pipeline_lib.learners.declared.cone.ConeSettings`; what is missing has its default. Ties go to
        the first K and start, and to the fewest passes.

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
    inside = features.apply(train)
    grid = [(K, start) for K in chosen["basis"] for start in range(chosen["restarts"])]
    tried, kept = [], []
    for K, start in grid:
        found = _fit_as_set(inside, K, chosen, (*_axes(seed), K, start))
        models = [features.model(direction(U, chosen["fold_in"])) for U in found.path]
        values = [_mean_value(model, validation, chosen["selection"]) for model in models]
        after = int(np.argmax(values))
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
    best = max(range(len(grid)), key=lambda k: (tried[k]["validation"], -k))
    chosen_pass = tried[best]["passes"]
    record = {"settings": chosen, "iterations": chosen_pass, "tried": tried}
    record |= {name: tried[best][name] for name in ("basis", "start", "passes", "validation")}
    return Trained(kept[best], record)


def _fit_as_set(data: RankingData, K: int, chosen: Mapping[str, Any], seed: tuple[Any, ...]) -> Fit:
    problem = Problem(chosen["alpha"], chosen["rho"], chosen["c"], chosen["weighted"])
    return fit(
        data,
        K,
        method=chosen["method"],
        problem=problem,
        step=chosen["step"],
        passes=chosen["passes"],
        fold_steps=chosen["fold_steps"],
        fold_tol=chosen["fold_tol"],
        traced=False,
        seed=seed,
    )


def _mean_value(model: Model, data: RankingData, measure: str) -> float:
    from pipeline_lib import metrics

    return float(np.mean(metrics.per_query([measure], model.score(data), data.y, data.offsets)[measure]))


def _spelled(
    method: Method, problem: Problem, step: float | None, folding: tuple[int, float], d: int
) -> tuple[tuple[int, int, bool], tuple[float, float, float, float, float, float]]:
    mu = PUBLISHED_STEPS[method] if step is None else step
    checks.real("step", mu, checks.POSITIVE)
    rho = problem.rho_of(d)
    tol = ACCURACY * rho**2 if method == "exact" else folding[1]
    how = (METHODS.index(method), folding[0], bool(problem.weighted))
    return how, (float(problem.alpha), rho, float(mu), float(tol), float(problem.band[0]), float(problem.band[1]))


def _check_folding(method: str, problem: Problem, fold_steps: int, fold_tol: float) -> None:
    checks.real("fold_tol", fold_tol, checks.POSITIVE)
    if method == "eg-linear" and problem.band[0] != problem.band[1]:
        raise DataError("eg-linear: its update keeps the sum of the coefficients; expected a band (low, low)")


def _check_data(data: RankingData) -> None:
    if not data.n_features:
        raise DataError("data: expected documents with at least one feature, found none")
    if not has_pairs(data):
        raise DataError("data: expected a query with documents of different labels, found none")


def _given_basis(U: ArrayLike, d: int, name: str = "U") -> Floats:
    basis = np.ascontiguousarray(checks.floats(name, U, ndim=2))
    if len(basis) != d or not basis.shape[1]:
        raise DataError(f"{name}: expected finite numbers, shape ({d}, K), K >= 1, found shape {basis.shape}")
    return basis


def _given_start(start: ArrayLike, d: int, K: int, problem: Problem) -> Floats:
    basis = np.array(checks.floats("start", start, shape=(d, K)), order="C")
    cone_kernels.clip_columns(basis, problem.c_of(d), problem.norms == "equal")
    return basis


def _given_order(order: ArrayLike, data: RankingData, passes: int | None) -> NDArray[np.int64]:
    rounds = checks.whole_numbers("order", order, 0, data.n_queries - 1, ndim=2)
    if passes is not None and len(rounds) != passes:
        raise DataError(f"order: expected a row for each of {passes} passes, found {len(rounds)}")
    return np.ascontiguousarray(rounds)


def _axes(seed: Seed) -> tuple[Any, ...]:
    return tuple(seed) if isinstance(seed, tuple | list) else (seed,)


def _key(axes: tuple[Any, ...]) -> int:
    return int(generator(*axes, "cone-coefficients").integers(2**62))
