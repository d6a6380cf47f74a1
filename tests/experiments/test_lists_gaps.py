"""Are gaps, excess risks, exponents and the evidence of `lists` computed as they are described?"""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from pipeline_lib import surrogates
from pipeline_lib.claims.evidence import Interval
from pipeline_lib.errors import ConfigurationError, DataError
from pipeline_lib.learners import erm
from pipeline_lib.papers.lists.computations import averages, grid, held_out, intervals, real, sparse, summary, worst_gap
from pipeline_lib.papers.lists.experiments.averages import AveragesSettings
from pipeline_lib.papers.lists.experiments.grid import GridSettings
from pipeline_lib.papers.lists.experiments.real import RealSettings
from pipeline_lib.papers.lists.experiments.sparse import SparseSettings
from pipeline_lib.ranking_data import RankingData
from pipeline_lib.seeds import generator
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import list_bounds
from tests import readings
from tests.small_settings import SETTINGS

LOSSES = [
    {"name": "listnet", "surrogate": "listnet", "options": {}},
    {"name": "smooth-dcg", "surrogate": "smooth-dcg", "options": {"sign": "regret"}},
]
GRID: dict[str, Any] = {**SETTINGS["lists"]["grid"], "rate_repetitions": 4}
ASKED = GridSettings.parse(GRID)


def changed(**settings):
    """The settings of all tests here, but for some."""
    return GridSettings.parse({**GRID, **settings})


@pytest.fixture(scope="module")
def rows():
    return [row for loss in LOSSES for row in grid.run(ASKED, str(loss["name"]), 1)]


@pytest.fixture(scope="module")
def found(rows):
    return summary.run(ASKED, rows, [])


