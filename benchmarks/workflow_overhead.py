"""How much of a run's time is spent in the work of its jobs, and where does the rest go?

``python -m benchmarks.workflow_overhead`` reads the records of Snakemake and the benchmarks of a study that has run
(``--study``, by default ``default``) in a folder (``--folder``, by default this one), and measures what starting Python
and importing libraries costs here. Of the runs in the folder, the one that made most files of the study counts: delete
``results/`` and ``reports/`` of the study for a whole one, and for a cold one the compiled functions as well
(``find . -name '*.nb[ic]' -delete``). The machine should do nothing else meanwhile.

What is measured is written to ``workflow_overhead.csv`` beside this module, and the section of
docs/benchmarks.md is made from it; ``--show`` writes the section without measuring.
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks import page, processes, recorded

ROOT = Path(__file__).parents[1]
TABLE = Path(__file__).with_name("workflow_overhead.csv")
TITLE = "## A run of the workflow"
LONGEST = 10
STARTS: Mapping[str, str] = {
    "Python alone": "pass",
    "numpy": "import numpy",
    "reading data: pyarrow": "import pipeline_lib.data.ranking_data, pyarrow.parquet, pyarrow.compute",
    "writing tables: polars": "import polars",
    "settings: pydantic": "import pipeline_lib.core.settings",
    "numba": "import numba",
    "numba, and one compiled function from its file": "from pipeline_lib import ranking; ranking.gain(3.0)",
    "solvers: scipy.optimize": "import scipy.optimize",
    "all that a training imports": (
        "import pyarrow.parquet, scipy.optimize, pipeline_lib.commands.train_model, pipeline_lib.learners.erm;"
        "from pipeline_lib import ranking; ranking.gain(3.0)"
    ),
}
"""What is imported -> the program that imports it, as a job does: see ``pipeline_lib/__main__.py``."""
EVERY = "all that a training imports"
REPEATS = 5


class Job(NamedTuple):
    """A job of the run: its log without the folder of logs, its rule, and when it began and ended."""

    name: str
    rule: str
    started: float
    ended: float


class Run(NamedTuple):
    """A run of Snakemake: when it began and ended, on how many cores, and its jobs."""

    began: float
    ended: float
    cores: int
    jobs: tuple[Job, ...]


@dataclass(frozen=True)
class Number:
    """One measured number: the table that shows it, what it is, and how many jobs it is about."""

    table: str
    what: str
    jobs: int
    seconds: float


def jobs_of(folder: Path, study: str) -> list[Job]:
    """The last run of every job of a study, from the records of Snakemake."""
    found = {}
    logs = f"results/{study}/logs/"
    for path in (folder / ".snakemake/metadata").rglob("*"):
        record = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        [log] = (record.get("log") or [""])[:1]
        if log.startswith(logs) and record.get("endtime"):
            name = log.removeprefix(logs).removesuffix(".log")
            found[name] = Job(name, record["rule"], record["starttime"], record["endtime"])
    return sorted(found.values(), key=lambda job: job.started)


def last_run(folder: Path, study: str) -> Run:
    """The run in which most jobs of a study ended.

    Raises
    ------
    ValueError
        When there is none.
    """
    jobs, runs = jobs_of(folder, study), []
    for path in (folder / ".snakemake/log").glob("*.snakemake.log"):
        text = path.read_text(encoding="utf-8")
        took = re.search(r"^Elapsed time: (?:(\d+) days?, )?(\d+):(\d+):([\d.]+)$", text, re.MULTILINE)
        cores = re.search(r"^Provided cores: (\d+)", text, re.MULTILINE)
        if took and cores:
            days, hours, minutes, seconds = (float(part or 0) for part in took.groups())
            ended = path.stat().st_mtime
            began = ended - seconds - 60 * (minutes + 60 * (hours + 24 * days))
            own = tuple(job for job in jobs if began <= job.ended <= ended)
            runs.append(Run(began, ended, int(cores[1]), own))
    if not any(run.jobs for run in runs):
        raise ValueError(f"{folder}: expected a run of the study {study!r} with a log in .snakemake/log, found none")
    return max(runs, key=lambda run: (len(run.jobs), run.ended))


def processor_seconds(program: str) -> float:
    """The least processor seconds, of some repetitions, that Python takes for a program, start included."""
    return _least([sys.executable, "-c", program if program == "pass" else f"import pipeline_lib.__main__; {program}"])


def planning_seconds(folder: Path, arguments: Sequence[str]) -> float:
    """The least processor seconds, of some repetitions, of a plan in a folder."""
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "all", "--cores", "1", *arguments]
    return _least(command, folder)


def _least(command: Sequence[str], folder: Path | None = None) -> float:
    taken = [processes.run(command, folder, quiet=True) for _ in range(REPEATS)]
    if any(one.status for one in taken):
        raise subprocess.CalledProcessError(max(abs(one.status) for one in taken), command)
    return min(one.user + one.system for one in taken)


def of_run(run: Run, start: float) -> list[Number]:
    """The numbers about a run, given what a job takes to start."""
    seconds = {job: job.ended - job.started for job in run.jobs}
    number, wall, work = len(run.jobs), run.ended - run.began, sum(seconds.values())
    first, last = min(job.started for job in run.jobs), max(job.ended for job in run.jobs)
    table = [
        Number("run", f"from the first line to the last, on {run.cores} core{'s' * (run.cores > 1)}", number, wall),
        Number("run", "in jobs, added up", number, work),
        Number("run", "of that, starting jobs: their number times what a training imports", number, number * start),
        Number("run", "cores without a job", number, wall * run.cores - work),
        Number("run", "of that, before the first job and after the last", number, run.cores * (wall - last + first)),
    ]
    rules: dict[str, list[float]] = {}
    for job, taken in seconds.items():
        rules.setdefault(job.rule, []).append(taken)
    longest_rules = sorted(rules.items(), key=lambda item: -sum(item[1]))[:LONGEST]
    table += [Number("rules", rule, len(taken), sum(taken)) for rule, taken in longest_rules]
    longest = sorted(seconds.items(), key=lambda item: -item[1])[:LONGEST]
    return table + [Number("jobs", job.name, 1, taken) for job, taken in longest]


def measured(folder: Path, study: str, arguments: Sequence[str]) -> list[Number]:
    """All numbers, rounded as they are printed."""
    starts = {what: processor_seconds(program) for what, program in STARTS.items()}
    numbers = [Number("start", what, 1, seconds) for what, seconds in starts.items()]
    numbers.append(Number("start", "a plan of this study", 1, planning_seconds(folder, arguments)))
    numbers += of_run(last_run(folder, study), starts[EVERY])
    return [Number(one.table, one.what, one.jobs, round(one.seconds, 2)) for one in numbers]


def section(numbers: Iterable[Number]) -> str:
    """The section of the page."""
    of: dict[str, list[Number]] = {}
    for number in numbers:
        of.setdefault(number.table, []).append(number)
    lines = [TITLE, "", "This section is made by `python -m benchmarks.workflow_overhead`.", ""]
    lines += ["| a run | jobs | seconds |", "|---|---:|---:|", *map(_row, of.get("run", []))]
    if len(of.get("run", [])) > 1:
        _, work, start, without, *_ = (number.seconds for number in of["run"])
        lines += [
            "",
            f"Cores were without a job for {without / (work + without):.1%} of their time; with the starts of jobs, "
            f"{(without + start) / (work + without):.1%} were not spent in the work of a job.",
        ]
    lines += ["", "| rules with the longest jobs in all | jobs | seconds |", "|---|---:|---:|"]
    lines += map(_row, of.get("rules", []))
    lines += ["", "| longest jobs | jobs | seconds |", "|---|---:|---:|", *map(_row, of.get("jobs", []))]
    lines += ["", "Processor seconds of starting Python and importing, each row from nothing:", ""]
    lines += ["| start | processor seconds |", "|---|---:|"]
    lines += [f"| {number.what} | {number.seconds:.2f} |" for number in of.get("start", [])]
    return "\n".join(lines) + "\n"


def _row(number: Number) -> str:
    return f"| {number.what} | {number.jobs} | {number.seconds:.1f} |"


def main() -> None:
    """Measure, write the table and the section, and print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.workflow_overhead", description=__doc__)
    parser.add_argument("arguments", nargs="*", help="further arguments of snakemake for the plan, after --")
    parser.add_argument("--folder", type=Path, default=ROOT, help="where the study has run")
    parser.add_argument("--study", default="default", help="the name of the study")
    parser.add_argument("--show", action="store_true", help="measure nothing")
    given = parser.parse_args()
    if not given.show:
        recorded.write(TABLE, Number, measured(given.folder, given.study, given.arguments))
    numbers = recorded.read(TABLE, Number)
    page.store("workflow_overhead", section(numbers))
    print(section(numbers))


if __name__ == "__main__":
    main()
