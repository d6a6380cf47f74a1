"""Value and gradient of the surrogates

One call gives the values of all queries and the gradient in all scores. Ours are timed as solvers call them: arrays
known to be good, labels as they come; everything that follows from the labels alone (sorting by label, targets,
weights) is part of every call. The peers are PyTorch and JAX with automatic differentiation in float64, the value and
its backward pass, and all that follows from the labels alone (targets, masks, index pairs) is made before the clock
starts. Two kinds: padded rectangles (queries x longest list, and x longest list for pairs), as most people write them,
and flat arrays over documents or over the list of all pairs, which waste nothing. PyTorch also compiles the flat
function by `torch.compile` (its row says so where there is no C++ compiler), and JAX compiles it by `jit`; notes state
the seconds of the first call, which compiles and does not count. Before anything is timed, all implementations give the
same value and gradient. The data have MQ2007's size: 41,000 documents of 1,020 queries with 8 to 147 documents, most of
them around 40, and labels 0, 1, 2 for 74, 20 and 6 %.

The last table has about 40,000 documents in lists of one length m, labels 0, 1, 2 for 74, 20 and 6 %, default options
(sums over pairs, margin 1, k = 10 for slam-ndcg@k, sigma = 1 for smooth-dcg). The exponent is the slope of
log seconds of one query against log m, by least squares from m = 100 on: 1 is linear, 2 is every pair. RankSVM sorts
lists; RankNet has no factorisation and takes all pairs.
"""

import os
import time
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.autodiff import Call, Problem, Result, by_jax, by_torch
from benchmarks.timing import Scaling, Timing, compare, median_seconds, not_measured
from pipeline_lib import surrogates
from pipeline_lib.surrogates.base import Surrogate

N_QUERIES, N_DOCUMENTS = 1_020, 41_000
LABELS = (0.74, 0.20, 0.06)
CALLS_A_ROUND = 10
OURS = "pipeline_lib"
LENGTHS = (10, 30, 100, 300, 1_000, 3_000, 10_000)
SCALING_DOCUMENTS = 40_000


def sample() -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]:
    """Scores, labels and offsets of MQ2007's size."""
    rng = np.random.default_rng(1)
    sizes = np.clip(np.rint(rng.lognormal(np.log(36), 0.45, N_QUERIES)), 8, 147).astype(np.int64)
    while sizes.sum() != N_DOCUMENTS:
        wrong = N_DOCUMENTS - int(sizes.sum())
        some = rng.choice(N_QUERIES, min(abs(wrong), N_QUERIES), replace=False)
        sizes[some] = np.clip(sizes[some] + np.sign(wrong), 8, 147)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return rng.normal(size=N_DOCUMENTS), rng.choice(3, N_DOCUMENTS, p=LABELS).astype(np.int32), offsets


def measure() -> list[Timing]:
    """ListNet, RankNet and RankSVM compared with PyTorch and JAX."""
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # torch.compile: no processes that stay
    scores, y, offsets = sample()
    problem = Problem.of(scores, y, offsets)
    timings = []
    for name in ("listnet", "ranknet", "ranksvm"):
        work = f"{name}, {N_DOCUMENTS:,} documents"
        ours = partial(_ours, surrogates.create(name), scores, y, offsets)
        calls, notes, missing = _peers(work, name, problem, ours())
        works: dict[str, Call] = {OURS: ours, **calls}
        timings += compare(
            work, works, unit="documents", unit_count=N_DOCUMENTS, calls_a_round=CALLS_A_ROUND, notes=notes
        )
        timings += missing
    return timings


def _peers(
    work: str, name: str, problem: Problem, expected: Result
) -> tuple[dict[str, Call], dict[str, str], list[Timing]]:
    """The peers that can be called here and compute what we do, notes on their first calls, and rows of the others."""
    calls: dict[str, Call] = {}
    notes, missing = {}, []
    for library, peers in (("torch", by_torch), ("jax", by_jax)):
        try:
            found = peers(name, problem)
        except ImportError as error:
            missing.append(not_measured(work, library, "documents", f"not installed: {error}"))
            continue
        for peer, call in found.items():
            start = time.perf_counter()
            try:
                computed = call()
            except Exception as error:
                if not peer.startswith("torch.compile"):  # which needs a compiler and headers that may not be there
                    raise
                missing.append(
                    not_measured(work, peer, "documents", f"does not compile: {str(error).split(chr(10))[0]}")
                )
                continue
            if "compile" in peer or "jit" in peer:
                notes[peer] = f"first call: {time.perf_counter() - start:.1f} s"
            _check_same(peer, computed, expected)
            calls[peer] = call
    return calls, notes, missing


def scaling() -> list[Scaling]:
    """Seconds of one query against its length, every surrogate."""
    rng = np.random.default_rng(2)
    scores = rng.normal(size=SCALING_DOCUMENTS)
    y = rng.choice(3, SCALING_DOCUMENTS, p=LABELS).astype(np.int32)
    rows = []
    for name in surrogates.NAMES:
        loss = surrogates.create(name)
        seconds = []
        for m in LENGTHS:
            offsets = np.arange(0, SCALING_DOCUMENTS + 1, m, dtype=np.int64)
            n = int(offsets[-1])
            seconds.append(median_seconds(partial(loss.unchecked, scores[:n], y[:n], offsets)) / (len(offsets) - 1))
        rows.append(Scaling(name, LENGTHS, tuple(seconds), fitted_from=100))
    return rows


def _ours(loss: Surrogate, scores: NDArray[np.float64], y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Result:
    values, gradient = loss.unchecked(scores, y, offsets)
    return float(values.sum()), gradient


def _check_same(name: str, computed: Result, expected: Result) -> None:
    if not (np.isclose(computed[0], expected[0], rtol=1e-10) and np.allclose(computed[1], expected[1], atol=1e-9)):
        raise AssertionError(f"{name} computes other numbers: {computed} instead of {expected}")
