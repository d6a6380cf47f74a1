"""Which module and object does a name in a registry stand for?

A registry is a TOML file of lines ``name = "module:object"``. Names are data, so that adding one changes no module that
other jobs depend on, and an object is imported only when it is needed. A file ``estimates.toml`` next to the registry
states numbers for some of the names, in tables with a title each, such as what a computation costs.
"""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pipeline_lib.errors import ArgumentError, ConfigurationError, hint


def unknown(kind: str, name: object, known: Iterable[str]) -> ConfigurationError:
    """The error for a name that does not exist, which suggests the nearest one that does.

    Example
    -------
    >>> print(unknown("surrogate", "listnett", ["listnet", "ranksvm"]))
    unknown surrogate 'listnett'; did you mean 'listnet'?
    """
    return ConfigurationError(f"unknown {kind} {name!r}; {hint(name, known)}")


def check_name(name: object) -> None:
    """Raise an ArgumentError when a name is not a string.

    ``pipeline_lib.checks`` is not used here, because it imports numpy, which is not needed to look up a name.

    Example
    -------
    >>> check_name("listnet")
    """
    if not isinstance(name, str):
        raise ArgumentError(f"name: expected a string, found a {type(name).__name__}")


class Registry:
    """The names of one TOML file; ``kind`` is the word that errors use for them."""

    def __init__(self, path: Path, kind: str) -> None:
        self.kind = kind
        self._targets: dict[str, str] = tomllib.loads(path.read_text(encoding="utf-8"))
        estimates = path.with_name("estimates.toml")
        self._numbers: dict[str, dict[str, float]] = (
            tomllib.loads(estimates.read_text(encoding="utf-8")) if estimates.exists() else {}
        )

    @property
    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        return tuple(sorted(self._targets))

    def target_of(self, name: str) -> str:
        """What ``name`` stands for, as ``module:object``, without importing it."""
        check_name(name)
        if name not in self._targets:
            raise unknown(self.kind, name, self.names)
        return self._targets[name]

    def number(self, table: str, name: str, default: float) -> float:
        """What a table states for ``name``; ``default`` if it states nothing."""
        self.target_of(name)
        return self._numbers.get(table, {}).get(name, default)

    def load(self, name: str) -> Any:
        """Import the module and give the object."""
        module, _, attribute = self.target_of(name).partition(":")
        return getattr(importlib.import_module(module), attribute)
