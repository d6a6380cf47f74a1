"""Do SLAM's bounds, its convexity and the bound on its gradient hold on random, adversarial and real lists?

The claims are those of `slam` on the programme (3) and its closed form (5), Lemma 1, Theorems 2 and 3, Corollary 7, the
sums of weights of section 4, the gradient bound (24), the table of section 6.1, and Theorem 10.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib import metrics, progress, ranking, surrogates
from pipeline_lib.arrays import Floats
from pipeline_lib.papers import score_lists
from pipeline_lib.papers.score_lists import Labels
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator
from pipeline_lib.statistics import fit_exponent
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.surrogates.slam import weights, weights_of_all
from pipeline_lib.theory import constant_search, constants, invariance

if TYPE_CHECKING:
    from pipeline_lib.papers.slam.experiments.losses import LossesSettings

_LOG = logging.getLogger(__name__)

KINDS = ("ndcg", "map", *(f"ndcg@{k}" for k in range(1, 11)))
# Weights drawn at random, because (3) and (5) agree for every v >= 0.
RANDOM = "random"
COMPARED = ("ranksvm", "structured-ndcg", "svm-map", "listnet", "slam-ndcg", "slam-map", "slam-ndcg@10")
PUBLISHED = {
    "ranksvm": "O(m) in section 6.1; of order m² in the appendix",
    "structured-ndcg": "O(m²)",
    "svm-map": "a constant",
    "listnet": "a constant, 2 in the appendix",
    "slam-ndcg": "at most 2",
    "slam-map": "at most 2",
    "slam-ndcg@10": "at most 2",
}
LABELS_OF_EXAMPLE = (3, 2, 2, 1, 1, 0, 0, 0)
LONGEST_ENUMERATED = 8
KEPT = 32


Row = dict[str, Any]


@dataclass(frozen=True)
class Results:
    """Rows of the four tables."""

    checks: list[Row]
    constants: list[Row]
    growth: list[Row]
    example: list[Row]


def run(settings: LossesSettings, datasets: Mapping[str, RankingData], seed: int) -> Results:
    """Compute all four tables; the gradient bound is checked on the lists of ``datasets`` as well."""
    checks = _Checks()
    for y_max in settings.largest_labels:
        for m in progress.counted(settings.lengths, _LOG, f"lengths of lists with labels up to {y_max}"):
            for kind in KINDS:
                rng = generator(seed, "slam-losses", kind, m, y_max)
                _check_lists(checks, settings, kind, m, y_max, rng)
    for kind in KINDS:
        rng = generator(seed, "slam-losses", "programmes", kind)
        checks.add("slam-eq3-eq5", {"kind": kind}, largest_difference=_programmes(settings, kind, rng))
    rng = generator(seed, "slam-losses", "programmes", RANDOM)
    checks.add("slam-eq3-eq5", {"kind": RANDOM}, largest_difference=_programmes(settings, RANDOM, rng))
    for m in range(2, LONGEST_ENUMERATED + 1):
        checks.add("slam-thm2-tight", {"m": m}, largest_gap_in_the_limit=largest_staircase_gap(m))
    for name, data in datasets.items():
        rng = generator(seed, "slam-losses", "data", name)
        _check_data(checks, settings, name, data, rng)
    for m in (2, 3, 4):
        for d in (1, 2, 3):
            values = {"dimension": invariance.dimension(m, d), "features": d}
            checks.add("slam-thm10", {"m": m, "d": d}, **values)
    norms, growth = table_of_constants(settings, seed)
    return Results(checks.rows, norms, growth, _example())


class _Checks:
    """Rows of the long table, one for each statistic."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def add(self, claim: str, setting: Mapping[str, str | int], **values: float) -> None:
        """Record statistics that bear on a claim."""
        axes = {axis: setting.get(axis) for axis in ("kind", "m", "y_max", "d", "inputs", "list")}
        self.rows += [
            {"claim": claim, **axes, "statistic": name, "value": float(value)} for name, value in values.items()
        ]


def _loss(kind: str) -> Surrogate:
    return surrogates.create(f"slam-{kind}")


