"""Is the CSV of a report text for a spreadsheet, and are its numbers numbers?"""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_lib.report.tables import Cell, Column, Group, Raw, Table, to_csv

FORMULAS = [
    "=cmd|'/C calc'!A0",
    "+1+cmd",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "=1",
    "-",
    "- 1 x",
    "-inf",
    "+1_0",
]
VALUES = [0.5, -0.5, -1e-300, 12, -3, True, None, "kl", "-0.001 0.003", "-1e-07 2.0", "it's", "'quoted'", "a=b", ""]


def written(value: Raw, key: str = "k") -> list[list[str]]:
    table = Table("t", "c", "s", (Column(key, "K"),), (Group("", ((Cell("shown", value),),)),))
    return list(csv.reader(io.StringIO(to_csv(table), newline="")))


@pytest.mark.parametrize("text", FORMULAS)
def test_what_would_be_a_formula_is_text(text: str) -> None:
    assert written(text)[1] == ["'" + text.replace("\r", "\n")]
    assert written("plain", key=text)[0] == written(text)[1]


@pytest.mark.parametrize("value", VALUES)
def test_numbers_and_words_stay_as_they_are(value: Raw) -> None:
    assert written(value)[1:] in ([["" if value is None else str(value)]], [[]])


@given(st.text(alphabet="'=+-@\t ab1.", max_size=6))
def test_the_text_can_be_read_back(text: str) -> None:
    [read] = written(text)[1] or [""]
    assert not read.startswith(("=", "@", "\t"))
    again = read[1:] if read.startswith("'") and read.lstrip("'")[:1] in set("=+-@\t\r\n") else read
    assert again == text
