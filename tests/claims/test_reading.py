"""Are claims read from tables as the ledger says, and is what cannot be read an error that names its place?"""

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pipeline_lib import papers
from pipeline_lib.claims import ledger
from pipeline_lib.claims.ledger import Claim, Context
from pipeline_lib.claims.reading import NO_NOTE, SETTINGS, Reading
from pipeline_lib.claims.trials import Trial
from pipeline_lib.core import storage
from pipeline_lib.core.errors import ConfigurationError, DamagedFileError, DataError
from pipeline_lib.data.rows import schema
from pipeline_lib.statistics import Interval
from tests import readings

READ = readings.ledger_of_claims()
PATH = "tables/made.parquet"
ROWS = pl.DataFrame(
    {
        "dataset": ["b", "b", "b", "a", "a", "a"],
        "learner": ["kl", "random", "kl", "kl", "random", "kl"],
        "T": [10, 10, 5, 10, 10, 5],
        "ndcg": [0.5, 0.25, 0.4, 0.75, 0.5, 0.6],
        "low": [0.4, 0.2, 0.3, 0.7, 0.4, 0.5],
        "high": [0.6, 0.3, 0.5, 0.8, 0.6, 0.7],
        "sparse": [1.0, None, 3.0, math.nan, math.inf, 6.0],
        "fold": [1, 1, 1, None, None, None],
    }
)
KL = {"where": "learner = 'kl' AND T = 10", "value": ["ndcg", "low", "high"]}


def trials(rows: pl.DataFrame = ROWS, settings: dict[str, Any] | None = None, **entry: Any) -> list[Trial]:
    return Reading.parse({"table": "made", **entry}).trials(PATH, rows, settings or {})[0]


def test_rows_that_agree_in_the_axes_are_a_trial_in_the_order_of_the_table() -> None:
    found = trials(axes=["dataset"], setting={"T": "MAX(T)"}, values={"kl": KL, "mean": "AVG(ndcg)"})
    assert [trial.setting for trial in found] == [{"dataset": "b", "T": 10}, {"dataset": "a", "T": 10}]
    assert [trial.values["kl"] for trial in found] == [Interval(0.5, 0.4, 0.6), Interval(0.75, 0.7, 0.8)]
    assert found[1].values["mean"] == pytest.approx((0.75 + 0.5 + 0.6) / 3)
    assert {trial.table for trial in found} == {PATH}


def test_a_name_alone_in_a_list_is_that_of_a_column() -> None:
    one: dict[str, Any] = {"axes": ["dataset", "T", {"ranker": "learner"}]}
    short = trials(**one, values=["ndcg", {"double": "2 * ndcg"}])
    assert short == trials(**one, values={"ndcg": "ndcg", "double": "2 * ndcg"})
    with pytest.raises(ConfigurationError, match="expected every name once"):
        trials(**one, values=["ndcg", {"ndcg": "2 * ndcg"}])


def test_a_column_may_be_called_as_a_word_of_sql() -> None:
    rows = pl.DataFrame({"limit": [0.5, 0.25]})
    assert trials(rows, axes={"n": '"limit"'}, values={"bound": "limit"})[1].values == {"bound": 0.25}
    assert trials(rows, values={"bound": 'MAX("limit")'})[0].values == {"bound": 0.5}


def test_axes_may_be_expressions_and_an_axis_without_a_label_is_left_out() -> None:
    axes = {"fold": "fold", "half": "T / 2"}
    found = trials(where="learner = 'kl'", axes=axes, values={"kl": "ndcg"})
    assert [trial.setting for trial in found] == [
        {"fold": 1, "half": 5},
        {"fold": 1, "half": 2.5},
        {"half": 5},
        {"half": 2.5},
    ]


def test_a_column_may_name_the_values() -> None:
    found = trials(where="T = MAX(T)", axes=["dataset"], named_by="REPLACE(learner, 'k', 'K')", value="ndcg")
    assert [trial.values for trial in found] == [{"Kl": 0.5, "random": 0.25}, {"Kl": 0.75, "random": 0.5}]


def test_further_columns_see_all_rows_of_the_table() -> None:
    found = trials(
        columns={
            "chance": "MAX(CASE WHEN learner = 'random' THEN ndcg END) OVER (PARTITION BY dataset)",
            "all": "COUNT(*)",
        },
        where="learner = 'kl'",
        axes=["dataset", "T"],
        values={"above": "ndcg - chance", "rows": '"all"'},
    )
    assert [trial.values["above"] for trial in found] == pytest.approx([0.25, 0.15, 0.25, 0.1])
    assert {trial.values["rows"] for trial in found} == {6}


