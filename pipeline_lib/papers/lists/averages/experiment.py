"""How far above the truth are the covering numbers, and are closed forms at least as large as their integrals?

`lists`, Propositions 7 and 10, compared with packings obtained by search, and Corollaries 8, 11 and 16, whose closed
forms are compared with the entropy integral, minimised numerically.
"""

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from pipeline_lib import surrogates
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Positive, Positives, Settings, Sizes, Whole
from pipeline_lib.data.rows import Field, FromOne, FromZero, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.papers.lists import held_out
from pipeline_lib.papers.lists.losses import LOSS
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import entropy
from pipeline_lib.theory.constants import constants

# ListNet above the entropy of its labels reaches B = y_max + 2 W2 R_X.
Y_MAX = 2
LIPSCHITZ = SMOOTHNESS = 2.0
"""G and H of ListNet, as Proposition 1 states them."""


class AveragesSettings(Settings):
    """Covering numbers and entropy integrals (Propositions 7, 10; Corollaries 8, 11, 16)."""

    queries: Sizes = Field((30, 120), description="values of n, the number of queries in a sample")
    documents: Sizes = Field((5, 50), description="values of m, the number of documents per query")
    features: Whole = Field(10, ge=2, description="d, the number of features")
    radius: Positive = Field(2.5, description="W2 and W1, the radii of the classes")
    scales: Positives = Field((0.05, 0.1, 0.2, 0.5), description="values of eps for the packings")
    candidates: Whole = Field(2000, description="rankers among which packings are sought")
    integral_queries: Sizes = Field((100, 10**4, 10**6, 10**9, 10**12), description="values of n for closed forms")
    integral_documents: Sizes = Field((5, 50, 1000), description="values of m for closed forms")
    radii: Positives = Field((0.1, 1.0, 2.5, 10.0), description="values of W2 for that comparison")


class Packing(
    Row,
    table="tables/lists-coverings",
    key=("class", "n", "m", "eps"),
    always=("log2_packing_found <= log2_candidates",),
):
    """A packing that a search found, beside the bound on the covering number at half its distance."""

    class_: str = Field(description="ball of the rankers: l2 or l1")
    n: FromOne = Field(description="queries of the sample")
    m: FromOne = Field(description="documents of each query")
    eps: FromZero = Field(description="scale of the covering; points of the packing are more than twice as far apart")
    log2_packing_found: FromZero = Field(description="binary logarithm of the number of points of the packing")
    log2_covering_bound: FromZero = Field(description="Proposition 7 for l2 and 10 for l1, at this scale")
    log2_candidates: FromZero = Field(description="binary logarithm of the number of rankers that were tried")


class ClosedForm(Row, table="tables/lists-closed-forms", key=("corollary", "radius", "n", "m")):
    """The closed form of one corollary beside the entropy integral, minimised numerically; ||x|| <= 1."""

    corollary: FromOne = Field(description="the corollary: 8, 11 or 16")
    radius: FromZero = Field(description="radius of the ball, W2 or for Corollary 11 W1")
    n: FromOne = Field(description="queries of a sample")
    m: FromOne = Field(description="documents of each query")
    loss_bound: FromZero = Field(description="B, the largest loss")
    closed_form: FromZero = Field(description="what the corollary states")
    integral: FromZero = Field(description="entropy integral up to the largest loss, for Corollary 16 up to its root")
    cut_integral: FromZero = Field(
        description="entropy integral up to the scale from which one ranker covers the class"
    )
    alpha: FromZero = Field(description="lower limit at which the integral up to the largest loss is smallest")


def measure(job: Job) -> Iterator[Row]:
    """The rows of both tables."""
    yield from packings(job.settings, job.seed)
    yield from closed_forms(job.settings)