def small(n=40, m=5, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return RankingData.from_arrays(rng.normal(size=(n * m, d)), rng.integers(0, 3, n * m), np.repeat(np.arange(n), m))


def test_risks_by_blocks_are_plain_means(monkeypatch):
    data, rng = small(), np.random.default_rng(1)
    loss, W, w = surrogates.create("listnet"), rng.normal(size=(3, 4)), rng.normal(size=3)
    monkeypatch.setattr(held_out, "DOCUMENTS_PER_BLOCK", 17)
    measured = held_out.risks(loss, data, W, w)
    direct = np.array([held_out.losses(loss, data, W[:, k]) for k in range(4)])
    apart = direct - held_out.losses(loss, data, w)
    np.testing.assert_allclose(measured.value, direct.mean(axis=1), rtol=1e-9)
    np.testing.assert_allclose(measured.standard_error, direct.std(axis=1, ddof=1) / np.sqrt(40), rtol=1e-6)
    np.testing.assert_allclose(measured.difference, apart.mean(axis=1), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(measured.difference_error, apart.std(axis=1, ddof=1) / np.sqrt(40), rtol=1e-6)


def test_known_levels_give_the_intercept_of_a_regression(monkeypatch):
    data, rng = small(n=120), np.random.default_rng(1)
    loss, W, w, levels = surrogates.create("ranksvm"), rng.normal(size=(3, 2)), np.zeros(3), rng.uniform(-1, 1, 120)
    monkeypatch.setattr(held_out, "DOCUMENTS_PER_BLOCK", 17)
    measured = held_out.risks(loss, data, W, w, levels)
    A = np.polynomial.legendre.legvander(levels, 8)
    for k in range(2):
        values = held_out.losses(loss, data, W[:, k])
        slopes, _, _, _ = np.linalg.lstsq(A, values, rcond=None)
        rest = values - A @ slopes
        error = np.sqrt(rest @ rest / (120 - 9) * np.linalg.inv(A.T @ A)[0, 0])
        assert measured.value[k] == pytest.approx(slopes[0], rel=1e-9)
        assert measured.standard_error[k] == pytest.approx(error, rel=1e-6)
    with pytest.raises(DataError, match="at least 90 queries with levels, found 40"):
        held_out.risks(loss, small(n=40), W, w, levels[:40])
    with pytest.raises(DataError, match="one for each of 120 queries"):
        held_out.risks(loss, data, W, w, levels[:40])


def test_a_known_reference_is_a_control_more(monkeypatch):
    data, rng = small(n=150), np.random.default_rng(2)
    loss, W, w, levels = surrogates.create("listnet"), rng.normal(size=(3, 2)), rng.normal(size=3), np.zeros(150)
    levels[:] = rng.uniform(-1, 1, 150)
    monkeypatch.setattr(held_out, "DOCUMENTS_PER_BLOCK", 17)
    known = held_out.Known(0.7, 0.01)
    measured = held_out.risks(loss, data, W, w, levels, known)
    A = np.column_stack([np.polynomial.legendre.legvander(levels, 8), held_out.losses(loss, data, w) - 0.7])
    for k in range(2):
        values = held_out.losses(loss, data, W[:, k])
        slopes, _, _, _ = np.linalg.lstsq(A, values, rcond=None)
        rest = values - A @ slopes
        own = np.sqrt(rest @ rest / (150 - 10) * np.linalg.inv(A.T @ A)[0, 0])
        assert measured.value[k] == pytest.approx(slopes[0], rel=1e-9)
        assert measured.standard_error[k] == pytest.approx(np.hypot(own, 0.01 * slopes[-1]), rel=1e-6)
    # Differences are those without it.
    plain = held_out.risks(loss, data, W, w, levels)
    np.testing.assert_array_equal(measured.difference, plain.difference)


@pytest.mark.parametrize("levels", [None, np.linspace(-1, 1, 100)])
def test_the_reference_itself_has_the_risk_that_is_known(levels):
    data, w, loss = small(n=100), np.ones(3), surrogates.create("listnet")
    measured = held_out.risks(loss, data, w[:, None], w, levels, held_out.Known(0.7, 0.01))
    assert measured.value[0] == pytest.approx(0.7, rel=1e-9)
    assert measured.standard_error[0] == pytest.approx(0.01, rel=1e-6)


def test_a_reference_whose_loss_never_changes_changes_nothing():
    # RankSVM's loss at w = 0 is the number of pairs, the same for all queries.
    y = np.tile([0, 1], 100)
    data = RankingData.from_arrays(np.random.default_rng(3).normal(size=(200, 2)), y, np.repeat(np.arange(100), 2))
    loss, W, levels = surrogates.create("ranksvm"), np.ones((2, 1)), np.linspace(-1, 1, 100)
    plain = held_out.risks(loss, data, W, np.zeros(2), levels)
    known = held_out.risks(loss, data, W, np.zeros(2), levels, held_out.Known(1.0, 0.0))
    np.testing.assert_allclose(known.value, plain.value, rtol=1e-9)
    np.testing.assert_allclose(known.standard_error, plain.standard_error, rtol=0.01)


def test_a_known_reference_makes_risks_surer_and_their_errors_stay_honest():
    population, rng = Population(PopulationSettings(features=3, documents=5)), np.random.default_rng(6)
    loss, best = surrogates.create("listnet"), 2.0 * population.utility
    near, other = best + 0.3 * np.eye(3)[0], -best
    found, errors, plain = [], [], []
    for _ in range(60):
        samples = []
        for n in (200, 4_000):
            queries = population.draw_queries(n, rng)
            samples.append((population.draw_documents(queries, 5, rng), queries.level))
        (data, levels), (large, their_levels) = samples
        block = held_out.Scored((large.X64 @ best)[None, :], large.y, large.offsets, their_levels)
        known = held_out.risk_of_one(loss, [block])
        W = np.column_stack([near, other])
        measured = held_out.risks(loss, data, W, best, levels, known)
        found.append(measured.value)
        errors.append(measured.standard_error)
        plain.append(held_out.risks(loss, data, W, best, levels).standard_error)
    assert np.mean(errors, axis=0)[0] < 0.4 * np.mean(plain, axis=0)[0]
    assert np.mean(errors, axis=0)[1] < 1.05 * np.mean(plain, axis=0)[1]
    # The spread of 60 estimates is within 28 % of what they say of themselves (3 of its standard errors).
    np.testing.assert_allclose(np.std(found, axis=0, ddof=1), np.mean(errors, axis=0), rtol=0.28)


def test_the_best_ranker_is_measured_on_the_queries_asked_for(monkeypatch):
    part = grid.Slice(ASKED, "listnet", "noisy", 6, 1)
    monkeypatch.setattr(grid, "DOCUMENTS_PER_BLOCK", 100)
    blocks = list(grid._scored_by(part, np.ones(4)))
    assert sum(len(block.offsets) - 1 for block in blocks) == ASKED.best_ranker_queries(6) == 500
    assert max(len(block.y) for block in blocks) <= 100


def test_known_levels_make_risks_surer_and_their_errors_stay_honest():
    population, rng = Population(PopulationSettings(features=3)), np.random.default_rng(5)
    loss, W = surrogates.create("listnet"), population.utility[:, None]
    far, errors, plain = [], [], []
    for _ in range(40):
        queries = population.draw_queries(200, rng)
        data = population.draw_documents(queries, 60, rng)
        measured = held_out.risks(loss, data, W, np.zeros(3), queries.level)
        far.append(measured.value[0])
        errors.append(measured.standard_error[0])
        plain.append(held_out.risks(loss, data, W, np.zeros(3)).standard_error[0])
    assert np.mean(errors) < 0.5 * np.mean(plain)
    # The spread of 40 estimates is within a third of what they say of themselves (3 of its standard errors).
    assert np.std(far, ddof=1) == pytest.approx(np.mean(errors), rel=0.34)


@pytest.mark.parametrize("entry", [*LOSSES, {"surrogate": "squared", "options": {}}])
def test_losses_above_their_floor_are_not_negative(entry):
    data, loss = small(), surrogates.create(entry["surrogate"], **entry["options"])
    values = held_out.losses(loss, data, 100.0 * np.random.default_rng(2).normal(size=3))
    assert values.min() >= -1e-12


def test_the_floor_of_listnet_is_attained():
    data, loss = small(), surrogates.create("listnet")
    at_labels = loss.value(data.y.astype(float) + 3.0, data.y, data.offsets)
    np.testing.assert_allclose(at_labels, loss.least(data.y, data.offsets), rtol=1e-12)


def test_the_worst_ranker_found_is_worse_than_zero_and_in_the_ball():
    sample, reference, loss = small(seed=1), small(n=400, seed=2), surrogates.create("listnet")
    w = worst_gap.search(loss, sample, reference, 2.0, 10)
    assert np.linalg.norm(w) <= 2.0 + 1e-12

    def gap(v):
        return float(held_out.losses(loss, reference, v).mean() - held_out.losses(loss, sample, v).mean())

    minimiser = erm.fit(sample, loss, l2=0.0, radius=2.0).w
    assert gap(w) >= max(gap(np.zeros(3)), gap(minimiser))


def test_the_worst_ranker_of_the_l1_ball_is_a_step_uphill_to_a_corner_and_stays_inside():
    sample, reference, loss = small(seed=1), small(n=400, seed=2), surrogates.create("listnet")
    for steps in (2, 10):
        w = worst_gap.search(loss, sample, reference, 2.0, steps, "l1")
        assert np.abs(w).sum() <= 2.0 + 1e-12
    slopes = [
        loss.unchecked(np.zeros(data.n_documents), data.y, data.offsets)[1] @ data.X64 / data.n_queries
        for data in (reference, sample)
    ]
    uphill = slopes[0] - slopes[1]
    j = int(np.argmax(np.abs(uphill)))
    first = worst_gap.search(loss, sample, reference, 2.0, 2, "l1")
    np.testing.assert_array_equal(first, 2.0 * np.sign(uphill[j]) * np.eye(3)[j])


def test_every_cell_is_measured_with_its_repetitions(rows):
    cells = {(row["loss"], row["population"], row["m"], row["n"]) for row in rows}
    noisy = {("noisy", m, n) for m in (3, 6, 12) for n in (10, 20, 40) if m * n <= 120}
    assert {cell[1:] for cell in cells if cell[0] == "smooth-dcg"} == noisy
    assert {cell[1:] for cell in cells if cell[0] == "listnet"} == noisy | {("realisable", 3, n) for n in (10, 20, 40)}
    for m, repetitions in ((3, 4), (6, 3)):
        mine = [row for row in rows if (row["loss"], row["m"], row["n"]) == ("smooth-dcg", m, 10)]
        assert sorted({row["repetition"] for row in mine}) == list(range(repetitions))


def test_minimisers_are_certified_and_excess_risks_not_negative(rows):
    certified = [row["certified_gap"] for row in rows if row["learner"] in ("erm", "rerm") and row["loss"] == "listnet"]
    assert max(certified) <= ASKED.tol
    assert min(row["excess"] for row in rows) >= 0.0
    assert {row["learner"] for row in rows if row["loss"] == "smooth-dcg"} == {"erm", "worst"}


def test_the_realisable_population_has_no_risk(rows):
    assert max(row["optimal_risk"] for row in rows if row["population"] == "realisable") < 1e-6


def test_the_same_seed_gives_the_same_rows():
    few = changed(queries=[10], lengths=[3], realisable_losses=[])
    assert grid.run(few, "listnet", 5) == grid.run(few, "listnet", 5)
    assert grid.run(few, "listnet", 5) != grid.run(few, "listnet", 6)


def test_samples_share_queries_over_lengths():
    short, long = (grid.Slice(ASKED, "listnet", "noisy", m, 1) for m in (3, 12))
    one, other = (part.population.draw_queries(5, np.random.default_rng(0)) for part in (short, long))
    np.testing.assert_array_equal(one.level, other.level)
    assert short.sample("train", 5, "sample", 0).n_documents == 15


def tables_of(results):
    """The tables of the summary; others are empty."""
    named = {"lists-cells": results.cells, "lists-exponents": results.exponents, "lists-on-data": results.on_data}
    return defaultdict(list, named)


def trials(claim, results):
    return readings.trials(claim, tables_of(results))


def test_every_claim_gets_its_evidence(found):
    read = ("thm5", "thm6", "thm9", "thm17", "eq8", "m-free", "n-rate", "table1")
    assert all(trials(f"lists-{claim}", found) for claim in read)


def test_online_descent_is_compared_with_the_bound_for_smooth_losses(found):
    learners = {row["loss"]: row["optimal_risk"] for row in found.cells if row["learner"] == "smooth-ogd"}
    assert {trial.setting["loss"] for trial in trials("lists-eq8", found)} == set(learners) == {"listnet"}
    for trial in trials("lists-eq8", found):
        [row] = [
            row
            for row in found.cells
            if row["learner"] == "smooth-ogd" and all(row[axis] == label for axis, label in trial.setting.items())
        ]
        measured = Interval(row["excess"], row["excess_low"], row["excess_high"], freedom=row["repetitions"] - 1)
        assert trial.values["excess_risk"] == measured
        assert trial.values["bound"] == row["bound_smooth_ogd"]


def test_one_trial_of_the_three_bounds_for_every_cell_of_a_convex_loss(found):
    cells = [(row["population"], row["m"], row["n"]) for row in found.cells if row["loss"] == "listnet"]
    compared = trials("lists-table1", found)
    assert [tuple(trial.setting.values()) for trial in compared] == [
        ("listnet", *cell) for cell in dict.fromkeys(cells)
    ]


def test_bounds_beside_gaps_are_those_of_the_formulas(found):
    [row] = [
        r
        for r in found.cells
        if (r["loss"], r["population"], r["m"], r["n"], r["learner"]) == ("listnet", "noisy", 6, 20, "erm")
    ]
    given = {"n": 20, "m": 6, "radius": 2.5, "feature_norm": 1.0, "lipschitz": 2.0, "delta": 0.05}
    assert row["bound_ogd"] == list_bounds.evaluate("ogd", **given)
    assert row["bound_erm"] == list_bounds.evaluate("erm", loss_bound=2 + 2 * 2.5, **given)
    assert row["gap_low"] <= row["gap"] <= row["gap_high"]


def test_cells_hold_how_surely_risks_are_known(rows, found):
    for cell in found.cells:
        axes = ("loss", "population", "m", "n", "learner")
        mine = [row for row in rows if all(row[axis] == cell[axis] for axis in axes)]
        assert cell["relative_risk_error"] == max(row["risk_error"] / row["risk"] for row in mine)
        assert cell["risk_error"] == max(row["risk_error"] for row in mine)
        assert cell["optimal_risk_error"] == mine[0]["optimal_risk_error"]


def test_exponents_are_those_of_made_rows():
    made = [
        made_row(loss, m, n, repetition, learner)
        for loss in ("listnet", "smooth-dcg")
        for m in (3, 6, 12)
        for n in (10, 20, 40)
        for repetition in range(4)
        for learner in ("erm", "worst")
    ]
    found = summary.run(changed(documents_at_most=10**6), made, [])
    in_m = [t.values["gap_exponent_in_m"] for t in trials("lists-m-free", found) if "gap_exponent_in_m" in t.values]
    in_n = [t.values["pessimistic_exponent"] for t in trials("lists-n-rate", found)]
    assert (len(in_m), len(in_n)) == (4, 2)
    assert "from -0.50 to -0.50" in readings.notes("lists-n-rate", tables_of(found))
    for value in in_m:
        assert isinstance(value, Interval)
        assert value.value == pytest.approx(0.25, abs=1e-9)
        assert value.high - value.low > 0.01  # the held-out error alone
    for value in in_n:
        assert isinstance(value, Interval)
        assert value.value == pytest.approx(-0.5, abs=1e-9)


def excesses(claim, statistic, limit, found):
    """How far the numbers of all trials lie above their limits."""
    values = [trial.values for trial in trials(claim, found)]
    return [one[statistic].value - one[limit] for one in values if statistic in one]


def made_cell(**changes):
    learners = ("erm", "worst", "rerm", "ogd", "smooth-ogd")
    rows = [made_row("listnet", 3, 10, repetition, learner) for repetition in range(3) for learner in learners]
    rows[0] |= changes
    return summary.run(changed(realisable_losses=[]), rows, [])


def test_an_excess_risk_of_the_minimiser_above_theorem_9_refutes_it():
    assert max(excesses("lists-thm9", "excess_risk", "excess_bound", made_cell())) < 0.0
    assert max(excesses("lists-thm9", "excess_risk", "excess_bound", made_cell(excess=1e4))) > 0.0


def test_the_excess_risk_has_the_deviation_of_one_ranker_added():
    for trial in trials("lists-thm9", made_cell()):
        added = 7.0 * math.sqrt(math.log(20.0) / 20.0)  # B = y_max + 2 W2 R_X, delta = 0.05, n = 10
        assert trial.values["excess_bound"] == pytest.approx(trial.values["bound"] + added, rel=1e-12)


def test_notes_name_no_more_lengths_than_were_measured():
    made = [made_row("listnet", m, 10, k, w) for m in (3, 6, 12) for k in range(3) for w in ("erm", "worst")]
    exponents = summary.run(changed(lengths=[3, 6, 12, 500]), made, []).exponents
    named = defaultdict(list, {"lists-exponents": exponents})
    assert "for m from 3 to 12." in readings.notes("lists-m-free", named)
    # Lengths are read from a text with commas between thousands.
    far = [{**row, "points": "12, 1,200, 12,000"} for row in exponents]
    named = defaultdict(list, {"lists-exponents": far})
    assert "for m from 12 to 12000." in readings.notes("lists-m-free", named)
    assert readings.trials("lists-m-free", named)[0].setting["longest"] == 12000


def test_theorem_17_is_held_against_the_ranker_that_comes_nearest_to_its_bound():
    # The bound grows with the empirical risk: the largest gap need not be the one that breaks it.
    given = {"n": 10, "m": 3, "radius": 2.5, "feature_norm": 1.0, "smoothness": 2.0, "loss_bound": 7.0, "delta": 0.05}
    low, high = (list_bounds.evaluate("optimistic", empirical_risk=risk, **given) for risk in (0.0, 1e6))
    assert high > 1.5 * low
    rows = [made_row("listnet", 3, 10, repetition, "erm") for repetition in range(3)]
    rows += [made_row("listnet", 3, 10, repetition, "worst") for repetition in range(3)]
    rows[0] |= {"empirical": 0.0, "risk": 1.1 * low}
    rows[1] |= {"empirical": 1e6, "risk": 1e6 + 1.2 * low}
    found = summary.run(changed(realisable_losses=[]), rows, [])
    assert max(excesses("lists-thm17", "gap", "bound", found)) > 0.0
    assert max(excesses("lists-thm17", "gap", "bound", made_cell())) < 0.0
    # The bound of a cell is that at its mean empirical risk, .5 for all rankers.
    middle = list_bounds.evaluate("optimistic", empirical_risk=0.5, **given)
    assert [cell["bound_optimistic"] for cell in made_cell().cells] == pytest.approx([middle] * 5)


def made_row(loss, m, n, repetition, learner):
    return {
        "loss": loss,
        "population": "noisy",
        "m": m,
        "n": n,
        "repetition": repetition,
        "learner": learner,
        "empirical": 0.5,
        "risk": 0.5 + m**0.25 * n**-0.5,
        "risk_error": 0.01,
        "excess": 1.0 / n,
        "excess_error": 0.001,
        "optimal_risk": 0.1,
        "optimal_risk_error": 0.001,
        "certified_gap": None,
    }


def test_no_convex_loss_means_no_trials():
    asked = changed(losses=LOSSES[1:], realisable_losses=[])
    made = [made_row("smooth-dcg", 3, n, k, w) for n in (10, 20, 40) for k in range(3) for w in ("erm", "worst")]
    results = summary.run(asked, made, [])
    without = ("lists-thm5", "lists-thm6", "lists-table1", "lists-eq8", "lists-m-free")
    assert not any(trials(claim, results) for claim in without)


def test_nothing_measured_is_an_error():
    with pytest.raises(DataError, match="measured gaps"):
        summary.run(ASKED, [], [])


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"delta": 1.0}, "delta"),
        ({"queries": []}, "queries"),
        ({"queries": [1, 10]}, "queries"),
        ({"repetitions": 1}, "repetitions"),
        ({"radius": 0.0}, "radius"),
        ({"tol": 0.2}, "tol"),
        ({"populations": {"noise": {}}}, r"populations: unknown key 'noise'; .*'noisy'"),
        ({"nothing": 1}, "'nothing'"),
        ({"realisable_losses": ["lisnet"]}, r"realisable_losses: .*'lisnet'; .*'listnet'"),
        ({"best_ranker_documents": 599}, "best_ranker_documents"),
        ({"losses": []}, "losses"),
        ({"losses": [*LOSSES, LOSSES[0]]}, "losses"),
        ({"losses": [{"name": "listnet", "surrogate": "lisnet"}]}, r"losses\[0\]\.surrogate: .*'listnet'"),
        ({"losses": [{"surrogate": "listnet"}]}, r"losses\[0\]: .*'name'"),
    ],
)
def test_wrong_settings_are_refused(change, named):
    with pytest.raises(ConfigurationError, match=rf"lists\.grid.*{named}"):
        GridSettings.parse({**GRID, **change}, "lists.grid")


