"""Do numbers that separate code recomputes agree with the published ones, and does it see numbers that are wrong?

The wrong ones are those that no verdict noticed: each changes tables or cards, and moves no status.
"""

import json
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from pipeline_lib import cli, papers
from pipeline_lib.claims import ledger, reading
from pipeline_lib.commands import summarise_results
from pipeline_lib.core import storage
from pipeline_lib.core.errors import DataError
from pipeline_lib.data.rows import Row, frame
from pipeline_lib.experiment import Job
from pipeline_lib.papers.lists.grid import experiment as grid
from pipeline_lib.papers.lists.grid import summary
from pipeline_lib.papers.lists.grid.settings import CellSummary, PowerLaw
from pipeline_lib.papers.lists.grid.settings import Measured as OfGrid
from pipeline_lib.papers.slam.practice import experiment as practice
from pipeline_lib.papers.topk.regret import experiment as regret
from pipeline_lib.papers.twolayer.gaps import experiment as gaps
from pipeline_lib.recompute import cards, expressions, whole
from pipeline_lib.recompute.arithmetic import student
from pipeline_lib.recompute.comparison import Comparison
from pipeline_lib.recompute.expressions import Database
from pipeline_lib.statistics import mean_interval
from tests import readings
from tests.papers.jobs import Given
from tests.small_settings import small

SEED = 2026
STATISTICS = {"level": 0.95, "resamples": 100}
SETTINGS = {
    "topk": {"regret": small("topk", "regret", bandit_rounds=200, bandit_factors=[1.0])},
    "twolayer": {"gaps": small("twolayer", "gaps")},
    "lists": {"grid": small("lists", "grid")},
}
PLAIN = {
    paper: {name: of.get(name, one.settings()).plain() for name, one in papers.experiments(paper).items()}
    for paper, of in SETTINGS.items()
}
CLAIMS = ("topk-thm41", "topk-eq5", "twolayer-thm1", "twolayer-thm2", "twolayer-thm3")
MODELS = [
    {"model": "slam", "title": "SLAM", "algorithm": "erm", "surrogate": "slam-map", "control": False, "settings": {}},
    {
        "model": "averaged",
        "title": "SLAM",
        "algorithm": "perceptron",
        "surrogate": None,
        "control": False,
        "settings": {},
    },
    {
        "model": "listnet",
        "title": "ListNet",
        "algorithm": "erm",
        "surrogate": "listnet",
        "control": False,
        "settings": {},
    },
]


