"""Are the constants that the bounds on long lists rest on as large as stated, and no larger?

`lists`: Propositions 1 and 2, section 3.3, the relation of the two Lipschitz constants in section 3, Theorem 3, and
Lemmas 4, 13 and 14.
"""

import logging
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, product
from typing import Annotated, Any

import numpy as np
from annotated_types import Le

from pipeline_lib import surrogates
from pipeline_lib.core import progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Positive, Positives, Rising, Settings, Sizes, Whole
from pipeline_lib.data.rows import LOW_HIGH, Field, Interval, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.papers import score_lists
from pipeline_lib.papers.lists.intervals import FITTED, of_power
from pipeline_lib.surrogates.base import Surrogate, What
from pipeline_lib.theory import constants as known
from pipeline_lib.theory import invariance, operator_norms

_LOG = logging.getLogger(__name__)

# Lipschitz on bounded scores only; in the searches for all other losses scores are not restricted.
NEEDS_BOUND = ("kl", "rankboost", "squared", "squared-ndcg")
# With 20 ascents the largest row of some matrices of this size is missed; with 100 that was not observed.
LARGEST_MATRIX = 30
LEAST_SHARE = 1e-6
"""Of phi(s) in phi(s) + phi(s'), where phi(s) may be 0."""
NORMS = (1.0, 1.5, 2.0, 3.0, math.inf)
WAVES = "random waves"
# Smooth on all of R^m and never negative, as Lemma 14 requires.
SELF_BOUNDED: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("listnet", {}),
    ("ranknet", {}),
    ("ranknet", {"normalisation": "mean"}),
    ("squared", {}),
    ("squared-ndcg", {}),
    ("smooth-dcg", {"sign": "regret", "sigma": 1.0}),
    ("smooth-dcg", {"sign": "regret", "sigma": 0.1}),
)


class ConstantsSettings(Settings):
    """The constants of every surrogate, as stated and as obtained by search, and Lemmas 4 and 14."""

    listnet_lengths: Rising = Field((10, 100, 1000, 10000), description="values of m for Proposition 1")
    lengths: Sizes = Field((5, 20, 100), description="values of m in the searches for all surrogates")
    ranksvm_lengths: Annotated[Sizes, FITTED] = Field(
        (5, 10, 20, 50, 100, 200, 500, 1000), description="values of m from which RankSVM's exponent is fitted"
    )
    largest_labels: Annotated[tuple[Annotated[Whole, Le(30)], ...], *Rising.__metadata__] = Field(
        (1, 4), description="values of y_max in all searches"
    )
    widths: Positives = Field((0.1, 1.0), description="values of sigma for SmoothDCG")
    score_bound: Positive = Field(2.0, description="largest ||s||_inf, for constants that need a bound on the scores")
    restarts: Whole = Field(1, description="number of restarts of each search")
    matrices: Whole = Field(20, description="number of matrices for every p of Lemma 4")
    starts: Whole = Field(100, description="number of ascents for every matrix")
    lists: Whole = Field(200, ge=2, description="pairs of score vectors for every loss, m and y_max in Lemma 14")


class Constant(Row, table="tables/lists-constants"):
    """A constant of one surrogate over lists of at most m documents: stated, exact, and obtained by search."""

    part: str = Field(description="what it is for: a proposition or growth of one surrogate, or all surrogates")
    surrogate: str = Field(description="surrogate whose constant it is")
    sigma: float | None = Field(description="width sigma of SmoothDCG; missing for surrogates without one")
    k: int | None = Field(description="cut-off k of the surrogate; missing where it has none")
    m: int = Field(description="documents of the longest list")
    y_max: int = Field(description="largest label; labels are 0 to y_max")
    constant: str = Field(description="lipschitz-linf, lipschitz-l2, smoothness, or bound, the largest absolute value")
    score_bound: float | None = Field(description="largest ||s||_inf of the search; missing where scores are free")
    stated: float = Field(description="constant with which bounds are computed")
    exact: float | None = Field(description="supremum by a proof; missing where none is known")
    searched: float = Field(description="largest value that the search found, a lower estimate of the supremum")


