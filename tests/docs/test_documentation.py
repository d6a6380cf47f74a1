"""Does the code on the documentation's pages run, and does what they point to exist?"""

import ast
import doctest
import functools
import re
import subprocess
from pathlib import Path

import pytest

from pipeline_lib.claims import errata
from tools import affected

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# The blocks of these pages need files about them; tests/workflow/test_adding.py runs them, and
# tests/report/test_claims_in_docs.py the sessions among them.
ELSEWHERE = "adding-*.md"
PAGES = sorted(
    page for page in DOCS.glob("*.md") if not page.match(ELSEWHERE) and "```python" in page.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_blocks_run(page):
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert blocks
    sessions = [block for block in blocks if block.startswith(">>>")]
    exec(
        compile("\n".join(block for block in blocks if block not in sessions), str(page), "exec"),
        {"__name__": page.stem},
    )
    examples = doctest.DocTestParser().get_doctest("\n".join(sessions), {}, page.stem, str(page), 0)
    assert doctest.DocTestRunner().run(examples).failed == 0


def test_the_baselines_are_those_of_the_records(registers):
    assert registers.PUBLISHED.read_text(encoding="utf-8") == registers.baselines(), "run python docs/registers.py"


def references(text):
    """Every `path.py` and `path.py::name` on a page, and the names that directly follow one: `path.py` `name`."""
    pattern = r"`([\w/]+\.py)(?:::([\w.]+))?`((?: `[A-Za-z_][\w.]*`(?:,(?= `[A-Za-z_][\w.]*`))?)*)"
    for path, name, following in re.findall(pattern, text):
        names = [*([name] if name else []), *re.findall(r"`([\w.]+)`", following)]
        yield from ((path, one) for one in names or [""])


@functools.cache
def definitions(path):
    """The functions, classes and methods of a file, methods as Class.method; and "" for the file itself."""
    found = {""}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
    return found


def missing(text):
    """What a page points to that is neither in the package nor among the tests."""
    for path, name in references(text):
        files = [file for folder in ("pipeline_lib", "tests", ".") if (file := ROOT / folder / path).is_file()]
        if not any(name in definitions(file) for file in files):
            yield f"{path}::{name}" if name else path


def test_the_map_of_methods_points_to_what_exists():
    text = (DOCS / "methods.md").read_text(encoding="utf-8")
    assert len(set(references(text))) > 100
    assert not list(missing(text))


def test_the_table_of_the_architecture_names_every_folder_and_every_module_of_the_parts_that_it_lists():
    table = (DOCS / "architecture.md").read_text(encoding="utf-8").partition("## Adding something")[0]
    parts = {path.name for path in (ROOT / "pipeline_lib").iterdir() if path.name[0] not in "_."}
    for folder in ("study", "core", "data"):
        parts |= {path.name for path in (ROOT / "pipeline_lib" / folder).glob("*.py")} - {"__init__.py"}
    parts |= {path.name for path in (ROOT / "tools").iterdir() if path.name[0] not in "_."}
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()
    parts |= {path.split("/")[0] for path in tracked if "/" in path}  # of what git knows, where there is git
    assert not {part for part in parts if not re.search(rf"[`/]{re.escape(part)}[`/]", table)} - {"docs"}


def tours():
    """The files of every tour, for one claim and one learner, and how many steps it has."""
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    section = re.search(r"^## Three tours\n(.*?)^## ", text, flags=re.MULTILINE | re.DOTALL)
    assert section is not None
    example = section[1].replace("PAPER", "topk").replace("TOPIC", "exactness").replace("LEARNER", "erm")
    for tour in example.split("\n**")[1:]:
        steps = "\n".join(re.findall(r"^\d+\. .*(?:\n   .*)*", tour, flags=re.MULTILINE))
        yield re.findall(r"`([\w/]+/[\w.]+)`", steps), len(re.findall(r"^\d", steps, flags=re.MULTILINE))


def module(path):
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def leads_to(path, other):
    """Whether a file imports another one, or names it."""
    modules = affected.graph().modules
    if module(other) in modules and module(path) in modules:
        return affected.graph().direct_import_exists(importer=module(path), imported=module(other))
    names = "|".join(
        map(re.escape, {Path(other).name, module(other), Path(other).stem, Path(other).stem.replace("_", "-")})
    )
    return re.search(rf"\b({names})\b", (ROOT / path).read_text(encoding="utf-8")) is not None


def test_every_step_of_a_tour_leads_to_another_or_is_led_to():
    found = list(tours())
    assert len(found) == 3
    for files, steps in found:
        assert steps > 5
        assert len(set(files)) == len(files)
        assert not [path for path in files if not (ROOT / path).is_file()]
        together, waiting = set(), {files[0]}
        while waiting:
            together |= waiting
            rest = set(files) - together
            waiting = {one for one in rest if any(leads_to(one, two) or leads_to(two, one) for two in together)}
        assert together == set(files)


def test_the_tour_of_a_claim_has_every_module_that_decides_its_status():
    files = next(tours())[0]
    part = "pipeline_lib.claims."
    decide = [module(path) for path in files if module(path).startswith(part)]
    assert len(decide) > 5
    needed = {one for path in decide for one in affected.graph().find_modules_directly_imported_by(path)}
    assert {one for one in needed if one.startswith(part)} <= {*decide}


def test_the_errata_point_to_what_exists():
    text = "\n".join(path.read_text(encoding="utf-8") for path in errata.files())
    assert not list(missing(text))
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", text))
    assert named
    assert not {name for name in named if f"def {name}(" not in tests}


def test_every_work_is_cited_by_a_page_or_by_code_that_follows_it():
    headings = re.findall(r"^### (.+)$", (DOCS / "references.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    files = [*DOCS.glob("*.md"), *(ROOT / "pipeline_lib").rglob("*.*")]
    texts = (path.read_text(encoding="utf-8") for path in files if path.suffix in {".md", ".py", ".yaml", ".toml"})
    cited = "\n".join(text for text in texts if not text.startswith("# References"))

    def is_cited(heading: str) -> bool:
        anchor = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        return f"#{anchor}" in cited or bool(re.search(rf"\b{re.split('[ ,]', heading)[0]}\b", cited))

    assert len(headings) > 50
    assert [heading for heading in headings if not is_cited(heading)] == []
