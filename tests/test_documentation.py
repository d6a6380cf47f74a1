"""Does the code on the documentation's pages run?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
# The blocks of claims.md need files about them; tests/reporting/test_claims_page_of_docs.py runs them.
ELSEWHERE = ("claims",)
PAGES = sorted(
    page for page in DOCS.glob("*.md") if page.stem not in ELSEWHERE and "```python" in page.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_blocks_run(page):
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert blocks
    exec(compile("\n".join(blocks), str(page), "exec"), {"__name__": page.stem})


def test_the_worked_example_is_among_them():
    assert "adding-a-surrogate" in [page.stem for page in PAGES]