def ranking_loss(kind: str, scores: Floats, y: Labels) -> Floats:
    """1 - NDCG, 1 - AP or 1 - NDCG@k of every row, with ties to the less relevant document; shape (n,)."""
    labels = np.take_along_axis(y, worst_order(scores, y), axis=1)
    m = y.shape[1]
    ranked, flat, offsets = score_lists.stacked(np.tile(-np.arange(m, dtype=np.float64), (len(y), 1)), labels)
    if kind == "map":
        return 1.0 - metrics.average_precision(ranked, flat, offsets, no_relevant=1.0)
    k = int(kind[5:]) if "@" in kind else None
    return 1.0 - metrics.ndcg(ranked, flat, offsets, k, no_relevant=1.0)


def worst_order(scores: Floats, y: Labels) -> Any:
    """Documents of every row from the first rank to the last, the less relevant of equal scores first."""
    order = np.empty(scores.shape, np.int64)
    for own, labels, ranked in zip(scores, y, order, strict=True):
        ranking.worst_order(own, labels, ranked)
    return order


def loss_as_printed(kind: str, scores: Floats, y: Labels) -> Floats:
    """1 minus (30) as printed: 1 - sum over the documents of positive weight of v_i D(rank of i) / D(i).

    The documents i = 1..k are numbered in the order of the weights (31), v_i = G(y_i) D(i) / Z_k.
    """
    n, m = y.shape
    _, flat, offsets = score_lists.stacked(scores, y)
    v = weights_of_all(flat, offsets, kind).reshape(n, m)
    ranks = np.argsort(worst_order(scores, y), axis=1) + 1.0
    ideal = ranking.ideal_ranks(flat, offsets).reshape(n, m)
    gained = (v * ranking.inverse_discounts(ideal) / ranking.inverse_discounts(ranks)).sum(axis=1)
    return np.where(v.sum(axis=1) > 0.0, 1.0 - gained, 0.0)


def _evaluated(kind: str, scores: Floats, y: Labels) -> tuple[Floats, Floats]:
    values, gradient = _loss(kind).value_and_gradient(*score_lists.stacked(scores, y))
    return values, gradient.reshape(scores.shape)


def _check_lists(
    checks: _Checks, settings: LossesSettings, kind: str, m: int, y_max: int, rng: np.random.Generator
) -> None:
    setting: dict[str, str | int] = {"kind": kind, "m": m, "y_max": y_max}
    scores, y = score_lists.mixed_lists(settings.lists, m, y_max, rng)
    _check_bound(checks, settings, setting, scores, y, rng)
    _check_convexity(checks, setting, scores, y, rng)
    v = weights_of_all(*score_lists.stacked(scores, y)[1:], kind).reshape(y.shape)
    sums = v.sum(axis=1)
    values = {"largest_sum": sums.max()}
    if "@" in kind:
        values["largest_deviation_from_one_at_k"] = np.abs(sums[(y > 0).any(axis=1)] - 1.0).max()
    checks.add("slam-weight-sums", setting, **values)
    norms = np.abs(_evaluated(kind, scores, y)[1]).sum(axis=1)
    _add_norms(checks, {**setting, "inputs": "random and adversarial"}, norms, 2.0 * sums)


def _check_bound(
    checks: _Checks,
    settings: LossesSettings,
    setting: dict[str, str | int],
    scores: Floats,
    y: Labels,
    rng: np.random.Generator,
) -> None:
    kind = str(setting["kind"])
    claim = {"map": "slam-thm2", "ndcg": "slam-thm3"}.get(kind, "slam-cor7-weights")
    values, slopes = _evaluated(kind, scores, y)
    lost = ranking_loss(kind, scores, y)
    slack = values - lost
    smallest = float(min(slack.min(), _descended(settings, kind, scores, y, (slack, lost, slopes), rng)))
    printed = {}
    if "@" in kind:
        printed["smallest_slack_as_printed"] = float((values - loss_as_printed(kind, scores, y)).min())
    checks.add(claim, setting, smallest_slack=smallest, **printed)
    misranked = slack[lost > 1e-12]  # both sides can be 0 for the others
    if len(misranked):
        quartiles = dict(zip(("lower", "median", "upper"), np.quantile(misranked, (0.25, 0.5, 0.75)), strict=True))
        checks.add(claim, setting, smallest_where_wrong=misranked.min(), **quartiles)


