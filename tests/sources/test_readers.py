"""Every form of a file gives the same data set as a plain parser, and every error names the line or the row."""

import bz2
import csv
import gzip
import hashlib
import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline_lib import RankingData
from pipeline_lib.core.errors import DataError, PipelineError
from pipeline_lib.data import stored_data
from pipeline_lib.sources import conversion, letor_reader, query_stream, readers
from pipeline_lib.sources.own_settings import companions
from pipeline_lib.sources.tables import Options

Rows = list[tuple[str, int, list[float]]]
"""What a file says: query, label and features of every document."""

NUMBERED = ["10", "7", "-3", "8"]
NAMED = ["jaguar", "10", "café au lait", "7"]


def some_rows(queries: list[str], d: int = 3, seed: int = 0) -> Rows:
    draw = random.Random(seed)
    return [
        (query, draw.randrange(4), [round(draw.uniform(-5, 5), draw.randrange(9)) for _ in range(d)])
        for query in queries
        for _ in range(draw.randrange(1, 6))
    ]


def as_letor(rows: Rows, first_id: int = 1) -> bytes:
    lines = [
        f"{y} qid:{query.replace(' ', '_')} " + " ".join(f"{j}:{x!r}" for j, x in enumerate(values, first_id))
        for query, y, values in rows
    ]
    return ("# made by a test\n\n" + "\n".join(lines) + "\n").encode()


def as_letor_from_0(rows: Rows) -> bytes:
    return as_letor(rows, 0)


def as_letor_with_decimals(rows: Rows) -> bytes:
    return b"\n".join(line.replace(b" qid", b".0 qid", 1) for line in as_letor(rows).split(b"\n"))


def as_libsvm(rows: Rows) -> bytes:
    lines = (f"{y} " + " ".join(f"{j}:{x!r}" for j, x in enumerate(values, 1)) for _, y, values in rows)
    return ("\n".join(lines) + "\n").encode()


def as_csv(rows: Rows, delimiter: str = ",") -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["bm25", "query", "pagerank", "Label", "length"])
    for query, y, values in rows:
        writer.writerow([values[0], query, values[1], y, values[2]])
    return text.getvalue().encode()


def as_tsv(rows: Rows) -> bytes:
    return as_csv(rows, "\t").replace(b"\n", b"\n\n")


def as_parquet(rows: Rows, queries: Callable[[list[str]], Any] = list) -> bytes:
    columns = {"bm25": [x[0] for *_, x in rows], "query": queries([query for query, *_ in rows])}
    columns |= {"pagerank": [x[1] for *_, x in rows], "label": [float(y) for _, y, _ in rows]}
    file = io.BytesIO()
    pq.write_table(pa.table(columns | {"length": [x[2] for *_, x in rows]}), file)
    return file.getvalue()


def as_parquet_of_numbers(rows: Rows) -> bytes:
    return as_parquet(rows, lambda queries: list(map(int, queries)))


def as_parquet_of_categories(rows: Rows) -> bytes:
    return as_parquet(rows, lambda queries: pa.array(queries).dictionary_encode())


TEXTS = {
    "letor.txt": as_letor,
    "zero.dat": as_letor_from_0,
    "real.txt": as_letor_with_decimals,
    "some.train": as_libsvm,
}
TABLES = {"some.csv": as_csv, "some.tsv": as_tsv}
PARQUET = {"names.parquet": as_parquet, "categories.parquet": as_parquet_of_categories}
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": lambda content: pa.compress(content, codec="zstd", asbytes=True),
}
NAMES_OF_FEATURES = ("bm25", "pagerank", "length")


def write(folder: Path, name: str, rows: Rows, form: Callable[[Rows], bytes], packed: str = "") -> Path:
    path = folder / f"{name}{packed}"
    path.write_bytes(PACKED[packed](form(rows)))
    if form is as_libsvm:
        sizes = [sum(1 for query, *_ in rows if query == one) for one in dict.fromkeys(query for query, *_ in rows)]
        (folder / f"{name}.query").write_text("\n".join(map(str, sizes)) + "\n")
    return path


def converted(*paths: Path, options: Options | None = None, shared: bool = False) -> RankingData:
    target = paths[0].parent / "converted.parquet"
    parts = {f"part{i}": path for i, path in enumerate(paths)}
    summary = conversion.convert_own(parts, target, options or Options(), shared=shared)
    for part, path in zip(summary.parts, paths, strict=True):
        content = b"".join(one.read_bytes() for one in (path, *companions(path)))
        assert part.sha256 == hashlib.sha256(content).hexdigest()
    return RankingData.read_parquet(target, stored=True)


