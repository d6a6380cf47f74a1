"""Check the counterexamples to printed statements in exact arithmetic, and print them.

Each witness is the smallest instance on which a statement of a paper fails, with the printed relation, the one that
holds instead, and both sides in rational numbers; square brackets enclose an irrational number. The exit status is 1 if
one of them does not show what it should.
"""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pipeline_lib import papers
from pipeline_lib.claims import errata
from pipeline_lib.claims.errata import Erratum
from pipeline_lib.core.errors import ConfigurationError, DataError, hint
from pipeline_lib.core.files import write_text
from pipeline_lib.papers.witnesses import Witness

WIDTH = 120
HEAD = "| | paper, place | subject | kind |"
"""The line of the page of errata that all written text begins with."""


def run(
    name: Annotated[str | None, "the witness to print; all of them by default"] = None,
    *,
    paper: Annotated[str | None, "the paper whose witnesses are printed", {"choices": papers.names()}] = None,
    errata: Annotated[Path | None, "page of errata, to be written below its introduction"] = None,
) -> None:
    """Print the witnesses, or write the page of errata with them; DataError if one does not check."""
    found = chosen(paper, name)
    if errata is not None:
        if name or paper:
            raise ConfigurationError("witnesses: expected --errata alone, because the page contains all of them")
        write_text(errata, with_errata(errata.read_text(encoding="utf-8"), found))
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


def with_errata(page: str, found: Sequence[Witness]) -> str:
    """The page of errata: its introduction as it is, then every erratum with its witnesses."""
    every = errata.load()
    if unknown := {one.errata for one in found if one.errata} - {one.letter for one in every}:
        raise DataError(f"witnesses: expected an erratum for every letter, found none for {', '.join(sorted(unknown))}")
    if HEAD not in page:
        raise DataError(f"witnesses: expected the line {HEAD!r} on the page of errata, found none")
    rows = [f"| [{one.letter}](#{one.letter.lower()}) | {one.place} | {one.subject} | {one.kind} |" for one in every]
    in_papers = [_entry(one, found) for one in every if one.where]
    of_data = [_entry(one, found) for one in every if not one.where]
    table = "\n".join([HEAD, "|---|---|---|---|", *rows[: len(in_papers)]])
    parts = [table, "## In the papers", *in_papers, "## In descriptions of data", *of_data]
    return page.partition(HEAD)[0] + "\n\n".join(parts) + "\n"


def _entry(one: Erratum, found: Sequence[Witness]) -> str:
    places = "; ".join(f"`{paper}`, {where}" for paper, where in (one.printed_in or one.where).items())
    claims = [f"`{claim}`{', ' if remark else ''}{remark}" for claim, remark in one.claims.items()]
    ledger = ("; " if any(one.claims.values()) else ", ").join(claims) or "no claim"
    lines = [
        f"- **Printed**{f' ({places})' if places else ''}: {one.printed}",
        f"- **Why it is wrong**: {one.why}",
        f"- **What holds**: {one.holds}",
        f"- **Evidence**: {one.evidence}",
        f"- **Ledger**: {ledger}.",
    ]
    for witness in (one_of for one_of in found if one_of.errata == one.letter):
        (_, words), *rest = witness.lines()[1:]  # the page has said what is printed
        lines.append(f"- **Witness** (`{witness.name}`): {_literal(words)}.")
        lines += [f"  - *{heading}*: {_literal(words)}" for heading, words in rest]
    title = f"*{_literal(one.subject[0].upper() + one.subject[1:])}* (`{one.id}`, {one.kind})"
    return "\n".join([f"### {one.letter}\n\n{title}\n", *map(_filled, lines)])


def _filled(line: str) -> str:
    """An item of a list in Markdown, with its further lines below its first word."""
    indent = line.partition("-")[0] + "  "
    return textwrap.fill(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _literal(words: str) -> str:
    """Text in which no star is taken for emphasis."""
    return words.replace("*", r"\*")
