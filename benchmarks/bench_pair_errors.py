"""Pairwise 0-1 loss of 3,000 queries with 120 documents each

How many pairs of documents with different labels are in the wrong order? Four grades, 22 % of the documents relevant,
scores without ties. Kendall's tau of one query, with the ties of the labels taken into account, contains the same
number; all pairs at once need a matrix for every query.
"""

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Timing, compare
from pipeline_lib.core.arrays import Floats
from pipeline_lib.theory import pair_losses

QUERIES, DOCUMENTS = 3_000, 120
WORK = f"pairwise 0-1 loss, {QUERIES:,} x {DOCUMENTS}"
BLOCK = 100  # queries whose pairs numpy holds at a time


Labels = NDArray[np.int64]


def sample() -> tuple[Floats, Labels]:
    """Scores and labels of all documents, query after query."""
    rng = np.random.default_rng(0)
    scores = rng.standard_normal(QUERIES * DOCUMENTS)
    return scores, (rng.random(len(scores)) < 0.22) * rng.integers(1, 5, len(scores))


def measure() -> list[Timing]:
    """Time our kernel, numpy on all pairs, and scipy's tau, query by query."""
    scores, y = sample()
    works = {
        "pipeline_lib": partial(ours, scores, y),
        "numpy": partial(_all_pairs, scores, y),
        "scipy": partial(_tau, scores, y),
    }
    expected = works["pipeline_lib"]()
    for name, work in works.items():
        if not np.allclose(work(), expected, rtol=0.0, atol=1e-9):
            raise AssertionError(f"{name} computes other numbers")
    notes = {
        "pipeline_lib": "sorted once, counted by label; checking the arrays is part of it",
        "numpy": f"{DOCUMENTS} x {DOCUMENTS} comparisons per query, {BLOCK} queries at a time",
        "scipy": "kendalltau, one call per query",
    }
    return compare(WORK, works, unit="queries", unit_count=QUERIES, notes=notes)


def ours(scores: Floats, y: Labels) -> Floats:
    """The kernel of the library."""
    offsets = np.arange(0, len(scores) + 1, DOCUMENTS)
    return pair_losses.get("zero-one").values(scores, y, offsets)


def _all_pairs(scores: Floats, y: Labels) -> Floats:
    s, labels = scores.reshape(-1, DOCUMENTS), y.reshape(-1, DOCUMENTS)
    found = []
    for start in range(0, len(s), BLOCK):
        one, grade = s[start : start + BLOCK], labels[start : start + BLOCK]
        wrong = (grade[:, :, None] > grade[:, None, :]) & (one[:, :, None] < one[:, None, :])
        found.append(wrong.sum(axis=(1, 2)))
    return np.concatenate(found) / math.comb(DOCUMENTS, 2)


def _tau(scores: Floats, y: Labels) -> Floats:
    from scipy.stats import kendalltau

    # tau-b = (right - wrong) / sqrt(pairs different), pairs = all and different = those of different labels
    pairs = math.comb(DOCUMENTS, 2)
    found = np.empty(QUERIES)
    for q, (s, labels) in enumerate(zip(scores.reshape(-1, DOCUMENTS), y.reshape(-1, DOCUMENTS), strict=True)):
        different = pairs - sum(math.comb(int(count), 2) for count in np.bincount(labels))
        found[q] = (different - kendalltau(s, labels).statistic * math.sqrt(pairs * different)) / (2 * pairs)
    return found