def bounds(corollary: int, d: int, risk: float = 1.0, **size: Any) -> dict[str, Any]:
    """The bounds of Corollary 8, 11 or 16 with ListNet's constants, for n, m, radius and feature_norm.

    The cut integral ends at the scale from which one ranker covers the class. For Corollaries 8 and 11 that is G W R,
    the largest distance of a loss from that of w = 0. In the class of Corollary 16, whose rankers have a risk of at
    most r, two losses differ by at most sqrt(12 H r) 2 W2 R_X (Lemma 14), from which any of them covers it.
    """
    B: Any = constants(LOSS, 2, Y_MAX, score_bound=size["radius"]).excess_bound
    reach = B
    if corollary == 16:
        closed = entropy.corollary_16(smoothness=SMOOTHNESS, loss_bound=B, risk=risk, **size)
        covering = entropy.proposition_15(smoothness=SMOOTHNESS, risk=risk, **size)
        reach, from_one_centre = math.sqrt(B * risk), 2.0 * covering.scale
    elif corollary == 11:
        closed = entropy.corollary_11(lipschitz=LIPSCHITZ, d=d, loss_bound=B, **size)
        covering = entropy.proposition_10(lipschitz=LIPSCHITZ, d=d, **size)
        from_one_centre = covering.reach / 8.0
    else:
        closed = entropy.corollary_8(lipschitz=LIPSCHITZ, loss_bound=B, **size)
        covering = entropy.proposition_7(lipschitz=LIPSCHITZ, **size)
        from_one_centre = covering.scale
    whole = entropy.integral(covering, size["n"], reach)
    cut = entropy.integral(covering, size["n"], min(reach, from_one_centre)).value
    return {"loss_bound": B, "closed_form": closed, "integral": whole.value, "cut_integral": cut, "alpha": whole.alpha}


def packings(settings: AveragesSettings, seed: int) -> Iterator[Packing]:
    """Packings among random rankers of both balls, and the covering numbers that Propositions 7 and 10 state."""
    loss, population = surrogates.create(LOSS), Population(PopulationSettings(features=settings.features))
    for n, m in product(settings.queries, settings.documents):
        data = population.draw(n, generator(seed, "lists-coverings", n, m, role="alone"), m)
        rng = generator(seed, "lists-coverings", "candidates", n, m)
        given: dict[str, Any] = {"n": n, "m": m, "lipschitz": LIPSCHITZ, "radius": settings.radius}
        coverings = {
            "l2": entropy.proposition_7(feature_norm=population.feature_norm, **given),
            "l1": entropy.proposition_10(feature_norm=population.feature_norm_inf, d=settings.features, **given),
        }
        for ball, covering in coverings.items():
            losses = np.array([held_out.losses(loss, data, w) for w in _candidates(settings, ball, rng)])
            for eps in settings.scales:
                axes: dict[str, Any] = {"class_": ball, "n": n, "m": m, "eps": eps}
                yield Packing(
                    **axes,
                    log2_packing_found=math.log2(entropy.packing(losses, eps)),
                    log2_covering_bound=float(covering.log2(eps)),
                    log2_candidates=math.log2(settings.candidates),
                )


def _candidates(settings: AveragesSettings, ball: str, rng: np.random.Generator) -> Floats:
    # Points on the surface come first, since they are furthest apart; the second half lies inside.
    w = rng.normal(size=(settings.candidates, settings.features))
    if ball == "l1":
        w *= rng.random(w.shape) < 0.3
        w[np.arange(len(w)), rng.integers(settings.features, size=len(w))] += rng.choice([-1.0, 1.0], len(w))
    size = np.linalg.norm(w, 2 if ball == "l2" else 1, axis=1, keepdims=True)
    depth = np.ones((len(w), 1))
    depth[len(w) // 2 :] = rng.random((len(w) - len(w) // 2, 1))
    return np.asarray(settings.radius * depth * w / size)


def closed_forms(settings: AveragesSettings) -> Iterator[ClosedForm]:
    """Corollaries 8, 11 and 16 beside their integrals, for documents in the unit ball."""
    for radius, n, m in product(settings.radii, settings.integral_queries, settings.integral_documents):
        size: dict[str, Any] = {"radius": radius, "n": n, "m": m}
        for corollary in (8, 11, 16):
            found = bounds(corollary, settings.features, **size, feature_norm=1.0)
            yield ClosedForm(corollary=corollary, **size, **found)


EXPERIMENT = Experiment(
    AveragesSettings,
    Step(
        "averages",
        measure,
        rows=(Packing, ClosedForm),
        surrogates=(LOSS,),
        cost=Cost(1.5),
        # Every candidate of both balls scores all documents; comparing their losses takes far less.
        seconds=lambda settings, cell: 2.8e-8 * settings.candidates * sum(settings.queries) * sum(settings.documents),
    ),
)
