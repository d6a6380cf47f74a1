"""Certifying a run of 1,000 queries

The first work goes from dictionaries of 20 documents a query to a lower limit of the mean NDCG@10 of all queries like
these, with 95 % confidence. Ours holds for every number of queries and every distribution of the values; beside it,
`certify` gives an interval, Hoeffding's limit and that of the bootstrap. ranx and ir_measures have no limits, so that
scipy's bootstrap (percentiles of 10,000 resamples) does it, which is right only for many queries. Means are compared
before anything is timed, and limits as far as they must agree: for so many queries, ours is below the bootstrap's by
less than it is below the mean. The second work is the limit alone, on an array.
"""

import importlib.util
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench_comparison import OURS, Given, sample
from benchmarks.timing import Timing, compare, not_measured
from pipeline_lib import evaluation
from pipeline_lib.evaluation import betting

LEVEL, RESAMPLES, UNIT = 0.95, 10_000, "queries"

Limited = tuple[float, float]
"""The mean, and its lower limit."""


def measure() -> list[Timing]:
    """From dictionaries to a limit, and the limit alone."""
    runs, qrels = sample()
    run = runs["run0"]
    whole, limit = "NDCG@10 and a lower limit of its mean", "a lower limit of the mean"
    works: dict[str, Callable[[], Limited]] = {OURS: partial(_ours, run, qrels)}
    missing = []
    for name, modules, call in (
        ("ranx and scipy", ["ranx"], _ranx),
        ("ir_measures and scipy", ["ir_measures", "pytrec_eval"], _ir_measures),
    ):
        if all(map(importlib.util.find_spec, modules)):
            works[name] = partial(call, run, qrels)
        else:
            missing.append(not_measured(whole, name, UNIT, "not installed"))
    [values] = evaluation.values(run, qrels).values
    limits: dict[str, Callable[[], Limited]] = {OURS: partial(_bet, values), "scipy": partial(_by_scipy, values)}
    notes = {OURS: "holds for every number of queries"}
    timings: list[Timing] = []
    for words, all_of_them in ((whole, works), (limit, limits)):
        _agree(all_of_them)
        timings += compare(words, all_of_them, unit=UNIT, unit_count=len(values), notes=notes)
    return timings + missing


def _agree(works: dict[str, Callable[[], Limited]]) -> None:
    """Refuse to time works that compute other numbers."""
    mean, limit = works[OURS]()
    for name, call in works.items():
        their_mean, their_limit = call()
        if abs(their_mean - mean) > 1e-5 or not limit <= their_limit < mean or mean - limit > 2 * (mean - their_limit):
            raise AssertionError(f"{name} computes other numbers: {their_mean}, {their_limit}, not {mean}, {limit}")


def _ours(run: Given, qrels: Given) -> Limited:
    found = evaluation.certify(run, qrels, "ndcg@10", level=LEVEL)
    return float(found.mean[0]), float(found.lower[0])


def _ranx(run: Given, qrels: Given) -> Limited:
    import ranx

    values: Any = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "ndcg@10", return_mean=False)
    return _by_scipy(np.asarray(values))


def _ir_measures(run: Given, qrels: Given) -> Limited:
    import ir_measures

    evaluator = ir_measures.pytrec_eval.evaluator([ir_measures.nDCG @ 10], qrels)
    return _by_scipy(np.array([one.value for one in evaluator.iter_calc(run)]))


def _bet(values: NDArray[np.float64]) -> Limited:
    return float(values.mean()), betting.lower_limit(values, level=LEVEL)


def _by_scipy(values: NDArray[np.float64]) -> Limited:
    from scipy.stats import bootstrap

    found = bootstrap(
        (values,), np.mean, n_resamples=RESAMPLES, confidence_level=LEVEL, alternative="greater", method="percentile",
        rng=np.random.default_rng(0),
    )  # fmt: skip
    return float(values.mean()), float(found.confidence_interval.low)
