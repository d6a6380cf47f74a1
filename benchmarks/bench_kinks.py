"""Certified minima of surrogates with kinks, against features and queries

Lists of 20 to 40 documents with labels 0 to 3, drawn from a linear utility with little noise, so that most hinges can
be met where l2 is small. Ours stop at a certified relative gap of 1e-6. The first rows have all of the default path of
seven l2, 1e-4 to 100, for every convex surrogate, also smooth ones, on these lists and on the largest training part of
OHSUMED's folds; the others are one fit each, free, in a ball of half the norm of the free minimiser, and for more and
more features and queries. Times are processor seconds of one call, after a small fit has compiled the kernels. A call
that takes more than 120 processor seconds is stopped, and its row says so.

The peers: cvxpy with Clarabel on the quadratic programme, with the scores and the highest score below every label as
variables, so that it has about as many rows as documents; LinearSVC on the pairs, with the largest of a ladder of
tolerances that reaches 1e-6, or the smallest that ends in time; and a plain subgradient method, with steps 1 / (l2 t)
and the mean of the second half of its 2,000 iterates. Notes state how far above our lower bound of the minimum each of
them ended.
"""

from __future__ import annotations

import importlib
import math
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_erm import form_pairs, linear_svc, objective
from benchmarks.timing import Timing
from pipeline_lib import RankingData, surrogates
from pipeline_lib.learners import erm
from pipeline_lib.ranking_data import Standardisation
from pipeline_lib.sources import mirrors
from pipeline_lib.surrogates import slam

TOL, L2 = 1e-6, 0.1
PATH = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
N_QUERIES, N_FEATURES = 200, 300
CONVEX = [name.replace("@k", "@10") for name in surrogates.NAMES if surrogates.create(name).convex]
FEATURES, QUERIES, QUERIES_FEATURES = (10, 30, 100, 300, 1_000, 3_000), (50, 800), 100
SUBGRADIENT_STEPS = 2_000
LONGEST = 120
"""Processor seconds after which a call is stopped."""
LADDER = (0.1, 1e-2, 1e-3, 1e-4)


def sample(n_queries: int = N_QUERIES, n_features: int = N_FEATURES) -> RankingData:
    """The data: independent normal features, labels 0 to 3 for 60, 25, 10 and 5 % of the documents."""
    rng = np.random.default_rng(1)
    sizes = rng.integers(20, 41, n_queries)
    X = rng.normal(size=(sizes.sum(), n_features))
    utility = X @ rng.normal(size=n_features)
    utility = utility / utility.std() + 0.3 * rng.normal(size=len(X))
    y = np.searchsorted(np.quantile(utility, [0.6, 0.85, 0.95]), utility)
    return RankingData.from_arrays(X, y, np.repeat(np.arange(n_queries), sizes))


def slam_programme(data: RankingData, l2: float) -> Callable[[], np.ndarray]:
    """SLAM-NDCG as a quadratic programme for cvxpy, solved by Clarabel."""
    cp = importlib.import_module("cvxpy")
    sparse = importlib.import_module("scipy.sparse")
    v = slam.weights_of_all(data.y, data.offsets, "ndcg")
    query = np.repeat(np.arange(data.n_queries), data.documents_per_query)
    levels = int(data.y.max()) + 1
    # The highest score below label k of query q is variable q levels + k; it is above that below label k - 1.
    paying = np.flatnonzero((v > 0) & (data.y > 0))
    N, n = data.n_documents, data.n_queries * levels
    rows = np.arange(N)
    above = sparse.csr_matrix((np.ones(N), (rows, query * levels + np.minimum(data.y + 1, levels - 1))), (N, n))
    counted = data.y < levels - 1
    chain = np.flatnonzero(np.arange(n) % levels > 1)
    own = sparse.csr_matrix(
        (np.ones(len(paying)), (rows[: len(paying)], (query * levels + data.y)[paying])), (len(paying), n)
    )

    def solve() -> np.ndarray:
        w, s, top, t = cp.Variable(data.n_features), cp.Variable(N), cp.Variable(n), cp.Variable(len(paying))
        rules = [s == data.X64 @ w, above[counted] @ top >= s[counted], top[chain] >= top[chain - 1]]
        rules += [t >= 0, t >= 1 + own @ top - s[paying]]
        target = 0.5 * l2 * cp.sum_squares(w) + v[paying] @ t / data.n_queries
        cp.Problem(cp.Minimize(target), rules).solve(solver=cp.CLARABEL, max_threads=1)
        return np.asarray(w.value)

    return solve


