"""How does ConeRank learn the polyhedral cone that holds the differences between better and worse documents?

Algorithm 1 makes the risk (18) small (:mod:`pipeline_lib.learners.cone_risk`). It alternates: fold in the coefficients
of every pair with the basis U fixed (:mod:`pipeline_lib.learners.cone_folding`), then step along the gradient in U.
With the method ``exact`` U too is solved for, block against block.

Where Algorithm 1 leaves a choice, or is read otherwise than printed (docs/methods.md says what each changes):

- Folding in descends ||z_j - U w_j||^2 without the factor that the risk has there; the basis step has all factors.
- Step 2 moves all u_k at once, along one gradient; printed is one after another, each along the gradient at those
  already moved. The two differ by terms in mu^2.
- "Stochastic" means a basis step a query, along the gradient of its mean loss; ``at_once`` takes one step a pass along
  the gradient of the whole risk, as Algorithm 1 is printed.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib import checks, progress
from pipeline_lib.arrays import Floats
from pipeline_lib.checks import checked
from pipeline_lib.errors import DataError
from pipeline_lib.learners import completed, cone_kernels, selection
from pipeline_lib.learners.cone_folding import (
    FOLD_TOL,
    METHODS,
    PUBLISHED_STEPS,
    Method,
    axes_of,
    check_folding,
    folded_in,
    kernel_numbers,
    key_of,
)
from pipeline_lib.learners.cone_left_out import without_each
from pipeline_lib.learners.cone_ranking import FoldIn, direction
from pipeline_lib.learners.cone_risk import (
    ACCURACY,
    Problem,
    UncertifiedWarning,
    basis_gap,
    check_data,
    has_pairs,
    losses,
    pair_losses,
    risk,
    risk_and_gap,
    warn_above,
)
from pipeline_lib.learners.cone_start import given_order, given_start, random_order, started
from pipeline_lib.learners.features import fitted
from pipeline_lib.learners.models import LinearModel
from pipeline_lib.learners.ranker import Result, Seed, Trained, names_of
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator

__all__ = [
    "ACCURACY",
    "FOLD_TOL",
    "METHODS",
    "PUBLISHED_STEPS",
    "Fit",
    "FoldIn",
    "Method",
    "Problem",
    "UncertifiedWarning",
    "basis_gap",
    "fit",
    "folded_in",
    "has_pairs",
    "losses",
    "pair_losses",
    "random_order",
    "risk",
    "started",
    "train",
    "without_each",
]

_LOG = logging.getLogger(__name__)


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
    check_folding(method, problem, fold_steps, fold_tol)
    checks.whole("K", K, checks.COUNT)
    checks.whole("passes", passes, checks.COUNT)
    if not (math.isfinite(tol) and tol >= 0.0):
        raise DataError(f"tol: expected a finite number >= 0, found {tol}")
    check_data(data)
    d = data.n_features
    axes = axes_of(seed)
    begin = started(d, K, problem, axes) if start is None else given_start(start, d, K, problem)
    rounds = random_order(data.n_queries, passes, axes) if order is None else given_order(order, data, passes)
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
    how, numbers = kernel_numbers(method, problem, step, folding, data.n_features)
    c, equal = problem.c_of(data.n_features), problem.norms == "equal"
    first, fold_gap = risk_and_gap(data, start, problem)
    path, met, values = [start], [], [first]
    gap, converged, key = 0.0, False, key_of(axes)
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
        value, unsolved = risk_and_gap(data, bases[1], problem)
        values.append(value)
        fold_gap = max(fold_gap, unsolved)
        if tol > 0.0 and abs(values[-2] - values[-1]) <= tol * abs(values[-2]):
            converged = True
            break
    if tol is None:
        value, unsolved = risk_and_gap(data, path[-1], problem)
        values.append(value)
        fold_gap = max(fold_gap, unsolved)
    warn_above(fold_gap, problem.rho_of(data.n_features))
    return Fit(path[-1], np.stack(path), np.array(values), np.array(met), converged, gap, fold_gap, names_of(data))


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
    inside = features.apply(_sampled(train, chosen["queries"], seed))
    grid = [(K, start) for K in chosen["basis"] for start in range(chosen["restarts"])]
    tried, kept = [], []
    for K, start in grid:
        found = _fit_as_set(inside, K, chosen, (*axes_of(seed), K, start))
        models = [features.model(direction(U, chosen["fold_in"])) for U in found.path]
        values = [
            selection.mean_measure(model.predict(validation), validation, chosen["selection"]) for model in models
        ]
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


def _sampled(data: RankingData, queries: int | None, seed: Seed) -> RankingData:
    # So many queries drawn without replacement, in the order of the data; all of them where there are no more.
    if queries is None or queries >= data.n_queries:
        return data
    drawn = generator(*axes_of(seed), "queries").permutation(data.n_queries)[:queries]
    return data.take(np.sort(drawn))


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
