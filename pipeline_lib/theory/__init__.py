"""What do the papers' theorems say in numbers? One module a subject, imported when it is first used.

Example
-------
>>> from pipeline_lib import theory
>>> theory.constants.constants("listnet", 100, 4).lipschitz
2.0
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any


def _modules() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def __getattr__(name: str) -> Any:
    if not name.startswith("_") and name in _modules():
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return _modules()
