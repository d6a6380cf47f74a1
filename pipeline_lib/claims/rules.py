"""How does evidence become a status?

The rule of a claim consists of one or more checks (:mod:`pipeline_lib.claims.kinds`). Each check reads named statistics
from the trials and gives each of them a status, with a sentence that gives the decisive numbers. One trial that fails
decides; trials that decide nothing do not count; and every check must decide something. What a check cannot read is an
error and never leads to a status.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline_lib.claims.trials import Trial
from pipeline_lib.claims.verdicts import Check, Verdict, at, of_checks, of_trials
from pipeline_lib.claims.words import FAILED, Status
from pipeline_lib.core.errors import DataError


def judge(checks: Sequence[Check], trials: Sequence[Trial]) -> Verdict:
    """Judge all checks; the one that decides comes first.

    Raises
    ------
    DataError
        When a trial lacks a value that a check needs or has none for any check, or a check finds no trial at all.
    """
    per_trial: list[list[Status]] = [[] for _ in trials]
    verdicts = []
    for check in checks:
        indices = [i for i, trial in enumerate(trials) if _concerns(check, trial)]
        if not indices:
            raise DataError(f"expected at least one trial with {', '.join(check.names)}, found none")
        verdict = check.judge([trials[i] for i in indices])
        verdicts.append(verdict)
        for i, status in zip(indices, verdict.per_trial, strict=True):
            per_trial[i].append(status)
    idle = [trial for trial, statuses in zip(trials, per_trial, strict=True) if not statuses]
    if idle:
        raise DataError(f"trial{at(idle[0])}: expected the values of one of the checks, found {sorted(idle[0].values)}")
    return _combined(verdicts, tuple(map(of_trials, per_trial)))


def _combined(verdicts: Sequence[Verdict], per_trial: tuple[Status, ...]) -> Verdict:
    status = of_checks([verdict.status for verdict in verdicts])
    first = sorted(verdicts, key=lambda verdict: verdict.status != status)
    sentence = " ".join(verdict.sentence for verdict in first)
    # Of a claim that fails, the checks that fail; else each limit has to be tested.
    counted = [one for one in verdicts if one.status == status] if status in FAILED else verdicts
    factors = [one.slack_factor for one in counted if one.slack_factor is not None]
    return Verdict(
        status,
        sentence[0].upper() + sentence[1:],
        per_trial,
        slack_factor=max(factors, default=None),
        excludes={name: ends for verdict in verdicts for name, ends in verdict.excludes.items()},
        resolution={name: size for verdict in verdicts for name, size in verdict.resolution.items()},
        answers=tuple(answer for verdict in verdicts for answer in verdict.answers),
    )


def _concerns(check: Check, trial: Trial) -> bool:
    present = [name for name in check.names if name in trial.values]
    missing = [name for name in check.names if name not in trial.values]
    if present and missing and check.names[0] in trial.values:
        raise DataError(
            f"trial{at(trial)}: expected {', '.join(missing)} together with {', '.join(present)}, found none"
        )
    return not missing
