"""Is a plan what the pilot says, and does the command print what the function finds?"""

import html
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pipeline_lib import RankingData, cli, evaluation, learners
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.evaluation import inputs, pilot
from tests.html_page import Page

Table = dict[str, dict[str, float]]


def pilot_of(queries: int = 60, documents: int = 20, seed: int = 0) -> tuple[dict[str, Table], Table]:
    """Runs of which the second is better, and judgements."""
    rng = np.random.default_rng(seed)
    skills, qrels = rng.uniform(0.0, 1.5, queries), {}
    runs: dict[str, Table] = {"bm25": {}, "neural": {}}
    for q, skill in enumerate(skills):
        labels = rng.choice(3, documents, p=[0.6, 0.3, 0.1])
        qrels[f"q{q}"] = {f"d{j}": int(label) for j, label in enumerate(labels)}
        for run, factor in zip(runs.values(), (1.0, 1.3), strict=True):
            scores = factor * skill * labels + rng.normal(size=documents)
            run[f"q{q}"] = {f"d{j}": float(score) for j, score in enumerate(scores)}
    return runs, qrels


def written(folder: Path, runs: dict[str, Table], qrels: Table) -> list[str]:
    for name, run in runs.items():
        lines = [f"{q} Q0 {d} 1 {score} {name}" for q, scores in run.items() for d, score in scores.items()]
        (folder / f"{name}.run").write_text("\n".join(lines) + "\n")
    lines = [f"{q} 0 {d} {label}" for q, labels in qrels.items() for d, label in labels.items()]
    (folder / "qrels.txt").write_text("\n".join(lines) + "\n")
    return [*(str(folder / f"{name}.run") for name in runs), "--qrels", str(folder / "qrels.txt")]


def test_a_plan_is_that_of_the_standard_deviations():
    runs, qrels = pilot_of()
    plan = evaluation.plan_labels(runs, qrels, within=0.02, difference=0.03, judgments=10_000, cost_of_query=5)
    values = inputs.values(runs, qrels).values
    assert [one.name for one in plan.quantities] == ["bm25", "neural", "bm25 - neural"]
    for one, row in zip(plan.quantities, [*values, values[0] - values[1]], strict=True):
        assert one.mean == pytest.approx(row.mean())
        assert one.spread == pilot.spread(row)
        assert one.queries_for_width == pilot.queries_for_width(one.spread.upper, 0.02)
        assert one.of_budget is not None
        assert one.of_budget.queries == 400  # of 20 judgements and 5 for opening each
        assert one.of_budget.half_width == pytest.approx(pilot.half_width(one.spread.upper, 400))
    assert plan.quantities[2].queries_for_difference == pilot.queries_for_power(plan.quantities[2].spread.upper, 0.03)


def test_the_pilot_resampled_to_the_plan_agrees_with_the_formula():
    runs, qrels = pilot_of()
    difference = evaluation.plan_labels(runs, qrels, within=0.02, difference=0.03).quantities[2]
    assert difference.width_resampled is not None
    # the plan takes the upper limit; with the estimate itself the resampled width is the formula's
    expected = pilot.half_width(difference.spread.sd.value, difference.queries_for_width)
    assert difference.width_resampled.half_width == pytest.approx(expected, rel=0.02)
    assert difference.queries_for_difference is not None
    power = pilot.power_of(difference.queries_for_difference, difference.spread.sd.value, 0.03)
    assert difference.power_resampled == pytest.approx(power, abs=0.04)


def test_several_differences_share_the_level():
    runs, qrels = pilot_of()
    runs["third"] = pilot_of(seed=5)[0]["neural"]
    all_pairs = evaluation.plan_labels(runs, qrels, difference=0.03).quantities
    assert [one.level for one in all_pairs] == pytest.approx([1.0 - 0.05 / 3] * 3)
    against = evaluation.plan_labels(runs, qrels, difference=0.03, baseline="neural").quantities
    assert [one.name for one in against] == ["bm25 - neural", "third - neural"]
    assert [one.level for one in against] == pytest.approx([0.975] * 2)


