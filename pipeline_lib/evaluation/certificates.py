"""How good is a ranker at least, on queries like those on which it was measured?"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pipeline_lib import metrics, statistics
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Natural, Probability, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.markup import count
from pipeline_lib.core.seeds import generator
from pipeline_lib.evaluation import betting, inputs
from pipeline_lib.evaluation.comparison import against, aligned, finite

__all__ = ["Certificate", "certify"]

SHOWN = 4
"""So many digits are printed."""


@dataclass(frozen=True, repr=False, eq=False)
class Certificate:
    """Limits of the means of K runs, or of their differences from a baseline; ``str()`` is the text of the command.

    Attributes
    ----------
    values : Values
        What was measured, the baseline included.
    baseline : str or None
        The run from which the others differ.
    chosen_from : int
        The number of runs for which limits hold jointly.
    level : float
        Confidence of the lower limits; of the intervals likewise.
    runs : tuple of str
        The K runs without the baseline.
    mean : float64 array, shape (K,)
        Measured means, or mean differences.
    lower, low, high : float64 arrays, shape (K,)
        The lower limit of the mean of all such queries, and the ends of the interval.
    worst : float64 array, shape (K,)
        The lower limit for the worst order that equal scores allow.
    hoeffding : float64 array, shape (K,)
        The lower limit by Hoeffding's inequality.
    units : float64 array, shape (K, n)
        The values of the queries, or their differences, in [0, 1].
    seed : int
        For the order of bets and the draws of the bootstrap.
    """

    values: inputs.Values
    baseline: str | None
    chosen_from: int
    level: float
    runs: tuple[str, ...]
    mean: Floats
    lower: Floats
    low: Floats
    high: Floats
    worst: Floats
    hoeffding: Floats
    units: Floats
    seed: int

    @cached_property
    def bootstrap(self) -> Floats:
        """The lower limit by the bootstrap, float64, shape (K,); NaN for a single query. Made when it is asked for."""
        delta = (1.0 - self.level) / self.chosen_from
        if self.units.shape[1] < 2 or delta >= 0.5:
            return np.full(len(self.units), math.nan)
        lows = [
            statistics.bootstrap_interval(
                x, level=1.0 - 2.0 * delta, rng=generator(self.seed, "evaluation", "certify")
            )[0]
            for x in self.units
        ]
        return _of_measure(np.array(lows), self.baseline)

    @property
    def best(self) -> int:
        """The place of the run that was measured best."""
        return int(np.argmax(self.mean))

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain JSON types, with None for numbers that there are not."""
        rows = [
            {"run": run} | {name: finite(getattr(self, name)[row]) for name in _OF_RUNS}
            for row, run in enumerate(self.runs)
        ]
        return {
            "measure": self.values.measure,
            "queries": len(self.values.queries),
            "level": self.level,
            "baseline": self.baseline,
            "chosen_from": self.chosen_from,
            "best": self.runs[self.best],
            "runs": rows,
            "says": list(self.says()),
            "notes": list(self.values.notes),
        }

    def to_pandas(self) -> Any:
        """A data frame of pandas, a row a run."""
        import pandas as pd

        return pd.DataFrame({"run": self.runs} | {name: getattr(self, name) for name in _OF_RUNS})

    def says(self) -> Iterator[str]:
        """What is certified, and what is not, in sentences."""
        row, n, percent = self.best, len(self.values.queries), f"{100 * self.level:g} %"
        if len(self.runs) > 1:
            yield f"Of {len(self.runs):,} runs, {self.runs[row]} was measured best."
        measured = f"(measured {self.mean[row]:.{SHOWN}f} on {count(n, 'query', 'queries')})"
        relation = "is" if self.baseline is None else f"less that of {self.baseline} is"
        yield (
            f"With {percent} confidence, {self.values.measure} of {self.runs[row]} on queries like these {relation} at "
            f"least {rounded_down(self.lower[row])} {measured}."
        )
        if self.baseline is not None and self.lower[row] <= 0.0:
            yield f"These queries do not show that {self.runs[row]} is better than {self.baseline}."
        if self.chosen_from > 1:
            yield f"This holds for the best of {self.chosen_from:,} runs, whichever it is: limits are joint for all."
        if rounded_down(self.worst[row]) != rounded_down(self.lower[row]):
            yield f"In the worst order that equal scores allow, the limit is {rounded_down(self.worst[row])}."
        yield (
            "Hoeffding's limit is as certain, but takes no account of how little values vary; the bootstrap's is "
            "approximate, and its confidence is right only for many queries."
        )
        yield (
            "Not covered: queries that are not exchangeable with those to come, and runs tuned on these queries or "
            f"chosen by them{' from more' if self.chosen_from > 1 else ''}."
        )
        yield "Wrong or missing judgements, as of documents outside a pool, are taken as they are."

    def __repr__(self) -> str:
        row, queries = self.best, count(len(self.values.queries), "query", "queries")
        return (
            f"Certificate({self.values.measure} of {self.runs[row]} on {queries}: at least "
            f"{rounded_down(self.lower[row])} at {100 * self.level:g} %)"
        )

    def __str__(self) -> str:
        what = self.values.measure if self.baseline is None else f"{self.values.measure} less that of {self.baseline}"
        percent = f"{100 * self.level:g} %"
        heads = ("run", "measured", f"at least ({percent})", f"{percent} interval", "Hoeffding", "bootstrap")
        rows = [self._row(row) for row in np.argsort(-self.mean, kind="stable").tolist()]
        parts = [
            f"{what}, {count(len(self.values.queries), 'query', 'queries')}",
            aligned(heads, rows),
            "\n".join(self.says()),
        ]
        if self.values.notes:
            parts.append("\n".join(f"Note: {note}" for note in self.values.notes))
        return "\n\n".join(parts)

    def _row(self, row: int) -> tuple[str, ...]:
        return (
            self.runs[row],
            f"{self.mean[row]:.{SHOWN}f}",
            rounded_down(self.lower[row]),
            f"{rounded_down(self.low[row])} to {_ceiling(self.high[row])}",
            rounded_down(self.hoeffding[row]),
            rounded_down(self.bootstrap[row]) if math.isfinite(self.bootstrap[row]) else "-",
        )


