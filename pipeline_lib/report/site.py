"""How do the pages become files: a folder that opens from disk, and the same in one file?"""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeVar

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from pipeline_lib.claims import judged
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.files import write_text
from pipeline_lib.report import claims_section, figures, pages
from pipeline_lib.report.blocks import Block, Subsection, inline, mathematics, plain, walk
from pipeline_lib.report.claims_section import ClaimList
from pipeline_lib.report.errata_section import ErrataList
from pipeline_lib.report.figures import Figure
from pipeline_lib.report.origins import Uses
from pipeline_lib.report.page import TEMPLATES
from pipeline_lib.report.pages import FRONT, Page
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.report.tables import Table, to_csv, to_latex
from pipeline_lib.report.terms_section import Terms

Kind = TypeVar("Kind", Table, Figure)
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
WHOLE = "report.html"
"""The file with all pages."""
SEARCH = "search.js"
"""The file with what the search of the pages finds."""
"""The file with the digests of all files of a report, and of what it shows that states no digest itself."""
_ADDRESS = re.compile(r'\bid="([^"]+)"')
_LINK = re.compile(r'(<a\b[^>]*?\bhref=")([^"]*)(")')


class Found(NamedTuple):
    """An entry of the search index: its place, what it is, and the words in which one searches."""

    place: str
    kind: str
    words: str


def render(
    results_folder: str | os.PathLike[str],
    reports_folder: str | os.PathLike[str],
    *,
    claims: str | os.PathLike[str],
    papers: Sequence[str],
) -> None:
    """Write the report of one study.

    Writes into ``reports_folder`` (``reports/<study>``): ``index.html``, the front page; ``pages/*.html``, which it
    links to; ``search.js``, what their search finds; ``report.html``, all pages in one file, which loads nothing;
    ``tables/*.csv`` and ``*.tex``; ``figures/*.svg``, ``*.pdf`` and ``*.png``. ``claims`` is ``claims.json``, to which
    the pages link, with the judgements that they show; ``papers`` are those whose experiments the study ran. The same
    results give the same bytes.

    Raises
    ------
    DataError
        When a table or ``claims.json`` is malformed.
    """
    results, folder = ResultsFolder.at(results_folder), Path(reports_folder)
    parts = pages.build(results, judged.read(claims), papers)
    about = {"study": results.study, "heading": heading(results.study, papers, results.title()), "pages": parts}
    about |= _numbered(parts, folder)
    index, page_of = search_index(parts), _renderer(about)
    write_text(folder / WHOLE, page_of(parts, index))
    texts = {one.name: page_of([one]) for one in parts}
    # What every page has, such as the place to which one skips, is no address of another page.
    places = [(address, name) for name, text in texts.items() for address in _ADDRESS.findall(text)]
    often = Counter(address for address, _ in places)
    home = {address: name for address, name in places if often[address] == 1}
    (folder / "pages").mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_text(folder / file_of(name), _linked(text, name, home))
    write_text(
        folder / SEARCH, search_script([entry._replace(place=_target(entry.place, FRONT, home)) for entry in index])
    )


def files(folder: Path) -> list[Path]:
    """All files of a report that :func:`render` has written into a folder."""
    folders = ("pages", "tables", "figures")
    return [
        *(folder / name for name in (file_of(FRONT), WHOLE, SEARCH)),
        *sorted(path for name in folders for path in (folder / name).rglob("*") if path.is_file()),
    ]


def write_page(path: str | os.PathLike[str], title: str, study: str, page: Page) -> None:
    """Write one page that stands alone, with its tables and figures in folders next to it."""
    about = {"study": study, "heading": title, "pages": [page]} | _numbered([page], Path(path).parent)
    write_text(path, _renderer(about)([page], search_index([page])))


def file_of(page: str) -> str:
    """Where a page is, in the folder of the report.

    Example
    -------
    >>> file_of("index"), file_of("slam")
    ('index.html', 'pages/slam.html')
    """
    return f"{page}.html" if page == FRONT else f"pages/{page}.html"


def heading(study: str, papers: Sequence[str], title: str | None = None) -> str:
    """The report's heading: the study's own title, or of how many papers it speaks, or if of none, the study's name.

    Example
    -------
    >>> heading("default", ["slam", "cone"]), heading("mine", [])
    ('Learning to rank: what two papers claim and what was measured', 'Learning to rank: what was measured in mine')
    """
    if title is not None:
        return title
    if not papers:
        return f"Learning to rank: what was measured in {study}"
    number = NUMBERS[len(papers)] if len(papers) < len(NUMBERS) else str(len(papers))
    return f"Learning to rank: what {number} paper{'s claim' if len(papers) != 1 else ' claims'} and what was measured"


