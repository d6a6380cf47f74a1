"""Is the report right in a browser: on wide and narrow windows, in light and dark, on paper, and without scripts?"""

import contextlib
import json
import os
import re
import shutil
import socket
from itertools import product
from pathlib import Path

import pytest
from browser import Browser

from pipeline_lib.claims import judged

AXE = ("AXE_CORE", "node_modules/axe-core/axe.min.js")
"""The environment variable with the path of axe-core's script, and where npm puts it in the project's folder."""
WIDTHS = (1280, 390)
PROJECT = Path(__file__).parents[2]


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


FOREIGN = """<img src="ADDRESS/x.png"><iframe src="ADDRESS/x.html"></iframe>
<script>document.title = "run"</script><script src="ADDRESS/x.js"></script><link rel="stylesheet" href="ADDRESS/x.css">
<p onclick="document.title = 'run'" style="background: url(ADDRESS/y.png)" id="foreign">x</p></main>"""


@pytest.mark.parametrize("page", ["index.html", "report.html", "pages/explore.html"])
def test_the_policy_of_a_page_lets_nothing_foreign_run_or_be_requested(
    page: str, report: Path, browser: Browser, tmp_path: Path
) -> None:
    shutil.copytree(report, tmp_path, dirs_exist_ok=True)
    path = tmp_path / page
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        text = path.read_text(encoding="utf-8").replace("</main>", FOREIGN.replace("ADDRESS", address))
        path.write_text(text, encoding="utf-8")
        noticed = browser.open(path)
        assert sum("Content Security Policy" in words for words in noticed) >= 4
        browser.run("document.getElementById('foreign').click()")
        assert browser.run("document.title") != "run"
        assert browser.run(f"fetch('{address}/').then(() => 'sent', () => 'refused')") == "refused"
        assert _sent(server) == b""


def _sent(server: socket.socket) -> bytes:
    """What was sent to a server; for a frame, Chromium opens a connection before it looks at the policy."""
    found = b""
    server.settimeout(1.0)
    with contextlib.suppress(TimeoutError):
        while True:
            connection = server.accept()[0]
            with connection, contextlib.suppress(TimeoutError):
                connection.settimeout(1.0)
                found += connection.recv(1000)
    return found


FIGURES = """(() => {
  document.querySelectorAll('details').forEach(one => one.open = true);
  return JSON.stringify([...document.querySelectorAll('.drawing')].map(figure => {
    const svg = figure.querySelector('svg'), box = svg.getBoundingClientRect(), {a: scale} = svg.getScreenCTM();
    const outside = ({left, right, top, bottom}) =>
      left < box.left - 1 || right > box.right + 1 || top < box.top - 1 || bottom > box.bottom + 1;
    const texts = [...svg.querySelectorAll('text')];
    return [figure.id, box.left, box.right, figure.scrollWidth - figure.clientWidth,
      Math.min(...texts.map(text => scale * parseFloat(getComputedStyle(text).fontSize))),
      texts.filter(text => outside(text.getBoundingClientRect())).map(text => text.textContent)] })) })()"""
"""Of every figure: ends of its drawing, how far it scrolls, size of its smallest letters, and words outside of it."""


@pytest.mark.parametrize("width", WIDTHS)
def test_figures_are_legible_without_scrolling(report: Path, browser: Browser, width: int) -> None:
    browser.open(report / "report.html", width=width)
    figures = json.loads(browser.run(FIGURES))
    assert figures
    for name, left, right, hidden, smallest, outside in figures:
        assert 0 <= left < right <= width, name
        assert hidden == 0, name
        assert smallest >= 8.0, name
        assert outside == [], name


def test_what_a_badge_says_of_a_refuted_claim_fits_the_screen(report: Path, browser: Browser) -> None:
    browser.open(report / "pages" / "slam.html", width=390)
    words = "false for lists of one document; constants of its proof too small for small balls or labels"
    browser.run(f"document.querySelector('.badge').textContent = {json.dumps(words)}")
    assert browser.run("document.documentElement.scrollWidth") <= 390


def test_formulas_are_set_in_the_font_that_comes_with_the_report(report: Path, browser: Browser) -> None:
    for page in (report / "pages" / "methods.html", report / "report.html"):
        browser.open(page)
        browser.run("document.fonts.ready.then(() => true)")
        for domain in ("DOM", "CSS"):
            browser.call(f"{domain}.enable")
        root = browser.call("DOM.getDocument")["root"]["nodeId"]
        for selector in (".prose math mi", ".prose math mo", ".prose math mn"):
            node = browser.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
            fonts = browser.call("CSS.getPlatformFontsForNode", nodeId=node)["fonts"]
            assert [(font["familyName"], font["isCustomFont"]) for font in fonts] == [("Report Math", True)]


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


