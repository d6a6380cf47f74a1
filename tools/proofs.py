"""Find the halvings of boxes with which an enclosure is a proof, and write them into its certificate.

``python -m tools.proofs FILE`` halves the widest side of a box until the enclosed value is positive on every part. It
fails where a box is too small to go on: then the statement is false, or true without any slack.
"""

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from pipeline_lib.proofs.checker import Ball, Refused, box_of, defined, functions, is_positive

DEEPEST = 60


def splits(source: str) -> list[str]:
    """The halvings for every case of an enclosure, as the checker reads them."""
    statement = defined(functions(tomllib.loads(source)["definitions"]))
    return [_tree(statement, case) for case in statement["cases"]()]


def _tree(statement: dict[str, Any], case: Any) -> str:
    boxes, letters = [(box_of(statement, case), 0)], ""
    while boxes:
        box, depth = boxes.pop()
        if _positive(statement, case, box):
            letters += "."
            continue
        if depth == DEEPEST or not box:
            raise Refused(f"no halving shows that the value is positive for {case} in {box}")
        widest = max(range(len(box)), key=lambda k: box[k][1] - box[k][0])
        low, high = box[widest]
        letters += str(widest)
        halves = ((low + high) / 2, high), (low, (low + high) / 2)
        boxes += [([half if k == widest else side for k, side in enumerate(box)], depth + 1) for half in halves]
    return letters


def _positive(statement: dict[str, Any], case: Any, box: Any) -> bool:
    try:
        return is_positive(statement["value"](*case, tuple(Ball(*side) for side in box)))
    except (Refused, ValueError, ZeroDivisionError):
        return False


def main(path: Path) -> None:
    """Write the splits into a certificate, in place of those that it has."""
    source = path.read_text(encoding="utf-8")
    found = "splits = [\n" + "".join(f'  "{tree}",\n' for tree in splits(source)) + "]\n"
    kept = re.sub(r"^splits = \[.*?\]\n", "", source, flags=re.MULTILINE | re.DOTALL)
    head, bar, neighbours = kept.partition("\n[[neighbours]]")
    path.write_text(head.rstrip("\n") + "\n" + found + bar + neighbours, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tools.proofs CERTIFICATE.toml")
    main(Path(sys.argv[1]))
