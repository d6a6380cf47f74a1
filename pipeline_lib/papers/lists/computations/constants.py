"""Are the constants that the bounds on long lists rest on as large as stated, and no larger?

`lists`: Propositions 1 and 2, section 3.3, the relation of the two Lipschitz constants in section 3, Theorem 3, and
Lemmas 4, 13 and 14.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import progress, surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.claims.evidence import Evidence, Interval, Trial
from pipeline_lib.papers import score_lists
from pipeline_lib.seeds import generator
from pipeline_lib.statistics import fit_exponent
from pipeline_lib.surrogates.base import Surrogate, What
from pipeline_lib.theory import constant_search, invariance, operator_norms, self_bounding
from pipeline_lib.theory import constants as known

if TYPE_CHECKING:
    from pipeline_lib.papers.lists.experiments.constants import ConstantsSettings

_LOG = logging.getLogger(__name__)

CONSTANTS = "tables/lists-constants.parquet"
CHECKS = "tables/lists-identities.parquet"

# Lipschitz on bounded scores only; in the searches for all other losses scores are not restricted.
NEEDS_BOUND = ("kl", "rankboost", "squared", "squared-ndcg")
CONSTANT_KINDS: tuple[What, ...] = ("lipschitz-linf", "lipschitz-l2", "smoothness", "bound")
NAMED_BY_PROPOSITION_1: tuple[What, ...] = ("lipschitz-linf", "smoothness")
# With 20 ascents the largest row of some matrices of this size is missed; with 100 that was not observed.
LARGEST_MATRIX = 30
LEAST_SHARE = 1e-6
"""Of phi(s) in phi(s) + phi(s'), where phi(s) may be 0."""
NORMS = (1.0, 1.5, 2.0, 3.0, math.inf)
WAVES = "random waves"
# Smooth on all of R^m and never negative, as Lemma 14 requires.
SELF_BOUNDED: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("listnet", {}),
    ("ranknet", {}),
    ("ranknet", {"normalisation": "mean"}),
    ("squared", {}),
    ("squared-ndcg", {}),
    ("smooth-dcg", {"sign": "regret", "sigma": 1.0}),
    ("smooth-dcg", {"sign": "regret", "sigma": 0.1}),
    ("smooth-dcg", {"sign": "regret", "sigma": 1.0, "k": 3}),
)


@dataclass(frozen=True)
class Results:
    """Rows of the two tables, and the evidence that is in neither."""

    constants: list[dict[str, Any]]
    checks: list[dict[str, Any]]
    evidence: list[Evidence]


def run(settings: ConstantsSettings, seed: int) -> Results:
    """Compute everything."""
    growing, growth = ranksvm_growth(settings, seed)
    bounded, self_bounded = lemma_14(settings, seed)
    table = [
        *proposition_1(settings, seed),
        *proposition_2(settings, seed),
        *growing,
        *constants_of_all(settings, seed),
    ]
    return Results(table, [*theorem_3(), *lemma_4(settings, seed), *bounded], [growth, self_bounded])


def _search(
    loss: Surrogate, m: int, y_max: int, what: What, settings: ConstantsSettings, seed: int, bound: float | None
) -> float:
    options = (str(getattr(loss, "sigma", "")), str(getattr(loss, "k", "")))
    rng = generator(seed, "lists-constants", loss.name, *options, m, y_max, what)
    return constant_search.search(loss, m, y_max, what, rng=rng, restarts=settings.restarts, score_bound=bound).value


def _row(
    part: str, loss: Surrogate, m: int, y_max: int, what: What, bound: float | None, stated: float, searched: float
) -> dict[str, Any]:
    return {
        "part": part,
        "surrogate": loss.name,
        "sigma": getattr(loss, "sigma", None),
        "k": getattr(loss, "k", None),
        "m": m,
        "y_max": y_max,
        "constant": what,
        "score_bound": bound,
        "stated": stated,
        "exact": known.supremum(loss, m, y_max, what, score_bound=bound),
        "searched": searched,
    }


