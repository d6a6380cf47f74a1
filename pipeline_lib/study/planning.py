"""How long will the planned jobs take, how much memory does each need, and what is missing?

Before the first run, the estimate of a job is the time of its start, plus a rate times the size of its data, plus the
seconds that its settings add (:attr:`pipeline_lib.experiment.Step.seconds`). As soon as a rule has run, the seconds
that the workflow measured are used instead.
"""

import csv
import math
import statistics
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from pipeline_lib.core.cost import Cost

Key = TypeVar("Key")

# Seconds on one core of a server of the 2020s. The memory of a training is that which its learner states.
COSTS: Mapping[str, Cost] = {
    "simulate_data": Cost(2.0, 0.35, 500.0, 2.0),
    "simulate_documents": Cost(2.0, 0.03, 500.0, 2.0),
    "obtain_data": Cost(1.0, 0.1, 300.0, 0.0),
    "check_raw": Cost(1.0, 0.015, 300.0, 0.0),
    "register_data": Cost(1.0, 0.01, 300.0, 0.0),
    "convert_data": Cost(2.0, 0.08, 900.0, 0.0),
    "train_model": Cost(0.6, 0.02, 500.0),
    "train_fold": Cost(0.6, 0.02, 500.0),
    "evaluate_model": Cost(1.5, 0.02, 500.0, 9.0),
    "summarise_results": Cost(1.5, 0.0, 800.0),
    "compare_models": Cost(1.0, 0.0, 800.0),
    "render_report": Cost(8.0, 0.0, 1000.0),
}
DEFAULT_COST = Cost(1.0, 0.0)
"""That of every other rule, such as ``split_folds``."""
NO_VALUE = "(?!)"
"""A regular expression that nothing matches: that of a wildcard without values."""
SECONDS_PER_RESAMPLED = 6e-9
"""Seconds for one value of a bootstrap sample; its number is that of samples times that of test queries."""

OVERHEAD_MB = 750.0
"""Memory of a cluster's job besides its command: two Snakemake processes, that of the submission and that of its step.

Each was measured at 340 MB, most of it for the libraries that the experiments import.
"""
SHORT_SECONDS = 10.0
"""What a light job takes, at most, so that it may run where the controlling process runs."""
LIGHT_MB = 1000.0
"""Memory of a light job, at most, for the same reason."""
BATCH_SECONDS = 60.0
"""Work of a submission to a cluster, at least, where there are enough short jobs that it may contain.

A submission starts Snakemake twice on its node; docs/clusters.md says how many seconds that was measured to take.
"""
BATCH_MB = 2000.0
"""Memory of a job that shares a submission with others, at most: the submission requests that of its largest job."""

TRAINING_SECONDS = 5.0
"""What a training takes, at most, so that one job trains a model on all folds, one after the other.

The start of a job takes about a second; several jobs may run at a time, and one that fails is repeated from its begin.
"""


class PlannedJob(NamedTuple):
    """One job that will run: its rule, its estimated seconds, where those of its last run are recorded, and its MB."""

    rule: str
    seconds: float
    benchmark: Path | None
    mb: float = 0.0


def cost(rule: str) -> Cost:
    """What a job of a rule costs whatever its settings; the steps of experiments declare theirs."""
    return COSTS.get(rule, DEFAULT_COST)


