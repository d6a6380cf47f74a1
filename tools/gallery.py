"""Which examples are there, and what do they draw?

    python -m tools.gallery    run the examples of docs/examples, and write their pictures and the page docs/examples.md

An example is a file of its own: the first line of its docstring is the title, the rest says what is to be seen, and
what it draws with ``matplotlib.pyplot`` becomes the picture. ``tests/docs/test_examples.py`` runs each of them.
"""

import ast
import io
import re
import runpy
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt

from pipeline_lib.core.files import write_text
from pipeline_lib.report import figures

ROOT = Path(__file__).parents[1]
FOLDER, PAGE = ROOT / "docs/examples", ROOT / "docs/examples.md"
HEIGHT = 2.6
INTRODUCTION = """\
# Examples

Each is a file in `docs/examples/` that can be run as it is, and draws the picture. Add `plt.show()` to see it in a
window. `python -m tools.gallery` writes this page and the pictures; do not edit them by hand.
"""


def scripts() -> list[Path]:
    """The examples, by name."""
    return sorted(FOLDER.glob("*.py"))


def drawn(script: Path) -> str:
    """What an example draws, as SVG; the same numbers give the same bytes."""
    plt.switch_backend("Agg")
    with figures.style(script.stem):
        size = {"figure.figsize": (figures.WIDTH, HEIGHT), "figure.constrained_layout.use": True}
        mpl.rcParams.update(size | {"axes.prop_cycle": mpl.cycler(color=figures.COLOURS)})
        try:
            runpy.run_path(str(script))
            written = io.StringIO()
            plt.savefig(written, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
        finally:
            plt.close("all")
    # A tenth of a point is fine enough; what is written in the picture stays as it is.
    tenths = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(?<=\.\d)\d+", "", tag[0]), written.getvalue())
    return re.sub(r" +$", "", tenths, flags=re.MULTILINE)


def section(script: Path) -> str:
    """The part of the page about an example; the site of the documentation shows the program in place of the link."""
    title, _, about = (ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or "").partition("\n")
    picture = f"![{title}](examples/{script.stem}.svg)"
    return f"## {title}\n\n{about.strip()}\n\n{picture}\n\n[The program](examples/{script.name})\n"


def page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *map(section, scripts())])


def main() -> None:
    """Write the pictures and the page."""
    for script in scripts():
        write_text(script.with_suffix(".svg"), drawn(script))
    write_text(PAGE, page())


if __name__ == "__main__":
    main()
