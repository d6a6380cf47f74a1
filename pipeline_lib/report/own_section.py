"""What should a person know of a study of their own data first: are the data sound, and which ranker is best?"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

from pipeline_lib.core.markup import count, listed
from pipeline_lib.report import figures, findings
from pipeline_lib.report.figures import Figure
from pipeline_lib.report.results import Row
from pipeline_lib.report.results_section import range_over_ties
from pipeline_lib.report.study import Study, measure_title
from pipeline_lib.report.tables import Cell, number
from pipeline_lib.statistics import POWER

EQUAL = 1e-12
"""Means that differ by less are equal but for rounding."""

BARS = 12
"""So many classes a figure has room for."""
Bars = Sequence[tuple[str, float, bool]]


def given(study: Study, dataset: str) -> dict[str, Any] | None:
    """What the template shows of a data set of the configuration; None for one of the catalogue."""
    found = study.findings.get(dataset)
    if found is None:
        return None
    measured = dataset in study.datasets()
    return {
        "dataset": dataset,
        "found": len(found["found"]),
        "findings": findings.blocks(found, dataset, f"findings/{dataset}.json"),
        "lists": _lists(study, dataset, found),
        "power": POWER,
        "interval": study.interval(),
        "confidence": study.interval().removesuffix(" interval"),
        **(_rankers(study, dataset) if measured else {"rankers": []}),
    }


def _rankers(study: Study, dataset: str) -> dict[str, Any]:
    """All rankers, best first, with what is certified of them, and what would settle which of the first two is best."""
    measure = study.headlines(dataset)[0]
    limits = {row["model"]: row for row in study.limits if (row["dataset"], row["measure"]) == (dataset, measure)}
    order = study.rankers(dataset, measure)
    if not order or order[0] not in limits:
        return {"rankers": []}
    best, first = order[0], limits[order[0]]
    plans = {
        frozenset((row["model_a"], row["model_b"])): row
        for row in study.plans
        if (row["dataset"], row["measure"]) == (dataset, measure)
    }
    rows = [_ranker(study, dataset, measure, model, order, limits[model], plans) for model in order]
    undecided = [model for model in order[1:] if not study.is_better(dataset, measure, best, model)]
    equal = [model for model in order[1:] if math.isclose(limits[model]["mean"], first["mean"], rel_tol=EQUAL)]
    return {
        "measure": measure_title(measure),
        "rankers": rows,
        "best": rows[0],
        "first": first,
        "equal": [study.model_title(model) for model in equal],
        "open": any(row["open"] for row in rows),
        "undecided": [study.model_title(model) for model in undecided],
        "worse": [study.model_title(model) for model in order[1:] if model not in undecided],
        "closest": _closest(study, plans, best, order[1] if len(order) > 1 else "", undecided),
    }


def _ranker(
    study: Study,
    dataset: str,
    measure: str,
    model: str,
    order: Sequence[str],
    limit: Row,
    plans: Mapping[frozenset[str], Row],
) -> Row:
    ends, mean = range_over_ties(study, dataset, measure, model), number(limit["mean"])
    worse = [other for other in order if study.is_better(dataset, measure, model, other)]
    above = [study.model_title(other) for other in worse]
    all_others = len(worse) == len(order) - 1 > 1
    plan = plans.get(frozenset((order[0], model)), {})
    decided = study.is_better(dataset, measure, order[0], model)
    return {
        "model": Cell(study.model_title(model), raw=model, strong=model == order[0]),
        "mean": Cell(mean.text + ends, raw=limit["mean"]),
        "open": ends,
        "lower": Cell(_floor(limit["lower"]), raw=limit["lower"]),
        "pooled": Cell(_floor(limit["pooled"]), raw=limit["pooled"]),
        "above": Cell("all others" if all_others else listed(above) if above else "none", raw=" ".join(worse)),
        "needed": None if model == order[0] else Cell("known") if decided else plan.get("needed") or Cell("unknown"),
    }


def _closest(
    study: Study, plans: Mapping[frozenset[str], Row], best: str, second: str, undecided: Sequence[str]
) -> dict[str, Any] | None:
    """What would settle whether the best ranker is better than the next one; None where there is no other."""
    plan = plans.get(frozenset((best, second)))
    if plan is None:
        return None
    more = None if plan["needed"] is None else max(0, plan["needed"] - plan["n_queries"])
    return {
        **plan,
        "title": study.model_title(second),
        "decided": second not in undecided,
        "size": number(abs(plan["difference"])).text,
        "equal": abs(plan["difference"]) <= EQUAL,
        "more": None if more is None else count(more, "more test query", "more test queries"),
        "enough": more == 0,
    }


def _floor(limit: float) -> str:
    """A lower limit, which must not be rounded up."""
    return f"{math.floor(limit * 1e4 + 1e-9) / 1e4:.4f}"


def _lists(study: Study, dataset: str, found: Row) -> Figure:
    """How many documents, relevant documents and labels there are."""
    described = next(entry for entry in study.data if entry["dataset"] == dataset)
    lengths, relevant = (
        {int(value): n for value, n in found["lists"][kind].items()} for kind in ("documents", "relevant")
    )
    without = relevant.get(0, 0)
    panels = {
        "documents of a query": classes(lengths),
        "relevant documents of a query": classes(relevant, marked=0),
        "label": classes({int(label): n for label, n in described["labels"].items()}),
    }
    told = ("; ".join(f"{name}: {n:,.0f}" for name, n, _ in bars) for bars in panels.values())
    said = ". ".join(f"By {what}: {numbers}" for what, numbers in zip(panels, told, strict=True))
    marked = f"; hatched: the {count(without, 'query', 'queries')} without a relevant document" if without else ""
    return Figure(
        f"lists-{dataset}",
        f"Queries and labels of {dataset}",
        f"How many queries have how many documents and relevant documents, and how many documents which label{marked}",
        f"findings/{dataset}.json, data/{dataset}.json",
        f"{said}.",
        partial(figures.bar_plot, panels, ylabels=["queries", "queries", "documents"]),
    )


def classes(counts: Mapping[int, int], marked: int | None = None) -> Bars:
    """Numbers by value; by classes of values where there are many, as wide as each other or twice as wide as the last.

    Classes are twice as wide as the last one where the largest value exceeds the one in the middle :data:`BARS` times.
    The value ``marked`` has a class of its own.

    Example
    -------
    >>> classes({0: 3, 2: 4}, marked=0)
    [('0', 3, True), ('1', 0, False), ('2', 4, False)]
    >>> classes(dict.fromkeys(range(1, 25), 1))[:2], classes({1: 9, 40: 1})[-1]
    ([('1 – 2', 2, False), ('3 – 4', 2, False)], ('32 – 63', 1, False))
    """
    alone = [] if marked is None or marked not in counts else [(f"{marked:,}", counts[marked], True)]
    rest = {value: n for value, n in sorted(counts.items()) if not (alone and value == marked)}
    if not rest:
        return alone
    least, most = (1 if alone and marked == 0 else min(rest)), max(rest)
    half = sum(rest.values()) / 2
    middle = next(value for value, below in zip(rest, accumulate(rest.values()), strict=True) if below >= half)
    if most - least < BARS:
        edges = list(range(least, most + 2))
    elif most > BARS * max(middle, 1):
        edges = [least]
        while edges[-1] <= most:
            edges.append(max(edges[-1] + 1, 2 * edges[-1]))
    else:
        wide = -(-(most - least + 1) // BARS)
        edges = list(range(least, most + wide + 1, wide))
    return alone + [
        (
            f"{low:,}" if high == low + 1 else f"{low:,} – {high - 1:,}",
            sum(n for value, n in rest.items() if low <= value < high),
            False,
        )
        for low, high in pairwise(edges)
    ]
