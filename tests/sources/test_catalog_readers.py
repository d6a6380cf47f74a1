"""A corrected entry of the catalogue must rerun the commands that read what was corrected, and no others."""

import copy
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from small_sets import ENTRY, small_set, zip_of

from pipeline_lib import cli
from pipeline_lib.sources import catalog, own_data
from pipeline_lib.sources.own_settings import OwnDataSettings

ROOT = Path(__file__).parents[2]
FIELDS = set(catalog.DataSet.model_fields)
DATA = {"obtain_data", "register_data", "check_raw", "convert_data", "describe_data", "simulate_data"}
ONE_FOLD = {"train": ["S1/1", "S2", "S3"], "validation": ["S4"], "test": ["S5"]}


class Recorded(catalog.DataSet):
    """An entry that remembers which of its fields were read."""

    def __getattribute__(self, name: str) -> Any:
        if name in FIELDS:
            object.__getattribute__(self, "__dict__").setdefault("read", set()).add(name)
        return object.__getattribute__(self, name)


def recorded(entry: catalog.DataSet) -> Recorded:
    copied = Recorded.model_construct(**dict(entry))
    vars(copied)["read"] = set()
    return copied


def parts_with(**changes: Any) -> dict[str, Any]:
    parts: dict[str, Any] = copy.deepcopy(ENTRY["parts"])
    parts["S1"].update(changes)
    return parts


@pytest.mark.parametrize(
    ("changes", "readers"),
    [
        ({"title": "Another"}, {"describe_data"}),
        ({"terms": "Others."}, {"describe_data"}),
        ({"citation": "Somebody."}, {"describe_data"}),
        ({"terms_page": "https://example.org/other"}, set()),
        ({"by_hand": "Write again, place Small.zip in {folder}."}, set()),
        ({"archives": [{"name": "Small.zip", "bytes": 1}, {"name": "Other.zip"}]}, set()),
        ({"addresses": [{"address": "https://e.org/a", "archive": "Small.zip", "kind": "mirror"}]}, set()),
        ({"features": 3}, {"convert_data", "describe_data"}),
        ({"text": {"labels": "rounded", "qid": "token"}}, {"convert_data", "describe_data"}),
        ({"text": {"labels": "integer", "qid": "comment"}}, {"convert_data"}),
        ({"counts": {"rows": 21, "queries": 5}}, {"convert_data", "describe_data"}),
        ({"counts": {"rows": 20, "queries": 5, "approximate": ["rows"]}}, {"convert_data", "describe_data"}),
        ({"parts": parts_with(sha256=["a" * 64])}, DATA),
        ({"parts": parts_with(members=["Other/S1.txt"])}, set()),
        ({"folds": [*ENTRY["folds"][1:], ENTRY["folds"][0]]}, {"split_folds"}),
        ({"folds": [ONE_FOLD], "split": {"S1": 2}}, {"split_folds", "describe_data"}),
    ],
)
def test_a_correction_concerns_those_who_read_it(tmp_path: Path, changes: dict[str, Any], readers: set[str]) -> None:
    before, after = small_set(tmp_path), small_set(tmp_path, **changes)
    assert before != after
    assert {command for command in catalog.READ_BY if before.digest(command) != after.digest(command)} == readers


def test_every_command_declares_what_it_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small, simulated = recorded(small_set(tmp_path)), recorded(catalog.get("letor-sim"))
    (tmp_path / "my.txt").write_text("1 qid:1 1:1\n")
    given_by_study = {"name": "own", "files": str(tmp_path / "my.txt")}
    own = recorded(own_data.data_set(OwnDataSettings.parse(given_by_study)))
    monkeypatch.setattr(catalog, "get", lambda name: simulated if name == "letor-sim" else small)
    monkeypatch.setattr(own_data, "data_set", lambda settings: own)
    monkeypatch.setenv("LTR_MIRROR", str(zip_of(tmp_path / "mirror/Small.zip").parent))
    manifest, documents, summary = tmp_path / "raw/Small/manifest.json", tmp_path / "d.parquet", tmp_path / "s.json"
    common = ["--dataset", "Small", "--documents", str(documents)]
    named = ["--dataset", "Small", "--manifest", str(manifest)]
    stored = [*named[2:], "--summary", str(summary)]
    arguments = {
        "simulate_data": [
            *("--dataset", "letor-sim", "--queries", "5", "--seed", "1"),
            *("--manifest", str(tmp_path / "raw/letor-sim/manifest.json")),
        ],
        "obtain_data": ["--dataset", "Small", "--offline", "--manifest", str(manifest)],
        "register_data": [
            *("--dataset", "own", "--own", json.dumps(given_by_study), "--planned-with", ""),
            *("--manifest", str(tmp_path / "raw/own/manifest.json"), "--record", str(tmp_path / "r.json")),
        ],
        "check_raw": [*named, "--planned-with", "", "--record", str(tmp_path / "r.json"), "--force"],
        "convert_data": [*common, *stored],
        "split_folds": [*common, "--folds", str(tmp_path / "f.parquet")],
        "describe_data": [*common, "--summary", str(summary), "--output", str(tmp_path / "o.json")],
    }
    # A name is in the paths of its files; where a file comes from does not decide what is in it.
    silent = {
        "obtain_data": {"name", "archives", "source"},
        **{key: {"name", "source"} for key in ("check_raw", "convert_data", "split_folds")},
    }
    assert list(arguments) == list(catalog.READ_BY)
    for command, given in arguments.items():
        entry = {"simulate_data": simulated, "register_data": own}.get(command, small)
        read = reads(entry, partial(cli.main, [command.replace("_", "-"), *given]))
        declared = reads(entry, partial(entry.digest, command))
        assert read, command
        assert read - declared <= silent.get(command, {"name"}), command


def test_no_other_command_reads_the_catalogue() -> None:
    reading = re.compile(r"^(?!\s*>>>).*\b(catalog\.(get|load)|own_data\.entry)\(", re.MULTILINE)
    paths = (ROOT / "pipeline_lib").rglob("*.py")
    readers = {path.stem for path in paths if reading.search(path.read_text(encoding="utf-8"))}
    # What `verify` reads there decides what it says of damaged text, and no result; the sections of simulated data sets
    # are made for planning.
    assert readers - {"own_data", "verify", "study_settings"} == set(catalog.READ_BY)


def reads(entry: Recorded, act: Callable[[], Any]) -> set[str]:
    vars(entry)["read"].clear()
    assert act() != 1
    return set(vars(entry)["read"])
