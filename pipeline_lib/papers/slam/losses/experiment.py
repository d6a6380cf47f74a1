"""Do SLAM's bounds and the bound on its gradient hold on random, adversarial and real lists?

The claims are those of `slam` on Theorems 2 and 3, Corollary 7, the sums of weights of section 4, the gradient bound
(24), the table of section 6.1, and Theorem 10.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise, product
from typing import Annotated, Any

import numpy as np

from pipeline_lib import ranking, surrogates
from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import NotNegative, Rising, Settings, Several, Sizes, Whole, at_least, no_fewer_than
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Count, Field, FromOne, FromZero, Row
from pipeline_lib.experiment import EVERY, Experiment, Job, Step
from pipeline_lib.papers import score_lists
from pipeline_lib.papers.score_lists import Labels
from pipeline_lib.papers.slam import wrong_weights
from pipeline_lib.papers.slam.losses import valid_weights
from pipeline_lib.papers.slam.ranking_losses import COMPARED, largest_losses, worst_order
from pipeline_lib.statistics import fit_exponent
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.surrogates.slam import weights_of_all
from pipeline_lib.theory import constants, invariance

KINDS = ("ndcg", "map", *(f"ndcg@{k}" for k in range(1, 11)))
AT_MOST_TWO = "at most 2"
PUBLISHED = {
    "ranksvm": "O(m) in section 6.1, at most 2m in the appendix",
    "structured-ndcg": "O(m²)",
    "svm-map": "a constant",
    "listnet": "a constant, 2 in the appendix",
}
LONGEST_ENUMERATED = 8
LONGEST_NORMALISED = 30
LONGEST_WITH_VALID_WEIGHTS = 7
KEPT = 32

Setting = Mapping[str, Any]
"""Columns of :class:`Check` that say where something was measured."""


class LossesSettings(Settings):
    """Bounds, gradient and weights of SLAM's losses, and the constants of section 6.1."""

    lists: Several = Field(1000, description="lists of scores and labels for every m, y_max and kind of weights")
    lengths: Sizes = Field((2, 3, 5, 10, 30, 100, 300), description="values of m for these lists")
    largest_labels: Rising = Field((1, 4), description="values of y_max for these lists; the constants have the last")
    descent_rounds: NotNegative = Field(
        60, description="rounds of descent on the slack of a bound, started from the lists with the least slack"
    )
    directions: Whole = Field(4, description="random linear rankers on every data set, for the gradient bound")
    table_lengths: Annotated[Rising, at_least(2), no_fewer_than(3, "for an exponent")] = Field(
        (5, 10, 20, 50, 100, 200, 500), description="values of m in the table of section 6.1"
    )
    restarts: Whole = Field(4, description="restarts in the search for each supremum of that table")


class Check(Row, table="tables/slam-losses", key=("claim", "kind", "m", "y_max", "d", "inputs", "list", "statistic")):
    """One number that bears on a claim, an extreme over many lists; columns that do not apply are missing."""

    claim: str = Field(description="claim it belongs to")
    kind: str | None = Field(None, description="weights of the loss: ndcg, map or ndcg@k")
    m: FromOne | None = Field(None, description="documents of the lists")
    y_max: FromOne | None = Field(None, description="largest label")
    d: FromOne | None = Field(None, description="features, where the linear maps of documents are counted")
    inputs: str | None = Field(None, description="on which lists: random and adversarial ones, or those of a data set")
    list: str | None = Field(None, description="which list: that of the largest norm, or with least room to the bound")
    statistic: str = Field(description="what is measured")
    value: float = Field(description="the number")


class Constant(Row, table="tables/slam-constants", key=("surrogate", "m", "y_max")):
    """An entry of the table of section 6.1: the largest l_1 norm of a surrogate's gradient."""

    surrogate: str = Field(description="name of the surrogate")
    m: FromOne = Field(description="documents of the lists")
    y_max: FromOne = Field(description="largest label")
    exact: FromZero = Field(
        description="supremum over scores and labels by its formula, or a bound where none is known"
    )
    searched: FromZero = Field(description="largest norm that a search found, which is at most the supremum")
    published: str = Field(description="what the paper says, in words")


class Growth(Row, table="tables/slam-growth", key=("surrogate",)):
    """How the largest norm of a surrogate's gradient grows with the length of the lists."""

    surrogate: str = Field(description="name of the surrogate")
    exponent: float = Field(description="power of m fitted to the exact norms")
    searched_exponent: float = Field(description="power of m fitted to the norms found by search")