def test_an_unknown_loss_gets_the_nearest():
    with pytest.raises(ConfigurationError, match="listnet"):
        grid.loss_of(ASKED, "listnett")


def test_intervals_add_the_held_out_error():
    assert intervals.of_mean([1.0, 1.0, 1.0], 0.5).high == pytest.approx(1.0 + 1.96 * 0.5, rel=1e-3)
    largest = intervals.of_largest([{"g": 1.0, "e": 0.1}, {"g": 2.0, "e": 0.2}], "g", "e")
    assert (largest.value, largest.low) == (2.0, pytest.approx(2.0 - 1.96 * 0.2, rel=1e-3))


REAL: dict[str, Any] = {**SETTINGS["lists"]["real"], "queries": [10, 20, 400]}


def test_real_samples_and_held_out_queries_do_not_overlap():
    asked, data = RealSettings.parse(REAL), small(n=50)
    rows = real.run(asked, data, "made", 1)
    assert sorted({row["n"] for row in rows}) == [10, 20]
    assert [row["learner"] for row in rows] == ["erm", "worst", "rerm", "ogd"] * 4
    assert all(row["gap"] == pytest.approx(row["risk"] - row["empirical"]) for row in rows)
    assert all(row["certified_gap"] <= 1e-4 for row in rows if row["learner"] in ("erm", "rerm"))
    assert all(row["excess"] <= row["excess_bound"] for row in rows if row["learner"] != "worst")
    assert real.run(asked, data.take(np.arange(15)), "made", 1) == []


