"""Is the scheduler there to which Snakemake's executor is about to send jobs?"""

from __future__ import annotations

import os
import shutil

from pipeline_lib.core.errors import PipelineError

__all__: list[str] = []  # internal: called by the workflow alone (see pipeline_lib.core.checks)


def require(executor: str) -> None:
    """Refuse a run whose jobs nothing would take: the executor for SLURM waits without end where there is no SLURM.

    Raises
    ------
    PipelineError
        When ``executor`` is "slurm" and the command ``sbatch`` is not on the path, or cannot read its configuration.

    Example
    -------
    >>> require("local")
    """
    if executor != "slurm":
        return
    if shutil.which("sbatch") is None:
        raise PipelineError(
            "expected SLURM's command sbatch, to which the profile sends all jobs, found none on this machine; "
            "start the run on a login node of the cluster, or leave the profile out to run it here"
        )
    settings = os.environ.get("SLURM_CONF")
    if settings and not os.access(settings, os.R_OK):
        raise PipelineError(
            f"the variable SLURM_CONF: expected the file with SLURM's configuration, found {settings!r}, which cannot "
            "be read; correct or unset the variable, or load the module that provides SLURM"
        )
