"""How is a command line turned into a call of one command's module?

Every module of ``pipeline_lib.commands`` is one command; its first docstring line is the help, ``add_arguments``
declares its arguments and ``run`` does the work. Only the module of the given command is imported, so that a job starts
quickly and depends on the code of its own command only.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from pipeline_lib import compiled_cache, progress, storage
from pipeline_lib.errors import DamagedFileError, PipelineError, hint
from pipeline_lib.files import is_full

COMMANDS_FOLDER = Path(__file__).parent / "commands"


def command_names() -> list[str]:
    """The commands there are, sorted: the modules of ``pipeline_lib.commands`` with ``-`` for ``_``."""
    return sorted(path.stem.replace("_", "-") for path in COMMANDS_FOLDER.glob("[a-z]*.py"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the process's exit status.

    Errors that a user can correct are printed in one line, and the status is 1; for a wrong command line it is 2.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("-h", "--help"):
        print(_overview())
        return 0 if given else 2
    name, names = given[0], command_names()
    if name not in names:
        print(f"error: unknown command {name!r}; {hint(name, names)}", file=sys.stderr)
        return 2
    module = importlib.import_module(f"pipeline_lib.commands.{name.replace('-', '_')}")
    parser = argparse.ArgumentParser(
        prog=f"python -m pipeline_lib {name}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    parser.add_argument("--threads", type=_count, default=1, help="how many threads work on large data; default 1")
    parsed = parser.parse_args(given[1:])
    try:
        with progress.printed(sys.stderr), _threads(parsed.threads):
            module.run(parsed)
        sys.stdout.flush()
    except DamagedFileError as error:
        print(f"error: {error}; {_repair(error.path)}", file=sys.stderr)
        return 1
    except PipelineError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of the output wants no more of it (`... | head`); Python must not try to write the rest at its end.
        _give_up_output()
        return 1
    except OSError as error:
        if not is_full(error):
            raise
        # Errors about files of the project name the file; what remains is the output, which goes to the log of a job.
        _give_up_output()
        print(f"error: {error.filename or 'standard output'}: cannot be written, the disk is full", file=sys.stderr)
        return 1
    except Exception as error:
        damaged = compiled_cache.remove_damaged(error)
        if not damaged:
            raise
        print(
            f"error: {damaged[0]}: damaged: a function that numba compiled earlier; this file and {len(damaged) - 1} "
            "others like it were removed: start again, and the functions are compiled anew",
            file=sys.stderr,
        )
        return 1
    return 0


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, found {text}")
    return number


def _threads(number: int) -> contextlib.AbstractContextManager[None]:
    """Let so many threads work on blocks of documents."""
    if number == 1:
        return contextlib.nullcontext()
    # By name: commands that work on no documents do not depend on how these are divided.
    found: contextlib.AbstractContextManager[None] = importlib.import_module("pipeline_lib.query_blocks").threads(
        number
    )
    return found


def _give_up_output() -> None:
    """Discard what remains to be printed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _repair(path: Path) -> str:
    """Rename a damaged file, so that the next run makes it again, and state how to make it."""
    again = f"`snakemake --cores 1 {shlex.quote(str(path))}`, with the --configfile of the study, makes this file alone"
    moved = storage.set_aside(path)
    if moved is None:
        return f"move or delete it, then start the run again; {again}"
    return f"it was moved to {moved}: start the run again, which makes {path.name} and what follows from it; {again}"


def _overview() -> str:
    lines = ["usage: python -m pipeline_lib COMMAND [--help] ...", "", "commands:"]
    for name in command_names():
        source = (COMMANDS_FOLDER / f"{name.replace('-', '_')}.py").read_text(encoding="utf-8")
        summary = (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
        lines.append(f"  {name:<20} {summary}")
    return "\n".join(lines)
