"""Which machine code belongs to a function that numba compiles and keeps in a file?

Numba takes the code that it keeps for current as long as the file of the function itself is unchanged. But the code
contains the functions that it calls and the constants that it reads, wherever these are defined: an edit of
``ranking.ideal_dcg`` would leave a kernel in another module with the old sum. What :func:`njit` keeps is therefore
found by a digest of all of it. Nothing has to be told of an edit, code of different versions never mixes, and jobs,
tests and other programs that use the package need no setting.
"""

import contextlib
import dis
import fcntl
import hashlib
import logging
import os
import pickle
import shutil
import time
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core import caching
from numba.core.compiler_lock import global_compiler_lock

config: Any = numba.config  # its attributes are made from variables of the environment

__all__: list[str] = []  # internal: what it decorates is internal (see pipeline_lib.core.checks)

_LOG = logging.getLogger(__name__)
PACKAGE = Path(__file__).parents[1]
KEPT_FOR = 3600.0
"""Seconds for which code of another version is kept after its last use: jobs of a run that began before an edit, or a
copy of the package, may use it."""


def njit(function: Any = None, /, **options: Any) -> Any:
    """Compile a function as ``numba.njit`` does, with the same options, and keep the machine code in a file.

    The file is in the folder ``NUMBA_CACHE_DIR``, which copies of the package may share, else in the folder
    ``__pycache__`` beside the module, else in the user's folder of caches. Where none of them can be written, every
    process compiles the function anew.

    Example
    -------
    >>> from pipeline_lib.ranking import ideal_dcg
    >>> ideal_dcg(np.array([0, 2, 1]), np.array([1.0, 0.5]))
    3.5
    """

    if function is None:
        return partial(njit, **options)
    return _kept(numba.njit(**options)(function))


def _kept(dispatcher: Any) -> Any:
    """Keep the machine code of a function in a file, which one process makes while others that need it wait.

    Where the code is kept is decided when it is needed first: only then has everything a value that the function names.
    """
    compile = dispatcher.compile

    def alone(signature: Any) -> Any:
        with global_compiler_lock, contextlib.ExitStack() as held:
            if _enable_cache(dispatcher):
                cache = dispatcher._cache
                with contextlib.suppress(OSError):  # nothing can be written, or the file system has no locks
                    cache._impl.locator.ensure_cache_path()
                    file = held.enter_context(Path(cache.cache_path, f"{cache._impl.filename_base}.lock").open("w"))
                    fcntl.flock(file, fcntl.LOCK_EX)
            return compile(signature)

    dispatcher.compile = alone
    return dispatcher


def _enable_cache(dispatcher: Any) -> bool:
    """Let numba keep the code of a function; whether there is a place for it."""
    if isinstance(dispatcher._cache, caching.NullCache):
        before = config.CACHE_LOCATOR_CLASSES
        config.CACHE_LOCATOR_CLASSES = ",".join(f"{__name__}.{place.__name__}" for place in PLACES)
        try:
            dispatcher.enable_caching()
        except RuntimeError:  # there is no place for the file
            return False
        finally:
            config.CACHE_LOCATOR_CLASSES = before
        cache: Any = dispatcher._cache
        cache._cache_file = _CheckedFiles(cache.cache_path, cache._impl.filename_base, "")  # type: ignore[no-untyped-call]
    return True


def digest(function: FunctionType) -> str:
    """Digest what the machine code of a function follows from, as far as modules can be edited.

    That is the text of its module, the value of everything that it names, wherever it comes from, and the same of the
    functions that it calls.

    Raises
    ------
    TypeError
        When it names something of which it is not known how to digest it: code that is kept could be that of another.
    """
    # Numba does not ask itself whether code that it kept was compiled with bounds checking.
    lines = {f"bounds checked: {config.BOUNDSCHECK}, numpy {np.__version__}"}
    waiting, seen = [function], set[FunctionType]()
    while waiting:
        if (one := waiting.pop()) not in seen:
            seen.add(one)
            own, called = _own_lines(one)
            lines |= own
            waiting += called
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16]


@cache
def _own_lines(function: FunctionType) -> tuple[frozenset[str], tuple[FunctionType, ...]]:
    """What a function itself says and names, and the functions among it."""
    place = f"{function.__module__}.{function.__qualname__}"
    named = dict(_named(function.__code__, function.__globals__))
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    named |= {name: cell.cell_contents for name, cell in cells}
    named |= {f"default {number}": value for number, value in enumerate(function.__defaults__ or ())}
    called: list[FunctionType] = []
    lines = {f"{place} {name} {_described(value, f'{place}: {name}', called)}" for name, value in named.items()}
    return frozenset({f"{place} {_text(function.__code__.co_filename)}", *lines}), tuple(called)


