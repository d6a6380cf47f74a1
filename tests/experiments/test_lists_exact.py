"""Are wrong statements of `lists` caught by what is known exactly, even on small settings?"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import pytest

from pipeline_lib import papers
from pipeline_lib.claims import ledger, rules
from pipeline_lib.claims.ledger import Claim
from pipeline_lib.errors import ConfigurationError
from pipeline_lib.papers.lists.computations import exact, slack
from pipeline_lib.papers.lists.computations.expectations import minimiser_moments
from pipeline_lib.papers.lists.experiments.exact import ExactSettings
from tests import readings
from tests.small_settings import SETTINGS

Tables = dict[str, list[dict[str, Any]]]
SMALL = ExactSettings.parse(SETTINGS["lists"]["exact"])
NAMES = ("uniform", "growth", "expectations", "packings", "sentences")
CLAIMS = {claim.id: claim for claim in ledger.load([papers.get("lists")])}


@pytest.fixture(scope="module")
def tables() -> Tables:
    found = {f"lists-{name}": rows for name, rows in zip(NAMES, exact.run(SMALL, 1), strict=True)}
    return defaultdict(list, {**found, "lists-slack": slack.run(SMALL, found["lists-expectations"])})


def caught(claim: Claim, tables: Tables) -> dict[str, bool]:
    trials = readings.trials(claim.id, tables, SMALL.plain())
    verdict = rules.judge(claim.checks, trials, claim.displayed)
    return {
        planted.name: planted.caught(verdict, rules.judge(claim.checks, planted.written_into(trials), claim.displayed))
        for planted in claim.planted
    }


@pytest.mark.parametrize(
    "claim",
    [
        *("thm5", "thm6", "thm9", "eq8", "prop7", "thm17", "m1", "m1-corrected", "appendix-c", "appendix-c-corrected"),
        *("smoothdcg-sign", "smoothdcg-sign-corrected", "footnote3", "footnote3-corrected", "gradient", "appendix-i"),
        *("tighter", "tighter-corrected"),
    ],
)
def test_everything_planted_is_caught(claim: str, tables: Tables) -> None:
    found = caught(CLAIMS[f"lists-{claim}"], tables)
    assert found
    assert all(found.values()), found


def test_the_same_seed_gives_the_same_rows(tables: Tables) -> None:
    again = exact.run(SMALL, 1)
    assert [tables[f"lists-{name}"] for name in NAMES] == again


@pytest.mark.parametrize("n", [1, 50, 10**6, 10**10])
@pytest.mark.parametrize("p", [0.5, 0.6, 1.0])
def test_the_moments_of_the_minimiser_are_those_of_a_mean_of_signs(n: int, p: float) -> None:
    # c = 2 K / n - 1 has the mean 2 p - 1 and the variance 4 p (1 - p) / n.
    slope, mean = 0.3, 2.0 * p - 1.0
    exact = (slope * mean, slope**2 * (4.0 * p * (1.0 - p) / n + mean**2))
    assert minimiser_moments(n, p, slope, radius=1.0) == pytest.approx(exact, rel=1e-9, abs=1e-12)
    if n <= 50:  # also with |w| cut
        chances = [math.comb(n, k) * p**k * (1.0 - p) ** (n - k) for k in range(n + 1)]
        w = [min(max(slope * (2.0 * k / n - 1.0), -0.05), 0.05) for k in range(n + 1)]
        cut = [sum(chance * one**power for chance, one in zip(chances, w, strict=True)) for power in (1, 2)]
        assert minimiser_moments(n, p, slope, radius=0.05) == pytest.approx(cut, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(
    ("named", "value"),
    [("lengths", [2, 3, 10]), ("queries", [100, 1000]), ("delta", 0.5), ("features", [1, 10, 100])],
)
def test_wrong_settings_are_refused(named: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=named):
        ExactSettings.parse({named: value})