def _numbered(parts: Sequence[Page], folder: Path) -> dict[str, Any]:
    """Write all tables and figures; give their numbers, which are the same on the pages and in the single file."""
    # A study without figures has the folder all the same: the workflow and the page's readers look for it.
    for kind in ("tables", "figures"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    tables, drawn = _named(parts, Table), _named(parts, Figure)
    for table in tables.values():
        write_text(folder / "tables" / f"{table.name}.csv", to_csv(table))
        write_text(folder / "tables" / f"{table.name}.tex", to_latex(table))
    return {
        "pictures": {name: Markup(figures.save(figure, folder / "figures")) for name, figure in drawn.items()},
        "table_numbers": {name: i for i, name in enumerate(tables, 1)},
        "figure_numbers": {name: i for i, name in enumerate(drawn, 1)},
        "origins": {file: block.place for block in _blocks(parts) if isinstance(block, Uses) for file in block.files},
    }


def _renderer(about: dict[str, Any]) -> Callable[..., str]:
    """What turns one page, or all for the single file, into HTML in which every link leads to a place of that file.

    Its second argument is what the file's search finds; without it, that is in a file of its own.
    """
    own = {name: Markup((TEMPLATES / f"report.{name}").read_text(encoding="utf-8")) for name in ("css", "js")}
    frame, content = (environment().get_template(f"{name}.html.j2") for name in ("report", "page"))
    bodies = {one.name: Markup(content.render(one=one, page=about)) for one in about["pages"]}

    def rendered(shown: Sequence[Page], index: Sequence[Found] | None = None) -> str:
        root = os.path.relpath(".", PurePosixPath(file_of(shown[0].name)).parent)
        search = {"root": f"{root}/", "file": SEARCH, "index": None if index is None else Markup(_safe(index))}
        return frame.render(**about, bodies=bodies, shown=shown, own=own, search=search, whole=WHOLE)

    return rendered


@cache
def environment(folder: Path = TEMPLATES) -> Environment:
    """The templates of a folder, each compiled once for all reports."""
    found = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals["signs"] = claims_section.SIGNS
    found.filters |= {"inline": lambda words: Markup(inline(words)), "plain": plain}
    found.filters["mathematics"] = lambda words: Markup(mathematics(words))
    return found


def _safe(index: Sequence[tuple[str, str, str]]) -> str:
    """What a search finds as JSON that may stand in a page."""
    return json.dumps(index, ensure_ascii=False).replace("<", "\\u003c")


def search_script(index: Sequence[tuple[str, str, str]]) -> str:
    """The script that gives pages what their search finds: places from the root of the folder, kinds, and words.

    Example
    -------
    >>> search_script([("pages/a.html", "Claim", "a")])
    'document.getElementById("index").textContent = "[[\\\\"pages/a.html\\\\", \\\\"Claim\\\\", \\\\"a\\\\"]]";\\n'
    """
    return f'document.getElementById("index").textContent = {json.dumps(_safe(index), ensure_ascii=False)};\n'


def search_index(parts: Sequence[Page]) -> list[Found]:
    """What can be searched: the parts of all pages, claims, errata, tables and figures, each with place and words."""
    found = []
    for section in (section for part in parts for section in part.sections):
        found.append(Found(f"#{section.id}", "Section", section.title))
        for block in walk(section.blocks):
            if isinstance(block, Subsection):
                found.append(Found(f"#{block.id}", "Section", f"{section.title}: {plain(block.title)}"))
            elif isinstance(block, Table):
                found.append(Found(f"#table-{block.name}", "Table", plain(block.caption)))
            elif isinstance(block, Figure):
                found.append(Found(f"#figure-{block.name}", "Figure", plain(block.caption)))
            elif isinstance(block, ErrataList):
                found += [
                    Found(f"#{block.anchor(one)}", "Erratum", f"{one.letter}, {plain(one.place)}: {one.subject}")
                    for one in block.entries
                ]
            elif isinstance(block, Terms):
                found += [Found(f"#{one.place}", "Term", f"{one.name}: {one.meaning}") for one in block.terms]
            elif isinstance(block, ClaimList):
                found += [
                    Found(f"#claim-{one.id}", "Claim", f"{one.id}, {one.status}, {one.where}. {one.says}")
                    for one in block.claims
                ]
    return found


def _target(link: str, page: str, home: dict[str, str]) -> str:
    """A link of the single file as it has to be on a page."""
    file, sign, anchor = link.partition("#")
    if ":" in file or (not file and home.get(anchor, page) == page):
        return link
    target = file or file_of(home[anchor])
    return f"{os.path.relpath(target, PurePosixPath(file_of(page)).parent)}{sign}{anchor}"


def _linked(text: str, page: str, home: dict[str, str]) -> str:
    """The page with links to other pages where the single file has links within itself.

    ``home`` has the page of every place.
    """
    return _LINK.sub(lambda found: f"{found[1]}{_target(found[2], page, home)}{found[3]}", text)


def _blocks(parts: Sequence[Page]) -> Iterator[Block]:
    """All blocks of all pages."""
    return (block for part in parts for section in part.sections for block in walk(section.blocks))


def _named(parts: Sequence[Page], kind: type[Kind]) -> dict[str, Kind]:
    """All tables (or figures) by name, in the order of the pages."""
    found: dict[str, Kind] = {}
    for block in _blocks(parts):
        if isinstance(block, kind):
            if block.name in found:
                raise DataError(f"report: expected every {kind.__name__.lower()} name once, found {block.name} twice")
            found[block.name] = block
    return found