def test_what_is_measured_on_data_sets_is_evidence_for_the_same_theorems():
    on_data = real.run(RealSettings.parse(REAL), small(n=50), "made", 1)
    asked = changed(realisable_losses=[])
    rows = [made_row("listnet", 3, 10, k, learner) for k in range(3) for learner in ("erm", "worst", "rerm", "ogd")]
    found = summary.run(asked, rows, on_data)

    def on_made(claim):
        [trial] = [
            one for one in trials(claim, found) if one.setting.get("dataset") == "made" and one.setting["n"] == 20
        ]
        return trial.values

    for claim, learner in (("lists-thm5", "ogd"), ("lists-thm6", "rerm")):
        mine = [row for row in on_data if (row["n"], row["learner"]) == (20, learner)]
        excess = on_made(claim)["excess_risk"]
        assert isinstance(excess, Interval)
        assert excess.value == pytest.approx(np.mean([row["excess"] for row in mine]))
        given = {"n": 20, "m": 3, "lipschitz": 2.0, "radius": 5.0, "feature_norm": 1.0}
        assert on_made(claim)["bound"] == list_bounds.evaluate(learner, **given)
    assert {"bound", "excess_bound", "excess_risk", "gap", "worst_gap"} <= set(on_made("lists-thm9"))


def test_scaled_documents_fit_the_unit_ball():
    norms = np.linalg.norm(real.scaled(small()).X64, axis=1)
    assert norms.max() == pytest.approx(1.0, rel=1e-6)
    with pytest.raises(DataError, match="constant"):
        real.scaled(RankingData.from_arrays([[1.0], [1.0]], [0, 1], [1, 1]))


