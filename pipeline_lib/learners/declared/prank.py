"""PRank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from pipeline_lib.learners.declaration import IMPORTS, Features, Learner, Selecting, seen_by
from pipeline_lib.settings import Whole

if TYPE_CHECKING:
    from pipeline_lib.cost import Size
    from pipeline_lib.learners.ranker import Trained
    from pipeline_lib.ranking_data import RankingData


class PRankSettings(Selecting):
    """PRank, over the training documents in random order."""

    passes: Whole = Field(10, description="largest number of passes; the best number is chosen on the validation part")
    average: bool = Field(True, description="whether the mean of all iterates is the ranker; if false, the last one is")
    features: Features = Field("standardised", description="as for erm")

    def chooses(self) -> bool:
        """Whether there are several numbers of passes."""
        return self.passes > 1


def _train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Any) -> Trained:
    from pipeline_lib.learners import prank

    return prank.train(train, validation, settings, seed)


def _seconds(settings: PRankSettings, size: Size) -> float:
    # Every number of passes up to the largest is run from the start.
    inside = seen_by(settings.features, size)
    runs = settings.passes * (settings.passes + 1) / 2
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
