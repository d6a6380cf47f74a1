"""Are the numbers that tables, sentences and figures show those of the rows behind them?"""

import itertools
import math
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import nodes

from pipeline_lib import papers
from pipeline_lib.commands.summarise_results import SUMMARY
from pipeline_lib.core import storage
from pipeline_lib.report import comparison, data_section, declared_figures, own_section, results_section, titles
from pipeline_lib.report import study as studied
from pipeline_lib.report.declared_figures import Curves
from pipeline_lib.report.figures import Measured, row_plot
from pipeline_lib.report.page import environment
from pipeline_lib.report.queries import Rows
from pipeline_lib.report.results import ResultsFolder, Row
from pipeline_lib.report.tables import col, shown_as

shares = st.floats(0.0, 1.0)
positive = st.floats(0.01, 100.0)


@given(st.one_of(shares, st.floats(0.0, 0.002)))
def test_a_p_value_is_shown_as_below_a_limit_only_where_it_is(p: float) -> None:
    shown = shown_as(p, "p").text
    assert (shown == "< 0.001") == (p < 0.001)
    assert shown == "< 0.001" or abs(float(shown) - p) <= 0.0005 + 1e-12


@given(st.one_of(st.none(), shares), shares, shares)
def test_what_stands_behind_a_number_is_half_of_its_interval(low: float | None, value: float, width: float) -> None:
    high = None if low is None else low + width
    row = SimpleNamespace(x=value, x_low=low, x_high=high, sd=width)
    ends, one = (col("x", "X", spread=spread).cell(row) for spread in (("x_low", "x_high"), "sd"))
    assert ends.spread_raw == (None if low is None else pytest.approx(width / 2))
    assert (one.spread_raw, one.raw) == (width, value)


@given(st.lists(st.tuples(st.one_of(st.none(), shares), st.booleans(), st.booleans()), max_size=6))
def test_a_sentence_is_about_known_values_in_rows_that_say_something(
    rows: list[tuple[float | None, bool, bool]],
) -> None:
    made = [{"x": x, "vacuous": vacuous, "informative": informative} for x, vacuous, informative in rows]
    found = [value for value, *_ in Rows(made, ("made",)).intervals("x")]
    assert found == [x for x, vacuous, informative in rows if x is not None and informative and not vacuous]


numbers = st.one_of(st.none(), st.sampled_from([0.0, 1e-9, -1.0, 2.0, 1e6]), st.floats(-1e3, 1e3))


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=5), st.sampled_from([0.0, 0.1, 0.75]))
def test_two_numbers_differ_by_a_share_of_the_larger(
    pairs: list[tuple[float | None, float | None]], tolerance: float
) -> None:
    def share(one: float | None, other: float | None) -> float:
        if one is None or other is None:
            return 0.0 if one is other else math.inf
        return abs(one - other) / max(abs(one), abs(other)) if one != other else 0.0

    expected = [share(*pair) for pair in pairs]
    found = []
    for turn in (1, -1):
        one, other = [list(column) for column in zip(*pairs, strict=True)][::turn]
        frame = pl.DataFrame(
            {"name": [f"row {i}" for i in range(len(pairs))], "x": one, "x_other": other},
            schema={"name": pl.String, "x": pl.Float64, "x_other": pl.Float64},
        )
        found.append(list(comparison._of_column("t", frame, "x", ["name"], tolerance)))
    beyond = [one for one in expected if one > tolerance]
    for changes in found:
        assert len(changes) == bool(beyond)
        for change in changes:
            assert (change.rows, change.of) == (len(beyond), len(pairs))
            assert change.largest == pytest.approx(max(beyond))
            assert expected[int(change.where.split()[-1])] == max(beyond)


@given(st.floats(0.0, 1.0))
def test_a_lower_limit_is_never_rounded_up(limit: float) -> None:
    shown = float(own_section._floor(limit))
    assert limit - 1.001e-4 < shown <= limit + 1e-12