def assert_is(data: RankingData, rows: Rows, *, named: bool, numbered: bool = True) -> None:
    """The data set is what the rows say."""
    X = np.array([x for *_, x in rows]).astype(np.float32)
    assert data.X.view(np.uint32).tolist() == X.view(np.uint32).tolist()
    assert data.y.tolist() == [y for _, y, _ in rows]
    queries = list(dict.fromkeys(query for query, *_ in rows))
    assert data.documents_per_query.tolist() == [sum(1 for query, *_ in rows if query == one) for one in queries]
    assert data.feature_names == (NAMES_OF_FEATURES if named else None)
    if numbered:
        assert (data.qids.tolist(), data.query_names) == (list(map(int, queries)), None)


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("name", [*TEXTS, *TABLES])
@pytest.mark.parametrize("queries", [NUMBERED, NAMED], ids=["numbered", "named"])
def test_text_of_every_form_and_compression(tmp_path: Path, name: str, packed: str, queries: list[str]) -> None:
    rows, form = some_rows(queries), (TEXTS | TABLES)[name]
    data = converted(write(tmp_path, name, rows, form, packed))
    if form is as_libsvm:
        assert_is(data, rows, named=False, numbered=False)
        assert (data.qids.tolist(), data.query_names) == ([0, 1, 2, 3], None)
        return
    assert_is(data, rows, named=name in TABLES, numbered=queries is NUMBERED)
    if queries is NAMED:
        text = name in TEXTS
        assert data.query_names == tuple(query.replace(" ", "_") if text else query for query in queries)


@pytest.mark.parametrize("name", PARQUET)
@pytest.mark.parametrize("queries", [NUMBERED, NAMED], ids=["numbered", "named"])
def test_parquet(tmp_path: Path, name: str, queries: list[str]) -> None:
    rows = some_rows(queries)
    data = converted(write(tmp_path, name, rows, PARQUET[name]))
    assert_is(data, rows, named=True, numbered=False)
    assert data.query_names == tuple(queries)
    if queries is NUMBERED:
        assert_is(converted(write(tmp_path, name, rows, as_parquet_of_numbers)), rows, named=True)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("queries", [NUMBERED, NAMED], ids=["numbered", "named"])
def test_from_letor(tmp_path: Path, name: str, packed: str, queries: list[str]) -> None:
    path = write(tmp_path, name, some_rows(queries), TEXTS[name], packed)
    data, stored = RankingData.from_letor(path), converted(path)
    for field in ("X", "y", "offsets", "qids"):
        assert getattr(data, field).tolist() == getattr(stored, field).tolist()
    assert data.query_names == stored.query_names


def test_what_a_message_advises_about_real_labels_can_be_done(tmp_path: Path) -> None:
    path = tmp_path / "some.txt"
    path.write_bytes(b"0.5 qid:a 1:1\n1.4 qid:a 1:2\n")
    with pytest.raises(DataError, match=r"some.txt:1: .*labels='rounded'"):
        RankingData.from_letor(path)
    assert RankingData.from_letor(path, labels="rounded").y.tolist() == [1, 1]
    with pytest.raises(DataError, match=r"some.txt:1: .*`labels: rounded`"):  # as in the configuration of a study
        converted(path)
    assert converted(path, options=Options(labels="rounded")).y.tolist() == [1, 1]


def test_a_byte_order_mark_hides_no_query_and_no_group_size(tmp_path: Path) -> None:
    mark, path, sizes = b"\xef\xbb\xbf", tmp_path / "some.txt", tmp_path / "some.txt.query"
    sizes.write_bytes(mark + b"2\n")
    path.write_bytes(mark + b"0 1:1\n1 1:2\n")
    assert converted(path).documents_per_query.tolist() == [2]
    path.write_bytes(mark + b"qid:7 1:1\nqid:8 1:2\n")  # the sizes are not needed
    assert next(query_stream.batches(path, labelled=False)).data.qids.tolist() == [7]


