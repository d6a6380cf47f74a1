"""How many queries should be judged, and how many documents of each, for a promised width or to find a difference?

A pilot, a few dozen judged queries with one or several runs, says how much queries differ. From the upper limit of 80 %
of the standard deviation, and not from the estimate, which would be too low in half of all pilots
(:mod:`pipeline_lib.evaluation.pilot`), follow

- the queries n for an interval of at most -+ w: t_{n-1} sd / sqrt(n) <= w, nearly n = (z sd / w)^2;
- the queries for a difference of two runs that the paired test is to find with some power: by the noncentral t
  distribution, nearly n = ((z_level + z_power) sd(d) / difference)^2;
- the best use of a budget of judgements for averages over pairs of documents: the depth m and the number n of queries
  with n (c + m) <= C at which t_{n-1} sigma(m) / sqrt(n) is smallest, where sigma^2(m) has the rates of the two-layer
  theory (:mod:`pipeline_lib.theory.two_layer_rates`) and c is the cost of opening a query.

The last is about averages over documents that are drawn from those a query might have, such as the share of pairs in
wrong order. A measure at a cut-off, such as NDCG@10, is no such average: there, depth is the depth of the pool, of
which a pilot of one depth says nothing, so that a budget is spent at the depth of the pilot.

Each promise is compared with the pilot itself, resampled to the size of the plan. A plan is made once: who looks at the
results and adds queries until a difference is significant finds differences that do not exist.

References
----------
Webber, Moffat and Zobel, "Statistical power in retrieval experimentation", CIKM 2008; Urbano, Marrero and Martín, "On
the measurement of test collection reliability", SIGIR 2013; Sakai, "Topic set size design", Information Retrieval
Journal 19 (2016); costs of queries and judgements: Carterette and others, "If I had a million queries", ECIR 2009;
variance components of a collection to be: Bodoff and Li, "Test theory for assessing IR test collections", SIGIR 2007.
"""

import math
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pipeline_lib import metrics
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, NonNegative, Probability, checked
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.core.seeds import generator
from pipeline_lib.evaluation import inputs, pilot
from pipeline_lib.evaluation.comparison import against, aligned
from pipeline_lib.evaluation.pilot import Spread, Use
from pipeline_lib.statistics import LEVEL, POWER, Interval

__all__ = ["Check", "Depth", "Plan", "Quantity", "plan_labels"]

ROUNDS = 20
"""So often documents are drawn from every list to check a depth."""
DEPTHS = (2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 70, 100, 140, 200, 300, 500, 700, 1_000, 2_000, 5_000, 10_000)
"""Depths of the curve, beside the best one."""
ANY_DEPTH = "\nThe pilot does not exclude that queries are alike (v = 0), and then no list would be too deep."
OF_LAYERS = """
v, s1, s2: variances of what queries, single documents and pairs of documents bring about.
The mean over n queries with m documents each has the variance
(v + 4 s1 / m + 2 (s2 - 2 s1) / (m (m - 1))) / n; the best depth m makes it least."""
POINTS = 25
"""Points of the curve of widths."""


@dataclass(frozen=True)
class Check:
    """What the pilot, resampled to the size of the plan, says: the median half-width, and how often it is kept."""

    half_width: float
    kept: float


@dataclass(frozen=True)
class Quantity:
    """The mean of a measure of one run, or of the difference of two, with what is planned for it.

    Attributes
    ----------
    name : str
        ``A``, or ``A - B``.
    mean : float
        Over the queries of the pilot.
    spread : Spread
        The standard deviation between queries, with the upper limit that plans take.
    level : float
        Of its interval and test: with several differences, each has 1 - (1 - level) / their number.
    queries_for_width, queries_for_difference : int, optional
        The queries that the promises need.
    width_resampled : Check, optional
    power_resampled : float, optional
        How often resampled queries, moved to the difference, let the test find it.
    of_budget : Use, optional
        What the budget gives at the depth of the pilot.
    detectable : float, optional
        The difference that is found there with the power.
    """

    name: str
    mean: float
    spread: Spread
    level: float
    queries_for_width: int | None = None
    width_resampled: Check | None = None
    queries_for_difference: int | None = None
    power_resampled: float | None = None
    of_budget: Use | None = None
    detectable: float | None = None