def store(path: Path, rows: Iterable[Row], kind: type[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    storage.write_table(path, frame(list(rows), kind))


def store_tables(results: Path, rows: Iterable[Row], *kinds: type[Row]) -> None:
    made = list(rows)
    for kind in kinds:
        store(results / f"{kind.table}.parquet", [row for row in made if type(row) is kind], kind)


def judge(folder: Path, claims: Iterable[ledger.Claim] = ()) -> None:
    """Judge some claims, by default :data:`CLAIMS`, by the tables that there are."""
    tables = sorted((folder / "results/made/tables").glob("*.parquet"))
    context = ledger.Context("made", tables=tables, settings=PLAIN)
    chosen = list(claims) or [one for one in readings.ledger_of_claims() if one.id in CLAIMS]
    (folder / "reports/made").mkdir(parents=True, exist_ok=True)
    ledger.write(folder / "reports/made/claims.json", ledger.judge(chosen, context), context)


def evaluations_of(results: Path) -> list[Path]:
    return sorted((results / "evaluation/made").glob("*.parquet"))


def practised(results: Path) -> list[practice.Comparison]:
    inputs = {"evaluations": evaluations_of(results), "files": [results / "models.json"]}
    return list(practice.measure(Job(None, SEED, facts={"statistics": STATISTICS}, **inputs)))


def evaluate(results: Path) -> None:
    """Evaluations of the models on two folds, and the tables of their measures."""
    storage.write_json(results / "models.json", {"models": MODELS})
    storage.write_json(results / "availability.json", {"datasets": [{"dataset": "made", "status": "present"}]})
    rng, n = np.random.default_rng(1), 12
    for model in MODELS:
        columns = {"dataset": ["made"] * n, "model": [model["model"]] * n, "fold": [1, 2] * (n // 2)}
        numbered = {"query": list(range(n)), "qid": [str(i) for i in range(n)]}
        path = results / f"evaluation/made/{model['model']}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        storage.write_table(path, pl.DataFrame({**columns, **numbered, practice.MEASURE: rng.random(n)}))
    found = summarise_results.read_evaluations(evaluations_of(results))
    measures = summarise_results.measure_table(found)
    storage.write_table(results / "tables/measures.parquet", measures)
    storage.write_table(
        results / "tables/summary.parquet", summarise_results.summary_table(found, measures, 0.95, 100, SEED)
    )
    store(results / "tables/slam-practice.parquet", practised(results), practice.Comparison)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results and the report of a made study."""
    folder = tmp_path_factory.mktemp("made")
    results = folder / "results/made"
    topk, layers, lists = SETTINGS["topk"]["regret"], SETTINGS["twolayer"]["gaps"], SETTINGS["lists"]["grid"]
    played = list(regret.measure(Given(topk, SEED, {"slice": "0"})))
    store(results / "slices/topk-regret/0.parquet", played, regret.Played)
    kinds = (regret.Regret, regret.Exponent, regret.Exploration, regret.Bandit)
    store_tables(results, regret.join(Given(topk, SEED, earlier=played)), *kinds)
    measured = list(gaps.measure(Given(layers, SEED, {"slice": "0"})))
    store(results / "slices/twolayer-gaps/0.parquet", measured, gaps.Measured)
    store_tables(results, gaps.join(Given(layers, SEED, earlier=measured)), gaps.Gap, gaps.Older, gaps.Remaining)
    found: list[OfGrid] = []
    for loss in lists.losses:
        of_loss = list(grid.measure(Given(lists, SEED, {"loss": loss.name, "part": "0"})))
        store(results / f"slices/lists-grid/{loss.name}-0.parquet", of_loss, OfGrid)
        found += of_loss
    store_tables(results, grid.join(Given(lists, SEED, earlier=found)), CellSummary, PowerLaw)
    evaluate(results)
    storage.write_text(
        results / "configuration.yaml", yaml.safe_dump({"experiments": {**PLAIN, "slam": {}}, "statistics": STATISTICS})
    )
    judge(folder)
    return folder


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    """A copy of it to damage."""
    return Path(shutil.copytree(made, tmp_path / "copy"))


def found_in(folder: Path) -> Comparison:
    return whole.recomputed(folder / "results/made", folder / "reports/made")


def damage(folder: Path, table: str, **columns: Any) -> None:
    """Replace columns of a table by expressions, and judge the claims by it."""
    path = folder / f"results/made/tables/{table}.parquet"
    storage.write_table(path, storage.read_table(path).with_columns(**columns))
    judge(folder)


def differing(folder: Path) -> set[tuple[str, str]]:
    """Tables and cards with the columns in which something differs."""
    differences = found_in(folder).differences
    return {(name, one.column) for name, found in differences.items() for one in found}


def test_all_numbers_of_an_undamaged_study_agree(made: Path) -> None:
    found = found_in(made)
    assert list(whole.lines(found)) == []
    expected = {"topk-exponents", "lists-cells", "twolayer-gaps", "slam-practice", "summary", "card topk-thm41"}
    assert expected <= set(found.compared)
    assert not any(name in tables for tables in found.left.values() for name in ("topk-exponents", "lists-exponents"))


def test_every_number_that_was_not_compared_is_named(made: Path) -> None:
    found = found_in(made)
    named = {(table, column) for tables in found.left.values() for table, left in tables.items() for column in left}
    for path in (made / "results/made/tables").glob("*.parquet"):
        for column in storage.read_table(path).columns:
            assert (column in found.columns[path.stem]) != ((path.stem, column) in named)


def test_what_a_former_configuration_left_is_not_compared(copy: Path) -> None:
    results = copy / "results/made"
    for left in (
        "slices/topk-regret/1.parquet",
        "slices/lists-grid/squared-0.parquet",
        "slices/twolayer-gaps/3.parquet",
    ):
        inner = next(results.glob(f"{Path(left).parent}/*.parquet"))
        shutil.copy(inner, results / left)
    shutil.copytree(results / "evaluation/made", results / "evaluation/other")
    shutil.copy(results / "evaluation/made/slam.parquet", results / "evaluation/made/former.parquet")
    shutil.copy(results / "tables/summary.parquet", results / "tables/cone-leave-out-exponents.parquet")
    assert list(whole.lines(found_in(copy))) == []


def test_exponents_that_are_fitted_to_regret_without_exploration_are_seen(copy: Path) -> None:
    results = copy / "results/made"
    played = [
        regret.Played.of(row) for row in storage.read_table(results / "slices/topk-regret/0.parquet").rows(named=True)
    ]
    alone = [one.model_copy(update={"loss": one.own_loss}) for one in played]
    joined = regret.join(Given(SETTINGS["topk"]["regret"], SEED, earlier=alone))
    store_tables(results, joined, regret.Exponent)
    judge(copy)
    assert {name for name, _ in differing(copy)} == {"topk-exponents"}


def test_a_fold_that_is_counted_twice_is_seen(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results, per_query = copy / "results/made", practice.per_query

    def twice(evaluations: Iterable[Path]) -> Any:
        return {
            dataset: (
                {model: np.append(of, of[folds == 1]) for model, of in values.items()},
                np.append(folds, folds[folds == 1]),
            )
            for dataset, (values, folds) in per_query(evaluations).items()
        }

    monkeypatch.setattr(practice, "per_query", twice)
    store(results / "tables/slam-practice.parquet", practised(results), practice.Comparison)
    assert ("slam-practice", "n_queries") in differing(copy)


@pytest.mark.parametrize("name", ["gap", "query_error", "document_error"])
def test_a_mean_in_the_place_of_the_largest_is_refused(name: str, copy: Path) -> None:
    with pytest.raises(DataError, match=f"expected {name}.* <= {name}_largest in every row"):
        damage(copy, "twolayer-gaps", **{f"{name}_largest": pl.col(name)})


@pytest.mark.parametrize("name", ["gap", "query_error", "document_error"])
def test_a_number_between_the_mean_and_the_largest_is_seen(name: str, copy: Path) -> None:
    mean, largest = pl.col(name), pl.col(f"{name}_largest")
    less = pl.when(loss="zero-one").then(largest).otherwise(mean + 0.999 * (largest - mean))
    damage(copy, "twolayer-gaps", **{f"{name}_largest": less})
    found = differing(copy)
    assert ("twolayer-gaps", f"{name}_largest") in found
    assert any(card.startswith("card twolayer-thm") for card, _ in found)


def test_intervals_without_the_error_of_the_held_out_sample_are_seen(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = copy / "results/made"
    slices = sorted((results / "slices/lists-grid").glob("*.parquet"))
    rows = [OfGrid.of(row) for path in slices for row in storage.read_table(path).rows(named=True)]
    monkeypatch.setattr(summary, "mean_interval", lambda values, shared_error=0.0: mean_interval(values))
    store_tables(results, grid.join(Given(SETTINGS["lists"]["grid"], SEED, earlier=rows)), CellSummary)
    assert ("lists-cells", "gap_low") in differing(copy)


def test_a_ledger_that_reads_the_mean_for_the_largest_is_seen(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = copy / "papers/twolayer/gaps/claims.yaml"
    changed.parent.mkdir(parents=True)
    text = (cards.PAPERS / "twolayer/gaps/claims.yaml").read_text()
    assert "document_error_largest" in text
    changed.write_text(text.replace("document_error_largest", "document_error"))

    class Changed(papers.Paper):
        @property
        def ledger(self) -> list[Path]:
            return [changed]

    [paper] = [Changed(**vars(one)) for one in papers.every() if one.name == "twolayer"]
    judge(copy, [one for one in ledger.load([paper]) if one.id in CLAIMS])
    monkeypatch.setattr(cards, "PAPERS", copy / "papers")
    assert {name for name, _ in differing(copy)} == {"card twolayer-thm3"}


def test_a_card_with_another_number_than_its_table_is_seen(copy: Path) -> None:
    path = copy / "reports/made/claims.json"
    judged = json.loads(storage.read_text(path))
    [claim] = [one for one in judged["claims"] if one["id"] == "topk-thm41"]
    claim["trials"][0]["values"]["regret_exponent"][2] += 0.01
    storage.write_text(path, json.dumps(judged))
    assert ("card topk-thm41", "regret_exponent") in differing(copy)


def test_the_command_ends_with_status_1_if_numbers_differ(
    copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(copy)
    assert cli.main(["recompute", "made"]) == 0
    assert "all agree" in capsys.readouterr().out
    damage(copy, "topk-exponents", **{name: pl.col(name) + 0.25 for name in ("low", "slope", "high")})
    with pytest.raises(SystemExit) as ended:
        cli.main(["recompute", "made"])
    assert ended.value.code == 1
    assert "topk-exponents, slope: 11 cells differ, most at" in capsys.readouterr().out


def test_a_study_without_judged_claims_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["recompute", "made"]) == 1


def test_tables_of_another_version_are_refused(
    copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copy / "results/made/tables/topk-exponents.parquet"
    storage.write_table(path, storage.read_table(path).rename({"slope": "power"}))
    monkeypatch.chdir(copy)
    assert cli.main(["recompute", "made"]) == 1
    assert "run the study again" in capsys.readouterr().err


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_quantiles_of_student_are_those_of_scipy(level: float) -> None:
    freedoms = [*range(1, 40), 99, 1199]
    expected = stdtrit(freedoms, (1 + level) / 2)
    assert np.allclose([student(freedom, level) for freedom in freedoms], expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SUM(n) / 4", [1.5]),
        ("MAX(n) // 2", [1]),
        ("FIRST(m)", [2.5]),
        ("MAX(CASE WHEN name LIKE 'A%' THEN N END)", [7.0]),
        ("GREATEST(MIN(m), .5)", [0.5]),
        ("ARRAY_GET(settings.rounds, -1)", [30]),
        ("CAST(REPLACE(SPLIT_PART(MAX(name), ', ', -1), ',', '') AS INT)", [1000]),
        ("STRPOS(MIN(name), ',')", [2]),
        ("settings.word", ["it's // one"]),
        ('COUNT("case")', [3]),
    ],
)
def test_expressions_are_read_as_polars_reads_them(text: str, expected: list[Any]) -> None:
    columns: Mapping[str, list[Any]] = {
        "n": [1, 2, 3],
        "N": [7.0, 8.0, 9.0],
        "m": [2.5, 0.25, 1.5],
        "name": ["A, b", "a, b", "x, 1,000"],
        "case": [1, 2, 3],
    }
    rows = Database().rows(pl.DataFrame(columns), {"rounds": [10, 30], "word": "it's // one"})
    assert rows.values(text) == {0: expected}


def test_summaries_in_conditions_are_those_of_the_part() -> None:
    table = pl.DataFrame({"T": [1, 2, 1, 5], "of": ["a", "a", "b", "b"]})
    rows = Database().rows(table, {})
    assert rows.where("T = MAX(T)").values("T") == {0: [5]}
    assert rows.by({"key": "of"}).where("T = MAX(T)").values("T") == {0: [2], 2: [5]}


def test_sqlite_has_every_function_that_a_ledger_calls() -> None:
    known = {name.upper() for (name,) in Database().connection.execute("SELECT name FROM pragma_function_list")}
    known |= {"AND", "OR", "NOT", "IN", "OVER", "BY", "WHEN", "THEN", "ELSE", "CAST"}
    read = " ".join(str(claim.get("evidence")) for _, claim in cards.ledger())
    called = set(re.findall(r"\b([A-Z]{2}[A-Z_]*)\s*\(", read))  # in formulas of notes, R_X( is no call
    assert {"MAX", "ARRAY_GET", "STRING_TO_ARRAY"} <= called
    assert {expressions.RENAMED.get(word, word) for word in called} <= known


def test_a_claim_that_sqlite_cannot_read_costs_only_its_card(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def claims() -> Iterable[tuple[str, Mapping[str, Any]]]:
        for name, claim in ledger_of_cards():
            if name == "topk-thm41":
                claim = {
                    **claim,
                    "evidence": {"table": "topk-exponents", "where": "STRICTLY(slope)", "values": ["slope"]},
                }
            yield name, claim

    ledger_of_cards = cards.ledger
    monkeypatch.setattr(cards, "ledger", claims)
    found = found_in(made)
    assert found.left[cards.NOT_IN_SQLITE] == {"topk-thm41": ["no such function: STRICTLY"]}
    assert "card twolayer-thm2" in found.compared
    assert "all agree; of the cards, 1 could not be recomputed" in whole.summary(found)


@given(st.integers(-10_000_000, 10_000_000), st.sampled_from([".0f", ",.0f", ".2f", ".3g", ".1%", ""]))
def test_numbers_of_notes_are_rounded_to_the_side_of_their_words(thousandths: int, form: str) -> None:
    number = thousandths / 1000
    for words in ("at least ", "at most ", "is up to ", "about ", "", "at least (", "flat most ", "cup to "):
        assert cards._written(number, form, words) == reading._written(number, form, words)
    assert cards._written(2225.908, ",.0f", "it is at least ") == "2,225"
    assert cards._written(0.000242, ".2%", "at most ") == "0.03%"
