"""Certified minima of smooth surrogates by a conic solver

The peer is cvxpy with Clarabel: ListNet as sums of logarithms of sums of exponentials, RankNet as log(1 + e^t) of all
pairs, for which the solver needs cones of exponentials. Both solve the same problem on the same lists of 20 documents
with 46 features and labels 0..2, drawn from noisy linear utilities; sizes are small, because the number of cones is
that of documents or of pairs. Ours stop at a certified relative gap of 1e-6 and, in another row, of 1e-9. Clarabel's
note states the relative difference of its primal and its dual objective, which is its own certificate, and how far
above our lower bound of the minimum its ranker ends. Its times include cvxpy's translation of the problem.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.bench_erm import form_pairs, objective
from benchmarks.timing import Note, Timing, compare, not_measured
from pipeline_lib import RankingData
from pipeline_lib.learners import erm

DOCUMENTS, FEATURES, L2 = 20, 46, 0.01
SIZES = {"listnet": (50, 200), "ranknet": (20, 60)}
OURS, TIGHT, PEER = "erm.fit, gap 1e-6", "erm.fit, gap 1e-9", "cvxpy + Clarabel"


@dataclass(frozen=True)
class Solved:
    """What the conic solver found: the ranker, its own relative gap."""

    w: np.ndarray
    gap: float


def sample(n_queries: int) -> RankingData:
    """Lists of one length, labels 0, 1, 2 for 76, 17 and 7 % of the documents."""
    rng = np.random.default_rng(20264)
    X = rng.normal(size=(n_queries * DOCUMENTS, FEATURES))
    utility = X @ rng.normal(size=FEATURES)
    utility = utility / utility.std() + rng.normal(size=len(X))
    y = np.searchsorted(np.quantile(utility, [0.76, 0.93]), utility)
    return RankingData.from_arrays(X, y, np.repeat(np.arange(n_queries), DOCUMENTS))


def risk(cp: Any, data: RankingData, name: str, w: Any) -> Any:
    """The mean surrogate loss as an expression of cvxpy."""
    if name == "ranknet":
        return cp.sum(cp.logistic(-form_pairs(data) @ w)) / data.n_queries
    mass = np.exp(data.y.reshape(-1, DOCUMENTS).astype(float))
    target = (mass / mass.sum(axis=1, keepdims=True)).ravel()
    scores = cp.reshape(data.X64 @ w, (data.n_queries, DOCUMENTS), order="C")
    return (cp.sum(cp.log_sum_exp(scores, axis=1)) - (target @ data.X64) @ w) / data.n_queries


def conic(data: RankingData, name: str) -> Callable[[], Solved]:
    """Form the problem, translate it and solve it."""
    cp = importlib.import_module("cvxpy")

    def solve() -> Solved:
        w = cp.Variable(FEATURES)
        problem = cp.Problem(cp.Minimize(0.5 * L2 * cp.sum_squares(w) + risk(cp, data, name, w)))
        # These are the steps of problem.solve(), which keeps no dual objective.
        options = {"max_threads": 1}
        found, chain, inverse = problem.get_problem_data(cp.CLARABEL, solver_opts=options)
        solution = chain.solve_via_data(problem, found, solver_opts=options)
        problem.unpack_results(solution, chain, inverse)
        gap = abs(solution.obj_val - solution.obj_val_dual) / problem.value
        return Solved(np.asarray(w.value), gap)

    return solve


def conic_note(data: RankingData, name: str) -> Note:
    """What the solver says, and what is so."""

    def told(results: Mapping[str, Any]) -> str:
        found, fit = results[PEER], results[TIGHT]
        above = objective(data, name, L2, found.w) / (fit.objective - fit.gap) - 1.0
        return f"its own gap {found.gap:.1e}; {above:.1e} above the minimum"

    return told


def certificate(name: str) -> Note:
    """The certified gap of our fit."""
    return lambda results: f"certified gap {results[name].relative_gap:.1e}"


def measure() -> list[Timing]:
    """Both surrogates, two sizes each."""
    timings = []
    for name, sizes in SIZES.items():
        for n in sizes:
            data = sample(n)
            work = f"{name}, {n} x {DOCUMENTS} documents"
            if name == "ranknet":
                work += f", {len(form_pairs(data)):,} pairs"
            calls: dict[str, Callable[[], Any]] = {
                row: partial(erm.fit, data, name, l2=L2, tol=tol) for row, tol in ((OURS, 1e-6), (TIGHT, 1e-9))
            }
            notes: dict[str, Note] = {row: certificate(row) for row in calls} | {PEER: conic_note(data, name)}
            missing = []
            try:
                calls[PEER] = conic(data, name)
            except ImportError as error:
                missing.append(not_measured(work, PEER, "documents", f"not installed: {error}"))
            timings += compare(work, calls, unit="documents", unit_count=data.n_documents, notes=notes) + missing
    return timings
