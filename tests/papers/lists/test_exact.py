"""Are wrong statements of `lists` caught by what is known exactly, even on small settings?"""

import dataclasses
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline_lib import statistics
from pipeline_lib.claims import ledger
from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.experiment import Job
from pipeline_lib.papers.lists.exact import coverage
from pipeline_lib.papers.lists.exact import experiment as exact
from pipeline_lib.papers.lists.exact.expectations import minimiser_moments
from pipeline_lib.papers.lists.exact.settings import ExactSettings
from tests import readings
from tests.papers.jobs import Given
from tests.papers.jobs import tables as tables_of
from tests.small_settings import SETTINGS

Tables = dict[str, list[dict[str, Any]]]
SMALL = ExactSettings.parse(SETTINGS["lists"]["exact"])
OTHERS: Tables = {f"lists-{name}": [] for name in ("cells", "on-data", "sparse", "coverings")}
"""Tables of other experiments that the same claims are read from."""


@pytest.fixture(scope="module")
def tables() -> Tables:
    rows = list(exact.measure(Job(SMALL, 1)))
    return defaultdict(list, tables_of([*rows, *exact.take_apart(Given(SMALL, 1, earlier=rows))]))


def judged(claim: str, tables: Tables, folder: Path) -> ledger.JudgedClaim:
    return readings.judged(f"lists-{claim}", {**OTHERS, **tables}, SMALL.plain(), folder)


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        *((name, "verified") for name in ("thm5", "eq8", "m1-corrected", "appendix-c-corrected", "appendix-i")),
        *((name, "verified") for name in ("smoothdcg-sign-corrected", "footnote3-corrected", "gradient", "tighter")),
        *((name, "refuted") for name in ("m1", "appendix-c", "smoothdcg-sign", "footnote3")),
        ("tighter-lengths", "answered"),
    ],
)
def test_claims_are_decided_and_everything_planted_is_told_apart(
    claim: str, status: str, tables: Tables, tmp_path: Path
) -> None:
    found = judged(claim, tables, tmp_path)
    assert found.severity is not None
    assert (found.status, found.severity.missed) == (status, ())


COMMON = {"loss": "listnet", "m": 5, "n": 50}
GAP = {"largest_gap": 0.1, "largest_gap_low": 0.05, "largest_gap_high": 0.15}
EXCESS = {"largest_excess": 0.1, "largest_excess_low": 0.05, "largest_excess_high": 0.15}
BOUNDS = {"bound": 3.0, "excess_bound": 3.1, "loss_bound": 4.0}
SPARSE = {"d": 10, "gap": 0.1, "risk_error": 0.01, "excess": 0.1, "excess_error": 0.01, **BOUNDS}
SAMPLED: Tables = {
    "lists-on-data": [
        {**COMMON, "dataset": "one", "learner": learner, **GAP, **EXCESS, **BOUNDS} for learner in ("erm", "worst")
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
    found = judged(claim, {**tables, **SAMPLED}, tmp_path)
    assert found.severity is not None
    assert found.severity.slack_factor is not None
    assert (found.status, [plant.name for plant in found.severity.missed]) == ("consistent", missed)
    assert found.severity.slack_factor > error


def _half(found: Any, sample: Any) -> Any:
    if isinstance(found, tuple):  # of the bootstrap
        return tuple((end + float(np.mean(sample))) / 2 for end in found)
    middle = found.slope if hasattr(found, "slope") else found.mean
    return dataclasses.replace(found, low=(found.low + middle) / 2, high=(found.high + middle) / 2)


@pytest.mark.parametrize("wrong", [None, "over_folds", "bootstrap_interval", "fit_exponent"])
def test_intervals_of_half_the_width_are_noticed(
    wrong: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if wrong is not None:
        right = getattr(statistics, wrong)
        monkeypatch.setattr(statistics, wrong, lambda *given, **named: _half(right(*given, **named), given[0]))
    rows = [
        {"claim": "lists-intervals", "case": case, "m": None, "n": 1500, "statistic": name, "value": value}
        for case, values in coverage.coverage(1500, 1)
        for name, value in values.items()
    ]
    found = judged("intervals", {"lists-sentences": rows}, tmp_path)
    assert found.status == ("verified" if wrong is None else "refuted")


def test_the_steps_of_the_proofs_are_in_order(tables: Tables) -> None:
    rows = tables["lists-slack"]
    assert {row["statement"] for row in rows} == {f"theorem {k}" for k in (5, 6, 9, 12, 17)}
    for row in rows:
        assert row["gap"] < row["printed"] < row["largest_gap"]
        if row["sharper"] is not None:
            assert row["gap"] < row["sharper"] < min(row["integral"], row["printed"])
        if (row["statement"], row["case"]) == ("theorem 9", "ranksvm"):
            # Losses 1 - 2 t with |t| <= W: a Rademacher average of 2 W / sqrt(n), and a range of 4 W.
            W, n = row["radius"], row["n"]
            expected = 4 * W / math.sqrt(n) + 4 * W * math.sqrt(math.log(1 / SMALL.delta) / (2 * n))
            assert row["sharper"] == pytest.approx(expected)
    # The step before the first n at which the bound says something.
    assert all(row["largest_gap"] < row["printed"] * 1.01 for row in rows if row["sharper"] is not None)


@pytest.mark.parametrize("n", [1, 50, 10**6, 10**10])
@pytest.mark.parametrize("p", [0.5, 0.6, 1.0])
def test_the_moments_of_the_minimiser_are_those_of_a_mean_of_signs(n: int, p: float) -> None:
    # c = 2 K / n - 1 has the mean 2 p - 1 and the variance 4 p (1 - p) / n.
    slope, mean = 0.3, 2.0 * p - 1.0
    exact = (slope * mean, slope**2 * (4.0 * p * (1.0 - p) / n + mean**2))
    assert minimiser_moments(n, p, slope, radius=1.0) == pytest.approx(exact, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("named", "value"),
    [("lengths", [2, 3, 10]), ("queries", [100, 1000]), ("delta", 0.5), ("features", [1, 10, 100])],
)
def test_wrong_settings_are_refused(named: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=named):
        ExactSettings.parse({named: value})
