"""List the studies of a folder: how each is run, what it sets otherwise than the default study, and what that adds.

Every file of `workflow/studies/` begins with a comment that says what the study is for.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline_lib import schemas
from pipeline_lib.claims import ledger
from pipeline_lib.configuration_text import written
from pipeline_lib.errors import ConfigurationError
from pipeline_lib.files import write_text
from pipeline_lib.markup import table_cell
from pipeline_lib.study_settings import changes

HEAD = """\
# The studies that are ready to run

`config.yaml` is the default study. The files in `workflow/studies/` override some of its settings: they run the papers
at full scale, or on real data. For every study, this page lists the settings that differ, and the claims that need data
which the default study does not have. `snakemake -n` with the same options shows the jobs and estimates the time; the
report of a study lists its own changes under “Provenance”. The page is written by
`python -m pipeline_lib studies --page docs/studies.md`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--folder", type=Path, default=Path("workflow/studies"), help="folder with the studies (default: %(default)s)"
    )
    parser.add_argument("--page", type=Path, help="page in Markdown to write, instead of printing the list")


def run(arguments: argparse.Namespace) -> None:
    """Write the page, or print it; ConfigurationError if there is no study, or one of them is not YAML."""
    paths = sorted(arguments.folder.glob("*.yaml"))
    if not paths:
        raise ConfigurationError(f"{arguments.folder}: expected studies, found no file NAME.yaml")
    text = "\n\n".join([HEAD, *(part for path in paths for part in section(path))]) + "\n"
    if arguments.page is None:
        print(text, end="")
    else:
        write_text(arguments.page, text)


def section(path: Path) -> Iterator[str]:
    """What the page says of one study."""
    config = schemas.load(path, "a study")
    if not isinstance(config, Mapping):
        raise ConfigurationError(f"{path}: expected the settings of a study, found {config!r}")
    about, how = _comment(path)
    yield f"## {config.get('study', path.stem)}"
    yield about
    yield "\n".join(["```sh not run: it takes hours", *how, "```"])
    rows = [
        [f"`{one.setting}`", _shown(one.default), _shown(one.value), table_cell(one.description.split(". ")[0])]
        for one in changes(config)
    ]
    if rows:
        lines = [["setting", "default", "here", "meaning"], ["---"] * 4, *rows]
        yield "\n".join(f"| {' | '.join(line)} |" for line in lines)
    added = _added(config)
    if added:
        yield f"With these data sets, it also judges {', '.join(f'`{name}`' for name in added)}."


def _comment(path: Path) -> tuple[str, list[str]]:
    """The sentences of the comment at the head of a file, and the command lines among them, which are indented."""
    words: list[str] = []
    how: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        text = line.removeprefix("#")
        (how if text.startswith("   ") else words).append(text.strip())
    return " ".join(words), how


def _added(config: Mapping[str, Any]) -> list[str]:
    """The claims of the study's papers that can be judged on its data sets and not on those of the default study."""
    chosen = config.get("papers", "all")
    names = {one if isinstance(one, str) else one["name"] for one in config.get("datasets", ())}
    return [
        claim.id
        for claim in ledger.load()
        if (chosen == "all" or claim.paper.name in chosen) and names & set(claim.data)
    ]


def _shown(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(one, str) for one in value):
        return table_cell(", ".join(value))
    return table_cell(written(value))
