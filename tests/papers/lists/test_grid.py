"""Are gaps, excess risks, exponents and the evidence of `lists` computed as they are described?"""

import math
from collections import defaultdict

import numpy as np
import pytest
from scipy import stats

from pipeline_lib.experiment import Job
from pipeline_lib.papers.lists.grid import experiment as grid
from pipeline_lib.papers.lists.grid import summary
from pipeline_lib.theory import list_bounds
from tests import readings
from tests.papers.jobs import tables
from tests.papers.lists.samples import made_row
from tests.small_settings import SETTINGS, small

LOSSES = SETTINGS["lists"]["grid"]["losses"]


def changed(**settings):
    """The settings of all tests here, but for some."""
    return small("lists", "grid", rate_repetitions=4, **settings)


ASKED = changed()


@pytest.fixture(scope="module")
def rows():
    return [row for loss in LOSSES for row in grid.measure(Job(ASKED, 1, {"loss": loss["name"], "part": "0"}))]


@pytest.fixture(scope="module")
def found(rows):
    return joined(ASKED, rows)


def joined(asked, rows):
    """The tables of the summary; others are empty."""
    return defaultdict(list, tables(summary.joined(asked, rows)))


def test_the_best_ranker_is_measured_on_the_queries_asked_for(monkeypatch):
    part = grid.Slice(ASKED, "listnet", "noisy", 6, 1)
    monkeypatch.setattr(grid, "DOCUMENTS_PER_BLOCK", 100)
    blocks = list(grid._scored_by(part, np.ones(4)))
    assert sum(len(block.offsets) - 1 for block in blocks) == ASKED.best_ranker_queries(6) == 500
    assert max(len(block.y) for block in blocks) <= 100


def test_every_cell_is_measured_with_its_repetitions(rows):
    cells = {(row.loss, row.population, row.m, row.n) for row in rows}
    noisy = {("noisy", m, n) for m in (3, 6, 12) for n in (10, 20, 40) if m * n <= 120}
    assert {cell[1:] for cell in cells if cell[0] == "smooth-dcg"} == noisy
    assert {cell[1:] for cell in cells if cell[0] == "listnet"} == noisy | {("realisable", 3, n) for n in (10, 20, 40)}
    for m, repetitions in ((3, 4), (6, 3)):
        mine = [row for row in rows if (row.loss, row.m, row.n) == ("smooth-dcg", m, 10)]
        assert sorted({row.repetition for row in mine}) == list(range(repetitions))


def test_minimisers_are_certified_and_excess_risks_not_negative(rows):
    certified = [row.certified_gap for row in rows if row.learner in ("erm", "rerm") and row.loss == "listnet"]
    assert max(certified) <= ASKED.tol
    assert min(row.excess for row in rows) >= 0.0
    assert {row.learner for row in rows if row.loss == "smooth-dcg"} == {"erm", "worst"}
    assert max(row.optimal_risk for row in rows if row.population == "realisable") < 1e-6


def test_the_same_seed_gives_the_same_rows():
    few = changed(queries=[10], lengths=[3], realisable_losses=[])
    first, again, other = (list(grid.measure(Job(few, seed, {"loss": "listnet", "part": "0"}))) for seed in (5, 5, 6))
    assert first == again
    assert first != other


def test_samples_share_queries_over_lengths():
    short, long = (grid.Slice(ASKED, "listnet", "noisy", m, 1) for m in (3, 12))
    one, other = (part.population.draw_queries(5, np.random.default_rng(0)) for part in (short, long))
    np.testing.assert_array_equal(one.level, other.level)
    assert short.sample("train", 5, "sample", 0).n_documents == 15


def test_every_claim_gets_its_evidence(found):
    read = ("thm5", "thm6", "thm9", "thm17", "eq8", "m-free", "n-rate", "table1")
    assert all(readings.trials(f"lists-{claim}", found) for claim in read)


def test_bounds_beside_gaps_are_those_of_the_formulas(found):
    [row] = [
        r
        for r in found["lists-cells"]
        if (r["loss"], r["population"], r["m"], r["n"], r["learner"]) == ("listnet", "noisy", 6, 20, "erm")
    ]
    given = {"n": 20, "m": 6, "radius": 2.5, "feature_norm": 1.0, "lipschitz": 2.0, "delta": 0.05}
    assert row["bound_ogd"] == list_bounds.evaluate("ogd", **given)
    assert row["bound_erm"] == list_bounds.evaluate("erm", loss_bound=2 + 2 * 2.5, **given)
    assert row["gap_low"] <= row["gap"] <= row["gap_high"]


def test_cells_hold_how_surely_risks_are_known(rows, found):
    for cell in found["lists-cells"]:
        axes = ("loss", "population", "m", "n", "learner")
        mine = [row for row in rows if all(getattr(row, axis) == cell[axis] for axis in axes)]
        assert cell["relative_risk_error"] == max(row.risk_error / row.risk for row in mine)
        assert cell["risk_error"] == max(row.risk_error for row in mine)
        assert cell["optimal_risk_error"] == mine[0].optimal_risk_error


