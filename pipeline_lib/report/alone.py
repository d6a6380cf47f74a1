"""How do a few tables and figures become one page in a file of its own, which loads nothing?"""

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from pipeline_lib.core.files import write_text
from pipeline_lib.report import figures, markdown
from pipeline_lib.report.blocks import TEMPLATES, Block, Prose, walk
from pipeline_lib.report.figures import Figure
from pipeline_lib.report.site import environment
from pipeline_lib.report.tables import Table


def write(path: Path, heading: str, blocks: Sequence[Block]) -> None:
    """Write a page of blocks, in the style of the report; the same blocks give the same bytes."""
    found = list(walk(blocks))
    drawn = {block.name: figures.on_page(block) for block in found if isinstance(block, Figure)}
    pictures, rules = figures.with_classes(drawn)
    style = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    page = {
        "pictures": {name: Markup(picture) for name, picture in pictures.items()},
        "figure_numbers": {name: number for number, name in enumerate(drawn, 1)},
        "table_numbers": {one.name: number for number, one in enumerate(_tables(found), 1)},
    }
    # Without contents beside it, the page has one column.
    about = {"style": Markup(f"{style}\n{rules}\nbody {{ display: block; }}\n"), "heading": heading}
    write_text(path, environment().get_template("alone.html.j2").render(**about, parts=blocks, page=page))


def prose(sentences: Sequence[str]) -> Prose:
    """A paragraph of sentences, which hold no markup."""
    return markdown.prose(markdown.escaped(" ".join(sentences)))


def _tables(blocks: Sequence[Block]) -> list[Table]:
    return [block for block in blocks if isinstance(block, Table)]
