"""From which length of list on are bounds in the maximum norm smaller than Chapelle and Wu's, and how sharp are they?

The bounds on the gap L - Lhat of all rankers of a ball, for ListNet and SmoothDCG@1, are compared in two ways: with the
constants that `lists` and Chapelle and Wu print, and with the best that are known (``theory.list_lengths``, exact
suprema for the Lipschitz constants, McDiarmid's inequality once). The bounds without m are compared with gaps that are
known exactly: a query has one relevant document with the feature eps, eps = 1 or -1 with probability 1/2, and m - 1
others with -eps; the loss is phi(eps w), so that the gap of w is |c| times the odd part of phi, c = mean of eps, and a
sample is one binomial number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from pipeline_lib import surrogates
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory import list_bounds, list_lengths
from pipeline_lib.theory.constants import supremum

if TYPE_CHECKING:
    from pipeline_lib.papers.lists.experiments.lengths import LengthsSettings

PRINTED, BEST = "chapelle-wu", "chapelle-wu, best constants"
IN_THE_MAXIMUM_NORM = ("theorem 9", "theorem 9, shorter chain", "free of m")
WEIGHTS = 401
"""The number of rankers among which the largest gap is taken; both ends of the ball are among them."""


@dataclass(frozen=True)
class Class:
    """The losses of one surrogate over a ball, with all constants of its bounds.

    ``scores`` is W2 R_X; ``printed`` has the constants that `lists` states, G as G^CW as well (sections 3.1, 3.2);
    ``linf``, ``l2`` and ``partial`` are the best known constants in the maximum and in the Euclidean norm and of one
    score; ``spread`` is the largest difference of the losses of one ranker on two queries.
    """

    name: str
    scores: float
    printed: dict[str, Any]
    linf: float
    l2: float
    partial: float
    spread: float
    average: Callable[[float], float]

    @classmethod
    def of(cls, name: str, scores: float, y_max: int) -> Class:
        """The class of ListNet or SmoothDCG@1 with sigma = 1."""
        loss = created(name)
        printed = list_bounds.of_surrogate("erm", loss, m=2, y_max=y_max, radius=scores, feature_norm=1.0)
        # Suprema over lists of every length: ListNet's approach 2, sqrt(2) and 1 (errata, letters I and J).
        if name == "listnet":
            return cls(
                name,
                scores,
                printed,
                linf=2.0,
                l2=math.sqrt(2.0),
                partial=1.0,
                spread=4.0 * scores,
                average=lambda n: list_lengths.of_listnet(n=n, scores=scores),
            )
        largest = loss.bound(2, y_max, scores)
        assert largest is not None
        linf, l2 = (supremum(loss, 2, y_max, f"lipschitz-{norm}") for norm in ("linf", "l2"))  # type: ignore[arg-type]
        assert linf is not None
        assert l2 is not None
        # The partial derivative p (1 - p) times the gain is at most a quarter of it: half of G.
        return cls(
            name,
            scores,
            printed,
            linf=linf,
            l2=l2,
            partial=0.5 * linf,
            spread=largest,
            average=lambda n: list_lengths.of_smooth_dcg(n=n, scores=scores, largest_gain=largest),
        )

    def bound(self, name: str, n: int, m: int, delta: float) -> float:
        """The bound ``name`` on the gap of all rankers."""
        given: dict[str, Any] = {"radius": self.scores, "feature_norm": 1.0}
        if name == PRINTED:
            # For losses up to B, the second term is B times that for losses up to 1.
            term = list_bounds.complexity_of_chapelle_wu(n=n, m=m, lipschitz_l2=self.printed["lipschitz"], **given)
            return term + float(self.printed["loss_bound"]) * math.sqrt(8.0 * math.log(1.0 / delta) / n)
        if name == "theorem 9":
            return list_bounds.evaluate("erm", n=n, m=m, delta=delta, **given, **self.printed)
        average = {
            BEST: lambda: list_lengths.by_euclidean_norm(n=n, m=m, lipschitz_l2=self.l2, scores=self.scores),
            "theorem 9, shorter chain": lambda: list_lengths.by_chain(
                n=n, m=m, lipschitz=self.linf, scores=self.scores
            ),
            "free of m": lambda: self.average(n),
            "worst coordinate": lambda: list_lengths.by_coordinates(
                n=n, m=math.sqrt(m), partial=self.linf, scores=self.scores
            ),
            "one score at a time": lambda: list_lengths.by_coordinates(
                n=n, m=m, partial=self.partial, scores=self.scores
            ),
        }[name]()
        return list_lengths.deviation(average, n=n, spread=self.spread, delta=delta)


BOUNDS = (PRINTED, BEST, *IN_THE_MAXIMUM_NORM, "worst coordinate", "one score at a time")
"""``worst coordinate`` is sqrt(m) G times the average of one score: the shape of the contraction of Foster and Rakhlin
(2019) for any vector-valued functions. With the constant 1 and without its logarithms it is no bound."""
LOSSES = ("listnet", "smooth-dcg")


def created(name: str) -> Surrogate:
    """The surrogate as a loss that is not negative."""
    return surrogates.create(name, **({"sign": "regret"} if name == "smooth-dcg" else {}))


def bounds(settings: LengthsSettings) -> list[dict[str, Any]]:
    """The rows of `lists-length-bounds`."""
    return [
        {
            "loss": loss,
            "scores": scores,
            "n": n,
            "m": m,
            "bound": name,
            "value": group.bound(name, n, m, settings.delta),
            "spread": group.spread,
        }
        for loss in LOSSES
        for scores in settings.scores
        for group in [Class.of(loss, scores, settings.y_max)]
        for n in settings.queries
        for m in settings.lengths
        for name in BOUNDS
    ]


def crossings(settings: LengthsSettings) -> list[dict[str, Any]]:
    """The rows of `lists-crossings`: the smallest m from which a bound is below each of Chapelle and Wu's."""
    return [
        {
            "loss": loss,
            "scores": scores,
            "n": n,
            "bound": name,
            "against": against,
            **_crossing(group, name, against, n, settings.delta),
        }
        for loss in LOSSES
        for scores in settings.scores
        for group in [Class.of(loss, scores, settings.y_max)]
        for n in settings.queries
        for name in IN_THE_MAXIMUM_NORM
        for against in (PRINTED, BEST)
    ]


