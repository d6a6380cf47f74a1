"""Are this project's theorems and proofs pages of the report, whose links lead somewhere?"""

import re
from pathlib import Path

from pipeline_lib import papers
from pipeline_lib.core import shipped
from pipeline_lib.report import proofs_section
from pipeline_lib.report.blocks import Prose, walk


def test_every_page_of_proofs_has_a_file_and_a_section() -> None:
    named = [name for paper in papers.every() for name in paper.proofs]
    sections = list(proofs_section.pages())
    assert [section.id for section in sections] == [f"proof-{name}" for name in named]
    for name, section in zip(named, sections, strict=True):
        text = shipped.page(f"{name}.md").read_text(encoding="utf-8")
        assert text.startswith(f"# {section.title}\n")
        assert len(section.subsections()) == len(re.findall("^## ", text, re.MULTILINE))
        shown = " ".join(block.html for block in walk(section.blocks) if isinstance(block, Prose))
        assert ".md" not in " ".join(re.findall(r'href="([^"]*)"', shown))


def test_the_single_file_has_every_place_that_a_page_of_proofs_leads_to(report: Path) -> None:
    text = (report / "report.html").read_text(encoding="utf-8")
    places = set(re.findall(r'id="([^"]+)"', text))
    led = re.findall(r'href="#((?:proof|ref|erratum)-[^"]+)"', text)
    assert {place for place in led if place.startswith("proof-")}
    assert set(led) <= places
