"""Do the commands on the documentation's pages work, and print what the pages show?

Those that need a study are tried by tests/workflow/test_documented_studies.py.
"""

import re
import shlex
from pathlib import Path

import pytest

from pipeline_lib import cli, learners, sources
from tests.docs import documented
from tests.samples import unrelated

STUDIES = "docs/tutorial.md"
"""The page whose commands depend on each other and on a study."""
BLOCKS = [block for page, found in documented.commands("").items() if page != STUDIES for block in found]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that commands name."""
    made = tmp_path_factory.mktemp("documented")
    data = unrelated(20)
    learners.create("erm", surrogate="listnet", l2=0.1).fit(data).save(made / "ranker.json")
    for name in ("new.txt", "judged.txt", "unseen.txt"):
        sources.letor.write(made / name, data)
    return made


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{Path(block.page).stem}-{block.code.split()[3:4]}")
def test_commands_work_and_print_what_is_shown(
    block: documented.Block, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    for line in block.code.splitlines():
        words = shlex.split(line, comments=True)
        if words[0] == "export":
            assert re.fullmatch(r"[A-Z_]+=\S+", words[1])
            continue
        assert words[:3] == ["python", "-m", "pipeline_lib"], "such a command needs a test of its own"
        assert cli.main(words[3:]) == 0
    printed = capsys.readouterr().out
    if block.output is not None:
        assert documented.matches(block.output, printed), printed


@pytest.mark.parametrize("page", documented.pages())
def test_every_block_of_commands_says_how_it_is_tried(page: str) -> None:
    for block in documented.blocks(page):
        if block.language == "sh":
            assert block.kind in documented.KINDS, block.about
            assert bool(block.reason) == (block.kind == "not run"), block.about
            tests = re.findall(r"tests/[\w/]+\.py", block.reason)
            assert all((documented.ROOT / test).is_file() for test in tests)
    text = re.sub(r"^```.*?^```$", "", (documented.ROOT / page).read_text(encoding="utf-8"), flags=re.M | re.S)
    hidden = re.findall(
        r"^    +(?:\$ )?(?:[A-Z_]+=\S+ )?(?:snakemake|python|pip|make|pipeline-lib|export) .*", text, re.M
    )
    assert not hidden, "commands are blocks of their own, marked sh"


def options(command: str) -> set[str]:
    """The options of a command of the package."""
    return {option for action in cli.parser(command)._actions for option in action.option_strings}


def unknown(text: str) -> list[str]:
    """The commands, options and targets of make that a text names and that do not exist."""
    wrong = []
    for name, rest in re.findall(r"(?:python -m pipeline_lib|pipeline-lib) ([a-z][a-z-]*)([^`\n]*)", text):
        known = name in cli.command_names()
        given = re.findall(r"--[a-z][a-z0-9-]*", rest.replace("\\n", " "))
        wrong += [f"{name} {one}" for one in given if known and one not in options(name)] if known else [name]
    makefile = (documented.ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    return wrong + [f"make {name}" for name in re.findall(r"`make ([a-z][a-z-]*)", text) if name not in targets]


@pytest.mark.parametrize("page", documented.pages())
def test_commands_in_the_text_exist(page: str) -> None:
    assert not unknown((documented.ROOT / page).read_text(encoding="utf-8"))
