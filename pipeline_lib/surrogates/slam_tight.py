"""Which weights with the smallest possible sum make SLAM an upper bound on 1 - NDCG?

With the documents numbered by falling label, r_l of them labelled l or more, and the gain G,

    v_i = (1/Z) sum over l = 1..y_i of (G(l) - G(l - 1)) (D(i) - D(m - r_l + i)).

For a single threshold l, the documents labelled l or more are relevant and all others are not, and D(i) - D(m - r_l +
i) is what document i loses in the reversed order: the analogue of v^MAP (6). A threshold's hinge is at most that of
(5), since a document of label y_i >= l has at least the documents below l to compete with; so the sum over thresholds
bounds 1 - NDCG. The sum of v is 1 - NDCG of the reversed order. No valid weights have a smaller one: at equal scores
all hinges are 1, and ties may be broken in that order. No weight exceeds that of (9), because D(m - r_l + i) >= D(m).
The proof is in docs/weights-of-slam.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib import checks
from pipeline_lib.arrays import Floats
from pipeline_lib.checks import MAX_LABEL, checked
from pipeline_lib.compiled import njit
from pipeline_lib.ranking import GAINS, discounts, ideal_dcg_in_data_order, ideal_ranks

__all__ = ["tight_weights_of_all"]  # the other function is for surrogates, which have checked their input


@checked
def tight_weights_of_all(y: ArrayLike, offsets: ArrayLike) -> Floats:
    """The valid weights for 1 - NDCG with the smallest sum, of all queries' documents, shape (N,).

    Parameters
    ----------
    y : shape (N,), whole labels in 0..255
    offsets : shape (Q + 1,), rising strictly from 0 to N

    Raises
    ------
    DataError
        When the labels or offsets are not of this form.

    Example
    -------
    >>> tight_weights_of_all([1, 1, 0], [0, 3]).round(3).tolist()
    [0.226, 0.08, 0.0]
    """
    labels = checks.labels("y", y)
    return tight_weights(labels, checks.offsets("offsets", offsets, len(labels)))


def tight_weights(y: NDArray[np.int32], offsets: NDArray[np.int64]) -> Floats:
    """The same of input that has been checked: contiguous int32 and int64."""
    D = discounts(int(np.diff(offsets).max(initial=1)))
    v: Floats = _tight_weights(y, ideal_ranks(y, offsets), offsets, D)
    return v


@njit(nogil=True)
def _tight_weights(y, positions, offsets, D):  # type: ignore[no-untyped-def]
    v, counts = np.zeros(len(y)), np.zeros(MAX_LABEL + 1, np.int64)
    for q in range(len(offsets) - 1):
        begin, end = offsets[q], offsets[q + 1]
        Z = ideal_dcg_in_data_order(y[begin:end], positions[begin:end], D)
        if Z == 0.0:
            continue
        counts[:] = 0
        for i in range(begin, end):
            counts[y[i]] += 1
        lowest = y[begin:end].min()
        for i in range(begin, end):
            # Thresholds between two labels that occur have the same documents above them.
            below, lower = lowest, counts[lowest]
            for label in range(lowest + 1, y[i] + 1):
                if counts[label] > 0:
                    place = positions[i] - 1
                    v[i] += (GAINS[label] - GAINS[below]) * (D[place] - D[lower + place]) / Z
                    below, lower = label, lower + counts[label]
    return v
