import hashlib
import http.server
import os
import signal
import subprocess
import sys
import textwrap
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from small_sets import MEMBERS, TEXTS, small_set, tar_of, unverified, zip_of

from pipeline_lib.core.errors import DataError, DownloadError
from pipeline_lib.sources import catalog
from pipeline_lib.sources.acquisition import obtain
from pipeline_lib.sources.manifest import read_manifest
from pipeline_lib.sources.mirrors import Mirrors, availability

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture
def raw(tmp_path):
    return tmp_path / "raw"


@pytest.fixture
def web(tmp_path):
    """The address of a server of the folder tmp_path/web."""
    (tmp_path / "web").mkdir()
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path / "web")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def complete(folder: Path) -> bool:
    texts = {path.name: path.read_bytes() for path in folder.glob("*.txt")}
    return texts == {f"{name}.txt": text for name, text in TEXTS.items()}


@pytest.mark.parametrize("place", ["raw", "raw/Small", "mirror", "mirror/Small"])
def test_an_archive_is_unpacked_from_the_raw_folder_or_a_mirror(tmp_path, raw, place):
    archive = zip_of(tmp_path / place / "Small.zip")
    data_set, mirrors = small_set(tmp_path), Mirrors((tmp_path / "mirror",))
    before = archive.read_bytes()
    assert availability(data_set, mirrors, raw).status == "at-hand"
    manifest = obtain(data_set, raw, mirrors, network=False)
    assert complete(raw / "Small")
    assert archive.read_bytes() == before
    assert manifest.source == "Small.zip"
    assert list(manifest.files(raw).values()) == [raw / "Small" / f"{name}.txt" for name in TEXTS]
    for part in manifest.parts:
        text = TEXTS[part.name]
        assert (part.bytes, part.sha256) == (len(text), hashlib.sha256(text).hexdigest())
        assert part.verified
        assert part.origin == f"Small/{part.name}.txt"


def test_the_manifest_is_the_same_wherever_the_archive_lay(tmp_path):
    texts = []
    for place in ("a", "b"):
        zip_of(tmp_path / place / "mirror" / "Small.zip")
        raw = tmp_path / place / "raw"
        obtain(small_set(tmp_path), raw, Mirrors((tmp_path / place / "mirror",)), network=False)
        texts.append((raw / "Small" / "manifest.json").read_text())
    assert texts[0] == texts[1]
    assert str(tmp_path) not in texts[0]


