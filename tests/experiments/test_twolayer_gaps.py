"""Are gaps, their layers and the bounds beside them what they are said to be?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pipeline_lib.claims.evidence import Interval
from pipeline_lib.errors import ConfigurationError
from pipeline_lib.papers.twolayer.computations import complexities, gaps, intervals, risks, samplings, statements
from pipeline_lib.papers.twolayer.experiments.gaps import GapsSettings
from pipeline_lib.papers.twolayer.experiments.samplings import SamplingsSettings
from pipeline_lib.papers.twolayer.experiments.statements import StatementsSettings
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import pair_losses, two_layer_bounds
from pipeline_lib.theory import two_layer_rademacher as rademacher
from tests import readings
from tests.small_settings import SETTINGS

POPULATION = {"features": 3, "label_shares": [0.5, 0.5], "query_noise": 0.5}
SMALL: dict[str, Any] = {
    **SETTINGS["twolayer"]["gaps"],
    "slices": 2,
    "population": POPULATION,
    "radius": 2.0,
    "delta": 0.05,
    "c1": 1.0,
    "losses": ["hinge", "logistic"],
    "middle_documents": 200,
    "risk_queries": 2000,
    "reference_queries": 500,
    "draws": 30,
    "searched_queries": [6],
    "searched_documents": 4,
    "searches": 2,
    "steps": 20,
    "search_queries": 500,
}
# Tables of which a claim reads nothing here.
NONE: dict[str, list[dict[str, Any]]] = {"twolayer-extremes": [], "twolayer-worst-gaps": []}


@pytest.fixture(scope="module")
def rows():
    asked = GapsSettings.parse(SMALL)
    return [row for part in range(2) for row in gaps.measure(asked, 1, part)]


def test_every_cell_gets_a_row_whatever_the_order_of_rows(rows):
    asked = GapsSettings.parse(SMALL)
    found = gaps.join(asked, rows, 1)
    assert found == gaps.join(asked, rows[::-1], 1)
    cells = {(row["loss"], row["queries"], row["documents"]) for row in found.gaps}
    assert len(cells) == len(found.gaps) == 3 * 8
    assert all(row["repetitions"] == row["certified"] == 6 for row in found.gaps)


def test_where_there_is_no_gap_no_share_of_it_remains(rows):
    asked = GapsSettings.parse(SMALL)
    flat = [{**row, **dict.fromkeys(("empirical", "middle", "expected"), 0.3)} for row in rows]
    flat = [{**row, "best_empirical": 0.2, "best_expected": 0.2} for row in flat]
    assert gaps.join(asked, flat, 1).remaining == []
    some = [old if old["loss"] == "logistic" else new for old, new in zip(rows, flat, strict=True)]
    left = gaps.join(asked, some, 1)
    assert [(row["loss"], row["growing"]) for row in left.remaining] == [
        ("logistic", "queries"),
        ("logistic", "documents"),
    ]
    [along_m] = [row for row in left.remaining if row["growing"] == "documents"]
    first, *_, last = (row for row in left.older if row["loss"] == "logistic")
    assert along_m["document_level_bound"] == last["document_level"] / first["document_level"]
    assert along_m["gap"] == pytest.approx(last["gap"] / first["gap"])
    assert along_m["query_level_bound"] == 1.0


def test_limits_are_shares_of_the_first_gap(rows):
    found = gaps.join(GapsSettings.parse(SMALL), rows, 1)
    for row in found.remaining:
        [limit] = [one for one in found.limits if (one["loss"], one["growing"]) == (row["loss"], row["growing"])]
        [first] = [one for one in found.gaps if (one["loss"], one["queries"], one["documents"]) == (row["loss"], 4, 2)]
        assert row["limit"] == pytest.approx(limit["limit"] / first["centred_gap"])


def test_the_largest_errors_are_compared_with_the_bounds(rows):
    tables = {"twolayer-gaps": gaps.join(GapsSettings.parse(SMALL), rows, 1).gaps, **NONE}
    cells = {(row["loss"], row["queries"], row["documents"]): row for row in tables["twolayer-gaps"]}
    largest, means = (
        [trial for trial in readings.trials("two-thm1", tables) if name in trial.values] for name in ("gap", "mean_gap")
    )
    assert [tuple(trial.setting.values()) for trial in largest] == list(cells)
    assert [tuple(trial.setting.values()) for trial in means] == [cell for cell in cells if cell[1:] == (4, 2)]
    for trial in readings.trials("two-thm3", tables)[: len(cells)]:
        row = cells[tuple(trial.setting.values())]
        assert trial.values["document_layer_error"] == row["document_error_largest"]
        assert trial.values["bound"] == row["document_bound"]
        assert trial.values["document_complexity"] + trial.values["document_concentration"] == pytest.approx(
            row["document_bound"]
        )
    for trial in readings.trials("two-thm2", tables):
        own = [row for key, row in cells.items() if key[:2] == (trial.setting["loss"], trial.setting["n"])]
        largest = max(own, key=lambda row: row["query_error_largest"])
        error = trial.values["query_layer_error"]
        assert error.value == largest["query_error_largest"]
        assert error.high - error.value == pytest.approx(2.0 * largest["risk_error"])
        assert trial.values["bound"] == largest["query_bound"]
    # The same largest error with two numbers of documents is one error.
    even = [{**row, "query_error_largest": 0.5} for row in tables["twolayer-gaps"]]
    assert len(readings.trials("two-thm2", {"twolayer-gaps": even, **NONE})) == len({key[:2] for key in cells})


def test_gaps_are_compared_at_the_ends_of_both_lines(rows):
    found = gaps.join(GapsSettings.parse(SMALL), rows, 1)
    trials = readings.trials("two-more", {"twolayer-gaps": found.gaps})
    ends = {"few_queries": (4, 2), "many_queries": (32, 2), "few_documents": (4, 2), "many_documents": (4, 16)}
    for loss in ("hinge", "logistic", "zero-one"):
        [at_ends] = (trial.values for trial in trials if trial.setting == {"loss": loss})
        for name, (n, m) in ends.items():
            [row] = [row for row in found.gaps if (row["loss"], row["queries"], row["documents"]) == (loss, n, m)]
            ends_of_interval = row["centred_gap"], row["centred_gap_low"], row["centred_gap_high"]
            measured = Interval(*ends_of_interval, freedom=row["repetitions"] - 1)
            assert at_ends[f"gap_with_{name}"] == measured


def test_slices_do_not_change_a_repetition(rows):
    whole = gaps.measure(GapsSettings.parse({**SMALL, "slices": 1}), 1, 0)
    key = ("loss", "queries", "documents", "repetition")
    order = {tuple(row[one] for one in key): row for row in rows}
    assert len(whole) == len(rows)
    assert all(order[tuple(row[one] for one in key)] == row for row in whole)


def test_the_layers_add_up_to_the_gap(rows):
    for row in gaps.join(GapsSettings.parse(SMALL), rows, 1).gaps:
        assert row["query_error"] + row["document_error"] == pytest.approx(row["gap"])
        terms = sum(
            row[f"{layer}_{kind}"] for layer in ("query", "document") for kind in ("complexity", "concentration")
        )
        assert terms == pytest.approx(row["bound"])
        assert row["gap_largest"] < row["bound"]


def test_samples_are_nested_and_middle_documents_are_others():
    asked = GapsSettings.parse(SMALL)
    drawn = gaps._drawn(asked, gaps._population(asked), generator("nested", role="train"))
    sizes = [(data.n_queries, data.n_documents // data.n_queries) for data, _ in drawn]
    assert sizes == asked.cells
    largest = drawn[asked.cells.index((4, 16))][0]
    for (n, m), (data, fresh) in zip(asked.cells, drawn, strict=True):
        assert fresh.n_documents == n * max(2, 200 // n)
        for q in range(min(n, 4)):
            mine = data.X[q * m : (q + 1) * m]
            np.testing.assert_array_equal(mine, largest.X[q * 16 : q * 16 + m])
            assert not (fresh.X[:, None] == mine[None]).all(axis=2).any()


def test_the_pool_measures_what_all_pairs_measure():
    population = Population(PopulationSettings.from_mapping(POPULATION))
    data = population.draw(4000, generator("pool", role="truth"), 2)
    weights = np.random.default_rng(1).normal(size=(3, 2))
    for name in pair_losses.LOSSES:
        loss = pair_losses.get(name)
        value, error = risks.Pool.of(data).risk(loss, weights)
        for k in range(2):
            losses = loss.values(data.X64 @ weights[:, k], data.y, data.offsets)
            assert value[k] == pytest.approx(losses.mean())
            assert error[k] == pytest.approx(losses.std() / np.sqrt(4000))


def test_the_best_ranker_has_no_gap_in_the_mean():
    # What is subtracted from gaps must have mean 0: its empirical risk is unbiased for any m.
    population = Population(PopulationSettings.from_mapping(POPULATION))
    loss, w = pair_losses.get("logistic"), np.array([0.5, -1.0, 0.3])
    pool = risks.Pool.of(population.draw(200_000, generator("pool", role="truth"), 2))
    [expected], [error] = pool.risk(loss, w[:, None])
    for m in (2, 5):
        data = population.draw(20_000, np.random.default_rng(m), m)
        losses = loss.values(data.X64 @ w, data.y, data.offsets)
        spread = np.hypot(losses.std() / np.sqrt(len(losses)), error)
        assert abs(losses.mean() - expected) < 4 * spread


def test_estimated_complexities_bound_the_linear_average():
    asked = GapsSettings.parse({**SMALL, "draws": 400})
    found = complexities.Complexities(asked, gaps._population(asked), 1)
    # One pair: E ||d|| times 2 W, by a plain mean over many queries.
    data = gaps._population(asked).draw(20_000, np.random.default_rng(5), 2)
    sign = (data.y[::2] != data.y[1::2])[:, None]
    plain = 2 * 2.0 * np.linalg.norm(sign * (data.X64[::2] - data.X64[1::2]), axis=1).mean()
    linear = found._linear_average("queries", 1)
    assert plain < linear < 1.4 * plain
    hinge = found.of("hinge", "queries")(1)
    assert hinge == pytest.approx(2 * linear + 2.0)


@pytest.mark.parametrize("truth", [0.0, 0.3])
def test_limits_are_found_in_noise(truth):
    rng = np.random.default_rng(0)
    x = np.array([10.0, 40, 160, 320, 640, 1280])
    values = truth + 5 / x - 20 / x**2 + 0.001 * rng.normal(size=(60, 6))
    found = intervals.mean_interval(intervals.limits_at_infinity(x, values))
    assert found.low < truth < found.high
    assert found.high - found.low < 0.01


def test_joint_intervals_hold_all_together():
    rng = np.random.default_rng(2)
    level, missed = intervals.joint_level(10), 0
    for _ in range(400):
        ten = [intervals.mean_interval(rng.normal(size=20), level) for _ in range(10)]
        missed += any(not one.low <= 0.0 <= one.high for one in ten)
    assert 5 <= missed <= 35  # 20 expected; 160 at 95 % each


def test_ratios_by_simulation():
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(300):
        below = 2.0 + rng.normal(size=30)
        above = 0.5 * below + 0.3 * rng.normal(size=30)
        interval = intervals.ratio_interval(above, below)
        inside += interval.low <= 0.5 <= interval.high
    assert 270 <= inside <= 298


STATEMENTS: dict[str, Any] = {
    "draws": 500,
    "radius": 1.0,
    "matrices": 3,
    "budgets": [10, 1000],
    "vc_dimensions": [2, 20],
    "deltas": [0.2, 0.01],
    "c1": [1.0],
}


def test_the_best_plan_is_refuted_with_all_documents_in_the_average(monkeypatch, tmp_path):
    asked = StatementsSettings.parse(STATEMENTS)

    def status(folder):
        found = statements.run(asked, 3)
        tables = {"twolayer-plans": found.plans, "twolayer-uneven-plans": found.uneven}
        return readings.judged("two-budget", tables, STATEMENTS, tmp_path / folder).status

    assert status("right") == "verified"
    wrong = lambda complexity, m: float(np.mean([complexity(int(k)) for k in m]))  # noqa: E731
    monkeypatch.setattr(two_layer_bounds, "_average", wrong)
    assert status("wrong") == "refuted"


def test_a_gap_of_the_other_sign_is_refuted(rows, monkeypatch, tmp_path):
    def status(name, change):
        # A cell whose interval leaves out 0.
        asked = GapsSettings.parse(SMALL)
        [cell, *_] = [row for row in gaps.join(asked, rows, 1).gaps if row["gap_low"] * row["gap_high"] > 0]
        return readings.judged("two-layers", {"twolayer-gaps": [change(cell)]}, SMALL, tmp_path / name).status

    assert status("right", dict) == "verified"
    ends = {"gap": "gap", "gap_low": "gap_high", "gap_high": "gap_low"}
    assert status("one", lambda cell: {**cell, **{end: -cell[other] for end, other in ends.items()}}) == "refuted"
    differences = gaps._differences
    monkeypatch.setattr(gaps, "_differences", lambda rows, greater, lesser: differences(rows, lesser, greater))
    assert status("every", dict) == "refuted"


def test_statements():
    asked = StatementsSettings.parse(STATEMENTS)
    found = statements.run(asked, 3)
    tables = {
        "twolayer-identities": found.identities,
        "twolayer-plans": found.plans,
        "twolayer-uneven-plans": found.uneven,
    }
    apart = readings.values("two-def3", "standard_errors_apart", tables)
    assert (len(apart), max(apart) < 4) == (6, True)
    differences = readings.values("two-eq6", "largest_difference", tables)
    assert (len(differences), max(differences) < 1e-12) == (5, True)
    differences = readings.values("two-budget", "relative_difference", tables)
    assert (len(differences), max(differences) < 1e-5) == (2 * 2 * 2 + 2, True)
    assert min(row["difference_of_start"] for row in found.uneven) > 0.1
    for row in found.plans:
        assert row["queries_of_programme"] == pytest.approx(max(1.0, (row["budget"] / 18) ** 0.25), rel=1e-4)
    assert found == statements.run(asked, 3)
    small = asked.model_copy(update={"budgets": (10,)})
    assert [row["queries"] for row in statements.run(small, 3).uneven] == [5, 5]  # two documents each


def test_misread_definitions_have_one_sign_per_query_or_one_weight():
    pairs = rademacher.Pairs(np.array([[1.0], [2.0], [4.0]]), np.array([0, 0, 1]))
    wrong = statements._misread(pairs)
    both = {name: rademacher.exactly(d, np.full(len(d), 2.0 / len(d)), 1.0) for name, d in wrong.items()}
    # Weights are 1/2, 1/2 and 1: E |a (1/2 + 1) + b 4|, and 2/3 E |a + 2 b + 4 c|.
    assert both == {"signs_of_queries": pytest.approx(4.0), "equal_weights": pytest.approx(2 / 3 * 4.0)}


def test_capacities_and_confidences_are_compared_with_the_next():
    plans = [
        {"budget": 10, "vc_dimension": v, "delta": delta, "c1": 1.0, "queries_by_search": 1000.0 / v - 10.0 * delta}
        | {"queries": 1.0, "queries_of_programme": 2.0}
        for v in (2, 5, 20)
        for delta in (0.2, 0.05, 0.01)
    ]
    trials = readings.trials("two-capacity", {"twolayer-plans": plans})
    assert [(trial.setting["V"], trial.setting["delta"]) for trial in trials] == [
        (v, delta) for v in ("2, 5", "5, 20") for delta in ("0.05, 0.2", "0.01, 0.05")
    ]
    assert {name: value for name, value in trials[0].values.items() if name.startswith("queries_at")} == {
        "queries_at_smaller_capacity": 499.5,
        "queries_at_larger_capacity": 199.5,
        "queries_at_higher_confidence": 499.5,
        "queries_at_lower_confidence": 498.0,
    }


def test_samplings_differ_in_what_they_say():
    asked = SamplingsSettings.parse(
        {
            "population": POPULATION,
            "radius": 2.0,
            "loss": "logistic",
            "queries": [6],
            "documents": [4],
            "repetitions": 5,
            "risk_queries": 500,
            "reference_queries": 200,
        }
    )
    rows = samplings.run(asked, 1)
    values = {row["what"]: row["value"] for row in rows}
    assert list(values) == [samplings.TWO_LAYER, samplings.UNEVEN, samplings.INDEPENDENT, "lengths", "dependence"]
    assert values["lengths"] == pytest.approx(values[samplings.UNEVEN] - values[samplings.TWO_LAYER])
    assert values["dependence"] == pytest.approx(values[samplings.TWO_LAYER] - values[samplings.INDEPENDENT])
    trials = readings.trials("two-nm-sampling", {"twolayer-samplings": rows})
    assert [trial.setting for trial in trials] == [
        {"difference": name, "n": 6, "m": 4} for name in samplings.DIFFERENCES
    ]
    for trial, (name, (two_layer, nm)) in zip(trials, samplings.DIFFERENCES.items(), strict=True):
        compared = {"difference": name, "gap_two_layer": two_layer, "gap_nm": nm}
        for value, what in compared.items():
            [row] = [row for row in rows if row["what"] == what]
            freedom = row["repetitions"] - 1
            assert trial.values[value] == Interval(row["value"], row["low"], row["high"], freedom)
    target = samplings._Target(
        asked, Population(PopulationSettings.from_mapping(POPULATION)), pair_losses.get("hinge"), samplings.UNEVEN, 1
    )
    lengths = target._draw(3000, 4, np.random.default_rng(0), samplings.UNEVEN).documents_per_query
    assert (lengths.min(), lengths.max()) == (2, 6)
    assert lengths.mean() == pytest.approx(4.0, abs=0.1)
    assert (target._draw(3, 4, np.random.default_rng(0), samplings.INDEPENDENT).documents_per_query == 4).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"repetitions": 1}, "repetitions: expected a number >= 2, found 1"),
        ({"documents": [1, 4]}, "documents"),
        ({"more_queries": [8, 16]}, "more_queries: expected numbers above 8"),
        ({"losses": ["hing"]}, "losses.0.: expected 'hinge'"),
        ({"losses": []}, "losses: expected at least 1"),
        ({"queries": [4], "more_queries": [16]}, "more_queries: expected three numbers together with queries"),
        ({"documents": [2], "more_documents": [8]}, "more_documents: expected three numbers together with"),
        ({"delta": 1.0}, "delta"),
        ({"radius": 0.0}, "radius"),
        ({"slice": 2}, "did you mean 'slices'"),
    ],
)
def test_wrong_settings_are_named(change, message):
    with pytest.raises(ConfigurationError, match=message):
        GapsSettings.parse({**SMALL, **change})