class Estimate(NamedTuple):
    """What a job takes: seconds on one core, and MB of memory."""

    seconds: float
    mb: float

    @classmethod
    def of(cls, cost: Cost, cells: float, seconds: float = 0.0, mb: float = 0.0) -> "Estimate":
        """The estimate for a job on ``cells`` feature values, to which its settings add seconds and MB.

        Example
        -------
        >>> Estimate.of(Cost(2.0, 0.02, 500.0), 1e8, seconds=30.0)
        Estimate(seconds=34.0, mb=500.0)
        """
        return cls(cost.seconds(cells) + seconds, cost.mb(cells) + mb)

    @property
    def is_short(self) -> bool:
        """Whether the job may share a submission to a cluster with others.

        Example
        -------
        >>> Estimate(2.0, 500.0).is_short, Estimate(2.0, 5000.0).is_short, Estimate(100.0, 500.0).is_short
        (True, False, False)
        """
        return self.seconds < BATCH_SECONDS and self.mb <= BATCH_MB

    @property
    def is_light(self) -> bool:
        """Whether the job is short and small enough to run where a cluster's controlling process runs.

        Example
        -------
        >>> Estimate(2.0, 500.0).is_light, Estimate(2.0, 1500.0).is_light, Estimate(20.0, 500.0).is_light
        (True, False, False)
        """
        return self.seconds <= SHORT_SECONDS and self.mb <= LIGHT_MB

    def memory_mb(self, attempt: int = 1) -> int:
        """Memory to request, in MB; a retry requests twice as much.

        :data:`OVERHEAD_MB` is part of it, even if a job runs without a cluster and does not need it.

        Example
        -------
        >>> Estimate(2.0, 500.0).memory_mb(), Estimate(2.0, 500.0).memory_mb(attempt=2)
        (1250, 2500)
        """
        return math.ceil(self.mb + OVERHEAD_MB) * 2 ** (attempt - 1)

    def runtime_minutes(self, attempt: int = 1, jobs: int = 1) -> int:
        """Minutes to request: ten times the estimated seconds, at least 10; a retry gets twice as many.

        The minutes of ``jobs`` that share a submission are added up: each needs at least its share of the 10.

        Example
        -------
        >>> Estimate(2.0, 500.0).runtime_minutes(), Estimate(600.0, 500.0).runtime_minutes()
        (10, 100)
        >>> Estimate(2.0, 500.0).runtime_minutes(jobs=4)
        3
        """
        return max(math.ceil(10 / jobs), math.ceil(self.seconds / 6)) * 2 ** (attempt - 1)


def one_after_another(seconds: Sequence[float], imports: float) -> float:
    """The seconds of pieces of work in one job, given those of each in a job of its own, with its imports.

    Example
    -------
    >>> one_after_another([1.0, 2.0, 1.5], imports=0.5)
    3.5
    """
    return math.fsum(max(one - imports, 0.0) for one in seconds) + min(max(seconds, default=0.0), imports)


def batches(seconds: Mapping[Key, float]) -> list[list[Key]]:
    """Divide short jobs among submissions of about equal length, each of :data:`BATCH_SECONDS` or more if possible.

    Example
    -------
    >>> batches({"a": 50.0, "b": 40.0, "c": 30.0, "d": 20.0})
    [['a', 'd'], ['b', 'c']]
    >>> batches({"a": 1.0}), batches({})
    ([['a']], [])
    """
    number = min(len(seconds), max(1, int(math.fsum(seconds.values()) / BATCH_SECONDS)))
    shares: list[list[Key]] = [[] for _ in range(number)]
    filled = [0.0] * number
    for key in sorted(seconds, key=lambda key: -seconds[key]):  # the longest first, each to the emptiest
        emptiest = filled.index(min(filled))
        shares[emptiest].append(key)
        filled[emptiest] += seconds[key]
    return shares


def recorded_seconds(path: Path) -> float | None:
    """The seconds of the last run of a job as the workflow recorded them, or None."""
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            return statistics.median(float(row["s"]) for row in csv.DictReader(handle, delimiter="\t"))
    except (OSError, KeyError, ValueError, statistics.StatisticsError):
        return None


def estimates(jobs: Sequence[PlannedJob]) -> list[float]:
    """Seconds of every job on one core.

    For a job that ran before, its recorded time; for others, the estimate, scaled by the ratio of times to estimates of
    the rule's recorded jobs, if there are any.
    """
    recorded = [recorded_seconds(job.benchmark) if job.benchmark else None for job in jobs]
    ratios: dict[str, list[float]] = {}
    for job, took in zip(jobs, recorded, strict=True):
        if took is not None:
            ratios.setdefault(job.rule, []).append(took / job.seconds)
    scale = {rule: statistics.median(found) for rule, found in ratios.items()}
    return [
        job.seconds * scale.get(job.rule, 1.0) if took is None else took
        for job, took in zip(jobs, recorded, strict=True)
    ]


