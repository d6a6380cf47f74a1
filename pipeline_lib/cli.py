"""How is a command line turned into a call of one command's module?

Every module of ``pipeline_lib.commands`` is one command: its docstring is the help, and the parameters of its function
``run`` are the arguments. ``measures: Annotated[Sequence[str], "names of measures"] = ()`` is the option ``--measures``
with any number of texts, and ``first: Annotated[Path, "a file"]`` before the ``*`` is an argument without a name. Only
the module of the given command is imported, so that a job starts quickly and depends on the code of its own command.
"""

import argparse
import ast
import contextlib
import importlib
import inspect
import json
import os
import shlex
import sys
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Any, Literal

from pipeline_lib import __version__
from pipeline_lib.core import origins, progress, storage
from pipeline_lib.core.errors import (
    MORE_MEMORY,
    ConfigurationError,
    DamagedFileError,
    PipelineError,
    UnsignedFileError,
    hint,
    is_refused_memory,
    printable,
)
from pipeline_lib.core.files import Output, check_outputs, is_full, is_made_by_runs

COMMANDS_FOLDER = Path(__file__).parent / "commands"
FOR_PEOPLE = (
    *("example-data", "doctor", "rank", "evaluate-run", "compare", "certify", "plan-labels", "compare-studies"),
    *("counterexamples", "check-proofs", "verify", "recompute", "record-results", "default-configuration"),
)
"""The commands that people type; the others are those of the workflow's jobs."""
RENAMED = {"witnesses": "counterexamples"}
"""Former names of commands, and those that took their place."""


def command_names() -> list[str]:
    """The commands there are, sorted: the modules of ``pipeline_lib.commands`` with ``-`` for ``_``."""
    return sorted(path.stem.replace("_", "-") for path in COMMANDS_FOLDER.glob("[a-z]*.py"))


def for_jobs() -> list[str]:
    """The commands of the workflow's jobs, sorted."""
    return [name for name in command_names() if name not in FOR_PEOPLE]


