"""Where do documents come from? Every module of this folder is imported when its name is first used."""

from __future__ import annotations

import importlib
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    module = f"{__name__}.{name}"
    if not name.startswith("_"):
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:  # the module exists; something that it imports does not
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
