"""How do the sections become one self-contained page, with its tables and figures?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pipeline_lib.claims import judged
from pipeline_lib.errors import DataError
from pipeline_lib.files import write_text
from pipeline_lib.papers import names
from pipeline_lib.reporting import (
    claims_section,
    coverage_section,
    data_section,
    figures,
    methods_section,
    overview_section,
    page,
    provenance_section,
    published_section,
    results_section,
    witnesses_section,
)
from pipeline_lib.reporting.blocks import Section, inline, mathematics, plain
from pipeline_lib.reporting.figures import Figure
from pipeline_lib.reporting.formulas import mathml
from pipeline_lib.reporting.results import ResultsFolder
from pipeline_lib.reporting.study import Study
from pipeline_lib.reporting.tables import Table, to_csv, to_latex

Kind = TypeVar("Kind", Table, Figure)
TEMPLATES = Path(__file__).parent / "templates"
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def render(
    results_folder: str | os.PathLike[str],
    reports_folder: str | os.PathLike[str],
    *,
    claims: str | os.PathLike[str],
    papers: Sequence[str],
) -> None:
    """Write the report of one study.

    Writes into ``reports_folder`` (``reports/<study>``): ``index.html`` (one file, nothing loaded from elsewhere),
    ``tables/*.csv`` and ``*.tex``, ``figures/*.svg`` and ``*.png``. ``claims`` is ``claims.json``, to which the page
    links, with the judgements that it shows; ``papers`` are those whose experiments the study ran. The same results
    give the same bytes.

    Raises
    ------
    DataError
        When a table or ``claims.json`` is malformed.
    """
    results = ResultsFolder.at(results_folder)
    folder = Path(reports_folder)
    title = heading(results.study, papers, results.title())
    text = _page(results.study, build(results, judged.read(claims), papers), folder, title)
    write_text(folder / "index.html", text)


def build(results: ResultsFolder, claims: judged.JudgedStudy, papers: Sequence[str]) -> list[Section]:
    """All sections in their order, with the pages and the claims of ``papers`` among them."""
    study = Study(results)
    pages = [page.build(paper, results, claims) for paper in names() if paper in papers]
    first = (
        *overview_section.overview(study),
        *claims_section.left_out(claims, papers),
        *claims_section.headline(claims, papers),
        *overview_section.best_learners(study),
    )
    parts = [
        Section("overview", "Overview", first),
        data_section.datasets(study),
        results_section.results(study),
        *pages,
        published_section.published(study),
        claims_section.section(claims, papers),
        coverage_section.section(claims, papers),
        witnesses_section.section(papers, [claim.id for claim in claims.claims if claim.paper in papers]),
        methods_section.methods(study),
        provenance_section.provenance(study),
    ]
    return [part for part in parts if part is not None]


def heading(study: str, papers: Sequence[str], title: str | None = None) -> str:
    """The page's heading: the study's own title, or of how many papers it speaks, or if of none, the study's name.

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


def _page(study: str, parts: Sequence[Section], folder: Path, title: str) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    # A study without figures has the folder all the same: the workflow and the page's readers look for it.
    for kind in ("tables", "figures"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    tables, drawn = _named(parts, Table), _named(parts, Figure)
    for table in tables.values():
        write_text(folder / "tables" / f"{table.name}.csv", to_csv(table))
        write_text(folder / "tables" / f"{table.name}.tex", to_latex(table))
    pictures = {name: Markup(figures.save(figure, folder / "figures")) for name, figure in drawn.items()}
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
    return environment.get_template("report.html.j2").render(
        study=study,
        heading=title,
        sections=parts,
        pictures=pictures,
        table_numbers={name: i for i, name in enumerate(tables, 1)},
        figure_numbers={name: i for i, name in enumerate(drawn, 1)},
        style=Markup((TEMPLATES / "report.css").read_text(encoding="utf-8")),
    )


def _named(parts: Sequence[Section], kind: type[Kind]) -> dict[str, Kind]:
    """All tables (or figures) by name, in the order of the page."""
    found: dict[str, Kind] = {}
    for block in (block for part in parts for block in _walk(part.blocks)):
        if isinstance(block, kind):
            if block.name in found:
                raise DataError(f"report: expected every {kind.__name__.lower()} name once, found {block.name} twice")
            found[block.name] = block
    return found


def _walk(blocks: Sequence[Any]) -> Iterator[Any]:
    for block in blocks:
        yield block
        yield from _walk(getattr(block, "blocks", ()))