def _descended(
    settings: LossesSettings,
    kind: str,
    scores: Floats,
    y: Labels,
    start: tuple[Floats, Floats, Floats],
    rng: np.random.Generator,
) -> float:
    """The smallest slack along descents from those misranked lists whose slack is smallest."""
    slack, lost, slopes = start
    misranked = np.flatnonzero(lost > 1e-12)
    rows = misranked[np.argsort(slack[misranked], kind="stable")[:KEPT]]
    if not len(rows):
        return float(slack.min())
    s, labels, best, steps = scores[rows], y[rows], slack[rows], slopes[rows]
    for _ in range(settings.descent_rounds):
        moved = score_lists.moved(s, steps, rng)
        values, gradient = _evaluated(kind, moved, labels)
        lost = ranking_loss(kind, moved, labels)
        # A list in the right order has no ranking loss, so that its slack cannot be negative.
        better = (values - lost < best) & (lost > 1e-12)
        s = np.where(better[:, None], moved, s)
        steps = np.where(better[:, None], gradient, steps)
        best = np.where(better, values - lost, best)
    return float(best.min())


def _check_convexity(
    checks: _Checks, setting: dict[str, str | int], scores: Floats, y: Labels, rng: np.random.Generator
) -> None:
    kind = str(setting["kind"])
    # Pairs of score vectors for the same labels, close to each other and unrelated in turn.
    near = scores + rng.choice([1e-6, 1e-2, 1.0], size=(len(scores), 1)) * rng.normal(size=scores.shape)
    others = np.where((np.arange(len(scores)) % 2 == 0)[:, None], near, scores[rng.permutation(len(scores))])
    (f, g), (f_other, g_other) = _evaluated(kind, scores, y), _evaluated(kind, others, y)
    middle = _evaluated(kind, (scores + others) / 2.0, y)[0]
    size = np.maximum(1.0, np.maximum(np.abs(scores), np.abs(others)).max(axis=1))
    violation = (middle - (f + f_other) / 2.0) / size
    monotone = ((g - g_other) * (scores - others)).sum(axis=1) / size
    values = {
        "largest_convexity_violation": max(0.0, float(violation.max())),
        "smallest_gradient_monotonicity": monotone.min(),
    }
    checks.add("slam-lemma1", setting, **values)


def _add_norms(checks: _Checks, setting: dict[str, str | int], norms: Floats, limits: Floats) -> None:
    rows = {"largest norm": int(norms.argmax()), "least room": int((norms - limits).argmax())}
    for name, row in rows.items():
        values = {"largest_norm": norms[row], "twice_the_weight_sum": limits[row]}
        checks.add("slam-grad-l1", {**setting, "list": name}, **values)


def _check_data(
    checks: _Checks, settings: LossesSettings, name: str, data: RankingData, rng: np.random.Generator
) -> None:
    y, offsets = data.y.astype(np.int32), data.offsets
    starts = offsets[:-1]
    directions = data.X64 @ rng.normal(size=(data.n_features, settings.directions))
    # The bound is attained by scores that place the first document of the lowest label alone at the top.
    low = y == np.repeat(np.minimum.reduceat(y, starts), np.diff(offsets))
    before = np.cumsum(low) - low
    top = low & (before == np.repeat(before[starts], np.diff(offsets)))
    scores = np.column_stack([directions, np.where(top, 1.0, 0.0)])
    for kind in KINDS:
        limits = 2.0 * np.add.reduceat(weights_of_all(y, offsets, kind), starts)
        loss = _loss(kind)
        norms = [np.add.reduceat(np.abs(loss.gradient(column, y, offsets)), starts) for column in scores.T]
        _add_norms(checks, {"kind": kind, "inputs": name}, np.max(norms, axis=0), limits)


