"""How do the time and the memory of the papers' studies grow with their size, up to the papers' own?

``LTR_MIRROR=/archives python -m benchmarks.growth FOLDER`` runs the experiments of every paper with the settings of its
study in ``workflow/studies/``, scaled to a tenth and to a third of their sizes, by Snakemake on two cores in FOLDER.
What a run took is written to ``growth.csv`` beside this module when it has ended, and the section of the benchmarks
is made from it and from the records of the whole studies. A call goes on where the last one stopped; ``--paper`` and
``--share`` choose runs, ``--again`` measures them anew, and ``--show`` writes the section without measuring.
"""

import argparse
import itertools
import json
import math
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import linear_regression
from typing import Any

import yaml

from benchmarks import page, processes, recorded
from pipeline_lib import papers
from pipeline_lib.core.files import write_text
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.study import recorded as records

ROOT = Path(__file__).parents[1]
TABLE = Path(__file__).with_name("growth.csv")
TITLE = "## The papers' studies by their size"
PAPERS = tuple(name for name in papers.names() if name not in papers.ours())
"""The papers, each of which has a study of its own."""
SHARES = ("1/10", "1/3")
WHOLE = "1"
"""The share of which the records of the studies tell."""
SMALL = 20
"""Numbers below, such as the number of slices or of starts, are no sizes."""
DIVISORS = ("documents", "data_documents")
"""Lists that are kept beside ``budgets``, which they must divide."""
KEPT = 3
"""A list of sizes keeps at least so many, the smallest ones: experiments fit slopes to them."""
BEYOND = 10
"""How many times the papers' size the page asks about."""


@dataclass(frozen=True)
class Measured:
    """What the experiments of a paper took at one share of its sizes: seconds of all jobs, and MB of the largest."""

    paper: str
    share: str
    seconds: float
    peak_mb: float


def scaled(value: Any, share: Fraction) -> Any:
    """Settings with sizes of a share: whole numbers are multiplied, and lists of them end at a share of their largest.

    Example
    -------
    >>> scaled({"rounds": 1000, "sizes": [30, 100, 300, 1000, 3000], "starts": 5, "noise": 0.1}, Fraction(1, 3))
    {'rounds': 333, 'sizes': [30, 100, 300, 1000], 'starts': 5, 'noise': 0.1}
    """
    if isinstance(value, dict):
        kept = DIVISORS if "budgets" in value else ()
        return {key: inner if key in kept else scaled(inner, share) for key, inner in value.items()}
    if isinstance(value, list) and all(type(one) is int for one in value) and max(value) >= SMALL:
        return [one for place, one in enumerate(value) if place < KEPT or one <= share * max(value)]
    if type(value) is int and value >= SMALL:
        return max(SMALL, int(value * share))
    return value


def study(paper: str, share: str) -> dict[str, Any]:
    """The study of a paper with its experiments at a share of their sizes."""
    path = ROOT / "workflow" / "studies" / f"{paper}-paper-scale.yaml"
    config: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {**config, "study": f"{paper}-growth", "experiments": scaled(config["experiments"], Fraction(share))}


