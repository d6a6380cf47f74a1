from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pipeline_lib.core.errors import DataError, StorageError
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.sources import letor, letor_reader

in_one_folder = settings(suppress_health_check=[*settings().suppress_health_check, HealthCheck.function_scoped_fixture])
"""All examples of a property use the same folder."""


def file_of(folder: Path, text: str | bytes) -> Path:
    path = folder / "some.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def bits(values: Any) -> list[int]:
    return np.asarray(values, np.float32).view(np.uint32).ravel().tolist()


# --- The grammar


@pytest.mark.parametrize(
    ("text", "X", "y", "qids"),
    [
        ("2 qid:10 1:0.5 2:3 # c\n", [[0.5, 3]], [2], [10]),
        ("2 qid:10 1:0.5 2:3", [[0.5, 3]], [2], [10]),
        ("2 qid:10 1:0.5 2:3\r\n0 qid:10 1:1\r\n", [[0.5, 3], [1, 0]], [2, 0], [10]),
        ("2 qid:10 1:0.5 2:3\r", [[0.5, 3]], [2], [10]),
        ("\n  \n\t\r\n# only a comment\n   # another\n1 qid:1 1:1\n\n", [[1]], [1], [1]),
        ("  1 \t qid:1\t\t1:1   2:2  \t\n", [[1, 2]], [1], [1]),
        ("1 qid:1 3:3 1:1 2:2\n", [[1, 2, 3]], [1], [1]),
        ("1 qid:1 2:2\n0 qid:2 4:1e-3 1:-5\n", [[0, 2, 0, 0], [-5, 0, 0, 1e-3]], [1, 0], [1, 2]),
        ("1 qid:1 5:0\n", [[0, 0, 0, 0, 0]], [1], [1]),
        ("1 qid:1 1:1E+2 2:.5 3:5. 4:+7 5:-0.25e1\n", [[100, 0.5, 5, 7, -2.5]], [1], [1]),
        ("1 qid:1 1:1#no blank before\n", [[1]], [1], [1]),
        ("1 qid:1#nothing else\n0 qid:1 1:2\n", [[0], [2]], [1, 0], [1]),
        ("1 qid:1 1:1 # 1:nan # qid:x ?? \n", [[1]], [1], [1]),
        ("+1 qid:-7 01:1 002:2\n", [[1, 2]], [1], [-7]),
        ("255 qid:9223372036854775807 1:1\n", [[1]], [255], [2**63 - 1]),
        ("0000000000000000000000001 qid:00000000000000000000000000007 1:1\n", [[1]], [1], [7]),
        ("\ufeff1 qid:1 1:1\n", [[1]], [1], [1]),
        ("1 qid:1 1:1 # \u20ac\u00df\n", [[1]], [1], [1]),
    ],
)
def test_what_the_format_allows(tmp_path: Path, text: str, X: list[Any], y: list[int], qids: list[int]) -> None:
    data = letor.read(file_of(tmp_path, text))
    assert bits(data.X) == bits(X)
    assert data.X.shape == np.shape(X)
    assert data.y.tolist() == y
    assert data.qids.tolist() == qids


def test_the_largest_id_decides_wherever_it_stands(tmp_path: Path) -> None:
    path = file_of(tmp_path, "".join(f"0 qid:1 {j}:1 # 9999:\n" for j in (*range(1, 400), 7)))
    assert np.argwhere(letor.read(path).X).tolist() == [*([i, i] for i in range(399)), [399, 6]]


def test_rounded_labels_round_halves_up(tmp_path: Path) -> None:
    labels = "0 0.49999999999999994 0.5 1.4999 1.5 2.5 3.07142857142857142857142857 4e0 -0.0 255.4"
    path = file_of(tmp_path, labels.replace(" ", " qid:1 1:1\n") + " qid:1 1:1")
    assert letor.read(path, labels="rounded").y.tolist() == [0, 0, 1, 1, 2, 3, 3, 4, 0, 255]