def _named(code: CodeType, names: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What code names, such as ``K``, ``module.K`` or ``package.module.K``, with its values; no built-in functions."""
    chain, value = "", None
    for step in dis.get_instructions(code):
        if chain and step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, ModuleType):
            chain, value = f"{chain}.{step.argval}", getattr(value, step.argval, None)
            continue
        if chain:
            yield chain, value
        chain = step.argval if step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval in names else ""
        value = names.get(chain)
        if step.opname == "LOAD_GLOBAL" and step.argval == "getattr" and not chain:
            yield "getattr", NotImplemented
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _named(part, names)


def _described(value: Any, place: str, called: list[FunctionType]) -> str:
    """A value in words that are different for every other value; functions are added to those that are ``called``."""
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return f"{value.dtype.descr} {value.shape} {hashlib.sha256(np.ascontiguousarray(value).data).hexdigest()}"
    if isinstance(value, tuple):
        inner = [_described(one, f"{place}[{number}]", called) for number, one in enumerate(value)]
        return f"{type(value).__qualname__}({', '.join(inner)})"
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic | np.dtype):
        return f"{type(value).__qualname__} {value!r}"
    origin = _origin(value)
    if origin is not None or (isinstance(value, FunctionType) and value.__module__.startswith(f"{PACKAGE.name}.")):
        called.append(origin or value)
        return f"{called[-1].__module__}.{called[-1].__qualname__} {getattr(value, 'targetoptions', '')}"
    # What a library defines changes with its version alone.
    home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None) or ""
    home = home or type(value).__module__
    if value is NotImplemented or home.partition(".")[0] in ("builtins", "__main__", PACKAGE.name):
        raise TypeError(
            f"{place}: a compiled function whose machine code is kept may name numbers, texts, arrays, types and "
            f"functions, and tuples of these, found {value!r}; give it as an argument, or compile with numba.njit"
        )
    return f"{home} {getattr(value, '__qualname__', '') or getattr(value, '__name__', repr(value))}"


@cache
def _text(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def _origin(value: Any) -> Any:
    """The Python function from which numba made a value, or None for what numba did not make."""
    return getattr(value, "py_func", None) or getattr(value, "_defn", None)


class _CheckedFiles(caching.IndexDataCacheFile):  # type: ignore[misc]
    """Files of machine code that end with their checksum; one that is damaged is named, removed and compiled anew."""

    def _dump(self, obj: Any) -> bytes:
        content: bytes = super()._dump(obj)  # type: ignore[no-untyped-call]
        return content + hashlib.sha256(content).digest()

    def _load_index(self) -> dict[Any, str]:
        version = pickle.dumps(self._version, protocol=-1)
        content = self._read(Path(self._index_path), version)
        found: dict[Any, str] = {} if content is None else pickle.loads(content)[1]
        return found

    def _load_data(self, name: str) -> Any:
        content = self._read(Path(self._data_path(name)), b"")  # type: ignore[no-untyped-call]
        return None if content is None else pickle.loads(content)

    def _read(self, path: Path, head: bytes) -> bytes | None:
        """What follows the head of a file, without its checksum; nothing where there is no such file, or no more."""
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        content, stated = content[len(head) : -32] if content.startswith(head) else b"", content[-32:]
        if hashlib.sha256(content).digest() == stated:
            return content
        _LOG.warning(f"{path}: damaged machine code; it was removed, and is compiled anew")
        path.unlink(missing_ok=True)
        return None


class _OfThisCode(caching._CacheLocator):  # type: ignore[misc]
    """A place for machine code: a folder for what has one digest, within one that numba chooses."""

    def __init__(self, function: FunctionType, file: str) -> None:
        super().__init__(function, file)  # type: ignore[call-arg]
        self._stem = f"{Path(file).stem}-"
        self._folder = Path(super().get_cache_path(), self._stem + digest(function))  # type: ignore[safe-super, no-untyped-call]

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return ""  # the name of the folder says all

    def ensure_cache_path(self) -> None:
        is_new = not self._folder.exists()
        super().ensure_cache_path()  # type: ignore[no-untyped-call]
        with contextlib.suppress(OSError):
            os.utime(self._folder)
        if is_new:
            for other in self._folder.parent.glob(f"{self._stem}*"):
                with contextlib.suppress(OSError):  # another process may have removed it
                    if other.is_dir() and time.time() - other.stat().st_mtime > KEPT_FOR:
                        shutil.rmtree(other)


class Chosen(_OfThisCode, caching.UserProvidedCacheLocator):  # type: ignore[misc]
    """The folder that ``NUMBA_CACHE_DIR`` names, as if the package were there: its copies share what they compile."""

    @classmethod
    def get_suitable_cache_subpath(cls, file: str) -> str:
        return str(Path(file).parent.relative_to(PACKAGE.parent) / "__pycache__")


class BesideModule(_OfThisCode, caching.InTreeCacheLocator):  # type: ignore[misc]
    """The module's folder ``__pycache__``."""


class OfUser(_OfThisCode, caching.UserWideCacheLocator):  # type: ignore[misc]
    """The user's folder of caches."""


PLACES = (Chosen, BesideModule, OfUser)


@njit
def copy(target, source):  # type: ignore[no-untyped-def]
    """``target[:] = source`` as a loop, which numba compiles in a tenth of a second; a slice assignment takes it two.

    Example
    -------
    >>> numbers = np.zeros(3)
    >>> copy(numbers[1:], np.ones(2))
    >>> numbers
    array([0., 1., 1.])
    """
    for i in range(len(source)):
        target[i] = source[i]
