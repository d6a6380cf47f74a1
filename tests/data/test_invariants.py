"""Is a table refused in which something does not hold that always holds, and no other?"""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from pipeline_lib import metrics
from pipeline_lib.core import storage
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.data.invariants import Invariants, above_mean, of_measures
from pipeline_lib.data.rows import (
    Count,
    Field,
    FromZero,
    Interval,
    OnlyProportion,
    Proportion,
    Row,
    check,
    frame,
    invariants,
)
from pipeline_lib.experiment import Job, Step, write

TABLE = pl.DataFrame(
    {"fold": [1, 1, 2], "query": [7, 8, 7], "mean": [0.25, 0.5, None], "largest": [0.5, 0.5, 0.75], "n": [2, 2, 1]}
)


@pytest.mark.parametrize(
    "rule",
    [
        "mean <= largest",
        "largest >= mean",
        "0 <= mean <= largest <= 1",
        "mean = mean + 1e-13",
        "mean * 1e9 <= largest * 1e9 - 1e-3 * (largest - mean)",
        "COUNT(*) OVER (PARTITION BY fold) = n",
        "SUM(n) OVER (PARTITION BY fold) = n * n",
        "n = MIN(n) OVER (PARTITION BY fold)",
        "MAX(fold) = 2",
        "(mean = 0.5) <= (largest = 0.5)",
    ],
)
def test_a_rule_that_holds_is_no_error(rule: str) -> None:
    Invariants(rules=(rule,)).check("made", TABLE)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (
            "mean <= 0.3",
            r"made: expected mean <= 0.3 in every row, found 1 of 3 rows .* fold = 1, query = 8: 0.5 and 0.3",
        ),
        ("mean = largest", "found 1 of 3 rows .* fold = 1, query = 7: 0.25 and 0.5"),
        ("mean = mean + 1e-8", "found 2 of 3 rows"),
        ("n <= fold", "found 2 of 3 rows .*: 2 and 1"),
        ("n = MIN(n)", "found 2 of 3 rows"),
        ("0.3 <= mean <= 0.4", "found 2 of 3 rows .*: 0.3 and 0.25 and 0.4"),
        ("(largest = 0.5) <= (mean = 0.5)", "found 1 of 3 rows"),
        ("mean <= larger", "made: expected an expression over fold, query, .*, found 'larger'"),
    ],
)
def test_a_rule_that_does_not_hold_is_an_error_that_names_the_first_row(rule: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Invariants(("fold", "query"), (rule,)).check("made", TABLE)


@pytest.mark.parametrize("rule", ["mean", "mean < largest", "fold = 1 > 0", "(mean = 1)"])
def test_what_is_no_rule_is_an_error(rule: str) -> None:
    with pytest.raises(ConfigurationError, match="expected expressions with <=, >= or = between them"):
        Invariants(rules=(rule,)).check("made", TABLE)


def test_a_quotient_that_polars_rounds_is_an_error() -> None:
    Invariants(rules=("1 / n <= 0.5 + fold / 2",)).check("made", TABLE)
    with pytest.raises(ConfigurationError, match=r"expected whole numbers without a point, .* found '1\.0 / n'"):
        Invariants(rules=("1.0 / n <= 1",)).check("made", TABLE)


def test_every_combination_of_the_key_occurs_once() -> None:
    Invariants(("fold", "query")).check("made", TABLE)
    Invariants().check("made", pl.concat([TABLE, TABLE]))
    with pytest.raises(DataError, match="made: expected one row for every fold, found 2 of 3 rows that share theirs"):
        Invariants(("fold",)).check("made", TABLE)
    with pytest.raises(DataError, match=r"one row for every fold and query, found 2 of 4 rows .* fold = 1, query = 7"):
        Invariants(("fold", "query")).check("made", pl.concat([TABLE, TABLE[:1]]))
    with pytest.raises(DataError, match="one row for every table, found 3 of 3 rows"):
        Invariants(()).check("made", TABLE)
    with pytest.raises(DataError, match="expected the column part, found fold, query"):
        Invariants(("part",)).check("made", TABLE)


def test_a_value_of_the_key_is_missing_only_where_it_may_be() -> None:
    with pytest.raises(DataError, match="expected a value of mean in every row, found 1 of 3 rows without one"):
        Invariants(("mean",)).check("made", TABLE)
    Invariants(("mean",), optional=frozenset({"mean"})).check("made", TABLE)
    with pytest.raises(DataError, match=r"one row for every mean, found 2 of 4 rows .* mean = None"):
        Invariants(("mean",), optional=frozenset({"mean"})).check("made", pl.concat([TABLE, TABLE[2:]]))


def test_the_largest_number_is_above_the_mean_by_a_standard_error() -> None:
    rule = Invariants(rules=(above_mean("largest", "gap"),))
    gaps = pl.DataFrame({"gap": [0.5], "gap_low": [0.25], "gap_high": [0.75], "largest": [1.0]})
    rule.check("gaps", gaps)
    with pytest.raises(DataError, match="<= largest"):
        rule.check("gaps", gaps.with_columns(largest="gap"))


class Base(Row, key=("m",), always=("hits <= m",)):
    """What rows of lists have in common."""

    m: Count = Field(description="documents")
    hits: Count = Field(description="those that are relevant")


class Measured(Base, table="tables/toy", always=("precision = hits / m",)):
    """What is measured on one list."""

    precision: Proportion | None = Field(description="share of the hits")
    loss: FromZero = Field(0.0, description="a loss")
    share: OnlyProportion | None = Field(None, description="a share")


GOOD = {"m": 4, "hits": 1, "precision": 0.25, "loss": 0.0, "share": Interval(0.5, 0.0, 1.0)}


def test_a_class_has_the_key_and_the_rules_of_its_bases_and_of_its_types() -> None:
    found = invariants(Measured)
    assert found.key == ("m",)
    assert found.optional == {"precision", "share", "low", "high"}
    assert found.rules == (
        *("0 <= m", "0 <= hits", "0 <= precision", "precision <= 1", "0 <= loss", "0 <= low", "high <= 1"),
        *("low <= share <= high", "hits <= m", "precision = hits / m"),
    )
    assert invariants(Base).rules == ("0 <= m", "0 <= hits", "hits <= m")
    check("made", frame([Measured(**GOOD), Measured(m=0, hits=0, precision=None)], Measured), Measured)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"m": -1}, "expected 0 <= m in every row"),
        ({"precision": 1.25}, "expected precision <= 1"),
        ({"precision": 0.5}, "expected precision = hits / m"),
        ({"hits": 5, "precision": 1.0}, "expected hits <= m"),
        ({"loss": -1e-9}, "expected 0 <= loss"),
        ({"share": Interval(0.5, 0.0, 1.25)}, "expected high <= 1"),
    ],
)
def test_a_table_is_not_written_when_a_row_breaks_a_rule(values: dict[str, Any], message: str, tmp_path: Path) -> None:
    step = Step("toy", lambda job: (), rows=[Base, Measured])
    paths = [tmp_path / "base.parquet", tmp_path / "toy.parquet"]
    with pytest.raises(DataError, match=rf"toy\.parquet: {message}"):
        write(step, paths, [Base(m=1, hits=1), Measured(**{**GOOD, **values})])
    assert not list(tmp_path.iterdir())