@checked
def certify(
    runs: Any,
    qrels: Any = None,
    measure: str = "ndcg@10",
    *,
    baseline: str | None = None,
    chosen_from: Count = 1,
    level: Probability = statistics.LEVEL,
    ties: inputs.Ties = "mean",
    relevant_from: int = 1,
    no_relevant: metrics.NoRelevant = 0.0,
    missing: inputs.Missing = "zero",
    y_max: int | None = None,
    seed: Natural = 0,
) -> Certificate:
    """Limits of the mean of a measure over all queries like the given ones, whatever the law of its values.

    With x the values of n queries and K the larger of ``chosen_from`` and the number of runs, of which the best may
    then be chosen by the result,

    ::

        lower     = L(x; (1 - level) / K)
        low, high = L(x; (1 - level) / 2K),  1 - L(1 - x; (1 - level) / 2K)

    where P(L(x; delta) > mean) <= delta for every n and every law on [0, 1], by
    :func:`pipeline_lib.evaluation.betting.lower_limit`. For differences d from a baseline, x = (1 + d) / 2. Beside the
    lower limit stand that of Hoeffding, mean x - sqrt(log(K / (1 - level)) / 2n), and that of the bootstrap.

    Queries must be exchangeable with those that the answer is meant for; documents need not be.

    Parameters
    ----------
    runs, qrels, measure, ties, relevant_from, no_relevant, missing, y_max
        As for :func:`pipeline_lib.evaluation.inputs.values`.
    baseline : str, optional
        The name of one of the runs, chosen before the results were known.
    chosen_from : int
        From how many runs the given ones were chosen by these queries.
    level : float
        Confidence in (0, 1).
    seed : int
        Another seed gives other orders of bets, and limits that differ little; not to be chosen by the result.

    Raises
    ------
    DataError
        As for ``values``, and when no run has the baseline's name or no other run is given.

    References
    ----------
    Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86 (2024); Voracek and
    Orabona, "STaR-Bets: Sequential target-recalculating bets for tighter confidence intervals", arXiv 2505.22422
    (2025).

    Example
    -------
    >>> qrels = {f"q{k}": {"a": 1, "b": 0} for k in range(100)}
    >>> run = {query: {"a": 1.0, "b": 0.0 if query < "q8" else 2.0} for query in qrels}
    >>> certify(run, qrels, "RR")
    Certificate(rr of run 1 on 100 queries: at least 0.8424 at 95 %)
    """
    found = inputs.values(
        runs, qrels, measure, ties=ties, relevant_from=relevant_from, no_relevant=no_relevant, missing=missing,
        y_max=y_max,
    )  # fmt: skip
    rows = list(range(len(found.runs))) if baseline is None else [row for row, _ in against(found.runs, baseline)]
    if not rows:
        raise DataError(f"runs: expected a run to compare with the baseline, found only {baseline}")
    # By their names, so that the order of files says nothing.
    order = sorted(range(len(found.queries)), key=found.queries.__getitem__)
    values, least = found.values[:, order], found.low[:, order]
    if baseline is not None:
        row = found.runs.index(baseline)
        values = (1.0 + values - values[row]) / 2.0
        least = (1.0 + least - found.high[row, order]) / 2.0
    joint = max(chosen_from, len(rows))
    limits = np.array([_limits(values[row], least[row], (1.0 - level) / joint, seed) for row in rows]).T
    mean, lower, low, high, worst, hoeffding = _of_measure(limits, baseline)
    names = tuple(found.runs[row] for row in rows)
    return Certificate(
        found, baseline, joint, level, names, mean, lower, low, high, worst, hoeffding, values[rows], seed
    )


_OF_RUNS = ("mean", "lower", "low", "high", "worst", "hoeffding", "bootstrap")


def _of_measure(units: Floats, baseline: str | None) -> Floats:
    """Values in [0, 1] as values of the measure, or as differences from a baseline."""
    return units if baseline is None else 2.0 * units - 1.0


def _limits(x: Floats, least: Floats, delta: float, seed: int) -> tuple[float, ...]:
    """What a certificate says of values in [0, 1], in the order of :data:`_OF_RUNS` but for the bootstrap."""
    mean = float(x.mean())
    lower = betting.lower_limit(x, level=1.0 - delta, seed=seed)
    low, high = betting.interval(x, level=1.0 - delta, seed=seed)
    # Bets learn from the values, so that the limit of lower values may be higher by accident.
    same = np.array_equal(least, x)
    worst = lower if same else min(lower, betting.lower_limit(least, level=1.0 - delta, seed=seed))
    hoeffding = max(0.0, mean - math.sqrt(math.log(1.0 / delta) / (2 * len(x))))
    return mean, lower, low, high, worst, hoeffding


def rounded_down(limit: float) -> str:
    """A lower limit, which must not be rounded up."""
    return f"{math.floor(limit * 10**SHOWN + 1e-9) / 10**SHOWN:.{SHOWN}f}"


def _ceiling(limit: float) -> str:
    return f"{math.ceil(limit * 10**SHOWN - 1e-9) / 10**SHOWN:.{SHOWN}f}"