@pytest.mark.parametrize("piece", [40, 97])
@pytest.mark.parametrize("group", [1, 3])
def test_names_and_ids_across_pieces_and_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int, group: int
) -> None:
    rows = some_rows([*NAMED, *(f"q{i}" for i in range(30))], d=2)
    sparse = b"0 qid:last 5:1\n1 qid:last 0:2 9:1\n"
    monkeypatch.setattr(letor_reader, "PIECE", piece)
    monkeypatch.setattr(stored_data, "ROWS_PER_GROUP", group)
    path = tmp_path / "some.txt"
    path.write_bytes(as_letor(rows) + sparse)
    data = RankingData.from_letor(path)
    assert data.X.shape == (len(rows) + 2, 10)
    assert data.X[:-2, 1:3].tolist() == np.array([x for *_, x in rows]).astype(np.float32).tolist()
    assert data.X[-2:, [0, 5, 9]].tolist() == [[0, 1, 0], [2, 0, 1]]
    assert data.query_names == (*dict.fromkeys(query.replace(" ", "_") for query, *_ in rows), "last")
    stored = converted(path)
    assert stored.X.tolist() == data.X.tolist()
    assert stored.query_names == data.query_names


def test_several_files_have_their_queries_and_the_columns_of_the_first(tmp_path: Path) -> None:
    first, second = some_rows(["1", "2"]), some_rows(["2", "x"], seed=1)
    paths = [write(tmp_path, "a.csv", first, as_csv), tmp_path / "b.csv"]
    lines = [line.split(",") for line in as_csv(second).decode().splitlines()]
    paths[1].write_text("\n".join(",".join(reversed(line)) for line in lines))
    data = converted(*paths)
    assert data.feature_names == NAMES_OF_FEATURES
    assert data.X.tolist() == np.array([x for *_, x in first + second]).astype(np.float32).tolist()
    assert data.query_names == ("1", "2", "2", "x")


def test_queries_that_files_share_are_stored_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_data, "ROWS_PER_GROUP", 2)
    parts = [some_rows([f"q{k}", f"r{k}"], seed=k) for k in range(3)]
    texts = {"test": parts[0], "vali": parts[1], "train": parts[2] + parts[0], "other": parts[1] + parts[2]}
    paths = [write(tmp_path, f"{name}.txt", rows, as_letor) for name, rows in texts.items()]
    data = converted(*paths, shared=True)
    assert data.query_names == ("q0", "r0", "q1", "r1", "q2", "r2")
    assert data.X.tolist() == np.array([x for rows in parts for *_, x in rows]).astype(np.float32).tolist()
    members = stored_data.queries_of_parts(tmp_path / "converted.parquet", stored=True)
    assert [found.tolist() for found in members.values()] == [[0, 1], [2, 3], [4, 5, 0, 1], [2, 3, 4, 5]]


def test_queries_without_names_are_shared_by_their_documents(tmp_path: Path) -> None:
    twice = some_rows(["a"]) + [("b", y, x) for _, y, x in some_rows(["a"])]
    paths = [
        write(tmp_path, "one.train", some_rows(["x"], seed=3) + some_rows(["y"], seed=4), as_libsvm),
        write(tmp_path, "two.train", twice + some_rows(["y"], seed=4), as_libsvm),
        write(tmp_path, "three.train", twice, as_libsvm),
    ]
    data = converted(*paths, shared=True)
    assert data.n_queries == 4
    members = stored_data.queries_of_parts(tmp_path / "converted.parquet", stored=True)
    assert [found.tolist() for found in members.values()] == [[0, 1], [2, 3, 1], [2, 3]]


HEAD = "qid,label,x,url\n"
IGNORE = Options(ignore=("url",))
WRONG_TABLES = [
    ("1,0,0.5,a\n\n1,0,oops,b\n", IGNORE, r"csv:4: .*number in the column 'x', found 'oops'"),
    ("1,0,0.5,a\n1,1,,b\n", IGNORE, r"csv:3: .*'x', found no value"),
    ("1,0,0.5,a\n1,1,inf,b\n", IGNORE, r"csv:3: .*finite number in the column 'x'"),
    ("1,0,0.5,a\n1,1,1e39,b\n", IGNORE, r"csv:3: .*'x' that is finite in float32"),
    ("1,0,0.5,a\n1,1.5,1,b\n", IGNORE, r"csv:3: .*label \(column 'label'\), found 1.5"),
    ("1,0,0.5,a\n1,300,1,b\n", IGNORE, r"csv:3: .*label.*found 300"),
    ("1,0,0.5,a\n2,0,1,b\n1,0,1,c\n", IGNORE, r"csv:4: .*query 1 again.*sort the rows by query"),
    ("1,0,0.5\n", IGNORE, r"csv:2: expected 4 columns, found 3"),
    ("1,0,0.5,a\n", Options(), r"csv:2: .*'url', found 'a'.*`ignore`"),
    ("", IGNORE, r"csv: expected at least one document"),
    ("1,0,0.5,a\n", Options(ignore=("ulr",)), r"csv: .*'ulr'.*did you mean 'url'"),
    ("1,0,0.5,a\n", Options(label="grade"), r"csv: .*'grade', given as `label`"),
    ("1,0,0.5,a\n", Options(query="x", label="x", ignore=("url", "qid", "label")), r"csv: .*at least one column"),
]


