"""Does the report have every term of the glossary, each at an address of its own?"""

import re
from pathlib import Path

import pytest

from pipeline_lib.core.errors import DataError
from pipeline_lib.report.blocks import walk
from pipeline_lib.report.terms_section import GLOSSARY, REFERENCES, Terms, references, terms


def test_every_entry_of_the_glossary_is_a_term_with_its_meaning() -> None:
    section = terms()
    assert section is not None
    found = [one for block in walk(section.blocks) if isinstance(block, Terms) for one in block.terms]
    text = GLOSSARY.read_text(encoding="utf-8")
    assert len(found) == len(re.findall(r"^- ", text, flags=re.MULTILINE)) > 50
    assert len({one.place for one in found}) == len(found)
    assert [part.title for part in section.subsections()] == re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    assert not [one.name for one in found if "**" in one.html or not one.html.strip().endswith(".</p>")]


def test_links_become_names_of_pages_and_other_entries_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "glossary.md"
    path.write_text("# G\n\n## A\n\n- **Slack** (or **room**): see\n  [it](claims.md), *now*.\n", encoding="utf-8")
    section = terms(path)
    assert section is not None
    [block] = section.subsections()[0].blocks
    assert isinstance(block, Terms)
    [one] = block.terms
    assert (one.place, one.name) == ("term-slack-or-room", "Slack (or room)")
    assert one.html.strip() == "<p>see <code>docs/claims.md</code>, <em>now</em>.</p>"
    path.write_text("# G\n\n## A\n\n- Slack is room.\n", encoding="utf-8")
    with pytest.raises(DataError, match="Slack is room"):
        terms(path)
    assert terms(tmp_path / "none.md") is None


def test_every_work_has_an_address_and_says_how_much_of_it_was_read() -> None:
    section = references()
    assert section is not None
    works = [one for block in walk(section.blocks) if isinstance(block, Terms) for one in block.terms]
    text = REFERENCES.read_text(encoding="utf-8")
    assert [one.name for one in works] == re.findall(r"^### (.+)$", text, flags=re.MULTILINE)
    assert len({one.place for one in works}) == len(works) > 30
    assert all(re.fullmatch(r"[a-z0-9-]+", one.place) for one in works)
    assert not [one.name for one in works if not re.search(r"\b(Read: |Not read; )", one.html)]
