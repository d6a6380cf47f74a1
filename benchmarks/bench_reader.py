"""Reading LETOR text into arrays

The work is a file of `label qid:Q id:value ... # comment` lines turned into features, labels and query names in
memory. All readers read the same file from the page cache. Polars has no reader for the format: it reads
the text as CSV after every colon has been replaced by a blank, ids and all, and the columns of values are then put
into one matrix; comments are cut off beforehand, outside the time measured. The first file has six decimals everywhere
as MQ2007 and MQ2008 have; the second mixes counts and decimals as MSLR-WEB10K does.
"""

import importlib.util
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.timing import Timing, compare, not_measured
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.sources import letor

NOT_INSTALLED = "not installed; it is in the extra `bench`"
PEERS = {"polars": "polars", "xgboost": "xgboost-cpu", "sklearn": "scikit-learn"}


def write_normalised(path: Path, n_documents: int, n_features: int) -> None:
    """A file like MQ2007: values in [0, 1] with six decimals, a third of them 0, a comment on every line."""
    rng = np.random.default_rng(2007)
    X = np.where(rng.random((n_documents, n_features)) < 1 / 3, 0.0, rng.random((n_documents, n_features)))
    y = rng.choice(3, n_documents, p=[0.74, 0.20, 0.06])
    form = (
        "%d qid:%d "
        + " ".join(f"{j}:%.6f" for j in range(1, n_features + 1))
        + " #docid = GX%03d-%02d-%08d inc = 1 prob = %.6f\n"
    )
    with path.open("w") as file:
        for i in range(n_documents):
            file.write(form % (y[i], 10 + i // 41, *X[i], i % 273, i % 99, i * 7919 % 10**8, X[i, 0]))


def write_mixed(path: Path, n_documents: int, n_features: int) -> None:
    """A file like MSLR-WEB10K: counts and decimals of up to six places in their shortest form, no comments."""
    rng = np.random.default_rng(10)
    counts = rng.geometric(0.05, (n_documents, n_features // 2)) - 1
    decimals = np.round(rng.gamma(1, 5, (n_documents, n_features - n_features // 2)), 6)
    X = np.concatenate([counts, decimals], axis=1)[:, rng.permutation(n_features)]
    letor.write(
        path, RankingData.from_arrays(X, rng.integers(0, 5, n_documents), np.arange(n_documents) // 120), force=True
    )


def readers(path: Path, n_features: int) -> dict[str, Callable[[], object]]:
    """Every reader that is installed; ours first."""
    peers: dict[str, Callable[[], object]] = {"ours": lambda: letor.read(path)}
    if _installed("polars"):
        import polars

        blanks = path.with_suffix(".blanks")
        text = "\n".join(line.split("#")[0].strip() for line in path.read_text().splitlines())
        blanks.write_text(text + "\n")

        def read_polars() -> object:
            replaced = blanks.read_bytes().replace(b":", b" ")
            # label, "qid", Q, then id and value in turn; the words "qid" and the ids are not parsed.
            values = [f"value {j}" for j in range(1, n_features + 1)]
            schema: dict[str, type[polars.DataType]] = {
                "label": polars.Int32,
                "word": polars.String,
                "qid": polars.Int64,
            }
            for value in values:
                schema |= {f"id of {value}": polars.String, value: polars.Float32}
            lines = polars.scan_csv(replaced, separator=" ", has_header=False, schema=schema)
            table = lines.select("label", "qid", *values).collect()
            return table.select(values).to_numpy(), table["label"].to_numpy(), table["qid"].to_numpy()

        peers["polars CSV"] = read_polars
    if _installed("xgboost"):
        import xgboost

        xgboost.set_config(verbosity=0)

        def read_xgboost() -> object:
            return xgboost.DMatrix(f"{path}?format=libsvm", nthread=1)

        peers["xgboost DMatrix"] = read_xgboost
    return peers


def _installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def measure() -> list[Timing]:
    """Time every reader on 69,000 x 46 and on 100,000 x 136."""
    timings = []
    with tempfile.TemporaryDirectory() as folder:
        for n, d, write, with_sklearn in ((69_000, 46, write_normalised, True), (100_000, 136, write_mixed, False)):
            path = Path(folder) / f"{n}x{d}.txt"
            write(path, n, d)
            work = f"LETOR text, {n:,} x {d}, {path.stat().st_size / 1e6:.0f} MB"
            notes = {
                "ours": "errors with line numbers, contiguity and finiteness checked",
                "polars CSV": "after replacing ':'; nothing checked",
                "xgboost DMatrix": "into its own sparse form; a second thread reads ahead, and its seconds count",
            }
            peers = readers(path, d)
            if with_sklearn and _installed("sklearn"):
                from sklearn.datasets import load_svmlight_file

                peers["scikit-learn"] = partial(load_svmlight_file, str(path), query_id=True, dtype=np.float32)
                notes["scikit-learn"] = "load_svmlight_file(query_id=True), into a sparse matrix"
            timings += compare(work, peers, unit="row", unit_count=n, notes=notes)
            if not with_sklearn:
                reason = "left out: its time grows as the square of the rows with query_id"
                timings.append(not_measured(work, "scikit-learn", "row", reason))
            for module, package in PEERS.items():
                if not _installed(module) and (module != "sklearn" or with_sklearn):
                    timings.append(not_measured(work, package, "row", NOT_INSTALLED))
    return timings
