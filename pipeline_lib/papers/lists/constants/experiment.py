"""Are the constants that the bounds on long lists rest on as large as stated, and no larger?

`lists`: Proposition 1, section 3.3, the exact constants of all surrogates, and Theorem 3.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, product
from typing import Annotated, Any

from annotated_types import Le

from pipeline_lib import surrogates
from pipeline_lib.core import progress
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Positive, Rising, Settings, Sizes, Whole
from pipeline_lib.data.rows import Count, Field, FromOne, FromZero, OnlyInterval, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.papers.lists.intervals import FITTED, of_power
from pipeline_lib.surrogates.base import Surrogate, What
from pipeline_lib.theory import constants as known
from pipeline_lib.theory import invariance

# Lipschitz on bounded scores only; in the searches for all other losses scores are not restricted.
NEEDS_BOUND = ("kl", "rankboost", "squared", "squared-ndcg")


class ConstantsSettings(Settings):
    """The constants of every surrogate, as stated and as obtained by search."""

    listnet_lengths: Rising = Field((10, 100, 1000, 10000), description="values of m for Proposition 1")
    lengths: Sizes = Field((5, 20, 100), description="values of m in the searches for all surrogates")
    ranksvm_lengths: Annotated[Sizes, FITTED] = Field(
        (5, 10, 20, 50, 100, 200, 500, 1000), description="values of m from which RankSVM's exponent is fitted"
    )
    largest_labels: Annotated[tuple[Annotated[Whole, Le(30)], ...], *Rising.__metadata__] = Field(
        (1, 4), description="values of y_max in all searches"
    )
    score_bound: Positive = Field(2.0, description="largest ||s||_inf, for constants that need a bound on the scores")
    restarts: Whole = Field(1, description="restarts of each search")


class Constant(
    Row,
    table="tables/lists-constants",
    key=("part", "surrogate", "sigma", "k", "m", "y_max", "constant", "score_bound"),
):
    """A constant of one surrogate over lists of at most m documents: stated, exact, and obtained by search."""

    part: str = Field(description="what it is for: Proposition 1, the growth of one surrogate, or all surrogates")
    surrogate: str = Field(description="surrogate whose constant it is")
    sigma: FromZero | None = Field(description="width sigma of SmoothDCG; missing for surrogates without one")
    k: FromOne | None = Field(description="cut-off k of the surrogate; missing where it has none")
    m: FromOne = Field(description="documents of the longest list")
    y_max: FromOne = Field(description="largest label; labels are 0 to y_max")
    constant: str = Field(description="lipschitz-linf, lipschitz-l2, smoothness, or bound, the largest absolute value")
    score_bound: FromZero | None = Field(description="largest ||s||_inf of the search; missing where scores are free")
    stated: FromZero = Field(description="constant with which bounds are computed")
    exact: FromZero | None = Field(description="supremum by a proof; missing where none is known")
    searched: FromZero = Field(description="largest value that the search found, a lower estimate of the supremum")


class Growth(Row, table="tables/lists-ranksvm", key=("surrogate",)):
    """The power of m with which the Lipschitz constant of RankSVM grows."""

    surrogate: str = Field(description="surrogate whose constant it is")
    exponent: OnlyInterval = Field(description="power of m of the largest l1 norm that was found")
    freedom: FromOne = Field(description="degrees of freedom of the interval: lengths of lists minus 2")


class Invariance(Row, table="tables/lists-invariance", key=("m", "d")):
    """The dimension of the permutation-invariant linear maps from features to scores (Theorem 3)."""

    m: FromOne = Field(description="documents of a list")
    d: FromOne = Field(description="features of a document")
    dimension: Count = Field(description="dimension of the space of these maps, by the rank of the constraints")


def measure(job: Job) -> Iterator[Row]:
    """The rows of all three tables."""
    asked = job.settings, job.seed
    yield from chain(proposition_1(*asked), ranksvm_growth(*asked), constants_of_all(*asked), theorem_3())


@dataclass
class _Searches:
    """The searches for the constants of one surrogate, for lists of rising lengths."""

    settings: ConstantsSettings
    seed: int
    part: str
    loss: Surrogate
    found: dict[tuple[What, int], known.Found] = field(default_factory=dict)
    """What was found for the shorter lists, for each constant and largest label."""

    def row(self, what: What, stated: float, m: int, y_max: int, score_bound: float | None = None) -> Constant:
        """The constant for lists of at most ``m`` documents."""
        given: dict[str, Any] = {"m": m, "y_max": y_max, "score_bound": score_bound}
        loss = self.loss
        options = (str(getattr(loss, name, "")) for name in ("sigma", "k"))
        rng = generator(self.seed, "lists-constants", loss.name, *options, m, y_max, what)
        shorter = self.found.get((what, y_max))
        found = known.search(loss, what=what, rng=rng, restarts=self.settings.restarts, shorter=shorter, **given)
        self.found[what, y_max] = found
        return Constant(
            **given,
            part=self.part,
            surrogate=loss.name,
            sigma=getattr(loss, "sigma", None),
            k=getattr(loss, "k", None),
            constant=what,
            stated=stated,
            exact=known.supremum(loss, what=what, **given),
            searched=found.value,
        )


def proposition_1(settings: ConstantsSettings, seed: int) -> Iterator[Constant]:
    """ListNet's G and H, by search, for lists of the given lengths, and those that bounds are computed with."""
    loss = surrogates.create("listnet")
    searches = _Searches(settings, seed, "listnet", loss)
    for m, y_max in product(settings.listnet_lengths, settings.largest_labels):
        yield searches.row("lipschitz-linf", loss.lipschitz(m, y_max), m, y_max)
        yield searches.row("smoothness", loss.smoothness(m, y_max), m, y_max)


