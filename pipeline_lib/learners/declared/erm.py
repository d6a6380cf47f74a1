"""Regularised empirical risk minimisation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from pipeline_lib import surrogates
from pipeline_lib.learners.declaration import (
    IMPORTS,
    Ball,
    Features,
    Learner,
    Radius,
    Regularisation,
    Selecting,
    Tolerance,
    seen_by,
    several,
)
from pipeline_lib.settings import Whole

if TYPE_CHECKING:
    from pipeline_lib.cost import Size
    from pipeline_lib.learners.ranker import Trained
    from pipeline_lib.ranking_data import RankingData


class ErmSettings(Selecting):
    """Regularised empirical risk minimisation: l2/2 ||w||^2 + mean surrogate loss over queries."""

    l2: Regularisation = Field(
        (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0),
        description="l2, or several values, of which the best is chosen on the validation part",
    )
    radius: Radius = Field(None, description="largest ||w||; null means no limit")
    ball: Ball = Field("l2", description="the norm that the radius limits: l2 or l1")
    tol: Tolerance = Field(1e-6, description="certified relative gap between the objective and its minimum")
    sublists: Whole | None = Field(
        None, description="cut training lists at random into lists of about so many documents; null means whole lists"
    )
    features: Features = Field(
        "standardised", description="standardised, raw, or {kernel: gaussian, components: 300, bandwidth: median}"
    )

    def chooses(self) -> bool:
        """Whether there are several l2."""
        return several(self.l2)


def _train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Any) -> Trained:
    from pipeline_lib.learners import erm

    return erm.train(train, validation, settings, seed)


# Seconds to import the solvers, besides those of every learner.
SOLVERS = 0.3


def _seconds(settings: Any, size: Size) -> float:
    # Every l2 takes some passes over the features, and second derivatives or cutting planes, which grow with d too.
    inside = seen_by(settings.features, size)
    passes = surrogates.repeats(settings.surrogate) * (1.2e-8 * inside.cells + 2e-7 * inside.documents)
    each = passes + 5e-11 * surrogates.effort(settings.surrogate) * inside.cells * inside.features
    return IMPORTS + SOLVERS + len(settings.l2) * each


LEARNER = Learner(
    _train,
    ErmSettings,
    formula=r"\min_w \; \frac{\lambda}{2} \lVert w \rVert^2 + \frac{1}{n} \sum_{q=1}^{n} \varphi(X_q w, y_q)",
    with_surrogate=True,
    seconds=_seconds,
)