class ValidWeights(
    Row,
    table="tables/slam-valid-weights",
    key=("kind", "m", "relevant"),
    always=("relevant <= m", "least_sum <= sum_below <= printed_sum"),
):
    """The paper's weights and all valid ones, with which SLAM bounds the loss, for binary lists of m documents."""

    kind: str = Field(description="measure of the weights: map or ndcg")
    m: FromOne = Field(description="documents of the list")
    relevant: Count = Field(description="r, the number of relevant documents")
    printed_sum: FromZero = Field(description="sum of the paper's weights")
    sum_below: FromZero = Field(description="least sum of valid weights that lie nowhere above the paper's")
    least_sum: FromZero = Field(description="least sum of valid weights")
    largest_excess: float = Field(description="most by which a weight of the paper lies above that of valid weights")


def measure(job: Job) -> Iterator[Row]:
    """All four tables; the gradient bound is checked on the lists of the data sets as well."""
    settings, seed = job.settings, job.seed
    for y_max in settings.largest_labels:
        for m in progress.counted(settings.lengths, f"lengths of lists with labels up to {y_max}"):
            for kind in KINDS:
                rng = generator(seed, "slam-losses", kind, m, y_max)
                yield from _of_lists(settings, kind, m, y_max, rng)
    for m in range(2, LONGEST_ENUMERATED + 1):
        yield from _checks("slam-thm2-tight", {"m": m}, **largest_staircase_gap(m))
    for m in settings.lengths:
        if m <= LONGEST_NORMALISED:
            rng = generator(seed, "slam-losses", "normalised", m)
            yield from _checks("slam-normalisation", {"m": m}, **_normalised(settings, m, rng))
    for name, data in job.datasets().items():
        yield from _of_data(name, data, settings.directions, generator(seed, "slam-losses", "data", name))
    for m, d in product((2, 3, 4), (1, 2, 3)):
        values = {"dimension": invariance.dimension(m, d), "features": d}
        values["dimension_to_a_number"] = invariance.dimension(m, d, "number")
        yield from _checks("slam-thm10", {"m": m, "d": d}, **values)
    yield from table_of_constants(settings, seed)
    yield from with_valid_weights()


def _checks(claim: str, setting: Setting, **values: float) -> Iterator[Check]:
    """Statistics that bear on a claim, a row for each."""
    for name, value in values.items():
        yield Check(claim=claim, **setting, statistic=name, value=float(value))


def _loss(kind: str) -> Surrogate:
    return surrogates.create(f"slam-{kind}")


def loss_as_printed(kind: str, scores: Floats, y: Labels, numbered: str = "by document") -> Floats:
    """1 minus (30) as printed: 1 - sum over the documents of positive weight of v_i D(rank of i) / D(i).

    The documents i = 1..k are numbered in the order of the weights (31), v_i = G(y_i) D(i) / Z_k: equal labels in
    the order of the list, or "by score", which the proof of Corollary 7 assumes.
    """
    ranks = np.argsort(worst_order(scores, y), axis=1, kind="stable") + 1.0
    v = wrong_weights.right(y, kind)
    gained = v * ranking.inverse_discounts(wrong_weights.numbers(y))
    if numbered == "by score":
        # The first k documents are those of every label that have the highest scores.
        gained = wrong_weights.by_score(gained, scores, y)
    total = (gained / ranking.inverse_discounts(ranks)).sum(axis=1)
    return np.where(v.sum(axis=1) > 0.0, 1.0 - total, 0.0)


def _evaluated(kind: str, scores: Floats, y: Labels) -> tuple[Floats, Floats]:
    values, gradient = _loss(kind).value_and_gradient(*score_lists.stacked(scores, y))
    return values, gradient.reshape(scores.shape)


def _of_lists(settings: LossesSettings, kind: str, m: int, y_max: int, rng: np.random.Generator) -> Iterator[Check]:
    setting = {"kind": kind, "m": m, "y_max": y_max}
    scores, y = score_lists.mixed_lists(settings.lists, m, y_max, rng)
    yield from _of_bound(settings.descent_rounds, setting, scores, y, rng)
    sums = wrong_weights.right(y, kind).sum(axis=1)
    relevant = (y > 0).any(axis=1)
    values = {"largest_sum": sums.max()}
    others = {name: v.sum(axis=1) for name, v in wrong_weights.wrong(y, kind).items()}
    values |= {f"sum_{name}": own.max() for name, own in others.items()}
    if "@" in kind:
        at_k = {"largest_deviation_from_one_at_k": sums, **{f"deviation_{name}": own for name, own in others.items()}}
        values |= {name: np.abs(own[relevant] - 1.0).max() for name, own in at_k.items()}
    yield from _checks("slam-weight-sums", setting, **values)
    norms = np.abs(_evaluated(kind, scores, y)[1]).sum(axis=1)
    yield from _of_norms({**setting, "inputs": "random and adversarial"}, norms, 2.0 * sums)