def test_the_depth_of_a_budget_is_that_of_the_judged_documents_that_all_runs_rank():
    runs, qrels = pilot_of()
    for run in runs.values():  # both lack documents that are judged, and rank some that are not
        for scores in run.values():
            scores["d99"] = scores.pop("d0")
    plan = evaluation.plan_labels(runs, qrels, judgments=5_000)
    first, second, difference = plan.depths
    labels = [label for judged in qrels.values() for d, label in judged.items() if d != "d0"]
    scores = [[run[q][d] for q in qrels for d in qrels[q] if d != "d0"] for run in runs.values()]
    lists = pilot.Lists(scores[0], labels, np.arange(0, 60 * 19 + 1, 19))
    found = lists.layers(np.random.default_rng(0))
    assert (first.between_queries.value, first.of_documents.value, first.of_pairs.value) == pytest.approx(found.raw)
    assert difference.loss == pytest.approx(first.loss - second.loss)
    for one in plan.depths:
        assert one.best.queries * one.best.depth <= 5_000
        assert one.best.half_width == min(use.half_width for use in one.curve)
        if one.resampled is not None:  # with the estimate in place of the upper limit
            assert 0.75 < one.resampled / one.best.half_width < 1.1
    assert any("lacks do not count: 60" in note for note in plan.notes)


def test_lists_that_are_too_short_for_a_depth_leave_the_rest_of_the_plan():
    runs, qrels = pilot_of(documents=3)
    plan = evaluation.plan_labels(runs, qrels, judgments=5_000)
    assert not plan.depths
    assert any("depth is not planned" in note for note in plan.notes)
    assert plan.quantities[0].of_budget is not None


def test_rankers_and_their_data_are_a_pilot_too():
    rng = np.random.default_rng(0)
    data = RankingData.from_arrays(rng.random((400, 3)), rng.integers(0, 3, 400), np.repeat(np.arange(40), 10))
    model = learners.create("best-feature").fit(data)
    plan = evaluation.plan_labels((model, data), within=0.05, judgments=1_000)
    assert plan.queries == 40
    assert plan.judgments_per_query == 10.0
    assert plan.depths[0].queries == 40


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({}, ConfigurationError, "found none"),
        ({"difference": 0.1, "runs": 1}, ConfigurationError, "expected two runs"),
        ({"difference": 0.1, "baseline": "neurall"}, DataError, "neural"),
        ({"within": 0.0}, DataError, "within"),
        ({"difference": 1e300}, DataError, "difference: expected a finite number strictly between 0 and 1"),
        ({"within": 0.1, "level": 1.0}, DataError, "level"),
        ({"judgments": 30}, DataError, "enough for two queries"),
        ({"judgments": 100, "cost_of_query": -1.0}, DataError, "cost_of_query"),
        ({"within": 0.1, "queries": 20}, DataError, "at least 30 queries, found 20"),
    ],
)
def test_what_cannot_be_planned_is_refused(asked, error, message):
    runs, qrels = pilot_of(asked.pop("queries", 40))
    some = dict(list(runs.items())[: asked.pop("runs", 2)])
    with pytest.raises(error, match=message):
        evaluation.plan_labels(some, qrels, **asked)


def test_equal_runs_say_nothing_of_their_differences():
    runs, qrels = pilot_of()
    with pytest.raises(DataError, match="first - second: expected values that differ"):
        evaluation.plan_labels({"first": runs["bm25"], "second": runs["bm25"]}, qrels, difference=0.1)


