"""What do the papers' theorems say in numbers? There is one module for each subject, imported when it is first used.

Example
-------
>>> from pipeline_lib import theory
>>> theory.constants.constants("listnet", 100, 4).lipschitz
2.0
"""

from typing import Any

from pipeline_lib.core import submodules


def __getattr__(name: str) -> Any:
    return submodules.load(__name__, name)


def __dir__() -> list[str]:
    return submodules.names(__path__, globals())
