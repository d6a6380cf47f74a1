import re
import socket
from pathlib import Path

import pytest
from small_sets import TEXTS, small_set, zip_of

from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.sources import catalog
from pipeline_lib.sources.mirrors import Mirrors, availability, configured_mirrors


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.parametrize(
    ("variable", "folders", "addresses"),
    [
        ("", [], []),
        ("/a:/b", ["/a", "/b"], []),
        ("/with space:/b", ["/with space", "/b"], []),
        ("https://example.org:8080/x/", [], ["https://example.org:8080/x"]),
        ("http://a/x http://b/y\nhttp://a/x", [], ["http://a/x", "http://b/y"]),
        ("/a http://h:80/x /b:/c", ["/a", "/b", "/c"], ["http://h:80/x"]),
        ("file:///my%20data/x", ["/my data/x"], []),
        ("::", [], []),
    ],
)
def test_the_variable_may_name_several(variable, folders, addresses):
    expected = Mirrors(tuple(map(Path, folders)), tuple(addresses))
    assert configured_mirrors((), {"LTR_MIRROR": variable}) == expected


def test_the_variable_comes_before_the_configuration_and_none_comes_twice():
    found = configured_mirrors(["/b", "/a", "http://x/"], {"LTR_MIRROR": "/a"})
    assert found == Mirrors((Path("/a"), Path("/b")), ("http://x",))


@pytest.mark.parametrize("configured", [True, False])
def test_an_address_that_cannot_be_one_is_named(configured):
    address = "http://[::1"
    with pytest.raises(ConfigurationError, match=re.escape(repr(address))):
        configured_mirrors([address] if configured else [], {} if configured else {"LTR_MIRROR": address})


def test_missing_says_why_and_what_to_do(tmp_path):
    raw = tmp_path / "raw"
    found = availability(catalog.get("MSLR-WEB10K"), Mirrors((tmp_path / "absent",), ("http://a",)), raw)
    assert found.status == "missing"
    assert str(raw) in found.reason
    assert f"The mirror folder {tmp_path / 'absent'} does not exist." in found.reason
    for hint in ("snakemake --cores 1 download", "MSLR-WEB10K.zip", f"Place it in {raw}", "LTR_MIRROR", "Terms:"):
        assert hint in found.how_to_get
    assert "{folder}" not in found.how_to_get


def test_an_archive_of_the_wrong_size_is_not_at_hand(tmp_path):
    zip_of(tmp_path / "raw" / "Small.zip")
    found = availability(small_set(tmp_path, archives=[{"name": "Small.zip", "bytes": 7}]), Mirrors(), tmp_path / "raw")
    assert found.status == "missing"
    assert "7" in found.reason
    assert "Small.zip" in found.reason


def _unpack(folder: Path, names: list[str]) -> None:
    for name, text in zip(names, TEXTS.values(), strict=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text)


def test_unpacked_text_is_at_hand_only_when_complete(tmp_path):
    folder = tmp_path / "mirror"
    _unpack(folder, [f"Small/S{i}.txt" for i in range(1, 6)])
    data_set, mirrors = small_set(tmp_path), Mirrors((folder,))
    assert availability(data_set, mirrors, tmp_path / "raw").status == "at-hand"
    (folder / "Small/S3.txt").unlink()
    assert availability(data_set, mirrors, tmp_path / "raw").status == "missing"


def test_unpacked_folds_are_recognised_under_the_set_s_name(tmp_path):
    parts = {f"S{i}": {"members": [f"Fold{i % 5 + 1}/test.txt"]} for i in range(1, 6)}
    data_set = small_set(tmp_path, parts=parts)
    _unpack(tmp_path / "mirror", [f"Small/Fold{i % 5 + 1}/test.txt" for i in range(1, 6)])
    assert availability(data_set, Mirrors((tmp_path / "mirror",)), tmp_path / "raw").status == "at-hand"
    # Without the set's name above it, a file called Fold1/test.txt could be anyone's.
    _unpack(tmp_path / "other", [f"Fold{i % 5 + 1}/test.txt" for i in range(1, 6)])
    assert availability(data_set, Mirrors((tmp_path / "other",)), tmp_path / "raw").status == "missing"


def test_mirrors_spelled_are_read_back(tmp_path):
    mirrors = configured_mirrors(["/a b", "/c", "http://one/x", "https://two/y"], {})
    assert configured_mirrors([], {"LTR_MIRROR": mirrors.as_text}) == mirrors


def test_nothing_is_in_a_folder_whose_name_is_too_long(tmp_path: Path) -> None:
    found = availability(catalog.get("MSLR-WEB10K"), Mirrors((tmp_path / ("y" * 300),)), "x" * 300)
    assert found.status == "missing"
