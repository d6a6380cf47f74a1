"""Archives, honest and hostile."""

import builtins
import io
import struct
import sys
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from small_sets import MEMBERS, TEXTS, small_set, tar_of, unverified, zip_of

from pipeline_lib.core.errors import DataError
from pipeline_lib.sources import archives
from pipeline_lib.sources.archives import extract


@pytest.fixture
def parts(tmp_path):
    return small_set(tmp_path).parts


@pytest.fixture
def target(tmp_path):
    return tmp_path / "target"


@pytest.fixture
def libarchive():
    try:
        import libarchive
    except Exception as error:  # the binding fails in many ways without the system's library
        pytest.skip(f"libarchive is not installed ({error})")
    return libarchive


def assert_extracted(target: Path) -> None:
    assert {path.name: path.read_bytes() for path in target.iterdir()} == {f"{n}.txt": t for n, t in TEXTS.items()}


def assert_refused(archive: Path, parts: Any, target: Path, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        extract(archive, parts, target)
    assert str(archive) in str(caught.value)
    assert list(target.iterdir()) == []


@pytest.mark.parametrize("name", ["Small.zip", "named-wrongly.tar.gz"])
def test_zip(tmp_path, parts, target, name):
    found = extract(zip_of(tmp_path / name), parts, target)
    assert_extracted(target)
    assert found["S2"][0] == "Small/S2.txt"
    assert all(stored.verified for _, stored in found.values())
    assert found["S1"][1].bytes == len(TEXTS["S1"])


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tar(tmp_path, parts, target, mode):
    extract(tar_of(tmp_path / "Small.tar", mode=mode), parts, target)
    assert_extracted(target)


def test_only_the_wanted_members_are_written(tmp_path, parts, target):
    members = {"readme.txt": b"x", "Small/": b"", **MEMBERS, "Other/S1.txt": b"y", "XSmall/S1.txt": b"z"}
    extract(zip_of(tmp_path / "a.zip", members), parts, target)
    assert_extracted(target)


@pytest.mark.parametrize("order", [1, -1])
def test_the_preferred_member_wins_in_any_order(tmp_path, target, order):
    fold = {"train": ["S1/1"], "validation": ["S1/2"], "test": ["S1/3"]}
    wanted = {"S1": {"members": ["good/S1.txt", "Fold2/test.txt"]}}
    parts = small_set(tmp_path, parts=wanted, folds=[fold], split={"S1": 3}).parts
    members = dict([("good/S1.txt", b"good"), ("Fold2/test.txt", b"second")][::order])
    found = extract(zip_of(tmp_path / "a.zip", members), parts, target)
    assert (target / "S1.txt").read_bytes() == b"good"
    assert found["S1"][0] == "good/S1.txt"
    assert not found["S1"][1].verified


def test_two_candidates_are_one_too_many(tmp_path, parts, target):
    archive = zip_of(tmp_path / "a.zip", {**MEMBERS, "copy/Small/S3.txt": TEXTS["S3"]})
    assert_refused(archive, parts, target, "both Small/S3.txt and copy/Small/S3.txt could be part S3")


def test_a_missing_part_is_named(tmp_path, parts, target):
    archive = zip_of(tmp_path / "a.zip", {name: text for name, text in MEMBERS.items() if "S4" not in name})
    assert_refused(archive, parts, target, r"no member ends with Small/S4\.txt")


def test_a_changed_part_is_refused(tmp_path, parts, target):
    archive = zip_of(tmp_path / "a.zip", {**MEMBERS, "Small/S5.txt": b"0 qid:1 1:0\n"})
    assert_refused(archive, parts, target, "expected the SHA-256 .*, found")


def test_an_empty_part_is_refused_even_when_no_digest_is_known(tmp_path, target):
    parts = small_set(tmp_path, parts=unverified()).parts
    assert_refused(zip_of(tmp_path / "a.zip", {**MEMBERS, "Small/S5.txt": b""}), parts, target, "found an empty file")


ESCAPES = ["../S1.txt", "a/../../S1.txt", "/etc/S1.txt", "C:/S1.txt", "c:S1.txt", "..\\S1.txt", "a\\S1.txt", ".."]


@pytest.mark.parametrize("name", ESCAPES)
@pytest.mark.parametrize("make", [zip_of, tar_of])
def test_members_that_would_leave_the_folder_are_refused(tmp_path, parts, target, name, make):
    # The wanted members come first: even so nothing of such an archive is kept.
    assert_refused(make(tmp_path / "a.bin", {**MEMBERS, name: b"x"}), parts, target, "would leave the folder; refused")


@pytest.mark.parametrize("make", [zip_of, tar_of])
def test_a_member_given_twice_is_refused(tmp_path, parts, target, make):
    class Twice(dict[str, bytes]):
        def items(self) -> Any:
            return [*MEMBERS.items(), ("./Small/S1.txt", TEXTS["S1"])]

    assert_refused(make(tmp_path / "a.bin", Twice()), parts, target, r"holds the member Small/S1\.txt twice")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (tarfile.SYMTYPE, "is a link"),
        (tarfile.LNKTYPE, "is a link"),
        (tarfile.CHRTYPE, "is a device"),
        (tarfile.BLKTYPE, "is a device"),
        (tarfile.FIFOTYPE, "is a device"),
    ],
)
def test_links_and_devices_in_tar_are_refused(tmp_path, parts, target, kind, message):
    path = tar_of(tmp_path / "a.tar", mode="w")
    with tarfile.open(path, "a") as archive:
        info = tarfile.TarInfo("Small/special")
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    assert_refused(path, parts, target, message)