def run(paper: str, share: str, folder: Path) -> Measured:
    """Run the experiments of a paper; what an earlier run downloaded, converted and compiled is used again."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = study(paper, share)
    write_text(folder / "study.json", json.dumps(settings))
    snakemake = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "workflow/Snakefile")]
    shutil.rmtree(folder / "results", ignore_errors=True)
    if processes.run([*snakemake, paper, "--cores", "2", "--configfile", "study.json"], folder).status:
        sys.exit(f"error: the experiments of {paper} at {share} of their sizes failed in {folder}")
    costs = records.costs(ResultsFolder.at(folder / "results" / settings["study"]), records.paper_of)[paper]
    return Measured(paper, share, costs.seconds, costs.megabytes)


def whole() -> Iterator[Measured]:
    """What the experiments of every paper took at full scale, by the records of its study."""
    for paper in PAPERS:
        costs = records.read(f"{paper}-paper-scale").costs[paper]
        yield Measured(paper, WHOLE, costs.seconds, costs.megabytes)


def exponent(found: Sequence[Measured], what: str) -> float:
    """The slope of the logarithm of a column over that of the share, by least squares.

    Example
    -------
    >>> exponent([Measured("slam", "1/10", 2.0, 100.0), Measured("slam", "1", 20.0, 100.0)], "seconds")
    1.0
    """
    shares = [math.log(Fraction(row.share)) for row in found]
    return round(linear_regression(shares, [math.log(getattr(row, what)) for row in found]).slope, 2)


def section(rows: Sequence[Measured]) -> str:
    """The section that the files of rows are made from."""
    shares = [share for share in (*SHARES, WHOLE) if any(row.share == share for row in rows)]
    heads = [f"{share}, {unit}" for unit in ("s", "MB") for share in (*shares, "exponent")]
    lines = [
        TITLE,
        "",
        "The experiments of each paper with the settings of `workflow/studies/PAPER-paper-scale.yaml`, at a share of",
        "their sizes: the seconds of all jobs, two of which run at a time, and the largest memory of a job in MB. The",
        f"whole is what the records of these studies say. Whole numbers of at least {SMALL} are multiplied by the",
        f"share; lists of them end at a share of their largest, and keep at least {KEPT}. Real data sets keep their",
        "size. The exponents are slopes of logarithms by least squares. The last columns continue the two largest",
        "shares as a power of the size; their hours are of one core, and on a cluster (`profiles/slurm`, see",
        "[clusters](clusters.md)) the jobs of a paper share them. Every number is of one run, and the machine's speed",
        "varied by a factor of up to 1.5 from hour to hour: between the two largest shares, this moves the",
        "exponent of the seconds by up to .37, and the hours by a factor of up to 2.4. This section is made by",
        "`python -m benchmarks.growth`.",
        "",
        "| paper | " + " | ".join([*heads, f"{BEYOND} times, hours", f"{BEYOND} times, GB"]) + " |",
        "|---|" + "---:|" * (len(heads) + 2),
    ]
    return "\n".join([*lines, *_lines(rows, shares)]) + "\n"


def _lines(rows: Sequence[Measured], shares: Sequence[str]) -> Iterator[str]:
    for paper in PAPERS:
        found = {row.share: row for row in rows if row.paper == paper}
        done = [found[share] for share in shares if share in found]
        cells, beyond = [f"`{paper}`"], []
        for what, digits, unit in (("seconds", 0, 3600.0), ("peak_mb", 0, 1000.0)):
            cells += [f"{getattr(found[share], what):,.{digits}f}" if share in found else "–" for share in shares]
            several = len(done) > 1
            cells.append(f"{exponent(done, what):.2f}" if several else "–")
            size = float(BEYOND / Fraction(done[-1].share)) if several else 1.0
            far = getattr(done[-1], what) * size ** exponent(done[-2:], what) if several else math.nan
            beyond.append(f"{far / unit:,.1f}" if several else "–")
        if done:
            yield "| " + " | ".join([*cells, *beyond]) + " |"


def main() -> None:
    """Measure what is missing, write the table and the section."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="where data and results are kept")
    parser.add_argument("--paper", action="append", choices=PAPERS, help="only this paper; may be repeated")
    parser.add_argument("--share", action="append", choices=SHARES, help="only this share; may be repeated")
    parser.add_argument("--again", action="store_true", help="measure rows that the table has, too")
    parser.add_argument("--show", action="store_true", help="measure nothing, and write the section")
    arguments = parser.parse_args()
    if not arguments.show and arguments.folder is None:
        parser.error("a folder is needed for data and results, unless --show is given")
    wanted = itertools.product(arguments.share or SHARES, arguments.paper or PAPERS)
    for share, paper in [] if arguments.show else wanted:
        if arguments.again or (paper, share) not in {(row.paper, row.share) for row in recorded.read(TABLE, Measured)}:
            row = run(paper, share, arguments.folder)
            known = {(one.paper, one.share): one for one in recorded.read(TABLE, Measured)}
            recorded.write(TABLE, Measured, {**known, (paper, share): row}.values())
            print(f"{paper:10} {share:5} {row.seconds:9.1f} s {row.peak_mb:8.0f} MB", flush=True)
    rows = [*recorded.read(TABLE, Measured), *whole()]
    page.store("growth", section(rows))


if __name__ == "__main__":
    main()