def subgradient(data: RankingData, name: str, l2: float) -> np.ndarray:
    """The mean of the second half of SUBGRADIENT_STEPS steps of 1 / (l2 t)."""
    surrogate, X = surrogates.create(name), data.X64
    w, total = np.zeros(data.n_features), np.zeros(data.n_features)
    for t in range(1, SUBGRADIENT_STEPS + 1):
        _, slope = surrogate.unchecked(X @ w, data.y, data.offsets)
        w = w - (l2 * w + X.T @ slope / data.n_queries) / (l2 * t)
        if 2 * t > SUBGRADIENT_STEPS:
            total += w
    return total / (SUBGRADIENT_STEPS // 2)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of a call, and its result; NaN and None if it was stopped after :data:`LONGEST`.

    The call runs in a process of its own, which the system ends at the limit whatever library it is in.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST))
        start = time.process_time()
        result = call()
        sender.send((time.process_time() - start, result))

    process = context.Process(target=work)
    process.start()
    sender.close()
    try:
        return receiver.recv()  # type: ignore[no-any-return]
    except EOFError:
        process.join()
        if process.exitcode and process.exitcode > 0:
            raise RuntimeError(f"a call ended with the status {process.exitcode}; its error is above") from None
        return float("nan"), None
    finally:
        process.join()


def row(work: str, who: str, data: RankingData, seconds: float, note: str) -> Timing:
    """One call's time, or that it was stopped."""
    if math.isnan(seconds) and not note:
        note = f"not reached in {LONGEST} s"
    return Timing(work, who, (seconds,), "documents", data.n_documents, note)


def certificate(fit: erm.Fit | None) -> str:
    """What the solver says of its own result."""
    if fit is None:
        return ""
    return f"certified gap {fit.relative_gap:.1e}" if fit.certified else fit.reason


def paths(only: str) -> list[Timing]:
    """The default path for every convex surrogate, for the works whose names contain ``only``."""
    found = []
    data_sets = {f"{N_QUERIES} queries x {N_FEATURES} features": sample, "OHSUMED": ohsumed}
    works = {name: {where: f"{name}, {where}, path of {len(PATH)} l2" for where in data_sets} for name in CONVEX}
    for where, made in data_sets.items():
        chosen = {name: work[where] for name, work in works.items() if only in work[where]}
        data = made() if chosen else None
        for name, work in chosen.items() if data is not None else ():
            assert data is not None
            seconds, fits = timed(partial(erm.path, data, name, PATH, tol=TOL))
            note = f"{sum(fit.certified for fit in fits)} of {len(PATH)} certified" if fits else ""
            found.append(row(work, "erm.path", data, seconds, note))
    return found


LARGEST = """\
import sys
from pathlib import Path
import numpy as np
from benchmarks import training_times
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.sources import folds
data = training_times.converted("OHSUMED", Path(sys.argv[1]))
parts = [folds.queries(data / "folds.parquet", fold, "train") for fold in range(1, 6)]
trained = [RankingData.read_parquet(data / "documents.parquet", part, stored=True) for part in parts]
largest = max(trained, key=lambda part: part.n_documents)
np.savez(Path(sys.argv[1]) / "largest.npz", X=largest.X, y=largest.y, sizes=largest.documents_per_query)
"""
"""Read in a process of its own: the threads of the libraries that read would stop the processes that are timed."""