@pytest.mark.parametrize(("mode", "message"), [(0o120777, "is a link"), (0o020666, "is a device")])
def test_links_and_devices_in_zip_are_refused(tmp_path, parts, target, mode, message):
    path = zip_of(tmp_path / "a.zip")
    with zipfile.ZipFile(path, "a") as archive:
        info = zipfile.ZipInfo("Small/special")
        info.external_attr = mode << 16
        archive.writestr(info, "/etc/passwd")
    assert_refused(path, parts, target, message)


def test_encrypted_zip_is_refused(tmp_path, parts, target):
    path = zip_of(tmp_path / "a.zip")
    content = bytearray(path.read_bytes())
    central = content.index(b"PK\x01\x02")
    content[central + 8] |= 1  # bit 0 of the flags: encrypted
    path.write_bytes(content)
    assert_refused(path, parts, target, "is encrypted; unpack it by hand")


BOMB = bytes(20_000_000)


@pytest.mark.parametrize("make", [zip_of, tar_of])
def test_a_bomb_is_refused_by_its_declared_size(tmp_path, target, make):
    parts = small_set(tmp_path, parts=unverified()).parts
    archive = make(tmp_path / "a.bin", {**MEMBERS, "Small/S1.txt": BOMB})
    assert archive.stat().st_size < 50_000
    assert_refused(archive, parts, target, "unpacks to more than .* refused as a bomb")


def test_a_part_larger_than_it_can_be_is_cut_off(tmp_path, target):
    limited = {name: {**part, "max_bytes": 50} for name, part in unverified().items()}
    parts = small_set(tmp_path, parts=limited).parts
    assert_refused(zip_of(tmp_path / "a.zip"), parts, target, "expected at most 50 bytes, found more")


def test_headers_that_lie_about_the_size_do_not_help(tmp_path, parts, target):
    path = zip_of(tmp_path / "a.zip", {**MEMBERS, "Small/S1.txt": BOMB})
    content = bytearray(path.read_bytes())
    for start, field in ((content.index(b"PK\x03\x04"), 22), (content.index(b"PK\x01\x02"), 24)):
        content[start + field : start + field + 4] = struct.pack("<I", 100)
    path.write_bytes(content)
    assert_refused(path, parts, target, "damaged|SHA-256")


def test_the_tar_stream_itself_is_bounded(tmp_path, parts, target):
    """A header that claims a huge name makes a reader unpack it all: the stream ends before."""
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, len(BOMB)
    path = tmp_path / "a.tar.gz"
    import gzip

    with gzip.open(path, "wb") as file:
        file.write(info.tobuf(tarfile.GNU_FORMAT) + BOMB)
    assert_refused(path, parts, target, "damaged|refused as a bomb")


@pytest.mark.parametrize("make", [zip_of, tar_of])
@pytest.mark.parametrize("share", [0.3, 0.7, 0.98])
def test_a_truncated_archive_is_called_damaged(tmp_path, parts, target, make, share):
    path = make(tmp_path / "a.bin")
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    assert_refused(path, parts, target, "damaged|no member")


