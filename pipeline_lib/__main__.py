"""Run a command of the project: ``python -m pipeline_lib COMMAND ...``."""

from __future__ import annotations

import gc
import os
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

# One thread per job, jobs in parallel: sums in a fixed order, and no job slows another. This must happen before
# numpy and polars are imported, and it overrides the environment because results may not depend on it.
for _library in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMBA_NUM", "POLARS_MAX"):
    os.environ[f"{_library}_THREADS"] = "1"

# Looking for garbage as often as is usual takes a tenth of the time of importing libraries, which leave none.
gc.set_threshold(100_000, 20, 20)


class _WithoutPandas:
    """A finder of modules by which importing pandas fails as if it were not installed.

    No command uses pandas, but pyarrow imports it, wherever it is installed, as soon as it meets a Python number or
    list. This would take a tenth of a second in every job.
    """

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        # A specification, because others look for it to decide whether they may import pandas later.
        return ModuleSpec(name, self) if name == "pandas" else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave this to Python."""

    def exec_module(self, module: ModuleType) -> None:
        raise ModuleNotFoundError("commands import no pandas", name=module.__name__)


from pipeline_lib.cli import main

if __name__ == "__main__":
    sys.meta_path.insert(0, _WithoutPandas())  # type: ignore[arg-type]
    raise SystemExit(main())
