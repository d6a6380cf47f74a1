"""Comparing 10 runs on 1,000 queries

The first work goes from dictionaries of 20 documents a query to NDCG@10 of every query and p-values of all 45 pairs by
1,000 random patterns of signs; judgements are 0 or 1, with which all gains are equal, and scores have no ties. Building
the peers' own types is part of it. ir_measures has no test, so that scipy's does it, one pair at a time. ranx has
Fisher's randomisation test, one pair at a time as well. Ours includes adjusted p-values, intervals and detectable
differences for the family of all pairs, which the peers do not have. Means and p-values, up to the chance of patterns,
are compared before anything is timed. The second work is the tests alone, on arrays.
"""

import importlib.util
from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Timing, compare, not_measured
from pipeline_lib import evaluation, statistics

RUNS, QUERIES, DOCUMENTS, PATTERNS = 10, 1_000, 20, 1_000
OURS, UNIT = "pipeline_lib", "pairs"
PAIRS = list(combinations(range(RUNS), 2))

Numbers = tuple[NDArray[np.float64], NDArray[np.float64]]
"""The means of the runs and the p-values of the pairs."""
Given = dict[str, dict[str, Any]]


def sample() -> tuple[dict[str, Given], Given]:
    """Runs, of which later ones are better, and judgements."""
    rng = np.random.default_rng(0)
    labels = (rng.random((QUERIES, DOCUMENTS)) < 0.2).astype(int)
    labels[:, 0] = 1  # ir_measures leaves out queries without a relevant document
    shared = rng.normal(size=labels.shape)

    def table(numbers: NDArray[Any]) -> Given:
        return {f"q{q}": {f"d{k}": x for k, x in enumerate(row)} for q, row in enumerate(numbers.tolist())}

    runs = {
        f"run{r}": table(np.float32((1 + 0.02 * r) * labels + shared + 0.5 * rng.normal(size=labels.shape)))
        for r in range(RUNS)
    }
    return runs, table(labels)


def measure() -> list[Timing]:
    """From dictionaries to p-values, and the tests alone."""
    runs, qrels = sample()
    works: dict[str, Callable[[], Numbers]] = {OURS: partial(_ours, runs, qrels)}
    work = f"NDCG@10 and p of {len(PAIRS)} pairs, {PATTERNS:,} patterns"
    missing = []
    for name, modules, call in (
        ("ranx", ["ranx"], _ranx),
        ("ir_measures and scipy", ["ir_measures", "pytrec_eval"], _ir_measures),
    ):
        if all(map(importlib.util.find_spec, modules)):
            works[name] = partial(call, runs, qrels)
        else:
            missing.append(not_measured(work, name, UNIT, "not installed"))
    values = evaluation.values(runs, qrels).values
    tests: dict[str, Callable[[], Numbers]] = {OURS: partial(_tested, values), "scipy": partial(_by_scipy, values)}
    notes = {"ranx": "Fisher's randomisation test", OURS: "with intervals and adjusted p for the family"}
    timings: list[Timing] = []
    for words, all_of_them in ((work, works), (f"p of {len(PAIRS)} pairs, {PATTERNS:,} patterns", tests)):
        _agree(all_of_them)
        timings += compare(words, all_of_them, unit=UNIT, unit_count=len(PAIRS), notes=notes)
    return timings + missing


def _agree(works: dict[str, Callable[[], Numbers]]) -> None:
    """Refuse to time works that compute other numbers."""
    means, p = works[OURS]()
    for name, call in works.items():
        their_means, their_p = call()
        error = np.sqrt(2 * p * (1 - p) / PATTERNS) + 2 / PATTERNS
        if not np.allclose(their_means, means, rtol=0.0, atol=1e-5) or np.any(np.abs(their_p - p) > 5 * error):
            raise AssertionError(f"{name} computes other numbers: {their_means}, {their_p} instead of {means}, {p}")


def _ours(runs: dict[str, Given], qrels: Given) -> Numbers:
    found = evaluation.compare(runs, qrels, "ndcg@10", resamples=PATTERNS)
    return found.mean, found.p_value


def _ranx(runs: dict[str, Given], qrels: Given) -> Numbers:
    import ranx

    report = ranx.compare(
        ranx.Qrels(qrels), [ranx.Run(run, name=name) for name, run in runs.items()], ["ndcg@10"],
        stat_test="fisher", n_permutations=PATTERNS,
    )  # fmt: skip
    means = [report.results[name]["ndcg@10"] for name in runs]
    names = [frozenset((f"run{a}", f"run{b}")) for a, b in PAIRS]
    return np.array(means), np.array([report.comparisons[pair]["ndcg@10"]["p_value"] for pair in names])


def _ir_measures(runs: dict[str, Given], qrels: Given) -> Numbers:
    import ir_measures

    evaluator = ir_measures.pytrec_eval.evaluator([ir_measures.nDCG @ 10], qrels)
    values = [[one.value for one in evaluator.iter_calc(run)] for run in runs.values()]
    return _by_scipy(np.array(values))


def _tested(values: NDArray[np.float64]) -> Numbers:
    found = statistics.compare_runs(values, resamples=PATTERNS, rng=np.random.default_rng(0))
    return values.mean(axis=1), found.p_value


def _by_scipy(values: NDArray[np.float64]) -> Numbers:
    from scipy.stats import permutation_test

    def mean_difference(a: NDArray[np.float64], b: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        return np.mean(a - b, axis=axis)

    rng = np.random.default_rng(0)
    p = [
        permutation_test(
            (values[a], values[b]), mean_difference, permutation_type="samples", n_resamples=PATTERNS, rng=rng,
            vectorized=True,
        ).pvalue
        for a, b in PAIRS
    ]  # fmt: skip
    return values.mean(axis=1), np.array(p)
