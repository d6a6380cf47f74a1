"""What happens when a public function is called with arguments that make no sense? Run as a process of its own.

    python tests/core/misuse.py --calls 3000 --seed 0

finds all public functions, classes and methods of the names that ``pipeline_lib`` offers by introspection, takes good
arguments from the example in each one's docstring, spoils one or two of them, and calls. The methods of surrogates
share their arguments; what else has no example is not called. Allowed are a result and an error that names an argument;
the process prints everything else as JSON, a line per finding, and ``done`` at the end. What it is about to call goes
to the standard error first, so that whoever started the process knows what killed it.
"""

import argparse
import contextlib
import copy
import dataclasses
import doctest
import functools
import importlib
import inspect
import json
import math
import os
import pkgutil
import random
import re
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

import pipeline_lib
from pipeline_lib import RankingData, learners, surrogates
from pipeline_lib.core.errors import PipelineError, printable
from pipeline_lib.core.settings import Settings
from pipeline_lib.data.ranking_data import Standardisation
from pipeline_lib.surrogates.base import INTERNAL, Surrogate

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.fuzz import plain_values

SECONDS_PER_CALL = 60
"""Seconds of processors, which other work on the machine does not use up."""
MEMORY = 6 << 30


# --- What is public? ----------------------------------------------------------------------------------------------


def modules() -> Iterator[ModuleType]:
    """The modules of the package's public names, and those of its packages."""
    for name in pipeline_lib.__all__:
        module = getattr(pipeline_lib, name)
        if inspect.ismodule(module):
            yield module
            for info in pkgutil.iter_modules(getattr(module, "__path__", [])):
                yield importlib.import_module(f"{module.__name__}.{info.name}")


def names_of(module: ModuleType) -> list[str]:
    """The public names that a module itself defines; one with an empty ``__all__`` is internal."""
    listed = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
    return [name for name in listed if getattr(getattr(module, name), "__module__", None) == module.__name__]


def public() -> dict[str, Callable[..., Any]]:
    """All public functions, classes that take arguments, and methods, by name; a method takes its object first."""
    callables: dict[str, Callable[..., Any]] = {}
    for module in modules():
        short = module.__name__.removeprefix("pipeline_lib.")
        for name in names_of(module):
            thing = getattr(module, name)
            if inspect.isfunction(thing):
                callables[f"{short}.{name}"] = thing
            elif inspect.isclass(thing):
                callables |= {f"{short}.{name}{ending}": method for ending, method in of_class(thing).items()}
    for name in learners.NAMES:
        callables[f"learners.{name}.settings.parse"] = learners.get(name).settings.parse
    callables |= {f"RankingData{ending}": method for ending, method in of_class(RankingData).items()}
    callables |= {f"Standardisation{ending}": method for ending, method in of_class(Standardisation).items()}
    return {name: function for name, function in sorted(callables.items()) if parameters(function)}


def of_class(kind: type) -> dict[str, Callable[..., Any]]:
    """A class itself, under "", and its public methods."""
    if getattr(kind, "_is_protocol", False) or issubclass(kind, Exception | Warning):
        return {}
    if issubclass(kind, Settings):
        return {".parse": kind.parse}  # the rest is pydantic's
    callables: dict[str, Callable[..., Any]] = {}
    abstract = inspect.isabstract(kind)
    members = {name: inspect.getattr_static(kind, name) for name in dir(kind) if not name.startswith("_")}
    for name, member in members.items():
        if isinstance(member, classmethod | staticmethod):
            callables[f".{name}"] = getattr(kind, name)
        elif inspect.isfunction(member) and not (abstract or (issubclass(kind, Surrogate) and name in INTERNAL)):
            callables[f".{name}"] = member
    # A record that only carries results has nothing to compute with.
    record = dataclasses.is_dataclass(kind) and not (
        hasattr(kind.__init__, "__wrapped__") or hasattr(kind, "__post_init__")
    )
    if not abstract and not record:
        callables[""] = kind
    return callables


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """What a caller may give, without ``self``."""
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    given = inspect.signature(function).parameters.values()
    return [p for p in given if p.kind not in variadic and p.name != "self"]


