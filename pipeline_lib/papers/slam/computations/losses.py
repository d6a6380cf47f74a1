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
from pipeline_lib.papers.slam.computations import programmes, valid_weights, wrong_weights
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
COMPARED = ("ranksvm", "structured-ndcg", "svm-map", "listnet", "slam-ndcg", "slam-map", "slam-ndcg@10")
PUBLISHED = {
    "ranksvm": "O(m) in section 6.1, at most 2m in the appendix",
    "structured-ndcg": "O(m²)",
    "svm-map": "a constant",
    "listnet": "a constant, 2 in the appendix",
    "slam-ndcg": "at most 2",
    "slam-map": "at most 2",
    "slam-ndcg@10": "at most 2",
}
LABELS_OF_EXAMPLE = (3, 2, 2, 1, 1, 0, 0, 0)
LONGEST_ENUMERATED = 8
LONGEST_NORMALISED = 30
STAIRCASE_ERRORS = {
    "largest_gap_in_the_limit": None,
    "gap_one_rank_off": "one_rank_off",
    "gap_of_short_margin": "short_margin",
}
KEPT = 32
EVERY_OF_WRONG = 5
"""Of every fifth list it is checked whether an error would be noticed."""


Row = dict[str, Any]


@dataclass(frozen=True)
class Results:
    """Rows of the five tables."""

    checks: list[Row]
    constants: list[Row]
    growth: list[Row]
    example: list[Row]
    valid_weights: list[Row]


def run(settings: LossesSettings, datasets: Mapping[str, RankingData], seed: int) -> Results:
    """Compute all five tables; the gradient bound is checked on the lists of ``datasets`` as well."""
    checks = _Checks()
    for y_max in settings.largest_labels:
        for m in progress.counted(settings.lengths, _LOG, f"lengths of lists with labels up to {y_max}"):
            for kind in KINDS:
                rng = generator(seed, "slam-losses", kind, m, y_max)
                _check_lists(checks, settings, kind, m, y_max, rng)
    for kind in (*KINDS, programmes.RANDOM):
        rng = generator(seed, "slam-losses", "programmes", kind)
        checks.add("slam-eq3-eq5", {"kind": kind}, **programmes.differences(kind, settings.programmes, rng))
    for m in range(2, LONGEST_ENUMERATED + 1):
        gaps = {name: largest_staircase_gap(m, wrong=wrong) for name, wrong in STAIRCASE_ERRORS.items()}
        checks.add("slam-thm2-tight", {"m": m}, **gaps)
    for m in settings.lengths:
        if m <= LONGEST_NORMALISED:
            rng = generator(seed, "slam-losses", "normalised", m)
            checks.add("slam-normalisation", {"m": m}, **_normalised(settings, m, rng))
    for name, data in datasets.items():
        rng = generator(seed, "slam-losses", "data", name)
        _check_data(checks, settings, name, data, rng)
    for m in (2, 3, 4):
        for d in (1, 2, 3):
            values = {"dimension": invariance.dimension(m, d), "features": d}
            checks.add(
                "slam-thm10", {"m": m, "d": d}, **values, dimension_to_a_number=invariance.dimension(m, d, "number")
            )
    norms, growth = table_of_constants(settings, seed)
    return Results(checks.rows, norms, growth, _example(), valid_weights.compared())


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


def loss_as_printed(kind: str, scores: Floats, y: Labels, numbered: str = "by document") -> Floats:
    """1 minus (30) as printed: 1 - sum over the documents of positive weight of v_i D(rank of i) / D(i).

    The documents i = 1..k are numbered in the order of the weights (31), v_i = G(y_i) D(i) / Z_k: equal labels in
    the order of the list, or "by score", which the proof of Corollary 7 assumes.
    """
    ranks = np.argsort(worst_order(scores, y), axis=1) + 1.0
    v = wrong_weights.right(y, kind)
    gained = v * _inverse_discounts_of(y)
    if numbered == "by score":
        # The first k documents are those of every label that have the highest scores.
        gained = wrong_weights.by_score(gained, scores, y)
    total = (gained / ranking.inverse_discounts(ranks)).sum(axis=1)
    return np.where(v.sum(axis=1) > 0.0, 1.0 - total, 0.0)


def _inverse_discounts_of(y: Labels) -> Floats:
    """1 / D(i) of the number i of every document, equal labels in the order of the list."""
    _, flat, offsets = score_lists.stacked(np.zeros(y.shape), y)
    return ranking.inverse_discounts(ranking.ideal_ranks(flat, offsets).reshape(y.shape))


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
    sums = wrong_weights.right(y, kind).sum(axis=1)
    relevant = (y > 0).any(axis=1)
    values = {"largest_sum": sums.max()}
    others = {name: v.sum(axis=1) for name, v in wrong_weights.wrong(y, kind).items()}
    values |= {f"sum_{name}": own.max() for name, own in others.items()}
    if "@" in kind:
        values["largest_deviation_from_one_at_k"] = np.abs(sums[relevant] - 1.0).max()
        values |= {f"deviation_{name}": np.abs(own[relevant] - 1.0).max() for name, own in others.items()}
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
        _check_eq30(checks, setting, scores, y, printed["smallest_slack_as_printed"])
    checks.add(claim, setting, smallest_slack=smallest, **printed, **_slacks_with_errors(kind, scores, y, lost))
    misranked = slack[lost > 1e-12]  # both sides can be 0 for the others
    if len(misranked):
        quartiles = dict(zip(("lower", "median", "upper"), np.quantile(misranked, (0.25, 0.5, 0.75)), strict=True))
        checks.add(claim, setting, smallest_where_wrong=misranked.min(), **quartiles)