def test_unpacked_text_in_a_mirror_is_copied_and_verified(tmp_path, raw):
    for name, text in MEMBERS.items():
        (tmp_path / "mirror" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mirror" / name).write_bytes(text)
    manifest = obtain(small_set(tmp_path), raw, Mirrors((tmp_path / "mirror",)), network=False)
    assert complete(raw / "Small")
    assert manifest.source == "unpacked text"
    (tmp_path / "mirror" / "Small" / "S1.txt").write_bytes(b"changed later")
    assert complete(raw / "Small")


def test_unpacked_folds_serve_as_parts(tmp_path, raw):
    digests = {name: hashlib.sha256(text).hexdigest() for name, text in TEXTS.items()}
    parts = {f"S{i}": {"members": [f"Fold{i % 5 + 1}/test.txt"], "sha256": [digests[f"S{i}"]]} for i in range(1, 6)}
    for i in range(1, 6):
        folder = raw / "Small" / f"Fold{i % 5 + 1}"
        folder.mkdir(parents=True)
        (folder / "test.txt").write_bytes(TEXTS[f"S{i}"])
    manifest = obtain(small_set(tmp_path, parts=parts), raw, Mirrors(), network=False)
    assert complete(raw / "Small")
    assert manifest.parts[4].origin == "Small/Fold1/test.txt"


def test_changed_text_placed_by_hand_is_an_error_that_shows_both_digests(tmp_path, raw):
    (raw / "Small").mkdir(parents=True)
    for name, text in TEXTS.items():
        (raw / "Small" / f"{name}.txt").write_bytes(text if name != "S4" else b"0 qid:1 1:0\n")
    with pytest.raises(DownloadError) as caught:
        obtain(small_set(tmp_path), raw, Mirrors(), network=False)
    assert hashlib.sha256(TEXTS["S4"]).hexdigest() in str(caught.value)
    assert hashlib.sha256(b"0 qid:1 1:0\n").hexdigest() in str(caught.value)
    assert not (raw / "Small" / "manifest.json").exists()


def test_a_damaged_archive_does_not_hide_a_good_one(tmp_path, raw):
    raw.mkdir()
    (raw / "Small.zip").write_bytes(b"<html>")
    tar_of(raw / "Small.tar.gz")
    assert obtain(small_set(tmp_path), raw, Mirrors(), network=False).source == "Small.tar.gz"


def test_parts_decide_about_an_archive_that_was_packed_again(tmp_path, raw):
    zip_of(raw / "Small.zip")
    data_set = small_set(tmp_path, archives=[{"name": "Small.zip", "sha256": ["0" * 64]}])
    assert all(part.verified for part in obtain(data_set, raw, Mirrors(), network=False).parts)


def test_without_digests_of_parts_the_archive_s_digest_decides(tmp_path, raw):
    archive = zip_of(raw / "Small.zip")
    wrong = small_set(tmp_path, archives=[{"name": "Small.zip", "md5": ["0" * 32]}], parts=unverified())
    with pytest.raises(DownloadError, match=r"Small\.zip: expected the md5 digest 000"):
        obtain(wrong, raw, Mirrors(), network=False)
    assert archive.exists()
    md5 = hashlib.md5(archive.read_bytes(), usedforsecurity=False).hexdigest()
    right = small_set(tmp_path, archives=[{"name": "Small.zip", "md5": [md5]}], parts=unverified())
    assert not any(part.verified for part in obtain(right, raw, Mirrors(), network=False).parts)


def test_nothing_at_hand_says_how_to_get_it(tmp_path, raw):
    with pytest.raises(DownloadError) as caught:
        obtain(small_set(tmp_path), raw, Mirrors(addresses=("http://127.0.0.1:9",)), network=False)
    assert f"place Small.zip in {raw}" in str(caught.value)


def test_a_generated_set_is_not_looked_for(tmp_path, raw):
    changes: dict[str, Any] = {"source": "generated", "archives": None, "addresses": None, "by_hand": None}
    changes["simulation"] = {"queries": 5, "population": {}}
    data_set = small_set(tmp_path, **changes, parts={name: {} for name in TEXTS})
    with pytest.raises(DataError, match="generated"):
        obtain(data_set, raw, Mirrors(), network=True)
    (raw / "Small").mkdir(parents=True)
    for name, text in TEXTS.items():
        (raw / "Small" / f"{name}.txt").write_bytes(text)
    assert [part.name for part in obtain(data_set, raw, Mirrors(), network=False).parts] == list(TEXTS)


def test_the_network_is_used_only_when_allowed(tmp_path, raw, web):
    zip_of(tmp_path / "web" / "Small.zip")
    data_set, mirrors = small_set(tmp_path), Mirrors(addresses=(web,))
    with pytest.raises(DownloadError, match="Small is not available"):
        obtain(data_set, raw, mirrors, network=False)
    obtain(data_set, raw, mirrors, network=True)
    assert complete(raw / "Small")
    assert files(raw) == ["Small", "Small.zip"]


def test_mirrors_come_before_the_catalogue_s_addresses_and_failures_are_told(tmp_path, raw, web):
    zip_of(tmp_path / "web" / "Small.zip", {**MEMBERS, "Small/S2.txt": b"1 qid:1 1:1\n"})
    (tmp_path / "web" / "Small.tar.gz").write_bytes(b"<html>Sorry</html>")
    zip_of(tmp_path / "web" / "official" / "file")
    official = catalog.Address.model_construct(address=f"{web}/official/file", archive="Small.zip", kind="official")
    data_set = small_set(tmp_path).model_copy(update={"addresses": (official,)})
    assert obtain(data_set, raw, Mirrors(addresses=(web,)), network=True).source == "Small.zip"
    assert complete(raw / "Small")
    (tmp_path / "web" / "official" / "file").unlink()
    with pytest.raises(DownloadError) as caught:
        obtain(data_set, tmp_path / "again", Mirrors(addresses=(web,)), network=True)
    for told in ("/Small.zip: wrong file", "found a web page", "/official/file: HTTP 404", "place Small.zip in"):
        assert told in str(caught.value)
    assert files(tmp_path / "again") == ["Small"]
    assert files(tmp_path / "again" / "Small") == []


KILLED = """
    import os, signal, sys
    from pipeline_lib.sources import acquisition, archives, catalog
    from pipeline_lib.sources.manifest import Manifest
    from pipeline_lib.sources.mirrors import Mirrors

    def killed(*_):
        os.kill(os.getpid(), signal.SIGKILL)

    catalogue, raw, moment = sys.argv[1:]
    if moment == "before the manifest":
        Manifest.write = killed
    elif moment == "between two parts":
        replace = os.replace
        os.replace = lambda a, b: killed() if str(b).endswith("S3.txt") else replace(a, b)
    else:
        write = archives.write_part
        archives.write_part = lambda content, target, part, *rest: (
            (target.write_bytes(b"half"), killed()) if target.stem == "S3" else write(content, target, part, *rest)
        )
    acquisition.obtain(catalog.load(catalogue)["Small"], raw, Mirrors(), network=False)
"""


@pytest.mark.parametrize("moment", ["inside a part", "between two parts", "before the manifest"])
@pytest.mark.parametrize("digests_known", [True, False])
def test_a_run_that_is_killed_is_never_taken_for_done(tmp_path, raw, moment, digests_known):
    zip_of(raw / "Small.zip")
    changes = {} if digests_known else {"parts": unverified()}
    data_set = small_set(tmp_path, **changes)
    command = [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path / "catalog.yaml"), str(raw), moment]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    assert subprocess.run(command, env=environment, cwd=tmp_path, check=False).returncode == -signal.SIGKILL
    assert read_manifest(data_set, raw) is None
    assert availability(data_set, Mirrors(), raw).status == "at-hand"
    for path in (raw / "Small").glob("*.txt"):
        assert path.read_bytes() == TEXTS[path.stem]
    obtain(data_set, raw, Mirrors(), network=False)
    assert complete(raw / "Small")
    assert availability(data_set, Mirrors(), raw).status == "present"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: (folder / "S2.txt").unlink(),
        lambda folder: (folder / "S2.txt").write_bytes(b"short"),
        lambda folder: (folder / "manifest.json").write_text("{"),
        lambda folder: (folder / "manifest.json").write_text("[]"),
        lambda folder: (folder / "manifest.json").write_text('{"parts": [{}]}'),
        lambda folder: (folder / "manifest.json").write_text('{"parts": 1, "data_set": 2}'),
    ],
)
def test_a_manifest_that_no_longer_fits_is_not_believed(tmp_path, raw, spoil):
    data_set = small_set(tmp_path)
    zip_of(raw / "Small.zip")
    obtain(data_set, raw, Mirrors(), network=False)
    spoil(raw / "Small")
    assert read_manifest(data_set, raw) is None
    obtain(data_set, raw, Mirrors(), network=False)
    assert complete(raw / "Small")


def test_a_digest_the_catalogue_learns_later_is_heeded(tmp_path, raw):
    zip_of(raw / "Small.zip", {**MEMBERS, "Small/S2.txt": b"1 qid:1 1:1\n"})
    obtain(small_set(tmp_path, parts=unverified()), raw, Mirrors(), network=False)
    assert read_manifest(small_set(tmp_path), raw) is None
