"""What may a configuration say of a data set of one's own, and do its files fit?

Configurations are checked whenever the workflow is planned: this module imports nothing heavy, and it looks at names of
files only, never into them.
"""

import contextlib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from pipeline_lib.core.files import expanded
from pipeline_lib.core.settings import DataName, Names, Settings, Text
from pipeline_lib.data.derived import MOST_VALUES
from pipeline_lib.data.labels import Policy
from pipeline_lib.data.stored_data import Extreme, Missing, Repeated
from pipeline_lib.sources.compression import SUFFIXES, unpacked_name

__all__: list[str] = []  # internal: a configuration is checked as a whole (pipeline_lib.study.configuration)

ROLES = ("train", "validation", "test")
DEFAULT_FOLDS = 5
GROUP_ENDINGS = (".query", ".group")
WEIGHT_ENDING = ".weight"
SEPARATORS = {".csv": ",", ".tsv": "\t"}
PARQUET = (".parquet", ".pq")
TABLES = (*SEPARATORS, *PARQUET)
Separator = Literal[",", ";", "|", "\t"]
NAME_ENDINGS = (".features.json", ".features.tsv")
_PLAIN = (".txt", *TABLES, ".dat", ".svm", ".libsvm", ".letor")
_WORDS = {
    "train": ("train", "training", "trainset", "trainingset"),
    "validation": ("vali", "valid", "validation", "val", "dev", "valiset", "validset", "validationset", "devset"),
    "test": ("test", "testing", "testset"),
}
"""What names of files say of their roles; OHSUMED circulates as trainingset.txt, validationset.txt and testset.TXT."""
_NO_DATA = (WEIGHT_ENDING, ".init", ".position", ".conf", ".cfg", ".json", ".yaml", ".yml", ".md", ".py", ".sh", ".log")
"""Ends of names of files that lie next to data."""
_FOLD = re.compile(r"fold[ _-]?([1-9][0-9]*)", re.IGNORECASE)

Files = dict[str, tuple[Path, ...]]
"""The files of one fold that train, validate and test; without files for validation, some training queries serve."""


def _number(value: object) -> object:
    # What `snakemake --config` is given is text, numbers inside lists and mappings included.
    return int(value) if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}", value) else value


Paths = Text | Names


class OwnDataSettings(Settings):
    """A data set of one's own: files, and how queries are divided.

    Give `files`, or `train` and `test` (and `validation`), or a `folder`.
    """

    name: DataName = Field(description="name of the data set and of its folders")
    title: Text | None = Field(None, description="title of the data set in the report")
    files: Paths | None = Field(None, description="files whose queries are distributed over folds")
    folds: Annotated[int, Field(strict=True, ge=1, le=1000), BeforeValidator(_number)] | None = Field(
        None,
        description="folds of `files`: 5 by default, 1000 at most; 1 trains on 3/5 and tests on 1/5 of the queries",
    )
    train: Paths | None = Field(None, description="files with the training queries")
    validation: Paths | None = Field(None, description="files with the validation queries; else 1/5 of `train`")
    test: Paths | None = Field(None, description="files with the test queries")
    folder: Text | None = Field(
        None,
        description="folder that holds Fold1, Fold2, ..., each with files for train, vali and test, or these files",
    )
    label: Text | None = Field(None, description="column of the labels in tables")
    query: Text | None = Field(None, description="column of the queries in tables")
    ignore: Names | tuple[()] = Field((), description="columns of tables that are no features")
    weight: Text | None = Field(
        None, description="column of the weights of queries in tables; a query of weight 3 counts like three of it"
    )
    one_hot: Names | tuple[()] = Field(
        (),
        description=f"columns of categories in tables: each value, of at most {MOST_VALUES} a column, becomes a "
        "feature that is 1 where the column has it",
    )
    labels: Policy = Field(
        "whole",
        description="how labels are read: whole numbers; real ones, `rounded`; halves, `doubled`; -1, 0, 1, ..., "
        "`shifted` by 1; 1, 2, ..., `lowered` by 1; negative ones `clipped` to 0",
    )
    relevant_from: Annotated[int, Field(strict=True, ge=1, le=255), BeforeValidator(_number)] = Field(
        1,
        description="smallest label of a relevant document, for MAP, RR, P and recall; gains of NDCG and ERR are those "
        "of the labels",
    )
    missing: Missing = Field(
        "refuse",
        description="values that are missing, such as `nan`: `refuse` them, or take `zero`, the `mean` of the query, "
        "or, in tables, this mean and a feature that is 1 there (`flag`)",
    )
    extreme: Extreme = Field(
        "refuse",
        description="values beyond the range of float32: `refuse` them, `clip` them to the nearest float32, or take "
        "them as `missing`, which says what is taken (in LETOR text, 0 by default)",
    )
    repeated_features: Repeated = Field(
        "refuse",
        description="features that stand several times in a line of LETOR text: `refuse` them, or take the `last` "
        "value",
    )
    separator: Separator | None = Field(None, description="separates columns; by default comma in .csv, tab in .tsv")

    @property
    def n_folds(self) -> int:
        """The number of folds, which follows from the entry and the names of folders alone."""
        if self.files is not None:
            return self.folds or DEFAULT_FOLDS
        return len(self.folds_of_files) or 1

    @property
    def folds_of_files(self) -> list[Files]:
        """The files of every fold where the person divides the queries; empty where we do."""
        if self.folder is not None:
            return [_files_in(place) for place in _fold_folders(Path(self.folder)).values()]
        if self.train is not None:
            return [{role: _paths(getattr(self, role)) for role in ROLES}]
        return []