def _of_bound(
    descent_rounds: int, setting: Setting, scores: Floats, y: Labels, rng: np.random.Generator
) -> Iterator[Check]:
    kind = str(setting["kind"])
    claim = {"map": "slam-thm2", "ndcg": "slam-thm3"}.get(kind, "slam-cor7-weights")
    values, slopes = _evaluated(kind, scores, y)
    lost = largest_losses(kind, scores, y)
    slack = values - lost
    misranked = np.flatnonzero(lost > 1e-12)  # both sides can be 0 for the others
    nearest = misranked[np.argsort(slack[misranked], kind="stable")[:KEPT]]
    smallest = slack.min()
    if len(nearest):
        start = scores[nearest], y[nearest], slack[nearest], slopes[nearest]
        smallest = min(smallest, _descended(descent_rounds, kind, *start, rng))
    printed = {}
    if "@" in kind:
        as_printed = float((values - loss_as_printed(kind, scores, y)).min())
        printed["smallest_slack_as_printed"] = as_printed
        # With equal labels numbered by score, so are their weights, and the loss is the smallest of all numberings.
        v = wrong_weights.by_score(wrong_weights.right(y, kind), scores, y)
        phi = (v * wrong_weights.hinges(scores, y)).sum(axis=1)
        by_score = float((phi - loss_as_printed(kind, scores, y, "by score")).min())
        yield from _checks("slam-eq30", setting, smallest_slack=by_score, slack_in_document_order=as_printed)
    with_errors = _slacks_with_errors(kind, scores, y, lost)
    yield from _checks(claim, setting, smallest_slack=smallest, **printed, **with_errors)


def _slacks_with_errors(kind: str, scores: Floats, y: Labels, lost: Floats) -> dict[str, float]:
    """The smallest slacks of losses with an error, over the lists and one whose last two documents are exchanged.

    That one has the labels y_max, 1, ..., 1, 0.
    """
    m = y.shape[1]
    last, labels = 2.0 + 4.0 * (np.arange(m) == 0)[None], np.ones((1, m), np.int32)
    last[0, -2:], labels[0, 0], labels[0, -1] = (-score_lists.HAIR, 0.0), max(int(y.max()), 1), 0
    scores, y = np.concatenate([scores, last]), np.concatenate([y, labels])
    lost = np.concatenate([lost, largest_losses(kind, last, labels)])
    hinges = wrong_weights.hinges(scores, wrong_weights.graded(y, kind))
    errors = {f"slack_{name}": (v * hinges).sum(axis=1) for name, v in wrong_weights.wrong(y, kind).items()}
    errors["slack_of_short_margin"] = (wrong_weights.right(y, kind) * wrong_weights.of_short_margin(hinges)).sum(axis=1)
    return {name: float((phi - lost).min()) for name, phi in errors.items()}


def _descended(
    descent_rounds: int, kind: str, s: Floats, y: Labels, best: Floats, steps: Floats, rng: np.random.Generator
) -> float:
    """The smallest slack along descents from lists with the slacks ``best`` and the gradients ``steps``."""
    for _ in range(descent_rounds):
        moved = score_lists.moved(s, steps, rng)
        values, gradient = _evaluated(kind, moved, y)
        lost = largest_losses(kind, moved, y)
        # A list in the right order has no ranking loss, so that its slack cannot be negative.
        better = (values - lost < best) & (lost > 1e-12)
        s = np.where(better[:, None], moved, s)
        steps = np.where(better[:, None], gradient, steps)
        best = np.where(better, values - lost, best)
    return float(best.min())