def test_the_query_may_stand_in_the_comment(tmp_path: Path) -> None:
    path = file_of(tmp_path, "1.3 1:0.5 3:2 # 17\n0 2:1 #17 and more\n2.9 1:1 #\t18\r\n1 # 19")
    data = letor.read(path, labels="rounded", qid="comment")
    assert data.qids.tolist() == [17, 18, 19]
    assert data.offsets.tolist() == [0, 2, 3, 4]
    assert data.y.tolist() == [1, 0, 3, 1]
    assert data.X.tolist() == [[0.5, 0, 2], [0, 1, 0], [1, 0, 0], [0, 0, 0]]


# --- What it refuses

TOO_LONG = "9" * 40
REFUSED = [
    ("qid:1 1:1", "as the label", "'qid:1'"),
    ("1.5 qid:1 1:1", "as the label", "'1.5'"),
    ("1.0 qid:1 1:1", "labels='rounded'", "'1.0'"),
    ("-1 qid:1 1:1", "in 0..255 as the label", "'-1'"),
    ("256 qid:1 1:1", "in 0..255 as the label", "'256'"),
    (f"{TOO_LONG} qid:1 1:1", "in 0..255 as the label", "'99999"),
    ("18446744073709551616 qid:1 1:1", "in 0..255 as the label", "'18446744073709551616'"),
    ("1 1:1", "'qid:'", "'1:1'"),
    ("1 # qid:1", "'qid:'", "'#"),
    ("1 qid:a 1:1", "a whole number", "'qid:a'"),
    ("1 qid:1.0 1:1", "a whole number", "'qid:1.0'"),
    ("1 qid:9223372036854775808 1:1", "64 bits", "'qid:9223372036854775808'"),
    (f"1 qid:{TOO_LONG} 1:1", "64 bits", "'qid:99999"),
    ("1 qid:1 1:1 1:2", "once in a line (remove all but one, or repeated_features='last'", "'1:2'"),
    ("1 qid:1 0:1", "a feature id in 1..3", "'0:1'"),
    ("1 qid:1 4:1", "a feature id in 1..3", "'4:1'"),
    ("1 qid:1 18446744073709551617:1", "a feature id in 1..3", "'18446744073709551617:1'"),
    (f"1 qid:1 {TOO_LONG}:1", "a feature id in 1..3", "'99999"),
    ("1 qid:1 1:1 qid:2", "a feature id in 1..3", "'qid:2'"),
    ("1 qid:1 1 2:2", "a colon", "'1'"),
    ("1 qid:1 1 :2", "a colon", "'1'"),
    ("1 qid:1 1:", "a finite number", "'1:'"),
    ("1 qid:1 1:1.2.3", "a finite number", "'1:1.2.3'"),
    ("1 qid:1 1:1,5", "a finite number", "'1:1,5'"),
    ("1 qid:1 1:0x10", "a finite number", "'1:0x10'"),
    ("1 qid:1 1:1_0", "a finite number", "'1:1_0'"),
    ("1 qid:1 1:1e+", "a finite number", "'1:1e+'"),
    ("1 qid:1 3:nan", "value of feature 3 (missing='zero'", "'nan'"),
    ("1 qid:1 1:nano", "a finite number", "'1:nano'"),
    ("1 qid:1 1:-Infinity", "a finite number", "'1:-Infinity'"),
    ("1 qid:1 2:1e39", "finite in float32 for feature 2", "'1e39'"),
    ("1 qid:1 2:1e99999999999999999999", "finite in float32 for feature 2", "'1e99999"),
    (f"1 qid:1 2:{TOO_LONG}", "finite in float32 for feature 2", "'99999"),
    ("1 qid:1 1:1\r2:2", "a feature id", "'\\r2:2'"),
    ("1 qid:1 1:1 \r 2:2", "a feature id", "'\\r'"),
    ("1 qid:1 1:1\x00", "a finite number", "\\x00"),
    ("1 qid:1 1:1 # \x00", "without NUL", "\\x00"),
    ("# \x00", "without NUL", "\\x00"),
    ("\x00\x00\x00", "as the label", "\\x00"),
]


