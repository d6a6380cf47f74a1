"""How often is a statement called verified that is false? Simulated, with trials whose truth is known."""

import numpy as np
import pytest
from pydantic import TypeAdapter

from pipeline_lib.claims.kinds import AnyCheck
from pipeline_lib.claims.trials import Trial
from pipeline_lib.claims.verdicts import Check
from pipeline_lib.core.seeds import generator
from pipeline_lib.statistics import Interval, mean_interval

REPETITIONS = 20
"""Draws behind every interval."""


def shares(rule: str, false_in: int, of: int, by: float, others: float, games: int) -> dict[str, float]:
    """The share of games with each status.

    The means of ``of`` trials are ``others`` standard errors above their limit 0, those of ``false_in`` are ``by``.
    """
    check: Check = TypeAdapter(AnyCheck).validate_python(rule)
    draws = generator("error rates", rule, str(false_in), str(of), str(by), role=None).standard_normal
    found: dict[str, float] = {}
    for _ in range(games):
        errors = np.where(np.arange(of) < false_in, by, others)
        samples = draws((of, REPETITIONS)) + errors[:, None] / np.sqrt(REPETITIONS)
        means = [mean_interval(sample) for sample in samples]
        trials = [
            Trial({"k": k}, {"x": Interval(one.value, one.low, one.high, REPETITIONS - 1), "zero": 0.0}, "t")
            for k, one in enumerate(means)
        ]
        status = check.judge(trials).status
        found[status] = found.get(status, 0.0) + 1 / games
    return found


FALSE = [
    ("x <= 0", 1, 1, 0.01, 0.0),
    ("x <= 0", 20, 20, 0.01, 0.0),
    ("x <= 0", 10, 20, 2.0, -4.0),
    ("x <= 0", 9, 20, 2.0, -4.0),
    ("x >= 0", 10, 20, -2.0, 4.0),
    ("zero > x", 8, 8, 0.01, 0.0),
    ("zero > x", 7, 8, 1.0, -8.0),
    ("zero > x", 7, 8, 2.0, -8.0),
]


@pytest.mark.parametrize(("rule", "false_in", "of", "by", "others"), FALSE)
def test_a_false_statement_is_seldom_verified(rule: str, false_in: int, of: int, by: float, others: float) -> None:
    assert shares(rule, false_in, of, by, others, games=150).get("verified", 0.0) <= 0.05 + 3 * np.sqrt(
        0.05 * 0.95 / 150
    )


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "false_in", "of", "by", "others"), FALSE)
def test_the_rate_is_five_percent_at_most(rule: str, false_in: int, of: int, by: float, others: float) -> None:
    assert shares(rule, false_in, of, by, others, games=4_000).get("verified", 0.0) <= 0.05


@pytest.mark.parametrize("rule", ["x <= 0", "zero > x"])
def test_a_true_statement_is_verified_although_some_trials_are_undecided(rule: str) -> None:
    assert shares(rule, 12, 20, -1.5, -6.0, games=150).get("verified", 0.0) >= 0.95
