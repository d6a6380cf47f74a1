"""How good is a randomised linear ranker at least, by the queries on which it was trained alone?

Rankings by scores <w, x> depend on the direction of w only. With w the weights of a trained ranker and S = diag of
``scales``, which were fixed before the data were seen, the randomised ranker draws its weights for every query anew:

::

    prior P = N(0, S^2),    Q_s = N(s u, S^2),    u = w / ||S^-1 w||,    KL(Q_s || P) = s^2 / 2

A large s stays near the trained ranker and costs divergence; a small s is more random. Only ratios of scales matter.

**The limit.** Let m(w) in [0, 1] be the mean of the measure over all queries like the n given ones, which are
independent, and m^(w) its mean over these; m(Q), m^(Q) are means over w ~ Q, and kl is the divergence of two laws on
{0, 1} with these means. With delta = 1 - level, a = 0.1 and L the lower limit of
:func:`pipeline_lib.evaluation.betting.lower_limit` for m^(Q_s), from draws of w, at confidence 1 - a delta,

::

    lower = min {m : kl(L || m) <= (s^2 / 2 + log(xi(n) / ((1 - a) delta))) / n, m <= L}
    xi(n) = sum_{k=0..n} C(n, k) (k/n)^k (1 - k/n)^(n-k)

**Why it is valid.** Two events make it fail, whose probabilities sum to delta.

1. *Some Q has n kl(m^(Q) || m(Q)) > KL(Q || P) + log(xi(n) / ((1 - a) delta)): at most (1 - a) delta.* For a fixed w
   the values of the queries are independent with the mean m = m(w), and exp(n kl(mean || m)) is convex in each of them,
   so that of all laws with this mean its expectation is largest for values 0 and 1. There it is
   sum_k C(n, k) m^k (1 - m)^(n-k) (k/n)^k (1 - k/n)^(n-k) / (m^k (1 - m)^(n-k)) = xi(n). As P does not depend on the
   queries, X = E_P exp(n kl(m^(w) || m(w))) has an expectation of at most xi(n) as well, and by Markov's inequality
   exceeds xi(n) / ((1 - a) delta) with probability (1 - a) delta at most. Otherwise, for every Q at once,
   n E_Q kl(m^(w) || m(w)) <= KL(Q || P) + log X (Donsker and Varadhan), and kl(m^(Q) || m(Q)) is at most the mean on
   the left, as kl is convex in both arguments together.
2. *L > m^(Q_s): at most a delta.* Given the queries and the s that was chosen, the means of the draws over the queries
   are independent values in [0, 1] with the mean m^(Q_s).

If neither happens, m(Q_s) is at least min {m : kl(m^(Q_s) || m) <= ...}, which rises in m^(Q_s) >= L.

**The choice of s** costs nothing in 1., which holds for all Q at once, however w and s depend on the queries. It is the
best of s = 2^(-1), 2^(-1/2), ..., 2^8 by 100 draws of its own, which are not used for L; s whose limit would be below
the best so far even for m^ = 1 are not tried.

This is the bound of Seeger and Langford in the form of Maurer, who is quoted with xi(n) <= 2 sqrt(n) for n >= 8; the
sum itself is less, and right for every n. Prior and Q are those of Langford's bound for linear classifiers. Of these
works, the abstract of Maurer's and a part of Langford's tutorial were read; the proof above needs none of them.

References
----------
Seeger, "PAC-Bayesian generalisation error bounds for Gaussian process classification", JMLR 3 (2002); Maurer, "A note
on the PAC Bayesian theorem", arXiv cs/0411099 (2004); Langford, "Tutorial on practical prediction theory for
classification", JMLR 6 (2005).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, rel_entr, xlogy

from pipeline_lib import metrics, statistics
from pipeline_lib.core import checks
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Natural, Probability, Seed, checked
from pipeline_lib.core.errors import ArgumentError, DataError
from pipeline_lib.core.markup import count
from pipeline_lib.core.seeds import generator
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.evaluation import betting, inputs
from pipeline_lib.evaluation.certificates import SHOWN, rounded_down
from pipeline_lib.evaluation.comparison import aligned
from pipeline_lib.learners.models import LinearModel
from pipeline_lib.learners.ranker import Model, axes_of

__all__ = ["TrainingCertificate", "certify_training"]

STRENGTHS = tuple(2.0 ** (k / 2) for k in range(-2, 17))
"""Which s are tried."""
PILOT = 100
"""So many draws choose s."""
DRAWN_SHARE = 0.1
"""The share of delta with which the limit from draws may fail."""
SMALLEST_RATIO = 1e-100
"""Of scales, so that weights are finite numbers."""
_SCORES = 1 << 21
"""So many scores are ranked at a time, unless a single draw has more of them."""
_HALVINGS = 100


@dataclass(frozen=True, repr=False, eq=False)
class TrainingCertificate:
    """A lower limit of the mean of a randomised ranker; ``str()`` is a text to pass on.

    Attributes
    ----------
    model : LinearModel
        The trained ranker.
    measure : str
        Its name among :data:`pipeline_lib.metrics.NAMES`.
    queries : int
        n, the queries of training that count.
    level : float
        Confidence of the limit.
    scales : float64 array, shape (d,)
        The standard deviations of the weights, the same in prior and ranker, over the largest one.
    center : float64 array, shape (d,)
        s u, the mean of the weights of the randomised ranker, for the features as they are.
    strength : float
        s; the divergence from the prior is s^2 / 2.
    draws : int
        Draws of weights.
    mean : float
        The mean of the randomised ranker on the queries of training, over the draws.
    observed : float
        The lower limit of that mean, of which the draws are a sample.
    lower : float
        The lower limit of the mean over all queries like these.
    trained, equal : float
        What the trained ranker and equal scores reach on the queries of training.
    seed : int
        For the draws.
    notes : tuple of str
        Conventions on which the numbers rest.
    """

    model: LinearModel
    measure: str
    queries: int
    level: float
    scales: Floats
    center: Floats
    strength: float
    draws: int
    mean: float
    observed: float
    lower: float
    trained: float
    equal: float
    seed: int
    notes: tuple[str, ...]

    @property
    def informative(self) -> bool:
        """Whether the limit is above what equal scores reach on the queries of training."""
        return self.lower > self.equal

    @checked
    def predict(self, data: RankingData, *, seed: Seed) -> Floats:
        """Scores of the randomised ranker, shape (N,), with weights that are drawn anew for every query.

        Parameters
        ----------
        data : RankingData
            The documents to rank.
        seed : int or tuple
            For the weights. Calls for different queries need different seeds: with the same one they would share their
            weights.

        Raises
        ------
        DataError
            When the data have other features than those of training.
        """
        self.model.predict(data)  # whether these are the features of training
        rng = generator(*axes_of(seed), "evaluation", "randomised ranker")
        scores = []
        for block, X in data.blocks():
            drawn = self.center + self.scales * rng.standard_normal((len(block.offsets) - 1, len(self.center)))
            # As in LinearModel: every document's sum in the same order, so that equal documents have equal scores.
            scores.append(np.einsum("ij,ij->i", X, np.repeat(drawn, np.diff(block.offsets), axis=0)))
        return np.concatenate(scores)

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain JSON types but the ranker."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        arrays = {name: getattr(self, name).tolist() for name in ("scales", "center")}
        return plain | {"divergence": self.strength**2 / 2} | arrays | {"says": [*self.says()], "notes": [*self.notes]}

    def says(self) -> Iterator[str]:
        """What is certified, and what is not, in sentences."""
        yield (
            f"With {100 * self.level:g} % confidence, {self.measure} of the randomised ranker on queries like the "
            f"{count(self.queries, 'query', 'queries')} of its training is at least {rounded_down(self.lower)}."
        )
        yield (
            "The randomised ranker draws weights around those of the trained one for every query anew. The limit is "
            "not one for the trained ranker itself."
        )
        said = (
            "The limit is above that."
            if self.informative
            else "The limit is not above that, so that it does not show that anything was learned."
        )
        yield f"Equal scores reach {self.equal:.{SHOWN}f} on these queries, which is measured. {said}"
        yield (
            "Not covered: queries that are not independent draws of one distribution, as those to come must be; "
            "scales, features, a level or a seed chosen by these queries; and the best of K rankers, unless each is "
            f"certified at the level 1 - {1.0 - self.level:.3g}/K."
        )
        yield "Wrong or missing judgements, as of documents outside a pool, are taken as they are."

    def __repr__(self) -> str:
        return (
            f"TrainingCertificate({self.measure} on queries like {count(self.queries, 'query', 'queries')}: at least "
            f"{rounded_down(self.lower)} at {100 * self.level:g} %)"
        )

    def __str__(self) -> str:
        rows = [
            ("randomised", self.mean, rounded_down(self.lower)),
            ("trained", self.trained, "-"),
            ("equal scores", self.equal, "-"),
        ]
        table = [(name, f"{mean:.{SHOWN}f}", limit) for name, mean, limit in rows]
        parts = [
            f"{self.measure}, {count(self.queries, 'query', 'queries')} of training",
            aligned(("ranker", "on these queries", f"at least ({100 * self.level:g} %)"), table),
            "\n".join(self.says()),
        ]
        if self.notes:
            parts.append("\n".join(f"Note: {note}" for note in self.notes))
        return "\n\n".join(parts)


_PLAIN = (
    *("measure", "queries", "level", "strength", "draws", "mean", "observed", "lower", "trained", "equal"),
    *("informative", "seed"),
)


@checked
def certify_training(
    model: Any,
    data: RankingData,
    measure: str = "ndcg@10",
    *,
    level: Probability = statistics.LEVEL,
    scales: ArrayLike = 1.0,
    draws: Count = 1000,
    relevant_from: int = 1,
    no_relevant: metrics.NoRelevant = 0.0,
    y_max: int | None = None,
    seed: Natural = 0,
) -> TrainingCertificate:
    """A lower limit of the mean of a measure over all queries like those of training, where none were held out.

    It is one for a ranker with weights N(s u, S^2), drawn anew for every query, where u is the direction of the trained
    weights, S = diag(scales), and s is chosen on a fixed grid:

    ::

        kl(L || lower) = (s^2 / 2 + log(xi(n) / (0.9 delta))) / n,    delta = 1 - level,    xi(n) <= 2 sqrt(n)

    L is a lower limit of the ranker's mean on the n queries of training, by draws of weights. The module's
    documentation has the proof. However the ranker was found from these queries, the limit holds.

    Parameters
    ----------
    model : LinearModel, or a trained ranker or fitted estimator that has one
        With weights for d features. Its own standardisation is taken into its weights.
    data : RankingData
        The n queries on which it was trained: independent draws of one distribution, with features that depend on
        nothing but their query, so not on means or spreads over these queries. Memory is that of draws times d numbers
        and of some 100 MB, where the data are small.
    measure, relevant_from, no_relevant, y_max
        As for :func:`pipeline_lib.evaluation.inputs.values`. Equal documents count as their mean over all orders.
    level : float
        Confidence in (0, 1).
    scales : float, or array-like of shape (d,), > 0
        The sizes of weights that were thought likely before the data were seen, for the features as they are. Only
        their ratios matter, so that any single number is the same: features in the same units, as LETOR's normalised
        ones.
    draws : int
        Draws of weights; more of them bring L nearer to the mean.
    seed : int
        Another seed gives other draws, and a limit that differs little; not to be chosen by the result.

    Raises
    ------
    DataError
        When the ranker is not linear or all its weights are 0, the data have other features, their queries have
        weights or none is left, or scales are not positive or have another shape.
    ArgumentError
        When the model is no ranker of this project.
    ConfigurationError
        When the measure is unknown.

    References
    ----------
    Seeger, JMLR 3 (2002); Maurer, arXiv cs/0411099 (2004); Langford, JMLR 6 (2005).

    Example
    -------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 2))
    >>> data = RankingData.from_arrays(X, X @ [3.0, 1.0] > 1.0, np.repeat(np.arange(300), 10))
    >>> found = certify_training(LinearModel.of([3.0, 1.0]), data, draws=200)
    >>> found.lower > 0.75 > found.equal
    True
    """
    linear = _linear(model)
    found = inputs.values(
        {"trained ranker": (linear, data)}, None, measure,
        relevant_from=relevant_from, no_relevant=no_relevant, y_max=y_max,
    )  # fmt: skip
    name, least = inputs.measure_of(measure, relevant_from)
    if no_relevant == "skip":
        largest = np.maximum.reduceat(data.y, data.offsets[:-1])
        data = data.take(np.flatnonzero(largest >= (least if metrics.get(name).binary else 1)))
    direction, sizes = _direction(linear, scales)
    values = _Values(name, least, 0.0 if no_relevant == "skip" else no_relevant, y_max or int(data.y.max()))
    n, delta = data.n_queries, 1.0 - level

    def radius(strength: float) -> float:
        return (0.5 * strength**2 + math.log(_moment(n) / ((1.0 - DRAWN_SHARE) * delta))) / n

    def means(strength: float, drawn: int, purpose: str) -> Floats:
        noise = generator(seed, "evaluation", "training", purpose).standard_normal((drawn, len(sizes)))
        return values.means(data, sizes * (strength * direction + noise))

    best, strength = -1.0, STRENGTHS[0]
    for one in STRENGTHS:
        if math.exp(-radius(one)) <= best:  # the limit of a ranker that is perfect on these queries
            break
        if (limit := _smallest_mean(float(means(one, PILOT, "pilot").mean()), radius(one))) > best:
            best, strength = limit, one
    sample = means(strength, draws, "draws")
    observed = betting.lower_limit(sample, level=1.0 - DRAWN_SHARE * delta, seed=seed)
    return TrainingCertificate(
        model=linear,
        measure=name,
        queries=n,
        level=level,
        scales=sizes,
        center=strength * sizes * direction,
        strength=strength,
        draws=draws,
        mean=float(sample.mean()),
        observed=observed,
        lower=_smallest_mean(observed, radius(strength)),
        trained=float(found.values.mean()),
        equal=float(values.of_scores(data, np.zeros(data.n_documents)).mean()),
        seed=seed,
        notes=found.notes,
    )


def _linear(model: Any) -> LinearModel:
    trained = getattr(model, "ranker_", model)  # that of an estimator of scikit-learn
    inner = getattr(trained, "model", trained)
    if not isinstance(inner, Model):
        raise ArgumentError(f"model: expected a linear ranker of this project, found {checks.shown(model)}")
    if not isinstance(inner, LinearModel):
        raise DataError(
            f"model: expected a linear ranker, whose weights can be drawn, found one of the kind {inner.kind}"
        )
    return inner


def _direction(model: LinearModel, scales: ArrayLike) -> tuple[Floats, Floats]:
    """S^-1 u, of length 1, and the scales over the largest one, both for the features as they are.

    The standardisation of the model is one by the data of training, on which the prior must not depend.
    """
    given = checks.floats("scales", scales)
    sizes = np.full(model.n_features, given) if given.ndim == 0 else checks.floats("scales", given, shape=model.w.shape)
    if not (sizes > 0.0).all():
        raise DataError(f"scales: expected numbers > 0, found {sizes.min():g}")
    weights = model.w / model.scale
    if not weights.any():
        raise DataError("model: expected a weight that is not 0, found a ranker that gives equal scores")
    if sizes.min() < SMALLEST_RATIO * sizes.max():
        raise DataError(
            f"scales: expected ratios of at least {SMALLEST_RATIO:g}, found {sizes.min():g} beside {sizes.max():g}"
        )
    sizes = sizes / sizes.max()
    relative = weights / np.abs(weights).max() / sizes
    return relative / np.linalg.norm(relative), sizes


@dataclass(frozen=True)
class _Values:
    """How one measure is taken of every query."""

    name: str
    relevant_from: int
    no_relevant: float
    y_max: int

    def means(self, data: RankingData, weights: Floats) -> Floats:
        """The mean over the queries for each of K vectors of weights, shape (K, d)."""
        totals = np.zeros(len(weights))
        for block, X in data.blocks():
            first, place = _distinct(data.X[block.rows])
            equal = len(first) < len(X)
            columns = np.ascontiguousarray((X[first] if equal else X).T)
            y = data.y[block.rows]
            together = max(1, _SCORES // len(X))
            for begin in range(0, len(weights), together):
                scores = weights[begin : begin + together] @ columns
                # A matrix product may round equal documents differently, which would then not be tied.
                scores = np.take(scores, place, axis=1) if equal else scores
                lists = (np.arange(len(scores))[:, None] * len(X) + block.offsets[:-1]).ravel()
                found = self._of(scores.ravel(), np.tile(y, len(scores)), np.r_[lists, scores.size], ties=equal)
                totals[begin : begin + together] += found.reshape(len(scores), -1).sum(axis=1)
        return np.clip(totals / data.n_queries, 0.0, 1.0)

    def of_scores(self, data: RankingData, scores: Floats) -> Floats:
        """The values of all queries for given scores, the mean over orders of equal ones."""
        return self._of(scores, data.y, data.offsets, ties=True)

    def _of(self, scores: Floats, y: NDArray[Any], offsets: NDArray[np.int64], *, ties: bool) -> Floats:
        return metrics.per_query(
            [self.name], scores, y, offsets, self.y_max,
            no_relevant=self.no_relevant, ties="mean" if ties else "file", relevant_from=self.relevant_from,
        )[self.name]  # fmt: skip


def _distinct(X: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first row of each distinct document, and for every document, which of these it equals."""
    rows = np.ascontiguousarray(X + np.float32(0.0))  # -0.0 becomes 0.0
    whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, place = np.unique(whole, return_index=True, return_inverse=True)
    return first, place


def _smallest_mean(mean: float, radius: float) -> float:
    """The smallest m <= mean with kl(mean || m) <= radius, from below.

    Example
    -------
    >>> round(_smallest_mean(1.0, 0.5), 6), round(math.exp(-0.5), 6), _smallest_mean(0.0, 0.5)
    (0.606531, 0.606531, 0.0)
    """
    low, high = 0.0, mean
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if rel_entr(mean, middle) + rel_entr(1.0 - mean, 1.0 - middle) > radius:
            low = middle
        else:
            high = middle
    return low


def _moment(n: int) -> float:
    """xi(n), the largest expectation of exp(n kl(mean of n values || their expectation)).

    Example
    -------
    >>> [round(_moment(n), 6) for n in (1, 2)], _moment(500) < 2 * 500**0.5
    ([2.0, 2.5], True)
    """
    k = np.arange(n + 1.0)
    chosen = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return float(np.exp(chosen + xlogy(k, k / n) + xlogy(n - k, 1.0 - k / n)).sum())
