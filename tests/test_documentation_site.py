"""Is the documentation a site that opens from disk, with every page, public name and link in its place?"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parent))
import misuse

from pipeline_lib import cli, learners, measures, surrogates
from pipeline_lib.claims import ledger
from pipeline_lib.documentation import contents, docstrings, page, site
from pipeline_lib.errors import DataError
from tests.html_page import Page

ROOT = Path(__file__).parents[1]
LOADED = {"data:,", site.STYLES, site.SEARCH, site.SCRIPT}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documentation")
    site.build(ROOT, folder)
    return folder


@pytest.fixture(scope="module")
def pages(built: Path) -> dict[str, Page]:
    return {path.name: Page(path.read_text(encoding="utf-8")) for path in sorted(built.glob("*.html"))}


def test_every_page_is_well_formed_and_loads_nothing_from_elsewhere(built: Path, pages: dict[str, Page]) -> None:
    assert len(pages) > 100
    for name, found in pages.items():
        assert found.open == [], name
        assert len(found.ids) == len(set(found.ids)), name
        assert found.headings[0] == "h1", name
        assert found.headings.count("h1") == 1, name
        assert found.headers_without_scope == 0, name
        loaded = set(found.loaded) - LOADED
        assert all((built / path).is_file() for path in loaded), (name, loaded)
    for path in (built / site.STYLES, built / site.SCRIPT):
        assert not re.search(r"@import|url\((?!#)|https?://|fetch\(", path.read_text(encoding="utf-8"))


def test_every_link_of_the_site_leads_somewhere(built: Path, pages: dict[str, Page]) -> None:
    for name, found in pages.items():
        for link in found.links:
            path, _, anchor = link.partition("#")
            if re.match(r"https?:", link):
                continue
            target = path or name
            assert (built / target).is_file(), (name, link)
            assert not anchor or anchor in pages[target].ids, (name, link)


def test_every_page_is_reached_from_the_contents(pages: dict[str, Page]) -> None:
    reached, new = {"index.html"}, ["index.html"]
    while new:
        found = {link.partition("#")[0] for link in pages[new.pop()].links} & pages.keys()
        new += found - reached
        reached |= found
    assert reached == pages.keys()


def test_what_the_search_finds_is_there(built: Path, pages: dict[str, Page]) -> None:
    script = (built / site.SEARCH).read_text(encoding="utf-8")
    index = json.loads(json.loads(script.partition(" = ")[2].removesuffix(";\n")))
    for place, kind, words in index:
        file, _, anchor = place.partition("#")
        assert not anchor or anchor in pages[file].ids, place
        assert kind
        assert words
    assert any(words.startswith("fit.") for _, kind, words in index if kind == "learners.erm")


def test_every_public_function_and_class_has_its_place(pages: dict[str, Page]) -> None:
    number = 0
    for module in misuse.modules():
        public = [name for name in misuse.names_of(module) if callable(getattr(module, name))]
        for name in public:
            thing = getattr(module, name)
            if inspect.isfunction(thing) or inspect.isclass(thing):
                file = f"python-{module.__name__.removeprefix('pipeline_lib.').replace('.', '-')}.html"
                assert name in pages[file].ids, (file, name)
                number += 1
    assert number > 200
    assert {"RankingData", "RankingData.from_frame", "RankingData.take"} <= set(pages["python-ranking_data.html"].ids)


def unbroken(path: Path) -> str:
    """A page without the places at which long names may be broken."""
    return path.read_text("utf-8").replace("<wbr>", "")


def keys(section: dict[str, Any]) -> Iterator[str]:
    """The keys of a configuration, those inside sections included."""
    for key, value in section.items():
        yield key
        if isinstance(value, dict):
            yield from keys(value)


def test_every_setting_has_a_row(built: Path) -> None:
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    shown = "".join(unbroken(built / name) for name in ("settings.html", "settings-experiments.html"))
    experiments = config.pop("experiments")
    sections = {name for name, value in config.items() if isinstance(value, dict)}
    inner = [key for paper in experiments.values() for section in paper.values() for key in section]
    for key in {*keys(config), *inner} - sections:
        assert f"<code>{key}</code>" in shown, key
    for name in (*sections, *(f"{paper}.{one}" for paper, found in experiments.items() for one in found)):
        assert f'id="{name}"' in shown, name


def test_every_command_and_registered_name_has_its_place(built: Path, pages: dict[str, Page]) -> None:
    assert set(cli.command_names()) <= set(pages["commands.html"].ids)
    assert "<code>--held-out</code>" in (built / "commands.html").read_text("utf-8")
    registered = set(pages["registers.html"].ids)
    assert {f"surrogate-{name.replace('@', '-')}" for name in surrogates.NAMES} <= registered
    assert {f"learner-{name}" for name in learners.NAMES} <= registered
    assert {f"measure-{name.replace('@', '-')}" for name in measures.KNOWN_MEASURES} <= registered
    claims = unbroken(built / "claims-of-papers.html")
    assert all(f"<code>{claim.id}</code>" in claims for claim in ledger.load())


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two pages and nothing generated."""
    monkeypatch.setattr(site, "PAGES", {})
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("# Project\n\nSee [one](docs/one.md#first) and [data](data.csv).\n")
    (tmp_path / "data.csv").write_text("1\n")
    (tmp_path / "docs/README.md").write_text("# Contents\n\n## Part\n\n- [One](one.md): a page.\n")
    (tmp_path / "docs/one.md").write_text("# One\n\n## First\n\nOf $x^2$, [back](#first) to [all](../README.md).\n")
    return tmp_path


