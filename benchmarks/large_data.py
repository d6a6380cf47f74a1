"""How do the time and the memory of every job grow with the number of documents, up to the size of MSLR-WEB30K?

``python -m benchmarks.large_data FOLDER`` runs the jobs of ``workflow/studies/large-data.yaml`` for several numbers of
queries: it asks Snakemake for the command of each job and runs the command in a process of its own. The text that real
data come as is measured as well: the same population is written as LETOR text, checked and converted. What a job took
is written to ``large_data.csv`` beside this module as soon as it has ended, and the section of the benchmarks is
made from it. A call goes on where the last one stopped; ``--again`` measures rows anew that the table holds. The folder
holds the data, at the largest size 2 GB, and with ``--job text`` 8 GB more for the time that it takes.

After a change of one job, measure it again, for example ``--job train_model:listnet --again``; ``--queries`` chooses
sizes. ``--show`` writes the section without measuring.
"""

import argparse
import itertools
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks import page, processes, recorded
from pipeline_lib.core.files import write_text
from pipeline_lib.sources import catalog
from pipeline_lib.study.study_settings import section as section_of

ROOT = Path(__file__).parents[1]
STUDY = ROOT / "workflow" / "studies" / "large-data.yaml"
TABLE = Path(__file__).with_name("large_data.csv")
TITLE = "## Large data"
DATA_SET, WITH_TEXT = "mslr-sim", "letor-sim"
QUERIES = (42, 837, 2508, 8361, 31_531)
"""About 5,000, 100,000, 300,000, 1,000,000 and exactly 3,771,125 documents. The first size shows what a job takes
whatever the size: its start."""
LIMIT_MB = 8000.0
"""The memory that a job may take."""
LONGEST = 7200
"""Processor seconds after which a job is stopped."""
DOMINATED = 2.0
"""An exponent is fitted to sizes at which a job takes at least so many times what it takes at the first."""
TEXT = ("simulate_data", "check_raw", "convert_data")
DATA = ("simulate_documents", "split_folds", "describe_data")
OF_MODELS = ("train_model", "evaluate_model")
AFTER = ("summarise_results", "compare_models")


@dataclass(frozen=True)
class Measured:
    """What one job took: its rule (and model) and size, processor and wall seconds, its largest memory, its exit.

    ``text_mb`` is the size of the text, for jobs that read or write one.
    """

    job: str
    documents: int
    queries: int
    cpu_seconds: float
    wall_seconds: float
    peak_mb: float
    status: str = "ok"
    text_mb: float = 0.0


def read() -> list[Measured]:
    """What was measured so far, in the order of the table."""
    return recorded.read(TABLE, Measured)


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float | None:
    """The slope of log value over log size, by least squares, where the start does not dominate; None if nowhere.

    The first size shows the start; only values of at least :data:`DOMINATED` times the first one take part, and two of
    them are needed.

    Example
    -------
    >>> exponent([1, 10, 100, 1000], [1.0, 1.1, 10.0, 100.0])
    1.0
    """
    used = [(size, value) for size, value in zip(sizes[1:], values[1:], strict=True) if value >= DOMINATED * values[0]]
    if len(used) < 2:
        return None
    x, y = np.log(np.array(used)).T
    return float(round(np.sum((x - x.mean()) * (y - y.mean())) / np.sum((x - x.mean()) ** 2), 2))


def study(queries: int, text: bool) -> dict[str, Any]:
    """The study of one size; where the text is measured, the population of the data set under a name that has one."""
    config: dict[str, Any] = yaml.safe_load(STUDY.read_text(encoding="utf-8"))
    if not text:
        return {**config, section_of(DATA_SET): {"queries": queries}}
    simulation = catalog.get(DATA_SET).simulation
    assert simulation is not None
    population = dict(simulation.population)
    return {**config, "datasets": [WITH_TEXT], section_of(WITH_TEXT): {"queries": queries, "population": population}}


def commands(folder: Path, config: Mapping[str, Any]) -> dict[str, str]:
    """The shell command of every job of a study, by rule, and by model where there are several."""
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "study.json", json.dumps(config))
    call = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "workflow/Snakefile"), "--cores", "1"]
    call += ["--configfile", "study.json", "--dry-run", "--printshellcmds", "--forceall"]
    plan = subprocess.run(call, cwd=folder, check=True, capture_output=True, text=True)
    found = {}
    for line in (plan.stdout + plan.stderr).splitlines():
        if line.startswith("Shell command: ") and (name := _name(line)) is not None:
            found[name] = line.removeprefix("Shell command: ")
    return found


