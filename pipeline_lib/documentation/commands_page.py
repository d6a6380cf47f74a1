"""What can be typed: the commands of the package, those of make, and the rules of the workflow?"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

from pipeline_lib.documentation.contents import Generated
from pipeline_lib.documentation.interface import table

TITLE = "Commands"
WIDTH = 90
COMMANDS = Path(__file__).parents[1] / "commands"


def pages(root: Path) -> list[Generated]:
    """One page; ``root`` is the project's folder, whose Makefile and rules are read."""
    lines = [
        f"# {TITLE}",
        "`python -m pipeline_lib COMMAND` runs a command; its help is printed by `--help`. The jobs of the workflow "
        "call the same commands. Where the package is installed, `pipeline-lib COMMAND` does the same. Every command "
        "takes `--threads N`: so many threads work on large data, which changes how long it takes and nothing else.",
        *(text for found in pkgutil.iter_modules([str(COMMANDS)]) for text in _command(found.name)),
        "## make {#make}",
        table(("command", "what it does"), [(f"`{name}`", words) for name, words in _of_make(root)]),
        "## Rules of the workflow {#rules}",
        "`snakemake --cores N RULE` runs a rule without wildcards and what it needs; the other rules are reached "
        "through the files that they make. The name of a paper is a rule as well: it runs the paper's experiments.",
        table(("rule", "what it does"), [(f"`{name}`", words) for name, words in _rules(root)]),
    ]
    return [Generated("commands", TITLE, "\n\n".join(lines) + "\n")]


def _command(name: str) -> Iterator[str]:
    module, name = importlib.import_module(f"pipeline_lib.commands.{name}"), name.replace("_", "-")
    parser = argparse.ArgumentParser(
        prog=f"python -m pipeline_lib {name}",
        add_help=False,
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=WIDTH),
    )
    module.add_arguments(parser)
    yield f"## {name} {{#{name}}}"
    yield (module.__doc__ or "").strip()
    yield f"```sh\n{parser.format_usage().removeprefix('usage: ').strip()}\n```"
    rows = [_argument(parser, action) for action in parser._actions]
    if rows:
        yield table(("argument", "meaning", "required"), rows)


def _argument(parser: argparse.ArgumentParser, action: argparse.Action) -> tuple[str, str, str]:
    shown = ", ".join(action.option_strings) or str(action.metavar or action.dest)
    words = parser._get_formatter()._expand_help(action) if action.help else ""
    return f"`{shown}`", words, "yes" if action.required else "no"


def _of_make(root: Path) -> Iterator[tuple[str, str]]:
    """What the comment at the head of the Makefile says of its targets."""
    for line in (root / "Makefile").read_text(encoding="utf-8").splitlines():
        found = re.match(r"# (make(?: [a-z-]+)?) {2,}(.+)", line)
        if found is None:
            return
        yield found[1], found[2]


def _rules(root: Path) -> Iterator[tuple[str, str]]:
    """The rules of the workflow with the first sentences of their docstrings."""
    for path in (root / "Snakefile", *sorted((root / "workflow/rules").glob("*.smk"))):
        text = path.read_text(encoding="utf-8")
        for name, words in re.findall(
            r'^(?:rule|use rule \w+ as) (\w+)[^\n]*:\n    """(.+?)"""', text, re.MULTILINE | re.DOTALL
        ):
            yield name, " ".join(words.split("\n\n")[0].split())