# --- Arguments that make sense ------------------------------------------------------------------------------------


class Call(NamedTuple):
    """A function, bound to its object where it is a method, and arguments that it takes."""

    function: Callable[..., Any]
    arguments: dict[str, Any]


def known_calls() -> dict[str, Call]:
    """A call of every public function whose docstring has an example, and of all methods of surrogates."""
    calls = {}
    for name, function in public().items():
        known = example(function)
        if "self" in known and inspect.isfunction(function):
            function = functools.partial(function, known["self"])
        chosen = {p.name: known[p.name] for p in parameters(function) if p.name in known}
        for p in inspect.signature(function).parameters.values():
            chosen |= known.get(p.name, {}) if p.kind is p.VAR_KEYWORD else {}
        if chosen:
            calls[name] = Call(function, chosen)
    for name in surrogates.NAMES:
        loss = surrogates.create(name)
        for ending, method in of_class(type(loss)).items():
            if ending:
                bound = functools.partial(method, loss)
                arguments = {p.name: OF_SURROGATES[p.name] for p in parameters(bound) if p.name in OF_SURROGATES}
                with contextlib.suppress(PipelineError):  # a loss may lack a constant
                    bound(**arguments)
                    calls[f"{name}{ending}"] = Call(bound, arguments)
    return calls


OF_SURROGATES: dict[str, Any] = {
    "scores": np.linspace(-1.0, 1.0, 5),
    "y": np.array([0, 1, 2, 1, 0], np.int32),
    "offsets": np.array([0, 3, 5]),
    "X": np.linspace(-1.0, 1.0, 10).reshape(5, 2),
    "m": 2,
    "y_max": 2,
    "norm": "linf",
    "score_bound": 1.0,
    "width": 1.0,
    "factor": 2.0,
    "what": "lipschitz-linf",
}


def example(function: Callable[..., Any]) -> dict[str, Any]:
    """The arguments with which the example in a function's docstring calls it first; none where there is no example."""
    plain = inspect.unwrap(function.__init__ if inspect.isclass(function) else getattr(function, "__func__", function))
    code, found = getattr(plain, "__code__", None), {}

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code is code and not found:
            found.update({name: copied(given) for name, given in frame.f_locals.items()})

    known = dict(vars(sys.modules[function.__module__]))
    told = doctest.DocTestParser().get_doctest(function.__doc__ or "", known, "example", None, None)
    sys.setprofile(note)
    try:
        doctest.DocTestRunner(verbose=False).run(told, out=lambda text: None, clear_globs=False)
    finally:
        sys.setprofile(None)
    return found


def copied(given: Any) -> Any:
    """A copy, so that no call changes what the next one is given; of what cannot be copied, itself."""
    try:
        return copy.deepcopy(given)
    except TypeError:
        return given


# --- Arguments that make none -------------------------------------------------------------------------------------


class Thing:
    """An object that no function knows."""


