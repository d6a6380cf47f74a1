"""Does the part of the page of lists on lengths show the numbers of its tables?"""

from pathlib import Path
from typing import Any

import pytest
from page_of_paper import Build, builder, figures, raw

from pipeline_lib.papers.lists.lengths import experiment as lengths
from tests.papers.jobs import tables as tables_of
from tests.small_settings import small

SMALL = small("lists", "lengths", scores=[1.0], queries=[1000])
NEAREST = {"case": "ranksvm", "radius": 0.5, "m": 2, "d": 1, "n": 100, "gap": 0.1}
Tables = dict[str, list[dict[str, Any]]]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    return builder(tmp_path, "lists")


@pytest.fixture(scope="module")
def tables() -> Tables:
    return {
        **tables_of(lengths.bounds(SMALL)),
        **tables_of(lengths.gaps(SMALL)),
        **tables_of(lengths.highest_document(SMALL)),
        "lists-slack": [
            {**NEAREST, "statement": f"theorem {k}", "printed": 4.0 * k, "largest_gap": 50.0} for k in (12, 9)
        ],
    }


def test_tables_have_the_numbers(build: Build, tables: Tables) -> None:
    section = build(tables)
    assert [row[-1] for row in raw(section, "lists-slack")] == pytest.approx([360.0, 480.0])
    names = ["lists-lengths", "lists-free"]
    assert [figure.name for figure in figures(section)] == names
