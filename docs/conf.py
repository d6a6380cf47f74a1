"""How does Sphinx make the site? The pages as they are, Python from its docstrings, and three pages from registers."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes

FOLDER = Path(__file__).parent
sys.path[:0] = [str(FOLDER.parent), str(FOLDER)]

import registers  # noqa: E402  (found through the line above)

from pipeline_lib.report.formulas import mathml  # noqa: E402

project = "The theory of learning to rank"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
root_doc = "docs/README"
include_patterns = ["docs/**", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "data/README.md"]
exclude_patterns = ["docs/templates"]
templates_path = ["templates"]
html_theme = "sphinx_book_theme"
html_title = project
highlight_language = "text"
html_math_renderer = "mathml"
html_copy_source = False
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"


def setup(app: Any) -> None:
    """Register what is done with the sources before Sphinx reads them."""
    app.connect("builder-inited", write_registers)
    app.connect("source-read", complete)
    app.connect("autodoc-process-docstring", prepare, priority=400)  # before napoleon, which has 500
    app.add_html_math_renderer("mathml", (inline_formula, None), (displayed_formula, None))


def write_registers(app: Any) -> None:
    """Write the pages that are made from registers beside the others."""
    for name, text in registers.pages(FOLDER.parent).items():
        (FOLDER / f"{name}.md").write_text(text, encoding="utf-8")


def complete(app: Any, page: str, source: list[str]) -> None:
    """Make the links of the list of pages its table of contents, and those to examples their code.

    So one list, and one copy of the code, serve readers of the files, too.
    """
    if page == "docs/examples":
        source[0] = re.sub(r"^\[The program\]\((.+?)\)$", program, source[0], flags=re.MULTILINE)
    if page == root_doc:
        for name in ("Commands", "Registers", "Records"):
            source[0] = source[0].replace(f"- **{name}**", f"- [{name}]({name.lower()}.md)")
        parts = re.split(r"^(?=## )", source[0], flags=re.MULTILINE)
        for number, part in enumerate(parts[1:], 1):
            pages = "\n".join(re.findall(r"^- \[.+?\]\((.+?)\.md\)", part, re.MULTILINE))
            title = part.partition("\n")[0].removeprefix("## ")
            parts[number] += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n{pages}\n```\n\n"
        source[0] = "".join(parts)


def program(link: re.Match[str]) -> str:
    """The code of an example, without its docstring, which is the text before the link."""
    code = (FOLDER / link[1]).read_text(encoding="utf-8").partition('"""\n\n')[2]
    return f"```python\n{code}```"


def prepare(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Show |x| as an absolute value, since docstrings substitute nothing, and indented paragraphs as formulas."""
    made: list[str] = []
    paragraph = ""
    for number, line in enumerate(lines):
        if re.match(r"---+$", line):  # sections, which napoleon reads, follow
            made += lines[number:]
            break
        begins = bool(made) and not made[-1].strip()
        if line.startswith("    ") and begins and re.match(r"[^\s\-.*]", paragraph) and not paragraph.endswith("::"):
            made += ["::", ""]
        made.append(line)
        paragraph = line or paragraph
    bars = re.compile(r"(``.*?``)|\|")
    lines[:] = [line if line[:4].isspace() else bars.sub(lambda found: found[1] or r"\|", line) for line in made]


def inline_formula(writer: Any, node: Any) -> None:
    """Write a formula of running text as MathML, which needs no script and no network."""
    writer.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def displayed_formula(writer: Any, node: Any) -> None:
    """Write a displayed formula as MathML."""
    writer.body.append(f"<p>{mathml(node.astext(), display=True)}</p>")
    raise nodes.SkipNode
