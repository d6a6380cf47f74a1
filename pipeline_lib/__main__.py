"""Run a command of the project: ``python -m pipeline_lib COMMAND ...``."""

from __future__ import annotations

import os

# One thread per job, jobs in parallel: sums in a fixed order, and no job slows another. This must happen before
# numpy and polars are imported, and it overrides the environment because results may not depend on it.
for _library in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMBA_NUM", "POLARS_MAX"):
    os.environ[f"{_library}_THREADS"] = "1"

from pipeline_lib.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
