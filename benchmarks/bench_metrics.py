"""Measures of 10,000 queries with 120 documents each

One value of each measure for every query, 22 % of the documents relevant on four grades, scores without ties. The peers
get gains 2^label - 1 where they would use linear ones, so that all compute the same numbers; their means are compared
with ours before anything is timed. Bringing the arrays into a peer's own types is a work of its own. ir_measures passes
a measure to a provider: NDCG, AP and precision to pytrec_eval, and ERR to gdeval, a Perl script that reads files, so
that its seconds are those of the process that it starts, and its values have five decimals; this work has 1,000
queries.
"""

import importlib
import importlib.util
import resource
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Timing, compare, not_measured, processor_seconds
from pipeline_lib import metrics

QUERIES, DOCUMENTS, TOP_LABEL = 10_000, 120, 4
QUERIES_OF_GDEVAL = 1_000
UNIT = "queries"
OURS = "pipeline_lib"

Means = tuple[float, float]


@dataclass(frozen=True)
class Sample:
    """Scores and labels of all documents, query after query."""

    scores: NDArray[np.float64]
    y: NDArray[np.int64]
    offsets: NDArray[np.int64]


def sample(queries: int | None = None) -> Sample:
    """The data, or so many queries of it."""
    rng = np.random.default_rng(0)
    # Peers sort single-precision scores: give everybody numbers that survive it.
    scores = rng.standard_normal(QUERIES * DOCUMENTS, dtype=np.float32).astype(np.float64)
    y = (rng.random(len(scores)) < 0.22) * rng.integers(1, TOP_LABEL + 1, len(scores))
    n = DOCUMENTS * (queries or QUERIES)
    return Sample(scores[:n], y[:n], np.arange(0, n + 1, DOCUMENTS))


def measure() -> list[Timing]:
    """NDCG and AP, what they need beforehand, and P@10 and ERR."""
    data = sample()
    found, missing = {}, []
    for name, (module, set_up, note) in PEERS.items():
        if importlib.util.find_spec(module) is None:
            missing.append(not_measured(f"NDCG@10 and AP, {QUERIES:,} x {DOCUMENTS}", name, UNIT, "not installed"))
        else:
            found[name] = (set_up, note)
    works = {OURS: partial(_ours, data)} | {name: set_up(data) for name, (set_up, _) in found.items()}
    notes = {OURS: "includes checking and converting the arrays"} | {name: note for name, (_, note) in found.items()}
    timings = _compared("NDCG@10 and AP", QUERIES, works, notes) + missing
    set_ups: dict[str, Callable[[], object]] = {OURS: partial(metrics._Ranked, data.scores, data.y, data.offsets)}
    set_ups |= {name: partial(set_up, data) for name, (set_up, _) in found.items() if name != "scikit-learn"}
    note = {OURS: "already part of the rows above"}
    timings += compare("set-up for it", set_ups, unit=UNIT, unit_count=QUERIES, notes=note)
    return timings + _precision_and_err(sample(QUERIES_OF_GDEVAL))


def _compared(
    work: str,
    queries: int,
    works: dict[str, Callable[[], Means]],
    notes: dict[str, str],
    timer: Callable[[Callable[[], Any]], tuple[float, Any]] = processor_seconds,
) -> list[Timing]:
    # The rows of one work, after a comparison of the means; a few scores may tie in single precision.
    expected = works[OURS]()
    for name, call in works.items():
        if not np.allclose(found := call(), expected, rtol=0.0, atol=1e-5):
            raise AssertionError(f"{name} computes other numbers: {found} instead of {expected}")
    size = f"{work}, {queries:,} x {DOCUMENTS}"
    return compare(size, works, unit=UNIT, unit_count=queries, notes=notes, timer=timer)


def _ours(data: Sample) -> Means:
    values = metrics.per_query(["ndcg@10", "map"], data.scores, data.y, data.offsets)
    return float(values["ndcg@10"].mean()), float(values["map"].mean())


def _ranx(data: Sample) -> Callable[[], Means]:
    import ranx

    qrels, run = ranx.Qrels(_dictionaries(data.y)), ranx.Run(_dictionaries(data.scores))
    qrels.sort()
    run.sort()

    def evaluate() -> Means:
        values = ranx.evaluate(qrels, run, ["ndcg_burges@10", "map"], return_mean=False, make_comparable=False)
        return float(np.mean(values["ndcg_burges@10"])), float(np.mean(values["map"]))

    return evaluate