def test_intervals_of_cells_contain_the_error_of_the_held_out_sample(rows, found):
    for cell in found["lists-cells"]:
        axes = ("loss", "population", "m", "n", "learner")
        mine = [row for row in rows if all(getattr(row, axis) == cell[axis] for axis in axes)]
        for name, own, errors in (("gap", "gap", "risk_error"), ("excess", "excess", "excess_error")):
            values = np.array([getattr(row, own) for row in mine])
            shared = 1.959964 * max(getattr(row, errors) for row in mine)
            half = math.hypot(stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5, shared)
            assert cell[name] == pytest.approx(values.mean())
            assert (cell[f"{name}_high"] - cell[f"{name}_low"]) / 2 == pytest.approx(half, rel=1e-6)
            assert half > shared > 0.0 or cell["learner"] == "worst"


def test_exponents_are_those_of_made_rows():
    made = [
        made_row(loss, m, n, repetition, learner)
        for loss in ("listnet", "smooth-dcg")
        for m in (3, 6, 12)
        for n in (10, 20, 40)
        for repetition in range(4)
        for learner in ("erm", "worst")
    ]
    found = joined(changed(documents_at_most=10**6), made)
    in_m = readings.values("lists-m-free", "gap_exponent_in_m", found)
    in_n = readings.values("lists-n-rate", "pessimistic_exponent", found)
    assert (len(in_m), len(in_n)) == (4, 2)
    assert "from -0.50 to -0.50" in readings.notes("lists-n-rate", found)
    for value in in_m:
        assert value.value == pytest.approx(0.25, abs=1e-9)
        assert value.high - value.low > 0.01  # the held-out error alone
    assert [value.value for value in in_n] == pytest.approx([-0.5] * 2, abs=1e-9)


def excesses(claim, statistic, limit, found):
    """How far the numbers of all trials lie above their limits."""
    values = [trial.values for trial in readings.trials(claim, found)]
    return [one[statistic].value - one[limit] for one in values if statistic in one]


def made_cell(**changes):
    learners = ("erm", "worst", "rerm", "ogd", "smooth-ogd")
    rows = [made_row("listnet", 3, 10, repetition, learner) for repetition in range(3) for learner in learners]
    rows[0] = rows[0].model_copy(update=changes)
    return joined(changed(realisable_losses=[]), rows)


def test_an_excess_risk_of_the_minimiser_above_theorem_9_refutes_it():
    assert max(excesses("lists-thm9", "excess_risk", "excess_bound", made_cell())) < 0.0
    assert max(excesses("lists-thm9", "excess_risk", "excess_bound", made_cell(excess=1e4))) > 0.0


def test_the_excess_risk_has_the_deviation_of_one_ranker_added():
    for trial in readings.trials("lists-thm9", made_cell()):
        added = 7.0 * math.sqrt(math.log(20.0) / 20.0)  # B = y_max + 2 W2 R_X, delta = 0.05, n = 10
        assert trial.values["excess_bound"] == pytest.approx(trial.values["bound"] + added, rel=1e-12)


def test_notes_name_no_more_lengths_than_were_measured():
    made = [made_row("listnet", m, 10, k, w) for m in (3, 6, 12) for k in range(3) for w in ("erm", "worst")]
    exponents = joined(changed(lengths=[3, 6, 12, 500]), made)["lists-exponents"]
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
    rows = [made_row("listnet", 3, 10, k, learner) for learner in ("erm", "worst") for k in range(3)]
    rows[0] = rows[0].model_copy(update={"empirical": 0.0, "risk": 1.1 * low})
    rows[1] = rows[1].model_copy(update={"empirical": 1e6, "risk": 1e6 + 1.2 * low})
    found = joined(changed(realisable_losses=[]), rows)
    assert max(excesses("lists-thm17", "gap", "bound", found)) > 0.0
    assert max(excesses("lists-thm17", "gap", "bound", made_cell())) < 0.0
    # The bound of a cell is that at its mean empirical risk, .5 for all rankers.
    middle = list_bounds.evaluate("optimistic", empirical_risk=0.5, **given)
    assert [cell["bound_optimistic"] for cell in made_cell()["lists-cells"]] == pytest.approx([middle] * 5)


def test_no_convex_loss_means_no_trials():
    asked = changed(losses=LOSSES[1:], realisable_losses=[])
    made = [made_row("smooth-dcg", 3, n, k, w) for n in (10, 20, 40) for k in range(3) for w in ("erm", "worst")]
    results = joined(asked, made)
    without = ("lists-thm5", "lists-thm6", "lists-table1", "lists-eq8", "lists-m-free")
    assert not any(readings.trials(claim, results) for claim in without)
