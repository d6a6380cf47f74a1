"""Run a command of the project: ``python -m pipeline_lib COMMAND ...``."""

import atexit
import contextlib
import os
import signal
import sys
from types import TracebackType

# One thread per job, jobs in parallel: sums in a fixed order, and no job slows another. This must happen before
# numpy and polars are imported, and it overrides the environment because results may not depend on it.
for _library in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMBA_NUM", "POLARS_MAX"):
    os.environ[f"{_library}_THREADS"] = "1"

_status = 1
_print_error = sys.excepthook


def _end_in_words(kind: type[BaseException], error: BaseException, place: TracebackType | None) -> None:
    """Print an error that ends the process; for a person who interrupts it, where it was is of no use."""
    if issubclass(kind, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
    else:
        _print_error(kind, error, place)


sys.excepthook = _end_in_words


def _leave() -> None:
    """End the process at once, without finalising the interpreter.

    While that is done, a thread of pyarrow that still holds a file which Python has opened, because the job ended as
    soon as it had read it, would abort the process ("terminate called without an active exception").
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(_status)


from pipeline_lib.cli import main


def run() -> None:
    """Run the command of this process, and end it with the status of the command."""
    global _status
    atexit.register(_leave)
    try:
        _status = main()
    except SystemExit as end:  # of argparse, after an explanation of its options or of what is wrong with them
        _status = end.code if isinstance(end.code, int) else int(bool(end.code))
    except KeyboardInterrupt:
        _status = 128 + signal.SIGINT
        raise
    raise SystemExit(_status)


if __name__ == "__main__":
    run()