def test_a_small_project_becomes_a_site(project: Path) -> None:
    assert site.build(project, project / "site") == 3
    front = (project / "site/index.html").read_text()
    assert 'href="one.html#first"' in front
    assert (project / "site/files/data.csv").read_text() == "1\n"
    one = (project / "site/one.html").read_text()
    assert '<h2 id="first">First' in one
    assert "<msup>" in one
    assert 'href="index.html"' in one


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("docs/two.md", "# Two\n", r"found none of docs/two\.md"),
        ("docs/one.md", "No title\n", r"one: expected a title"),
        ("docs/one.md", "# One\n\n[x](nowhere.md)\n", r"one: expected a link to a page.*'nowhere\.md'"),
        ("docs/one.md", "# One\n", r"index: expected a link to a heading of one, found 'docs/one\.md#first'"),
        ("docs/one.md", "# One\n\n## First {#a}\n\n## Second {#a}\n", r"one: expected every address once, found #a"),
        ("docs/one.md", "# One\n\n## First\n\n$\\summ$\n", r"one: formula.*unknown command"),
        (
            "docs/README.md",
            "# Contents\n\n## Part\n\n- [One](one.md): x.\n- [Two](two.md): x.\n",
            r"found docs/two\.md",
        ),
        ("docs/README.md", "# Contents\n\n## Part\n\n- [One](one.md): x.\n- **Keys**: x.\n", r"found Keys"),
        ("docs/README.md", "# Contents\n\n- [One](one.md): x.\n", r"expected a part"),
        (
            "docs/README.md",
            "# Contents\n\n## Part\n\n- [One](one.md): x.\n- [Again](one.md): x.\n",
            r"found docs/one.md twice",
        ),
    ],
)
def test_what_does_not_fit_is_an_error_that_names_the_page(project: Path, file: str, text: str, message: str) -> None:
    (project / file).write_text(text)
    with pytest.raises(DataError, match=message):
        site.build(project, project / "site")


def test_formulas_of_docstrings_are_typeset() -> None:
    doc = "The mean $\\bar{x}$.\n\n.. math:: \\frac{1}{n}\n\n    \\sum_i x_i\n\nOf v_max, not of top_level."
    shown = page.text(f"# T\n\n{docstrings.markdown(doc, str)}\n", "t", str, letters=True).html
    assert shown.count("<math") == 2
    assert "<mfrac>" in shown
    assert "v<sub>max</sub>, not of top_level" in shown


def test_what_a_docstring_says_stays_text() -> None:
    doc = "A <b> sum of\n1. terms\n> 0, and\n= 2."
    shown = page.text(f"# T\n\n{docstrings.markdown(doc, str)}\n", "t", str, letters=True).html
    assert "<b>" not in shown
    assert not re.search("<ol|<blockquote|<h", shown)


def test_the_readme_is_short_and_leads_to_every_part() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 60
    for part in contents.read(ROOT):
        first = part.entries[0].path
        assert f"docs/README.md#{page.slug(part.title)}" in text or first in text, part.title


def test_the_contents_name_the_parts() -> None:
    assert [part.title for part in contents.read(ROOT)] == ["Tutorial", "How-to pages", "Reference", "Explanation"]
