"""Run the tests of clusters: get SLURM, start it on this machine, run the project's studies on it, and stop it.

python -m tests.cluster [ARGUMENTS OF PYTEST]

With `-m cluster`, the tests of accidents are run without accounting as well, which takes some minutes more.
The exit status is that of the tests. Where SLURM cannot be had, a message says why, and the exit status is 0, or 1
with the variable ``REQUIRE_CLUSTER`` in the environment.
"""

import os
import sys
from pathlib import Path

from . import packages
from .packages import SOFTWARE

FOLDER = Path(__file__).parent


def main(arguments: list[str]) -> int:
    """Get the software, and become the process of the tests."""
    try:
        software = packages.obtain(FOLDER.parents[1] / "build/slurm")
    except packages.NotAvailableError as error:
        print(f"tests on a real cluster SKIPPED: {error}", file=sys.stderr)
        return 1 if os.environ.get("REQUIRE_CLUSTER") else 0
    command = [sys.executable, "-m", "pytest", "-m", "cluster and not slow", "--durations=10", str(FOLDER), *arguments]
    return os.execve(sys.executable, command, {**os.environ, SOFTWARE: str(software.root)})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