SPARSE = SparseSettings.parse(SETTINGS["lists"]["sparse"])


def test_the_l1_class_gives_certified_gaps():
    rows = sparse.run(SPARSE, 1)
    assert len(rows) == 12
    assert max(row["certified_gap"] for row in rows if row["learner"] == "erm") <= 1e-2
    assert max(row["best_certified_gap"] for row in rows) <= 1e-6


@pytest.mark.parametrize(("named", "value"), [("features", [2, 5, 50]), ("held_out_queries", 80)])
def test_wrong_settings_of_the_l1_class_are_refused(named, value):
    with pytest.raises(ConfigurationError, match=named):
        SparseSettings.parse({**SPARSE.plain(), named: value})


def test_theorem_12_is_judged_by_gap_worst_gap_and_excess_risk():
    rows = sparse.run(SPARSE, 1)
    [first, *_] = readings.trials("lists-thm12", defaultdict(list, {"lists-sparse": rows}), SPARSE.plain())
    mine = [row for row in rows if row["d"] == 5]
    for learner, statistic, column in (
        ("erm", "gap", "gap"),
        ("worst", "worst_gap", "gap"),
        ("erm", "excess_risk", "excess"),
    ):
        value = first.values[statistic]
        assert isinstance(value, Interval)
        assert value.value == max(row[column] for row in mine if row["learner"] == learner)
    added = 6.0 * math.sqrt(math.log(20.0) / 20.0)  # B = y_max + 2 W1 R_X, delta = 0.05, n = 10
    assert first.values["excess_bound"] == pytest.approx(first.values["bound"] + added, rel=1e-12)
    assert first.values["largest"] == 6.0


