"""What do the pages of the documentation say that can be tried: commands, their output, and files?

A block of commands is ``sh``; the words behind it say how the tests try it:

    sh              it is run, and where a block ``text`` follows directly, it prints that; ``...`` stands for anything
    sh plan         Snakemake plans it (``-n``), because it would take long
    sh not run: ... it is not tried, for the reason given

A block ``yaml`` is the content of the file that the paragraph before it names, if it names one.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
KINDS = ("", "plan", "not run")

_BLOCK = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A block of a page: its language and what is said of it, the paragraph before it, and the block after it."""

    page: str
    language: str
    about: str
    code: str
    before: str
    output: str | None

    @property
    def file(self) -> str | None:
        """The file that the paragraph before the block names last."""
        names = re.findall(r"`([\w./-]+\.\w+)`", self.before)
        return names[-1] if names else None

    @property
    def kind(self) -> str:
        """How a block of commands is tried, one of ``KINDS`` if it is written as it should be."""
        return self.about.partition(":")[0].strip()

    @property
    def reason(self) -> str:
        """Why it is not tried."""
        return self.about.partition(":")[2].strip()


def pages() -> list[str]:
    """All pages that are written by hand, below the project's folder: those that docs/README.md lists, and itself."""
    text = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    listed = [os.path.normpath(f"docs/{name}") for name in re.findall(r"^- \[.+?\]\((.+?\.md)\)", text, re.MULTILINE)]
    return ["docs/README.md", *listed]


def blocks(page: str) -> list[Block]:
    """The blocks of a page, in order."""
    return blocks_of((ROOT / page).read_text(encoding="utf-8"), page)


def blocks_of(text: str, page: str) -> list[Block]:
    """The blocks of a text."""
    found = list(_BLOCK.finditer(text))
    made = []
    for i, one in enumerate(found):
        language, _, about = one[1].partition(" ")
        after = found[i + 1] if i + 1 < len(found) else None
        follows = after is not None and after[1] == "text" and not text[one.end() : after.start()].strip()
        before = text[: one.start()].rstrip().rpartition("\n\n")[2]
        made.append(Block(page, language, about, one[2], before, after[2] if after and follows else None))
    return made


def commands(kind: str) -> dict[str, list[Block]]:
    """The blocks of commands that are tried in one way, by page."""
    found = {page: [one for one in blocks(page) if one.language == "sh" and one.kind == kind] for page in pages()}
    return {page: made for page, made in found.items() if made}


def matches(documented: str, printed: str) -> bool:
    """Whether a command printed what a page shows, in which ``...`` stands for anything."""
    pieces = (re.escape(piece) for piece in documented.strip().split("..."))
    return re.fullmatch(r"\s*" + ".*?".join(pieces) + r"\s*", printed, re.DOTALL) is not None
