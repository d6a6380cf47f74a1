"""The reader against a slow one that follows the format word for word, on damaged text."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline_lib.errors import DataError
from pipeline_lib.sources import letor, letor_reader

D = 12
NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
WHOLE = r"[+-]?[0-9]+"
LINE = re.compile(rf"[ \t]*({WHOLE})[ \t]+qid:({WHOLE})((?:[ \t]+[0-9]+:{NUMBER})*)[ \t]*\Z")


def word_for_word(text: str) -> tuple[list[list[np.float32]], list[int], list[int]] | int:
    """Features, labels and queries of every document, or the number of the first line that breaks the format."""
    X: list[list[np.float32]] = []
    y: list[int] = []
    qid: list[int] = []
    for number, whole_line in enumerate(text.split("\n"), start=1):
        line = whole_line.removesuffix("\r")
        if "\0" in line:
            return number
        line = line.split("#")[0]
        if not line.strip(" \t"):
            continue
        match = LINE.match(line)
        if not match:
            return number
        row = [np.float32(0)] * D
        ids = set()
        for field in match[3].split():
            id_, value = field.split(":")
            with np.errstate(over="ignore"):
                single = np.float32(float(value))
            if int(id_) in ids or not 1 <= int(id_) <= D or not np.isfinite(single):
                return number
            ids.add(int(id_))
            row[int(id_) - 1] = single
        label, name = int(match[1]), int(match[2])
        if match[1].startswith("-") or label > 255 or abs(name) >= 2**63 or (name in qid and qid[-1] != name):
            return number
        X.append(row)
        y.append(label)
        qid.append(name)
    return (X, y, qid) if X else -1


WORDS = ["0", "1", "2", "255", "256", "-1", "qid:1", "qid:2", "qid:", "1:", "1:0.5", "2:0.25", "3:-1e-3", "12:7"]
WORDS += ["13:7", "0:1", "2:1.e5", "3:.5", "4:1e40", "1:1e-400", "2:1e", "3:nan", "5:123456789012345678901234567890"]
WORDS += ["6:0.1234567890123456789", "7:00000000000000000001", ":", "#", "e", "+", "-", ".", "_", "€"]
WORDS += ["# note", "\r", "\x00", "\x0b"]
GAPS = [" ", " ", " ", "\t", "  ", "", "\n", "\r\n", "\n0 qid:1 ", "\n1 qid:2 "]
texts = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GAPS)), max_size=30).map(
    lambda pairs: "0 qid:1 " + "".join(word + gap for word, gap in pairs)
)


@given(text=texts, piece=st.sampled_from([48, 200, 1 << 20]))
@example(text="0 qid:1 1:1\r", piece=200)
@settings(max_examples=500)
def test_damaged_text(tmp_path_factory: pytest.TempPathFactory, text: str, piece: int) -> None:
    path = Path(tmp_path_factory.getbasetemp()) / "damaged.txt"
    path.write_bytes(text.encode())
    expected = word_for_word(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(letor_reader, "PIECE", piece)
        if isinstance(expected, int):
            with pytest.raises(DataError) as raised:
                letor.read(path, n_features=D)
            if expected > 0:
                assert str(raised.value).startswith(f"{path}:{expected}: ")
            return
        data = letor.read(path, n_features=D)
    X, y, qid = expected
    assert data.X.view(np.uint32).tolist() == np.array(X, np.float32).view(np.uint32).tolist()
    assert data.y.tolist() == y
    assert np.repeat(data.qids, data.documents_per_query).tolist() == qid