def _name(command: str) -> str | None:
    """The name of a job, from the log that it writes."""
    log = re.search(r" > (\S+)\.log 2>&1$", command)
    if log is None:
        return None
    place = log[1].partition("/logs/")[2]
    rule, _, rest = place.partition("/")
    rule = {"train_fold": "train_model"}.get(rule, rule)  # one training, whether for one fold or as one of several
    if rule in OF_MODELS:
        return f"{rule}:{rest.split('/')[1]}"
    return re.sub(rf"[-/]({DATA_SET}|{WITH_TEXT})$", "", place)


def chosen(found: Mapping[str, str]) -> list[str]:
    """The jobs that read documents or models, in an order in which each finds its input; of slices, the first."""
    read_documents = [name for name, command in found.items() if re.search(r"--documents \S*documents", command)]
    of_experiments = [
        name
        for name in read_documents
        if " experiment " in found[name] and name.endswith(("/0", name.partition("/")[0]))
    ]
    of_models = [sorted(name for name in found if name.startswith(f"{rule}:")) for rule in OF_MODELS]
    return [*DATA, *itertools.chain(*of_models), *AFTER, *sorted(of_experiments)]


def run(name: str, command: str, folder: Path, documents: int, queries: int) -> Measured:
    """Run the command of a job in its folder."""
    for path in re.findall(r"\S+/\S+", command):
        if not path.startswith(("'", "{", "/")):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
    taken = processes.run(["bash", "-c", f"exec {command}"], folder, limit=LONGEST)
    said = "ok" if taken.status == 0 else f"failed ({taken.status})"
    cpu = round(taken.user + taken.system, 2)
    return Measured(name, documents, queries, cpu, round(taken.wall, 2), round(taken.peak_mb, 1), said)


def measure(
    folder: Path, sizes: Sequence[int], wanted: Sequence[str], known: set[tuple[str, int]]
) -> Iterator[Measured]:
    """Run the jobs that are wanted and not known, size by size."""
    for queries in sizes:
        place = folder / str(queries)
        config = study(queries, text=False)
        found = commands(place, config)
        documents = _documents(config)
        for name in chosen(found):
            needed = name in DATA and not all((place / path).exists() for path in _written(found[name]))
            if (_is_wanted(name, wanted) and (name, queries) not in known) or needed:
                yield run(name, found[name], place, documents, queries)
        if not wanted or "text" in wanted:
            yield from _text(folder / f"{queries}-text", queries, documents, known)


def _text(place: Path, queries: int, documents: int, known: set[tuple[str, int]]) -> Iterator[Measured]:
    """Write, check and convert the text of one size, and remove it."""
    if all((f"text: {name}", queries) in known for name in TEXT):
        return
    found = commands(place, study(queries, text=True))
    try:
        for name in TEXT:
            done = run(name, found[name], place, documents, queries)
            size = sum(path.stat().st_size for path in (place / "data" / "raw").rglob("*.txt")) / 1e6
            yield Measured(**{**asdict(done), "job": f"text: {name}", "text_mb": round(size, 1)})
    finally:
        shutil.rmtree(place)


def _is_wanted(name: str, wanted: Sequence[str]) -> bool:
    return not wanted or name in wanted or name.partition(":")[0] in wanted


def _written(command: str) -> list[str]:
    """The outputs of the jobs that prepare the data, so that later jobs find them."""
    outputs = re.findall(r"--(?:documents|summary|folds|output) (\S+)", command)
    return [path for path in outputs if path.startswith("data/")]


def _documents(config: Mapping[str, Any]) -> int:
    simulation = catalog.get(DATA_SET).simulation
    assert simulation is not None
    return round(simulation.population["documents"]["mean"] * config[section_of(DATA_SET)]["queries"])


