"""What do sentences and steps of proofs of `slam` say in numbers that no other computation of the paper covers?

- section 3.1: the most relevant document has the largest weight;
- sections 5 and 7.4: a ranking loss means that a less relevant document has a strictly greater score;
- section 5: Pred_t = sort(-eta sum_i X_i z_i);
- section 6: the bound of Theorem 8 is never above that of Chapelle and Wu, because L_1 <= sqrt(m) L_2;
- section 7.3: the largest 1 - NDCG for a set of active documents is that of exchanging them with the last ones;
- section 7.7: (26);
- section 7.8: ||X'||_{1->2} is at most the largest norm of a document.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Rising, Settings, Sizes, Whole, at_least
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Field, FromOne, Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.learners import perceptron
from pipeline_lib.papers import score_lists
from pipeline_lib.papers.score_lists import Labels
from pipeline_lib.papers.slam import wrong_weights
from pipeline_lib.papers.slam.ranking_losses import COMPARED, largest_losses
from pipeline_lib.ranking import GAINS, discounts
from pipeline_lib.surrogates.slam import weights
from pipeline_lib.theory import constants, operator_norms

KINDS = ("ndcg", "map", "ndcg@2")
LARGEST_LABEL = 2
SHARPLY = 0.4
"""The power of m in a wrong comparison of the constants L_1 and L_2."""

Values = dict[str, float]


class SentencesSettings(Settings):
    """Sentences and steps of proofs that the other experiments leave out."""

    lists: Annotated[Whole, Field(ge=10)] = Field(200, description="random lists for every m")
    lengths: Annotated[Rising, at_least(3)] = Field((3, 5, 10, 30), description="values of m for these lists")
    enumerated: Annotated[Rising, at_least(3)] = Field(
        (3, 4, 5), description="values of m for which all label vectors and rankings are enumerated"
    )
    constant_lengths: Sizes = Field((2, 10, 100, 1000), description="values of m for Lipschitz constants")
    sizes: Sizes = Field((10, 100, 1000, 10_000, 1_000_000), description="values of n for strongly convex functions")
    rounds: Annotated[Whole, Field(ge=2)] = Field(30, description="rounds of the perceptron whose w is written out")


class Statistic(Row, table="tables/slam-sentences", key=("claim", "kind", "m", "n", "statistic")):
    """One number that bears on a sentence of the paper; columns that do not apply are missing."""

    claim: str = Field(description="claim it belongs to")
    kind: str | None = Field(None, description="measure of the weights, or name of a surrogate")
    m: FromOne | None = Field(None, description="documents of the lists")
    n: FromOne | None = Field(None, description="queries of a sample")
    statistic: str = Field(description="what is measured")
    value: float = Field(description="the number")


def measure(job: Job) -> Iterator[Statistic]:
    """One row for every statistic."""
    for claim, where, values in _found(job.settings, job.seed):
        for name, value in values.items():
            yield Statistic(claim=claim, **where, statistic=name, value=float(value))


def _found(settings: SentencesSettings, seed: int) -> Iterator[tuple[str, dict[str, Any], Values]]:
    for m in settings.lengths:
        rng = generator(seed, "slam-sentences", m)
        for kind in KINDS:
            scores, y = score_lists.mixed_lists(settings.lists, m, LARGEST_LABEL, rng)
            yield "slam-largest-weight", {"kind": kind, "m": m}, largest_weights(y, kind)
            yield "slam-mistakes", {"kind": kind, "m": m}, leads_of_mistakes(kind, scores, y)
        yield "slam-norm-1-2", {"m": m}, stretches(m, rng)
        for kind in ("ndcg", "map"):
            yield "slam-prediction", {"kind": kind, "m": m}, predictions(settings.rounds, m, kind, rng)
    for m in settings.enumerated:
        yield "slam-thm3-exchanges", {"m": m}, exchanges(m, LARGEST_LABEL)
    for m, name in itertools.product(settings.constant_lengths, COMPARED):
        yield "slam-chapelle-wu", {"kind": name, "m": m}, constants_compared(name, m)
    for n in settings.sizes:
        yield "slam-eq26", {"n": n}, strongly_convex(n)


def largest_weights(y: Labels, kind: str) -> Values:
    """By how much a weight exceeds that of the most relevant document, and that of the next one, at most over lists.

    Of several most relevant documents, the one with the largest weight counts.
    """
    v = wrong_weights.right(y, kind)
    order = np.lexsort((-v, -wrong_weights.graded(y, kind)))
    falling = np.take_along_axis(v, order, axis=1)
    return {
        "excess_over_most_relevant": float((v.max(axis=1) - falling[:, 0]).max()),
        "excess_over_second": float((v.max(axis=1) - falling[:, 1]).max()),
    }


def leads_of_mistakes(kind: str, scores: Floats, y: Labels) -> Values:
    """The largest lead of a less over a more relevant document, at its smallest over lists with a ranking loss.

    Lists with tied scores are among them: scores are rounded to whole numbers in every second one, and equal scores are
    ranked in the order that loses most. ``smallest_lead_anywhere`` is over all lists with two different labels.
    """
    labels = wrong_weights.graded(y, kind)
    s = np.where((np.arange(len(scores)) % 2 == 0)[:, None], np.round(scores), scores)
    below = labels[:, None, :] < labels[:, :, None]
    leads = np.where(below, s[:, None, :] - s[:, :, None], -np.inf).max(axis=(1, 2))
    mistaken = largest_losses(kind, s, y) > 1e-12
    finite = np.isfinite(leads)
    return {
        "smallest_lead": float(leads[mistaken].min()),
        "smallest_lead_anywhere": float(np.maximum(leads[finite], -1.0).min()),
    }


def predictions(rounds: int, m: int, measure: str, rng: np.random.Generator) -> Values:
    """In how many rounds two formulas do not give the order in which Algorithm 1 ranks.

    ``as_printed`` sorts by -eta sum_{i < t} X_i z_i, and ``with_own_documents`` by -eta X_t sum_{i < t} z_i.
    """
    X = rng.normal(size=(rounds, m, 2))
    y = rng.integers(0, 2, size=(rounds, m))
    data = RankingData.from_arrays(X.reshape(-1, 2), y.ravel(), np.repeat(np.arange(rounds), m))
    order = np.arange(rounds)
    w = [np.zeros(2), *(perceptron.run(data, order[: t + 1], measure).w for t in range(rounds))]
    z = [w[t] - w[t + 1] for t in range(rounds)]
    differ = dict.fromkeys(("as_printed", "with_own_documents"), 0.0)
    for t in range(1, rounds):
        documents = data.X64[t * m : (t + 1) * m]
        shown = np.argsort(-(documents @ w[t]), kind="stable")
        summed = {
            "as_printed": -sum(data.X64[i * m : (i + 1) * m] @ z[i] for i in range(t)),
            "with_own_documents": -documents @ np.sum(z[:t], axis=0),
        }
        for name, scores in summed.items():
            # Sums in another order differ in their last digits.
            differ[name] += float((np.argsort(-np.round(scores, 9), kind="stable") != shown).any())
    return differ


def constants_compared(name: str, m: int) -> Values:
    """L_1 / (sqrt(m) L_2) of a surrogate's exact Lipschitz constants, and with a smaller power of m."""
    exact = [constants.supremum(name, m, LARGEST_LABEL, what) for what in ("lipschitz-linf", "lipschitz-l2")]
    known = constants.constants(name, m, LARGEST_LABEL)
    first, second = (
        a if a is not None else b for a, b in zip(exact, (known.lipschitz, known.lipschitz_l2), strict=True)
    )
    return {"ratio": first / (math.sqrt(m) * second), "ratio_to_smaller_power": first / (m**SHARPLY * second)}


