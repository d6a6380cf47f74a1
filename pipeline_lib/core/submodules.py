"""How does a package provide its modules by name without importing them itself?

What a package imports belongs to the code of every job that uses one of its modules. So that a job depends on the
modules that it names and on no others, a package delegates two functions to this module::

    def __getattr__(name: str) -> Any:
        return submodules.load(__name__, name)

    def __dir__() -> list[str]:
        return submodules.names(__path__, globals())
"""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from types import ModuleType


def load(package: str, name: str) -> ModuleType:
    """Import the module ``name`` of ``package``.

    Raises
    ------
    AttributeError
        When the package has no such module. An error of an import inside the module is not changed.

    Example
    -------
    >>> load("pipeline_lib.core", "seeds").__name__
    'pipeline_lib.core.seeds'
    """
    if not has(package, name):
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    return importlib.import_module(f"{package}.{name}")


def has(package: str, name: str) -> bool:
    """Whether ``package`` has a module ``name`` that does not begin with an underscore.

    Example
    -------
    >>> has("pipeline_lib.core", "seeds"), has("pipeline_lib.core", "sedes")
    (True, False)
    """
    return name.isidentifier() and not name.startswith("_") and find_spec(f"{package}.{name}") is not None


def names(path: Iterable[str], defined: Iterable[str] = ()) -> list[str]:
    """List the modules in the folders ``path``, and what a package has ``defined`` already, sorted.

    Example
    -------
    >>> from pipeline_lib import core
    >>> "seeds" in names(core.__path__)
    True
    """
    return sorted({module.name for module in pkgutil.iter_modules(path)} | set(defined))


def every(package: str, path: Iterable[str]) -> Iterator[ModuleType]:
    """Import all modules of ``package``, whose folders are ``path``, in the order of their names.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> any(module is surrogates.listwise for module in every("pipeline_lib.surrogates", surrogates.__path__))
    True
    """
    for name in names(path):
        yield load(package, name)
