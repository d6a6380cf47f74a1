"""What may be said of rankings and data of one's own? Each function here is a command, too."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline_lib.evaluation.examination import Findings, doctor
    from pipeline_lib.sources.pitfalls import Finding

_HOMES = {
    "Finding": "pipeline_lib.sources.pitfalls",
    "Findings": "pipeline_lib.evaluation.examination",
    "doctor": "pipeline_lib.evaluation.examination",
}
__all__ = ["Finding", "Findings", "doctor"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
