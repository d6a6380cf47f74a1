"""Is the kept list of slips up to date, and does a replay tell a slip that is noticed from one that is not?"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline_lib.claims import ledger
from tools.mutation import slips
from tools.mutation.__main__ import STOPPED
from tools.mutation.slips import KINDS, PARTS, Slip

ROOT = Path(__file__).parents[2]
KEPT = slips.load()
MADE = Slip("claims", "pipeline_lib/made.py", "A sum for a mean.", "mean(x)", "sum(x)", "test", "t", "t", "")


def definitions(path: Path) -> Iterator[tuple[str, str]]:
    """The functions, classes and methods of a file, and their documentation."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield "", ast.get_docstring(tree) or ""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, ast.get_docstring(node) or ""
            for part in node.body:
                if isinstance(part, ast.FunctionDef):
                    yield f"{node.name}.{part.name}", ast.get_docstring(part) or ""


def exists(test: str) -> bool:
    """Whether a file has a test, or an example that is one, of this name."""
    path, _, name = test.partition("::")
    if path.startswith("tests/"):
        return name.replace("::", ".") in dict(definitions(ROOT / path))
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return ">>>" in dict(definitions(ROOT / path)).get(name.removeprefix(module).removeprefix("."), "")


def test_every_slip_can_be_made() -> None:
    assert slips.stale(KEPT) == []
    assert len({(one.module, one.before, one.after) for one in KEPT}) == len(KEPT)
    for part in PARTS:
        assert sum(one.part == part for one in KEPT) >= 30, part


def test_every_test_that_is_named_exists() -> None:
    named = {one.test for one in KEPT if one.test}
    assert [test for test in sorted(named) if not exists(test)] == []


def test_what_notices_a_slip_is_named() -> None:
    claims = {claim.id for claim in ledger.load()}
    for one in KEPT:
        assert one.noticed_by in KINDS, one
        if one.noticed_by == "test":
            assert one.by == one.test, one
        elif one.noticed_by == "verdict":
            moved = re.findall(r"(?:^|; )([\w -]+): ", one.by)
            assert moved, one
            assert {*moved} <= {*claims, STOPPED}, one
        else:
            assert bool(one.by) is (one.noticed_by == "invariant"), one


def test_a_line_is_stale_where_its_text_does_not_stand_once() -> None:
    assert MADE.applied("y = mean(x)\n") == "y = sum(x)\n"
    for source in ("y = x\n", "y = mean(x) + mean(x)\n"):
        with pytest.raises(ValueError, match="expected 'mean\\(x\\)' once"):
            MADE.applied(source)
    lost = KEPT[0]._replace(before=f"{KEPT[0].before} that nobody wrote")
    same = KEPT[0]._replace(after=KEPT[0].before)
    gone = KEPT[0]._replace(module="pipeline_lib/no_such_module.py")
    assert [len(slips.stale([one])) for one in (KEPT[0], lost, same, gone)] == [0, 1, 1, 1]


def test_slips_are_counted_by_part_and_by_what_notices_them() -> None:
    found = slips.counts([MADE, MADE._replace(noticed_by="nothing"), MADE._replace(part="cone", noticed_by="verdict")])
    assert found["claims"] == {"test": 1, "nothing": 1}
    assert found["cone"] == {"verdict": 1}
    assert found["all"] == {"test": 1, "nothing": 1, "verdict": 1}
    assert [*found] == ["cone", "claims", "all"]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, ("survived", "")),
        ({"statuses": {"a-b": "refuted", "a-c": "not-run"}}, ("verdict", "a-b: verified -> refuted")),
        ({"recomputed": ["card a-b"]}, ("invariant", "recomputation: card a-b")),
        ({"record": {"a-b": {"trials": 2, "margin": 1.5}}}, ("invariant", "record of evidence: a-b: trials 3 -> 2")),
        ({"record": {"a-b": {"trials": 3, "margin": 2}}}, ("invariant", "record of evidence: a-b: margin 1.5 -> 2")),
        ({"record": {"a-b": {"trials": 4, "margin": 1.2}}}, ("survived", "")),  # it is tested more severely
        ({STOPPED: "stopped"}, ("verdict", "a job: None -> stopped")),
    ],
)
def test_what_is_judged_again_is_compared_with_what_was(changed: dict[str, object], expected: tuple[str, str]) -> None:
    before = {
        "statuses": {"a-b": "verified", "a-c": "not-run"},
        "record": {"a-b": {"trials": 3, "margin": 1.5}},
        "recomputed": [],
    }
    assert slips.differing(before, {**before, **changed}) == expected


def test_the_documentation_has_the_numbers_of_the_list() -> None:
    words = re.sub(r"\s+", " ", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert slips.in_words(KEPT) in words, f"expected in CONTRIBUTING.md: {slips.in_words(KEPT)}"


@pytest.mark.slow
def test_a_few_slips_are_noticed_as_the_list_says(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tools.mutation.slips", "--sample", "5", "--seed", "1", "--folder", str(tmp_path)]
    found = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
    assert found.stdout.count("  True  ") == 5