SEARCH = """(async words => {
  const field = document.querySelector('nav input[type=search]');
  field.focus();
  for (let i = 0; i < 200 && typeof INDEX === 'undefined'; i++) await new Promise(done => setTimeout(done, 50));
  field.value = words; field.dispatchEvent(new Event('input'));
  const links = [...document.querySelectorAll('.results a')].filter(link => link.offsetParent !== null);
  const said = document.querySelector('.results [role=status]').textContent;
  return JSON.stringify([links.map(link => link.getAttribute('href')), said]) })(%s)"""
"""Types words into the search; where its links lead, and what it says."""


def searched(browser: Browser, words: str) -> tuple[list[str], str]:
    links, said = json.loads(browser.run(SEARCH % json.dumps(words)))
    return links, said


@pytest.mark.parametrize("width", WIDTHS)
def test_the_search_of_the_single_file_finds_claims_tables_and_terms(
    report: Path, browser: Browser, width: int
) -> None:
    browser.open(report / "report.html", width=width)
    for words, place in (
        ("SLAM-thm10 refuted", "#claim-slam-thm10"),
        ("test results on mq2008", "#table-results-MQ2008"),
        ("margin of a limit tighter", "#term-margin-of-a-limit"),
        ("trained, evaluated and compared", "#made-by-learners"),
    ):
        assert place in searched(browser, words)[0]
    links, said = searched(browser, "no such thing")
    assert links == []
    assert said


def test_every_page_searches_all_pages_and_its_links_lead_there(report: Path, browser: Browser) -> None:
    for page in (report / "index.html", report / "pages" / "cone.html"):
        assert browser.open(page) == []
        links, said = searched(browser, "theorem 5")
        file, _, place = links[0].partition("#")
        assert (page.parent / file).resolve() == (report / "pages" / "slam.html").resolve()
        assert place == "claim-slam-thm5"
        assert re.findall(r"\d+", said)
        for link in links:
            file, _, place = link.partition("#")
            assert f'id="{place}"' in (page.parent / file if file else page).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        *(("normalize", "normalise"), ("judgment", "judgement"), ("license", "licence"), ("center", "centre")),
        *(("labeled", "labelled"), ("Theorems", "theorem"), ("generalisation bound", "generalization bounds")),
    ],
)
def test_the_search_knows_both_spellings(report: Path, browser: Browser, typed: str, meant: str) -> None:
    browser.open(report / "report.html")
    found, _ = searched(browser, meant)
    assert found
    assert searched(browser, typed)[0] == found


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("theorm 5", "theorem 5"), ("pereptron", "perceptron"), ("perceptrno", "perceptron"), ("jugdemnt", "judgement")],
)
def test_the_search_forgives_mistypings(report: Path, browser: Browser, typed: str, meant: str) -> None:
    browser.open(report / "report.html")
    assert searched(browser, typed)[0][0] == searched(browser, meant)[0][0]


def test_short_words_and_numbers_are_found_as_they_are_typed(report: Path, browser: Browser) -> None:
    browser.open(report / "report.html")
    assert searched(browser, "qap")[0] == []
    assert searched(browser, "theorem 987")[0] == []


def test_the_search_finds_prose_and_what_stands_in_tables(report: Path, browser: Browser) -> None:
    browser.open(report / "index.html")
    for words, place in (
        ("without a relevant document are kept", "data-MQ2008"),
        ("adarank duality gap", "table-training-MQ2008"),
        ("rerun", "rerun"),
        ("how to reproduce", "rerun"),
        ("license", "licence"),
    ):
        links, _ = searched(browser, words)
        assert place in [link.partition("#")[2] for link in links], (words, links)
    assert searched(browser, "reproduce")[0][0].endswith("#rerun")
    assert searched(browser, "cite")[0][0].endswith("#cite")
    assert searched(browser, "bibtex")[0][0].endswith("#cite")
    assert searched(browser, "what is new")[0][0].partition("#")[0].endswith("what-is-new.html")


def test_a_filter_leaves_the_rows_with_its_words(report: Path, browser: Browser) -> None:
    browser.open(report / "pages" / "data-MQ2008.html")
    script = """(() => {
      const figure = document.querySelector('#table-tests-MQ2008-map'), field = figure.querySelector('input');
      const shown = () => [...figure.querySelectorAll('tbody tr:not(.group)')].filter(row => !row.hidden).length;
      const all = shown(); field.value = 'ranksvm'; field.dispatchEvent(new Event('input'));
      return [all, shown()] })()"""
    whole, some = browser.run(script)
    assert 0 < some < whole


