"""Which of several runs differ on the same queries, by how much, and how many queries would show it?"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, ndtri, stdtrit

from pipeline_lib import metrics, statistics
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Natural, Probability, checked
from pipeline_lib.core.errors import DataError, hint
from pipeline_lib.core.seeds import generator
from pipeline_lib.evaluation import inputs

__all__ = ["Comparison", "Correction", "compare"]

Correction = Literal["family-wise", "false-discovery"]
"""Which error is held: the probability of calling any equal pair different, or the expected share of such calls."""
SURE = 0.8
"""With this confidence, the standard deviation behind a number of needed queries is not larger than assumed."""
SHOWN = 20
"""So many pairs are printed."""
EXAMPLES = 3
"""So many queries are named on either side."""


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """Paired comparisons of K runs, as :func:`compare` makes them; ``str()`` is the text of the command.

    Attributes
    ----------
    values : Values
        What was compared: the measure of every run and query, and notes about both.
    baseline : str or None
        The run with which each of the others is compared; all pairs where there is none.
    correction : "family-wise" or "false-discovery"
    level : float
        Confidence of intervals; 1 - level is the error that is held.
    smallest_p : float
        The smallest p-value that so many queries and patterns of signs can give.
    mean, mean_low, mean_high : float64 arrays, shape (K,)
        Means over queries with intervals that hold jointly for all K.
    pairs : int64 array, shape (P, 2)
        The rows a and b of the runs that are compared.
    difference, low, high : float64 arrays, shape (P,)
        The mean over queries of a minus b, with intervals.
    p_value, p_adjusted : float64 arrays, shape (P,)
        Of the single comparison, and adjusted for the family.
    detectable : float64 array, shape (P,)
        The size of a difference that would be significant with probability 0.8; NaN where none could be.
    needed : float64 array, shape (P,)
        The number of queries with which a true difference as large as the observed one would be; infinite for 0.
    """

    values: inputs.Values
    baseline: str | None
    correction: Correction
    level: float
    resamples: int
    smallest_p: float
    mean: Floats
    mean_low: Floats
    mean_high: Floats
    pairs: NDArray[np.int64]
    difference: Floats
    low: Floats
    high: Floats
    p_value: Floats
    p_adjusted: Floats
    detectable: Floats
    needed: Floats

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Which pairs differ, by p_adjusted <= 1 - level; none where there are too few queries for any."""
        return self.p_adjusted <= round(1.0 - self.level, 12)

    @property
    def possible(self) -> bool:
        """Whether there are queries enough for a single comparison to be significant."""
        return self.smallest_p <= round(1.0 - self.level, 12)

    @property
    def order(self) -> NDArray[np.int64]:
        """The pairs by rising adjusted p, and then by falling size of the difference."""
        return np.lexsort((-np.abs(self.difference), self.p_adjusted))

    @property
    def names(self) -> list[tuple[str, str]]:
        """The names of the runs of every pair."""
        return [(self.values.runs[a], self.values.runs[b]) for a, b in self.pairs.tolist()]

    def queries(self, pair: int, count: int = EXAMPLES) -> list[tuple[str, float, float]]:
        """The queries on which a pair differs most: their names, and the values of a and of b.

        First those for which a is better, by falling difference, and then those for which b is, the largest difference
        last: at most ``count`` of each, and none on which both are equal.
        """
        a, b = self.values.values[self.pairs[pair]]
        order = np.argsort(b - a, kind="stable")
        ends = np.r_[order[:count], order[max(count, len(order) - count) :]]
        return [(self.values.queries[q], float(a[q]), float(b[q])) for q in ends.tolist() if a[q] != b[q]]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain JSON types, with None for numbers that there are not.

        Of the values of single queries there are, for few pairs, those on which a pair differs most.
        """
        columns = {name: getattr(self, name) for name in _OF_PAIRS}
        means = zip(self.values.runs, self.mean, self.mean_low, self.mean_high, strict=True)
        return {
            "measure": self.values.measure,
            "queries": len(self.values.queries),
            "level": self.level,
            "correction": self.correction,
            "baseline": self.baseline,
            "resamples": self.resamples,
            "smallest_p": self.smallest_p,
            "runs": [
                {"run": run, "mean": float(mean), "low": float(low), "high": float(high)}
                for run, mean, low, high in means
            ],
            "comparisons": [
                {"a": a, "b": b}
                | {name: finite(column[pair]) for name, column in columns.items()}
                | {"significant": bool(self.significant[pair])}
                | ({"queries": self.queries(pair)} if len(self.pairs) <= SHOWN else {})
                for pair, (a, b) in enumerate(self.names)
            ],
            "says": list(self.says()),
            "notes": list(self.values.notes),
        }

    def to_pandas(self) -> Any:
        """A data frame of pandas, a row a pair."""
        import pandas as pd

        names = pd.DataFrame(self.names, columns=["a", "b"])
        numbers = pd.DataFrame({name: getattr(self, name) for name in _OF_PAIRS})
        return pd.concat([names, numbers.assign(significant=self.significant)], axis=1)

    def says(self) -> Iterator[str]:
        """What was found, in sentences."""
        n, pairs, alpha = len(self.values.queries), len(self.pairs), f"{1.0 - self.level:.4g}"
        if not self.possible:
            yield (
                f"With {n} queries no two-sided test of level {alpha} exists (the smallest p is {self.smallest_p:.4g}) "
                "and no difference can be called significant; intervals presume normal differences."
            )
        else:
            yield f"{self._count()}: {self._error(alpha)}"
        if self.possible and self.correction == "false-discovery" and self.smallest_p * pairs > 1.0 - self.level:
            least = math.ceil(self.smallest_p * pairs / (1.0 - self.level) - 1e-9)
            yield (
                f"As no p-value is below {self.smallest_p:.2g}, fewer than {least:,} differences could not be found; "
                "more resamples could."
            )
        yield from self._needs()

    def _count(self) -> str:
        found, pairs = int(self.significant.sum()), len(self.pairs)
        if pairs == 1:
            return f"The difference is {'' if found else 'not '}significant"
        family = f"each run with {self.baseline}" if self.baseline is not None else "all pairs"
        return f"Of {pairs:,} comparisons ({family}), {found:,} {'is' if found == 1 else 'are'} significant (*)"

    def _error(self, alpha: str) -> str:
        """Which error is held."""
        if self.correction == "family-wise":
            which = "equal runs are" if len(self.pairs) == 1 else "any pair of equal runs is"
            return (
                f"the probability that {which} called different is at most {alpha} (random signs of the queries' "
                "differences, max-T step-down)."
            )
        return (
            f"the expected share of equal runs among those called different is at most {alpha} if p-values depend "
            "positively on each other (Benjamini-Hochberg); the probability that some are may be larger."
        )

    def _needs(self) -> Iterator[str]:
        closest = int(np.argmin(np.abs(self.difference)))
        a, b = self.names[closest]
        one = len(self.pairs) == 1
        which, differ = (f"{a} and {b}", "differ") if one else (f"The closest pair, {a} and {b},", "differs")
        if math.isfinite(needed := self.needed[closest]):
            yield (
                f"{which} {differ} by {abs(self.difference[closest]):.4f}: if that is the true difference, about "
                f"{needed:,.0f} queries like these show it with probability {statistics.POWER}; there are "
                f"{len(self.values.queries):,}."
            )
        else:
            yield f"{which} {'have' if one else 'has'} equal means, which no number of queries shows to differ."

    def __repr__(self) -> str:
        return (
            f"Comparison({self.values.measure} of {len(self.values.runs)} runs on {len(self.values.queries):,} queries"
            f": {self.significant.sum():,} of {len(self.pairs):,} pairs differ)"
        )

    def __str__(self) -> str:
        head = f"{self.values.measure} of {len(self.values.runs)} runs on {len(self.values.queries):,} queries"
        parts = [head, self._means(), self._pairs(), "\n".join(self.says())]
        if len(self.pairs) == 1 and (examples := self._examples()):
            parts.append(examples)
        if self.values.notes:
            parts.append("\n".join(f"Note: {note}" for note in self.values.notes))
        return "\n\n".join(parts)

    def _means(self) -> str:
        interval = f"{100 * self.level:g} % interval, joint"
        order = np.argsort(-self.mean, kind="stable").tolist()
        rows = [
            (self.values.runs[k], f"{self.mean[k]:.4f}", f"{self.mean_low[k]:.4f} to {self.mean_high[k]:.4f}")
            for k in order
        ]
        return aligned(("run", "mean", interval), rows)

    def _pairs(self) -> str:
        order = self.order[:SHOWN].tolist()
        joint = ", joint" if self.correction == "family-wise" and len(self.pairs) > 1 else ""
        heads = ("difference", "mean", f"{100 * self.level:g} % interval{joint}", "p", "adjusted p", "detectable")
        rows = [self._row(pair) for pair in order]
        more = len(self.pairs) - len(rows)
        text = aligned((*heads, "queries needed"), rows)
        return text + (f"\nand {more:,} more pairs of larger p" if more else "")

    def _row(self, pair: int) -> tuple[str, ...]:
        a, b = self.names[pair]
        mark = " *" if self.significant[pair] else ""
        detectable, needed = self.detectable[pair], self.needed[pair]
        return (
            f"{a} - {b}",
            f"{self.difference[pair]:+.4f}{mark}",
            f"{self.low[pair]:+.4f} to {self.high[pair]:+.4f}",
            f"{self.p_value[pair]:.2g}",
            f"{self.p_adjusted[pair]:.2g}",
            "-" if math.isnan(detectable) else f"{detectable:.4f}",
            f"{needed:,.0f}" if math.isfinite(needed) else "-",
        )

    def _examples(self) -> str:
        rows = [(q, f"{a:.4f}", f"{b:.4f}", f"{a - b:+.4f}") for q, a, b in self.queries(0)]
        return aligned(("query", *self.names[0], "difference"), rows) if rows else ""


@checked
def compare(
    runs: Any,
    qrels: Any = None,
    measure: str = "ndcg@10",
    *,
    baseline: str | None = None,
    level: Probability = statistics.LEVEL,
    resamples: Count = statistics.RESAMPLES,
    correction: Correction = "family-wise",
    ties: inputs.Ties = "mean",
    relevant_from: int = 1,
    no_relevant: metrics.NoRelevant = 0.0,
    missing: inputs.Missing = "zero",
    y_max: int | None = None,
    seed: Natural = 0,
) -> Comparison:
    """Compare runs on the same queries: means, differences with intervals and p-values, and the queries needed.

    Differences, p-values and, by default, their adjustment and the intervals are those of
    :func:`pipeline_lib.statistics.compare_runs`, for all pairs or for those with a baseline. The baseline must be named
    before the results are known; whoever looks for the best run compares all pairs. With ``"false-discovery"``,
    p-values are those of single comparisons, adjusted by Benjamini and Hochberg's step-up. Of P pairs of which R are
    found, the intervals of an expected share of at most 1 - level of these miss (Benjamini and Yekutieli). With d the
    differences of n queries,

    ::

        adjusted p_(i) = min_{j >= i} P p_(j) / j
        interval       = mean d -+ t_{n-1, 1 - a/2} sd(d) / sqrt(n),             a = (1 - level) max(R, 1) / P

    Means have Student's intervals with Bonferroni's correction for K runs, within [0, 1]. With c the critical value of
    the intervals,

    ::

        detectable difference = (c + Phi^-1(0.8)) sd(d) / sqrt(n)
        queries needed        = ((c + Phi^-1(0.8)) s / mean d)^2,   s^2 = (n - 1) sd(d)^2 / chi2_{n-1, 0.2}

    where s is an upper limit of the standard deviation with confidence 0.8, if differences are normal.

    Queries must be exchangeable with those that the answer is meant for; documents need not be.

    Parameters
    ----------
    runs, qrels, measure, ties, relevant_from, no_relevant, missing, y_max
        As for :func:`pipeline_lib.evaluation.inputs.values`, at least two runs.
    baseline : str, optional
        The name of the run with which each of the others is compared; all pairs are where it is not given.
    level : float
        Confidence in (0, 1); 1 - level is the error that is held.
    resamples : int
        Random patterns of signs; for up to 16 queries all patterns are enumerated instead.
    correction : "family-wise" or "false-discovery"
    seed : int
        Another seed gives other patterns.

    Raises
    ------
    DataError
        As for ``values``, and when there are fewer than two runs or queries, no run has the baseline's name, or so few
        patterns that no p-value could be at most 1 - level.

    References
    ----------
    Carterette, "Multiple testing in statistical analysis of systems-based information retrieval experiments", ACM TOIS
    30 (2012); Boytsov, Belova and Westfall, "Deciding on an adjustment for multiplicity in IR experiments", SIGIR 2013;
    Benjamini and Hochberg, "Controlling the false discovery rate", JRSS B 57 (1995); Benjamini and Yekutieli, "False
    discovery rate-adjusted multiple confidence intervals for selected parameters", JASA 100 (2005).

    Example
    -------
    >>> qrels = {str(q): {"a": 1, "b": 0} for q in range(8)}
    >>> good, bad = ({query: {"a": a, "b": 0.5} for query in qrels} for a in (1.0, 0.0))
    >>> found = compare({"good": good, "bad": bad}, qrels, "RR")
    >>> found.difference, found.p_adjusted, found.significant
    (array([0.5]), array([0.0078125]), array([ True]))
    """
    if not round(1.0 - level, 12) * (1 + resamples) >= 1.0:
        needed = math.ceil(1.0 / round(1.0 - level, 12)) - 1
        raise DataError(f"resamples: expected at least {needed}, with which p can be {1 - level:g}, found {resamples}")
    found = inputs.values(
        runs, qrels, measure, ties=ties, relevant_from=relevant_from, no_relevant=no_relevant, missing=missing,
        y_max=y_max,
    )  # fmt: skip
    n_runs, n = found.values.shape
    if min(n_runs, n) < 2:
        raise DataError(f"runs: expected at least two runs and two queries to compare, found {n_runs} and {n}")
    rng = generator(seed, "evaluation", "compare", found.measure)
    pairs = against(found.runs, baseline)
    tested = statistics.compare_runs(found.values, pairs=pairs, level=level, resamples=resamples, rng=rng)
    if correction == "false-discovery":
        p_adjusted = _step_up(tested.p_value)
        critical, low, high = _of_found(tested, p_adjusted, n, level)
    else:
        p_adjusted, critical, low, high = tested.p_adjusted, tested.critical, tested.low, tested.high
    reach = critical + float(ndtri(statistics.POWER))
    mean = found.values.mean(axis=1)
    half = float(stdtrit(n - 1, 1.0 - (1.0 - level) / (2.0 * n_runs))) * found.values.std(axis=1, ddof=1) / math.sqrt(n)
    return Comparison(
        values=found,
        baseline=baseline,
        correction=correction,
        level=level,
        resamples=resamples,
        smallest_p=statistics.smallest_p_value(n, resamples),
        mean=mean,
        mean_low=np.maximum(mean - half, 0.0),
        mean_high=np.minimum(mean + half, 1.0),
        pairs=tested.pairs,
        difference=tested.difference,
        low=low,
        high=high,
        p_value=tested.p_value,
        p_adjusted=p_adjusted,
        detectable=np.where(np.isnan(tested.detectable), np.nan, reach * tested.error),
        needed=_needed(reach * tested.error, tested.difference, n),
    )


_OF_PAIRS = ("difference", "low", "high", "p_value", "p_adjusted", "detectable", "needed")


def against(runs: Sequence[str], baseline: str | None) -> list[tuple[int, int]]:
    """The rows of the pairs that are compared, the second subtracted from the first."""
    if baseline is None:
        return [(a, b) for a in range(len(runs)) for b in range(a + 1, len(runs))]
    if baseline not in runs:
        raise DataError(f"baseline: expected the name of a run, found {baseline!r}; {hint(baseline, runs)}")
    row = runs.index(baseline)
    return [(other, row) for other in range(len(runs)) if other != row]


def _step_up(p: Floats) -> Floats:
    """Benjamini and Hochberg's adjusted p-values."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    scaled = p[order] * len(p) / np.arange(1.0, len(p) + 1.0)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted


