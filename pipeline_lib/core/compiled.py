"""Which machine code belongs to a function that numba compiles and keeps in a file?

Numba takes the code that it keeps for current as long as the file of the function itself is unchanged. But the code
contains the functions that it calls and the constants that it reads, wherever these are defined: an edit of
``ranking.ideal_dcg`` would leave a kernel in another module with the old sum. What :func:`njit` keeps is therefore
found by a digest of all of it. Nothing has to be told of an edit, code of different versions never mixes, and jobs,
tests and other programs that use the package need no setting.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core import caching
from numba.core.compiler_lock import global_compiler_lock

config: Any = numba.config  # its attributes are made from variables of the environment

__all__: list[str] = []  # internal: what it decorates is internal (see pipeline_lib.core.checks)

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
    before = config.CACHE_LOCATOR_CLASSES
    config.CACHE_LOCATOR_CLASSES = ",".join(f"{__name__}.{place.__name__}" for place in PLACES)
    try:
        return _by_one_process(numba.njit(cache=True, **options)(function))
    except RuntimeError:  # there is no place for the file
        return numba.njit(**options)(function)
    finally:
        config.CACHE_LOCATOR_CLASSES = before


def _by_one_process(dispatcher: Any) -> Any:
    """Let one process compile the function, while those that need it at the same time wait for the file."""
    compile, cache = dispatcher.compile, dispatcher._cache

    def alone(signature: Any) -> Any:
        with global_compiler_lock, contextlib.ExitStack() as held:
            with contextlib.suppress(OSError):  # nothing can be written, or the file system has no locks
                cache._impl.locator.ensure_cache_path()
                file = held.enter_context(Path(cache.cache_path, f"{cache._impl.filename_base}.lock").open("w"))
                fcntl.flock(file, fcntl.LOCK_EX)
            return compile(signature)

    dispatcher.compile = alone
    return dispatcher


def digest(function: FunctionType) -> str:
    """Digest what the machine code of a function follows from, as far as modules can be edited.

    That is the text of its module, the texts of the modules whose compiled functions it imports, and of those that
    these import, and the values of the constants that they name.
    """
    # Numba does not ask itself whether code that it kept was compiled with bounds checking.
    lines = {f"bounds checked: {config.BOUNDSCHECK}", *_lines(function.__module__, function.__globals__)}
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:16]


def _lines(module: str, names: dict[str, Any]) -> set[str]:
    lines = {f"{module} {_text(names['__file__'])}", *_constants(module, names)}
    for value in list(names.values()):
        if (origin := _origin(value)) is not None and origin.__module__ != module:
            lines |= _imported(origin.__module__)
        elif isinstance(value, ModuleType) and value.__name__.startswith("pipeline_lib."):
            has_kernels = any(_origin(other) is not None for other in vars(value).values())
            lines |= _imported(value.__name__) if has_kernels else set(_constants(value.__name__, vars(value)))
    return lines


@cache
def _imported(module: str) -> frozenset[str]:
    return frozenset(_lines(module, vars(sys.modules[module])))


@cache
def _text(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def _origin(value: Any) -> Any:
    """The Python function from which numba made a value, or None for what numba did not make."""
    return getattr(value, "py_func", None) or getattr(value, "_defn", None)


def _constants(module: str, names: dict[str, Any]) -> Iterator[str]:
    for name, value in list(names.items()):
        if isinstance(value, np.ndarray):
            content = hashlib.sha256(np.ascontiguousarray(value).data).hexdigest()
            yield f"{module} {name} {value.dtype} {value.shape} {content}"
        elif _is_constant(value) and not name.startswith("__"):
            yield f"{module} {name} {value!r}"


def _is_constant(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_constant, value))
    return isinstance(value, bool | int | float | str | np.generic)


class _OfThisCode(caching._CacheLocator):  # type: ignore[misc]
    """A place for machine code: a folder for what has one digest, within one that numba chooses."""

    def __init__(self, function: FunctionType, file: str) -> None:
        super().__init__(function, file)  # type: ignore[call-arg]
        self._stem = f"{Path(file).stem}-"
        self._folder = Path(super().get_cache_path(), self._stem + digest(function))  # type: ignore[safe-super, no-untyped-call]

    def get_cache_path(self) -> str:
        return str(self._folder)

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