def test_held_out_queries_of_the_l1_class_are_drawn_in_blocks(monkeypatch):
    population = sparse._population(SPARSE, 50)
    W = np.random.default_rng(0).normal(size=(50, 2))
    monkeypatch.setattr(sparse, "NUMBERS_PER_BLOCK", 4 * 50 * 30)
    scores, levels, held = sparse._held_out(population, W, generator("held out", role="test"), 100)
    rng, whole, known = generator("held out", role="test"), [], []
    for n in (30, 30, 30, 10):
        queries = population.draw_queries(n, rng)
        known.append(queries.level)
        whole.append(population.draw_documents(queries, 4, rng))
    X = np.concatenate([data.X for data in whole])
    np.testing.assert_allclose(scores, (X.astype(np.float64) @ W).T, rtol=1e-12)
    np.testing.assert_array_equal(levels, np.concatenate(known))
    np.testing.assert_array_equal(held.X, X[:, population.utility != 0.0])
    assert (held.n_queries, held.n_features) == (100, 3)


class Mirrored(np.random.Generator):
    """A generator that draws xi_j with the other sign."""

    def __init__(self, seed, j):
        super().__init__(np.random.PCG64(seed))
        self._j = j

    def random(self, shape):
        drawn = super().random(shape)
        drawn[:, self._j] = 1.0 - drawn[:, self._j]
        return drawn


