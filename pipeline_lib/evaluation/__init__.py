"""Which of several rankers is better, how sure is that, and how many queries would be needed to know?

Functions take runs and relevance judgements as other programs have them: see :mod:`pipeline_lib.evaluation.inputs`.
What they say is about queries like the given ones: queries count as exchangeable, and documents do not.
"""

import importlib
from typing import Any

from pipeline_lib.core import submodules

_PLACES = {
    "Comparison": "comparison",
    "Plan": "planning",
    "Values": "inputs",
    "compare": "comparison",
    "plan_labels": "planning",
    "values": "inputs",
}
"""The module of every public name, which is imported when the name is first used."""

__all__ = ["Comparison", "Plan", "Values", "compare", "plan_labels", "values"]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    return submodules.load(__name__, name)


def __dir__() -> list[str]:
    return submodules.names(__path__, globals())
