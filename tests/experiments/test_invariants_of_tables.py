"""Has every table a key, and is every rule that is declared of it one that a table can break?"""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import polars as pl
import pytest

from pipeline_lib import papers
from pipeline_lib.commands import compare_models, summarise_results
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.expressions import parsed
from pipeline_lib.data.invariants import PER_QUERY, Invariants, sides
from pipeline_lib.data.rows import Row, invariants, schema
from pipeline_lib.papers.cone.bases.experiment import ShareOfFold

Schema = dict[str, Any]

WITHOUT_KEY: set[type[Row]] = {ShareOfFold}
"""Two methods of training yield rows that nothing tells apart, and only their mean is used."""
ROWS = {
    table: row
    for paper in papers.names()
    for declared in papers.experiments(paper).values()
    for table, row in declared.tables.items()
}
OTHERS: dict[str, tuple[Invariants, Schema]] = {
    **{name: (found, getattr(summarise_results, name.upper())) for name, found in summarise_results.INVARIANTS.items()},
    "comparisons": (compare_models.INVARIANTS, compare_models.COMPARISONS),
    "evaluation": (PER_QUERY, summarise_results.KEYS),
}
TABLES: dict[str, tuple[Invariants, Schema]] = {
    **{table: (invariants(row), schema(row)) for table, row in ROWS.items() if row not in WITHOUT_KEY},
    **OTHERS,
}
DECLARED = {
    **{table: row.always for table, row in ROWS.items()},
    **{name: found.rules for name, (found, _) in OTHERS.items()},
}
"""The rules beside those that follow from the types of columns."""
NUMBERS = (0, 1, 2, 4)


def of_rule(rule: str, columns: Schema) -> dict[str, Any]:
    """The columns that a rule names, with their types."""
    named = {one for text in sides(rule)[0] for one in parsed(text, columns).meta.root_names()}
    return {name: kind for name, kind in columns.items() if name in named}


def values_of(kind: Any, rule: str) -> list[Any]:
    """Some values of a type, among them the texts that a rule names."""
    if kind == pl.String:
        return [*re.findall("'([^']*)'", rule), "other"]
    return [True, False] if kind == pl.Boolean else [kind.to_python()(number) for number in NUMBERS]


def whole(rule: str, columns: Schema) -> Iterator[pl.DataFrame]:
    """Tables of one and of two equal rows with simple values of the columns that the rule names."""
    few = {name: values_of(kind, rule)[: 4 if len(columns) < 5 else 2] for name, kind in columns.items()}
    for values in product(*few.values()):
        row = dict(zip(few, values, strict=True))
        yield from (pl.DataFrame([row] * height, schema=columns) for height in (1, 2))


def damaged(table: pl.DataFrame, rule: str) -> Iterator[pl.DataFrame]:
    """The same with one value of one column changed in the last row."""
    for name, kind in table.schema.items():
        old = table[name].item(-1)
        more = (
            []
            if kind in (pl.String, pl.Boolean)
            else [old + 0.25, old + 1e3, old - 1e3]
            if kind.is_float()
            else [old + 10, max(old - 10, -10)]
        )
        for new in (*values_of(kind, rule), *more):
            if new != old and not (kind.is_unsigned_integer() and new < 0):
                yield table.with_columns(pl.Series(name, [*table[name][:-1], new], dtype=kind))


def holds(rule: str, table: pl.DataFrame) -> bool:
    try:
        Invariants(rules=(rule,)).check("made", table)
    except DataError as error:
        if "expected an expression" in str(error):
            raise
        return False
    return True


@pytest.mark.parametrize("table", TABLES)
def test_a_row_that_occurs_twice_is_refused(table: str) -> None:
    found, columns = TABLES[table]
    assert found.key is not None
    assert set(found.key) <= set(columns)
    row = pl.DataFrame([{name: values_of(kind, "")[0] for name, kind in columns.items()}], schema=columns)
    by_key = Invariants(found.key, optional=found.optional)
    by_key.check(table, row)
    with pytest.raises(DataError, match=f"{table}: expected one row for every"):
        by_key.check(table, pl.concat([row, row]))


@pytest.mark.parametrize(
    ("rule", "table"), [(rule, table) for table, rules in DECLARED.items() for rule in rules], ids=str
)
def test_every_rule_holds_of_one_table_and_not_of_another(rule: str, table: str) -> None:
    columns = of_rule(rule, OTHERS[table][1] if table in OTHERS else schema(ROWS[table]))
    assert columns
    assert any(
        not holds(rule, other) for made in whole(rule, columns) if holds(rule, made) for other in damaged(made, rule)
    )
