"""Is a table of data sets the same configuration as the list of its rows?"""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.study import configuration

FOLDS = {"letor-sim": 5, "MQ2008": 5}
BASE: dict[str, Any] = {"study": "sheets", "papers": []}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("a.txt", "b.txt", "old.csv", "new.csv"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(datasets: Any) -> configuration.Configuration:
    return configuration.check({**BASE, "datasets": datasets}, FOLDS)


LISTED = [
    {"name": "clicks", "files": ["a.txt", "b.txt"], "folds": 3},
    "MQ2008",
    {
        "name": "books",
        "train": "old.csv",
        "test": "new.csv",
        "ignore": ["url", "isbn"],
        "missing": "zero",
        "one_hot": ["genre"],
    },
]
COLUMNS = ("name", "files", "folds", "train", "test", "ignore", "missing", "one_hot")
ROWS = (
    ("clicks", "a.txt; b.txt", "3", "", "", "", "", ""),
    ("MQ2008", "", "", "", "", "", "", ""),
    ("books", "", "", "old.csv", "new.csv", "url;isbn", "zero", "genre"),
)


@pytest.mark.parametrize(("name", "separator"), [("sets.tsv", "\t"), ("sets.csv", ","), ("SETS.TSV", "\t")])
@pytest.mark.parametrize(("mark", "end"), [("", "\n"), ("\ufeff", "\r\n")])
def test_a_table_is_the_list_of_its_rows(folder: Path, name: str, separator: str, mark: str, end: str) -> None:
    lines = [separator.join(row) for row in (COLUMNS, *ROWS)]
    (folder / name).write_bytes((mark + end.join([*lines[:2], "", *lines[2:], ""])).encode())
    assert checked(name).config == checked(LISTED).config
    assert checked(name).datasets == ("clicks", "MQ2008", "books")


def test_all_that_is_wrong_is_named_with_its_line(folder: Path) -> None:
    (folder / "sets.tsv").write_text(
        "name\tfiles\tfolds\tcolour\nclicks\ta.txt\tthree\t\n\nMQ2008\t\t\t\nbooks\tc.txt\t\tred\nMQ2007\t\t\t\n"
    )
    with pytest.raises(ConfigurationError) as caught:
        checked("sets.tsv")
    said = str(caught.value)
    assert "sets.tsv, line 2: datasets[0].folds: expected a valid integer, found 'three'" in said
    assert "sets.tsv, line 5: " in said
    assert "'colour'" in said
    assert "'c.txt'" in said
    assert "sets.tsv, line 6: datasets[3]: unknown data set 'MQ2007'" in said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, r"sets\.tsv \(No such file"),
        (b"", r"sets\.tsv: expected a line of column names"),
        (b"name\tfiles\n", r"sets\.tsv, line 2: "),
        (b"title\tfiles\na\ta.txt\n", r"sets\.tsv, line 1: .*'name'.*'title'"),
        (b"name\tname\na\tb\n", r"sets\.tsv, line 1: .*different"),
        (b"name\tfiles\na\ta.txt\tb.txt\n", r"sets\.tsv: .*line 2"),
        (b"name\tfiles\ncaf\xe9\ta.txt\n", r"sets\.tsv: .*UTF-8"),
    ],
)
def test_what_is_no_table_is_refused(folder: Path, content: bytes | None, said: str) -> None:
    if content is not None:
        (folder / "sets.tsv").write_bytes(content)
    with pytest.raises(ConfigurationError, match=said):
        checked("sets.tsv")


def test_nobody_without_a_table_imports_pandas() -> None:
    program = (
        "import sys; from pipeline_lib.study import configuration; from pipeline_lib.data import ranking_data; "
        "configuration.check({}, {'letor-sim': 5}); print('pandas' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"


def test_rows_are_a_parameter_space(folder: Path) -> None:
    paramspace = pytest.importorskip("snakemake.utils").Paramspace
    pd = pytest.importorskip("pandas")
    (folder / "sets.tsv").write_text("name\tfiles\nclicks\ta.txt\nbooks\tb.txt\n")
    space = paramspace(pd.read_csv("sets.tsv", sep="\t"), filename_params="*")
    assert len(list(space.instance_patterns)) == len(checked("sets.tsv").datasets)
