import hashlib
import json
import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_lib.core.errors import DataError
from pipeline_lib.data import stored_data
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.sources import conversion, letor


def write_parts(folder: Path, texts: dict[str, str]) -> dict[str, Path]:
    paths = {name: folder / f"{name}.txt" for name in texts}
    for name, text in texts.items():
        paths[name].write_text(text)
    return paths


TEXTS = {
    "S2": "0 qid:9 1:1 2:2\n2 qid:9 1:3\n0 qid:4 3:4\n",
    "S1": "0 qid:4 1:5\n0 qid:4 2:6\n0 qid:4 2:6\n1 qid:5 1:7\n",
}


def test_conversion_keeps_order_and_says_what_it_saw(tmp_path: Path) -> None:
    parts = write_parts(tmp_path, TEXTS)
    target = tmp_path / "made" / "data.parquet"
    summary = conversion.convert(parts, target)
    data = RankingData.read_parquet(target)
    assert data.qids.tolist() == [9, 4, 4, 5]
    assert data.documents_per_query.tolist() == [2, 1, 3, 1]
    assert data.y.tolist() == [0, 2, 0, 0, 0, 0, 1]
    assert data.X.tolist() == [[1, 2, 0], [3, 0, 0], [0, 0, 4], [5, 0, 0], [0, 6, 0], [0, 6, 0], [7, 0, 0]]
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in TEXTS.items()}
    assert summary.to_dict() == {
        "rows": 7,
        "queries": 4,
        "features": 3,
        "labels": {0: 5, 1: 1, 2: 1},
        "parts": [
            {"name": "S2", "rows": 3, "queries": 2, "sha256": digests["S2"]},
            {"name": "S1", "rows": 4, "queries": 2, "sha256": digests["S1"]},
        ],
        "documents_per_query_min": 1,
        "documents_per_query_median": 1.5,
        "documents_per_query_max": 3,
        "queries_without_relevant": 2,
    }
    assert json.loads(json.dumps(summary.to_dict()))["labels"] == {"0": 5, "1": 1, "2": 1}
    assert stored_data.read_parts(target) == summary.to_dict()["parts"]
    with pytest.raises(FrozenInstanceError):
        summary.rows = 0  # type: ignore[misc]


def test_row_groups_do_not_straddle_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_data, "ROWS_PER_GROUP", 2)
    target = tmp_path / "data.parquet"
    conversion.convert(write_parts(tmp_path, TEXTS), target)
    file = pq.ParquetFile(target).metadata
    assert [file.row_group(g).num_rows for g in range(file.num_row_groups)] == [2, 1, 2, 2]


@given(
    sizes=st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=6), min_size=1, max_size=3),
    group=st.sampled_from([1, 3, 65_536]),
    seed=st.integers(0, 1000),
)
@settings(max_examples=50)
def test_what_is_converted_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[list[int]], group: int, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("conversion")
    rng = np.random.default_rng(seed)
    parts, whole = {}, []
    for number, part in enumerate(sizes):
        n = sum(part)
        data = RankingData.from_arrays(
            rng.normal(size=(n, 3)), rng.integers(0, 3, n), np.repeat(range(len(part)), part)
        )
        parts[f"S{number}"] = folder / f"S{number}.txt"
        letor.write(parts[f"S{number}"], data)
        whole.append(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_data, "ROWS_PER_GROUP", group)
        summary = conversion.convert(parts, folder / "data.parquet", n_features=3)
    back = RankingData.read_parquet(folder / "data.parquet")
    y = np.concatenate([data.y for data in whole])
    documents = [size for part in sizes for size in part]
    assert back.X.tobytes() == np.concatenate([data.X for data in whole]).tobytes()
    assert back.y.tolist() == y.tolist()
    assert back.documents_per_query.tolist() == documents
    assert summary.labels == {int(label): int((y == label).sum()) for label in np.unique(y)}
    assert summary.queries_without_relevant == sum(
        int(back.take(q).y.max()) == 0 for q in range(back.n_queries)
    )  # fmt: skip
    assert (summary.documents_per_query_min, summary.documents_per_query_max) == (min(documents), max(documents))
    assert summary.documents_per_query_median == np.median(documents)
    assert [(part.rows, part.queries) for part in summary.parts] == [(sum(part), len(part)) for part in sizes]


@pytest.mark.parametrize("n_features", [None, 3])
def test_nothing_appears_when_a_part_is_malformed(tmp_path: Path, n_features: int | None) -> None:
    parts = write_parts(tmp_path, {**TEXTS, "S3": "0 qid:1 1:1\n0 qid:1 1:x\n"})
    target = tmp_path / "made" / "data.parquet"
    with pytest.raises(DataError, match=r"S3.txt:2: expected a finite number"):
        conversion.convert(parts, target, n_features=n_features)
    assert not target.parent.exists() or list(target.parent.iterdir()) == []


def test_no_parts_and_missing_parts(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="at least one part"):
        conversion.convert({}, tmp_path / "data.parquet")
    with pytest.raises(DataError, match="expected a readable file"):
        conversion.convert({"S1": tmp_path / "none.txt"}, tmp_path / "data.parquet", n_features=2)
    assert list(tmp_path.iterdir()) == []


PEAK = """
import re, sys
from pathlib import Path
from pipeline_lib.data import stored_data
from pipeline_lib.sources import conversion

def peak():  # not getrusage: that begins with the peak of the process that started this one
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])

stored_data.ROWS_PER_GROUP = 4096
conversion.convert({"warm up": Path(sys.argv[1])}, sys.argv[3], n_features=100)
before = peak()
conversion.convert({"all": Path(sys.argv[2])}, sys.argv[3], n_features=100)
print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak memory of a process is read from /proc")
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Four times the rows (24 MB more features, 28 MB more text) may raise the peak by a small part of them."""
    n, d = 20_000, 100
    rng = np.random.default_rng(0)
    data = RankingData.from_arrays(rng.integers(0, 50, (n, d)), rng.integers(0, 3, n), np.arange(n) // 40)
    letor.write(tmp_path / "small.txt", data)
    text = (tmp_path / "small.txt").read_text()
    (tmp_path / "large.txt").write_text("".join(text.replace(" qid:", f" qid:{i}000") for i in range(1, 5)))
    command = [sys.executable, "-c", PEAK, tmp_path / "small.txt", tmp_path / "large.txt", tmp_path / "data.parquet"]
    grown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert int(grown) < 8 * 1024
