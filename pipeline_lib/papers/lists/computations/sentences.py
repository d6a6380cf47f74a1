"""Are some short statements of `lists` true as they are printed, and what is true in their place?

- Corollary 8 for very few queries, where its logarithm is negative.
- Appendix C: RankSVM's gradient, with max(0, 1[y_i > y_j] (1 + s_j - s_i)) where an indicator belongs.
- Section 3.2: SmoothDCG as a loss to be minimised.
- Footnote 3: B <= G (2 W2 R_X), because every label vector has scores with loss 0; ListNet has none.
- Section 9: guarantees "much tighter" than Chapelle and Wu's, for ListNet and SmoothDCG.
- Section 8.3: ||grad f||_2 <= sqrt(4 H f) for smooth f that are not negative.
- Appendix I: ||X' A X||_(2 to 2) <= R_X^2 ||A||_(inf to 1) for second derivatives A.

And, ours: do 95 % intervals contain the true number in 95 % of all samples?
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.papers.lists.computations import intervals
from pipeline_lib.papers.lists.computations.opposites import Opposites
from pipeline_lib.seeds import generator
from pipeline_lib.theory import list_bounds

if TYPE_CHECKING:
    from pipeline_lib.papers.lists.experiments.exact import ExactSettings

DIFFERENCE = 1e-6
LONGEST = 10**8
"""A length of list at which Theorem 9 is the smaller bound."""
SECOND_DERIVATIVES = 200
RIGHT = 0.9
"""How often the first half of the documents is the relevant one."""


def run(settings: ExactSettings, seed: int) -> list[dict[str, Any]]:
    """The rows of `lists-sentences`: one for each claim, case and statistic."""
    return [
        *_rows("lists-cor8", _of_one_query()),
        *_rows("lists-appendix-c", _gradients(settings, seed)),
        *_rows("lists-smoothdcg-sign", _signs()),
        *_rows("lists-footnote3", _largest_losses(settings)),
        *_rows("lists-tighter", _compared(settings)),
        *_rows("lists-gradient", _gradients_of_waves(settings, seed)),
        *_rows("lists-appendix-i", _second_derivatives(settings, seed)),
        *_rows("lists-intervals", intervals.coverage(settings.draws, seed)),
    ]


def _rows(claim: str, cases: list[tuple[dict[str, Any], dict[str, float]]]) -> list[dict[str, Any]]:
    blank: dict[str, Any] = {"case": "", "m": None, "n": None}
    return [
        {"claim": claim, **blank, **axes, "statistic": name, "value": float(value)}
        for axes, values in cases
        for name, value in values.items()
    ]


def _of_one_query() -> list[tuple[dict[str, Any], dict[str, float]]]:
    """RankSVM on one query of two documents x_1 = -x_2: its average, and Corollary 8 as it is printed.

    The loss max(0, 1 - 2 w x_1) ranges over [0, B], B = 1 + 2 r, for |w x_1| <= r = W2 R_X >= 1/2, so that the average
    of the class over one random sign is B/2. The printed closed form is 10 a log(6 B / (5 a)), a = 2 r sqrt(log2(6)).
    """
    found = []
    for radius in (2.0, 3.0, 5.0, 10.0):
        largest, a = 1.0 + 2.0 * radius, 2.0 * radius * math.sqrt(math.log2(6.0))
        values = {"average": largest / 2.0, "closed_form": 10.0 * a * math.log(6.0 * largest / (5.0 * a))}
        found.append(({"case": f"W2 R_X = {radius:g}", "m": 2, "n": 1}, values))
    return found


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


def _gradients(settings: ExactSettings, seed: int) -> list[tuple[dict[str, Any], dict[str, float]]]:
    loss = surrogates.create("ranksvm")
    rng = generator(seed, "lists-exact", "appendix-c")
    lists = [("two documents", np.array([0.0, 1.0]), np.array([1, 0], np.int32))]
    lists.append(("four documents", np.array([0.0, 3.0, 1.0, -2.0]), np.array([1, 0, 0, 0], np.int32)))
    lists += [
        (f"{m} random documents", rng.normal(size=m), rng.permutation(np.arange(m) % 3).astype(np.int32))
        for m in (3, 5, 10)
    ]
    found = []
    for case, s, y in lists:
        offsets = np.array([0, len(s)])
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
        found.append(({"case": case, "m": len(s)}, errors))
    return found


def _signs() -> list[tuple[dict[str, Any], dict[str, float]]]:
    # The expected DCG@1 of two documents, one relevant: the share of queries whose relevant document is on top.
    found = []
    for y_max in (1, 4):
        values = {}
        for name, sign in (("as_printed", "as-printed"), ("regret", "regret")):
            population = Opposites("smooth-dcg", 1, 1.0, y_max, options={"sign": sign})
            t = np.linspace(-1.0, 1.0, 201)
            risk = RIGHT * population.values(t) + (1.0 - RIGHT) * population.values(-t)
            best = float(t[int(np.argmin(risk))])
            values[f"dcg_{name}"] = (2.0**y_max - 1.0) * (RIGHT if best > 0 else 1.0 - RIGHT)
        values["dcg_random"] = 0.5 * (2.0**y_max - 1.0)
        found.append(({"case": f"y_max = {y_max}", "m": 2}, values))
    return found


def _largest_losses(settings: ExactSettings) -> list[tuple[dict[str, Any], dict[str, float]]]:
    # One document with a label that takes all of the softmax has the lowest score, all others the highest.
    loss, found = surrogates.create("listnet"), []
    for m in settings.lengths:
        for scale in (0.5, 1.0, 2.5):
            s = np.full(m, scale)
            s[0] = -scale
            y = np.zeros(m, np.int32)
            y[0] = 30
            largest = float(loss.value(s, y, np.array([0, m]))[0])
            bounds = {"four_w_r": 4.0 * scale, "log_m_and_two_w_r": math.log(m) + 2.0 * scale}
            with_half = {"log_m_and_w_r": math.log(m) + scale}
            found.append(({"case": f"W2 R_X = {scale:g}", "m": m}, {"largest_loss": largest, **bounds, **with_half}))
    return found


def _compared(settings: ExactSettings) -> list[tuple[dict[str, Any], dict[str, float]]]:
    """Theorems 5 and 9 against Chapelle and Wu's bound with the constants that the paper prints, W2 R_X = 1.

    Chapelle and Wu's second term is multiplied by B, as losses up to B need it.
    """
    found = []
    for name, y_max, convex in (("listnet", 4, True), ("smooth-dcg", 4, False)):
        for n in settings.compared_queries:
            for m in settings.compared_lengths:
                values = _bounds_of(name, y_max, n, m)
                longest = _bounds_of(name, y_max, n, LONGEST)
                values |= {f"{key}_longest": longest[key] for key in ("theorem_9", "chapelle_wu")}
                if convex:
                    values["theorem_5"] = longest["theorem_5"]
                found.append(({"case": name, "n": n, "m": m}, values))
    return found


def _bounds_of(name: str, y_max: int, n: int, m: int) -> dict[str, float]:
    loss = surrogates.create(name, **({"sign": "regret"} if name == "smooth-dcg" else {}))
    given: dict[str, Any] = {"radius": 1.0, "feature_norm": 1.0}
    own = list_bounds.of_surrogate("erm", loss, m=2, y_max=y_max, **given)
    B, delta = own["loss_bound"], 0.05
    # G as printed is G^CW as printed.
    complexity = list_bounds.complexity_of_chapelle_wu(n=n, m=m, lipschitz_l2=own["lipschitz"], **given)
    values = {
        "theorem_9": list_bounds.evaluate("erm", n=n, m=m, delta=delta, **given, **own),
        "chapelle_wu": complexity + B * math.sqrt(8.0 * math.log(1.0 / delta) / n),
    }
    if own["convex"]:
        values["theorem_5"] = list_bounds.evaluate("ogd", n=n, m=m, **given, **own)
    return values


def _gradients_of_waves(settings: ExactSettings, seed: int) -> list[tuple[dict[str, Any], dict[str, float]]]:
    """The largest ||grad f||^2 / (4 H f) of f = sum_k a_k (1 - cos(<b_k, w> + c_k)), H = sum_k a_k ||b_k||^2.

    One wave near its zero attains 1/2.
    """
    rng, found = generator(seed, "lists-exact", "gradients"), []
    for waves in (1, 2, 5):
        a = rng.exponential(size=(settings.draws, waves))
        b = rng.normal(size=(settings.draws, waves, 3))
        phase = 10.0 ** rng.uniform(-4.0, 0.0, size=(settings.draws, waves))
        slope = ((a * np.sin(phase))[:, :, None] * b).sum(axis=1)
        f = (2.0 * a * np.sin(0.5 * phase) ** 2).sum(axis=1)
        smoothness = (a * (b**2).sum(axis=2)).sum(axis=1)
        ratio = np.sqrt((slope**2).sum(axis=1) / (4.0 * smoothness * f))
        found.append(({"case": f"{waves} wave" + "s" * (waves > 1)}, {"largest_ratio": float(ratio.max())}))
    return found


def _second_derivatives(settings: ExactSettings, seed: int) -> list[tuple[dict[str, Any], dict[str, float]]]:
    """Both sides for ListNet's second derivative diag(q) - q q', q a softmax, and features of norms up to R_X.

    ||A||_(inf to 1) is the largest e' A e' over signs. Documents that are all in one direction, with the signs of the
    largest, attain the bound.
    """
    rng, found = generator(seed, "lists-exact", "appendix-i"), []
    for m in (2, 4, 8):
        signs = np.array(list(itertools.product((-1.0, 1.0), repeat=m)))
        largest = euclidean = 0.0
        for k in range(SECOND_DERIVATIVES):
            q = rng.dirichlet(np.full(m, rng.choice([0.2, 1.0, 5.0])))
            A = np.diag(q) - np.outer(q, q)
            norms = np.einsum("ki,ij,kj->k", signs, A, signs)
            X = rng.normal(size=(m, 3)) if k % 2 else np.outer(signs[int(np.argmax(norms))], rng.normal(size=3))
            R = float(np.linalg.norm(X, axis=1).max())
            left = float(np.linalg.norm(X.T @ A @ X, 2)) / R**2
            largest = max(largest, left / float(norms.max()))
            euclidean = max(euclidean, left / float(np.linalg.norm(A, 2)))
        found.append(({"case": f"{m} documents", "m": m}, {"largest_ratio": largest, "with_euclidean": euclidean}))
    return found