@pytest.mark.parametrize(("text", "options", "message"), WRONG_TABLES)
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_errors_of_tables_name_the_line(tmp_path: Path, text: str, options: Options, message: str, packed: str) -> None:
    path = tmp_path / f"some.csv{packed}"
    path.write_bytes(PACKED[packed]((HEAD + text).encode()))
    with pytest.raises(DataError, match=message.replace("csv:", f"some\\.csv{packed}:", 1)):
        converted(path, options=options)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("some.csv", "label;qid;x\n1;7;2\n", r"some\.csv:1: .*','.*'label;qid;x'.*\.tsv"),
        ("some.tsv", "label,qid,x\n1,7,2\n", r"some\.tsv:1: .*'label,qid,x'.*\.csv"),
        ("some.csv", "1,7,0.5\n0,7,1\n", r"some\.csv: .*found the columns 1, 7, 0\.5;.*a line of column names"),
        ("some.txt", "label,qid,x\n1,7,2\n", r"some\.txt:1: .*'label,qid,x'.*\.csv"),
        ("some.txt", "1 1:2 2:3\n", r"some\.txt:1: .*'qid:'.*some\.txt\.query"),
        ("some.parquet", "text", r"some\.parquet: expected a Parquet file"),
        ("some.csv", "", r"some\.csv: expected text with a line of column names"),
        ("some.csv", "qid,label,x,x\n1,0,1,2\n", r"some\.csv: .*2 columns 'x'"),
    ],
)
def test_what_another_form_is_taken_for_is_said(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=message):
        converted(tmp_path / name)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"label": [0, None]}, r"row 1: .*'label', found no value"),
        ({"x": [0.0, float("nan")]}, r"row 1: .*'x', found"),
        ({"x": ["a", "b"]}, r"row 0: .*'x', found 'a'"),
        ({"qid": ["a", None]}, r"row 1: .*a query.*found none"),
        ({"qid": [1.0, 1.5]}, r"row 1: .*as the query, found 1.5"),
        ({"relevance": [0, 0]}, r".*found both label and relevance.*`label`"),
        ({"x": [[1.0], [1.0, 2.0]]}, r"row 0: .*'x', found \[1\.0\]"),
    ],
)
def test_errors_of_parquet_name_the_row(tmp_path: Path, columns: dict[str, Any], message: str) -> None:
    pq.write_table(pa.table({"qid": [1, 1], "label": [0, 1], "x": [0.5, 1.0]} | columns), tmp_path / "some.parquet")
    with pytest.raises(DataError, match=rf"some\.parquet: {message}"):
        converted(tmp_path / "some.parquet")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 qid:a 1:1\n0 qid:b 1:1\n0 qid:a 1:1\n", r"txt:3: .*query a again, first seen on line 1"),
        ("1 qid:a 1:1\n0 qid: 1:1\n", r"txt:2: expected qid: and a name"),
        ("1 qid:a 1:1\n1.5 qid:a 1:1\n", r"txt:2: expected a whole number .*as the label.*'1\.5'"),
        ("1 qid:a 1:1\n1.50000000000000000000000001 qid:a 1:1\n", r"txt:2: expected a whole number .*as the label"),
        ("1 qid:a 1:1\n1 qid:\xff 1:1\n", r"txt:2: .*UTF-8"),
        ("1 qid:a 0:1\n1 qid:a 1:x\n", r"txt:2: expected a finite number"),
        ("1 qid:a\n", r"txt: expected at least one feature"),
        (f"1 qid:{'a' * 5000} 1:1\n", r"txt:1: .*at most 4096 bytes"),
    ],
)
def test_errors_of_text_name_the_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "some.txt"
    path.write_bytes(text.encode("latin-1"))
    for read in (RankingData.from_letor, converted):
        with pytest.raises(DataError, match=rf"some\.{message}"):
            read(path)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ("1\n1\n", r"query:2: .*add up to the 3 documents of some\.train, found a sum of 2"),
        ("2\n5\n", r"query:2: .*found a sum of 7"),
        ("2\n0\n1\n", r"query:2: .*at least 1, found '0'"),
        ("2\none\n", r"query:2: .*found 'one'"),
        ("", r"query:1: .*found none"),
    ],
)
def test_errors_of_group_sizes_name_the_line(tmp_path: Path, sizes: str, message: str) -> None:
    path = tmp_path / "some.train"
    path.write_text("0 1:1\n1 1:2\n0 2:1\n")
    (tmp_path / "some.train.query").write_text(sizes)
    for read in (RankingData.from_letor, converted):
        with pytest.raises(DataError, match=rf"some\.train\.{message}"):
            read(path)


