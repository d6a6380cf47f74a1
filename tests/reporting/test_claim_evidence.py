"""Is evidence stored faithfully, and is everything that is not evidence refused?"""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_lib import storage
from pipeline_lib.claims.evidence import Evidence, Interval, Trial, read_evidence, write_evidence
from pipeline_lib.errors import DamagedFileError, DataError

TABLE = "tables/slam.parquet"
finite = st.floats(allow_nan=False, allow_infinity=False)


@given(value=finite, ends=st.tuples(finite, finite, finite), freedom=st.none() | st.floats(1, 1e6))
def test_what_is_written_is_read_and_the_bytes_are_the_same(
    tmp_path_factory: pytest.TempPathFactory, value: float, ends: tuple[float, float, float], freedom: float | None
) -> None:
    low, middle, high = sorted(ends)
    measured = Interval(middle, low, high, freedom)
    trial = Trial({"dataset": "MQ2008", "k": 10, "eta": 0.1}, {"a": value, "b": measured}, TABLE)
    evidence = Evidence("slam-thm2", (trial,), "a note — with signs")
    folder = tmp_path_factory.mktemp("evidence")
    write_evidence(folder / "slam-thm2.json", evidence)
    assert read_evidence(folder / "slam-thm2.json") == evidence
    before = (folder / "slam-thm2.json").read_bytes()
    write_evidence(folder / "slam-thm2.json", evidence)
    assert (folder / "slam-thm2.json").read_bytes() == before


def test_a_reason_stands_in_for_trials(tmp_path: Path) -> None:
    evidence = Evidence("slam-thm8", not_run="The solver reached a gap of 1e-3 only, which certifies nothing.")
    write_evidence(tmp_path / "slam-thm8.json", evidence)
    assert read_evidence(tmp_path / "slam-thm8.json") == evidence
    with pytest.raises(DataError, match="found both"):
        Evidence("slam-thm8", (Trial({}, {"a": 1.0}, TABLE),), not_run="why")


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, None, "0.5", True])
def test_a_number_that_is_none_is_refused(bad: object) -> None:
    with pytest.raises(DataError, match="finite number for 'a'"):
        Trial({"m": 5}, {"a": bad}, TABLE)  # type: ignore[dict-item]
    with pytest.raises(DataError):
        Interval(bad, bad, bad)  # type: ignore[arg-type]
    if bad is not None:
        with pytest.raises(DataError, match="degrees of freedom"):
            Interval(1.0, 0.0, 2.0, freedom=0 if bad is True else bad)  # type: ignore[arg-type]


def test_every_number_names_its_table() -> None:
    for table in ("", "/etc/passwd", "../other/tables/x.parquet"):
        with pytest.raises(DataError, match="below the results folder"):
            Trial({}, {"a": 1.0}, table)
    with pytest.raises(DataError, match="at least one number"):
        Trial({}, {}, TABLE)
    with pytest.raises(DataError, match="plain label"):
        Trial({"m": [1]}, {"a": 1.0}, TABLE)  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trials": []}, "found neither"),
        ({"trials": [{"setting": {}, "values": {"a": 1}}]}, "keys setting, table and values"),
        ({"trials": [{"setting": {}, "values": {"a": {"value": 1}}, "table": TABLE}]}, "keys high, low and value"),
        ({"trials": [{"setting": {}, "values": {"a": None}, "table": TABLE}]}, "finite number"),
        ({"trials": {}}, "list of trials"),
        ({"claim": "slam-thm3"}, "slam-thm3.json"),
        ({"status": "verified"}, "expected the keys"),
    ],
)
def test_malformed_files_name_themselves(tmp_path: Path, change: dict, message: str) -> None:
    trial = {"setting": {}, "values": {"a": 1}, "table": TABLE}
    document = {"claim": "slam-thm2", "trials": [trial], "notes": "", "not_run": "", **change}
    path = tmp_path / "slam-thm2.json"
    storage.write_json(path, document)
    with pytest.raises(DataError, match=message) as caught:
        read_evidence(path)
    assert str(path) in str(caught.value)


def test_no_file_is_an_error_and_so_is_another(tmp_path: Path) -> None:
    path = tmp_path / "slam-thm2.json"
    for text in ("{", "", '{"claim": "slam-thm2", "notes": "", "not_run": "none", "trials": []}'):
        path.write_text(text)
        with pytest.raises(DamagedFileError, match=r"slam-thm2\.json"):
            read_evidence(path)
    with pytest.raises(DataError, match=r"slam-thm3\.json"):
        read_evidence(tmp_path / "slam-thm3.json")