def proposition_1(settings: ConstantsSettings, seed: int) -> list[dict[str, Any]]:
    """ListNet's G and H, by search, for lists of the given lengths, and those that bounds are computed with."""
    loss, rows = surrogates.create("listnet"), []
    for m in settings.listnet_lengths:
        for y_max in settings.largest_labels:
            for what in NAMED_BY_PROPOSITION_1:
                searched = _search(loss, m, y_max, what, settings, seed, None)
                used = loss.smoothness(m, y_max) if what == "smoothness" else loss.lipschitz(m, y_max)
                rows.append(_row("listnet", loss, m, y_max, what, None, used, searched))
    return rows


def proposition_2(settings: ConstantsSettings, seed: int) -> list[dict[str, Any]]:
    """SmoothDCG's G, by search, and 2 (D(1) + ... + D(k)) G(y_max) / sigma."""
    rows = []
    for sigma in settings.widths:
        for k in settings.cutoffs:
            loss = surrogates.create("smooth-dcg", sigma=float(sigma), k=k)
            for m in settings.lengths:
                for y_max in settings.largest_labels:
                    searched = _search(loss, m, y_max, "lipschitz-linf", settings, seed, None)
                    stated = loss.lipschitz(m, y_max)
                    rows.append(_row("smooth-dcg", loss, m, y_max, "lipschitz-linf", None, stated, searched))
    return rows


def ranksvm_growth(settings: ConstantsSettings, seed: int) -> tuple[list[dict[str, Any]], Evidence]:
    """RankSVM's G, by search, and the exponent in m that is fitted to it."""
    loss, rows = surrogates.create("ranksvm"), []
    for y_max in settings.largest_labels:
        for m in settings.ranksvm_lengths:
            searched = _search(loss, m, y_max, "lipschitz-linf", settings, seed, None)
            rows.append(_row("ranksvm", loss, m, y_max, "lipschitz-linf", None, loss.lipschitz(m, y_max), searched))
    # One trial: m^2/2 - 1/2 or m^2/2 is the supremum whatever the largest label.
    norms = [max(row["searched"] for row in rows if row["m"] == m) for m in settings.ranksvm_lengths]
    fitted = fit_exponent(settings.ranksvm_lengths, norms)
    # Two parameters are fitted to one point for every length.
    value = Interval(fitted.slope, fitted.low, fitted.high, freedom=len(norms) - 2)
    trial = Trial({"surrogate": "ranksvm"}, {"exponent_in_m": value}, CONSTANTS)
    notes = (
        "Fitted to the largest l1 norms obtained by search, which do not depend on the largest label: "
        "sum_i |2 i - m - 1| for labels that are all different, as for two halves."
    )
    return rows, Evidence("lists-ranksvm", (trial,), notes)


def constants_of_all(settings: ConstantsSettings, seed: int) -> list[dict[str, Any]]:
    """G, G^CW, H and B of every surrogate, stated and by search."""
    rows = []
    for name in progress.counted(surrogates.NAMES, _LOG, "surrogates"):
        loss = surrogates.create(name)
        bound = settings.score_bound if name in NEEDS_BOUND else None
        for m in settings.lengths:
            for y_max in settings.largest_labels:
                rows += _all_constants(loss, m, y_max, bound, settings, seed)
    return rows


def _all_constants(
    loss: Surrogate, m: int, y_max: int, bound: float | None, settings: ConstantsSettings, seed: int
) -> list[dict[str, Any]]:
    of_loss = known.constants(loss, m, y_max, score_bound=bound)
    value_bound = known.constants(loss, m, y_max, score_bound=settings.score_bound).bound
    stated = dict(
        zip(CONSTANT_KINDS, (of_loss.lipschitz, of_loss.lipschitz_l2, of_loss.smoothness, value_bound), strict=True)
    )
    rows = []
    for what in CONSTANT_KINDS:
        value = stated[what]
        if value is not None:
            reach = settings.score_bound if what == "bound" else bound
            searched = _search(loss, m, y_max, what, settings, seed, reach)
            rows.append(_row("all", loss, m, y_max, what, reach, value, searched))
    return rows