@pytest.mark.parametrize(("line", "expected", "found"), REFUSED)
@pytest.mark.parametrize("ending", ["\n", "\r\n", ""])
def test_what_it_refuses(tmp_path: Path, line: str, expected: str, found: str, ending: str) -> None:
    path = file_of(tmp_path, f"\n1 qid:1 1:1 3:2 # first\n\n{line}{ending}")
    with pytest.raises(DataError) as raised:
        letor.read(path, n_features=3)
    message = str(raised.value)
    assert message.startswith(f"{path}:4: expected ")
    before, _, after = message.partition(", found ")
    assert expected in before
    assert found in after
    assert len(message) < len(str(path)) + 200
    assert "\n" not in message


def test_the_first_fault_of_a_file_is_told(tmp_path: Path) -> None:
    """Faults are found in different places of the reader; the reader of the message wants the first."""
    lines = ["1 qid:1 1:1", "1 qid:1 1:1e39", "1 qid:2 1:1", "1 qid:1 1:1", "x"]
    for first, part in [(2, "float32"), (4, "query 1 again"), (5, "label")]:
        text = [*lines[:1], lines[1] if first == 2 else "0 qid:1 1:1", *lines[2:3]]
        text += [lines[3] if first <= 4 else "0 qid:2 1:1", lines[4]]
        with pytest.raises(DataError, match=rf"some.txt:{first}: .*{part}"):
            letor.read(file_of(tmp_path, "\n".join(text)))


def test_two_faults_in_a_line_tell_the_first(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"txt:1: .*float32.*1e39"):
        letor.read(file_of(tmp_path, "1 qid:1 1:1e39 2:x"))


def test_a_query_that_returns_is_named_with_both_lines(tmp_path: Path) -> None:
    path = file_of(tmp_path, "1 qid:5 1:1\n# c\n1 qid:7 1:1\n1 qid:8 1:1\n\n1 qid:7 1:1\n")
    with pytest.raises(DataError, match=r"some.txt:6: .*found query 7 again, first seen on line 3"):
        letor.read(path)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"", "an empty file"),
        (b"\n \n# comment\n", "only blank lines and comments"),
        (b"\xef\xbb\xbf", "only blank lines"),
        (b"\x1f\x8b\x08\x00rest", "gzip"),
        (b"PK\x03\x04rest", "zip"),
        ("1 qid:1 1:1\n".encode("utf-16"), "UTF-16"),
        (b"1 qid:1\n", "found none"),
    ],
)
def test_files_that_hold_no_data(tmp_path: Path, text: bytes, found: str) -> None:
    path = file_of(tmp_path, text)
    with pytest.raises(DataError, match=found) as raised:
        letor.read(path)
    assert str(raised.value).startswith(str(path))


def test_missing_files_and_folders(tmp_path: Path) -> None:
    for path in (tmp_path / "none.txt", tmp_path):
        with pytest.raises(DataError, match="expected a readable file"):
            letor.read(path)


@pytest.mark.parametrize("piece", [64, 256, 4096])
@pytest.mark.parametrize("end", ["", "\n", "\n0 qid:1 1:1\n"])
def test_the_limit_of_a_line_is_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece: int, end: str) -> None:
    monkeypatch.setattr(letor_reader, "PIECE", piece)
    monkeypatch.setattr(letor_reader, "LONGEST_LINE", 1000)
    line = "1 qid:1 1:1 # "
    longest = "0 qid:1 2:1\n" + line + "x" * (1000 - len(line))
    assert letor.read(file_of(tmp_path, longest + end)).X[1].tolist() == [1.0, 0.0]
    with pytest.raises(DataError, match=r"some.txt:2: expected a line of at most 1,000 bytes"):
        letor.read(file_of(tmp_path, longest + "x" + end))


