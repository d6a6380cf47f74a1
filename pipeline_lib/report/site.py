"""How do the pages become files: a folder that opens from disk, and the same in one file?"""

import base64
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from pipeline_lib import papers as register
from pipeline_lib.claims import errata, judged
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.files import write_text
from pipeline_lib.report import article, citation, claims_section, figures, pages, search, typesetting
from pipeline_lib.report.blocks import TEMPLATES, Block, Interactive, inline, mathematics, plain, walk
from pipeline_lib.report.errata_section import running
from pipeline_lib.report.figures import Figure
from pipeline_lib.report.pages import FRONT, Page
from pipeline_lib.report.provenance import Uses
from pipeline_lib.report.rerun import Rerun
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.report.tables import Cell, Table, to_csv, to_latex

Kind = TypeVar("Kind", Table, Figure)
WHOLE = "report.html"
"""The file with all pages."""
INDEX, STYLE, SCRIPT, LIVE = "search-index.js", "report.css", "report.js", "explore.js"
"""The files that the pages share: what the search looks up, how pages look, what they do, what some of them draw."""
_ADDRESS = re.compile(r'\bid="([^"]+)"')
_LINK = re.compile(r'(<a\b[^>]*?\bhref=")([^"]*)(")')


def render(
    results_folder: str | os.PathLike[str],
    reports_folder: str | os.PathLike[str],
    *,
    claims: str | os.PathLike[str],
    papers: Sequence[str],
) -> None:
    """Write the report of one study.

    Writes into ``reports_folder`` (``reports/<study>``): ``index.html``, the front page; ``pages/*.html``, which it
    links to; ``report.css``, ``report.js`` and ``search-index.js``, which these pages share; ``report.html``, all pages
    in one file, which loads nothing; ``tables/*.csv`` and ``*.tex``; ``figures/*.svg`` and ``*.pdf``; and the article
    (:mod:`pipeline_lib.report.article`). ``claims`` is ``claims.json``, to which the pages link, with the judgements
    that they show; ``papers`` are those whose experiments the study ran. The same results give the same bytes.

    Raises
    ------
    DataError
        When a table or ``claims.json`` is malformed.
    """
    results = ResultsFolder.at(results_folder)
    found, folder = judged.read(claims), Path(reports_folder)
    title = heading(results.study, papers, results.configured.get("title"))
    parts = pages.build(results, found, papers)
    write(parts, folder, title, Rerun(results, papers))
    article.write(results, found, papers, parts, folder, title)


def write(parts: Sequence[Page], folder: Path, title: str, rerun: Rerun) -> None:
    """Write pages, each in a file of its own and all in one, with their tables and figures."""
    about = {"study": rerun.study, "heading": title, "pages": parts, "rerun": rerun} | _numbered(parts, folder)
    about |= {
        "made": citation.made(rerun.study, rerun.provenance),
        "bibtex": citation.bibtex(rerun.study, rerun.provenance),
    }
    frame, content = (environment().get_template(f"{name}.html.j2") for name in ("report", "page"))
    bodies = {one.name: Markup(content.render(one=one, page=about)) for one in parts}
    index = search.script({one.name: (file_of(one.name), one.title) for one in parts}, bodies)
    math, style, script, search_script, live = (
        (TEMPLATES / file).read_text(encoding="utf-8") for file in ("math.css", STYLE, SCRIPT, "search.js", LIVE)
    )
    shared = {INDEX: index, STYLE: f"{math}\n{style}\n{about['drawn']}\n", SCRIPT: f"{script}\n{search_script}"}
    drawing = [one.name for one in parts if any(isinstance(block, Interactive) for block in _blocks([one]))]
    shared |= {LIVE: live} if drawing else {}
    about |= {"bodies": bodies, "live": drawing, "whole": WHOLE}
    about["shared"] = {file: Markup(text) for file, text in shared.items()}
    for file, text in shared.items():
        write_text(folder / file, text)
    write_text(folder / WHOLE, frame.render(**about, shown=parts))
    home = {address: name for name, body in bodies.items() for address in _ADDRESS.findall(body)}
    (folder / "pages").mkdir(parents=True, exist_ok=True)
    for one in parts:
        write_text(folder / file_of(one.name), _linked(frame.render(**about, shown=[one]), one.name, home))


