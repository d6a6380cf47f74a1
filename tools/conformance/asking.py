"""How are all answers collected, although a library may end its process?

A library is asked in a process of its own, which writes an answer a line. Where the process ends early, or computes for
too long, the vector that it was asked about is recorded as refused, and another process is asked about the rest. Input
for which NDCG is undefined may damage a process and what it answers later, and is therefore kept for another one.

    python -m tools.conformance.asking NAME FILE VECTOR ...
"""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import platform
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pipeline_lib
from tools.conformance import libraries
from tools.conformance.conventions import may_tie, value
from tools.conformance.libraries import LIBRARIES
from tools.conformance.vectors import VECTORS

HERE = Path(__file__).parent
RECORD = HERE / "record.json"
ROOT = HERE.parents[1]
TIMES, SECONDS = 12, 120


def read() -> dict[str, Any]:
    """The record: when and with which Python it was made, the versions, and the answers by library and vector."""
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def ask(name: str) -> dict[str, Any]:
    """The answers of a library to all vectors."""
    undefined = [id for id, vector in VECTORS.items() if value(vector) is None]
    answers: dict[str, Any] = {}
    for asked in ([id for id in VECTORS if id not in undefined], undefined):
        while remaining := [id for id in asked if id not in answers]:
            answers |= _of_one_process(name, remaining)
    return {id: answers[id] for id in VECTORS}


def _of_one_process(name: str, vectors: list[str]) -> dict[str, Any]:
    """The answers to the first of the vectors, at least one."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "answers")
        command = [sys.executable, "-m", "tools.conformance.asking", name, str(file), *vectors]
        status = subprocess.run(command, cwd=ROOT, capture_output=True).returncode
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    answers = dict(zip(vectors, map(json.loads, lines), strict=False))
    if len(lines) < len(vectors):
        late = f"no answer within {SECONDS} seconds of computing"
        why = late if status == -signal.SIGPROF else f"the process ends with status {status}"
        answers[vectors[len(lines)]] = {"error": why}
    return answers


def answer_all(name: str, file: Path, vectors: list[str]) -> None:
    """Write the answers of a library, a line each; a signal ends the process when one takes too long to compute."""
    with file.open("w", encoding="utf-8") as lines:
        for id in vectors:
            vector = VECTORS[id]
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
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
    """Ask the libraries and put their answers into the record, one library after the other; those of others stay."""
    answers = read()["libraries"] if RECORD.exists() else {}
    for name in names:
        print(name, flush=True)
        answers[name] = {"version": version(LIBRARIES[name].package), "answers": ask(name)}
        record = {
            "date": datetime.date.today().isoformat(),
            "python": platform.python_version(),
            "libraries": {known: answers[known] for known in LIBRARIES if known in answers},
        }
        RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    answer_all(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