LEDGER = """(chosen => {
  const box = document.querySelector('#table-ledger .filter');
  for (const [name, value] of Object.entries(chosen)) box.querySelector(`[name=${name}]`).value = value;
  if (Object.keys(chosen).length) box.querySelector('input').dispatchEvent(new Event('input'));
  const rows = [...document.querySelectorAll('#table-ledger tbody tr:not(.group)')];
  const shown = rows.filter(row => row.offsetParent !== null);
  return JSON.stringify([shown.map(row => row.cells[0].textContent.trim()), rows.length,
    box.querySelector('[role=status]').textContent, location.href]) })(%s)"""
"""Sets fields of the ledger's filter; the claims that it leaves, the number of all, what it says, and the address."""


def filtered(browser: Browser, **chosen: str) -> tuple[list[str], int, str, str]:
    shown, rows, said, address = json.loads(browser.run(LEDGER % json.dumps(chosen)))
    return shown, rows, said, address


def test_the_ledger_is_filtered_by_paper_status_kind_and_words_together(report: Path, browser: Browser) -> None:
    claims = judged.read(report / "claims.json").claims
    browser.open(report / "pages" / "ledger.html")
    assert filtered(browser)[0] == filtered(browser, words="")[0]
    assert len(filtered(browser)[0]) == filtered(browser)[1] == len(claims)
    wanted = [one.id for one in claims if one.paper == "slam" and one.status == "not-run" and one.kind == "bound"]
    shown, rows, said, _ = filtered(browser, paper="slam", status="not run", kind="bound")
    assert sorted(shown) == sorted(wanted)
    assert re.findall(r"\d+", said) == [str(len(wanted)), str(rows)]
    some, *_ = filtered(browser, words="perceptron theorems")
    assert set(some) < set(shown)
    assert "slam-cor7" in some


def test_a_link_to_a_filtered_ledger_opens_it_filtered(report: Path, browser: Browser) -> None:
    browser.open(report / "pages" / "ledger.html")
    shown, rows, said, address = filtered(browser, paper="cone", words="stability")
    assert 0 < len(shown) < rows
    for page in (address, address.replace("pages/ledger.html", "report.html")):
        browser.open(report / "index.html")
        browser.navigate(page)
        assert filtered(browser) == (shown, rows, said, page)
    assert filtered(browser, paper="", words="")[0] == filtered(browser)[0]
    assert len(filtered(browser)[0]) == rows


def test_without_scripts_the_ledger_is_whole(report: Path, browser: Browser) -> None:
    page = report / "pages" / "ledger.html"
    browser.open(page, scripts=False)
    browser.navigate(f"{page.as_uri()}?paper=cone#table-ledger")
    claims = judged.read(report / "claims.json").claims
    hidden = "[...document.querySelectorAll('#table-ledger tbody tr')].filter(row => row.offsetParent === null).length"
    assert browser.run(hidden) == 0
    assert browser.run("document.querySelectorAll('#table-ledger tbody th a').length") == len(claims)


def test_a_click_copies_the_command_and_says_so(report: Path, browser: Browser) -> None:
    browser.open(report / "pages" / "data-MQ2008.html")
    script = """(async () => {
      const copied = [];
      const clipboard = {writeText: async words => copied.push(words)};
      Object.defineProperty(navigator, 'clipboard', {configurable: true, value: clipboard});
      const box = document.querySelector('#table-results-MQ2008 .again'), button = box.querySelector('button');
      box.open = true;
      const before = box.querySelector('[role=status]').textContent;
      button.click();
      await new Promise(done => setTimeout(done, 50));
      const size = button.getBoundingClientRect();
      return JSON.stringify([copied, box.querySelector('code').textContent, before,
        box.querySelector('[role=status]').textContent, size.height, button.textContent]) })()"""
    copied, command, before, after, height, name = json.loads(browser.run(script))
    assert copied == [command]
    assert command.startswith("snakemake ")
    assert not before
    assert after
    assert height >= 24
    assert name


def test_a_link_into_something_folded_opens_it(report: Path, browser: Browser) -> None:
    page = report / "pages" / "slam.html"
    browser.open(page)
    place = browser.run("document.querySelector('#claim-slam-thm5 dl a[href^=\"#statement-\"]').getAttribute('href')")
    browser.run(f"location.hash = {json.dumps(place)}")
    shown = f"new Promise(done => setTimeout(() => done(document.querySelector('{place}').offsetParent !== null), 200))"
    assert browser.run(shown)


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
    browser.navigate(f"{(report / name).as_uri()}#{anchor}")
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
