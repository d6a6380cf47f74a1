"""With which software, on which machine and from which state of the code was a report made?"""

import importlib.metadata
import os
import platform
import subprocess
import time
from pathlib import Path
from typing import Any

from llvmlite import binding

import pipeline_lib
from pipeline_lib.core import processor
from pipeline_lib.study import planned

LIBRARIES = ("numpy", "scipy", "numba", "pandas", "polars", "pyarrow", "matplotlib", "snakemake")


def collect() -> dict[str, Any]:
    """Gather versions, machine, time and the state of the code, as plain JSON types.

    These facts differ between runs; they are shown together with the results and are never part of them.

    Example
    -------
    >>> sorted(collect())
    ['c_library', 'code', 'cores', 'instructions', 'libraries', 'machine', 'pipeline_lib', 'python', 'time']
    """
    return {
        "pipeline_lib": pipeline_lib.__version__,
        "code": planned.code_state() or code_state(Path(pipeline_lib.__file__).parent),
        "python": platform.python_version(),
        "libraries": {name: importlib.metadata.version(name) for name in LIBRARIES},
        # Last digits follow from the level of instructions, or where there is none from the processor, by LLVM's name
        # for it, and from the C library, which has the functions of mathematics.
        "machine": f"{platform.system()} {platform.machine()} {binding.get_host_cpu_name()}",
        "instructions": processor.LEVEL if processor.has_level() else "those of the processor",
        "c_library": " ".join(platform.libc_ver()).strip(),
        "cores": os.cpu_count(),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def code_state(package: Path) -> str:
    """The commit of a package, and whether it has been changed since; a remark if there is no git."""
    git = ["git", "-C", str(package)]
    try:
        commit = subprocess.check_output([*git, "rev-parse", "HEAD"], stderr=subprocess.DEVNULL, text=True)
        changed = subprocess.check_output([*git, "status", "--porcelain", "--", "."], stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return "not under version control"
    return f"{commit[:12]}{' with changes' if changed else ''}"
