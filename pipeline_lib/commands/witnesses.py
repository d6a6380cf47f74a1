"""Check the counterexamples to printed statements in exact arithmetic, and print them.

Each witness is the smallest instance on which a statement of a paper fails, with the printed relation, the one that
holds instead, and both sides in rational numbers; square brackets enclose an irrational number. The exit status is 1 if
one of them does not show what it should.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

from pipeline_lib import papers
from pipeline_lib.errors import ConfigurationError, DataError, hint
from pipeline_lib.files import write_text
from pipeline_lib.witnesses import Witness

WIDTH = 120
GENERATED = "- **Witness**"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("name", nargs="?", help="the witness to print; all of them by default")
    parser.add_argument("--paper", choices=papers.names(), help="the paper whose witnesses are printed")
    parser.add_argument("--errata", type=Path, help="page of errata, into which the witnesses are written")


def run(arguments: argparse.Namespace) -> None:
    """Print the witnesses, or write them into the page of errata; DataError if one does not check."""
    found = chosen(arguments.paper, arguments.name)
    if arguments.errata is not None:
        if arguments.name or arguments.paper:
            raise ConfigurationError("witnesses: expected --errata alone, because the page contains all of them")
        write_text(arguments.errata, with_witnesses(arguments.errata.read_text(encoding="utf-8"), found))
    else:
        print("\n\n".join(one.text() for one in found))
    wrong = [one.name for one in found if not one.instance().shows]
    if wrong:
        raise DataError(f"witnesses: expected every instance to show what it is printed for, found {', '.join(wrong)}")


def chosen(paper: str | None, name: str | None) -> list[Witness]:
    """The witnesses of one paper or of all, or the one of that name."""
    every = [one for each in ([paper] if paper else papers.names()) for one in papers.witnesses(each)]
    if name is None:
        return every
    found = [one for one in every if one.name == name]
    if not found:
        raise ConfigurationError(f"witnesses: unknown name {name!r}; {hint(name, [one.name for one in every])}")
    return found


def with_witnesses(page: str, found: Sequence[Witness]) -> str:
    """The page of errata with the witnesses of every erratum, in place of those that it contains.

    An erratum begins with ``### LETTER``. Its witnesses follow its last part.
    """
    letters = {one.errata for one in found if one.errata}
    pieces = re.split(r"(?m)^(?=#{2,3} )", page)
    written = []
    for piece in pieces:
        if not piece.startswith("### "):
            written.append(piece)
            continue
        title = piece.partition("\n")[0].removeprefix("### ")
        body = re.sub(rf"(?m)^{re.escape(GENERATED)}.*\n(?:  .*\n)*", "", piece).rstrip("\n")
        own = [_item(one) for one in found if one.errata == title]
        written.append("\n".join([body, *own]) + "\n" * (len(piece) - len(piece.rstrip("\n"))))
        letters -= {title}
    if letters:
        raise DataError(f"witnesses: expected a heading for every erratum, found none for {', '.join(sorted(letters))}")
    return "".join(written)


def _item(one: Witness) -> str:
    """A witness as an item of a list in Markdown."""
    (_, words), *lines = one.lines()[1:]  # the page has said what is printed
    first = f"{GENERATED} (`{one.name}`): {_literal(words)}."
    rest = [f"  - *{heading}*: {_literal(words)}" for heading, words in lines]
    return "\n".join(
        [
            textwrap.fill(first, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False),
            *(
                textwrap.fill(line, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
                for line in rest
            ),
        ]
    )


def _literal(words: str) -> str:
    """Text in which no star is taken for emphasis."""
    return words.replace("*", r"\*")
