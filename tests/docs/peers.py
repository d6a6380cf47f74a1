"""What do other libraries answer to the calls on the page of docs/coming-from.md?

``python -m tests.docs.peers`` asks them and writes ``peers.json``. It needs ranx, ir-measures (with Perl),
pytrec-eval-terrier and scikit-learn, but nothing of this project.
"""

import ast
import importlib
import importlib.metadata
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from tests.docs import documented

PAGE = "docs/coming-from.md"
STORED = Path(__file__).with_suffix(".json")
PACKAGES = ("ranx", "ir-measures", "pytrec-eval-terrier", "scikit-learn", "scipy")
MODULES = ("ranx", "ir_measures", "pytrec_eval", "sklearn.metrics", "scipy.stats")


class Row(NamedTuple):
    """A row of a table: the call of another library, ours, and by how much the numbers may differ."""

    theirs: str
    ours: str
    difference: float


def rows() -> list[Row]:
    """All rows of the page's tables."""
    text = (documented.ROOT / PAGE).read_text(encoding="utf-8")
    found = re.findall(r"^\| `(.+?)` \| `(.+?)` \| ([\d.e-]+) \|$", text, re.MULTILINE)
    return [Row(theirs, ours, float(ast.literal_eval(difference))) for theirs, ours, difference in found]


def given() -> dict[str, Any]:
    """The data of the page."""
    names: dict[str, Any] = {}
    for block in documented.blocks(PAGE):
        if block.language == "python":
            exec(block.code, names)
    return names


def main() -> None:
    """Ask, and write the answers."""
    names = given()
    for module in MODULES:
        importlib.import_module(module)
        top = module.partition(".")[0]
        names[top] = importlib.import_module(top)
    answers = {row.theirs: eval(row.theirs, names) for row in rows()}
    plain = {call: value.tolist() if hasattr(value, "tolist") else value for call, value in answers.items()}
    versions = {package: importlib.metadata.version(package) for package in PACKAGES}
    STORED.write_text(json.dumps({"versions": versions, "answers": plain}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
