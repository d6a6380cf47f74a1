"""How do the pages become files: a folder that opens from disk, and the same in one file?"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from pipeline_lib.claims import judged
from pipeline_lib.errors import DataError
from pipeline_lib.files import write_text
from pipeline_lib.reporting import claims_section, figures, pages
from pipeline_lib.reporting.blocks import inline, mathematics, plain
from pipeline_lib.reporting.figures import Figure
from pipeline_lib.reporting.formulas import mathml
from pipeline_lib.reporting.pages import FRONT, Page
from pipeline_lib.reporting.results import ResultsFolder
from pipeline_lib.reporting.tables import Table, to_csv, to_latex

Kind = TypeVar("Kind", Table, Figure)
TEMPLATES = Path(__file__).parent / "templates"
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
WHOLE = "report.html"
"""The file with all pages."""
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
    links to; ``report.html``, all pages in one file; ``tables/*.csv`` and ``*.tex``, ``figures/*.svg`` and ``*.png``.
    No page loads anything. ``claims`` is ``claims.json``, to which the pages link, with the judgements that they show;
    ``papers`` are those whose experiments the study ran. The same results give the same bytes.

    Raises
    ------
    DataError
        When a table or ``claims.json`` is malformed.
    """
    results, folder = ResultsFolder.at(results_folder), Path(reports_folder)
    parts = pages.build(results, judged.read(claims), papers)
    about = {"study": results.study, "heading": heading(results.study, papers, results.title()), "pages": parts}
    about |= _numbered(parts, folder)
    write_text(folder / WHOLE, _html(about, parts))
    texts = {one.name: _html(about, [one]) for one in parts}
    home = {address: name for name, text in texts.items() for address in _ADDRESS.findall(text)}
    (folder / "pages").mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_text(folder / file_of(name), _linked(text, name, home))


def write_page(path: str | os.PathLike[str], title: str, study: str, page: Page) -> None:
    """Write one page that stands alone, with its tables and figures in folders next to it."""
    about = {"study": study, "heading": title, "pages": [page]} | _numbered([page], Path(path).parent)
    write_text(path, _html(about, [page]))


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
    from markupsafe import Markup

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
    }


def _html(about: dict[str, Any], shown: Sequence[Page]) -> str:
    """One page, or the single file, in which every link leads to a place of the same file."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["signs"] = claims_section.SIGNS
    environment.filters["inline"] = lambda words: Markup(inline(words))
    environment.filters["plain"] = plain
    environment.filters["displayed"] = lambda tex: Markup(mathml(tex, display=True))
    environment.filters["mathematics"] = lambda words: Markup(mathematics(words))
    style = Markup((TEMPLATES / "report.css").read_text(encoding="utf-8"))
    return environment.get_template("report.html.j2").render(**about, shown=shown, style=style, whole=WHOLE)


def _linked(text: str, page: str, home: dict[str, str]) -> str:
    """The page with links to other pages where the single file has links within itself.

    ``home`` has the page of every place.
    """
    here = PurePosixPath(file_of(page)).parent

    def placed(found: re.Match[str]) -> str:
        file, sign, anchor = found[2].partition("#")
        if ":" in file or (not file and home.get(anchor, page) == page):
            return found[0]
        target = file or file_of(home[anchor])
        return f"{found[1]}{os.path.relpath(target, here)}{sign}{anchor}{found[3]}"

    return _LINK.sub(placed, text)


def _named(parts: Sequence[Page], kind: type[Kind]) -> dict[str, Kind]:
    """All tables (or figures) by name, in the order of the pages."""
    found: dict[str, Kind] = {}
    for block in (block for part in parts for section in part.sections for block in _walk(section.blocks)):
        if isinstance(block, kind):
            if block.name in found:
                raise DataError(f"report: expected every {kind.__name__.lower()} name once, found {block.name} twice")
            found[block.name] = block
    return found


def _walk(blocks: Sequence[Any]) -> Iterator[Any]:
    for block in blocks:
        yield block
        yield from _walk(getattr(block, "blocks", ()))