ALIKE = ("\x7f", "\u2028", "\ud800", "ftp://x", "https://x")
"""Texts that an error shows in another way than they were given, so that it cannot be seen to name them."""
NONSENSE: tuple[Callable[[], Any], ...] = (
    *(lambda x=x: copy.deepcopy(x) for x in plain_values.VALUES if x not in ALIKE),
    *(lambda x=x: x for x in ("text", "a\0b", 1.5, 2**62, -1e308, 1j, (), ("x",), ["a", "b"], [10**30, 1])),
    lambda: [[1], [2, 3]],
    lambda: [[1.0, 2.0], [3.0, 4.0]],
    *(lambda x=x: x for x in (str, int, ..., np.datetime64("2020-01-01"), np.float32(2.5), np.int8(-3), np.ma.masked)),
    Thing,
    lambda: np.zeros(0),
    lambda: np.zeros((0, 2)),
    lambda: np.zeros((2, 2, 2)),
    lambda: np.array(3.5),
    lambda: np.array(["a", "b", "c"]),
    lambda: np.array([object()] * 4),
    lambda: np.array([True, False, True]),
    lambda: np.array([1 + 2j, 3.0]),
    lambda: np.array([2**63, 2**64 - 1], np.uint64),
    lambda: np.array([300, -5, 1, 0], np.int32),
    lambda: np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False]),
    lambda: np.rec.array([(1, 2.0)], names="a,b"),
    lambda: {"surrogate": 3, "l2": "x"},
    lambda: lambda *arguments: None,
    lambda: np.random.default_rng(1),
    lambda: surrogates.create("slam-ndcg"),
    lambda: RankingData.from_arrays(np.zeros((0, 2)), [], []),
    lambda: RankingData.from_arrays([[3e38], [-3e38], [1.0]], [0, 255, 1], [1, 1, 2]),
    lambda: RankingData.from_arrays(np.zeros((3, 0)), [0, 1, 1], [1, 1, 2]),
)


def spoiled(good: Any, rng: random.Random) -> Any:
    """A version of a good value that is not good, or nonsense of any kind."""
    ways: list[Callable[[Any], Any]] = []
    if isinstance(good, np.ndarray | list | tuple) and np.size(good):
        ways = [*SPOILERS] * 3
    elif isinstance(good, dict):
        ways = [lambda d: {**d, rng.choice([*d, "other"]): rng.choice(NONSENSE)()}] * len(NONSENSE)
    elif isinstance(good, int | float) and not isinstance(good, bool):
        ways = [
            lambda x: -x,
            lambda x: x + 0.5,
            str,
            lambda x: [x],
            lambda x: np.array([x, x]),
            lambda x: x * 1e300,
        ] * 3
    elif isinstance(good, str):
        ways = [lambda x: x + "@", str.upper, lambda x: [x], lambda x: x.encode(), lambda x: x + "\n"] * 3
    try:
        return rng.choice([*ways, *(lambda good, make=make: make() for make in NONSENSE)])(good)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


