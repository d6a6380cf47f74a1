"""How good is a ranker at least, which of several is better, how sure is that, and how many queries would it take?

Functions take runs and relevance judgements as other programs have them: see :mod:`pipeline_lib.evaluation.inputs`.
What they say is about queries like the given ones: queries count as exchangeable, and documents do not.
"""

import importlib
from typing import Any

from pipeline_lib.core import submodules

_PLACES = {
    "Certificate": "certificates",
    "Comparison": "comparison",
    "Values": "inputs",
    "certify": "certificates",
    "compare": "comparison",
    "values": "inputs",
}
"""The module of every public name, which is imported when the name is first used."""

__all__ = ["Certificate", "Comparison", "Values", "certify", "compare", "values"]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    return submodules.load(__name__, name)


def __dir__() -> list[str]:
    return submodules.names(__path__, globals())
