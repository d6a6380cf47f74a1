"""Let every call of the jobs of a finished study fail in turn, and print each that went wrong, and counts."""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

from . import OPERATIONS, Faults, jobs


def main() -> int:
    """Print the findings; the exit status says whether there were any."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("folder", type=Path, help="a copy of the project in which a small study has run")
    parser.add_argument("--configfile", default="small.yaml", help="of the study (default: small.yaml)")
    parser.add_argument("--only", nargs="*", default=[], help="only these commands")
    parser.add_argument("--operations", nargs="*", default=OPERATIONS, help="only these kinds of calls")
    parser.add_argument("--alone", action="store_true", help="start every job by itself, not as a fork of a server")
    parser.add_argument("--most", type=int, help="try at most so many failures of every kind of call, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    folder = chosen.folder.resolve()
    plan = [sys.executable, "-m", "snakemake", "-n", "-p", "--forceall", "--configfile", chosen.configfile]
    printed = subprocess.run(plan, cwd=folder, capture_output=True, text=True, check=True)
    rng = random.Random(chosen.seed)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        study = jobs.Study(folder, Faults(Path(place), folder), os.environ)
        with nullcontext() if chosen.alone else study.served():
            for name, job in jobs.of_plan(printed.stdout + printed.stderr).items():
                if chosen.only and name not in chosen.only:
                    continue
                print(name, study.undisturbed(job)[1], flush=True)
                for operation in chosen.operations:
                    every = list(jobs.every_failure(study, job, operation))
                    drawn = every if chosen.most is None else rng.sample(every, min(chosen.most, len(every)))
                    for number, error in sorted(drawn):
                        found = study.judge(job, operation, number, error)
                        counts[f"{operation}: {found.word}"] += 1
                        if found.word not in jobs.GOOD:
                            print(found.line, flush=True)
                print(dict(sorted(counts.items())), flush=True)
    wrong = {what: count for what, count in counts.items() if what.partition(": ")[2] not in jobs.GOOD}
    print(f"{counts.total()} failures, {sum(wrong.values())} findings")
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