def test_the_command_prints_the_plan(tmp_path, capsys):
    runs, qrels = pilot_of()
    given = written(tmp_path, runs, qrels)
    asked = ["--within", "0.02", "--difference", "0.03", "--judgments", "10000", "--cost-of-query", "5"]
    assert cli.main(["plan-labels", *given, *asked]) == 0
    plan = evaluation.plan_labels(runs, qrels, within=0.02, difference=0.03, judgments=10_000, cost_of_query=5)
    assert capsys.readouterr().out == f"{plan}\n"
    assert cli.main(["plan-labels", *given, *asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(plan.to_dict()))


def test_the_command_takes_rankers_and_their_data(tmp_path, capsys):
    rng = np.random.default_rng(0)
    data = RankingData.from_arrays(rng.random((400, 3)), rng.integers(0, 3, 400), np.repeat(np.arange(40), 10))
    models = [str(tmp_path / f"{name}.json") for name in ("best-feature", "random")]
    for path in models:
        learners.create(Path(path).stem).fit(data).save(path)
    rows = zip(data.y.tolist(), np.repeat(data.qids, 10).tolist(), data.X.tolist(), strict=True)
    lines = [f"{y} qid:{q} " + " ".join(f"{i}:{x!r}" for i, x in enumerate(row, 1)) for y, q, row in rows]
    (tmp_path / "data.txt").write_text("\n".join(lines) + "\n")
    given = ["plan-labels", *models, "--data", str(tmp_path / "data.txt"), "--within", "0.05", "--json"]
    assert cli.main(given) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in found["quantities"]] == [
        "best-feature.json",
        "random.json",
        "best-feature.json - random.json",
    ]
    plan = evaluation.plan_labels((learners.load(models[0]), data), within=0.05)
    assert found["quantities"][0]["mean"] == pytest.approx(plan.quantities[0].mean)
    assert found["queries"] == 40
    (tmp_path / "data.txt.weight").write_text("".join(f"{1 + q % 2}\n" for q in np.repeat(np.arange(40), 10)))
    assert cli.main(given) == 1
    assert "found weights of queries, for which nothing is planned" in capsys.readouterr().err


def test_a_table_with_the_weights_of_training_is_refused(tmp_path, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"qid": np.repeat(np.arange(40), 10), "label": rng.integers(0, 3, 400), "a": rng.random(400)})
    frame["clicks"] = 1.0 + frame["qid"] % 2
    data = RankingData.from_frame(frame, weight="clicks")
    learners.create("best-feature").fit(data).save(tmp_path / "ranker.json")
    given = ["plan-labels", str(tmp_path / "ranker.json"), "--data", str(tmp_path / "data.csv"), "--within", "0.05"]
    frame.to_csv(tmp_path / "data.csv", index=False)
    assert cli.main(given) == 1
    assert "found weights of queries, for which nothing is planned" in capsys.readouterr().err
    frame.drop(columns="clicks").to_csv(tmp_path / "data.csv", index=False)
    assert cli.main(given) == 0


def test_runs_need_judgements_or_data(tmp_path, capsys):
    given = written(tmp_path, *pilot_of())
    assert cli.main(["plan-labels", given[0], "--within", "0.1"]) == 1
    assert "--qrels" in capsys.readouterr().err


def test_a_plan_is_a_table_and_has_curves():
    runs, qrels = pilot_of()
    plan = evaluation.plan_labels(runs, qrels, within=0.02, difference=0.03, judgments=10_000)
    frame = plan.to_pandas()
    assert frame["queries_for_width"].tolist() == [one.queries_for_width for one in plan.quantities]
    assert frame["budget_queries"].tolist() == [500] * 3
    for queries, planned, estimated in plan.widths("neural"):
        assert planned > estimated
        assert planned == pytest.approx(pilot.half_width(plan.quantities[1].spread.upper, queries))
    assert len(repr(plan)) < 100


def test_means_of_a_pilot_without_a_width_are_not_planned_for_a_difference_alone():
    runs, qrels = pilot_of()
    plan = evaluation.plan_labels(runs, qrels, difference=0.03)
    assert [one.name for one in plan.quantities] == ["bm25 - neural"]
    assert math.isfinite(plan.quantities[0].queries_for_difference or math.nan)


def test_the_page_holds_the_text_and_the_curves_and_loads_nothing(tmp_path, capsys):
    given = written(tmp_path, *pilot_of())
    asked = ["--within", "0.02", "--judgments", "10000", "--html", str(tmp_path / "plan.html")]
    assert cli.main(["plan-labels", *given, *asked]) == 0
    text = (tmp_path / "plan.html").read_text()
    page = Page(text)
    assert not page.open
    assert {"figure-widths", "figure-depths"} <= set(page.ids)
    assert all(one.startswith("data:") for one in page.loaded)
    assert html.escape(capsys.readouterr().out.strip(), quote=False) in text.replace("&#39;", "'")
