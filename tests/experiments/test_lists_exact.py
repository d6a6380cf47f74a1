"""Are wrong statements of `lists` caught by what is known exactly, even on small settings?"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from pipeline_lib import papers
from pipeline_lib.claims import ledger, rules
from pipeline_lib.claims.ledger import Claim
from pipeline_lib.errors import ConfigurationError
from pipeline_lib.papers.lists.computations import exact, slack
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


@pytest.mark.parametrize(
    ("named", "value"),
    [("lengths", [2, 3, 10]), ("queries", [100, 1000]), ("delta", 0.5), ("features", [1, 10, 100])],
)
def test_wrong_settings_are_refused(named: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=named):
        ExactSettings.parse({named: value})
