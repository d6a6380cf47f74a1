"""Is the report sound HTML, and does a reader find in three clicks what the guide to the report promises?"""

import base64
import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

import html5lib
import pytest

from pipeline_lib import papers
from pipeline_lib.claims import judged
from pipeline_lib.report.claims_section import ClaimList
from pipeline_lib.report.study import TABLES

CLICKS = 3
ROOT = Path(__file__).parents[2]
_SPACE = "{http://www.w3.org/1999/xhtml}"


class Place(NamedTuple):
    """A place of the report: a file, and an address in it or nothing."""

    file: Path
    anchor: str


class Site:
    """The parsed pages of a report: what is at each place, and where the links in it lead."""

    def __init__(self, report: Path) -> None:
        self.report = report
        self.trees = {path.resolve(): _parsed(path) for path in (report / "index.html", *(report / "pages").iterdir())}
        self.parts = {
            Place(file, str(part.get("id"))): part
            for file, tree in self.trees.items()
            for part in tree.iter()
            if part.get("id")
        }

    def links(self, file: Path, part: Element) -> set[Place]:
        """The places to which the links of a part lead."""
        found = set()
        for link in part.iter(f"{_SPACE}a"):
            path, _, anchor = str(link.get("href")).partition("#")
            if path.startswith("https://"):
                continue  # the papers and other works
            found.add(Place((file.parent / path).resolve() if path else file, anchor))
        return found

    def clicks(self) -> dict[Place, int]:
        """How many clicks every place is away from the front page, where all links of a page can be clicked at once."""
        here = Place((self.report / "index.html").resolve(), "")
        away, last = {here: 0}, {here}
        for clicks in range(1, CLICKS + 1):
            files = {place.file for place in last if place.file in self.trees}
            last = {link for file in files for link in self.links(file, self.trees[file])} - away.keys()
            away |= dict.fromkeys(last, clicks)
        return away


def _parsed(path: Path) -> Element:
    return html5lib.HTMLParser(strict=True).parse(path.read_text(encoding="utf-8"))


def words(part: Element) -> str:
    return " ".join("".join(part.itertext()).split())


@pytest.fixture(scope="module")
def site(report: Path) -> Site:
    """All pages, which must be without an error of the syntax of HTML."""
    return Site(report)


def test_every_link_of_every_page_leads_to_a_file_and_a_place(site: Site) -> None:
    for file, tree in site.trees.items():
        for place in site.links(file, tree):
            assert place.file.is_file(), (file.name, place)
            assert not place.anchor or place in site.parts, (file.name, place)


def test_what_a_stranger_asks_is_answered_within_two_clicks(report: Path, site: Site) -> None:
    away, front = site.clicks(), (report / "index.html").resolve()
    here = {place.anchor: place for place in site.parts if place.file == front}
    # Is it new?
    assert _page(away, report.resolve() / "pages/proof-what-is-new.html") == 1
    # Can I cite it?
    [cite] = [place for place in site.parts if place.anchor == "cite"]
    assert away[cite] == 1
    assert "@software{" in words(site.parts[cite])
    assert {place.file.suffix for place in away if place.file.stem == "article"} <= {".pdf", ".tex"}
    # Where is the proof?
    proved = [claim for claim in judged.read(report / "claims.json").claims if claim.proofs]
    table = site.links(front, site.parts[here["table-theorems"]])
    cards = {place.anchor: place for place in away if away[place] == 1}
    assert {f"claim-{claim.id}" for claim in proved} <= cards.keys()
    for claim in proved:
        assert claim.proofs[0].file in words(site.parts[cards[f"claim-{claim.id}"]])
    assert {place.anchor for place in table if place.anchor.startswith("claim-")} <= cards.keys()
    # How is this figure made again?
    figures = [part for file, part in _captions(site) if file == front]
    assert figures
    assert all("snakemake --cores 4 reports/made/index.html --forcerun" in words(part) for part in figures)


def test_contradicted_claims_are_one_click_away_with_the_reason_and_how_sure_it_is(report: Path, site: Site) -> None:
    away = {
        place.anchor: (place, clicks) for place, clicks in site.clicks().items() if place.anchor.startswith("claim-")
    }
    stated = drawn = 0
    for claim in judged.read(report / "claims.json").claims:
        place, clicks = away[f"claim-{claim.id}"]
        assert clicks == 1
        said = words(site.parts[place])
        assert claim.status.replace("-", " ") in said
        if claim.severity is not None:
            assert f"{claim.severity.informative} of {claim.severity.trials} trial" in said
            assert re.findall(r"\w+", claim.explanation)[0] in said
            # Where every deciding value has an interval, a severity curve stands in place of the margin.
            assert claim.severity.noisy or claim.severity.sharper in said
            stated += bool(claim.severity.sharper)
            drawn += len(claim.severity.curves)
            assert sum(part.get("class") == "severity" for part in site.parts[place].iter()) == len(
                claim.severity.curves
            )
            assert all(ClaimList.noticed(curve) in said for curve in claim.severity.curves)
    assert stated
    assert drawn


