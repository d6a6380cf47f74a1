"""Do projections, spectra and traces of the objective say what their claims read?"""

import numpy as np
import pytest

from pipeline_lib.papers.cone.cones import experiment as cones
from pipeline_lib.theory.cones import pairs_of
from tests import readings
from tests.papers.cone.samples import sample
from tests.papers.jobs import Given, tables
from tests.small_settings import small

PASSES, FOLD_STEPS = 300, (5, 5000)
CHANGED = {"cones": 3, "bases": [1, 2], "pairs": 40, "fold_steps": 500, "small_passes": PASSES}
CONES = small("cone", "cones", **CHANGED, small_fold_steps=FOLD_STEPS)


def test_claims_on_cones_are_read_and_only_obtuse_cones_break_the_projection() -> None:
    results = tables(cones.measure(Given(CONES, 1, data={"sim": sample(20, 0)})))
    projections = readings.trials("cone-project", results)
    assert {trial.setting["cone"] for trial in projections} == {"acute", "any"}
    for trial in projections:
        assert trial.values["largest_difference_to_nnls"] < 1e-9
        if trial.setting["cone"] == "acute":
            assert trial.values["largest_norm_on_the_negative"] < 1e-9
    descents = readings.trials("cone-descent-corrected", results)
    by_sample = [trial.setting["dataset"] for trial in descents]
    # Three updates and exact blocks: neither one basis step per query nor folding-in that is cut short.
    assert (by_sample.count("sim"), by_sample.count(cones.SMALL)) == (4, 4)
    judged = {(trial.setting["updates"], trial.setting.get("fold_steps")) for trial in descents}
    assert judged == {("whole", CONES.fold_steps), ("whole", FOLD_STEPS[-1]), ("whole", None)}
    assert {trial.setting["method"] for trial in readings.trials("cone-descent", results)} == {"exact"}
    shares = [row["cumulative"] for row in results["cone-spectrum"]]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def test_the_energy_of_the_spectrum_is_that_of_its_first_ten_eigenvalues() -> None:
    shares = [0.5, 0.6, 0.7, 0.8, 0.81, 0.82, 0.83, 0.84, 0.85, 0.86, 0.9, 1.0]
    rows = [
        {"dataset": name, "index": i, "cumulative": s} for name in ("MQ2007", "sim") for i, s in enumerate(shares, 1)
    ]
    [trial] = readings.trials("cone-fig4", {"cone-spectrum": rows})
    assert trial.setting == {"dataset": "MQ2007", "features": 12}
    # The ten smallest of twelve eigenvalues hold what the two largest leave.
    assert trial.values == {
        "energy_of_ten": 0.86,
        "energy_of_three": 0.7,
        "energy_of_the_smallest": pytest.approx(0.4),
        "equal_shares": pytest.approx(10 / 12),
        "eigenvalues_for_nine_tenths": 11,
    }


def test_solved_folding_in_never_raises_the_objective_and_what_is_cut_short_does() -> None:
    sample = cones.drawn(1)
    summaries, rows = {}, {}
    for run in cones.runs(FOLD_STEPS, cones.SMALL_STEP):
        if run.method in ("sg", "eg", "exact"):
            key = (run.method, run.updates, run.fold_steps)
            rows[key] = cones.trace(cones.SMALL, sample, cones.SMALL_BASIS, run, PASSES, 1)
            summaries[key] = cones.summary(rows[key])
    for key in (("sg", "whole", 5000), ("eg", "whole", 5000), ("exact", "whole", None)):
        assert summaries[key].increases == 0, key
        assert (summaries[key].largest_fold_excess or 0.0) < 1e-6, key
    for method in ("sg", "eg"):
        cut = summaries[method, "whole", 5]
        assert cut.increases > 0
        assert (cut.largest_fold_excess or 0.0) > 1e-3
    met = np.array([row.met for row in rows["sg", "whole", 5][1:]])
    assert summaries["sg", "whole", 5].largest_relative_increase == pytest.approx(np.max(met[1:] / met[:-1] - 1))


def test_an_objective_that_reached_zero_does_not_rise_by_rounding() -> None:
    increases = cones.increases(np.array([1.0, 0.0, 1e-30, 0.0]))
    assert increases == {"largest_relative_increase": pytest.approx(1e-18), "increases": 0.0, "steps": 3.0}


@pytest.mark.parametrize("updates", ["whole", "query"])
def test_a_trace_is_summarised_by_its_largest_changes(updates: str) -> None:
    objective, met = [4.0, 2.0, 3.0, 1.0], [None, 4.4, 2.1, 3.9]
    given = {"dataset": "sim", "method": "sg", "updates": updates, "fold_steps": 5, "step": 0.1}
    rows = [
        cones.Trace(**given, pass_=t, objective=objective[t], met=met[t], gap=0.25 if t == 3 else None)
        for t in range(4)
    ]
    found = cones.summary(rows)
    assert (found.first, found.last, found.gap, found.relative_gap) == (4.0, 1.0, 0.25, 0.25)
    if updates == "whole":  # of what is met in the passes, above the objective before each
        assert found.largest_relative_increase == pytest.approx((3.9 - 2.1) / 2.1)
        assert (found.increases, found.steps, found.largest_fold_excess) == (1, 2, pytest.approx(0.9 / 3.0))
    else:
        assert found.largest_relative_increase == pytest.approx(0.5)
        assert (found.increases, found.steps, found.largest_fold_excess) == (1, 3, None)


def test_the_worst_cone_counts() -> None:
    settings = small("cone", "cones", cones=20, features=[3], bases=[2])
    rows = list(cones.projections(settings, 1))
    off = [row.value for row in rows if "off_the_facets" in row.case]
    # On a cone of two vectors in three dimensions, some points have their projection off its edges, and most have not.
    assert set(off) == {0.0, 1.0}


@pytest.mark.parametrize("kind", ["acute", "any"])
def test_random_cones_have_unit_vectors(kind: str) -> None:
    U = cones.random_cone(4, 3, kind, np.random.default_rng(0))
    np.testing.assert_allclose((U**2).sum(axis=0), 1.0)


def test_shares_of_eigenvalues_are_those_of_their_sum() -> None:
    rows = list(cones.eigenvalues("sim", sample(20, 0)))
    values = [row.eigenvalue for row in rows]
    assert values == sorted(values, reverse=True)
    assert [row.cumulative for row in rows] == pytest.approx([sum(values[: i + 1]) / sum(values) for i in range(4)])


def test_queries_are_drawn_at_random_until_they_have_enough_pairs() -> None:
    data = sample(20, 0)
    drawn = [tuple(cones.some_queries(data, 40, np.random.default_rng(seed)).qids) for seed in range(3)]
    assert len(set(drawn)) == 3
    assert all(list(qids) == sorted(qids) for qids in drawn)


def test_some_queries_reach_the_number_of_pairs() -> None:
    data = sample(20, 0)
    chosen = cones.some_queries(data, 40, np.random.default_rng(1))
    pairs = pairs_of(chosen)
    assert 40 <= pairs.sum() < 40 + pairs.max()
    assert cones.some_queries(data, 10**9, np.random.default_rng(1)).n_queries == 20


def test_a_step_that_is_too_long_does_not_descend() -> None:
    rows = cones.trace(cones.SMALL, cones.drawn(1), cones.SMALL_BASIS, cones.TOO_LONG, cones.LONG_PASSES, 1)
    assert cones.summary(rows).increases > 0