def ranksvm_growth(settings: ConstantsSettings, seed: int) -> Iterator[Constant | Growth]:
    """RankSVM's G, by search, and the exponent in m that is fitted to it."""
    loss, largest = surrogates.create("ranksvm"), dict.fromkeys(settings.ranksvm_lengths, 0.0)
    searches = _Searches(settings, seed, "ranksvm", loss)
    for y_max, m in product(settings.largest_labels, settings.ranksvm_lengths):
        found = searches.row("lipschitz-linf", loss.lipschitz(m, y_max), m, y_max)
        # One exponent: m^2/2 - 1/2 or m^2/2 is the supremum whatever the largest label.
        largest[m] = max(largest[m], found.searched)
        yield found
    # Two parameters are fitted to one point for every length.
    exponent = of_power(list(largest), list(largest.values()))
    yield Growth(surrogate=loss.name, exponent=exponent, freedom=len(largest) - 2)


def constants_of_all(settings: ConstantsSettings, seed: int) -> Iterator[Constant]:
    """G, G^CW, H and B of every surrogate, stated and by search."""
    for name in progress.counted(surrogates.NAMES, "surrogates"):
        loss = surrogates.create(name)
        searches = _Searches(settings, seed, "all", loss)
        bound = settings.score_bound if name in NEEDS_BOUND else None
        for m, y_max in product(settings.lengths, settings.largest_labels):
            of = known.constants(loss, m, y_max, score_bound=bound)
            largest = known.constants(loss, m, y_max, score_bound=settings.score_bound).bound
            stated: tuple[tuple[What, float | None, float | None], ...] = (
                ("lipschitz-linf", of.lipschitz, bound),
                ("lipschitz-l2", of.lipschitz_l2, bound),
                ("smoothness", of.smoothness, bound),
                ("bound", largest, settings.score_bound),
            )
            for what, value, reach in stated:
                if value is not None:
                    yield searches.row(what, value, m, y_max, reach)


def theorem_3() -> Iterator[Invariance]:
    """The dimension of the permutation-invariant linear maps to scores."""
    for m, d in product((2, 3, 4), (1, 2, 3)):
        yield Invariance(m=m, d=d, dimension=invariance.dimension(m, d))


EXPERIMENT = Experiment(
    ConstantsSettings,
    Step(
        "constants",
        measure,
        rows=(Constant, Growth, Invariance),
        surrogates=surrogates.NAMES,
        cost=Cost(5.0, start_mb=800.0),
        seconds=lambda settings, cell: 0.1 * sum(settings.lengths) * settings.restarts,
    ),
)
