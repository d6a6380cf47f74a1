"""Do the notes of claims name the errata that say the claims depend on them?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from pipeline_lib import papers

ERRATA = (Path(__file__).parents[2] / "docs" / "errata.md").read_text(encoding="utf-8")


def ledgers() -> dict[str, set[str]]:
    """Letter of an erratum -> the claims in its line Ledger."""
    known = {}
    for part in re.split(r"\n### ", ERRATA)[1:]:
        line = re.search(r"- \*\*Ledger\*\*: (.*?)\.\n", part, flags=re.DOTALL)
        known[part.split("\n", 1)[0]] = set(re.findall(r"`([a-z0-9-]+)`", line[1])) if line else set()
    return known


@pytest.mark.parametrize("paper", papers.names())
def test_notes_name_the_letter(paper: str) -> None:
    claims = yaml.safe_load((papers.get(paper).folder / "claims.yaml").read_text(encoding="utf-8"))["claims"]
    text = {
        claim["id"]: yaml.dump({key: claim.get(key) for key in ("evidence", "rule")}, width=1e6) for claim in claims
    }
    unnamed = {
        (letter, claim)
        for letter, named in ledgers().items()
        for claim in named & set(text)
        if not re.search(rf"[Ee]rrat(?:a|um)[^.]*\b{letter}\b", text[claim])
    }
    assert not unnamed