@given(st.one_of(st.none(), st.integers(2, 500)), st.integers(2, 500))
def test_with_so_many_more_queries_there_are_as_many_as_are_needed(needed: int | None, known: int) -> None:
    about = {"a": {"title": "A"}, "b": {"title": "B"}}
    study = SimpleNamespace(model_title=lambda model: about[model]["title"])
    plan = {"needed": needed, "n_queries": known, "difference": -0.25}
    found = own_section._closest(study, {frozenset("ab"): plan}, "a", "b", [])  # type: ignore[arg-type]
    assert found is not None
    assert found["size"] == "0.2500"
    assert found["enough"] == (needed is not None and needed <= known)
    more = None if found["more"] is None else int(found["more"].split()[0].replace(",", ""))
    assert more == (None if needed is None else max(0, needed - known))


@given(st.dictionaries(st.integers(0, 400), st.integers(1, 50), min_size=1, max_size=20), st.booleans())
def test_classes_hold_every_number_once_and_double_where_most_are_small(counts: dict[int, int], zero: bool) -> None:
    found = own_section.classes(counts, marked=0 if zero else None)
    assert sum(n for _, n, _ in found) == sum(counts.values())
    rest = {value: n for value, n in counts.items() if not (zero and value == 0)}
    if not rest:
        return
    ends = [tuple(int(end.replace(",", "")) for end in name.split(" – ")) for name, _, marked in found if not marked]
    for end, (_, n, _) in zip(ends, [one for one in found if not one[2]], strict=True):
        assert n == sum(rest.get(value, 0) for value in range(end[0], end[-1] + 1))
    least, most = 1 if zero and 0 in counts else min(rest), max(rest)
    middle = statistics.median_low(list(itertools.chain.from_iterable([value] * n for value, n in rest.items())))
    widths = {end[-1] - end[0] + 1 for end in ends}
    if most - least < own_section.BARS:
        assert widths == {1}
    else:
        assert (len(widths) > 1) == (most > own_section.BARS * max(middle, 1))


def test_every_label_has_its_share_of_the_documents() -> None:
    entry = {"rows": 8, "queries": 3, "labels": {"0": 5, "1": 2, "2": 1}, "parts": []}
    entry |= {"title": "", "licence": "", "citation": ""}
    assert [one["share"] for one in data_section.about(entry)["labels"]] == [0.625, 0.25, 0.125]


def test_the_intervals_of_rows_reach_from_end_to_end() -> None:
    ends = [(0.5, 0.25, 0.625), (0.75, 0.75, 1.0), (1.0, 0.25, 1.0)]
    rows = [(str(place), {"x": Measured(*one)}) for place, one in enumerate(ends)]
    [container] = row_plot({"": rows}, xlabel="x").axes[0].containers
    [bars] = container.lines[2]
    drawn = [segment.tolist() for segment in bars.get_segments()]
    assert drawn == [[[low, place], [high, place]] for place, (_, low, high) in enumerate(ends)]


@given(st.lists(st.tuples(st.integers(1, 9), st.one_of(st.none(), st.sampled_from([0.0, -1.0, 0.5]))), max_size=6))
def test_a_curve_has_a_point_for_every_known_value(rows: list[tuple[int, float | None]]) -> None:
    made = Rows([{"x": x, "y": y} for x, y in rows], ("made",))
    points = declared_figures.curves(made, "x", "y", "one").points.get("one", ())
    assert list(points) == sorted((x, y, y, y) for x, y in rows if y is not None)


@given(st.lists(st.tuples(positive, positive), min_size=1, max_size=4), st.floats(-2.0, 2.0))
def test_a_line_of_a_power_begins_where_the_curve_begins(points: list[tuple[float, float]], power: float) -> None:
    curve = Curves({"one": [(x, y, y, y) for x, y in sorted(points)]}, "made")
    line = declared_figures.power(curve, power, "power").points["power"]
    assert line[0][:2] == pytest.approx(curve.points["one"][0][:2])
    for (x, y, *_), (z, u, *_) in itertools.pairwise(line):
        assert u / y == pytest.approx((z / x) ** power)


