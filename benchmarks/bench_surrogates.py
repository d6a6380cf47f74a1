"""Value and gradient of the surrogates

One call gives the values of all queries and the gradient in all scores. Ours are timed as solvers call them: arrays
known to be good, labels as they come; everything that follows from the labels alone (sorting by label, targets,
weights) is part of every call. The peers are PyTorch with automatic differentiation in float64, the value and its
backward pass, and all that follows from the labels alone (targets, masks, index pairs) is made before the clock starts.
Two kinds: padded rectangles (queries x longest list, and x longest list for pairs), as most people write them, and flat
arrays over documents or over the list of all pairs, which waste nothing. Before anything is timed, all implementations
give the same value and gradient. The data have MQ2007's size: 41,000 documents of 1,020 queries with 8 to 147
documents, most of them around 40, and labels 0, 1, 2 for 74, 20 and 6 %.

The last table has about 40,000 documents in lists of one length m, labels 0, 1, 2 for 74, 20 and 6 %, default options
(sums over pairs, margin 1, k = 10 for slam-ndcg@k, k = 1 and sigma = 1 for smooth-dcg). The exponent is the slope of
log seconds of one query against log m, by least squares from m = 100 on: 1 is linear, 2 is every pair. RankSVM passes
over all pairs of short lists, several pairs in one instruction, and sorts long ones, so that its exponent from 100 on
includes the change from one to the other; from 3,000 on, all its lists are sorted. RankNet has no factorisation and
takes all pairs.
"""

from __future__ import annotations

import importlib
import itertools
import math
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Scaling, Timing, compare
from pipeline_lib import surrogates
from pipeline_lib.surrogates.base import Surrogate

N_QUERIES, N_DOCUMENTS = 1_020, 41_000
LABELS = (0.74, 0.20, 0.06)
ROUNDS, CALLS_A_ROUND = 9, 10
OURS = "pipeline_lib"
LENGTHS = (10, 30, 100, 300, 1_000, 3_000, 10_000)
SCALING_DOCUMENTS = 40_000

Result = tuple[float, NDArray[np.float64]]
Call = Callable[[], Result]


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
    """ListNet, RankNet and RankSVM compared with torch."""
    scores, y, offsets = sample()
    timings = []
    for name in ("listnet", "ranknet", "ranksvm"):
        work = f"{name}, 41,000 documents"
        missing = []
        calls: dict[str, Call] = {OURS: partial(_ours, surrogates.create(name), scores, y, offsets)}
        try:
            calls |= _torch(name, scores, y, offsets)
        except ImportError as error:
            missing.append(Timing(work, "torch", (math.nan,), "documents", N_DOCUMENTS, f"not installed: {error}"))
        for peer, call in calls.items():
            _check_same(peer, call(), calls[OURS]())
        timings += compare(
            work, calls, unit="documents", unit_count=N_DOCUMENTS, rounds=ROUNDS, calls_a_round=CALLS_A_ROUND
        )
        timings += missing
    return timings


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
            seconds.append(_median(partial(loss.unchecked, scores[:n], y[:n], offsets)) / (len(offsets) - 1))
        rows.append(Scaling(name, LENGTHS, tuple(seconds), fitted_from=100))
    return rows


def _median(call: Callable[[], object], rounds: int = 5) -> float:
    call()
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def _ours(loss: Surrogate, scores: NDArray[np.float64], y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Result:
    values, gradient = loss.unchecked(scores, y, offsets)
    return float(values.sum()), gradient


def _check_same(name: str, computed: Result, expected: Result) -> None:
    if not (np.isclose(computed[0], expected[0], rtol=1e-10) and np.allclose(computed[1], expected[1], atol=1e-9)):
        raise AssertionError(f"{name} computes other numbers: {computed} instead of {expected}")


def _torch(name: str, scores: NDArray[np.float64], y: NDArray[np.int32], offsets: NDArray[np.int64]) -> dict[str, Call]:
    """The peers for one surrogate, flat and padded."""
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    sizes = np.diff(offsets)
    query = torch.from_numpy(np.repeat(np.arange(len(sizes)), sizes))
    place = torch.from_numpy(np.arange(len(y)) - np.repeat(offsets[:-1], sizes))
    shape = (len(sizes), int(sizes.max()))
    flat = torch.from_numpy(scores)
    rectangle, labels = torch.zeros(shape, dtype=torch.float64), torch.zeros(shape, dtype=torch.float64)
    mask = torch.zeros(shape, dtype=torch.bool)
    rectangle[query, place], labels[query, place], mask[query, place] = flat, torch.from_numpy(y.astype(float)), True

    def padded_result(loss: Callable[[Any], Any]) -> Result:
        s = rectangle.clone().requires_grad_()
        value = loss(s)
        value.backward()
        return value.item(), s.grad[query, place].numpy()

    def flat_result(loss: Callable[[Any], Any]) -> Result:
        s = flat.detach().requires_grad_()
        s.grad = None
        value = loss(s)
        value.backward()
        return value.item(), s.grad.numpy()

    if name == "listnet":
        target = torch.softmax(labels.masked_fill(~mask, -torch.inf), dim=1)
        flat_target = target[query, place]

        def padded_listnet(s: Any) -> Any:
            logarithms = torch.log_softmax(s.masked_fill(~mask, -torch.inf), dim=1)
            return -(target * logarithms.masked_fill(~mask, 0.0)).sum()

        def flat_listnet(s: Any) -> Any:
            top = torch.full((len(sizes),), -torch.inf, dtype=torch.float64)
            behind = s - top.scatter_reduce(0, query, s.detach(), "amax").index_select(0, query)
            mass = torch.zeros(len(sizes), dtype=torch.float64).index_add(0, query, behind.exp())
            return mass.log().sum() - (flat_target * behind).sum()

        return {
            "torch, flat": partial(flat_result, flat_listnet),
            "torch, padded": partial(padded_result, padded_listnet),
        }

    higher, lower = _pairs(y, offsets)
    i, j = torch.from_numpy(higher), torch.from_numpy(lower)
    counted = (labels[:, :, None] > labels[:, None, :]) & mask[:, :, None] & mask[:, None, :]
    softplus = torch.nn.functional.softplus
    pair_loss = softplus if name == "ranknet" else lambda t: torch.relu(1.0 + t)

    def flat_pairs(s: Any) -> Any:
        return pair_loss(s.index_select(0, j) - s.index_select(0, i)).sum()

    def padded_pairs(s: Any) -> Any:
        return pair_loss((s[:, None, :] - s[:, :, None])[counted]).sum()

    return {"torch, flat": partial(flat_result, flat_pairs), "torch, padded": partial(padded_result, padded_pairs)}


def _pairs(y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of the more and of the less relevant document of every pair."""
    higher, lower = [], []
    for begin, end in itertools.pairwise(offsets):
        i, j = np.nonzero(y[begin:end, None] > y[None, begin:end])
        higher.append(begin + i)
        lower.append(begin + j)
    return np.concatenate(higher), np.concatenate(lower)
