"""ConeRank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from pipeline_lib.learners.declaration import (
    IMPORTS,
    TRAINING,
    Learner,
    PlainFeatures,
    Selecting,
    Sizes,
    listed,
    megabytes,
)
from pipeline_lib.settings import Positive, Whole

if TYPE_CHECKING:
    from pipeline_lib.cost import Size
    from pipeline_lib.learners.ranker import Trained
    from pipeline_lib.ranking_data import RankingData


class ConeSettings(Selecting):
    """ConeRank: Algorithm 1 over the training queries in random order, ranking with the linear score."""

    basis: Sizes = Field((10,), description="K, or several values, of which the best is chosen on the validation part")
    method: Literal["sg", "sg-printed", "eg", "eg-linear", "exact"] = Field(
        "sg", description="method of folding in: sg, eg, eg-linear, exact, or sg-printed (docs/errata.md, letter W)"
    )
    step: Positive | None = Field(None, description="mu, or null for the published one")
    passes: Whole = Field(30, description="largest number of passes; the best number is chosen on the validation part")
    fold_steps: Whole = Field(10, description="largest number of steps of folding in one pair")
    restarts: Whole = Field(2, le=1000, description="random starts, of which the best is chosen on the validation part")
    alpha: Positive = Field(1.0, description="alpha of eq. 5")
    rho: Positive | None = Field(None, description="rho of eq. 5; null means sqrt(features)")
    c: Positive | None = Field(None, description="largest norm of a basis vector u_k; null means 2 rho")
    weighted: bool = Field(True, description="whether pairs are weighted by the difference of their labels")
    fold_in: Literal["gradient", "least-squares"] = Field(
        "gradient", description="how documents are folded in for prediction: gradient or least-squares"
    )
    features: PlainFeatures = Field("standardised", description="standardised or raw")
    queries: Whole | None = Field(
        None, description="train on so many of the training queries, drawn at random; null means all"
    )


def _train(train: RankingData, validation: RankingData, settings: Mapping[str, Any], seed: Any) -> Trained:
    from pipeline_lib.learners import cone

    return cone.train(train, validation, settings, seed)


def _drawn(settings: ConeSettings, size: Size) -> float:
    # The share of the training queries on which it is trained
    return 1.0 if settings.queries is None else min(1.0, settings.queries / max(TRAINING * size.queries, 1.0))


def _seconds(settings: ConeSettings, size: Size) -> float:
    # About one pair in six of a query's documents has different labels. A step of folding in has a fixed cost and one
    # that grows with K d.
    pairs = _drawn(settings, size) * size.documents * size.documents_per_query / 6
    work = settings.passes * settings.restarts * settings.fold_steps * sum(listed(settings.basis))
    return IMPORTS + 3e-11 * work * pairs * (size.features + 450)


def _megabytes(settings: ConeSettings, size: Size) -> float:
    # All features that it computes with in double precision, however many they are
    return megabytes(settings, size) + 8e-6 * TRAINING * _drawn(settings, size) * size.cells


LEARNER = Learner(
    _train,
    ConeSettings,
    formula=(
        r"\min_{U:\, \lVert u_k \rVert \le c} \; \frac{1}{n} \sum_q \frac{1}{n_q} \sum_{j \le n_q} "
        r"\phi_j \min_{w \ge 0,\, \sum_k w_k = 1} \lVert z_j - U w \rVert^2"
    ),
    seconds=_seconds,
    megabytes=_megabytes,
)