class Growth(Row, table="tables/lists-ranksvm"):
    """The power of m with which the Lipschitz constant of RankSVM grows."""

    surrogate: str = Field(description="surrogate whose constant it is")
    exponent: Annotated[Interval, LOW_HIGH] = Field(description="power of m of the largest l1 norm that was found")
    freedom: int = Field(description="degrees of freedom of the interval: lengths of lists minus 2")


class Identity(Row, table="tables/lists-identities"):
    """One number about Theorem 3 or Lemma 4."""

    claim: str = Field(description="claim it belongs to")
    case: str = Field(description="p of the norm for Lemma 4, and empty for Theorem 3")
    m: int | None = Field(None, description="documents of a list; missing for Lemma 4")
    d: int | None = Field(None, description="features of a document; missing for Lemma 4")
    statistic: str = Field(description="what is measured")
    value: float = Field(description="its value, for Lemma 4 the largest over matrices")


class SelfBounding(Row, table="tables/lists-self-bounding"):
    """The two sides of Lemma 14 for one loss: |phi(s) - phi(s')|^2 and 6 H (phi(s) + phi(s')) ||s - s'||^2."""

    loss: str = Field(description="the loss with its options, or random waves")
    m: int = Field(description="documents of the lists")
    y_max: int | None = Field(description="largest label; missing for random waves, which have no labels")
    largest_ratio: float = Field(description="largest ratio of the left to the right side over pairs of score vectors")
    with_one_value: float = Field(description="the same with phi(s) in place of phi(s) + phi(s')")


def measure(job: Job) -> Iterator[Row]:
    """The rows of all four tables."""
    asked = job.settings, job.seed
    yield from chain(proposition_1(*asked), proposition_2(*asked), ranksvm_growth(*asked), constants_of_all(*asked))
    yield from chain(theorem_3(), lemma_4(*asked), lemma_14(*asked))


def _constant(
    settings: ConstantsSettings, seed: int, part: str, loss: Surrogate, what: What, stated: float, **given: Any
) -> Constant:
    """One row; ``given`` has m, y_max, and the largest score where there is one."""
    given = {"score_bound": None, **given}
    options = (str(getattr(loss, name, "")) for name in ("sigma", "k"))
    rng = generator(seed, "lists-constants", loss.name, *options, given["m"], given["y_max"], what)
    return Constant(
        **given,
        part=part,
        surrogate=loss.name,
        sigma=getattr(loss, "sigma", None),
        k=getattr(loss, "k", None),
        constant=what,
        stated=stated,
        exact=known.supremum(loss, what=what, **given),
        searched=known.search(loss, what=what, rng=rng, restarts=settings.restarts, **given).value,
    )


def proposition_1(settings: ConstantsSettings, seed: int) -> Iterator[Constant]:
    """ListNet's G and H, by search, for lists of the given lengths, and those that bounds are computed with."""
    loss = surrogates.create("listnet")
    for m, y_max in product(settings.listnet_lengths, settings.largest_labels):
        G, H = loss.lipschitz(m, y_max), loss.smoothness(m, y_max)
        yield _constant(settings, seed, "listnet", loss, "lipschitz-linf", G, m=m, y_max=y_max)
        yield _constant(settings, seed, "listnet", loss, "smoothness", H, m=m, y_max=y_max)


def proposition_2(settings: ConstantsSettings, seed: int) -> Iterator[Constant]:
    """SmoothDCG's G, by search, and 2 D(1) G(y_max) / sigma."""
    for sigma in settings.widths:
        loss = surrogates.create("smooth-dcg", sigma=float(sigma))
        for m, y_max in product(settings.lengths, settings.largest_labels):
            stated = loss.lipschitz(m, y_max)
            yield _constant(settings, seed, "smooth-dcg", loss, "lipschitz-linf", stated, m=m, y_max=y_max)


