"""ConeRank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from pipeline_lib.learners.declaration import Learner, PlainFeatures, Selecting
from pipeline_lib.settings import Positive, Rising, Whole

if TYPE_CHECKING:
    from pipeline_lib.learners.models import Trained
    from pipeline_lib.ranking_data import RankingData


class ConeSettings(Selecting):
    """ConeRank: Algorithm 1 over the training queries in random order, ranking with the linear score."""

    basis: Rising = Field((10,), description="K: the best on the validation part is kept")
    method: Literal["sg", "sg-printed", "eg", "eg-linear", "exact"] = Field(
        "sg", description="sg, eg, eg-linear, exact, or sg-printed (docs/errata.md, letter W)"
    )
    step: Positive | None = Field(None, description="mu: a number, or null for the published one")
    passes: Whole = Field(30, description="at most; the number that is best on the validation part is kept")
    fold_steps: Whole = Field(10, description="of a pair's folding-in, at most")
    restarts: Whole = Field(2, description="random starts; the best on the validation part is kept")
    alpha: Positive = Field(1.0, description="of eq. 5")
    rho: Positive | None = Field(None, description="of eq. 5; null: sqrt(features)")
    c: Positive | None = Field(None, description="||u_k|| at most this; null: 2 rho")
    weighted: bool = Field(True, description="pairs weigh as much as their labels differ")
    fold_in: Literal["gradient", "least-squares"] = Field(
        "gradient", description="prediction: gradient or least-squares"
    )
    features: PlainFeatures = Field("standardised", description="or raw")


def _train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Any) -> Trained:
    from pipeline_lib.learners import cone

    return cone.train(train, validation, settings, seed)


LEARNER = Learner(
    _train,
    ConeSettings,
    formula="min_U  mean of φ_j min_w ||z_j − U w||^2 over pair differences z_j,  w on the simplex, ||u_k|| ≤ c",
    seconds=lambda settings: 0.01 * settings.passes * settings.restarts * sum(settings.basis),
)
