"""What does sending jobs to a cluster cost, beyond the time that their commands take?

python -m tools.cluster_overhead [ARGUMENTS OF SNAKEMAKE]

Trains and evaluates the models of a study in a copy of the project, on a SLURM of two nodes and with `profiles/slurm`
as it is. Prints for the jobs that were sent: the number of submissions, the seconds for which they occupied processors,
the seconds that their commands took according to the benchmarks of the workflow, and the share that is left, which is
for starting Snakemake and for the scheduler. The machine should do nothing else.
"""

import csv
import sys
import tempfile
from datetime import datetime
from pathlib import Path

from tests.cluster import packages, slurm
from tests.workflow import forked
from tests.workflow.conftest import copy_parts

ROOT = Path(__file__).parents[1]
SENT = ("train_model", "train_fold", "evaluate_model")


def seconds_between(job: dict[str, str], first: str, last: str) -> float:
    """The seconds from one time of a job to another."""
    return (datetime.fromisoformat(job[last]) - datetime.fromisoformat(job[first])).total_seconds()


def commands_of(project: Path) -> list[float]:
    """The seconds of the commands of all trainings and evaluations."""
    found = []
    for rule in SENT:
        for path in project.glob(f"results/*/benchmarks/{rule}/**/*.tsv"):
            with path.open() as handle:
                found += [float(row["s"]) for row in csv.DictReader(handle, delimiter="\t")]
    return found


def main(arguments: list[str]) -> int:
    """Run the trainings and print the numbers."""
    software = packages.obtain(ROOT / "build/slurm")
    with tempfile.TemporaryDirectory() as made:
        project = Path(made) / "project"
        copy_parts(project)
        with slurm.running(Path(made) / "cluster", software, accounting=False) as cluster:
            given = ["--until", *SENT, "--workflow-profile", "profiles/slurm", *arguments]
            status, output = forked.snakemake(given, project, **cluster.environment)
            jobs = cluster.jobs()
        commands = commands_of(project)
    if status:
        print(output)
        return status
    occupied = sum(seconds_between(job, "StartTime", "EndTime") * int(job["NumCPUs"]) for job in jobs)
    waited = [seconds_between(job, "SubmitTime", "StartTime") for job in jobs]
    print(f"{len(commands)} jobs in {len(jobs)} submissions, which waited up to {max(waited):.0f} s")
    print(f"occupied for {occupied:.0f} s, of which commands took {sum(commands):.0f} s")
    print(f"overhead {occupied / sum(commands) - 1:.0%} of the work, {occupied - sum(commands):.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
