"""Run a command of the project: ``python -m pipeline_lib COMMAND ...``."""

from __future__ import annotations

import os

# One thread per job, jobs in parallel: sums in a fixed order, and no job slows another. This must happen before
# numpy is imported, and it overrides the environment because results may not depend on it.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_variable] = "1"

from pipeline_lib.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