def test_features_that_do_not_matter_have_no_sign():
    # The map of the module's first lines: it keeps the law of all that is drawn, and all labels, and turns one feature.
    population = Population(PopulationSettings(features=6, documents=9, active=2, query_noise=1.0))
    j = int(np.flatnonzero(population.utility == 0.0)[0])
    queries = population.draw_queries(200, np.random.default_rng(3))
    centre = queries.centre.copy()
    centre[:, j] *= -1.0
    sign = np.where(queries.taste == j, -queries.sign, queries.sign)
    assert (queries.taste == j).any()
    turned = dataclasses.replace(queries, centre=centre, sign=sign)
    plain = population.draw_documents(queries, 9, np.random.default_rng(4))
    other = population.draw_documents(turned, 9, Mirrored(4, j))
    D = np.where(np.arange(6) == j, -1.0, 1.0)
    np.testing.assert_array_equal(other.y, plain.y)
    np.testing.assert_allclose(other.X, plain.X * D, atol=1e-6)
    # A feature that matters has a sign: the labels stay, other features move.
    i = int(np.flatnonzero(population.utility)[0])
    moved = population.draw_documents(queries, 9, Mirrored(4, i))
    assert np.abs(moved.X - plain.X * np.where(np.arange(6) == i, -1.0, 1.0)).max() > 0.01