def _normalised(settings: LossesSettings, m: int, rng: np.random.Generator) -> dict[str, float]:
    """The slack and the gradient of structured NDCG with A divided by m^2/2, and with the whole loss divided by it.

    phi(s / c) has <s, A> / c in place of <s, A>, and s / c ranks as s does.
    """
    scores, y = score_lists.mixed_lists(max(2, settings.lists // 5), m, max(settings.largest_labels), rng)
    loss, share, lost = surrogates.create("structured-ndcg"), m * m / 2.0, largest_losses("ndcg", scores, y)
    mapped, slopes = loss.value_and_gradient(*score_lists.stacked(scores / share, y))
    whole, _ = loss.value_and_gradient(*score_lists.stacked(scores, y))
    norms = np.abs(slopes.reshape(y.shape) / share).sum(axis=1)
    return {
        "smallest_slack": float((mapped - lost).min()),
        "slack_of_divided_loss": float((whole / share - lost).min()),
        "largest_norm": float(norms.max()),
    }


def _of_norms(setting: Setting, norms: Floats, limits: Floats) -> Iterator[Check]:
    for name, row in (("largest norm", norms.argmax()), ("least room", (norms - limits).argmax())):
        values = {"largest_norm": norms[row], "twice_the_weight_sum": limits[row]}
        yield from _checks("slam-grad-l1", {**setting, "list": name}, **values)


def _of_data(name: str, data: RankingData, directions: int, rng: np.random.Generator) -> Iterator[Check]:
    y, offsets = data.y.astype(np.int32), data.offsets
    starts = offsets[:-1]
    scores = data.X64 @ rng.normal(size=(data.n_features, directions))
    # The bound is attained by scores that place the first document of the lowest label alone at the top.
    top = np.zeros(len(y))
    top[[start + y[start:end].argmin() for start, end in pairwise(offsets)]] = 1.0
    scores = np.column_stack([scores, top])
    for kind in KINDS:
        limits = 2.0 * np.add.reduceat(weights_of_all(y, offsets, kind), starts)
        loss = _loss(kind)
        norms = [np.add.reduceat(np.abs(loss.gradient(column, y, offsets)), starts) for column in scores.T]
        yield from _of_norms({"kind": kind, "inputs": name}, np.max(norms, axis=0), limits)


def largest_staircase_gap(m: int, hair: float = 1e-9) -> dict[str, float]:
    """The largest phi - (1 - AP) over all r < m and all staircases t = 1..r in the proof of Theorem 2.

    The relevant documents 1..t-1 score two margins more than the irrelevant ones, which have equal scores, and the
    relevant documents t..r score ``hair`` less. Then 1 - AP = v_t + ... + v_r, and phi exceeds it by ``hair`` times
    that sum. The other gaps are those of a phi with an error.
    """
    i = np.arange(m)
    r, safe = np.array([(r, safe) for r in range(1, m) for safe in range(r)]).T[:, :, None]
    s, y = np.where(i < safe, 2.0, np.where(i < r, -hair, 0.0)), (i < r).astype(np.int32)
    hinges, lost = wrong_weights.hinges(s, y), largest_losses("map", s, y)
    values = {
        "largest_gap_in_the_limit": _evaluated("map", s, y)[0],
        "gap_one_rank_off": (wrong_weights.wrong(y, "map")["one_rank_off"] * hinges).sum(axis=1),
        "gap_of_short_margin": (wrong_weights.right(y, "map") * wrong_weights.of_short_margin(hinges)).sum(axis=1),
    }
    return {name: float(np.abs(phi - lost).max()) for name, phi in values.items()}


def table_of_constants(settings: LossesSettings, seed: int) -> Iterator[Constant | Growth]:
    """The table of section 6.1: sup ||grad||_1 against m, exact and searched, and the exponents of its growth."""
    y_max = max(settings.largest_labels)
    for name in progress.counted(COMPARED, "surrogates of the table"):
        found, largest = [], None
        for m in settings.table_lengths:
            rng = generator(seed, "slam-losses", "search", name, m)
            largest = constants.search(
                name, m, y_max, "lipschitz-linf", rng=rng, restarts=settings.restarts, shorter=largest
            )
            known = constants.supremum(name, m, y_max, "lipschitz-linf")
            exact = constants.constants(name, m, y_max).lipschitz if known is None else known
            found.append((exact, largest.value))
            published = PUBLISHED.get(name, AT_MOST_TWO)
            yield Constant(surrogate=name, m=m, y_max=y_max, exact=exact, searched=largest.value, published=published)
        slope, of_search = (fit_exponent(settings.table_lengths, norms).slope for norms in zip(*found, strict=True))
        yield Growth(surrogate=name, exponent=slope, searched_exponent=of_search)


def with_valid_weights() -> Iterator[ValidWeights]:
    """The sums of all valid weights, for all binary lists that are short enough."""
    for kind, m in product(("map", "ndcg"), range(2, LONGEST_WITH_VALID_WEIGHTS + 1)):
        for r in range(1, m):
            yield ValidWeights(kind=kind, m=m, relevant=r, **valid_weights.least_sums(kind, m, r))


EXPERIMENT = Experiment(
    LossesSettings,
    Step(
        "losses",
        measure,
        rows=(Check, Constant, Growth, ValidWeights),
        documents=EVERY,
        surrogates=("ranksvm", "structured-ndcg", "svm-map", "listnet", "slam-ndcg", "slam-map", "slam-ndcg@k"),
        cost=Cost(6.0, start_mb=800.0),
        seconds=lambda settings, cell: 10e-3 * settings.lists,
    ),
)