def theorem_3() -> list[dict[str, Any]]:
    """The dimension of the permutation-invariant linear maps to scores."""
    return [
        _check("lists-thm3", "", m, d, "dimension", invariance.dimension(m, d)) for m in (2, 3, 4) for d in (1, 2, 3)
    ]


def lemma_4(settings: ConstantsSettings, seed: int) -> list[dict[str, Any]]:
    """Both operator norms, by maximisation, against the largest p-norm of a row."""
    checks = []
    for p in NORMS:
        label = "inf" if math.isinf(p) else f"{p:g}"
        rng = generator(seed, "lists-constants", "lemma-4", label)
        largest = excess = dual = of_columns = 0.0
        for X in _matrices(settings.matrices, rng):
            right = operator_norms.largest_row(X, p)
            stretches = operator_norms.stretch(X, p, rng=rng, restarts=settings.starts)
            # What two slips of the pen would state: the norm of the other exponent, and that of the largest column.
            others = operator_norms.largest_row(X, operator_norms.dual_exponent(p)), operator_norms.largest_row(X.T, p)
            dual, of_columns = (
                max(worst, abs(stretches[0] / other - 1.0))
                for worst, other in zip((dual, of_columns), others, strict=True)
            )
            largest = max(largest, *(abs(left / right - 1.0) for left in stretches))
            excess = max(excess, *(left / right - 1.0 for left in stretches))
        checks.append(_check("lists-lemma4", f"p = {label}", None, None, "largest_relative_difference", largest))
        checks.append(_check("lists-lemma4", f"p = {label}", None, None, "largest_relative_excess", excess))
        checks.append(_check("lists-lemma4", f"p = {label}", None, None, "difference_with_dual_norm", dual))
        checks.append(_check("lists-lemma4", f"p = {label}", None, None, "difference_with_columns", of_columns))
    return checks


def _matrices(n: int, rng: np.random.Generator) -> list[Floats]:
    matrices: list[Floats] = []
    for number in range(n):
        m, d = (int(size) for size in rng.integers(1, LARGEST_MATRIX + 1, size=2))
        X = rng.normal(size=(m, d))
        kind = number % 5
        if kind == 1:
            X *= rng.random((m, d)) < 0.2
            X[0, 0] = 1.0
        elif kind == 2:
            X = np.outer(rng.normal(size=m), rng.normal(size=d))
        elif kind == 3:
            X[:] = X[0]
        elif kind == 4:
            X *= 10.0 ** rng.uniform(-6.0, 6.0, size=(m, 1))
        matrices.append(X)
    return matrices


def lemma_14(settings: ConstantsSettings, seed: int) -> tuple[list[dict[str, Any]], Evidence]:
    """The largest ratio of the two sides of the self-bounding inequality, over pairs of score vectors."""
    # The table does not say for which y_max a ratio was measured.
    checks, trials = [], []
    for name, options in SELF_BOUNDED:
        loss = surrogates.create(name, **options)
        label = ", ".join([name, *(f"{key} {value}" for key, value in options.items())])
        for m in settings.lengths:
            for y_max in settings.largest_labels:
                rng = generator(seed, "lists-constants", "lemma-14", label, m, y_max)
                largest, of_one = _largest_self_bounding_ratio(loss, settings.lists, m, y_max, rng)
                checks.append(_check("lists-lemma14", label, m, None, "largest_ratio", largest))
                values = {"largest_ratio": largest, "with_one_value": of_one}
                trials.append(Trial({"loss": label, "m": m, "y_max": y_max}, values, CHECKS))
    for m in (1, *settings.lengths):
        rng = generator(seed, "lists-constants", "lemma-14", WAVES, m)
        largest, of_one = _largest_ratio_of_waves(settings.lists, m, rng)
        checks.append(_check("lists-lemma14", WAVES, m, None, "largest_ratio", largest))
        values = {"largest_ratio": largest, "with_one_value": of_one}
        trials.append(Trial({"loss": WAVES, "m": m}, values, CHECKS))
    notes = (
        "Random and adversarial score vectors against others 1e-6 to 1e3 away, also straight down the gradient. Random "
        f"waves are {settings.lists:,} losses sum_k a_k (1 - cos(<b_k, s> + c_k)) for every m, smooth with "
        "H = sum_k a_k ||b_k||_1^2; with m = 1 they are those of Lemma 13."
    )
    return checks, Evidence("lists-lemma14", tuple(trials), notes)


