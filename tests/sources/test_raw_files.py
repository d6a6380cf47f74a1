"""Raw text is compared with the manifest: in a check, in a conversion, and by size and time in planning."""

import inspect
import os
from argparse import Namespace
from pathlib import Path
from types import ModuleType

import pytest
from small_sets import TEXTS, small_set, unverified, zip_of

from pipeline_lib.commands import check_raw, convert_data, describe_data
from pipeline_lib.core import storage
from pipeline_lib.core.errors import DamagedFileError, DataError
from pipeline_lib.data.stored_data import read_parts
from pipeline_lib.sources import catalog, mirrors, raw_files
from pipeline_lib.sources.acquisition import obtain
from pipeline_lib.sources.conversion import ConversionSummary, PartSummary
from pipeline_lib.sources.manifest import read_manifest, required
from pipeline_lib.sources.mirrors import Mirrors


@pytest.fixture(params=[True, False], ids=["digests in the catalogue", "none"])
def data_set(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> catalog.DataSet:
    """A small data set that lies in tmp_path/raw, its archive too."""
    found = small_set(tmp_path, **({} if request.param else {"parts": unverified()}))
    zip_of(tmp_path / "raw" / "Small.zip")
    obtain(found, tmp_path / "raw", Mirrors(), network=False)
    monkeypatch.setattr(catalog, "get", lambda _: found)
    monkeypatch.delenv("LTR_MIRROR", raising=False)
    return found


def arguments(folder: Path) -> Namespace:
    return Namespace(
        dataset="Small", own=None, manifest=folder / "raw/Small/manifest.json", planned_with="unchanged",
        record=folder / "raw-files.json", documents=folder / "documents.parquet", summary=folder / "summary.json",
        output=folder / "description.json",
    )  # fmt: skip


def run(command: ModuleType, chosen: Namespace, **changes: object) -> None:
    """Run a command with those of the arguments that it takes."""
    taken = inspect.signature(command.run).parameters
    command.run(**{name: value for name, value in {**vars(chosen), **changes}.items() if name in taken})


def change(path: Path) -> None:
    """Change the last digit of the text."""
    text = path.read_bytes()
    place = max(text.rfind(digit) for digit in (b"1", b"2", b"5"))
    path.write_bytes(text[:place] + (b"2" if text[place : place + 1] != b"2" else b"1") + text[place + 1 :])


def test_unchanged_text_is_converted_with_the_digests_that_were_read(data_set: catalog.DataSet, tmp_path: Path) -> None:
    chosen = arguments(tmp_path)
    run(check_raw, chosen)
    run(convert_data, chosen)
    run(describe_data, chosen)
    manifest = required(data_set, tmp_path / "raw")
    digests = {part.name: part.sha256 for part in manifest.parts}
    parts = storage.read_json(chosen.output)["parts"]
    assert {part["name"]: part["sha256"] for part in parts} == digests
    assert {part["name"]: part["sha256"] for part in read_parts(chosen.documents, stored=True)} == digests
    assert {part["name"]: part["verified"] for part in parts} == {
        name: bool(part.sha256) for name, part in data_set.parts.items()
    }


@pytest.mark.parametrize("command", [check_raw, convert_data])
@pytest.mark.parametrize("grow", [True, False])
def test_changed_text_is_named_with_both_digests(
    data_set: catalog.DataSet, tmp_path: Path, command: ModuleType, grow: bool
) -> None:
    path = tmp_path / "raw/Small/S2.txt"
    expected = required(data_set, tmp_path / "raw").parts[1].sha256
    if grow:
        path.write_bytes(path.read_bytes() + b"# a remark\n")
    else:
        change(path)
    with pytest.raises(DataError, match=rf"S2\.txt: .*{expected}.*found [0-9a-f]{{64}}.*S2\.txt") as caught:
        run(command, arguments(tmp_path))
    assert f"delete {path}" in str(caught.value)
    assert not (tmp_path / "documents.parquet").exists()


def test_deleted_text_is_unpacked_again_by_the_check(data_set: catalog.DataSet, tmp_path: Path) -> None:
    manifest = (tmp_path / "raw/Small/manifest.json").read_bytes()
    path = tmp_path / "raw/Small/S2.txt"
    path.unlink()
    with pytest.raises(DataError, match=r"S2\.txt"):
        run(convert_data, arguments(tmp_path))
    run(check_raw, arguments(tmp_path))
    assert path.read_bytes() == TEXTS["S2"]
    assert (tmp_path / "raw/Small/manifest.json").read_bytes() == manifest


@pytest.mark.parametrize("offline", ["yes", ""])
def test_the_check_uses_the_network_only_where_a_run_may(
    data_set: catalog.DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offline: str
) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(check_raw.acquisition, "obtain", lambda *_, network: asked.append(network))
    monkeypatch.setenv(mirrors.OFFLINE, offline)
    (tmp_path / "raw/Small/S2.txt").unlink()
    with pytest.raises(DataError, match=r"S2\.txt"):
        run(check_raw, arguments(tmp_path))
    assert asked == [not offline]


def counted(**of_parts: tuple[int, int]) -> ConversionSummary:
    """What a conversion counts, by the rows and queries of the parts."""
    parts = tuple(PartSummary(name, rows, queries, "") for name, (rows, queries) in of_parts.items())
    rows, queries = sum(part.rows for part in parts), sum(part.queries for part in parts)
    return ConversionSummary(rows, queries, 2, {0: rows}, parts, 1, 1.0, 1, 0)


def test_parts_that_stand_in_for_each_other_are_noticed_by_their_counts(tmp_path: Path) -> None:
    parts = unverified()
    for k, part in enumerate(parts.values()):
        part |= {"rows": k + 2, "queries": 1}
    known = small_set(tmp_path, parts=parts)
    right = {name: (k + 2, 1) for k, name in enumerate(parts)}
    convert_data.check_counts(known, counted(**right))
    exchanged = right | {"S1": right["S2"], "S2": right["S1"]}
    with pytest.raises(DataError, match="Small: expected 2 rows in the part S1, found 3"):
        convert_data.check_counts(known, counted(**exchanged))
    about = small_set(tmp_path, parts=parts, counts={"rows": 20, "queries": 5, "approximate": ["rows"]})
    convert_data.check_counts(about, counted(**exchanged))


def test_a_change_is_accepted_by_deleting_the_manifest(data_set: catalog.DataSet, tmp_path: Path) -> None:
    change(tmp_path / "raw/Small/S2.txt")
    (tmp_path / "raw/Small/manifest.json").unlink()
    with pytest.raises(DataError, match=r"manifest\.json"):
        run(check_raw, arguments(tmp_path))
    obtain(data_set, tmp_path / "raw", Mirrors(), network=False)
    run(convert_data, arguments(tmp_path))
    unknown = not data_set.parts["S2"].sha256
    assert ((tmp_path / "raw/Small/S2.txt").read_bytes() != TEXTS["S2"]) is unknown


def test_a_damaged_manifest_is_not_believed(data_set: catalog.DataSet, tmp_path: Path) -> None:
    path = tmp_path / "raw/Small/manifest.json"
    path.write_bytes(path.read_bytes().replace(b"Small.zip", b"Smell.zip", 1))
    assert read_manifest(data_set, tmp_path / "raw") is None
    with pytest.raises(DataError, match=r"manifest\.json"):
        required(data_set, tmp_path / "raw")


def test_a_summary_of_another_conversion_is_refused(data_set: catalog.DataSet, tmp_path: Path) -> None:
    chosen = arguments(tmp_path)
    run(convert_data, chosen)
    summary = storage.read_json(chosen.summary)
    summary["parts"][0]["sha256"] = "0" * 64
    storage.write_json(chosen.summary, summary)
    with pytest.raises(DataError, match=r"summary\.json"):
        run(describe_data, chosen)
    chosen.summary.write_text("{}")
    with pytest.raises(DamagedFileError, match=r"summary\.json"):
        run(describe_data, chosen)


def test_planning_sees_sizes_and_times(data_set: catalog.DataSet, tmp_path: Path) -> None:
    chosen = arguments(tmp_path)
    path = tmp_path / "raw/Small/S2.txt"

    def state() -> str:
        return raw_files.state_for_planning(data_set, tmp_path / "raw", chosen.record)

    def checked_with(planned: str) -> None:
        run(check_raw, chosen, planned_with=planned)

    first = state()
    checked_with(first)
    assert state() == first
    seen = {first}
    for seconds in (1e9, 2e9, 5e8):
        os.utime(path, (seconds, seconds))
        touched = state()
        assert touched not in seen
        checked_with(touched)
        assert state() == touched
        seen.add(touched)
    path.unlink()
    assert state() not in seen
    chosen.record.write_text("{}")
    assert state() not in seen
