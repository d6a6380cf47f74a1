"""Do the parts of the package import each other as docs/architecture.md says, and never a higher part?

The page's table of parts is read: its rows stand from the highest part to the lowest, and each names the modules of its
part and every part that they import.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import pytest

from pipeline_lib import import_closure

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
HEADER = "| part | its modules in `pipeline_lib/` | imports |"


def parts_on_the_page(text):
    """The rows of the table: part -> (patterns of its modules, parts that it imports), in order."""
    lines = text.splitlines()
    rows = {}
    for line in lines[lines.index(HEADER) + 2 :]:
        if not line.startswith("|"):
            break
        name, modules, imported = (cell.strip() for cell in line.strip("|").split("|"))
        rows[name] = (re.findall(r"`([^`]+)`", modules), [part for part in re.split(r",\s*", imported) if part != "–"])
    return rows


def part_of(path, rows):
    """The part that the most specific pattern puts a file of the package into."""
    fitting = [
        (len(pattern), name)
        for name, (patterns, _) in rows.items()
        for pattern in patterns
        if pattern.count("/") == path.count("/") and PurePosixPath(path).match(pattern)
    ]
    assert fitting, f"pipeline_lib/{path} is in no part of the table in docs/architecture.md"
    return max(fitting)[1]


def arrows(rows, root=ROOT):
    """(part, part) -> a pair of modules of which the first imports the second."""
    package = root / "pipeline_lib"
    part = {}
    for file in sorted(package.rglob("*.py")):
        path = file.relative_to(package).as_posix()
        name = ".".join(("pipeline_lib", *path.removesuffix(".py").split("/"))).removesuffix(".__init__")
        part[name] = part_of(path, rows)
    found = {}
    for name in part:
        for imported in import_closure.imports(name, root):
            if part[name] != part[imported]:
                found.setdefault((part[name], part[imported]), (name, imported))
    return found


@pytest.fixture(scope="module")
def rows():
    return parts_on_the_page(PAGE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def exist(rows):
    return arrows(rows)


def test_no_part_imports_a_higher_one(rows, exist):
    order = list(rows)
    up = {pair: example for pair, example in exist.items() if order.index(pair[0]) > order.index(pair[1])}
    assert not up


def test_the_page_names_exactly_the_arrows_that_exist(rows, exist):
    for name, (_, named) in rows.items():
        imported = [part for part in rows if (name, part) in exist]
        examples = {part: exist[name, part] for part in set(imported) - set(named)}
        assert named == imported, f"the row of {name!r} should say: {', '.join(imported) or '–'}; not named: {examples}"


def test_every_pattern_of_the_page_stands_for_a_module(rows):
    files = [file.relative_to(ROOT / "pipeline_lib").as_posix() for file in (ROOT / "pipeline_lib").rglob("*.py")]
    for patterns, _ in rows.values():
        for pattern in patterns:
            alike = [file for file in files if file.count("/") == pattern.count("/")]
            assert any(PurePosixPath(file).match(pattern) for file in alike), pattern


def test_an_arrow_to_a_higher_part_is_noticed(tmp_path):
    package = tmp_path / "pipeline_lib"
    (package / "theory").mkdir(parents=True)
    (package / "high.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pipeline_lib.low\n"
    )
    (package / "low.py").write_text("def late():\n    from pipeline_lib.theory import bounds\n    return bounds\n")
    (package / "theory" / "__init__.py").write_text("")
    (package / "theory" / "bounds.py").write_text("from pipeline_lib import high\n")
    (package / "__init__.py").write_text("")
    made = {name: ([f"{name}.py"], []) for name in ("high", "low")}
    made |= {"theory": (["theory/*.py"], []), "root": (["__init__.py"], [])}
    assert set(arrows(made, tmp_path)) == {("low", "theory"), ("theory", "high"), ("low", "root"), ("theory", "root")}