def _ratios(here: Floats, there: Floats, ratio: Floats) -> Floats:
    """The largest ratio of the two sides, and the largest with phi(s) alone in place of phi(s) + phi(s')."""
    share = np.divide(here, here + there, out=np.ones_like(here), where=here + there > 0.0)
    return np.array([ratio.max(), (ratio / np.maximum(share, LEAST_SHARE)).max()])


def _largest_self_bounding_ratio(
    loss: Surrogate, n: int, m: int, y_max: int, rng: np.random.Generator
) -> tuple[float, float]:
    scores, y = score_lists.mixed_lists(n, m, y_max, rng)
    flat, labels, offsets = score_lists.stacked(scores, y)
    slopes = loss.gradient(flat, labels, offsets).reshape(scores.shape)
    # Down the gradient, where the loss falls fastest for its distance; sign steps are that in the maximum norm.
    directions = [slopes, np.sign(slopes), rng.normal(size=scores.shape)]
    smoothness, largest, values = loss.smoothness(m, y_max), np.zeros(2), loss.value(flat, labels, offsets)
    for direction in directions:
        steps = 10.0 ** rng.uniform(-6.0, 3.0, size=(len(scores), 1)) / np.maximum(
            np.abs(direction).max(axis=1, keepdims=True), 1e-300
        )
        others = (scores - steps * direction).ravel()
        ratio = self_bounding.ratio(loss, flat, others, labels, offsets, smoothness)
        largest = np.maximum(largest, _ratios(values, loss.value(others, labels, offsets), ratio))
    return float(largest[0]), float(largest[1])


def _largest_ratio_of_waves(n: int, m: int, rng: np.random.Generator) -> tuple[float, float]:
    # n losses of one to three waves each, with a, b, c at random.
    a = rng.exponential(size=(n, 3)) * (np.arange(3) < rng.integers(1, 4, size=(n, 1)))
    b, c = rng.normal(size=(n, 3, m)), rng.uniform(0.0, 2.0 * math.pi, size=(n, 3))
    smoothness = (a * np.abs(b).sum(axis=2) ** 2).sum(axis=1)

    def phases(scores: Floats) -> Floats:
        return np.asarray((b @ scores[:, :, None])[:, :, 0] + c)

    def values(scores: Floats) -> Floats:
        # 1 - cos x = 2 sin^2(x / 2) is as exact near its zeros as elsewhere.
        return np.asarray((2.0 * a * np.sin(0.5 * phases(scores)) ** 2).sum(axis=1))

    scores = rng.normal(size=(n, m))
    slopes = ((a * np.sin(phases(scores)))[:, None, :] @ b)[:, 0, :]
    largest = np.zeros(2)
    for direction in (slopes, np.sign(slopes), rng.normal(size=(n, m))):
        distance = 10.0 ** rng.uniform(-6.0, 3.0, size=n)
        unit = direction / np.maximum(np.abs(direction).max(axis=1, keepdims=True), 1e-300)
        others = scores - distance[:, None] * unit
        moved = np.abs(scores - others).max(axis=1)
        here, there = values(scores), values(others)
        largest = np.maximum(largest, _ratios(here, there, self_bounding.of_values(here, there, moved, smoothness)))
    return float(largest[0]), float(largest[1])


def _check(claim: str, case: str, m: int | None, d: int | None, statistic: str, value: float) -> dict[str, Any]:
    return {"claim": claim, "case": case, "m": m, "d": d, "statistic": statistic, "value": float(value)}
