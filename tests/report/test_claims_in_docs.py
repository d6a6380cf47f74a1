"""Do the examples of docs/adding-a-paper.md run, and do the captions render with and without wildcards?"""

import doctest
from pathlib import Path
from types import SimpleNamespace

import jinja2
import pytest

ROOT = Path(__file__).parents[2]
CAPTIONS = sorted((ROOT / "workflow" / "captions").glob("*.rst"))


def test_the_examples_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = doctest.testfile(str(ROOT / "docs" / "adding-a-paper.md"), module_relative=False)
    assert found.attempted > 10
    assert found.failed == 0


@pytest.mark.parametrize("path", CAPTIONS, ids=lambda path: path.stem)
def test_captions_render(path: Path) -> None:
    template = jinja2.Template(path.read_text(encoding="utf-8"))
    for wildcards in ({}, {"dataset": "MQ2008", "study": "default"}):
        text = template.render(snakemake=SimpleNamespace(wildcards=SimpleNamespace(**wildcards)))
        assert "{" not in text
        assert ("MQ2008" in text or "default" in text) == bool(wildcards)


def test_every_caption_is_there() -> None:
    assert {"measures", "comparisons", "claims", "figures", "data"} <= {path.stem for path in CAPTIONS}
