"""How are all answers collected, although a library may end its process?

A library is asked in a process of its own, which writes an answer a line. Where the process ends early, the vector that
it was asked about is recorded as refused, and another process is asked about the rest.

    python -m tools.conformance.asking NAME FILE VECTOR ...
"""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pipeline_lib
from tools.conformance import libraries
from tools.conformance.conventions import may_tie
from tools.conformance.libraries import LIBRARIES
from tools.conformance.vectors import VECTORS

HERE = Path(__file__).parent
RECORD = HERE / "record.json"
ROOT = HERE.parents[1]
TIMES, SECONDS = 12, 1800


def read() -> dict[str, Any]:
    """The record: when and with which Python it was made, the versions, and the answers by library and vector."""
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def ask(name: str) -> dict[str, Any]:
    """The answers of a library to all vectors."""
    answers: dict[str, Any] = {}
    while remaining := [id for id in VECTORS if id not in answers]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "answers")
            command = [sys.executable, "-m", "tools.conformance.asking", name, str(file), *remaining]
            why = _run(command)
            lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        answers |= dict(zip(remaining, map(json.loads, lines), strict=False))
        if len(lines) < len(remaining):
            answers[remaining[len(lines)]] = {"error": why}
    return answers


def _run(command: list[str]) -> str:
    """Run a process; why it gave no answer, if it gave none."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"no answer within {SECONDS // 60} minutes"
    return f"the process ends with status {done.returncode}"


def answer_all(name: str, file: Path, vectors: list[str]) -> None:
    """Write the answers of a library, a line each."""
    with file.open("w", encoding="utf-8") as lines:
        for id in vectors:
            vector = VECTORS[id]
            times = TIMES if any(map(may_tie, vector.queries)) else 1
            print(json.dumps(libraries.answer(LIBRARIES[name], vector, times)), file=lines, flush=True)


def version(package: str) -> str:
    """The version of a package, that of this project included."""
    if package == "pipeline_lib":
        return pipeline_lib.__version__
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def write(names: list[str]) -> None:
    """Ask the libraries and put their answers into the record; those of others stay."""
    kept = read() if RECORD.exists() else {}
    answers: dict[str, Any] = {}
    for name, library in LIBRARIES.items():
        if name in names:
            print(name, flush=True)
            answers[name] = {"version": version(library.package), "answers": ask(name)}
        elif name in kept.get("libraries", {}):
            answers[name] = kept["libraries"][name]
    record = {"date": datetime.date.today().isoformat(), "python": platform.python_version(), "libraries": answers}
    RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    answer_all(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
