"""Is the scheduler there to which Snakemake's executor is about to send jobs?"""

from __future__ import annotations

import shutil

from pipeline_lib.errors import PipelineError

__all__: list[str] = []  # internal: called by the workflow alone (see pipeline_lib.checks)


def require(executor: str) -> None:
    """Refuse a run whose jobs nothing would take: the executor for SLURM waits without end where there is no SLURM.

    Raises
    ------
    PipelineError
        When ``executor`` is "slurm" and the command ``sbatch`` is not on the path.

    Example
    -------
    >>> require("local")
    """
    if executor == "slurm" and shutil.which("sbatch") is None:
        raise PipelineError(
            "expected SLURM's command sbatch, to which the profile sends all jobs, found none on this machine; "
            "start the run on a login node of the cluster, or leave the profile out to run it here"
        )
