"""Are this project's theorems and proofs pages of the report?"""

import re

from pipeline_lib import papers
from pipeline_lib.claims import novelty
from pipeline_lib.core import shipped
from pipeline_lib.report import proofs_section
from pipeline_lib.report.blocks import Prose, walk


def test_every_page_of_proofs_has_a_file_and_a_section() -> None:
    named = [novelty.PAGE, *(name for paper in papers.every() for name in paper.proofs)]
    sections = list(proofs_section.pages())
    assert [section.id for section in sections] == [f"proof-{name}" for name in named]
    for name, section in zip(named, sections, strict=True):
        text = shipped.page(f"{name}.md").read_text(encoding="utf-8")
        assert text.startswith(f"# {section.title}\n")
        assert len(section.subsections()) == len(re.findall("^## ", text, re.MULTILINE))
        shown = " ".join(block.html for block in walk(section.blocks) if isinstance(block, Prose))
        assert ".md" not in " ".join(re.findall(r'href="([^"]*)"', shown))
