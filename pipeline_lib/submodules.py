"""How does a package provide its modules by name without importing any of them before it is used?

A package delegates the two functions to this module::

    def __getattr__(name: str) -> Any:
        return submodules.load(__name__, __path__, name)

    def __dir__() -> list[str]:
        return submodules.names(__path__, globals())
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from types import ModuleType


def load(package: str, path: Iterable[str], name: str) -> ModuleType:
    """Import the module ``name`` of ``package``, whose folders are ``path`` (its ``__path__``).

    Raises
    ------
    AttributeError
        When the package has no such module. An error of an import inside the module is not changed.

    Example
    -------
    >>> import pipeline_lib
    >>> load("pipeline_lib", pipeline_lib.__path__, "seeds").__name__
    'pipeline_lib.seeds'
    """
    if name.startswith("_") or name not in names(path):
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    return importlib.import_module(f"{package}.{name}")


def names(path: Iterable[str], defined: Iterable[str] = ()) -> list[str]:
    """List the modules in the folders ``path``, and what a package has ``defined`` already, sorted.

    Example
    -------
    >>> import pipeline_lib
    >>> "seeds" in names(pipeline_lib.__path__)
    True
    """
    return sorted({module.name for module in pkgutil.iter_modules(path)} | set(defined))