@pytest.mark.parametrize("per", ["query", "document"])
@pytest.mark.parametrize("form", [as_letor, as_libsvm])
def test_weights_stand_in_a_file_next_to_text(
    tmp_path: Path, form: Callable[[Rows], bytes], per: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = some_rows(NAMED)
    path = write(tmp_path, "some.train", rows, form)
    weights = dict(zip(NAMED, [2.5, 1.0, 4.0, 1e-3], strict=True))
    lines = [weights[query] for query in (NAMED if per == "query" else [query for query, *_ in rows])]
    (tmp_path / "some.train.weight").write_text("".join(f"{line}\n" for line in lines))

    def met() -> list[float]:
        found = [batch.data.weights for batch in query_stream.batches(path)]
        return [one for some in found if some is not None for one in some.tolist()]

    assert met() == list(weights.values())
    monkeypatch.setattr(letor_reader, "rows_per_group", lambda n_features: 2)
    for read in (RankingData.from_letor, converted):
        found = read(path).weights
        assert found is not None
        assert found.tolist() == list(weights.values())
    assert met() == list(weights.values())
    # Labels decide what training is, and so do weights: rankers are given neither.
    for batch in query_stream.batches(path, labelled=False):
        assert batch.data.weights is None


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("1\n2\n1\n", r"weight:2: .*one weight for all documents of query 1, found 2 after 1"),
        ("1\n1\n0\n", r"weight:3: .*a number above 0.*found '0'"),
        ("1\ninf\n", r"weight:2: .*found 'inf'"),
        ("1e999\n1\n", r"weight:1: .*found '1e999'"),
        ("1\n1\n1\n1\n", r"weight: .*each of the 2 queries or of the 3 documents of some\.txt, found 4"),
        ("1\n", r"weight: .*found 1"),
        ("\n", r"weight: .*found 0"),
    ],
)
@pytest.mark.parametrize("grouped", [False, True])
def test_errors_of_weights_name_the_line(tmp_path: Path, weights: str, message: str, grouped: bool) -> None:
    path = tmp_path / "some.txt"
    path.write_text("0 1:1\n1 1:2\n0 2:1\n" if grouped else "0 qid:1 1:1\n1 qid:1 1:2\n0 qid:2 2:1\n")
    if grouped:
        path.with_name("some.query").write_text("2\n1\n")
        message = message.replace("query 1", "query 0")
    path.with_name("some.weight").write_text(weights)
    for read in (RankingData.from_letor, converted):
        with pytest.raises(DataError, match=rf"some\.{message}"):
            read(path)


def test_all_files_of_a_data_set_have_weights_or_none(tmp_path: Path) -> None:
    paths = [write(tmp_path, name, some_rows(NUMBERED), as_letor) for name in ("a.txt", "b.txt")]
    (tmp_path / "a.txt.weight").write_text("1\n2\n3\n4\n")
    with pytest.raises(DataError, match=r"b\.txt: .*weights.*next to every file or to none, as .*a\.txt"):
        converted(*paths)


@pytest.mark.parametrize("kind", [pa.float64(), pa.list_(pa.float32())], ids=str)
def test_tables_without_a_row(tmp_path: Path, kind: pa.DataType) -> None:
    columns = pa.schema({"qid": pa.int64(), "label": pa.int8(), "x": kind})
    pq.write_table(columns.empty_table(), tmp_path / "some.parquet")
    with pytest.raises(DataError, match=r"some\.parquet: expected at least one document"):
        converted(tmp_path / "some.parquet")


@pytest.mark.parametrize("packed", [".gz", ".bz2", ".zst"])
@pytest.mark.parametrize("name", ["some.txt", "some.csv"])
def test_damaged_compressed_files_are_named(tmp_path: Path, name: str, packed: str) -> None:
    content = PACKED[packed]((as_letor if name == "some.txt" else as_csv)(some_rows(NUMBERED)))
    path = tmp_path / f"{name}{packed}"
    path.write_bytes(content[:-6])
    with pytest.raises(DataError, match=rf"{name}{packed}: expected a whole .* file, found a damaged one"):
        converted(path)