def _slacks_with_errors(kind: str, scores: Floats, y: Labels, lost: Floats) -> dict[str, float]:
    """The smallest slacks of losses with an error, over the lists and one whose last two documents are exchanged.

    That one has the labels y_max, 1, ..., 1, 0.
    """
    m = y.shape[1]
    last, labels = 2.0 + 4.0 * (np.arange(m) == 0)[None], np.ones((1, m), np.int32)
    last[0, -2:], labels[0, 0], labels[0, -1] = (-score_lists.HAIR, 0.0), max(int(y.max()), 1), 0
    scores, y = np.concatenate([scores, last]), np.concatenate([y, labels])
    lost = np.concatenate([lost, ranking_loss(kind, last, labels)])
    hinges = wrong_weights.hinges(scores, _labels(kind, y))
    errors = {f"slack_{name}": (v * hinges).sum(axis=1) for name, v in wrong_weights.wrong(y, kind).items()}
    errors["slack_of_short_margin"] = (wrong_weights.right(y, kind) * wrong_weights.of_short_margin(hinges)).sum(axis=1)
    return {name: float((phi - lost).min()) for name, phi in errors.items()}


def _labels(kind: str, y: Labels) -> Labels:
    return np.minimum(y, 1) if kind == "map" else y


def _check_eq30(
    checks: _Checks, setting: dict[str, str | int], scores: Floats, y: Labels, in_document_order: float
) -> None:
    kind = str(setting["kind"])
    # With equal labels numbered by score, so are their weights, and the loss is the smallest of all numberings.
    v = wrong_weights.by_score(wrong_weights.right(y, kind), scores, y)
    phi = (v * wrong_weights.hinges(scores, y)).sum(axis=1)
    slack = float((phi - loss_as_printed(kind, scores, y, "by score")).min())
    checks.add("slam-eq30", setting, smallest_slack=slack, slack_in_document_order=in_document_order)


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
    some = slice(None, None, EVERY_OF_WRONG)
    values |= _wrong_convexity(kind, scores[some], others[some], _labels(kind, y)[some], size[some])
    checks.add("slam-lemma1", setting, **values)


def _wrong_convexity(kind: str, scores: Floats, others: Floats, y: Labels, size: Floats) -> dict[str, float]:
    """The same two numbers for losses that are not convex, and for a gradient that is none."""
    v = wrong_weights.right(y, kind)

    def by_score(s: Floats) -> Floats:
        return np.asarray((wrong_weights.by_score(v, s, y) * wrong_weights.hinges(s, y)).sum(axis=1))

    def cut_off(s: Floats) -> Floats:
        return np.asarray((v * np.minimum(wrong_weights.hinges(s, y), wrong_weights.CEILING)).sum(axis=1))

    values = {}
    for name, phi in (("positions_by_score", by_score), ("cut_off_hinges", cut_off)):
        bent = phi((scores + others) / 2.0) - (phi(scores) + phi(others)) / 2.0
        values[f"violation_of_{name}"] = max(0.0, float((bent / size).max()))
    turned = [wrong_weights.towards_the_first(s, y, v) for s in (scores, others)]
    rising = ((turned[0] - turned[1]) * (scores - others)).sum(axis=1) / size
    return {**values, "monotonicity_towards_the_first": float(rising.min())}


def _normalised(settings: LossesSettings, m: int, rng: np.random.Generator) -> dict[str, float]:
    """The slack and the gradient of structured NDCG with A divided by m^2/2, and with the whole loss divided by it.

    phi(s / c) has <s, A> / c in place of <s, A>, and s / c ranks as s does.
    """
    scores, y = score_lists.mixed_lists(max(2, settings.lists // 5), m, max(settings.largest_labels), rng)
    loss, share, lost = surrogates.create("structured-ndcg"), m * m / 2.0, ranking_loss("ndcg", scores, y)
    mapped, slopes = loss.value_and_gradient(*score_lists.stacked(scores / share, y))
    whole, _ = loss.value_and_gradient(*score_lists.stacked(scores, y))
    norms = np.abs(slopes.reshape(y.shape) / share).sum(axis=1)
    return {
        "smallest_slack": float((mapped - lost).min()),
        "slack_of_divided_loss": float((whole / share - lost).min()),
        "largest_norm": float(norms.max()),
    }


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


def largest_staircase_gap(m: int, hair: float = 1e-9, wrong: str | None = None) -> float:
    """The largest phi - (1 - AP) over all r < m and all staircases t = 1..r in the proof of Theorem 2.

    The relevant documents 1..t-1 score two margins more than the irrelevant ones, which have equal scores, and the
    relevant documents t..r score ``hair`` less. Then 1 - AP = v_t + ... + v_r, and phi exceeds it by ``hair`` times
    that sum. With a name of ``wrong``, phi has that error.
    """
    scores, labels = [], []
    for r in range(1, m):
        for t in range(1, r + 1):
            scores.append(np.r_[np.full(t - 1, 2.0), np.full(r - t + 1, -hair), np.zeros(m - r)])
            labels.append(np.r_[np.ones(r, np.int32), np.zeros(m - r, np.int32)])
    s, y = np.array(scores), np.array(labels)
    if wrong is None:
        phi = _evaluated("map", s, y)[0]
    elif wrong == "short_margin":
        short = wrong_weights.of_short_margin(wrong_weights.hinges(s, y))
        phi = (wrong_weights.right(y, "map") * short).sum(axis=1)
    else:
        phi = (wrong_weights.wrong(y, "map")[wrong] * wrong_weights.hinges(s, y)).sum(axis=1)
    return float(np.abs(phi - ranking_loss("map", s, y)).max())


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
