"""How good is a ranker at least, which of several is better, and what in the data would make any answer worthless?

Functions take runs and relevance judgements as other programs have them (:mod:`pipeline_lib.evaluation.inputs`), and
:func:`doctor` and :func:`certify_training` data with features.
What they say is about queries like the given ones: queries count as exchangeable, and documents do not.
"""

import importlib
from typing import Any

from pipeline_lib.core import submodules

_PLACES = {
    "Certificate": "certificates",
    "Comparison": "comparison",
    "Findings": "examination",
    "Plan": "planning",
    "TrainingCertificate": "pac_bayes",
    "Values": "inputs",
    "certify": "certificates",
    "certify_training": "pac_bayes",
    "compare": "comparison",
    "doctor": "examination",
    "plan_labels": "planning",
    "values": "inputs",
}
"""The module of every public name, which is imported when the name is first used."""

__all__ = [
    "Certificate",
    "Comparison",
    "Findings",
    "Plan",
    "TrainingCertificate",
    "Values",
    "certify",
    "certify_training",
    "compare",
    "doctor",
    "plan_labels",
    "values",
]


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    return submodules.load(__name__, name)


def __dir__() -> list[str]:
    return submodules.names(__path__, globals())
