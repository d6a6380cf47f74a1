"""Run a command of the project: ``python -m pipeline_lib COMMAND ...``."""

import atexit
import contextlib
import os
import signal
import sys
from types import TracebackType

from pipeline_lib.core import handing_over, processor

# It overrides the environment: results may not depend on it.
processor.pin()

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


def _damaged_byte_code(error: BaseException) -> str | None:
    """The file of byte code that Python could not read when it imported a module, if that is what an error is about.

    A disk that was full, or a limit of file sizes, leaves such files: Python does not notice that they are cut off.
    """
    trace = error.__traceback__
    while trace is not None:
        code, local = trace.tb_frame.f_code, trace.tb_frame.f_locals
        if code.co_name == "get_code" and "importlib" in code.co_filename and local.get("bytecode_path"):
            return str(local["bytecode_path"])
        trace = trace.tb_next
    return None


def run() -> None:
    """Run the command of this process, and end it with the status of the command."""
    global _status
    handing_over.hand_over(sys.argv[1:])
    atexit.register(_leave)
    try:
        from pipeline_lib.cli import main

        _status = main()
    except (EOFError, ValueError, TypeError) as error:
        damaged = _damaged_byte_code(error)
        if damaged is None:
            raise
        os.unlink(damaged)  # where this is not allowed, the command ends with the reason
        print(
            f"{damaged}: damaged byte code; it was removed, and the command begins again", file=sys.stderr, flush=True
        )
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    except SystemExit as end:  # of argparse, after an explanation of its options or of what is wrong with them
        _status = end.code if isinstance(end.code, int) else int(bool(end.code))
    except KeyboardInterrupt:
        _status = 128 + signal.SIGINT
        raise
    raise SystemExit(_status)


if __name__ == "__main__":
    run()
