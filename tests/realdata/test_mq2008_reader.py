"""The reader on real files: counts known from elsewhere, values from the plainest parser."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.sources import conversion, letor

FACTS = {
    "MQ2008": (15_211, 784, 46, {0: 12_279, 1: 2_001, 2: 931}),
    "OHSUMED": (16_140, 106, 45, {0: 11_303, 1: 2_585, 2: 2_252}),
}
QUERIES_WITHOUT_RELEVANT = {"MQ2008": 220, "OHSUMED": 1}


@pytest.fixture(params=list(FACTS))
def extracted(request: pytest.FixtureRequest, mirror: Path, tmp_path: Path) -> tuple[str, dict[str, Path]]:
    name = request.param
    if not (mirror / f"{name}.zip").is_file():
        pytest.skip(f"set LTR_MIRROR to a folder that holds {name}.zip")
    parts = [f"S{i}" for i in range(1, 6)]
    with zipfile.ZipFile(mirror / f"{name}.zip") as archive:
        members = {part: next(m for m in archive.namelist() if m.endswith(f"/{part}.txt")) for part in parts}
        return name, {part: Path(archive.extract(member, tmp_path)) for part, member in members.items()}


def test_counts(extracted: tuple[str, dict[str, Path]], tmp_path: Path) -> None:
    name, parts = extracted
    rows, queries, features, labels = FACTS[name]
    summary = conversion.convert(parts, tmp_path / "data.parquet")
    assert (summary.rows, summary.queries, summary.features, summary.labels) == (rows, queries, features, labels)
    assert summary.queries_without_relevant == QUERIES_WITHOUT_RELEVANT[name]
    if name == "MQ2008":
        assert (summary.documents_per_query_min, summary.documents_per_query_max) == (5, 121)
    stored = RankingData.read_parquet(tmp_path / "data.parquet")
    texts = [letor.read(path) for path in parts.values()]
    assert stored.X.tobytes() == b"".join(text.X.tobytes() for text in texts)
    assert stored.y.tolist() == np.concatenate([text.y for text in texts]).tolist()
    assert stored.qids.tolist() == np.concatenate([text.qids for text in texts]).tolist()


def test_every_value_is_what_plain_python_reads(extracted: tuple[str, dict[str, Path]]) -> None:
    name, parts = extracted
    data = letor.read(parts["S3"])
    qid = np.repeat(data.qids, data.documents_per_query)
    lines = parts["S3"].read_text().splitlines()
    assert len(lines) == data.n_documents
    for row in range(0, len(lines), 7):
        label, query, *features = lines[row].split("#")[0].split()
        expected = np.zeros(FACTS[name][2])
        for feature in features:
            id_, value = feature.split(":")
            expected[int(id_) - 1] = float(value)
        assert data.X[row].tobytes() == expected.astype(np.float32).tobytes()
        assert (data.y[row], f"qid:{qid[row]}") == (int(label), query)