def test_every_claim_leads_to_its_statement_its_certificates_its_code_and_the_command(report: Path, site: Site) -> None:
    cards = {place.anchor: (place, part) for place, part in site.parts.items() if place.anchor.startswith("claim-")}
    for claim in judged.read(report / "claims.json").claims:
        place, card = cards[f"claim-{claim.id}"]
        if claim.paper in papers.ours():  # stated on a page of the documentation
            page = ROOT / papers.get(claim.paper).published
            assert claim.where.startswith(page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# "))
        else:
            stated = [link for link in site.links(place.file, card) if link.anchor.startswith("statement-")]
            assert stated, claim.id
            rows = [row for row in site.trees[place.file].iter(f"{_SPACE}tr") if row[0].get("id") == stated[0].anchor]
            assert place in site.links(place.file, rows[0])  # and back
        said = words(card)
        for proof in claim.proofs:
            assert (
                ROOT / next(one for one in re.findall(r"pipeline_lib/[\w./-]+", said) if one.endswith(proof.file))
            ).is_file()
        for table in set(claim.tables) & set(TABLES):
            assert re.search(r"reports/made/index\.html --forcerun \w+", said), table
            assert all((ROOT / file).is_file() for file in re.findall(r"pipeline_lib/[\w./]+\.py", said))


def test_from_every_caption_one_click_leads_to_the_table_and_the_configuration_behind_it(site: Site) -> None:
    away = site.clicks()
    captions = list(_captions(site))
    assert len(captions) > 10
    for file, figure in captions:
        place = Place(file, str(figure.get("id")))
        assert _page(away, file) < CLICKS
        for source in figure.iter(f"{_SPACE}span"):
            if source.get("class") != "source":
                continue
            for name in re.findall(r"tables/[\w.-]+\.parquet", words(source)):
                [origin] = [one for one in site.links(file, source) if one.anchor.startswith("made-by-")][:1]
                part = site.parts[origin]
                assert name in words(part)
                assert list(part.iter(f"{_SPACE}pre"))  # the configuration
                assert place in site.links(origin.file, part)  # and back


def _captions(site: Site) -> Iterable[tuple[Path, Element]]:
    return ((file, figure) for file, tree in site.trees.items() for figure in tree.iter(f"{_SPACE}figure"))


def _page(away: dict[Place, int], file: Path) -> int:
    """The clicks to a page, whatever its place."""
    return min(clicks for place, clicks in away.items() if place.file == file)


def test_the_configuration_of_an_experiment_is_that_of_the_study(study: Path, report: Path) -> None:
    import yaml

    configured = yaml.safe_load((study / "configuration.yaml").read_text(encoding="utf-8"))
    tree = _parsed(report / "pages" / "provenance.html")
    parts = {str(part.get("id")): part for part in tree.iter(f"{_SPACE}section")}
    shown = {
        name: yaml.safe_load("".join(next(part.iter(f"{_SPACE}pre")).itertext()))
        for name, part in parts.items()
        if name.startswith("made-by-") and list(part.iter(f"{_SPACE}pre"))
    }
    assert shown.pop("made-by-learners") == {key: value for key, value in configured.items() if key != "experiments"}
    for name, settings in shown.items():
        paper, _, experiment = name.removeprefix("made-by-").partition("-")
        wanted = configured.get("experiments", {}).get(paper, {}).get(experiment.replace("-", "_"), {})
        assert settings == {"seed": configured.get("seed"), **wanted}


def test_every_page_allows_its_own_scripts_and_styles_alone(report: Path) -> None:
    for path in [report / "index.html", report / "report.html", *(report / "pages").iterdir()]:
        text = path.read_text(encoding="utf-8")
        [policy] = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
        rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
        assert rules["default-src"] == "'none'"
        assert "http" not in policy
        assert [name for name, rule in rules.items() if "unsafe" in rule] == ["style-src-attr"]
        # Before anything to which it applies
        assert text.index("Content-Security-Policy") < min(
            text.index("<style"),
            text.index('<link rel="stylesheet"') if '<link rel="stylesheet"' in text else len(text),
        )
        for tag, name in (("script", "script-src"), ("style", "style-src")):
            for inner in re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL):
                digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
                assert f"'sha256-{digest}'" in rules[name]
        assert not re.search(r"<[^>]*\son\w+=", re.sub(r"(?s)<(script|style)\b.*?</\1>", "", text))
