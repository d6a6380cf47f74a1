"""Are wrong statements of `lists` caught by what is known exactly, even on small settings?"""

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from pipeline_lib.experiment import Job
from pipeline_lib.papers.lists.exact import experiment as exact
from pipeline_lib.papers.lists.exact.expectations import minimiser_moments
from tests import readings
from tests.papers.jobs import tables as tables_of
from tests.small_settings import small

Tables = dict[str, list[dict[str, Any]]]
SMALL = small("lists", "exact")
OTHERS: Tables = {f"lists-{name}": [] for name in ("cells", "sparse", "coverings")}
"""Tables of other experiments that the same claims are read from."""


@pytest.fixture(scope="module")
def tables() -> Tables:
    return defaultdict(list, tables_of(exact.measure(Job(SMALL, 1))))


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        *((name, "verified") for name in ("thm5", "eq8", "appendix-c-corrected")),
        ("m1-corrected", "inconclusive"),  # what it adds to the optimal risk could be much smaller
        *((name, "verified") for name in ("smoothdcg-sign-corrected", "tighter")),
        ("tighter-lengths", "answered"),
    ],
)
def test_claims_are_decided_and_everything_planted_is_told_apart(
    claim: str, status: str, tables: Tables, tmp_path: Path
) -> None:
    assert readings.decided(f"lists-{claim}", {**OTHERS, **tables}, SMALL.plain(), tmp_path) == (status, [])


COMMON = {"loss": "listnet", "m": 5, "n": 50}
GAP = {"largest_gap": 0.1, "largest_gap_low": 0.05, "largest_gap_high": 0.15}
EXCESS = {"largest_excess": 0.1, "largest_excess_low": 0.05, "largest_excess_high": 0.15}
BOUNDS = {"bound": 3.0, "excess_bound": 3.1, "loss_bound": 4.0}
OF_CELL = {f"bound_{name}": 3.0 for name in ("erm", "erm_integral")}
OF_CELL |= {f"excess_bound_{name}": 3.1 for name in ("erm", "erm_integral")}
SPARSE = {"d": 10, "repetition": 0, "gap": 0.1, "risk_error": 0.01, "excess": 0.1, "excess_error": 0.01, **BOUNDS}
SAMPLED: Tables = {
    "lists-cells": [
        {**COMMON, "population": "noisy", "learner": learner, **GAP, **EXCESS, **OF_CELL, "loss_bound": 4.0}
        for learner in ("erm", "worst")
    ],
    "lists-sparse": [{"m": 5, "n": 50, "learner": learner, **SPARSE} for learner in ("erm", "worst")],
}
"""Gaps that were measured on samples, which other experiments do."""


@pytest.mark.parametrize(
    ("claim", "missed", "error"),
    [
        ("thm6", [], 3.0),
        ("thm9", ["no-term-of-the-best-ranker"], 3.0),
        ("thm12", ["no-term-of-the-best-ranker"], 3.0),
        ("thm17", ["a-decimal-slip"], 10.0),
        ("prop10", ["without-the-constant"], 10.0),
        ("prop7", [], 3.0),
    ],
)
def test_loose_bounds_are_not_verified_and_say_up_to_which_factor_they_are_tested(
    claim: str, missed: list[str], error: float, tables: Tables, tmp_path: Path
) -> None:
    """A constant that is wrong by ``error`` cannot be noticed, and the verdict says so."""
    found = readings.judged(f"lists-{claim}", {**OTHERS, **tables, **SAMPLED}, SMALL.plain(), tmp_path)
    assert found.severity is not None
    assert found.severity.slack_factor is not None
    assert (found.status, [plant.name for plant in found.severity.missed]) == ("inconclusive", missed)
    assert found.severity.slack_factor > error


def test_the_nearest_gaps_are_at_the_first_informative_bound(tables: Tables) -> None:
    rows = tables["lists-slack"]
    assert {row["statement"] for row in rows} == {f"theorem {k}" for k in (5, 6, 9, 12, 17)}
    assert all(row["gap"] < row["printed"] < row["largest_gap"] for row in rows)
    # One query fewer, and the bound says nothing.
    uniform = [row for row in rows if row["statement"] not in ("theorem 5", "theorem 6")]
    assert all(row["largest_gap"] < row["printed"] * 1.01 for row in uniform)


@pytest.mark.parametrize("n", [1, 50, 10**6, 10**10])
@pytest.mark.parametrize("p", [0.5, 0.6, 1.0])
def test_the_moments_of_the_minimiser_are_those_of_a_mean_of_signs(n: int, p: float) -> None:
    # c = 2 K / n - 1 has the mean 2 p - 1 and the variance 4 p (1 - p) / n.
    slope, mean = 0.3, 2.0 * p - 1.0
    exact = (slope * mean, slope**2 * (4.0 * p * (1.0 - p) / n + mean**2))
    assert minimiser_moments(n, p, slope, radius=1.0) == pytest.approx(exact, rel=1e-9, abs=1e-12)