def _pytrec_eval(data: Sample) -> Callable[[], Means]:
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(_dictionaries(2**data.y - 1), {"ndcg_cut.10", "map"})
    run = _dictionaries(data.scores)

    def evaluate() -> Means:
        values = evaluator.evaluate(run).values()
        return float(np.mean([v["ndcg_cut_10"] for v in values])), float(np.mean([v["map"] for v in values]))

    return evaluate


def _ir_measures(data: Sample) -> Callable[[], Means]:
    import ir_measures

    gains = {label: 2**label - 1 for label in range(1, TOP_LABEL + 1)}
    wanted = [ir_measures.nDCG(gains=gains) @ 10, ir_measures.AP]
    evaluator = ir_measures.pytrec_eval.evaluator(wanted, _dictionaries(data.y))
    run = _dictionaries(data.scores)
    return lambda: _means(evaluator, wanted, run)


def _means(evaluator: Any, wanted: list[Any], run: dict[str, dict[str, float]]) -> Means:
    # The means of what the evaluator gives query by query.
    sums = dict.fromkeys(wanted, 0.0)
    for value in evaluator.iter_calc(run):
        sums[value.measure] += value.value
    first, second = (sums[measure] / QUERIES for measure in wanted)
    return first, second


def _scikit_learn(data: Sample) -> Callable[[], Means]:
    from sklearn.metrics import average_precision_score, ndcg_score

    # Lists of one length are the rows of a matrix; its average precision knows no query without a relevant document.
    matrix, labels = data.scores.reshape(QUERIES, DOCUMENTS), data.y.reshape(QUERIES, DOCUMENTS)

    def evaluate() -> Means:
        ndcg = ndcg_score(2**labels - 1, matrix, k=10, ignore_ties=True)
        return float(ndcg), float(average_precision_score(labels > 0, matrix, average="samples"))

    return evaluate


PEERS: dict[str, tuple[str, Callable[[Sample], Callable[[], Means]], str]] = {
    "ranx": ("ranx", _ranx, "numba; ranked during set-up, so ranking is not part of the time"),
    "pytrec_eval": ("pytrec_eval", _pytrec_eval, "C; interface of Python dictionaries"),
    "ir_measures": ("ir_measures", _ir_measures, "by pytrec_eval"),
    "scikit-learn": ("sklearn", _scikit_learn, "returns only the means"),
}


def _precision_and_err(data: Sample) -> list[Timing]:
    work = "P@10 and ERR"
    if importlib.util.find_spec("ir_measures") is None or shutil.which("perl") is None:
        return [not_measured(work, "ir_measures", UNIT, "not installed, or no Perl")]
    import ir_measures

    qrels, run = _dictionaries(data.y), _dictionaries(data.scores)
    precision, err = ir_measures.P @ 10, ir_measures.ERR @ DOCUMENTS

    def ours() -> Means:
        found = metrics.precision(data.scores, data.y, data.offsets, 10)
        stopped = metrics.expected_reciprocal_rank(data.scores, data.y, data.offsets, TOP_LABEL)
        return float(found.mean()), float(stopped.mean())

    def by_providers() -> Means:
        of_precision = ir_measures.pytrec_eval.calc_aggregate([precision], qrels, run)
        return of_precision[precision], ir_measures.gdeval.calc_aggregate([err], qrels, run)[err]

    works = {OURS: ours, "ir_measures": by_providers}
    notes = {"ir_measures": "pytrec_eval and gdeval; set-up included"}
    return _compared(work, QUERIES_OF_GDEVAL, works, notes, _with_children)


def _with_children(call: Callable[[], Any]) -> tuple[float, Any]:
    # Processor seconds of a call, and of the processes that it starts and that end in it.
    def spent() -> float:
        of_children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + of_children.ru_utime + of_children.ru_stime

    start = spent()
    result = call()
    return spent() - start, result


def _dictionaries(values: NDArray[Any]) -> dict[str, dict[str, Any]]:
    """{query: {document: value}}, the form in which peers take judgements and runs; queries are numbers for gdeval."""
    names = [f"d{i}" for i in range(DOCUMENTS)]
    rows = values.reshape(-1, DOCUMENTS).tolist()
    return {str(q): dict(zip(names, row, strict=True)) for q, row in enumerate(rows)}
