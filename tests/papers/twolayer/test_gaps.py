"""Are gaps, their layers and the bounds beside them what they are said to be?"""

from operator import attrgetter
from typing import Any

import numpy as np
import pytest

from pipeline_lib.core.errors import DataError
from pipeline_lib.core.seeds import generator
from pipeline_lib.data.rows import Row, check, frame
from pipeline_lib.papers.twolayer import risks
from pipeline_lib.papers.twolayer.gaps import experiment as gaps
from pipeline_lib.papers.twolayer.gaps.experiment import GapsSettings, Measured
from pipeline_lib.statistics import Interval
from pipeline_lib.theory import pair_losses
from tests import readings
from tests.papers.jobs import Given, tables
from tests.small_settings import small

POPULATION = {"features": 3, "label_shares": [0.5, 0.5], "query_noise": 0.5}
SMALL: dict[str, Any] = {
    "slices": 2,
    "population": POPULATION,
    "radius": 2.0,
    "losses": ["hinge", "logistic"],
    "middle_documents": 200,
    "risk_queries": 2000,
    "reference_queries": 500,
    "draws": 30,
}
# Tables of which a claim reads nothing here.
NONE: dict[str, list[dict[str, Any]]] = {"twolayer-extremes": []}


@pytest.fixture(scope="module")
def rows():
    return measured(small("twolayer", "gaps", **SMALL), 2)


def measured(asked: GapsSettings, slices: int) -> list[Measured]:
    return [row for part in range(slices) for row in gaps.measure(Given(asked, 1, {"slice": str(part)}))]


def joined(rows: list[Measured]) -> dict[str, list[dict[str, Any]]]:
    """The tables of all that was measured."""
    found: list[Row] = list(gaps.join(Given(small("twolayer", "gaps", **SMALL), 1, earlier=rows)))
    return {"twolayer-remaining": [], **tables(found)}


def test_every_cell_gets_a_row_whatever_the_order_of_rows(rows):
    found = joined(rows)
    assert found == joined(rows[::-1])
    cells = {(row["loss"], row["queries"], row["documents"]) for row in found["twolayer-gaps"]}
    assert len(cells) == len(found["twolayer-gaps"]) == 3 * 8
    assert all(row["repetitions"] == row["certified"] == 6 for row in found["twolayer-gaps"])


def test_where_there_is_no_gap_no_share_of_it_remains(rows):
    same = dict.fromkeys(("empirical", "middle", "expected"), 0.3) | {"best_empirical": 0.2, "best_expected": 0.2}
    flat = [row.model_copy(update=same) for row in rows]
    assert joined(flat)["twolayer-remaining"] == []
    some = [old if old.loss == "logistic" else new for old, new in zip(rows, flat, strict=True)]
    left = joined(some)
    assert [(row["loss"], row["growing"]) for row in left["twolayer-remaining"]] == [
        ("logistic", "queries"),
        ("logistic", "documents"),
    ]
    [along_m] = [row for row in left["twolayer-remaining"] if row["growing"] == "documents"]
    first, *_, last = (row for row in left["twolayer-older-bounds"] if row["loss"] == "logistic")
    assert along_m["document_level_bound"] == last["document_level"] / first["document_level"]
    assert along_m["gap"] == pytest.approx(last["gap"] / first["gap"])
    assert along_m["query_level_bound"] == 1.0


def test_the_largest_errors_are_compared_with_the_bounds(rows):
    made = {"twolayer-gaps": joined(rows)["twolayer-gaps"], **NONE}
    cells = {(row["loss"], row["queries"], row["documents"]): row for row in made["twolayer-gaps"]}
    largest, means = (
        [trial for trial in readings.trials("twolayer-thm1", made) if name in trial.values]
        for name in ("gap", "mean_gap")
    )
    assert [tuple(trial.setting.values()) for trial in largest] == list(cells)
    assert [tuple(trial.setting.values()) for trial in means] == [cell for cell in cells if cell[1:] == (4, 2)]
    for trial in readings.trials("twolayer-thm3", made)[: len(cells)]:
        row = cells[tuple(trial.setting.values())]
        assert trial.values["document_layer_error"] == row["document_error_largest"]
        assert trial.values["bound"] == row["document_bound"]
        assert trial.values["document_complexity"] + trial.values["document_concentration"] == pytest.approx(
            row["document_bound"]
        )
    for trial in readings.trials("twolayer-thm2", made):
        own = [row for key, row in cells.items() if key[:2] == (trial.setting["loss"], trial.setting["n"])]
        largest = max(own, key=lambda row: row["query_error_largest"])
        error = trial.values["query_layer_error"]
        assert error.value == largest["query_error_largest"]
        assert error.high - error.value == pytest.approx(2.0 * largest["risk_error"])
        assert trial.values["bound"] == largest["query_bound"]
    # The same largest error with two numbers of documents is one error.
    even = [{**row, "query_error_largest": 0.5} for row in made["twolayer-gaps"]]
    assert len(readings.trials("twolayer-thm2", {"twolayer-gaps": even, **NONE})) == len({key[:2] for key in cells})