def _of_found(tested: statistics.Comparisons, p_adjusted: Floats, n: int, level: float) -> tuple[float, Floats, Floats]:
    """The critical value and the intervals of Benjamini and Yekutieli, which tell what the p-values tell."""
    significant = p_adjusted <= round(1.0 - level, 12)
    critical = float(stdtrit(n - 1, 1.0 - (1.0 - level) * max(int(significant.sum()), 1) / (2.0 * len(p_adjusted))))
    low, high = tested.difference - critical * tested.error, tested.difference + critical * tested.error
    # Where the test by signs and Student's quantile disagree, an end is 0.
    up, down = significant & (tested.difference > 0.0), significant & (tested.difference < 0.0)
    low = np.where(up, np.maximum(low, 0.0), np.where(significant, low, np.minimum(low, 0.0)))
    high = np.where(down, np.minimum(high, 0.0), np.where(significant, high, np.maximum(high, 0.0)))
    return critical, low, high


def _needed(reach: Floats, difference: Floats, n: int) -> Floats:
    """The number of queries with which differences would be detectable, at least 2."""
    upper = (n - 1) / float(chdtri(n - 1, SURE))  # chdtri has the probability above
    with np.errstate(divide="ignore", invalid="ignore"):
        queries = n * upper * np.square(reach / difference)
    return np.where(difference == 0.0, np.inf, np.maximum(np.ceil(queries), 2.0))


def finite(value: float) -> float | None:
    """A number for JSON, None where there is none."""
    return float(value) if math.isfinite(value) else None


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of text, its first column to the left and numbers to the right.

    Example
    -------
    >>> print(aligned(["run", "mean"], [["a", "0.5"]]))
    run  mean
    a     0.5
    """
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in (heads, *rows)
    ]
    return "\n".join(line.rstrip() for line in lines)
