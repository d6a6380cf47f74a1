"""How far are our kernels from what the machine allows?

The first table states what one core of this machine does in a second: the best of several rounds, with arrays that stay
in its first cache or are far larger than all caches. The second one has one row per kernel. A kernel must at least read
its input and write its result, and most must do something else for every document or pair: take an exponential, sort,
compare. Each of these operations takes at least the number of times that it is done, divided by its rate in the first
table (the best of its rows). The largest of these times is the *least* time, and the operation that it belongs to is
what the kernel is *bound by*. The ratio of the kernel's own median time to the least time states how far the kernel is
from its limit: 1 cannot be improved, and 3 or less is near, because the parts of a kernel are not done at the same
time. Where the ratio is above 3, the last column says why.

The counts are those of the mathematics and not of our code: the surrogates are those of the registry, with their
default options, on the 41,000 documents of the section on surrogates; RankNet's pairs need a division each, of which
two documents share one; ranking measures compare each relevant document's score with all others; the perceptron's and
ConeRank's steps are multiplications. What is needed again and again (labels, scores, gradients) is counted once.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks import (
    bench_cone,
    bench_metrics,
    bench_pair_errors,
    bench_perceptron,
    bench_reader,
    bench_surrogates,
    machine_rates,
)
from benchmarks import bench_top_k_feedback as top_k
from benchmarks.machine_rates import Rate
from benchmarks.page import ratio_digits, short
from benchmarks.timing import Table, median_seconds
from pipeline_lib import metrics, surrogates
from pipeline_lib.learners import cone, perceptron
from pipeline_lib.sources import letor
from pipeline_lib.surrogates.pair_sweeps import n_pairs

FAR = 3.0
CACHED, STREAMED = "bytes, cache", "bytes, memory"
EXP, COMPARED, DIVIDED, MULTIPLIED = "exponentials", "comparisons", "divisions", "multiply-adds"
SORTED_40, SORTED_120 = "sorted documents, lists of 40", "sorted documents, lists of 120"

OF_SURROGATE: Mapping[str, Mapping[str, float]] = {
    "kl": {EXP: 1},
    "listmle": {EXP: 1},
    "listnet": {EXP: 1},
    "rankboost": {EXP: 1, DIVIDED: 1},
    "ranknet": {EXP: 1, "per pair: " + DIVIDED: 0.5},
    "ranksvm": {"per pair: " + COMPARED: 1},
    "smooth-dcg": {EXP: 1},
    "structured-ndcg": {SORTED_40: 1},
    "svm-map": {SORTED_40: 1},
}
"""What a document, or a pair of different labels, needs beyond reading and writing; nothing for other surrogates."""
SURROGATE_BYTES = 8 + 4 + 8
"""A score, a label, and an entry of the gradient."""

LIBM = "its exponentials are those of the C library, one at a time"
WEIGHTS = (
    "half of the time makes the weights from the labels, anew in every call; the other half takes documents one by "
    "one, each with the best score below its label"
)
WHY: Mapping[str, str] = {
    "kl": "e^d - 1 without cancellation is the C library's `expm1`, one at a time",
    "listmle": LIBM + ", with a logarithm a level; documents are visited in ideal order",
    "rankboost": LIBM + ", up to four a document, because sums stay relative to their largest term",
    "slam-map": WEIGHTS,
    "slam-ndcg": WEIGHTS,
    "slam-ndcg@k": WEIGHTS,
    "squared-ndcg": "the ideal DCG of the labels is made anew in every call",
    "structured-ndcg": "the worst ranking is an assignment, found by merging after the sort",
    "svm-map": "the worst ranking is found by divide and conquer after the sort",
    "listnet": "maxima, sums, labels' masses and the gradient are further passes over the list",
    "smooth-dcg": "the maximum, sums, gains and the gradient are further passes over the list",
    "squared": "values of single queries are short sums",
    "ranknet": "a pair also takes four multiplications, and its logarithm is a share of another",
    "ranksvm": "sorting by label comes first; a pair adds to both documents' counts",
    "pairwise 0-1 loss": "pairs are counted by label after the sort, and arrays are checked",
    "NDCG@10 and AP": "arrays are checked and converted, and the ideal order of the labels is found",
    "perceptron's round": "scores are a sixth of it; the rest is the ranking, its NDCG, the best rivals and the step",
    "ConeRank's pass": "ten dependent steps a pair, each with a projection onto the simplex, which sorts 10 weights",
    "LETOR text": "every digit is looked at: numbers are parsed, not copied",
    "labels on top, in cache": "scores are a quarter of it; the rest is the ranking, NDCG, the loss and random numbers",
    "labels on top, in memory": "the features are read twice: for scores and for the step",
}
"""Why a kernel is far from its limit; shown where it is."""


@dataclass(frozen=True)
class Kernel:
    """What is called, and how much of every resource one call needs; ``unit_count`` units a call."""

    name: str
    call: Callable[[], object]
    needs: Mapping[str, float]
    unit: str
    unit_count: float


def tables() -> list[Table]:
    """The machine, then the kernels."""
    rates = machine_rates.measure()
    limits = machine_rates.best(rates)
    rows = [row(kernel, limits, median_seconds(kernel.call)) for kernel in kernels()]
    heads = ("kernel", "unit", "bound by", "least, ns a unit", "ours, ns a unit", "ratio", "why")
    return [rates_table(rates), Table(heads, tuple(rows))]


def rates_table(rates: list[Rate]) -> Table:
    """What the machine does in a second."""
    rows = [(rate.resource, rate.means, amount(rate)) for rate in rates]
    return Table(("one core", "by", "rate"), tuple(rows))


def amount(rate: Rate) -> str:
    """The rate as text: bytes are written directly after k, M or G."""
    return f"{short(rate.per_second)}{'' if rate.unit == 'B' else ' '}{rate.unit}/s"


def least(needs: Mapping[str, float], limits: Mapping[str, float]) -> tuple[str, float]:
    """The resource that takes longest, and its seconds."""
    return max(((resource, amount / limits[resource]) for resource, amount in needs.items()), key=lambda x: x[1])


def row(kernel: Kernel, limits: Mapping[str, float], seconds: float) -> tuple[str, ...]:
    """One row of the second table."""
    bound, shortest = least(kernel.needs, limits)
    per_unit = 1e9 / kernel.unit_count
    ratio = seconds / shortest
    why = WHY.get(kernel.name, "not known") if ratio > FAR else ""
    times = ratio_digits(shortest * per_unit), ratio_digits(seconds * per_unit)
    return (kernel.name, kernel.unit, bound, *times, ratio_digits(ratio), why)


def kernels() -> Iterator[Kernel]:
    """All kernels, one after the other, so that the data of one are gone when the next one comes."""
    yield from of_surrogates()
    yield from of_measures()
    yield from of_learners()
    yield of_reader()


def of_surrogates() -> Iterator[Kernel]:
    """Value and gradient of every surrogate of the registry."""
    scores, y, offsets = bench_surrogates.sample()
    pairs = float(n_pairs(y, offsets).sum())
    for name in surrogates.NAMES:
        needs = {CACHED: float(SURROGATE_BYTES * len(y))}
        for resource, amount in OF_SURROGATE.get(name, {}).items():
            each, _, of_pair = resource.partition("per pair: ")
            needs[of_pair or each] = amount * (pairs if of_pair else len(y))
        call = partial(surrogates.create(name).unchecked, scores, y, offsets)
        yield Kernel(name, call, needs, "document", len(y))


def of_measures() -> Iterator[Kernel]:
    """NDCG and AP, and the pairwise 0-1 loss."""
    data = bench_metrics.sample()
    relevant = np.add.reduceat(data.y > 0, data.offsets[:-1])
    compared = float(np.sum(relevant * np.diff(data.offsets)))
    needs = {STREAMED: float(data.scores.nbytes + data.y.nbytes), COMPARED: compared}
    call = partial(metrics.per_query, ["ndcg@10", "map"], data.scores, data.y, data.offsets)
    yield Kernel("NDCG@10 and AP", call, needs, "document", len(data.y))
    scores, y = bench_pair_errors.sample()
    needs = {STREAMED: float(scores.nbytes + y.nbytes), SORTED_120: float(len(y))}
    yield Kernel("pairwise 0-1 loss", partial(bench_pair_errors.ours, scores, y), needs, "document", len(y))


def of_learners() -> Iterator[Kernel]:
    """Rounds of the perceptron and of learning from top labels, and ConeRank's pass over all pairs."""
    data = bench_perceptron.sample()
    m, d, rounds = bench_perceptron.DOCUMENTS, data.n_features, 5_000
    order = np.random.default_rng(1).integers(0, data.n_queries, rounds)
    needs = {CACHED: data.X64.itemsize * m * d * float(rounds), MULTIPLIED: m * d * float(rounds)}
    yield Kernel("perceptron's round", partial(perceptron.run, data, order), needs, "round", rounds)
    for where, bytes_of, (n, m, d, T) in zip(("cache", "memory"), (CACHED, STREAMED), top_k.SIZES, strict=True):
        data = top_k.sample(n, m, d)
        order = np.random.default_rng(2).integers(0, n, T)
        needs = {bytes_of: data.X.itemsize * m * d * float(T), MULTIPLIED: m * d * float(T)}
        yield Kernel(f"labels on top, in {where}", partial(top_k.ours, data, order), needs, "round", T)
    yield of_cone()


def of_cone() -> Kernel:
    """A pair's steps: the gradient of its weights, ten times, and its share of the basis's gradient."""
    data, K = bench_cone.sample(), bench_cone.K
    start = cone.started(data.n_features, K, cone.Problem(), (1,))
    pairs = float(len(cone.pair_losses(data, start)))
    each = 2 * data.n_features * K + bench_cone.FOLD_STEPS * K * K + K * K
    return Kernel("ConeRank's pass", partial(bench_cone.ours, data, start), {MULTIPLIED: each * pairs}, "pair", pairs)


def of_reader() -> Kernel:
    """A file of the first kind that the section on readers has, in the system's cache."""
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "letor.txt"
    bench_reader.write_normalised(path, 10_000, 46)
    needs = {STREAMED: float(path.stat().st_size)}

    def read(folder: tempfile.TemporaryDirectory[str] = folder) -> object:
        return letor.read(path)

    return Kernel("LETOR text", read, needs, "document", 10_000)
