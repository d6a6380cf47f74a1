"""Learning to rank, its surrogates, learners and generalization bounds, as the papers state them.

The package's parts are imported when they are first used, so that a command pays only for what it needs::

    from pipeline_lib import RankingData, metrics, surrogates, learners, sources, theory, evaluation
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline_lib import evaluation, learners, metrics, sources, statistics, surrogates, theory
    from pipeline_lib.data.ranking_data import RankingData

__version__ = "0.1.0"
__all__ = [
    "RankingData",
    "__version__",
    "evaluation",
    "learners",
    "metrics",
    "sources",
    "statistics",
    "surrogates",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name == "RankingData":
        return importlib.import_module("pipeline_lib.data.ranking_data").RankingData
    if name in __all__:
        return importlib.import_module(f"pipeline_lib.{name}")
    raise AttributeError(f"module 'pipeline_lib' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
