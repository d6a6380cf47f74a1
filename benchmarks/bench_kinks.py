"""Certified minima of surrogates with kinks, against features and queries

Lists of 20 to 40 documents with labels 0 to 3, drawn from a linear utility with little noise, so that most hinges can
be met where l2 is small. Ours stop at a certified relative gap of 1e-6. The first rows have all of the default path of
seven l2, 1e-4 to 100, for every convex surrogate, including smooth ones, on these lists and on the largest training
part of OHSUMED's folds, where its archive is at hand; the others are one fit each, free, in a ball of half the norm of
the free minimiser, and for more and more features and queries. A call that takes more than 10 processor seconds is
stopped, and its row says so. A path is fitted once, because nothing is compared with it; elsewhere, the counted calls
of one implementation of a work have 2 seconds in total.
The losses of structured-ndcg and svm-map are maxima over all rankings of a list, for which no quadratic programme with
few rows is known here: they are minimised by cutting planes, of which more are needed the more features there are and
the smaller l2 is. Most of the time goes into the quadratic programmes over the cuts.

The peers: cvxpy with Clarabel on the quadratic programme, with the scores and the highest score below every label as
variables, so that it has about as many rows as documents; LinearSVC on the pairs, with the largest of a ladder of
tolerances that reaches 1e-6, or the smallest that ends in time; and a plain subgradient method, with steps 1 / (l2 t)
and the mean of the second half of its 2,000 iterates. Notes state how far above our lower bound of the minimum each of
them ended. The subgradient method always makes its 2,000 steps: where it ends more than 1e-6 above the minimum, it has
not reached what ours certify, however fast its row.
"""

import importlib
import math
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_erm import form_pairs, linear_svc, objective
from benchmarks.timing import Note, Timing, compare, not_measured, processor_seconds
from pipeline_lib import RankingData, surrogates
from pipeline_lib.data.ranking_data import Standardisation
from pipeline_lib.learners import erm
from pipeline_lib.sources import mirrors
from pipeline_lib.surrogates import slam

TOL, L2 = 1e-6, 0.1
PATH = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
N_QUERIES, PATH_FEATURES = 200, 100
CONVEX = [name.replace("@k", "@10") for name in surrogates.NAMES if surrogates.create(name).convex]
FEATURES, QUERIES, QUERIES_FEATURES = (10, 30, 100, 300, 1_000), (50, 800), 100
SUBGRADIENT_STEPS = 2_000
LONGEST, BUDGET = 10, 2.0
"""Processor seconds after which a call is stopped, and those for all counted calls of an implementation of a work."""
LADDER = (0.1, 1e-2, 1e-3, 1e-4)
OURS, SVC = "erm.fit", "scikit-learn LinearSVC"


def sample(n_queries: int = N_QUERIES, n_features: int = PATH_FEATURES) -> RankingData:
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


def limited(call: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of a call, and its result; NaN and None if it was stopped after :data:`LONGEST`.

    The call runs in a process of its own, which the system ends at the limit whatever library it is in.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST))
        sender.send(processor_seconds(call))

    process = context.Process(target=work)
    process.start()
    sender.close()
    try:
        return receiver.recv()  # type: ignore[no-any-return]
    except EOFError:
        process.join()
        if process.exitcode and process.exitcode > 0:
            raise RuntimeError(f"a call ended with the status {process.exitcode}; its error is above") from None
        return math.nan, None
    finally:
        process.join()


def timed(
    work: str, calls: Mapping[str, Callable[[], Any]], notes: Mapping[str, Note], n: int, budget: float = BUDGET
) -> list[Timing]:
    """All implementations of a work, each call in a process of its own."""
    return compare(work, calls, unit="documents", unit_count=n, budget=budget, notes=notes, timer=limited)


def stopped_or(told: Callable[[Mapping[str, Any]], str], name: str) -> Note:
    """A note about the result of one implementation, or that it was stopped."""
    return lambda results: told(results) if results[name] is not None else f"stopped after {LONGEST} s"


def certificate(name: str = OURS) -> Note:
    """What the solver says of its own result."""

    def told(results: Mapping[str, Any]) -> str:
        fit = results[name]
        return f"certified gap {fit.relative_gap:.1e}" if fit.certified else str(fit.reason)

    return stopped_or(told, name)


def ending(data: RankingData, surrogate: str, name: str) -> Note:
    """How far above our lower bound of the minimum a peer ends, or its objective where there is no bound."""

    def told(results: Mapping[str, Any]) -> str:
        value, ours = objective(data, surrogate, L2, results[name]), results[OURS]
        if ours is None:
            return f"objective {value:.8g}"
        return f"{value / (ours.objective - ours.gap) - 1.0:.1e} above the minimum"

    return stopped_or(told, name)