class TimeLeft:
    """The time that the unfinished jobs of a run will take, estimated from those that have finished.

    The estimates of a rule are scaled by the median ratio of the times of its finished jobs to their estimates.
    ``slots`` jobs run at a time; no run is shorter than its longest job.

    Example
    -------
    >>> left = TimeLeft({1: PlannedJob("train_model", 2.0, None), 2: PlannedJob("train_model", 3.0, None)}, slots=1)
    >>> left.seconds()
    5.0
    >>> left.finished(1, took=20.0)
    >>> left.seconds()
    30.0
    """

    def __init__(self, jobs: Mapping[int, PlannedJob], slots: int) -> None:
        self._rules = {number: job.rule for number, job in jobs.items()}
        self._estimates = dict(zip(jobs, estimates(list(jobs.values())), strict=True))
        self._waiting = dict(self._estimates)
        self._ratios: dict[str, list[float]] = {}
        self._slots = max(slots, 1)

    def __len__(self) -> int:
        """The number of jobs that have not finished."""
        return len(self._waiting)

    def finished(self, job: int, took: float) -> None:
        """Note that a job is done and the seconds that it took."""
        if self._waiting.pop(job, 0.0) > 0.0:
            self._ratios.setdefault(self._rules[job], []).append(took / self._estimates[job])

    def seconds(self, running: Mapping[int, float] | None = None) -> float:
        """Seconds until the last job is done; ``running`` maps jobs at work to the seconds they have taken so far."""
        scale = {rule: statistics.median(found) for rule, found in self._ratios.items()}
        left = [
            max(0.0, expected * scale.get(self._rules[job], 1.0) - (running or {}).get(job, 0.0))
            for job, expected in self._waiting.items()
        ]
        return max(math.fsum(left) / self._slots, max(left, default=0.0))


def describe(
    study: str,
    jobs: Sequence[PlannedJob],
    cores: int | None,
    available: Sequence[str],
    missing: Mapping[str, str],
    submissions: int | None = None,
    untrained: Mapping[str, str] | None = None,
) -> str:
    """Write the plan that is printed before work starts.

    ``cores`` is None on a cluster, where nobody knows how many jobs will run at a time, and ``submissions`` are those
    to it; ``missing`` maps a data set's name to how to get it; ``untrained`` maps a model that cannot be trained to the
    reason.

    Example
    -------
    >>> print(describe("default", [PlannedJob("train_model", 2.0, None, 600.0)] * 3, 2, ["letor-sim"], {}))
    Plan of the study "default"
      data sets   letor-sim
      jobs        3 train_model
      estimate    about 6 s of work, 3 s on 2 cores
      memory      up to 0.6 GB for one job, 1.2 GB for 2 at a time
    """
    counts = Counter(job.rule for job in jobs)
    lines = [f'Plan of the study "{study}"', f"  data sets   {', '.join(available) or 'none'}"]
    for name, how in missing.items():
        lines += [f"  missing     {name}; to get it: {how}"]
    for name, reason in (untrained or {}).items():
        lines += [f"  left out    {name}, which is not trained: {reason}"]
    # A line never ends between a number and its rule.
    listed = ", ".join(f"{count}\u00a0{rule}" for rule, count in counts.items()) or "none"
    wrapped = textwrap.wrap(listed, 110, initial_indent="  jobs        ", subsequent_indent=" " * 14)
    lines += [line.replace("\u00a0", " ") for line in wrapped]
    if submissions is not None:
        lines += [f"  submissions {submissions}"]
    work = f"  estimate    about {duration(math.fsum(estimates(jobs)))} of work"
    if cores is not None:
        work += f", {duration(TimeLeft(dict(enumerate(jobs)), cores).seconds())} on {cores} cores"
    lines += [work]
    largest = sorted((job.mb for job in jobs), reverse=True)[: max(cores or 1, 1)]
    if largest:
        together = f", {_gigabytes(math.fsum(largest))} for {len(largest)} at a time" if len(largest) > 1 else ""
        lines += [f"  memory      up to {_gigabytes(largest[0])} for one job{together}"]
    return "\n".join(lines)


def _gigabytes(mb: float) -> str:
    return f"{mb / 1000:.1f} GB"


def duration(seconds: float) -> str:
    """A time as text, with as many digits as an estimate deserves.

    Example
    -------
    >>> duration(41.2), duration(1830.0), duration(9000.0)
    ('42 s', '31 min', '2.5 h')
    """
    if seconds < 100:
        return f"{math.ceil(seconds)} s"
    if seconds < 6000:
        return f"{math.ceil(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
