"""NDCG@10 and average precision of 30,000 queries with 120 documents each

One value of each measure for every query, 22 % of the documents relevant on four grades, scores without ties. The
peers get gains 2^label - 1 where they would use linear ones, so that all compute the same numbers; their means are
compared with ours before anything is timed. Bringing the arrays into a peer's own types is a row of its own.
"""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Timing, compare
from pipeline_lib import metrics

QUERIES, DOCUMENTS = 30_000, 120
WORK = f"NDCG@10 + AP, {QUERIES:,} x {DOCUMENTS}"
SET_UP = f"set-up for it, {QUERIES:,} x {DOCUMENTS}"
UNIT = "queries"
OURS = "pipeline_lib"
MISSING = "not installed: pip install '.[bench]'"

Means = tuple[float, float]


def measure() -> list[Timing]:
    """Time our kernels, ranx, pytrec_eval and scikit-learn; a peer that is not installed has no times."""
    rng = np.random.default_rng(0)
    # Peers sort single-precision scores: give everybody numbers that survive it.
    scores = rng.standard_normal(QUERIES * DOCUMENTS, dtype=np.float32).astype(np.float64)
    y = (rng.random(len(scores)) < 0.22) * rng.integers(1, 5, len(scores))
    offsets = np.arange(0, len(scores) + 1, DOCUMENTS)

    works: dict[str, Callable[[], Means]] = {OURS: partial(_ours, scores, y, offsets)}
    set_ups: dict[str, Callable[[], object]] = {OURS: partial(metrics._Ranking.of, scores, y, offsets)}
    notes = {OURS: "includes checking and converting the arrays"}
    missing = []
    for name, module, set_up, note in (
        ("ranx", "ranx", _ranx, "numba; ranked during set-up, so ranking is not part of the time"),
        ("pytrec_eval", "pytrec_eval", _pytrec_eval, "C; interface of Python dictionaries"),
    ):
        if not _installed(module):
            missing.append(name)
            continue
        works[name], set_ups[name], notes[name] = set_up(scores, y), partial(set_up, scores, y), note
    expected = works[OURS]()
    for name, work in works.items():
        _check_same(name, work(), expected)

    timings = compare(WORK, works, unit=UNIT, unit_count=QUERIES, notes=notes)
    timings.append(_scikit_learn(scores, y, expected))
    timings += [_not_installed(WORK, name) for name in missing]
    note = {OURS: "already part of the row above"}
    return timings + compare(SET_UP, set_ups, unit=UNIT, unit_count=QUERIES, rounds=3, notes=note)


def _ours(scores: NDArray[np.float64], y: NDArray[np.int64], offsets: NDArray[np.int64]) -> Means:
    values = metrics.per_query(["ndcg@10", "map"], scores, y, offsets)
    return float(values["ndcg@10"].mean()), float(values["map"].mean())


def _ranx(scores: NDArray[np.float64], y: NDArray[np.int64]) -> Callable[[], Means]:
    import ranx

    qrels, run = ranx.Qrels(_dictionaries(y)), ranx.Run(_dictionaries(scores))
    qrels.sort()
    run.sort()

    def evaluate() -> Means:
        values = ranx.evaluate(qrels, run, ["ndcg_burges@10", "map"], return_mean=False, make_comparable=False)
        return float(np.mean(values["ndcg_burges@10"])), float(np.mean(values["map"]))

    return evaluate


def _pytrec_eval(scores: NDArray[np.float64], y: NDArray[np.int64]) -> Callable[[], Means]:
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(_dictionaries(2**y - 1), {"ndcg_cut.10", "map"})
    run = _dictionaries(scores)

    def evaluate() -> Means:
        values = evaluator.evaluate(run).values()
        return float(np.mean([v["ndcg_cut_10"] for v in values])), float(np.mean([v["map"] for v in values]))

    return evaluate


def _scikit_learn(scores: NDArray[np.float64], y: NDArray[np.int64], expected: Means) -> Timing:
    if not _installed("sklearn"):
        return _not_installed(WORK, "scikit-learn")
    from sklearn.metrics import average_precision_score, ndcg_score

    # Lists of one length are the rows of a matrix; its average precision knows no query without a relevant document.
    matrix, labels = scores.reshape(QUERIES, DOCUMENTS), y.reshape(QUERIES, DOCUMENTS)
    start = time.perf_counter()
    ndcg = ndcg_score(2**labels - 1, matrix, k=10, ignore_ties=True)
    ap = average_precision_score(labels > 0, matrix, average="samples")
    seconds = time.perf_counter() - start
    _check_same("scikit-learn", (ndcg, ap), expected)
    return Timing(WORK, "scikit-learn", (seconds,), UNIT, QUERIES, "one call; returns only the means")


def _dictionaries(values: NDArray[np.generic]) -> dict[str, dict[str, float]]:
    """{query: {document: value}}, the form in which ranx and pytrec_eval take judgements and runs."""
    names = [f"d{i}" for i in range(DOCUMENTS)]
    rows = values.reshape(QUERIES, DOCUMENTS).tolist()
    return {f"q{q}": dict(zip(names, row, strict=True)) for q, row in enumerate(rows)}


def _check_same(name: str, found: Means, expected: Means) -> None:
    # A few scores may tie in single precision.
    if not np.allclose(found, expected, rtol=0.0, atol=1e-5):
        raise AssertionError(f"{name} computes other numbers: {found} instead of {expected}")


def _installed(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def _not_installed(work: str, name: str) -> Timing:
    return Timing(work, name, (math.nan,), UNIT, QUERIES, MISSING)
