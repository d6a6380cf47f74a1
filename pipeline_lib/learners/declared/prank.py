"""PRank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pipeline_lib.learners.declaration import IMPORTS, Learner, Passing, seen_by

if TYPE_CHECKING:
    from pipeline_lib.cost import Size
    from pipeline_lib.learners.ranker import Trained
    from pipeline_lib.ranking_data import RankingData


class PRankSettings(Passing):
    """PRank, over the training documents in random order."""


def _train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Any) -> Trained:
    from pipeline_lib.learners import prank

    return prank.train(train, validation, settings, seed)


def _seconds(settings: PRankSettings, size: Size) -> float:
    inside, runs = seen_by(settings.features, size), settings.passes_run()
    return IMPORTS + 0.5 + 1.5e-9 * runs * inside.cells


LEARNER = Learner(
    _train,
    PRankSettings,
    formula=(
        r"w \leftarrow w + \sum_r \tau_r x, \quad b_r \leftarrow b_r - \tau_r, \quad "
        r"\tau_r = \pm 1 \text{ where } \langle w, x \rangle \text{ is on the wrong side of } b_r \text{, else } 0"
    ),
    seconds=_seconds,
)