def ohsumed() -> RankingData | None:
    """The largest training part of OHSUMED's folds, standardised; None without the archive."""
    if mirrors.VARIABLE not in os.environ:
        return None
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", LARGEST, folder], check=True)
        with np.load(Path(folder) / "largest.npz") as stored:
            X, y, sizes = (stored[name] for name in ("X", "y", "sizes"))
    data = RankingData.from_arrays(X, y, np.repeat(np.arange(len(sizes)), sizes))
    return Standardisation.of(data).apply(data)


def one_fit(n_queries: int, n_features: int, with_peers: bool, only: str) -> list[Timing]:
    """SLAM-NDCG and RankSVM at one l2 with their peers, and SLAM-NDCG in balls."""
    size = f"{n_queries} queries x {n_features:,} features"
    if only not in size:
        return []
    data, found = sample(n_queries, n_features), []
    for name in ("slam-ndcg", "ranksvm"):
        work = f"{name}, {size}, l2 = {L2:g}"
        seconds, fit = timed(partial(erm.fit, data, name, l2=L2, tol=TOL))
        found.append(row(work, "erm.fit", data, seconds, certificate(fit)))
        if with_peers:
            found += peers(work, data, name, fit.objective - fit.gap if fit else None)
        if name == "slam-ndcg" and fit:
            found += in_balls(data, size, fit.w)
    return found


def peers(work: str, data: RankingData, name: str, bound: float | None) -> list[Timing]:
    """The peers' times, and how far above ``bound`` they end, or their objectives where there is no bound."""

    def ending(w: np.ndarray | None) -> str:
        if w is None:
            return ""
        value = objective(data, name, L2, w)
        return f"objective {value:.8g}" if bound is None else f"{value / bound - 1.0:.1e} above the minimum"

    found = []
    try:
        if name == "slam-ndcg":
            seconds, w = timed(slam_programme(data, L2))
            found.append(row(work, "cvxpy + Clarabel", data, seconds, ending(w)))
        else:
            seconds, w = of_ladder(data, bound)
            found.append(row(work, "scikit-learn LinearSVC", data, seconds, ending(w)))
    except ImportError as error:
        found.append(row(work, "cvxpy, scikit-learn", data, float("nan"), f"not installed: {error}"))
    seconds, w = timed(partial(subgradient, data, name, L2))
    found.append(row(work, "subgradient method", data, seconds, ending(w)))
    return found


def of_ladder(data: RankingData, bound: float | None) -> tuple[float, np.ndarray | None]:
    """LinearSVC with the largest tolerance of the ladder that comes within TOL of the minimum."""
    svc = linear_svc(data, L2, form_pairs(data))
    best: tuple[float, np.ndarray | None] = float("nan"), None
    for tolerance in LADDER:
        seconds, w = timed(partial(svc, tolerance))
        if w is None:
            break
        best = seconds, w
        if bound is not None and objective(data, "ranksvm", L2, w) <= (1.0 + TOL) * bound:
            break
    return best


def in_balls(data: RankingData, size: str, free: np.ndarray) -> list[Timing]:
    """SLAM-NDCG without l2, in balls of half the norm of ``free``."""
    found = []
    for ball, order in (("l2", 2), ("l1", 1)):
        radius = 0.5 * float(np.linalg.norm(free, order))
        seconds, fit = timed(partial(erm.fit, data, "slam-ndcg", l2=0.0, radius=radius, ball=ball, tol=TOL))
        work = f"slam-ndcg, {size}, l2 = 0 in an {ball} ball"
        found.append(row(work, "erm.fit", data, seconds, certificate(fit)))
    return found


def measure(peers: bool = True, only: str = "") -> list[Timing]:
    """All rows, with or without those of the peers, or some: paths, then features, then queries."""
    for small in (sample(5, 40), sample(50, 10)):  # with more and with fewer features than queries
        for name in CONVEX:
            erm.fit(small, name, l2=L2)
    found = paths(only)
    for d in FEATURES:
        found += one_fit(N_QUERIES, d, peers, only)
    for n in QUERIES:
        found += one_fit(n, QUERIES_FEATURES, peers, only)
    return found