def ranksvm_growth(settings: ConstantsSettings, seed: int) -> Iterator[Constant | Growth]:
    """RankSVM's G, by search, and the exponent in m that is fitted to it."""
    loss, largest = surrogates.create("ranksvm"), dict.fromkeys(settings.ranksvm_lengths, 0.0)
    for y_max, m in product(settings.largest_labels, settings.ranksvm_lengths):
        stated = loss.lipschitz(m, y_max)
        found = _constant(settings, seed, "ranksvm", loss, "lipschitz-linf", stated, m=m, y_max=y_max)
        # One exponent: m^2/2 - 1/2 or m^2/2 is the supremum whatever the largest label.
        largest[m] = max(largest[m], found.searched)
        yield found
    # Two parameters are fitted to one point for every length.
    exponent = of_power(list(largest), list(largest.values()))
    yield Growth(surrogate=loss.name, exponent=exponent, freedom=len(largest) - 2)


def constants_of_all(settings: ConstantsSettings, seed: int) -> Iterator[Constant]:
    """G, G^CW, H and B of every surrogate, stated and by search."""
    for name in progress.counted(surrogates.NAMES, _LOG, "surrogates"):
        loss = surrogates.create(name)
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
                    yield _constant(settings, seed, "all", loss, what, value, m=m, y_max=y_max, score_bound=reach)


def theorem_3() -> Iterator[Identity]:
    """The dimension of the permutation-invariant linear maps to scores."""
    for m, d in product((2, 3, 4), (1, 2, 3)):
        value = float(invariance.dimension(m, d))
        yield Identity(claim="lists-thm3", case="", m=m, d=d, statistic="dimension", value=value)


def lemma_4(settings: ConstantsSettings, seed: int) -> Iterator[Identity]:
    """Both operator norms, by maximisation, against the largest p-norm of a row."""
    for p in NORMS:
        label = "inf" if math.isinf(p) else f"{p:g}"
        rng = generator(seed, "lists-constants", "lemma-4", label)
        found: dict[str, list[float]] = defaultdict(list)
        for X in _matrices(settings.matrices, rng):
            right = operator_norms.largest_row(X, p)
            stretches = operator_norms.stretch(X, p, rng=rng, restarts=settings.starts)
            excesses = [left / right - 1.0 for left in stretches]
            found["largest_relative_difference"] += map(abs, excesses)
            found["largest_relative_excess"] += [0.0, *excesses]
            # What two slips of the pen would state: the norm of the other exponent, and that of the largest column.
            dual = operator_norms.largest_row(X, operator_norms.dual_exponent(p))
            found["difference_with_dual_norm"].append(abs(stretches[0] / dual - 1.0))
            found["difference_with_columns"].append(abs(stretches[0] / operator_norms.largest_row(X.T, p) - 1.0))
        for statistic, values in found.items():
            yield Identity(claim="lists-lemma4", case=f"p = {label}", statistic=statistic, value=float(max(values)))


def _matrices(n: int, rng: np.random.Generator) -> list[Floats]:
    matrices: list[Floats] = []
    for number in range(n):
        m, d = (int(size) for size in rng.integers(1, LARGEST_MATRIX + 1, size=2))
        X = rng.normal(size=(m, d))
        kind = number % 5
        if kind == 1:
            X *= rng.random((m, d)) < 0.2
            X[0, 0] = 1.0
        elif kind == 2:
            X = np.outer(rng.normal(size=m), rng.normal(size=d))
        elif kind == 3:
            X[:] = X[0]
        elif kind == 4:
            X *= 10.0 ** rng.uniform(-6.0, 6.0, size=(m, 1))
        matrices.append(X)
    return matrices


def lemma_14(settings: ConstantsSettings, seed: int) -> Iterator[SelfBounding]:
    """The largest ratio of the two sides of the self-bounding inequality, over pairs of score vectors."""
    for name, options in SELF_BOUNDED:
        loss = surrogates.create(name, **options)
        label = ", ".join([name, *(f"{key} {value}" for key, value in options.items())])
        for m, y_max in product(settings.lengths, settings.largest_labels):
            rng = generator(seed, "lists-constants", "lemma-14", label, m, y_max)
            yield _self_bounding(label, m, y_max, _of_loss(loss, settings.lists, m, y_max, rng))
    for m in (1, *settings.lengths):
        rng = generator(seed, "lists-constants", "lemma-14", WAVES, m)
        yield _self_bounding(WAVES, m, None, _of_waves(settings.lists, m, rng))