def _with(good: Any, bad: Any) -> Any:
    array = np.array(good, float)
    array.flat[array.size // 2] = bad
    return array


SPOILERS: tuple[Callable[[Any], Any], ...] = (
    *(lambda x, bad=bad: _with(x, bad) for bad in (math.nan, math.inf, -math.inf, 1e308, -1e308, 300.0, -5.0, 0.5)),
    *(lambda x, bad=bad: _with(x, bad).astype(np.int64) for bad in (300, -5, 2.0**62, -(2.0**62))),
    lambda x: np.asarray(x)[None],
    lambda x: np.asarray(x)[..., None],
    lambda x: np.asarray(x)[:-1],
    lambda x: np.concatenate([x, x]),
    lambda x: np.asarray(x).T,
    lambda x: np.asarray(x)[::-1],
    lambda x: np.repeat(x, 2, axis=0)[::2],
    lambda x: np.asarray(x).astype(object),
    lambda x: np.asarray(x).astype(str),
    lambda x: np.asarray(x).astype(bool),
    lambda x: np.asarray(x).astype(np.float16),
    lambda x: np.asarray(x).astype(np.longdouble),
    lambda x: np.asarray(x).astype(">f8"),
    lambda x: np.asarray(x).astype(np.int8),
    lambda x: np.full(np.shape(x), 1e308),
    lambda x: np.full(np.shape(x), 1e-320),
    lambda x: np.zeros(np.shape(x)),
    lambda x: -np.asarray(x),
    lambda x: np.ma.array(x, mask=np.arange(np.size(x)).reshape(np.shape(x)) % 2 == 0),
    lambda x: np.ma.array(x, mask=False),
    lambda x: [*x, None],
    lambda x: np.asarray(x).tolist(),
    lambda x: iter(x),
    lambda x: np.matrix(np.asarray(x, float)),
)


# --- What may come of it ------------------------------------------------------------------------------------------


class TookTooLong(BaseException):
    """A call did not come back in time."""


def outcome(name: str, call: Call) -> str | None:
    """Call, and say what is wrong with what came of it, if anything."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            signal.setitimer(signal.ITIMER_PROF, SECONDS_PER_CALL)
            try:
                result = call.function(**call.arguments)
                if inspect.isgenerator(result):
                    result = [item for item, _ in zip(result, range(100), strict=False)]
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
    except (PipelineError, TypeError, ValueError, OSError) as error:
        return None if says_why(error, call) else _raised(error)
    except BaseException as error:  # whatever else is raised is a finding, unless a function of an example raised it
        last = traceback.extract_tb(error.__traceback__)[-1]
        return None if last.filename.startswith("<doctest") else _raised(error)
    if getattr(result, "certified", False) is True and not math.isfinite(getattr(result, "objective", 0.0)):
        return f"certified nonsense: {result}"
    is_nan = isinstance(result, float | np.ndarray) and np.asarray(result).dtype.kind == "f" and np.isnan(result).any()
    return "NaN" if is_nan and name not in MAY_BE_NAN else None


MAY_BE_NAN = ("metrics.ndcg", "metrics.average_precision")  # a query without relevant documents, with "skip"


def says_why(error: Exception, call: Call) -> bool:
    """Does the message name an argument, or quote one, or a part of one?"""
    message, given = str(error), list(call.arguments.values())
    if any(map(callable, given)) and not isinstance(error, PipelineError):
        return True  # a function that was given raised it
    for value in tuple(given):
        given += value.tolist() if isinstance(value, np.ndarray) and value.ndim else ()
        given += (
            [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
        )
    names = {*call.arguments, *(p.name for p in parameters(call.function))}
    named = re.search(rf"(?<!\w)({'|'.join(map(re.escape, sorted(names)))})(:|\[|,|'| =| and | \()", message)
    texts = {printable(str(one)) for one in given if isinstance(one, str | Path) and str(one)}
    quoted = isinstance(error, PipelineError) and any(text in message for text in texts | set(map(repr, given)))
    return bool(named) or quoted


def _raised(error: BaseException) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "pipeline_lib" in f.filename]
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}: {str(error)[:200]}"


# --- The process --------------------------------------------------------------------------------------------------


def main() -> None:
    """Make calls and print what is wrong, a line of JSON each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first call, to repeat one")
    parser.add_argument("--only", default="", help="only functions whose name contains this")
    chosen = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGPROF, _too_long)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        calls = {name: call for name, call in known_calls().items() if chosen.only in name}
        names = list(calls)
        for number in range(chosen.first, chosen.first + chosen.calls):
            rng = random.Random(f"{chosen.seed}/{number}")
            name = names[number % len(names)]
            misuse = misused(calls[name], rng)
            print(number, name, file=sys.stderr, flush=True)
            found = outcome(name, misuse)
            if found is not None:
                given = {key: repr(value)[:80] for key, value in misuse.arguments.items()}
                print(json.dumps({"call": number, "name": name, "given": given, "found": found}), flush=True)
    print("done")


def misused(call: Call, rng: random.Random) -> Call:
    """The same call with one or two arguments spoilt, swapped, left out or added."""
    arguments = {name: copied(value) for name, value in call.arguments.items()}
    way = rng.random()
    if len(arguments) > 1 and way < 0.1:
        first, second = rng.sample(list(arguments), 2)
        arguments[first], arguments[second] = arguments[second], arguments[first]
    elif way < 0.13:
        del arguments[rng.choice(list(arguments))]
    elif way < 0.14:
        arguments["no_such_argument"] = 1
    else:
        for key in rng.sample(list(arguments), min(len(arguments), rng.choice([1, 1, 1, 2]))):
            arguments[key] = spoiled(arguments[key], rng)
    return Call(call.function, arguments)


def _too_long(number: int, frame: Any) -> None:
    raise TookTooLong(f"no answer after {SECONDS_PER_CALL} s of work")


if __name__ == "__main__":
    main()
