"""Are TREC runs and qrels read as they were meant, and refused where they say something else?"""

import bz2
import gzip
from pathlib import Path
from typing import Any

import pytest

from pipeline_lib.core import files
from pipeline_lib.core.errors import DataError
from pipeline_lib.sources import trec


@pytest.fixture
def written(tmp_path: Path):
    def write(content: bytes) -> Path:
        (tmp_path / "file").write_bytes(content)
        return tmp_path / "file"

    return write


def test_a_byte_order_mark_is_no_part_of_a_query(written) -> None:
    judged = trec.Judgements(written(b"\xef\xbb\xbf1 0 a 1\n2 0 a 1\n"))
    assert judged.queries == ["1", "2"]
    assert judged.labels("1") == {"a": 1}
    run = trec.Run(written(b"\xef\xbb\xbf1 Q0 a 1 0.5 x\n"))
    assert (run.queries, run.scores("1")) == (["1"], {"a": 0.5})


@pytest.mark.parametrize("labels", [(4, 1, 0), (1, 4, 0), (0, 1, 4)])
def test_the_largest_label_is_that_of_all_queries(written, labels) -> None:
    lines = "".join(f"{query} 0 a {label}\n{query} 0 b 0\n" for query, label in enumerate(labels))
    assert trec.Judgements(written(lines.encode())).largest_label == 4


def test_lines_that_begin_with_a_hash_are_comments(written) -> None:
    judged = trec.Judgements(written(b"# by hand\n1 0 a 1\n# by me too\n#\n1 0 b 0\n# \xe9\n"))
    assert judged.queries == ["1"]
    assert judged.labels("1") == {"a": 1, "b": 0}
    run = trec.Run(written(b"\xef\xbb\xbf# four words of comment\n1 Q0 a 1 0.5 x\n"))
    assert run.scores("1") == {"a": 0.5}
    with pytest.raises(DataError, match=r"file:1: expected at least one line"):
        trec.Run(written(b"# nothing\n"))


@pytest.mark.parametrize("label", ["1_0", "٣", "0x1", "1e", ".", "--1", "infinit"])
def test_only_digits_make_a_number(written, label: str) -> None:
    with pytest.raises(DataError, match=r"file:2: expected a number"):
        trec.Judgements(written(f"1 0 a 1\n1 0 b {label}\n".encode())).labels("1")
    with pytest.raises(DataError, match=r"file:1: expected a number"):
        trec.Run(written(f"1 Q0 b 1 {label} x\n".encode())).scores("1")


@pytest.mark.parametrize(("text", "value"), [("+2", 2), ("2.", 2), ("2.0e0", 2), ("-1", 0), (".1e1", 1)])
def test_numbers_are_those_of_programs(written, text: str, value: int) -> None:
    assert trec.Judgements(written(f"1 0 a {text}\n".encode())).labels("1") == {"a": value}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"1 Q0 ok 1 0.5 x\n1 Q0 caf\xe9 2 0.4 x\n", r"file:2: .*UTF-8.*caf\\xe9.*convert"),
        ("1 Q0 a 1 0.5 x\n".encode("utf-16"), r"file:1: .*UTF-8.*UTF-16.*convert"),
    ],
)
def test_other_encodings_are_refused(written, content: bytes, said: str) -> None:
    with pytest.raises(DataError, match=said):
        trec.Run(written(content))


def test_names_end_at_blanks_of_ascii_alone(written) -> None:
    run = trec.Run(written("1 Q0 a\u00a0b 1 0.5 x\n1 Q0 a\u2003c 1 0.4 x\r\n".encode()))
    assert run.scores("1") == {"a\u00a0b": 0.5, "a\u2003c": 0.4}


def test_a_file_is_opened_once(written, monkeypatch) -> None:
    opened: list[Any] = []
    kept = {"open": open, "of reading": files._Read}

    def counting(way: str) -> Any:
        return lambda *given, **more: opened.append(given[0]) or kept[way](*given, **more)

    path = written(b"".join(b"%d Q0 a 1 0.5 x\n" % (q % 50) for q in range(50)))
    monkeypatch.setattr("builtins.open", counting("open"))
    monkeypatch.setattr(files, "_Read", counting("of reading"))
    run = trec.Run(path)
    assert [run.scores(query) for query in run.queries] == [{"a": 0.5}] * 50
    assert len(opened) == 1


def test_lines_are_counted_across_queries(written) -> None:
    run = trec.Run(written(b"1 Q0 a 1 1 x\n2 Q0 a 1 1 x\n\n# c\n1 Q0 b 1 1 x\n1 Q0 c 1 nought x\n"))
    with pytest.raises(DataError, match=r"file:6: expected a number.*'nought'"):
        run.scores("1")


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_compressed_files_are_read_as_their_content(tmp_path: Path, monkeypatch, compress) -> None:
    monkeypatch.setattr(trec, "IN_MEMORY", 10)  # the rest is in a file
    path = tmp_path / "some.run.gz"
    path.write_bytes(compress(b"7 Q0 a 1 0.5 x\n8 Q0 c 1 1 x\n7 Q0 b 2 1.5 x\n"))
    run = trec.Run(path)
    assert run.queries == ["7", "8"]
    assert run.scores("7") == {"a": 0.5, "b": 1.5}
    path.with_suffix("").write_bytes(compress(b"7 0 a 2\n"))
    assert trec.Judgements(path.with_suffix("")).labels("7") == {"a": 2}


@pytest.mark.parametrize("end", [12, -9])
def test_a_compressed_file_that_is_cut_off_is_refused(tmp_path: Path, end: int) -> None:
    path = tmp_path / "some.run.gz"
    path.write_bytes(gzip.compress("".join(f"7 Q0 d{i} {i} 0.5 x\n" for i in range(1000)).encode())[:end])
    with pytest.raises(DataError, match=r"some\.run\.gz: expected a whole gzip file, found a damaged one"):
        trec.Run(path)