def test_every_flipped_byte_is_noticed_or_harmless(tmp_path, parts, target):
    path = zip_of(tmp_path / "a.zip")
    good = path.read_bytes()
    for position in range(0, len(good), 7):
        bad = bytearray(good)
        bad[position] ^= 0xFF
        path.write_bytes(bad)
        try:
            extract(path, parts, target)
        except DataError:
            assert list(target.iterdir()) == []
        else:
            assert_extracted(target)
            for file in target.iterdir():
                file.unlink()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "found an empty file"),
        (b"<!DOCTYPE html><html>", "found a web page"),
        (b"\n <HTML>", "found a web page"),
        (b"0 qid:1 1:0.5\n", "begins with b'0 qid:1"),
    ],
)
def test_what_is_no_archive_is_called_by_its_name(tmp_path, parts, target, content, message):
    path = tmp_path / "Small.zip"
    path.write_bytes(content)
    assert_refused(path, parts, target, message)


def test_what_a_killed_run_left_is_cleared_away(tmp_path, parts, target):
    (target / ".unpacking.partial").mkdir(parents=True)
    (target / ".unpacking.partial" / "S1.txt").write_bytes(b"half")
    extract(zip_of(tmp_path / "a.zip"), parts, target)
    assert_extracted(target)


def rar_of(path: Path, members: dict[str, bytes], mode: int = 0o100644, flags: int = 0) -> Path:
    """A RAR 4 archive whose members are stored without compression.

    A block is CRC (2 bytes, of what follows), type, flags, size and fields; see the technote of the RAR 4 format.
    """

    def block(kind: int, flags: int, fields: bytes, content: bytes = b"") -> bytes:
        rest = struct.pack("<BHH", kind, flags, 7 + len(fields)) + fields
        return struct.pack("<H", zlib.crc32(rest) & 0xFFFF) + rest + content

    blocks = [b"Rar!\x1a\x07\x00", block(0x73, 0, bytes(6))]
    for name, content in members.items():
        sizes = struct.pack("<II", len(content), len(content))
        unix, version, stored, time = 3, 20, 0x30, 0x5A000000
        fields = sizes + struct.pack("<BIIBBHI", unix, zlib.crc32(content), time, version, stored, len(name), mode)
        blocks.append(block(0x74, 0x8000 | flags, fields + name.encode(), content))
    path.write_bytes(b"".join([*blocks, block(0x7B, 0x4000, b"")]))
    return path


def test_rar(libarchive, tmp_path, parts, target):
    found = extract(rar_of(tmp_path / "Small.rar", MEMBERS), parts, target)
    assert_extracted(target)
    assert found["S5"][1].verified


@pytest.mark.parametrize("name", ["../S1.txt", "/etc/S1.txt", "a/../../S1.txt"])
def test_rar_that_escapes_is_refused(libarchive, tmp_path, parts, target, name):
    assert_refused(rar_of(tmp_path / "a.rar", {**MEMBERS, name: b"x"}), parts, target, "would leave the folder")


def test_encrypted_rar_is_refused(libarchive, tmp_path, parts, target):
    assert_refused(rar_of(tmp_path / "a.rar", MEMBERS, flags=0x04), parts, target, "encrypted")


@pytest.mark.parametrize("error", [ImportError("no binding"), OSError("no library"), AttributeError("archive_errno")])
def test_without_libarchive_the_error_says_how_to_install_it(tmp_path, parts, target, monkeypatch, error):
    real = builtins.__import__

    def broken(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("libarchive"):
            raise error
        return real(name, *rest, **more)

    for name in [name for name in sys.modules if name.split(".")[0] == "libarchive"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", broken)
    with pytest.raises(DataError) as caught:
        extract(rar_of(tmp_path / "Small.rar", MEMBERS), parts, target)
    for hint in ("apt-get install libarchive13", "conda-forge", "brew install libarchive", "LIBARCHIVE", ".zip"):
        assert hint in str(caught.value)
    assert list(target.iterdir()) == []


def test_a_full_disk_is_not_blamed_on_the_archive(tmp_path, parts, target, monkeypatch):
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archives, "write_part", full)
    with pytest.raises(OSError, match="No space left"):
        extract(zip_of(tmp_path / "a.zip"), parts, target)


def test_reading_is_done_in_blocks(tmp_path):
    blocks = list(archives._blocks(lambda: io.BytesIO(bytes(3_000_000))))
    assert max(map(len, blocks)) == archives.BLOCK_BYTES
