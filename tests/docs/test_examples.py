"""Do the examples of the documentation run, and does the page show them as they are, with what they draw now?"""

import re
from pathlib import Path

import pytest

from tools import gallery

LARGEST = 30_000
"""Bytes of a picture."""
TOLERANCE = 1.0
"""Points by which a picture may differ: another processor rounds otherwise."""


def parts(svg: str) -> tuple[list[str], list[float]]:
    """The words and signs of a picture, with identifiers by their order, and its numbers."""
    names = dict.fromkeys(re.findall(r'id="([^"]+)"', svg))
    for number, name in enumerate(names):
        svg = re.sub(rf'(?<=["#]){re.escape(name)}(?=[")])', f"name-{number}", svg)
    number_form = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"
    return re.split(number_form, svg), [float(one) for one in re.findall(number_form, svg)]


def test_there_are_examples_and_each_is_short() -> None:
    assert len(gallery.scripts()) >= 8
    for script in gallery.scripts():
        code = script.read_text(encoding="utf-8").partition('"""\n\n')[2].partition("\n\n")[2]
        assert len([line for line in code.splitlines() if line.strip() and "import" not in line]) <= 16, script


def test_the_page_shows_the_examples() -> None:
    assert gallery.PAGE.read_text(encoding="utf-8") == gallery.page()


@pytest.mark.parametrize("script", gallery.scripts(), ids=lambda script: script.stem)
def test_an_example_runs_and_draws_its_picture(script: Path) -> None:
    stored = script.with_suffix(".svg").read_text(encoding="utf-8")
    assert len(stored.encode()) < LARGEST
    (words, numbers), (now, found) = parts(stored), parts(gallery.drawn(script))
    assert now == words, "python -m tools.gallery"
    assert found == pytest.approx(numbers, rel=0.0, abs=TOLERANCE), "python -m tools.gallery"
