"""Is the report right in a browser: on wide and narrow windows, in light and dark, on paper, and without scripts?"""

import json
import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from browser import Browser, started

AXE = ("AXE_CORE", "node_modules/axe-core/axe.min.js")
"""The environment variable with the path of axe-core's script, and where npm puts it in the project's folder."""
WIDTHS = (1280, 390)
PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with started(tmp_path_factory.mktemp("browser")) as found:
        yield found


def pages_of(report: Path) -> list[Path]:
    return [report / "index.html", *sorted((report / "pages").iterdir())]


def test_the_front_page_and_the_single_file_open_without_errors_or_requests(report: Path, browser: Browser) -> None:
    for page in ("index.html", "report.html"):
        assert browser.open(report / page) == []
        assert browser.run("document.documentElement.scrollWidth") <= WIDTHS[0]


def test_errors_requests_and_wide_text_of_a_page_would_be_noticed(tmp_path: Path, browser: Browser) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        '<img src="http://127.0.0.1:9/x.png"><p style="white-space:pre">%s</p><script>f()</script>' % ("x" * 900)
    )
    noticed = browser.open(page, width=390)
    assert any("http://127.0.0.1:9/x.png" in words for words in noticed if words.startswith("request"))
    assert any(words.startswith("exception") for words in noticed)
    assert browser.run("document.documentElement.scrollWidth") > 390


def test_a_click_on_a_heading_sorts_the_rows_by_their_numbers(report: Path, browser: Browser) -> None:
    browser.open(report / "pages" / "data-MQ2008.html")
    script = """(() => {
      const table = document.querySelector('#table-results-MQ2008 table');
      const head = table.tHead.rows[0].cells[1], bodies = [...table.tBodies];
      const read = () => bodies.map(body => [...body.querySelectorAll('tr:not(.group)')].map(row =>
        parseFloat(row.cells[1].innerText)));
      head.querySelector('button').click();
      const rising = read();
      head.querySelector('button').click();
      return JSON.stringify([rising, read(), head.getAttribute('aria-sort')]) })()"""
    rising, falling, sign = json.loads(browser.run(script))
    assert sum(map(len, rising)) > 3
    assert all(group == sorted(group) for group in rising)
    assert falling == [group[::-1] for group in rising]
    assert sign == "descending"


@pytest.mark.parametrize("width", WIDTHS)
def test_the_search_of_the_single_file_finds_claims_tables_and_terms(
    report: Path, browser: Browser, width: int
) -> None:
    browser.open(report / "report.html", width=width)
    search = """(words => {
      const field = document.querySelector('nav input[type=search]');
      field.value = words; field.dispatchEvent(new Event('input'));
      const links = [...document.querySelectorAll('.results a')].filter(link => link.offsetParent !== null);
      const said = document.querySelector('.results').textContent;
      return JSON.stringify([links.map(link => link.getAttribute('href')), said]) })(%s)"""
    for words, place in (
        ("SLAM-thm10 refuted", "#claim-slam-thm10"),
        ("test results on mq2008", "#table-results-MQ2008"),
        ("slack factor sharper", "#term-slack-factor"),
        ("learners", "#made-by-learners"),
    ):
        links, _ = json.loads(browser.run(search % json.dumps(words)))
        assert place in links
    links, said = json.loads(browser.run(search % json.dumps("no such thing")))
    assert links == []
    assert "othing" in said


def test_a_filter_leaves_the_rows_with_its_words(report: Path, browser: Browser) -> None:
    browser.open(report / "pages" / "data-MQ2008.html")
    script = """(() => {
      const figure = document.querySelector('#table-tests-MQ2008-map'), field = figure.querySelector('input');
      const shown = () => [...figure.querySelectorAll('tbody tr:not(.group)')].filter(row => !row.hidden).length;
      const all = shown(); field.value = 'ranksvm'; field.dispatchEvent(new Event('input'));
      return [all, shown()] })()"""
    whole, some = browser.run(script)
    assert 0 < some < whole


