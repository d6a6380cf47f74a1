"""How long will the planned jobs take, how much memory does each need, and what is missing?

The estimate of a job is the time of its start, plus a rate times the size of its data, plus the seconds that its
settings add (:attr:`pipeline_lib.experiment.Step.seconds`).
"""

import math
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from pipeline_lib import statistics
from pipeline_lib.core.cost import Cost

# Seconds on one core of a server of the 2020s, for jobs that are forks of a process which has imported the libraries;
# starting by itself takes a job about 1.5 s more. The memory of a training is that which its learner states.
COSTS: Mapping[str, Cost] = {
    "simulate_data": Cost(1.0, 0.35, 500.0, 2.0),
    "simulate_documents": Cost(1.0, 0.03, 500.0, 2.0),
    "obtain_data": Cost(0.5, 0.1, 300.0, 0.0),
    "check_raw": Cost(0.3, 0.015, 300.0, 0.0),
    "register_data": Cost(0.3, 0.01, 300.0, 0.0),
    "convert_data": Cost(0.7, 0.08, 900.0, 0.0),
    "examine_data": Cost(1.0, 0.1, 900.0),
    "train_model": Cost(0.3, 0.02, 500.0),
    "train_fold": Cost(0.3, 0.02, 500.0),
    "evaluate_model": Cost(0.3, 0.02, 500.0, 9.0),
    "summarise_results": Cost(1.0, 0.0, 800.0),
    "compare_models": Cost(0.3, 0.0, 800.0),
    "certify_models": Cost(2.0, 0.0, 800.0),
    "judge_claims": Cost(0.5, 0.0, 600.0),
    "render_report": Cost(3.0, 0.0, 1000.0),
}
SECONDS_PER_PAPER: Mapping[str, float] = {"judge_claims": 3.0, "render_report": 1.5}
"""What the claims and pages of a paper add."""
MOST_CHANGED = 5
"""So many changed files are named in a plan."""
DEFAULT_COST = Cost(0.3, 0.0)
"""That of every other rule, such as ``split_folds``."""
NO_VALUE = "(?!)"
"""A regular expression that nothing matches: that of a wildcard without values."""
SECONDS_PER_SIGN, SECONDS_PER_FLIPPED, SECONDS_PER_COMPARED = 3e-9, 2e-10, 1e-7
"""Seconds for a random sign of a query, for its product with the value of a model, and for a pair of models."""
SECONDS_PER_RESAMPLED = 6e-9
"""Seconds for one value of a bootstrap sample; its number is that of samples times that of test queries."""

OVERHEAD_MB = 750.0
"""Memory of a cluster's job besides its command: two Snakemake processes, that of the submission and that of its step.

Each was measured at 340 MB, most of it for the libraries that the experiments import.
"""

TRAINING_SECONDS = 5.0
"""What a training takes, at most, so that one job trains a model on all folds, one after the other.

The start of a job that is no fork takes up to two seconds; several jobs may run at a time, and one that fails is
repeated from its begin.
"""


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

    def memory_mb(self, attempt: int = 1) -> int:
        """Memory to request, in MB; a retry requests twice as much.

        :data:`OVERHEAD_MB` is part of it, even if a job runs without a cluster and does not need it.

        Example
        -------
        >>> Estimate(2.0, 500.0).memory_mb(), Estimate(2.0, 500.0).memory_mb(attempt=2)
        (1250, 2500)
        """
        return math.ceil(self.mb + OVERHEAD_MB) * 2 ** (attempt - 1)

    def runtime_minutes(self, attempt: int = 1) -> int:
        """Minutes to request: ten times the estimated seconds, at least 10; a retry gets twice as many.

        Example
        -------
        >>> Estimate(2.0, 500.0).runtime_minutes(), Estimate(600.0, 500.0).runtime_minutes()
        (10, 100)
        """
        return max(10, math.ceil(self.seconds / 6)) * 2 ** (attempt - 1)


def power(dataset: str, queries: int, models: int, level: float) -> str:
    """What comparing all pairs of some models on a data set can show, by the number of its test queries.

    Example
    -------
    >>> print(power("letor-sim", 300, 14, 0.95).replace(", which", ",\\nwhich"))
    letor-sim: 14 models are compared on 300 test queries,
    which show a difference of 0.25 standard deviations of the difference on a query with probability 0.8
    >>> print(power("mine", 4, 2, 0.95))
    mine: no difference of models can be significant on 4 test queries
    """
    least = statistics.detectable_difference(queries, models * (models - 1) // 2, level)
    if least == math.inf:
        return f"{dataset}: no difference of models can be significant on {queries:,} test queries"
    return (
        f"{dataset}: {models} models are compared on {queries:,} test queries, which show a difference of "
        f"{least:.2g} standard deviations of the difference on a query with probability {statistics.POWER}"
    )


def describe(
    study: str,
    jobs: Sequence[tuple[str, Estimate]],
    available: Sequence[str],
    missing: Mapping[str, str],
    untrained: Mapping[str, str],
    changed: Mapping[str, int] = MappingProxyType({}),
    warnings: Sequence[str] = (),
    powers: Sequence[str] = (),
) -> str:
    """Write the plan that is printed before work starts.

    ``jobs`` are the rule and the estimate of each; ``missing`` maps a data set's name to how to get it; ``untrained``
    maps a model that cannot be trained to the reason; ``changed`` maps a file of code to the number of jobs that run
    again because it changed and not because another job does; ``warnings`` are about the data; ``powers`` are those of
    :func:`power`.

    Example
    -------
    >>> jobs = [("train_model", Estimate(41.2, 600.0))] * 3
    >>> print(describe("default", jobs, ["letor-sim"], {}, {}, {"pipeline_lib/learners/erm.py": 3}))
    Plan of the study "default"
      data sets   letor-sim
      changed     pipeline_lib/learners/erm.py: 3 of the jobs, and those that depend on them
      jobs        3 train_model
      estimate    about 3 minutes of work on one core, up to 0.6 GB of memory for a job
    """
    counts = Counter(rule for rule, _ in jobs)
    lines = [f'Plan of the study "{study}"', f"  data sets   {', '.join(available) or 'none'}"]
    lines += [f"  missing     {name}; to get it: {how}" for name, how in missing.items()]
    lines += [f"  left out    {name}, which is not trained: {reason}" for name, reason in untrained.items()]
    lines += [f"  WARNING     {warning}" for warning in warnings]
    for text in powers:
        lines += textwrap.wrap(text, 110, initial_indent="  power       ", subsequent_indent=" " * 14)
    most = sorted(changed.items(), key=lambda file: -file[1])
    for file, count in most[:MOST_CHANGED]:
        lines.append(f"  changed     {file}: {count} of the jobs, and those that depend on them")
    lines += [f"  changed     {len(most) - MOST_CHANGED} other files"] if len(most) > MOST_CHANGED else []
    # A line never ends between a number and its rule.
    listed = ", ".join(f"{count}\u00a0{rule}" for rule, count in counts.items()) or "none"
    wrapped = textwrap.wrap(listed, 110, initial_indent="  jobs        ", subsequent_indent=" " * 14)
    lines += [line.replace("\u00a0", " ") for line in wrapped]
    minutes = math.ceil(math.fsum(job.seconds for _, job in jobs) / 60)
    work = f"about {minutes} minutes" if minutes > 1 else "at most a minute"
    memory = f"{max((job.mb for _, job in jobs), default=0.0) / 1000:.1f} GB"
    lines += [f"  estimate    {work} of work on one core, up to {memory} of memory for a job"]
    return "\n".join(lines)