@given(st.lists(st.tuples(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), shares), min_size=1, max_size=4))
def test_a_caption_says_what_a_logarithmic_axis_leaves_out(points: list[tuple[float, float]]) -> None:
    curve = Curves({"one": [(x, y, y - width, y + width) for x, (y, width) in enumerate(points)]}, "made")
    shown = declared_figures._for_axis(curve, "y").points.get("one", [])
    said = declared_figures._cut([curve], "y")
    assert ("no place" in said) == (len(shown) < len(points))
    lows = {x: low for x, _, low, _ in curve.points["one"]}
    assert ("are cut" in said) >= any(low != lows[x] for x, _, low, _ in shown)
    assert declared_figures._cut([curve], "x") == ""


@given(st.lists(st.tuples(positive, positive, positive), min_size=4, max_size=4), shares, shares)
def test_every_line_through_two_intervals_has_a_power_between_the_least_and_the_largest(
    made: list[tuple[float, float, float]], first: float, last: float
) -> None:
    points = [(10.0**i, middle, min(one, other), max(one, other)) for i, (one, middle, other) in enumerate(made)]
    least, largest = titles._powers(points)
    (x, _, *one), (z, _, *other) = points[0], points[-1]
    octaves = math.log(z / x)
    start, end = (ends[0] + share * (ends[1] - ends[0]) for ends, share in ((one, first), (other, last)))
    assert least - 1e-9 <= math.log(end / start) / octaves <= largest + 1e-9
    extremes = [math.log(b / a) / octaves for a in one for b in other]
    assert (least, largest) == (pytest.approx(min(extremes)), pytest.approx(max(extremes)))


@given(st.lists(st.tuples(st.integers(1, 3), st.booleans(), st.one_of(st.none(), shares)), max_size=8), st.booleans())
def test_what_is_certified_is_the_least_of_each_fold_and_of_folds_the_largest(
    rows: list[tuple[int, bool, float | None]], held_out: bool
) -> None:
    made: list[Row] = [
        {"fold": fold, "bound": results_section.HELD_OUT if own else "erm", "risk": risk} for fold, own, risk in rows
    ]
    by_fold: dict[int, list[float]] = {}
    for fold, own, risk in rows:
        if own is held_out and risk is not None:
            by_fold.setdefault(fold, []).append(risk)
    found = results_section._tightest(made, held_out=held_out)
    assert (None if found is None else found["risk"]) == max(map(min, by_fold.values()), default=None)


def study(folder: Path, configuration: str = "", **tables: Any) -> studied.Study:
    """A study with these tables and a learner "a", a control "b", and the control "c" that sees the labels."""
    (folder / "tables").mkdir(exist_ok=True)
    for name, rows in tables.items():
        frame = pl.DataFrame(rows, schema=SUMMARY, orient="row") if name == "summary" else pl.DataFrame(rows)
        storage.write_table(folder / f"tables/{name}.parquet", frame)
    models = [
        {"model": one, "title": one, "algorithm": "ideal" if one == "c" else one, "control": one in "bc"}
        for one in "adbc"
    ]
    storage.write_json(folder / "models.json", {"models": models})
    storage.write_text(folder / "configuration.yaml", configuration or "study: made\n")
    return studied.Study(ResultsFolder.at(folder))


def summary(means: dict[str, float], measure: str = "map") -> list[tuple[Any, ...]]:
    return [("mine", model, measure, value, None, value, value, 5, 20) for model, value in means.items()]