@dataclass(frozen=True)
class Depth:
    """The best use of a budget for the share of pairs in wrong order, of one run or as the difference of two.

    Attributes
    ----------
    name : str
    queries : int
        Of the pilot, with at least four judged documents each.
    loss : float
        The mean over queries of the share of pairs in wrong order; pairs with equal labels are never wrong, those with
        equal scores half.
    between_queries, of_documents, of_pairs : Interval
        v, s1 and s2, estimated without bias, so that they can be negative; plans count negative ones as 0.
    best : Use
    best_depths : (float, float)
        The best depth of a large budget in 95 % of pilots whose queries are resampled.
    resampled : float, optional
        The half-width of the plan by documents drawn from the pilot's lists; None where too few of them are so long.
    curve : tuple of Use
        Other uses of the budget.
    """

    name: str
    queries: int
    loss: float
    between_queries: Interval
    of_documents: Interval
    of_pairs: Interval
    best: Use
    best_depths: tuple[float, float]
    resampled: float | None
    curve: tuple[Use, ...]


@dataclass(frozen=True, repr=False)
class Plan:
    """What :func:`plan_labels` finds; ``str`` is a text to paste."""

    measure: str
    queries: int
    judgments_per_query: float
    level: float
    power: float
    within: float | None
    difference: float | None
    judgments: int | None
    cost_of_query: float
    quantities: tuple[Quantity, ...]
    depths: tuple[Depth, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Plan({self.measure}: {len(self.quantities)} quantities from a pilot of {self.queries} queries)"

    def __str__(self) -> str:
        return "\n\n".join(_texts(self))

    def to_dict(self) -> dict[str, Any]:
        """All numbers, as JSON takes them."""
        return asdict(self)

    def to_pandas(self) -> Any:
        """A row for every mean and difference."""
        import pandas as pd

        rows = []
        for one in self.quantities:
            row = asdict(one)
            spread, width, use = row.pop("spread"), row.pop("width_resampled"), row.pop("of_budget")
            row |= {"sd": spread["sd"]["value"], "sd_low": spread["sd"]["low"], "sd_high": spread["sd"]["high"]}
            row |= {"sd_planned": spread["upper"]}
            row |= {"half_width_resampled": width["half_width"], "width_kept": width["kept"]} if width else {}
            row |= {"budget_queries": use["queries"], "budget_half_width": use["half_width"]} if use else {}
            rows.append(row)
        return pd.DataFrame(rows)

    def widths(self, name: str) -> list[tuple[int, float, float]]:
        """The curve of a quantity: queries, the planned half-width, and that of the estimated standard deviation."""
        one = next(one for one in self.quantities if one.name == name)
        planned = (one.queries_for_width, one.queries_for_difference, one.of_budget.queries if one.of_budget else None)
        most = 4 * max([self.queries, *(n for n in planned if n is not None)])
        counts = np.unique(np.geomspace(10, most, POINTS).astype(np.int64)).tolist()
        sds = (one.spread.upper, one.spread.sd.value)
        return [(n, *(pilot.half_width(sd, n, one.level) for sd in sds)) for n in counts]  # type: ignore[misc]


@checked
def plan_labels(
    runs: Any,
    qrels: Any = None,
    measure: str = "ndcg@10",
    *,
    within: Probability | None = None,
    difference: Probability | None = None,
    power: Probability = POWER,
    judgments: Count | None = None,
    cost_of_query: NonNegative = 0.0,
    baseline: str | None = None,
    level: Probability = LEVEL,
    ties: inputs.Ties = "mean",
    relevant_from: int = 1,
    no_relevant: metrics.NoRelevant = 0.0,
    missing: inputs.Missing = "zero",
    y_max: int | None = None,
    seed: int = 0,
) -> Plan:
    """Plan from a pilot how many queries, and how many documents of each, are to be judged.

    Parameters
    ----------
    runs, qrels, measure, ties, relevant_from, no_relevant, missing, y_max
        The pilot, as :func:`pipeline_lib.evaluation.values` takes it.
    within : float, optional
        Half the width of the interval that is asked for, in (0, 1).
    difference : float, optional
        The difference of two runs, in (0, 1), that the paired test is to find with probability ``power``.
    judgments : int, optional
        A budget: the number of documents that can be judged.
    cost_of_query : float
        What opening a query costs, in judgements; it counts against the budget.
    baseline : str, optional
        The name of a run with which all others are to be compared; without it all pairs are planned.
    level : float
        Joint level of the intervals and tests of the differences, by Bonferroni, and that of each mean.

    Raises
    ------
    ConfigurationError
        When nothing is asked for, or a difference is asked for with one run.
    DataError
        When the pilot is too small or does not vary, there is no such baseline, or an argument is out of range.

    Example
    -------
    >>> rng = np.random.default_rng(0)
    >>> qrels = {f"q{i}": {f"d{j}": int(rng.integers(0, 3)) for j in range(10)} for i in range(50)}
    >>> run = {q: {d: label + rng.normal() for d, label in labels.items()} for q, labels in qrels.items()}
    >>> plan = plan_labels(run, qrels, within=0.01)
    >>> plan.quantities[0].queries_for_width > 50
    True
    """
    if within is None and difference is None and judgments is None:
        raise ConfigurationError(
            "within, difference and judgments: expected a width, a difference or a budget of judgements, found none"
        )
    found = inputs.values(
        runs,
        qrels,
        measure,
        ties=ties,
        relevant_from=relevant_from,
        no_relevant=no_relevant,
        missing=missing,
        y_max=y_max,
    )
    pairs = against(found.runs, baseline)
    if difference is not None and not pairs:
        raise ConfigurationError("difference: expected two runs, whose differences say how they vary, found one")
    lists = inputs.scored(runs, qrels)
    asked = _Asked(within, difference, power, judgments, cost_of_query, lists.per_query, seed)
    joint = level if len(pairs) < 2 else 1.0 - (1.0 - level) / len(pairs)
    planned: list[Quantity] = []
    if within is not None or judgments is not None:
        planned += [asked.plan(name, row, level) for name, row in zip(found.runs, found.values, strict=True)]
    for i, j in pairs:
        name = f"{found.runs[i]} - {found.runs[j]}"
        planned.append(asked.plan(name, found.values[i] - found.values[j], joint, is_difference=True))
    depths, notes = asked.depths(lists, pairs, level, joint) if judgments is not None else ((), [])
    return Plan(
        found.measure,
        len(found.queries),
        lists.per_query,
        level,
        power,
        within,
        difference,
        judgments,
        cost_of_query,
        tuple(planned),
        depths,
        (*found.notes, *notes),
    )


@dataclass(frozen=True)
class _Asked:
    """What is to be planned, whatever for."""

    within: float | None
    difference: float | None
    power: float
    judgments: int | None
    cost_of_query: float
    per_query: float
    seed: int

    def plan(self, name: str, values: Floats, level: float, *, is_difference: bool = False) -> Quantity:
        """The plan for a mean over queries."""
        found = pilot.spread(values, name)
        planned: dict[str, Any] = {}
        if self.within is not None:
            n = planned["queries_for_width"] = pilot.queries_for_width(found.upper, self.within, level)
            widths = pilot.resampled_widths(values, n, level, generator(self.seed, "plan", "width", name))
            planned["width_resampled"] = Check(float(np.median(widths)), float((widths <= self.within).mean()))
        if self.difference is not None and is_difference:
            n = pilot.queries_for_power(found.upper, self.difference, self.power, level)
            rng = generator(self.seed, "plan", "power", name)
            planned["queries_for_difference"] = n
            planned["power_resampled"] = pilot.resampled_power(values, n, self.difference, level, rng)
        if self.judgments is not None:
            n = math.floor(self.judgments / (self.cost_of_query + self.per_query))
            if n < 2:
                raise DataError(
                    f"judgments: expected enough for two queries as in the pilot, with {self.per_query:.1f} judgements "
                    f"each, found {self.judgments:,}"
                )
            depth = round(self.per_query)
            planned["of_budget"] = Use(n, depth, pilot.half_width(found.upper, n, level))
            if is_difference:
                planned["detectable"] = pilot.detectable(found.upper, n, self.power, level)
        return Quantity(name, float(values.mean()), found, level, **planned)

    def depths(
        self, lists: inputs.Scored, pairs: Sequence[tuple[int, int]], level: float, joint: float
    ) -> tuple[tuple[Depth, ...], list[str]]:
        """The best depth for every run and difference, and sentences about what it rests on."""
        lengths = np.diff(lists.offsets)
        long = np.repeat(lengths >= pilot.FEWEST_DOCUMENTS, lengths)
        offsets = np.r_[0, np.cumsum(lengths[lengths >= pilot.FEWEST_DOCUMENTS])]
        labels, scores = lists.labels[long], lists.scores[:, long]
        given = [(name, level, scores[k], None) for k, name in enumerate(lists.runs)]
        given += [(f"{lists.runs[i]} - {lists.runs[j]}", joint, scores[i], scores[j]) for i, j in pairs]
        notes = []
        if lists.lacking:
            notes.append(f"For the depth, judged documents that a run lacks do not count: {lists.lacking:,}.")
        if short := len(lengths) - len(offsets) + 1:
            notes.append(f"For the depth, queries with fewer than four such documents do not count: {short:,}.")
        try:
            found = [
                self._depth(name, pilot.Lists(first, labels, offsets, second), of_level)
                for name, of_level, first, second in given
            ]
        except DataError as error:
            return (), [*notes, f"The depth is not planned: {error}."]
        return tuple(found), notes

    def _depth(self, name: str, lists: pilot.Lists, level: float) -> Depth:
        assert self.judgments is not None
        layers = lists.layers(generator(self.seed, "plan", "layers", name))
        uses = pilot.uses(layers, self.judgments, self.cost_of_query, level)
        best = min(uses, key=lambda use: use.half_width)
        pilot.refuse_small(f"{name}, pairs in wrong order", float(layers.upper_sd(best.depth)[1]), layers.queries)
        resampled = None
        if (lists.lengths >= best.depth).sum() >= pilot.FEWEST_QUERIES:
            sd = lists.drawn(best.depth, ROUNDS, generator(self.seed, "plan", "documents", name))
            resampled = pilot.half_width(sd, best.queries, level) if sd > 0.0 else None
        return Depth(
            name,
            layers.queries,
            layers.loss,
            *layers.intervals(),
            best,
            pilot.best_depths(layers, self.cost_of_query),
            resampled,
            tuple(use for use in uses if use.depth in (*DEPTHS, best.depth)),
        )


def _texts(plan: Plan) -> list[str]:
    """The paragraphs of a plan."""
    pilot_of = f"Pilot: {plan.queries:,} queries with {plan.judgments_per_query:.1f} judgements each; {plan.measure}."
    found = [pilot_of, _spreads(plan)]
    if plan.within is not None:
        found.append(_of_width(plan))
    if plan.difference is not None:
        found.append(_of_difference(plan))
    if plan.judgments is not None:
        found += [_of_budget(plan), *_of_depth(plan)]
    return [*found, _assumptions(plan), *(["\n".join(map(_filled, plan.notes))] if plan.notes else [])]


def _spreads(plan: Plan) -> str:
    rows = [
        (one.name, f"{one.mean:.4f}", f"{sd.value:.4f}", f"{sd.low:.4f}", f"{sd.high:.4f}", f"{one.spread.upper:.4f}")
        for one in plan.quantities
        for sd in [one.spread.sd]
    ]
    return aligned(["", "mean", "sd", "low", "high", "planned"], rows) + (
        "\nsd: between queries, with its interval of 95 %; planned: its upper limit of 80 %."
    )


def _of_width(plan: Plan) -> str:
    rows = [
        (one.name, f"{one.queries_for_width:,}", f"{check.half_width:.4f}", f"{100 * check.kept:.0f} %")
        for one in plan.quantities
        if (check := one.width_resampled) is not None
    ]
    return aligned([f"Within -+ {plan.within:g}", "queries", "resampled -+", "kept"], rows)


def _of_difference(plan: Plan) -> str:
    rows = [
        (one.name, f"{one.queries_for_difference:,}", f"{100 * one.power_resampled:.0f} %")
        for one in plan.quantities
        if one.power_resampled is not None
    ]
    asked = f"To find {plan.difference:g} with power {plan.power:g}"
    return aligned([asked, "queries", "resampled power"], rows)


def _of_budget(plan: Plan) -> str:
    rows = [
        (one.name, f"{use.queries:,}", f"{use.half_width:.4f}", f"{one.detectable:.4f}" if one.detectable else "")
        for one in plan.quantities
        if (use := one.of_budget) is not None
    ]
    opening = f", {plan.cost_of_query:g} for opening a query" if plan.cost_of_query else ""
    title = f"{plan.judgments:,} judgements{opening}"
    finds = f"found with power {plan.power:g}" if any(row[-1] for row in rows) else ""
    return f"{plan.measure} at the depth of the pilot, {plan.judgments_per_query:.1f} judgements a query:\n" + aligned(
        [title, "queries", "-+", finds], rows
    )


def _of_depth(plan: Plan) -> list[str]:
    if not plan.depths:
        return []
    variances = [
        (
            one.name,
            f"{one.loss:.4f}",
            *(_interval(part) for part in (one.between_queries, one.of_documents, one.of_pairs)),
        )
        for one in plan.depths
    ]
    uses = [
        (
            one.name,
            f"{one.best.queries:,}",
            f"{one.best.depth:,}",
            f"{one.best_depths[0]:,.0f} to {one.best_depths[1]:,.0f}",
            f"{one.best.half_width:.4f}",
            "lists too short" if one.resampled is None else f"{one.resampled:.4f}",
        )
        for one in plan.depths
    ]
    return [
        "Pairs in wrong order, an average over documents drawn from those of a query:\n"
        + aligned(["", "loss", "v, queries", "s1, documents", "s2, pairs"], variances)
        + OF_LAYERS,
        aligned(["Best use of the budget", "queries", "depth", "best when resampled", "-+", "resampled -+"], uses)
        + f"\nThis depth is for such averages, not for {plan.measure}, whose depth is that of the pool."
        + (ANY_DEPTH if any(one.best_depths[1] >= pilot.DEEPEST for one in plan.depths) else ""),
    ]


def _interval(found: Interval) -> str:
    return f"{found.value:.4f} [{found.low:.4f}, {found.high:.4f}]"


def _assumptions(plan: Plan) -> str:
    several = sum(one.level != plan.level for one in plan.quantities)
    joint = f" Each of {several} differences has the level {1 - (1 - plan.level) / several:.4g}." if several else ""
    return _filled(
        f"Level {plan.level:g}.{joint} A promised width is exceeded by more than 10 % by at most one pilot in ten. "
        "Queries count as exchangeable with those to come. Judge all planned queries before looking: who adds queries "
        "until a difference is significant finds differences that do not exist."
    )


def _filled(text: str) -> str:
    return textwrap.fill(text, 90, break_long_words=False, break_on_hyphens=False)
