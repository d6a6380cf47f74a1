"""Where do documents come from? Every module of this folder is imported when its name is first used."""

from typing import Any

from pipeline_lib.core import submodules


def __getattr__(name: str) -> Any:
    return submodules.load(__name__, name)


def __dir__() -> list[str]:
    return submodules.names(__path__, globals())