def _self_bounding(loss: str, m: int, y_max: int | None, largest: Floats) -> SelfBounding:
    ratio, of_one = map(float, largest)
    return SelfBounding(loss=loss, m=m, y_max=y_max, largest_ratio=ratio, with_one_value=of_one)


def _largest(
    values: Callable[[Floats], Floats], scores: Floats, others: Iterable[Floats], smoothness: float | Floats
) -> Floats:
    """The largest ratio of the two sides, and the largest with phi(s) alone in place of phi(s) + phi(s')."""
    largest, here = np.zeros(2), values(scores)
    for other in others:
        there, moved = values(other), np.abs(scores - other).max(axis=1)
        ratio = known.self_bounding_ratio(here, there, moved, smoothness)
        share = np.divide(here, here + there, out=np.ones_like(here), where=here + there > 0.0)
        largest = np.maximum(largest, [ratio.max(), (ratio / np.maximum(share, LEAST_SHARE)).max()])
    return largest


def _peaks(directions: Floats) -> Floats:
    return np.asarray(np.maximum(np.abs(directions).max(axis=1, keepdims=True), 1e-300))


def _of_loss(loss: Surrogate, n: int, m: int, y_max: int, rng: np.random.Generator) -> Floats:
    scores, y = score_lists.mixed_lists(n, m, y_max, rng)
    flat, labels, offsets = score_lists.stacked(scores, y)
    slopes = loss.gradient(flat, labels, offsets).reshape(scores.shape)
    # Down the gradient, where the loss falls fastest for its distance; sign steps are that in the maximum norm.
    directions = [slopes, np.sign(slopes), rng.normal(size=scores.shape)]
    others = (scores - 10.0 ** rng.uniform(-6.0, 3.0, size=(len(scores), 1)) / _peaks(d) * d for d in directions)
    return _largest(lambda s: loss.value(s.ravel(), labels, offsets), scores, others, loss.smoothness(m, y_max))


def _of_waves(n: int, m: int, rng: np.random.Generator) -> Floats:
    # n losses of one to three waves each, with a, b, c at random.
    a = rng.exponential(size=(n, 3)) * (np.arange(3) < rng.integers(1, 4, size=(n, 1)))
    b, c = rng.normal(size=(n, 3, m)), rng.uniform(0.0, 2.0 * math.pi, size=(n, 3))
    smoothness = (a * np.abs(b).sum(axis=2) ** 2).sum(axis=1)

    def phases(scores: Floats) -> Floats:
        return np.asarray((b @ scores[:, :, None])[:, :, 0] + c)

    def values(scores: Floats) -> Floats:
        # 1 - cos x = 2 sin^2(x / 2) is as exact near its zeros as elsewhere.
        return np.asarray((2.0 * a * np.sin(0.5 * phases(scores)) ** 2).sum(axis=1))

    scores = rng.normal(size=(n, m))
    slopes = ((a * np.sin(phases(scores)))[:, None, :] @ b)[:, 0, :]
    directions = [slopes, np.sign(slopes), rng.normal(size=(n, m))]
    others = (scores - 10.0 ** rng.uniform(-6.0, 3.0, size=(n, 1)) * (d / _peaks(d)) for d in directions)
    return _largest(values, scores, others, smoothness)


EXPERIMENT = Experiment(
    ConstantsSettings,
    (
        Step(
            "constants",
            measure,
            rows=(Constant, Growth, Identity, SelfBounding),
            surrogates=surrogates.NAMES,
            cost=Cost(5.0, start_mb=800.0),
            seconds=lambda settings, cell: 0.1 * sum(settings.lengths) * settings.restarts,
        ),
    ),
)