def test_an_optional_value_is_left_out_where_it_has_no_row() -> None:
    late = {"where": "T = 10", "value": "ndcg", "optional": True}
    found = trials(where="learner = 'kl'", axes=["dataset", "T"], values={"every": "ndcg", "late": late})
    assert [sorted(trial.values) for trial in found] == [["every", "late"], ["every"]] * 2


def test_notes_and_settings_are_filled_in() -> None:
    reading = Reading.parse(
        {
            "table": "made",
            "setting": {"seeds": "settings.seeds", "T": "ARRAY_GET(settings.rounds, -1)"},
            "values": {"mean": "AVG(ndcg)"},
            "notes": "{MAX(T):,} rounds, {settings.radius:g}, {COUNT(*)} rows, to {MAX(ndcg / low):.2f}.",
        }
    )
    found, notes = reading.trials(PATH, ROWS, {"seeds": 5, "rounds": [100, 200], "radius": 3.0})
    assert found[0].setting == {"seeds": 5, "T": 200}
    assert notes == "10 rounds, 3, 6 rows, to 1.33."


def test_a_note_on_rows_that_a_study_does_not_have_costs_the_note_alone() -> None:
    noted = "To {MAX(CASE WHEN T > 100 THEN ndcg END):.2f} after the hundredth round."
    reading = Reading.parse({"table": "made", "values": {"mean": "AVG(ndcg)"}, "notes": noted})
    [trial], note = reading.trials(PATH, ROWS, {})
    assert trial.values["mean"] == pytest.approx(ROWS["ndcg"].mean())
    assert note == NO_NOTE


def test_degrees_of_freedom_are_those_of_the_reading_or_of_the_value() -> None:
    own = {**KL, "freedom": "MAX(T) - 1"}
    values = {"kl": KL, "own": own, "mean": "AVG(ndcg)"}
    found = trials(settings={"seeds": 5}, freedom="settings.seeds - 1", axes=["dataset"], values=values)
    assert [trial.values["kl"].freedom for trial in found] == [4, 4]  # type: ignore[union-attr]
    assert [trial.values["own"].freedom for trial in found] == [9, 9]  # type: ignore[union-attr]
    assert found[0].values["mean"] == pytest.approx(1.15 / 3)
    with pytest.raises(DataError, match="kl: freedom: expected 'T' to be the same in all rows"):
        trials(axes=["dataset"], values={"kl": {"value": ["MAX(ndcg)", "MIN(low)", "MAX(high)"], "freedom": "T"}})
    [named, _] = trials(
        freedom=3, where="T = MAX(T)", axes=["dataset"], named_by="learner", value=["ndcg", "low", "high"]
    )
    assert named.values["kl"] == Interval(0.5, 0.4, 0.6, freedom=3)


