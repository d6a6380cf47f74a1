"""Which slips does the campaign make in the evidence of claims, and what does it say of them?"""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pipeline_lib.claims import ledger
from pipeline_lib.claims.ledger import Claim
from pipeline_lib.core import storage
from pipeline_lib.report.results import ResultsFolder
from tests import readings
from tools.mutation import evidence
from tools.mutation.evidence import Outcome, Stored

ROWS = [
    {"surrogate": loss, "player": player, "T": T, "gap": gap * T, "gap_largest": 2.0 * gap * T, "bound": 3.0 * T}
    for loss, gap in (("squared", 1.0), ("kl", 1.2))
    for player, T in (("learner", 10), ("learner", 20), ("idle", 10))
]
CLAIM: dict[str, Any] = {
    "id": "toy-gap",
    "where": "Theorem 1",
    "says": "The gap is at most the bound.",
    "shows": "Both.",
    "evidence": {
        "table": "toy-gaps",
        "where": "player = 'learner'",
        "axes": {"loss": "surrogate"},
        "values": {"largest": "MAX(gap_largest)", "bound": "MAX(bound)", "shown": "MIN(bound)", "other": "MIN(gap)"},
    },
    "rule": [{"holds": "largest <= bound", "tolerance": 0.1, "trivial": 1000}, "shown > 0"],
    "planted": [{"half": "Half of it.", "values": {"bound": "bound / 2"}}],
}


class Made(Stored):
    """A study with one table of no paper."""

    def parts(self, claim: Any, reading: Any) -> Any:
        return [("tables/toy-gaps.parquet", storage.read_table(self.tables[0]), {})]


@pytest.fixture
def context(tmp_path: Path) -> Stored:
    table = tmp_path / "toy-gaps.parquet"
    storage.write_table(table, pl.DataFrame(ROWS))
    return Made("made", tables=[table], settings={"toy": {}})


@pytest.fixture
def outcomes(context: Stored) -> list[Outcome]:
    return evidence.tried(Claim.parse(CLAIM), context)


def test_every_kind_of_slip_is_made(outcomes: list[Outcome]) -> None:
    assert {(one.kind, one.what) for one in outcomes} >= {
        ("trials left out", "loss = kl"),
        ("half of the trials", "the second"),
        ("values exchanged", "largest and bound"),
        ("another value", "other for bound"),
        ("larger tolerance", "1"),
        ("check left out", "shown > 0 in every trial with intervals apart"),
        ("columns exchanged", "gap_largest and bound"),
        ("another condition", "\"player\" = 'idle' for 'learner'"),
        ("another condition", "without player = 'learner'"),
        ("another summary", "largest: AVG for MAX"),
        ("another summary", "largest: means for gap_largest"),
    }
    assert any(one.kind == "trivial left out" for one in outcomes)


def test_a_slip_is_seen_by_the_status_or_by_the_record(outcomes: list[Outcome]) -> None:
    by_name = {(one.kind, one.what): one for one in outcomes}
    assert {one.before for one in outcomes} == {"verified"}
    assert by_name["values exchanged", "largest and bound"].after == "refuted"
    lost = by_name["trials left out", "loss = kl"]
    assert (lost.moved, lost.counts, lost.recorded) == (False, True, True)
    means = by_name["another summary", "largest: means for gap_largest"]
    assert (means.moved, means.numbers, means.recorded) == (True, True, True)
    assert evidence.unmoved(outcomes) == []
    assert evidence.unseen(outcomes) == []


def test_claims_that_no_slip_moves_and_slips_that_nothing_shows_are_named() -> None:
    kept = Outcome("toy-a", "another summary", "0", "verified", "verified", False, True, False)
    moved = Outcome("toy-b", "another summary", "0", "verified", "refuted", False, True, False)
    chance = Outcome("toy-a", evidence.CHANCE, "0", "verified", "inconclusive", False, True, False)
    found = [kept, moved, chance]
    assert evidence.unmoved(found) == ["toy-a"]
    assert evidence.unseen(found) == [kept]
    assert "| another summary | 2 | 1 | 0 | 1 |" in evidence.report(found)
    assert "whatever the mutant: toy-a" in evidence.report(found)


FINISHED = Path(__file__).parents[2] / "results/default"


@pytest.mark.slow
@pytest.mark.skipif(not (FINISHED / "configuration.yaml").exists(), reason="no default study was run here")
def test_no_claim_of_the_default_study_is_verified_whatever_its_evidence() -> None:
    context = Stored.at(ResultsFolder.at(FINISHED))
    found = [one for claim in ledger.load() if claim.readings for one in evidence.tried(claim, context)]
    own = [one for one in found if one.claim not in readings.added_claims()]
    # Both sides of it are the same number in every trial: the limit is attained.
    assert evidence.unmoved(own) == ["slam-vmax-k"]
    assert not evidence.unseen(own)