def test_the_contents_mark_the_part_that_is_read(report: Path, browser: Browser) -> None:
    browser.open(report / "pages" / "provenance.html", height=200)
    script = """(async () => {
      const links = [...document.querySelectorAll('nav > ol ol a')], marked = [];
      const read = () => links.filter(one => one.getAttribute('aria-current') === 'location').map(one => one.hash);
      for (const link of links.slice(0, 2)) {
        document.getElementById(link.hash.slice(1)).scrollIntoView({behavior: 'instant'});
        for (let i = 0; i < 100 && read()[0] !== link.hash; i++) await new Promise(done => setTimeout(done, 50));
        marked.push(read());
      }
      return JSON.stringify([links.slice(0, 2).map(one => one.hash), marked]) })()"""
    wanted, marked = json.loads(browser.run(script))
    assert len(wanted) == 2
    assert marked == [[place] for place in wanted]


def test_on_paper_what_is_folded_stays_folded_and_nothing_navigates(report: Path, browser: Browser) -> None:
    browser.open(report / "pages" / "slam.html", media="print")
    assert browser.run("getComputedStyle(document.querySelector('nav')).display") == "none"
    shown = "[...document.querySelectorAll(%s)].filter(one => one.checkVisibility()).length"
    assert browser.run(shown % "'main details:not(.claim > details)'") == 0
    claims = browser.run("document.querySelectorAll('.claim').length")
    assert claims > 5
    assert browser.run(shown % "'.claim .says'") == claims
    assert browser.run(shown % "'.claim dl'") == 0
    cut = "[...document.querySelectorAll('.claim .says')].filter(one => one.scrollWidth > one.clientWidth).length"
    assert browser.run(cut) == 0
    browser.run("document.querySelector('main details:not(.claim > details)').open = true")
    assert browser.run(shown % "'main details:not(.claim > details)'") == 1


@pytest.mark.slow
def test_every_page_is_printed(report: Path, browser: Browser) -> None:
    for page in pages_of(report):
        browser.open(page)
        assert browser.printed().startswith(b"%PDF")


@pytest.mark.slow
@pytest.mark.parametrize(("width", "dark", "scripts"), list(product(WIDTHS, (False, True), (False, True))))
def test_every_page_opens_quietly_and_fits_its_window(
    report: Path, browser: Browser, width: int, dark: bool, scripts: bool
) -> None:
    for page in pages_of(report):
        assert browser.open(page, width=width, dark=dark, scripts=scripts) == [], page.name
        assert browser.run("document.documentElement.scrollWidth") <= width, page.name
        paper, ink = browser.run(
            "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
        )
        assert (brightness(paper) < brightness(ink)) == dark


def brightness(colour: str) -> int:
    """The sum of the parts of a colour such as ``rgb(255, 0, 0)``."""
    return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")[:3])


@pytest.mark.slow
def test_a_deep_link_shows_its_claim(report: Path, browser: Browser) -> None:
    browser.open(report / "index.html")
    place = browser.run("document.querySelector('a.cell.refuted').getAttribute('href')")
    name, _, anchor = place.partition("#")
    browser.call("Page.navigate", url=f"{(report / name).as_uri()}#{anchor}")
    script = f"""new Promise(done => setTimeout(() => {{
      const box = document.getElementById({json.dumps(anchor)}).getBoundingClientRect();
      done([box.top, innerHeight, document.querySelector(':target').id]) }}, 800))"""
    top, height, target = browser.run(script)
    assert 0 <= top < height
    assert target == anchor


@pytest.mark.slow
@pytest.mark.parametrize(("width", "dark"), list(product(WIDTHS, (False, True))))
def test_axe_finds_no_violation(report: Path, browser: Browser, width: int, dark: bool) -> None:
    script = axe()
    for page in pages_of(report):
        browser.open(page, width=width, dark=dark)
        browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")
        browser.run(script)
        found = browser.run(
            "axe.run(document).then(found => found.violations.map(one => "
            "[one.id, one.nodes.length, one.nodes[0].html.slice(0, 200), one.nodes[0].failureSummary]))"
        )
        assert found == [], page.name


def axe() -> str:
    """The script of axe-core, which npm installs; skips where it is not installed."""
    places = [Path(os.environ[AXE[0]])] if AXE[0] in os.environ else [PROJECT / AXE[1]]
    if not places[0].is_file():
        pytest.skip(f"axe-core is not installed: `npm install --no-save axe-core`, or {AXE[0]}=/path/of/axe.min.js")
    return places[0].read_text(encoding="utf-8")