def test_a_mean_in_the_place_of_a_largest_error_is_refused(rows):
    asked = small("twolayer", "gaps", **SMALL)
    found = [row for row in gaps.join(Given(asked, 1, earlier=rows)) if isinstance(row, gaps.Gap)]
    check("gaps", frame(found, gaps.Gap), gaps.Gap)
    for name in ("gap", "query_error", "document_error"):
        means = [row.model_copy(update={f"{name}_largest": getattr(row, name).value}) for row in found]
        with pytest.raises(DataError, match=rf"gaps: expected .* <= {name}_largest in every row, found 24 of 24 rows"):
            check("gaps", frame(means, gaps.Gap), gaps.Gap)


def test_gaps_are_compared_at_the_ends_of_both_lines(rows):
    found = joined(rows)["twolayer-gaps"]
    trials = readings.trials("twolayer-more", {"twolayer-gaps": found})
    ends = {"few_queries": (4, 2), "many_queries": (32, 2), "few_documents": (4, 2), "many_documents": (4, 16)}
    for loss in ("hinge", "logistic", "zero-one"):
        [at_ends] = (trial.values for trial in trials if trial.setting == {"loss": loss})
        for name, (n, m) in ends.items():
            [row] = [row for row in found if (row["loss"], row["queries"], row["documents"]) == (loss, n, m)]
            ends_of_interval = row["centred_gap"], row["centred_gap_low"], row["centred_gap_high"]
            measured = Interval(*ends_of_interval, freedom=row["repetitions"] - 1)
            assert at_ends[f"gap_with_{name}"] == measured


def test_slices_do_not_change_a_repetition(rows):
    whole = measured(small("twolayer", "gaps", **{**SMALL, "slices": 1}), 1)
    key = attrgetter("loss", "queries", "documents", "repetition")
    assert sorted(whole, key=key) == sorted(rows, key=key)


def test_the_layers_add_up_to_the_gap(rows):
    for row in joined(rows)["twolayer-gaps"]:
        assert row["query_error"] + row["document_error"] == pytest.approx(row["gap"])
        terms = [row[f"{layer}_{kind}"] for layer in ("query", "document") for kind in ("complexity", "concentration")]
        assert sum(terms) == pytest.approx(row["bound"])
        assert row["gap_largest"] < row["bound"]


def test_samples_are_nested_and_middle_documents_are_others():
    asked = small("twolayer", "gaps", **SMALL)
    drawn = gaps._drawn(asked, risks.population(asked.population), generator("nested", role="train"))
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
    population = risks.population(POPULATION)
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
    population = risks.population(POPULATION)
    loss, w = pair_losses.get("logistic"), np.array([0.5, -1.0, 0.3])
    pool = risks.Pool.of(population.draw(200_000, generator("pool", role="truth"), 2))
    [expected], [error] = pool.risk(loss, w[:, None])
    for m in (2, 5):
        data = population.draw(20_000, np.random.default_rng(m), m)
        losses = loss.values(data.X64 @ w, data.y, data.offsets)
        spread = np.hypot(losses.std() / np.sqrt(len(losses)), error)
        assert abs(losses.mean() - expected) < 4 * spread


def test_estimated_complexities_bound_the_linear_average():
    asked = small("twolayer", "gaps", **{**SMALL, "draws": 400})
    found = gaps._complexities(asked, 1)
    # One pair: E ||d|| times 2 W, by a plain mean over many queries.
    data = risks.population(asked.population).draw(20_000, np.random.default_rng(5), 2)
    sign = (data.y[::2] != data.y[1::2])[:, None]
    plain = 2 * 2.0 * np.linalg.norm(sign * (data.X64[::2] - data.X64[1::2]), axis=1).mean()
    linear = found._linear_average("queries", 1)
    assert plain < linear < 1.4 * plain
    hinge = found.of("hinge", "queries")(1)
    assert hinge == pytest.approx(2 * linear + 2.0)


def test_estimates_of_a_complexity_agree_within_their_stated_error():
    draws = 8_000
    asked = small("twolayer", "gaps", **{**SMALL, "draws": draws})
    data = risks.population(asked.population).draw(40_000, np.random.default_rng(5), 2)
    label = data.y.astype(float)
    pairs = np.sign(label[::2] - label[1::2])[:, None] * (data.X64[::2] - data.X64[1::2])
    lengths = [2.0 * np.linalg.norm(pairs[::2] + sign * pairs[1::2], axis=1) for sign in (1, -1)]
    exact, error = np.mean(lengths), np.std(lengths) / np.sqrt(draws)
    found = [gaps._complexities(asked, seed)._linear_average("queries", 2) for seed in range(8)]
    # If all draws had the same signs, seeds would differ by as much as the two patterns of signs do.
    assert abs(np.mean(lengths[0]) - np.mean(lengths[1])) > 6 * error
    assert np.std(found) < 2 * error
    assert np.abs(np.array(found) - (exact + 3 * error)).max() < 5 * error