def _crossing(group: Class, name: str, against: str, n: int, delta: float) -> dict[str, Any]:
    # Chapelle and Wu's bound over another one increases with m: sqrt(m) against a logarithm or nothing.
    m = list_bounds.first_below(lambda m: group.bound(name, n, m, delta), lambda m: group.bound(against, n, m, delta))
    if m is None:
        return {"m": None, "value": None, "informative": None}
    value = group.bound(name, n, m, delta)
    return {"m": m, "value": value, "informative": value < group.spread}


def quantile_of_mean_sign(n: int, probability: float) -> float:
    """The least x that |mean of n random signs| exceeds with at most this probability.

    Example
    -------
    >>> quantile_of_mean_sign(4, 0.2), quantile_of_mean_sign(4, 0.1)
    (0.5, 1.0)
    """
    return float(2.0 * stats.binom.isf(0.5 * probability, n, 0.5) - n) / n


def odd_part(loss: Surrogate, m: int, y_max: int, scores: float) -> float:
    """The largest odd part of the loss of one relevant document with the score t and m - 1 others with -t, |t| <= a.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> round(odd_part(surrogates.create("listnet"), 1000, 20, 0.01), 4)
    0.02
    """
    t = np.linspace(-scores, scores, WEIGHTS)
    signs = np.array([1.0] + [-1.0] * (m - 1))
    y = np.zeros((WEIGHTS, m), np.int32)
    y[:, 0] = y_max
    offsets = np.arange(WEIGHTS + 1, dtype=np.int64) * m
    values = loss.unchecked((t[:, None] * signs).ravel(), y.ravel(), offsets)[0]
    return float(np.abs(0.5 * (values - values[::-1])).max())


def gaps(settings: LengthsSettings) -> list[dict[str, Any]]:
    """The rows of `lists-free`: exact gaps and the bounds without m."""
    rows = []
    for name in LOSSES:
        loss = created(name)
        for scores in settings.exact_scores:
            # A large label concentrates P(y) of ListNet on the relevant document; SmoothDCG is scaled by its gain.
            y_max = settings.exact_y_max if name == "listnet" else settings.y_max
            group = Class.of(name, scores, y_max)
            for m in settings.exact_lengths:
                odd = odd_part(loss, m, y_max, scores)
                for n in settings.exact_queries:
                    average = group.average(n)
                    bound = list_lengths.deviation(average, n=n, spread=group.spread, delta=settings.rare)
                    rows.append(
                        {
                            "loss": name,
                            "scores": scores,
                            "m": m,
                            "n": n,
                            "gap": odd * quantile_of_mean_sign(n, settings.rare),
                            "average": average,
                            "bound": bound,
                            "spread": group.spread,
                        }
                    )
    return rows


def unbounded(settings: LengthsSettings) -> list[dict[str, Any]]:
    """The rows of `lists-unbounded`: how often a loss that no ranker changes exceeds Chapelle and Wu's bound.

    The loss is B if the first document is relevant, which it is with probability 1/2, and 0 elsewhere: G = 0, and the
    gap of every ranker is B (1/2 - K/n) with K ~ Binomial(n, 1/2).
    """
    return [
        {
            "largest_loss": largest,
            "n": n,
            **{
                name: _exceeded(n, factor * math.sqrt(8.0 * math.log(1.0 / settings.delta) / n) / largest)
                for name, factor in (("as_printed", 1.0), ("times_largest", largest), ("an_eighth", 0.125 * largest))
            },
            "delta": settings.delta,
        }
        for largest in settings.largest_losses
        for n in settings.exact_queries
    ]


def _exceeded(n: int, threshold: float) -> float:
    # P(1/2 - K/n > threshold).
    return float(stats.binom.cdf(math.ceil(n * (0.5 - threshold)) - 1, n, 0.5))