def test_the_best_ranker_of_the_l1_ball_needs_no_other_feature():
    population = Population(PopulationSettings(features=8, documents=5, active=2))
    data = population.draw(20_000, np.random.default_rng(5))
    loss, matter = surrogates.create("listnet"), population.utility != 0.0
    given = {"l2": 0.0, "radius": 2.5, "ball": "l1", "tol": 1e-8}
    whole = erm.fit(data, loss, **given)
    few = erm.fit(RankingData(np.ascontiguousarray(data.X[:, matter]), data.y, data.offsets, data.qids), loss, **given)
    fresh = population.draw(20_000, np.random.default_rng(6))
    padded = np.zeros(8)
    padded[matter] = few.w
    apart = held_out.losses(loss, fresh, whole.w) - held_out.losses(loss, fresh, padded)
    assert apart.mean() > -3.0 * apart.std(ddof=1) / math.sqrt(len(apart))


def test_estimates_of_averages_stay_below_their_bounds():
    asked = AveragesSettings.parse(SETTINGS["lists"]["averages"])
    found = averages.run(asked, 1)
    assert {row["class"] for row in found.averages} == {"l2", "l1", "local"}
    assert all(row["found"] < row["integral"] for row in found.averages)
    assert all(row["log2_packing_found"] <= row["log2_covering_bound"] for row in found.coverings)
    assert len(found.closed_forms) == 6
    tables = {"lists-coverings": found.coverings, "lists-closed-forms": found.closed_forms}
    named = defaultdict(list, {**tables, "lists-rademacher": found.averages})
    packed = readings.trials("lists-prop7", named, asked.plain())
    of_l2 = [row for row in found.coverings if row["class"] == "l2"]
    assert [trial.values["log2_packing"] for trial in packed] == [row["log2_packing_found"] for row in of_l2]
    assert all(row["cut_integral"] <= row["integral"] * (1 + 1e-9) for row in found.closed_forms)
    assert all(row["cut_integral"] <= row["closed_form"] for row in [*found.closed_forms, *found.averages])
    ratios = [row["closed_form"] / row["integral"] for row in found.closed_forms if row["corollary"] != 11]
    read = readings.values("lists-cor8-proof", "closed_form_over_integral", named)
    assert sorted(read) == sorted(ratios)