def _programmes(settings: LossesSettings, kind: str, rng: np.random.Generator) -> float:
    """The largest difference between (3) and (5) over small lists, relative to the larger of 1 and the value."""
    largest = 0.0
    for number in range(settings.programmes):
        m = 2 + number % 6
        draw = score_lists.adversarial_lists if number % 2 else score_lists.random_lists
        scores, y = draw(score_lists.ADVERSARIAL_KINDS, m, int(rng.integers(1, 5)), rng)
        row = int(rng.integers(len(scores)))
        labels = np.minimum(y[row], 1) if kind == "map" else y[row]
        if kind == RANDOM:
            v = rng.exponential(size=m) * (rng.random(m) < 0.8)
            value = closed_form(scores[row], labels, v)
        else:
            v = weights(labels, kind)
            value = float(_evaluated(kind, scores[[row]], y[[row]])[0][0])
        difference = abs(value - linear_programme(scores[row], labels, v))
        largest = max(largest, difference / max(1.0, abs(value)))
    return largest


def closed_form(scores: Floats, y: Labels, v: Floats) -> float:
    """(5) for one list and any weights: sum_i v_i max(0, max_{j: y_j < y_i} (1 + s_j - s_i))."""
    hinges = np.where(y[:, None] > y[None, :], 1.0 + scores[None, :] - scores[:, None], 0.0)
    return float(v @ np.maximum(hinges.max(axis=1), 0.0))


def linear_programme(scores: Floats, y: Labels, v: Floats) -> float:
    """(3): the least <v, delta> with delta >= 0 and delta_i >= 1 + s_j - s_i wherever y_i > y_j."""
    from scipy.optimize import linprog

    better, worse = np.nonzero(y[:, None] > y[None, :])
    matrix = np.zeros((len(better), len(y)))
    matrix[np.arange(len(better)), better] = -1.0
    sides = -(1.0 + scores[worse] - scores[better])
    if not len(better):
        return 0.0
    solution = linprog(v, A_ub=matrix, b_ub=sides, bounds=(0, None))
    if solution.status != 0 or solution.fun is None:
        raise RuntimeError(f"linprog: expected an optimum of a bounded programme, found {solution.message}")
    return float(solution.fun)


def largest_staircase_gap(m: int, hair: float = 1e-9) -> float:
    """The largest phi - (1 - AP) over all r < m and all staircases t = 1..r in the proof of Theorem 2.

    The relevant documents 1..t-1 score two margins more than the irrelevant ones, which have equal scores, and the
    relevant documents t..r score ``hair`` less. Then 1 - AP = v_t + ... + v_r, and phi exceeds it by ``hair`` times
    that sum.
    """
    scores, labels = [], []
    for r in range(1, m):
        for t in range(1, r + 1):
            scores.append(np.r_[np.full(t - 1, 2.0), np.full(r - t + 1, -hair), np.zeros(m - r)])
            labels.append(np.r_[np.ones(r, np.int32), np.zeros(m - r, np.int32)])
    s, y = np.array(scores), np.array(labels)
    return float(np.abs(_evaluated("map", s, y)[0] - ranking_loss("map", s, y)).max())


def table_of_constants(settings: LossesSettings, seed: int) -> tuple[list[Row], list[Row]]:
    """The table of section 6.1: sup ||grad||_1 against m, exact and searched, and the exponents of its growth."""
    y_max = max(settings.largest_labels)
    rows, growth = [], []
    for name in progress.counted(COMPARED, _LOG, "surrogates of the table"):
        exact, searched = [], []
        for m in settings.table_lengths:
            rng = generator(seed, "slam-losses", "search", name, m)
            norm = constant_search.search(name, m, y_max, "lipschitz-linf", rng=rng, restarts=settings.restarts).value
            known = constants.supremum(name, m, y_max, "lipschitz-linf")
            exact.append(constants.constants(name, m, y_max).lipschitz if known is None else known)
            searched.append(norm)
            setting = {"surrogate": name, "m": m, "y_max": y_max}
            rows.append({**setting, "exact": exact[-1], "searched": norm, "published": PUBLISHED[name]})
        slope = float(fit_exponent(settings.table_lengths, searched).slope)
        formula = float(fit_exponent(settings.table_lengths, exact).slope)
        growth.append({"surrogate": name, "exponent": formula, "searched_exponent": slope})
    return rows, growth


def _example() -> list[Row]:
    y = np.array(LABELS_OF_EXAMPLE, np.int32)
    return [
        {"position": i + 1, "label": int(y[i]), "kind": kind, "weight": float(weight)}
        for kind in ("ndcg", "map", "ndcg@3")
        for i, weight in enumerate(weights(y, kind))
    ]