@pytest.mark.parametrize("level", [0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_a_p_value_at_the_level_of_the_study_is_significant(tmp_path: Path, level: float) -> None:
    found = study(tmp_path, f"study: made\nstatistics: {{level: {level}}}\n")
    least = float(f"{1.0 - level:.3g}")
    assert found.significance == least
    for p, significant in ((least, True), (1.001 * least, False), (None, False)):
        assert found.is_significant({"p_adjusted": p, "p_value": 0.0}) is significant


def test_the_best_control_is_one_that_somebody_can_choose(tmp_path: Path) -> None:
    found = study(tmp_path, summary=summary({"a": 0.5, "b": 0.4, "c": 1.0}))
    assert found.best_control("mine", "map") == "b"
    assert found.rankers("mine", "map") == ["a", "b"]


def test_differences_that_would_have_been_found_are_those_of_tests_without_a_result(tmp_path: Path) -> None:
    values = {"a": 0.5, "d": 0.45, "b": 0.4, "c": 1.0}
    tests = [
        {
            "dataset": "mine",
            "measure": "map",
            "model_a": one,
            "model_b": other,
            "difference": values[one] - values[other],
        }
        | {"p_value": 0.001, "p_adjusted": p, "detectable": size}
        for one, other, p, size in (
            ("a", "d", 0.06, 0.3),
            ("a", "b", 0.04, 0.2),
            ("d", "b", 0.5, 0.1),
            ("d", "c", 0.5, 0.7),
        )
    ]
    found = study(tmp_path, summary=summary(values), comparisons=tests)
    # of the best learner and of the best control with all others, but for the control that sees the labels
    assert results_section._undecided(found, "mine", "map") == [0.1, 0.3]


@pytest.mark.parametrize("queries", [3, 49, 107, 561])
def test_queries_without_a_relevant_document_are_counted_from_means(tmp_path: Path, queries: int) -> None:
    about = {"dataset": "mine", "model": "c", "measure": "map", "n_queries": queries}
    folds = [{**about, "fold": without, "value": (queries - without) / queries} for without in range(queries)]
    found = study(tmp_path, summary=summary({"c": statistics.fmean(one["value"] for one in folds)}), measures=folds)
    ideal = results_section._ideal(found, "mine", ["map"])
    assert (ideal["without"], ideal["queries"], ideal["below"]) == (sum(range(queries)), queries**2, True)


def test_features_stand_in_the_order_of_their_largest_share_in_one_model(tmp_path: Path) -> None:
    weights = {"a": (5.0, 4.0, -1.0), "b": (0.0, 2.0, -8.0)}
    rows = [
        {"dataset": "mine", "model": model, "fold": 1, "feature": feature, "weight": weight}
        for model, found in weights.items()
        for feature, weight in zip("xyz", found, strict=True)
    ]
    table = results_section.weights(study(tmp_path, weights=rows), "mine")
    assert table is not None
    order: Sequence[Any] = [row[0].raw for row in table.rows()]
    largest = {
        feature: max(abs(found["xyz".index(feature)]) / sum(map(abs, found)) for found in weights.values())
        for feature in "xyz"
    }
    assert order == sorted("xyz", key=lambda feature: -largest[feature])


def ends_in_templates() -> Iterator[Any]:
    """What pages declare with an interval: the value beside it, if its name is written there, and both ends."""
    for path in sorted(papers.FOLDER.rglob("*.md")):
        for call in environment(path.parent).parse(path.read_text(encoding="utf-8")).find_all(nodes.Call):
            if not isinstance(call.node, nodes.Name) or call.node.name not in ("col", "curves", "against"):
                continue
            given = {one.key: one.value for one in call.kwargs}
            value = {"col": call.args[:1], "curves": call.args[2:3]}.get(call.node.name, [given.get("ours")])[0]
            for ends in (value, given.get("spread"), given.get("band")):
                if isinstance(ends, nodes.Tuple) and all(isinstance(one, nodes.Const) for one in ends.items):
                    name = value.as_const() if isinstance(value, nodes.Const) else None
                    yield pytest.param(name, ends.as_const(), id=f"{path.parent.name}/{path.name}:{ends.lineno}")


@pytest.mark.parametrize(("value", "ends"), list(ends_in_templates()))
def test_the_ends_of_an_interval_are_those_of_the_value_they_stand_beside(
    value: str | None, ends: tuple[str, ...]
) -> None:
    low, high = ends
    if (value, low, high) == (None, "lambda_u", "next_lambda_u"):  # a range of a parameter, and no interval
        return
    assert (low[-3:], high[-4:]) == ("low", "high")
    assert low[:-3] == high[:-4]
    # Ends without a name are those of the one value of a row.
    assert value is None or low == "low" or f"{value}_".startswith(low[:-3])
