"""Does the check of a finished ledger object to what a reviewer would object to?"""

from dataclasses import dataclass

import pytest

from pipeline_lib.claims.reading import NO_NOTE
from pipeline_lib.claims.severity import Plant, Severity
from tools import check_ledger


@dataclass(frozen=True)
class Claim:
    """What the check reads of a judged claim."""

    status: str
    severity: Severity | None
    id: str = "one"
    notes: str = ""


@dataclass(frozen=True)
class Study:
    """What the check reads of a judged study."""

    claims: tuple[Claim, ...]


MISSED = Severity(1, 1, planted=(Plant("half", "C = 1/2.", False),))


@pytest.mark.parametrize(
    ("status", "severity", "found"),
    [
        ("verified", Severity(1, 1, planted=(Plant("half", "C = 1/2.", True),)), []),
        ("verified", Severity(1, 1), ["one: verified, and nothing is planted"]),
        ("verified", MISSED, ["one: verified, but half is not told apart"]),
        ("refuted", MISSED, ["one: refuted, but half is not told apart"]),
        # what the measurement misses leaves a claim inconclusive, and takes nothing from a proof
        ("inconclusive", MISSED, ["expected at least 1 decided claims, found 0"]),
        ("proved", MISSED, []),
    ],
)
def test_a_decided_claim_told_its_plants_apart(status: str, severity: Severity, found: list[str]) -> None:
    assert check_ledger.problems(Study((Claim(status, severity),)), 1) == found  # type: ignore[arg-type]


def test_a_note_without_a_value_is_named() -> None:
    study = Study((Claim("answered", None, notes=f"Four lists. {NO_NOTE}"),))
    assert check_ledger.problems(study, 1) == ["one: its note has no value"]  # type: ignore[arg-type]


def test_a_page_that_states_another_status_is_named() -> None:
    study = Study((Claim("refuted", None),))
    page = "`one` verified, `two` refuted, and `one` refuted."
    assert check_ledger.wrongly_stated(study, page) == [  # type: ignore[arg-type]
        "one: a page says verified, the study refuted",
        "two: a page says refuted, the study knows no such claim",
    ]
    assert check_ledger.stated("`one` proved for sizes, `two`\nproved") == [
        ("one", "proved-for-sizes"),
        ("two", "proved"),
    ]