def test_no_row_is_no_trial() -> None:
    assert trials(where="dataset = 'c'", values={"mean": "AVG(ndcg)"}) == []
    assert trials(ROWS.clear(), where="T = MAX(T)", values={"mean": "AVG(ndcg)"}) == []


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"values": {"kl": "ndcg"}}, r"trial at .*'b'.*: kl: expected one row .*'ndcg' in 3 rows"),
        ({"values": {"kl": {"where": "learner = 'map'", "value": "ndcg"}}}, "kl: expected a row, found none"),
        ({"values": {"s": "MAX(sparse)"}}, r"s: expected a finite number in every row of 'sparse', found None"),
        ({"where": "dataset = 'a'", "values": {"s": "SUM(sparse)"}}, r"s: .*'sparse', found (nan|inf)"),
        ({"values": {"s": "MAX(ndcg) / (MIN(T) - 5)"}}, r"s: expected 'MAX.*to be a finite number, found inf"),
        ({"values": {"s": "MAX(learner)"}}, "s: .*to be a finite number, found 'random'"),
        ({"values": {"s": ["MAX(ndcg)", "MAX(high)", "MAX(high)"]}}, "s: interval: expected low <= value"),
        ({"values": {"s": "MAX(nccg)"}}, r"tables/made\.parquet: expected an expression .*'MAX\(nccg\)'"),
        ({"values": {"s": "MAX(ndcg"}}, r"expected an expression over .*, found 'MAX\(ndcg'"),
        ({"where": "T + 1", "values": {"s": "MAX(ndcg)"}}, r"expected a condition on its rows, found 'T \+ 1'"),
        ({"setting": {"T": "T"}, "values": {"s": "MAX(ndcg)"}}, r"T: expected 'T' to be the same in all rows"),
        ({"values": {"s": "MAX(ndcg)"}, "notes": "{T} rounds"}, r"notes: expected 'T' to be the same"),
        ({"values": {"s": "MAX(ndcg)"}, "notes": "{MAX(learner):.2f}"}, r"notes: cannot write 'MAX\(learner\)'"),
        ({"named_by": "learner", "value": "ndcg"}, r"kl: expected one row"),
    ],
)
def test_what_cannot_be_read_is_an_error_that_names_its_place(entry: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        trials(**{"axes": ["dataset"], **entry})


@pytest.mark.parametrize("claim", READ, ids=lambda claim: claim.id)
def test_every_column_that_a_claim_reads_is_declared(claim: Claim) -> None:
    planted = [claim.reading_of(one) for one in claim.planted if one.evidence]
    for reading in [*claim.readings, *planted]:
        [(declared, row)] = [
            (found, found.tables[f"tables/{reading.table}"])
            for found in papers.experiments(claim.paper).values()
            if f"tables/{reading.table}" in found.tables
        ]
        rows = pl.DataFrame(schema=schema(row))
        if reading.needs_settings:
            rows = rows.with_columns(pl.Series(SETTINGS, [declared.settings().plain()]).clear())
        for name, text in reading.columns.items():
            rows = rows.with_columns(pl.sql_expr(text).alias(name))
        for text in reading.expressions():
            rows.lazy().select(pl.sql_expr(text)).collect_schema()


CURVES = {"dataset": "made", "round": 9, "low": 0.0, "high": 1.0, "seeds": 2}


def context(folder: Path, rows: list[dict[str, Any]], **keywords: Any) -> Context:
    """A study with the table of the curves of topk."""
    path = folder / "results/made/tables/topk-curves.parquet"
    declared = papers.experiment("topk", "figure").tables["tables/topk-curves"]
    storage.write_table(path, pl.DataFrame(rows, schema=schema(declared)))
    return Context("made", tables=[path], settings={"topk": {"figure": {}}}, **keywords)


def fig1() -> Claim:
    """A claim about the last row of every curve."""
    values = {
        name: {"where": f"learner = '{name}'", "value": ["ndcg", "low", "high"]} for name in ("listnet", "random")
    }
    last = {"table": "topk-curves", "where": "round = MAX(round)", "axes": ["dataset"], "setting": {"T": "MAX(round)"}}
    return Claim.parse(
        {
            "topk-fig1": "ListNet ranks better than random.",
            "where": "Figure 1",
            "shows": "The curves.",
            "rule": "listnet > random",
            "evidence": {**last, "values": values},
            "otherwise": "The study has no curves.",
            "planted": [{"exchanged": "Random is best.", "values": {"listnet": "random", "random": "listnet"}}],
        }
    )


def judged(claim: Claim, study: Context) -> ledger.JudgedClaim:
    [found] = ledger.judge([claim], study)
    return found


def test_a_claim_is_judged_by_what_its_table_says(tmp_path: Path) -> None:
    level = {"listnet": 0.8, "random": 0.1}
    rows = [
        {**CURVES, "panel": "", "learner": name, "ndcg": value, "low": value - 0.01, "high": value + 0.01}
        for name, value in level.items()
    ]
    found = judged(fig1(), context(tmp_path, rows))
    assert (found.status, found.tables) == ("verified", ("tables/topk-curves.parquet",))
    assert found.trials[0].setting == {"dataset": "made", "T": 9}


def test_a_plant_in_the_first_reading_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    def of(learner: str) -> dict[str, Any]:
        return {"where": f"learner = '{learner}'", "value": ["ndcg", "low", "high"]}

    claim = Claim.parse(
        {
            "topk-fig1": "ListNet ranks better than random, and the ideal order best.",
            "where": "Figure 1",
            "shows": "The curves.",
            "rule": ["listnet > random", "best >= 0.9"],
            "evidence": [
                {"table": "topk-curves", "values": {"listnet": of("listnet"), "random": of("random")}},
                {"table": "topk-curves", "values": {"best": "MAX(ndcg)"}},
            ],
            "planted": [
                {
                    "exchanged": "Random ranks better than ListNet.",
                    "evidence": {"values": {"listnet": of("random"), "random": of("listnet")}},
                }
            ],
        }
    )
    level = {"listnet": 0.8, "random": 0.1, "ideal": 1.0}
    rows = [
        {**CURVES, "panel": "", "learner": name, "ndcg": x, "low": x - 0.01, "high": x} for name, x in level.items()
    ]
    found = judged(claim, context(tmp_path, rows))
    assert found.severity is not None
    assert [(plant.caught, plant.problem) for plant in found.severity.planted] == [(True, "")]
    assert found.status == "verified"


def test_a_table_that_was_put_together_of_two_is_not_judged(tmp_path: Path) -> None:
    rows = [{**CURVES, "panel": "", "learner": "listnet", "ndcg": value} for value in (0.5, 0.6)]
    with pytest.raises(
        DataError, match=r"claim topk-fig1: tables/topk-curves\.parquet: expected one row for every dat"
    ):
        judged(fig1(), context(tmp_path, rows))
    rows = [
        {**CURVES, "panel": "", "learner": "listnet", "ndcg": 0.5, "seeds": seeds, "round": seeds} for seeds in (2, 3)
    ]
    with pytest.raises(DataError, match=r"expected seeds = MIN\(seeds\) OVER \(PARTITION BY dataset\) in every row"):
        judged(fig1(), context(tmp_path, rows))


def test_a_claim_whose_table_is_empty_says_why(tmp_path: Path) -> None:
    study = context(tmp_path, [], missing={"MQ2007": "not in a mirror"})
    found = judged(fig1(), study)
    assert (found.status, found.explanation) == ("not-run", fig1().otherwise)
    found = judged(fig1().model_copy(update={"data": ("MQ2007",)}), study)
    assert (found.status, found.explanation) == ("not-run", "Data set MQ2007 is missing: not in a mirror.")
    assert judged(fig1(), dataclasses.replace(study, tables=[])).explanation == fig1().otherwise


def test_a_condition_that_no_row_meets_is_an_error_unless_the_ledger_expects_it(tmp_path: Path) -> None:
    claim = fig1().model_copy(update={"readings": (fig1().readings[0].model_copy(update={"where": "round > 9"}),)})
    study = context(tmp_path, [{**CURVES, "panel": "", "learner": "ideal", "ndcg": 1.0}])
    assert judged(claim, study).explanation == claim.otherwise
    with pytest.raises(
        DataError, match=r"claim topk-fig1: .*none of 1 rows of tables/topk-curves\.parquet where round > 9"
    ):
        judged(claim.model_copy(update={"otherwise": None}), study)


def test_a_damaged_table_is_known_as_such(tmp_path: Path) -> None:
    study = context(tmp_path, [{**CURVES, "panel": "", "learner": "random", "ndcg": 0.5}])
    [path] = study.tables
    path.write_bytes(path.read_bytes().replace(b"random", b"rondom"))
    with pytest.raises(DamagedFileError, match=r"topk-curves\.parquet"):
        judged(fig1(), study)


def test_a_claim_of_a_paper_that_the_study_leaves_out_is_not_read(tmp_path: Path) -> None:
    found = judged(fig1(), dataclasses.replace(context(tmp_path, []), settings={"slam": {}}))
    assert found.explanation == "The experiment that bears on it is not part of the study made."


def test_an_error_names_the_claim_and_a_table_that_no_experiment_declares(tmp_path: Path) -> None:
    rows = [{**CURVES, "panel": panel, "learner": "listnet", "ndcg": 0.5} for panel in ("correct", "as-printed")]
    with pytest.raises(DataError, match=r"claim topk-fig1: tables/topk-curves\.parquet: .*listnet: expected one row"):
        judged(fig1(), context(tmp_path, rows))
    [reading] = fig1().readings
    wrong = fig1().model_copy(update={"readings": (reading.model_copy(update={"table": "topk-curve"}),)})
    with pytest.raises(DataError, match=r"claim topk-fig1: .*'tables/topk-curves'"):
        judged(wrong, context(tmp_path, rows))


PLANTED = [{"name": "half", "statement": "s", "values": {"bound": "bound / 2"}}]
BOUND = {"id": "x-y", "kind": "bound", "where": "w", "says": "s", "shows": "s", "planted": PLANTED}
RULE = [{"holds": "loss <= bound"}]


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ({"table": "t", "values": {"loss": "loss"}}, r"x-y: evidence: .*none for bound"),
        ({"table": "t", "named_by": "n", "value": "v", "values": {"loss": 1}}, r"x-y\.evidence: expected either"),
        ({"table": "t", "named_by": "n"}, r"x-y\.evidence: expected either `values`"),
        ({"table": "t", "valeus": {}}, r"x-y\.evidence: unknown key 'valeus'.*'values'"),
        ({"table": "t", "values": {"loss": ["a", "b"], "bound": 2}}, r"x-y\.evidence\.values\.loss"),
        ({"table": "t", "values": {"loss": {"wehre": "a", "value": 1}}}, r"values\.loss: unknown key 'wehre'"),
        ({"table": "t", "values": {"loss": 1, "bound": 2}, "notes": "{a"}, r"x-y\.evidence: notes: "),
        ([{"table": "t", "values": {"loss": 1, "bound": 2}}, {"values": {}}], r"x-y\.evidence\[1\]"),
    ],
)
def test_a_wrong_reading_names_its_claim(
    evidence: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x/topic").mkdir(parents=True)
    document = {"claims": [{**BOUND, "rule": RULE, "evidence": evidence}]}
    # JSON is YAML
    (tmp_path / "x/topic/claims.yaml").write_text(json.dumps(document))
    monkeypatch.setattr(papers, "FOLDER", tmp_path)
    with pytest.raises(ConfigurationError, match=message):
        ledger.load([papers.Paper("x", "t", "a", "p", "u", 1)])
