"""What is the smallest sum of weights for which SLAM bounds 1 - NDCG, for a label vector?

phi^v is at least the ranking loss for all scores if and only if <v, delta> >= loss for every vector delta of hinges
that scores can have and the worst ranking that these scores allow. Hinges and the order of scores are differences of
scores, so that the extreme points have whole scores; and of two neighbours in the order, a lead of more than 1 can be
shortened to 1, which raises no hinge. All orders with leads of 0 or 1 are therefore enough, and the smallest sum is a
linear programme over v.
"""

import itertools
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.papers.score_lists import Labels
from pipeline_lib.papers.slam.linear_programmes import least
from pipeline_lib.ranking import GAINS, discounts
from pipeline_lib.surrogates.slam import tight_weights_of_all, weights


def compared(y: Labels) -> dict[str, float]:
    """The printed and the tight weights of one list, and all valid ones; labels fall to a lowest one of 0.

    Returns
    -------
    dict
        printed_sum (9), tight_sum, least_sum (by a linear programme over all valid weights), worst_loss (of the
        reversed order), smallest_slack of the tight weights over all constraints, largest_excess (of a tight weight
        over the printed one), and the smallest slacks of weights with an error: slack_one_rank_off (D(m - r_l + i + 1)
        for D(i) and so on), slack_without_thresholds (r counts all relevant documents for every l) and
        slack_of_nine_tenths (.9 times the tight weights).
    """
    m = len(y)
    hinges, losses = constraints(y)
    tight, printed = tight_weights_of_all(y, [0, m]), weights(y, "ndcg")
    D, relevant = discounts(m + 1), int((y > 0).sum())

    def slack(v: Floats) -> float:
        return float((hinges @ v - losses).min())

    return {
        "printed_sum": float(printed.sum()),
        "tight_sum": float(tight.sum()),
        "least_sum": least(np.ones(m), hinges, losses),
        "worst_loss": float(_losses(y, np.arange(m)[::-1])),
        "smallest_slack": slack(tight),
        "largest_excess": float((tight - printed).max()),
        "slack_one_rank_off": slack(_assembled(y, lambda i, r: D[i + 1] - D[min(m - r + i + 1, m)])),
        "slack_without_thresholds": slack(_assembled(y, lambda i, r: D[i] - D[m - relevant + i])),
        "slack_of_nine_tenths": slack(0.9 * tight),
    }


def constraints(y: Labels) -> tuple[Floats, Floats]:
    """The vectors of hinges that decide which weights are valid, shape (n, m), and the loss each must cover.

    Documents are in the order of falling labels. Of vectors that occur with several rankings, the largest loss counts.

    Example
    -------
    >>> hinges, losses = constraints(np.array([1, 0], np.int32))
    >>> hinges.tolist(), losses.round(3).tolist()
    ([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]], [0.0, 0.369, 0.369])
    """
    scores, order, leads = _orders(len(y))
    label = y[order]
    # Of documents with equal scores, the less relevant come first, and those of equal label as listed or not at all.
    rising = (label[:, :-1] < label[:, 1:]) | ((label[:, :-1] == label[:, 1:]) & (order[:, :-1] < order[:, 1:]))
    worst = (rising | (leads > 0.0)).all(axis=1)
    scores, order = scores[worst], order[worst]
    margins = 1.0 + scores[:, None, :] - scores[:, :, None]
    hinges = np.where(y[None, :] < y[:, None], margins, 0.0).max(axis=2, initial=0.0)
    kept, group = np.unique(hinges, axis=0, return_inverse=True)
    losses = np.zeros(len(kept))
    np.maximum.at(losses, group.ravel(), _losses(y, order))
    return kept, losses


@cache
def _orders(m: int) -> tuple[Floats, Any, Floats]:
    """All rankings of m documents with all leads of 0 or 1: scores, documents from the top, and leads."""
    leads = np.array(list(itertools.product((0.0, 1.0), repeat=m - 1)))
    orders = np.array(list(itertools.permutations(range(m))))
    order, lead = np.repeat(orders, len(leads), axis=0), np.tile(leads, (len(orders), 1))
    scores = np.zeros(order.shape)
    np.put_along_axis(scores, order[:, 1:], -np.cumsum(lead, axis=1), axis=1)
    return scores, order, lead


def _losses(y: Labels, order: Any) -> Floats:
    D, gains = discounts(len(y)), GAINS[y]
    return np.asarray(1.0 - gains[order] @ D / (np.sort(gains)[::-1] @ D))


def _assembled(y: Labels, lost: Callable[[int, int], float]) -> Floats:
    m = len(y)
    Z = float(np.sort(GAINS[y])[::-1] @ discounts(m))
    steps = [(GAINS[label] - GAINS[label - 1], int((y >= label).sum()), label) for label in range(1, int(y.max()) + 1)]
    return np.array([sum(gain * lost(i, r) for gain, r, label in steps if label <= y[i]) / Z for i in range(m)])