def test_parts_that_hold_a_row_twice_are_not_joined(tmp_path: Path) -> None:
    class Part(Row, table="slices/toy/{part}", key=("repetition",)):
        repetition: Count = Field(description="the repetition")

    paths = [tmp_path / f"slices/toy/{part}.parquet" for part in range(2)]
    paths[0].parent.mkdir(parents=True)
    for repetition, path in enumerate(paths):
        storage.write_table(path, frame([Part(repetition=repetition)], Part))
    assert [row.repetition for row in Job(None, 1, tables=paths).rows(Part)] == [0, 1]
    storage.write_table(paths[1], frame([Part(repetition=0)], Part))
    with pytest.raises(DataError, match=r"0\.parquet and .*1\.parquet: expected one row for every repetition"):
        Job(None, 1, tables=paths).rows(Part)


CUT = ("ndcg", "linear_ndcg", "letor4_ndcg", "p", "recall", "rr", "err")
MEASURES = [
    *(f"{family}@{k}" for family in CUT for k in (1, 3, 10)),
    *("ndcg", "linear_ndcg", "letor4_mean_ndcg", "map", "rr", "err"),
]


def measured(best: bool, **judging: Any) -> pl.DataFrame:
    """The measures of 200 lists of 1 to 14 documents, which have many equal scores or are in the best order."""
    rng = np.random.default_rng(1)
    offsets = np.r_[0, np.cumsum(rng.integers(1, 15, 200))]
    y = rng.integers(0, 4, offsets[-1]) * (rng.random(offsets[-1]) < 0.5)
    scores = y.astype(float) if best else rng.integers(0, 4, offsets[-1]).astype(float)
    return pl.DataFrame(metrics.per_query(MEASURES, scores, y, offsets, y_max=3, **judging))


@pytest.mark.parametrize("best", [False, True])
@pytest.mark.parametrize("relevant_from", [1, 2])
@pytest.mark.parametrize("ties", ["file", "mean", "best", "worst"])
def test_what_is_said_of_measures_holds_of_all_of_them(best: bool, relevant_from: int, ties: str) -> None:
    rules = of_measures(MEASURES, best=best, relevant_from=relevant_from)
    assert len(rules) >= 35
    Invariants(rules=rules).check("made", measured(best, ties=ties, relevant_from=relevant_from))


@pytest.mark.parametrize(
    ("wrong", "best"),
    [
        ({"map": "map * 1.2"}, False),  # divided by too few
        ({"map": "map / 2"}, True),  # divided by all documents
        ({"ndcg": "ndcg * 0.9"}, True),  # by the ideal of a longer list
        ({"p@10": '"p@3"'}, False),  # divided by the documents that there are
        ({"p@1": '"p@1" * 3'}, False),  # a sum of labels
        ({"rr@3": '"rr@10"', "rr@10": '"rr@3"'}, False),  # cutoffs exchanged
        ({"recall@1": '"recall@10"'}, False),
        ({"err@3": '"err@10" + 1e-6'}, False),
        ({"letor4_ndcg@1": '"letor4_ndcg@3"'}, False),
        ({"err": "CASE WHEN rr > 0 THEN 1 ELSE err END"}, False),
        ({"ndcg@10": '"ndcg@10" * ("p@10" > 0.15)'}, False),
        ({"rr@1": "rr"}, False),
    ],
)
def test_measures_that_cannot_be_those_of_one_ranking_are_refused(wrong: dict[str, str], best: bool) -> None:
    found = measured(best)
    table = found.with_columns(pl.sql_expr(text).cast(pl.Float64).alias(name) for name, text in wrong.items())
    with pytest.raises(DataError, match="made: expected"):
        Invariants(rules=of_measures(MEASURES, best=best)).check("made", table)


def test_of_measures_that_are_not_known_nothing_is_said() -> None:
    assert of_measures(["success@10", "dcg", "ndcg@K"]) == ('0 <= "ndcg@K" <= 1',)
    assert not [rule for rule in of_measures(["map", "ndcg@5", "p@5"], relevant_from=2) if ">" in rule]
