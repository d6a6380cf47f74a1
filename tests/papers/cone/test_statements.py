"""Are the smaller statements and the open questions of ConeRank judged by what is computed, and are errors caught?"""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pipeline_lib.data.rows import Row
from pipeline_lib.papers.cone.geometry import experiment as geometry
from pipeline_lib.papers.cone.leave_out import experiment as leave_out
from pipeline_lib.papers.cone.table1 import experiment as table1
from tests import readings
from tests.papers.jobs import Given, tables
from tests.small_settings import small

PUBLISHED = Path(__file__).parents[3] / "workflow/published/cone-table1.csv"
GEOMETRY = small("cone", "geometry", bases=[2, 3], plane_samples=2, differences=6, draws=4)
LEAVE_OUT = small("cone", "leave_out", tied_queries=[5, 50], tied_features=[2, 3], tied_sums=[1.5, 3.0])
HOLD = ("unique", "inequality", "eg-rate", "fig1", "fig2", "size", "size-corrected")
HOLD += ("larger", "smax-ties", "tradeoff-corrected", "margins", "larger-set")
FAIL = ("check", "tradeoff")


@pytest.fixture(scope="module")
def computed() -> dict[str, list[dict[str, Any]]]:
    """The tables that need no data, with small settings."""
    published = pl.read_csv(PUBLISHED, comment_prefix="#").to_dicts()
    printed = {(entry["dataset"], entry["row"], entry["measure"]): entry["value"] for entry in published}
    found: list[Row] = [
        *geometry.measure(Given(GEOMETRY, 1)),
        *leave_out.ties(LEAVE_OUT),
        *leave_out.tradeoff(LEAVE_OUT),
    ]
    return tables([*found, *table1.as_published(printed)])


@pytest.mark.parametrize(
    ("claim", "status"), [*((one, "verified") for one in HOLD), *((one, "refuted") for one in FAIL)]
)
def test_smaller_statements_and_what_is_planted_in_them(
    claim: str, status: str, computed: dict[str, list[dict[str, Any]]], tmp_path: Path
) -> None:
    assert readings.decided(f"cone-{claim}", computed, {}, tmp_path) == (status, [])