def problems(entry: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What of an entry's files does not fit: the key, or none, and a sentence for every problem.

    Values of a wrong type are passed over: the class itself names them.
    """
    ways = [way for way in ("files", "train", "folder") if entry.get(way) is not None]
    if not ways:
        yield "", "expected the files (`files`), or `train` and `test`, or a `folder`; found none of them"
    elif len(ways) > 1:
        yield "", f"expected only one of `files`, `train` and `folder`, found {' and '.join(ways)}"
    yield from _problems_of_roles(entry, ways)
    given: dict[Path, str] = {}
    for key in ("files", *ROLES):
        for path, name in {expanded(one): one for one in _names(entry.get(key))}.items():
            if path in given:
                yield key, f"expected other files than `{given[path]}` has, found {str(path)!r} in both"
            given[path] = key
            if (problem := _problem_of_file(path)) is not None:
                yield key, problem + (f", which {name!r} stands for" if name.startswith("~") else "")
    named = [path for role in ("files", *ROLES) for path in _paths(entry.get(role))]
    tables = [path for path in named if _is_table(path)]
    separated = [path for path in named if Path(unpacked_name(path)).suffix.lower() in SEPARATORS]
    if entry.get("separator") is not None and (others := set(named) - set(separated)):
        yield (
            "separator",
            f"expected for files that end with {' or '.join(SEPARATORS)} only, found {str(min(others))!r}",
        )
    if entry.get("weight") is not None and (others := set(named) - set(tables)):
        yield "weight", f"expected for files that end with {' or '.join(TABLES)} only, found {str(min(others))!r}"
    if entry.get("one_hot") and (others := set(named) - set(tables)):
        yield "one_hot", f"expected for files that end with {' or '.join(TABLES)} only, found {str(min(others))!r}"
    if entry.get("missing") == "flag" and (others := set(named) - set(tables)):
        yield (
            "missing",
            f"expected `flag` for files that end with {' or '.join(TABLES)} only, found {str(min(others))!r}; in LETOR "
            "text, `zero` takes 0 and `mean` the mean of the query",
        )
    if entry.get("repeated_features") is not None and tables:
        yield "repeated_features", f"expected for LETOR text only, found the table {str(tables[0])!r}"
    if entry.get("extreme") == "missing" and entry.get("missing", "refuse") == "refuse" and tables:
        yield "extreme", "expected `missing` as well, which says what is taken for values that are missing in tables"
    if isinstance(entry.get("folder"), str):
        yield from (("folder", text) for text in _problems_of_folder(Path(entry["folder"])))


def _is_table(path: Path) -> bool:
    return Path(unpacked_name(path)).suffix.lower() in TABLES


def group_file(path: Path) -> Path | None:
    """The file of group sizes that lies next to a file: NAME.query or NAME.group."""
    return _of_rows(path, GROUP_ENDINGS)


def weight_file(path: Path) -> Path | None:
    """The file with the weights of queries that lies next to a file: NAME.weight."""
    return _of_rows(path, (WEIGHT_ENDING,))


def _of_rows(path: Path, endings: Sequence[str]) -> Path | None:
    """A file about the rows of another, compressed or not; NAME may lack the usual ending of a file of data."""
    bare = Path(unpacked_name(path))
    names = [path.name, bare.name, *([bare.stem] if bare.suffix.lower() in _PLAIN else [])]
    return _first_of(path, (f"{name}{ending}" for ending in endings for name in names), ("", *SUFFIXES))


def names_file(path: Path) -> Path | None:
    """The file with the names of features that lies next to a file: NAME.features.json or NAME.features.tsv.

    NAME may lack the last ending of the file's name, so that train and test files share one.
    """
    bare = Path(unpacked_name(path))
    return _first_of(path, (f"{name}{ending}" for name in (path.name, bare.name, bare.stem) for ending in NAME_ENDINGS))


def companions(path: Path) -> list[Path]:
    """The files next to a file that belong to its content: group sizes, names of features and weights of queries."""
    return [place for place in (group_file(path), names_file(path), weight_file(path)) if place is not None]


def _first_of(path: Path, names: Iterable[str], endings: Sequence[str] = ("",)) -> Path | None:
    for name, ending in itertools.product(names, endings):
        with contextlib.suppress(OSError):  # a name that is too long is that of no file
            if (place := path.with_name(f"{name}{ending}")).is_file():
                return place
    return None


def _names(value: object) -> tuple[str, ...]:
    given = [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else ()
    return tuple(one for one in given if isinstance(one, str) and one)


def _paths(value: object) -> tuple[Path, ...]:
    return tuple(map(expanded, _names(value)))


def _problem_of_file(path: Path) -> str | None:
    try:
        if path.is_file():
            return None
        if path.is_dir():
            return f"expected a file, found the folder {str(path)!r}; name its files, or give it as `folder`"
    except OSError as error:
        return f"expected a file, found {str(path)!r}, which cannot be looked up ({error.strerror})"
    place = "" if path.is_absolute() else f" in {Path.cwd()}"
    return f"expected a file, found no {str(path)!r}{place}"


def _problems_of_roles(entry: Mapping[str, Any], ways: list[str]) -> Iterator[tuple[str, str]]:
    if entry.get("train") is not None and entry.get("test") is None:
        yield "test", "expected the files with the test queries, which belong to `train`; or give all as `files`"
    for key in ("validation", "test"):
        if entry.get(key) is not None and entry.get("train") is None:
            yield key, "expected `train` as well, found only this part of the data"
    if entry.get("folds") is not None and "files" not in ways:
        yield "folds", "expected with `files` only: here the files themselves say which queries train and test"
    if _number(entry.get("folds")) == 2:
        yield "folds", "expected 1, or 3 and more: in every fold, some queries train, some validate and some test"


def _fold_folders(folder: Path) -> dict[int, Path]:
    """The folders Fold1, Fold2, ... of a folder, by number; the folder itself, as number 1, where there are none."""
    if not folder.is_dir():
        return {}
    folders = {
        int(match[1]): path for path in folder.iterdir() if (match := _FOLD.fullmatch(path.name)) and path.is_dir()
    }
    return dict(sorted(folders.items())) or {1: folder}


def _files_in(folder: Path) -> Files:
    """The files of a folder by role, as the words of their names tell it."""
    by_role: Files = dict.fromkeys(ROLES, ())
    for path in sorted(folder.iterdir()):
        bare = unpacked_name(path).lower()
        if path.is_file() and not bare.endswith((*GROUP_ENDINGS, *NAME_ENDINGS, *_NO_DATA)):
            for role in roles_in(path):
                by_role[role] += (path,)
    return by_role


def roles_in(path: Path) -> list[str]:
    """The roles that words in the name of a file state."""
    found = set(re.split(r"[^a-z]+", unpacked_name(path).lower()))
    return [role for role, words in _WORDS.items() if found & set(words)]


def _problems_of_folder(folder: Path) -> Iterator[str]:
    if not folder.is_dir():
        yield f"expected a folder, found no {str(folder)!r}" + ("" if folder.is_absolute() else f" in {Path.cwd()}")
        return
    folds = _fold_folders(folder)
    if list(folds) != list(range(1, len(folds) + 1)):
        names = ", ".join(path.name for path in folds.values())
        yield f"expected the folders Fold1 to Fold{len(folds)} in {folder}, found {names}"
    for place in folds.values():
        for role, paths in _files_in(place).items():
            if len(paths) > 1:
                yield f"expected one file for {role} in {place}, found {', '.join(path.name for path in paths)}"
            elif not paths and role != "validation":
                yield f"expected a file for {role} in {place}, such as {role}.txt, found none"