def paths() -> list[Timing]:
    """The default path for every convex surrogate."""
    found = []
    for where, made in {f"{N_QUERIES} queries x {PATH_FEATURES}": sample, "OHSUMED": ohsumed}.items():
        data = made()
        if data is None:
            found.append(not_measured(f"path, {where}", "erm.path", "documents", "the archive is not at hand"))
            continue
        for name in CONVEX:

            def all_of(results: Mapping[str, Any]) -> str:
                return f"{sum(fit.certified for fit in results['erm.path'])} of {len(PATH)} certified"

            call = {"erm.path": partial(erm.path, data, name, PATH, tol=TOL)}
            notes = {"erm.path": stopped_or(all_of, "erm.path")}
            found += timed(f"{name}, path, {where}", call, notes, data.n_documents, budget=0.0)
    return found


LARGEST = """\
import sys
from pathlib import Path
import numpy as np
from benchmarks import training_times
from pipeline_lib.data.ranking_data import RankingData
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
        if subprocess.run([sys.executable, "-c", LARGEST, folder]).returncode:
            return None
        with np.load(Path(folder) / "largest.npz") as stored:
            X, y, sizes = (stored[name] for name in ("X", "y", "sizes"))
    data = RankingData.from_arrays(X, y, np.repeat(np.arange(len(sizes)), sizes))
    return Standardisation.of(data).apply(data)


def one_fit(n_queries: int, n_features: int) -> list[Timing]:
    """SLAM-NDCG and RankSVM at one l2 with their peers, and SLAM-NDCG in balls."""
    size, data, found = f"{n_queries} x {n_features:,}", sample(n_queries, n_features), []
    for name in ("slam-ndcg", "ranksvm"):
        ours = partial(erm.fit, data, name, l2=L2, tol=TOL)
        peers, missing = peers_of(f"{name}, {size}", data, name, ours)
        notes = {OURS: certificate(), **{peer: ending(data, name, peer) for peer in peers}}
        found += timed(f"{name}, {size}", {OURS: ours, **peers}, notes, data.n_documents) + missing
    return found + in_balls(data, size)


Peers = dict[str, Callable[[], Any]]


def peers_of(work: str, data: RankingData, name: str, ours: Callable[[], erm.Fit]) -> tuple[Peers, list[Timing]]:
    """The peers' calls, and rows for those that are not installed."""
    peers: Peers = {"subgradient method": partial(subgradient, data, name, L2)}
    try:
        if name == "slam-ndcg":
            return {"cvxpy + Clarabel": slam_programme(data, L2), **peers}, []
        svc = linear_svc(data, L2, form_pairs(data))
    except ImportError as error:
        return peers, [not_measured(work, "cvxpy, scikit-learn", "documents", f"not installed: {error}")]
    return {SVC: partial(svc, sufficient(data, svc, ours))} | peers, []


def sufficient(data: RankingData, svc: Callable[[float], np.ndarray], ours: Callable[[], erm.Fit]) -> float:
    """The largest tolerance of the ladder with which LinearSVC comes within TOL of the minimum, or ends in time."""
    fit = limited(ours)[1]
    for k, tolerance in enumerate(LADDER):
        w = limited(partial(svc, tolerance))[1]
        if w is None:
            return LADDER[max(k - 1, 0)]
        if fit and objective(data, "ranksvm", L2, w) <= (1.0 + TOL) * (fit.objective - fit.gap):
            break
    return tolerance


def in_balls(data: RankingData, size: str) -> list[Timing]:
    """SLAM-NDCG without l2, in balls of half the norm of the free minimiser at :data:`L2`."""
    free, found = erm.fit(data, "slam-ndcg", l2=L2, tol=TOL).w, []
    for ball, order in (("l2", 2), ("l1", 1)):
        radius = 0.5 * float(np.linalg.norm(free, order))
        call = {OURS: partial(erm.fit, data, "slam-ndcg", l2=0.0, radius=radius, ball=ball, tol=TOL)}
        work = f"slam-ndcg, {size}, {ball} ball"
        found += timed(work, call, {OURS: certificate()}, data.n_documents)
    return found


def measure() -> list[Timing]:
    """All rows: paths, then features, then queries."""
    for small in (sample(5, 40), sample(50, 10)):  # with more and with fewer features than queries
        for name in CONVEX:
            erm.fit(small, name, l2=L2)
    found = paths()
    for n, d in [*((N_QUERIES, d) for d in FEATURES), *((n, QUERIES_FEATURES) for n in QUERIES)]:
        found += one_fit(n, d)
    return found
