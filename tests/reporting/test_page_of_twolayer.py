"""Does the page of twolayer show the numbers of its tables, and does its prose follow the evidence?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from page_of_paper import Build, builder, figures, prose, raw, wording

from pipeline_lib.papers.twolayer.page import between
from pipeline_lib.reporting.figures import save


@pytest.fixture
def build(tmp_path: Path) -> Build:
    return builder(tmp_path, "twolayer", "two-")


def grid(gap: float) -> list[dict[str, Any]]:
    """Gaps of ``gap`` / (n m) on a grid of four cells, and in one further cell."""
    parts = ("gap", "query_error", "document_error", "centred_gap")
    terms = ("query_complexity", "query_concentration", "document_complexity", "document_concentration")
    return [
        {"loss": "hinge", "queries": n, "documents": m, "repetitions": 3, "certified": 2}
        | {f"{part}{end}": gap / (n * m) for part in parts for end in ("", "_low", "_high")}
        | {f"{part}_largest": gap / (n * m) for part in parts[:3]}
        | {"bound": 2.0, "largest_loss": n / 10.0, "query_bound": 1.0, "document_bound": 1.0, "risk_error": 0.0}
        | dict.fromkeys(terms, 0.5)
        for n, m in ((10, 2), (10, 4), (40, 2), (40, 4), (160, 2))
    ]


def limits(low: float) -> list[dict[str, Any]]:
    row = {"loss": "hinge", "limit": 0.2, "limit_low": low, "limit_high": 0.3}
    return [{**row, "growing": axis, "fixed": fixed} for axis, fixed in (("queries", 2), ("documents", 10))]


def older(gap: float) -> list[dict[str, Any]]:
    """A gap and a bound for documents that are halved, one that stays, and one that falls by a fifth."""
    row = {"loss": "hinge", "queries": 10, "query_level": 3.0}
    return [
        {**row, "documents": m, **dict.fromkeys(("gap", "gap_low", "gap_high"), gap / m)}
        | {"document_level": 4.0 / m, "two_layer": 6.0 - m / 2.0, "two_layer_pooled": 5.0}
        for m in (2, 4)
    ]


def test_no_tables_no_page(build: Build) -> None:
    assert build({}) is None


def test_cells_that_violate_the_bound_are_counted(build: Build) -> None:
    held, broken = build({"twolayer-gaps": grid(1.0)}), build({"twolayer-gaps": grid(41.0)}, thm1="refuted")
    assert "10 of 15 are certified" in prose(held)
    assert "violate it at all, in 3 of 5" in prose(held)
    assert "In 1 of 5 cells" in prose(broken)
    assert "by up to 0.05." in prose(broken)
    assert wording(held) != wording(broken)
    assert [row[:3] for row in raw(held, "twolayer-terms")] == [[10, 2, 0.05], [10, 4, 0.025], [160, 2, 1 / 320]]


def test_steps_are_counted_and_drawn_on_the_full_grid_only(build: Build) -> None:
    rising = [{**row, "centred_gap": row["queries"] * row["documents"]} for row in grid(1.0)]
    for rows, falling in ((grid(1.0), 4), (rising, 0)):
        section = build({"twolayer-gaps": rows})
        assert f"{falling} of 4 steps" in prose(section)
        [heat] = figures(section)
        assert "2 by 2 cells" in heat.description
    assert [row[:2] for row in raw(section, "twolayer-layers")] == [[10, 2], [10, 4], [40, 2], [40, 4]]


@pytest.mark.parametrize("gap", [0.0, -1.0])
def test_a_page_without_gaps_is_drawn(build: Build, tmp_path: Path, gap: float) -> None:
    tables = {"twolayer-gaps": grid(gap), "twolayer-limits": limits(0.1), "twolayer-older-bounds": older(gap)}
    section = build(tables)
    for figure in figures(section):
        assert "<svg" in save(figure, tmp_path / "figures")
    assert raw(section, "twolayer-older-bounds")[0][1] is None


@pytest.mark.parametrize(("low", "above"), [(-0.1, 0), (0.1, 1)])
def test_limits_above_0_are_counted_and_explained(build: Build, low: float, above: int) -> None:
    section = build({"twolayer-gaps": grid(1.0), "twolayer-limits": limits(low)})
    for said in (f"limit of the gap is above 0 for {above} of 1 losses", f"ever more documents for {above} of 1."):
        assert said in prose(section)
    refuted = build({"twolayer-gaps": grid(1.0), "twolayer-limits": limits(low)}, both="refuted")
    assert "average out" in prose(refuted)
    assert "average out" not in prose(section)
    assert [row[1:4] for row in raw(section, "twolayer-limits")] == [[0.2, f"{low} 0.3", None]] * 2


def test_what_remains_of_every_bound_is_computed(build: Build) -> None:
    shown = {"twolayer-older-bounds": older(1.0)}
    assert raw(build(shown), "twolayer-older-bounds") == [["hinge", 0.5, 1.0, 0.5, 0.8, 1.0]]
    assert wording(build(shown)) != wording(build(shown, vs_old="deviates"))


def budgets(shift: float, depth: float | None) -> dict[str, list[dict[str, Any]]]:
    """Best splits with n = C/4 and curves on a population, and on a data set, of which no best ranker is known."""
    ends = {f"error_{end}{side}": 0.5 for end in ("deepest", "shallowest") for side in ("", "_low", "_high")}
    best = [
        {"dataset": "population", "budget": c, "best_queries": c / 4.0, "best_queries_low": c / 4.0 + shift}
        | {"best_queries_high": c / 4.0, "predicted_queries": c**0.5, "error_inner": 0.4, **ends}
        | {"variance_documents": depth, "variance_documents_low": 3.5, "variance_documents_high": 4.6}
        for c in (100, 10_000)
    ]
    point = {"dataset": "population", "error": 0.5, "low": 0.4, "high": 0.6}
    excess = {"excess": 0.2, "excess_low": 0.1, "excess_high": 0.3}
    curve = [
        {**point, **excess, "budget": c, "queries": n, "documents": c // n}
        for c in (100, 10_000)
        for n in (2, c // 4, c // 2)
    ]
    best.append({**best[0], "dataset": "made", "variance_documents": None})
    curve += [
        {**point, "dataset": "made", **{name: row[name] for name in ("budget", "queries", "documents")}}
        for row in curve
        if row["budget"] == 100
    ]
    return {"twolayer-best-splits": best, "twolayer-tradeoff": curve}


@pytest.mark.parametrize(("shift", "depth"), [(0.0, 4.0), (-2450.0, 2.0), (0.0, None)])
def test_the_growth_of_the_best_split_is_computed(
    build: Build, tmp_path: Path, shift: float, depth: float | None
) -> None:
    section = build(budgets(shift, depth))
    said = prose(section)
    assert "In 3 of 3 cases" in said
    assert "1.00," in said
    assert "0.50." in said
    assert ("favour shallower judging" in said) == (shift == 0.0)
    assert ("is inside the interval" in said) == (depth == 4.0)
    assert ("is outside the interval" in said) == (depth == 2.0)
    of_population, of_data = figures(section)
    assert "relative to" in of_population.caption
    assert "relative to" not in of_data.caption
    for figure in (of_population, of_data):
        assert "<svg" in save(figure, tmp_path / "figures")
    by_variance = [None if depth is None else c / depth for c in (100, 10_000)]
    assert [row[4] for row in raw(section, "twolayer-best-splits")] == [*by_variance, None]


def test_heights_between_points() -> None:
    points = [(1.0, 4.0), (10.0, 2.0), (100.0, 6.0)]
    heights = [between(points, x) for x in (0.5, 1.0, 10**0.5, 10.0, 10**1.5, 1000.0)]
    assert heights == pytest.approx([4.0, 4.0, 3.0, 2.0, 4.0, 6.0])


def test_effects_of_samplings_beyond_their_intervals_are_counted(build: Build) -> None:
    rows = [
        {"queries": n, "documents": 4, "what": what, "value": value, "low": value - 0.1, "high": value + 0.1}
        for n, effect in ((10, 0.3), (40, 0.05))
        for what, value in (("lengths", effect), ("dependence", -effect))
    ]
    section = build({"twolayer-samplings": rows})
    larger, smaller = prose(section).split("Shared queries")
    assert "larger in 1 and smaller in 0 of 2" in larger
    assert "larger in 0 and smaller in 1 of 2" in smaller
    assert raw(section, "twolayer-samplings") == [[10, 4, 0.3, -0.3], [40, 4, 0.05, -0.05]]


def test_the_words_on_capacity_follow_the_claim(build: Build) -> None:
    plans = [
        {"budget": 100, "vc_dimension": v, "delta": delta, "c1": c1, "queries": 50.0 - v - 10 * delta}
        | {"informative_from": 12 + v, "informative_from_sauer": 3456}
        for v in (2, 5)
        for delta in (0.2, 0.1)
        for c1 in (0.5, 1.0)
    ]
    section = build({"twolayer-plans": plans})
    assert wording(section) != wording(build({"twolayer-plans": plans}, capacity="deviates"))
    assert "17 queries with as many documents" in prose(section)
    assert raw(section, "twolayer-informative") == [[2, 14, 14, 3456], [5, 17, 17, 3456]]


def test_averages_show_how_far_they_are_apart(build: Build) -> None:
    common = {"two_layer": 1.0, "two_layer_error": 0.1, "ordinary": 1.2, "ordinary_error": 0.0}
    rows = [
        {"statement": "definition 3", "case": "tiny", **common, "difference": 2.04},
        {"statement": "equation 6", "case": "20", "m": 5, "difference": 2e-15},
    ]
    section = build({"twolayer-identities": rows})
    assert "at most 2.1 standard errors" in prose(section)
    assert "at most 2e−15" in prose(section)
    assert raw(section, "twolayer-averages") == [["tiny", 1.0, 1.2, 2.04]]


def extreme(population: str, query: float, document: float, **row: Any) -> dict[str, Any]:
    errors = {"query_error": query, "document_error": document, "gap": query + document}
    bounds = {"query_bound": 0.5, "document_bound": 0.25, "bound": 0.8, "document_failure": 0.01}
    return (
        {"population": population, "queries": 100, "documents": 50, "longest": 50, "delta": 0.05}
        | errors
        | bounds
        | row
    )


def test_the_smallest_factors_of_the_bounds_are_shown(build: Build) -> None:
    rows = [
        extreme("coins of queries", 0.4, 0.0),
        extreme("memory of documents", 0.0, 0.2),
        extreme("memory of documents", 0.0, 0.2, document_bound=0.21, delta=1e-9),
        extreme("memory of documents", 0.0, 0.9, longest=80, document_bound=1.5),
    ]
    section = build({"twolayer-extremes": rows})
    said = prose(section)
    assert "at least 0.888 times the gap" in said  # of the bounds below 1: 0.8 / 0.9
    assert "1.250 times the error of the layer of queries" in said
    assert "1.050 times that of documents" in said
    assert [row[2] for row in raw(section, "twolayer-extremes")] == [0.4, 0.2]
    for one in ("one_layer", "thm1", "thm3_probability"):
        assert wording(section) != wording(build({"twolayer-extremes": rows}, **{one: "refuted"}))


def test_how_much_worse_the_worst_ranker_is(build: Build) -> None:
    rows = [
        {"loss": loss, "queries": 40, "documents": 8, "gap": gap, "worst": 0.06, "worst_largest": 0.1, "bound": 8.0}
        | dict.fromkeys(("gap_low", "gap_high"), gap)
        | dict.fromkeys(("worst_low", "worst_high"), 0.06)
        for loss, gap in (("hinge", 0.02), ("logistic", 0.04), ("exponential", -0.01))
    ]
    section = build({"twolayer-gaps": grid(1.0), "twolayer-worst-gaps": rows})
    assert "1.5 to 3.0 times as large" in prose(section)
    assert [row[2:4] for row in raw(section, "twolayer-worst-gaps")] == [[0.02, 0.06], [0.04, 0.06], [-0.01, 0.06]]
    none = build({"twolayer-gaps": grid(1.0), "twolayer-worst-gaps": rows[2:]})
    assert "times as large" not in prose(none, "twolayer-gaps-part").partition("Ascent")[2]


def test_planned_and_best_numbers_of_queries(build: Build) -> None:
    rows = [
        {"budget": 100, "capacity": v, "planned_for": planned, "queries": n, "gap": v / n}
        | {"gap_low": 0.0, "gap_high": 1.0, "bound": 1.0}
        for v in (1, 5)
        for planned, n in ((1, 20), (5, 10), (None, 50))
    ]
    plans = [
        {"budget": 100, "vc_dimension": v, "delta": 0.1, "c1": 1.0, "queries": 5.0, "informative_from": 12}
        | {"informative_from_sauer": 34}
        for v in (2, 5)
    ]
    tables = {"twolayer-plans": plans, "twolayer-capacities": rows}
    section = build(tables)
    assert raw(section, "twolayer-capacities") == [[1, 20, 0.05, 50, 0.02], [5, 10, 0.5, 50, 0.1]]
    assert wording(section) != wording(build(tables, capacity_measured="refuted"))


def test_averages_of_losses_show_the_constant_they_need(build: Build) -> None:
    common = {"two_layer": 1.0, "two_layer_error": 0.1, "ordinary": 1.2, "ordinary_error": 0.0, "difference": 2.0}
    identities = [
        {"statement": "definition 3", "case": "tiny", **common},
        {"statement": "equation 6", "case": "20", "m": 5, "difference": 2e-15},
    ]
    remarks = [
        {"loss": "hinge", "case": case, "score_bound": b, "average": 0.5, "contracted": 0.6, "printed": b / 4}
        for case in ("10 equal pairs", "one pair")
        for b in (1.0, 0.1)
    ]
    tables = {"twolayer-identities": identities, "twolayer-remarks": remarks}
    section = build(tables)
    assert [row[4] for row in raw(section, "twolayer-remarks")] == pytest.approx([20.0, 2.0])
    assert wording(section) != wording(build(tables, remark="refuted"))


def rates() -> dict[str, list[dict[str, Any]]]:
    case = {"queries_are": "differ", "turned_share": 0.25, "capacity": 4}
    ends = {f"exceeded{end}": 0.1 for end in ("", "_low", "_high")}
    measured = [
        {**case, "growing": "queries", "queries": n, "documents": 2, **ends, "bound": 2 / n, "printed": 3.0}
        for n in (10, 40, 160)
    ]
    exponent = {**case, "growing": "queries", "exponent": -0.5, "exponent_low": -0.6, "exponent_high": -0.4}
    plans = [
        {"budget": 100, "turned_share": 0.25, "capacity": 4, "plan": plan, "queries": n}
        | {f"gap{end}": 1 / n for end in ("", "_low", "_high")}
        for plan, n in (("printed", 10), ("corrected", 40), ("2 documents", 50))
    ]
    return {
        "twolayer-rates": measured,
        "twolayer-rate-exponents": [{**exponent, "of_deviation": -0.5, "of_printed": -0.1}],
        "twolayer-rate-plans": plans,
    }


def test_rates_and_plans_of_both_bounds_are_shown(build: Build) -> None:
    held = build(rates())
    broken = build(rates(), **{"rates": "refuted", "rates-exponents": "deviates", "budget-corrected": "consistent"})
    assert [row[-3:] for row in raw(held, "twolayer-rate-exponents")] == [["-0.6 -0.4", -0.5, -0.1]]
    [plans] = raw(held, "twolayer-rate-plans")
    assert (plans[3], plans[5], plans[-1]) == (10, 40, 1 / 50)
    assert wording(held) != wording(broken)
    assert [figure.name for figure in figures(held)] == ["twolayer-rates", "twolayer-rate-plans"]
    assert "4.0 to 4.0 times as large as with its plan" in prose(held)
    assert "at most 25 % above the smallest" in prose(held)


def test_averages_of_the_losses_are_those_of_the_ends(build: Build) -> None:
    rows = [
        {"loss": "hinge", "case": "3 queries", "score_bound": b, "average": b, "contracted": 2 * b}
        for b in (0.1, 0.5, 1.0)
    ]
    common = {"two_layer": 1.0, "two_layer_error": 0.1, "ordinary": 1.2, "ordinary_error": 0.0, "difference": 2.0}
    identities = [{"statement": "definition 3", "case": "tiny", **common}, {"statement": "equation 6", **common}]
    tables = {"twolayer-identities": identities, "twolayer-loss-averages": rows}
    held = build(tables)
    assert [row[1:] for row in raw(held, "twolayer-loss-averages")] == [[0.1, 0.1, 0.2], [1.0, 1.0, 2.0]]
    assert "at most 50.0 % of the contracted averages" in prose(held)


@pytest.mark.parametrize(
    ("table", "rows", "names"),
    [
        ("twolayer-elements", [{"in_one_row": 0.25, "in_two_rows": 0.0, "given_the_task": 0.0}], {"nm_elements"}),
        (
            "twolayer-short-lists",
            [
                {"queries": n, "which": which, "bound": bound}
                for n in (100, 10_000)
                for which, bound in (("one query", 30.0 / n), ("half of the queries", 0.5), ("all queries", 1.0))
            ],
            {"some_query"},
        ),
        (
            "twolayer-plans",
            [
                {"budget": c, "vc_dimension": 5, "delta": 0.1, "c1": 1.0, "queries": c**0.5, "informative_from": 12}
                | {"queries_by_search": c**0.5, "queries_of_programme": c**0.25, "informative_from_sauer": 34}
                for c in (100, 10_000)
            ],
            {"capacity"},
        ),
    ],
)
def test_sentences_follow_the_status_of_their_claim(
    build: Build, table: str, rows: list[dict[str, Any]], names: set[str]
) -> None:
    needed = {table: rows}
    if table == "twolayer-elements":
        needed["twolayer-samplings"] = [
            {"queries": 10, "documents": 4, "what": what, "value": 0.1, "low": 0.0, "high": 0.2}
            for what in ("lengths", "dependence")
        ]
    if table == "twolayer-plans":
        needed |= budgets(0.0, None)
    held = wording(build(needed))
    for name in names:
        assert wording(build(needed, **{name: "refuted"})) != held


def test_the_bound_with_one_short_list_is_that_of_the_most_queries(build: Build) -> None:
    rows = [
        {"queries": n, "which": which, "bound": bound}
        for n in (100, 10_000)
        for which, bound in (("one query", 30.0 / n), ("half of the queries", 0.5))
    ]
    said = prose(build({"twolayer-short-lists": rows}, some_query="refuted"))
    assert "falls to 0.003 at 10,000 queries" in said
    assert "0.5 with half of them" in said
