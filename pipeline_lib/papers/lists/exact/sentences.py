"""Are some short statements of `lists` true as they are printed, and what is true in their place?

- Corollary 8 for very few queries, where its logarithm is negative.
- Appendix C: RankSVM's gradient, with max(0, 1[y_i > y_j] (1 + s_j - s_i)) where an indicator belongs.
- Section 3.2: SmoothDCG as a loss to be minimised.
- Footnote 3: B <= G (2 W2 R_X), because every label vector has scores with loss 0; ListNet has none.
- Section 9: guarantees "much tighter" than Chapelle and Wu's, for ListNet and SmoothDCG.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import chain, product

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import surrogates
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.seeds import generator
from pipeline_lib.papers.lists.exact.opposites import Opposites
from pipeline_lib.papers.lists.exact.settings import ExactSettings, Sentence
from pipeline_lib.papers.lists.lengths.experiment import LOSSES, PRINTED, Class
from pipeline_lib.theory import list_bounds

DIFFERENCE = 1e-6
LONGEST = 10**8
"""A length of list at which Theorem 9 is the smaller bound."""
Y_MAX = 4
"""The largest label in the comparison with Chapelle and Wu."""
RIGHT = 0.9
"""How often the first half of the documents is the relevant one."""


def tried(settings: ExactSettings, seed: int) -> Iterator[Sentence]:
    """One row for each claim, case and statistic."""
    yield from chain(_of_one_query(), _gradients(seed), _signs(), _largest_losses(settings), _compared(settings))


def _numbers(
    claim: str, case: str, values: Mapping[str, float], *, m: int | None = None, n: int | None = None
) -> Iterator[Sentence]:
    for name, value in values.items():
        yield Sentence(claim=claim, case=case, m=m, n=n, statistic=name, value=float(value))


def _of_one_query() -> Iterator[Sentence]:
    """RankSVM on one query of two documents x_1 = -x_2: its average, and Corollary 8 as it is printed.

    The loss max(0, 1 - 2 w x_1) ranges over [0, B], B = 1 + 2 r, for |w x_1| <= r = W2 R_X >= 1/2, so that the average
    of the class over one random sign is B/2. The printed closed form is 10 a log(6 B / (5 a)), a = 2 r sqrt(log2(6)).
    """
    for radius in (2.0, 3.0, 5.0, 10.0):
        largest, a = 1.0 + 2.0 * radius, 2.0 * radius * math.sqrt(math.log2(6.0))
        values = {"average": largest / 2.0, "closed_form": 10.0 * a * math.log(6.0 * largest / (5.0 * a))}
        yield from _numbers("lists-cor8", f"W2 R_X = {radius:g}", values, m=2, n=1)


def printed_gradient(s: Floats, y: NDArray[np.int32]) -> Floats:
    """Appendix C: sum_ij max(0, 1[y_i > y_j] (1 + s_j - s_i)) (e_j - e_i).

    Example
    -------
    >>> printed_gradient(np.array([0.0, 3.0, 1.0]), np.array([1, 0, 0], np.int32))
    array([-6.,  4.,  2.])
    """
    above = y[:, None] > y[None, :]
    weight = np.maximum(0.0, np.where(above, 1.0 + s[None, :] - s[:, None], 0.0))
    return np.asarray(weight.sum(axis=0) - weight.sum(axis=1))


def _gradients(seed: int) -> Iterator[Sentence]:
    loss = surrogates.create("ranksvm")
    rng = generator(seed, "lists-exact", "appendix-c")
    lists = {"two documents": ([0.0, 1.0], [1, 0]), "four documents": ([0.0, 3.0, 1.0, -2.0], [1, 0, 0, 0])}
    for m in (3, 5, 10):
        lists[f"{m} random documents"] = list(rng.normal(size=m)), list(rng.permutation(np.arange(m) % 3))
    for case, (scores, labels) in lists.items():
        s, y, offsets = np.array(scores), np.array(labels, np.int32), np.array([0, len(scores)])
        numerical = np.array(
            [
                loss.value(s + shift, y, offsets)[0] - loss.value(s - shift, y, offsets)[0]
                for shift in DIFFERENCE * np.eye(len(s))
            ]
        ) / (2.0 * DIFFERENCE)
        printed, with_indicator = printed_gradient(s, y), loss.gradient(s, y, offsets)
        errors = {
            "error_as_printed": np.abs(printed - numerical).max(),
            "error_with_indicator": np.abs(with_indicator - numerical).max(),
            "error_with_the_other_sign": np.abs(with_indicator + numerical).max(),
        }
        yield from _numbers("lists-appendix-c", case, errors, m=len(s))


def _signs() -> Iterator[Sentence]:
    # The expected DCG@1 of two documents, one relevant: the share of queries whose relevant document is on top.
    for y_max in (1, 4):
        values = {}
        for name, sign in (("as_printed", "as-printed"), ("regret", "regret")):
            population = Opposites("smooth-dcg", 1, 1.0, y_max, options={"sign": sign})
            t = np.linspace(-1.0, 1.0, 201)
            risk = RIGHT * population.values(t) + (1.0 - RIGHT) * population.values(-t)
            best = float(t[int(np.argmin(risk))])
            values[f"dcg_{name}"] = (2.0**y_max - 1.0) * (RIGHT if best > 0 else 1.0 - RIGHT)
        values["dcg_random"] = 0.5 * (2.0**y_max - 1.0)
        yield from _numbers("lists-smoothdcg-sign", f"y_max = {y_max}", values, m=2)


def _largest_losses(settings: ExactSettings) -> Iterator[Sentence]:
    # One document with a label that takes all of the softmax has the lowest score, all others the highest.
    loss = surrogates.create("listnet")
    for m, scale in product(settings.lengths, (0.5, 1.0, 2.5)):
        first = np.arange(m) == 0
        values = {
            "largest_loss": float(loss.value(np.where(first, -scale, scale), 30 * first, np.array([0, m]))[0]),
            "four_w_r": 4.0 * scale,
            "log_m_and_two_w_r": math.log(m) + 2.0 * scale,
        }
        yield from _numbers("lists-footnote3", f"W2 R_X = {scale:g}", values, m=m)


def _compared(settings: ExactSettings) -> Iterator[Sentence]:
    """Theorems 5 and 9 against Chapelle and Wu's bound with the constants that the paper prints, W2 R_X = 1.

    Chapelle and Wu's second term is multiplied by B, as losses up to B need it.
    """
    for name, n, m in product(LOSSES, settings.compared_queries, settings.compared_lengths):
        group, delta = Class(name, 1.0, Y_MAX), 0.05
        for end, length in (("", m), ("_longest", LONGEST)):
            values = {f"theorem_9{end}": group.bound("theorem 9", n, length, delta)}
            values[f"chapelle_wu{end}"] = group.bound(PRINTED, n, length, delta)
            if group.printed["convex"] and not end:
                given = {"radius": 1.0, "feature_norm": 1.0, **group.printed}
                values["theorem_5"] = list_bounds.evaluate("ogd", n=n, m=LONGEST, **given)
            yield from _numbers("lists-tighter", name, values, m=m, n=n)