def exchanges(m: int, largest_label: int) -> Values:
    """The largest 1 - NDCG less the value printed in section 7.3, over all falling label vectors and rankings.

    The active documents are those that a less relevant one precedes; i_1 > i_2 > ... are their positions. Printed is
    sum_a (G(R_{i_a}) - G(R_{m-a+1})) (D(i_a) - D(m-a+1)) / Z; ``excess_over_weights`` has the sum of their weights (9)
    in its place.
    """
    D = discounts(m)
    found = []
    for labels in itertools.combinations_with_replacement(range(largest_label, -1, -1), m):
        y = np.array(labels, np.int32)
        if y[0] == y[-1]:
            continue
        gains, v = GAINS[y], weights(y, "ndcg")
        Z = gains @ D
        for ranking in itertools.permutations(range(m)):
            loss = 1.0 - gains[list(ranking)] @ D / Z
            lowest = np.minimum.accumulate(y[list(ranking)])
            active = sorted((ranking[k] for k in range(1, m) if lowest[k - 1] < y[ranking[k]]), reverse=True)
            last = [m - 1 - a for a in range(len(active))]
            printed = sum((gains[i] - gains[j]) * (D[i] - D[j]) for i, j in zip(active, last, strict=True)) / Z
            found.append((loss - printed, loss - v[active].sum(), loss - v[active[:-1]].sum()))
    names = ("excess_over_exchanges", "excess_over_weights", "excess_over_weights_but_the_first")
    return dict(zip(names, np.max(found, axis=0).tolist(), strict=True))


def stretches(m: int, rng: np.random.Generator) -> Values:
    """||X'||_{1->2} by search, relative to the largest and to the mean norm of m documents."""
    X = rng.normal(size=(m, 5)) * rng.uniform(0.5, 1.5, size=(m, 1))
    found = operator_norms.stretch(X, rng=rng)[0]
    norms = np.linalg.norm(X, axis=1)
    return {"stretch": found, "largest_norm": float(norms.max()), "mean_norm": float(norms.mean())}


def strongly_convex(n: int, l2: float = 0.5, mean: float = 0.5) -> Values:
    """Both sides of (26) for f(w, z) = l2/2 w^2 - z w with z = -1 or 1 of mean ``mean``, over |w| <= 1/l2.

    The minimiser of a sample is its mean divided by l2, whose expected excess is (1 - mean^2) / (2 l2 n); f is
    2-Lipschitz. ``zero_excess`` is that of w = 0.
    """
    return {
        "excess": (1.0 - mean**2) / (2.0 * l2 * n),
        "bound": 4.0 * 2.0**2 / (l2 * n),
        "zero_excess": mean**2 / (2.0 * l2),
    }


EXPERIMENT = Experiment(
    SentencesSettings,
    Step(
        "sentences",
        measure,
        rows=(Statistic,),
        surrogates=("ranksvm", "structured-ndcg", "svm-map", "listnet", "slam-ndcg", "slam-map", "slam-ndcg@k"),
        cost=Cost(0.5, start_mb=400.0),
        seconds=lambda settings, cell: 1e-4 * settings.lists * len(settings.lengths),
    ),
)
