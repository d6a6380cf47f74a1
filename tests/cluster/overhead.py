"""What does sending a study to a cluster cost, beyond the time that its jobs take?

python -m tests.cluster.overhead [ARGUMENTS OF SNAKEMAKE]

Runs a study in a copy of the project on a SLURM of two nodes, with `profiles/slurm` as it is, and prints for the jobs
that were sent: the submissions, the seconds of their processors that they occupied, the seconds that their commands took
according to the benchmarks of the workflow, and the share that is left for starting Snakemake and for the scheduler. The
machine should do nothing else.
"""

from __future__ import annotations

import csv
import os
import sys
import tempfile
from datetime import datetime
from pathlib import Path

from ..workflow import forked
from ..workflow.conftest import LEFT_OUT, PARTS, shutil
from . import packages, slurm

ROOT = Path(__file__).parents[2]


def seconds_between(job: dict[str, str], first: str, last: str) -> float:
    """The seconds from one time of a job to another."""
    return (datetime.fromisoformat(job[last]) - datetime.fromisoformat(job[first])).total_seconds()


def main(arguments: list[str]) -> int:
    """Run the study and print the numbers."""
    software = packages.obtain(ROOT / "build/slurm")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "project"
        folder.mkdir()
        for part in PARTS:
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
            copy(ROOT / part, folder / part, **({"ignore": LEFT_OUT} if (ROOT / part).is_dir() else {}))
        with slurm.running(Path(made) / "cluster", software, accounting=False) as cluster:
            environment = {**os.environ, **cluster.environment}
            status, output = forked.snakemake([*arguments, "--workflow-profile", "profiles/slurm"], folder, environment)
            jobs = cluster.jobs()
        print(output[-3000:] if status else "".join(output.partition("[1/")[0]))
        own = 0.0
        sent = 0
        for job in jobs:
            print({name: job[name] for name in ("JobState", "NumCPUs", "RunTime", "TimeLimit", "TRES", "Comment")})
        for path in (folder / "results").rglob("benchmarks/**/*.tsv"):
            rule = path.relative_to(folder).parts[3]
            with path.open() as handle:
                (row,) = csv.DictReader(handle, delimiter="\t")
            if rule in ("train_model", "evaluate_model"):
                own += float(row["s"])
                sent += 1
    occupied = sum(seconds_between(job, "StartTime", "EndTime") * int(job["NumCPUs"]) for job in jobs)
    waited = sum(seconds_between(job, "SubmitTime", "StartTime") for job in jobs)
    print(
        f"submissions {len(jobs)}, jobs {sent}, occupied {occupied:.0f} s, commands {own:.0f} s, waited {waited:.0f} s"
    )
    print(f"overhead {1 - own / occupied:.0%} of the time occupied, {occupied / own - 1:.0%} of the work")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