def test_files_that_do_not_fit_together_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("qid,label,x\n1,0,1\n")
    (tmp_path / "b.csv").write_text("qid,label,z\n1,0,1\n")
    (tmp_path / "c.txt").write_text("0 qid:1 1:1\n")
    with pytest.raises(DataError, match=r"b\.csv: .*as in .*a\.csv.*'x', 'z'"):
        converted(tmp_path / "a.csv", tmp_path / "b.csv")
    with pytest.raises(DataError, match=r"c\.txt: .*names"):
        converted(tmp_path / "a.csv", tmp_path / "c.txt")
    with pytest.raises(DataError, match=r"none\.csv: expected a readable file"):
        converted(tmp_path / "none.csv")


def foreign_parquet(folder: Path) -> dict[str, bytes]:
    """Parquet as other programs write it: plain columns, texts in a dictionary, lists, and the form that we store."""
    rng = np.random.default_rng(1)
    label, X = rng.integers(0, 3, 60), rng.normal(size=(60, 4))
    names = pa.array([f"query {row // 5}" for row in range(60)])
    stored = RankingData.from_arrays(X, label, np.arange(60) // 5)
    stored.write_parquet(folder / "stored.parquet")
    kinds = {
        "plain": (pa.table({"qid": np.arange(60) // 5, "label": label, "a": X[:, 0], "b": X[:, 1]}), "snappy"),
        "texts": (pa.table({"query": names.dictionary_encode(), "label": label, "a": X[:, 0]}), "none"),
        "lists": (pa.table({"query": names, "label": label, "a": pa.array(X.tolist())}), "zstd"),
        "like ours": (pq.read_table(folder / "stored.parquet").replace_schema_metadata(None), "zstd"),
    }
    for name, (table, compression) in kinds.items():
        pq.write_table(table, folder / f"{name}.parquet", compression=compression)
    return {name: (folder / f"{name}.parquet").read_bytes() for name in (*kinds, "stored")}


def damaged_parquet(content: bytes, rng: random.Random) -> bytes:
    """The content cut off, with some bytes overwritten, or with some bits flipped in the footer or before it."""
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    changed, kind = bytearray(content), rng.randrange(4)
    if kind == 0:
        del changed[rng.randrange(len(content)) :]
    elif kind == 1:
        begin = rng.randrange(len(content))
        end = min(len(content), begin + rng.randrange(1, 40))
        changed[begin:end] = bytes([rng.choice((0, 255, rng.randrange(256)))]) * (end - begin)
    else:
        for _ in range(rng.choice((1, 1, 3, 10))):
            place = rng.randrange(footer, len(content)) if kind == 2 else rng.randrange(4, footer)
            changed[place] ^= 1 << rng.randrange(8)
    return bytes(changed)


def test_damaged_parquet_is_read_or_named(tmp_path: Path) -> None:
    whole, path, errors = foreign_parquet(tmp_path), tmp_path / "damaged.parquet", []
    for seed in range(400):
        rng = random.Random(seed)
        path.write_bytes(damaged_parquet(whole[rng.choice(sorted(whole))], rng))
        for of_workflow in (True, False):
            try:
                if of_workflow:
                    known = readers.layout([path], Options())
                    list(readers.blocks(path, Options(), known))
                else:
                    list(query_stream.batches(path))
            except PipelineError as error:
                errors.append((seed, str(error)))
    assert len(errors) > 400
    assert [one for one in errors if not all(line.startswith(str(path)) for line in one[1].splitlines())] == []


LACKING = "qid,label,a,b\n1,0,1,\n1,1,3,2\n2,0,,5\n2,1,NA,7\n3,1,4,nan\n"
ZERO, MEAN = [[1, 0], [3, 2], [0, 5], [0, 7], [4, 0]], [[1, 2], [3, 2], [0, 5], [0, 7], [4, 0]]
FLAG = [[*row, *marks] for row, marks in zip(MEAN, [[0, 1], [0, 0], [1, 0], [1, 0], [0, 1]], strict=True)]


@pytest.mark.parametrize(("missing", "expected"), [("zero", ZERO), ("mean", MEAN), ("flag", FLAG)])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_missing_values_are_filled_in_from_their_own_query(
    tmp_path: Path, missing: Any, expected: Any, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_data, "ROWS_PER_GROUP", 2)
    path = tmp_path / "some.csv"
    path.write_text(LACKING)
    if form == "parquet":
        columns = {"qid": [1, 1, 2, 2, 3], "label": [0, 1, 0, 1, 1]}
        features = {"a": [1.0, 3.0, float("nan"), None, 4.0], "b": [None, 2.0, 5.0, 7.0, float("nan")]}
        path = tmp_path / "some.parquet"
        pq.write_table(pa.table({**columns, **features}), path)
    data = converted(path, options=Options(missing=missing))
    assert data.X.tolist() == expected
    assert data.feature_names == (("a", "b", "a missing", "b missing") if missing == "flag" else ("a", "b"))
    with pytest.raises(DataError, match=r"'b', found (no value|nan)"):
        converted(path)


def test_marks_of_missing_values_are_the_same_in_all_files(tmp_path: Path) -> None:
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    paths[0].write_text("qid,label,a,b\n1,0,1,2\n")
    paths[1].write_text("b,a,label,qid\n,3,1,1\n5,4,0,1\n")
    data = converted(*paths, options=Options(missing="flag"))
    assert data.feature_names == ("a", "b", "b missing")
    assert data.X.tolist() == [[1, 2, 0], [3, 5, 1], [4, 5, 0]]
    paths[0].write_text("qid,label,b missing,b\n1,0,1,\n")
    with pytest.raises(DataError, match=r"a\.csv: expected no column 'b missing'"):
        converted(paths[0], options=Options(missing="flag"))


def test_columns_have_the_separator_that_is_stated(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text("qid;label;a\n1;0;0.5\n1;1;2\n")
    assert converted(path, options=Options(separator=";")).X.tolist() == [[0.5], [2.0]]
    with pytest.raises(DataError, match=r"some\.csv:1: .*found one column 'qid;label;a'; name the separator"):
        converted(path)
    path.write_text("qid;label;a\n1;0;0,5\n")
    with pytest.raises(DataError, match=r"some\.csv:2: .*found '0,5'; write decimals with a point"):
        converted(path, options=Options(separator=";"))


LABELS = [
    ("doubled", ["0", "0.5", "2", "1.5"], [0, 1, 4, 3]),
    ("shifted", ["-1", "0", "1", "254"], [0, 1, 2, 255]),
    ("clipped", ["-1", "-2.0", "0", "255"], [0, 0, 0, 255]),
]


@pytest.mark.parametrize(("policy", "given", "expected"), LABELS)
def test_labels_of_other_kinds_become_whole_ones(tmp_path: Path, policy: Any, given: Any, expected: Any) -> None:
    text, table = tmp_path / "some.txt", tmp_path / "some.csv"
    text.write_text("".join(f"{label} qid:1 1:{k}\n" for k, label in enumerate(given)))
    table.write_text("qid,label,a\n" + "".join(f"1,{label},{k}\n" for k, label in enumerate(given)))
    assert RankingData.from_letor(text, labels=policy).y.tolist() == expected
    for path in (text, table):
        assert converted(path, options=Options(labels=policy)).y.tolist() == expected
        with pytest.raises(DataError, match=rf"`labels: {policy}`"):  # the remedy is named
            converted(path)


@pytest.mark.parametrize("label", ["1", "2.0", "5", "256"])
def test_labels_that_count_from_1_are_lowered(tmp_path: Path, label: str) -> None:
    """NDCG's gain of the lowest label is 0 then; no remedy is named, since labels from 1 on are valid, too."""
    text, table = tmp_path / "some.txt", tmp_path / "some.csv"
    text.write_text(f"{label} qid:1 1:0\n1 qid:1 1:1\n")
    table.write_text(f"qid,label,a\n1,{label},0\n1,1,1\n")
    expected = [int(float(label)) - 1, 0]
    assert RankingData.from_letor(text, labels="lowered").y.tolist() == expected
    for path in (text, table):
        assert converted(path, options=Options(labels="lowered")).y.tolist() == expected


REFUSED_LABELS = [
    *(("doubled", "0.25"), ("doubled", "128"), ("shifted", "-2"), ("shifted", "255"), ("clipped", "-0.5")),
    *(("lowered", "0"), ("lowered", "257"), ("lowered", "300"), ("lowered", "-1")),
]


@pytest.mark.parametrize(("policy", "label"), REFUSED_LABELS)
def test_labels_that_a_policy_does_not_take_are_refused(tmp_path: Path, policy: Any, label: str) -> None:
    text, table = tmp_path / "some.txt", tmp_path / "some.csv"
    text.write_text(f"{label} qid:1 1:1\n")
    table.write_text(f"qid,label,a\n1,{label},1\n")
    for path, line in ((text, 1), (table, 2)):
        with pytest.raises(DataError, match=rf"{path.name}:{line}: expected .* as the label.*, found"):
            converted(path, options=Options(labels=policy))


def test_all_problems_of_a_text_stand_in_one_message(tmp_path: Path) -> None:
    path = tmp_path / "some.txt"
    path.write_text(
        "-1 qid:a 1:1\n0.5 qid:a 1:1\n1 qid:a 1:x 1:1\n1 qid:b 1:1 1:2\n1 qid:a 1:1\n1 1:1\n0 qid:c 2:1\n"
        + "-2 qid:c 1:1\n" * 5
    )
    with pytest.raises(DataError) as caught:
        converted(path)
    expected = (
        "1: expected a whole number in 0..255 as the label (`labels: clipped` takes",
        "2: expected a whole number in 0..255 as the label (`labels: doubled` doubles all labels, `labels: rounded`",
        "3: expected a finite number as the feature's value, as in 7:0.5 (a feature that is left out is 0), found",
        "4: expected every feature id once in a line (remove all but one, or `repeated_features: last` takes the last)",
        "5: expected the documents of a query to stand together, found query a again, first seen on line 1; sort",
        "6: expected 'qid:' and the query's name after the label",
        *(f"{line}: expected a whole number in 0..255 as the label" for line in (8, 9, 10)),
        " 2 more problems of these kinds",
    )
    lines = str(caught.value).splitlines()
    assert len(lines) == len(expected), str(caught.value)
    for line, words in zip(lines, expected, strict=True):
        assert line.startswith(f"{path}:{words}")
    path.write_text("".join(f"1 qid:{k} 1:1 {k}:{k} {k}:{k} 0:{'9' * k}\n" for k in range(2, 40)))
    with pytest.raises(DataError) as caught:
        converted(path)
    assert len(str(caught.value).splitlines()) == 4  # three of the same kind, and how many there are


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_all_problems_of_a_table_stand_in_one_message(tmp_path: Path, form: str) -> None:
    labels, queries = [-1.0, 0.5, 1.0, 1.0, 0.0, 0.0], ["a", "a", "b", "a", "c", "c"]
    a = [1.0, None, 1.0, 1e300, 1.0, None]
    path = tmp_path / f"some.{form}"
    if form == "csv":
        rows = zip(queries, labels, a, strict=True)
        lines = [f"{query},{label},{'' if x is None else x},u" for query, label, x in rows]
        path.write_text("qid,label,a,url\n" + "\n\n".join(lines[:3]) + "\n1,2,3\n" + "\n".join(lines[3:]) + "\n")
    else:
        pq.write_table(pa.table({"qid": queries, "label": labels, "a": a, "url": ["u"] * 6}), path)
    with pytest.raises(DataError) as caught:
        converted(path, options=Options(ignore=() if form == "parquet" else ("url",)))
    places = {"csv": [2, 4, 4, 7, 8, 8, 10], "parquet": ["row 0", "row 0", "row 1", "row 1", "row 3", "row 3", "row 5"]}
    lines = str(caught.value).splitlines()
    assert [line.removeprefix(str(path)).split(": expected")[0].strip(": ") for line in lines] == [
        str(place) for place in places[form]
    ]
    for words in ("found -1 (`labels: clipped`", "found 0.5 (`labels: doubled`", "query a again", "finite in float32"):
        assert words in str(caught.value)
    assert ("expected 4 columns, found 3" if form == "csv" else "column 'url', found 'u'") in str(caught.value)


@pytest.mark.parametrize(("extreme", "value"), [("clip", float(np.finfo(np.float32).max)), ("missing", 0.0)])
def test_from_letor_takes_values_beyond_float32_as_its_message_says(
    tmp_path: Path, extreme: Literal["clip", "missing"], value: float
) -> None:
    path = tmp_path / "some.txt"
    path.write_text("1 qid:1 1:5 2:1e39\n0 qid:1 1:1 2:2\n")
    with pytest.raises(DataError, match=f"extreme='{extreme}'"):
        RankingData.from_letor(path)
    assert RankingData.from_letor(path, extreme=extreme).X[:, 1].tolist() == [value, 2.0]