@pytest.mark.parametrize("line", ["1 1:1", "1 1:1 #", "1 1:1 # x17", "1 1:1 # 17a", "1 1:1 # 1.5"])
def test_a_comment_without_a_query(tmp_path: Path, line: str) -> None:
    with pytest.raises(DataError, match=r"txt:2: expected a comment that begins with the query's name"):
        letor.read(file_of(tmp_path, f"1 1:1 # 17\n{line}\n"), qid="comment")


@pytest.mark.parametrize(
    "options", [{"labels": "real"}, {"qid": "none"}, {"n_features": 0}, {"n_features": -1}, {"n_features": 10**9}]
)
def test_options_are_checked(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=next(iter(options))):
        letor.read(file_of(tmp_path, "1 qid:1 1:1\n"), **options)


def test_one_large_id_does_not_eat_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letor_reader, "LARGEST_SPARSE", 1 << 22)
    text = "1 qid:1 1:1\n" * 3 + "1 qid:1 65536:1\n"
    assert letor.read(file_of(tmp_path, text)).X.shape == (4, 65_536)
    path = file_of(tmp_path, text + "0 qid:1 1:1\n" * 13)
    with pytest.raises(DataError, match=r"some.txt:4: .*the id 65536, .*n_features=65536"):
        letor.read(path)
    assert letor.read(path, n_features=65_536).X.shape == (17, 65_536)


def test_features_that_are_written_out_are_read_whatever_they_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(letor_reader, "LARGEST_SPARSE", 1)
    line = "1 qid:1 " + " ".join(f"{j}:0" for j in range(1, 1001))
    assert letor.read(file_of(tmp_path, f"{line}\n" * 20)).X.shape == (20, 1000)


# --- Numbers: bit for bit what numpy.float32(float(text)) gives

digit_strings = st.text("0123456789", max_size=25)
exponents = st.one_of(
    st.just(""), st.integers(-60, 45).map(lambda e: f"e{e}"), st.integers(0, 30).map(lambda e: f"E+{e}")
)
decimals = st.builds(
    lambda sign, whole, dot, part, exponent: f"{sign}{whole}{dot}{part if dot else ''}{exponent}",
    st.sampled_from(["", "-", "+"]), digit_strings, st.sampled_from(["", "."]), digit_strings, exponents,
).filter(lambda text: any(c.isdigit() for c in text.lower().split("e")[0]))  # fmt: skip
singles = st.floats(width=32, allow_nan=False, allow_infinity=False)


def read_values(folder: Path, texts: list[str]) -> list[int]:
    path = file_of(folder, "0 qid:1 " + " ".join(f"{j}:{text}" for j, text in enumerate(texts, start=1)))
    return bits(letor.read(path, n_features=len(texts)).X)


@given(texts=st.lists(decimals, min_size=1, max_size=50))
@settings(in_one_folder, max_examples=400)
def test_numbers_are_correctly_rounded(tmp_path: Path, texts: list[str]) -> None:
    values = [float(text) for text in texts]
    assume(all(abs(value) < 3.4028235e38 for value in values))
    assert read_values(tmp_path, texts) == bits(np.array(values).astype(np.float32))


@given(values=st.lists(st.tuples(singles, st.integers(-3, 3), st.integers(17, 60)), min_size=1, max_size=50))
@settings(in_one_folder, max_examples=300)
def test_numbers_between_two_float32_go_the_right_way(tmp_path: Path, values: list[tuple[float, int, int]]) -> None:
    """The midpoint of two neighbours, exactly and a little beside it, is where a shortcut would round wrongly."""
    texts = []
    for value, step, digits in values:
        low = np.float32(value)
        high = np.nextafter(min(low, np.float32(3e38)), np.float32(np.inf))
        if low < high:
            middle = (Fraction(float(low)) + Fraction(float(high))) / 2
            exact = Decimal(middle.numerator) / Decimal(middle.denominator)
            texts.append(f"{exact + step * abs(exact).scaleb(-digits):e}" if step else str(exact))
    assume(texts)
    expected = np.array([float(text) for text in texts]).astype(np.float32)
    assume(np.isfinite(expected).all())
    assert read_values(tmp_path, texts) == bits(expected)