def files(folder: Path) -> list[Path]:
    """All files of a report that :func:`render` has written into a folder."""
    inner = (path for name in ("pages", "tables", "figures") for path in (folder / name).rglob("*") if path.is_file())
    shared = (folder / file for file in (file_of(FRONT), WHOLE, INDEX, STYLE, SCRIPT))
    live = (path for path in [folder / LIVE] if path.is_file())
    return [*shared, *live, *article.files(folder), *sorted(inner)]


def file_of(page: str) -> str:
    """Where a page is, in the folder of the report.

    Example
    -------
    >>> file_of("index"), file_of("slam")
    ('index.html', 'pages/slam.html')
    """
    return f"{page}.html" if page == FRONT else f"pages/{page}.html"


def heading(study: str, papers: Sequence[str], title: str | None = None) -> str:
    """The report's heading: the study's own title, or whether it speaks of papers or only of the study.

    Example
    -------
    >>> heading("default", ["slam", "cone"]), heading("mine", [])
    ('Learning to rank: what papers claim and what was measured', 'Learning to rank: what was measured in mine')
    """
    said = "what papers claim and what was measured" if {*papers} - register.ours() else f"what was measured in {study}"
    return title or f"Learning to rank: {said}"


def _numbered(parts: Sequence[Page], folder: Path) -> dict[str, Any]:
    """Write all tables and figures; give their numbers, which begin anew on every page."""
    # A study without figures has the folder all the same: the workflow and the page's readers look for it.
    for kind in ("tables", "figures"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    tables, drawn = _named(parts, Table), _named(parts, Figure)
    for table in tables.values():
        write_text(folder / "tables" / f"{table.name}.csv", to_csv(table))
        write_text(folder / "tables" / f"{table.name}.tex", to_latex(table))
    pictures, style = figures.with_classes(
        {name: figures.save(figure, folder / "figures") for name, figure in drawn.items()}
    )
    return {
        "pictures": {name: Markup(picture) for name, picture in pictures.items()},
        "drawn": style,
        "table_numbers": {name: i for one in parts for i, name in enumerate(_named([one], Table), 1)},
        "figure_numbers": {name: i for one in parts for i, name in enumerate(_named([one], Figure), 1)},
        "statements": _statements(tables.values()),
        "origins": {file: block.place for block in _blocks(parts) if isinstance(block, Uses) for file in block.files},
    }


def _statements(tables: Iterable[Table]) -> dict[str, list[Cell]]:
    """For every claim the cells with the places in the paper for which it stands; their rows end with the claims."""
    found: dict[str, list[Cell]] = {}
    for first, *_, last in (row for table in tables for row in table.rows() if row[0].place):
        for claim in str(last.raw).split():
            found.setdefault(claim, []).append(first)
    return found


@cache
def environment() -> Environment:
    """The templates of HTML, each compiled once for all reports."""
    found = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals |= {"signs": claims_section.SIGNS, "address": errata.address, "has_engine": typesetting.has_engine}
    for shown in (inline, mathematics, running):
        found.filters[shown.__name__] = lambda words, shown=shown: Markup(shown(words))
    found.filters |= {"plain": plain, "digest": _digest}
    return found


def _digest(text: str) -> Markup:
    """How a page's Content-Security-Policy names a script or a style that is part of the page.

    Example
    -------
    >>> _digest("alert('Hello, world.');")
    Markup("'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='")
    """
    return Markup(f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'")


def _linked(text: str, page: str, home: dict[str, str]) -> str:
    """The page with links to other pages where the single file has links within itself.

    ``home`` has the page of every place.
    """

    def target(found: re.Match[str]) -> str:
        file, sign, anchor = found[2].partition("#")
        if ":" in file or (not file and home.get(anchor, page) == page):
            return found[0]
        there = os.path.relpath(file or file_of(home[anchor]), PurePosixPath(file_of(page)).parent)
        return f"{found[1]}{there}{sign}{anchor}{found[3]}"

    return _LINK.sub(target, text)


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