def section(rows: Sequence[Measured]) -> str:
    """The section that the files of rows are made from."""
    lines = [
        TITLE,
        "",
        "Every job that reads documents or models of `workflow/studies/large-data.yaml`, in a process of its own, for",
        "several sizes of the simulated data set `mslr-sim`: processor seconds (user and system) and the largest",
        f"memory in MB. The first size, {QUERIES[0]} queries, shows what a job takes whatever the size. The exponents",
        "are slopes of the logarithm of seconds and of MB over the logarithm of documents, by least squares over the",
        f"sizes at which a job takes at least {DOMINATED:g} times what it takes at the first; for fewer than two such",
        "sizes there is none. The jobs `text: ...` write the same population as LETOR text, check it, and convert it,",
        "as data that come as text are converted.",
        "Between the third size and the fourth, trainings change from one array in double precision to blocks",
        "([architecture](architecture.md)), and SLAM-NDCG to another solver: some take less time or memory than the",
        "exponent would say.",
        "Experiments read a sample of the queries. This section is made by `python -m benchmarks.large_data`.",
        "",
    ]
    sizes = sorted({row.documents for row in rows})
    names = list(dict.fromkeys(row.job for row in sorted(rows, key=lambda row: row.queries)))
    heads = [f"{size:,} s" for size in sizes] + ["exponent"] + [f"{size:,} MB" for size in sizes] + ["exponent"]
    lines += [
        "| job | " + " | ".join([*heads, f"below {LIMIT_MB / 1000:g} GB"]) + " |",
        "|---|" + "---:|" * len(heads) + "---|",
    ]
    lines += [_line(name, sizes, {row.documents: row for row in rows if row.job == name}) for name in names]
    failed = [row for row in rows if row.status != "ok"]
    lines += [""] * bool(failed)
    lines += [f"`{row.job}` with {row.documents:,} documents: {row.status}." for row in failed]
    speeds = _speed(rows)
    return "\n".join([*lines, *([""] if speeds else []), *speeds]) + "\n"


def _line(name: str, sizes: Sequence[int], found: Mapping[int, Measured]) -> str:
    done = [found[size] for size in sizes if size in found and found[size].status == "ok"]
    cells = [f"`{name}`"]
    for values in ("cpu_seconds", "peak_mb"):
        digits = 1 if values == "cpu_seconds" else 0
        cells += [f"{getattr(found[s], values):,.{digits}f}" if s in found else "–" for s in sizes]
        has_start = done and done[0].documents == sizes[0]
        fitted = (
            exponent([row.documents for row in done], [getattr(row, values) for row in done]) if has_start else None
        )
        cells.append("–" if fitted is None else f"{fitted:.2f}")
    largest = max((row.peak_mb for row in found.values()), default=0.0)
    cells.append(("yes" if largest < LIMIT_MB else "no") + ("" if sizes[-1] in found else f", up to {max(found):,}"))
    return "| " + " | ".join(cells) + " |"


def _speed(rows: Sequence[Measured]) -> list[str]:
    """The speed of writing and of converting text at the largest size at which it was measured."""
    found = {row.job: row for row in sorted(rows, key=lambda row: row.queries) if row.text_mb and row.status == "ok"}
    words = {"text: simulate_data": "writes", "text: convert_data": "converts"}
    speeds = [
        f"{verb} {found[job].text_mb / found[job].cpu_seconds:,.0f} MB of text per processor second "
        f"({found[job].documents:,} documents, {found[job].text_mb:,.0f} MB)"
        for job, verb in words.items()
        if job in found
    ]
    return [f"The workflow {' and '.join(speeds)}."] if speeds else []


def main() -> None:
    """Measure what is missing, write the table and the section."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_data", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="where data and models are kept")
    parser.add_argument("--queries", type=int, action="append", choices=QUERIES, help="only this size; may be repeated")
    parser.add_argument(
        "--job", action="append", default=[], help="only this rule, RULE:MODEL, or text; may be repeated"
    )
    parser.add_argument("--again", action="store_true", help="measure rows that the table has, too")
    parser.add_argument("--show", action="store_true", help="measure nothing, and write the section")
    arguments = parser.parse_args()
    if not arguments.show and arguments.folder is None:
        parser.error("a folder is needed for data and models, unless --show is given")
    if not arguments.show:
        known = set() if arguments.again else {(row.job, row.queries) for row in read()}
        for row in measure(arguments.folder, arguments.queries or QUERIES, arguments.job, known):
            table = {(one.job, one.queries): one for one in read()}  # another call may have measured others meanwhile
            recorded.write(TABLE, Measured, {**table, (row.job, row.queries): row}.values())
            print(
                f"{row.job:40} {row.documents:10,} {row.cpu_seconds:9.1f} s {row.peak_mb:8.0f} MB  {row.status}",
                flush=True,
            )
    page.store("large_data", section(read()))


if __name__ == "__main__":
    main()
