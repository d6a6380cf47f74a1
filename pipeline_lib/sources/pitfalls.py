"""What about the documents of a person's data makes measures mislead, although nothing in the files is wrong?"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import ranking
from pipeline_lib.sources.letor_reader import Block

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

FALSE_ALARMS = 0.01
"""With at most this probability, rows in random order are said to follow the labels."""
QUERIES = 100_000
"""So many queries tell by their order whether rows follow labels."""
NAMED = 5
"""So many features are named."""


class WithinQueries:
    """Which features differ among the documents of a query, found block by block."""

    def __init__(self, n_features: int) -> None:
        self.differ = np.zeros(n_features, np.bool_)
        self._last: tuple[int, NDArray[np.float32]] | None = None

    def see(self, block: Block) -> None:
        """Compare each document with the one before it in its query."""
        if self._last is not None and self._last[0] == block.qid[0]:
            self.differ |= self._last[1] != block.X[0]
        unknown = np.flatnonzero(~self.differ)
        same = block.qid[1:] == block.qid[:-1]
        if len(unknown):
            X = block.X[:, unknown]
            self.differ[unknown] = ((X[1:] != X[:-1]) & same[:, None]).any(axis=0)
        self._last = int(block.qid[-1]), block.X[-1].copy()

    def end(self) -> None:
        """A part ends: a query of the same name that begins the next one is another."""
        self._last = None


def warnings(
    label: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    within: WithinQueries,
    feature_names: Sequence[str] | None,
    labels: Mapping[int, int],
    relevant_from: int,
) -> list[str]:
    """A sentence for everything that should be known before a measure is believed."""
    found = []
    if len(labels) > 1 and (first := follows_labels(label, offsets)):
        found.append(
            f"the rows of queries stand {first} first: an order of equal scores that follows the rows would know the "
            "labels, so that equal scores count by the mean over all orders"
        )
    constant = [name for name, differs in zip(_names(within, feature_names), within.differ, strict=True) if not differs]
    if constant and (np.diff(offsets) > 1).any():
        more = f" and {len(constant) - NAMED:,} more" if len(constant) > NAMED else ""
        found.append(
            f"constant within every query, so that alone they order nothing: {', '.join(constant[:NAMED])}{more}"
        )
    if len(labels) > 1 and min(labels) >= relevant_from:
        scale = (
            "; `labels: lowered` subtracts 1 from all, so that the lowest gains nothing in NDCG and ERR, either"
            if min(labels) == 1
            else f", or subtract {min(labels)} from the labels"
        )
        found.append(
            f"every document is relevant (labels {min(labels)} to {max(labels)}), so that MAP, RR, P and recall say "
            f"nothing: say from which label on documents are relevant (`relevant_from: L` of the data set){scale}"
        )
    return found


def _names(within: WithinQueries, feature_names: Sequence[str] | None) -> Sequence[str]:
    return feature_names or [f"feature {k}" for k in range(1, len(within.differ) + 1)]


def follows_labels(label: NDArray[np.uint8], offsets: NDArray[np.int64]) -> str:
    """Whether rows stand "best" or "worst" first in their queries, or neither.

    The NDCG of the order of the rows differs from its mean over all orders by d_q. If each order is as likely as any
    other, the d_q are independent with mean 0, a variance of sum_i (g_i - mean g)^2 sum_i (D(i) - mean D)^2 / (m - 1),
    g the gains over the ideal DCG, and at most M in absolute value; Bernstein's inequality bounds the probability of
    |sum_q d_q| >= t by 2 exp(-t^2 / (2 (V + M t / 3))), V the sum of the variances.

    Example
    -------
    >>> offsets = np.arange(0, 101, 4)
    >>> follows_labels(np.tile(np.array([2, 1, 0, 0], np.uint8), 25), offsets)
    'best'
    >>> follows_labels(np.tile(np.array([0, 2, 0, 1], np.uint8), 25), offsets)
    ''
    """
    offsets = offsets[: QUERIES + 1]
    y = label[: offsets[-1]]
    begins, m = offsets[:-1], np.diff(offsets)
    sums = ranking.discount_sums(ranking.longest(offsets))
    D = np.diff(sums)
    squares = np.r_[0.0, np.cumsum(D**2)]
    g = ranking.normalised_gains(y.astype(np.int32), offsets, sums)
    mean_gains = np.add.reduceat(g, begins) / m
    # An order draws each gain to each rank alike, so that its mean NDCG is the mean gain times all discounts.
    in_rows, means = np.add.reduceat(g * D[np.arange(len(y)) - np.repeat(begins, m)], begins), mean_gains * sums[m]
    of_gains = np.add.reduceat((g - np.repeat(mean_gains, m)) ** 2, begins)
    of_discounts = np.maximum(squares[m] - sums[m] ** 2 / m, 0.0)
    V = float((of_gains * of_discounts / np.maximum(m - 1, 1)).sum())
    t = float((in_rows - means).sum())
    M = float(np.maximum(means, 1.0 - means).max())
    if t * t < 2.0 * math.log(2.0 / FALSE_ALARMS) * (V + M * abs(t) / 3.0) or V == 0.0:
        return ""
    return "best" if t > 0.0 else "worst"