def summary(command: str) -> str:
    """What a command does, in one line: the first of its module's docstring.

    Example
    -------
    >>> summary("record-results")
    'Record what came out of a study that was run whole: workflow/recorded/STUDY.json.'
    """
    source = (COMMANDS_FOLDER / f"{command.replace('-', '_')}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the process's exit status.

    Errors that a user can correct are printed in one line, and the status is 1; for a wrong command line it is 2.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("-h", "--help"):
        print(_overview())
        return 0 if given else 2
    if given[0] == "--version":
        print(f"pipeline_lib {__version__}")
        return 0
    name, names = given[0], command_names()
    if name not in names:
        help_for_it = f"it is called {RENAMED[name]!r}" if name in RENAMED else hint(name, names)
        print(f"error: unknown command {name!r}; {help_for_it}", file=sys.stderr)
        return 2
    try:
        parsed = vars(parser(name).parse_args(given[1:]))
        _check_paths(name, parsed, force=parsed.pop("force", False))
        if code := parsed.pop("code"):
            origins.begin(code, given[: given.index("--threads")])
            _compare_input(name)
        with progress.printed(sys.stderr), _threads(parsed.pop("threads")):
            _module(name).run(**parsed)
        sys.stdout.flush()
        return 0
    except ModuleNotFoundError as error:
        if not error.name or error.name.startswith(__package__):
            raise
        all_of_them = "`python -m pip install 'pipeline_lib[workflow]'` installs what all commands need"
        print(f"error: {name} needs the package {error.name}; {all_of_them}", file=sys.stderr)
    except DamagedFileError as error:
        # All at once, because a run that makes one of them anew would fail at the next.
        for one in [error, *_other_damage(error.path)]:
            print(f"error: {_with_repair(one, name)}", file=sys.stderr)
    except PipelineError as error:
        print(f"error: {error}", file=sys.stderr)
    except BrokenPipeError:
        # The reader of the output wants no more of it (`... | head`); Python must not try to write the rest at its end.
        _give_up_output()
    except (MemoryError, ImportError, OSError) as error:
        said = _of_system(error, name)
        if said is None:
            raise
        if is_full(error):
            # What a file of the project cannot hold names the file; what remains is the output, the log of a job.
            _give_up_output()
        print(f"error: {said}", file=sys.stderr)
    return 1


def parser(name: str) -> argparse.ArgumentParser:
    """What a command accepts.

    Example
    -------
    >>> parser("counterexamples").prog
    'python -m pipeline_lib counterexamples'
    """
    module = _module(name)
    found = argparse.ArgumentParser(
        prog=f"python -m pipeline_lib {name}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parameters = inspect.signature(module.run, eval_str=True).parameters.values()
    for parameter in parameters:
        _add_argument(found, parameter)
    if any(_writes(parameter.annotation) for parameter in parameters):
        found.add_argument("--force", action="store_true", help="replace files that are there already")
    found.add_argument("--threads", type=_count, default=1, help="how many threads work on large data (default: 1)")
    found.add_argument("--code", help="digest of the command's code, which the files that it stores are to state")
    return found


def _writes(declared: Any) -> bool:
    """Whether a type is that of a file to write, or made of it."""
    return declared is Output or any(map(_writes, typing.get_args(declared)))


def _check_paths(command: str, parsed: Mapping[str, Any], *, force: bool) -> None:
    """Refuse files to write that would destroy what the command reads, each other, or other files."""
    parameters = inspect.signature(_module(command).run).parameters
    named = [
        (_called(parameters[name]), one)
        for name, value in parsed.items()
        for one in (value if isinstance(value, list) else [value])
        if isinstance(one, Path)
    ]
    for name, path in named:
        if "\0" in str(path):
            raise ConfigurationError(f"{name}: expected the name of a file, found {str(path)!r}")
    outputs = [(name, path) for name, path in named if isinstance(path, Output)]
    check_outputs(outputs, [(name, path) for name, path in named if not isinstance(path, Output)], force=force)


def _called(parameter: inspect.Parameter) -> str:
    """What a person calls an argument: its option, or the words for one that has none."""
    if parameter.kind is parameter.KEYWORD_ONLY:
        return f"--{parameter.name.replace('_', '-')}"
    return f"the argument {parameter.name}"


def _add_argument(parser: argparse.ArgumentParser, parameter: inspect.Parameter) -> None:
    """Declare the argument of one parameter: its type says what it takes, and its default whether it is required."""
    declared, text, *further = typing.get_args(parameter.annotation)
    required, default = parameter.default is parameter.empty, parameter.default
    options: dict[str, Any] = {"help": text}
    if not required:
        options["default"] = default
        if default is not False and default not in (None, (), {}):
            words = " ".join(default) if isinstance(default, tuple) else str(default)
            words = words.removeprefix(f"{Path(__file__).parents[1]}/")  # the same page wherever the project is
            options["help"] = f"{text} (default: {words.replace('%', '%%')})"
    if typing.get_origin(declared) in (UnionType, typing.Union):  # the latter of a Literal and None
        declared = next(member for member in typing.get_args(declared) if member is not NoneType)
    if typing.get_origin(declared) is Sequence:
        options["nargs"] = "+" if required else "*"
        (declared,) = typing.get_args(declared)
    elif typing.get_origin(declared) is tuple:
        options["nargs"] = len(typing.get_args(declared))
        declared = typing.get_args(declared)[0]
    if declared is bool:
        options["action"] = "store_true"
    elif typing.get_origin(declared) is Literal:
        options["choices"] = typing.get_args(declared)
    else:
        options["type"] = _json_object if typing.get_origin(declared) is Mapping else declared
    options |= further[0] if further else {}
    if parameter.kind is parameter.KEYWORD_ONLY:
        parser.add_argument(_called(parameter), required=required, **options)
    else:
        parser.add_argument(parameter.name, **options if required else {"nargs": "?", **options})


def _json_object(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"expected a JSON object, found {text!r} ({error})") from None
    if not isinstance(content, dict):
        raise argparse.ArgumentTypeError(f"expected a JSON object, found {text}")
    return content


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"pipeline_lib.commands.{name.replace('-', '_')}")


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
    blocks: Any = importlib.import_module("pipeline_lib.data.query_blocks")
    return blocks.threads(number)


def _compare_input(command: str) -> None:
    """Refuse input that other code or other settings made than the run has planned: all that there is of it."""
    wrong: list[DamagedFileError] = []
    for path, planned in origins.inputs():
        try:
            if planned is not None and path.is_file():
                storage.compare_origin(path, planned)
        except DamagedFileError as error:
            wrong.append(error)
    if wrong:
        for other in wrong[1:]:
            print(f"error: {_with_repair(other, command)}", file=sys.stderr)
        raise wrong[0]


def _other_damage(known: Path) -> Iterator[DamagedFileError]:
    """What else is damaged of the input of this job."""
    for path, planned in origins.inputs():
        if planned is not None and path != known and path.is_file():
            try:
                storage.verify(path)
            except DamagedFileError as error:
                yield error


def _of_system(error: BaseException, command: str) -> str | None:
    """What the system refused to a command, in one line; None for errors of another kind."""
    if is_refused_memory(error):
        return f"{command} was refused memory; {MORE_MEMORY}"
    if is_full(error):
        return f"{getattr(error, 'filename', None) or 'standard output'}: cannot be written, the disk is full"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{printable(str(error.filename))}: {error.strerror}"
    return None


def _give_up_output() -> None:
    """Discard what remains to be printed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _with_repair(error: DamagedFileError, command: str) -> str:
    """What is wrong, and how a damaged file is made again."""
    if isinstance(error, UnsignedFileError) and command in FOR_PEOPLE:  # a healthy file of another kind
        return f"{error.path}: {error.difference}"
    return f"{error}; {_repair(error.path, command)}"


def _repair(path: Path, command: str) -> str:
    """How to make a damaged file again; where a job has found it, it is renamed, so that the next run does so."""
    if not is_made_by_runs(path):
        return "copy it again, or make it anew with the program that wrote it"
    again = f"`snakemake --cores 1 {shlex.quote(str(path))}`, with the --configfile of the study, makes this file alone"
    moved = None if command in FOR_PEOPLE else storage.set_aside(path)
    if moved is None:
        return f"move or delete it, then start the run again; {again}"
    return f"it was moved to {moved}: start the run again, which makes {path.name} and what follows from it; {again}"


def _overview() -> str:
    lines = ["usage: python -m pipeline_lib COMMAND [--help] ...", "       python -m pipeline_lib --version"]
    for title, names in (("commands", FOR_PEOPLE), ("commands of the workflow's jobs", for_jobs())):
        lines += ["", f"{title}:", *(f"  {name:<21} {summary(name)}" for name in names)]
    return "\n".join(lines)