def test_hard_numbers_fill_the_list_and_parsing_goes_on(tmp_path: Path) -> None:
    """Subnormal float32 values below 1e-290 need Python, one by one; the list of them holds some thousands."""
    value = "1." + "0" * 30 + "1e-300"
    text = "".join(f"{i % 3} qid:{i // 10} 1:{value} 2:{i} 3:-{value}\n" for i in range(7000))
    data = letor.read(file_of(tmp_path, text))
    assert bits(data.X) == bits([[float(value), i, -float(value)] for i in range(7000)])
    assert data.y.tolist() == [i % 3 for i in range(7000)]


# --- Writing


@given(values=st.lists(st.lists(singles, min_size=3, max_size=3), min_size=1, max_size=30), rng=st.randoms())
@settings(in_one_folder, max_examples=200)
def test_what_is_written_reads_back_bit_for_bit(tmp_path: Path, values: list[list[float]], rng: Any) -> None:
    names = np.repeat([-(2**63) + 1, 2**63 - 1, 0], [1, len(values), 1])[: len(values)]
    data = RankingData.from_arrays(values, [rng.randrange(256) for _ in values], names)
    path = tmp_path / "written.txt"
    letor.write(path, data, force=True)
    back = letor.read(path, n_features=3)
    assert bits(back.X) == bits(data.X)
    assert back.y.tolist() == data.y.tolist()
    assert back.qids.tolist() == data.qids.tolist()
    assert back.offsets.tolist() == data.offsets.tolist()


def significant(text: str) -> int:
    """Significant digits; zeros that only hold a place do not count."""
    return len(text.lower().split("e")[0].replace(".", "").lstrip("-0").rstrip("0"))


def test_values_are_written_with_the_fewest_digits(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    X = np.concatenate(
        [
            rng.normal(size=5000),
            rng.integers(0, 0x7F7FFFFF, 5000).astype(np.uint32).view(np.float32),
            np.round(rng.random(5000), 6),
            2.0 ** np.arange(-149, 128),
            np.nextafter(np.float32(2.0) ** np.arange(-149, 128, dtype=np.float32), np.float32(0)),
            [0.1, 1e-4, np.nextafter(np.float32(1e-4), np.float32(0)), 16777215, 16777216, 1e10, 0.0, -0.0, 123],
        ]
    ).astype(np.float32)  # fmt: skip
    path = tmp_path / "written.txt"
    letor.write(path, RankingData.from_arrays(X[:, None], np.zeros(len(X)), np.zeros(len(X))))
    texts = [line.split(" 1:")[1] for line in path.read_text().splitlines()]
    assert bits([np.float32(text) for text in texts]) == bits(X)
    shortest = [significant(np.format_float_scientific(x, unique=True)) for x in X]
    assert [significant(text) for text in texts] == shortest
    assert texts[-9:] == ["0.1", "0.0001", "9.999999e-5", "16777215", "1.6777216e+7", "1e+10", "0", "-0", "123"]


def test_a_text_is_replaced_only_on_demand(tmp_path: Path) -> None:
    path, data = tmp_path / "mine.txt", RankingData.from_arrays([[1.0]], [1], [7])
    path.write_text("years of judgements")
    with pytest.raises(StorageError, match=r"mine\.txt: expected a new name, .* force=True"):
        letor.write(path, data)
    assert path.read_text() == "years of judgements"
    letor.write(path, data, force=True)
    assert letor.read(path).qids.tolist() == [7]


def test_nothing_that_cannot_be_read_is_written(tmp_path: Path) -> None:
    data = RankingData.from_arrays([[1.0], [2.0]], [0, 1], [1, 2])
    for bad in (data.take(np.zeros(0, int)), data.take([0, 1, 0])):
        with pytest.raises(DataError):
            letor.write(tmp_path / "written.txt", bad)
    assert list(tmp_path.iterdir()) == []
